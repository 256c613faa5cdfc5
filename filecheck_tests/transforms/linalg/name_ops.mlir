// RUN: stc-opt %s -p name-ops --split-input-file | filecheck %s

// The product of a module is called after it, what follows it in the module after what it does; a view after what it is a view of.
#product = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
#each = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
!T = tensor<3x7xf32>
func.func @mlp(%x: tensor<3x5xf32> {stc.name = "x"}, %w: tensor<35xf32> {stc.name = "c_fc.weight", stc.parameter}, %o: !T) -> !T {
  %v = tensor.expand_shape %w [[0, 1]] output_shape [5, 7] : tensor<35xf32> into tensor<5x7xf32>
  %y = linalg.generic {indexing_maps = #product, iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %v : tensor<3x5xf32>, tensor<5x7xf32>) outs(%o : !T) attrs = {stc.module = "mlp.c_fc"} {
  ^bb0(%a: f32, %b: f32, %c: f32):  %m = arith.mulf %a, %b : f32  %s = arith.addf %m, %c : f32  linalg.yield %s : f32 } -> !T
  %p = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%y : !T) outs(%o : !T)
    attrs = {stc.module = "mlp.c_fc"} { ^bb0(%a: f32, %b: f32):  %s = arith.addf %a, %a : f32  linalg.yield %s : f32 } -> !T
  %t = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%p : !T) outs(%o : !T)
    attrs = {stc.module = "mlp.act"} { ^bb0(%a: f32, %b: f32):  %s = math.tanh %a : f32  linalg.yield %s : f32 } -> !T
  func.return %t : !T
}

// CHECK-LABEL: @mlp(
// CHECK-NEXT: tensor.expand_shape{{.*}}stc.name = "c_fc_weight_expand"}
// CHECK-NEXT: linalg.generic{{.*}}stc.name = "mlp_c_fc"} {
// CHECK: linalg.generic{{.*}}stc.name = "mlp_c_fc_add"} {
// CHECK: linalg.generic{{.*}}stc.name = "mlp_act"} {

// -----

// A sum over a row, a division of it by a constant, which makes it a mean, and two sums of squares, which are numbered.
#sum = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>]
#each = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
!X = tensor<3x5xf32>
!T = tensor<3xf32>
func.func @norm(%x: !X, %o: !T) -> (!T, !T, !T) {
  %q = linalg.generic {indexing_maps = #sum, iterator_types = ["parallel", "reduction"]} ins(%x : !X) outs(%o : !T)
    attrs = {stc.module = "ln"} { ^bb0(%a: f32, %b: f32):  %s = arith.addf %a, %b : f32  linalg.yield %s : f32 } -> !T
  %r = linalg.generic {indexing_maps = #each, iterator_types = ["parallel"]} ins(%q : !T) outs(%o : !T) attrs = {stc.module = "ln"} {
  ^bb0(%a: f32, %b: f32):  %c = arith.constant 5.0 : f32  %s = arith.divf %a, %c : f32  linalg.yield %s : f32 } -> !T
  %i = linalg.generic {indexing_maps = #sum, iterator_types = ["parallel", "reduction"]} ins(%x : !X) outs(%o : !T)
    attrs = {stc.module = "ln"} {
  ^bb0(%a: f32, %b: f32):  %g = arith.mulf %a, %a : f32  %s = arith.addf %g, %b : f32  linalg.yield %s : f32 } -> !T
  %j = linalg.generic {indexing_maps = #sum, iterator_types = ["parallel", "reduction"]} ins(%x : !X) outs(%o : !T)
    attrs = {stc.module = "ln"} {
  ^bb0(%a: f32, %b: f32):  %g = arith.mulf %a, %a : f32  %s = arith.addf %g, %b : f32  linalg.yield %s : f32 } -> !T
  func.return %r, %i, %j : !T, !T, !T
}

// CHECK-LABEL: @norm(
// CHECK: linalg.generic{{.*}}stc.name = "ln_sum"} {
// CHECK: linalg.generic{{.*}}stc.name = "ln_mean"} {
// CHECK: linalg.generic{{.*}}stc.name = "ln_sum_square0"} {
// CHECK: linalg.generic{{.*}}stc.name = "ln_sum_square1"} {

// -----

// The steps that quantise an activation; those of a parameter, which the host computes, are its own.
#max = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]
#one = [affine_map<() -> ()>, affine_map<() -> ()>]
#all = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>]
!X = tensor<5xf32>
!S = tensor<f32>
!Q = tensor<5xi8>
func.func @quantised(%x: !X, %w: !X {stc.parameter}, %o: !S, %p: !Q) -> (!S, !S, !S, !Q) {
  %v = linalg.generic {indexing_maps = #one, iterator_types = []} ins(%o : !S) outs(%o : !S) attrs = {stc.module = "fc"} {
  ^bb0(%a: f32, %b: f32):  %c = arith.constant 0.00787401572 : f32  %d = arith.mulf %a, %c : f32
    %l = arith.constant 1.0e-30 : f32  %s = arith.maximumf %d, %l : f32  linalg.yield %s : f32 } -> !S
  %r = linalg.generic {indexing_maps = #one, iterator_types = []} ins(%v : !S) outs(%o : !S) attrs = {stc.module = "fc"} {
  ^bb0(%a: f32, %b: f32):  %c = arith.constant 1.0 : f32  %d = arith.divf %c, %a : f32  linalg.yield %d : f32 } -> !S
  %q = linalg.generic {indexing_maps = #all, iterator_types = ["parallel"]} ins(%x, %r : !X, !S) outs(%p : !Q)
    attrs = {stc.module = "fc"} {
  ^bb0(%a: f32, %b: f32, %c: i8):  %d = arith.mulf %a, %b : f32  %e = math.roundeven %d : f32  %f = arith.fptosi %e : f32 to i8
    linalg.yield %f : i8 } -> !Q
  %e = tensor.empty() : !S
  %m = linalg.generic {indexing_maps = #max, iterator_types = ["reduction"]} ins(%w : !X) outs(%e : !S) attrs = {stc.module = "fc"} {
  ^bb0(%a: f32, %b: f32):  %c = math.absf %a : f32  %d = arith.maximumf %c, %b : f32  linalg.yield %d : f32 } -> !S
  %s = linalg.generic {indexing_maps = #one, iterator_types = []} ins(%m : !S) outs(%e : !S) attrs = {stc.module = "fc"} {
  ^bb0(%a: f32, %b: f32):  %c = arith.constant 7.0 : f32  %d = arith.divf %a, %c : f32
    %l = arith.constant 1.0e-30 : f32  %s = arith.maximumf %d, %l : f32  linalg.yield %s : f32 } -> !S
  func.return %v, %r, %s, %q : !S, !S, !S, !Q
}

// CHECK-LABEL: @quantised(
// CHECK: linalg.generic{{.*}}stc.name = "fc_scale"} {
// CHECK: linalg.generic{{.*}}stc.name = "fc_reciprocal"} {
// CHECK: linalg.generic{{.*}}stc.name = "fc_quantise"} {
// CHECK: linalg.generic{{.*}}stc.name = "fc_weight_max_abs"} {
// CHECK: linalg.generic{{.*}}stc.name = "fc_weight_scale"} {

// -----

// A division of integers is no reciprocal, whatever is divided.
#one = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
!I = tensor<5xi32>
func.func @integers(%x: !I, %o: !I) -> !I {
  %y = linalg.generic {indexing_maps = #one, iterator_types = ["parallel"]} ins(%x : !I) outs(%o : !I) attrs = {stc.module = "fc"} {
  ^bb0(%a: i32, %b: i32):  %c = arith.constant 7 : i32  %d = arith.divsi %c, %a : i32  linalg.yield %d : i32 } -> !I
  %z = linalg.generic {indexing_maps = #one, iterator_types = ["parallel"]} ins(%y : !I) outs(%o : !I) attrs = {stc.module = "fc"} {
  ^bb0(%a: i32, %b: i32):  %d = arith.addi %a, %a : i32  linalg.yield %d : i32 } -> !I
  func.return %z : !I
}

// CHECK-LABEL: @integers(
// CHECK: linalg.generic{{.*}}stc.name = "fc_div"} {
