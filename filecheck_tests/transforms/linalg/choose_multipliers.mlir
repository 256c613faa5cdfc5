// RUN: stc-opt %s -p 'choose-multipliers{budget="dsp=8"},pack-products' | filecheck %s --check-prefixes=CHECK,SHORT
// RUN: stc-opt %s -p 'choose-multipliers{budget="dsp=100"},pack-products' | filecheck %s --check-prefixes=CHECK,ENOUGH
// RUN: stc-opt %s -p 'choose-multipliers,pack-products' | filecheck %s --check-prefixes=CHECK,ENOUGH

// With 8 DSPs pairs of int4 take 8 lanes, 16 products at once; in LUTs there are 32, which nothing packs.
#maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
func.func @i4(%x: tensor<1x24xi8>, %w: tensor<256x24xi4> {stc.parameter}) -> tensor<1x256xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1x256xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1x256xi32>) -> tensor<1x256xi32>
  %y = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x24xi8>, tensor<256x24xi4>) outs(%f : tensor<1x256xi32>) attrs = {stc.name = "fc"} {
  ^bb0(%a: i8, %b: i4, %s: i32):
    %c = arith.extsi %a : i8 to i32  %d = arith.extsi %b : i4 to i32
    %p = arith.muli %c, %d : i32  %t = arith.addi %s, %p : i32  linalg.yield %t : i32
  } -> tensor<1x256xi32>
  return %y : tensor<1x256xi32>
}

// CHECK-LABEL: func.func @i4(
// SHORT-NOT: _pairs
// SHORT: arith.muli {{.*}} {stc.multipliers = "lut"} : i32
// ENOUGH: stc.name = "fc_pairs"
// ENOUGH-NOT: stc.multipliers
// ENOUGH: arith.muli {{.*}} : i40
