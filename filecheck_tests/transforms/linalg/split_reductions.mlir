// RUN: stc-opt %s -p 'split-reductions{dsp=400}' --split-input-file | filecheck %s

// Lanes: the widest divisor of 40 whose square is not above 40.
// SHOW: _shape|linalg.generic .*ins\(.*? : ...|return
func.func @matrix_vector(%a: tensor<6x40xf32>, %x: tensor<40xf32>) -> tensor<6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
      affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %x : tensor<6x40xf32>, tensor<40xf32>) outs(%f : tensor<6xf32>) attrs = {stc.name = "mv"} {
  ^bb0(%l: f32, %r: f32, %s: f32):  %p = arith.mulf %l, %r : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map3 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map4 = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @matrix_vector(
// CHECK: %[[EXPAND_SHAPE:.*]] = tensor.expand_shape %a {{\[\[}}0 : i64], [1 : i64, 2 : i64]] output_shape [6, 8, 5] : tensor<6x40xf32> into tensor<6x8x5xf32>
// CHECK-NEXT: %[[EXPAND_SHAPE1:.*]] = tensor.expand_shape %x {{\[\[}}0 : i64, 1 : i64]] output_shape [8, 5] : tensor<40xf32> into tensor<8x5xf32>
// CHECK: %mv_partial = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[EXPAND_SHAPE]], %[[EXPAND_SHAPE1]] :
// CHECK: %y = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "reduction"]} ins(%mv_partial :
// CHECK: func.return %y : tensor<6xf32>

// -----

// Lanes for the first product, copies for the second, whose reduction the first divides; the vector between them is split too.
// SHOW: _shape|linalg.generic .*ins\(.*? : ...|return
func.func @there_and_back(%a: tensor<12x30xf32>, %x: tensor<30xf32>) -> tensor<30xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12xf32>) -> tensor<12xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
      affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %x : tensor<12x30xf32>, tensor<30xf32>) outs(%f : tensor<12xf32>) attrs = {stc.name = "there"} {
  ^bb0(%l: f32, %r: f32, %s: f32):  %p = arith.mulf %l, %r : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<12xf32>
  %g = tensor.empty() : tensor<30xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<30xf32>) -> tensor<30xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d1)>,
      affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %y : tensor<12x30xf32>, tensor<12xf32>) outs(%h : tensor<30xf32>) attrs = {stc.name = "back"} {
  ^bb0(%l: f32, %r: f32, %s: f32):  %p = arith.mulf %l, %r : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<30xf32>
  return %z : tensor<30xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
// CHECK: #map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK: #map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK: #map4 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map5 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK: #map6 = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map7 = affine_map<(d0, d1) -> (d1, d0)>
// CHECK: #map8 = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @there_and_back(
// CHECK: %[[EXPAND_SHAPE:.*]] = tensor.expand_shape %x {{\[\[}}0 : i64, 1 : i64]] output_shape [6, 5] : tensor<30xf32> into tensor<6x5xf32>
// CHECK-NEXT: %[[EXPAND_SHAPE1:.*]] = tensor.expand_shape %a {{\[\[}}0 : i64, 1 : i64], [2 : i64, 3 : i64]] output_shape [3, 4, 6, 5] : tensor<12x30xf32> into tensor<3x4x6x5xf32>
// CHECK: %[[GENERIC:.*]] = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[EXPAND_SHAPE1]], %[[EXPAND_SHAPE]] :
// CHECK: %[[GENERIC1:.*]] = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[GENERIC]] :
// CHECK: %[[EXPAND_SHAPE2:.*]] = tensor.expand_shape %a {{\[\[}}0 : i64, 1 : i64], [2 : i64]] output_shape [3, 4, 30] : tensor<12x30xf32> into tensor<3x4x30xf32>
// CHECK: %back_partial = linalg.generic {indexing_maps = [#map5, #map6, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[EXPAND_SHAPE2]], %[[GENERIC1]] :
// CHECK: %z = linalg.generic {indexing_maps = [#map7, #map8], iterator_types = ["parallel", "reduction"]} ins(%back_partial :
// CHECK: func.return %z : tensor<30xf32>

// -----

// A prime number of columns, a matrix product (every entry used often), and a sum that does not begin at zero stay whole.
// SHOW: _shape|linalg.generic .*ins\(.*? : ...|return
func.func @whole(%a: tensor<6x37xf32>, %x: tensor<37xf32>, %b: tensor<40x8xf32>, %c: tensor<6x40xf32>, %v: tensor<40xf32>)
    -> (tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>) {
  %zero = arith.constant 0.0 : f32  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
      affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %x : tensor<6x37xf32>, tensor<37xf32>) outs(%f : tensor<6xf32>) attrs = {stc.name = "prime"} {
  ^bb0(%l: f32, %r: f32, %s: f32):  %p = arith.mulf %l, %r : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<6xf32>
  %g = tensor.empty() : tensor<6x8xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<6x8xf32>) -> tensor<6x8xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%c, %b : tensor<6x40xf32>, tensor<40x8xf32>) outs(%h : tensor<6x8xf32>) attrs = {stc.name = "product"} {
  ^bb0(%l: f32, %r: f32, %s: f32):  %p = arith.mulf %l, %r : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<6x8xf32>
  %k = linalg.fill ins(%one : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
      affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%c, %v : tensor<6x40xf32>, tensor<40xf32>) outs(%k : tensor<6xf32>) attrs = {stc.name = "from_one"} {
  ^bb0(%l: f32, %r: f32, %s: f32):  %p = arith.mulf %l, %r : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<6xf32>
  return %y, %m, %w : tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d1)>
// CHECK: #map2 = affine_map<(d0, d1) -> (d0)>
// CHECK: #map3 = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map4 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map5 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @whole(
// CHECK: %y = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "reduction"]} ins(%a, %x :
// CHECK: %m = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%c, %b :
// CHECK: %w = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "reduction"]} ins(%c, %v :
// CHECK: func.return %y, %m, %w : tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>
