// RUN: stc-opt %s -p merge-kernels --split-input-file | filecheck %s

// @b uses what PyTorch gives for what @a makes: it stands behind what becomes of @a.
// SHOW: dataflow.kernel
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @behind(%x: tensor<4xf32>, %g: tensor<4xf32> {stc.host = "part"})
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32> {stc.host = "part"}) {
  %a = dataflow.kernel @a(%p = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) group @one { dataflow.yield %p : !S }
  %b = dataflow.kernel @b(%p = %g : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) group @two { dataflow.yield %p : !S }
  %c = dataflow.kernel @c(%p = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) group @one { dataflow.yield %p : !S }
  func.return %b, %c, %a : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @behind(
// CHECK-NEXT: dataflow.kernel @one(%x_{{.*}} = %x : tensor<4xf32> as !itensor, %x_{{.*}} = %x : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor, tensor<4xf32> as !itensor) {
// CHECK: dataflow.kernel @two(%g_{{.*}} = %g : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) {
