// RUN: stc-opt %s -p 'tile-linalg' --split-input-file --verify-diagnostics

// expected-error @unknown {{act: tile 5 of loop 1 does not divide its extent 12; accepted: one of 1, 2, 3, 4, 6, 12}}
func.func @tile(%x: tensor<4x12xf32>) -> tensor<4x12xf32> {
  %e = tensor.empty() : tensor<4x12xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x12xf32>) outs(%e : tensor<4x12xf32>) attrs = {stc.name = "act", stc.schedule = #dataflow.schedule<tile = [4, 5], order = [0, 1], unroll = [1, 1], vector = []>} {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x12xf32>
  func.return %y : tensor<4x12xf32>
}

// -----

// expected-error @unknown {{act: schedule has 1 tile sizes; accepted: one for each of 2 loops}}
func.func @count(%x: tensor<4x12xf32>) -> tensor<4x12xf32> {
  %e = tensor.empty() : tensor<4x12xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x12xf32>) outs(%e : tensor<4x12xf32>) attrs = {stc.name = "act", stc.schedule = #dataflow.schedule<tile = [4], order = [0], unroll = [1], vector = []>} {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x12xf32>
  func.return %y : tensor<4x12xf32>
}

// -----

// expected-error @unknown {{act: operand 0 is indexed by (d0, d1) -> ((d0 + d1)); accepted: maps whose results are distinct loops}}
func.func @sum(%x: tensor<7xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<7xf32>) outs(%e : tensor<4x4xf32>) attrs = {stc.name = "act", stc.schedule = #dataflow.schedule<tile = [4, 4], order = [0, 1], unroll = [1, 1], vector = []>} {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// -----

// expected-error @unknown {{accepted: maps whose results are distinct loops}}
func.func @diagonal(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0, d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4x4xf32>) outs(%e : tensor<4xf32>) attrs = {stc.name = "act", stc.schedule = #dataflow.schedule<tile = [4], order = [0], unroll = [1], vector = []>} {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// expected-error @unknown {{sum: result 0 starts from a computed tensor; accepted: a fill with a constant}}
func.func @initial(%x: tensor<4x4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x4xf32>) outs(%b : tensor<4xf32>) attrs = {stc.name = "sum", stc.schedule = #dataflow.schedule<tile = [4, 4], order = [0, 1], unroll = [1, 1], vector = []>} {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
