// RUN: stc-opt %s -p 'vectorize-streams{lanes=4}' --split-input-file | filecheck %s

// A 2x8 tile is read as four vectors of 4, and written so; the types say in which order.
// SHOW: itensor\.|tensor\.|scf.for|kernel|task
func.func @tiles(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = dataflow.kernel @main(%x_1 = %x : tensor<4x8xf32> as !itensor.itensor<2x8xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>) -> (tensor<4x8xf32> as !itensor.itensor<2x8xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>) {
    %0 = itensor.empty : !itensor.itensor<2x8xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
    %n_1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor.itensor<2x8xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>) outs(%out = %0 : !itensor.itensor<2x8xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>) -> !itensor.itensor<2x8xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)> attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %n_2 = scf.for %i = %c0 to %c4 step %c2 iter_args(%1 = %out) -> (!itensor.itensor<2x8xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>) {
        %2 = itensor.read %x_2[%i] : !itensor.itensor<2x8xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)> -> tensor<2x8xf32>
        %3 = tensor.empty() : tensor<2x8xf32>
        %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<2x8xf32>) outs(%3 : tensor<2x8xf32>) attrs = {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [2, 8], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "n"} {
        ^bb0(%a0: f32, %o0: f32):
          %t0 = arith.negf %a0 : f32
          linalg.yield %t0 : f32
        } -> tensor<2x8xf32>
        %5 = itensor.write %4 into %1[%i] : tensor<2x8xf32> -> !itensor.itensor<2x8xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
        scf.yield %5 : !itensor.itensor<2x8xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
      }
      dataflow.yield %n_2 : !itensor.itensor<2x8xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
    }
    dataflow.yield %n_1 : !itensor.itensor<2x8xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
  }
  func.return %n : tensor<4x8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [2, 2, 2] * [2, 1, 4], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
// CHECK-LABEL: func.func @tiles(
// CHECK-NEXT: %n = dataflow.kernel @main(%x_1 = %x : tensor<4x8xf32> as !itensor) -> (tensor<4x8xf32> as !itensor) {
// CHECK-NEXT: %0 = itensor.empty : !itensor
// CHECK-NEXT: %n_1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "n"} {
// CHECK: %n_2 = scf.for %i = %c0 to %c4 step %c2 iter_args(%1 = %out) -> (!itensor) {
// CHECK-NEXT: %x_3 = tensor.empty() : tensor<2x8xf32>
// CHECK: %2 = scf.for %row = %c0_1 to %c2_1 step %c1 iter_args(%3 = %x_3) -> (tensor<2x8xf32>) {
// CHECK: %4 = scf.for %column = %c0_2 to %c8 step %c4_1 iter_args(%5 = %3) -> (tensor<2x8xf32>) {
// CHECK-NEXT: %6 = itensor.read %x_2[%i, %row, %column] : !itensor -> tensor<1x4xf32>
// CHECK-NEXT: %7 = tensor.insert_slice %6 into %5[%row, %column] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<2x8xf32>
// CHECK: %8 = tensor.empty() : tensor<2x8xf32>
// CHECK: %10 = scf.for %row_1 = %c0_3 to %c2_2 step %c1_1 iter_args(%11 = %1) -> (!itensor) {
// CHECK: %12 = scf.for %column_1 = %c0_4 to %c8_1 step %c4_2 iter_args(%13 = %11) -> (!itensor) {
// CHECK-NEXT: %14 = tensor.extract_slice %9[%row_1, %column_1] [1, 4] [1, 1] : tensor<2x8xf32> to tensor<1x4xf32>
// CHECK-NEXT: %15 = itensor.write %14 into %13[%i, %row_1, %column_1] : tensor<1x4xf32> -> !itensor

// -----

// 7 entries do not split into 4 lanes but into single ones; 6 into threes.
// SHOW: itensor\.|tensor\.|scf.for|kernel|task
func.func @odd(%x: tensor<7xf32>, %u: tensor<6xf32>) -> (tensor<7xf32>, tensor<6xf32>) {
  %n = dataflow.kernel @main_0(%x_1 = %x : tensor<7xf32> as !itensor.itensor<7xf32, iter_space: [] * [], iter_map: () -> (0)>) -> (tensor<7xf32> as !itensor.itensor<7xf32, iter_space: [] * [], iter_map: () -> (0)>) {
    %0 = itensor.empty : !itensor.itensor<7xf32, iter_space: [] * [], iter_map: () -> (0)>
    %n_1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor.itensor<7xf32, iter_space: [] * [], iter_map: () -> (0)>) outs(%out = %0 : !itensor.itensor<7xf32, iter_space: [] * [], iter_map: () -> (0)>) -> !itensor.itensor<7xf32, iter_space: [] * [], iter_map: () -> (0)> attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %1 = itensor.read %x_2[] : !itensor.itensor<7xf32, iter_space: [] * [], iter_map: () -> (0)> -> tensor<7xf32>
      %2 = tensor.empty() : tensor<7xf32>
      %3 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%1 : tensor<7xf32>) outs(%2 : tensor<7xf32>) attrs = {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [7], order = [0], unroll = [1], vector = []>, stc.tile = "n"} {
      ^bb0(%a0: f32, %o0: f32):
        %t0 = arith.negf %a0 : f32
        linalg.yield %t0 : f32
      } -> tensor<7xf32>
      %n_2 = itensor.write %3 into %out[] : tensor<7xf32> -> !itensor.itensor<7xf32, iter_space: [] * [], iter_map: () -> (0)>
      dataflow.yield %n_2 : !itensor.itensor<7xf32, iter_space: [] * [], iter_map: () -> (0)>
    }
    dataflow.yield %n_1 : !itensor.itensor<7xf32, iter_space: [] * [], iter_map: () -> (0)>
  }
  %m = dataflow.kernel @main_1(%u_1 = %u : tensor<6xf32> as !itensor.itensor<6xf32, iter_space: [] * [], iter_map: () -> (0)>) -> (tensor<6xf32> as !itensor.itensor<6xf32, iter_space: [] * [], iter_map: () -> (0)>) {
    %0 = itensor.empty : !itensor.itensor<6xf32, iter_space: [] * [], iter_map: () -> (0)>
    %m_1 = dataflow.task @m ins(%u_2 = %u_1 : !itensor.itensor<6xf32, iter_space: [] * [], iter_map: () -> (0)>) outs(%out = %0 : !itensor.itensor<6xf32, iter_space: [] * [], iter_map: () -> (0)>) -> !itensor.itensor<6xf32, iter_space: [] * [], iter_map: () -> (0)> attributes {stc.name = "m"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %1 = itensor.read %u_2[] : !itensor.itensor<6xf32, iter_space: [] * [], iter_map: () -> (0)> -> tensor<6xf32>
      %2 = tensor.empty() : tensor<6xf32>
      %3 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%1 : tensor<6xf32>) outs(%2 : tensor<6xf32>) attrs = {stc.name = "m", stc.schedule = #dataflow.schedule<tile = [6], order = [0], unroll = [1], vector = []>, stc.tile = "m"} {
      ^bb0(%a0: f32, %o0: f32):
        %t0 = arith.negf %a0 : f32
        linalg.yield %t0 : f32
      } -> tensor<6xf32>
      %m_2 = itensor.write %3 into %out[] : tensor<6xf32> -> !itensor.itensor<6xf32, iter_space: [] * [], iter_map: () -> (0)>
      dataflow.yield %m_2 : !itensor.itensor<6xf32, iter_space: [] * [], iter_map: () -> (0)>
    }
    dataflow.yield %m_1 : !itensor.itensor<6xf32, iter_space: [] * [], iter_map: () -> (0)>
  }
  func.return %n, %m : tensor<7xf32>, tensor<6xf32>
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [7] * [1], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<3xf32, iter_space: [2] * [3], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @odd(
// CHECK-NEXT: %n = dataflow.kernel @main_0(%x_1 = %x : tensor<7xf32> as !itensor) -> (tensor<7xf32> as !itensor) {
// CHECK-NEXT: %0 = itensor.empty : !itensor
// CHECK-NEXT: %n_1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "n"} {
// CHECK: %x_3 = tensor.empty() : tensor<7xf32>
// CHECK: %1 = scf.for %entry = %c0_1 to %c7 step %c1_1 iter_args(%2 = %x_3) -> (tensor<7xf32>) {
// CHECK-NEXT: %3 = itensor.read %x_2[%entry] : !itensor -> tensor<1xf32>
// CHECK-NEXT: %4 = tensor.insert_slice %3 into %2[%entry] [1] [1] : tensor<1xf32> into tensor<7xf32>
// CHECK: %5 = tensor.empty() : tensor<7xf32>
// CHECK: %n_2 = scf.for %entry_1 = %c0_2 to %c7_1 step %c1_2 iter_args(%7 = %out) -> (!itensor) {
// CHECK-NEXT: %8 = tensor.extract_slice %6[%entry_1] [1] [1] : tensor<7xf32> to tensor<1xf32>
// CHECK-NEXT: %9 = itensor.write %8 into %7[%entry_1] : tensor<1xf32> -> !itensor
// CHECK: %m = dataflow.kernel @main_1(%u_1 = %u : tensor<6xf32> as !itensor1) -> (tensor<6xf32> as !itensor1) {
// CHECK-NEXT: %0 = itensor.empty : !itensor1
// CHECK-NEXT: %m_1 = dataflow.task @m ins(%u_2 = %u_1 : !itensor1) outs(%out = %0 : !itensor1) -> !itensor1 attributes {stc.name = "m"} {
// CHECK: %u_3 = tensor.empty() : tensor<6xf32>
// CHECK: %1 = scf.for %entry = %c0_1 to %c6 step %c3 iter_args(%2 = %u_3) -> (tensor<6xf32>) {
// CHECK-NEXT: %3 = itensor.read %u_2[%entry] : !itensor1 -> tensor<3xf32>
// CHECK-NEXT: %4 = tensor.insert_slice %3 into %2[%entry] [3] [1] : tensor<3xf32> into tensor<6xf32>
// CHECK: %5 = tensor.empty() : tensor<6xf32>
// CHECK: %m_2 = scf.for %entry_1 = %c0_2 to %c6_1 step %c3_1 iter_args(%7 = %out) -> (!itensor1) {
// CHECK-NEXT: %8 = tensor.extract_slice %6[%entry_1] [3] [1] : tensor<6xf32> to tensor<3xf32>
// CHECK-NEXT: %9 = itensor.write %8 into %7[%entry_1] : tensor<3xf32> -> !itensor1

// -----

// Tokens that are vectors already, and rank 0, stay.
// SHOW: itensor\.|tensor\.|scf.for|kernel|task
func.func @unchanged(%x: tensor<2x4xf32>) -> tensor<f32> {
  %n = dataflow.kernel @main(%x_1 = %x : tensor<2x4xf32> as !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>) -> (tensor<f32> as !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>) {
    %0 = itensor.empty : !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
    %n_1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>) outs(%out = %0 : !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>) -> !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()> attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n_c = arith.constant 0.000000e+00 : f32
      %c2 = arith.constant 2 : index
      %1 = tensor.empty() : tensor<f32>
      %2 = linalg.fill {stc.name = "n"} ins(%n_c : f32) outs(%1 : tensor<f32>) -> tensor<f32>
      %3 = scf.for %i = %c0 to %c2 step %c1 iter_args(%4 = %2) -> (tensor<f32>) {
        %5 = itensor.read %x_2[%i] : !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<1x4xf32>
        %6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%5 : tensor<1x4xf32>) outs(%4 : tensor<f32>) attrs = {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [1, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "n"} {
        ^bb0(%a0: f32, %o0: f32):
          %t0 = arith.addf %a0, %o0 : f32
          linalg.yield %t0 : f32
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
// CHECK-NEXT: %n = dataflow.kernel @main(%x_1 = %x : tensor<2x4xf32> as !itensor) -> (tensor<f32> as !itensor1) {
// CHECK-NEXT: %0 = itensor.empty : !itensor1
// CHECK-NEXT: %n_1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor1) -> !itensor1 attributes {stc.name = "n"} {
// CHECK: %1 = tensor.empty() : tensor<f32>
// CHECK: %3 = scf.for %i = %c0 to %c2 step %c1 iter_args(%4 = %2) -> (tensor<f32>) {
// CHECK-NEXT: %5 = itensor.read %x_2[%i] : !itensor -> tensor<1x4xf32>
// CHECK: %n_2 = itensor.write %3 into %out[] : tensor<f32> -> !itensor1

// -----

// Tiles of 2x4 and of 1x4 over whole rows: different tokens, the same vectors, so that the converter goes.
// SHOW: kernel|converter|task|cast
func.func @same_vectors(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = dataflow.kernel @main(%x_1 = %x : tensor<4x4xf32> as !itensor.itensor<2x4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>) -> (tensor<4x4xf32> as !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>) {
    %0 = itensor.empty : !itensor.itensor<2x4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
    %n = dataflow.task @n ins(%x_2 = %x_1 : !itensor.itensor<2x4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>) outs(%out = %0 : !itensor.itensor<2x4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>) -> !itensor.itensor<2x4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)> attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %n_1 = scf.for %i = %c0 to %c4 step %c2 iter_args(%1 = %out) -> (!itensor.itensor<2x4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>) {
        %2 = itensor.read %x_2[%i] : !itensor.itensor<2x4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)> -> tensor<2x4xf32>
        %3 = tensor.empty() : tensor<2x4xf32>
        %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<2x4xf32>) outs(%3 : tensor<2x4xf32>) attrs = {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [2, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "n"} {
        ^bb0(%a0: f32, %o0: f32):
          %t0 = arith.negf %a0 : f32
          linalg.yield %t0 : f32
        } -> tensor<2x4xf32>
        %5 = itensor.write %4 into %1[%i] : tensor<2x4xf32> -> !itensor.itensor<2x4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
        scf.yield %5 : !itensor.itensor<2x4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
      }
      dataflow.yield %n_1 : !itensor.itensor<2x4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
    }
    %n_1 = itensor.converter %n {shared_loops = 1, buffer_shape = [2, 4], blocks = 2} : !itensor.itensor<2x4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)> to !itensor.itensor<1x4xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
    %n_2 = itensor.cast %n_1 : !itensor.itensor<1x4xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)> to !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
    %1 = itensor.empty : !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
    %y_1 = dataflow.task @y ins(%n_3 = %n_2 : !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>) outs(%out = %1 : !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>) -> !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)> attributes {stc.name = "y"} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c1 = arith.constant 1 : index
      %y_2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%2 = %out) -> (!itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>) {
        %3 = itensor.read %n_3[%i] : !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<1x4xf32>
        %4 = tensor.empty() : tensor<1x4xf32>
        %5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<1x4xf32>) outs(%4 : tensor<1x4xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [1, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "y"} {
        ^bb0(%a0: f32, %o0: f32):
          %t0 = arith.negf %a0 : f32
          linalg.yield %t0 : f32
        } -> tensor<1x4xf32>
        %6 = itensor.write %5 into %2[%i] : tensor<1x4xf32> -> !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
        scf.yield %6 : !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
      }
      dataflow.yield %y_2 : !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
    }
    dataflow.yield %y_1 : !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
  }
  func.return %y : tensor<4x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK-LABEL: func.func @same_vectors(
// CHECK-NEXT: %y = dataflow.kernel @main(%x_1 = %x : tensor<4x4xf32> as !itensor) -> (tensor<4x4xf32> as !itensor1) {
// CHECK: %n = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "n"} {
// CHECK: %n_1 = itensor.cast %n : !itensor to !itensor1
// CHECK: %y_1 = dataflow.task @y ins(%n_2 = %n_1 : !itensor1) outs(%out = %1 : !itensor1) -> !itensor1 attributes {stc.name = "y"} {

// -----

// Where schedules say more than `lanes`: 16 for the unroll factor at the input, 8 between the tasks, since the second takes no more,
// and 2 at the result.
// SHOW: itensor|dataflow
#map = affine_map<(d0, d1) -> (d0, d1)>
!itensor = !itensor.itensor<1x16xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
builtin.module {
  func.func @as_scheduled(%x: tensor<3x16xf32>) -> tensor<3x16xf32> {
    %z = dataflow.kernel @as_scheduled(%x_1 = %x : tensor<3x16xf32> as !itensor) -> (tensor<3x16xf32> as !itensor) {
      %0 = itensor.empty : !itensor
      %y = dataflow.task @wide ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "wide"} {
        %c0 = arith.constant 0 : index
        %c3 = arith.constant 3 : index
        %c1 = arith.constant 1 : index
        %y_1 = scf.for %i = %c0 to %c3 step %c1 iter_args(%1 = %out) -> (!itensor) {
          %2 = itensor.read %x_2[%i] : !itensor -> tensor<1x16xf32>
          %3 = tensor.empty() : tensor<1x16xf32>
          %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<1x16xf32>) outs(%3 : tensor<1x16xf32>) attrs =  {stc.name = "wide", stc.schedule = #dataflow.schedule<tile = [1, 16], order = [0, 1], unroll = [1, 16], vector = []>, stc.tile = "wide"} {
          ^bb0(%a: f32, %o: f32):
            %n = arith.negf %a : f32
            linalg.yield %n : f32
          } -> tensor<1x16xf32>
          %5 = itensor.write %4 into %1[%i] : tensor<1x16xf32> -> !itensor
          scf.yield %5 : !itensor
        }
        dataflow.yield %y_1 : !itensor
      }
      %1 = itensor.empty : !itensor
      %z_1 = dataflow.task @shaped ins(%y_1 = %y : !itensor) outs(%out = %1 : !itensor) -> !itensor attributes {stc.name = "shaped"} {
        %c0 = arith.constant 0 : index
        %c3 = arith.constant 3 : index
        %c1 = arith.constant 1 : index
        %z_2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%2 = %out) -> (!itensor) {
          %3 = itensor.read %y_1[%i] : !itensor -> tensor<1x16xf32>
          %4 = tensor.empty() : tensor<1x16xf32>
          %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<1x16xf32>) outs(%4 : tensor<1x16xf32>) attrs =  {stc.name = "shaped", stc.schedule = #dataflow.schedule<tile = [1, 16], order = [0, 1], unroll = [1, 16], vector = [[1, 8], [1, 2]]>, stc.tile = "shaped"} {
          ^bb0(%a: f32, %o: f32):
            %n = arith.negf %a : f32
            linalg.yield %n : f32
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
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: !itensor = !itensor.itensor<1x16xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x2xf32, iter_space: [3, 8] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor2 = !itensor.itensor<1x8xf32, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @as_scheduled(
// CHECK-NEXT: %z = dataflow.kernel @as_scheduled(%x_1 = %x : tensor<3x16xf32> as !itensor) -> (tensor<3x16xf32> as !itensor1) {
// CHECK-NEXT: %0 = itensor.empty : !itensor2
// CHECK-NEXT: %y = dataflow.task @wide ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor2) -> !itensor2 attributes {stc.name = "wide"} {
// CHECK: %y_1 = scf.for %i = %c0 to %c3 step %c1 iter_args(%1 = %out) -> (!itensor2) {
// CHECK-NEXT: %2 = itensor.read %x_2[%i] : !itensor -> tensor<1x16xf32>
// CHECK: %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<1x16xf32>) outs(%3 : tensor<1x16xf32>) attrs ={{ +}}{stc.name = "wide", stc.schedule = #dataflow.schedule<tile = [1, 16], order = [0, 1], unroll = [1, 16], vector = []>, stc.tile = "wide"} {
// CHECK: %5 = scf.for %entry = %c0_1 to %c16 step %c8 iter_args(%6 = %1) -> (!itensor2) {
// CHECK: %8 = itensor.write %7 into %6[%i, %entry] : tensor<1x8xf32> -> !itensor2
// CHECK-NEXT: scf.yield %8 : !itensor2
// CHECK: scf.yield %5 : !itensor2
// CHECK: dataflow.yield %y_1 : !itensor2
// CHECK: %1 = itensor.empty : !itensor1
// CHECK-NEXT: %z_1 = dataflow.task @shaped ins(%y_1 = %y : !itensor2) outs(%out = %1 : !itensor1) -> !itensor1 attributes {stc.name = "shaped"} {
// CHECK: %z_2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%2 = %out) -> (!itensor1) {
// CHECK: %5 = itensor.read %y_1[%i, %entry] : !itensor2 -> tensor<1x8xf32>
// CHECK: %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<1x16xf32>) outs(%7 : tensor<1x16xf32>) attrs ={{ +}}{stc.name = "shaped", stc.schedule = #dataflow.schedule<tile = [1, 16], order = [0, 1], unroll = [1, 16], vector = {{\[\[}}1, 8], [1, 2]]>, stc.tile = "shaped"} {
// CHECK: %9 = scf.for %entry_1 = %c0_2 to %c16_1 step %c2 iter_args(%10 = %2) -> (!itensor1) {
// CHECK: %12 = itensor.write %11 into %10[%i, %entry_1] : tensor<1x2xf32> -> !itensor1
// CHECK-NEXT: scf.yield %12 : !itensor1
// CHECK: scf.yield %9 : !itensor1
// CHECK: dataflow.yield %z_2 : !itensor1
// CHECK: dataflow.yield %z_1 : !itensor1
