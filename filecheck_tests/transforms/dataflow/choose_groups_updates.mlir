// RUN: stc-opt %s -p 'choose-groups{strategy="separate" kernel-name="acc"}' --split-input-file | filecheck %s

// Whatever the strategy says, the kernels that read what is updated and those that make the row are one group, and with them what
// stands between two of them.
// SHOW: group
!C = !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
!N = !itensor.itensor<1x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
func.func @between(%cache: tensor<8x4xf32>, %x: tensor<1x4xf32>, %p: tensor<i64>) -> (tensor<8x4xf32>, tensor<1x4xf32>) {
  %a = dataflow.kernel @reads(%c = %cache : tensor<8x4xf32> as !C) -> (tensor<1x4xf32> as !N) {
    %n = itensor.empty : !N
    dataflow.yield %n : !N
  }
  %b = dataflow.kernel @between(%n = %a : tensor<1x4xf32> as !N) -> (tensor<1x4xf32> as !N) { dataflow.yield %n : !N }
  %r = dataflow.kernel @row(%n = %b : tensor<1x4xf32> as !N) -> (tensor<1x4xf32> as !N) { dataflow.yield %n : !N }
  %o = dataflow.kernel @other(%n = %x : tensor<1x4xf32> as !N) -> (tensor<1x4xf32> as !N) { dataflow.yield %n : !N }
  %s = tensor.extract %p[] : tensor<i64>
  %at = arith.index_cast %s : i64 to index
  %u = tensor.insert_slice %r into %cache[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  func.return %u, %o : tensor<8x4xf32>, tensor<1x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK-LABEL: func.func @between(
// CHECK-NEXT: %a = dataflow.kernel @reads(%c = %cache : tensor<8x4xf32> as !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>) -> (tensor<1x4xf32> as !itensor) group @acc_0 {
// CHECK: %b = dataflow.kernel @between(%n = %a : tensor<1x4xf32> as !itensor) -> (tensor<1x4xf32> as !itensor) group @acc_0 {
// CHECK: dataflow.kernel @row(%n = %b : tensor<1x4xf32> as !itensor) -> (tensor<1x4xf32> as !itensor) group @acc_0 {
// CHECK: dataflow.kernel @other(%n = %x : tensor<1x4xf32> as !itensor) -> (tensor<1x4xf32> as !itensor) group @acc_1 {

// -----

// A kernel that reads the beginning of what is updated reads it, too.
// SHOW: group
!C = !itensor.itensor<1x4xf32, iter_space: [7] * [1], iter_map: (d0) -> (d0, 0)>
!N = !itensor.itensor<1x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
func.func @beginning(%cache: tensor<8x4xf32>, %x: tensor<1x4xf32>, %p: i32) -> (tensor<7x4xf32>, tensor<8x4xf32>, tensor<1x4xf32>) {
  %part = tensor.extract_slice %cache[0, 0] [7, 4] [1, 1] : tensor<8x4xf32> to tensor<7x4xf32>
  %a = dataflow.kernel @reads(%c = %part : tensor<7x4xf32> as !C) -> (tensor<7x4xf32> as !C) { dataflow.yield %c : !C }
  %r = dataflow.kernel @row(%n = %x : tensor<1x4xf32> as !N) -> (tensor<1x4xf32> as !N) { dataflow.yield %n : !N }
  %o = dataflow.kernel @other(%n = %x : tensor<1x4xf32> as !N) -> (tensor<1x4xf32> as !N) { dataflow.yield %n : !N }
  %at = arith.index_cast %p : i32 to index
  %u = tensor.insert_slice %r into %cache[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  func.return %a, %u, %o : tensor<7x4xf32>, tensor<8x4xf32>, tensor<1x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [7] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK-LABEL: func.func @beginning(
// CHECK: dataflow.kernel @reads(%c = %part : tensor<7x4xf32> as !itensor) -> (tensor<7x4xf32> as !itensor) group @acc_0 {
// CHECK: dataflow.kernel @row(%n = %x : tensor<1x4xf32> as !itensor1) -> (tensor<1x4xf32> as !itensor1) group @acc_0 {
// CHECK: dataflow.kernel @other(%n = %x : tensor<1x4xf32> as !itensor1) -> (tensor<1x4xf32> as !itensor1) group @acc_1 {
