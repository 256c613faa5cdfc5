// RUN: stc-opt %s -p 'linalg-to-dataflow' --split-input-file | filecheck %s

// Loops around a slice enumerate its port: x is reused along j, and nothing reuses the result. Constants move in.
func.func @matmul(%x: tensor<8x12xf32>, %w: tensor<12x16xf32>) -> tensor<8x16xf32> {
  %fc_c = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<8x16xf32>
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c12 = arith.constant 12 : index
  %fc = scf.for %i = %c0 to %c8 step %c4 iter_args(%1 = %0) -> (tensor<8x16xf32>) {
    %2 = scf.for %j = %c0 to %c16 step %c8 iter_args(%3 = %1) -> (tensor<8x16xf32>) {
      %4 = tensor.empty() : tensor<4x8xf32>
      %5 = linalg.fill {stc.name = "fc"} ins(%fc_c : f32) outs(%4 : tensor<4x8xf32>) -> tensor<4x8xf32>
      %6 = scf.for %k = %c0 to %c12 step %c4 iter_args(%7 = %5) -> (tensor<4x8xf32>) {
        %8 = tensor.extract_slice %x[%i, %k] [4, 4] [1, 1] : tensor<8x12xf32> to tensor<4x4xf32>
        %9 = tensor.extract_slice %w[%k, %j] [4, 8] [1, 1] : tensor<12x16xf32> to tensor<4x8xf32>
        %10 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%8, %9 : tensor<4x4xf32>, tensor<4x8xf32>) outs(%7 : tensor<4x8xf32>) attrs = {stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "fc"} {
        ^bb0(%a0: f32, %a1: f32, %o0: f32):
          %t0 = arith.mulf %a0, %a1 : f32
          %t1 = arith.addf %t0, %o0 : f32
          linalg.yield %t1 : f32
        } -> tensor<4x8xf32>
        scf.yield %10 : tensor<4x8xf32>
      }
      %11 = tensor.insert_slice %6 into %3[%i, %j] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x16xf32>
      scf.yield %11 : tensor<8x16xf32>
    }
    scf.yield %2 : tensor<8x16xf32>
  } {stc.name = "fc"}
  func.return %fc : tensor<8x16xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: !itensor = !itensor.itensor<4x4xf32, iter_space: [2, 2, 3] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d0, d2)>
// CHECK: !itensor1 = !itensor.itensor<4x8xf32, iter_space: [2, 2, 3] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d2, d1)>
// CHECK: !itensor2 = !itensor.itensor<4x8xf32, iter_space: [2, 2] * [4, 8], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @matmul(
// CHECK-NEXT: %fc = dataflow.kernel @fc(%x_1 = %x : tensor<8x12xf32> as !itensor, %w_1 = %w : tensor<12x16xf32> as !itensor1) -> (tensor<8x16xf32> as !itensor2) attributes {stc.name = "fc"} {
// CHECK-NEXT: %0 = itensor.empty : !itensor2
// CHECK-NEXT: %1 = dataflow.task @fc ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1) outs(%out = %0 : !itensor2) -> !itensor2 attributes {stc.name = "fc"} {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %fc_c = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %c12 = arith.constant 12 : index
// CHECK-NEXT: %fc_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor2) {
// CHECK-NEXT: %3 = scf.for %j = %c0 to %c16 step %c8 iter_args(%4 = %2) -> (!itensor2) {
// CHECK-NEXT: %5 = tensor.empty() : tensor<4x8xf32>
// CHECK-NEXT: %6 = linalg.fill {stc.name = "fc"} ins(%fc_c : f32) outs(%5 : tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %7 = scf.for %k = %c0 to %c12 step %c4 iter_args(%8 = %6) -> (tensor<4x8xf32>) {
// CHECK-NEXT: %9 = itensor.read %x_2[%i, %j, %k] : !itensor -> tensor<4x4xf32>
// CHECK-NEXT: %10 = itensor.read %w_2[%i, %j, %k] : !itensor1 -> tensor<4x8xf32>
// CHECK-NEXT: %11 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9, %10 : tensor<4x4xf32>, tensor<4x8xf32>) outs(%8 : tensor<4x8xf32>) attrs ={{ +}}{stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "fc"} {
// CHECK-NEXT: ^bb0(%a0: f32, %a1: f32, %o0: f32):
// CHECK-NEXT: %t0 = arith.mulf %a0, %a1 : f32
// CHECK-NEXT: %t1 = arith.addf %t0, %o0 : f32
// CHECK-NEXT: linalg.yield %t1 : f32
// CHECK-NEXT: } -> tensor<4x8xf32>
// CHECK-NEXT: scf.yield %11 : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %12 = itensor.write %7 into %4[%i, %j] : tensor<4x8xf32> -> !itensor2
// CHECK-NEXT: scf.yield %12 : !itensor2
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %3 : !itensor2
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield %fc_1 : !itensor2
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield %1 : !itensor2
// CHECK-NEXT: }
// CHECK-NEXT: func.return %fc : tensor<8x16xf32>

// -----

// Reduction outermost: the result is written in the last step of k alone, so k is not in its type.
// SHOW: itensor|dataflow|scf.if|scf.for
func.func @reduction_outermost(%x: tensor<8x12xf32>, %w: tensor<12x16xf32>) -> tensor<8x16xf32> {
  %fc_c = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<8x16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %fc = scf.for %once = %c0 to %c1 step %c1 iter_args(%1 = %0) -> (tensor<8x16xf32>) {
    %2 = tensor.empty() : tensor<8x16xf32>
    %3 = linalg.fill {stc.name = "fc"} ins(%fc_c : f32) outs(%2 : tensor<8x16xf32>) -> tensor<8x16xf32>
    %4, %5 = scf.for %k = %c0 to %c12 step %c4 iter_args(%6 = %3, %7 = %1) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
      %8, %9 = scf.for %i = %c0 to %c8 step %c4 iter_args(%10 = %6, %11 = %7) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
        %12 = tensor.extract_slice %x[%i, %k] [4, 4] [1, 1] : tensor<8x12xf32> to tensor<4x4xf32>
        %13, %14 = scf.for %j = %c0 to %c16 step %c8 iter_args(%15 = %10, %16 = %11) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
          %17 = tensor.extract_slice %w[%k, %j] [4, 8] [1, 1] : tensor<12x16xf32> to tensor<4x8xf32>
          %18 = tensor.extract_slice %15[%i, %j] [4, 8] [1, 1] : tensor<8x16xf32> to tensor<4x8xf32>
          %19 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%12, %17 : tensor<4x4xf32>, tensor<4x8xf32>) outs(%18 : tensor<4x8xf32>) attrs = {stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [2, 0, 1], unroll = [1, 1, 1], vector = []>, stc.tile = "fc"} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):
            %t0 = arith.mulf %a0, %a1 : f32
            %t1 = arith.addf %t0, %o0 : f32
            linalg.yield %t1 : f32
          } -> tensor<4x8xf32>
          %20 = tensor.insert_slice %19 into %15[%i, %j] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x16xf32>
          %21 = arith.cmpi eq, %k, %c8 : index
          %22 = scf.if %21 -> (tensor<8x16xf32>) {
            %23 = tensor.insert_slice %19 into %16[%i, %j] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x16xf32>
            scf.yield %23 : tensor<8x16xf32>
          } else {
            scf.yield %16 : tensor<8x16xf32>
          }
          scf.yield %20, %22 : tensor<8x16xf32>, tensor<8x16xf32>
        }
        scf.yield %13, %14 : tensor<8x16xf32>, tensor<8x16xf32>
      }
      scf.yield %8, %9 : tensor<8x16xf32>, tensor<8x16xf32>
    }
    scf.yield %5 : tensor<8x16xf32>
  } {stc.name = "fc"}
  func.return %fc : tensor<8x16xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: !itensor = !itensor.itensor<4x4xf32, iter_space: [3, 2] * [4, 4], iter_map: (d0, d1) -> (d1, d0)>
// CHECK: !itensor1 = !itensor.itensor<4x8xf32, iter_space: [3, 2, 2] * [4, 4, 8], iter_map: (d0, d1, d2) -> (d0, d2)>
// CHECK: !itensor2 = !itensor.itensor<4x8xf32, iter_space: [2, 2] * [4, 8], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @reduction_outermost(
// CHECK-NEXT: %fc = dataflow.kernel @fc(%x_1 = %x : tensor<8x12xf32> as !itensor, %w_1 = %w : tensor<12x16xf32> as !itensor1) -> (tensor<8x16xf32> as !itensor2) attributes {stc.name = "fc"} {
// CHECK-NEXT: %0 = itensor.empty : !itensor2
// CHECK-NEXT: %1 = dataflow.task @fc ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1) outs(%out = %0 : !itensor2) -> !itensor2 attributes {stc.name = "fc"} {
// CHECK: %4, %fc_1 = scf.for %k = %c0 to %c12 step %c4 iter_args(%5 = %3, %6 = %out) -> (tensor<8x16xf32>, !itensor2) {
// CHECK-NEXT: %7, %8 = scf.for %i = %c0 to %c8 step %c4 iter_args(%9 = %5, %10 = %6) -> (tensor<8x16xf32>, !itensor2) {
// CHECK-NEXT: %11 = itensor.read %x_2[%k, %i] : !itensor -> tensor<4x4xf32>
// CHECK-NEXT: %12, %13 = scf.for %j = %c0 to %c16 step %c8 iter_args(%14 = %9, %15 = %10) -> (tensor<8x16xf32>, !itensor2) {
// CHECK-NEXT: %16 = itensor.read %w_2[%k, %i, %j] : !itensor1 -> tensor<4x8xf32>
// CHECK: %18 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%11, %16 : tensor<4x4xf32>, tensor<4x8xf32>) outs(%17 : tensor<4x8xf32>) attrs ={{ +}}{stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [2, 0, 1], unroll = [1, 1, 1], vector = []>, stc.tile = "fc"} {
// CHECK: %21 = scf.if %20 -> (!itensor2) {
// CHECK-NEXT: %22 = itensor.write %18 into %15[%i, %j] : tensor<4x8xf32> -> !itensor2
// CHECK-NEXT: scf.yield %22 : !itensor2
// CHECK: scf.yield %15 : !itensor2
// CHECK: scf.yield %19, %21 : tensor<8x16xf32>, !itensor2
// CHECK: scf.yield %12, %13 : tensor<8x16xf32>, !itensor2
// CHECK: scf.yield %7, %8 : tensor<8x16xf32>, !itensor2
// CHECK: dataflow.yield %fc_1 : !itensor2
// CHECK: dataflow.yield %1 : !itensor2

// -----

// The whole op as one tile: no loops, and the loop that runs once dissolves.
// SHOW: itensor|dataflow|scf.if|scf.for
func.func @whole_op(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tensor.empty() : tensor<2x3xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %once = %c0 to %c1 step %c1 iter_args(%1 = %0) -> (tensor<2x3xf32>) {
    %2 = tensor.extract_slice %x[0, 0] [2, 3] [1, 1] : tensor<2x3xf32> to tensor<2x3xf32>
    %3 = tensor.empty() : tensor<2x3xf32>
    %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<2x3xf32>) outs(%3 : tensor<2x3xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "y"} {
    ^bb0(%a0: f32, %o0: f32):
      %t0 = arith.negf %a0 : f32
      linalg.yield %t0 : f32
    } -> tensor<2x3xf32>
    %5 = tensor.insert_slice %4 into %1[0, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<2x3xf32>
    scf.yield %5 : tensor<2x3xf32>
  } {stc.name = "y"}
  func.return %y : tensor<2x3xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: !itensor = !itensor.itensor<2x3xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK-LABEL: func.func @whole_op(
// CHECK-NEXT: %y = dataflow.kernel @y(%x_1 = %x : tensor<2x3xf32> as !itensor) -> (tensor<2x3xf32> as !itensor) attributes {stc.name = "y"} {
// CHECK-NEXT: %0 = itensor.empty : !itensor
// CHECK-NEXT: %1 = dataflow.task @y ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "y"} {
// CHECK: %2 = itensor.read %x_2[] : !itensor -> tensor<2x3xf32>
// CHECK: %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<2x3xf32>) outs(%3 : tensor<2x3xf32>) attrs ={{ +}}{stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "y"} {
// CHECK: %y_1 = itensor.write %4 into %out[] : tensor<2x3xf32> -> !itensor
// CHECK-NEXT: dataflow.yield %y_1 : !itensor
// CHECK: dataflow.yield %1 : !itensor

// -----

// A covered input keeps no loop: it is read once, in front of the loop over i.
// SHOW: itensor|dataflow|scf.if|scf.for
func.func @read_once(%x: tensor<8x12xf32>, %w: tensor<12x16xf32>) -> tensor<8x16xf32> {
  %fc_c = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<8x16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c4 = arith.constant 4 : index
  %fc = scf.for %once = %c0 to %c1 step %c1 iter_args(%1 = %0) -> (tensor<8x16xf32>) {
    %2 = tensor.extract_slice %w[0, 0] [12, 16] [1, 1] : tensor<12x16xf32> to tensor<12x16xf32>
    %3 = scf.for %i = %c0 to %c8 step %c4 iter_args(%4 = %1) -> (tensor<8x16xf32>) {
      %5 = tensor.extract_slice %x[%i, 0] [4, 12] [1, 1] : tensor<8x12xf32> to tensor<4x12xf32>
      %6 = tensor.empty() : tensor<4x16xf32>
      %7 = linalg.fill {stc.name = "fc"} ins(%fc_c : f32) outs(%6 : tensor<4x16xf32>) -> tensor<4x16xf32>
      %8 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%5, %2 : tensor<4x12xf32>, tensor<12x16xf32>) outs(%7 : tensor<4x16xf32>) attrs = {stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 16, 12], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "fc"} {
      ^bb0(%a0: f32, %a1: f32, %o0: f32):
        %t0 = arith.mulf %a0, %a1 : f32
        %t1 = arith.addf %t0, %o0 : f32
        linalg.yield %t1 : f32
      } -> tensor<4x16xf32>
      %9 = tensor.insert_slice %8 into %4[%i, 0] [4, 16] [1, 1] : tensor<4x16xf32> into tensor<8x16xf32>
      scf.yield %9 : tensor<8x16xf32>
    }
    scf.yield %3 : tensor<8x16xf32>
  } {stc.name = "fc"}
  func.return %fc : tensor<8x16xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: !itensor = !itensor.itensor<12x16xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK: !itensor1 = !itensor.itensor<4x12xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor2 = !itensor.itensor<4x16xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0, 0)>
// CHECK-LABEL: func.func @read_once(
// CHECK-NEXT: %fc = dataflow.kernel @fc(%w_1 = %w : tensor<12x16xf32> as !itensor, %x_1 = %x : tensor<8x12xf32> as !itensor1) -> (tensor<8x16xf32> as !itensor2) attributes {stc.name = "fc"} {
// CHECK-NEXT: %0 = itensor.empty : !itensor2
// CHECK-NEXT: %1 = dataflow.task @fc ins(%w_2 = %w_1 : !itensor, %x_2 = %x_1 : !itensor1) outs(%out = %0 : !itensor2) -> !itensor2 attributes {stc.name = "fc"} {
// CHECK: %2 = itensor.read %w_2[] : !itensor -> tensor<12x16xf32>
// CHECK-NEXT: %fc_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%3 = %out) -> (!itensor2) {
// CHECK-NEXT: %4 = itensor.read %x_2[%i] : !itensor1 -> tensor<4x12xf32>
// CHECK: %7 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%4, %2 : tensor<4x12xf32>, tensor<12x16xf32>) outs(%6 : tensor<4x16xf32>) attrs ={{ +}}{stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 16, 12], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "fc"} {
// CHECK: %8 = itensor.write %7 into %3[%i] : tensor<4x16xf32> -> !itensor2
// CHECK-NEXT: scf.yield %8 : !itensor2
// CHECK: dataflow.yield %fc_1 : !itensor2
// CHECK: dataflow.yield %1 : !itensor2

// -----

// Full reduction: the result's type has rank 0 and no loops.
// SHOW: itensor|dataflow|scf.if|scf.for
func.func @rank_zero(%x: tensor<6x10xf32>) -> tensor<f32> {
  %s_c = arith.constant 1.500000e+00 : f32
  %0 = tensor.empty() : tensor<f32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c2 = arith.constant 2 : index
  %s = scf.for %once = %c0 to %c1 step %c1 iter_args(%1 = %0) -> (tensor<f32>) {
    %2 = tensor.empty() : tensor<f32>
    %3 = linalg.fill {stc.name = "s"} ins(%s_c : f32) outs(%2 : tensor<f32>) -> tensor<f32>
    %4 = scf.for %j = %c0 to %c10 step %c5 iter_args(%5 = %3) -> (tensor<f32>) {
      %6 = scf.for %i = %c0 to %c6 step %c2 iter_args(%7 = %5) -> (tensor<f32>) {
        %8 = tensor.extract_slice %x[%i, %j] [2, 5] [1, 1] : tensor<6x10xf32> to tensor<2x5xf32>
        %9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%8 : tensor<2x5xf32>) outs(%7 : tensor<f32>) attrs = {stc.name = "s", stc.schedule = #dataflow.schedule<tile = [2, 5], order = [1, 0], unroll = [1, 1], vector = []>, stc.tile = "s"} {
        ^bb0(%a0: f32, %o0: f32):
          %t0 = arith.addf %a0, %o0 : f32
          linalg.yield %t0 : f32
        } -> tensor<f32>
        scf.yield %9 : tensor<f32>
      }
      scf.yield %6 : tensor<f32>
    }
    %10 = tensor.insert_slice %4 into %1[] [] [] : tensor<f32> into tensor<f32>
    scf.yield %10 : tensor<f32>
  } {stc.name = "s"}
  func.return %s : tensor<f32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> ()>
// CHECK: !itensor = !itensor.itensor<2x5xf32, iter_space: [2, 3] * [5, 2], iter_map: (d0, d1) -> (d1, d0)>
// CHECK: !itensor1 = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
// CHECK-LABEL: func.func @rank_zero(
// CHECK-NEXT: %s = dataflow.kernel @s(%x_1 = %x : tensor<6x10xf32> as !itensor) -> (tensor<f32> as !itensor1) attributes {stc.name = "s"} {
// CHECK-NEXT: %0 = itensor.empty : !itensor1
// CHECK-NEXT: %1 = dataflow.task @s ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor1) -> !itensor1 attributes {stc.name = "s"} {
// CHECK: %4 = scf.for %j = %c0 to %c10 step %c5 iter_args(%5 = %3) -> (tensor<f32>) {
// CHECK-NEXT: %6 = scf.for %i = %c0 to %c6 step %c2 iter_args(%7 = %5) -> (tensor<f32>) {
// CHECK-NEXT: %8 = itensor.read %x_2[%j, %i] : !itensor -> tensor<2x5xf32>
// CHECK-NEXT: %9 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction", "reduction"]} ins(%8 : tensor<2x5xf32>) outs(%7 : tensor<f32>) attrs ={{ +}}{stc.name = "s", stc.schedule = #dataflow.schedule<tile = [2, 5], order = [1, 0], unroll = [1, 1], vector = []>, stc.tile = "s"} {
// CHECK: %s_1 = itensor.write %4 into %out[] : tensor<f32> -> !itensor1
// CHECK-NEXT: dataflow.yield %s_1 : !itensor1
// CHECK: dataflow.yield %1 : !itensor1

// -----

// Broadcast along the inner loop: one token for each i; along the outer loop: reused.
// SHOW: itensor|dataflow|scf.if|scf.for
func.func @broadcasts(%x: tensor<4xf32>, %b: tensor<6xf32>) -> tensor<4x6xf32> {
  %0 = tensor.empty() : tensor<4x6xf32>
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %c3 = arith.constant 3 : index
  %y = scf.for %i = %c0 to %c4 step %c2 iter_args(%1 = %0) -> (tensor<4x6xf32>) {
    %2 = tensor.extract_slice %x[%i] [2] [1] : tensor<4xf32> to tensor<2xf32>
    %3 = scf.for %j = %c0 to %c6 step %c3 iter_args(%4 = %1) -> (tensor<4x6xf32>) {
      %5 = tensor.extract_slice %b[%j] [3] [1] : tensor<6xf32> to tensor<3xf32>
      %6 = tensor.empty() : tensor<2x3xf32>
      %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%2, %5 : tensor<2xf32>, tensor<3xf32>) outs(%6 : tensor<2x3xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "y"} {
      ^bb0(%a0: f32, %a1: f32, %o0: f32):
        %t0 = arith.subf %a0, %a1 : f32
        linalg.yield %t0 : f32
      } -> tensor<2x3xf32>
      %8 = tensor.insert_slice %7 into %4[%i, %j] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x6xf32>
      scf.yield %8 : tensor<4x6xf32>
    }
    scf.yield %3 : tensor<4x6xf32>
  } {stc.name = "y"}
  func.return %y : tensor<4x6xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d1)>
// CHECK: #map2 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: !itensor = !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d1)>
// CHECK: !itensor2 = !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @broadcasts(
// CHECK-NEXT: %y = dataflow.kernel @y(%x_1 = %x : tensor<4xf32> as !itensor, %b_1 = %b : tensor<6xf32> as !itensor1) -> (tensor<4x6xf32> as !itensor2) attributes {stc.name = "y"} {
// CHECK-NEXT: %0 = itensor.empty : !itensor2
// CHECK-NEXT: %1 = dataflow.task @y ins(%x_2 = %x_1 : !itensor, %b_2 = %b_1 : !itensor1) outs(%out = %0 : !itensor2) -> !itensor2 attributes {stc.name = "y"} {
// CHECK: %y_1 = scf.for %i = %c0 to %c4 step %c2 iter_args(%2 = %out) -> (!itensor2) {
// CHECK-NEXT: %3 = itensor.read %x_2[%i] : !itensor -> tensor<2xf32>
// CHECK-NEXT: %4 = scf.for %j = %c0 to %c6 step %c3 iter_args(%5 = %2) -> (!itensor2) {
// CHECK-NEXT: %6 = itensor.read %b_2[%i, %j] : !itensor1 -> tensor<3xf32>
// CHECK: %8 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel"]} ins(%3, %6 : tensor<2xf32>, tensor<3xf32>) outs(%7 : tensor<2x3xf32>) attrs ={{ +}}{stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "y"} {
// CHECK: %9 = itensor.write %8 into %5[%i, %j] : tensor<2x3xf32> -> !itensor2
// CHECK-NEXT: scf.yield %9 : !itensor2
// CHECK: scf.yield %4 : !itensor2
// CHECK: dataflow.yield %y_1 : !itensor2
// CHECK: dataflow.yield %1 : !itensor2

// -----

// One tensor read through two maps gets two ports.
// SHOW: itensor|dataflow|scf.if|scf.for
func.func @two_maps(%x: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %0 = tensor.empty() : tensor<6x6xf32>
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %y = scf.for %i = %c0 to %c6 step %c2 iter_args(%1 = %0) -> (tensor<6x6xf32>) {
    %2 = scf.for %j = %c0 to %c6 step %c3 iter_args(%3 = %1) -> (tensor<6x6xf32>) {
      %4 = tensor.extract_slice %x[%i, %j] [2, 3] [1, 1] : tensor<6x6xf32> to tensor<2x3xf32>
      %5 = tensor.extract_slice %x[%j, %i] [3, 2] [1, 1] : tensor<6x6xf32> to tensor<3x2xf32>
      %6 = tensor.empty() : tensor<2x3xf32>
      %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%4, %5 : tensor<2x3xf32>, tensor<3x2xf32>) outs(%6 : tensor<2x3xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "y"} {
      ^bb0(%a0: f32, %a1: f32, %o0: f32):
        %t0 = arith.subf %a0, %a1 : f32
        linalg.yield %t0 : f32
      } -> tensor<2x3xf32>
      %8 = tensor.insert_slice %7 into %3[%i, %j] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<6x6xf32>
      scf.yield %8 : tensor<6x6xf32>
    }
    scf.yield %2 : tensor<6x6xf32>
  } {stc.name = "y"}
  func.return %y : tensor<6x6xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d1, d0)>
// CHECK: !itensor = !itensor.itensor<2x3xf32, iter_space: [3, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<3x2xf32, iter_space: [3, 2] * [2, 3], iter_map: (d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @two_maps(
// CHECK-NEXT: %y = dataflow.kernel @y(%x_1 = %x : tensor<6x6xf32> as !itensor, %x_2 = %x : tensor<6x6xf32> as !itensor1) -> (tensor<6x6xf32> as !itensor) attributes {stc.name = "y"} {
// CHECK-NEXT: %0 = itensor.empty : !itensor
// CHECK-NEXT: %1 = dataflow.task @y ins(%x_3 = %x_1 : !itensor, %x_4 = %x_2 : !itensor1) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "y"} {
// CHECK: %y_1 = scf.for %i = %c0 to %c6 step %c2 iter_args(%2 = %out) -> (!itensor) {
// CHECK-NEXT: %3 = scf.for %j = %c0 to %c6 step %c3 iter_args(%4 = %2) -> (!itensor) {
// CHECK-NEXT: %5 = itensor.read %x_3[%i, %j] : !itensor -> tensor<2x3xf32>
// CHECK-NEXT: %6 = itensor.read %x_4[%i, %j] : !itensor1 -> tensor<3x2xf32>
// CHECK: %8 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%5, %6 : tensor<2x3xf32>, tensor<3x2xf32>) outs(%7 : tensor<2x3xf32>) attrs ={{ +}}{stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "y"} {
// CHECK: %9 = itensor.write %8 into %4[%i, %j] : tensor<2x3xf32> -> !itensor
// CHECK-NEXT: scf.yield %9 : !itensor
// CHECK: scf.yield %3 : !itensor
// CHECK: dataflow.yield %y_1 : !itensor
// CHECK: dataflow.yield %1 : !itensor

// -----

// Two results, one of them transposed.
// SHOW: itensor|dataflow|scf.if|scf.for
func.func @two_results(%x: tensor<6x8xf32>) -> (tensor<6x8xf32>, tensor<8x6xf32>) {
  %0 = tensor.empty() : tensor<6x8xf32>
  %1 = tensor.empty() : tensor<8x6xf32>
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c4 = arith.constant 4 : index
  %r, %r_1 = scf.for %i = %c0 to %c6 step %c2 iter_args(%2 = %0, %3 = %1) -> (tensor<6x8xf32>, tensor<8x6xf32>) {
    %4, %5 = scf.for %j = %c0 to %c8 step %c4 iter_args(%6 = %2, %7 = %3) -> (tensor<6x8xf32>, tensor<8x6xf32>) {
      %8 = tensor.extract_slice %x[%i, %j] [2, 4] [1, 1] : tensor<6x8xf32> to tensor<2x4xf32>
      %9 = tensor.empty() : tensor<2x4xf32>
      %10 = tensor.empty() : tensor<4x2xf32>
      %11, %12 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<2x4xf32>) outs(%9, %10 : tensor<2x4xf32>, tensor<4x2xf32>) attrs = {stc.name = "both", stc.schedule = #dataflow.schedule<tile = [2, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "both"} {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %s = arith.negf %a : f32
        %t = arith.addf %a, %a : f32
        linalg.yield %s, %t : f32, f32
      } -> (tensor<2x4xf32>, tensor<4x2xf32>)
      %13 = tensor.insert_slice %11 into %6[%i, %j] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<6x8xf32>
      %14 = tensor.insert_slice %12 into %7[%j, %i] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<8x6xf32>
      scf.yield %13, %14 : tensor<6x8xf32>, tensor<8x6xf32>
    }
    scf.yield %4, %5 : tensor<6x8xf32>, tensor<8x6xf32>
  } {stc.name = "both"}
  func.return %r, %r_1 : tensor<6x8xf32>, tensor<8x6xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d1, d0)>
// CHECK: !itensor = !itensor.itensor<2x4xf32, iter_space: [3, 2] * [2, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<4x2xf32, iter_space: [3, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @two_results(
// CHECK-NEXT: %r, %r_1 = dataflow.kernel @both(%x_1 = %x : tensor<6x8xf32> as !itensor) -> (tensor<6x8xf32> as !itensor, tensor<8x6xf32> as !itensor1) attributes {stc.name = "both"} {
// CHECK-NEXT: %0 = itensor.empty : !itensor
// CHECK-NEXT: %1 = itensor.empty : !itensor1
// CHECK-NEXT: %2, %3 = dataflow.task @both ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor, %out_1 = %1 : !itensor1) -> (!itensor, !itensor1) attributes {stc.name = "both"} {
// CHECK: %r_2, %r_3 = scf.for %i = %c0 to %c6 step %c2 iter_args(%4 = %out, %5 = %out_1) -> (!itensor, !itensor1) {
// CHECK-NEXT: %6, %7 = scf.for %j = %c0 to %c8 step %c4 iter_args(%8 = %4, %9 = %5) -> (!itensor, !itensor1) {
// CHECK-NEXT: %10 = itensor.read %x_2[%i, %j] : !itensor -> tensor<2x4xf32>
// CHECK: %13, %14 = linalg.generic {indexing_maps = [#map, #map, #map1], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<2x4xf32>) outs(%11, %12 : tensor<2x4xf32>, tensor<4x2xf32>) attrs ={{ +}}{stc.name = "both", stc.schedule = #dataflow.schedule<tile = [2, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "both"} {
// CHECK: %15 = itensor.write %13 into %8[%i, %j] : tensor<2x4xf32> -> !itensor
// CHECK-NEXT: %16 = itensor.write %14 into %9[%i, %j] : tensor<4x2xf32> -> !itensor1
// CHECK-NEXT: scf.yield %15, %16 : !itensor, !itensor1
// CHECK: scf.yield %6, %7 : !itensor, !itensor1
// CHECK: dataflow.yield %r_2, %r_3 : !itensor, !itensor1
// CHECK: dataflow.yield %2, %3 : !itensor, !itensor1

// -----

// A name that is no identifier becomes one; no name at all is `task`; what depends on parameters alone stays on the host.
// SHOW: itensor|dataflow|scf.if|scf.for
func.func @names_and_parameters(%x: tensor<4xf32>, %w: tensor<4xf32> {stc.parameter}, %b: tensor<4xf32> {stc.parameter}) -> tensor<4xf32> {
  %0 = tensor.empty() : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h0 = scf.for %once = %c0 to %c1 step %c1 iter_args(%1 = %0) -> (tensor<4xf32>) {
    %2 = tensor.extract_slice %x[0] [4] [1] : tensor<4xf32> to tensor<4xf32>
    %3 = tensor.extract_slice %x[0] [4] [1] : tensor<4xf32> to tensor<4xf32>
    %4 = tensor.empty() : tensor<4xf32>
    %5 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%2, %3 : tensor<4xf32>, tensor<4xf32>) outs(%4 : tensor<4xf32>) attrs = {stc.name = "h.0", stc.schedule = #dataflow.schedule<tile = [4], order = [0], unroll = [4], vector = []>, stc.tile = "h.0"} {
    ^bb0(%a0: f32, %a1: f32, %o0: f32):
      %t0 = arith.subf %a0, %a1 : f32
      linalg.yield %t0 : f32
    } -> tensor<4xf32>
    %6 = tensor.insert_slice %5 into %1[0] [4] [1] : tensor<4xf32> into tensor<4xf32>
    scf.yield %6 : tensor<4xf32>
  } {stc.name = "h.0"}
  %p_e = tensor.empty() : tensor<4xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%w, %b : tensor<4xf32>, tensor<4xf32>) outs(%p_e : tensor<4xf32>) attrs = {stc.name = "p"} {
  ^bb0(%a0_1: f32, %a1_1: f32, %o0_1: f32):
    %t0_1 = arith.subf %a0_1, %a1_1 : f32
    linalg.yield %t0_1 : f32
  } -> tensor<4xf32>
  %7 = tensor.empty() : tensor<4xf32>
  %c0_1 = arith.constant 0 : index
  %c1_1 = arith.constant 1 : index
  %y = scf.for %once_1 = %c0_1 to %c1_1 step %c1_1 iter_args(%8 = %7) -> (tensor<4xf32>) {
    %9 = tensor.extract_slice %h0[0] [4] [1] : tensor<4xf32> to tensor<4xf32>
    %10 = tensor.extract_slice %p[0] [4] [1] : tensor<4xf32> to tensor<4xf32>
    %11 = tensor.empty() : tensor<4xf32>
    %12 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%9, %10 : tensor<4xf32>, tensor<4xf32>) outs(%11 : tensor<4xf32>) attrs = {stc.schedule = #dataflow.schedule<tile = [4], order = [0], unroll = [4], vector = []>, stc.tile = "linalg.generic"} {
    ^bb0(%a0_2: f32, %a1_2: f32, %o0_2: f32):
      %t0_2 = arith.subf %a0_2, %a1_2 : f32
      linalg.yield %t0_2 : f32
    } -> tensor<4xf32>
    %13 = tensor.insert_slice %12 into %8[0] [4] [1] : tensor<4xf32> into tensor<4xf32>
    scf.yield %13 : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
// CHECK-LABEL: func.func @names_and_parameters(
// CHECK-NEXT: %h0 = dataflow.kernel @h_0(%x_1 = %x : tensor<4xf32> as !itensor, %x_2 = %x : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) attributes {stc.name = "h.0"} {
// CHECK-NEXT: %0 = itensor.empty : !itensor
// CHECK-NEXT: %1 = dataflow.task @h_0 ins(%x_3 = %x_1 : !itensor, %x_4 = %x_2 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "h.0"} {
// CHECK: %2 = itensor.read %x_3[] : !itensor -> tensor<4xf32>
// CHECK-NEXT: %3 = itensor.read %x_4[] : !itensor -> tensor<4xf32>
// CHECK: %h0_1 = itensor.write %5 into %out[] : tensor<4xf32> -> !itensor
// CHECK-NEXT: dataflow.yield %h0_1 : !itensor
// CHECK: dataflow.yield %1 : !itensor
// CHECK: %y = dataflow.kernel @task(%h0_1 = %h0 : tensor<4xf32> as !itensor, %p_1 = %p : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) {
// CHECK-NEXT: %0 = itensor.empty : !itensor
// CHECK-NEXT: %1 = dataflow.task @task ins(%h0_2 = %h0_1 : !itensor, %p_2 = %p_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor {
// CHECK: %2 = itensor.read %h0_2[] : !itensor -> tensor<4xf32>
// CHECK-NEXT: %3 = itensor.read %p_2[] : !itensor -> tensor<4xf32>
// CHECK: %y_1 = itensor.write %5 into %out[] : tensor<4xf32> -> !itensor
// CHECK-NEXT: dataflow.yield %y_1 : !itensor
// CHECK: dataflow.yield %1 : !itensor
