// RUN: stc-opt %s -p 'apply-schedule{path="%S/Inputs/schedule.toml"}' | filecheck %s

// Inputs/schedule.toml decides everything for `proj`, and the tile for `act`: order and unroll have defaults. `rest` is not named.
// SHOW: = linalg.generic ... stc.*\}
func.func @main(%x: tensor<8x12xf32>, %w: tensor<12x16xf32>) -> tensor<8x16xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x12xf32>, tensor<12x16xf32>) outs(%f : tensor<8x16xf32>) attrs = {stc.name = "proj"} {
  ^bb0(%a: f32, %b: f32, %o: f32):  %p = arith.mulf %a, %b : f32  %s = arith.addf %p, %o : f32  linalg.yield %s : f32
  } -> tensor<8x16xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) attrs = {stc.name = "act"} {
  ^bb0(%a: f32, %o: f32):  %t = math.tanh %a : f32  linalg.yield %t : f32
  } -> tensor<8x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%z : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) attrs = {stc.name = "rest"} {
  ^bb0(%a: f32, %o: f32):  %t = math.exp %a : f32  linalg.yield %t : f32
  } -> tensor<8x16xf32>
  func.return %r : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @main(
// CHECK: linalg.generic{{.*}}stc.name = "proj", stc.schedule = #dataflow.schedule<tile = [4, 8, 3], order = [2, 0, 1], unroll = [1, 8, 1], vector = {{\[\[}}1, 3], [1, 8], [1, 8]]>, stc.fixed} {
// CHECK: linalg.generic{{.*}}stc.name = "act", stc.schedule = #dataflow.schedule<tile = [2, 16], order = [0, 1], unroll = [1, 16], vector = []>, stc.fixed} {
// CHECK: linalg.generic{{.*}}stc.name = "rest"} {
