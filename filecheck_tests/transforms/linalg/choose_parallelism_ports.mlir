// RUN: stc-opt %s -p 'choose-parallelism{budget="dsp=6000" strategy="balanced"}' | filecheck %s
// SHOW: func.func|linalg.generic|return

// 64 lanes of f16 come through 2 of the 32 ports: 15 copies fit, with a port each for what they read and write (12 in f32).
func.func @narrow_weights(%x: tensor<120x40xf32>, %w: tensor<40x64xf16>) -> tensor<120x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<120x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<120x64xf32>) -> tensor<120x64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<120x40xf32>, tensor<40x64xf16>) outs(%f : tensor<120x64xf32>) attrs = {stc.name = "fc"} {
  ^bb0(%a: f32, %c: f16, %s: f32):
    %d = arith.extf %c : f16 to f32  %p = arith.mulf %a, %d : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<120x64xf32>
  return %y : tensor<120x64xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @narrow_weights(
// CHECK: %y = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<120x40xf32>, tensor<40x64xf16>) outs(%f : tensor<120x64xf32>) attrs ={{ +}}{stc.name = "fc", stc.lanes = 64 : i32, stc.copies = array<i64: 15, 1, 1>} {
// CHECK: func.return %y : tensor<120x64xf32>
