// RUN: stc-opt %s -p 'share-converters' --split-input-file | filecheck %s

// Rows are wanted as column blocks by @b, and as column blocks three times over by @a: @a's converter starts from what @b's gives.
// 48 entries and twice 12 instead of twice 48.
// SHOW: kernel|converter|itensor.cast|dataflow.task|yield.*, 
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1) -> (d1, d0)>
!itensor = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!itensor1 = !itensor.itensor<1x2x3xf32, iter_space: [4, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d1, d0, d2)>
!itensor2 = !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
!itensor3 = !itensor.itensor<3x2xf32, iter_space: [4, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d2, d0)>
!itensor4 = !itensor.itensor<3x2xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d1, d0)>
func.func @start_from_another(%x: tensor<6x8xf32>, %u: tensor<3x8x6xf32>, %v: tensor<8x6xf32>) -> (tensor<3x8x6xf32>, tensor<8x6xf32>) {
  %a, %b = dataflow.kernel @main(%x_1 = %x : tensor<6x8xf32> as !itensor, %u_1 = %u : tensor<3x8x6xf32> as !itensor1, %v_1 = %v : tensor<8x6xf32> as !itensor2) -> (tensor<3x8x6xf32> as !itensor1, tensor<8x6xf32> as !itensor2) {
    %0 = itensor.empty : !itensor
    %n = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c6 = arith.constant 6 : index
      %c1 = arith.constant 1 : index
      %n_1 = scf.for %i = %c0 to %c6 step %c1 iter_args(%1 = %out) -> (!itensor) {
        %2 = itensor.read %x_2[%i] : !itensor -> tensor<1x8xf32>
        %3 = tensor.empty() : tensor<1x8xf32>
        %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<1x8xf32>) outs(%3 : tensor<1x8xf32>) attrs =  {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [1, 8], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "n"} {
        ^bb0(%a0: f32, %o0: f32):
          %t0 = arith.negf %a0 : f32
          linalg.yield %t0 : f32
        } -> tensor<1x8xf32>
        %5 = itensor.write %4 into %1[%i] : tensor<1x8xf32> -> !itensor
        scf.yield %5 : !itensor
      }
      dataflow.yield %n_1 : !itensor
    }
    %n_1 = itensor.converter %n {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor to !itensor3
    %1 = itensor.empty : !itensor1
    %a_1 = dataflow.task @a ins(%n_2 = %n_1 : !itensor3, %u_2 = %u_1 : !itensor1) outs(%out = %1 : !itensor1) -> !itensor1 attributes {stc.name = "a"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %a_2 = scf.for %j = %c0 to %c8 step %c2 iter_args(%2 = %out) -> (!itensor1) {
        %3 = scf.for %i = %c0 to %c3 step %c1 iter_args(%4 = %2) -> (!itensor1) {
          %5 = scf.for %k = %c0 to %c6 step %c3 iter_args(%6 = %4) -> (!itensor1) {
            %7 = itensor.read %n_2[%j, %i, %k] : !itensor3 -> tensor<3x2xf32>
            %8 = itensor.read %u_2[%j, %i, %k] : !itensor1 -> tensor<1x2x3xf32>
            %9 = tensor.empty() : tensor<1x2x3xf32>
            %10 = linalg.generic {indexing_maps = [#map1, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7, %8 : tensor<3x2xf32>, tensor<1x2x3xf32>) outs(%9 : tensor<1x2x3xf32>) attrs =  {stc.name = "a", stc.schedule = #dataflow.schedule<tile = [1, 2, 3], order = [1, 0, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "a"} {
            ^bb0(%a0: f32, %a1: f32, %o0: f32):
              %t0 = arith.subf %a0, %a1 : f32
              linalg.yield %t0 : f32
            } -> tensor<1x2x3xf32>
            %11 = itensor.write %10 into %6[%j, %i, %k] : tensor<1x2x3xf32> -> !itensor1
            scf.yield %11 : !itensor1
          }
          scf.yield %5 : !itensor1
        }
        scf.yield %3 : !itensor1
      }
      dataflow.yield %a_2 : !itensor1
    }
    %n_2 = itensor.converter %n {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor to !itensor4
    %2 = itensor.empty : !itensor2
    %b_1 = dataflow.task @b ins(%n_3 = %n_2 : !itensor4, %v_2 = %v_1 : !itensor2) outs(%out = %2 : !itensor2) -> !itensor2 attributes {stc.name = "b"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %b_2 = scf.for %i = %c0 to %c8 step %c2 iter_args(%3 = %out) -> (!itensor2) {
        %4 = scf.for %j = %c0 to %c6 step %c3 iter_args(%5 = %3) -> (!itensor2) {
          %6 = itensor.read %n_3[%i, %j] : !itensor4 -> tensor<3x2xf32>
          %7 = itensor.read %v_2[%i, %j] : !itensor2 -> tensor<2x3xf32>
          %8 = tensor.empty() : tensor<2x3xf32>
          %9 = linalg.generic {indexing_maps = [#map3, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %7 : tensor<3x2xf32>, tensor<2x3xf32>) outs(%8 : tensor<2x3xf32>) attrs =  {stc.name = "b", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "b"} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):
            %t0 = arith.subf %a0, %a1 : f32
            linalg.yield %t0 : f32
          } -> tensor<2x3xf32>
          %10 = itensor.write %9 into %5[%i, %j] : tensor<2x3xf32> -> !itensor2
          scf.yield %10 : !itensor2
        }
        scf.yield %4 : !itensor2
      }
      dataflow.yield %b_2 : !itensor2
    }
    dataflow.yield %a_1, %b_1 : !itensor1, !itensor2
  }
  func.return %a, %b : tensor<3x8x6xf32>, tensor<8x6xf32>
}

// CHECK: !itensor = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x2x3xf32, iter_space: [4, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d1, d0, d2)>
// CHECK: !itensor2 = !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor3 = !itensor.itensor<3x2xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d1, d0)>
// CHECK: !itensor4 = !itensor.itensor<3x2xf32, iter_space: [4, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d2, d0)>
// CHECK-LABEL: func.func @start_from_another(
// CHECK-NEXT: %a, %b = dataflow.kernel @main(%x_1 = %x : tensor<6x8xf32> as !itensor, %u_1 = %u : tensor<3x8x6xf32> as !itensor1, %v_1 = %v : tensor<8x6xf32> as !itensor2) -> (tensor<3x8x6xf32> as !itensor1, tensor<8x6xf32> as !itensor2) {
// CHECK: %n = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "n"} {
// CHECK: %n_1 = itensor.converter %n {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor to !itensor3
// CHECK-NEXT: %n_2 = itensor.converter %n_1 {shared_loops = 1, buffer_shape = [6, 2], blocks = 2} : !itensor3 to !itensor4
// CHECK: %a_1 = dataflow.task @a ins(%n_3 = %n_2 : !itensor4, %u_2 = %u_1 : !itensor1) outs(%out = %1 : !itensor1) -> !itensor1 attributes {stc.name = "a"} {
// CHECK: %b_1 = dataflow.task @b ins(%n_3 = %n_1 : !itensor3, %v_2 = %v_1 : !itensor2) outs(%out = %2 : !itensor2) -> !itensor2 attributes {stc.name = "b"} {
// CHECK: dataflow.yield %a_1, %b_1 : !itensor1, !itensor2

// -----

// The same, but @c joins both: one branch would wait for the other with the whole tensor in a FIFO, so that nothing is gained.
// SHOW: kernel|converter|itensor.cast|dataflow.task|yield.*, 
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1) -> (d1, d0)>
#map4 = affine_map<(d0, d1, d2) -> (d1, d2)>
#schedule = #dataflow.schedule<tile = [1, 2, 3], order = [1, 0, 2], unroll = [1, 1, 1], vector = []>
!itensor = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!itensor1 = !itensor.itensor<1x2x3xf32, iter_space: [4, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d1, d0, d2)>
!itensor2 = !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
!itensor3 = !itensor.itensor<3x2xf32, iter_space: [4, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d2, d0)>
!itensor4 = !itensor.itensor<3x2xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d1, d0)>
!itensor5 = !itensor.itensor<2x3xf32, iter_space: [4, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d0, d2)>
func.func @branches_that_meet(%x: tensor<6x8xf32>, %u: tensor<3x8x6xf32>, %v: tensor<8x6xf32>) -> tensor<3x8x6xf32> {
  %c = dataflow.kernel @main(%x_1 = %x : tensor<6x8xf32> as !itensor, %u_1 = %u : tensor<3x8x6xf32> as !itensor1, %v_1 = %v : tensor<8x6xf32> as !itensor2) -> (tensor<3x8x6xf32> as !itensor1) {
    %0 = itensor.empty : !itensor
    %n = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c6 = arith.constant 6 : index
      %c1 = arith.constant 1 : index
      %n_1 = scf.for %i = %c0 to %c6 step %c1 iter_args(%1 = %out) -> (!itensor) {
        %2 = itensor.read %x_2[%i] : !itensor -> tensor<1x8xf32>
        %3 = tensor.empty() : tensor<1x8xf32>
        %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<1x8xf32>) outs(%3 : tensor<1x8xf32>) attrs =  {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [1, 8], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "n"} {
        ^bb0(%a0: f32, %o0: f32):
          %t0 = arith.negf %a0 : f32
          linalg.yield %t0 : f32
        } -> tensor<1x8xf32>
        %5 = itensor.write %4 into %1[%i] : tensor<1x8xf32> -> !itensor
        scf.yield %5 : !itensor
      }
      dataflow.yield %n_1 : !itensor
    }
    %n_1 = itensor.converter %n {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor to !itensor3
    %1 = itensor.empty : !itensor1
    %a = dataflow.task @a ins(%n_2 = %n_1 : !itensor3, %u_2 = %u_1 : !itensor1) outs(%out = %1 : !itensor1) -> !itensor1 attributes {stc.name = "a"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %a_1 = scf.for %j = %c0 to %c8 step %c2 iter_args(%2 = %out) -> (!itensor1) {
        %3 = scf.for %i = %c0 to %c3 step %c1 iter_args(%4 = %2) -> (!itensor1) {
          %5 = scf.for %k = %c0 to %c6 step %c3 iter_args(%6 = %4) -> (!itensor1) {
            %7 = itensor.read %n_2[%j, %i, %k] : !itensor3 -> tensor<3x2xf32>
            %8 = itensor.read %u_2[%j, %i, %k] : !itensor1 -> tensor<1x2x3xf32>
            %9 = tensor.empty() : tensor<1x2x3xf32>
            %10 = linalg.generic {indexing_maps = [#map1, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7, %8 : tensor<3x2xf32>, tensor<1x2x3xf32>) outs(%9 : tensor<1x2x3xf32>) attrs =  {stc.name = "a", stc.schedule = #schedule, stc.tile = "a"} {
            ^bb0(%a0: f32, %a1: f32, %o0: f32):
              %t0 = arith.subf %a0, %a1 : f32
              linalg.yield %t0 : f32
            } -> tensor<1x2x3xf32>
            %11 = itensor.write %10 into %6[%j, %i, %k] : tensor<1x2x3xf32> -> !itensor1
            scf.yield %11 : !itensor1
          }
          scf.yield %5 : !itensor1
        }
        scf.yield %3 : !itensor1
      }
      dataflow.yield %a_1 : !itensor1
    }
    %n_2 = itensor.converter %n {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor to !itensor4
    %2 = itensor.empty : !itensor2
    %b = dataflow.task @b ins(%n_3 = %n_2 : !itensor4, %v_2 = %v_1 : !itensor2) outs(%out = %2 : !itensor2) -> !itensor2 attributes {stc.name = "b"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %b_1 = scf.for %i = %c0 to %c8 step %c2 iter_args(%3 = %out) -> (!itensor2) {
        %4 = scf.for %j = %c0 to %c6 step %c3 iter_args(%5 = %3) -> (!itensor2) {
          %6 = itensor.read %n_3[%i, %j] : !itensor4 -> tensor<3x2xf32>
          %7 = itensor.read %v_2[%i, %j] : !itensor2 -> tensor<2x3xf32>
          %8 = tensor.empty() : tensor<2x3xf32>
          %9 = linalg.generic {indexing_maps = [#map3, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %7 : tensor<3x2xf32>, tensor<2x3xf32>) outs(%8 : tensor<2x3xf32>) attrs =  {stc.name = "b", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "b"} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):
            %t0 = arith.subf %a0, %a1 : f32
            linalg.yield %t0 : f32
          } -> tensor<2x3xf32>
          %10 = itensor.write %9 into %5[%i, %j] : tensor<2x3xf32> -> !itensor2
          scf.yield %10 : !itensor2
        }
        scf.yield %4 : !itensor2
      }
      dataflow.yield %b_1 : !itensor2
    }
    %b_1 = itensor.converter %b {shared_loops = 1, buffer_shape = [2, 6], blocks = 2} : !itensor2 to !itensor5
    %3 = itensor.empty : !itensor1
    %c_1 = dataflow.task @c ins(%a_1 = %a : !itensor1, %b_2 = %b_1 : !itensor5) outs(%out = %3 : !itensor1) -> !itensor1 attributes {stc.name = "c"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %c_2 = scf.for %j = %c0 to %c8 step %c2 iter_args(%4 = %out) -> (!itensor1) {
        %5 = scf.for %i = %c0 to %c3 step %c1 iter_args(%6 = %4) -> (!itensor1) {
          %7 = scf.for %k = %c0 to %c6 step %c3 iter_args(%8 = %6) -> (!itensor1) {
            %9 = itensor.read %a_1[%j, %i, %k] : !itensor1 -> tensor<1x2x3xf32>
            %10 = itensor.read %b_2[%j, %i, %k] : !itensor5 -> tensor<2x3xf32>
            %11 = tensor.empty() : tensor<1x2x3xf32>
            %12 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %10 : tensor<1x2x3xf32>, tensor<2x3xf32>) outs(%11 : tensor<1x2x3xf32>) attrs =  {stc.name = "c", stc.schedule = #schedule, stc.tile = "c"} {
            ^bb0(%a0: f32, %a1: f32, %o0: f32):
              %t0 = arith.subf %a0, %a1 : f32
              linalg.yield %t0 : f32
            } -> tensor<1x2x3xf32>
            %13 = itensor.write %12 into %8[%j, %i, %k] : tensor<1x2x3xf32> -> !itensor1
            scf.yield %13 : !itensor1
          }
          scf.yield %7 : !itensor1
        }
        scf.yield %5 : !itensor1
      }
      dataflow.yield %c_2 : !itensor1
    }
    dataflow.yield %c_1 : !itensor1
  }
  func.return %c : tensor<3x8x6xf32>
}

// CHECK: !itensor = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x2x3xf32, iter_space: [4, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d1, d0, d2)>
// CHECK: !itensor2 = !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor3 = !itensor.itensor<3x2xf32, iter_space: [4, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d2, d0)>
// CHECK: !itensor4 = !itensor.itensor<3x2xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d1, d0)>
// CHECK: !itensor5 = !itensor.itensor<2x3xf32, iter_space: [4, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func.func @branches_that_meet(
// CHECK-NEXT: %c = dataflow.kernel @main(%x_1 = %x : tensor<6x8xf32> as !itensor, %u_1 = %u : tensor<3x8x6xf32> as !itensor1, %v_1 = %v : tensor<8x6xf32> as !itensor2) -> (tensor<3x8x6xf32> as !itensor1) {
// CHECK: %n = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "n"} {
// CHECK: %n_1 = itensor.converter %n {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor to !itensor3
// CHECK: %a = dataflow.task @a ins(%n_2 = %n_1 : !itensor3, %u_2 = %u_1 : !itensor1) outs(%out = %1 : !itensor1) -> !itensor1 attributes {stc.name = "a"} {
// CHECK: %n_2 = itensor.converter %n {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor to !itensor4
// CHECK: %b = dataflow.task @b ins(%n_3 = %n_2 : !itensor4, %v_2 = %v_1 : !itensor2) outs(%out = %2 : !itensor2) -> !itensor2 attributes {stc.name = "b"} {
// CHECK: %b_1 = itensor.converter %b {shared_loops = 1, buffer_shape = [2, 6], blocks = 2} : !itensor2 to !itensor5
// CHECK: %c_1 = dataflow.task @c ins(%a_1 = %a : !itensor1, %b_2 = %b_1 : !itensor5) outs(%out = %3 : !itensor1) -> !itensor1 attributes {stc.name = "c"} {

// -----

// Where a column block is half of the tensor nothing is gained either.
// SHOW: kernel|converter|itensor.cast|dataflow.task|yield.*, 
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1) -> (d1, d0)>
!itensor = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!itensor1 = !itensor.itensor<1x2x3xf32, iter_space: [2, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d1, d0, d2)>
!itensor2 = !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
!itensor3 = !itensor.itensor<3x2xf32, iter_space: [2, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d2, d0)>
!itensor4 = !itensor.itensor<3x2xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d1, d0)>
func.func @no_gain(%x: tensor<6x4xf32>, %u: tensor<3x4x6xf32>, %v: tensor<4x6xf32>) -> (tensor<3x4x6xf32>, tensor<4x6xf32>) {
  %a, %b = dataflow.kernel @main(%x_1 = %x : tensor<6x4xf32> as !itensor, %u_1 = %u : tensor<3x4x6xf32> as !itensor1, %v_1 = %v : tensor<4x6xf32> as !itensor2) -> (tensor<3x4x6xf32> as !itensor1, tensor<4x6xf32> as !itensor2) {
    %0 = itensor.empty : !itensor
    %n = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c6 = arith.constant 6 : index
      %c1 = arith.constant 1 : index
      %n_1 = scf.for %i = %c0 to %c6 step %c1 iter_args(%1 = %out) -> (!itensor) {
        %2 = itensor.read %x_2[%i] : !itensor -> tensor<1x4xf32>
        %3 = tensor.empty() : tensor<1x4xf32>
        %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<1x4xf32>) outs(%3 : tensor<1x4xf32>) attrs =  {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [1, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "n"} {
        ^bb0(%a0: f32, %o0: f32):
          %t0 = arith.negf %a0 : f32
          linalg.yield %t0 : f32
        } -> tensor<1x4xf32>
        %5 = itensor.write %4 into %1[%i] : tensor<1x4xf32> -> !itensor
        scf.yield %5 : !itensor
      }
      dataflow.yield %n_1 : !itensor
    }
    %n_1 = itensor.converter %n {shared_loops = 0, buffer_shape = [6, 4], blocks = 1} : !itensor to !itensor3
    %1 = itensor.empty : !itensor1
    %a_1 = dataflow.task @a ins(%n_2 = %n_1 : !itensor3, %u_2 = %u_1 : !itensor1) outs(%out = %1 : !itensor1) -> !itensor1 attributes {stc.name = "a"} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %a_2 = scf.for %j = %c0 to %c4 step %c2 iter_args(%2 = %out) -> (!itensor1) {
        %3 = scf.for %i = %c0 to %c3 step %c1 iter_args(%4 = %2) -> (!itensor1) {
          %5 = scf.for %k = %c0 to %c6 step %c3 iter_args(%6 = %4) -> (!itensor1) {
            %7 = itensor.read %n_2[%j, %i, %k] : !itensor3 -> tensor<3x2xf32>
            %8 = itensor.read %u_2[%j, %i, %k] : !itensor1 -> tensor<1x2x3xf32>
            %9 = tensor.empty() : tensor<1x2x3xf32>
            %10 = linalg.generic {indexing_maps = [#map1, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7, %8 : tensor<3x2xf32>, tensor<1x2x3xf32>) outs(%9 : tensor<1x2x3xf32>) attrs =  {stc.name = "a", stc.schedule = #dataflow.schedule<tile = [1, 2, 3], order = [1, 0, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "a"} {
            ^bb0(%a0: f32, %a1: f32, %o0: f32):
              %t0 = arith.subf %a0, %a1 : f32
              linalg.yield %t0 : f32
            } -> tensor<1x2x3xf32>
            %11 = itensor.write %10 into %6[%j, %i, %k] : tensor<1x2x3xf32> -> !itensor1
            scf.yield %11 : !itensor1
          }
          scf.yield %5 : !itensor1
        }
        scf.yield %3 : !itensor1
      }
      dataflow.yield %a_2 : !itensor1
    }
    %n_2 = itensor.converter %n {shared_loops = 0, buffer_shape = [6, 4], blocks = 1} : !itensor to !itensor4
    %2 = itensor.empty : !itensor2
    %b_1 = dataflow.task @b ins(%n_3 = %n_2 : !itensor4, %v_2 = %v_1 : !itensor2) outs(%out = %2 : !itensor2) -> !itensor2 attributes {stc.name = "b"} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %b_2 = scf.for %i = %c0 to %c4 step %c2 iter_args(%3 = %out) -> (!itensor2) {
        %4 = scf.for %j = %c0 to %c6 step %c3 iter_args(%5 = %3) -> (!itensor2) {
          %6 = itensor.read %n_3[%i, %j] : !itensor4 -> tensor<3x2xf32>
          %7 = itensor.read %v_2[%i, %j] : !itensor2 -> tensor<2x3xf32>
          %8 = tensor.empty() : tensor<2x3xf32>
          %9 = linalg.generic {indexing_maps = [#map3, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %7 : tensor<3x2xf32>, tensor<2x3xf32>) outs(%8 : tensor<2x3xf32>) attrs =  {stc.name = "b", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "b"} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):
            %t0 = arith.subf %a0, %a1 : f32
            linalg.yield %t0 : f32
          } -> tensor<2x3xf32>
          %10 = itensor.write %9 into %5[%i, %j] : tensor<2x3xf32> -> !itensor2
          scf.yield %10 : !itensor2
        }
        scf.yield %4 : !itensor2
      }
      dataflow.yield %b_2 : !itensor2
    }
    dataflow.yield %a_1, %b_1 : !itensor1, !itensor2
  }
  func.return %a, %b : tensor<3x4x6xf32>, tensor<4x6xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x2x3xf32, iter_space: [2, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d1, d0, d2)>
// CHECK: !itensor2 = !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor3 = !itensor.itensor<3x2xf32, iter_space: [2, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d2, d0)>
// CHECK: !itensor4 = !itensor.itensor<3x2xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @no_gain(
// CHECK-NEXT: %a, %b = dataflow.kernel @main(%x_1 = %x : tensor<6x4xf32> as !itensor, %u_1 = %u : tensor<3x4x6xf32> as !itensor1, %v_1 = %v : tensor<4x6xf32> as !itensor2) -> (tensor<3x4x6xf32> as !itensor1, tensor<4x6xf32> as !itensor2) {
// CHECK: %n = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "n"} {
// CHECK: %n_1 = itensor.converter %n {shared_loops = 0, buffer_shape = [6, 4], blocks = 1} : !itensor to !itensor3
// CHECK: %a_1 = dataflow.task @a ins(%n_2 = %n_1 : !itensor3, %u_2 = %u_1 : !itensor1) outs(%out = %1 : !itensor1) -> !itensor1 attributes {stc.name = "a"} {
// CHECK: %n_2 = itensor.converter %n {shared_loops = 0, buffer_shape = [6, 4], blocks = 1} : !itensor to !itensor4
// CHECK: %b_1 = dataflow.task @b ins(%n_3 = %n_2 : !itensor4, %v_2 = %v_1 : !itensor2) outs(%out = %2 : !itensor2) -> !itensor2 attributes {stc.name = "b"} {
// CHECK: dataflow.yield %a_1, %b_1 : !itensor1, !itensor2

// -----

// The same sequence, spelled in two ways and read by two results that never meet: one converter, and a cast.
// SHOW: kernel|converter|itensor.cast|yield
!R = !itensor.itensor<1x8xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
!C = !itensor.itensor<8x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
!C2 = !itensor.itensor<8x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (0, d0 + d1)>
func.func @same_sequence(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %y, %z = dataflow.kernel @k(%p = %x : tensor<8x8xf32> as !R) -> (tensor<8x8xf32> as !C, tensor<8x8xf32> as !C2) {
    %a = itensor.converter %p {shared_loops = 0, buffer_shape = [8, 8], blocks = 1} : !R to !C
    %b = itensor.converter %p {shared_loops = 0, buffer_shape = [8, 8], blocks = 1} : !R to !C2
    dataflow.yield %a, %b : !C, !C2
  }
  func.return %y, %z : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x8xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<8x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
// CHECK: !itensor2 = !itensor.itensor<8x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (0, d0 + d1)>
// CHECK-LABEL: func.func @same_sequence(
// CHECK-NEXT: %y, %z = dataflow.kernel @k(%p = %x : tensor<8x8xf32> as !itensor) -> (tensor<8x8xf32> as !itensor1, tensor<8x8xf32> as !itensor2) {
// CHECK-NEXT: %p_1 = itensor.converter %p {shared_loops = 0, buffer_shape = [8, 8], blocks = 1} : !itensor to !itensor1
// CHECK-NEXT: %p_2 = itensor.cast %p_1 : !itensor1 to !itensor2
// CHECK-NEXT: dataflow.yield %p_1, %p_2 : !itensor1, !itensor2

// -----

// Column blocks, each twice and each three times: the second converter takes a block twice in and gives it three times.
// SHOW: kernel|converter|itensor.cast|yield
!R = !itensor.itensor<1x16xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
!A = !itensor.itensor<8x2xf32, iter_space: [8, 2] * [2, 1], iter_map: (d0, d1) -> (0, d0)>
!B = !itensor.itensor<8x2xf32, iter_space: [8, 3] * [2, 1], iter_map: (d0, d1) -> (0, d0)>
func.func @reused_differently(%x: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %y, %z = dataflow.kernel @k(%p = %x : tensor<8x16xf32> as !R) -> (tensor<8x16xf32> as !A, tensor<8x16xf32> as !B) {
    %a = itensor.converter %p {shared_loops = 0, buffer_shape = [8, 16], blocks = 1} : !R to !A
    %b = itensor.converter %p {shared_loops = 0, buffer_shape = [8, 16], blocks = 1} : !R to !B
    dataflow.yield %a, %b : !A, !B
  }
  func.return %y, %z : tensor<8x16xf32>, tensor<8x16xf32>
}

// CHECK: !itensor = !itensor.itensor<1x16xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<8x2xf32, iter_space: [8, 2] * [2, 1], iter_map: (d0, d1) -> (0, d0)>
// CHECK: !itensor2 = !itensor.itensor<8x2xf32, iter_space: [8, 3] * [2, 1], iter_map: (d0, d1) -> (0, d0)>
// CHECK-LABEL: func.func @reused_differently(
// CHECK-NEXT: %y, %z = dataflow.kernel @k(%p = %x : tensor<8x16xf32> as !itensor) -> (tensor<8x16xf32> as !itensor1, tensor<8x16xf32> as !itensor2) {
// CHECK-NEXT: %p_1 = itensor.converter %p {shared_loops = 0, buffer_shape = [8, 16], blocks = 1} : !itensor to !itensor1
// CHECK-NEXT: %p_2 = itensor.converter %p_1 {shared_loops = 1, buffer_shape = [8, 2], blocks = 2} : !itensor1 to !itensor2
// CHECK-NEXT: dataflow.yield %p_1, %p_2 : !itensor1, !itensor2
