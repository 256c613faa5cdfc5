// RUN: stc-opt %s -p 'vectorize-streams{lanes=4}' --split-input-file | filecheck %s

// A 2x8 tile is read as four vectors of 4, and written so; the types say in which order.
// SHOW: itensor.read|itensor.write|itensor.converter|itensor.cast|scf.for .*step %\w+ ...|_slice .*?\] ...
!itensor = !itensor.itensor<2x8xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
func.func @tiles(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = dataflow.kernel @main(%x_1 = %x : tensor<4x8xf32> as !itensor) -> (tensor<4x8xf32> as !itensor) {
    %0 = itensor.empty : !itensor
    %n_1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor {
      %c0 = arith.constant 0 : index  %c4 = arith.constant 4 : index  %c2 = arith.constant 2 : index
      %n_2 = scf.for %i = %c0 to %c4 step %c2 iter_args(%1 = %out) -> (!itensor) {
        %2 = itensor.read %x_2[%i] : !itensor -> tensor<2x8xf32>
        %3 = itensor.write %2 into %1[%i] : tensor<2x8xf32> -> !itensor
        scf.yield %3 : !itensor
      }
      dataflow.yield %n_2 : !itensor
    }
    dataflow.yield %n_1 : !itensor
  }
  func.return %n : tensor<4x8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [2, 2, 2] * [2, 1, 4], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
// CHECK-LABEL: func.func @tiles(
// CHECK: scf.for %i = %c0 to %c4 step %c2
// CHECK: %[[FOR:.*]] = scf.for %row = %c0_{{.*}} to %c2_{{.*}} step %c1
// CHECK: scf.for %column = %c0_{{.*}} to %c8 step %c4_{{.*}}
// CHECK-NEXT: %[[READ:.*]] = itensor.read %x_{{.*}}[%i, %row, %column] : !itensor -> tensor<1x4xf32>
// CHECK-NEXT: tensor.insert_slice %[[READ]] into %{{.*}}[%row, %column]
// CHECK: scf.for %[[ROW:.*]] = %c0_{{.*}} to %c2_{{.*}} step %c1_{{.*}}
// CHECK: scf.for %[[COLUMN:.*]] = %c0_{{.*}} to %c8_{{.*}} step %c4_{{.*}}
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %[[FOR]][%[[ROW]], %[[COLUMN]]]
// CHECK-NEXT: itensor.write %[[EXTRACT_SLICE]] into %{{.*}}[%i, %[[ROW]], %[[COLUMN]]] : tensor<1x4xf32> -> !itensor

// -----

// 7 entries do not split into 4 lanes but into single ones; 6 into threes.
// SHOW: itensor.read|itensor.write|itensor.converter|itensor.cast|scf.for .*step %\w+ ...|_slice .*?\] ...
!itensor = !itensor.itensor<7xf32, iter_space: [] * [], iter_map: () -> (0)>
!itensor1 = !itensor.itensor<6xf32, iter_space: [] * [], iter_map: () -> (0)>
func.func @odd(%x: tensor<7xf32>, %u: tensor<6xf32>) -> (tensor<7xf32>, tensor<6xf32>) {
  %n = dataflow.kernel @main_0(%x_1 = %x : tensor<7xf32> as !itensor) -> (tensor<7xf32> as !itensor) {
    %0 = itensor.empty : !itensor
    %n_1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor {
      %1 = itensor.read %x_2[] : !itensor -> tensor<7xf32>
      %n_2 = itensor.write %1 into %out[] : tensor<7xf32> -> !itensor
      dataflow.yield %n_2 : !itensor
    }
    dataflow.yield %n_1 : !itensor
  }
  %m = dataflow.kernel @main_1(%u_1 = %u : tensor<6xf32> as !itensor1) -> (tensor<6xf32> as !itensor1) {
    %0 = itensor.empty : !itensor1
    %m_1 = dataflow.task @m ins(%u_2 = %u_1 : !itensor1) outs(%out = %0 : !itensor1) -> !itensor1 {
      %1 = itensor.read %u_2[] : !itensor1 -> tensor<6xf32>
      %m_2 = itensor.write %1 into %out[] : tensor<6xf32> -> !itensor1
      dataflow.yield %m_2 : !itensor1
    }
    dataflow.yield %m_1 : !itensor1
  }
  func.return %n, %m : tensor<7xf32>, tensor<6xf32>
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [7] * [1], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<3xf32, iter_space: [2] * [3], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @odd(
// CHECK: %[[FOR:.*]] = scf.for %entry = %c0 to %c7 step %c1
// CHECK-NEXT: %[[READ:.*]] = itensor.read %x_{{.*}}[%entry] : !itensor -> tensor<1xf32>
// CHECK-NEXT: %[[INSERT_SLICE:.*]] = tensor.insert_slice %[[READ]] into %{{.*}}[%entry]
// CHECK: scf.for %[[ENTRY:.*]] = %c0_{{.*}} to %c7_{{.*}} step %c1_{{.*}}
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %[[FOR]][%[[ENTRY]]]
// CHECK-NEXT: %[[WRITE:.*]] = itensor.write %[[EXTRACT_SLICE]] into %{{.*}}[%[[ENTRY]]] : tensor<1xf32> -> !itensor
// CHECK: %[[FOR1:.*]] = scf.for %entry = %c0 to %c6 step %c3
// CHECK-NEXT: %[[READ1:.*]] = itensor.read %u_{{.*}}[%entry] : !itensor1 -> tensor<3xf32>
// CHECK-NEXT: %[[INSERT_SLICE1:.*]] = tensor.insert_slice %[[READ1]] into %{{.*}}[%entry]
// CHECK: scf.for %[[ENTRY1:.*]] = %c0_{{.*}} to %c6_{{.*}} step %c3_{{.*}}
// CHECK-NEXT: %[[EXTRACT_SLICE1:.*]] = tensor.extract_slice %[[FOR1]][%[[ENTRY1]]]
// CHECK-NEXT: %[[WRITE1:.*]] = itensor.write %[[EXTRACT_SLICE1]] into %{{.*}}[%[[ENTRY1]]] : tensor<3xf32> -> !itensor1

// -----

// Tokens that are vectors already, and rank 0, stay.
// SHOW: itensor.read|itensor.write
func.func @unchanged(%x: tensor<2x4xf32>) -> tensor<f32> {
  %n = dataflow.kernel @main(%x_1 = %x : tensor<2x4xf32> as !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>) -> (tensor<f32> as !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>) {
    %0 = itensor.empty : !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
    %n_1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>) outs(%out = %0 : !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>) -> !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()> attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %n_c = arith.constant 0.000000e+00 : f32
      %c2 = arith.constant 2 : index
      %1 = tensor.empty() : tensor<f32>
      %2 = linalg.fill {stc.name = "n"} ins(%n_c : f32) outs(%1 : tensor<f32>) -> tensor<f32>
      %3 = scf.for %i = %c0 to %c2 step %c1 iter_args(%4 = %2) -> (tensor<f32>) {
        %5 = itensor.read %x_2[%i] : !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<1x4xf32>
        %6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%5 : tensor<1x4xf32>) outs(%4 : tensor<f32>) attrs = {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [1, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "n"} {
        ^bb0(%a0: f32, %o0: f32):  %t0 = arith.addf %a0, %o0 : f32  linalg.yield %t0 : f32
        } -> tensor<f32>
        scf.yield %6 : tensor<f32>
      }
      %n_2 = itensor.write %3 into %out[] : tensor<f32> -> !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
      dataflow.yield %n_2 : !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
    }
    dataflow.yield %n_1 : !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
  }
  func.return %n : tensor<f32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
// CHECK-LABEL: func.func @unchanged(
// CHECK: itensor.read %x_{{.*}}[%i] : !itensor -> tensor<1x4xf32>
// CHECK: itensor.write %{{.*}} into %out[] : tensor<f32> -> !itensor1

// -----

// Tiles of 2x4 and of 1x4 over whole rows: different tokens, the same vectors, so that the converter goes.
// SHOW: itensor.read|itensor.write|itensor.converter|itensor.cast|scf.for .*step %\w+ ...|_slice .*?\] ...
!itensor = !itensor.itensor<2x4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
!itensor1 = !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
!itensor2 = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
func.func @same_vectors(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = dataflow.kernel @main(%x_1 = %x : tensor<4x4xf32> as !itensor) -> (tensor<4x4xf32> as !itensor1) {
    %0 = itensor.empty : !itensor
    %n = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor {
      %c0 = arith.constant 0 : index  %c4 = arith.constant 4 : index  %c2 = arith.constant 2 : index
      %n_1 = scf.for %i = %c0 to %c4 step %c2 iter_args(%1 = %out) -> (!itensor) {
        %2 = itensor.read %x_2[%i] : !itensor -> tensor<2x4xf32>
        %3 = itensor.write %2 into %1[%i] : tensor<2x4xf32> -> !itensor
        scf.yield %3 : !itensor
      }
      dataflow.yield %n_1 : !itensor
    }
    %n_1 = itensor.converter %n {shared_loops = 1, buffer_shape = [2, 4], blocks = 2} : !itensor to !itensor2
    %n_2 = itensor.cast %n_1 : !itensor2 to !itensor1
    %1 = itensor.empty : !itensor1
    %y_1 = dataflow.task @y ins(%n_3 = %n_2 : !itensor1) outs(%out = %1 : !itensor1) -> !itensor1 {
      %c0 = arith.constant 0 : index  %c4 = arith.constant 4 : index  %c1 = arith.constant 1 : index
      %y_2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%2 = %out) -> (!itensor1) {
        %3 = itensor.read %n_3[%i] : !itensor1 -> tensor<1x4xf32>
        %4 = itensor.write %3 into %2[%i] : tensor<1x4xf32> -> !itensor1
        scf.yield %4 : !itensor1
      }
      dataflow.yield %y_2 : !itensor1
    }
    dataflow.yield %y_1 : !itensor1
  }
  func.return %y : tensor<4x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK-LABEL: func.func @same_vectors(
// CHECK: %[[N:.*]] = scf.for %i = %c0 to %c4 step %c2
// CHECK: %[[FOR:.*]] = scf.for %row = %c0_{{.*}} to %c2_{{.*}} step %c1
// CHECK-NEXT: %[[READ:.*]] = itensor.read %x_{{.*}}[%i, %row] : !itensor -> tensor<1x4xf32>
// CHECK-NEXT: tensor.insert_slice %[[READ]] into %{{.*}}[%row, 0]
// CHECK: scf.for %[[ROW:.*]] = %c0_{{.*}} to %c2_{{.*}} step %c1_{{.*}}
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %[[FOR]][%[[ROW]], 0]
// CHECK-NEXT: itensor.write %[[EXTRACT_SLICE]] into %{{.*}}[%i, %[[ROW]]] : tensor<1x4xf32> -> !itensor
// CHECK: %[[N1:.*]] = itensor.cast %n : !itensor to !itensor1
// CHECK: scf.for %i = %c0 to %c4 step %c1
// CHECK-NEXT: %[[READ1:.*]] = itensor.read %n_{{.*}}[%i] : !itensor1 -> tensor<1x4xf32>
// CHECK-NEXT: %[[WRITE:.*]] = itensor.write %[[READ1]] into %[[FOR]][%i] : tensor<1x4xf32> -> !itensor1

// -----

// Where schedules say more than `lanes`: 16 for the unroll factor at the input, 8 between the tasks, since the second takes no more,
// and 2 at the result.
// SHOW: itensor.read|itensor.write
#map = affine_map<(d0, d1) -> (d0, d1)>
!itensor = !itensor.itensor<1x16xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
func.func @as_scheduled(%x: tensor<3x16xf32>) -> tensor<3x16xf32> {
  %z = dataflow.kernel @as_scheduled(%x_1 = %x : tensor<3x16xf32> as !itensor) -> (tensor<3x16xf32> as !itensor) {
    %0 = itensor.empty : !itensor
    %y = dataflow.task @wide ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor {
      %c0 = arith.constant 0 : index  %c3 = arith.constant 3 : index  %c1 = arith.constant 1 : index
      %y_1 = scf.for %i = %c0 to %c3 step %c1 iter_args(%1 = %out) -> (!itensor) {
        %2 = itensor.read %x_2[%i] : !itensor -> tensor<1x16xf32>
        %3 = tensor.empty() : tensor<1x16xf32>
        %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<1x16xf32>) outs(%3 : tensor<1x16xf32>) attrs = {stc.schedule = #dataflow.schedule<tile = [1, 16], order = [0, 1], unroll = [1, 16], vector = []>} {
        ^bb0(%a: f32, %o: f32):  linalg.yield %a : f32
        } -> tensor<1x16xf32>
        %5 = itensor.write %4 into %1[%i] : tensor<1x16xf32> -> !itensor
        scf.yield %5 : !itensor
      }
      dataflow.yield %y_1 : !itensor
    }
    %1 = itensor.empty : !itensor
    %z_1 = dataflow.task @shaped ins(%y_1 = %y : !itensor) outs(%out = %1 : !itensor) -> !itensor {
      %c0 = arith.constant 0 : index  %c3 = arith.constant 3 : index  %c1 = arith.constant 1 : index
      %z_2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%2 = %out) -> (!itensor) {
        %3 = itensor.read %y_1[%i] : !itensor -> tensor<1x16xf32>
        %4 = tensor.empty() : tensor<1x16xf32>
        %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<1x16xf32>) outs(%4 : tensor<1x16xf32>) attrs = {stc.schedule = #dataflow.schedule<tile = [1, 16], order = [0, 1], unroll = [1, 16], vector = [[1, 8], [1, 2]]>} {
        ^bb0(%a: f32, %o: f32):  linalg.yield %a : f32
        } -> tensor<1x16xf32>
        %6 = itensor.write %5 into %2[%i] : tensor<1x16xf32> -> !itensor
        scf.yield %6 : !itensor
      }
      dataflow.yield %z_2 : !itensor
    }
    dataflow.yield %z_1 : !itensor
  }
  func.return %z : tensor<3x16xf32>
}

// CHECK: !itensor = !itensor.itensor<1x16xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x2xf32, iter_space: [3, 8] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor2 = !itensor.itensor<1x8xf32, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @as_scheduled(
// CHECK: itensor.read %x_{{.*}}[%i] : !itensor -> tensor<1x16xf32>
// CHECK: itensor.write %{{.*}} into %{{.*}}[%i, %entry] : tensor<1x8xf32> -> !itensor2
// CHECK: itensor.read %y_{{.*}}[%i, %entry] : !itensor2 -> tensor<1x8xf32>
// CHECK: itensor.write %{{.*}} into %{{.*}}[%i, %entry_{{.*}}] : tensor<1x2xf32> -> !itensor1
