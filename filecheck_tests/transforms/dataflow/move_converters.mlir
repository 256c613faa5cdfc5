// RUN: stc-opt %s -p 'move-converters{lanes=1}' --split-input-file | filecheck %s

// Two results of rows are subtracted in columns and then summed down the columns: @s goes by rows, its one output is converted.
// SHOW: itensor.converter|itensor.cast|itensor.empty ...|dataflow.task @\w+ ins ...
#map = affine_map<(d0, d1) -> (d0, d1)>
!itensor = !itensor.itensor<8x8xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
!itensor1 = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!itensor2 = !itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
!itensor3 = !itensor.itensor<1x4xf32, iter_space: [6, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!itensor4 = !itensor.itensor<4x8xf32, iter_space: [6, 2] * [1, 4], iter_map: (d0, d1) -> (d1, 0)>
!itensor5 = !itensor.itensor<6x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
func.func @two_inputs(%x: tensor<6x8xf32>, %w: tensor<8x8xf32>) -> tensor<8xf32> {
  %r = dataflow.kernel @main(%w_1 = %w : tensor<8x8xf32> as !itensor, %x_1 = %x : tensor<6x8xf32> as !itensor1) -> (tensor<8xf32> as !itensor2) {
    %0 = itensor.empty : !itensor1
    %a = dataflow.task @a outs(%out = %0 : !itensor1) -> !itensor1 {
      dataflow.yield %out : !itensor1
    }
    %x_2 = itensor.converter %x_1 {shared_loops = 1, buffer_shape = [1, 8], blocks = 2} : !itensor1 to !itensor3
    %w_2 = itensor.converter %w_1 {shared_loops = 0, buffer_shape = [8, 8], blocks = 1} : !itensor to !itensor4
    %1 = itensor.empty : !itensor1
    %b = dataflow.task @b ins(%x_3 = %x_2 : !itensor3, %w_3 = %w_2 : !itensor4) outs(%out = %1 : !itensor1) -> !itensor1 {
      dataflow.yield %out : !itensor1
    }
    %a_1 = itensor.converter %a {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor1 to !itensor5
    %b_1 = itensor.converter %b {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor1 to !itensor5
    %2 = itensor.empty : !itensor5
    %s = dataflow.task @s ins(%a_2 = %a_1 : !itensor5, %b_2 = %b_1 : !itensor5) outs(%out = %2 : !itensor5) -> !itensor5 {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c2 = arith.constant 2 : index
      %s_1 = scf.for %j = %c0 to %c8 step %c2 iter_args(%3 = %out) -> (!itensor5) {
        %4 = itensor.read %a_2[%j] : !itensor5 -> tensor<6x2xf32>
        %5 = itensor.read %b_2[%j] : !itensor5 -> tensor<6x2xf32>
        %6 = tensor.empty() : tensor<6x2xf32>
        %7 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%4, %5 : tensor<6x2xf32>, tensor<6x2xf32>) outs(%6 : tensor<6x2xf32>) attrs = {stc.schedule = #dataflow.schedule<tile = [6, 2], order = [0, 1], unroll = [1, 1], vector = []>} {
        ^bb0(%a0: f32, %a1: f32, %o0: f32):  linalg.yield %a0 : f32
        } -> tensor<6x2xf32>
        %8 = itensor.write %7 into %3[%j] : tensor<6x2xf32> -> !itensor5
        scf.yield %8 : !itensor5
      }
      dataflow.yield %s_1 : !itensor5
    }
    %3 = itensor.empty : !itensor2
    %r_1 = dataflow.task @r ins(%s_1 = %s : !itensor5) outs(%out = %3 : !itensor2) -> !itensor2 {
      dataflow.yield %out : !itensor2
    }
    dataflow.yield %r_1 : !itensor2
  }
  func.return %r : tensor<8xf32>
}

// CHECK: !itensor = !itensor.itensor<8x8xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor3 = !itensor.itensor<1x4xf32, iter_space: [6, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor4 = !itensor.itensor<4x8xf32, iter_space: [6, 2] * [1, 4], iter_map: (d0, d1) -> (d1, 0)>
// CHECK: !itensor5 = !itensor.itensor<6x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
// CHECK-LABEL: func.func @two_inputs(
// CHECK: itensor.empty
// CHECK: itensor.converter %x_{{.*}} {shared_loops = 1, buffer_shape = [1, 8], blocks = 2} : !itensor1 to !itensor3
// CHECK-NEXT: itensor.converter %w_{{.*}} {shared_loops = 0, buffer_shape = [8, 8], blocks = 1} : !itensor to !itensor4
// CHECK-NEXT: itensor.empty
// CHECK-NEXT: dataflow.task @b ins
// CHECK: itensor.empty
// CHECK-NEXT: %s = dataflow.task @s ins
// CHECK: itensor.converter %s {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor1 to !itensor5
// CHECK-NEXT: itensor.empty
// CHECK-NEXT: dataflow.task @r ins

// -----

// @s spreads a vector over rows and is summed by columns: as columns it needs the vector whole, 24 bytes instead of 192.
// SHOW: itensor.converter|itensor.cast|itensor.empty ...|dataflow.task @\w+ ins ...
#map = affine_map<(d0, d1) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
!itensor = !itensor.itensor<8xf32, iter_space: [] * [], iter_map: () -> (0)>
!itensor1 = !itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
!itensor2 = !itensor.itensor<1xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0)>
!itensor3 = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!itensor4 = !itensor.itensor<6x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
func.func @broadcast(%v: tensor<8xf32>) -> tensor<8xf32> {
  %r = dataflow.kernel @main(%v_1 = %v : tensor<8xf32> as !itensor) -> (tensor<8xf32> as !itensor1) {
    %0 = itensor.empty : !itensor2
    %a = dataflow.task @a outs(%out = %0 : !itensor2) -> !itensor2 {
      dataflow.yield %out : !itensor2
    }
    %1 = itensor.empty : !itensor3
    %s = dataflow.task @s ins(%v_2 = %v_1 : !itensor, %a_1 = %a : !itensor2) outs(%out = %1 : !itensor3) -> !itensor3 {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c6 = arith.constant 6 : index
      %2 = itensor.read %v_2[] : !itensor -> tensor<8xf32>
      %s_1 = scf.for %i = %c0 to %c6 step %c1 iter_args(%3 = %out) -> (!itensor3) {
        %4 = itensor.read %a_1[%i] : !itensor2 -> tensor<1xf32>
        %5 = tensor.empty() : tensor<1x8xf32>
        %6 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel"]} ins(%4, %2 : tensor<1xf32>, tensor<8xf32>) outs(%5 : tensor<1x8xf32>) attrs = {stc.schedule = #dataflow.schedule<tile = [1, 8], order = [0, 1], unroll = [1, 1], vector = []>} {
        ^bb0(%a0: f32, %a1: f32, %o0: f32):  linalg.yield %a0 : f32
        } -> tensor<1x8xf32>
        %7 = itensor.write %6 into %3[%i] : tensor<1x8xf32> -> !itensor3
        scf.yield %7 : !itensor3
      }
      dataflow.yield %s_1 : !itensor3
    }
    %s_1 = itensor.converter %s {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor3 to !itensor4
    %2 = itensor.empty : !itensor1
    %r_1 = dataflow.task @r ins(%s_2 = %s_1 : !itensor4) outs(%out = %2 : !itensor1) -> !itensor1 {
      dataflow.yield %out : !itensor1
    }
    dataflow.yield %r_1 : !itensor1
  }
  func.return %r : tensor<8xf32>
}

// CHECK: !itensor1 = !itensor.itensor<1xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0)>
// CHECK: !itensor2 = !itensor.itensor<6xf32, iter_space: [] * [], iter_map: () -> (0)>
// CHECK-LABEL: func.func @broadcast(
// CHECK: itensor.empty
// CHECK: itensor.converter %a {shared_loops = 0, buffer_shape = [6], blocks = 1} : !itensor1 to !itensor2
// CHECK-NEXT: itensor.empty
// CHECK-NEXT: dataflow.task @s ins
// CHECK: itensor.empty
// CHECK-NEXT: dataflow.task @r ins

// -----

// @s counts its rows within a tile (linalg.index and what the tile starts at): it is not taken for element-wise, and stays.
// SHOW: itensor.converter|itensor.cast|itensor.empty ...|dataflow.task @\w+ ins ...
#map = affine_map<(d0, d1) -> (d0, d1)>
!itensor = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!itensor1 = !itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
!itensor2 = !itensor.itensor<1xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0)>
!itensor3 = !itensor.itensor<6x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
func.func @not_elementwise(%x: tensor<6x8xf32>) -> tensor<8xf32> {
  %r = dataflow.kernel @main(%x_1 = %x : tensor<6x8xf32> as !itensor) -> (tensor<8xf32> as !itensor1) {
    %0 = itensor.empty : !itensor2
    %n = dataflow.task @n outs(%out = %0 : !itensor2) -> !itensor2 {
      dataflow.yield %out : !itensor2
    }
    %1 = itensor.empty : !itensor
    %s = dataflow.task @s ins(%x_2 = %x_1 : !itensor) outs(%out = %1 : !itensor) -> !itensor {
      %c0 = arith.constant 0 : index  %c6 = arith.constant 6 : index  %c1 = arith.constant 1 : index
      %s_1 = scf.for %i = %c0 to %c6 step %c1 iter_args(%2 = %out) -> (!itensor) {
        %3 = itensor.read %x_2[%i] : !itensor -> tensor<1x8xf32>
        %4 = tensor.empty() : tensor<1x8xf32>
        %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<1x8xf32>) outs(%4 : tensor<1x8xf32>) {
        ^bb0(%a0: f32, %o0: f32):  %t0 = linalg.index 0 : index  %t1 = arith.index_cast %i : index to i32  linalg.yield %a0 : f32
        } -> tensor<1x8xf32>
        scf.yield %2 : !itensor
      }
      dataflow.yield %s_1 : !itensor
    }
    %s_1 = itensor.converter %s {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor to !itensor3
    %2 = itensor.empty : !itensor1
    %r_1 = dataflow.task @r ins(%s_2 = %s_1 : !itensor3) outs(%out = %2 : !itensor1) -> !itensor1 {
      dataflow.yield %out : !itensor1
    }
    dataflow.yield %r_1 : !itensor1
  }
  func.return %r : tensor<8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor3 = !itensor.itensor<6x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
// CHECK-LABEL: func.func @not_elementwise(
// CHECK: itensor.empty
// CHECK: itensor.empty
// CHECK-NEXT: %s = dataflow.task @s ins
// CHECK: itensor.converter %s {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor to !itensor3
// CHECK-NEXT: itensor.empty
// CHECK-NEXT: dataflow.task @r ins
