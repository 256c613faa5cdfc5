// RUN: stc-opt %s -p 'distribute-parallel' --split-input-file | filecheck %s
// SHOW: func.func|extract_slice|fill|linalg.generic|concat|return

// Two computations divided alike meet copy by copy; the bias is shared by all, the weights are not divided.
func.func @rows(%x: tensor<6x4xf32>, %w: tensor<4x5xf32>, %b: tensor<5xf32>) -> tensor<6x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x5xf32>) -> tensor<6x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<6x4xf32>, tensor<4x5xf32>) outs(%f : tensor<6x5xf32>)
      attrs = {stc.name = "fc", stc.copies = array<i64: 3, 1, 1>} {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %p = arith.mulf %a, %c : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<6x5xf32>
  %e1 = tensor.empty() : tensor<6x5xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
      affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%y, %b : tensor<6x5xf32>, tensor<5xf32>) outs(%e1 : tensor<6x5xf32>)
      attrs = {stc.name = "bias", stc.copies = array<i64: 3, 1>} {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %t = arith.addf %a, %c : f32
    linalg.yield %t : f32
  } -> tensor<6x5xf32>
  return %z : tensor<6x5xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map3 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map4 = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @rows(
// CHECK-NEXT: %x_1 = tensor.extract_slice %x[4, 0] [2, 4] [1, 1] {stc.stripe, stc.name = "x_2"} : tensor<6x4xf32> to tensor<2x4xf32>
// CHECK-NEXT: %x_2 = tensor.extract_slice %x[2, 0] [2, 4] [1, 1] {stc.stripe, stc.name = "x_1"} : tensor<6x4xf32> to tensor<2x4xf32>
// CHECK-NEXT: %x_3 = tensor.extract_slice %x[0, 0] [2, 4] [1, 1] {stc.stripe, stc.name = "x_0"} : tensor<6x4xf32> to tensor<2x4xf32>
// CHECK: %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %y = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x_3, %w : tensor<2x4xf32>, tensor<4x5xf32>) outs(%1 : tensor<2x5xf32>) attrs ={{ +}}{stc.name = "fc_0"} {
// CHECK: %3 = linalg.fill ins(%zero : f32) outs(%2 : tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %y_1 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x_2, %w : tensor<2x4xf32>, tensor<4x5xf32>) outs(%3 : tensor<2x5xf32>) attrs ={{ +}}{stc.name = "fc_1"} {
// CHECK: %5 = linalg.fill ins(%zero : f32) outs(%4 : tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %y_2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x_1, %w : tensor<2x4xf32>, tensor<4x5xf32>) outs(%5 : tensor<2x5xf32>) attrs ={{ +}}{stc.name = "fc_2"} {
// CHECK: %z = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%y, %b : tensor<2x5xf32>, tensor<5xf32>) outs(%6 : tensor<2x5xf32>) attrs ={{ +}}{stc.name = "bias_0"} {
// CHECK: %z_1 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%y_1, %b : tensor<2x5xf32>, tensor<5xf32>) outs(%7 : tensor<2x5xf32>) attrs ={{ +}}{stc.name = "bias_1"} {
// CHECK: %z_2 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%y_2, %b : tensor<2x5xf32>, tensor<5xf32>) outs(%8 : tensor<2x5xf32>) attrs ={{ +}}{stc.name = "bias_2"} {
// CHECK: %z_3 = tensor.concat dim(0) %z, %z_1, %z_2 {stc.stripe, stc.name = "bias_whole"} : (tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<6x5xf32>
// CHECK-NEXT: func.return %z_3 : tensor<6x5xf32>

// -----

// SHOW: func.func|extract_slice|linalg.generic|concat|return

// Two loops of one computation; nothing is said about the other, which reads the whole.
func.func @grid(%x: tensor<4x6xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>)
      attrs = {stc.name = "square", stc.copies = array<i64: 2, 3>} {
  ^bb0(%a: f32, %s: f32):
    %t = arith.mulf %a, %a : f32
    linalg.yield %t : f32
  } -> tensor<4x6xf32>
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4xf32>) -> tensor<4xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%y : tensor<4x6xf32>) outs(%f : tensor<4xf32>) attrs = {stc.name = "sum"} {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @grid(
// CHECK-NEXT: %x_1 = tensor.extract_slice %x[2, 0] [2, 6] [1, 1] {stc.stripe, stc.name = "x_1"} : tensor<4x6xf32> to tensor<2x6xf32>
// CHECK-NEXT: %x_2 = tensor.extract_slice %x_1[0, 4] [2, 2] [1, 1] {stc.stripe, stc.name = "x_2"} : tensor<2x6xf32> to tensor<2x2xf32>
// CHECK-NEXT: %x_3 = tensor.extract_slice %x_1[0, 2] [2, 2] [1, 1] {stc.stripe, stc.name = "x_1"} : tensor<2x6xf32> to tensor<2x2xf32>
// CHECK-NEXT: %x_4 = tensor.extract_slice %x_1[0, 0] [2, 2] [1, 1] {stc.stripe, stc.name = "x_0"} : tensor<2x6xf32> to tensor<2x2xf32>
// CHECK-NEXT: %x_5 = tensor.extract_slice %x[0, 0] [2, 6] [1, 1] {stc.stripe, stc.name = "x_0"} : tensor<4x6xf32> to tensor<2x6xf32>
// CHECK-NEXT: %x_6 = tensor.extract_slice %x_5[0, 4] [2, 2] [1, 1] {stc.stripe, stc.name = "x_2"} : tensor<2x6xf32> to tensor<2x2xf32>
// CHECK-NEXT: %x_7 = tensor.extract_slice %x_5[0, 2] [2, 2] [1, 1] {stc.stripe, stc.name = "x_1"} : tensor<2x6xf32> to tensor<2x2xf32>
// CHECK-NEXT: %x_8 = tensor.extract_slice %x_5[0, 0] [2, 2] [1, 1] {stc.stripe, stc.name = "x_0"} : tensor<2x6xf32> to tensor<2x2xf32>
// CHECK: %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x_8 : tensor<2x2xf32>) outs(%0 : tensor<2x2xf32>) attrs ={{ +}}{stc.name = "square_0_0"} {
// CHECK: %y_1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x_7 : tensor<2x2xf32>) outs(%1 : tensor<2x2xf32>) attrs ={{ +}}{stc.name = "square_0_1"} {
// CHECK: %y_2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x_6 : tensor<2x2xf32>) outs(%2 : tensor<2x2xf32>) attrs ={{ +}}{stc.name = "square_0_2"} {
// CHECK: %y_3 = tensor.concat dim(1) %y, %y_1, %y_2 {stc.stripe, stc.name = "square_0_whole"} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x6xf32>
// CHECK: %y_4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x_4 : tensor<2x2xf32>) outs(%3 : tensor<2x2xf32>) attrs ={{ +}}{stc.name = "square_1_0"} {
// CHECK: %y_5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x_3 : tensor<2x2xf32>) outs(%4 : tensor<2x2xf32>) attrs ={{ +}}{stc.name = "square_1_1"} {
// CHECK: %y_6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x_2 : tensor<2x2xf32>) outs(%5 : tensor<2x2xf32>) attrs ={{ +}}{stc.name = "square_1_2"} {
// CHECK: %y_7 = tensor.concat dim(1) %y_4, %y_5, %y_6 {stc.stripe, stc.name = "square_1_whole"} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %y_8 = tensor.concat dim(0) %y_3, %y_7 {stc.stripe, stc.name = "square_whole"} : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<4x6xf32>
// CHECK: %z = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%y_8 : tensor<4x6xf32>) outs(%f : tensor<4xf32>) attrs ={{ +}}{stc.name = "sum"} {
// CHECK: func.return %z : tensor<4xf32>
