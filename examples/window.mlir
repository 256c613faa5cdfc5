// The sum of a new row and of the 3 before it, or as many as there are, in each of 2 heads: a window of 4. Of a cache of 8 rows the launch
// at position `pos` reads `min(pos, 3)`, from row `max(pos - 3, 0)` on, and appends row `pos`.
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
!row = !itensor.itensor<1x1x16xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0, 0)>
!rows = !itensor.itensor<1x1x16xf32, iter_space: [2, min(pos<=7, 3)] * [1, 1], iter_map: (d0, d1) -> (d0, d1 + max(sum(pos<=7, -3), 0), 0)>
!pos = !itensor.symbol<pos<=7>
func.func @main(%x: tensor<2x1x16xf32> {stc.name = "x"}, %c: tensor<2x8x16xf32> {stc.name = "cache"}, %p: i32 {stc.name = "pos"})
    -> (tensor<2x1x16xf32> {stc.name = "y"}, tensor<2x8x16xf32> {stc.name = "updated"}) {
  %y, %u = dataflow.kernel @main(%new = %x : tensor<2x1x16xf32> as !row, %cache = %c : tensor<2x8x16xf32> as !rows, %pos = %p : i32 as !pos)
      -> (tensor<2x1x16xf32> as !row, tensor<2x8x16xf32> as !row into %cache at [0, %pos, 0]) {
    %added, %kept = itensor.fork %new : !row to !row, !row
    %e = itensor.empty : !row
    %total = dataflow.task @total ins(%in = %cache : !rows, %one = %added : !row, %at = %pos : !pos) outs(%out = %e : !row) -> !row {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      %n = itensor.size min(pos<=7, 3) of %at
      %all = scf.for %h = %c0 to %c2 step %c1 iter_args(%o = %out) -> (!row) {
        %first = itensor.read %one[%h] : !row -> tensor<1x1x16xf32>
        %sum = scf.for %i = %c0 to %n step %c1 iter_args(%so_far = %first) -> (tensor<1x1x16xf32>) {
          %row = itensor.read %in[%h, %i] : !rows -> tensor<1x1x16xf32>
          %more = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]}
              ins(%row : tensor<1x1x16xf32>) outs(%so_far : tensor<1x1x16xf32>) attrs = {stc.name = "total", stc.schedule = #dataflow.schedule<tile = [1, 1, 16], order = [0, 1, 2], unroll = [1, 1, 16], vector = []>} {
          ^bb0(%entry: f32, %old: f32):
            %new_1 = arith.addf %old, %entry : f32
            linalg.yield %new_1 : f32
          } -> tensor<1x1x16xf32>
          scf.yield %more : tensor<1x1x16xf32>
        }
        %w = itensor.write %sum into %o[%h] : tensor<1x1x16xf32> -> !row
        scf.yield %w : !row
      }
      dataflow.yield %all : !row
    }
    dataflow.yield %total, %kept : !row, !row
  }
  func.return %y, %u : tensor<2x1x16xf32>, tensor<2x8x16xf32>
}
