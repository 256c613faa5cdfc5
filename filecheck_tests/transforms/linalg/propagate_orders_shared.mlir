// RUN: stc-opt %s -p 'propagate-orders{lanes=4}' | filecheck %s

// All sums on shared multipliers are there at once, and may leave so; on others they leave as wide as tokens are.
#product = [affine_map<(r, n, k) -> (k)>, affine_map<(r, n, k) -> (r, k, n)>, affine_map<(r, n, k) -> (r, n)>]
!W = tensor<4x32x16xi4>
func.func @two(%x: tensor<32xi8>, %u: !W {stc.name = "u", stc.parameter}, %d: !W {stc.name = "d", stc.parameter})
    -> (tensor<4x16xi32>, tensor<4x16xi32>) {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x16xi32>  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4x16xi32>) -> tensor<4x16xi32>
  %y = linalg.generic {indexing_maps = #product, iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %u : tensor<32xi8>, !W) outs(%f : tensor<4x16xi32>) attrs = {stc.name = "apart", stc.lanes = 16 : i32} {
  ^bb0(%p: i8, %q: i4, %s: i32):  %v = arith.extsi %p : i8 to i32  %w = arith.extsi %q : i4 to i32
    %m = arith.muli %v, %w : i32  %t = arith.addi %s, %m : i32  linalg.yield %t : i32 } -> tensor<4x16xi32>
  %z = linalg.generic {indexing_maps = #product, iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %d : tensor<32xi8>, !W) outs(%f : tensor<4x16xi32>) attrs = {stc.name = "together", stc.lanes = 16 : i32, stc.shared} {
  ^bb0(%p: i8, %q: i4, %s: i32):  %v = arith.extsi %p : i8 to i32  %w = arith.extsi %q : i4 to i32
    %m = arith.muli %v, %w : i32  %t = arith.addi %s, %m : i32  linalg.yield %t : i32 } -> tensor<4x16xi32>
  return %y, %z : tensor<4x16xi32>, tensor<4x16xi32>
}

// CHECK: stc.name = "apart"
// CHECK-SAME{LITERAL}: vector = [[4], [1, 1, 16], [1, 4]]
// CHECK: stc.name = "together"
// CHECK-SAME{LITERAL}: vector = [[4], [1, 1, 16], [1, 16]]
