// RUN: stc-opt %s -p drop-unit-dims --split-input-file | filecheck %s

func.func @norm(%x: tensor<1x3x5xf32>, %f: tensor<1x3x1xf32>) -> tensor<1x3x1xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<1x3x5xf32>) outs(%f : tensor<1x3x1xf32>) {
  ^bb0(%a: f32, %b: f32):  %s = arith.addf %a, %b : f32  linalg.yield %s : f32
  } -> tensor<1x3x1xf32>
  func.return %r : tensor<1x3x1xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @norm(
// CHECK-NEXT: %[[COLLAPSE_SHAPE:.*]] = tensor.collapse_shape %f {{\[\[}}0 : i64, 1 : i64, 2 : i64]] : tensor<1x3x1xf32> into tensor<3xf32>
// CHECK-NEXT: %[[COLLAPSE_SHAPE1:.*]] = tensor.collapse_shape %x {{\[\[}}0 : i64, 1 : i64], [2 : i64]] : tensor<1x3x5xf32> into tensor<3x5xf32>
// CHECK-NEXT: %[[GENERIC:.*]] = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%[[COLLAPSE_SHAPE1]] : tensor<3x5xf32>) outs(%[[COLLAPSE_SHAPE]] : tensor<3xf32>) {
// CHECK-NEXT: ^bb0(%a: f32, %b: f32):
// CHECK-NEXT: %s = arith.addf %a, %b : f32
// CHECK-NEXT: linalg.yield %s : f32
// CHECK: %[[EXPAND_SHAPE:.*]] = tensor.expand_shape %[[GENERIC]] {{\[\[}}0 : i64, 1 : i64, 2 : i64]] output_shape [1, 3, 1] : tensor<3xf32> into tensor<1x3x1xf32>
// CHECK-NEXT: func.return %[[EXPAND_SHAPE]] : tensor<1x3x1xf32>

// -----

func.func @heads(%x: tensor<1x5x6xf32>) -> tensor<1x5x2x1xf32> {
  %s = tensor.extract_slice %x[0, 0, 4] [1, 5, 2] [1, 1, 1] : tensor<1x5x6xf32> to tensor<1x5x2xf32>
  %h = tensor.expand_shape %s [[0], [1], [2, 3]] output_shape [1, 5, 2, 1] : tensor<1x5x2xf32> into tensor<1x5x2x1xf32>
  func.return %h : tensor<1x5x2x1xf32>
}

// CHECK-LABEL: func.func @heads(
// CHECK-NEXT: %[[COLLAPSE_SHAPE:.*]] = tensor.collapse_shape %x {{\[\[}}0 : i64, 1 : i64], [2 : i64]] : tensor<1x5x6xf32> into tensor<5x6xf32>
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %[[COLLAPSE_SHAPE]][0, 4] [5, 2] [1, 1] : tensor<5x6xf32> to tensor<5x2xf32>
// CHECK-NEXT: %[[EXPAND_SHAPE:.*]] = tensor.expand_shape %[[EXTRACT_SLICE]] {{\[\[}}0 : i64, 1 : i64], [2 : i64, 3 : i64]] output_shape [1, 5, 2, 1] : tensor<5x2xf32> into tensor<1x5x2x1xf32>
// CHECK-NEXT: func.return %[[EXPAND_SHAPE]] : tensor<1x5x2x1xf32>

// -----

func.func @scalar(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %e = tensor.empty() : tensor<1x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1x1xf32>) outs(%e : tensor<1x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i64
    %k = arith.sitofp %j : i64 to f32
    %s = arith.addf %a, %k : f32
    linalg.yield %s : f32
  } -> tensor<1x1xf32>
  func.return %r : tensor<1x1xf32>
}

// CHECK: #map = affine_map<() -> ()>
// CHECK-LABEL: func.func @scalar(
// CHECK-NEXT: %[[COLLAPSE_SHAPE:.*]] = tensor.collapse_shape %x [] : tensor<1x1xf32> into tensor<f32>
// CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty() : tensor<f32>
// CHECK-NEXT: %[[GENERIC:.*]] = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%[[COLLAPSE_SHAPE]] : tensor<f32>) outs(%[[EMPTY]] : tensor<f32>) {
// CHECK-NEXT: ^bb0(%a: f32, %b: f32):
// CHECK-NEXT: %i = arith.constant 0 : index
// CHECK-NEXT: %j = arith.index_cast %i : index to i64
// CHECK-NEXT: %k = arith.sitofp %j : i64 to f32
// CHECK-NEXT: %s = arith.addf %a, %k : f32
// CHECK-NEXT: linalg.yield %s : f32
// CHECK: %[[EXPAND_SHAPE:.*]] = tensor.expand_shape %[[GENERIC]] [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
// CHECK-NEXT: func.return %[[EXPAND_SHAPE]] : tensor<1x1xf32>

// -----

// Concatenation along a dimension of extent 1 keeps it.
func.func @rows(%x: tensor<1x3xf32>, %y: tensor<1x3xf32>) -> tensor<2x3xf32> {
  %r = tensor.concat dim(0) %x, %y : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @rows(
// CHECK-NEXT: %r = tensor.concat dim(0) %x, %y : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %r : tensor<2x3xf32>
