// RUN: stc-opt %s -p drop-unused-results --split-input-file | filecheck %s

// SHOW: = linalg.generic|arith|math|linalg.yield|return
func.func @maximum(%x: tensor<3x5xf32>, %f: tensor<3xf32>, %i: tensor<3xi64>) -> tensor<3xf32> {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%f, %i : tensor<3xf32>, tensor<3xi64>) attrs = {stc.module = "attn"} {
  ^bb0(%a: f32, %b: f32, %c: i64):
    %n = linalg.index 1 : index
    %o = arith.index_cast %n : index to i64
    %p = arith.maximumf %a, %b : f32
    %q = arith.cmpf ogt, %a, %b : f32
    %s = arith.select %q, %o, %c : i64
    linalg.yield %p, %s : f32, i64
  } -> (tensor<3xf32>, tensor<3xi64>)
  func.return %r#0 : tensor<3xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @maximum(
// CHECK-NEXT: %r = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%f : tensor<3xf32>) attrs ={{ +}}{stc.module = "attn"} {
// CHECK: %p = arith.maximumf %a, %b : f32
// CHECK-NEXT: linalg.yield %p : f32
// CHECK: func.return %r : tensor<3xf32>

// -----

// The position needs the maximum, so that both stay.
// SHOW: = linalg.generic|arith|math|linalg.yield|return
func.func @position(%x: tensor<3x5xf32>, %f: tensor<3xf32>, %i: tensor<3xi64>) -> tensor<3xi64> {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%f, %i : tensor<3xf32>, tensor<3xi64>) {
  ^bb0(%a: f32, %b: f32, %c: i64):
    %n = linalg.index 1 : index
    %o = arith.index_cast %n : index to i64
    %p = arith.maximumf %a, %b : f32
    %q = arith.cmpf ogt, %a, %b : f32
    %s = arith.select %q, %o, %c : i64
    linalg.yield %p, %s : f32, i64
  } -> (tensor<3xf32>, tensor<3xi64>)
  func.return %r#1 : tensor<3xi64>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @position(
// CHECK-NEXT: %r, %[[R:.*]] = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%f, %i : tensor<3xf32>, tensor<3xi64>) {
// CHECK: %o = arith.index_cast %n : index to i64
// CHECK-NEXT: %p = arith.maximumf %a, %b : f32
// CHECK-NEXT: %q = arith.cmpf ogt, %a, %b : f32
// CHECK-NEXT: %s = arith.select %q, %o, %c : i64
// CHECK-NEXT: linalg.yield %p, %s : f32, i64
// CHECK: func.return %[[R]] : tensor<3xi64>
