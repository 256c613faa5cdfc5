// RUN: stc-opt %s -p 'choose-parallelism{budget=plan platform=kv260}' | filecheck %s
// SHOW: linalg.generic ... attrs = .*?}

// Five DSPs a point, and ports of 128 bits: the plan of 998 DSPs has room for 144 points, that of the U55C for 192 and more.
func.func @matmul(%x: tensor<27x40xf32>, %w: tensor<40x64xf32>) -> tensor<27x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<27x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<27x64xf32>) -> tensor<27x64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<27x40xf32>, tensor<40x64xf32>) outs(%f : tensor<27x64xf32>) attrs = {stc.name = "fc"} {
  ^bb0(%a: f32, %c: f32, %s: f32):  %p = arith.mulf %a, %c : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<27x64xf32>
  return %y : tensor<27x64xf32>
}

// CHECK-LABEL: func.func @matmul(
// CHECK: linalg.generic{{.*}}attrs ={{ +}}{stc.name = "fc", stc.lanes = 16 : i32, stc.rows = 3 : i32, stc.copies = array<i64: 3, 1, 1>} {
