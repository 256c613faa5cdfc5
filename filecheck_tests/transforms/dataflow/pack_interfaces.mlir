// RUN: stc-opt %s -p 'pack-interfaces{port_bits=256}' --split-input-file | filecheck %s

// Four tokens of 2 fill a word of 8; the innermost loop runs over them.
// SHOW: pack|kernel|return
!X = !itensor.itensor<1x2xf32, iter_space: [4, 4] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @several_tokens(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = dataflow.kernel @k(%p = %x : tensor<4x8xf32> as !X) -> (tensor<4x8xf32> as !X) {
    dataflow.yield %p : !X
  }
  func.return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @several_tokens(
// CHECK-NEXT: %x_1 = dataflow.pack %x : tensor<4x8xf32> as !itensor.itensor<1x2xf32, iter_space: [4, 4] * [1, 2], iter_map: (d0, d1) -> (d0, d1)> -> tensor<4xvector<8xf32>>
// CHECK-NEXT: %y = dataflow.kernel @k(%p = %x_1 : tensor<4xvector<8xf32>> as !itensor.itensor<1x2xf32, iter_space: [4, 4] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>) -> (tensor<4xvector<8xf32>> as !itensor.itensor<1x2xf32, iter_space: [4, 4] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>) {
// CHECK: %y_1 = dataflow.unpack %y : tensor<4xvector<8xf32>> as !itensor.itensor<1x2xf32, iter_space: [4, 4] * [1, 2], iter_map: (d0, d1) -> (d0, d1)> -> tensor<4x8xf32>
// CHECK-NEXT: func.return %y_1 : tensor<4x8xf32>

// -----

// Six in the innermost loop: only pairs come out even.
// SHOW: pack|kernel|return
!X = !itensor.itensor<1x2xf32, iter_space: [4, 6] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @pairs(%x: tensor<4x12xf32>) -> tensor<4x12xf32> {
  %y = dataflow.kernel @k(%p = %x : tensor<4x12xf32> as !X) -> (tensor<4x12xf32> as !X) {
    dataflow.yield %p : !X
  }
  func.return %y : tensor<4x12xf32>
}

// CHECK-LABEL: func.func @pairs(
// CHECK-NEXT: %x_1 = dataflow.pack %x : tensor<4x12xf32> as !itensor.itensor<1x2xf32, iter_space: [4, 6] * [1, 2], iter_map: (d0, d1) -> (d0, d1)> -> tensor<12xvector<4xf32>>
// CHECK-NEXT: %y = dataflow.kernel @k(%p = %x_1 : tensor<12xvector<4xf32>> as !itensor.itensor<1x2xf32, iter_space: [4, 6] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>) -> (tensor<12xvector<4xf32>> as !itensor.itensor<1x2xf32, iter_space: [4, 6] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>) {
// CHECK: %y_1 = dataflow.unpack %y : tensor<12xvector<4xf32>> as !itensor.itensor<1x2xf32, iter_space: [4, 6] * [1, 2], iter_map: (d0, d1) -> (d0, d1)> -> tensor<4x12xf32>
// CHECK-NEXT: func.return %y_1 : tensor<4x12xf32>

// -----

// Seven entries are padded to a word of eight.
// SHOW: pack|kernel|return
!X = !itensor.itensor<1x7xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
func.func @padded(%x: tensor<3x7xf32>) -> tensor<3x7xf32> {
  %y = dataflow.kernel @k(%p = %x : tensor<3x7xf32> as !X) -> (tensor<3x7xf32> as !X) {
    dataflow.yield %p : !X
  }
  func.return %y : tensor<3x7xf32>
}

// CHECK-LABEL: func.func @padded(
// CHECK-NEXT: %x_1 = dataflow.pack %x : tensor<3x7xf32> as !itensor.itensor<1x7xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<3xvector<8xf32>>
// CHECK-NEXT: %y = dataflow.kernel @k(%p = %x_1 : tensor<3xvector<8xf32>> as !itensor.itensor<1x7xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>) -> (tensor<3xvector<8xf32>> as !itensor.itensor<1x7xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>) {
// CHECK: %y_1 = dataflow.unpack %y : tensor<3xvector<8xf32>> as !itensor.itensor<1x7xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<3x7xf32>
// CHECK-NEXT: func.return %y_1 : tensor<3x7xf32>

// -----

// A rank-0 token is a word of one lane.
// SHOW: pack|kernel|return
!X = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
func.func @scalar(%x: tensor<f32>) -> tensor<f32> {
  %y = dataflow.kernel @k(%p = %x : tensor<f32> as !X) -> (tensor<f32> as !X) {
    dataflow.yield %p : !X
  }
  func.return %y : tensor<f32>
}

// CHECK-LABEL: func.func @scalar(
// CHECK-NEXT: %x_1 = dataflow.pack %x : tensor<f32> as !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()> -> tensor<1xvector<1xf32>>
// CHECK-NEXT: %y = dataflow.kernel @k(%p = %x_1 : tensor<1xvector<1xf32>> as !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>) -> (tensor<1xvector<1xf32>> as !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>) {
// CHECK: %y_1 = dataflow.unpack %y : tensor<1xvector<1xf32>> as !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()> -> tensor<f32>
// CHECK-NEXT: func.return %y_1 : tensor<f32>

// -----

// Revisits are not stored: 2 tokens of 4 lanes; the innermost loop is a revisit, so they are not packed together.
// SHOW: pack|kernel|return
!X = !itensor.itensor<4xf32, iter_space: [2, 3] * [4, 1], iter_map: (d0, d1) -> (d0)>
!Y = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @revisits(%x: tensor<8xf32>, %y: tensor<8xf32>, %i: index) -> tensor<8xf32> {
  %r = dataflow.kernel @k(%p = %x : tensor<8xf32> as !X, %q = %y : tensor<8xf32> as !Y, %s = %i : index) -> (tensor<8xf32> as !Y) {
    dataflow.yield %q : !Y
  }
  func.return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @revisits(
// CHECK-NEXT: %x_1 = dataflow.pack %x : tensor<8xf32> as !itensor.itensor<4xf32, iter_space: [2, 3] * [4, 1], iter_map: (d0, d1) -> (d0)> -> tensor<2xvector<4xf32>>
// CHECK-NEXT: %y_1 = dataflow.pack %y : tensor<8xf32> as !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)> -> tensor<1xvector<8xf32>>
// CHECK-NEXT: %r = dataflow.kernel @k(%p = %x_1 : tensor<2xvector<4xf32>> as !itensor.itensor<4xf32, iter_space: [2, 3] * [4, 1], iter_map: (d0, d1) -> (d0)>, %q = %y_1 : tensor<1xvector<8xf32>> as !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>, %s = %i : index) -> (tensor<1xvector<8xf32>> as !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>) {
// CHECK: %r_1 = dataflow.unpack %r : tensor<1xvector<8xf32>> as !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)> -> tensor<8xf32>
// CHECK-NEXT: func.return %r_1 : tensor<8xf32>
