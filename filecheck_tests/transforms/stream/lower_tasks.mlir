// RUN: stc-opt %s -p 'lower-tasks' --split-input-file | filecheck %s

// Vectors are stored into the tile as they arrive; the result is written into a tile of its own, vector by vector.
// SHOW: stream\.\w+ %|scf.for .*step %\w+ ...|scf.if ...|memref.alloc\(|memref.subview ... :|memref.copy|vector\.\w+ %.*?\] ...|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|linalg.fill ...
#map = affine_map<(d0, d1) -> (d0, d1)>
!itensor = !itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
func.func @tiles(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %x_1 = dataflow.pack %x : tensor<4x8xf32> as !itensor -> tensor<2xvector<16xf32>>
  %n = dataflow.kernel @main(%x_2 = %x_1 : tensor<2xvector<16xf32>> as !itensor) -> (tensor<2xvector<16xf32>> as !itensor) {
    %0 = itensor.empty : !itensor
    %n_1 = dataflow.task @n ins(%x_3 = %x_2 : !itensor) outs(%out = %0 : !itensor) -> !itensor {
      %c0 = arith.constant 0 : index  %c4 = arith.constant 4 : index  %c2 = arith.constant 2 : index
      %n_2 = scf.for %i = %c0 to %c4 step %c2 iter_args(%1 = %out) -> (!itensor) {
        %x_4 = tensor.empty() : tensor<2x8xf32>
        %c0_1 = arith.constant 0 : index  %c2_1 = arith.constant 2 : index  %c1 = arith.constant 1 : index
        %2 = scf.for %a = %c0_1 to %c2_1 step %c1 iter_args(%3 = %x_4) -> (tensor<2x8xf32>) {
          %4 = itensor.read %x_3[%i, %a] : !itensor -> tensor<1x8xf32>
          %5 = tensor.insert_slice %4 into %3[%a, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<2x8xf32>
          scf.yield %5 : tensor<2x8xf32>
        }
        %6 = tensor.empty() : tensor<2x8xf32>
        %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<2x8xf32>) outs(%6 : tensor<2x8xf32>) attrs = {stc.name = "n"} {
        ^bb0(%a0: f32, %o0: f32):  linalg.yield %a0 : f32
        } -> tensor<2x8xf32>
        %c0_2 = arith.constant 0 : index  %c2_2 = arith.constant 2 : index  %c1_1 = arith.constant 1 : index
        %8 = scf.for %a_1 = %c0_2 to %c2_2 step %c1_1 iter_args(%9 = %1) -> (!itensor) {
          %10 = tensor.extract_slice %7[%a_1, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<1x8xf32>
          %11 = itensor.write %10 into %9[%i, %a_1] : tensor<1x8xf32> -> !itensor
          scf.yield %11 : !itensor
        }
        scf.yield %8 : !itensor
      }
      dataflow.yield %n_2 : !itensor
    }
    dataflow.yield %n_1 : !itensor
  }
  %n_1 = dataflow.unpack %n : tensor<2xvector<16xf32>> as !itensor -> tensor<4x8xf32>
  func.return %n_1 : tensor<4x8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x8xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
// CHECK-LABEL: func.func @tiles(
// CHECK: stream.from_itensor %x_{{.*}} : !itensor to !stream.stream<vector<8xf32>, depth: 2>
// CHECK: stream.to_itensor %n_stream : !stream.stream<vector<8xf32>, depth: 2> to !itensor
// CHECK: %[[X:.*]] = memref.alloc() : memref<2x8xf32>
// CHECK-NEXT: %[[N:.*]] = memref.alloc() : memref<2x8xf32>
// CHECK: scf.for %i = %c0 to %c4 step %c2
// CHECK: scf.for %a = %c0_{{.*}} to %c2_{{.*}} step %c1
// CHECK-NEXT: %[[READ:.*]] = stream.read %x_{{.*}} : !stream.stream<vector<8xf32>, depth: 2>
// CHECK: vector.store %[[READ]], %[[X]][%a, %c0_{{.*}}]
// CHECK: linalg.generic{{.*}}ins(%[[X]] :{{.*}}outs(%[[N]]
// CHECK: scf.for %[[A:.*]] = %c0_{{.*}} to %c2_{{.*}} step %c1_{{.*}}
// CHECK: %[[LOAD:.*]] = vector.load %[[N]][%[[A]], %c0_{{.*}}]
// CHECK-NEXT: stream.write %[[LOAD]] into %out : !stream.stream<vector<8xf32>, depth: 2>

// -----

// The accumulator of a reduction is one buffer, filled for each tile and updated in place.
// SHOW: stream\.\w+ %|scf.for .*step %\w+ ...|scf.if ...|memref.alloc\(|memref.subview ... :|memref.copy|vector\.\w+ %.*?\] ...|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|linalg.fill ...
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
!itensor = !itensor.itensor<1x3xf32, iter_space: [2, 2, 2] * [2, 3, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!itensor1 = !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
func.func @accumulator(%x: tensor<4x6xf32>) -> tensor<4xf32> {
  %x_1 = dataflow.pack %x : tensor<4x6xf32> as !itensor -> tensor<8xvector<4xf32>>
  %s = dataflow.kernel @main(%x_2 = %x_1 : tensor<8xvector<4xf32>> as !itensor) -> (tensor<1xvector<4xf32>> as !itensor1) {
    %0 = itensor.empty : !itensor1
    %s_1 = dataflow.task @s ins(%x_3 = %x_2 : !itensor) outs(%out = %0 : !itensor1) -> !itensor1 {
      %c0 = arith.constant 0 : index  %c4 = arith.constant 4 : index  %c2 = arith.constant 2 : index
      %s_c = arith.constant 0.000000e+00 : f32  %c6 = arith.constant 6 : index  %c3 = arith.constant 3 : index
      %s_2 = scf.for %i = %c0 to %c4 step %c2 iter_args(%1 = %out) -> (!itensor1) {
        %2 = tensor.empty() : tensor<2xf32>
        %3 = linalg.fill {stc.name = "s"} ins(%s_c : f32) outs(%2 : tensor<2xf32>) -> tensor<2xf32>
        %4 = scf.for %j = %c0 to %c6 step %c3 iter_args(%5 = %3) -> (tensor<2xf32>) {
          %x_4 = tensor.empty() : tensor<2x3xf32>
          %c0_1 = arith.constant 0 : index  %c2_1 = arith.constant 2 : index  %c1 = arith.constant 1 : index
          %6 = scf.for %a = %c0_1 to %c2_1 step %c1 iter_args(%7 = %x_4) -> (tensor<2x3xf32>) {
            %8 = itensor.read %x_3[%i, %j, %a] : !itensor -> tensor<1x3xf32>
            %9 = tensor.insert_slice %8 into %7[%a, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<2x3xf32>
            scf.yield %9 : tensor<2x3xf32>
          }
          %10 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%6 : tensor<2x3xf32>) outs(%5 : tensor<2xf32>) {
          ^bb0(%a0: f32, %o0: f32):  linalg.yield %a0 : f32
          } -> tensor<2xf32>
          scf.yield %10 : tensor<2xf32>
        }
        %11 = itensor.write %4 into %1[%i] : tensor<2xf32> -> !itensor1
        scf.yield %11 : !itensor1
      }
      dataflow.yield %s_2 : !itensor1
    }
    dataflow.yield %s_1 : !itensor1
  }
  %s_1 = dataflow.unpack %s : tensor<1xvector<4xf32>> as !itensor1 -> tensor<4xf32>
  func.return %s_1 : tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x3xf32, iter_space: [2, 2, 2] * [2, 3, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
// CHECK: !itensor1 = !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @accumulator(
// CHECK: stream.from_itensor %x_{{.*}} : !itensor to !stream.stream<vector<3xf32>, depth: 2>
// CHECK: stream.to_itensor %s_stream : !stream.stream<vector<2xf32>, depth: 2> to !itensor1
// CHECK: %[[S:.*]] = memref.alloc() : memref<2xf32>
// CHECK-NEXT: %[[X:.*]] = memref.alloc() : memref<2x3xf32>
// CHECK: scf.for %i = %c0 to %c4 step %c2
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: scf.for %j = %c0 to %c6 step %c3
// CHECK: scf.for %a = %c0_{{.*}} to %c2_{{.*}} step %c1
// CHECK-NEXT: %[[READ:.*]] = stream.read %x_{{.*}} : !stream.stream<vector<3xf32>, depth: 2>
// CHECK: vector.store %[[READ]], %[[X]][%a, %c0_{{.*}}]
// CHECK: linalg.generic{{.*}}ins(%[[X]] :{{.*}}outs(%[[S]]
// CHECK: %[[LOAD:.*]] = vector.load %[[S]][%c0_{{.*}}]
// CHECK-NEXT: stream.write %[[LOAD]] into %out : !stream.stream<vector<2xf32>, depth: 2>

// -----

// Reduction outermost: the generic works on a view of the whole accumulator, and the last step writes from there.
// SHOW: stream\.\w+ %|scf.for .*step %\w+ ...|scf.if ...|memref.alloc\(|memref.subview ... :|memref.copy|vector\.\w+ %.*?\] ...|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|linalg.fill ...
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
!itensor = !itensor.itensor<1x3xf32, iter_space: [2, 2, 2] * [3, 2, 1], iter_map: (d0, d1, d2) -> (d1 + d2, d0)>
!itensor1 = !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
func.func @view(%x: tensor<4x6xf32>) -> tensor<4xf32> {
  %x_1 = dataflow.pack %x : tensor<4x6xf32> as !itensor -> tensor<8xvector<4xf32>>
  %s = dataflow.kernel @main(%x_2 = %x_1 : tensor<8xvector<4xf32>> as !itensor) -> (tensor<1xvector<4xf32>> as !itensor1) {
    %0 = itensor.empty : !itensor1
    %s_1 = dataflow.task @s ins(%x_3 = %x_2 : !itensor) outs(%out = %0 : !itensor1) -> !itensor1 {
      %c0 = arith.constant 0 : index  %s_c = arith.constant 0.000000e+00 : f32  %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index  %c4 = arith.constant 4 : index  %c2 = arith.constant 2 : index
      %1 = tensor.empty() : tensor<4xf32>
      %2 = linalg.fill {stc.name = "s"} ins(%s_c : f32) outs(%1 : tensor<4xf32>) -> tensor<4xf32>
      %3, %s_2 = scf.for %j = %c0 to %c6 step %c3 iter_args(%4 = %2, %5 = %out) -> (tensor<4xf32>, !itensor1) {
        %6, %7 = scf.for %i = %c0 to %c4 step %c2 iter_args(%8 = %4, %9 = %5) -> (tensor<4xf32>, !itensor1) {
          %x_4 = tensor.empty() : tensor<2x3xf32>
          %c0_1 = arith.constant 0 : index  %c2_1 = arith.constant 2 : index  %c1 = arith.constant 1 : index
          %10 = scf.for %a = %c0_1 to %c2_1 step %c1 iter_args(%11 = %x_4) -> (tensor<2x3xf32>) {
            %12 = itensor.read %x_3[%j, %i, %a] : !itensor -> tensor<1x3xf32>
            %13 = tensor.insert_slice %12 into %11[%a, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<2x3xf32>
            scf.yield %13 : tensor<2x3xf32>
          }
          %14 = tensor.extract_slice %8[%i] [2] [1] : tensor<4xf32> to tensor<2xf32>
          %15 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%10 : tensor<2x3xf32>) outs(%14 : tensor<2xf32>) {
          ^bb0(%a0: f32, %o0: f32):  linalg.yield %a0 : f32
          } -> tensor<2xf32>
          %16 = tensor.insert_slice %15 into %8[%i] [2] [1] : tensor<2xf32> into tensor<4xf32>
          %17 = arith.cmpi eq, %j, %c3 : index
          %18 = scf.if %17 -> (!itensor1) {
            %19 = itensor.write %15 into %9[%i] : tensor<2xf32> -> !itensor1
            scf.yield %19 : !itensor1
          } else {
            scf.yield %9 : !itensor1
          }
          scf.yield %16, %18 : tensor<4xf32>, !itensor1
        }
        scf.yield %6, %7 : tensor<4xf32>, !itensor1
      }
      dataflow.yield %s_2 : !itensor1
    }
    dataflow.yield %s_1 : !itensor1
  }
  %s_1 = dataflow.unpack %s : tensor<1xvector<4xf32>> as !itensor1 -> tensor<4xf32>
  func.return %s_1 : tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x3xf32, iter_space: [2, 2, 2] * [3, 2, 1], iter_map: (d0, d1, d2) -> (d1 + d2, d0)>
// CHECK: !itensor1 = !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @view(
// CHECK: stream.from_itensor %x_{{.*}} : !itensor to !stream.stream<vector<3xf32>, depth: 2>
// CHECK: stream.to_itensor %s_stream : !stream.stream<vector<2xf32>, depth: 2> to !itensor1
// CHECK: memref.alloc() : memref<4xf32>
// CHECK-NEXT: %[[X:.*]] = memref.alloc() : memref<2x3xf32>
// CHECK: linalg.fill
// CHECK-NEXT: scf.for %j = %c0 to %c6 step %c3
// CHECK-NEXT: scf.for %i = %c0 to %c4 step %c2
// CHECK: scf.for %a = %c0_{{.*}} to %c2_{{.*}} step %c1
// CHECK-NEXT: %[[READ:.*]] = stream.read %x_{{.*}} : !stream.stream<vector<3xf32>, depth: 2>
// CHECK: vector.store %[[READ]], %[[X]][%a, %c0_{{.*}}]
// CHECK: %[[SUBVIEW:.*]] = memref.subview{{.*}}: memref<4xf32> to memref<2xf32, strided<[1]>>
// CHECK-NEXT: linalg.generic{{.*}}ins(%[[X]] :{{.*}}outs(%[[SUBVIEW]]
// CHECK: scf.if
// CHECK: %[[LOAD:.*]] = vector.load %[[SUBVIEW]][%c0_{{.*}}]
// CHECK-NEXT: stream.write %[[LOAD]] into %out : !stream.stream<vector<2xf32>, depth: 2>

// -----

// Rank 0: a token of one lane.
// SHOW: stream\.\w+ %|scf.for .*step %\w+ ...|scf.if ...|memref.alloc\(|memref.subview ... :|memref.copy|vector\.\w+ %.*?\] ...|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|linalg.fill ...
#map = affine_map<() -> ()>
!itensor = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
func.func @scalars(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %x_1 = dataflow.pack %x : tensor<f32> as !itensor -> tensor<1xvector<1xf32>>
  %y_1 = dataflow.pack %y : tensor<f32> as !itensor -> tensor<1xvector<1xf32>>
  %d = dataflow.kernel @main(%x_2 = %x_1 : tensor<1xvector<1xf32>> as !itensor, %y_2 = %y_1 : tensor<1xvector<1xf32>> as !itensor) -> (tensor<1xvector<1xf32>> as !itensor) {
    %0 = itensor.empty : !itensor
    %d_1 = dataflow.task @d ins(%x_3 = %x_2 : !itensor, %y_3 = %y_2 : !itensor) outs(%out = %0 : !itensor) -> !itensor {
      %c1 = arith.constant 1 : index
      %1 = itensor.read %x_3[] : !itensor -> tensor<f32>
      %2 = itensor.read %y_3[] : !itensor -> tensor<f32>
      %3 = tensor.empty() : tensor<f32>
      %4 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%1, %2 : tensor<f32>, tensor<f32>) outs(%3 : tensor<f32>) attrs = {stc.name = "d"} {
      ^bb0(%a0: f32, %a1: f32, %o0: f32):  linalg.yield %a0 : f32
      } -> tensor<f32>
      %d_2 = itensor.write %4 into %out[] : tensor<f32> -> !itensor
      dataflow.yield %d_2 : !itensor
    }
    dataflow.yield %d_1 : !itensor
  }
  %d_1 = dataflow.unpack %d : tensor<1xvector<1xf32>> as !itensor -> tensor<f32>
  func.return %d_1 : tensor<f32>
}

// CHECK: !itensor = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
// CHECK-LABEL: func.func @scalars(
// CHECK: stream.from_itensor %x_{{.*}} : !itensor to !stream.stream<vector<1xf32>, depth: 2>
// CHECK-NEXT: stream.from_itensor %y_{{.*}} : !itensor to !stream.stream<vector<1xf32>, depth: 2>
// CHECK: stream.to_itensor %d_stream : !stream.stream<vector<1xf32>, depth: 2> to !itensor
// CHECK: %[[X:.*]] = memref.alloc() : memref<f32>
// CHECK-NEXT: %[[Y:.*]] = memref.alloc() : memref<f32>
// CHECK-NEXT: %[[D:.*]] = memref.alloc() : memref<f32>
// CHECK: %[[READ:.*]] = stream.read %x_{{.*}} : !stream.stream<vector<1xf32>, depth: 2>
// CHECK-NEXT: %[[READ1:.*]] = stream.read %y_{{.*}} : !stream.stream<vector<1xf32>, depth: 2>
// CHECK: vector.extract %[[READ]][0]
// CHECK: vector.extract %[[READ1]][0]
// CHECK: linalg.generic{{.*}}ins(%[[X]], %[[Y]] :{{.*}}outs(%[[D]]
// CHECK: stream.write %{{.*}} into %out : !stream.stream<vector<1xf32>, depth: 2>

// -----

// Two results are two streams.
// SHOW: stream\.\w+ %|scf.for .*step %\w+ ...|scf.if ...|memref.alloc\(|memref.subview ... :|memref.copy|vector\.\w+ %.*?\] ...|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|linalg.fill ...
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1, d0)>
!itensor = !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>
!itensor1 = !itensor.itensor<1x2xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
func.func @two_results(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<4x2xf32>) {
  %x_1 = dataflow.pack %x : tensor<2x4xf32> as !itensor -> tensor<1xvector<8xf32>>
  %r, %r_1 = dataflow.kernel @main(%x_2 = %x_1 : tensor<1xvector<8xf32>> as !itensor) -> (tensor<1xvector<8xf32>> as !itensor, tensor<1xvector<8xf32>> as !itensor1) {
    %0 = itensor.empty : !itensor
    %1 = itensor.empty : !itensor1
    %r_2, %r_3 = dataflow.task @both ins(%x_3 = %x_2 : !itensor) outs(%out = %0 : !itensor, %out_1 = %1 : !itensor1) -> (!itensor, !itensor1) {
      %x_4 = tensor.empty() : tensor<2x4xf32>
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      %2 = scf.for %a = %c0 to %c2 step %c1 iter_args(%3 = %x_4) -> (tensor<2x4xf32>) {
        %4 = itensor.read %x_3[%a] : !itensor -> tensor<1x4xf32>
        %5 = tensor.insert_slice %4 into %3[%a, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<2x4xf32>
        scf.yield %5 : tensor<2x4xf32>
      }
      %6 = tensor.empty() : tensor<2x4xf32>
      %7 = tensor.empty() : tensor<4x2xf32>
      %8, %9 = linalg.generic {indexing_maps = [#map, #map, #map1], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<2x4xf32>) outs(%6, %7 : tensor<2x4xf32>, tensor<4x2xf32>) attrs = {stc.name = "both"} {
      ^bb0(%a_1: f32, %b: f32, %c: f32):  linalg.yield %a_1, %a_1 : f32, f32
      } -> (tensor<2x4xf32>, tensor<4x2xf32>)
      %c0_1 = arith.constant 0 : index  %c2_1 = arith.constant 2 : index  %c1_1 = arith.constant 1 : index
      %r_4 = scf.for %a_2 = %c0_1 to %c2_1 step %c1_1 iter_args(%10 = %out) -> (!itensor) {
        %11 = tensor.extract_slice %8[%a_2, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<1x4xf32>
        %12 = itensor.write %11 into %10[%a_2] : tensor<1x4xf32> -> !itensor
        scf.yield %12 : !itensor
      }
      %c0_2 = arith.constant 0 : index  %c4 = arith.constant 4 : index  %c1_2 = arith.constant 1 : index
      %r_5 = scf.for %a_3 = %c0_2 to %c4 step %c1_2 iter_args(%13 = %out_1) -> (!itensor1) {
        %14 = tensor.extract_slice %9[%a_3, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<1x2xf32>
        %15 = itensor.write %14 into %13[%a_3] : tensor<1x2xf32> -> !itensor1
        scf.yield %15 : !itensor1
      }
      dataflow.yield %r_4, %r_5 : !itensor, !itensor1
    }
    dataflow.yield %r_2, %r_3 : !itensor, !itensor1
  }
  %r_2 = dataflow.unpack %r : tensor<1xvector<8xf32>> as !itensor -> tensor<2x4xf32>
  %r_3 = dataflow.unpack %r_1 : tensor<1xvector<8xf32>> as !itensor1 -> tensor<4x2xf32>
  func.return %r_2, %r_3 : tensor<2x4xf32>, tensor<4x2xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x2xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK-LABEL: func.func @two_results(
// CHECK: stream.from_itensor %x_{{.*}} : !itensor to !stream.stream<vector<4xf32>, depth: 2>
// CHECK: stream.to_itensor %r_stream : !stream.stream<vector<4xf32>, depth: 2> to !itensor
// CHECK: stream.to_itensor %r_stream_{{.*}} : !stream.stream<vector<2xf32>, depth: 2> to !itensor1
// CHECK: %[[X:.*]] = memref.alloc() : memref<2x4xf32>
// CHECK-NEXT: %both = memref.alloc() : memref<2x4xf32>
// CHECK-NEXT: %[[BOTH:.*]] = memref.alloc() : memref<4x2xf32>
// CHECK: scf.for %a = %c0 to %c2 step %c1
// CHECK-NEXT: %[[READ:.*]] = stream.read %x_{{.*}} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK: vector.store %[[READ]], %[[X]][%a, %c0_{{.*}}]
// CHECK: linalg.generic{{.*}}ins(%[[X]] :{{.*}}outs(%both
// CHECK: scf.for %[[A:.*]] = %c0_{{.*}} to %c2_{{.*}} step %c1_{{.*}}
// CHECK: %[[LOAD:.*]] = vector.load %both[%[[A]], %c0_{{.*}}]
// CHECK-NEXT: stream.write %[[LOAD]] into %out : !stream.stream<vector<4xf32>, depth: 2>
// CHECK: scf.for %[[A1:.*]] = %c0_{{.*}} to %c4 step %c1_{{.*}}
// CHECK: %[[LOAD1:.*]] = vector.load %[[BOTH]][%[[A1]], %c0_{{.*}}]
// CHECK-NEXT: stream.write %[[LOAD1]] into %out_{{.*}} : !stream.stream<vector<2xf32>, depth: 2>

// -----

// One vector is the whole tile: it needs no loop.
// SHOW: stream\.\w+ %|scf.for .*step %\w+ ...|scf.if ...|memref.alloc\(|memref.subview ... :|memref.copy|vector\.\w+ %.*?\] ...|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|linalg.fill ...
#map = affine_map<(d0) -> (d0)>
!itensor = !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
func.func @one_vector(%x: tensor<4xf32>) -> tensor<4xf32> {
  %x_1 = dataflow.pack %x : tensor<4xf32> as !itensor -> tensor<1xvector<4xf32>>
  %n = dataflow.kernel @main(%x_2 = %x_1 : tensor<1xvector<4xf32>> as !itensor) -> (tensor<1xvector<4xf32>> as !itensor) {
    %0 = itensor.empty : !itensor
    %n_1 = dataflow.task @n ins(%x_3 = %x_2 : !itensor) outs(%out = %0 : !itensor) -> !itensor {
      %c1 = arith.constant 1 : index
      %1 = itensor.read %x_3[] : !itensor -> tensor<4xf32>
      %2 = tensor.empty() : tensor<4xf32>
      %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%1 : tensor<4xf32>) outs(%2 : tensor<4xf32>) attrs = {stc.name = "n"} {
      ^bb0(%a0: f32, %o0: f32):  linalg.yield %a0 : f32
      } -> tensor<4xf32>
      %n_2 = itensor.write %3 into %out[] : tensor<4xf32> -> !itensor
      dataflow.yield %n_2 : !itensor
    }
    dataflow.yield %n_1 : !itensor
  }
  %n_1 = dataflow.unpack %n : tensor<1xvector<4xf32>> as !itensor -> tensor<4xf32>
  func.return %n_1 : tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
// CHECK-LABEL: func.func @one_vector(
// CHECK: stream.from_itensor %x_{{.*}} : !itensor to !stream.stream<vector<4xf32>, depth: 2>
// CHECK: stream.to_itensor %n_stream : !stream.stream<vector<4xf32>, depth: 2> to !itensor
// CHECK: %[[X:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT: %[[N:.*]] = memref.alloc() : memref<4xf32>
// CHECK: %[[READ:.*]] = stream.read %x_{{.*}} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK: vector.store %[[READ]], %[[X]][%c0]
// CHECK-NEXT: linalg.generic{{.*}}ins(%[[X]] :{{.*}}outs(%[[N]]
// CHECK: %[[LOAD:.*]] = vector.load %[[N]][%c0_{{.*}}]
// CHECK-NEXT: stream.write %[[LOAD]] into %out : !stream.stream<vector<4xf32>, depth: 2>
