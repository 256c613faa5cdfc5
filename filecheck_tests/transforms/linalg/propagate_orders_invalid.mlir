// RUN: stc-opt %s -p 'propagate-orders' --split-input-file --verify-diagnostics

// A given schedule is checked before others follow it.
// expected-error @unknown {{first: tile 5 of loop 1 does not divide its extent 12; accepted: one of 1, 2, 3, 4, 6, 12}}
func.func @tile(%x: tensor<4x12xf32>) -> tensor<4x12xf32> {
  %first_e = tensor.empty() : tensor<4x12xf32>
  %first = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x12xf32>) outs(%first_e : tensor<4x12xf32>) attrs = {stc.name = "first", stc.schedule = #dataflow.schedule<tile = [4, 5], order = [0, 1], unroll = [1, 1], vector = []>} {
  ^bb0(%a0: f32, %o: f32):
    %t0 = arith.negf %a0 : f32
    linalg.yield %t0 : f32
  } -> tensor<4x12xf32>
  %second_e = tensor.empty() : tensor<4x12xf32>
  %second = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%first : tensor<4x12xf32>) outs(%second_e : tensor<4x12xf32>) attrs = {stc.name = "second"} {
  ^bb0(%a0: f32, %o: f32):
    %t0 = arith.negf %a0 : f32
    linalg.yield %t0 : f32
  } -> tensor<4x12xf32>
  func.return %second : tensor<4x12xf32>
}

// -----

// expected-error @unknown {{first: schedule has 1 tile sizes; accepted: one for each of 2 loops}}
func.func @count(%x: tensor<4x12xf32>) -> tensor<4x12xf32> {
  %first_e = tensor.empty() : tensor<4x12xf32>
  %first = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x12xf32>) outs(%first_e : tensor<4x12xf32>) attrs = {stc.name = "first", stc.schedule = #dataflow.schedule<tile = [4], order = [0], unroll = [1], vector = []>} {
  ^bb0(%a0: f32, %o: f32):
    %t0 = arith.negf %a0 : f32
    linalg.yield %t0 : f32
  } -> tensor<4x12xf32>
  %second_e = tensor.empty() : tensor<4x12xf32>
  %second = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%first : tensor<4x12xf32>) outs(%second_e : tensor<4x12xf32>) attrs = {stc.name = "second"} {
  ^bb0(%a0: f32, %o: f32):
    %t0 = arith.negf %a0 : f32
    linalg.yield %t0 : f32
  } -> tensor<4x12xf32>
  func.return %second : tensor<4x12xf32>
}
