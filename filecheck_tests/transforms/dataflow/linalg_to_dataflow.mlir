// RUN: stc-opt %s -p 'linalg-to-dataflow' --split-input-file --allow-unregistered-dialect | filecheck %s

// Loops around a slice enumerate its port: x is reused along j, and nothing reuses the result. Constants move in.
func.func @matmul(%x: tensor<8x12xf32>, %w: tensor<12x16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.000000e+00 : f32  %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index
  %c4 = arith.constant 4 : index  %c16 = arith.constant 16 : index  %c12 = arith.constant 12 : index  %0 = tensor.empty() : tensor<8x16xf32>
  %fc = scf.for %i = %c0 to %c8 step %c4 iter_args(%1 = %0) -> (tensor<8x16xf32>) {
    %2 = scf.for %j = %c0 to %c16 step %c8 iter_args(%3 = %1) -> (tensor<8x16xf32>) {
      %4 = tensor.empty() : tensor<4x8xf32>
      %5 = linalg.fill ins(%zero : f32) outs(%4 : tensor<4x8xf32>) -> tensor<4x8xf32>
      %6 = scf.for %k = %c0 to %c12 step %c4 iter_args(%7 = %5) -> (tensor<4x8xf32>) {
        %8 = tensor.extract_slice %x[%i, %k] [4, 4] [1, 1] : tensor<8x12xf32> to tensor<4x4xf32>
        %9 = tensor.extract_slice %w[%k, %j] [4, 8] [1, 1] : tensor<12x16xf32> to tensor<4x8xf32>
        scf.yield %9 : tensor<4x8xf32>
      }
      %10 = tensor.insert_slice %6 into %3[%i, %j] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x16xf32>
      scf.yield %10 : tensor<8x16xf32>
    }
    scf.yield %2 : tensor<8x16xf32>
  } {stc.name = "fc"}
  func.return %fc : tensor<8x16xf32>
}

// CHECK-DAG: [[X:!.*]] = !itensor.itensor<4x4xf32, iter_space: [2, 2, 3] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: [[W:!.*]] = !itensor.itensor<4x8xf32, iter_space: [2, 2, 3] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: [[Y:!.*]] = !itensor.itensor<4x8xf32, iter_space: [2, 2] * [4, 8], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: @matmul(
// CHECK: arith.constant 0.0
// CHECK: [[SUM:%.*]] = scf.for %k
// CHECK-NEXT: itensor.read %{{.*}}[%i, %j, %k] : [[X]] -> tensor<4x4xf32>
// CHECK-NEXT: itensor.read %{{.*}}[%i, %j, %k] : [[W]] -> tensor<4x8xf32>
// CHECK: itensor.write [[SUM]] into %{{.*}}[%i, %j] : tensor<4x8xf32> -> [[Y]]

// -----

// Reduction outermost: the result is written in the last step of k alone, so k is not in its type.
func.func @reduction_outermost(%w: tensor<16xf32>) -> tensor<16xf32> {
  %zero = arith.constant 0.000000e+00 : f32  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
  %c11 = arith.constant 11 : index  %c12 = arith.constant 12 : index
  %c8 = arith.constant 8 : index  %c16 = arith.constant 16 : index  %0 = tensor.empty() : tensor<16xf32>
  %fc = scf.for %once = %c0 to %c1 step %c1 iter_args(%1 = %0) -> (tensor<16xf32>) {
    %2 = tensor.empty() : tensor<16xf32>
    %3 = linalg.fill ins(%zero : f32) outs(%2 : tensor<16xf32>) -> tensor<16xf32>
    %4, %5 = scf.for %k = %c0 to %c12 step %c1 iter_args(%6 = %3, %7 = %1) -> (tensor<16xf32>, tensor<16xf32>) {
      %8, %9 = scf.for %j = %c0 to %c16 step %c8 iter_args(%10 = %6, %11 = %7) -> (tensor<16xf32>, tensor<16xf32>) {
        %t = tensor.extract_slice %w[%j] [8] [1] : tensor<16xf32> to tensor<8xf32>
        %12 = tensor.insert_slice %t into %10[%j] [8] [1] : tensor<8xf32> into tensor<16xf32>
        %last = arith.cmpi eq, %k, %c11 : index
        %13 = scf.if %last -> (tensor<16xf32>) {
          %14 = tensor.insert_slice %t into %11[%j] [8] [1] : tensor<8xf32> into tensor<16xf32>
          scf.yield %14 : tensor<16xf32>
        } else { scf.yield %11 : tensor<16xf32> }
        scf.yield %12, %13 : tensor<16xf32>, tensor<16xf32>
      }
      scf.yield %8, %9 : tensor<16xf32>, tensor<16xf32>
    }
    scf.yield %5 : tensor<16xf32>
  } {stc.name = "fc"}
  func.return %fc : tensor<16xf32>
}

// CHECK-DAG: [[Y:!.*]] = !itensor.itensor<8xf32, iter_space: [2] * [8], iter_map: (d0) -> (d0)>
// CHECK-LABEL: @reduction_outermost(
// CHECK: [[T:%.*]] = itensor.read {{.*}}[%k, %j]
// CHECK: scf.if
// CHECK-NEXT: itensor.write [[T]] into %{{.*}}[%j] : tensor<8xf32> -> [[Y]]

// -----

// The whole op as one tile: no loops, and the loop that runs once dissolves.
func.func @whole_op(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tensor.empty() : tensor<2x3xf32>
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
  %y = scf.for %once = %c0 to %c1 step %c1 iter_args(%1 = %0) -> (tensor<2x3xf32>) {
    %2 = tensor.extract_slice %x[0, 0] [2, 3] [1, 1] : tensor<2x3xf32> to tensor<2x3xf32>
    %3 = tensor.insert_slice %2 into %1[0, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<2x3xf32>
    scf.yield %3 : tensor<2x3xf32>
  } {stc.name = "y"}
  func.return %y : tensor<2x3xf32>
}

// CHECK: !itensor = !itensor.itensor<2x3xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK-LABEL: @whole_op(
// CHECK: %[[READ:.*]] = itensor.read %x_{{.*}}[] : !itensor -> tensor<2x3xf32>
// CHECK-NEXT: itensor.write %[[READ]] into %out[] : tensor<2x3xf32> -> !itensor

// -----

// A covered input keeps no loop: it is read once, in front of the loop over i.
func.func @read_once(%x: tensor<8x12xf32>, %w: tensor<12x16xf32>) -> tensor<8x16xf32> {
  %fc_c = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<8x16xf32>
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
  %c4 = arith.constant 4 : index
  %fc = scf.for %once = %c0 to %c1 step %c1 iter_args(%1 = %0) -> (tensor<8x16xf32>) {
    %2 = tensor.extract_slice %w[0, 0] [12, 16] [1, 1] : tensor<12x16xf32> to tensor<12x16xf32>
    %3 = scf.for %i = %c0 to %c8 step %c4 iter_args(%4 = %1) -> (tensor<8x16xf32>) {
      %5 = tensor.extract_slice %x[%i, 0] [4, 12] [1, 1] : tensor<8x12xf32> to tensor<4x12xf32>
      %6 = tensor.empty() : tensor<4x16xf32>
      %7 = linalg.fill ins(%fc_c : f32) outs(%6 : tensor<4x16xf32>) -> tensor<4x16xf32>
      %8 = tensor.insert_slice %7 into %4[%i, 0] [4, 16] [1, 1] : tensor<4x16xf32> into tensor<8x16xf32>
      scf.yield %8 : tensor<8x16xf32>
    }
    scf.yield %3 : tensor<8x16xf32>
  } {stc.name = "fc"}
  func.return %fc : tensor<8x16xf32>
}

// CHECK: !itensor = !itensor.itensor<12x16xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK: !itensor1 = !itensor.itensor<4x12xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor2 = !itensor.itensor<4x16xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0, 0)>
// CHECK-LABEL: @read_once(
// CHECK: itensor.read %w_{{.*}}[] : !itensor -> tensor<12x16xf32>
// CHECK-NEXT: scf.for %i = %c0 to %c8 step %c4
// CHECK-NEXT: itensor.read %x_{{.*}}[%i] : !itensor1 -> tensor<4x12xf32>
// CHECK: itensor.write %{{.*}} into %{{.*}}[%i] : tensor<4x16xf32> -> !itensor2

// -----

// Full reduction: the result's type has rank 0 and no loops.
func.func @rank_zero(%x: tensor<6x10xf32>) -> tensor<f32> {
  %s_c = arith.constant 1.500000e+00 : f32
  %0 = tensor.empty() : tensor<f32>
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c10 = arith.constant 10 : index
  %c5 = arith.constant 5 : index  %c6 = arith.constant 6 : index  %c2 = arith.constant 2 : index
  %s = scf.for %once = %c0 to %c1 step %c1 iter_args(%1 = %0) -> (tensor<f32>) {
    %2 = tensor.empty() : tensor<f32>
    %3 = linalg.fill ins(%s_c : f32) outs(%2 : tensor<f32>) -> tensor<f32>
    %4 = scf.for %j = %c0 to %c10 step %c5 iter_args(%5 = %3) -> (tensor<f32>) {
      %6 = scf.for %i = %c0 to %c6 step %c2 iter_args(%7 = %5) -> (tensor<f32>) {
        %8 = tensor.extract_slice %x[%i, %j] [2, 5] [1, 1] : tensor<6x10xf32> to tensor<2x5xf32>
        scf.yield %7 : tensor<f32>
      }
      scf.yield %6 : tensor<f32>
    }
    %9 = tensor.insert_slice %4 into %1[] [] [] : tensor<f32> into tensor<f32>
    scf.yield %9 : tensor<f32>
  } {stc.name = "s"}
  func.return %s : tensor<f32>
}

// CHECK: !itensor = !itensor.itensor<2x5xf32, iter_space: [2, 3] * [5, 2], iter_map: (d0, d1) -> (d1, d0)>
// CHECK: !itensor1 = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
// CHECK-LABEL: @rank_zero(
// CHECK: %[[FOR:.*]] = scf.for %j = %c0 to %c10 step %c5
// CHECK-NEXT: scf.for %i = %c0 to %c6 step %c2
// CHECK-NEXT: itensor.read %x_{{.*}}[%j, %i] : !itensor -> tensor<2x5xf32>
// CHECK: itensor.write %[[FOR]] into %out[] : tensor<f32> -> !itensor1

// -----

// Broadcast along the inner loop: one token for each i; along the outer loop: reused.
func.func @broadcasts(%x: tensor<4xf32>, %b: tensor<6xf32>) -> tensor<4x6xf32> {
  %0 = tensor.empty() : tensor<4x6xf32>
  %c0 = arith.constant 0 : index  %c4 = arith.constant 4 : index  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index  %c3 = arith.constant 3 : index
  %y = scf.for %i = %c0 to %c4 step %c2 iter_args(%1 = %0) -> (tensor<4x6xf32>) {
    %2 = tensor.extract_slice %x[%i] [2] [1] : tensor<4xf32> to tensor<2xf32>
    %3 = scf.for %j = %c0 to %c6 step %c3 iter_args(%4 = %1) -> (tensor<4x6xf32>) {
      %5 = tensor.extract_slice %b[%j] [3] [1] : tensor<6xf32> to tensor<3xf32>
      %7 = "test.op"(%2, %5) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      %8 = tensor.insert_slice %7 into %4[%i, %j] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x6xf32>
      scf.yield %8 : tensor<4x6xf32>
    }
    scf.yield %3 : tensor<4x6xf32>
  } {stc.name = "y"}
  func.return %y : tensor<4x6xf32>
}

// CHECK: !itensor = !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d1)>
// CHECK: !itensor2 = !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: @broadcasts(
// CHECK: scf.for %i = %c0 to %c4 step %c2
// CHECK-NEXT: itensor.read %x_{{.*}}[%i] : !itensor -> tensor<2xf32>
// CHECK-NEXT: scf.for %j = %c0 to %c6 step %c3
// CHECK-NEXT: itensor.read %b_{{.*}}[%i, %j] : !itensor1 -> tensor<3xf32>
// CHECK: itensor.write %{{.*}} into %{{.*}}[%i, %j] : tensor<2x3xf32> -> !itensor2

// -----

// One tensor read through two maps gets two ports.
func.func @two_maps(%x: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %0 = tensor.empty() : tensor<6x6xf32>
  %c0 = arith.constant 0 : index  %c6 = arith.constant 6 : index  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %y = scf.for %i = %c0 to %c6 step %c2 iter_args(%1 = %0) -> (tensor<6x6xf32>) {
    %2 = scf.for %j = %c0 to %c6 step %c3 iter_args(%3 = %1) -> (tensor<6x6xf32>) {
      %4 = tensor.extract_slice %x[%i, %j] [2, 3] [1, 1] : tensor<6x6xf32> to tensor<2x3xf32>
      %5 = tensor.extract_slice %x[%j, %i] [3, 2] [1, 1] : tensor<6x6xf32> to tensor<3x2xf32>
      %6 = tensor.insert_slice %4 into %3[%i, %j] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<6x6xf32>
      scf.yield %6 : tensor<6x6xf32>
    }
    scf.yield %2 : tensor<6x6xf32>
  } {stc.name = "y"}
  func.return %y : tensor<6x6xf32>
}

// CHECK: !itensor = !itensor.itensor<2x3xf32, iter_space: [3, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<3x2xf32, iter_space: [3, 2] * [2, 3], iter_map: (d0, d1) -> (d1, d0)>
// CHECK-LABEL: @two_maps(
// CHECK: scf.for %i = %c0 to %c6 step %c2
// CHECK-NEXT: scf.for %j = %c0 to %c6 step %c3
// CHECK-NEXT: %[[READ:.*]] = itensor.read %x_{{.*}}[%i, %j] : !itensor -> tensor<2x3xf32>
// CHECK-NEXT: itensor.read %x_{{.*}}[%i, %j] : !itensor1 -> tensor<3x2xf32>
// CHECK-NEXT: itensor.write %[[READ]] into %{{.*}}[%i, %j] : tensor<2x3xf32> -> !itensor

// -----

// Two results, one of them transposed.
!A = tensor<6x8xf32>
!B = tensor<8x6xf32>
func.func @two_results(%x: !A) -> (!A, !B) {
  %0 = tensor.empty() : !A  %1 = tensor.empty() : !B  %c0 = arith.constant 0 : index  %c6 = arith.constant 6 : index
  %c2 = arith.constant 2 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
  %r, %s = scf.for %i = %c0 to %c6 step %c2 iter_args(%2 = %0, %3 = %1) -> (!A, !B) {
    %4, %5 = scf.for %j = %c0 to %c8 step %c4 iter_args(%6 = %2, %7 = %3) -> (!A, !B) {
      %t = tensor.extract_slice %x[%i, %j] [2, 4] [1, 1] : !A to tensor<2x4xf32>
      %u = "test.op"(%t) : (tensor<2x4xf32>) -> tensor<4x2xf32>
      %8 = tensor.insert_slice %t into %6[%i, %j] [2, 4] [1, 1] : tensor<2x4xf32> into !A
      %9 = tensor.insert_slice %u into %7[%j, %i] [4, 2] [1, 1] : tensor<4x2xf32> into !B
      scf.yield %8, %9 : !A, !B
    }
    scf.yield %4, %5 : !A, !B
  } {stc.name = "both"}
  func.return %r, %s : !A, !B
}

// CHECK-DAG: [[A:!.*]] = !itensor.itensor<2x4xf32, iter_space: [3, 2] * [2, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-DAG: [[B:!.*]] = !itensor.itensor<4x2xf32, iter_space: [3, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
// CHECK-LABEL: @two_results(
// CHECK: [[T:%.*]] = itensor.read
// CHECK: itensor.write [[T]] into %{{.*}}[%i, %j] : tensor<2x4xf32> -> [[A]]
// CHECK-NEXT: itensor.write %u into %{{.*}}[%i, %j] : tensor<4x2xf32> -> [[B]]

// -----

// A name that is no identifier becomes one; no name at all is `task`.
func.func @names(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %0 = tensor.empty() : tensor<4xf32>
  %h = scf.for %once = %c0 to %c1 step %c1 iter_args(%1 = %0) -> (tensor<4xf32>) {
    %2 = tensor.extract_slice %x[0] [4] [1] : tensor<4xf32> to tensor<4xf32>
    %3 = tensor.insert_slice %2 into %1[0] [4] [1] : tensor<4xf32> into tensor<4xf32>
    scf.yield %3 : tensor<4xf32>
  } {stc.name = "h.0"}
  %y = scf.for %once = %c0 to %c1 step %c1 iter_args(%1 = %0) -> (tensor<4xf32>) {
    %2 = tensor.extract_slice %h[0] [4] [1] : tensor<4xf32> to tensor<4xf32>
    %3 = tensor.insert_slice %2 into %1[0] [4] [1] : tensor<4xf32> into tensor<4xf32>
    scf.yield %3 : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: @names(
// CHECK: dataflow.kernel @h_0
// CHECK: dataflow.task @h_0
// CHECK: dataflow.kernel @task
// CHECK: dataflow.task @task

// -----

// What depends on parameters alone stays on the host.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
func.func @parameters(%w: tensor<4xf32> {stc.parameter}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %0 = tensor.empty() : tensor<4xf32>
  %p = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%w : tensor<4xf32>) outs(%0 : tensor<4xf32>)
    { ^bb0(%a: f32, %o: f32): linalg.yield %a : f32 } -> tensor<4xf32>
  %y = scf.for %once = %c0 to %c1 step %c1 iter_args(%1 = %0) -> (tensor<4xf32>) {
    %2 = tensor.extract_slice %p[0] [4] [1] : tensor<4xf32> to tensor<4xf32>
    %3 = tensor.insert_slice %2 into %1[0] [4] [1] : tensor<4xf32> into tensor<4xf32>
    scf.yield %3 : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: @parameters(
// CHECK: %p = linalg.generic
// CHECK-NOT: dataflow.kernel
// CHECK: scf.for %once
