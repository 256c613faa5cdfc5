// RUN: stc-opt %s -p 'default-tile-size{size=5 lanes=4}' --split-input-file | filecheck %s

// The largest divisor not above the default; parallel loops outside, reductions inside, whatever the order in the op.
// SHOW: linalg.generic
func.func @divisors(%x: tensor<12x7x6xf32>) -> tensor<7x6xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x6xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<7x6xf32>) -> tensor<7x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>], iterator_types = ["reduction", "parallel", "parallel"]} ins(%x : tensor<12x7x6xf32>) outs(%f : tensor<7x6xf32>) {
  ^bb0(%a: f32, %o: f32):  %s = arith.addf %a, %o : f32  linalg.yield %s : f32
  } -> tensor<7x6xf32>
  func.return %y : tensor<7x6xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @divisors(
// CHECK: linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction", "parallel", "parallel"]} ins(%x : tensor<12x7x6xf32>) outs(%f : tensor<7x6xf32>) attrs ={{ +}}{stc.schedule = #dataflow.schedule<tile = [4, 1, 3], order = [1, 2, 0], unroll = [1, 1, 3], vector = []>} {

// -----

// The last parallel loop is not unrolled where an operand has it elsewhere than last: its entries share a bank.
// SHOW: linalg.generic
func.func @transposed(%x: tensor<4x3xf32>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x3xf32>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%a: f32, %o: f32):  linalg.yield %a : f32
  } -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @transposed(
// CHECK: linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x3xf32>) outs(%e : tensor<3x4xf32>) attrs ={{ +}}{stc.schedule = #dataflow.schedule<tile = [3, 4], order = [0, 1], unroll = [1, 1], vector = []>} {

// -----

// Nor where its tile is longer than a vector (5 > 4 lanes); ones are tiles of one; a schedule that is there stays.
// SHOW: linalg.generic
func.func @lanes_and_ones(%x: tensor<1x5xf32>) -> tensor<1x5xf32> {
  %e = tensor.empty() : tensor<1x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1x5xf32>) outs(%e : tensor<1x5xf32>) {
  ^bb0(%a: f32, %o: f32):  linalg.yield %a : f32
  } -> tensor<1x5xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<1x5xf32>) outs(%e : tensor<1x5xf32>) attrs = {stc.schedule = #dataflow.schedule<tile = [1, 1], order = [1, 0], unroll = [1, 1], vector = []>} {
  ^bb0(%a: f32, %o: f32):  linalg.yield %a : f32
  } -> tensor<1x5xf32>
  func.return %z : tensor<1x5xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @lanes_and_ones(
// CHECK: %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1x5xf32>) outs(%e : tensor<1x5xf32>) attrs ={{ +}}{stc.schedule = #dataflow.schedule<tile = [1, 5], order = [0, 1], unroll = [1, 1], vector = []>} {
// CHECK: linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<1x5xf32>) outs(%e : tensor<1x5xf32>) attrs ={{ +}}{stc.schedule = #dataflow.schedule<tile = [1, 1], order = [1, 0], unroll = [1, 1], vector = []>} {

// -----

// Rank 0: no loops, an empty schedule. Work on parameters alone is the host's and gets none.
// SHOW: linalg.generic
func.func @scalars(%x: tensor<f32>, %w: tensor<f32> {stc.parameter}) -> tensor<f32> {
  %e = tensor.empty() : tensor<f32>
  %v = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%w : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):  %n = arith.negf %a : f32  linalg.yield %n : f32
  } -> tensor<f32>
  %y = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%x, %v : tensor<f32>, tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):  %s = arith.addf %a, %b : f32  linalg.yield %s : f32
  } -> tensor<f32>
  func.return %y : tensor<f32>
}

// CHECK: #map = affine_map<() -> ()>
// CHECK-LABEL: func.func @scalars(
// CHECK: %v = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%w : tensor<f32>) outs(%e : tensor<f32>) {
// CHECK: linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%x, %v : tensor<f32>, tensor<f32>) outs(%e : tensor<f32>) attrs ={{ +}}{stc.schedule = #dataflow.schedule<tile = [], order = [], unroll = [], vector = []>} {

// -----

// What was chosen for a computation: 2 of 4 lanes that the option allows, 3 rows; of 8 rows as many as divide the tile of 3.
// SHOW: linalg.generic ... attrs = .*?}
func.func @chosen(%x: tensor<3x8xf32>, %w: tensor<8x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<3x8xf32>, tensor<8x4xf32>) outs(%f : tensor<3x4xf32>) attrs = {stc.name = "fc", stc.lanes = 2 : i32, stc.rows = 3 : i32} {
  ^bb0(%a: f32, %c: f32, %s: f32):  %p = arith.mulf %a, %c : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<3x4xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<3x8xf32>, tensor<8x4xf32>) outs(%f : tensor<3x4xf32>) attrs = {stc.name = "fc", stc.lanes = 1 : i32, stc.rows = 8 : i32} {
  ^bb0(%a: f32, %c: f32, %s: f32):  %p = arith.mulf %a, %c : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<3x4xf32>
  func.return %y, %v : tensor<3x4xf32>, tensor<3x4xf32>
}

// CHECK-LABEL: func.func @chosen(
// CHECK: linalg.generic{{.*}}attrs ={{ +}}{stc.name = "fc", stc.lanes = 2 : i32, stc.rows = 3 : i32, stc.schedule = #dataflow.schedule<tile = [3, 4, 4], order = [0, 1, 2], unroll = [3, 2, 1], vector = []>} {
// CHECK: linalg.generic{{.*}}attrs ={{ +}}{stc.name = "fc", stc.lanes = 1 : i32, stc.rows = 8 : i32, stc.schedule = #dataflow.schedule<tile = [3, 4, 4], order = [0, 1, 2], unroll = [3, 1, 1], vector = []>} {
