// RUN: stc-opt %s -p simplify-movements --split-input-file | filecheck %s

// A pad is a concatenation with constants.
func.func @pad(%x: tensor<3x4xf32>) -> tensor<3x6xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 2] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<3x4xf32> to tensor<3x6xf32>
  func.return %p : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @pad(
// CHECK-NEXT: %[[CONSTANT:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty() : tensor<3x2xf32>
// CHECK-NEXT: %[[FILL:.*]] = linalg.fill ins(%[[CONSTANT]] : f32) outs(%[[EMPTY]] : tensor<3x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: %p = tensor.concat dim(1) %[[FILL]], %x : (tensor<3x2xf32>, tensor<3x4xf32>) -> tensor<3x6xf32>
// CHECK-NEXT: func.return %p : tensor<3x6xf32>

// -----

// A slice put into a tensor is a concatenation of what surrounds it.
func.func @insert(%x: tensor<3x2xf32>, %y: tensor<3x6xf32>) -> tensor<3x6xf32> {
  %r = tensor.insert_slice %x into %y[0, 4] [3, 2] [1, 1] : tensor<3x2xf32> into tensor<3x6xf32>
  func.return %r : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @insert(
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %y[0, 0] [3, 4] [1, 1] : tensor<3x6xf32> to tensor<3x4xf32>
// CHECK-NEXT: %r = tensor.concat dim(1) %[[EXTRACT_SLICE]], %x : (tensor<3x4xf32>, tensor<3x2xf32>) -> tensor<3x6xf32>
// CHECK-NEXT: func.return %r : tensor<3x6xf32>

// -----

// A strided slice is one of the columns of a reshape.
func.func @strided(%x: tensor<3x6xf32>) -> tensor<3x3xf32> {
  %r = tensor.extract_slice %x[0, 1] [3, 3] [1, 2] : tensor<3x6xf32> to tensor<3x3xf32>
  func.return %r : tensor<3x3xf32>
}

// CHECK-LABEL: func.func @strided(
// CHECK-NEXT: %[[EXPAND_SHAPE:.*]] = tensor.expand_shape %x {{\[\[}}0 : i64], [1 : i64, 2 : i64]] output_shape [3, 3, 2] : tensor<3x6xf32> into tensor<3x3x2xf32>
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %[[EXPAND_SHAPE]][0, 0, 1] [3, 3, 1] [1, 1, 1] : tensor<3x3x2xf32> to tensor<3x3x1xf32>
// CHECK-NEXT: %r = tensor.collapse_shape %[[EXTRACT_SLICE]] {{\[\[}}0 : i64], [1 : i64, 2 : i64]] : tensor<3x3x1xf32> into tensor<3x3xf32>
// CHECK-NEXT: func.return %r : tensor<3x3xf32>
