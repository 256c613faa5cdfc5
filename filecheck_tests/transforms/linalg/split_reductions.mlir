// RUN: stc-opt %s -p 'split-reductions{budget="dsp=400"}' --split-input-file | filecheck %s

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
// CHECK: %[[Y:.*]] = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "reduction"]} ins(%mv_partial :
// CHECK: func.return %[[Y]] : tensor<6xf32>

// -----

// Lanes for the first product, copies for the second, whose reduction the first divides; the vector between them is split too.
#there = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>]
#back = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>]
!A = tensor<12x30xf32>
!X = tensor<30xf32>
!Y = tensor<12xf32>
func.func @there_and_back(%a: !A, %x: !X) -> !X {
  %zero = arith.constant 0.0 : f32  %e = tensor.empty() : !Y  %g = tensor.empty() : !X
  %f = linalg.fill ins(%zero : f32) outs(%e : !Y) -> !Y
  %y = linalg.generic {indexing_maps = #there, iterator_types = ["parallel", "reduction"]} ins(%a, %x : !A, !X) outs(%f : !Y) {
  ^bb0(%l: f32, %r: f32, %s: f32):  %p = arith.mulf %l, %r : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32 } -> !Y
  %h = linalg.fill ins(%zero : f32) outs(%g : !X) -> !X
  %z = linalg.generic {indexing_maps = #back, iterator_types = ["parallel", "reduction"]} ins(%a, %y : !A, !Y) outs(%h : !X) {
  ^bb0(%l: f32, %r: f32, %s: f32):  %p = arith.mulf %l, %r : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32 } -> !X
  return %z : !X
}

// CHECK-LABEL: @there_and_back(
// CHECK: [[X:%.*]] = tensor.expand_shape %x {{.*}} output_shape [6, 5]
// CHECK-NEXT: [[A:%.*]] = tensor.expand_shape %a {{.*}} output_shape [3, 4, 6, 5]
// CHECK: [[PARTIAL:%.*]] = linalg.generic {{.*}}"parallel", "parallel", "parallel", "reduction"]} ins([[A]], [[X]] :
// CHECK: [[Y:%.*]] = linalg.generic {{.*}}"parallel", "parallel", "reduction"]} ins([[PARTIAL]] :
// CHECK: [[A1:%.*]] = tensor.expand_shape %a {{.*}} output_shape [3, 4, 30]
// CHECK: [[PARTIAL1:%.*]] = linalg.generic {{.*}}"parallel", "parallel", "reduction"]} ins([[A1]], [[Y]] :
// CHECK: linalg.generic {{.*}}"parallel", "reduction"]} ins([[PARTIAL1]] :

// -----

// A prime number of columns stays whole.
#maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>]
!A = tensor<6x37xf32>
!X = tensor<37xf32>
!Y = tensor<6xf32>
func.func @prime(%a: !A, %x: !X) -> !Y {
  %start = arith.constant 0.0 : f32  %e = tensor.empty() : !Y
  %f = linalg.fill ins(%start : f32) outs(%e : !Y) -> !Y
  %y = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "reduction"]} ins(%a, %x : !A, !X) outs(%f : !Y) {
  ^bb0(%l: f32, %r: f32, %s: f32):  %p = arith.mulf %l, %r : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32 } -> !Y
  return %y : !Y
}

// CHECK-LABEL: @prime(
// CHECK-NOT: expand_shape

// -----

// A matrix product, which uses every entry often, stays whole.
#maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
!A = tensor<6x40xf32>
!X = tensor<40x8xf32>
!Y = tensor<6x8xf32>
func.func @matrix_product(%a: !A, %x: !X) -> !Y {
  %start = arith.constant 0.0 : f32  %e = tensor.empty() : !Y
  %f = linalg.fill ins(%start : f32) outs(%e : !Y) -> !Y
  %y = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %x : !A, !X) outs(%f : !Y) {
  ^bb0(%l: f32, %r: f32, %s: f32):  %p = arith.mulf %l, %r : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32 } -> !Y
  return %y : !Y
}

// CHECK-LABEL: @matrix_product(
// CHECK-NOT: expand_shape

// -----

// A sum that does not begin at zero stays whole.
#maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>]
!A = tensor<6x40xf32>
!X = tensor<40xf32>
!Y = tensor<6xf32>
func.func @from_one(%a: !A, %x: !X) -> !Y {
  %start = arith.constant 1.0 : f32  %e = tensor.empty() : !Y
  %f = linalg.fill ins(%start : f32) outs(%e : !Y) -> !Y
  %y = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "reduction"]} ins(%a, %x : !A, !X) outs(%f : !Y) {
  ^bb0(%l: f32, %r: f32, %s: f32):  %p = arith.mulf %l, %r : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32 } -> !Y
  return %y : !Y
}

// CHECK-LABEL: @from_one(
// CHECK-NOT: expand_shape

// -----

// Terms of integers run in lanes of their own accord: nothing is split.
// SHOW: linalg.generic
func.func @integers(%a: tensor<6x40xi8>, %x: tensor<40xi8>) -> tensor<6xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<6xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<6xi32>) -> tensor<6xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
      affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %x : tensor<6x40xi8>, tensor<40xi8>) outs(%f : tensor<6xi32>) attrs = {stc.name = "sums"} {
  ^bb0(%l: i8, %r: i8, %s: i32):
    %v = arith.extsi %l : i8 to i32  %w = arith.extsi %r : i8 to i32
    %p = arith.muli %v, %w : i32  %t = arith.addi %s, %p : i32  linalg.yield %t : i32
  } -> tensor<6xi32>
  return %y : tensor<6xi32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d1)>
// CHECK: #map2 = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @integers(
// CHECK: linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "reduction"]} ins(%a, %x : tensor<6x40xi8>, tensor<40xi8>) outs(%f : tensor<6xi32>) attrs ={{ +}}{stc.name = "sums"} {
