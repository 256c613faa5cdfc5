// RUN: stc-opt %s -p narrow-factors --split-input-file | filecheck %s

// A parameter that was made wider, and bytes without a sign.
// SHOW: arith|linalg.generic .*ins\(.*? : ...
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @wide(%x: tensor<3x5xi8>, %q: tensor<7x5xi8> {stc.parameter}) -> tensor<3x7xi32> {
  %e = tensor.empty() : tensor<3x5xi32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x5xi8>) outs(%e : tensor<3x5xi32>) {
  ^bb0(%i: i8, %o: i32):
    %0 = arith.extui %i : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<3x5xi32>
  %f = tensor.empty() : tensor<7x5xi32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<7x5xi8>) outs(%f : tensor<7x5xi32>) {
  ^bb0(%i: i8, %o: i32):
    %0 = arith.extsi %i : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<7x5xi32>
  %c = arith.constant 0 : i32
  %g = tensor.empty() : tensor<3x7xi32>
  %z = linalg.fill ins(%c : i32) outs(%g : tensor<3x7xi32>) -> tensor<3x7xi32>
  %s = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<3x5xi32>, tensor<7x5xi32>) outs(%z : tensor<3x7xi32>) {
  ^bb0(%i: i32, %j: i32, %o: i32):
    %m = arith.muli %i, %j : i32
    %t = arith.addi %m, %o : i32
    linalg.yield %t : i32
  } -> tensor<3x7xi32>
  func.return %s : tensor<3x7xi32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK: #map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @wide(
// CHECK: %a = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x :
// CHECK: arith.extui %i : i8 to i32
// CHECK: %[[A:.*]] = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%a :
// CHECK: arith.trunci %{{.*}} : i32 to i8
// CHECK: %b = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%q :
// CHECK: arith.extsi %i_{{.*}} : i8 to i32
// CHECK: %[[B:.*]] = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%b :
// CHECK: arith.trunci %{{.*}} : i32 to i8
// CHECK: arith.constant 0 : i32
// CHECK: linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[A]], %[[B]] :
// CHECK: %j = arith.extsi %{{.*}} : i8 to i32
// CHECK-NEXT: %[[I:.*]] = arith.extui %{{.*}} : i8 to i32
// CHECK-NEXT: %m = arith.muli %[[I]], %j : i32
// CHECK-NEXT: arith.addi %m, %o_{{.*}} : i32

// -----

// Of an input nothing is known; a parameter holds -3 to 7, by what it is said to hold.
// SHOW: arith|linalg.generic .*ins\(.*? : ...
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @values(%x: tensor<3x5xi32>, %q: tensor<7x5xi32> {stc.parameter, stc.values = array<i64: -3, 7>}) -> tensor<3x7xi32> {
  %c = arith.constant 0 : i32
  %g = tensor.empty() : tensor<3x7xi32>
  %z = linalg.fill ins(%c : i32) outs(%g : tensor<3x7xi32>) -> tensor<3x7xi32>
  %s = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %q : tensor<3x5xi32>, tensor<7x5xi32>) outs(%z : tensor<3x7xi32>) {
  ^bb0(%i: i32, %j: i32, %o: i32):
    %m = arith.muli %i, %j : i32
    %t = arith.addi %m, %o : i32
    linalg.yield %t : i32
  } -> tensor<3x7xi32>
  func.return %s : tensor<3x7xi32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK: #map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @values(
// CHECK: %[[Q:.*]] = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%q :
// CHECK: arith.trunci %{{.*}} : i32 to i4
// CHECK: arith.constant 0 : i32
// CHECK: linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %[[Q]] :
// CHECK: %j = arith.extsi %{{.*}} : i4 to i32
// CHECK-NEXT: %m = arith.muli %i, %j : i32
// CHECK-NEXT: arith.addi %m, %o : i32
