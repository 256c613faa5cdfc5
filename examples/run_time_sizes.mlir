// Rows of a table plus the sum of all of them; `pos` of the 13 rows are there, perhaps none. Whoever adds waits for the sum, and the
// rows wait beside it: how deep that FIFO must be follows from the largest `pos`.
#map = affine_map<(d0, d1) -> (d0, d1)>
!rows = !itensor.itensor<1x16xf32, iter_space: [pos<=13] * [1], iter_map: (d0) -> (d0, 0)>
!total = !itensor.itensor<1x16xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
!pos = !itensor.symbol<pos<=13>
func.func @main(%x: tensor<13x16xf32> {stc.name = "x"}, %p: i32 {stc.name = "pos"})
    -> (tensor<13x16xf32> {stc.name = "y"}, tensor<1x16xf32> {stc.name = "sum"}) {
  %y, %s = dataflow.kernel @main(%rows = %x : tensor<13x16xf32> as !rows, %pos = %p : i32 as !pos)
      -> (tensor<13x16xf32> as !rows, tensor<1x16xf32> as !total) {
    %e = itensor.empty : !total
    %total = dataflow.task @total ins(%in = %rows : !rows, %at = %pos : !pos) outs(%out = %e : !total) -> !total {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %zero = arith.constant 0.0 : f32
      %n = itensor.size pos<=13 of %at
      %blank = tensor.empty() : tensor<1x16xf32>
      %fill = linalg.fill {stc.name = "total"} ins(%zero : f32) outs(%blank : tensor<1x16xf32>) -> tensor<1x16xf32>
      %acc = scf.for %i = %c0 to %n step %c1 iter_args(%so_far = %fill) -> (tensor<1x16xf32>) {
        %row = itensor.read %in[%i] : !rows -> tensor<1x16xf32>
        %more = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
            ins(%row : tensor<1x16xf32>) outs(%so_far : tensor<1x16xf32>) attrs = {stc.name = "total", stc.schedule = #dataflow.schedule<tile = [1, 16], order = [0, 1], unroll = [1, 16], vector = []>} {
        ^bb0(%entry: f32, %old: f32):
          %new = arith.addf %old, %entry : f32
          linalg.yield %new : f32
        } -> tensor<1x16xf32>
        scf.yield %more : tensor<1x16xf32>
      }
      %w = itensor.write %acc into %out[] : tensor<1x16xf32> -> !total
      dataflow.yield %w : !total
    }
    %f = itensor.empty : !rows
    %added = dataflow.task @add ins(%in = %rows : !rows, %sum = %total : !total, %at = %pos : !pos) outs(%out = %f : !rows) -> !rows {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
      %n = itensor.size pos<=13 of %at
      %t = itensor.read %sum[] : !total -> tensor<1x16xf32>
      %all = scf.for %i = %c0 to %n step %c1 iter_args(%o = %out) -> (!rows) {
        %row = itensor.read %in[%i] : !rows -> tensor<1x16xf32>
        %blank = tensor.empty() : tensor<1x16xf32>
        %both = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
            ins(%row, %t : tensor<1x16xf32>, tensor<1x16xf32>) outs(%blank : tensor<1x16xf32>) attrs = {stc.name = "add", stc.schedule = #dataflow.schedule<tile = [1, 16], order = [0, 1], unroll = [1, 16], vector = []>} {
        ^bb0(%a: f32, %b: f32, %o1: f32):
          %c = arith.addf %a, %b : f32
          linalg.yield %c : f32
        } -> tensor<1x16xf32>
        %w = itensor.write %both into %o[%i] : tensor<1x16xf32> -> !rows
        scf.yield %w : !rows
      }
      dataflow.yield %all : !rows
    }
    dataflow.yield %added, %total : !rows, !total
  }
  func.return %y, %s : tensor<13x16xf32>, tensor<1x16xf32>
}
