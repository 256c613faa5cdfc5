// RUN: stc-opt %s -p 'lower-tasks' --split-input-file | filecheck %s

// Vectors are stored into the tile as they arrive; the result is written into a tile of its own, vector by vector.
// SHOW: stream\.|task|scf|memref|vector|fill|generic|copy
func.func @tiles(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %x_1 = dataflow.pack %x : tensor<4x8xf32> as !itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)> -> tensor<2xvector<16xf32>>
  %n = dataflow.kernel @main(%x_2 = %x_1 : tensor<2xvector<16xf32>> as !itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>) -> (tensor<2xvector<16xf32>> as !itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>) {
    %0 = itensor.empty : !itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
    %n_1 = dataflow.task @n ins(%x_3 = %x_2 : !itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>) outs(%out = %0 : !itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>) -> !itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)> attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %n_2 = scf.for %i = %c0 to %c4 step %c2 iter_args(%1 = %out) -> (!itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>) {
        %x_4 = tensor.empty() : tensor<2x8xf32>
        %c0_1 = arith.constant 0 : index
        %c2_1 = arith.constant 2 : index
        %c1 = arith.constant 1 : index
        %2 = scf.for %a = %c0_1 to %c2_1 step %c1 iter_args(%3 = %x_4) -> (tensor<2x8xf32>) {
          %4 = itensor.read %x_3[%i, %a] : !itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)> -> tensor<1x8xf32>
          %5 = tensor.insert_slice %4 into %3[%a, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<2x8xf32>
          scf.yield %5 : tensor<2x8xf32>
        }
        %6 = tensor.empty() : tensor<2x8xf32>
        %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<2x8xf32>) outs(%6 : tensor<2x8xf32>) attrs = {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [2, 8], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "n"} {
        ^bb0(%a0: f32, %o0: f32):
          %t0 = arith.negf %a0 : f32
          linalg.yield %t0 : f32
        } -> tensor<2x8xf32>
        %c0_2 = arith.constant 0 : index
        %c2_2 = arith.constant 2 : index
        %c1_1 = arith.constant 1 : index
        %8 = scf.for %a_1 = %c0_2 to %c2_2 step %c1_1 iter_args(%9 = %1) -> (!itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>) {
          %10 = tensor.extract_slice %7[%a_1, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<1x8xf32>
          %11 = itensor.write %10 into %9[%i, %a_1] : tensor<1x8xf32> -> !itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
          scf.yield %11 : !itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
        }
        scf.yield %8 : !itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
      }
      dataflow.yield %n_2 : !itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
    }
    dataflow.yield %n_1 : !itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
  }
  %n_1 = dataflow.unpack %n : tensor<2xvector<16xf32>> as !itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)> -> tensor<4x8xf32>
  func.return %n_1 : tensor<4x8xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: !itensor = !itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
// CHECK-LABEL: func.func @tiles(
// CHECK-NEXT: %x_1 = dataflow.pack %x : tensor<4x8xf32> as !itensor -> tensor<2xvector<16xf32>>
// CHECK-NEXT: %n = dataflow.kernel @main(%x_2 = %x_1 : tensor<2xvector<16xf32>> as !itensor) -> (tensor<2xvector<16xf32>> as !itensor) {
// CHECK-NEXT: %0 = stream.from_itensor %x_2 : !itensor to !stream.stream<vector<8xf32>, depth: 2>
// CHECK-NEXT: %n_stream = stream.create @n_stream {tokens = 4 : i64, distinct_tokens = 4 : i64} : !stream.stream<vector<8xf32>, depth: 2>
// CHECK-NEXT: %n_1 = stream.to_itensor %n_stream : !stream.stream<vector<8xf32>, depth: 2> to !itensor
// CHECK-NEXT: dataflow.task @n ins(%x_3 = %0 : !stream.stream<vector<8xf32>, depth: 2>) outs(%out = %n_stream : !stream.stream<vector<8xf32>, depth: 2>) attributes {stc.name = "n"} {
// CHECK-NEXT: %x_4 = memref.alloc() : memref<2x8xf32>
// CHECK-NEXT: %n_2 = memref.alloc() : memref<2x8xf32>
// CHECK: scf.for %i = %c0 to %c4 step %c2 {
// CHECK: scf.for %a = %c0_1 to %c2_1 step %c1 {
// CHECK-NEXT: %1 = stream.read %x_3 : !stream.stream<vector<8xf32>, depth: 2>
// CHECK: vector.store %1, %x_4[%a, %c0_2] : memref<2x8xf32>, vector<8xf32>
// CHECK: linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x_4 : memref<2x8xf32>) outs(%n_2 : memref<2x8xf32>) attrs ={{ +}}{stc.name = "n", stc.schedule = #dataflow.schedule<tile = [2, 8], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "n"} {
// CHECK: scf.for %a_1 = %c0_3 to %c2_2 step %c1_1 {
// CHECK: %2 = vector.load %n_2[%a_1, %c0_4] : memref<2x8xf32>, vector<8xf32>
// CHECK-NEXT: stream.write %2 into %out : !stream.stream<vector<8xf32>, depth: 2>
// CHECK: %n_1 = dataflow.unpack %n : tensor<2xvector<16xf32>> as !itensor -> tensor<4x8xf32>

// -----

// The accumulator of a reduction is one buffer, filled for each tile and updated in place.
// SHOW: stream\.|task|scf|memref|vector|fill|generic|copy
func.func @accumulator(%x: tensor<4x6xf32>) -> tensor<4xf32> {
  %x_1 = dataflow.pack %x : tensor<4x6xf32> as !itensor.itensor<1x3xf32, iter_space: [2, 2, 2] * [2, 3, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)> -> tensor<8xvector<4xf32>>
  %s = dataflow.kernel @main(%x_2 = %x_1 : tensor<8xvector<4xf32>> as !itensor.itensor<1x3xf32, iter_space: [2, 2, 2] * [2, 3, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>) -> (tensor<1xvector<4xf32>> as !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>) {
    %0 = itensor.empty : !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
    %s_1 = dataflow.task @s ins(%x_3 = %x_2 : !itensor.itensor<1x3xf32, iter_space: [2, 2, 2] * [2, 3, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>) outs(%out = %0 : !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>) -> !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)> attributes {stc.name = "s"} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %s_c = arith.constant 0.000000e+00 : f32
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %s_2 = scf.for %i = %c0 to %c4 step %c2 iter_args(%1 = %out) -> (!itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>) {
        %2 = tensor.empty() : tensor<2xf32>
        %3 = linalg.fill {stc.name = "s"} ins(%s_c : f32) outs(%2 : tensor<2xf32>) -> tensor<2xf32>
        %4 = scf.for %j = %c0 to %c6 step %c3 iter_args(%5 = %3) -> (tensor<2xf32>) {
          %x_4 = tensor.empty() : tensor<2x3xf32>
          %c0_1 = arith.constant 0 : index
          %c2_1 = arith.constant 2 : index
          %c1 = arith.constant 1 : index
          %6 = scf.for %a = %c0_1 to %c2_1 step %c1 iter_args(%7 = %x_4) -> (tensor<2x3xf32>) {
            %8 = itensor.read %x_3[%i, %j, %a] : !itensor.itensor<1x3xf32, iter_space: [2, 2, 2] * [2, 3, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)> -> tensor<1x3xf32>
            %9 = tensor.insert_slice %8 into %7[%a, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<2x3xf32>
            scf.yield %9 : tensor<2x3xf32>
          }
          %10 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%6 : tensor<2x3xf32>) outs(%5 : tensor<2xf32>) attrs = {stc.name = "s", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "s"} {
          ^bb0(%a0: f32, %o0: f32):
            %t0 = arith.addf %a0, %o0 : f32
            linalg.yield %t0 : f32
          } -> tensor<2xf32>
          scf.yield %10 : tensor<2xf32>
        }
        %11 = itensor.write %4 into %1[%i] : tensor<2xf32> -> !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
        scf.yield %11 : !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
      }
      dataflow.yield %s_2 : !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
    }
    dataflow.yield %s_1 : !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
  }
  %s_1 = dataflow.unpack %s : tensor<1xvector<4xf32>> as !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)> -> tensor<4xf32>
  func.return %s_1 : tensor<4xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d0)>
// CHECK: !itensor = !itensor.itensor<1x3xf32, iter_space: [2, 2, 2] * [2, 3, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
// CHECK: !itensor1 = !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @accumulator(
// CHECK-NEXT: %x_1 = dataflow.pack %x : tensor<4x6xf32> as !itensor -> tensor<8xvector<4xf32>>
// CHECK-NEXT: %s = dataflow.kernel @main(%x_2 = %x_1 : tensor<8xvector<4xf32>> as !itensor) -> (tensor<1xvector<4xf32>> as !itensor1) {
// CHECK-NEXT: %0 = stream.from_itensor %x_2 : !itensor to !stream.stream<vector<3xf32>, depth: 2>
// CHECK-NEXT: %s_stream = stream.create @s_stream {tokens = 2 : i64, distinct_tokens = 2 : i64} : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %s_1 = stream.to_itensor %s_stream : !stream.stream<vector<2xf32>, depth: 2> to !itensor1
// CHECK-NEXT: dataflow.task @s ins(%x_3 = %0 : !stream.stream<vector<3xf32>, depth: 2>) outs(%out = %s_stream : !stream.stream<vector<2xf32>, depth: 2>) attributes {stc.name = "s"} {
// CHECK-NEXT: %s_2 = memref.alloc() : memref<2xf32>
// CHECK-NEXT: %x_4 = memref.alloc() : memref<2x3xf32>
// CHECK: scf.for %i = %c0 to %c4 step %c2 {
// CHECK-NEXT: linalg.fill {stc.name = "s"} ins(%s_c : f32) outs(%s_2 : memref<2xf32>)
// CHECK-NEXT: scf.for %j = %c0 to %c6 step %c3 {
// CHECK: scf.for %a = %c0_1 to %c2_1 step %c1 {
// CHECK-NEXT: %1 = stream.read %x_3 : !stream.stream<vector<3xf32>, depth: 2>
// CHECK: vector.store %1, %x_4[%a, %c0_2] : memref<2x3xf32>, vector<3xf32>
// CHECK: linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%x_4 : memref<2x3xf32>) outs(%s_2 : memref<2xf32>) attrs ={{ +}}{stc.name = "s", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "s"} {
// CHECK: %2 = vector.load %s_2[%c0_3] : memref<2xf32>, vector<2xf32>
// CHECK-NEXT: stream.write %2 into %out : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: %s_1 = dataflow.unpack %s : tensor<1xvector<4xf32>> as !itensor1 -> tensor<4xf32>

// -----

// Reduction outermost: the generic works on a view of the whole accumulator, and the last step writes from there.
// SHOW: stream\.|task|scf|memref|vector|fill|generic|copy
func.func @view(%x: tensor<4x6xf32>) -> tensor<4xf32> {
  %x_1 = dataflow.pack %x : tensor<4x6xf32> as !itensor.itensor<1x3xf32, iter_space: [2, 2, 2] * [3, 2, 1], iter_map: (d0, d1, d2) -> (d1 + d2, d0)> -> tensor<8xvector<4xf32>>
  %s = dataflow.kernel @main(%x_2 = %x_1 : tensor<8xvector<4xf32>> as !itensor.itensor<1x3xf32, iter_space: [2, 2, 2] * [3, 2, 1], iter_map: (d0, d1, d2) -> (d1 + d2, d0)>) -> (tensor<1xvector<4xf32>> as !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>) {
    %0 = itensor.empty : !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
    %s_1 = dataflow.task @s ins(%x_3 = %x_2 : !itensor.itensor<1x3xf32, iter_space: [2, 2, 2] * [3, 2, 1], iter_map: (d0, d1, d2) -> (d1 + d2, d0)>) outs(%out = %0 : !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>) -> !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)> attributes {stc.name = "s"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %s_c = arith.constant 0.000000e+00 : f32
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %1 = tensor.empty() : tensor<4xf32>
      %2 = linalg.fill {stc.name = "s"} ins(%s_c : f32) outs(%1 : tensor<4xf32>) -> tensor<4xf32>
      %3, %s_2 = scf.for %j = %c0 to %c6 step %c3 iter_args(%4 = %2, %5 = %out) -> (tensor<4xf32>, !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>) {
        %6, %7 = scf.for %i = %c0 to %c4 step %c2 iter_args(%8 = %4, %9 = %5) -> (tensor<4xf32>, !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>) {
          %x_4 = tensor.empty() : tensor<2x3xf32>
          %c0_1 = arith.constant 0 : index
          %c2_1 = arith.constant 2 : index
          %c1_1 = arith.constant 1 : index
          %10 = scf.for %a = %c0_1 to %c2_1 step %c1_1 iter_args(%11 = %x_4) -> (tensor<2x3xf32>) {
            %12 = itensor.read %x_3[%j, %i, %a] : !itensor.itensor<1x3xf32, iter_space: [2, 2, 2] * [3, 2, 1], iter_map: (d0, d1, d2) -> (d1 + d2, d0)> -> tensor<1x3xf32>
            %13 = tensor.insert_slice %12 into %11[%a, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<2x3xf32>
            scf.yield %13 : tensor<2x3xf32>
          }
          %14 = tensor.extract_slice %8[%i] [2] [1] : tensor<4xf32> to tensor<2xf32>
          %15 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%10 : tensor<2x3xf32>) outs(%14 : tensor<2xf32>) attrs = {stc.name = "s", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [1, 0], unroll = [1, 1], vector = []>, stc.tile = "s"} {
          ^bb0(%a0: f32, %o0: f32):
            %t0 = arith.addf %a0, %o0 : f32
            linalg.yield %t0 : f32
          } -> tensor<2xf32>
          %16 = tensor.insert_slice %15 into %8[%i] [2] [1] : tensor<2xf32> into tensor<4xf32>
          %17 = arith.cmpi eq, %j, %c3 : index
          %18 = scf.if %17 -> (!itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>) {
            %19 = itensor.write %15 into %9[%i] : tensor<2xf32> -> !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
            scf.yield %19 : !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
          } else {
            scf.yield %9 : !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
          }
          scf.yield %16, %18 : tensor<4xf32>, !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
        }
        scf.yield %6, %7 : tensor<4xf32>, !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
      }
      dataflow.yield %s_2 : !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
    }
    dataflow.yield %s_1 : !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
  }
  %s_1 = dataflow.unpack %s : tensor<1xvector<4xf32>> as !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)> -> tensor<4xf32>
  func.return %s_1 : tensor<4xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d0)>
// CHECK: !itensor = !itensor.itensor<1x3xf32, iter_space: [2, 2, 2] * [3, 2, 1], iter_map: (d0, d1, d2) -> (d1 + d2, d0)>
// CHECK: !itensor1 = !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @view(
// CHECK-NEXT: %x_1 = dataflow.pack %x : tensor<4x6xf32> as !itensor -> tensor<8xvector<4xf32>>
// CHECK-NEXT: %s = dataflow.kernel @main(%x_2 = %x_1 : tensor<8xvector<4xf32>> as !itensor) -> (tensor<1xvector<4xf32>> as !itensor1) {
// CHECK-NEXT: %0 = stream.from_itensor %x_2 : !itensor to !stream.stream<vector<3xf32>, depth: 2>
// CHECK-NEXT: %s_stream = stream.create @s_stream {tokens = 2 : i64, distinct_tokens = 2 : i64} : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %s_1 = stream.to_itensor %s_stream : !stream.stream<vector<2xf32>, depth: 2> to !itensor1
// CHECK-NEXT: dataflow.task @s ins(%x_3 = %0 : !stream.stream<vector<3xf32>, depth: 2>) outs(%out = %s_stream : !stream.stream<vector<2xf32>, depth: 2>) attributes {stc.name = "s"} {
// CHECK-NEXT: %s_2 = memref.alloc() : memref<4xf32>
// CHECK-NEXT: %x_4 = memref.alloc() : memref<2x3xf32>
// CHECK: linalg.fill {stc.name = "s"} ins(%s_c : f32) outs(%s_2 : memref<4xf32>)
// CHECK-NEXT: scf.for %j = %c0 to %c6 step %c3 {
// CHECK-NEXT: scf.for %i = %c0 to %c4 step %c2 {
// CHECK: scf.for %a = %c0_1 to %c2_1 step %c1_1 {
// CHECK-NEXT: %1 = stream.read %x_3 : !stream.stream<vector<3xf32>, depth: 2>
// CHECK: vector.store %1, %x_4[%a, %c0_2] : memref<2x3xf32>, vector<3xf32>
// CHECK: %2 = memref.subview %s_2[%i] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1]>>
// CHECK-NEXT: linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%x_4 : memref<2x3xf32>) outs(%2 : memref<2xf32, strided<[1]>>) attrs ={{ +}}{stc.name = "s", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [1, 0], unroll = [1, 1], vector = []>, stc.tile = "s"} {
// CHECK: scf.if %3 {
// CHECK: %4 = vector.load %2[%c0_3] : memref<2xf32, strided<[1]>>, vector<2xf32>
// CHECK-NEXT: stream.write %4 into %out : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: %s_1 = dataflow.unpack %s : tensor<1xvector<4xf32>> as !itensor1 -> tensor<4xf32>

// -----

// Rank 0: a token of one lane.
// SHOW: stream\.|task|scf|memref|vector|fill|generic|copy
func.func @scalars(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %x_1 = dataflow.pack %x : tensor<f32> as !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()> -> tensor<1xvector<1xf32>>
  %y_1 = dataflow.pack %y : tensor<f32> as !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()> -> tensor<1xvector<1xf32>>
  %d = dataflow.kernel @main(%x_2 = %x_1 : tensor<1xvector<1xf32>> as !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>, %y_2 = %y_1 : tensor<1xvector<1xf32>> as !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>) -> (tensor<1xvector<1xf32>> as !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>) {
    %0 = itensor.empty : !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
    %d_1 = dataflow.task @d ins(%x_3 = %x_2 : !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>, %y_3 = %y_2 : !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>) outs(%out = %0 : !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>) -> !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()> attributes {stc.name = "d"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %1 = itensor.read %x_3[] : !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()> -> tensor<f32>
      %2 = itensor.read %y_3[] : !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()> -> tensor<f32>
      %3 = tensor.empty() : tensor<f32>
      %4 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%1, %2 : tensor<f32>, tensor<f32>) outs(%3 : tensor<f32>) attrs = {stc.name = "d", stc.schedule = #dataflow.schedule<tile = [], order = [], unroll = [], vector = []>, stc.tile = "d"} {
      ^bb0(%a0: f32, %a1: f32, %o0: f32):
        %t0 = arith.subf %a0, %a1 : f32
        linalg.yield %t0 : f32
      } -> tensor<f32>
      %d_2 = itensor.write %4 into %out[] : tensor<f32> -> !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
      dataflow.yield %d_2 : !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
    }
    dataflow.yield %d_1 : !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
  }
  %d_1 = dataflow.unpack %d : tensor<1xvector<1xf32>> as !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()> -> tensor<f32>
  func.return %d_1 : tensor<f32>
}

// CHECK: #map = affine_map<() -> ()>
// CHECK: !itensor = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
// CHECK-LABEL: func.func @scalars(
// CHECK-NEXT: %x_1 = dataflow.pack %x : tensor<f32> as !itensor -> tensor<1xvector<1xf32>>
// CHECK-NEXT: %y_1 = dataflow.pack %y : tensor<f32> as !itensor -> tensor<1xvector<1xf32>>
// CHECK-NEXT: %d = dataflow.kernel @main(%x_2 = %x_1 : tensor<1xvector<1xf32>> as !itensor, %y_2 = %y_1 : tensor<1xvector<1xf32>> as !itensor) -> (tensor<1xvector<1xf32>> as !itensor) {
// CHECK-NEXT: %0 = stream.from_itensor %x_2 : !itensor to !stream.stream<vector<1xf32>, depth: 2>
// CHECK-NEXT: %1 = stream.from_itensor %y_2 : !itensor to !stream.stream<vector<1xf32>, depth: 2>
// CHECK-NEXT: %d_stream = stream.create @d_stream {tokens = 1 : i64, distinct_tokens = 1 : i64} : !stream.stream<vector<1xf32>, depth: 2>
// CHECK-NEXT: %d_1 = stream.to_itensor %d_stream : !stream.stream<vector<1xf32>, depth: 2> to !itensor
// CHECK-NEXT: dataflow.task @d ins(%x_3 = %0 : !stream.stream<vector<1xf32>, depth: 2>, %y_3 = %1 : !stream.stream<vector<1xf32>, depth: 2>) outs(%out = %d_stream : !stream.stream<vector<1xf32>, depth: 2>) attributes {stc.name = "d"} {
// CHECK-NEXT: %x_4 = memref.alloc() : memref<f32>
// CHECK-NEXT: %y_4 = memref.alloc() : memref<f32>
// CHECK-NEXT: %d_2 = memref.alloc() : memref<f32>
// CHECK: %2 = stream.read %x_3 : !stream.stream<vector<1xf32>, depth: 2>
// CHECK-NEXT: %3 = stream.read %y_3 : !stream.stream<vector<1xf32>, depth: 2>
// CHECK: %4 = vector.extract %2[0] : f32 from vector<1xf32>
// CHECK-NEXT: memref.store %4, %x_4[] : memref<f32>
// CHECK: %5 = vector.extract %3[0] : f32 from vector<1xf32>
// CHECK-NEXT: memref.store %5, %y_4[] : memref<f32>
// CHECK-NEXT: linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%x_4, %y_4 : memref<f32>, memref<f32>) outs(%d_2 : memref<f32>) attrs ={{ +}}{stc.name = "d", stc.schedule = #dataflow.schedule<tile = [], order = [], unroll = [], vector = []>, stc.tile = "d"} {
// CHECK: %6 = memref.load %d_2[] : memref<f32>
// CHECK-NEXT: %7 = vector.broadcast %6 : f32 to vector<1xf32>
// CHECK-NEXT: stream.write %7 into %out : !stream.stream<vector<1xf32>, depth: 2>
// CHECK: %d_1 = dataflow.unpack %d : tensor<1xvector<1xf32>> as !itensor -> tensor<f32>

// -----

// Two results are two streams.
// SHOW: stream\.|task|scf|memref|vector|fill|generic|copy
func.func @two_results(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<4x2xf32>) {
  %x_1 = dataflow.pack %x : tensor<2x4xf32> as !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<1xvector<8xf32>>
  %r, %r_1 = dataflow.kernel @main(%x_2 = %x_1 : tensor<1xvector<8xf32>> as !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>) -> (tensor<1xvector<8xf32>> as !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>, tensor<1xvector<8xf32>> as !itensor.itensor<1x2xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>) {
    %0 = itensor.empty : !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>
    %1 = itensor.empty : !itensor.itensor<1x2xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
    %r_2, %r_3 = dataflow.task @both ins(%x_3 = %x_2 : !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>) outs(%out = %0 : !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>, %out_1 = %1 : !itensor.itensor<1x2xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>) -> (!itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>, !itensor.itensor<1x2xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>) attributes {stc.name = "both"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x_4 = tensor.empty() : tensor<2x4xf32>
      %c0_1 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c1_1 = arith.constant 1 : index
      %2 = scf.for %a = %c0_1 to %c2 step %c1_1 iter_args(%3 = %x_4) -> (tensor<2x4xf32>) {
        %4 = itensor.read %x_3[%a] : !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<1x4xf32>
        %5 = tensor.insert_slice %4 into %3[%a, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<2x4xf32>
        scf.yield %5 : tensor<2x4xf32>
      }
      %6 = tensor.empty() : tensor<2x4xf32>
      %7 = tensor.empty() : tensor<4x2xf32>
      %8, %9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<2x4xf32>) outs(%6, %7 : tensor<2x4xf32>, tensor<4x2xf32>) attrs = {stc.name = "both", stc.schedule = #dataflow.schedule<tile = [2, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "both"} {
      ^bb0(%a_1: f32, %b: f32, %c: f32):
        %s = arith.negf %a_1 : f32
        %t = arith.addf %a_1, %a_1 : f32
        linalg.yield %s, %t : f32, f32
      } -> (tensor<2x4xf32>, tensor<4x2xf32>)
      %c0_2 = arith.constant 0 : index
      %c2_1 = arith.constant 2 : index
      %c1_2 = arith.constant 1 : index
      %r_4 = scf.for %a_2 = %c0_2 to %c2_1 step %c1_2 iter_args(%10 = %out) -> (!itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>) {
        %11 = tensor.extract_slice %8[%a_2, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<1x4xf32>
        %12 = itensor.write %11 into %10[%a_2] : tensor<1x4xf32> -> !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>
        scf.yield %12 : !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>
      }
      %c0_3 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c1_3 = arith.constant 1 : index
      %r_5 = scf.for %a_3 = %c0_3 to %c4 step %c1_3 iter_args(%13 = %out_1) -> (!itensor.itensor<1x2xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>) {
        %14 = tensor.extract_slice %9[%a_3, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<1x2xf32>
        %15 = itensor.write %14 into %13[%a_3] : tensor<1x2xf32> -> !itensor.itensor<1x2xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
        scf.yield %15 : !itensor.itensor<1x2xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
      }
      dataflow.yield %r_4, %r_5 : !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>, !itensor.itensor<1x2xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
    }
    dataflow.yield %r_2, %r_3 : !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>, !itensor.itensor<1x2xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
  }
  %r_2 = dataflow.unpack %r : tensor<1xvector<8xf32>> as !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<2x4xf32>
  %r_3 = dataflow.unpack %r_1 : tensor<1xvector<8xf32>> as !itensor.itensor<1x2xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<4x2xf32>
  func.return %r_2, %r_3 : tensor<2x4xf32>, tensor<4x2xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d1, d0)>
// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x2xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK-LABEL: func.func @two_results(
// CHECK-NEXT: %x_1 = dataflow.pack %x : tensor<2x4xf32> as !itensor -> tensor<1xvector<8xf32>>
// CHECK-NEXT: %r, %r_1 = dataflow.kernel @main(%x_2 = %x_1 : tensor<1xvector<8xf32>> as !itensor) -> (tensor<1xvector<8xf32>> as !itensor, tensor<1xvector<8xf32>> as !itensor1) {
// CHECK-NEXT: %0 = stream.from_itensor %x_2 : !itensor to !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: %r_stream = stream.create @r_stream {tokens = 2 : i64, distinct_tokens = 2 : i64} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: %r_2 = stream.to_itensor %r_stream : !stream.stream<vector<4xf32>, depth: 2> to !itensor
// CHECK-NEXT: %r_stream_1 = stream.create @r_stream_2 {tokens = 4 : i64, distinct_tokens = 4 : i64} : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %r_3 = stream.to_itensor %r_stream_1 : !stream.stream<vector<2xf32>, depth: 2> to !itensor1
// CHECK-NEXT: dataflow.task @both ins(%x_3 = %0 : !stream.stream<vector<4xf32>, depth: 2>) outs(%out = %r_stream : !stream.stream<vector<4xf32>, depth: 2>, %out_1 = %r_stream_1 : !stream.stream<vector<2xf32>, depth: 2>) attributes {stc.name = "both"} {
// CHECK-NEXT: %x_4 = memref.alloc() : memref<2x4xf32>
// CHECK-NEXT: %both = memref.alloc() : memref<2x4xf32>
// CHECK-NEXT: %both_1 = memref.alloc() : memref<4x2xf32>
// CHECK: scf.for %a = %c0_1 to %c2 step %c1_1 {
// CHECK-NEXT: %1 = stream.read %x_3 : !stream.stream<vector<4xf32>, depth: 2>
// CHECK: vector.store %1, %x_4[%a, %c0_2] : memref<2x4xf32>, vector<4xf32>
// CHECK: linalg.generic {indexing_maps = [#map, #map, #map1], iterator_types = ["parallel", "parallel"]} ins(%x_4 : memref<2x4xf32>) outs(%both, %both_1 : memref<2x4xf32>, memref<4x2xf32>) attrs ={{ +}}{stc.name = "both", stc.schedule = #dataflow.schedule<tile = [2, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "both"} {
// CHECK: scf.for %a_2 = %c0_3 to %c2_1 step %c1_2 {
// CHECK: %2 = vector.load %both[%a_2, %c0_4] : memref<2x4xf32>, vector<4xf32>
// CHECK-NEXT: stream.write %2 into %out : !stream.stream<vector<4xf32>, depth: 2>
// CHECK: scf.for %a_3 = %c0_5 to %c4 step %c1_3 {
// CHECK: %3 = vector.load %both_1[%a_3, %c0_6] : memref<4x2xf32>, vector<2xf32>
// CHECK-NEXT: stream.write %3 into %out_1 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: %r_2 = dataflow.unpack %r : tensor<1xvector<8xf32>> as !itensor -> tensor<2x4xf32>
// CHECK-NEXT: %r_3 = dataflow.unpack %r_1 : tensor<1xvector<8xf32>> as !itensor1 -> tensor<4x2xf32>

// -----

// One vector is the whole tile: it needs no loop.
// SHOW: stream\.|task|scf|memref|vector|fill|generic|copy
func.func @one_vector(%x: tensor<4xf32>) -> tensor<4xf32> {
  %x_1 = dataflow.pack %x : tensor<4xf32> as !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)> -> tensor<1xvector<4xf32>>
  %n = dataflow.kernel @main(%x_2 = %x_1 : tensor<1xvector<4xf32>> as !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>) -> (tensor<1xvector<4xf32>> as !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>) {
    %0 = itensor.empty : !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
    %n_1 = dataflow.task @n ins(%x_3 = %x_2 : !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>) outs(%out = %0 : !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>) -> !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)> attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %1 = itensor.read %x_3[] : !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)> -> tensor<4xf32>
      %2 = tensor.empty() : tensor<4xf32>
      %3 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%1 : tensor<4xf32>) outs(%2 : tensor<4xf32>) attrs = {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [4], order = [0], unroll = [4], vector = []>, stc.tile = "n"} {
      ^bb0(%a0: f32, %o0: f32):
        %t0 = arith.negf %a0 : f32
        linalg.yield %t0 : f32
      } -> tensor<4xf32>
      %n_2 = itensor.write %3 into %out[] : tensor<4xf32> -> !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
      dataflow.yield %n_2 : !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
    }
    dataflow.yield %n_1 : !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
  }
  %n_1 = dataflow.unpack %n : tensor<1xvector<4xf32>> as !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)> -> tensor<4xf32>
  func.return %n_1 : tensor<4xf32>
}

// CHECK: #map = affine_map<(d0) -> (d0)>
// CHECK: !itensor = !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
// CHECK-LABEL: func.func @one_vector(
// CHECK-NEXT: %x_1 = dataflow.pack %x : tensor<4xf32> as !itensor -> tensor<1xvector<4xf32>>
// CHECK-NEXT: %n = dataflow.kernel @main(%x_2 = %x_1 : tensor<1xvector<4xf32>> as !itensor) -> (tensor<1xvector<4xf32>> as !itensor) {
// CHECK-NEXT: %0 = stream.from_itensor %x_2 : !itensor to !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: %n_stream = stream.create @n_stream {tokens = 1 : i64, distinct_tokens = 1 : i64} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: %n_1 = stream.to_itensor %n_stream : !stream.stream<vector<4xf32>, depth: 2> to !itensor
// CHECK-NEXT: dataflow.task @n ins(%x_3 = %0 : !stream.stream<vector<4xf32>, depth: 2>) outs(%out = %n_stream : !stream.stream<vector<4xf32>, depth: 2>) attributes {stc.name = "n"} {
// CHECK-NEXT: %x_4 = memref.alloc() : memref<4xf32>
// CHECK-NEXT: %n_2 = memref.alloc() : memref<4xf32>
// CHECK: %1 = stream.read %x_3 : !stream.stream<vector<4xf32>, depth: 2>
// CHECK: vector.store %1, %x_4[%c0_1] : memref<4xf32>, vector<4xf32>
// CHECK-NEXT: linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x_4 : memref<4xf32>) outs(%n_2 : memref<4xf32>) attrs ={{ +}}{stc.name = "n", stc.schedule = #dataflow.schedule<tile = [4], order = [0], unroll = [4], vector = []>, stc.tile = "n"} {
// CHECK: %2 = vector.load %n_2[%c0_2] : memref<4xf32>, vector<4xf32>
// CHECK-NEXT: stream.write %2 into %out : !stream.stream<vector<4xf32>, depth: 2>
// CHECK: %n_1 = dataflow.unpack %n : tensor<1xvector<4xf32>> as !itensor -> tensor<4xf32>
