// RUN: stc-opt %s -p 'quantize-linear{format="bits=8,except=head,mlp.fc.bits=4"}' --split-input-file | filecheck %s

// A path names what is below it: the first layer stays f32, the second has a format of its own.
// SHOW: linalg.generic ... ins\(.*? : ...|func.func
#maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
func.func @excepted(%x: tensor<5x4xf32>, %w: tensor<3x4xf32> {stc.parameter}, %v: tensor<3x4xf32> {stc.parameter})
    -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x3xf32>) -> tensor<5x3xf32>
  %y = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<5x4xf32>, tensor<3x4xf32>) outs(%f : tensor<5x3xf32>) attrs = {stc.module = "head.fc"} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<5x3xf32>
  %z = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<5x4xf32>, tensor<3x4xf32>) outs(%f : tensor<5x3xf32>) attrs = {stc.module = "mlp.fc"} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<5x3xf32>
  return %y, %z : tensor<5x3xf32>, tensor<5x3xf32>
}

// CHECK-LABEL: func.func @excepted(
// CHECK: linalg.generic{{.*}}ins(%x, %w :
// CHECK: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%v :
// CHECK: %[[GENERIC1:.*]] = linalg.generic{{.*}}ins(%[[GENERIC]] :
// CHECK: %[[GENERIC2:.*]] = linalg.generic{{.*}}ins(%v, %[[GENERIC1]] :
// CHECK: %[[GENERIC3:.*]] = linalg.generic{{.*}}ins(%x :
// CHECK: %[[GENERIC4:.*]] = linalg.generic{{.*}}ins(%[[GENERIC3]] :
// CHECK: %[[GENERIC5:.*]] = linalg.generic{{.*}}ins(%[[GENERIC4]] :
// CHECK: %[[GENERIC6:.*]] = linalg.generic{{.*}}ins(%x, %[[GENERIC5]] :
// CHECK: %[[GENERIC7:.*]] = linalg.generic{{.*}}ins(%[[GENERIC6]], %[[GENERIC2]] :
// CHECK: linalg.generic{{.*}}ins(%[[GENERIC7]], %[[GENERIC1]], %[[GENERIC4]] :
