// RUN: stc-opt %s -p 'split-slices{budget="plan"}' --split-input-file | filecheck %s

// Queries and keys are halves of one projection with a bias: each is computed by itself, on half of the weights and of the bias.
// SHOW: extract_slice|linalg.generic .*ins\(.*? : ...|return
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#b = affine_map<(d0, d1) -> (d1)>
func.func @halves(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%z : tensor<4x6xf32>) attrs = {stc.name = "proj"} {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %m = arith.mulf %a, %c : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x6xf32>
  %h = linalg.generic {indexing_maps = [#id, #b, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %b : tensor<4x6xf32>, tensor<6xf32>) outs(%e : tensor<4x6xf32>) attrs = {stc.name = "add"} {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %t = arith.addf %a, %c : f32
    linalg.yield %t : f32
  } -> tensor<4x6xf32>
  %q = tensor.extract_slice %h[0, 0] [4, 3] [1, 1] : tensor<4x6xf32> to tensor<4x3xf32>
  %k = tensor.extract_slice %h[0, 3] [4, 3] [1, 1] : tensor<4x6xf32> to tensor<4x3xf32>
  func.return %q, %k : tensor<4x3xf32>, tensor<4x3xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map3 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map4 = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @halves(
// CHECK-NEXT: %[[W:.*]] = tensor.extract_slice %w[0, 3] [8, 3] [1, 1] {stc.stripe, stc.name = "w_1"} : tensor<8x6xf32> to tensor<8x3xf32>
// CHECK-NEXT: %[[W1:.*]] = tensor.extract_slice %w[0, 0] [8, 3] [1, 1] {stc.stripe, stc.name = "w_0"} : tensor<8x6xf32> to tensor<8x3xf32>
// CHECK-NEXT: %[[B:.*]] = tensor.extract_slice %b[3] [3] [1] {stc.stripe, stc.name = "b_1"} : tensor<6xf32> to tensor<3xf32>
// CHECK-NEXT: %[[B1:.*]] = tensor.extract_slice %b[0] [3] [1] {stc.stripe, stc.name = "b_0"} : tensor<6xf32> to tensor<3xf32>
// CHECK: %p = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %[[W1]] :
// CHECK: %[[P:.*]] = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %[[W]] :
// CHECK: %q = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%p, %[[B1]] :
// CHECK: %k = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%[[P]], %[[B]] :
// CHECK: func.return %q, %k : tensor<4x3xf32>, tensor<4x3xf32>

// -----

// A slice that is left out: the whole stays.
// SHOW: extract_slice|linalg.generic|return
#id = affine_map<(d0) -> (d0)>
func.func @two_of_three(%x: tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<6xf32>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<6xf32>) outs(%e : tensor<6xf32>) attrs = {stc.name = "neg"} {
  ^bb0(%a: f32, %s: f32):
    %t = arith.negf %a : f32
    linalg.yield %t : f32
  } -> tensor<6xf32>
  %q = tensor.extract_slice %h[0] [2] [1] : tensor<6xf32> to tensor<2xf32>
  %k = tensor.extract_slice %h[4] [2] [1] : tensor<6xf32> to tensor<2xf32>
  func.return %q, %k : tensor<2xf32>, tensor<2xf32>
}

// CHECK: #map = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @two_of_three(
// CHECK: %h = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<6xf32>) outs(%e : tensor<6xf32>) attrs ={{ +}}{stc.name = "neg"} {
// CHECK: %q = tensor.extract_slice %h[0] [2] [1] : tensor<6xf32> to tensor<2xf32>
// CHECK-NEXT: %k = tensor.extract_slice %h[4] [2] [1] : tensor<6xf32> to tensor<2xf32>
// CHECK-NEXT: func.return %q, %k : tensor<2xf32>, tensor<2xf32>

// -----

// Every other column is no half: columns 0 and 2 are not computed side by side.
// SHOW: extract_slice|linalg.generic .*ins\(.*? : ...|return
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @every_other(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%z : tensor<4x4xf32>) attrs = {stc.name = "proj"} {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %m = arith.mulf %a, %c : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x4xf32>
  %q = tensor.extract_slice %p[0, 0] [4, 2] [1, 2] : tensor<4x4xf32> to tensor<4x2xf32>
  %k = tensor.extract_slice %p[0, 2] [4, 2] [1, 1] : tensor<4x4xf32> to tensor<4x2xf32>
  func.return %q, %k : tensor<4x2xf32>, tensor<4x2xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @every_other(
// CHECK: %p = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w :
// CHECK: %q = tensor.extract_slice %p[0, 0] [4, 2] [1, 2] : tensor<4x4xf32> to tensor<4x2xf32>
// CHECK-NEXT: %k = tensor.extract_slice %p[0, 2] [4, 2] [1, 1] : tensor<4x4xf32> to tensor<4x2xf32>
// CHECK-NEXT: func.return %q, %k : tensor<4x2xf32>, tensor<4x2xf32>

// -----

// What only parameters go into is computed by the host, whatever a DSP could not do of it.
// SHOW: extract_slice|linalg.generic .*ins\(.*? : ...|return
#i = affine_map<(d0) -> (d0)>
func.func @scales(%w: tensor<4xf32> {stc.parameter}) -> (tensor<2xf16>, tensor<2xf16>) {
  %e = tensor.empty() : tensor<4xf16>
  %p = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
      ins(%w : tensor<4xf32>) outs(%e : tensor<4xf16>) attrs = {stc.name = "scale"} {
  ^bb0(%a: f32, %s: f16):
    %t = arith.truncf %a : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4xf16>
  %q = tensor.extract_slice %p[0] [2] [1] : tensor<4xf16> to tensor<2xf16>
  %k = tensor.extract_slice %p[2] [2] [1] : tensor<4xf16> to tensor<2xf16>
  func.return %q, %k : tensor<2xf16>, tensor<2xf16>
}

// CHECK: #map = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @scales(
// CHECK: %p = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%w :
// CHECK: %q = tensor.extract_slice %p[0] [2] [1] : tensor<4xf16> to tensor<2xf16>
// CHECK-NEXT: %k = tensor.extract_slice %p[2] [2] [1] : tensor<4xf16> to tensor<2xf16>
// CHECK-NEXT: func.return %q, %k : tensor<2xf16>, tensor<2xf16>
