// RUN: stc-opt %s -p 'pack-interfaces{narrow=true layers=3}' | filecheck %s
// RUN: stc-opt %s -p 'pack-interfaces{narrow=true}' | filecheck %s --check-prefix=ONE

// Of several layers the angle lies in words as narrow as the gains', with which it will share a port; what goes from layer to layer
// has one of its own, and so have scales that one port will bring to several copies.
// SHOW: dataflow.pack .*
!W = !itensor.itensor<16xf32, iter_space: [4096] * [16], iter_map: (d0) -> (d0)>
!G = !itensor.itensor<4xf32, iter_space: [16] * [4], iter_map: (d0) -> (d0)>
!X = !itensor.itensor<4xf32, iter_space: [32] * [4], iter_map: (d0) -> (d0)>
!A = !itensor.itensor<2xf32, iter_space: [16] * [2], iter_map: (d0) -> (d0)>
func.func @f(%w: tensor<65536xf32> {stc.parameter}, %gain: tensor<64xf32> {stc.parameter}, %bias: tensor<64xf32> {stc.parameter}, %scales: tensor<128xf32> {stc.parameter}, %angle: tensor<32xf32>, %x: tensor<128xf32>) -> tensor<128xf32> {
  %half = tensor.extract_slice %scales[64] [64] [1] {stc.ports = array<i64: 1>} : tensor<128xf32> to tensor<64xf32>
  %y = dataflow.kernel @k(%p = %w : tensor<65536xf32> as !W, %g = %gain : tensor<64xf32> as !G, %b = %bias : tensor<64xf32> as !G, %s = %half : tensor<64xf32> as !G, %a = %angle : tensor<32xf32> as !A, %q = %x : tensor<128xf32> as !X) -> (tensor<128xf32> as !X) {
    dataflow.yield %q : !X
  }
  func.return %y : tensor<128xf32>
}

// CHECK-LABEL: func.func @f(
// CHECK: dataflow.pack %w : {{.*}} -> tensor<4096xvector<16xf32>>
// CHECK-NEXT: dataflow.pack %gain : {{.*}} -> tensor<16xvector<4xf32>>
// CHECK-NEXT: dataflow.pack %bias : {{.*}} -> tensor<16xvector<4xf32>>
// CHECK-NEXT: dataflow.pack %half : {{.*}} -> tensor<4xvector<16xf32>>
// CHECK-NEXT: dataflow.pack %angle : {{.*}} -> tensor<8xvector<4xf32>>
// CHECK-NEXT: dataflow.pack %x : {{.*}} -> tensor<8xvector<16xf32>>

// ONE-LABEL: func.func @f(
// ONE: dataflow.pack %angle : {{.*}} -> tensor<2xvector<16xf32>>
