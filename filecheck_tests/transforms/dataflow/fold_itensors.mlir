// RUN: stc-opt %s -p 'fold-itensors{limit=1000}' --split-input-file | filecheck %s

// A product and what is subtracted from it, tile by tile: one task, which reads the subtrahend where it writes.
// SHOW: kernel|converter|itensor.cast|dataflow.task|scf.for|itensor.read|itensor.write|linalg.generic
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
!itensor = !itensor.itensor<4x3xf32, iter_space: [2, 2, 2] * [4, 2, 3], iter_map: (d0, d1, d2) -> (d0, d2)>
!itensor1 = !itensor.itensor<3x2xf32, iter_space: [2, 2, 2] * [4, 2, 3], iter_map: (d0, d1, d2) -> (d2, d1)>
!itensor2 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @product(%x: tensor<8x6xf32>, %w: tensor<6x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %g = dataflow.kernel @main(%x_1 = %x : tensor<8x6xf32> as !itensor, %w_1 = %w : tensor<6x4xf32> as !itensor1, %v_1 = %v : tensor<8x4xf32> as !itensor2) -> (tensor<8x4xf32> as !itensor2) {
    %0 = itensor.empty : !itensor2
    %f = dataflow.task @f ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1) outs(%out = %0 : !itensor2) -> !itensor2 attributes {stc.name = "f"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %f_c = arith.constant 0.000000e+00 : f32
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %f_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%1 = %out) -> (!itensor2) {
        %2 = scf.for %j = %c0 to %c4 step %c2 iter_args(%3 = %1) -> (!itensor2) {
          %4 = tensor.empty() : tensor<4x2xf32>
          %5 = linalg.fill {stc.name = "f"} ins(%f_c : f32) outs(%4 : tensor<4x2xf32>) -> tensor<4x2xf32>
          %6 = scf.for %k = %c0 to %c6 step %c3 iter_args(%7 = %5) -> (tensor<4x2xf32>) {
            %8 = itensor.read %x_2[%i, %j, %k] : !itensor -> tensor<4x3xf32>
            %9 = itensor.read %w_2[%i, %j, %k] : !itensor1 -> tensor<3x2xf32>
            %10 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%8, %9 : tensor<4x3xf32>, tensor<3x2xf32>) outs(%7 : tensor<4x2xf32>) attrs =  {stc.name = "f", stc.schedule = #dataflow.schedule<tile = [4, 2, 3], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "f"} {
            ^bb0(%a0: f32, %a1: f32, %o0: f32):
              %t0 = arith.mulf %a0, %a1 : f32
              %t1 = arith.addf %t0, %o0 : f32
              linalg.yield %t1 : f32
            } -> tensor<4x2xf32>
            scf.yield %10 : tensor<4x2xf32>
          }
          %11 = itensor.write %6 into %3[%i, %j] : tensor<4x2xf32> -> !itensor2
          scf.yield %11 : !itensor2
        }
        scf.yield %2 : !itensor2
      }
      dataflow.yield %f_1 : !itensor2
    }
    %1 = itensor.empty : !itensor2
    %g_1 = dataflow.task @g ins(%f_1 = %f : !itensor2, %v_2 = %v_1 : !itensor2) outs(%out = %1 : !itensor2) -> !itensor2 attributes {stc.name = "g"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %g_2 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor2) {
        %3 = scf.for %j = %c0 to %c4 step %c2 iter_args(%4 = %2) -> (!itensor2) {
          %5 = itensor.read %f_1[%i, %j] : !itensor2 -> tensor<4x2xf32>
          %6 = itensor.read %v_2[%i, %j] : !itensor2 -> tensor<4x2xf32>
          %7 = tensor.empty() : tensor<4x2xf32>
          %8 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%5, %6 : tensor<4x2xf32>, tensor<4x2xf32>) outs(%7 : tensor<4x2xf32>) attrs =  {stc.name = "g", stc.schedule = #dataflow.schedule<tile = [4, 2], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "g"} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):
            %t0 = arith.subf %a0, %a1 : f32
            linalg.yield %t0 : f32
          } -> tensor<4x2xf32>
          %9 = itensor.write %8 into %4[%i, %j] : tensor<4x2xf32> -> !itensor2
          scf.yield %9 : !itensor2
        }
        scf.yield %3 : !itensor2
      }
      dataflow.yield %g_2 : !itensor2
    }
    dataflow.yield %g_1 : !itensor2
  }
  func.return %g : tensor<8x4xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map3 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: !itensor = !itensor.itensor<4x3xf32, iter_space: [2, 2, 2] * [4, 2, 3], iter_map: (d0, d1, d2) -> (d0, d2)>
// CHECK: !itensor1 = !itensor.itensor<3x2xf32, iter_space: [2, 2, 2] * [4, 2, 3], iter_map: (d0, d1, d2) -> (d2, d1)>
// CHECK: !itensor2 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @product(
// CHECK-NEXT: %g = dataflow.kernel @main(%x_1 = %x : tensor<8x6xf32> as !itensor, %w_1 = %w : tensor<6x4xf32> as !itensor1, %v_1 = %v : tensor<8x4xf32> as !itensor2) -> (tensor<8x4xf32> as !itensor2) {
// CHECK: %g_1 = dataflow.task @f_and_g ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1, %v_2 = %v_1 : !itensor2) outs(%out = %0 : !itensor2) -> !itensor2 attributes {stc.name = "f"} {
// CHECK: %f = scf.for %i = %c0 to %c8 step %c4 iter_args(%1 = %out) -> (!itensor2) {
// CHECK-NEXT: %2 = scf.for %j = %c0 to %c4 step %c2 iter_args(%3 = %1) -> (!itensor2) {
// CHECK: %6 = scf.for %k = %c0 to %c6 step %c3 iter_args(%7 = %5) -> (tensor<4x2xf32>) {
// CHECK-NEXT: %8 = itensor.read %x_2[%i, %j, %k] : !itensor -> tensor<4x3xf32>
// CHECK-NEXT: %9 = itensor.read %w_2[%i, %j, %k] : !itensor1 -> tensor<3x2xf32>
// CHECK-NEXT: %10 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%8, %9 : tensor<4x3xf32>, tensor<3x2xf32>) outs(%7 : tensor<4x2xf32>) attrs ={{ +}}{stc.name = "f", stc.schedule = #dataflow.schedule<tile = [4, 2, 3], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "f"} {
// CHECK: %11 = itensor.read %v_2[%i, %j] : !itensor2 -> tensor<4x2xf32>
// CHECK: %13 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%6, %11 : tensor<4x2xf32>, tensor<4x2xf32>) outs(%12 : tensor<4x2xf32>) attrs ={{ +}}{stc.name = "g", stc.schedule = #dataflow.schedule<tile = [4, 2], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "g"} {
// CHECK: %14 = itensor.write %13 into %3[%i, %j] : tensor<4x2xf32> -> !itensor2

// -----

// The reduction is outermost: the tiles leave in its last step, and the subtrahend is read in that step too.
// SHOW: kernel|converter|itensor.cast|dataflow.task|scf.for|itensor.read|itensor.write|linalg.generic|scf.if
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
!itensor = !itensor.itensor<4x3xf32, iter_space: [2, 2] * [3, 4], iter_map: (d0, d1) -> (d1, d0)>
!itensor1 = !itensor.itensor<3x2xf32, iter_space: [2, 2, 2] * [3, 4, 2], iter_map: (d0, d1, d2) -> (d0, d2)>
!itensor2 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @guarded(%x: tensor<8x6xf32>, %w: tensor<6x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %g = dataflow.kernel @main(%x_1 = %x : tensor<8x6xf32> as !itensor, %w_1 = %w : tensor<6x4xf32> as !itensor1, %v_1 = %v : tensor<8x4xf32> as !itensor2) -> (tensor<8x4xf32> as !itensor2) {
    %0 = itensor.empty : !itensor2
    %f = dataflow.task @f ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1) outs(%out = %0 : !itensor2) -> !itensor2 attributes {stc.name = "f"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %f_c = arith.constant 0.000000e+00 : f32
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %1 = tensor.empty() : tensor<8x4xf32>
      %2 = linalg.fill {stc.name = "f"} ins(%f_c : f32) outs(%1 : tensor<8x4xf32>) -> tensor<8x4xf32>
      %3, %f_1 = scf.for %k = %c0 to %c6 step %c3 iter_args(%4 = %2, %5 = %out) -> (tensor<8x4xf32>, !itensor2) {
        %6, %7 = scf.for %i = %c0 to %c8 step %c4 iter_args(%8 = %4, %9 = %5) -> (tensor<8x4xf32>, !itensor2) {
          %10 = itensor.read %x_2[%k, %i] : !itensor -> tensor<4x3xf32>
          %11, %12 = scf.for %j = %c0 to %c4 step %c2 iter_args(%13 = %8, %14 = %9) -> (tensor<8x4xf32>, !itensor2) {
            %15 = itensor.read %w_2[%k, %i, %j] : !itensor1 -> tensor<3x2xf32>
            %16 = tensor.extract_slice %13[%i, %j] [4, 2] [1, 1] : tensor<8x4xf32> to tensor<4x2xf32>
            %17 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%10, %15 : tensor<4x3xf32>, tensor<3x2xf32>) outs(%16 : tensor<4x2xf32>) attrs =  {stc.name = "f", stc.schedule = #dataflow.schedule<tile = [4, 2, 3], order = [2, 0, 1], unroll = [1, 1, 1], vector = []>, stc.tile = "f"} {
            ^bb0(%a0: f32, %a1: f32, %o0: f32):
              %t0 = arith.mulf %a0, %a1 : f32
              %t1 = arith.addf %t0, %o0 : f32
              linalg.yield %t1 : f32
            } -> tensor<4x2xf32>
            %18 = tensor.insert_slice %17 into %13[%i, %j] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<8x4xf32>
            %19 = arith.cmpi eq, %k, %c3 : index
            %20 = scf.if %19 -> (!itensor2) {
              %21 = itensor.write %17 into %14[%i, %j] : tensor<4x2xf32> -> !itensor2
              scf.yield %21 : !itensor2
            } else {
              scf.yield %14 : !itensor2
            }
            scf.yield %18, %20 : tensor<8x4xf32>, !itensor2
          }
          scf.yield %11, %12 : tensor<8x4xf32>, !itensor2
        }
        scf.yield %6, %7 : tensor<8x4xf32>, !itensor2
      }
      dataflow.yield %f_1 : !itensor2
    }
    %1 = itensor.empty : !itensor2
    %g_1 = dataflow.task @g ins(%f_1 = %f : !itensor2, %v_2 = %v_1 : !itensor2) outs(%out = %1 : !itensor2) -> !itensor2 attributes {stc.name = "g"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %g_2 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor2) {
        %3 = scf.for %j = %c0 to %c4 step %c2 iter_args(%4 = %2) -> (!itensor2) {
          %5 = itensor.read %f_1[%i, %j] : !itensor2 -> tensor<4x2xf32>
          %6 = itensor.read %v_2[%i, %j] : !itensor2 -> tensor<4x2xf32>
          %7 = tensor.empty() : tensor<4x2xf32>
          %8 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%5, %6 : tensor<4x2xf32>, tensor<4x2xf32>) outs(%7 : tensor<4x2xf32>) attrs =  {stc.name = "g", stc.schedule = #dataflow.schedule<tile = [4, 2], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "g"} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):
            %t0 = arith.subf %a0, %a1 : f32
            linalg.yield %t0 : f32
          } -> tensor<4x2xf32>
          %9 = itensor.write %8 into %4[%i, %j] : tensor<4x2xf32> -> !itensor2
          scf.yield %9 : !itensor2
        }
        scf.yield %3 : !itensor2
      }
      dataflow.yield %g_2 : !itensor2
    }
    dataflow.yield %g_1 : !itensor2
  }
  func.return %g : tensor<8x4xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map3 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: !itensor = !itensor.itensor<4x3xf32, iter_space: [2, 2] * [3, 4], iter_map: (d0, d1) -> (d1, d0)>
// CHECK: !itensor1 = !itensor.itensor<3x2xf32, iter_space: [2, 2, 2] * [3, 4, 2], iter_map: (d0, d1, d2) -> (d0, d2)>
// CHECK: !itensor2 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @guarded(
// CHECK-NEXT: %g = dataflow.kernel @main(%x_1 = %x : tensor<8x6xf32> as !itensor, %w_1 = %w : tensor<6x4xf32> as !itensor1, %v_1 = %v : tensor<8x4xf32> as !itensor2) -> (tensor<8x4xf32> as !itensor2) {
// CHECK: %g_1 = dataflow.task @f_and_g ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1, %v_2 = %v_1 : !itensor2) outs(%out = %0 : !itensor2) -> !itensor2 attributes {stc.name = "f"} {
// CHECK: %3, %f = scf.for %k = %c0 to %c6 step %c3 iter_args(%4 = %2, %5 = %out) -> (tensor<8x4xf32>, !itensor2) {
// CHECK-NEXT: %6, %7 = scf.for %i = %c0 to %c8 step %c4 iter_args(%8 = %4, %9 = %5) -> (tensor<8x4xf32>, !itensor2) {
// CHECK-NEXT: %10 = itensor.read %x_2[%k, %i] : !itensor -> tensor<4x3xf32>
// CHECK-NEXT: %11, %12 = scf.for %j = %c0 to %c4 step %c2 iter_args(%13 = %8, %14 = %9) -> (tensor<8x4xf32>, !itensor2) {
// CHECK-NEXT: %15 = itensor.read %w_2[%k, %i, %j] : !itensor1 -> tensor<3x2xf32>
// CHECK: %17 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%10, %15 : tensor<4x3xf32>, tensor<3x2xf32>) outs(%16 : tensor<4x2xf32>) attrs ={{ +}}{stc.name = "f", stc.schedule = #dataflow.schedule<tile = [4, 2, 3], order = [2, 0, 1], unroll = [1, 1, 1], vector = []>, stc.tile = "f"} {
// CHECK: %20 = scf.if %19 -> (!itensor2) {
// CHECK-NEXT: %21 = itensor.read %v_2[%i, %j] : !itensor2 -> tensor<4x2xf32>
// CHECK: %23 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%17, %21 : tensor<4x2xf32>, tensor<4x2xf32>) outs(%22 : tensor<4x2xf32>) attrs ={{ +}}{stc.name = "g", stc.schedule = #dataflow.schedule<tile = [4, 2], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "g"} {
// CHECK: %24 = itensor.write %23 into %14[%i, %j] : tensor<4x2xf32> -> !itensor2

// -----

// A vector along the rows is read outside the loop over columns.
// SHOW: kernel|converter|itensor.cast|dataflow.task|scf.for|itensor.read|itensor.write|linalg.generic
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d0)>
!itensor = !itensor.itensor<4x3xf32, iter_space: [2, 2, 2] * [4, 2, 3], iter_map: (d0, d1, d2) -> (d0, d2)>
!itensor1 = !itensor.itensor<3x2xf32, iter_space: [2, 2, 2] * [4, 2, 3], iter_map: (d0, d1, d2) -> (d2, d1)>
!itensor2 = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!itensor3 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @outside_the_inner_loop(%x: tensor<8x6xf32>, %w: tensor<6x4xf32>, %v: tensor<8xf32>) -> tensor<8x4xf32> {
  %g = dataflow.kernel @main(%x_1 = %x : tensor<8x6xf32> as !itensor, %w_1 = %w : tensor<6x4xf32> as !itensor1, %v_1 = %v : tensor<8xf32> as !itensor2) -> (tensor<8x4xf32> as !itensor3) {
    %0 = itensor.empty : !itensor3
    %f = dataflow.task @f ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1) outs(%out = %0 : !itensor3) -> !itensor3 attributes {stc.name = "f"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %f_c = arith.constant 0.000000e+00 : f32
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %f_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%1 = %out) -> (!itensor3) {
        %2 = scf.for %j = %c0 to %c4 step %c2 iter_args(%3 = %1) -> (!itensor3) {
          %4 = tensor.empty() : tensor<4x2xf32>
          %5 = linalg.fill {stc.name = "f"} ins(%f_c : f32) outs(%4 : tensor<4x2xf32>) -> tensor<4x2xf32>
          %6 = scf.for %k = %c0 to %c6 step %c3 iter_args(%7 = %5) -> (tensor<4x2xf32>) {
            %8 = itensor.read %x_2[%i, %j, %k] : !itensor -> tensor<4x3xf32>
            %9 = itensor.read %w_2[%i, %j, %k] : !itensor1 -> tensor<3x2xf32>
            %10 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%8, %9 : tensor<4x3xf32>, tensor<3x2xf32>) outs(%7 : tensor<4x2xf32>) attrs =  {stc.name = "f", stc.schedule = #dataflow.schedule<tile = [4, 2, 3], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "f"} {
            ^bb0(%a0: f32, %a1: f32, %o0: f32):
              %t0 = arith.mulf %a0, %a1 : f32
              %t1 = arith.addf %t0, %o0 : f32
              linalg.yield %t1 : f32
            } -> tensor<4x2xf32>
            scf.yield %10 : tensor<4x2xf32>
          }
          %11 = itensor.write %6 into %3[%i, %j] : tensor<4x2xf32> -> !itensor3
          scf.yield %11 : !itensor3
        }
        scf.yield %2 : !itensor3
      }
      dataflow.yield %f_1 : !itensor3
    }
    %1 = itensor.empty : !itensor3
    %g_1 = dataflow.task @g ins(%v_2 = %v_1 : !itensor2, %f_1 = %f : !itensor3) outs(%out = %1 : !itensor3) -> !itensor3 attributes {stc.name = "g"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %g_2 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor3) {
        %3 = itensor.read %v_2[%i] : !itensor2 -> tensor<4xf32>
        %4 = scf.for %j = %c0 to %c4 step %c2 iter_args(%5 = %2) -> (!itensor3) {
          %6 = itensor.read %f_1[%i, %j] : !itensor3 -> tensor<4x2xf32>
          %7 = tensor.empty() : tensor<4x2xf32>
          %8 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%6, %3 : tensor<4x2xf32>, tensor<4xf32>) outs(%7 : tensor<4x2xf32>) attrs =  {stc.name = "g", stc.schedule = #dataflow.schedule<tile = [4, 2], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "g"} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):
            %t0 = arith.subf %a0, %a1 : f32
            linalg.yield %t0 : f32
          } -> tensor<4x2xf32>
          %9 = itensor.write %8 into %5[%i, %j] : tensor<4x2xf32> -> !itensor3
          scf.yield %9 : !itensor3
        }
        scf.yield %4 : !itensor3
      }
      dataflow.yield %g_2 : !itensor3
    }
    dataflow.yield %g_1 : !itensor3
  }
  func.return %g : tensor<8x4xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map3 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map4 = affine_map<(d0, d1) -> (d0)>
// CHECK: !itensor = !itensor.itensor<4x3xf32, iter_space: [2, 2, 2] * [4, 2, 3], iter_map: (d0, d1, d2) -> (d0, d2)>
// CHECK: !itensor1 = !itensor.itensor<3x2xf32, iter_space: [2, 2, 2] * [4, 2, 3], iter_map: (d0, d1, d2) -> (d2, d1)>
// CHECK: !itensor2 = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
// CHECK: !itensor3 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @outside_the_inner_loop(
// CHECK-NEXT: %g = dataflow.kernel @main(%x_1 = %x : tensor<8x6xf32> as !itensor, %w_1 = %w : tensor<6x4xf32> as !itensor1, %v_1 = %v : tensor<8xf32> as !itensor2) -> (tensor<8x4xf32> as !itensor3) {
// CHECK: %g_1 = dataflow.task @f_and_g ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1, %v_2 = %v_1 : !itensor2) outs(%out = %0 : !itensor3) -> !itensor3 attributes {stc.name = "f"} {
// CHECK: %f = scf.for %i = %c0 to %c8 step %c4 iter_args(%1 = %out) -> (!itensor3) {
// CHECK-NEXT: %2 = itensor.read %v_2[%i] : !itensor2 -> tensor<4xf32>
// CHECK-NEXT: %3 = scf.for %j = %c0 to %c4 step %c2 iter_args(%4 = %1) -> (!itensor3) {
// CHECK: %7 = scf.for %k = %c0 to %c6 step %c3 iter_args(%8 = %6) -> (tensor<4x2xf32>) {
// CHECK-NEXT: %9 = itensor.read %x_2[%i, %j, %k] : !itensor -> tensor<4x3xf32>
// CHECK-NEXT: %10 = itensor.read %w_2[%i, %j, %k] : !itensor1 -> tensor<3x2xf32>
// CHECK-NEXT: %11 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9, %10 : tensor<4x3xf32>, tensor<3x2xf32>) outs(%8 : tensor<4x2xf32>) attrs ={{ +}}{stc.name = "f", stc.schedule = #dataflow.schedule<tile = [4, 2, 3], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "f"} {
// CHECK: %13 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%7, %2 : tensor<4x2xf32>, tensor<4xf32>) outs(%12 : tensor<4x2xf32>) attrs ={{ +}}{stc.name = "g", stc.schedule = #dataflow.schedule<tile = [4, 2], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "g"} {
// CHECK: %14 = itensor.write %13 into %4[%i, %j] : tensor<4x2xf32> -> !itensor3

// -----

// The same where a reduction is around the write: the vector would have to be read in one step of it only. Not folded.
// SHOW: kernel|converter|itensor.cast|dataflow.task
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d0)>
!itensor = !itensor.itensor<4x3xf32, iter_space: [2, 2] * [3, 4], iter_map: (d0, d1) -> (d1, d0)>
!itensor1 = !itensor.itensor<3x2xf32, iter_space: [2, 2, 2] * [3, 4, 2], iter_map: (d0, d1, d2) -> (d0, d2)>
!itensor2 = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!itensor3 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @vector_in_a_reduction(%x: tensor<8x6xf32>, %w: tensor<6x4xf32>, %v: tensor<8xf32>) -> tensor<8x4xf32> {
  %g = dataflow.kernel @main(%x_1 = %x : tensor<8x6xf32> as !itensor, %w_1 = %w : tensor<6x4xf32> as !itensor1, %v_1 = %v : tensor<8xf32> as !itensor2) -> (tensor<8x4xf32> as !itensor3) {
    %0 = itensor.empty : !itensor3
    %f = dataflow.task @f ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1) outs(%out = %0 : !itensor3) -> !itensor3 attributes {stc.name = "f"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %f_c = arith.constant 0.000000e+00 : f32
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %1 = tensor.empty() : tensor<8x4xf32>
      %2 = linalg.fill {stc.name = "f"} ins(%f_c : f32) outs(%1 : tensor<8x4xf32>) -> tensor<8x4xf32>
      %3, %f_1 = scf.for %k = %c0 to %c6 step %c3 iter_args(%4 = %2, %5 = %out) -> (tensor<8x4xf32>, !itensor3) {
        %6, %7 = scf.for %i = %c0 to %c8 step %c4 iter_args(%8 = %4, %9 = %5) -> (tensor<8x4xf32>, !itensor3) {
          %10 = itensor.read %x_2[%k, %i] : !itensor -> tensor<4x3xf32>
          %11, %12 = scf.for %j = %c0 to %c4 step %c2 iter_args(%13 = %8, %14 = %9) -> (tensor<8x4xf32>, !itensor3) {
            %15 = itensor.read %w_2[%k, %i, %j] : !itensor1 -> tensor<3x2xf32>
            %16 = tensor.extract_slice %13[%i, %j] [4, 2] [1, 1] : tensor<8x4xf32> to tensor<4x2xf32>
            %17 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%10, %15 : tensor<4x3xf32>, tensor<3x2xf32>) outs(%16 : tensor<4x2xf32>) attrs =  {stc.name = "f", stc.schedule = #dataflow.schedule<tile = [4, 2, 3], order = [2, 0, 1], unroll = [1, 1, 1], vector = []>, stc.tile = "f"} {
            ^bb0(%a0: f32, %a1: f32, %o0: f32):
              %t0 = arith.mulf %a0, %a1 : f32
              %t1 = arith.addf %t0, %o0 : f32
              linalg.yield %t1 : f32
            } -> tensor<4x2xf32>
            %18 = tensor.insert_slice %17 into %13[%i, %j] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<8x4xf32>
            %19 = arith.cmpi eq, %k, %c3 : index
            %20 = scf.if %19 -> (!itensor3) {
              %21 = itensor.write %17 into %14[%i, %j] : tensor<4x2xf32> -> !itensor3
              scf.yield %21 : !itensor3
            } else {
              scf.yield %14 : !itensor3
            }
            scf.yield %18, %20 : tensor<8x4xf32>, !itensor3
          }
          scf.yield %11, %12 : tensor<8x4xf32>, !itensor3
        }
        scf.yield %6, %7 : tensor<8x4xf32>, !itensor3
      }
      dataflow.yield %f_1 : !itensor3
    }
    %1 = itensor.empty : !itensor3
    %g_1 = dataflow.task @g ins(%v_2 = %v_1 : !itensor2, %f_1 = %f : !itensor3) outs(%out = %1 : !itensor3) -> !itensor3 attributes {stc.name = "g"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %g_2 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor3) {
        %3 = itensor.read %v_2[%i] : !itensor2 -> tensor<4xf32>
        %4 = scf.for %j = %c0 to %c4 step %c2 iter_args(%5 = %2) -> (!itensor3) {
          %6 = itensor.read %f_1[%i, %j] : !itensor3 -> tensor<4x2xf32>
          %7 = tensor.empty() : tensor<4x2xf32>
          %8 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%6, %3 : tensor<4x2xf32>, tensor<4xf32>) outs(%7 : tensor<4x2xf32>) attrs =  {stc.name = "g", stc.schedule = #dataflow.schedule<tile = [4, 2], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "g"} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):
            %t0 = arith.subf %a0, %a1 : f32
            linalg.yield %t0 : f32
          } -> tensor<4x2xf32>
          %9 = itensor.write %8 into %5[%i, %j] : tensor<4x2xf32> -> !itensor3
          scf.yield %9 : !itensor3
        }
        scf.yield %4 : !itensor3
      }
      dataflow.yield %g_2 : !itensor3
    }
    dataflow.yield %g_1 : !itensor3
  }
  func.return %g : tensor<8x4xf32>
}

// CHECK: !itensor = !itensor.itensor<4x3xf32, iter_space: [2, 2] * [3, 4], iter_map: (d0, d1) -> (d1, d0)>
// CHECK: !itensor1 = !itensor.itensor<3x2xf32, iter_space: [2, 2, 2] * [3, 4, 2], iter_map: (d0, d1, d2) -> (d0, d2)>
// CHECK: !itensor2 = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
// CHECK: !itensor3 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @vector_in_a_reduction(
// CHECK-NEXT: %g = dataflow.kernel @main(%x_1 = %x : tensor<8x6xf32> as !itensor, %w_1 = %w : tensor<6x4xf32> as !itensor1, %v_1 = %v : tensor<8xf32> as !itensor2) -> (tensor<8x4xf32> as !itensor3) {
// CHECK: %f = dataflow.task @f ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1) outs(%out = %0 : !itensor3) -> !itensor3 attributes {stc.name = "f"} {
// CHECK: %g_1 = dataflow.task @g ins(%v_2 = %v_1 : !itensor2, %f_1 = %f : !itensor3) outs(%out = %1 : !itensor3) -> !itensor3 attributes {stc.name = "g"} {

// -----

// Not in step: the reader goes by columns.
// SHOW: kernel|converter|itensor.cast|dataflow.task
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
!itensor = !itensor.itensor<4x3xf32, iter_space: [2, 2, 2] * [4, 2, 3], iter_map: (d0, d1, d2) -> (d0, d2)>
!itensor1 = !itensor.itensor<3x2xf32, iter_space: [2, 2, 2] * [4, 2, 3], iter_map: (d0, d1, d2) -> (d2, d1)>
!itensor2 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
!itensor3 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @out_of_step(%x: tensor<8x6xf32>, %w: tensor<6x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %g = dataflow.kernel @main(%x_1 = %x : tensor<8x6xf32> as !itensor, %w_1 = %w : tensor<6x4xf32> as !itensor1, %v_1 = %v : tensor<8x4xf32> as !itensor2) -> (tensor<8x4xf32> as !itensor2) {
    %0 = itensor.empty : !itensor3
    %f = dataflow.task @f ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1) outs(%out = %0 : !itensor3) -> !itensor3 attributes {stc.name = "f"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %f_c = arith.constant 0.000000e+00 : f32
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %f_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%1 = %out) -> (!itensor3) {
        %2 = scf.for %j = %c0 to %c4 step %c2 iter_args(%3 = %1) -> (!itensor3) {
          %4 = tensor.empty() : tensor<4x2xf32>
          %5 = linalg.fill {stc.name = "f"} ins(%f_c : f32) outs(%4 : tensor<4x2xf32>) -> tensor<4x2xf32>
          %6 = scf.for %k = %c0 to %c6 step %c3 iter_args(%7 = %5) -> (tensor<4x2xf32>) {
            %8 = itensor.read %x_2[%i, %j, %k] : !itensor -> tensor<4x3xf32>
            %9 = itensor.read %w_2[%i, %j, %k] : !itensor1 -> tensor<3x2xf32>
            %10 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%8, %9 : tensor<4x3xf32>, tensor<3x2xf32>) outs(%7 : tensor<4x2xf32>) attrs =  {stc.name = "f", stc.schedule = #dataflow.schedule<tile = [4, 2, 3], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "f"} {
            ^bb0(%a0: f32, %a1: f32, %o0: f32):
              %t0 = arith.mulf %a0, %a1 : f32
              %t1 = arith.addf %t0, %o0 : f32
              linalg.yield %t1 : f32
            } -> tensor<4x2xf32>
            scf.yield %10 : tensor<4x2xf32>
          }
          %11 = itensor.write %6 into %3[%i, %j] : tensor<4x2xf32> -> !itensor3
          scf.yield %11 : !itensor3
        }
        scf.yield %2 : !itensor3
      }
      dataflow.yield %f_1 : !itensor3
    }
    %f_1 = itensor.converter %f {shared_loops = 0, buffer_shape = [8, 4], blocks = 1} : !itensor3 to !itensor2
    %1 = itensor.empty : !itensor2
    %g_1 = dataflow.task @g ins(%f_2 = %f_1 : !itensor2, %v_2 = %v_1 : !itensor2) outs(%out = %1 : !itensor2) -> !itensor2 attributes {stc.name = "g"} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %c8 = arith.constant 8 : index
      %g_2 = scf.for %j = %c0 to %c4 step %c2 iter_args(%2 = %out) -> (!itensor2) {
        %3 = scf.for %i = %c0 to %c8 step %c4 iter_args(%4 = %2) -> (!itensor2) {
          %5 = itensor.read %f_2[%j, %i] : !itensor2 -> tensor<4x2xf32>
          %6 = itensor.read %v_2[%j, %i] : !itensor2 -> tensor<4x2xf32>
          %7 = tensor.empty() : tensor<4x2xf32>
          %8 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%5, %6 : tensor<4x2xf32>, tensor<4x2xf32>) outs(%7 : tensor<4x2xf32>) attrs =  {stc.name = "g", stc.schedule = #dataflow.schedule<tile = [4, 2], order = [1, 0], unroll = [1, 1], vector = []>, stc.tile = "g"} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):
            %t0 = arith.subf %a0, %a1 : f32
            linalg.yield %t0 : f32
          } -> tensor<4x2xf32>
          %9 = itensor.write %8 into %4[%j, %i] : tensor<4x2xf32> -> !itensor2
          scf.yield %9 : !itensor2
        }
        scf.yield %3 : !itensor2
      }
      dataflow.yield %g_2 : !itensor2
    }
    dataflow.yield %g_1 : !itensor2
  }
  func.return %g : tensor<8x4xf32>
}

// CHECK: !itensor = !itensor.itensor<4x3xf32, iter_space: [2, 2, 2] * [4, 2, 3], iter_map: (d0, d1, d2) -> (d0, d2)>
// CHECK: !itensor1 = !itensor.itensor<3x2xf32, iter_space: [2, 2, 2] * [4, 2, 3], iter_map: (d0, d1, d2) -> (d2, d1)>
// CHECK: !itensor2 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
// CHECK: !itensor3 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @out_of_step(
// CHECK-NEXT: %g = dataflow.kernel @main(%x_1 = %x : tensor<8x6xf32> as !itensor, %w_1 = %w : tensor<6x4xf32> as !itensor1, %v_1 = %v : tensor<8x4xf32> as !itensor2) -> (tensor<8x4xf32> as !itensor2) {
// CHECK: %f = dataflow.task @f ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1) outs(%out = %0 : !itensor3) -> !itensor3 attributes {stc.name = "f"} {
// CHECK: %f_1 = itensor.converter %f {shared_loops = 0, buffer_shape = [8, 4], blocks = 1} : !itensor3 to !itensor2
// CHECK: %g_1 = dataflow.task @g ins(%f_2 = %f_1 : !itensor2, %v_2 = %v_1 : !itensor2) outs(%out = %1 : !itensor2) -> !itensor2 attributes {stc.name = "g"} {

// -----

// A second reader of the stream: not folded.
// SHOW: kernel|converter|itensor.cast|dataflow.task
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
!itensor = !itensor.itensor<4x3xf32, iter_space: [2, 2, 2] * [4, 2, 3], iter_map: (d0, d1, d2) -> (d0, d2)>
!itensor1 = !itensor.itensor<3x2xf32, iter_space: [2, 2, 2] * [4, 2, 3], iter_map: (d0, d1, d2) -> (d2, d1)>
!itensor2 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @two_readers(%x: tensor<8x6xf32>, %w: tensor<6x4xf32>, %v: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %f, %g = dataflow.kernel @main(%x_1 = %x : tensor<8x6xf32> as !itensor, %w_1 = %w : tensor<6x4xf32> as !itensor1, %v_1 = %v : tensor<8x4xf32> as !itensor2) -> (tensor<8x4xf32> as !itensor2, tensor<8x4xf32> as !itensor2) {
    %0 = itensor.empty : !itensor2
    %f_1 = dataflow.task @f ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1) outs(%out = %0 : !itensor2) -> !itensor2 attributes {stc.name = "f"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %f_c = arith.constant 0.000000e+00 : f32
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %f_2 = scf.for %i = %c0 to %c8 step %c4 iter_args(%1 = %out) -> (!itensor2) {
        %2 = scf.for %j = %c0 to %c4 step %c2 iter_args(%3 = %1) -> (!itensor2) {
          %4 = tensor.empty() : tensor<4x2xf32>
          %5 = linalg.fill {stc.name = "f"} ins(%f_c : f32) outs(%4 : tensor<4x2xf32>) -> tensor<4x2xf32>
          %6 = scf.for %k = %c0 to %c6 step %c3 iter_args(%7 = %5) -> (tensor<4x2xf32>) {
            %8 = itensor.read %x_2[%i, %j, %k] : !itensor -> tensor<4x3xf32>
            %9 = itensor.read %w_2[%i, %j, %k] : !itensor1 -> tensor<3x2xf32>
            %10 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%8, %9 : tensor<4x3xf32>, tensor<3x2xf32>) outs(%7 : tensor<4x2xf32>) attrs =  {stc.name = "f", stc.schedule = #dataflow.schedule<tile = [4, 2, 3], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "f"} {
            ^bb0(%a0: f32, %a1: f32, %o0: f32):
              %t0 = arith.mulf %a0, %a1 : f32
              %t1 = arith.addf %t0, %o0 : f32
              linalg.yield %t1 : f32
            } -> tensor<4x2xf32>
            scf.yield %10 : tensor<4x2xf32>
          }
          %11 = itensor.write %6 into %3[%i, %j] : tensor<4x2xf32> -> !itensor2
          scf.yield %11 : !itensor2
        }
        scf.yield %2 : !itensor2
      }
      dataflow.yield %f_2 : !itensor2
    }
    %1 = itensor.empty : !itensor2
    %g_1 = dataflow.task @g ins(%f_2 = %f_1 : !itensor2, %v_2 = %v_1 : !itensor2) outs(%out = %1 : !itensor2) -> !itensor2 attributes {stc.name = "g"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %g_2 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor2) {
        %3 = scf.for %j = %c0 to %c4 step %c2 iter_args(%4 = %2) -> (!itensor2) {
          %5 = itensor.read %f_2[%i, %j] : !itensor2 -> tensor<4x2xf32>
          %6 = itensor.read %v_2[%i, %j] : !itensor2 -> tensor<4x2xf32>
          %7 = tensor.empty() : tensor<4x2xf32>
          %8 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%5, %6 : tensor<4x2xf32>, tensor<4x2xf32>) outs(%7 : tensor<4x2xf32>) attrs =  {stc.name = "g", stc.schedule = #dataflow.schedule<tile = [4, 2], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "g"} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):
            %t0 = arith.subf %a0, %a1 : f32
            linalg.yield %t0 : f32
          } -> tensor<4x2xf32>
          %9 = itensor.write %8 into %4[%i, %j] : tensor<4x2xf32> -> !itensor2
          scf.yield %9 : !itensor2
        }
        scf.yield %3 : !itensor2
      }
      dataflow.yield %g_2 : !itensor2
    }
    dataflow.yield %f_1, %g_1 : !itensor2, !itensor2
  }
  func.return %f, %g : tensor<8x4xf32>, tensor<8x4xf32>
}

// CHECK: !itensor = !itensor.itensor<4x3xf32, iter_space: [2, 2, 2] * [4, 2, 3], iter_map: (d0, d1, d2) -> (d0, d2)>
// CHECK: !itensor1 = !itensor.itensor<3x2xf32, iter_space: [2, 2, 2] * [4, 2, 3], iter_map: (d0, d1, d2) -> (d2, d1)>
// CHECK: !itensor2 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @two_readers(
// CHECK-NEXT: %f, %g = dataflow.kernel @main(%x_1 = %x : tensor<8x6xf32> as !itensor, %w_1 = %w : tensor<6x4xf32> as !itensor1, %v_1 = %v : tensor<8x4xf32> as !itensor2) -> (tensor<8x4xf32> as !itensor2, tensor<8x4xf32> as !itensor2) {
// CHECK: %f_1 = dataflow.task @f ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1) outs(%out = %0 : !itensor2) -> !itensor2 attributes {stc.name = "f"} {
// CHECK: %g_1 = dataflow.task @g ins(%f_2 = %f_1 : !itensor2, %v_2 = %v_1 : !itensor2) outs(%out = %1 : !itensor2) -> !itensor2 attributes {stc.name = "g"} {

// -----

// Three in a row, and an input that two of them read in the same place: it is read once.
// SHOW: kernel|converter|itensor.cast|dataflow.task|scf.for|itensor.read|itensor.write|linalg.generic
#map = affine_map<(d0, d1) -> (d0, d1)>
#schedule = #dataflow.schedule<tile = [4, 2], order = [0, 1], unroll = [1, 1], vector = []>
!itensor = !itensor.itensor<4x2xf32, iter_space: [2, 3] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @three_in_a_row(%x: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %c = dataflow.kernel @main(%x_1 = %x : tensor<8x6xf32> as !itensor) -> (tensor<8x6xf32> as !itensor) {
    %0 = itensor.empty : !itensor
    %a = dataflow.task @a ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "a"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %c6 = arith.constant 6 : index
      %c2 = arith.constant 2 : index
      %a_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%1 = %out) -> (!itensor) {
        %2 = scf.for %j = %c0 to %c6 step %c2 iter_args(%3 = %1) -> (!itensor) {
          %4 = itensor.read %x_2[%i, %j] : !itensor -> tensor<4x2xf32>
          %5 = tensor.empty() : tensor<4x2xf32>
          %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<4x2xf32>) outs(%5 : tensor<4x2xf32>) attrs =  {stc.name = "a", stc.schedule = #schedule, stc.tile = "a"} {
          ^bb0(%a0: f32, %o0: f32):
            %t0 = math.exp %a0 : f32
            linalg.yield %t0 : f32
          } -> tensor<4x2xf32>
          %7 = itensor.write %6 into %3[%i, %j] : tensor<4x2xf32> -> !itensor
          scf.yield %7 : !itensor
        }
        scf.yield %2 : !itensor
      }
      dataflow.yield %a_1 : !itensor
    }
    %1 = itensor.empty : !itensor
    %b = dataflow.task @b ins(%a_1 = %a : !itensor, %x_2 = %x_1 : !itensor) outs(%out = %1 : !itensor) -> !itensor attributes {stc.name = "b"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %c6 = arith.constant 6 : index
      %c2 = arith.constant 2 : index
      %b_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor) {
        %3 = scf.for %j = %c0 to %c6 step %c2 iter_args(%4 = %2) -> (!itensor) {
          %5 = itensor.read %a_1[%i, %j] : !itensor -> tensor<4x2xf32>
          %6 = itensor.read %x_2[%i, %j] : !itensor -> tensor<4x2xf32>
          %7 = tensor.empty() : tensor<4x2xf32>
          %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%5, %6 : tensor<4x2xf32>, tensor<4x2xf32>) outs(%7 : tensor<4x2xf32>) attrs =  {stc.name = "b", stc.schedule = #schedule, stc.tile = "b"} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):
            %t0 = arith.subf %a0, %a1 : f32
            linalg.yield %t0 : f32
          } -> tensor<4x2xf32>
          %9 = itensor.write %8 into %4[%i, %j] : tensor<4x2xf32> -> !itensor
          scf.yield %9 : !itensor
        }
        scf.yield %3 : !itensor
      }
      dataflow.yield %b_1 : !itensor
    }
    %2 = itensor.empty : !itensor
    %c_1 = dataflow.task @c ins(%b_1 = %b : !itensor) outs(%out = %2 : !itensor) -> !itensor attributes {stc.name = "c"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %c6 = arith.constant 6 : index
      %c2 = arith.constant 2 : index
      %c_2 = scf.for %i = %c0 to %c8 step %c4 iter_args(%3 = %out) -> (!itensor) {
        %4 = scf.for %j = %c0 to %c6 step %c2 iter_args(%5 = %3) -> (!itensor) {
          %6 = itensor.read %b_1[%i, %j] : !itensor -> tensor<4x2xf32>
          %7 = tensor.empty() : tensor<4x2xf32>
          %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<4x2xf32>) outs(%7 : tensor<4x2xf32>) attrs =  {stc.name = "c", stc.schedule = #schedule, stc.tile = "c"} {
          ^bb0(%a0: f32, %o0: f32):
            %t0 = arith.negf %a0 : f32
            linalg.yield %t0 : f32
          } -> tensor<4x2xf32>
          %9 = itensor.write %8 into %5[%i, %j] : tensor<4x2xf32> -> !itensor
          scf.yield %9 : !itensor
        }
        scf.yield %4 : !itensor
      }
      dataflow.yield %c_2 : !itensor
    }
    dataflow.yield %c_1 : !itensor
  }
  func.return %c : tensor<8x6xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #schedule = #dataflow.schedule<tile = [4, 2], order = [0, 1], unroll = [1, 1], vector = []>
// CHECK: !itensor = !itensor.itensor<4x2xf32, iter_space: [2, 3] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @three_in_a_row(
// CHECK-NEXT: %c = dataflow.kernel @main(%x_1 = %x : tensor<8x6xf32> as !itensor) -> (tensor<8x6xf32> as !itensor) {
// CHECK: %c_1 = dataflow.task @a_and_b_and_c ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "a"} {
// CHECK: %a = scf.for %i = %c0 to %c8 step %c4 iter_args(%1 = %out) -> (!itensor) {
// CHECK-NEXT: %2 = scf.for %j = %c0 to %c6 step %c2 iter_args(%3 = %1) -> (!itensor) {
// CHECK-NEXT: %4 = itensor.read %x_2[%i, %j] : !itensor -> tensor<4x2xf32>
// CHECK: %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<4x2xf32>) outs(%5 : tensor<4x2xf32>) attrs ={{ +}}{stc.name = "a", stc.schedule = #schedule, stc.tile = "a"} {
// CHECK: %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %4 : tensor<4x2xf32>, tensor<4x2xf32>) outs(%7 : tensor<4x2xf32>) attrs ={{ +}}{stc.name = "b", stc.schedule = #schedule, stc.tile = "b"} {
// CHECK: %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<4x2xf32>) outs(%9 : tensor<4x2xf32>) attrs ={{ +}}{stc.name = "c", stc.schedule = #schedule, stc.tile = "c"} {
// CHECK: %11 = itensor.write %10 into %3[%i, %j] : tensor<4x2xf32> -> !itensor
