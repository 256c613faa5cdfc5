// RUN: stc-opt %s -p 'tile-linalg' --split-input-file | filecheck %s

// Reduction inside: one tile accumulates and is inserted after the last step.
func.func @reduction_inside(%x: tensor<8x12xf32>, %w: tensor<12x16xf32>) -> tensor<8x16xf32> {
  %fc_e = tensor.empty() : tensor<8x16xf32>
  %fc_c = arith.constant 0.000000e+00 : f32
  %fc_f = linalg.fill ins(%fc_c : f32) outs(%fc_e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %fc = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x12xf32>, tensor<12x16xf32>) outs(%fc_f : tensor<8x16xf32>) attrs = {stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>} {
  ^bb0(%a0: f32, %a1: f32, %o0: f32):
    %t0 = arith.mulf %a0, %a1 : f32
    %t1 = arith.addf %t0, %o0 : f32
    linalg.yield %t1 : f32
  } -> tensor<8x16xf32>
  func.return %fc : tensor<8x16xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @reduction_inside(
// CHECK-NEXT: %fc_c = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %0 = tensor.empty() : tensor<8x16xf32>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %c12 = arith.constant 12 : index
// CHECK-NEXT: %fc = scf.for %first_row = %c0 to %c8 step %c4 iter_args(%1 = %0) -> (tensor<8x16xf32>) {
// CHECK-NEXT: %2 = scf.for %first_column = %c0 to %c16 step %c8 iter_args(%3 = %1) -> (tensor<8x16xf32>) {
// CHECK-NEXT: %4 = tensor.empty() : tensor<4x8xf32>
// CHECK-NEXT: %5 = linalg.fill {stc.name = "fc"} ins(%fc_c : f32) outs(%4 : tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %6 = scf.for %first_term = %c0 to %c12 step %c4 iter_args(%7 = %5) -> (tensor<4x8xf32>) {
// CHECK-NEXT: %8 = tensor.extract_slice %x[%first_row, %first_term] [4, 4] [1, 1] : tensor<8x12xf32> to tensor<4x4xf32>
// CHECK-NEXT: %9 = tensor.extract_slice %w[%first_term, %first_column] [4, 8] [1, 1] : tensor<12x16xf32> to tensor<4x8xf32>
// CHECK-NEXT: %10 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%8, %9 : tensor<4x4xf32>, tensor<4x8xf32>) outs(%7 : tensor<4x8xf32>) attrs ={{ +}}{stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "fc"} {
// CHECK-NEXT: ^bb0(%a0: f32, %a1: f32, %o0: f32):
// CHECK-NEXT: %t0 = arith.mulf %a0, %a1 : f32
// CHECK-NEXT: %t1 = arith.addf %t0, %o0 : f32
// CHECK-NEXT: linalg.yield %t1 : f32
// CHECK-NEXT: } -> tensor<4x8xf32>
// CHECK-NEXT: scf.yield %10 : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %11 = tensor.insert_slice %6 into %3[%first_row, %first_column] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x16xf32>
// CHECK-NEXT: scf.yield %11 : tensor<8x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %2 : tensor<8x16xf32>
// CHECK-NEXT: } {stc.name = "fc"}
// CHECK-NEXT: func.return %fc : tensor<8x16xf32>

// -----

// Reduction outermost, parallel loops inside: the accumulator is the whole result (a loop that runs once holds it), x is
// sliced before the loop it does not depend on, and tiles leave in the last reduction step.
// SHOW: ^((?!arith.constant).)*$
func.func @reduction_outermost(%x: tensor<8x12xf32>, %w: tensor<12x16xf32>) -> tensor<8x16xf32> {
  %fc_e = tensor.empty() : tensor<8x16xf32>
  %fc_c = arith.constant 0.000000e+00 : f32
  %fc_f = linalg.fill ins(%fc_c : f32) outs(%fc_e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %fc = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x12xf32>, tensor<12x16xf32>) outs(%fc_f : tensor<8x16xf32>) attrs = {stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [2, 0, 1], unroll = [1, 1, 1], vector = []>} {
  ^bb0(%a0: f32, %a1: f32, %o0: f32):
    %t0 = arith.mulf %a0, %a1 : f32
    %t1 = arith.addf %t0, %o0 : f32
    linalg.yield %t1 : f32
  } -> tensor<8x16xf32>
  func.return %fc : tensor<8x16xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @reduction_outermost(
// CHECK: %0 = tensor.empty() : tensor<8x16xf32>
// CHECK: %fc = scf.for %once = %c0 to %c1 step %c1 iter_args(%1 = %0) -> (tensor<8x16xf32>) {
// CHECK-NEXT: %2 = tensor.empty() : tensor<8x16xf32>
// CHECK-NEXT: %3 = linalg.fill {stc.name = "fc"} ins(%fc_c : f32) outs(%2 : tensor<8x16xf32>) -> tensor<8x16xf32>
// CHECK-NEXT: %4, %5 = scf.for %first_term = %c0 to %c12 step %c4 iter_args(%6 = %3, %7 = %1) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
// CHECK-NEXT: %8, %9 = scf.for %first_row = %c0 to %c8 step %c4 iter_args(%10 = %6, %11 = %7) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
// CHECK-NEXT: %12 = tensor.extract_slice %x[%first_row, %first_term] [4, 4] [1, 1] : tensor<8x12xf32> to tensor<4x4xf32>
// CHECK-NEXT: %13, %14 = scf.for %first_column = %c0 to %c16 step %c8 iter_args(%15 = %10, %16 = %11) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
// CHECK-NEXT: %17 = tensor.extract_slice %w[%first_term, %first_column] [4, 8] [1, 1] : tensor<12x16xf32> to tensor<4x8xf32>
// CHECK-NEXT: %18 = tensor.extract_slice %15[%first_row, %first_column] [4, 8] [1, 1] : tensor<8x16xf32> to tensor<4x8xf32>
// CHECK-NEXT: %19 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%12, %17 : tensor<4x4xf32>, tensor<4x8xf32>) outs(%18 : tensor<4x8xf32>) attrs ={{ +}}{stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [2, 0, 1], unroll = [1, 1, 1], vector = []>, stc.tile = "fc"} {
// CHECK-NEXT: ^bb0(%a0: f32, %a1: f32, %o0: f32):
// CHECK-NEXT: %t0 = arith.mulf %a0, %a1 : f32
// CHECK-NEXT: %t1 = arith.addf %t0, %o0 : f32
// CHECK-NEXT: linalg.yield %t1 : f32
// CHECK-NEXT: } -> tensor<4x8xf32>
// CHECK-NEXT: %20 = tensor.insert_slice %19 into %15[%first_row, %first_column] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x16xf32>
// CHECK-NEXT: %21 = arith.cmpi eq, %first_term, %c8 : index
// CHECK-NEXT: %22 = scf.if %21 -> (tensor<8x16xf32>) {
// CHECK-NEXT: %23 = tensor.insert_slice %19 into %16[%first_row, %first_column] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x16xf32>
// CHECK-NEXT: scf.yield %23 : tensor<8x16xf32>
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %16 : tensor<8x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %20, %22 : tensor<8x16xf32>, tensor<8x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %13, %14 : tensor<8x16xf32>, tensor<8x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %8, %9 : tensor<8x16xf32>, tensor<8x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %5 : tensor<8x16xf32>
// CHECK-NEXT: } {stc.name = "fc"}
// CHECK-NEXT: func.return %fc : tensor<8x16xf32>

// -----

// A parallel loop on either side: the accumulator covers the inner one only.
// SHOW: ^((?!arith.constant).)*$
func.func @reduction_between(%x: tensor<8x12xf32>, %w: tensor<12x16xf32>) -> tensor<8x16xf32> {
  %fc_e = tensor.empty() : tensor<8x16xf32>
  %fc_c = arith.constant 0.000000e+00 : f32
  %fc_f = linalg.fill ins(%fc_c : f32) outs(%fc_e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %fc = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x12xf32>, tensor<12x16xf32>) outs(%fc_f : tensor<8x16xf32>) attrs = {stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 2, 1], unroll = [1, 1, 1], vector = []>} {
  ^bb0(%a0: f32, %a1: f32, %o0: f32):
    %t0 = arith.mulf %a0, %a1 : f32
    %t1 = arith.addf %t0, %o0 : f32
    linalg.yield %t1 : f32
  } -> tensor<8x16xf32>
  func.return %fc : tensor<8x16xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @reduction_between(
// CHECK: %0 = tensor.empty() : tensor<8x16xf32>
// CHECK: %fc = scf.for %first_row = %c0 to %c8 step %c4 iter_args(%1 = %0) -> (tensor<8x16xf32>) {
// CHECK-NEXT: %2 = tensor.empty() : tensor<4x16xf32>
// CHECK-NEXT: %3 = linalg.fill {stc.name = "fc"} ins(%fc_c : f32) outs(%2 : tensor<4x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: %4, %5 = scf.for %first_term = %c0 to %c12 step %c4 iter_args(%6 = %3, %7 = %1) -> (tensor<4x16xf32>, tensor<8x16xf32>) {
// CHECK-NEXT: %8 = tensor.extract_slice %x[%first_row, %first_term] [4, 4] [1, 1] : tensor<8x12xf32> to tensor<4x4xf32>
// CHECK-NEXT: %9, %10 = scf.for %first_column = %c0 to %c16 step %c8 iter_args(%11 = %6, %12 = %7) -> (tensor<4x16xf32>, tensor<8x16xf32>) {
// CHECK-NEXT: %13 = tensor.extract_slice %w[%first_term, %first_column] [4, 8] [1, 1] : tensor<12x16xf32> to tensor<4x8xf32>
// CHECK-NEXT: %14 = tensor.extract_slice %11[0, %first_column] [4, 8] [1, 1] : tensor<4x16xf32> to tensor<4x8xf32>
// CHECK-NEXT: %15 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%8, %13 : tensor<4x4xf32>, tensor<4x8xf32>) outs(%14 : tensor<4x8xf32>) attrs ={{ +}}{stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 2, 1], unroll = [1, 1, 1], vector = []>, stc.tile = "fc"} {
// CHECK-NEXT: ^bb0(%a0: f32, %a1: f32, %o0: f32):
// CHECK-NEXT: %t0 = arith.mulf %a0, %a1 : f32
// CHECK-NEXT: %t1 = arith.addf %t0, %o0 : f32
// CHECK-NEXT: linalg.yield %t1 : f32
// CHECK-NEXT: } -> tensor<4x8xf32>
// CHECK-NEXT: %16 = tensor.insert_slice %15 into %11[0, %first_column] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<4x16xf32>
// CHECK-NEXT: %17 = arith.cmpi eq, %first_term, %c8 : index
// CHECK-NEXT: %18 = scf.if %17 -> (tensor<8x16xf32>) {
// CHECK-NEXT: %19 = tensor.insert_slice %15 into %12[%first_row, %first_column] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x16xf32>
// CHECK-NEXT: scf.yield %19 : tensor<8x16xf32>
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %12 : tensor<8x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %16, %18 : tensor<4x16xf32>, tensor<8x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %9, %10 : tensor<4x16xf32>, tensor<8x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %5 : tensor<8x16xf32>
// CHECK-NEXT: } {stc.name = "fc"}
// CHECK-NEXT: func.return %fc : tensor<8x16xf32>

// -----

// A loop covered by one tile disappears; what depends on no loop is sliced once, in front of the nest.
// SHOW: ^((?!arith.constant).)*$
func.func @covered_loops(%x: tensor<8x12xf32>, %w: tensor<12x16xf32>) -> tensor<8x16xf32> {
  %fc_e = tensor.empty() : tensor<8x16xf32>
  %fc_c = arith.constant 0.000000e+00 : f32
  %fc_f = linalg.fill ins(%fc_c : f32) outs(%fc_e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %fc = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x12xf32>, tensor<12x16xf32>) outs(%fc_f : tensor<8x16xf32>) attrs = {stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 16, 12], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>} {
  ^bb0(%a0: f32, %a1: f32, %o0: f32):
    %t0 = arith.mulf %a0, %a1 : f32
    %t1 = arith.addf %t0, %o0 : f32
    linalg.yield %t1 : f32
  } -> tensor<8x16xf32>
  func.return %fc : tensor<8x16xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @covered_loops(
// CHECK: %0 = tensor.empty() : tensor<8x16xf32>
// CHECK: %fc = scf.for %once = %c0 to %c1 step %c1 iter_args(%1 = %0) -> (tensor<8x16xf32>) {
// CHECK-NEXT: %2 = tensor.extract_slice %w[0, 0] [12, 16] [1, 1] : tensor<12x16xf32> to tensor<12x16xf32>
// CHECK-NEXT: %3 = scf.for %first_row = %c0 to %c8 step %c4 iter_args(%4 = %1) -> (tensor<8x16xf32>) {
// CHECK-NEXT: %5 = tensor.extract_slice %x[%first_row, 0] [4, 12] [1, 1] : tensor<8x12xf32> to tensor<4x12xf32>
// CHECK-NEXT: %6 = tensor.empty() : tensor<4x16xf32>
// CHECK-NEXT: %7 = linalg.fill {stc.name = "fc"} ins(%fc_c : f32) outs(%6 : tensor<4x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: %8 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%5, %2 : tensor<4x12xf32>, tensor<12x16xf32>) outs(%7 : tensor<4x16xf32>) attrs ={{ +}}{stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 16, 12], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "fc"} {
// CHECK-NEXT: ^bb0(%a0: f32, %a1: f32, %o0: f32):
// CHECK-NEXT: %t0 = arith.mulf %a0, %a1 : f32
// CHECK-NEXT: %t1 = arith.addf %t0, %o0 : f32
// CHECK-NEXT: linalg.yield %t1 : f32
// CHECK-NEXT: } -> tensor<4x16xf32>
// CHECK-NEXT: %9 = tensor.insert_slice %8 into %4[%first_row, 0] [4, 16] [1, 1] : tensor<4x16xf32> into tensor<8x16xf32>
// CHECK-NEXT: scf.yield %9 : tensor<8x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %3 : tensor<8x16xf32>
// CHECK-NEXT: } {stc.name = "fc"}
// CHECK-NEXT: func.return %fc : tensor<8x16xf32>

// -----

// One tile for everything: a loop that runs once stands for the op.
// SHOW: ^((?!arith.constant).)*$
func.func @whole_op(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y_e = tensor.empty() : tensor<2x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%y_e : tensor<2x3xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>} {
  ^bb0(%a0: f32, %o0: f32):
    %t0 = arith.negf %a0 : f32
    linalg.yield %t0 : f32
  } -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @whole_op(
// CHECK-NEXT: %0 = tensor.empty() : tensor<2x3xf32>
// CHECK: %y = scf.for %once = %c0 to %c1 step %c1 iter_args(%1 = %0) -> (tensor<2x3xf32>) {
// CHECK-NEXT: %2 = tensor.extract_slice %x[0, 0] [2, 3] [1, 1] : tensor<2x3xf32> to tensor<2x3xf32>
// CHECK-NEXT: %3 = tensor.empty() : tensor<2x3xf32>
// CHECK-NEXT: %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<2x3xf32>) outs(%3 : tensor<2x3xf32>) attrs ={{ +}}{stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "y"} {
// CHECK-NEXT: ^bb0(%a0: f32, %o0: f32):
// CHECK-NEXT: %t0 = arith.negf %a0 : f32
// CHECK-NEXT: linalg.yield %t0 : f32
// CHECK-NEXT: } -> tensor<2x3xf32>
// CHECK-NEXT: %5 = tensor.insert_slice %4 into %1[0, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<2x3xf32>
// CHECK-NEXT: scf.yield %5 : tensor<2x3xf32>
// CHECK-NEXT: } {stc.name = "y"}
// CHECK-NEXT: func.return %y : tensor<2x3xf32>

// -----

// Full reduction to rank 0 from an initial value that is not neutral.
// SHOW: ^((?!arith.constant).)*$
func.func @rank_zero(%x: tensor<6x10xf32>) -> tensor<f32> {
  %s_e = tensor.empty() : tensor<f32>
  %s_c = arith.constant 1.500000e+00 : f32
  %s_f = linalg.fill ins(%s_c : f32) outs(%s_e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<6x10xf32>) outs(%s_f : tensor<f32>) attrs = {stc.name = "s", stc.schedule = #dataflow.schedule<tile = [2, 5], order = [1, 0], unroll = [1, 1], vector = []>} {
  ^bb0(%a0: f32, %o0: f32):
    %t0 = arith.addf %a0, %o0 : f32
    linalg.yield %t0 : f32
  } -> tensor<f32>
  func.return %s : tensor<f32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> ()>
// CHECK-LABEL: func.func @rank_zero(
// CHECK: %0 = tensor.empty() : tensor<f32>
// CHECK: %s = scf.for %once = %c0 to %c1 step %c1 iter_args(%1 = %0) -> (tensor<f32>) {
// CHECK-NEXT: %2 = tensor.empty() : tensor<f32>
// CHECK-NEXT: %3 = linalg.fill {stc.name = "s"} ins(%s_c : f32) outs(%2 : tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %4 = scf.for %first_column = %c0 to %c10 step %c5 iter_args(%5 = %3) -> (tensor<f32>) {
// CHECK-NEXT: %6 = scf.for %first_row = %c0 to %c6 step %c2 iter_args(%7 = %5) -> (tensor<f32>) {
// CHECK-NEXT: %8 = tensor.extract_slice %x[%first_row, %first_column] [2, 5] [1, 1] : tensor<6x10xf32> to tensor<2x5xf32>
// CHECK-NEXT: %9 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction", "reduction"]} ins(%8 : tensor<2x5xf32>) outs(%7 : tensor<f32>) attrs ={{ +}}{stc.name = "s", stc.schedule = #dataflow.schedule<tile = [2, 5], order = [1, 0], unroll = [1, 1], vector = []>, stc.tile = "s"} {
// CHECK-NEXT: ^bb0(%a0: f32, %o0: f32):
// CHECK-NEXT: %t0 = arith.addf %a0, %o0 : f32
// CHECK-NEXT: linalg.yield %t0 : f32
// CHECK-NEXT: } -> tensor<f32>
// CHECK-NEXT: scf.yield %9 : tensor<f32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %6 : tensor<f32>
// CHECK-NEXT: }
// CHECK-NEXT: %10 = tensor.insert_slice %4 into %1[] [] [] : tensor<f32> into tensor<f32>
// CHECK-NEXT: scf.yield %10 : tensor<f32>
// CHECK-NEXT: } {stc.name = "s"}
// CHECK-NEXT: func.return %s : tensor<f32>

// -----

// Operands broadcast along the outer and along the inner loop are sliced where their own loop begins.
// SHOW: ^((?!arith.constant).)*$
func.func @broadcasts(%x: tensor<4xf32>, %b: tensor<6xf32>) -> tensor<4x6xf32> {
  %y_e = tensor.empty() : tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<4xf32>, tensor<6xf32>) outs(%y_e : tensor<4x6xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>} {
  ^bb0(%a0: f32, %a1: f32, %o0: f32):
    %t0 = arith.subf %a0, %a1 : f32
    linalg.yield %t0 : f32
  } -> tensor<4x6xf32>
  func.return %y : tensor<4x6xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d1)>
// CHECK: #map2 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @broadcasts(
// CHECK-NEXT: %0 = tensor.empty() : tensor<4x6xf32>
// CHECK: %y = scf.for %first_row = %c0 to %c4 step %c2 iter_args(%1 = %0) -> (tensor<4x6xf32>) {
// CHECK-NEXT: %2 = tensor.extract_slice %x[%first_row] [2] [1] : tensor<4xf32> to tensor<2xf32>
// CHECK-NEXT: %3 = scf.for %first_column = %c0 to %c6 step %c3 iter_args(%4 = %1) -> (tensor<4x6xf32>) {
// CHECK-NEXT: %5 = tensor.extract_slice %b[%first_column] [3] [1] : tensor<6xf32> to tensor<3xf32>
// CHECK-NEXT: %6 = tensor.empty() : tensor<2x3xf32>
// CHECK-NEXT: %7 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel"]} ins(%2, %5 : tensor<2xf32>, tensor<3xf32>) outs(%6 : tensor<2x3xf32>) attrs ={{ +}}{stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "y"} {
// CHECK-NEXT: ^bb0(%a0: f32, %a1: f32, %o0: f32):
// CHECK-NEXT: %t0 = arith.subf %a0, %a1 : f32
// CHECK-NEXT: linalg.yield %t0 : f32
// CHECK-NEXT: } -> tensor<2x3xf32>
// CHECK-NEXT: %8 = tensor.insert_slice %7 into %4[%first_row, %first_column] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x6xf32>
// CHECK-NEXT: scf.yield %8 : tensor<4x6xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %3 : tensor<4x6xf32>
// CHECK-NEXT: } {stc.name = "y"}
// CHECK-NEXT: func.return %y : tensor<4x6xf32>

// -----

// One tensor read through two maps is sliced twice.
// SHOW: ^((?!arith.constant).)*$
func.func @two_maps(%x: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %y_e = tensor.empty() : tensor<6x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %x : tensor<6x6xf32>, tensor<6x6xf32>) outs(%y_e : tensor<6x6xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>} {
  ^bb0(%a0: f32, %a1: f32, %o0: f32):
    %t0 = arith.subf %a0, %a1 : f32
    linalg.yield %t0 : f32
  } -> tensor<6x6xf32>
  func.return %y : tensor<6x6xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @two_maps(
// CHECK-NEXT: %0 = tensor.empty() : tensor<6x6xf32>
// CHECK: %y = scf.for %first_row = %c0 to %c6 step %c2 iter_args(%1 = %0) -> (tensor<6x6xf32>) {
// CHECK-NEXT: %2 = scf.for %first_column = %c0 to %c6 step %c3 iter_args(%3 = %1) -> (tensor<6x6xf32>) {
// CHECK-NEXT: %4 = tensor.extract_slice %x[%first_row, %first_column] [2, 3] [1, 1] : tensor<6x6xf32> to tensor<2x3xf32>
// CHECK-NEXT: %5 = tensor.extract_slice %x[%first_column, %first_row] [3, 2] [1, 1] : tensor<6x6xf32> to tensor<3x2xf32>
// CHECK-NEXT: %6 = tensor.empty() : tensor<2x3xf32>
// CHECK-NEXT: %7 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%4, %5 : tensor<2x3xf32>, tensor<3x2xf32>) outs(%6 : tensor<2x3xf32>) attrs ={{ +}}{stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "y"} {
// CHECK-NEXT: ^bb0(%a0: f32, %a1: f32, %o0: f32):
// CHECK-NEXT: %t0 = arith.subf %a0, %a1 : f32
// CHECK-NEXT: linalg.yield %t0 : f32
// CHECK-NEXT: } -> tensor<2x3xf32>
// CHECK-NEXT: %8 = tensor.insert_slice %7 into %3[%first_row, %first_column] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<6x6xf32>
// CHECK-NEXT: scf.yield %8 : tensor<6x6xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %2 : tensor<6x6xf32>
// CHECK-NEXT: } {stc.name = "y"}
// CHECK-NEXT: func.return %y : tensor<6x6xf32>

// -----

// Several results: an accumulator and an insertion each.
// SHOW: ^((?!arith.constant).)*$
func.func @two_results(%x: tensor<6x8xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %z = arith.constant 0.000000e+00 : f32
  %m = arith.constant 0xff800000 : f32
  %e = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %g = linalg.fill ins(%m : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %r, %r_1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x8xf32>) outs(%f, %g : tensor<6xf32>, tensor<6xf32>) attrs = {stc.name = "both", stc.schedule = #dataflow.schedule<tile = [2, 4], order = [1, 0], unroll = [1, 1], vector = []>} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    %t = arith.maximumf %a, %c : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<6xf32>, tensor<6xf32>)
  func.return %r, %r_1 : tensor<6xf32>, tensor<6xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @two_results(
// CHECK: %0 = tensor.empty() : tensor<6xf32>
// CHECK-NEXT: %1 = tensor.empty() : tensor<6xf32>
// CHECK: %r, %r_1 = scf.for %once = %c0 to %c1 step %c1 iter_args(%2 = %0, %3 = %1) -> (tensor<6xf32>, tensor<6xf32>) {
// CHECK-NEXT: %4 = tensor.empty() : tensor<6xf32>
// CHECK-NEXT: %5 = linalg.fill {stc.name = "both"} ins(%z : f32) outs(%4 : tensor<6xf32>) -> tensor<6xf32>
// CHECK-NEXT: %6 = tensor.empty() : tensor<6xf32>
// CHECK-NEXT: %7 = linalg.fill {stc.name = "both"} ins(%m : f32) outs(%6 : tensor<6xf32>) -> tensor<6xf32>
// CHECK-NEXT: %8, %9, %10, %11 = scf.for %first_column = %c0 to %c8 step %c4 iter_args(%12 = %5, %13 = %7, %14 = %2, %15 = %3) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
// CHECK-NEXT: %16, %17, %18, %19 = scf.for %first_row = %c0 to %c6 step %c2 iter_args(%20 = %12, %21 = %13, %22 = %14, %23 = %15) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
// CHECK-NEXT: %24 = tensor.extract_slice %x[%first_row, %first_column] [2, 4] [1, 1] : tensor<6x8xf32> to tensor<2x4xf32>
// CHECK-NEXT: %25 = tensor.extract_slice %20[%first_row] [2] [1] : tensor<6xf32> to tensor<2xf32>
// CHECK-NEXT: %26 = tensor.extract_slice %21[%first_row] [2] [1] : tensor<6xf32> to tensor<2xf32>
// CHECK-NEXT: %27, %28 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "reduction"]} ins(%24 : tensor<2x4xf32>) outs(%25, %26 : tensor<2xf32>, tensor<2xf32>) attrs ={{ +}}{stc.name = "both", stc.schedule = #dataflow.schedule<tile = [2, 4], order = [1, 0], unroll = [1, 1], vector = []>, stc.tile = "both"} {
// CHECK-NEXT: ^bb0(%a: f32, %b: f32, %c: f32):
// CHECK-NEXT: %s = arith.addf %a, %b : f32
// CHECK-NEXT: %t = arith.maximumf %a, %c : f32
// CHECK-NEXT: linalg.yield %s, %t : f32, f32
// CHECK-NEXT: } -> (tensor<2xf32>, tensor<2xf32>)
// CHECK-NEXT: %29 = tensor.insert_slice %27 into %20[%first_row] [2] [1] : tensor<2xf32> into tensor<6xf32>
// CHECK-NEXT: %30 = tensor.insert_slice %28 into %21[%first_row] [2] [1] : tensor<2xf32> into tensor<6xf32>
// CHECK-NEXT: %31 = arith.cmpi eq, %first_column, %c4 : index
// CHECK-NEXT: %32, %33 = scf.if %31 -> (tensor<6xf32>, tensor<6xf32>) {
// CHECK-NEXT: %34 = tensor.insert_slice %27 into %22[%first_row] [2] [1] : tensor<2xf32> into tensor<6xf32>
// CHECK-NEXT: %35 = tensor.insert_slice %28 into %23[%first_row] [2] [1] : tensor<2xf32> into tensor<6xf32>
// CHECK-NEXT: scf.yield %34, %35 : tensor<6xf32>, tensor<6xf32>
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %22, %23 : tensor<6xf32>, tensor<6xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %29, %30, %32, %33 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %16, %17, %18, %19 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %10, %11 : tensor<6xf32>, tensor<6xf32>
// CHECK-NEXT: } {stc.name = "both"}
// CHECK-NEXT: func.return %r, %r_1 : tensor<6xf32>, tensor<6xf32>

// -----

// linalg.index counts within the tile: where the tile begins is added.
// SHOW: ^((?!arith.constant).)*$
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

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @indices(
// CHECK-NEXT: %0 = tensor.empty() : tensor<6x8xf32>
// CHECK: %y = scf.for %first_column = %c0 to %c8 step %c4 iter_args(%1 = %0) -> (tensor<6x8xf32>) {
// CHECK-NEXT: %2 = tensor.extract_slice %x[0, %first_column] [6, 4] [1, 1] : tensor<6x8xf32> to tensor<6x4xf32>
// CHECK-NEXT: %3 = tensor.empty() : tensor<6x4xf32>
// CHECK-NEXT: %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<6x4xf32>) outs(%3 : tensor<6x4xf32>) attrs ={{ +}}{stc.name = "y", stc.schedule = #dataflow.schedule<tile = [6, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "y"} {
// CHECK-NEXT: ^bb0(%a0: f32, %o0: f32):
// CHECK-NEXT: %t0 = linalg.index 1 : index
// CHECK-NEXT: %t0_1 = arith.addi %t0, %first_column : index
// CHECK-NEXT: %t1 = arith.index_cast %t0_1 : index to i32
// CHECK-NEXT: %t2 = arith.sitofp %t1 : i32 to f32
// CHECK-NEXT: %t3 = arith.addf %a0, %t2 : f32
// CHECK-NEXT: linalg.yield %t3 : f32
// CHECK-NEXT: } -> tensor<6x4xf32>
// CHECK-NEXT: %5 = tensor.insert_slice %4 into %1[0, %first_column] [6, 4] [1, 1] : tensor<6x4xf32> into tensor<6x8xf32>
// CHECK-NEXT: scf.yield %5 : tensor<6x8xf32>
// CHECK-NEXT: } {stc.name = "y"}
// CHECK-NEXT: func.return %y : tensor<6x8xf32>

// -----

// Two tiled reductions: the last step is the last of both.
// SHOW: ^((?!arith.constant).)*$
func.func @two_reductions(%x: tensor<4x2x6xf32>) -> tensor<4xf32> {
  %z_e = tensor.empty() : tensor<4xf32>
  %z_c = arith.constant 0xff800000 : f32
  %z_f = linalg.fill ins(%z_c : f32) outs(%z_e : tensor<4xf32>) -> tensor<4xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x : tensor<4x2x6xf32>) outs(%z_f : tensor<4xf32>) attrs = {stc.name = "z", stc.schedule = #dataflow.schedule<tile = [2, 1, 3], order = [1, 0, 2], unroll = [1, 1, 1], vector = []>} {
  ^bb0(%a0: f32, %o0: f32):
    %t0 = arith.maximumf %a0, %o0 : f32
    linalg.yield %t0 : f32
  } -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-LABEL: func.func @two_reductions(
// CHECK: %0 = tensor.empty() : tensor<4xf32>
// CHECK: %z = scf.for %once = %c0 to %c1 step %c1 iter_args(%1 = %0) -> (tensor<4xf32>) {
// CHECK-NEXT: %2 = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: %3 = linalg.fill {stc.name = "z"} ins(%z_c : f32) outs(%2 : tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %4, %5 = scf.for %plane = %c0 to %c2 step %c1 iter_args(%6 = %3, %7 = %1) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT: %8, %9 = scf.for %first_row = %c0 to %c4 step %c2 iter_args(%10 = %6, %11 = %7) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT: %12, %13 = scf.for %first_column = %c0 to %c6 step %c3 iter_args(%14 = %10, %15 = %11) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT: %16 = tensor.extract_slice %x[%first_row, %plane, %first_column] [2, 1, 3] [1, 1, 1] : tensor<4x2x6xf32> to tensor<2x1x3xf32>
// CHECK-NEXT: %17 = tensor.extract_slice %14[%first_row] [2] [1] : tensor<4xf32> to tensor<2xf32>
// CHECK-NEXT: %18 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction", "reduction"]} ins(%16 : tensor<2x1x3xf32>) outs(%17 : tensor<2xf32>) attrs ={{ +}}{stc.name = "z", stc.schedule = #dataflow.schedule<tile = [2, 1, 3], order = [1, 0, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "z"} {
// CHECK-NEXT: ^bb0(%a0: f32, %o0: f32):
// CHECK-NEXT: %t0 = arith.maximumf %a0, %o0 : f32
// CHECK-NEXT: linalg.yield %t0 : f32
// CHECK-NEXT: } -> tensor<2xf32>
// CHECK-NEXT: %19 = tensor.insert_slice %18 into %14[%first_row] [2] [1] : tensor<2xf32> into tensor<4xf32>
// CHECK-NEXT: %20 = arith.cmpi eq, %plane, %c1 : index
// CHECK-NEXT: %21 = arith.cmpi eq, %first_column, %c3 : index
// CHECK-NEXT: %22 = arith.andi %20, %21 : i1
// CHECK-NEXT: %23 = scf.if %22 -> (tensor<4xf32>) {
// CHECK-NEXT: %24 = tensor.insert_slice %18 into %15[%first_row] [2] [1] : tensor<2xf32> into tensor<4xf32>
// CHECK-NEXT: scf.yield %24 : tensor<4xf32>
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %15 : tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %19, %23 : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %12, %13 : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %8, %9 : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %5 : tensor<4xf32>
// CHECK-NEXT: } {stc.name = "z"}
// CHECK-NEXT: func.return %z : tensor<4xf32>
