// RUN: stc-opt %s -p propagate-reshapes --split-input-file | filecheck %s

// Heads: the slice and the projection work on [token, head, entry], the weight is expanded at the boundary.
// SHOW: _shape|slice|linalg.generic .*ins\(.*? : ...|return
func.func @heads_up(%x: tensor<5x6xf32>, %w: tensor<6x9xf32>) -> tensor<5x1x3xf32> {
  %z = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<5x9xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<5x9xf32>) -> tensor<5x9xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<5x6xf32>, tensor<6x9xf32>) outs(%f : tensor<5x9xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):  %p = arith.mulf %a, %b : f32  %s = arith.addf %p, %c : f32  linalg.yield %s : f32
  } -> tensor<5x9xf32>
  %h = tensor.expand_shape %y [[0], [1, 2]] output_shape [5, 3, 3] : tensor<5x9xf32> into tensor<5x3x3xf32>
  %s = tensor.extract_slice %h[0, 2, 0] [5, 1, 3] [1, 1, 1] : tensor<5x3x3xf32> to tensor<5x1x3xf32>
  func.return %s : tensor<5x1x3xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
// CHECK: #map1 = affine_map<(d0, d1, d2, d3) -> (d3, d1, d2)>
// CHECK: #map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @heads_up(
// CHECK: %[[EXPAND_SHAPE:.*]] = tensor.expand_shape %w {{\[\[}}0 : i64], [1 : i64, 2 : i64]] output_shape [6, 3, 3] : tensor<6x9xf32> into tensor<6x3x3xf32>
// CHECK: %y = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %[[EXPAND_SHAPE]] :
// CHECK: %[[S:.*]] = tensor.extract_slice %y[0, 2, 0] [5, 1, 3] [1, 1, 1] : tensor<5x3x3xf32> to tensor<5x1x3xf32>
// CHECK-NEXT: func.return %[[S]] : tensor<5x1x3xf32>

// -----

// SHOW: _shape|slice|linalg.generic .*ins\(.*? : ...|return
func.func @slice_up(%x: tensor<5x12xf32>) -> tensor<5x2x2xf32> {
  %e = tensor.empty() : tensor<5x12xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<5x12xf32>) outs(%e : tensor<5x12xf32>) attrs = {stc.module = "attn"} {
  ^bb0(%a: f32, %b: f32):  %m = math.exp %a : f32  linalg.yield %m : f32
  } -> tensor<5x12xf32>
  %s = tensor.extract_slice %y[0, 8] [5, 4] [1, 1] {stc.module = "attn"} : tensor<5x12xf32> to tensor<5x4xf32>
  %h = tensor.expand_shape %s [[0], [1, 2]] output_shape [5, 2, 2] : tensor<5x4xf32> into tensor<5x2x2xf32>
  %f = tensor.empty() : tensor<5x2x2xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%h : tensor<5x2x2xf32>) outs(%f : tensor<5x2x2xf32>) {
  ^bb0(%a: f32, %b: f32):  %m = math.exp %a : f32  linalg.yield %m : f32
  } -> tensor<5x2x2xf32>
  func.return %q : tensor<5x2x2xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @slice_up(
// CHECK-NEXT: %[[EXPAND_SHAPE:.*]] = tensor.expand_shape %x {{\[\[}}0 : i64], [1 : i64, 2 : i64]] output_shape [5, 6, 2] : tensor<5x12xf32> into tensor<5x6x2xf32>
// CHECK: %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[EXPAND_SHAPE]] :
// CHECK: %h = tensor.extract_slice %y[0, 4, 0] [5, 2, 2] [1, 1, 1] {stc.module = "attn"} : tensor<5x6x2xf32> to tensor<5x2x2xf32>
// CHECK: %q = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%h :
// CHECK: func.return %q : tensor<5x2x2xf32>

// -----

// Merged heads: the projection reduces over (head, entry).
// SHOW: _shape|slice|linalg.generic .*ins\(.*? : ...|return
func.func @heads_down(%x: tensor<5x2x3xf32>, %w: tensor<6x7xf32>) -> tensor<5x7xf32> {
  %g = tensor.empty() : tensor<5x2x3xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<5x2x3xf32>) outs(%g : tensor<5x2x3xf32>) {
  ^bb0(%a: f32, %b: f32):  %m = math.exp %a : f32  linalg.yield %m : f32
  } -> tensor<5x2x3xf32>
  %c = tensor.collapse_shape %v [[0], [1, 2]] : tensor<5x2x3xf32> into tensor<5x6xf32>
  %z = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<5x7xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%c, %w : tensor<5x6xf32>, tensor<6x7xf32>) outs(%f : tensor<5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):  %p = arith.mulf %a, %b : f32  %s = arith.addf %p, %d : f32  linalg.yield %s : f32
  } -> tensor<5x7xf32>
  func.return %y : tensor<5x7xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK: #map2 = affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)>
// CHECK: #map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
// CHECK-LABEL: func.func @heads_down(
// CHECK: %v = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x :
// CHECK: %[[EXPAND_SHAPE:.*]] = tensor.expand_shape %w {{\[\[}}0 : i64, 1 : i64], [2 : i64]] output_shape [2, 3, 7] : tensor<6x7xf32> into tensor<2x3x7xf32>
// CHECK-NEXT: %y = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%v, %[[EXPAND_SHAPE]] :
// CHECK: func.return %y : tensor<5x7xf32>

// -----

// [2, 3] to [3, 2] has no common refinement: it really reorders, and stays.
// SHOW: _shape|slice|linalg.generic .*ins\(.*? : ...|return
func.func @incompatible(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32):  %m = math.exp %a : f32  linalg.yield %m : f32
  } -> tensor<2x3xf32>
  %c = tensor.collapse_shape %p [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %r = tensor.expand_shape %c [[0, 1]] output_shape [3, 2] : tensor<6xf32> into tensor<3x2xf32>
  func.return %r : tensor<3x2xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @incompatible(
// CHECK: %p = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x :
// CHECK: %c = tensor.collapse_shape %p {{\[\[}}0 : i64, 1 : i64]] : tensor<2x3xf32> into tensor<6xf32>
// CHECK-NEXT: %r = tensor.expand_shape %c {{\[\[}}0 : i64, 1 : i64]] output_shape [3, 2] : tensor<6xf32> into tensor<3x2xf32>
// CHECK-NEXT: func.return %r : tensor<3x2xf32>

// -----

// A slice that cuts through a head keeps its reshape behind it.
// SHOW: _shape|slice|linalg.generic .*ins\(.*? : ...|return
func.func @unaligned(%x: tensor<10xf32>) -> tensor<2x3xf32> {
  %s = tensor.extract_slice %x[1] [6] [1] : tensor<10xf32> to tensor<6xf32>
  %h = tensor.expand_shape %s [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%h : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32):  %m = math.exp %a : f32  linalg.yield %m : f32
  } -> tensor<2x3xf32>
  func.return %p : tensor<2x3xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @unaligned(
// CHECK-NEXT: %s = tensor.extract_slice %x[1] [6] [1] : tensor<10xf32> to tensor<6xf32>
// CHECK-NEXT: %h = tensor.expand_shape %s {{\[\[}}0 : i64, 1 : i64]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
// CHECK: %p = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%h :
// CHECK: func.return %p : tensor<2x3xf32>

// -----

// A cache that is updated has one shape: what cuts the query stays behind it.
// SHOW: _shape|slice|concat|linalg.generic .*ins\(.*? : ...|return
func.func @cache(%x: tensor<2x8xf32>, %cache: tensor<2x4x8xf32>, %p: index) -> (tensor<2x4xf32>, tensor<2x4x8xf32>) {
  %q0 = tensor.empty() : tensor<2x4x2xf32>
  %q1 = tensor.expand_shape %x [[0], [1, 2]] output_shape [2, 4, 2] : tensor<2x8xf32> into tensor<2x4x2xf32>
  %q2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q1 : tensor<2x4x2xf32>) outs(%q0 : tensor<2x4x2xf32>) {
  ^bb0(%a: f32, %b: f32):  %m = math.exp %a : f32  linalg.yield %m : f32
  } -> tensor<2x4x2xf32>
  %q = tensor.collapse_shape %q2 [[0], [1, 2]] : tensor<2x4x2xf32> into tensor<2x8xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %cache : tensor<2x8xf32>, tensor<2x4x8xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):  %m = arith.mulf %a, %b : f32  %t = arith.addf %c, %m : f32  linalg.yield %t : f32
  } -> tensor<2x4xf32>
  %row = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 1, 8] : tensor<2x8xf32> into tensor<2x1x8xf32>
  %u = tensor.insert_slice %row into %cache[0, %p, 0] [2, 1, 8] [1, 1, 1] : tensor<2x1x8xf32> into tensor<2x4x8xf32>
  func.return %s, %u : tensor<2x4xf32>, tensor<2x4x8xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @cache(
// CHECK: %q1 = tensor.expand_shape %x {{\[\[}}0 : i64], [1 : i64, 2 : i64]] output_shape [2, 4, 2] : tensor<2x8xf32> into tensor<2x4x2xf32>
// CHECK-NEXT: %q2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q1 :
// CHECK: %q = tensor.collapse_shape %q2 {{\[\[}}0 : i64], [1 : i64, 2 : i64]] : tensor<2x4x2xf32> into tensor<2x8xf32>
// CHECK: %s = linalg.generic {indexing_maps = [#map1, #map, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %cache :
// CHECK: %row = tensor.expand_shape %x {{\[\[}}0 : i64, 1 : i64], [2 : i64]] output_shape [2, 1, 8] : tensor<2x8xf32> into tensor<2x1x8xf32>
// CHECK-NEXT: %u = tensor.insert_slice %row into %cache[0, %p, 0] [2, 1, 8] [1, 1, 1] : tensor<2x1x8xf32> into tensor<2x4x8xf32>
// CHECK-NEXT: func.return %s, %u : tensor<2x4xf32>, tensor<2x4x8xf32>

// -----

// Rows of an argument that the function updates are read together with a new one: they are split behind that, once, where what reads
// them would have a reshape in front of it and one behind it.
#a = affine_map<(i, j) -> (i, j)>
func.func @read_beside(%c: tensor<4x6xf32>, %n: tensor<1x6xf32>, %w: tensor<5x6xf32>) -> (tensor<5x2x3xf32>, tensor<4x6xf32>) {
  %all = tensor.concat dim(0) %c, %n : (tensor<4x6xf32>, tensor<1x6xf32>) -> tensor<5x6xf32>
  %wc = tensor.expand_shape %w [[0], [1, 2]] output_shape [5, 2, 3] : tensor<5x6xf32> into tensor<5x2x3xf32>
  %e3 = tensor.empty() : tensor<5x2x3xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i,j,k)->(i,j,k)>, affine_map<(i,j,k)->(i,j,k)>], iterator_types = ["parallel","parallel","parallel"]} ins(%wc : tensor<5x2x3xf32>) outs(%e3 : tensor<5x2x3xf32>) { ^bb0(%x: f32, %o: f32): %s = arith.addf %x, %x : f32 linalg.yield %s : f32 } -> tensor<5x2x3xf32>
  %qc = tensor.collapse_shape %q [[0], [1, 2]] : tensor<5x2x3xf32> into tensor<5x6xf32>
  %e = tensor.empty() : tensor<5x6xf32>
  %y = linalg.generic {indexing_maps = [#a, #a, #a], iterator_types = ["parallel","parallel"]} ins(%all, %qc : tensor<5x6xf32>, tensor<5x6xf32>) outs(%e : tensor<5x6xf32>) { ^bb0(%x: f32, %z: f32, %o: f32): %s = arith.mulf %x, %z : f32 linalg.yield %s : f32 } -> tensor<5x6xf32>
  %yx = tensor.expand_shape %y [[0], [1, 2]] output_shape [5, 2, 3] : tensor<5x6xf32> into tensor<5x2x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i,j,k)->(i,j,k)>, affine_map<(i,j,k)->(i,j,k)>], iterator_types = ["parallel","parallel","parallel"]} ins(%yx : tensor<5x2x3xf32>) outs(%e3 : tensor<5x2x3xf32>) { ^bb0(%x: f32, %o: f32): %s = arith.addf %x, %x : f32 linalg.yield %s : f32 } -> tensor<5x2x3xf32>
  %c2 = tensor.insert_slice %n into %c[0, 0] [1, 6] [1, 1] : tensor<1x6xf32> into tensor<4x6xf32>
  return %r, %c2 : tensor<5x2x3xf32>, tensor<4x6xf32>
}

// CHECK-LABEL: @read_beside(
// CHECK: [[ROWS:%.*]] = tensor.concat dim(0)
// CHECK: [[SPLIT:%.*]] = tensor.expand_shape [[ROWS]] {{.*}} output_shape [5, 2, 3]
// CHECK-NOT: collapse_shape
