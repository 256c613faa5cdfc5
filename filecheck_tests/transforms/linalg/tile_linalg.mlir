// RUN: stc-opt %s -p 'tile-linalg' --split-input-file | filecheck %s

// Reduction inside: one tile accumulates and is inserted after the last step.
// SHOW: scf.for .*\) ...|_slice %.*?\] \[[\d, ]*\] ...|_slice ...|linalg.fill ...|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|scf.if ...
func.func @reduction_inside(%x: tensor<8x12xf32>, %w: tensor<12x16xf32>) -> tensor<8x16xf32> {
  %fc_e = tensor.empty() : tensor<8x16xf32>
  %fc_c = arith.constant 0.000000e+00 : f32
  %fc_f = linalg.fill ins(%fc_c : f32) outs(%fc_e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %fc = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x12xf32>, tensor<12x16xf32>) outs(%fc_f : tensor<8x16xf32>) attrs = {stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>} {
  ^bb0(%a0: f32, %a1: f32, %o0: f32):  %t0 = arith.mulf %a0, %a1 : f32  %t1 = arith.addf %t0, %o0 : f32  linalg.yield %t1 : f32
  } -> tensor<8x16xf32>
  func.return %fc : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @reduction_inside(
// CHECK: scf.for %first_row = %c0 to %c8 step %c4 iter_args(%[[VALUE:.*]] = %{{.*}}) -> (tensor<8x16xf32>)
// CHECK-NEXT: scf.for %first_column = %c0 to %c16 step %c8 iter_args(%[[VALUE1:.*]] = %[[VALUE]]) -> (tensor<8x16xf32>)
// CHECK: %[[FILL:.*]] = linalg.fill
// CHECK-NEXT: %[[FOR:.*]] = scf.for %first_term = %c0 to %c12 step %c4 iter_args(%[[FOR1:.*]] = %[[FILL]]) -> (tensor<4x8xf32>)
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %x[%first_row, %first_term] [4, 4]
// CHECK-NEXT: %[[EXTRACT_SLICE1:.*]] = tensor.extract_slice %w[%first_term, %first_column] [4, 8]
// CHECK-NEXT: linalg.generic{{.*}}ins(%[[EXTRACT_SLICE]], %[[EXTRACT_SLICE1]] :{{.*}}outs(%[[FOR1]]
// CHECK: tensor.insert_slice %[[FOR]] into %[[VALUE1]][%first_row, %first_column] [4, 8]

// -----

// Reduction outermost, parallel loops inside: the accumulator is the whole result (a loop that runs once holds it), x is
// sliced before the loop it does not depend on, and tiles leave in the last reduction step.
// SHOW: scf.for .*\) ...|_slice %.*?\] \[[\d, ]*\] ...|_slice ...|linalg.fill ...|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|scf.if ...
func.func @reduction_outermost(%x: tensor<8x12xf32>, %w: tensor<12x16xf32>) -> tensor<8x16xf32> {
  %fc_e = tensor.empty() : tensor<8x16xf32>
  %fc_c = arith.constant 0.000000e+00 : f32
  %fc_f = linalg.fill ins(%fc_c : f32) outs(%fc_e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %fc = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x12xf32>, tensor<12x16xf32>) outs(%fc_f : tensor<8x16xf32>) attrs = {stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [2, 0, 1], unroll = [1, 1, 1], vector = []>} {
  ^bb0(%a0: f32, %a1: f32, %o0: f32):  %t0 = arith.mulf %a0, %a1 : f32  %t1 = arith.addf %t0, %o0 : f32  linalg.yield %t1 : f32
  } -> tensor<8x16xf32>
  func.return %fc : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @reduction_outermost(
// CHECK: scf.for %once = %c0 to %c1 step %c1 iter_args(%[[VALUE:.*]] = %{{.*}}) -> (tensor<8x16xf32>)
// CHECK: %[[FILL:.*]] = linalg.fill
// CHECK-NEXT: scf.for %first_term = %c0 to %c12 step %c4 iter_args(%[[VALUE1:.*]] = %[[FILL]], %[[VALUE2:.*]] = %[[VALUE]]) -> (tensor<8x16xf32>, tensor<8x16xf32>)
// CHECK-NEXT: scf.for %first_row = %c0 to %c8 step %c4 iter_args(%[[VALUE3:.*]] = %[[VALUE1]], %[[VALUE4:.*]] = %[[VALUE2]]) -> (tensor<8x16xf32>, tensor<8x16xf32>)
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %x[%first_row, %first_term] [4, 4]
// CHECK-NEXT: scf.for %first_column = %c0 to %c16 step %c8 iter_args(%[[VALUE5:.*]] = %[[VALUE3]], %[[VALUE6:.*]] = %[[VALUE4]]) -> (tensor<8x16xf32>, tensor<8x16xf32>)
// CHECK-NEXT: %[[EXTRACT_SLICE1:.*]] = tensor.extract_slice %w[%first_term, %first_column] [4, 8]
// CHECK-NEXT: %[[EXTRACT_SLICE2:.*]] = tensor.extract_slice %[[VALUE5]][%first_row, %first_column] [4, 8]
// CHECK-NEXT: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%[[EXTRACT_SLICE]], %[[EXTRACT_SLICE1]] :{{.*}}outs(%[[EXTRACT_SLICE2]]
// CHECK: tensor.insert_slice %[[GENERIC]] into %[[VALUE5]][%first_row, %first_column] [4, 8]
// CHECK: scf.if
// CHECK-NEXT: tensor.insert_slice %[[GENERIC]] into %[[VALUE6]][%first_row, %first_column] [4, 8]

// -----

// A parallel loop on either side: the accumulator covers the inner one only.
// SHOW: scf.for .*\) ...|_slice %.*?\] \[[\d, ]*\] ...|_slice ...|linalg.fill ...|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|scf.if ...
func.func @reduction_between(%x: tensor<8x12xf32>, %w: tensor<12x16xf32>) -> tensor<8x16xf32> {
  %fc_e = tensor.empty() : tensor<8x16xf32>
  %fc_c = arith.constant 0.000000e+00 : f32
  %fc_f = linalg.fill ins(%fc_c : f32) outs(%fc_e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %fc = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x12xf32>, tensor<12x16xf32>) outs(%fc_f : tensor<8x16xf32>) attrs = {stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 2, 1], unroll = [1, 1, 1], vector = []>} {
  ^bb0(%a0: f32, %a1: f32, %o0: f32):  %t0 = arith.mulf %a0, %a1 : f32  %t1 = arith.addf %t0, %o0 : f32  linalg.yield %t1 : f32
  } -> tensor<8x16xf32>
  func.return %fc : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @reduction_between(
// CHECK: scf.for %first_row = %c0 to %c8 step %c4 iter_args(%[[VALUE:.*]] = %{{.*}}) -> (tensor<8x16xf32>)
// CHECK: %[[FILL:.*]] = linalg.fill
// CHECK-NEXT: scf.for %first_term = %c0 to %c12 step %c4 iter_args(%[[VALUE1:.*]] = %[[FILL]], %[[VALUE2:.*]] = %[[VALUE]]) -> (tensor<4x16xf32>, tensor<8x16xf32>)
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %x[%first_row, %first_term] [4, 4]
// CHECK-NEXT: scf.for %first_column = %c0 to %c16 step %c8 iter_args(%[[VALUE3:.*]] = %[[VALUE1]], %[[VALUE4:.*]] = %[[VALUE2]]) -> (tensor<4x16xf32>, tensor<8x16xf32>)
// CHECK-NEXT: %[[EXTRACT_SLICE1:.*]] = tensor.extract_slice %w[%first_term, %first_column] [4, 8]
// CHECK-NEXT: %[[EXTRACT_SLICE2:.*]] = tensor.extract_slice %[[VALUE3]][0, %first_column] [4, 8]
// CHECK-NEXT: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%[[EXTRACT_SLICE]], %[[EXTRACT_SLICE1]] :{{.*}}outs(%[[EXTRACT_SLICE2]]
// CHECK: tensor.insert_slice %[[GENERIC]] into %[[VALUE3]][0, %first_column] [4, 8]
// CHECK: scf.if
// CHECK-NEXT: tensor.insert_slice %[[GENERIC]] into %[[VALUE4]][%first_row, %first_column] [4, 8]

// -----

// A loop covered by one tile disappears; what depends on no loop is sliced once, in front of the nest.
// SHOW: scf.for .*\) ...|_slice %.*?\] \[[\d, ]*\] ...|_slice ...|linalg.fill ...|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|scf.if ...
func.func @covered_loops(%x: tensor<8x12xf32>, %w: tensor<12x16xf32>) -> tensor<8x16xf32> {
  %fc_e = tensor.empty() : tensor<8x16xf32>
  %fc_c = arith.constant 0.000000e+00 : f32
  %fc_f = linalg.fill ins(%fc_c : f32) outs(%fc_e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %fc = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x12xf32>, tensor<12x16xf32>) outs(%fc_f : tensor<8x16xf32>) attrs = {stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 16, 12], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>} {
  ^bb0(%a0: f32, %a1: f32, %o0: f32):  %t0 = arith.mulf %a0, %a1 : f32  %t1 = arith.addf %t0, %o0 : f32  linalg.yield %t1 : f32
  } -> tensor<8x16xf32>
  func.return %fc : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @covered_loops(
// CHECK: scf.for %once = %c0 to %c1 step %c1 iter_args(%[[VALUE:.*]] = %{{.*}}) -> (tensor<8x16xf32>)
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %w[0, 0] [12, 16]
// CHECK-NEXT: scf.for %first_row = %c0 to %c8 step %c4 iter_args(%[[VALUE1:.*]] = %[[VALUE]]) -> (tensor<8x16xf32>)
// CHECK-NEXT: %[[EXTRACT_SLICE1:.*]] = tensor.extract_slice %x[%first_row, 0] [4, 12]
// CHECK: %[[FILL:.*]] = linalg.fill
// CHECK-NEXT: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%[[EXTRACT_SLICE1]], %[[EXTRACT_SLICE]] :{{.*}}outs(%[[FILL]]
// CHECK: tensor.insert_slice %[[GENERIC]] into %[[VALUE1]][%first_row, 0] [4, 16]

// -----

// One tile for everything: a loop that runs once stands for the op.
// SHOW: scf.for .*\) ...|_slice %.*?\] \[[\d, ]*\] ...|_slice ...|linalg.fill ...|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|scf.if ...
func.func @whole_op(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y_e = tensor.empty() : tensor<2x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%y_e : tensor<2x3xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>} {
  ^bb0(%a0: f32, %o0: f32):  %t0 = arith.negf %a0 : f32  linalg.yield %t0 : f32
  } -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @whole_op(
// CHECK: scf.for %once = %c0 to %c1 step %c1 iter_args(%[[VALUE:.*]] = %{{.*}}) -> (tensor<2x3xf32>)
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %x[0, 0] [2, 3]
// CHECK: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%[[EXTRACT_SLICE]] :{{.*}}outs(%{{.*}}
// CHECK: tensor.insert_slice %[[GENERIC]] into %[[VALUE]][0, 0] [2, 3]

// -----

// Full reduction to rank 0 from an initial value that is not neutral.
// SHOW: scf.for .*\) ...|_slice %.*?\] \[[\d, ]*\] ...|_slice ...|linalg.fill ...|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|scf.if ...
func.func @rank_zero(%x: tensor<6x10xf32>) -> tensor<f32> {
  %s_e = tensor.empty() : tensor<f32>
  %s_c = arith.constant 1.500000e+00 : f32
  %s_f = linalg.fill ins(%s_c : f32) outs(%s_e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<6x10xf32>) outs(%s_f : tensor<f32>) attrs = {stc.name = "s", stc.schedule = #dataflow.schedule<tile = [2, 5], order = [1, 0], unroll = [1, 1], vector = []>} {
  ^bb0(%a0: f32, %o0: f32):  %t0 = arith.addf %a0, %o0 : f32  linalg.yield %t0 : f32
  } -> tensor<f32>
  func.return %s : tensor<f32>
}

// CHECK-LABEL: func.func @rank_zero(
// CHECK: scf.for %once = %c0 to %c1 step %c1 iter_args(%[[VALUE:.*]] = %{{.*}}) -> (tensor<f32>)
// CHECK: %[[FILL:.*]] = linalg.fill
// CHECK-NEXT: %[[FOR:.*]] = scf.for %first_column = %c0 to %c10 step %c5 iter_args(%[[FOR1:.*]] = %[[FILL]]) -> (tensor<f32>)
// CHECK-NEXT: scf.for %first_row = %c0 to %c6 step %c2 iter_args(%[[VALUE1:.*]] = %[[FOR1]]) -> (tensor<f32>)
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %x[%first_row, %first_column] [2, 5]
// CHECK-NEXT: linalg.generic{{.*}}ins(%[[EXTRACT_SLICE]] :{{.*}}outs(%[[VALUE1]]
// CHECK: tensor.insert_slice %[[FOR]] into %[[VALUE]][] []

// -----

// Operands broadcast along the outer and along the inner loop are sliced where their own loop begins.
// SHOW: scf.for .*\) ...|_slice %.*?\] \[[\d, ]*\] ...|_slice ...|linalg.fill ...|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|scf.if ...
func.func @broadcasts(%x: tensor<4xf32>, %b: tensor<6xf32>) -> tensor<4x6xf32> {
  %y_e = tensor.empty() : tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<4xf32>, tensor<6xf32>) outs(%y_e : tensor<4x6xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>} {
  ^bb0(%a0: f32, %a1: f32, %o0: f32):  %t0 = arith.subf %a0, %a1 : f32  linalg.yield %t0 : f32
  } -> tensor<4x6xf32>
  func.return %y : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @broadcasts(
// CHECK: scf.for %first_row = %c0 to %c4 step %c2 iter_args(%[[VALUE:.*]] = %{{.*}}) -> (tensor<4x6xf32>)
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %x[%first_row] [2]
// CHECK-NEXT: scf.for %first_column = %c0 to %c6 step %c3 iter_args(%[[VALUE1:.*]] = %[[VALUE]]) -> (tensor<4x6xf32>)
// CHECK-NEXT: %[[EXTRACT_SLICE1:.*]] = tensor.extract_slice %b[%first_column] [3]
// CHECK: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%[[EXTRACT_SLICE]], %[[EXTRACT_SLICE1]] :{{.*}}outs(%{{.*}}
// CHECK: tensor.insert_slice %[[GENERIC]] into %[[VALUE1]][%first_row, %first_column] [2, 3]

// -----

// One tensor read through two maps is sliced twice.
// SHOW: scf.for .*\) ...|_slice %.*?\] \[[\d, ]*\] ...|_slice ...|linalg.fill ...|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|scf.if ...
func.func @two_maps(%x: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %y_e = tensor.empty() : tensor<6x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %x : tensor<6x6xf32>, tensor<6x6xf32>) outs(%y_e : tensor<6x6xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>} {
  ^bb0(%a0: f32, %a1: f32, %o0: f32):  %t0 = arith.subf %a0, %a1 : f32  linalg.yield %t0 : f32
  } -> tensor<6x6xf32>
  func.return %y : tensor<6x6xf32>
}

// CHECK-LABEL: func.func @two_maps(
// CHECK: scf.for %first_row = %c0 to %c6 step %c2 iter_args(%[[VALUE:.*]] = %{{.*}}) -> (tensor<6x6xf32>)
// CHECK-NEXT: scf.for %first_column = %c0 to %c6 step %c3 iter_args(%[[VALUE1:.*]] = %[[VALUE]]) -> (tensor<6x6xf32>)
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %x[%first_row, %first_column] [2, 3]
// CHECK-NEXT: %[[EXTRACT_SLICE1:.*]] = tensor.extract_slice %x[%first_column, %first_row] [3, 2]
// CHECK: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%[[EXTRACT_SLICE]], %[[EXTRACT_SLICE1]] :{{.*}}outs(%{{.*}}
// CHECK: tensor.insert_slice %[[GENERIC]] into %[[VALUE1]][%first_row, %first_column] [2, 3]

// -----

// Several results: an accumulator and an insertion each.
// SHOW: scf.for .*\) ...|_slice %.*?\] \[[\d, ]*\] ...|_slice ...|linalg.fill ...|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|scf.if ...
func.func @two_results(%x: tensor<6x8xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %z = arith.constant 0.000000e+00 : f32  %m = arith.constant 0xff800000 : f32
  %e = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %g = linalg.fill ins(%m : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %r, %r_1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x8xf32>) outs(%f, %g : tensor<6xf32>, tensor<6xf32>) attrs = {stc.name = "both", stc.schedule = #dataflow.schedule<tile = [2, 4], order = [1, 0], unroll = [1, 1], vector = []>} {
  ^bb0(%a: f32, %b: f32, %c: f32):  %s = arith.addf %a, %b : f32  %t = arith.maximumf %a, %c : f32  linalg.yield %s, %t : f32, f32
  } -> (tensor<6xf32>, tensor<6xf32>)
  func.return %r, %r_1 : tensor<6xf32>, tensor<6xf32>
}

// CHECK-LABEL: func.func @two_results(
// CHECK: scf.for %once = %c0 to %c1 step %c1 iter_args(%[[VALUE:.*]] = %{{.*}}, %[[VALUE1:.*]] = %{{.*}}) -> (tensor<6xf32>, tensor<6xf32>)
// CHECK: %[[FILL:.*]] = linalg.fill
// CHECK: %[[FILL1:.*]] = linalg.fill
// CHECK-NEXT: scf.for %first_column = %c0 to %c8 step %c4 iter_args(%[[VALUE2:.*]] = %[[FILL]], %[[VALUE3:.*]] = %[[FILL1]], %[[VALUE4:.*]] = %[[VALUE]], %[[VALUE5:.*]] = %[[VALUE1]]) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
// CHECK-NEXT: scf.for %first_row = %c0 to %c6 step %c2 iter_args(%[[VALUE6:.*]] = %[[VALUE2]], %[[VALUE7:.*]] = %[[VALUE3]], %[[VALUE8:.*]] = %[[VALUE4]], %[[VALUE9:.*]] = %[[VALUE5]]) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %x[%first_row, %first_column] [2, 4]
// CHECK-NEXT: %[[EXTRACT_SLICE1:.*]] = tensor.extract_slice %[[VALUE6]][%first_row] [2]
// CHECK-NEXT: tensor.extract_slice %[[VALUE7]][%first_row] [2]
// CHECK-NEXT: %[[GENERIC:.*]], %[[GENERIC1:.*]] = linalg.generic{{.*}}ins(%[[EXTRACT_SLICE]] :{{.*}}outs(%[[EXTRACT_SLICE1]]
// CHECK: tensor.insert_slice %[[GENERIC]] into %[[VALUE6]][%first_row] [2]
// CHECK-NEXT: tensor.insert_slice %[[GENERIC1]] into %[[VALUE7]][%first_row] [2]
// CHECK: scf.if
// CHECK-NEXT: tensor.insert_slice %[[GENERIC]] into %[[VALUE8]][%first_row] [2]
// CHECK-NEXT: tensor.insert_slice %[[GENERIC1]] into %[[VALUE9]][%first_row] [2]

// -----

// linalg.index counts within the tile: where the tile begins is added.
// SHOW: scf.for .*\) ...|_slice %.*?\] \[[\d, ]*\] ...|_slice ...|linalg.fill ...|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|scf.if ...
func.func @indices(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %y_e = tensor.empty() : tensor<6x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<6x8xf32>) outs(%y_e : tensor<6x8xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [6, 4], order = [0, 1], unroll = [1, 1], vector = []>} {
  ^bb0(%a0: f32, %o0: f32):
    %t0 = linalg.index 1 : index
    %t1 = arith.index_cast %t0 : index to i32
    %t2 = arith.sitofp %t1 : i32 to f32
    %t3 = arith.addf %a0, %t2 : f32
    linalg.yield %t3 : f32
  } -> tensor<6x8xf32>
  func.return %y : tensor<6x8xf32>
}

// CHECK-LABEL: func.func @indices(
// CHECK: scf.for %first_column = %c0 to %c8 step %c4 iter_args(%[[VALUE:.*]] = %{{.*}}) -> (tensor<6x8xf32>)
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %x[0, %first_column] [6, 4]
// CHECK: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%[[EXTRACT_SLICE]] :{{.*}}outs(%{{.*}}
// CHECK: tensor.insert_slice %[[GENERIC]] into %[[VALUE]][0, %first_column] [6, 4]

// -----

// Two tiled reductions: the last step is the last of both.
// SHOW: scf.for .*\) ...|_slice %.*?\] \[[\d, ]*\] ...|_slice ...|linalg.fill ...|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|scf.if ...
func.func @two_reductions(%x: tensor<4x2x6xf32>) -> tensor<4xf32> {
  %z_e = tensor.empty() : tensor<4xf32>
  %z_c = arith.constant 0xff800000 : f32
  %z_f = linalg.fill ins(%z_c : f32) outs(%z_e : tensor<4xf32>) -> tensor<4xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x : tensor<4x2x6xf32>) outs(%z_f : tensor<4xf32>) attrs = {stc.name = "z", stc.schedule = #dataflow.schedule<tile = [2, 1, 3], order = [1, 0, 2], unroll = [1, 1, 1], vector = []>} {
  ^bb0(%a0: f32, %o0: f32):  %t0 = arith.maximumf %a0, %o0 : f32  linalg.yield %t0 : f32
  } -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @two_reductions(
// CHECK: scf.for %once = %c0 to %c1 step %c1 iter_args(%[[VALUE:.*]] = %{{.*}}) -> (tensor<4xf32>)
// CHECK: %[[FILL:.*]] = linalg.fill
// CHECK-NEXT: scf.for %plane = %c0 to %c2 step %c1 iter_args(%[[VALUE1:.*]] = %[[FILL]], %[[VALUE2:.*]] = %[[VALUE]]) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: scf.for %first_row = %c0 to %c4 step %c2 iter_args(%[[VALUE3:.*]] = %[[VALUE1]], %[[VALUE4:.*]] = %[[VALUE2]]) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: scf.for %first_column = %c0 to %c6 step %c3 iter_args(%[[VALUE5:.*]] = %[[VALUE3]], %[[VALUE6:.*]] = %[[VALUE4]]) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %x[%first_row, %plane, %first_column] [2, 1, 3]
// CHECK-NEXT: %[[EXTRACT_SLICE1:.*]] = tensor.extract_slice %[[VALUE5]][%first_row] [2]
// CHECK-NEXT: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%[[EXTRACT_SLICE]] :{{.*}}outs(%[[EXTRACT_SLICE1]]
// CHECK: tensor.insert_slice %[[GENERIC]] into %[[VALUE5]][%first_row] [2]
// CHECK: scf.if
// CHECK-NEXT: tensor.insert_slice %[[GENERIC]] into %[[VALUE6]][%first_row] [2]
