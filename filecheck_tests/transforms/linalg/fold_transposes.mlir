// RUN: stc-opt %s -p fold-transposes --split-input-file | filecheck %s

// SHOW: linalg.generic .*ins\(.*? : ...|linalg.broadcast|linalg.transpose|return
func.func @transposed_weight(%x: tensor<3x7xf32>, %w: tensor<5x7xf32>, %e: tensor<7x5xf32>, %o: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<5x7xf32>) outs(%e : tensor<7x5xf32>) {
  ^bb0(%a: f32, %b: f32):  linalg.yield %a : f32
  } -> tensor<7x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %t : tensor<3x7xf32>, tensor<7x5xf32>) outs(%o : tensor<3x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):  %p = arith.mulf %a, %b : f32  %s = arith.addf %p, %c : f32  linalg.yield %s : f32
  } -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @transposed_weight(
// CHECK-NEXT: %y = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w :
// CHECK: func.return %y : tensor<3x5xf32>

// -----

// Grouped heads: the repetition is a loop that the operand does not use.
// SHOW: linalg.generic .*ins\(.*? : ...|linalg.broadcast|linalg.transpose|return
func.func @broadcast(%x: tensor<2x5xf32>, %y: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %e = tensor.empty() : tensor<2x3x5xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<2x5xf32>) outs(%e : tensor<2x3x5xf32>) {
  ^bb0(%a: f32, %c: f32):  linalg.yield %a : f32
  } -> tensor<2x3x5xf32>
  %f = tensor.empty() : tensor<2x3x5xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%b, %y : tensor<2x3x5xf32>, tensor<2x3x5xf32>) outs(%f : tensor<2x3x5xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):  %m = arith.mulf %a, %c : f32  linalg.yield %m : f32
  } -> tensor<2x3x5xf32>
  func.return %s : tensor<2x3x5xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @broadcast(
// CHECK: %s = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %y :
// CHECK: func.return %s : tensor<2x3x5xf32>

// -----

// The reader is no generic: the producer writes the permuted result.
// SHOW: linalg.generic .*ins\(.*? : ...|linalg.broadcast|linalg.transpose|return
func.func @transposed_result(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) {
  ^bb0(%a: f32, %b: f32):  %m = math.exp %a : f32  linalg.yield %m : f32
  } -> tensor<3x5xf32>
  %f = tensor.empty() : tensor<5x3xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<3x5xf32>) outs(%f : tensor<5x3xf32>) {
  ^bb0(%a: f32, %b: f32):  linalg.yield %a : f32
  } -> tensor<5x3xf32>
  func.return %t : tensor<5x3xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @transposed_result(
// CHECK: %t = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%x :
// CHECK: func.return %t : tensor<5x3xf32>

// -----

// A sum over a broadcast would lose the bound of its loop.
// SHOW: linalg.generic .*ins\(.*? : ...|linalg.broadcast|linalg.transpose|return
func.func @sum_of_broadcast(%x: tensor<3xf32>, %o: tensor<3xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3xf32>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%a: f32, %c: f32):  linalg.yield %a : f32
  } -> tensor<3x4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%b : tensor<3x4xf32>) outs(%o : tensor<3xf32>) {
  ^bb0(%a: f32, %c: f32):  %m = arith.addf %a, %c : f32  linalg.yield %m : f32
  } -> tensor<3xf32>
  func.return %s : tensor<3xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @sum_of_broadcast(
// CHECK: %b = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%x :
// CHECK: %s = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "reduction"]} ins(%b :
// CHECK: func.return %s : tensor<3xf32>
