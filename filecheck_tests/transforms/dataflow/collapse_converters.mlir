// RUN: stc-opt %s -p 'collapse-converters' --split-input-file | filecheck %s

// Rows to columns to blocks of rows: directly, which shares the loop over blocks of rows. A cast between is seen through.
// SHOW: itensor\.|yield
!R = !itensor.itensor<1x8xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
!C = !itensor.itensor<8x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
!C2 = !itensor.itensor<8x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (0, d0 + d1)>
!B = !itensor.itensor<2x4xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @directly(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = dataflow.kernel @k(%p = %x : tensor<8x8xf32> as !R) -> (tensor<8x8xf32> as !B) {
    %a = itensor.converter %p {shared_loops = 0, buffer_shape = [8, 8], blocks = 1} : !R to !C
    %b = itensor.cast %a : !C to !C2
    %c = itensor.converter %b {shared_loops = 0, buffer_shape = [8, 8], blocks = 1} : !C2 to !B
    dataflow.yield %c : !B
  }
  func.return %y : tensor<8x8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x8xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<2x4xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor2 = !itensor.itensor<1x8xf32, iter_space: [4, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
// CHECK-LABEL: func.func @directly(
// CHECK: %[[P:.*]] = itensor.cast %p : !itensor to !itensor2
// CHECK-NEXT: %[[P1:.*]] = itensor.converter %[[P]] {shared_loops = 1, buffer_shape = [2, 8], blocks = 2} : !itensor2 to !itensor1
// CHECK-NEXT: dataflow.yield %[[P1]] : !itensor1

// -----

// There and back again: nothing is left.
// SHOW: itensor\.|yield
!R = !itensor.itensor<1x8xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
!C = !itensor.itensor<8x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
func.func @back_again(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = dataflow.kernel @k(%p = %x : tensor<8x8xf32> as !R) -> (tensor<8x8xf32> as !R) {
    %a = itensor.converter %p {shared_loops = 0, buffer_shape = [8, 8], blocks = 1} : !R to !C
    %b = itensor.converter %a {shared_loops = 0, buffer_shape = [8, 8], blocks = 1} : !C to !R
    dataflow.yield %b : !R
  }
  func.return %y : tensor<8x8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x8xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK-LABEL: func.func @back_again(
// CHECK: dataflow.yield %p : !itensor

// -----

// The columns leave too, and stay; the rows come from the input. The output of blocks of columns stays behind the columns: that is
// 128 bytes, directly it would be 256.
// SHOW: itensor\.|yield
!R = !itensor.itensor<1x8xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
!C = !itensor.itensor<8x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
!D = !itensor.itensor<4x2xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
func.func @middle_is_read(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %y, %z, %w = dataflow.kernel @k(%p = %x : tensor<8x8xf32> as !R) -> (tensor<8x8xf32> as !R, tensor<8x8xf32> as !C, tensor<8x8xf32> as !D) {
    %a = itensor.converter %p {shared_loops = 0, buffer_shape = [8, 8], blocks = 1} : !R to !C
    %b = itensor.converter %a {shared_loops = 0, buffer_shape = [8, 8], blocks = 1} : !C to !R
    %d = itensor.converter %a {shared_loops = 1, buffer_shape = [8, 2], blocks = 2} : !C to !D
    dataflow.yield %b, %a, %d : !R, !C, !D
  }
  func.return %y, %z, %w : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x8xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<8x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
// CHECK: !itensor2 = !itensor.itensor<4x2xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @middle_is_read(
// CHECK: %[[P:.*]] = itensor.converter %p {shared_loops = 0, buffer_shape = [8, 8], blocks = 1} : !itensor to !itensor1
// CHECK-NEXT: %[[P1:.*]] = itensor.converter %[[P]] {shared_loops = 1, buffer_shape = [8, 2], blocks = 2} : !itensor1 to !itensor2
// CHECK-NEXT: dataflow.yield %p, %[[P]], %[[P1]] : !itensor, !itensor1, !itensor2
