// RUN: stc-opt %s -p unfold-windows | filecheck %s

// A convolution whose window moves over its input: the window becomes a dimension of its own.
// SHOW: slice|concat|linalg.generic .*ins\(.*? : ...
#in = affine_map<(d0, d1) -> (d0 + d1)>
#w = affine_map<(d0, d1) -> (d1)>
#out = affine_map<(d0, d1) -> (d0)>
func.func @main(%x: tensor<6xf32>, %w: tensor<3xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#in, #w, #out], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<6xf32>, tensor<3xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):  %m = arith.mulf %a, %b : f32  %s = arith.addf %m, %o : f32  linalg.yield %s : f32
  } -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d1)>
// CHECK: #map2 = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @main(
// CHECK: tensor.extract_slice %x[0] [4] [1] : tensor<6xf32> to tensor<4xf32>
// CHECK: tensor.extract_slice %x[1] [4] [1] : tensor<6xf32> to tensor<4xf32>
// CHECK: tensor.extract_slice %x[2] [4] [1] : tensor<6xf32> to tensor<4xf32>
// CHECK: %[[CONCAT:.*]] = tensor.concat dim(0) %{{.*}}, %{{.*}}, %{{.*}} : (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "reduction"]} ins(%[[CONCAT]], %w :
