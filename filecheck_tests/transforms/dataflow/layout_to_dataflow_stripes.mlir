// RUN: stc-opt %s -p 'propagate-orders{columns=4},tile-linalg,linalg-to-dataflow,layout-to-dataflow{size=4},choose-groups,merge-kernels,trim-boundaries,insert-converters,vectorize-streams{lanes=4},simplify-routing,pack-interfaces,verify-streams' --split-input-file | filecheck %s
// SHOW: func.func|dataflow.pack|dataflow.kernel|dataflow.task|itensor.split|itensor.merge|dataflow.unpack

// The slices of an argument and the parts of a result for two copies of a computation are memory ports of their own, in the order in
// which the copies read and write them.
func.func @copies(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %x0 = tensor.extract_slice %x[0, 0] [3, 8] [1, 1] {stc.stripe} : tensor<6x8xf32> to tensor<3x8xf32>
  %x1 = tensor.extract_slice %x[3, 0] [3, 8] [1, 1] {stc.stripe} : tensor<6x8xf32> to tensor<3x8xf32>
  %e0 = tensor.empty() : tensor<3x8xf32>
  %y0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x0 : tensor<3x8xf32>) outs(%e0 : tensor<3x8xf32>) attrs = {stc.name = "neg_0"} {
  ^bb0(%a: f32, %s: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32
  } -> tensor<3x8xf32>
  %e1 = tensor.empty() : tensor<3x8xf32>
  %y1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x1 : tensor<3x8xf32>) outs(%e1 : tensor<3x8xf32>) attrs = {stc.name = "neg_1"} {
  ^bb0(%a: f32, %s: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32
  } -> tensor<3x8xf32>
  %y = tensor.concat dim(0) %y0, %y1 {stc.stripe} : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [2, 3, 2] * [4, 1, 3], iter_map: (d0, d1, d2) -> (d1 + d2, d0)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [2, 3] * [4, 1], iter_map: (d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @copies(
// CHECK-NEXT: %[[X:.*]], %[[X1:.*]] = dataflow.pack %x : tensor<6x8xf32> as !itensor -> tensor<3xvector<8xf32>>, tensor<3xvector<8xf32>>
// CHECK-NEXT: %y, %[[Y:.*]] = dataflow.kernel @copies(%layout = %[[X]] : tensor<3xvector<8xf32>> as !itensor1, %[[LAYOUT:.*]] = %[[X1]] : tensor<3xvector<8xf32>> as !itensor1) -> (tensor<3xvector<8xf32>> as !itensor1, tensor<3xvector<8xf32>> as !itensor1) {
// CHECK: dataflow.task @neg_0 ins(%x0 = %layout : !itensor1) outs(%out = %{{.*}} : !itensor1) -> !itensor1 attributes {stc.name = "neg_0"} {
// CHECK: dataflow.task @neg_1 ins(%x1 = %[[LAYOUT]] : !itensor1) outs(%out = %{{.*}} : !itensor1) -> !itensor1 attributes {stc.name = "neg_1"} {
// CHECK: dataflow.unpack %y, %[[Y]] : tensor<3xvector<8xf32>>, tensor<3xvector<8xf32>> as !itensor -> tensor<6x8xf32>

// -----

// The first stripe stands behind what is cut out of the second: all come before that.
// SHOW: dataflow.kernel|itensor.split|itensor.chunk
func.func @of_stripes(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %x1 = tensor.extract_slice %x[4, 0] [4, 4] [1, 1] {stc.stripe} : tensor<8x4xf32> to tensor<4x4xf32>
  %a = tensor.extract_slice %x1[0, 0] [2, 4] [1, 1] {stc.stripe} : tensor<4x4xf32> to tensor<2x4xf32>
  %b = tensor.extract_slice %x1[2, 0] [2, 4] [1, 1] {stc.stripe} : tensor<4x4xf32> to tensor<2x4xf32>
  %x0 = tensor.extract_slice %x[0, 0] [4, 4] [1, 1] {stc.stripe} : tensor<8x4xf32> to tensor<4x4xf32>
  %y = tensor.concat dim(0) %x0, %b, %a : (tensor<4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%y : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) attrs = {stc.name = "neg"} {
  ^bb0(%p: f32, %s: f32):  %t = arith.negf %p : f32  linalg.yield %t : f32
  } -> tensor<8x4xf32>
  return %z : tensor<8x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [4, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
// CHECK: !itensor2 = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
// CHECK: !itensor3 = !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK-LABEL: func.func @of_stripes(
// CHECK: dataflow.kernel @of_stripes(%layout = %x_{{.*}} : tensor<1xvector<16xf32>> as !itensor, %layout_{{.*}} = %x_{{.*}} : tensor<1xvector<16xf32>> as !itensor) -> (tensor<2xvector<16xf32>> as !itensor1) {
// CHECK: itensor.chunk %layout_{{.*}} at [0, 0], [2, 0] : !itensor2 to !itensor3, !itensor3
