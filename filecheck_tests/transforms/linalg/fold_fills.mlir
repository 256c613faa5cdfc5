// RUN: stc-opt %s -p fold-fills --split-input-file | filecheck %s

func.func @bias_is_no_accumulator(%x: tensor<3x5xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%b : tensor<3xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d0)>
// CHECK: #map2 = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @bias_is_no_accumulator(
// CHECK-NEXT: %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %1 = tensor.empty() : tensor<3xf32>
// CHECK-NEXT: %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %r = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%2 : tensor<3xf32>) {
// CHECK-NEXT: ^bb0(%a: f32, %c: f32):
// CHECK-NEXT: %s = arith.addf %a, %c : f32
// CHECK-NEXT: linalg.yield %s : f32
// CHECK-NEXT: } -> tensor<3xf32>
// CHECK-NEXT: %3 = tensor.empty() : tensor<3xf32>
// CHECK-NEXT: %r_1 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel"]} ins(%r, %b : tensor<3xf32>, tensor<3xf32>) outs(%3 : tensor<3xf32>) {
// CHECK-NEXT: ^bb0(%4: f32, %5: f32, %6: f32):
// CHECK-NEXT: %s_1 = arith.addf %4, %5 : f32
// CHECK-NEXT: linalg.yield %s_1 : f32
// CHECK-NEXT: } -> tensor<3xf32>
// CHECK-NEXT: func.return %r_1 : tensor<3xf32>

// -----

func.func @unused_initial_value(%x: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%x : tensor<3xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// CHECK: #map = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @unused_initial_value(
// CHECK-NEXT: %r = tensor.empty() : tensor<3xf32>
// CHECK-NEXT: %r_1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%r : tensor<3xf32>) {
// CHECK-NEXT: ^bb0(%a: f32, %c: f32):
// CHECK-NEXT: %s = math.exp %a : f32
// CHECK-NEXT: linalg.yield %s : f32
// CHECK-NEXT: } -> tensor<3xf32>
// CHECK-NEXT: func.return %r_1 : tensor<3xf32>

// -----

func.func @read_initial_value(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%y : tensor<3xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.subf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// CHECK: #map = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @read_initial_value(
// CHECK-NEXT: %r = tensor.empty() : tensor<3xf32>
// CHECK-NEXT: %r_1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%x, %y : tensor<3xf32>, tensor<3xf32>) outs(%r : tensor<3xf32>) {
// CHECK-NEXT: ^bb0(%a: f32, %c: f32, %c_1: f32):
// CHECK-NEXT: %s = arith.subf %a, %c : f32
// CHECK-NEXT: linalg.yield %s : f32
// CHECK-NEXT: } -> tensor<3xf32>
// CHECK-NEXT: func.return %r_1 : tensor<3xf32>

// -----

func.func @maximum_of_constant(%x: tensor<3x5xf32>) -> tensor<3xf32> {
  %t = arith.constant dense<0xFF800000> : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%t : tensor<3xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.maximumf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @maximum_of_constant(
// CHECK-NEXT: %0 = arith.constant 0xff800000 : f32
// CHECK-NEXT: %1 = tensor.empty() : tensor<3xf32>
// CHECK-NEXT: %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %r = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%2 : tensor<3xf32>) {
// CHECK-NEXT: ^bb0(%a: f32, %c: f32):
// CHECK-NEXT: %s = arith.maximumf %a, %c : f32
// CHECK-NEXT: linalg.yield %s : f32
// CHECK-NEXT: } -> tensor<3xf32>
// CHECK-NEXT: func.return %r : tensor<3xf32>
