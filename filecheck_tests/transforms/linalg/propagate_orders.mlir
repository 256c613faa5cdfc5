// RUN: stc-opt %s -p 'propagate-orders{columns=16 rows=32 lanes=16}' --split-input-file | filecheck %s

// A chain. @up takes x row by row: nothing has an order yet, so the default. What it gives is wide (8 tiles), so @down would
// buffer a row of blocks, 32 x 128, twice: 32 KiB. With the reduction outside it takes them as they come, for an accumulator
// of 32 x 16 more: 2 KiB.
// SHOW: linalg.generic ... stc.*\}
func.func @chain(%x: tensor<64x64xf32>, %w: tensor<64x128xf32> {stc.parameter}, %v: tensor<128x32xf32> {stc.parameter}) -> tensor<64x32xf32> {
  %up_e = tensor.empty() : tensor<64x128xf32>
  %c_0 = arith.constant 0.0 : f32
  %up_f = linalg.fill ins(%c_0 : f32) outs(%up_e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %up = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x64xf32>, tensor<64x128xf32>) outs(%up_f : tensor<64x128xf32>) attrs = {stc.name = "up"} {
  ^bb0(%a0: f32, %a1: f32, %o: f32):  %t0 = arith.mulf %a0, %a1 : f32  %t1 = arith.addf %t0, %o : f32  linalg.yield %t1 : f32
  } -> tensor<64x128xf32>
  %down_e = tensor.empty() : tensor<64x32xf32>
  %down_f = linalg.fill ins(%c_0 : f32) outs(%down_e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %down = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%up, %v : tensor<64x128xf32>, tensor<128x32xf32>) outs(%down_f : tensor<64x32xf32>) attrs = {stc.name = "down"} {
  ^bb0(%a0: f32, %a1: f32, %o: f32):  %t0 = arith.mulf %a0, %a1 : f32  %t1 = arith.addf %t0, %o : f32  linalg.yield %t1 : f32
  } -> tensor<64x32xf32>
  func.return %down : tensor<64x32xf32>
}

// CHECK-LABEL: func.func @chain(
// CHECK: linalg.generic{{.*}}stc.name = "up", stc.schedule = #dataflow.schedule<tile = [32, 16, 16], order = [0, 1, 2], unroll = [1, 16, 1], vector = []>} {
// CHECK: linalg.generic{{.*}}stc.name = "down", stc.schedule = #dataflow.schedule<tile = [32, 16, 16], order = [0, 2, 1], unroll = [1, 16, 1], vector = []>} {

// -----

// The other way round: @wide would need 7 more accumulators of 32 x 16 (14 KiB), its input is a row of 32 x 32 (8 KiB for two).
// SHOW: linalg.generic ... stc.*\}
func.func @stays_inside(%x: tensor<64x64xf32>, %w: tensor<64x32xf32> {stc.parameter}, %v: tensor<32x128xf32> {stc.parameter}) -> tensor<64x128xf32> {
  %narrow_e = tensor.empty() : tensor<64x32xf32>
  %c_0 = arith.constant 0.0 : f32
  %narrow_f = linalg.fill ins(%c_0 : f32) outs(%narrow_e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %narrow = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x64xf32>, tensor<64x32xf32>) outs(%narrow_f : tensor<64x32xf32>) attrs = {stc.name = "narrow"} {
  ^bb0(%a0: f32, %a1: f32, %o: f32):  %t0 = arith.mulf %a0, %a1 : f32  %t1 = arith.addf %t0, %o : f32  linalg.yield %t1 : f32
  } -> tensor<64x32xf32>
  %wide_e = tensor.empty() : tensor<64x128xf32>
  %wide_f = linalg.fill ins(%c_0 : f32) outs(%wide_e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%narrow, %v : tensor<64x32xf32>, tensor<32x128xf32>) outs(%wide_f : tensor<64x128xf32>) attrs = {stc.name = "wide"} {
  ^bb0(%a0: f32, %a1: f32, %o: f32):  %t0 = arith.mulf %a0, %a1 : f32  %t1 = arith.addf %t0, %o : f32  linalg.yield %t1 : f32
  } -> tensor<64x128xf32>
  func.return %wide : tensor<64x128xf32>
}

// CHECK: #schedule = #dataflow.schedule<tile = [32, 16, 16], order = [0, 1, 2], unroll = [1, 16, 1], vector = []>
// CHECK-LABEL: func.func @stays_inside(
// CHECK: linalg.generic{{.*}}stc.name = "narrow", stc.schedule = #schedule} {
// CHECK: linalg.generic{{.*}}stc.name = "wide", stc.schedule = #schedule} {

// -----

// @t leaves columns first: its loops are (j, i) of its result. The element-wise op that follows takes its tiles and its order,
// and so does the residual %r, which nobody has read before: no converter is left.
// SHOW: linalg.generic ... stc.*\}
func.func @after_transposed(%x: tensor<64x48xf32>, %r: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %t_e = tensor.empty() : tensor<48x64xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x48xf32>) outs(%t_e : tensor<48x64xf32>) attrs = {stc.name = "t", stc.schedule = #dataflow.schedule<tile = [8, 4], order = [1, 0], unroll = [1, 1], vector = []>} {
  ^bb0(%a0: f32, %o: f32):  %t0 = arith.negf %a0 : f32  linalg.yield %t0 : f32
  } -> tensor<48x64xf32>
  %sum_e = tensor.empty() : tensor<48x64xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%r, %t : tensor<48x64xf32>, tensor<48x64xf32>) outs(%sum_e : tensor<48x64xf32>) attrs = {stc.name = "sum"} {
  ^bb0(%a0: f32, %a1: f32, %o: f32):  %t0 = arith.addf %a0, %a1 : f32  linalg.yield %t0 : f32
  } -> tensor<48x64xf32>
  %again_e = tensor.empty() : tensor<48x64xf32>
  %again = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%sum, %r : tensor<48x64xf32>, tensor<48x64xf32>) outs(%again_e : tensor<48x64xf32>) attrs = {stc.name = "again"} {
  ^bb0(%a0: f32, %a1: f32, %o: f32):  %t0 = arith.addf %a0, %a1 : f32  linalg.yield %t0 : f32
  } -> tensor<48x64xf32>
  func.return %again : tensor<48x64xf32>
}

// CHECK: #schedule = #dataflow.schedule<tile = [8, 4], order = [1, 0], unroll = [1, 4], vector = []>
// CHECK-LABEL: func.func @after_transposed(
// CHECK: linalg.generic{{.*}}stc.name = "t", stc.schedule = #dataflow.schedule<tile = [8, 4], order = [1, 0], unroll = [1, 1], vector = []>} {
// CHECK: linalg.generic{{.*}}stc.name = "sum", stc.schedule = #schedule} {
// CHECK: linalg.generic{{.*}}stc.name = "again", stc.schedule = #schedule} {

// -----

// Softmax over heads: one head at a time (tile 1), scores, maxima and differences on the same tiles and in the same order. The rows
// of a reduction come out once per row block, so that the next op takes them with its outer loops.
// SHOW: linalg.generic ... stc.*\}
func.func @softmax(%q: tensor<4x64x16xf32>, %k: tensor<4x64x16xf32>) -> tensor<4x64x64xf32> {
  %scores_e = tensor.empty() : tensor<4x64x64xf32>
  %c_0 = arith.constant 0.0 : f32
  %scores_f = linalg.fill ins(%c_0 : f32) outs(%scores_e : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %scores = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<4x64x16xf32>, tensor<4x64x16xf32>) outs(%scores_f : tensor<4x64x64xf32>) attrs = {stc.name = "scores"} {
  ^bb0(%a0: f32, %a1: f32, %o: f32):  %t0 = arith.mulf %a0, %a1 : f32  %t1 = arith.addf %t0, %o : f32  linalg.yield %t1 : f32
  } -> tensor<4x64x64xf32>
  %top_e = tensor.empty() : tensor<4x64xf32>
  %c_1 = arith.constant 0xFF800000 : f32
  %top_f = linalg.fill ins(%c_1 : f32) outs(%top_e : tensor<4x64xf32>) -> tensor<4x64xf32>
  %top = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<4x64x64xf32>) outs(%top_f : tensor<4x64xf32>) attrs = {stc.name = "top"} {
  ^bb0(%a0: f32, %o: f32):  %t0 = arith.maximumf %a0, %o : f32  linalg.yield %t0 : f32
  } -> tensor<4x64xf32>
  %less_e = tensor.empty() : tensor<4x64x64xf32>
  %less = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %top : tensor<4x64x64xf32>, tensor<4x64xf32>) outs(%less_e : tensor<4x64x64xf32>) attrs = {stc.name = "less"} {
  ^bb0(%a0: f32, %a1: f32, %o: f32):  %t0 = arith.subf %a0, %a1 : f32  linalg.yield %t0 : f32
  } -> tensor<4x64x64xf32>
  func.return %less : tensor<4x64x64xf32>
}

// CHECK-LABEL: func.func @softmax(
// CHECK: linalg.generic{{.*}}stc.name = "scores", stc.schedule = #dataflow.schedule<tile = [1, 32, 16, 16], order = [0, 1, 2, 3], unroll = [1, 1, 1, 16], vector = []>} {
// CHECK: linalg.generic{{.*}}stc.name = "top", stc.schedule = #dataflow.schedule<tile = [1, 32, 16], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>} {
// CHECK: linalg.generic{{.*}}stc.name = "less", stc.schedule = #dataflow.schedule<tile = [1, 32, 16], order = [0, 1, 2], unroll = [1, 1, 16], vector = []>} {

// -----

// A concatenation brings a row at a time; a sum of products takes 16 (as many as it may) in one tile, since the rows come in
// that order. Its lanes are terms of the sum (rows are not the last dimension of what they index): two sums in flight for each.
#row = affine_map<(d0, d1) -> (d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#sums = affine_map<(d0, d1) -> (d0)>
// SHOW: linalg.generic ... stc.*\}
func.func @rows(%q: tensor<16xf32>, %old: tensor<47x16xf32>, %new: tensor<1x16xf32>) -> tensor<48xf32> {
  %k = tensor.concat dim(0) %old, %new : (tensor<47x16xf32>, tensor<1x16xf32>) -> tensor<48x16xf32>
  %e = tensor.empty() : tensor<48xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<48xf32>) -> tensor<48xf32>
  %scores = linalg.generic {indexing_maps = [#row, #all, #sums], iterator_types = ["parallel", "reduction"]}
      ins(%q, %k : tensor<16xf32>, tensor<48x16xf32>) outs(%f : tensor<48xf32>) attrs = {stc.name = "scores"} {
  ^bb0(%l: f32, %r: f32, %o: f32):  %p = arith.mulf %l, %r : f32  %s = arith.addf %p, %o : f32  linalg.yield %s : f32
  } -> tensor<48xf32>
  func.return %scores : tensor<48xf32>
}

// CHECK-LABEL: func.func @rows(
// CHECK: stc.name = "scores", stc.schedule = #dataflow.schedule<tile = [16, 16], order = [0, 1], unroll = [1, 4], vector = []>

// -----

// A schedule that is there stays, and whoever comes after follows it: tiles 8 x 4, columns first, though 32 x 16 by default.
#each = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
#s = #dataflow.schedule<tile = [8, 4], order = [1, 0], unroll = [1, 2], vector = []>
!T = tensor<64x64xf32>
func.func @given(%x: !T, %first_e: !T, %second_e: !T) -> !T {
  %first = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%x : !T) outs(%first_e : !T)
    attrs = {stc.name = "first", stc.schedule = #s} { ^bb0(%a: f32, %o: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32 } -> !T
  %second = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%first : !T) outs(%second_e : !T)
    attrs = {stc.name = "second"} { ^bb0(%a: f32, %o: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32 } -> !T
  func.return %second : !T
}

// CHECK-LABEL: @given(
// CHECK: linalg.generic{{.*}}stc.name = "first", stc.schedule = #dataflow.schedule<tile = [8, 4], order = [1, 0], unroll = [1, 2], vector = []>
// CHECK: linalg.generic{{.*}}stc.name = "second", stc.schedule = #dataflow.schedule<tile = [8, 4], order = [1, 0], unroll = [1, 4], vector = []>

// -----

// Also a tile that is the whole tensor, of which no more than 16 columns are computed at once.
#each = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
#s = #dataflow.schedule<tile = [64, 64], order = [0, 1], unroll = [1, 1], vector = []>
!T = tensor<64x64xf32>
func.func @given_whole(%x: !T, %first_e: !T, %second_e: !T) -> !T {
  %first = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%x : !T) outs(%first_e : !T)
    attrs = {stc.name = "first", stc.schedule = #s} { ^bb0(%a: f32, %o: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32 } -> !T
  %second = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%first : !T) outs(%second_e : !T)
    attrs = {stc.name = "second"} { ^bb0(%a: f32, %o: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32 } -> !T
  func.return %second : !T
}

// CHECK-LABEL: @given_whole(
// CHECK: linalg.generic{{.*}}stc.name = "first", stc.schedule = #dataflow.schedule<tile = [64, 64], order = [0, 1], unroll = [1, 1], vector = []>
// CHECK: linalg.generic{{.*}}stc.name = "second", stc.schedule = #dataflow.schedule<tile = [64, 64], order = [0, 1], unroll = [1, 16], vector = []>

// -----

// Slices come in the order of what they are cut from: 8 x 4, columns first.
#each = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
#s = #dataflow.schedule<tile = [8, 4], order = [1, 0], unroll = [1, 1], vector = []>
!T = tensor<16x24xf32>
!L = tensor<16x8xf32>
!R = tensor<16x16xf32>
func.func @slices(%x: !T, %first_e: !T, %l_e: !L, %r_e: !R) -> (!L, !R) {
  %first = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%x : !T) outs(%first_e : !T)
    attrs = {stc.name = "first", stc.schedule = #s} { ^bb0(%a: f32, %o: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32 } -> !T
  %left = tensor.extract_slice %first[0, 0] [16, 8] [1, 1] : !T to !L
  %right = tensor.extract_slice %first[0, 8] [16, 16] [1, 1] : !T to !R
  %l = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%left : !L) outs(%l_e : !L)
    attrs = {stc.name = "l"} { ^bb0(%a: f32, %o: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32 } -> !L
  %r = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%right : !R) outs(%r_e : !R)
    attrs = {stc.name = "r"} { ^bb0(%a: f32, %o: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32 } -> !R
  func.return %l, %r : !L, !R
}

// CHECK: [[FOLLOWS:#.*]] = #dataflow.schedule<tile = [8, 4], order = [1, 0], unroll = [1, 4], vector = []>
// CHECK-LABEL: @slices(
// CHECK: stc.name = "l", stc.schedule = [[FOLLOWS]]} {
// CHECK: stc.name = "r", stc.schedule = [[FOLLOWS]]} {

// -----

// Where a boundary cuts its elements (at 6), a slice comes in that order over smaller ones: 8 x 2.
#each = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
#s = #dataflow.schedule<tile = [8, 4], order = [1, 0], unroll = [1, 1], vector = []>
!T = tensor<16x24xf32>
!C = tensor<16x12xf32>
func.func @cut_slice(%x: !T, %first_e: !T, %c_e: !C) -> !C {
  %first = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%x : !T) outs(%first_e : !T)
    attrs = {stc.name = "first", stc.schedule = #s} { ^bb0(%a: f32, %o: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32 } -> !T
  %cut = tensor.extract_slice %first[0, 6] [16, 12] [1, 1] : !T to !C
  %c = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%cut : !C) outs(%c_e : !C)
    attrs = {stc.name = "c"} { ^bb0(%a: f32, %o: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32 } -> !C
  func.return %c : !C
}

// CHECK-LABEL: @cut_slice(
// CHECK: linalg.generic{{.*}}stc.name = "c", stc.schedule = #dataflow.schedule<tile = [8, 2], order = [1, 0], unroll = [1, 2], vector = []>

// -----

// A slice of an input is cut by a kernel of its own that reads the input row-major, whatever order another reader gave it; a
// view of an input is the host's, and its reader chooses: 16 columns by default.
// SHOW: linalg.generic ... stc.*\}
func.func @parts_of_inputs(%x: tensor<16x24xf32>) -> (tensor<16x24xf32>, tensor<16x8xf32>, tensor<384xf32>) {
  %first_e = tensor.empty() : tensor<16x24xf32>
  %first = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<16x24xf32>) outs(%first_e : tensor<16x24xf32>) attrs = {stc.name = "first", stc.schedule = #dataflow.schedule<tile = [2, 2], order = [1, 0], unroll = [1, 1], vector = []>} {
  ^bb0(%a0: f32, %o: f32):  %t0 = arith.negf %a0 : f32  linalg.yield %t0 : f32
  } -> tensor<16x24xf32>
  %part = tensor.extract_slice %x[0, 8] [16, 8] [1, 1] : tensor<16x24xf32> to tensor<16x8xf32>
  %p_e = tensor.empty() : tensor<16x8xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%part : tensor<16x8xf32>) outs(%p_e : tensor<16x8xf32>) attrs = {stc.name = "p"} {
  ^bb0(%a0: f32, %o: f32):  %t0 = arith.negf %a0 : f32  linalg.yield %t0 : f32
  } -> tensor<16x8xf32>
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<16x24xf32> into tensor<384xf32>
  %f_e = tensor.empty() : tensor<384xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%flat : tensor<384xf32>) outs(%f_e : tensor<384xf32>) attrs = {stc.name = "f"} {
  ^bb0(%a0: f32, %o: f32):  %t0 = arith.negf %a0 : f32  linalg.yield %t0 : f32
  } -> tensor<384xf32>
  func.return %first, %p, %f : tensor<16x24xf32>, tensor<16x8xf32>, tensor<384xf32>
}

// CHECK-LABEL: func.func @parts_of_inputs(
// CHECK: linalg.generic{{.*}}stc.name = "first", stc.schedule = #dataflow.schedule<tile = [2, 2], order = [1, 0], unroll = [1, 1], vector = []>} {
// CHECK: linalg.generic{{.*}}stc.name = "p", stc.schedule = #dataflow.schedule<tile = [16, 8], order = [0, 1], unroll = [1, 8], vector = []>} {
// CHECK: linalg.generic{{.*}}stc.name = "f", stc.schedule = #dataflow.schedule<tile = [16], order = [0], unroll = [16], vector = []>} {

// -----

// A slice that drops a dimension is a slice and a reshape: rows of the slice's last dimension, one at a time.
// SHOW: linalg.generic ... stc.*\}
func.func @one_head(%x: tensor<2x8x12xf32>) -> tensor<8x12xf32> {
  %first_e = tensor.empty() : tensor<2x8x12xf32>
  %first = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<2x8x12xf32>) outs(%first_e : tensor<2x8x12xf32>) attrs = {stc.name = "first", stc.schedule = #dataflow.schedule<tile = [1, 8, 4], order = [0, 2, 1], unroll = [1, 1, 1], vector = []>} {
  ^bb0(%a0: f32, %o: f32):  %t0 = arith.negf %a0 : f32  linalg.yield %t0 : f32
  } -> tensor<2x8x12xf32>
  %head = tensor.extract_slice %first[1, 0, 0] [1, 8, 12] [1, 1, 1] : tensor<2x8x12xf32> to tensor<8x12xf32>
  %h_e = tensor.empty() : tensor<8x12xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%head : tensor<8x12xf32>) outs(%h_e : tensor<8x12xf32>) attrs = {stc.name = "h"} {
  ^bb0(%a0: f32, %o: f32):  %t0 = arith.negf %a0 : f32  linalg.yield %t0 : f32
  } -> tensor<8x12xf32>
  func.return %h : tensor<8x12xf32>
}

// CHECK-LABEL: func.func @one_head(
// CHECK: linalg.generic{{.*}}stc.name = "first", stc.schedule = #dataflow.schedule<tile = [1, 8, 4], order = [0, 2, 1], unroll = [1, 1, 1], vector = []>} {
// CHECK: linalg.generic{{.*}}stc.name = "h", stc.schedule = #dataflow.schedule<tile = [1, 12], order = [0, 1], unroll = [1, 12], vector = []>} {

// -----

// A concatenation comes in the order of its inputs over elements that no boundary cuts (4 x 8, gcd of 16 and 8); a reshape is
// row-major over blocks contiguous on both sides (@flat of 96 in 16s, since 32 of @tall allow that).
// SHOW: linalg.generic ... stc.*\}
func.func @movements(%x: tensor<4x16xf32>, %y: tensor<4x8xf32>) -> tensor<3x32xf32> {
  %a_e = tensor.empty() : tensor<4x16xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x16xf32>) outs(%a_e : tensor<4x16xf32>) attrs = {stc.name = "a"} {
  ^bb0(%a0: f32, %o: f32):  %t0 = arith.negf %a0 : f32  linalg.yield %t0 : f32
  } -> tensor<4x16xf32>
  %b_e = tensor.empty() : tensor<4x8xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<4x8xf32>) outs(%b_e : tensor<4x8xf32>) attrs = {stc.name = "b"} {
  ^bb0(%a0: f32, %o: f32):  %t0 = arith.negf %a0 : f32  linalg.yield %t0 : f32
  } -> tensor<4x8xf32>
  %cat = tensor.concat dim(1) %a, %b : (tensor<4x16xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
  %c_e = tensor.empty() : tensor<4x24xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%cat : tensor<4x24xf32>) outs(%c_e : tensor<4x24xf32>) attrs = {stc.name = "c"} {
  ^bb0(%a0: f32, %o: f32):  %t0 = arith.negf %a0 : f32  linalg.yield %t0 : f32
  } -> tensor<4x24xf32>
  %flat = tensor.collapse_shape %c [[0, 1]] : tensor<4x24xf32> into tensor<96xf32>
  %tall = tensor.expand_shape %flat [[0, 1]] output_shape [3, 32] : tensor<96xf32> into tensor<3x32xf32>
  %d_e = tensor.empty() : tensor<3x32xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%tall : tensor<3x32xf32>) outs(%d_e : tensor<3x32xf32>) attrs = {stc.name = "d"} {
  ^bb0(%a0: f32, %o: f32):  %t0 = arith.negf %a0 : f32  linalg.yield %t0 : f32
  } -> tensor<3x32xf32>
  func.return %d : tensor<3x32xf32>
}

// CHECK-LABEL: func.func @movements(
// CHECK: linalg.generic{{.*}}stc.name = "a", stc.schedule = #dataflow.schedule<tile = [4, 16], order = [0, 1], unroll = [1, 16], vector = []>} {
// CHECK: linalg.generic{{.*}}stc.name = "b", stc.schedule = #dataflow.schedule<tile = [4, 8], order = [0, 1], unroll = [1, 8], vector = []>} {
// CHECK: linalg.generic{{.*}}stc.name = "c", stc.schedule = #dataflow.schedule<tile = [4, 8], order = [1, 0], unroll = [1, 8], vector = []>} {
// CHECK: linalg.generic{{.*}}stc.name = "d", stc.schedule = #dataflow.schedule<tile = [1, 16], order = [0, 1], unroll = [1, 16], vector = []>} {

// -----

// A residual takes the order in which its first reader wants it, and keeps it: @late reads it once more beside what comes
// columns first. One of the two has to be converted, either at the same cost, so that the default order stays.
// SHOW: linalg.generic ... stc.*\}
func.func @residual(%r: tensor<64x48xf32>, %x: tensor<48x64xf32>) -> (tensor<64x48xf32>, tensor<64x48xf32>) {
  %early_e = tensor.empty() : tensor<64x48xf32>
  %early = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<64x48xf32>) outs(%early_e : tensor<64x48xf32>) attrs = {stc.name = "early"} {
  ^bb0(%a0: f32, %o: f32):  %t0 = arith.negf %a0 : f32  linalg.yield %t0 : f32
  } -> tensor<64x48xf32>
  %t_e = tensor.empty() : tensor<64x48xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<48x64xf32>) outs(%t_e : tensor<64x48xf32>) attrs = {stc.name = "t", stc.schedule = #dataflow.schedule<tile = [32, 16], order = [1, 0], unroll = [1, 1], vector = []>} {
  ^bb0(%a0: f32, %o: f32):  %t0 = arith.negf %a0 : f32  linalg.yield %t0 : f32
  } -> tensor<64x48xf32>
  %late_e = tensor.empty() : tensor<64x48xf32>
  %late = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t, %r : tensor<64x48xf32>, tensor<64x48xf32>) outs(%late_e : tensor<64x48xf32>) attrs = {stc.name = "late"} {
  ^bb0(%a0: f32, %a1: f32, %o: f32):  %t0 = arith.addf %a0, %a1 : f32  linalg.yield %t0 : f32
  } -> tensor<64x48xf32>
  func.return %early, %late : tensor<64x48xf32>, tensor<64x48xf32>
}

// CHECK: #schedule = #dataflow.schedule<tile = [32, 16], order = [0, 1], unroll = [1, 16], vector = []>
// CHECK-LABEL: func.func @residual(
// CHECK: linalg.generic{{.*}}stc.name = "early", stc.schedule = #schedule} {
// CHECK: linalg.generic{{.*}}stc.name = "t", stc.schedule = #dataflow.schedule<tile = [32, 16], order = [1, 0], unroll = [1, 1], vector = []>} {
// CHECK: linalg.generic{{.*}}stc.name = "late", stc.schedule = #schedule} {

// -----

// Work on parameters alone is the host's.
// SHOW: linalg.generic ... stc.*\}
func.func @parameters(%x: tensor<8x8xf32>, %w: tensor<8xf32> {stc.parameter}, %b: tensor<8xf32> {stc.parameter}) -> tensor<8x8xf32> {
  %wb_e = tensor.empty() : tensor<8xf32>
  %wb = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%w, %b : tensor<8xf32>, tensor<8xf32>) outs(%wb_e : tensor<8xf32>) attrs = {stc.name = "wb"} {
  ^bb0(%a0: f32, %a1: f32, %o: f32):  %t0 = arith.addf %a0, %a1 : f32  linalg.yield %t0 : f32
  } -> tensor<8xf32>
  %y_e = tensor.empty() : tensor<8x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %wb : tensor<8x8xf32>, tensor<8xf32>) outs(%y_e : tensor<8x8xf32>) attrs = {stc.name = "y"} {
  ^bb0(%a0: f32, %a1: f32, %o: f32):  %t0 = arith.addf %a0, %a1 : f32  linalg.yield %t0 : f32
  } -> tensor<8x8xf32>
  func.return %y : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @parameters(
// CHECK: linalg.generic{{.*}}stc.name = "wb"} {
// CHECK: linalg.generic{{.*}}stc.name = "y", stc.schedule = #dataflow.schedule<tile = [8, 8], order = [0, 1], unroll = [1, 8], vector = []>} {
