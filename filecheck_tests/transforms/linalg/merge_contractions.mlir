// RUN: stc-opt %s -p merge-contractions --check-semantics --split-input-file | filecheck %s

// A gated block: both products of %x, and what scales each, are one, of which each part is taken again.
#product = [affine_map<(r, n, k) -> (k)>, affine_map<(r, n, k) -> (k, r, n)>, affine_map<(r, n, k) -> (r, n)>]
#scaled = [affine_map<(r, n) -> (r, n)>, affine_map<(r, n) -> (r, n)>, affine_map<(r, n) -> (r, n)>]
!W = tensor<6x3x5xi4>
!S = tensor<3x5xf32>
func.func @gated(%x: tensor<6xi8>, %u: !W {stc.name = "u", stc.parameter}, %v: !W {stc.name = "v", stc.parameter},
                 %us: !S {stc.name = "us", stc.parameter}, %vs: !S {stc.name = "vs", stc.parameter}) -> tensor<3x5xf32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3x5xi32>  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<3x5xi32>) -> tensor<3x5xi32>
  %o = tensor.empty() : !S
  %a = linalg.generic {indexing_maps = #product, iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %u : tensor<6xi8>, !W) outs(%f : tensor<3x5xi32>) attrs = {stc.name = "mlp_gate_proj", stc.module = "mlp.gate_proj"} {
  ^bb0(%p: i8, %q: i4, %s: i32):  %v0 = arith.extsi %p : i8 to i32  %w = arith.extsi %q : i4 to i32
    %m = arith.muli %v0, %w : i32  %t = arith.addi %s, %m : i32  linalg.yield %t : i32 } -> tensor<3x5xi32>
  %b = linalg.generic {indexing_maps = #product, iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %v : tensor<6xi8>, !W) outs(%f : tensor<3x5xi32>) attrs = {stc.name = "mlp_up_proj", stc.module = "mlp.up_proj"} {
  ^bb0(%p: i8, %q: i4, %s: i32):  %v0 = arith.extsi %p : i8 to i32  %w = arith.extsi %q : i4 to i32
    %m = arith.muli %v0, %w : i32  %t = arith.addi %s, %m : i32  linalg.yield %t : i32 } -> tensor<3x5xi32>
  %c = linalg.generic {indexing_maps = #scaled, iterator_types = ["parallel", "parallel"]} ins(%a, %us : tensor<3x5xi32>, !S)
    outs(%o : !S) attrs = {stc.name = "mlp_gate_proj_mul", stc.module = "mlp.gate_proj"} {
  ^bb0(%p: i32, %q: f32, %s: f32):  %v0 = arith.sitofp %p : i32 to f32  %m = arith.mulf %v0, %q : f32  linalg.yield %m : f32 } -> !S
  %d = linalg.generic {indexing_maps = #scaled, iterator_types = ["parallel", "parallel"]} ins(%b, %vs : tensor<3x5xi32>, !S)
    outs(%o : !S) attrs = {stc.name = "mlp_up_proj_mul", stc.module = "mlp.up_proj"} {
  ^bb0(%p: i32, %q: f32, %s: f32):  %v0 = arith.sitofp %p : i32 to f32  %m = arith.mulf %v0, %q : f32  linalg.yield %m : f32 } -> !S
  %y = linalg.generic {indexing_maps = #scaled, iterator_types = ["parallel", "parallel"]} ins(%c, %d : !S, !S) outs(%o : !S)
    attrs = {stc.name = "mlp_act"} {
  ^bb0(%p: f32, %q: f32, %s: f32):  %m = arith.subf %p, %q : f32  linalg.yield %m : f32 } -> !S
  return %y : !S
}

// CHECK-LABEL: @gated
// CHECK: %[[U:.*]] = tensor.expand_shape %u {{.*}} into tensor<6x3x1x5xi4>
// CHECK: %[[V:.*]] = tensor.expand_shape %v {{.*}} into tensor<6x3x1x5xi4>
// CHECK: %[[W:.*]] = tensor.concat dim(2) %[[U]], %[[V]]
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} ins(%x, %[[W]] : tensor<6xi8>, tensor<6x3x2x5xi4>) {{.*}} "mlp_gate_and_up_proj", stc.module = "mlp", stc.merged}
// CHECK: %[[SCALES:.*]] = tensor.concat dim(1)
// CHECK: %[[BOTH:.*]] = linalg.generic {{.*}} ins(%[[SUMS]], %[[SCALES]] : tensor<3x2x5xi32>, tensor<3x2x5xf32>) {{.*}} "mlp_gate_and_up_proj_mul"
// CHECK: %[[ONE:.*]] = tensor.extract_slice %[[BOTH]][0, 0, 0] [3, 1, 5]
// CHECK: %[[A:.*]] = tensor.collapse_shape %[[ONE]]
// CHECK: %[[TWO:.*]] = tensor.extract_slice %[[BOTH]][0, 1, 0] [3, 1, 5]
// CHECK: %[[B:.*]] = tensor.collapse_shape %[[TWO]]
// CHECK: linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<3x5xf32>, tensor<3x5xf32>) {{.*}} "mlp_act"

