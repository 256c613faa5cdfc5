// RUN: stc-opt %s -p 'choose-parallelism{budget="dsp=1000,ports=7" in-turn=true shared=true}' | filecheck %s

// What shares multipliers has all its lanes in every copy: 4 blocks of rows (r) are 4 copies; 2 blocks are 2, each of two parts that
// take groups (g) in turn, so that both products have as many tasks.
#product = [affine_map<(g, r, n, k) -> (g, k)>, affine_map<(g, r, n, k) -> (g, r, k, n)>, affine_map<(g, r, n, k) -> (g, r, n)>]
#sum = [affine_map<(r, n, g) -> (g, r, n)>, affine_map<(r, n, g) -> (r, n)>]
#each = [affine_map<(r, n) -> (r, n)>, affine_map<(r, n) -> (r, n)>]
!Up = tensor<1x4x16x16xi4>
!Down = tensor<4x2x16x16xi4>
func.func @mlp(%x: tensor<1x16xi8>, %u: !Up {stc.name = "u", stc.parameter}, %d: !Down {stc.name = "d", stc.parameter}) -> tensor<2x16xi32> {
  %zero = arith.constant 0 : i32
  %e0 = tensor.empty() : tensor<1x4x16xi32>  %f0 = linalg.fill ins(%zero : i32) outs(%e0 : tensor<1x4x16xi32>) -> tensor<1x4x16xi32>
  %e1 = tensor.empty() : tensor<4x16xi32>  %f1 = linalg.fill ins(%zero : i32) outs(%e1 : tensor<4x16xi32>) -> tensor<4x16xi32>
  %e2 = tensor.empty() : tensor<4x16xi8>
  %e3 = tensor.empty() : tensor<4x2x16xi32>  %f3 = linalg.fill ins(%zero : i32) outs(%e3 : tensor<4x2x16xi32>) -> tensor<4x2x16xi32>
  %e4 = tensor.empty() : tensor<2x16xi32>  %f4 = linalg.fill ins(%zero : i32) outs(%e4 : tensor<2x16xi32>) -> tensor<2x16xi32>
  %a = linalg.generic {indexing_maps = #product, iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%x, %u : tensor<1x16xi8>, !Up) outs(%f0 : tensor<1x4x16xi32>) attrs = {stc.name = "up"} {
  ^bb0(%p: i8, %q: i4, %s: i32):  %v = arith.extsi %p : i8 to i32  %w = arith.extsi %q : i4 to i32
    %m = arith.muli %v, %w : i32  %t = arith.addi %s, %m : i32  linalg.yield %t : i32 } -> tensor<1x4x16xi32>
  %b = linalg.generic {indexing_maps = #sum, iterator_types = ["parallel", "parallel", "reduction"]} ins(%a : tensor<1x4x16xi32>)
    outs(%f1 : tensor<4x16xi32>) { ^bb0(%p: i32, %s: i32):  %t = arith.addi %s, %p : i32  linalg.yield %t : i32 } -> tensor<4x16xi32>
  %c = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%b : tensor<4x16xi32>)
    outs(%e2 : tensor<4x16xi8>) { ^bb0(%p: i32, %s: i8):  %t = arith.trunci %p : i32 to i8  linalg.yield %t : i8 } -> tensor<4x16xi8>
  %y = linalg.generic {indexing_maps = #product, iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%c, %d : tensor<4x16xi8>, !Down) outs(%f3 : tensor<4x2x16xi32>) attrs = {stc.name = "down"} {
  ^bb0(%p: i8, %q: i4, %s: i32):  %v = arith.extsi %p : i8 to i32  %w = arith.extsi %q : i4 to i32
    %m = arith.muli %v, %w : i32  %t = arith.addi %s, %m : i32  linalg.yield %t : i32 } -> tensor<4x2x16xi32>
  %z = linalg.generic {indexing_maps = #sum, iterator_types = ["parallel", "parallel", "reduction"]} ins(%y : tensor<4x2x16xi32>)
    outs(%f4 : tensor<2x16xi32>) { ^bb0(%p: i32, %s: i32):  %t = arith.addi %s, %p : i32  linalg.yield %t : i32 } -> tensor<2x16xi32>
  return %z : tensor<2x16xi32>
}

// CHECK: stc.name = "up", stc.lanes = 16 : i32, stc.shared, stc.copies = array<i64: 1, 4, 1, 1>} {
// CHECK: stc.name = "down", stc.lanes = 16 : i32, stc.shared, stc.copies = array<i64: 1, 2, 1, 1>, stc.dealt = array<i64: 2, 1, 1, 1>} {
