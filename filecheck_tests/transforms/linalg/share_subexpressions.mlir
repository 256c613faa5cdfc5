// RUN: stc-opt %s -p share-subexpressions --split-input-file | filecheck %s

// The order of a commutative operation's operands, and the module, do not matter.
// SHOW: linalg.generic .*ins\(.*? : ...|return
func.func @sums(%x: tensor<3x5xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %z = arith.constant 0.000000e+00 : f32  %y = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %g = tensor.empty() : tensor<3xf32>
  %h = linalg.fill ins(%y : f32) outs(%g : tensor<3xf32>) -> tensor<3xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%f : tensor<3xf32>) attrs = {stc.module = "ln_1"} {
  ^bb0(%a: f32, %b: f32):  %s = arith.addf %a, %b : f32  linalg.yield %s : f32
  } -> tensor<3xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%h : tensor<3xf32>) attrs = {stc.module = "ln_2"} {
  ^bb0(%a: f32, %b: f32):  %s = arith.addf %b, %a : f32  linalg.yield %s : f32
  } -> tensor<3xf32>
  func.return %p, %q : tensor<3xf32>, tensor<3xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @sums(
// CHECK: %p = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%x :
// CHECK: func.return %p, %p : tensor<3xf32>, tensor<3xf32>

// -----

// Subtraction is not commutative.
// SHOW: linalg.generic .*ins\(.*? : ...|return
func.func @differences(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %e = tensor.empty() : tensor<3xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x, %y : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):  %s = arith.subf %a, %b : f32  linalg.yield %s : f32
  } -> tensor<3xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%y, %x : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):  %s = arith.subf %a, %b : f32  linalg.yield %s : f32
  } -> tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%y, %x : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):  %s = arith.subf %b, %a : f32  linalg.yield %s : f32
  } -> tensor<3xf32>
  func.return %p, %q, %r : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK: #map = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @differences(
// CHECK: %p = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%x, %y :
// CHECK: %q = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%y, %x :
// CHECK: func.return %p, %q, %p : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>

// -----

// SHOW: linalg.generic .*ins\(.*? : ...|return
func.func @reshapes(%x: tensor<6xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = tensor.expand_shape %x [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  %b = tensor.expand_shape %x [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  func.return %a, %b : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @reshapes(
// CHECK: func.return %a, %a : tensor<2x3xf32>, tensor<2x3xf32>
