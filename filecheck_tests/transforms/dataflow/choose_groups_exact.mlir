// RUN: stc-opt %s -p 'choose-groups{strategy="exact" on-chip=8 kernel-name="acc"}' --split-input-file | filecheck %s

// Room for one FIFO of two tokens: it goes to the larger tensor, which would else be written and read. The greedy walk has none left for it.
// SHOW: group
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
!L = !itensor.itensor<1xf32, iter_space: [64] * [1], iter_map: (d0) -> (d0)>
func.func @larger(%x: tensor<4xf32>) -> tensor<64xf32> {
  %a = dataflow.kernel @a(%p = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) { dataflow.yield %p : !S }
  %b = dataflow.kernel @b(%p = %a : tensor<4xf32> as !S) -> (tensor<64xf32> as !L) {
    %n = itensor.empty : !L
    dataflow.yield %n : !L
  }
  %c = dataflow.kernel @c(%p = %b : tensor<64xf32> as !L) -> (tensor<64xf32> as !L) { dataflow.yield %p : !L }
  func.return %c : tensor<64xf32>
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<1xf32, iter_space: [64] * [1], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @larger(
// CHECK-NEXT: %a = dataflow.kernel @a(%p = %x : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) group @acc_0 {
// CHECK: %b = dataflow.kernel @b(%p = %a : tensor<4xf32> as !itensor) -> (tensor<64xf32> as !itensor1) group @acc_1 {
// CHECK: dataflow.kernel @c(%p = %b : tensor<64xf32> as !itensor1) -> (tensor<64xf32> as !itensor1) group @acc_1 {

// -----

// The same, but what @b makes is a result and written anyway: it is the smaller tensor that costs more outside.
// SHOW: group
!S = !itensor.itensor<1xf32, iter_space: [5] * [1], iter_map: (d0) -> (d0)>
!L = !itensor.itensor<1xf32, iter_space: [7] * [1], iter_map: (d0) -> (d0)>
func.func @written_anyway(%x: tensor<5xf32>) -> (tensor<7xf32>, tensor<7xf32>) {
  %a = dataflow.kernel @a(%p = %x : tensor<5xf32> as !S) -> (tensor<5xf32> as !S) { dataflow.yield %p : !S }
  %b = dataflow.kernel @b(%p = %a : tensor<5xf32> as !S) -> (tensor<7xf32> as !L) {
    %n = itensor.empty : !L
    dataflow.yield %n : !L
  }
  %c = dataflow.kernel @c(%p = %b : tensor<7xf32> as !L) -> (tensor<7xf32> as !L) { dataflow.yield %p : !L }
  func.return %b, %c : tensor<7xf32>, tensor<7xf32>
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [5] * [1], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<1xf32, iter_space: [7] * [1], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @written_anyway(
// CHECK-NEXT: %a = dataflow.kernel @a(%p = %x : tensor<5xf32> as !itensor) -> (tensor<5xf32> as !itensor) group @acc_0 {
// CHECK: %b = dataflow.kernel @b(%p = %a : tensor<5xf32> as !itensor) -> (tensor<7xf32> as !itensor1) group @acc_0 {
// CHECK: dataflow.kernel @c(%p = %b : tensor<7xf32> as !itensor1) -> (tensor<7xf32> as !itensor1) group @acc_1 {

// -----

// Readers of one tensor are one group, though nothing is passed between them: it is read once.
// SHOW: group
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @one_read(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = dataflow.kernel @a(%p = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) { dataflow.yield %p : !S }
  %b = dataflow.kernel @b(%p = %a : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) { dataflow.yield %p : !S }
  %c = dataflow.kernel @c(%p = %a : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) { dataflow.yield %p : !S }
  func.return %b, %c : tensor<4xf32>, tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @one_read(
// CHECK-NEXT: %a = dataflow.kernel @a(%p = %x : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) group @acc_0 {
// CHECK: dataflow.kernel @b(%p = %a : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) group @acc_1 {
// CHECK: dataflow.kernel @c(%p = %a : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) group @acc_1 {

// -----

// Kernels of one update are one before anything is chosen.
// SHOW: group
!C = !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
!N = !itensor.itensor<1x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
func.func @update(%cache: tensor<8x4xf32>, %x: tensor<1x4xf32>, %p: i32) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %a = dataflow.kernel @reads(%c = %cache : tensor<8x4xf32> as !C) -> (tensor<8x4xf32> as !C) { dataflow.yield %c : !C }
  %r = dataflow.kernel @row(%n = %x : tensor<1x4xf32> as !N) -> (tensor<1x4xf32> as !N) { dataflow.yield %n : !N }
  %at = arith.index_cast %p : i32 to index
  %u = tensor.insert_slice %r into %cache[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  func.return %a, %u : tensor<8x4xf32>, tensor<8x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK-LABEL: func.func @update(
// CHECK-NEXT: dataflow.kernel @reads(%c = %cache : tensor<8x4xf32> as !itensor) -> (tensor<8x4xf32> as !itensor) group @acc {
// CHECK: dataflow.kernel @row(%n = %x : tensor<1x4xf32> as !itensor1) -> (tensor<1x4xf32> as !itensor1) group @acc {
