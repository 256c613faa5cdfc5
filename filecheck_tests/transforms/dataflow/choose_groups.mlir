// RUN: stc-opt %s -p 'choose-groups{on-chip=100 kernel-name="acc"}' --split-input-file | filecheck %s

// Kernels that fit `on-chip` together are one group.
// SHOW: group
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @together(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = dataflow.kernel @a(%p = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) { dataflow.yield %p : !S }
  %b = dataflow.kernel @b(%p = %a : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) { dataflow.yield %p : !S }
  func.return %b : tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @together(
// CHECK-NEXT: %a = dataflow.kernel @a(%p = %x : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) group @acc {
// CHECK: dataflow.kernel @b(%p = %a : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) group @acc {

// -----

// The converter between rows of a 4x8 tensor and its columns takes 128 bytes: too many.
// SHOW: group
!S = !itensor.itensor<1x1xf32, iter_space: [4, 8] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!T = !itensor.itensor<1x1xf32, iter_space: [8, 4] * [1, 1], iter_map: (d0, d1) -> (d1, d0)>
func.func @too_large(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = dataflow.kernel @a(%p = %x : tensor<4x8xf32> as !S) -> (tensor<4x8xf32> as !S) { dataflow.yield %p : !S }
  %b = dataflow.kernel @b(%p = %a : tensor<4x8xf32> as !T) -> (tensor<4x8xf32> as !T) { dataflow.yield %p : !T }
  func.return %b : tensor<4x8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x1xf32, iter_space: [4, 8] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x1xf32, iter_space: [8, 4] * [1, 1], iter_map: (d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @too_large(
// CHECK-NEXT: %a = dataflow.kernel @a(%p = %x : tensor<4x8xf32> as !itensor) -> (tensor<4x8xf32> as !itensor) group @acc_0 {
// CHECK: dataflow.kernel @b(%p = %a : tensor<4x8xf32> as !itensor1) -> (tensor<4x8xf32> as !itensor1) group @acc_1 {

// -----

// A source (a kernel that no kernel feeds) waits for its first consumer; unrelated kernels are groups of their own.
// SHOW: group
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @sources(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = dataflow.kernel @a(%p = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) { dataflow.yield %p : !S }
  %b = dataflow.kernel @b(%p = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) { dataflow.yield %p : !S }
  %c = dataflow.kernel @c(%p = %b : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) { dataflow.yield %p : !S }
  func.return %a, %c : tensor<4xf32>, tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @sources(
// CHECK-NEXT: dataflow.kernel @a(%p = %x : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) group @acc_0 {
// CHECK: %b = dataflow.kernel @b(%p = %x : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) group @acc_1 {
// CHECK: dataflow.kernel @c(%p = %b : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) group @acc_1 {

// -----

// What the host does in between keeps two kernels apart, though both would fit.
// SHOW: group
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
!T = !itensor.itensor<1x1xf32, iter_space: [2, 2] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
func.func @host_between(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %a = dataflow.kernel @a(%p = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) { dataflow.yield %p : !S }
  %e = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %b = dataflow.kernel @b(%p = %e : tensor<2x2xf32> as !T) -> (tensor<2x2xf32> as !T) { dataflow.yield %p : !T }
  func.return %b : tensor<2x2xf32>
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<1x1xf32, iter_space: [2, 2] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @host_between(
// CHECK-NEXT: dataflow.kernel @a(%p = %x : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) group @acc_0 {
// CHECK: dataflow.kernel @b(%p = %e : tensor<2x2xf32> as !itensor1) -> (tensor<2x2xf32> as !itensor1) group @acc_1 {
