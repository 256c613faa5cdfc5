// RUN: stc-opt %s -p 'transpose-operands' --split-input-file | filecheck %s

// A parameter with the lanes outside is transposed, whoever reads it; the input, which is read once, is not.
// SHOW: linalg.generic .*ins\(.*? : ...|return
func.func @linear(%x: tensor<3x4xf32>, %w: tensor<6x4xf32> {stc.parameter}, %v: tensor<6x3xf32>) -> (tensor<3x6xf32>, tensor<3x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x6xf32>) -> tensor<3x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<3x4xf32>, tensor<6x4xf32>) outs(%f : tensor<3x6xf32>) attrs = {stc.name = "fc"} {
  ^bb0(%a: f32, %c: f32, %s: f32):  %p = arith.mulf %a, %c : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<3x6xf32>
  %e1 = tensor.empty() : tensor<3x6xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%v : tensor<6x3xf32>) outs(%e1 : tensor<3x6xf32>) attrs = {stc.name = "neg"} {
  ^bb0(%a: f32, %s: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32
  } -> tensor<3x6xf32>
  return %y, %z : tensor<3x6xf32>, tensor<3x6xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d1, d0)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map3 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map4 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @linear(
// CHECK: %w_t = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%w :
// CHECK: %y = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w_t :
// CHECK: %z = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%v :
// CHECK: func.return %y, %z : tensor<3x6xf32>, tensor<3x6xf32>

// -----

// Copies of one tensor with different dimensions last have names of their own, by which a schedule tells them apart.
// SHOW: linalg.generic ... attrs = .*?}
func.func @twice(%w: tensor<2x3x4xf32> {stc.parameter}, %x: tensor<4x2x3xf32>, %z: tensor<3x4x2xf32>)
    -> (tensor<4x3x2xf32>, tensor<4x2x3xf32>) {
  %e0 = tensor.empty() : tensor<4x3x2xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d1, d0)>, affine_map<(d0, d1, d2) -> (d1, d0, d2)>,
      affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %z : tensor<2x3x4xf32>, tensor<3x4x2xf32>) outs(%e0 : tensor<4x3x2xf32>) attrs = {stc.name = "first"} {
  ^bb0(%p: f32, %q: f32, %s: f32):  %t = arith.addf %p, %q : f32  linalg.yield %t : f32
  } -> tensor<4x3x2xf32>
  %e1 = tensor.empty() : tensor<4x2x3xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2, d0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>,
      affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %x : tensor<2x3x4xf32>, tensor<4x2x3xf32>) outs(%e1 : tensor<4x2x3xf32>) attrs = {stc.name = "second"} {
  ^bb0(%p: f32, %q: f32, %s: f32):  %t = arith.addf %p, %q : f32  linalg.yield %t : f32
  } -> tensor<4x2x3xf32>
  return %a, %b : tensor<4x3x2xf32>, tensor<4x2x3xf32>
}

// CHECK-LABEL: func.func @twice(
// CHECK: linalg.generic{{.*}}attrs ={{ +}}{stc.name = "w_t"} {
// CHECK: linalg.generic{{.*}}attrs ={{ +}}{stc.name = "first"} {
// CHECK: linalg.generic{{.*}}attrs ={{ +}}{stc.name = "w_t_2"} {
// CHECK: linalg.generic{{.*}}attrs ={{ +}}{stc.name = "second"} {
