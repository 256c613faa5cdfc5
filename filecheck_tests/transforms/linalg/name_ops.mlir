// RUN: stc-opt %s -p name-ops --split-input-file | filecheck %s

// SHOW: linalg.generic ... stc.*\}|_shape ... stc.*\} ...
func.func @names(%x: tensor<3x5xf32> {stc.name = "x"}, %w: tensor<35xf32> {stc.name = "c_fc.weight", stc.parameter}, %o: tensor<3x7xf32>, %f: tensor<3xf32>) -> (tensor<3x7xf32>, tensor<3xf32>, tensor<3xf32>) {
  %v = tensor.expand_shape %w [[0, 1]] output_shape [5, 7] : tensor<35xf32> into tensor<5x7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %v : tensor<3x5xf32>, tensor<5x7xf32>) outs(%o : tensor<3x7xf32>) attrs = {stc.module = "mlp.c_fc"} {
  ^bb0(%a: f32, %b: f32, %c: f32):  %m = arith.mulf %a, %b : f32  %s = arith.addf %m, %c : f32  linalg.yield %s : f32
  } -> tensor<3x7xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<3x7xf32>) outs(%o : tensor<3x7xf32>) attrs = {stc.module = "mlp.c_fc"} {
  ^bb0(%a: f32, %b: f32):  %c = arith.constant 1.000000e+00 : f32  %s = arith.addf %a, %c : f32  linalg.yield %s : f32
  } -> tensor<3x7xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<3x7xf32>) outs(%o : tensor<3x7xf32>) attrs = {stc.module = "mlp.act"} {
  ^bb0(%a: f32, %b: f32):  %s = math.tanh %a : f32  %u = arith.mulf %s, %a : f32  linalg.yield %u : f32
  } -> tensor<3x7xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%f : tensor<3xf32>) attrs = {stc.module = "ln"} {
  ^bb0(%a: f32, %b: f32):  %s = arith.addf %a, %b : f32  linalg.yield %s : f32
  } -> tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%q : tensor<3xf32>) outs(%f : tensor<3xf32>) attrs = {stc.module = "ln"} {
  ^bb0(%a: f32, %b: f32):  %c = arith.constant 5.000000e+00 : f32  %s = arith.divf %a, %c : f32  linalg.yield %s : f32
  } -> tensor<3xf32>
  %i = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%f : tensor<3xf32>) attrs = {stc.module = "ln"} {
  ^bb0(%a: f32, %b: f32):  %g = arith.mulf %a, %a : f32  %s = arith.addf %g, %b : f32  linalg.yield %s : f32
  } -> tensor<3xf32>
  %j = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%f : tensor<3xf32>) attrs = {stc.module = "ln"} {
  ^bb0(%a: f32, %b: f32):  %g = arith.mulf %a, %a : f32  %s = arith.addf %g, %b : f32  linalg.yield %s : f32
  } -> tensor<3xf32>
  func.return %t, %i, %j : tensor<3x7xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @names(
// CHECK-NEXT: tensor.expand_shape{{.*}}stc.name = "c_fc_weight_expand"}
// CHECK-NEXT: linalg.generic{{.*}}stc.module = "mlp.c_fc", stc.name = "mlp_c_fc"} {
// CHECK: linalg.generic{{.*}}stc.module = "mlp.c_fc", stc.name = "mlp_c_fc_add"} {
// CHECK: linalg.generic{{.*}}stc.module = "mlp.act", stc.name = "mlp_act"} {
// CHECK: linalg.generic{{.*}}stc.module = "ln", stc.name = "ln_sum"} {
// CHECK: linalg.generic{{.*}}stc.module = "ln", stc.name = "ln_mean"} {
// CHECK: linalg.generic{{.*}}stc.module = "ln", stc.name = "ln_sum_square0"} {
// CHECK: linalg.generic{{.*}}stc.module = "ln", stc.name = "ln_sum_square1"} {
