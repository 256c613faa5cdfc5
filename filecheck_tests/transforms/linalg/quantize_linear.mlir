// RUN: stc-opt %s -p 'quantize-linear{format="bits=8,group=4"}' --split-input-file | filecheck %s

// Weights to i8 by operations on the parameter, which the host evaluates; activations by their largest magnitude; sums in i32.
#maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
func.func @one_group(%x: tensor<5x4xf32>, %w: tensor<3x4xf32> {stc.parameter}) -> tensor<5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x3xf32>) -> tensor<5x3xf32>
  %y = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<5x4xf32>, tensor<3x4xf32>) outs(%f : tensor<5x3xf32>) attrs = {stc.module = "fc"} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d0)>
// CHECK: #map2 = affine_map<(d0) -> (d0)>
// CHECK: #map3 = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map4 = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK: #map5 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map6 = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @one_group(
// CHECK-NEXT: %[[CONSTANT:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty() : tensor<3xf32>
// CHECK-NEXT: %[[FILL:.*]] = linalg.fill ins(%[[CONSTANT]] : f32) outs(%[[EMPTY]] : tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %[[GENERIC:.*]] = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%w : tensor<3x4xf32>) outs(%[[FILL]] : tensor<3xf32>) attrs ={{ +}}{stc.module = "fc"} {
// CHECK-NEXT: ^bb0(%[[VALUE:.*]]: f32, %[[VALUE1:.*]]: f32):
// CHECK-NEXT: %[[ABSF:.*]] = math.absf %[[VALUE]] : f32
// CHECK-NEXT: %[[MAXIMUMF:.*]] = arith.maximumf %[[VALUE1]], %[[ABSF]] : f32
// CHECK-NEXT: linalg.yield %[[MAXIMUMF]] : f32
// CHECK: %[[EMPTY1:.*]] = tensor.empty() : tensor<3xf16>
// CHECK-NEXT: %[[GENERIC1:.*]] = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%[[GENERIC]] : tensor<3xf32>) outs(%[[EMPTY1]] : tensor<3xf16>) attrs ={{ +}}{stc.module = "fc"} {
// CHECK-NEXT: ^bb0(%[[VALUE2:.*]]: f32, %{{.*}}: f16):
// CHECK-NEXT: %[[CONSTANT1:.*]] = arith.constant 1.270000e+02 : f32
// CHECK-NEXT: %[[DIVF:.*]] = arith.divf %[[VALUE2]], %[[CONSTANT1]] : f32
// CHECK-NEXT: %[[TRUNCF:.*]] = arith.truncf %[[DIVF]] : f32 to f16
// CHECK-NEXT: %[[CONSTANT2:.*]] = arith.constant 6.103520e-05 : f16
// CHECK-NEXT: %[[MAXIMUMF1:.*]] = arith.maximumf %[[TRUNCF]], %[[CONSTANT2]] : f16
// CHECK-NEXT: linalg.yield %[[MAXIMUMF1]] : f16
// CHECK: %[[EMPTY2:.*]] = tensor.empty() : tensor<3x4xi8>
// CHECK-NEXT: %[[GENERIC2:.*]] = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%w, %[[GENERIC1]] : tensor<3x4xf32>, tensor<3xf16>) outs(%[[EMPTY2]] : tensor<3x4xi8>) attrs ={{ +}}{stc.module = "fc"} {
// CHECK-NEXT: ^bb0(%[[VALUE3:.*]]: f32, %[[VALUE4:.*]]: f16, %{{.*}}: i8):
// CHECK-NEXT: %[[EXTF:.*]] = arith.extf %[[VALUE4]] : f16 to f32
// CHECK-NEXT: %[[DIVF1:.*]] = arith.divf %[[VALUE3]], %[[EXTF]] : f32
// CHECK-NEXT: %[[ROUNDEVEN:.*]] = math.roundeven %[[DIVF1]] : f32
// CHECK-NEXT: %[[CONSTANT3:.*]] = arith.constant 1.270000e+02 : f32
// CHECK-NEXT: %[[MINNUMF:.*]] = arith.minnumf %[[ROUNDEVEN]], %[[CONSTANT3]] : f32
// CHECK-NEXT: %[[CONSTANT4:.*]] = arith.constant -1.270000e+02 : f32
// CHECK-NEXT: %[[MAXNUMF:.*]] = arith.maxnumf %[[MINNUMF]], %[[CONSTANT4]] : f32
// CHECK-NEXT: %[[FPTOSI:.*]] = arith.fptosi %[[MAXNUMF]] : f32 to i8
// CHECK-NEXT: linalg.yield %[[FPTOSI]] : i8
// CHECK: %[[CONSTANT5:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[EMPTY3:.*]] = tensor.empty() : tensor<5xf32>
// CHECK-NEXT: %[[FILL1:.*]] = linalg.fill ins(%[[CONSTANT5]] : f32) outs(%[[EMPTY3]] : tensor<5xf32>) -> tensor<5xf32>
// CHECK-NEXT: %[[GENERIC3:.*]] = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<5x4xf32>) outs(%[[FILL1]] : tensor<5xf32>) attrs ={{ +}}{stc.module = "fc"} {
// CHECK-NEXT: ^bb0(%[[VALUE5:.*]]: f32, %[[VALUE6:.*]]: f32):
// CHECK-NEXT: %[[ABSF1:.*]] = math.absf %[[VALUE5]] : f32
// CHECK-NEXT: %[[MAXIMUMF2:.*]] = arith.maximumf %[[VALUE6]], %[[ABSF1]] : f32
// CHECK-NEXT: linalg.yield %[[MAXIMUMF2]] : f32
// CHECK: %[[EMPTY4:.*]] = tensor.empty() : tensor<5xf32>
// CHECK-NEXT: %[[GENERIC4:.*]] = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%[[GENERIC3]] : tensor<5xf32>) outs(%[[EMPTY4]] : tensor<5xf32>) attrs ={{ +}}{stc.module = "fc"} {
// CHECK-NEXT: ^bb0(%[[VALUE7:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[CONSTANT6:.*]] = arith.constant 0.00787401572 : f32
// CHECK-NEXT: %[[PART:.*]] = arith.mulf %[[VALUE7]], %[[CONSTANT6]] : f32
// CHECK-NEXT: %[[CONSTANT7:.*]] = arith.constant 1.17549435e-38 : f32
// CHECK-NEXT: %[[MAXIMUMF3:.*]] = arith.maximumf %[[PART]], %[[CONSTANT7]] : f32
// CHECK-NEXT: linalg.yield %[[MAXIMUMF3]] : f32
// CHECK: %[[EMPTY5:.*]] = tensor.empty() : tensor<5xf32>
// CHECK-NEXT: %[[GENERIC5:.*]] = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%[[GENERIC4]] : tensor<5xf32>) outs(%[[EMPTY5]] : tensor<5xf32>) attrs ={{ +}}{stc.module = "fc"} {
// CHECK-NEXT: ^bb0(%[[VALUE8:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[CONSTANT8:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[DIVF3:.*]] = arith.divf %[[CONSTANT8]], %[[VALUE8]] : f32
// CHECK-NEXT: linalg.yield %[[DIVF3]] : f32
// CHECK: %[[EMPTY6:.*]] = tensor.empty() : tensor<5x4xi8>
// CHECK-NEXT: %[[GENERIC6:.*]] = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%x, %[[GENERIC5]] : tensor<5x4xf32>, tensor<5xf32>) outs(%[[EMPTY6]] : tensor<5x4xi8>) attrs ={{ +}}{stc.module = "fc"} {
// CHECK-NEXT: ^bb0(%[[VALUE9:.*]]: f32, %[[VALUE10:.*]]: f32, %{{.*}}: i8):
// CHECK-NEXT: %[[MULF:.*]] = arith.mulf %[[VALUE9]], %[[VALUE10]] : f32
// CHECK-NEXT: %[[ROUNDEVEN1:.*]] = math.roundeven %[[MULF]] : f32
// CHECK-NEXT: %[[CONSTANT9:.*]] = arith.constant 1.270000e+02 : f32
// CHECK-NEXT: %[[MINNUMF1:.*]] = arith.minnumf %[[ROUNDEVEN1]], %[[CONSTANT9]] : f32
// CHECK-NEXT: %[[CONSTANT10:.*]] = arith.constant -1.270000e+02 : f32
// CHECK-NEXT: %[[MAXNUMF1:.*]] = arith.maxnumf %[[MINNUMF1]], %[[CONSTANT10]] : f32
// CHECK-NEXT: %[[FPTOSI1:.*]] = arith.fptosi %[[MAXNUMF1]] : f32 to i8
// CHECK-NEXT: linalg.yield %[[FPTOSI1]] : i8
// CHECK: %[[CONSTANT11:.*]] = arith.constant 0 : i32
// CHECK-NEXT: %[[EMPTY7:.*]] = tensor.empty() : tensor<5x3xi32>
// CHECK-NEXT: %[[FILL2:.*]] = linalg.fill ins(%[[CONSTANT11]] : i32) outs(%[[EMPTY7]] : tensor<5x3xi32>) -> tensor<5x3xi32>
// CHECK-NEXT: %[[GENERIC7:.*]] = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[GENERIC6]], %[[GENERIC2]] : tensor<5x4xi8>, tensor<3x4xi8>) outs(%[[FILL2]] : tensor<5x3xi32>) attrs ={{ +}}{stc.module = "fc"} {
// CHECK-NEXT: ^bb0(%[[VALUE11:.*]]: i8, %[[VALUE12:.*]]: i8, %[[VALUE13:.*]]: i32):
// CHECK-NEXT: %[[EXTSI:.*]] = arith.extsi %[[VALUE11]] : i8 to i32
// CHECK-NEXT: %[[EXTSI1:.*]] = arith.extsi %[[VALUE12]] : i8 to i32
// CHECK-NEXT: %[[MULI:.*]] = arith.muli %[[EXTSI]], %[[EXTSI1]] : i32
// CHECK-NEXT: %[[ADDI:.*]] = arith.addi %[[VALUE13]], %[[MULI]] : i32
// CHECK-NEXT: linalg.yield %[[ADDI]] : i32
// CHECK: %[[EMPTY8:.*]] = tensor.empty() : tensor<5x3xf32>
// CHECK-NEXT: %y = linalg.generic {indexing_maps = [#map, #map6, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%[[GENERIC7]], %[[GENERIC1]], %[[GENERIC4]] : tensor<5x3xi32>, tensor<3xf16>, tensor<5xf32>) outs(%[[EMPTY8]] : tensor<5x3xf32>) attrs ={{ +}}{stc.module = "fc"} {
// CHECK-NEXT: ^bb0(%[[VALUE14:.*]]: i32, %[[VALUE15:.*]]: f16, %[[VALUE16:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[SITOFP:.*]] = arith.sitofp %[[VALUE14]] : i32 to f32
// CHECK-NEXT: %[[EXTF1:.*]] = arith.extf %[[VALUE15]] : f16 to f32
// CHECK-NEXT: %[[MULF1:.*]] = arith.mulf %[[SITOFP]], %[[EXTF1]] : f32
// CHECK-NEXT: %[[MULF2:.*]] = arith.mulf %[[MULF1]], %[[VALUE16]] : f32
// CHECK-NEXT: linalg.yield %[[MULF2]] : f32
// CHECK: func.return %y : tensor<5x3xf32>

// -----

// A short last group is filled up with zeros, of weights and of activations; groups are added up in f32.
// SHOW: concat|expand_shape|linalg.generic ... ins\(.*? : ...|func.func
#maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
func.func @short_last_group(%x: tensor<5x7xf32>, %w: tensor<3x7xf32> {stc.parameter}) -> tensor<5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x3xf32>) -> tensor<5x3xf32>
  %y = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<5x7xf32>, tensor<3x7xf32>) outs(%f : tensor<5x3xf32>) attrs = {stc.module = "fc"} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @short_last_group(
// CHECK: %[[CONCAT:.*]] = tensor.concat dim(1) %w, %{{.*}} : (tensor<3x7xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
// CHECK-NEXT: %[[EXPAND_SHAPE:.*]] = tensor.expand_shape %[[CONCAT]] {{\[\[}}0 : i64], [1 : i64, 2 : i64]] output_shape [3, 2, 4] : tensor<3x8xf32> into tensor<3x2x4xf32>
// CHECK: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%[[EXPAND_SHAPE]] :
// CHECK: %[[GENERIC1:.*]] = linalg.generic{{.*}}ins(%[[GENERIC]] :
// CHECK: %[[GENERIC2:.*]] = linalg.generic{{.*}}ins(%[[EXPAND_SHAPE]], %[[GENERIC1]] :
// CHECK: %[[GENERIC3:.*]] = linalg.generic{{.*}}ins(%x :
// CHECK: %[[GENERIC4:.*]] = linalg.generic{{.*}}ins(%[[GENERIC3]] :
// CHECK: %[[GENERIC5:.*]] = linalg.generic{{.*}}ins(%[[GENERIC4]] :
// CHECK: %[[GENERIC6:.*]] = linalg.generic{{.*}}ins(%x, %[[GENERIC5]] :
// CHECK: %[[CONCAT1:.*]] = tensor.concat dim(1) %[[GENERIC6]], %{{.*}} : (tensor<5x7xi8>, tensor<5x1xi8>) -> tensor<5x8xi8>
// CHECK-NEXT: %[[EXPAND_SHAPE1:.*]] = tensor.expand_shape %[[CONCAT1]] {{\[\[}}0 : i64], [1 : i64, 2 : i64]] output_shape [5, 2, 4] : tensor<5x8xi8> into tensor<5x2x4xi8>
// CHECK: %[[GENERIC7:.*]] = linalg.generic{{.*}}ins(%[[EXPAND_SHAPE1]], %[[GENERIC2]] :
// CHECK: %[[GENERIC8:.*]] = linalg.generic{{.*}}ins(%[[GENERIC7]], %[[GENERIC1]] :
// CHECK: linalg.generic{{.*}}ins(%[[GENERIC8]], %[[GENERIC4]] :
