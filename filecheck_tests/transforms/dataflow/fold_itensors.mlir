// RUN: stc-opt %s -p 'fold-itensors{limit=1000}' --split-input-file | filecheck %s

// A product and what is subtracted from it, tile by tile: one task, which reads the subtrahend where it writes.
// SHOW: dataflow.task @\w+ ins ...|itensor.read .*\] ...|itensor.write .*\] ...|linalg.generic ... ins\(.*? : ...|scf.if ...|itensor.converter ...
#map = affine_map<(d0, d1) -> (d0, d1)>
!itensor = !itensor.itensor<3x2xf32, iter_space: [2, 2, 2] * [4, 2, 3], iter_map: (d0, d1, d2) -> (d2, d1)>
!itensor1 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @product(%w: tensor<6x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %g = dataflow.kernel @main(%w_1 = %w : tensor<6x4xf32> as !itensor, %v_1 = %v : tensor<8x4xf32> as !itensor1) -> (tensor<8x4xf32> as !itensor1) {
    %0 = itensor.empty : !itensor1
    %f = dataflow.task @f ins(%w_2 = %w_1 : !itensor) outs(%out = %0 : !itensor1) -> !itensor1 {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index  %f_c = arith.constant 0.000000e+00 : f32
      %f_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%1 = %out) -> (!itensor1) {
        %2 = scf.for %j = %c0 to %c4 step %c2 iter_args(%3 = %1) -> (!itensor1) {
          %4 = tensor.empty() : tensor<4x2xf32>
          %5 = linalg.fill ins(%f_c : f32) outs(%4 : tensor<4x2xf32>) -> tensor<4x2xf32>
          %6 = itensor.write %5 into %3[%i, %j] : tensor<4x2xf32> -> !itensor1
          scf.yield %6 : !itensor1
        }
        scf.yield %2 : !itensor1
      }
      dataflow.yield %f_1 : !itensor1
    }
    %1 = itensor.empty : !itensor1
    %g_1 = dataflow.task @g ins(%f_1 = %f : !itensor1, %v_2 = %v_1 : !itensor1) outs(%out = %1 : !itensor1) -> !itensor1 {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %g_2 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor1) {
        %3 = scf.for %j = %c0 to %c4 step %c2 iter_args(%4 = %2) -> (!itensor1) {
          %5 = itensor.read %f_1[%i, %j] : !itensor1 -> tensor<4x2xf32>
          %6 = itensor.read %v_2[%i, %j] : !itensor1 -> tensor<4x2xf32>
          %7 = tensor.empty() : tensor<4x2xf32>
          %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%5, %6 : tensor<4x2xf32>, tensor<4x2xf32>) outs(%7 : tensor<4x2xf32>) attrs = {stc.schedule = #dataflow.schedule<tile = [4, 2], order = [0, 1], unroll = [1, 1], vector = []>} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):  %t = arith.mulf %a0, %a1 : f32  linalg.yield %t : f32
          } -> tensor<4x2xf32>
          %9 = itensor.write %8 into %4[%i, %j] : tensor<4x2xf32> -> !itensor1
          scf.yield %9 : !itensor1
        }
        scf.yield %3 : !itensor1
      }
      dataflow.yield %g_2 : !itensor1
    }
    dataflow.yield %g_1 : !itensor1
  }
  func.return %g : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @product(
// CHECK: dataflow.task @f_and_g ins
// CHECK: %[[READ:.*]] = itensor.read %v_{{.*}}[%i, %j]
// CHECK: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%{{.*}}, %[[READ]] :
// CHECK: itensor.write %[[GENERIC]] into %{{.*}}[%i, %j]

// -----

// The reduction is outermost: the tiles leave in its last step, and the subtrahend is read in that step too.
// SHOW: dataflow.task @\w+ ins ...|itensor.read .*\] ...|itensor.write .*\] ...|linalg.generic ... ins\(.*? : ...|scf.if ...|itensor.converter ...
#map = affine_map<(d0, d1) -> (d0, d1)>
!itensor = !itensor.itensor<3x2xf32, iter_space: [2, 2, 2] * [3, 4, 2], iter_map: (d0, d1, d2) -> (d0, d2)>
!itensor1 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @guarded(%w: tensor<6x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %g = dataflow.kernel @main(%w_1 = %w : tensor<6x4xf32> as !itensor, %v_1 = %v : tensor<8x4xf32> as !itensor1) -> (tensor<8x4xf32> as !itensor1) {
    %0 = itensor.empty : !itensor1
    %f = dataflow.task @f ins(%w_2 = %w_1 : !itensor) outs(%out = %0 : !itensor1) -> !itensor1 {
      %c0 = arith.constant 0 : index  %f_c = arith.constant 0.000000e+00 : f32  %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %1 = tensor.empty() : tensor<8x4xf32>
      %2 = linalg.fill ins(%f_c : f32) outs(%1 : tensor<8x4xf32>) -> tensor<8x4xf32>
      %3, %f_1 = scf.for %k = %c0 to %c6 step %c3 iter_args(%4 = %2, %5 = %out) -> (tensor<8x4xf32>, !itensor1) {
        %6, %7 = scf.for %i = %c0 to %c8 step %c4 iter_args(%8 = %4, %9 = %5) -> (tensor<8x4xf32>, !itensor1) {
          %10, %11 = scf.for %j = %c0 to %c4 step %c2 iter_args(%12 = %8, %13 = %9) -> (tensor<8x4xf32>, !itensor1) {
            %14 = tensor.extract_slice %12[%i, %j] [4, 2] [1, 1] : tensor<8x4xf32> to tensor<4x2xf32>
            %15 = arith.cmpi eq, %k, %c3 : index
            %16 = scf.if %15 -> (!itensor1) {
              %17 = itensor.write %14 into %13[%i, %j] : tensor<4x2xf32> -> !itensor1
              scf.yield %17 : !itensor1
            } else {
              scf.yield %13 : !itensor1
            }
            scf.yield %12, %16 : tensor<8x4xf32>, !itensor1
          }
          scf.yield %10, %11 : tensor<8x4xf32>, !itensor1
        }
        scf.yield %6, %7 : tensor<8x4xf32>, !itensor1
      }
      dataflow.yield %f_1 : !itensor1
    }
    %1 = itensor.empty : !itensor1
    %g_1 = dataflow.task @g ins(%f_1 = %f : !itensor1, %v_2 = %v_1 : !itensor1) outs(%out = %1 : !itensor1) -> !itensor1 {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %g_2 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor1) {
        %3 = scf.for %j = %c0 to %c4 step %c2 iter_args(%4 = %2) -> (!itensor1) {
          %5 = itensor.read %f_1[%i, %j] : !itensor1 -> tensor<4x2xf32>
          %6 = itensor.read %v_2[%i, %j] : !itensor1 -> tensor<4x2xf32>
          %7 = tensor.empty() : tensor<4x2xf32>
          %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%5, %6 : tensor<4x2xf32>, tensor<4x2xf32>) outs(%7 : tensor<4x2xf32>) attrs = {stc.schedule = #dataflow.schedule<tile = [4, 2], order = [0, 1], unroll = [1, 1], vector = []>} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):  linalg.yield %a0 : f32
          } -> tensor<4x2xf32>
          %9 = itensor.write %8 into %4[%i, %j] : tensor<4x2xf32> -> !itensor1
          scf.yield %9 : !itensor1
        }
        scf.yield %3 : !itensor1
      }
      dataflow.yield %g_2 : !itensor1
    }
    dataflow.yield %g_1 : !itensor1
  }
  func.return %g : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @guarded(
// CHECK: dataflow.task @f_and_g ins
// CHECK: scf.if
// CHECK-NEXT: %[[READ:.*]] = itensor.read %v_{{.*}}[%i, %j]
// CHECK: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%{{.*}}, %[[READ]] :
// CHECK: itensor.write %[[GENERIC]] into %{{.*}}[%i, %j]

// -----

// A vector along the rows is read outside the loop over columns.
// SHOW: dataflow.task @\w+ ins ...|itensor.read .*\] ...|itensor.write .*\] ...|linalg.generic ... ins\(.*? : ...|scf.if ...|itensor.converter ...
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
!itensor = !itensor.itensor<3x2xf32, iter_space: [2, 2, 2] * [4, 2, 3], iter_map: (d0, d1, d2) -> (d2, d1)>
!itensor1 = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!itensor2 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @outside_the_inner_loop(%w: tensor<6x4xf32>, %v: tensor<8xf32>) -> tensor<8x4xf32> {
  %g = dataflow.kernel @main(%w_1 = %w : tensor<6x4xf32> as !itensor, %v_1 = %v : tensor<8xf32> as !itensor1) -> (tensor<8x4xf32> as !itensor2) {
    %0 = itensor.empty : !itensor2
    %f = dataflow.task @f ins(%w_2 = %w_1 : !itensor) outs(%out = %0 : !itensor2) -> !itensor2 {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index  %f_c = arith.constant 0.000000e+00 : f32
      %f_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%1 = %out) -> (!itensor2) {
        %2 = scf.for %j = %c0 to %c4 step %c2 iter_args(%3 = %1) -> (!itensor2) {
          %4 = tensor.empty() : tensor<4x2xf32>
          %5 = linalg.fill ins(%f_c : f32) outs(%4 : tensor<4x2xf32>) -> tensor<4x2xf32>
          %6 = itensor.write %5 into %3[%i, %j] : tensor<4x2xf32> -> !itensor2
          scf.yield %6 : !itensor2
        }
        scf.yield %2 : !itensor2
      }
      dataflow.yield %f_1 : !itensor2
    }
    %1 = itensor.empty : !itensor2
    %g_1 = dataflow.task @g ins(%v_2 = %v_1 : !itensor1, %f_1 = %f : !itensor2) outs(%out = %1 : !itensor2) -> !itensor2 {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %g_2 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor2) {
        %3 = itensor.read %v_2[%i] : !itensor1 -> tensor<4xf32>
        %4 = scf.for %j = %c0 to %c4 step %c2 iter_args(%5 = %2) -> (!itensor2) {
          %6 = itensor.read %f_1[%i, %j] : !itensor2 -> tensor<4x2xf32>
          %7 = tensor.empty() : tensor<4x2xf32>
          %8 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %3 : tensor<4x2xf32>, tensor<4xf32>) outs(%7 : tensor<4x2xf32>) attrs = {stc.schedule = #dataflow.schedule<tile = [4, 2], order = [0, 1], unroll = [1, 1], vector = []>} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):  linalg.yield %a0 : f32
          } -> tensor<4x2xf32>
          %9 = itensor.write %8 into %5[%i, %j] : tensor<4x2xf32> -> !itensor2
          scf.yield %9 : !itensor2
        }
        scf.yield %4 : !itensor2
      }
      dataflow.yield %g_2 : !itensor2
    }
    dataflow.yield %g_1 : !itensor2
  }
  func.return %g : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @outside_the_inner_loop(
// CHECK: dataflow.task @f_and_g ins
// CHECK: %[[READ:.*]] = itensor.read %v_{{.*}}[%i]
// CHECK: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%{{.*}}, %[[READ]] :
// CHECK: itensor.write %[[GENERIC]] into %{{.*}}[%i, %j]

// -----

// The same where a reduction is around the write: the vector would have to be read in one step of it only. Not folded.
// SHOW: dataflow.task @\w+ ins ...|itensor.read .*\] ...|itensor.write .*\] ...|linalg.generic ... ins\(.*? : ...|scf.if ...|itensor.converter ...
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
!itensor = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!itensor1 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @vector_in_a_reduction(%v: tensor<8xf32>) -> tensor<8x4xf32> {
  %g = dataflow.kernel @main(%v_1 = %v : tensor<8xf32> as !itensor) -> (tensor<8x4xf32> as !itensor1) {
    %0 = itensor.empty : !itensor1
    %f = dataflow.task @f outs(%out = %0 : !itensor1) -> !itensor1 {
      %c0 = arith.constant 0 : index  %f_c = arith.constant 0.000000e+00 : f32  %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %1 = tensor.empty() : tensor<8x4xf32>
      %2 = linalg.fill ins(%f_c : f32) outs(%1 : tensor<8x4xf32>) -> tensor<8x4xf32>
      %3, %f_1 = scf.for %k = %c0 to %c6 step %c3 iter_args(%4 = %2, %5 = %out) -> (tensor<8x4xf32>, !itensor1) {
        %6, %7 = scf.for %i = %c0 to %c8 step %c4 iter_args(%8 = %4, %9 = %5) -> (tensor<8x4xf32>, !itensor1) {
          %10, %11 = scf.for %j = %c0 to %c4 step %c2 iter_args(%12 = %8, %13 = %9) -> (tensor<8x4xf32>, !itensor1) {
            %14 = tensor.extract_slice %12[%i, %j] [4, 2] [1, 1] : tensor<8x4xf32> to tensor<4x2xf32>
            %15 = arith.cmpi eq, %k, %c3 : index
            %16 = scf.if %15 -> (!itensor1) {
              %17 = itensor.write %14 into %13[%i, %j] : tensor<4x2xf32> -> !itensor1
              scf.yield %17 : !itensor1
            } else {
              scf.yield %13 : !itensor1
            }
            scf.yield %12, %16 : tensor<8x4xf32>, !itensor1
          }
          scf.yield %10, %11 : tensor<8x4xf32>, !itensor1
        }
        scf.yield %6, %7 : tensor<8x4xf32>, !itensor1
      }
      dataflow.yield %f_1 : !itensor1
    }
    %1 = itensor.empty : !itensor1
    %g_1 = dataflow.task @g ins(%v_2 = %v_1 : !itensor, %f_1 = %f : !itensor1) outs(%out = %1 : !itensor1) -> !itensor1 {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %g_2 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor1) {
        %3 = itensor.read %v_2[%i] : !itensor -> tensor<4xf32>
        %4 = scf.for %j = %c0 to %c4 step %c2 iter_args(%5 = %2) -> (!itensor1) {
          %6 = itensor.read %f_1[%i, %j] : !itensor1 -> tensor<4x2xf32>
          %7 = tensor.empty() : tensor<4x2xf32>
          %8 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %3 : tensor<4x2xf32>, tensor<4xf32>) outs(%7 : tensor<4x2xf32>) attrs = {stc.schedule = #dataflow.schedule<tile = [4, 2], order = [0, 1], unroll = [1, 1], vector = []>} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):  linalg.yield %a0 : f32
          } -> tensor<4x2xf32>
          %9 = itensor.write %8 into %5[%i, %j] : tensor<4x2xf32> -> !itensor1
          scf.yield %9 : !itensor1
        }
        scf.yield %4 : !itensor1
      }
      dataflow.yield %g_2 : !itensor1
    }
    dataflow.yield %g_1 : !itensor1
  }
  func.return %g : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @vector_in_a_reduction(
// CHECK: scf.if
// CHECK-NEXT: itensor.write %{{.*}} into %{{.*}}[%i, %j]
// CHECK: dataflow.task @g ins
// CHECK: %[[READ:.*]] = itensor.read %v_{{.*}}[%i]
// CHECK: %[[READ1:.*]] = itensor.read %f_{{.*}}[%i, %j]
// CHECK: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%[[READ1]], %[[READ]] :
// CHECK: itensor.write %[[GENERIC]] into %{{.*}}[%i, %j]

// -----

// Not in step: the reader goes by columns.
// SHOW: dataflow.task @\w+ ins ...|itensor.read .*\] ...|itensor.write .*\] ...|linalg.generic ... ins\(.*? : ...|scf.if ...|itensor.converter ...
!itensor = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
!itensor1 = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @out_of_step(%v: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %g = dataflow.kernel @main(%v_1 = %v : tensor<8x4xf32> as !itensor) -> (tensor<8x4xf32> as !itensor) {
    %0 = itensor.empty : !itensor1
    %f = dataflow.task @f outs(%out = %0 : !itensor1) -> !itensor1 {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index  %f_c = arith.constant 0.000000e+00 : f32
      %f_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%1 = %out) -> (!itensor1) {
        %2 = scf.for %j = %c0 to %c4 step %c2 iter_args(%3 = %1) -> (!itensor1) {
          %4 = tensor.empty() : tensor<4x2xf32>
          %5 = linalg.fill ins(%f_c : f32) outs(%4 : tensor<4x2xf32>) -> tensor<4x2xf32>
          %6 = itensor.write %5 into %3[%i, %j] : tensor<4x2xf32> -> !itensor1
          scf.yield %6 : !itensor1
        }
        scf.yield %2 : !itensor1
      }
      dataflow.yield %f_1 : !itensor1
    }
    %1 = itensor.empty : !itensor
    %g_1 = dataflow.task @g ins(%f_1 = %v_1 : !itensor, %v_2 = %v_1 : !itensor) outs(%out = %1 : !itensor) -> !itensor {
      %c0 = arith.constant 0 : index  %c4 = arith.constant 4 : index  %c2 = arith.constant 2 : index
      %c8 = arith.constant 8 : index
      %g_2 = scf.for %j = %c0 to %c4 step %c2 iter_args(%2 = %out) -> (!itensor) {
        %3 = scf.for %i = %c0 to %c8 step %c4 iter_args(%4 = %2) -> (!itensor) {
          %5 = itensor.read %f_1[%j, %i] : !itensor -> tensor<4x2xf32>
          %6 = itensor.read %v_2[%j, %i] : !itensor -> tensor<4x2xf32>
          %7 = itensor.write %5 into %4[%j, %i] : tensor<4x2xf32> -> !itensor
          scf.yield %7 : !itensor
        }
        scf.yield %3 : !itensor
      }
      dataflow.yield %g_2 : !itensor
    }
    dataflow.yield %g_1 : !itensor
  }
  func.return %g : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @out_of_step(
// CHECK: %[[WRITE:.*]] = itensor.write %{{.*}} into %{{.*}}[%i, %j]
// CHECK: dataflow.task @g ins
// CHECK: %[[READ:.*]] = itensor.read %f_{{.*}}[%j, %i]
// CHECK-NEXT: %[[READ1:.*]] = itensor.read %v_{{.*}}[%j, %i]
// CHECK-NEXT: itensor.write %[[READ]] into %{{.*}}[%j, %i]

// -----

// A second reader of the stream: not folded.
// SHOW: dataflow.task @\w+ ins ...|itensor.read .*\] ...|itensor.write .*\] ...|linalg.generic ... ins\(.*? : ...|scf.if ...|itensor.converter ...
!itensor = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @two_readers(%v: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %f, %g = dataflow.kernel @main(%v_1 = %v : tensor<8x4xf32> as !itensor) -> (tensor<8x4xf32> as !itensor, tensor<8x4xf32> as !itensor) {
    %0 = itensor.empty : !itensor
    %f_1 = dataflow.task @f outs(%out = %0 : !itensor) -> !itensor {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index  %f_c = arith.constant 0.000000e+00 : f32
      %f_2 = scf.for %i = %c0 to %c8 step %c4 iter_args(%1 = %out) -> (!itensor) {
        %2 = scf.for %j = %c0 to %c4 step %c2 iter_args(%3 = %1) -> (!itensor) {
          %4 = tensor.empty() : tensor<4x2xf32>
          %5 = linalg.fill ins(%f_c : f32) outs(%4 : tensor<4x2xf32>) -> tensor<4x2xf32>
          %6 = itensor.write %5 into %3[%i, %j] : tensor<4x2xf32> -> !itensor
          scf.yield %6 : !itensor
        }
        scf.yield %2 : !itensor
      }
      dataflow.yield %f_2 : !itensor
    }
    %1 = itensor.empty : !itensor
    %g_1 = dataflow.task @g ins(%f_2 = %f_1 : !itensor, %v_2 = %v_1 : !itensor) outs(%out = %1 : !itensor) -> !itensor {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %g_2 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor) {
        %3 = scf.for %j = %c0 to %c4 step %c2 iter_args(%4 = %2) -> (!itensor) {
          %5 = itensor.read %f_2[%i, %j] : !itensor -> tensor<4x2xf32>
          %6 = itensor.read %v_2[%i, %j] : !itensor -> tensor<4x2xf32>
          %7 = itensor.write %5 into %4[%i, %j] : tensor<4x2xf32> -> !itensor
          scf.yield %7 : !itensor
        }
        scf.yield %3 : !itensor
      }
      dataflow.yield %g_2 : !itensor
    }
    dataflow.yield %f_1, %g_1 : !itensor, !itensor
  }
  func.return %f, %g : tensor<8x4xf32>, tensor<8x4xf32>
}

// CHECK-LABEL: func.func @two_readers(
// CHECK: %[[WRITE:.*]] = itensor.write %{{.*}} into %{{.*}}[%i, %j]
// CHECK: dataflow.task @g ins
// CHECK: %[[READ:.*]] = itensor.read %f_{{.*}}[%i, %j]
// CHECK-NEXT: %[[READ1:.*]] = itensor.read %v_{{.*}}[%i, %j]
// CHECK-NEXT: itensor.write %[[READ]] into %{{.*}}[%i, %j]

// -----

// Three in a row, and an input that two of them read in the same place: it is read once.
// SHOW: dataflow.task @\w+ ins ...|itensor.read .*\] ...|itensor.write .*\] ...|linalg.generic ... ins\(.*? : ...|scf.if ...|itensor.converter ...
#map = affine_map<(d0, d1) -> (d0, d1)>
#schedule = #dataflow.schedule<tile = [4, 2], order = [0, 1], unroll = [1, 1], vector = []>
!itensor = !itensor.itensor<4x2xf32, iter_space: [2, 3] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @three_in_a_row(%x: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %c = dataflow.kernel @main(%x_1 = %x : tensor<8x6xf32> as !itensor) -> (tensor<8x6xf32> as !itensor) {
    %0 = itensor.empty : !itensor
    %a = dataflow.task @a ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      %c6 = arith.constant 6 : index  %c2 = arith.constant 2 : index
      %a_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%1 = %out) -> (!itensor) {
        %2 = scf.for %j = %c0 to %c6 step %c2 iter_args(%3 = %1) -> (!itensor) {
          %4 = itensor.read %x_2[%i, %j] : !itensor -> tensor<4x2xf32>
          %5 = itensor.write %4 into %3[%i, %j] : tensor<4x2xf32> -> !itensor
          scf.yield %5 : !itensor
        }
        scf.yield %2 : !itensor
      }
      dataflow.yield %a_1 : !itensor
    }
    %1 = itensor.empty : !itensor
    %b = dataflow.task @b ins(%a_1 = %a : !itensor, %x_2 = %x_1 : !itensor) outs(%out = %1 : !itensor) -> !itensor {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      %c6 = arith.constant 6 : index  %c2 = arith.constant 2 : index
      %b_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor) {
        %3 = scf.for %j = %c0 to %c6 step %c2 iter_args(%4 = %2) -> (!itensor) {
          %5 = itensor.read %a_1[%i, %j] : !itensor -> tensor<4x2xf32>
          %6 = itensor.read %x_2[%i, %j] : !itensor -> tensor<4x2xf32>
          %7 = tensor.empty() : tensor<4x2xf32>
          %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%5, %6 : tensor<4x2xf32>, tensor<4x2xf32>) outs(%7 : tensor<4x2xf32>) attrs = {stc.schedule = #schedule} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):  linalg.yield %a0 : f32
          } -> tensor<4x2xf32>
          %9 = itensor.write %8 into %4[%i, %j] : tensor<4x2xf32> -> !itensor
          scf.yield %9 : !itensor
        }
        scf.yield %3 : !itensor
      }
      dataflow.yield %b_1 : !itensor
    }
    %2 = itensor.empty : !itensor
    %c_1 = dataflow.task @c ins(%b_1 = %b : !itensor) outs(%out = %2 : !itensor) -> !itensor {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      %c6 = arith.constant 6 : index  %c2 = arith.constant 2 : index
      %c_2 = scf.for %i = %c0 to %c8 step %c4 iter_args(%3 = %out) -> (!itensor) {
        %4 = scf.for %j = %c0 to %c6 step %c2 iter_args(%5 = %3) -> (!itensor) {
          %6 = itensor.read %b_1[%i, %j] : !itensor -> tensor<4x2xf32>
          %7 = tensor.empty() : tensor<4x2xf32>
          %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<4x2xf32>) outs(%7 : tensor<4x2xf32>) attrs = {stc.schedule = #schedule} {
          ^bb0(%a0: f32, %o0: f32):  linalg.yield %a0 : f32
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

// CHECK-LABEL: func.func @three_in_a_row(
// CHECK: dataflow.task @a_and_b_and_c ins
// CHECK: %[[READ:.*]] = itensor.read %x_{{.*}}[%i, %j]
// CHECK: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%[[READ]], %[[READ]] :
// CHECK: %[[GENERIC1:.*]] = linalg.generic{{.*}}ins(%[[GENERIC]] :
// CHECK: itensor.write %[[GENERIC1]] into %{{.*}}[%i, %j]
