// RUN: stc-opt %s -p 'split-arg-max,choose-parallelism{budget="dsp=1000,ports=16"}' | filecheck %s
// RUN: stc-opt %s -p 'split-arg-max,choose-parallelism{budget="dsp=1000,ports=16"},distribute-parallel' --check-semantics | filecheck %s --check-prefix=PARTS

// What finds the largest has as many copies as the product whose rows it compares: each compares those of one, as it makes them.
#product = [affine_map<(r, n, k) -> (k)>, affine_map<(r, n, k) -> (r, n, k)>, affine_map<(r, n, k) -> (r, n)>]
!Weights = tensor<256x128x16xf32>
func.func @head(%x: tensor<16xf32>, %w: !Weights {stc.name = "w", stc.parameter}) -> (tensor<i64>, tensor<256x128xf32>) {
  %zero = arith.constant 0.0 : f32  %low = arith.constant 0xFF800000 : f32  %first = arith.constant 0 : i64
  %e0 = tensor.empty() : tensor<256x128xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<256x128xf32>) -> tensor<256x128xf32>
  %e1 = tensor.empty() : tensor<f32>  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<f32>) -> tensor<f32>
  %e2 = tensor.empty() : tensor<i64>  %f2 = linalg.fill ins(%first : i64) outs(%e2 : tensor<i64>) -> tensor<i64>
  %y = linalg.generic {indexing_maps = #product, iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<16xf32>, !Weights) outs(%f0 : tensor<256x128xf32>) attrs = {stc.name = "logits"} {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %m = arith.mulf %p, %q : f32  %t = arith.addf %s, %m : f32  linalg.yield %t : f32 } -> tensor<256x128xf32>
  %largest, %at = linalg.generic {indexing_maps = [affine_map<(r, n) -> (r, n)>, affine_map<(r, n) -> ()>, affine_map<(r, n) -> ()>],
      iterator_types = ["reduction", "reduction"]}
    ins(%y : tensor<256x128xf32>) outs(%f1, %f2 : tensor<f32>, tensor<i64>) attrs = {stc.name = "max"} {
  ^bb0(%t: f32, %best: f32, %place: i64):
    %r = linalg.index 0 : index  %size = arith.constant 128 : index  %rows = arith.muli %r, %size : index
    %n = linalg.index 1 : index  %d = arith.addi %rows, %n : index  %is = arith.index_cast %d : index to i64
    %max = arith.maximumf %t, %best : f32
    %more = arith.cmpf ugt, %t, %best : f32  %number = arith.cmpf ord, %best, %best : f32  %both = arith.andi %more, %number : i1
    %new = arith.select %both, %is, %place : i64  linalg.yield %max, %new : f32, i64 } -> (tensor<f32>, tensor<i64>)
  return %at, %y : tensor<i64>, tensor<256x128xf32>
}

// CHECK: stc.name = "logits", {{.*}}stc.copies = array<i64: [[COPIES:[248]+]], 1, 1>}
// CHECK: tensor.expand_shape %y {{.*}} output_shape [16, 16, 8, 16]
// CHECK: stc.name = "max_partial", {{.*}}stc.copies = array<i64: [[COPIES]], 1, 1, 1>}

// PARTS: %[[TAKEN:.*]] = tensor.expand_shape %y_1 {{.*}} into tensor<[[SHAPE:.*]]>
// PARTS: ins(%[[TAKEN]] : tensor<[[SHAPE]]>) {{.*}}"max_partial_1"
