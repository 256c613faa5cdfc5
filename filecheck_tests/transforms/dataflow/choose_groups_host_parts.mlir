// RUN: stc-opt %s -p 'choose-groups{on-chip=1000 kernel-name="acc"}' --split-input-file | filecheck %s

// What PyTorch gives on the host depends on what it takes: @a and @b, which would fit together, stay apart, as @c does of both.
// SHOW: group
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @apart(%x: tensor<4xf32>, %g: tensor<4xf32> {stc.host = "first"}, %h: tensor<4xf32> {stc.host = "second"})
    -> (tensor<4xf32>, tensor<4xf32> {stc.host = "first"}, tensor<4xf32> {stc.host = "second"}) {
  %a = dataflow.kernel @a(%p = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) { dataflow.yield %p : !S }
  %b = dataflow.kernel @b(%p = %g : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) { dataflow.yield %p : !S }
  %c = dataflow.kernel @c(%p = %h : tensor<4xf32> as !S, %q = %a : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) { dataflow.yield %p : !S }
  func.return %c, %a, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @apart(
// CHECK-NEXT: %a = dataflow.kernel @a(%p = %x : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) group @acc_0 {
// CHECK: dataflow.kernel @b(%p = %g : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) group @acc_1 {
// CHECK: dataflow.kernel @c(%p = %h : tensor<4xf32> as !itensor, %q = %a : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) group @acc_2 {

// -----

// Kernels are brought into the order in which the host runs them; the second part takes what the first one gives.
// SHOW: group
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @in_order(%x: tensor<4xf32>, %g: tensor<4xf32> {stc.host = "first"}, %h: tensor<4xf32> {stc.host = "second"})
    -> (tensor<4xf32>, tensor<4xf32> {stc.host = "first"}, tensor<4xf32> {stc.host = "second"}) {
  %b = dataflow.kernel @b(%p = %h : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) { dataflow.yield %p : !S }
  %a = dataflow.kernel @a(%p = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) { dataflow.yield %p : !S }
  func.return %b, %a, %g : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @in_order(
// CHECK-NEXT: dataflow.kernel @a(%p = %x : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) group @acc_0 {
// CHECK: dataflow.kernel @b(%p = %h : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) group @acc_1 {
