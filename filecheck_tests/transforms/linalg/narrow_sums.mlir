// RUN: stc-opt %s -p narrow-sums --split-input-file | filecheck %s

// A sum of which all that reads it takes the lower 32 bits.
// SHOW: arith|fill|linalg.generic .*ins\(.*? : ...|return
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @cut(%x: tensor<3x5xi8>, %w: tensor<7x5xi16>) -> tensor<3x7xf32> {
  %c = arith.constant 0 : i64
  %e = tensor.empty() : tensor<3x7xi64>
  %z = linalg.fill ins(%c : i64) outs(%e : tensor<3x7xi64>) -> tensor<3x7xi64>
  %s = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<3x5xi8>, tensor<7x5xi16>) outs(%z : tensor<3x7xi64>) {
  ^bb0(%a: i8, %b: i16, %o: i64):
    %0 = arith.extsi %a : i8 to i64
    %1 = arith.extui %b : i16 to i64
    %m = arith.muli %0, %1 : i64
    %t = arith.addi %m, %o : i64
    linalg.yield %t : i64
  } -> tensor<3x7xi64>
  %f = tensor.empty() : tensor<3x7xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<3x7xi64>) outs(%f : tensor<3x7xf32>) {
  ^bb0(%a: i64, %b: f32):
    %n = arith.trunci %a : i64 to i32
    %r = arith.sitofp %n : i32 to f32
    linalg.yield %r : f32
  } -> tensor<3x7xf32>
  func.return %y : tensor<3x7xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map3 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @cut(
// CHECK-NEXT: %s = arith.constant 0 : i32
// CHECK: linalg.fill ins(%s : i32) outs(%s_{{.*}} : tensor<3x7xi32>) -> tensor<3x7xi32>
// CHECK-NEXT: %[[S:.*]] = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w :
// CHECK: %[[EXTSI:.*]] = arith.extsi %{{.*}} : i8 to i32
// CHECK-NEXT: %[[EXTUI:.*]] = arith.extui %{{.*}} : i16 to i32
// CHECK-NEXT: %[[MULI:.*]] = arith.muli %[[EXTSI]], %[[EXTUI]] : i32
// CHECK-NEXT: arith.addi %[[MULI]], %{{.*}} : i32
// CHECK: %y = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%[[S]] :
// CHECK: arith.sitofp %a : i32 to f32
// CHECK: func.return %y : tensor<3x7xf32>

// -----

// All bits of it are a result.
// SHOW: arith|fill|linalg.generic .*ins\(.*? : ...|return
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @returned(%x: tensor<3x5xi8>, %w: tensor<7x5xi16>) -> (tensor<3x7xf32>, tensor<3x7xi64>) {
  %c = arith.constant 0 : i64
  %e = tensor.empty() : tensor<3x7xi64>
  %z = linalg.fill ins(%c : i64) outs(%e : tensor<3x7xi64>) -> tensor<3x7xi64>
  %s = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<3x5xi8>, tensor<7x5xi16>) outs(%z : tensor<3x7xi64>) {
  ^bb0(%a: i8, %b: i16, %o: i64):
    %0 = arith.extsi %a : i8 to i64
    %1 = arith.extui %b : i16 to i64
    %m = arith.muli %0, %1 : i64
    %t = arith.addi %m, %o : i64
    linalg.yield %t : i64
  } -> tensor<3x7xi64>
  %f = tensor.empty() : tensor<3x7xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<3x7xi64>) outs(%f : tensor<3x7xf32>) {
  ^bb0(%a: i64, %b: f32):
    %n = arith.trunci %a : i64 to i32
    %r = arith.sitofp %n : i32 to f32
    linalg.yield %r : f32
  } -> tensor<3x7xf32>
  func.return %y, %s : tensor<3x7xf32>, tensor<3x7xi64>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map3 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @returned(
// CHECK-NEXT: %c = arith.constant 0 : i64
// CHECK: linalg.fill ins(%c : i64) outs(%e : tensor<3x7xi64>) -> tensor<3x7xi64>
// CHECK-NEXT: %s = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w :
// CHECK: %[[EXTSI:.*]] = arith.extsi %a : i8 to i64
// CHECK-NEXT: %[[EXTUI:.*]] = arith.extui %b : i16 to i64
// CHECK-NEXT: %m = arith.muli %[[EXTSI]], %[[EXTUI]] : i64
// CHECK-NEXT: arith.addi %m, %o : i64
// CHECK: %y = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%s :
// CHECK: %n = arith.trunci %a_{{.*}} : i64 to i32
// CHECK-NEXT: arith.sitofp %n : i32 to f32
// CHECK: func.return %y, %s : tensor<3x7xf32>, tensor<3x7xi64>
