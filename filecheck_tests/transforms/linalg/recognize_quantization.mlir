// RUN: stc-opt %s -p recognize-quantization --split-input-file | filecheck %s

// Weights of 4 bits in bytes, as a parameter says, in two groups; activations with a zero point, which the sum of weights corrects.
// SHOW: trunci|expand_shape|linalg.generic ... ins\(.*? : ...|muli|subi|sitofp|mulf|func.func
#mk = affine_map<(m, k) -> (m, k)>
#m = affine_map<(m, k) -> (m)>
#full = affine_map<(n, j, i) -> (n, j, i)>
#group = affine_map<(n, j, i) -> (n, j)>
#maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
func.func @groups(%a: tensor<5x8xi8>, %z: tensor<5xi8>, %s: tensor<5xf32>,
    %q: tensor<3x8xi8> {stc.parameter, stc.values = array<i64: -8, 7>}, %t: tensor<3x2xf32> {stc.parameter}) -> tensor<5x3xf32> {
  %e = tensor.empty() : tensor<5x8xf32>
  %x = linalg.generic {indexing_maps = [#mk, #m, #m, #mk], iterator_types = ["parallel", "parallel"]}
      ins(%a, %z, %s : tensor<5x8xi8>, tensor<5xi8>, tensor<5xf32>) outs(%e : tensor<5x8xf32>) {
  ^bb0(%i: i8, %j: i8, %k: f32, %o: f32):
    %fi = arith.sitofp %i : i8 to f32  %fj = arith.sitofp %j : i8 to f32
    %d = arith.subf %fi, %fj : f32  %p = arith.mulf %d, %k : f32  linalg.yield %p : f32
  } -> tensor<5x8xf32>
  %qs = tensor.expand_shape %q [[0], [1, 2]] output_shape [3, 2, 4] : tensor<3x8xi8> into tensor<3x2x4xi8>
  %g = tensor.empty() : tensor<3x2x4xf32>
  %ws = linalg.generic {indexing_maps = [#full, #group, #full], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qs, %t : tensor<3x2x4xi8>, tensor<3x2xf32>) outs(%g : tensor<3x2x4xf32>) {
  ^bb0(%i: i8, %k: f32, %o: f32):
    %fi = arith.sitofp %i : i8 to f32  %p = arith.mulf %k, %fi : f32  linalg.yield %p : f32
  } -> tensor<3x2x4xf32>
  %w = tensor.collapse_shape %ws [[0], [1, 2]] : tensor<3x2x4xf32> into tensor<3x8xf32>
  %zero = arith.constant 0.0 : f32
  %h = tensor.empty() : tensor<5x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%h : tensor<5x3xf32>) -> tensor<5x3xf32>
  %y = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<5x8xf32>, tensor<3x8xf32>) outs(%f : tensor<5x3xf32>) attrs = {stc.module = "fc"} {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32  %u = arith.addf %o, %p : f32  linalg.yield %u : f32
  } -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @groups(
// CHECK: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%q :
// CHECK: arith.trunci %{{.*}} : i8 to i4
// CHECK: %[[EXPAND_SHAPE:.*]] = tensor.expand_shape %a {{\[\[}}0 : i64], [1 : i64, 2 : i64]] output_shape [5, 2, 4] : tensor<5x8xi8> into tensor<5x2x4xi8>
// CHECK-NEXT: %[[EXPAND_SHAPE1:.*]] = tensor.expand_shape %[[GENERIC]] {{\[\[}}0 : i64], [1 : i64, 2 : i64]] output_shape [3, 2, 4] : tensor<3x8xi4> into tensor<3x2x4xi4>
// CHECK: %[[GENERIC1:.*]] = linalg.generic{{.*}}ins(%[[EXPAND_SHAPE]], %[[EXPAND_SHAPE1]] :
// CHECK: arith.muli %{{.*}}, %{{.*}} : i32
// CHECK: %[[GENERIC2:.*]] = linalg.generic{{.*}}ins(%[[EXPAND_SHAPE1]] :
// CHECK: %[[GENERIC3:.*]] = linalg.generic{{.*}}ins(%[[GENERIC1]], %z, %[[GENERIC2]], %t :
// CHECK: %[[MULI:.*]] = arith.muli %{{.*}}, %{{.*}} : i32
// CHECK-NEXT: %[[SUBI:.*]] = arith.subi %{{.*}}, %[[MULI]] : i32
// CHECK-NEXT: %[[SITOFP:.*]] = arith.sitofp %[[SUBI]] : i32 to f32
// CHECK-NEXT: arith.mulf %[[SITOFP]], %{{.*}} : f32
// CHECK: linalg.generic{{.*}}ins(%[[GENERIC3]], %s :
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32

// -----

// Weights alone are integers: the device makes them f32, and multiplies sums by the scale.
// SHOW: linalg.generic ... ins\(.*? : ...|sitofp|mulf|addf|func.func
#mk = affine_map<(m, k) -> (m, k)>
#maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
func.func @weights_alone(%x: tensor<5x8xf32>, %q: tensor<3x8xi8> {stc.parameter}) -> tensor<5x3xf32> {
  %g = tensor.empty() : tensor<3x8xf32>
  %w = linalg.generic {indexing_maps = [#mk, #mk], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<3x8xi8>) outs(%g : tensor<3x8xf32>) {
  ^bb0(%i: i8, %o: f32):
    %s = arith.constant 0.5 : f32
    %fi = arith.sitofp %i : i8 to f32  %p = arith.mulf %fi, %s : f32  linalg.yield %p : f32
  } -> tensor<3x8xf32>
  %zero = arith.constant 0.0 : f32
  %h = tensor.empty() : tensor<5x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%h : tensor<5x3xf32>) -> tensor<5x3xf32>
  %y = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<5x8xf32>, tensor<3x8xf32>) outs(%f : tensor<5x3xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32  %u = arith.addf %o, %p : f32  linalg.yield %u : f32
  } -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @weights_alone(
// CHECK: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%x, %q :
// CHECK: %[[SITOFP:.*]] = arith.sitofp %{{.*}} : i8 to f32
// CHECK-NEXT: %[[MULF:.*]] = arith.mulf %{{.*}}, %[[SITOFP]] : f32
// CHECK-NEXT: arith.addf %{{.*}}, %[[MULF]] : f32
// CHECK: linalg.generic{{.*}}ins(%[[GENERIC]] :
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
