// RUN: stc-opt %s --until linalg-optimisation | filecheck %s

// Level 1, linalg: one form for all ops, each with a name; the input is what a front end would give.
func.func @main(%x: tensor<8x12xf32> {stc.name = "x"}, %w: tensor<12x16xf32> {stc.name = "w", stc.parameter}) -> (tensor<8x16xf32> {stc.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %fc = linalg.matmul {stc.module = "fc"} ins(%x, %w : tensor<8x12xf32>, tensor<12x16xf32>) outs(%z : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%fc : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) attrs = {stc.module = "gelu"} {
  ^bb0(%in: f32, %out: f32):
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %root = arith.constant 1.41421354 : f32
    %d = arith.divf %in, %root : f32
    %f = math.erf %d : f32
    %s = arith.addf %f, %one : f32
    %h = arith.mulf %in, %half : f32
    %g = arith.mulf %h, %s : f32
    linalg.yield %g : f32
  } -> tensor<8x16xf32>
  func.return %y : tensor<8x16xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map3 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %1 = tensor.empty() : tensor<8x16xf32>
// CHECK-NEXT: %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<8x16xf32>) -> tensor<8x16xf32>
// CHECK-NEXT: %fc = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x12xf32>, tensor<12x16xf32>) outs(%2 : tensor<8x16xf32>) attrs ={{ +}}{stc.module = "fc", stc.name = "fc"} {
// CHECK-NEXT: ^bb0(%3: f32, %4: f32, %5: f32):
// CHECK-NEXT: %6 = arith.mulf %3, %4 : f32
// CHECK-NEXT: %7 = arith.addf %6, %5 : f32
// CHECK-NEXT: linalg.yield %7 : f32
// CHECK-NEXT: } -> tensor<8x16xf32>
// CHECK-NEXT: %y = tensor.empty() : tensor<8x16xf32>
// CHECK-NEXT: %gelu = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%fc : tensor<8x16xf32>) outs(%y : tensor<8x16xf32>) attrs ={{ +}}{stc.module = "gelu", stc.name = "gelu"} {
// CHECK-NEXT: ^bb0(%8: f32, %9: f32):
// CHECK-NEXT: %10 = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %11 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %12 = arith.constant 1.41421354 : f32
// CHECK-NEXT: %13 = arith.divf %8, %12 : f32
// CHECK-NEXT: %14 = math.erf %13 : f32
// CHECK-NEXT: %15 = arith.addf %14, %11 : f32
// CHECK-NEXT: %16 = arith.mulf %8, %10 : f32
// CHECK-NEXT: %17 = arith.mulf %16, %15 : f32
// CHECK-NEXT: linalg.yield %17 : f32
// CHECK-NEXT: } -> tensor<8x16xf32>
// CHECK-NEXT: func.return %gelu : tensor<8x16xf32>
