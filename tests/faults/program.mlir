// The program that faults are seeded into: two products, a reduction whose result meets its own input again, a slice and a
// concatenation, two results. Orders are chosen so that converters are needed; two square operands could be swapped unnoticed.
func.func @main(%x: tensor<8x12xf32> {stc.name = "x"}, %w: tensor<12x16xf32> {stc.name = "w", stc.parameter},
                %b: tensor<16xf32> {stc.name = "b", stc.parameter}, %v: tensor<8x6xf32> {stc.name = "v"})
    -> (tensor<8x16xf32> {stc.name = "turned"}, tensor<16x6xf32> {stc.name = "z"}) {
  %zero = arith.constant 0.0 : f32
  %fc_e = tensor.empty() : tensor<8x16xf32>
  %fc_f = linalg.fill ins(%zero : f32) outs(%fc_e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %fc = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
                                         affine_map<(i, j, k) -> (i, j)>],
                        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x12xf32>, tensor<12x16xf32>) outs(%fc_f : tensor<8x16xf32>)
      attrs = {stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>} {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %m = arith.mulf %p, %q : f32
    %t = arith.addf %m, %s : f32
    linalg.yield %t : f32
  } -> tensor<8x16xf32>
  %act_e = tensor.empty() : tensor<8x16xf32>
  %act = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
      ins(%fc, %b : tensor<8x16xf32>, tensor<16xf32>) outs(%act_e : tensor<8x16xf32>)
      attrs = {stc.schedule = #dataflow.schedule<tile = [4, 4], order = [0, 1], unroll = [1, 1], vector = []>} {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %u = arith.addf %p, %q : f32
    %t = arith.mulf %u, %u : f32
    linalg.yield %t : f32
  } -> tensor<8x16xf32>
  %total_e = tensor.empty() : tensor<8xf32>
  %total_f = linalg.fill ins(%zero : f32) outs(%total_e : tensor<8xf32>) -> tensor<8xf32>
  %total = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                           iterator_types = ["parallel", "reduction"]}
      ins(%act : tensor<8x16xf32>) outs(%total_f : tensor<8xf32>)
      attrs = {stc.schedule = #dataflow.schedule<tile = [4, 4], order = [0, 1], unroll = [1, 1], vector = []>} {
  ^bb0(%p: f32, %s: f32):
    %t = arith.addf %p, %s : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %centred_e = tensor.empty() : tensor<8x16xf32>
  %centred = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                             iterator_types = ["parallel", "parallel"]}
      ins(%act, %total : tensor<8x16xf32>, tensor<8xf32>) outs(%centred_e : tensor<8x16xf32>)
      attrs = {stc.schedule = #dataflow.schedule<tile = [4, 4], order = [0, 1], unroll = [1, 1], vector = []>} {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.subf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<8x16xf32>
  %left = tensor.extract_slice %centred[0, 0] [8, 8] [1, 1] : tensor<8x16xf32> to tensor<8x8xf32>
  %right = tensor.extract_slice %centred[0, 8] [8, 8] [1, 1] : tensor<8x16xf32> to tensor<8x8xf32>
  %turned = tensor.concat dim(1) %right, %left : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x16xf32>
  %z_e = tensor.empty() : tensor<16x6xf32>
  %z_f = linalg.fill ins(%zero : f32) outs(%z_e : tensor<16x6xf32>) -> tensor<16x6xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>,
                                        affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%turned, %v : tensor<8x16xf32>, tensor<8x6xf32>) outs(%z_f : tensor<16x6xf32>)
      attrs = {stc.schedule = #dataflow.schedule<tile = [8, 3, 2], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>} {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %m = arith.mulf %p, %q : f32
    %t = arith.addf %m, %s : f32
    linalg.yield %t : f32
  } -> tensor<16x6xf32>
  func.return %turned, %z : tensor<8x16xf32>, tensor<16x6xf32>
}
