// One accumulator that phases share in turn. Phase 0 adds up three rows, phase 1 none, phase 2 five of them, on top of an offset:
// the trips stand in a table, and all rows of all phases are one stream. The offset is a segment between two others.
#map = affine_map<(d0, d1) -> (d0, d1)>
!rows = !itensor.itensor<1x16xf32, iter_space: [9] * [1], iter_map: (d0) -> (d0, 0)>
!sums = !itensor.itensor<1x16xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
func.func @main(%x: tensor<9x16xf32> {stc.name = "x"}) -> (tensor<3x16xf32> {stc.name = "y"}) {
  %y = dataflow.kernel @main(%rows = %x : tensor<9x16xf32> as !rows) -> (tensor<3x16xf32> as !sums) {
    %e = itensor.empty : !sums
    %sums = dataflow.task @sums ins(%in = %rows : !rows) outs(%out = %e : !sums) -> !sums {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
      %offset = itensor.read %in[] segment <0, 1> : !rows -> tensor<1x16xf32>
      %all = scf.for %phase = %c0 to %c3 step %c1 iter_args(%o = %out) -> (!sums) {
        %p = itensor.index_symbol %phase : !itensor.symbol<phase<=2>
        %n = itensor.size entry(phase<=2, 3, 0, 5) of %p
        %blank = tensor.empty() : tensor<1x16xf32>
        %start = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
            ins(%offset : tensor<1x16xf32>) outs(%blank : tensor<1x16xf32>) attrs = {stc.name = "start", stc.schedule = #dataflow.schedule<tile = [1, 16], order = [0, 1], unroll = [1, 16], vector = []>} {
        ^bb0(%a: f32, %b: f32):
          linalg.yield %a : f32
        } -> tensor<1x16xf32>
        %sum = scf.for %i = %c0 to %n step %c1 iter_args(%so_far = %start) -> (tensor<1x16xf32>) {
          %row = itensor.read %in[%phase, %i] segment <1, 8> : !rows -> tensor<1x16xf32>
          %more = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
              ins(%row : tensor<1x16xf32>) outs(%so_far : tensor<1x16xf32>) attrs = {stc.name = "sum", stc.schedule = #dataflow.schedule<tile = [1, 16], order = [0, 1], unroll = [1, 16], vector = []>} {
          ^bb0(%entry: f32, %old: f32):
            %new = arith.addf %old, %entry : f32
            linalg.yield %new : f32
          } -> tensor<1x16xf32>
          scf.yield %more : tensor<1x16xf32>
        }
        %w = itensor.write %sum into %o[%phase] : tensor<1x16xf32> -> !sums
        scf.yield %w : !sums
      }
      dataflow.yield %all : !sums
    }
    dataflow.yield %sums : !sums
  }
  func.return %y : tensor<3x16xf32>
}
