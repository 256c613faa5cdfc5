// RUN: stc-opt %s -p fold-fills --split-input-file | filecheck %s

// SHOW: fill|linalg.generic .*ins\(.*? : ...|return
func.func @bias_is_no_accumulator(%x: tensor<3x5xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%b : tensor<3xf32>) {
  ^bb0(%a: f32, %c: f32):  %s = arith.addf %a, %c : f32  linalg.yield %s : f32
  } -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d0)>
// CHECK: #map2 = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @bias_is_no_accumulator(
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %r = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%x :
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel"]} ins(%r, %b :
// CHECK: func.return %[[R]] : tensor<3xf32>

// -----

// SHOW: fill|linalg.generic .*ins\(.*? : ...|return
func.func @unused_initial_value(%x: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%x : tensor<3xf32>) {
  ^bb0(%a: f32, %c: f32):  %s = math.exp %a : f32  linalg.yield %s : f32
  } -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// CHECK: #map = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @unused_initial_value(
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x :
// CHECK: func.return %[[R]] : tensor<3xf32>

// -----

// SHOW: fill|linalg.generic .*ins\(.*? : ...|return
func.func @read_initial_value(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%y : tensor<3xf32>) {
  ^bb0(%a: f32, %c: f32):  %s = arith.subf %a, %c : f32  linalg.yield %s : f32
  } -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// CHECK: #map = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @read_initial_value(
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%x, %y :
// CHECK: func.return %[[R]] : tensor<3xf32>

// -----

// SHOW: fill|linalg.generic .*ins\(.*? : ...|return
func.func @maximum_of_constant(%x: tensor<3x5xf32>) -> tensor<3xf32> {
  %t = arith.constant dense<0xFF800000> : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%t : tensor<3xf32>) {
  ^bb0(%a: f32, %c: f32):  %s = arith.maximumf %a, %c : f32  linalg.yield %s : f32
  } -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @maximum_of_constant(
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %r = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%x :
// CHECK: func.return %r : tensor<3xf32>
