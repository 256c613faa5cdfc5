// RUN: stc-opt %s -p 'split-ports' --split-input-file | filecheck %s

// The task wants 8 lanes at both ports, a token carries 4: two ports each, and one iteration in place of the loop over vectors.
// Outside, a split and a merge.
// SHOW: itensor.split|itensor.merge|dataflow.task @\w+ ins ...|itensor.read .*\] ...|itensor.write .*\] ...|scf.for .* step %\w+ ...|insert_slice .*?\[.*?\] ...|extract_slice .*?\[.*?\] ...
#map = affine_map<(d0, d1) -> (d0, d1)>
!itensor = !itensor.itensor<1x4xf32, iter_space: [3, 2, 2] * [1, 8, 4], iter_map: (d0, d1, d2) -> (d0, d1 + d2)>
func.func @two_ports(%x: tensor<3x16xf32>) -> tensor<3x16xf32> {
  %y = dataflow.kernel @two_ports(%x_1 = %x : tensor<3x16xf32> as !itensor) -> (tensor<3x16xf32> as !itensor) {
    %0 = itensor.empty : !itensor
    %y_1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor {
      %c0 = arith.constant 0 : index  %c3 = arith.constant 3 : index  %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index  %c8 = arith.constant 8 : index
      %y_2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%1 = %out) -> (!itensor) {
        %2 = scf.for %j = %c0 to %c16 step %c8 iter_args(%3 = %1) -> (!itensor) {
          %x_3 = tensor.empty() : tensor<1x8xf32>
          %c0_1 = arith.constant 0 : index  %c8_1 = arith.constant 8 : index  %c4 = arith.constant 4 : index
          %4 = scf.for %a = %c0_1 to %c8_1 step %c4 iter_args(%5 = %x_3) -> (tensor<1x8xf32>) {
            %6 = itensor.read %x_2[%i, %j, %a] : !itensor -> tensor<1x4xf32>
            %7 = tensor.insert_slice %6 into %5[0, %a] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<1x8xf32>
            scf.yield %7 : tensor<1x8xf32>
          }
          %8 = tensor.empty() : tensor<1x8xf32>
          %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<1x8xf32>) outs(%8 : tensor<1x8xf32>) attrs = {stc.schedule = #dataflow.schedule<tile = [1, 8], order = [0, 1], unroll = [1, 8], vector = []>} {
          ^bb0(%a_1: f32, %o: f32):  linalg.yield %a_1 : f32
          } -> tensor<1x8xf32>
          %c0_2 = arith.constant 0 : index  %c8_2 = arith.constant 8 : index  %c4_1 = arith.constant 4 : index
          %10 = scf.for %a_2 = %c0_2 to %c8_2 step %c4_1 iter_args(%11 = %3) -> (!itensor) {
            %12 = tensor.extract_slice %9[0, %a_2] [1, 4] [1, 1] : tensor<1x8xf32> to tensor<1x4xf32>
            %13 = itensor.write %12 into %11[%i, %j, %a_2] : tensor<1x4xf32> -> !itensor
            scf.yield %13 : !itensor
          }
          scf.yield %10 : !itensor
        }
        scf.yield %2 : !itensor
      }
      dataflow.yield %y_2 : !itensor
    }
    dataflow.yield %y_1 : !itensor
  }
  func.return %y : tensor<3x16xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [3, 2, 2] * [1, 8, 4], iter_map: (d0, d1, d2) -> (d0, d1 + d2)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor2 = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1 + 4)>
// CHECK-LABEL: func.func @two_ports(
// CHECK: itensor.split %x_{{.*}} : !itensor to !itensor1, !itensor2
// CHECK: %[[Y:.*]], %[[Y1:.*]] = dataflow.task @n ins
// CHECK: %[[Y2:.*]], %y_{{.*}} = scf.for %i = %c0 to %c3 step %c1
// CHECK-NEXT: scf.for %j = %c0 to %c16 step %c8
// CHECK: %[[READ:.*]] = itensor.read %x_{{.*}}[%i, %j]
// CHECK-NEXT: %[[INSERT_SLICE:.*]] = tensor.insert_slice %[[READ]] into %x_{{.*}}[0, %c0_{{.*}}]
// CHECK: %[[READ1:.*]] = itensor.read %x_{{.*}}[%i, %j]
// CHECK-NEXT: tensor.insert_slice %[[READ1]] into %[[INSERT_SLICE]][0, %c4_{{.*}}]
// CHECK: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %{{.*}}[0, %c0_{{.*}}]
// CHECK-NEXT: itensor.write %[[EXTRACT_SLICE]] into %{{.*}}[%i, %j]
// CHECK: %[[EXTRACT_SLICE1:.*]] = tensor.extract_slice %{{.*}}[0, %c4_{{.*}}]
// CHECK-NEXT: itensor.write %[[EXTRACT_SLICE1]] into %{{.*}}[%i, %j]
// CHECK: %[[Y3:.*]] = itensor.merge %[[Y]], %[[Y1]] : !itensor1, !itensor2 to !itensor

// -----

// 16 entries are four tokens; 8 lanes are two ports: the loop over vectors has two iterations left.
// SHOW: itensor.split|itensor.merge|dataflow.task @\w+ ins ...|itensor.read .*\] ...|itensor.write .*\] ...|scf.for .* step %\w+ ...|insert_slice .*?\[.*?\] ...|extract_slice .*?\[.*?\] ...
#map = affine_map<(d0, d1) -> (d0, d1)>
!itensor = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @leftover(%x: tensor<3x16xf32>) -> tensor<3x16xf32> {
  %y = dataflow.kernel @leftover(%x_1 = %x : tensor<3x16xf32> as !itensor) -> (tensor<3x16xf32> as !itensor) {
    %0 = itensor.empty : !itensor
    %y_1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor {
      %c0 = arith.constant 0 : index  %c3 = arith.constant 3 : index  %c1 = arith.constant 1 : index
      %y_2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%1 = %out) -> (!itensor) {
        %x_3 = tensor.empty() : tensor<1x16xf32>
        %c0_1 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
        %2 = scf.for %a = %c0_1 to %c16 step %c4 iter_args(%3 = %x_3) -> (tensor<1x16xf32>) {
          %4 = itensor.read %x_2[%i, %a] : !itensor -> tensor<1x4xf32>
          %5 = tensor.insert_slice %4 into %3[0, %a] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<1x16xf32>
          scf.yield %5 : tensor<1x16xf32>
        }
        %6 = tensor.empty() : tensor<1x16xf32>
        %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<1x16xf32>) outs(%6 : tensor<1x16xf32>) attrs = {stc.schedule = #dataflow.schedule<tile = [1, 16], order = [0, 1], unroll = [1, 8], vector = []>} {
        ^bb0(%a_1: f32, %o: f32):  linalg.yield %a_1 : f32
        } -> tensor<1x16xf32>
        %c0_2 = arith.constant 0 : index  %c16_1 = arith.constant 16 : index  %c4_1 = arith.constant 4 : index
        %8 = scf.for %a_2 = %c0_2 to %c16_1 step %c4_1 iter_args(%9 = %1) -> (!itensor) {
          %10 = tensor.extract_slice %7[0, %a_2] [1, 4] [1, 1] : tensor<1x16xf32> to tensor<1x4xf32>
          %11 = itensor.write %10 into %9[%i, %a_2] : tensor<1x4xf32> -> !itensor
          scf.yield %11 : !itensor
        }
        scf.yield %8 : !itensor
      }
      dataflow.yield %y_2 : !itensor
    }
    dataflow.yield %y_1 : !itensor
  }
  func.return %y : tensor<3x16xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor2 = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1 + 4)>
// CHECK-LABEL: func.func @leftover(
// CHECK: itensor.split %x_{{.*}} : !itensor to !itensor1, !itensor2
// CHECK: %[[Y:.*]], %[[Y1:.*]] = dataflow.task @n ins
// CHECK: %[[Y2:.*]], %y_{{.*}} = scf.for %i = %c0 to %c3 step %c1
// CHECK: scf.for %a = %c0_{{.*}} to %c16 step %c8
// CHECK-NEXT: %[[READ:.*]] = itensor.read %x_{{.*}}[%i, %a]
// CHECK-NEXT: %[[INSERT_SLICE:.*]] = tensor.insert_slice %[[READ]] into %{{.*}}[0, %a]
// CHECK: %[[READ1:.*]] = itensor.read %x_{{.*}}[%i, %a]
// CHECK-NEXT: tensor.insert_slice %[[READ1]] into %[[INSERT_SLICE]][0, %{{.*}}]
// CHECK: scf.for %[[A:.*]] = %c0_{{.*}} to %c16_{{.*}} step %c8_{{.*}}
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %{{.*}}[0, %[[A]]]
// CHECK-NEXT: itensor.write %[[EXTRACT_SLICE]] into %{{.*}}[%i, %[[A]]]
// CHECK: %[[EXTRACT_SLICE1:.*]] = tensor.extract_slice %{{.*}}[0, %{{.*}}]
// CHECK-NEXT: itensor.write %[[EXTRACT_SLICE1]] into %{{.*}}[%i, %[[A]]]
// CHECK: %[[Y3:.*]] = itensor.merge %[[Y]], %[[Y1]] : !itensor1, !itensor2 to !itensor

// -----

// The vector shapes decide, not the unroll factors: one port for %w, two for the result, which is carried through loops and a guard.
// SHOW: itensor.split|itensor.merge|dataflow.task @\w+ ins ...|itensor.read .*\] ...|itensor.write .*\] ...|scf.for .* step %\w+ ...|insert_slice .*?\[.*?\] ...|extract_slice .*?\[.*?\] ...
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1)>
!itensor = !itensor.itensor<1x1xf32, iter_space: [2, 3, 5] * [5, 1, 1], iter_map: (d0, d1, d2) -> (d1, d0 + d2)>
!itensor1 = !itensor.itensor<1x4xf32, iter_space: [2, 2, 5, 2] * [5, 8, 1, 4], iter_map: (d0, d1, d2, d3) -> (d0 + d2, d1 + d3)>
!itensor2 = !itensor.itensor<1x4xf32, iter_space: [2, 3, 2] * [8, 1, 4], iter_map: (d0, d1, d2) -> (d1, d0 + d2)>
func.func @guarded(%x: tensor<3x10xf32>, %w: tensor<10x16xf32>) -> tensor<3x16xf32> {
  %y = dataflow.kernel @guarded(%x_1 = %x : tensor<3x10xf32> as !itensor, %w_1 = %w : tensor<10x16xf32> as !itensor1) -> (tensor<3x16xf32> as !itensor2) {
    %0 = itensor.empty : !itensor2
    %y_1 = dataflow.task @fc ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1) outs(%out = %0 : !itensor2) -> !itensor2 {
      %c0 = arith.constant 0 : index  %zero = arith.constant 0.000000e+00 : f32  %c10 = arith.constant 10 : index
      %c5 = arith.constant 5 : index  %c16 = arith.constant 16 : index  %c8 = arith.constant 8 : index
      %1 = tensor.empty() : tensor<3x16xf32>
      %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<3x16xf32>) -> tensor<3x16xf32>
      %3, %y_2 = scf.for %k = %c0 to %c10 step %c5 iter_args(%4 = %2, %5 = %out) -> (tensor<3x16xf32>, !itensor2) {
        %x_3 = tensor.empty() : tensor<3x5xf32>
        %c0_1 = arith.constant 0 : index  %c3 = arith.constant 3 : index  %c1 = arith.constant 1 : index
        %6 = scf.for %a = %c0_1 to %c3 step %c1 iter_args(%7 = %x_3) -> (tensor<3x5xf32>) {
          %c0_2 = arith.constant 0 : index  %c5_1 = arith.constant 5 : index  %c1_1 = arith.constant 1 : index
          %8 = scf.for %b = %c0_2 to %c5_1 step %c1_1 iter_args(%9 = %7) -> (tensor<3x5xf32>) {
            %10 = itensor.read %x_2[%k, %a, %b] : !itensor -> tensor<1x1xf32>
            %11 = tensor.insert_slice %10 into %9[%a, %b] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<3x5xf32>
            scf.yield %11 : tensor<3x5xf32>
          }
          scf.yield %8 : tensor<3x5xf32>
        }
        %12, %13 = scf.for %j = %c0 to %c16 step %c8 iter_args(%14 = %4, %15 = %5) -> (tensor<3x16xf32>, !itensor2) {
          %w_3 = tensor.empty() : tensor<5x8xf32>
          %c0_3 = arith.constant 0 : index  %c5_2 = arith.constant 5 : index  %c1_2 = arith.constant 1 : index
          %16 = scf.for %a_1 = %c0_3 to %c5_2 step %c1_2 iter_args(%17 = %w_3) -> (tensor<5x8xf32>) {
            %c0_4 = arith.constant 0 : index  %c8_1 = arith.constant 8 : index  %c4 = arith.constant 4 : index
            %18 = scf.for %b_1 = %c0_4 to %c8_1 step %c4 iter_args(%19 = %17) -> (tensor<5x8xf32>) {
              %20 = itensor.read %w_2[%k, %j, %a_1, %b_1] : !itensor1 -> tensor<1x4xf32>
              %21 = tensor.insert_slice %20 into %19[%a_1, %b_1] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<5x8xf32>
              scf.yield %21 : tensor<5x8xf32>
            }
            scf.yield %18 : tensor<5x8xf32>
          }
          %22 = tensor.extract_slice %14[0, %j] [3, 8] [1, 1] : tensor<3x16xf32> to tensor<3x8xf32>
          %23 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%6 : tensor<3x5xf32>) outs(%22 : tensor<3x8xf32>) attrs = {stc.schedule = #dataflow.schedule<tile = [3, 8, 5], order = [0, 2, 1], unroll = [1, 8, 1], vector = [[1, 1], [1, 8]]>} {
          ^bb0(%a_2: f32, %c: f32):  linalg.yield %a_2 : f32
          } -> tensor<3x8xf32>
          %24 = tensor.insert_slice %23 into %14[0, %j] [3, 8] [1, 1] : tensor<3x8xf32> into tensor<3x16xf32>
          %25 = arith.cmpi eq, %k, %c5 : index
          %26 = scf.if %25 -> (!itensor2) {
            %c0_5 = arith.constant 0 : index  %c3_1 = arith.constant 3 : index  %c1_3 = arith.constant 1 : index
            %27 = scf.for %a_3 = %c0_5 to %c3_1 step %c1_3 iter_args(%28 = %15) -> (!itensor2) {
              %c0_6 = arith.constant 0 : index  %c8_2 = arith.constant 8 : index  %c4_1 = arith.constant 4 : index
              %29 = scf.for %b_2 = %c0_6 to %c8_2 step %c4_1 iter_args(%30 = %28) -> (!itensor2) {
                %31 = tensor.extract_slice %23[%a_3, %b_2] [1, 4] [1, 1] : tensor<3x8xf32> to tensor<1x4xf32>
                %32 = itensor.write %31 into %30[%j, %a_3, %b_2] : tensor<1x4xf32> -> !itensor2
                scf.yield %32 : !itensor2
              }
              scf.yield %29 : !itensor2
            }
            scf.yield %27 : !itensor2
          } else {
            scf.yield %15 : !itensor2
          }
          scf.yield %24, %26 : tensor<3x16xf32>, !itensor2
        }
        scf.yield %12, %13 : tensor<3x16xf32>, !itensor2
      }
      dataflow.yield %y_2 : !itensor2
    }
    dataflow.yield %y_1 : !itensor2
  }
  func.return %y : tensor<3x16xf32>
}

// CHECK: !itensor2 = !itensor.itensor<1x4xf32, iter_space: [2, 3, 2] * [8, 1, 4], iter_map: (d0, d1, d2) -> (d1, d0 + d2)>
// CHECK: !itensor3 = !itensor.itensor<1x4xf32, iter_space: [2, 3] * [8, 1], iter_map: (d0, d1) -> (d1, d0)>
// CHECK: !itensor4 = !itensor.itensor<1x4xf32, iter_space: [2, 3] * [8, 1], iter_map: (d0, d1) -> (d1, d0 + 4)>
// CHECK-LABEL: func.func @guarded(
// CHECK: %[[Y:.*]], %[[Y1:.*]] = dataflow.task @fc ins
// CHECK: %{{.*}}, %[[Y2:.*]], %y_{{.*}} = scf.for %k = %c0 to %c10 step %c5
// CHECK: scf.for %a = %c0_{{.*}} to %c3 step %c1
// CHECK: scf.for %b = %c0_{{.*}} to %c5_{{.*}} step %c1_{{.*}}
// CHECK-NEXT: %[[READ:.*]] = itensor.read %x_{{.*}}[%k, %a, %b]
// CHECK-NEXT: tensor.insert_slice %[[READ]] into %{{.*}}[%a, %b]
// CHECK: scf.for %j = %c0 to %c16 step %c8
// CHECK: scf.for %[[A:.*]] = %c0_{{.*}} to %c5_{{.*}} step %c1_{{.*}}
// CHECK: scf.for %[[B:.*]] = %c0_{{.*}} to %c8_{{.*}} step %c4
// CHECK-NEXT: %[[READ1:.*]] = itensor.read %w_{{.*}}[%k, %j, %[[A]], %[[B]]]
// CHECK-NEXT: tensor.insert_slice %[[READ1]] into %{{.*}}[%[[A]], %[[B]]]
// CHECK: tensor.extract_slice %{{.*}}[0, %j]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, %j]
// CHECK: scf.for %[[A1:.*]] = %c0_{{.*}} to %c3_{{.*}} step %c1_{{.*}}
// CHECK: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %{{.*}}[%[[A1]], %c0_{{.*}}]
// CHECK-NEXT: itensor.write %[[EXTRACT_SLICE]] into %{{.*}}[%j, %[[A1]]]
// CHECK: %[[EXTRACT_SLICE1:.*]] = tensor.extract_slice %{{.*}}[%[[A1]], %c4_{{.*}}]
// CHECK-NEXT: itensor.write %[[EXTRACT_SLICE1]] into %{{.*}}[%j, %[[A1]]]
// CHECK: %[[Y3:.*]] = itensor.merge %[[Y]], %[[Y1]] : !itensor3, !itensor4 to !itensor2

// -----

// The stream between the two tasks is as wide as the narrower wants it; the other end of the first is split.
// SHOW: itensor.split|itensor.merge|dataflow.task @\w+ ins ...|itensor.read .*\] ...|itensor.write .*\] ...|scf.for .* step %\w+ ...|insert_slice .*?\[.*?\] ...|extract_slice .*?\[.*?\] ...
#map = affine_map<(d0, d1) -> (d0, d1)>
!itensor = !itensor.itensor<1x4xf32, iter_space: [3, 2, 2] * [1, 8, 4], iter_map: (d0, d1, d2) -> (d0, d1 + d2)>
!itensor1 = !itensor.itensor<1x2xf32, iter_space: [3, 2, 4] * [1, 8, 2], iter_map: (d0, d1, d2) -> (d0, d1 + d2)>
func.func @narrow_reader(%x: tensor<3x16xf32>) -> tensor<3x16xf32> {
  %z = dataflow.kernel @narrow_reader(%x_1 = %x : tensor<3x16xf32> as !itensor) -> (tensor<3x16xf32> as !itensor1) {
    %0 = itensor.empty : !itensor1
    %y = dataflow.task @wide ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor1) -> !itensor1 {
      %c0 = arith.constant 0 : index  %c3 = arith.constant 3 : index  %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index  %c8 = arith.constant 8 : index
      %y_1 = scf.for %i = %c0 to %c3 step %c1 iter_args(%1 = %out) -> (!itensor1) {
        %2 = scf.for %j = %c0 to %c16 step %c8 iter_args(%3 = %1) -> (!itensor1) {
          %x_3 = tensor.empty() : tensor<1x8xf32>
          %c0_1 = arith.constant 0 : index  %c8_1 = arith.constant 8 : index  %c4 = arith.constant 4 : index
          %4 = scf.for %a = %c0_1 to %c8_1 step %c4 iter_args(%5 = %x_3) -> (tensor<1x8xf32>) {
            %6 = itensor.read %x_2[%i, %j, %a] : !itensor -> tensor<1x4xf32>
            %7 = tensor.insert_slice %6 into %5[0, %a] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<1x8xf32>
            scf.yield %7 : tensor<1x8xf32>
          }
          %8 = tensor.empty() : tensor<1x8xf32>
          %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<1x8xf32>) outs(%8 : tensor<1x8xf32>) attrs = {stc.schedule = #dataflow.schedule<tile = [1, 8], order = [0, 1], unroll = [1, 8], vector = []>} {
          ^bb0(%a_1: f32, %o: f32):  linalg.yield %a_1 : f32
          } -> tensor<1x8xf32>
          %c0_2 = arith.constant 0 : index  %c8_2 = arith.constant 8 : index  %c2 = arith.constant 2 : index
          %10 = scf.for %a_2 = %c0_2 to %c8_2 step %c2 iter_args(%11 = %3) -> (!itensor1) {
            %12 = tensor.extract_slice %9[0, %a_2] [1, 2] [1, 1] : tensor<1x8xf32> to tensor<1x2xf32>
            %13 = itensor.write %12 into %11[%i, %j, %a_2] : tensor<1x2xf32> -> !itensor1
            scf.yield %13 : !itensor1
          }
          scf.yield %10 : !itensor1
        }
        scf.yield %2 : !itensor1
      }
      dataflow.yield %y_1 : !itensor1
    }
    %1 = itensor.empty : !itensor1
    %z_1 = dataflow.task @narrow ins(%y_1 = %y : !itensor1) outs(%out = %1 : !itensor1) -> !itensor1 {
      %c0 = arith.constant 0 : index  %c3 = arith.constant 3 : index  %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index  %c8 = arith.constant 8 : index
      %z_2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%2 = %out) -> (!itensor1) {
        %3 = scf.for %j = %c0 to %c16 step %c8 iter_args(%4 = %2) -> (!itensor1) {
          %y_2 = tensor.empty() : tensor<1x8xf32>
          %c0_1 = arith.constant 0 : index  %c8_1 = arith.constant 8 : index  %c2 = arith.constant 2 : index
          %5 = scf.for %a = %c0_1 to %c8_1 step %c2 iter_args(%6 = %y_2) -> (tensor<1x8xf32>) {
            %7 = itensor.read %y_1[%i, %j, %a] : !itensor1 -> tensor<1x2xf32>
            %8 = tensor.insert_slice %7 into %6[0, %a] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<1x8xf32>
            scf.yield %8 : tensor<1x8xf32>
          }
          %9 = tensor.empty() : tensor<1x8xf32>
          %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<1x8xf32>) outs(%9 : tensor<1x8xf32>) attrs = {stc.schedule = #dataflow.schedule<tile = [1, 8], order = [0, 1], unroll = [1, 2], vector = []>} {
          ^bb0(%a_1: f32, %o: f32):  linalg.yield %a_1 : f32
          } -> tensor<1x8xf32>
          %c0_2 = arith.constant 0 : index  %c8_2 = arith.constant 8 : index  %c2_1 = arith.constant 2 : index
          %11 = scf.for %a_2 = %c0_2 to %c8_2 step %c2_1 iter_args(%12 = %4) -> (!itensor1) {
            %13 = tensor.extract_slice %10[0, %a_2] [1, 2] [1, 1] : tensor<1x8xf32> to tensor<1x2xf32>
            %14 = itensor.write %13 into %12[%i, %j, %a_2] : tensor<1x2xf32> -> !itensor1
            scf.yield %14 : !itensor1
          }
          scf.yield %11 : !itensor1
        }
        scf.yield %3 : !itensor1
      }
      dataflow.yield %z_2 : !itensor1
    }
    dataflow.yield %z_1 : !itensor1
  }
  func.return %z : tensor<3x16xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [3, 2, 2] * [1, 8, 4], iter_map: (d0, d1, d2) -> (d0, d1 + d2)>
// CHECK: !itensor2 = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor3 = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1 + 4)>
// CHECK-LABEL: func.func @narrow_reader(
// CHECK: itensor.split %x_{{.*}} : !itensor to !itensor2, !itensor3
// CHECK-NEXT: dataflow.task @wide ins
// CHECK: %[[Y:.*]] = scf.for %i = %c0 to %c3 step %c1
// CHECK-NEXT: scf.for %j = %c0 to %c16 step %c8
// CHECK: %[[READ:.*]] = itensor.read %x_{{.*}}[%i, %j]
// CHECK-NEXT: %[[INSERT_SLICE:.*]] = tensor.insert_slice %[[READ]] into %x_{{.*}}[0, %c0_{{.*}}]
// CHECK: %[[READ1:.*]] = itensor.read %x_{{.*}}[%i, %j]
// CHECK-NEXT: %[[INSERT_SLICE1:.*]] = tensor.insert_slice %[[READ1]] into %[[INSERT_SLICE]][0, %c4_{{.*}}]
// CHECK: %[[FOR:.*]] = scf.for %[[A:.*]] = %c0_{{.*}} to %c8_{{.*}} step %c2
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %{{.*}}[0, %[[A]]]
// CHECK-NEXT: %[[WRITE:.*]] = itensor.write %[[EXTRACT_SLICE]] into %{{.*}}[%i, %j, %[[A]]]
// CHECK: dataflow.task @narrow ins
// CHECK: scf.for %i = %c0 to %c3 step %c1
// CHECK-NEXT: scf.for %j = %c0 to %c16 step %c8
// CHECK: %[[FOR1:.*]] = scf.for %a = %c0_{{.*}} to %c8_{{.*}} step %c2
// CHECK-NEXT: %[[READ2:.*]] = itensor.read %[[Y]][%i, %j, %a]
// CHECK-NEXT: tensor.insert_slice %[[READ2]] into %[[READ1]][0, %a]
// CHECK: %[[FOR2:.*]] = scf.for %[[A1:.*]] = %c0_{{.*}} to %c8_{{.*}} step %c2_{{.*}}
// CHECK-NEXT: %[[EXTRACT_SLICE1:.*]] = tensor.extract_slice %[[FOR]][0, %[[A1]]]
// CHECK-NEXT: itensor.write %[[EXTRACT_SLICE1]] into %[[EXTRACT_SLICE]][%i, %j, %[[A1]]]
