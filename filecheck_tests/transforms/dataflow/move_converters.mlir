// RUN: stc-opt %s -p 'move-converters{lanes=1}' --split-input-file | filecheck %s

// Two results of rows are subtracted in columns and then summed down the columns: @s goes by rows, its one output is converted.
// SHOW: kernel|converter|itensor.cast|dataflow.task|scf.for|itensor.read|itensor.write|linalg.generic
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d1, d0)>
#map5 = affine_map<(d0, d1) -> (d0)>
!itensor = !itensor.itensor<8x8xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
!itensor1 = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!itensor2 = !itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
!itensor3 = !itensor.itensor<1x4xf32, iter_space: [6, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!itensor4 = !itensor.itensor<4x8xf32, iter_space: [6, 2] * [1, 4], iter_map: (d0, d1) -> (d1, 0)>
!itensor5 = !itensor.itensor<6x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
func.func @two_inputs(%x: tensor<6x8xf32>, %w: tensor<8x8xf32>) -> tensor<8xf32> {
  %r = dataflow.kernel @main(%w_1 = %w : tensor<8x8xf32> as !itensor, %x_1 = %x : tensor<6x8xf32> as !itensor1) -> (tensor<8xf32> as !itensor2) {
    %0 = itensor.empty : !itensor1
    %a = dataflow.task @a ins(%w_2 = %w_1 : !itensor, %x_2 = %x_1 : !itensor1) outs(%out = %0 : !itensor1) -> !itensor1 attributes {stc.name = "a"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %a_c = arith.constant 0.000000e+00 : f32
      %1 = itensor.read %w_2[] : !itensor -> tensor<8x8xf32>
      %a_1 = scf.for %i = %c0 to %c6 step %c1 iter_args(%2 = %out) -> (!itensor1) {
        %3 = itensor.read %x_2[%i] : !itensor1 -> tensor<1x8xf32>
        %4 = tensor.empty() : tensor<1x8xf32>
        %5 = linalg.fill {stc.name = "a"} ins(%a_c : f32) outs(%4 : tensor<1x8xf32>) -> tensor<1x8xf32>
        %6 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%3, %1 : tensor<1x8xf32>, tensor<8x8xf32>) outs(%5 : tensor<1x8xf32>) attrs =  {stc.name = "a", stc.schedule = #dataflow.schedule<tile = [1, 8, 8], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "a"} {
        ^bb0(%a0: f32, %a1: f32, %o0: f32):
          %t0 = arith.mulf %a0, %a1 : f32
          %t1 = arith.addf %t0, %o0 : f32
          linalg.yield %t1 : f32
        } -> tensor<1x8xf32>
        %7 = itensor.write %6 into %2[%i] : tensor<1x8xf32> -> !itensor1
        scf.yield %7 : !itensor1
      }
      dataflow.yield %a_1 : !itensor1
    }
    %x_2 = itensor.converter %x_1 {shared_loops = 1, buffer_shape = [1, 8], blocks = 2} : !itensor1 to !itensor3
    %w_2 = itensor.converter %w_1 {shared_loops = 0, buffer_shape = [8, 8], blocks = 1} : !itensor to !itensor4
    %1 = itensor.empty : !itensor1
    %b = dataflow.task @b ins(%x_3 = %x_2 : !itensor3, %w_3 = %w_2 : !itensor4) outs(%out = %1 : !itensor1) -> !itensor1 attributes {stc.name = "b"} {
      %c0 = arith.constant 0 : index
      %c6 = arith.constant 6 : index
      %c1 = arith.constant 1 : index
      %b_c = arith.constant 0.000000e+00 : f32
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %b_1 = scf.for %i = %c0 to %c6 step %c1 iter_args(%2 = %out) -> (!itensor1) {
        %3 = tensor.empty() : tensor<1x8xf32>
        %4 = linalg.fill {stc.name = "b"} ins(%b_c : f32) outs(%3 : tensor<1x8xf32>) -> tensor<1x8xf32>
        %5 = scf.for %k = %c0 to %c8 step %c4 iter_args(%6 = %4) -> (tensor<1x8xf32>) {
          %7 = itensor.read %x_3[%i, %k] : !itensor3 -> tensor<1x4xf32>
          %8 = itensor.read %w_3[%i, %k] : !itensor4 -> tensor<4x8xf32>
          %9 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%7, %8 : tensor<1x4xf32>, tensor<4x8xf32>) outs(%6 : tensor<1x8xf32>) attrs =  {stc.name = "b", stc.schedule = #dataflow.schedule<tile = [1, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "b"} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):
            %t0 = arith.mulf %a0, %a1 : f32
            %t1 = arith.addf %t0, %o0 : f32
            linalg.yield %t1 : f32
          } -> tensor<1x8xf32>
          scf.yield %9 : tensor<1x8xf32>
        }
        %10 = itensor.write %5 into %2[%i] : tensor<1x8xf32> -> !itensor1
        scf.yield %10 : !itensor1
      }
      dataflow.yield %b_1 : !itensor1
    }
    %a_1 = itensor.converter %a {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor1 to !itensor5
    %b_1 = itensor.converter %b {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor1 to !itensor5
    %2 = itensor.empty : !itensor5
    %s = dataflow.task @s ins(%a_2 = %a_1 : !itensor5, %b_2 = %b_1 : !itensor5) outs(%out = %2 : !itensor5) -> !itensor5 attributes {stc.name = "s"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %s_1 = scf.for %j = %c0 to %c8 step %c2 iter_args(%3 = %out) -> (!itensor5) {
        %4 = itensor.read %a_2[%j] : !itensor5 -> tensor<6x2xf32>
        %5 = itensor.read %b_2[%j] : !itensor5 -> tensor<6x2xf32>
        %6 = tensor.empty() : tensor<6x2xf32>
        %7 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%4, %5 : tensor<6x2xf32>, tensor<6x2xf32>) outs(%6 : tensor<6x2xf32>) attrs =  {stc.name = "s", stc.schedule = #dataflow.schedule<tile = [6, 2], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "s"} {
        ^bb0(%a0: f32, %a1: f32, %o0: f32):
          %t0 = arith.subf %a0, %a1 : f32
          linalg.yield %t0 : f32
        } -> tensor<6x2xf32>
        %8 = itensor.write %7 into %3[%j] : tensor<6x2xf32> -> !itensor5
        scf.yield %8 : !itensor5
      }
      dataflow.yield %s_1 : !itensor5
    }
    %3 = itensor.empty : !itensor2
    %r_1 = dataflow.task @r ins(%s_1 = %s : !itensor5) outs(%out = %3 : !itensor2) -> !itensor2 attributes {stc.name = "r"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %r_c = arith.constant 0.000000e+00 : f32
      %r_2 = scf.for %i = %c0 to %c8 step %c2 iter_args(%4 = %out) -> (!itensor2) {
        %5 = itensor.read %s_1[%i] : !itensor5 -> tensor<6x2xf32>
        %6 = tensor.empty() : tensor<2xf32>
        %7 = linalg.fill {stc.name = "r"} ins(%r_c : f32) outs(%6 : tensor<2xf32>) -> tensor<2xf32>
        %8 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "reduction"]} ins(%5 : tensor<6x2xf32>) outs(%7 : tensor<2xf32>) attrs =  {stc.name = "r", stc.schedule = #dataflow.schedule<tile = [2, 6], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "r"} {
        ^bb0(%a0: f32, %o0: f32):
          %t0 = arith.addf %a0, %o0 : f32
          linalg.yield %t0 : f32
        } -> tensor<2xf32>
        %9 = itensor.write %8 into %4[%i] : tensor<2xf32> -> !itensor2
        scf.yield %9 : !itensor2
      }
      dataflow.yield %r_2 : !itensor2
    }
    dataflow.yield %r_1 : !itensor2
  }
  func.return %r : tensor<8xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map3 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map4 = affine_map<(d0, d1) -> (d1, d0)>
// CHECK: #map5 = affine_map<(d0, d1) -> (d0)>
// CHECK: !itensor = !itensor.itensor<8x8xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor2 = !itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
// CHECK: !itensor3 = !itensor.itensor<1x4xf32, iter_space: [6, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor4 = !itensor.itensor<4x8xf32, iter_space: [6, 2] * [1, 4], iter_map: (d0, d1) -> (d1, 0)>
// CHECK: !itensor5 = !itensor.itensor<6x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
// CHECK-LABEL: func.func @two_inputs(
// CHECK-NEXT: %r = dataflow.kernel @main(%w_1 = %w : tensor<8x8xf32> as !itensor, %x_1 = %x : tensor<6x8xf32> as !itensor1) -> (tensor<8xf32> as !itensor2) {
// CHECK: %a = dataflow.task @a ins(%w_2 = %w_1 : !itensor, %x_2 = %x_1 : !itensor1) outs(%out = %0 : !itensor1) -> !itensor1 attributes {stc.name = "a"} {
// CHECK: %1 = itensor.read %w_2[] : !itensor -> tensor<8x8xf32>
// CHECK-NEXT: %a_1 = scf.for %i = %c0 to %c6 step %c1 iter_args(%2 = %out) -> (!itensor1) {
// CHECK-NEXT: %3 = itensor.read %x_2[%i] : !itensor1 -> tensor<1x8xf32>
// CHECK: %6 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%3, %1 : tensor<1x8xf32>, tensor<8x8xf32>) outs(%5 : tensor<1x8xf32>) attrs ={{ +}}{stc.name = "a", stc.schedule = #dataflow.schedule<tile = [1, 8, 8], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "a"} {
// CHECK: %7 = itensor.write %6 into %2[%i] : tensor<1x8xf32> -> !itensor1
// CHECK: %x_2 = itensor.converter %x_1 {shared_loops = 1, buffer_shape = [1, 8], blocks = 2} : !itensor1 to !itensor3
// CHECK-NEXT: %w_2 = itensor.converter %w_1 {shared_loops = 0, buffer_shape = [8, 8], blocks = 1} : !itensor to !itensor4
// CHECK: %b = dataflow.task @b ins(%x_3 = %x_2 : !itensor3, %w_3 = %w_2 : !itensor4) outs(%out = %1 : !itensor1) -> !itensor1 attributes {stc.name = "b"} {
// CHECK: %b_1 = scf.for %i = %c0 to %c6 step %c1 iter_args(%2 = %out) -> (!itensor1) {
// CHECK: %5 = scf.for %k = %c0 to %c8 step %c4 iter_args(%6 = %4) -> (tensor<1x8xf32>) {
// CHECK-NEXT: %7 = itensor.read %x_3[%i, %k] : !itensor3 -> tensor<1x4xf32>
// CHECK-NEXT: %8 = itensor.read %w_3[%i, %k] : !itensor4 -> tensor<4x8xf32>
// CHECK-NEXT: %9 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%7, %8 : tensor<1x4xf32>, tensor<4x8xf32>) outs(%6 : tensor<1x8xf32>) attrs ={{ +}}{stc.name = "b", stc.schedule = #dataflow.schedule<tile = [1, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "b"} {
// CHECK: %10 = itensor.write %5 into %2[%i] : tensor<1x8xf32> -> !itensor1
// CHECK: %s = dataflow.task @s ins(%a_1 = %a : !itensor1, %b_1 = %b : !itensor1) outs(%out = %2 : !itensor1) -> !itensor1 attributes {stc.name = "s"} {
// CHECK: %s_1 = scf.for %row = %c0 to %c6 step %c1 iter_args(%3 = %out) -> (!itensor1) {
// CHECK-NEXT: %4 = itensor.read %a_1[%row] : !itensor1 -> tensor<1x8xf32>
// CHECK-NEXT: %5 = itensor.read %b_1[%row] : !itensor1 -> tensor<1x8xf32>
// CHECK: %7 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%4, %5 : tensor<1x8xf32>, tensor<1x8xf32>) outs(%6 : tensor<1x8xf32>) attrs ={{ +}}{stc.name = "s", stc.schedule = #dataflow.schedule<tile = [1, 8], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "s"} {
// CHECK: %8 = itensor.write %7 into %3[%row] : tensor<1x8xf32> -> !itensor1
// CHECK: %s_1 = itensor.converter %s {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor1 to !itensor5
// CHECK: %r_1 = dataflow.task @r ins(%s_2 = %s_1 : !itensor5) outs(%out = %3 : !itensor2) -> !itensor2 attributes {stc.name = "r"} {
// CHECK: %r_2 = scf.for %i = %c0 to %c8 step %c2 iter_args(%4 = %out) -> (!itensor2) {
// CHECK-NEXT: %5 = itensor.read %s_2[%i] : !itensor5 -> tensor<6x2xf32>
// CHECK: %8 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "reduction"]} ins(%5 : tensor<6x2xf32>) outs(%7 : tensor<2xf32>) attrs ={{ +}}{stc.name = "r", stc.schedule = #dataflow.schedule<tile = [2, 6], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "r"} {
// CHECK: %9 = itensor.write %8 into %4[%i] : tensor<2xf32> -> !itensor2

// -----

// @s spreads a vector over rows and is summed by columns: as columns it needs the vector whole, 24 bytes instead of 192.
// SHOW: kernel|converter|itensor.cast|dataflow.task
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1) -> (d1, d0)>
#schedule = #dataflow.schedule<tile = [1, 8], order = [0, 1], unroll = [1, 1], vector = []>
!itensor = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!itensor1 = !itensor.itensor<8xf32, iter_space: [] * [], iter_map: () -> (0)>
!itensor2 = !itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
!itensor3 = !itensor.itensor<1xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0)>
!itensor4 = !itensor.itensor<6x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
func.func @broadcast(%x: tensor<6x8xf32>, %v: tensor<8xf32>) -> tensor<8xf32> {
  %r = dataflow.kernel @main(%x_1 = %x : tensor<6x8xf32> as !itensor, %v_1 = %v : tensor<8xf32> as !itensor1) -> (tensor<8xf32> as !itensor2) {
    %0 = itensor.empty : !itensor3
    %a = dataflow.task @a ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor3) -> !itensor3 attributes {stc.name = "a"} {
      %c0 = arith.constant 0 : index
      %c6 = arith.constant 6 : index
      %c1 = arith.constant 1 : index
      %a_c = arith.constant 0.000000e+00 : f32
      %a_1 = scf.for %i = %c0 to %c6 step %c1 iter_args(%1 = %out) -> (!itensor3) {
        %2 = itensor.read %x_2[%i] : !itensor -> tensor<1x8xf32>
        %3 = tensor.empty() : tensor<1xf32>
        %4 = linalg.fill {stc.name = "a"} ins(%a_c : f32) outs(%3 : tensor<1xf32>) -> tensor<1xf32>
        %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%2 : tensor<1x8xf32>) outs(%4 : tensor<1xf32>) attrs =  {stc.name = "a", stc.schedule = #schedule, stc.tile = "a"} {
        ^bb0(%a0: f32, %o0: f32):
          %t0 = arith.addf %a0, %o0 : f32
          linalg.yield %t0 : f32
        } -> tensor<1xf32>
        %6 = itensor.write %5 into %1[%i] : tensor<1xf32> -> !itensor3
        scf.yield %6 : !itensor3
      }
      dataflow.yield %a_1 : !itensor3
    }
    %1 = itensor.empty : !itensor
    %s = dataflow.task @s ins(%v_2 = %v_1 : !itensor1, %a_1 = %a : !itensor3) outs(%out = %1 : !itensor) -> !itensor attributes {stc.name = "s"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %2 = itensor.read %v_2[] : !itensor1 -> tensor<8xf32>
      %s_1 = scf.for %i = %c0 to %c6 step %c1 iter_args(%3 = %out) -> (!itensor) {
        %4 = itensor.read %a_1[%i] : !itensor3 -> tensor<1xf32>
        %5 = tensor.empty() : tensor<1x8xf32>
        %6 = linalg.generic {indexing_maps = [#map1, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%4, %2 : tensor<1xf32>, tensor<8xf32>) outs(%5 : tensor<1x8xf32>) attrs =  {stc.name = "s", stc.schedule = #schedule, stc.tile = "s"} {
        ^bb0(%a0: f32, %a1: f32, %o0: f32):
          %t0 = arith.subf %a0, %a1 : f32
          linalg.yield %t0 : f32
        } -> tensor<1x8xf32>
        %7 = itensor.write %6 into %3[%i] : tensor<1x8xf32> -> !itensor
        scf.yield %7 : !itensor
      }
      dataflow.yield %s_1 : !itensor
    }
    %s_1 = itensor.converter %s {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor to !itensor4
    %2 = itensor.empty : !itensor2
    %r_1 = dataflow.task @r ins(%s_2 = %s_1 : !itensor4) outs(%out = %2 : !itensor2) -> !itensor2 attributes {stc.name = "r"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %r_c = arith.constant 0.000000e+00 : f32
      %r_2 = scf.for %i = %c0 to %c8 step %c2 iter_args(%3 = %out) -> (!itensor2) {
        %4 = itensor.read %s_2[%i] : !itensor4 -> tensor<6x2xf32>
        %5 = tensor.empty() : tensor<2xf32>
        %6 = linalg.fill {stc.name = "r"} ins(%r_c : f32) outs(%5 : tensor<2xf32>) -> tensor<2xf32>
        %7 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "reduction"]} ins(%4 : tensor<6x2xf32>) outs(%6 : tensor<2xf32>) attrs =  {stc.name = "r", stc.schedule = #dataflow.schedule<tile = [2, 6], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "r"} {
        ^bb0(%a0: f32, %o0: f32):
          %t0 = arith.addf %a0, %o0 : f32
          linalg.yield %t0 : f32
        } -> tensor<2xf32>
        %8 = itensor.write %7 into %3[%i] : tensor<2xf32> -> !itensor2
        scf.yield %8 : !itensor2
      }
      dataflow.yield %r_2 : !itensor2
    }
    dataflow.yield %r_1 : !itensor2
  }
  func.return %r : tensor<8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
// CHECK: !itensor2 = !itensor.itensor<1xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0)>
// CHECK: !itensor3 = !itensor.itensor<6xf32, iter_space: [] * [], iter_map: () -> (0)>
// CHECK: !itensor4 = !itensor.itensor<6x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
// CHECK-LABEL: func.func @broadcast(
// CHECK-NEXT: %r = dataflow.kernel @main(%x_1 = %x : tensor<6x8xf32> as !itensor, %v_1 = %v : tensor<8xf32> as !itensor1) -> (tensor<8xf32> as !itensor1) {
// CHECK: %a = dataflow.task @a ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor2) -> !itensor2 attributes {stc.name = "a"} {
// CHECK: %a_1 = itensor.converter %a {shared_loops = 0, buffer_shape = [6], blocks = 1} : !itensor2 to !itensor3
// CHECK: %s = dataflow.task @s ins(%a_2 = %a_1 : !itensor3, %v_2 = %v_1 : !itensor1) outs(%out = %1 : !itensor4) -> !itensor4 attributes {stc.name = "s"} {
// CHECK: %r_1 = dataflow.task @r ins(%s_1 = %s : !itensor4) outs(%out = %2 : !itensor1) -> !itensor1 attributes {stc.name = "r"} {

// -----

// @s counts its rows within a tile (linalg.index and what the tile starts at): it is not taken for element-wise, and stays.
// SHOW: kernel|converter|itensor.cast|dataflow.task
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d1, d0)>
#schedule = #dataflow.schedule<tile = [1, 8], order = [0, 1], unroll = [1, 1], vector = []>
!itensor = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!itensor1 = !itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
!itensor2 = !itensor.itensor<1xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0)>
!itensor3 = !itensor.itensor<6x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
func.func @not_elementwise(%x: tensor<6x8xf32>) -> tensor<8xf32> {
  %r = dataflow.kernel @main(%x_1 = %x : tensor<6x8xf32> as !itensor) -> (tensor<8xf32> as !itensor1) {
    %0 = itensor.empty : !itensor2
    %n = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor2) -> !itensor2 attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c6 = arith.constant 6 : index
      %c1 = arith.constant 1 : index
      %n_c = arith.constant 0.000000e+00 : f32
      %n_1 = scf.for %i = %c0 to %c6 step %c1 iter_args(%1 = %out) -> (!itensor2) {
        %2 = itensor.read %x_2[%i] : !itensor -> tensor<1x8xf32>
        %3 = tensor.empty() : tensor<1xf32>
        %4 = linalg.fill {stc.name = "n"} ins(%n_c : f32) outs(%3 : tensor<1xf32>) -> tensor<1xf32>
        %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%2 : tensor<1x8xf32>) outs(%4 : tensor<1xf32>) attrs =  {stc.name = "n", stc.schedule = #schedule, stc.tile = "n"} {
        ^bb0(%a0: f32, %o0: f32):
          %t0 = arith.addf %a0, %o0 : f32
          linalg.yield %t0 : f32
        } -> tensor<1xf32>
        %6 = itensor.write %5 into %1[%i] : tensor<1xf32> -> !itensor2
        scf.yield %6 : !itensor2
      }
      dataflow.yield %n_1 : !itensor2
    }
    %1 = itensor.empty : !itensor
    %s = dataflow.task @s ins(%x_2 = %x_1 : !itensor, %n_1 = %n : !itensor2) outs(%out = %1 : !itensor) -> !itensor attributes {stc.name = "s"} {
      %c0 = arith.constant 0 : index
      %c6 = arith.constant 6 : index
      %c1 = arith.constant 1 : index
      %s_1 = scf.for %i = %c0 to %c6 step %c1 iter_args(%2 = %out) -> (!itensor) {
        %3 = itensor.read %x_2[%i] : !itensor -> tensor<1x8xf32>
        %4 = itensor.read %n_1[%i] : !itensor2 -> tensor<1xf32>
        %5 = tensor.empty() : tensor<1x8xf32>
        %6 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %4 : tensor<1x8xf32>, tensor<1xf32>) outs(%5 : tensor<1x8xf32>) attrs =  {stc.name = "s", stc.schedule = #schedule, stc.tile = "s"} {
        ^bb0(%a0: f32, %a1: f32, %o0: f32):
          %t0 = linalg.index 0 : index
          %t0_1 = arith.addi %t0, %i : index
          %t1 = arith.index_cast %t0_1 : index to i32
          %t2 = arith.sitofp %t1 : i32 to f32
          %t3 = arith.subf %a0, %t2 : f32
          linalg.yield %t3 : f32
        } -> tensor<1x8xf32>
        %7 = itensor.write %6 into %2[%i] : tensor<1x8xf32> -> !itensor
        scf.yield %7 : !itensor
      }
      dataflow.yield %s_1 : !itensor
    }
    %s_1 = itensor.converter %s {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor to !itensor3
    %2 = itensor.empty : !itensor1
    %r_1 = dataflow.task @r ins(%s_2 = %s_1 : !itensor3) outs(%out = %2 : !itensor1) -> !itensor1 attributes {stc.name = "r"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %r_c = arith.constant 0.000000e+00 : f32
      %r_2 = scf.for %i = %c0 to %c8 step %c2 iter_args(%3 = %out) -> (!itensor1) {
        %4 = itensor.read %s_2[%i] : !itensor3 -> tensor<6x2xf32>
        %5 = tensor.empty() : tensor<2xf32>
        %6 = linalg.fill {stc.name = "r"} ins(%r_c : f32) outs(%5 : tensor<2xf32>) -> tensor<2xf32>
        %7 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "reduction"]} ins(%4 : tensor<6x2xf32>) outs(%6 : tensor<2xf32>) attrs =  {stc.name = "r", stc.schedule = #dataflow.schedule<tile = [2, 6], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "r"} {
        ^bb0(%a0: f32, %o0: f32):
          %t0 = arith.addf %a0, %o0 : f32
          linalg.yield %t0 : f32
        } -> tensor<2xf32>
        %8 = itensor.write %7 into %3[%i] : tensor<2xf32> -> !itensor1
        scf.yield %8 : !itensor1
      }
      dataflow.yield %r_2 : !itensor1
    }
    dataflow.yield %r_1 : !itensor1
  }
  func.return %r : tensor<8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
// CHECK: !itensor2 = !itensor.itensor<1xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0)>
// CHECK: !itensor3 = !itensor.itensor<6x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
// CHECK-LABEL: func.func @not_elementwise(
// CHECK-NEXT: %r = dataflow.kernel @main(%x_1 = %x : tensor<6x8xf32> as !itensor) -> (tensor<8xf32> as !itensor1) {
// CHECK: %n = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor2) -> !itensor2 attributes {stc.name = "n"} {
// CHECK: %s = dataflow.task @s ins(%x_2 = %x_1 : !itensor, %n_1 = %n : !itensor2) outs(%out = %1 : !itensor) -> !itensor attributes {stc.name = "s"} {
// CHECK: %s_1 = itensor.converter %s {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor to !itensor3
// CHECK: %r_1 = dataflow.task @r ins(%s_2 = %s_1 : !itensor3) outs(%out = %2 : !itensor1) -> !itensor1 attributes {stc.name = "r"} {
