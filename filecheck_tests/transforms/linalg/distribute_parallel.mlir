// RUN: stc-opt %s -p 'distribute-parallel' --split-input-file | filecheck %s

// Two computations divided alike meet copy by copy; the bias is shared by all, the weights are not divided.
// SHOW: slice .*\] {|slice|concat|linalg.generic ... ins\(.*? : ...|return
func.func @rows(%x: tensor<6x4xf32>, %w: tensor<4x5xf32>, %b: tensor<5xf32>) -> tensor<6x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x5xf32>) -> tensor<6x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<6x4xf32>, tensor<4x5xf32>) outs(%f : tensor<6x5xf32>)
      attrs = {stc.name = "fc", stc.copies = array<i64: 3, 1, 1>} {
  ^bb0(%a: f32, %c: f32, %s: f32):  %p = arith.mulf %a, %c : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<6x5xf32>
  %e1 = tensor.empty() : tensor<6x5xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
      affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%y, %b : tensor<6x5xf32>, tensor<5xf32>) outs(%e1 : tensor<6x5xf32>)
      attrs = {stc.name = "bias", stc.copies = array<i64: 3, 1>} {
  ^bb0(%a: f32, %c: f32, %s: f32):  %t = arith.addf %a, %c : f32  linalg.yield %t : f32
  } -> tensor<6x5xf32>
  return %z : tensor<6x5xf32>
}

// CHECK-LABEL: func.func @rows(
// CHECK-NEXT: %[[X:.*]] = tensor.extract_slice %x[4, 0] [2, 4] [1, 1] {stc.stripe, stc.name = "x_2"} : tensor<6x4xf32> to tensor<2x4xf32>
// CHECK-NEXT: %[[X1:.*]] = tensor.extract_slice %x[2, 0] [2, 4] [1, 1] {stc.stripe, stc.name = "x_1"} : tensor<6x4xf32> to tensor<2x4xf32>
// CHECK-NEXT: %[[X2:.*]] = tensor.extract_slice %x[0, 0] [2, 4] [1, 1] {stc.stripe, stc.name = "x_0"} : tensor<6x4xf32> to tensor<2x4xf32>
// CHECK: %y = linalg.generic{{.*}}ins(%[[X2]], %w :
// CHECK: %[[Y:.*]] = linalg.generic{{.*}}ins(%[[X1]], %w :
// CHECK: %[[Y1:.*]] = linalg.generic{{.*}}ins(%[[X]], %w :
// CHECK: %z = linalg.generic{{.*}}ins(%y, %b :
// CHECK: %[[Z:.*]] = linalg.generic{{.*}}ins(%[[Y]], %b :
// CHECK: %[[Z1:.*]] = linalg.generic{{.*}}ins(%[[Y1]], %b :
// CHECK: %[[Z2:.*]] = tensor.concat dim(0) %z, %[[Z]], %[[Z1]] {stc.stripe, stc.name = "bias_whole"} : (tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<6x5xf32>
// CHECK-NEXT: func.return %[[Z2]] : tensor<6x5xf32>

// -----

// Two loops of one computation; nothing is said about the other, which reads the whole.
// SHOW: slice .*\] {|slice|concat|linalg.generic ... ins\(.*? : ...|return
func.func @grid(%x: tensor<4x6xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>)
      attrs = {stc.name = "square", stc.copies = array<i64: 2, 3>} {
  ^bb0(%a: f32, %s: f32):  %t = arith.mulf %a, %a : f32  linalg.yield %t : f32
  } -> tensor<4x6xf32>
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4xf32>) -> tensor<4xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%y : tensor<4x6xf32>) outs(%f : tensor<4xf32>) attrs = {stc.name = "sum"} {
  ^bb0(%a: f32, %s: f32):  %t = arith.addf %a, %s : f32  linalg.yield %t : f32
  } -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @grid(
// CHECK-NEXT: %[[X:.*]] = tensor.extract_slice %x[2, 0] [2, 6] [1, 1] {stc.stripe, stc.name = "x_1"} : tensor<4x6xf32> to tensor<2x6xf32>
// CHECK-NEXT: %[[X1:.*]] = tensor.extract_slice %[[X]][0, 4] [2, 2] [1, 1] {stc.stripe, stc.name = "x_2"} : tensor<2x6xf32> to tensor<2x2xf32>
// CHECK-NEXT: %[[X2:.*]] = tensor.extract_slice %[[X]][0, 2] [2, 2] [1, 1] {stc.stripe, stc.name = "x_1"} : tensor<2x6xf32> to tensor<2x2xf32>
// CHECK-NEXT: %[[X3:.*]] = tensor.extract_slice %[[X]][0, 0] [2, 2] [1, 1] {stc.stripe, stc.name = "x_0"} : tensor<2x6xf32> to tensor<2x2xf32>
// CHECK-NEXT: %[[X4:.*]] = tensor.extract_slice %x[0, 0] [2, 6] [1, 1] {stc.stripe, stc.name = "x_0"} : tensor<4x6xf32> to tensor<2x6xf32>
// CHECK-NEXT: %[[X5:.*]] = tensor.extract_slice %[[X4]][0, 4] [2, 2] [1, 1] {stc.stripe, stc.name = "x_2"} : tensor<2x6xf32> to tensor<2x2xf32>
// CHECK-NEXT: %[[X6:.*]] = tensor.extract_slice %[[X4]][0, 2] [2, 2] [1, 1] {stc.stripe, stc.name = "x_1"} : tensor<2x6xf32> to tensor<2x2xf32>
// CHECK-NEXT: %[[X7:.*]] = tensor.extract_slice %[[X4]][0, 0] [2, 2] [1, 1] {stc.stripe, stc.name = "x_0"} : tensor<2x6xf32> to tensor<2x2xf32>
// CHECK: %y = linalg.generic{{.*}}ins(%[[X7]] :
// CHECK: %[[Y:.*]] = linalg.generic{{.*}}ins(%[[X6]] :
// CHECK: %[[Y1:.*]] = linalg.generic{{.*}}ins(%[[X5]] :
// CHECK: %[[Y2:.*]] = tensor.concat dim(1) %y, %[[Y]], %[[Y1]] {stc.stripe, stc.name = "square_0_whole"} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x6xf32>
// CHECK: %[[Y3:.*]] = linalg.generic{{.*}}ins(%[[X3]] :
// CHECK: %[[Y4:.*]] = linalg.generic{{.*}}ins(%[[X2]] :
// CHECK: %[[Y5:.*]] = linalg.generic{{.*}}ins(%[[X1]] :
// CHECK: %[[Y6:.*]] = tensor.concat dim(1) %[[Y3]], %[[Y4]], %[[Y5]] {stc.stripe, stc.name = "square_1_whole"} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[Y7:.*]] = tensor.concat dim(0) %[[Y2]], %[[Y6]] {stc.stripe, stc.name = "square_whole"} : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<4x6xf32>
// CHECK: %z = linalg.generic{{.*}}ins(%[[Y7]] :
// CHECK: func.return %z : tensor<4xf32>
