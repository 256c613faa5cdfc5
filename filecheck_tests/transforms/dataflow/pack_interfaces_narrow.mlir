// RUN: stc-opt %s -p 'pack-interfaces{narrow=true}' --split-input-file --allow-unregistered-dialect | filecheck %s

// Gain and bias will share a port, which has the time to bring them in narrow words while others bring the weights: of 256
// bits, since one of them has tokens as wide, and words of a port are alike. The weights, and what is no parameter, have words as
// wide as a port.
// SHOW: dataflow.pack .*
!W = !itensor.itensor<16xf32, iter_space: [4096] * [16], iter_map: (d0) -> (d0)>
!G = !itensor.itensor<4xf32, iter_space: [16] * [4], iter_map: (d0) -> (d0)>
!H = !itensor.itensor<8xf32, iter_space: [8] * [8], iter_map: (d0) -> (d0)>
func.func @f(%w: tensor<65536xf32> {stc.parameter}, %gain: tensor<64xf32> {stc.parameter}, %bias: tensor<64xf32> {stc.parameter}, %x: tensor<64xf32>)
    -> (tensor<65536xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %y0, %y1, %y2, %y3 = dataflow.kernel @k(%p = %w : tensor<65536xf32> as !W, %g = %gain : tensor<64xf32> as !G, %b = %bias : tensor<64xf32> as !H, %q = %x : tensor<64xf32> as !G)
      -> (tensor<65536xf32> as !W, tensor<64xf32> as !G, tensor<64xf32> as !H, tensor<64xf32> as !G) {
    dataflow.yield %p, %g, %b, %q : !W, !G, !H, !G
  }
  func.return %y0, %y1, %y2, %y3 : tensor<65536xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// CHECK: !itensor = !itensor.itensor<16xf32, iter_space: [4096] * [16], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<4xf32, iter_space: [16] * [4], iter_map: (d0) -> (d0)>
// CHECK: !itensor2 = !itensor.itensor<8xf32, iter_space: [8] * [8], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @f(
// CHECK-NEXT: dataflow.pack %w : tensor<65536xf32> as !itensor -> tensor<4096xvector<16xf32>>
// CHECK-NEXT: dataflow.pack %gain : tensor<64xf32> as !itensor1 -> tensor<8xvector<8xf32>>
// CHECK-NEXT: dataflow.pack %bias : tensor<64xf32> as !itensor2 -> tensor<8xvector<8xf32>>
// CHECK-NEXT: dataflow.pack %x : tensor<64xf32> as !itensor1 -> tensor<4xvector<16xf32>>

// -----

// Beside few weights the port would be the last: words stay wide.
// SHOW: dataflow.pack .*
!W = !itensor.itensor<16xf32, iter_space: [4] * [16], iter_map: (d0) -> (d0)>
!G = !itensor.itensor<4xf32, iter_space: [16] * [4], iter_map: (d0) -> (d0)>
func.func @g(%w: tensor<64xf32> {stc.parameter}, %gain: tensor<64xf32> {stc.parameter}) -> (tensor<64xf32>, tensor<64xf32>) {
  %y0, %y1 = dataflow.kernel @k(%p = %w : tensor<64xf32> as !W, %g = %gain : tensor<64xf32> as !G) -> (tensor<64xf32> as !W, tensor<64xf32> as !G) {
    dataflow.yield %p, %g : !W, !G
  }
  func.return %y0, %y1 : tensor<64xf32>, tensor<64xf32>
}

// CHECK: !itensor = !itensor.itensor<16xf32, iter_space: [4] * [16], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<4xf32, iter_space: [16] * [4], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @g(
// CHECK-NEXT: dataflow.pack %w : tensor<64xf32> as !itensor -> tensor<4xvector<16xf32>>
// CHECK-NEXT: dataflow.pack %gain : tensor<64xf32> as !itensor1 -> tensor<4xvector<16xf32>>

// -----

// What leaves behind the last layer comes after gains and bias at their port, which has the time for it in words of 8
// entries, while others bring %v, as wide as tokens of it are.
// SHOW: dataflow.(un)?pack .*
!W = !itensor.itensor<64xi8, iter_space: [4096] * [64], iter_map: (d0) -> (d0)>
!V = !itensor.itensor<64xi8, iter_space: [262144] * [64], iter_map: (d0) -> (d0)>
!G = !itensor.itensor<4xf32, iter_space: [16] * [4], iter_map: (d0) -> (d0)>
!L = !itensor.itensor<8xf32, iter_space: [8192] * [8], iter_map: (d0) -> (d0)>
func.func @h(%w: tensor<262144xi8> {stc.parameter}, %v: tensor<16777216xi8> {stc.parameter}, %gain: tensor<64xf32> {stc.parameter},
    %bias: tensor<64xf32> {stc.parameter}, %x: tensor<64xf32>) -> tensor<65536xf32> {
  %logits = dataflow.kernel @k(%p = %w : tensor<262144xi8> as !W, %s = %v : tensor<16777216xi8> as !V, %g = %gain : tensor<64xf32> as !G,
      %b = %bias : tensor<64xf32> as !G, %q = %x : tensor<64xf32> as !G) -> (tensor<65536xf32> as !L) {
    %layers = "test.op"(%q, %p, %g, %b) {stc.ends_layers} : (!G, !W, !G, !G) -> !G
    %head = "test.op"(%s, %layers) : (!V, !G) -> !L
    dataflow.yield %head : !L
  }
  func.return %logits : tensor<65536xf32>
}

// CHECK-LABEL: func.func @h(
// CHECK: dataflow.pack %gain : {{.*}} -> tensor<8xvector<8xf32>>
// CHECK-NEXT: dataflow.pack %bias : {{.*}} -> tensor<8xvector<8xf32>>
// CHECK: dataflow.unpack %logits : tensor<8192xvector<8xf32>>
