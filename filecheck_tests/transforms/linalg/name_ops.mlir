// RUN: stc-opt %s -p name-ops --split-input-file | filecheck %s

func.func @names(%x: tensor<3x5xf32> {stc.name = "x"}, %w: tensor<35xf32> {stc.name = "c_fc.weight", stc.parameter}, %o: tensor<3x7xf32>, %f: tensor<3xf32>) -> (tensor<3x7xf32>, tensor<3xf32>, tensor<3xf32>) {
  %v = tensor.expand_shape %w [[0, 1]] output_shape [5, 7] : tensor<35xf32> into tensor<5x7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %v : tensor<3x5xf32>, tensor<5x7xf32>) outs(%o : tensor<3x7xf32>) attrs = {stc.module = "mlp.c_fc"} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %m, %c : f32
    linalg.yield %s : f32
  } -> tensor<3x7xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<3x7xf32>) outs(%o : tensor<3x7xf32>) attrs = {stc.module = "mlp.c_fc"} {
  ^bb0(%a: f32, %b: f32):
    %c = arith.constant 1.000000e+00 : f32
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<3x7xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<3x7xf32>) outs(%o : tensor<3x7xf32>) attrs = {stc.module = "mlp.act"} {
  ^bb0(%a: f32, %b: f32):
    %s = math.tanh %a : f32
    %u = arith.mulf %s, %a : f32
    linalg.yield %u : f32
  } -> tensor<3x7xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%f : tensor<3xf32>) attrs = {stc.module = "ln"} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%q : tensor<3xf32>) outs(%f : tensor<3xf32>) attrs = {stc.module = "ln"} {
  ^bb0(%a: f32, %b: f32):
    %c = arith.constant 5.000000e+00 : f32
    %s = arith.divf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  %i = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%f : tensor<3xf32>) attrs = {stc.module = "ln"} {
  ^bb0(%a: f32, %b: f32):
    %g = arith.mulf %a, %a : f32
    %s = arith.addf %g, %b : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  %j = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%f : tensor<3xf32>) attrs = {stc.module = "ln"} {
  ^bb0(%a: f32, %b: f32):
    %g = arith.mulf %a, %a : f32
    %s = arith.addf %g, %b : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  func.return %t, %i, %j : tensor<3x7xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map3 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map4 = affine_map<(d0, d1) -> (d0)>
// CHECK: #map5 = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @names(
// CHECK-NEXT: %c_fc_weight = tensor.expand_shape %w {{\[\[}}0 : i64, 1 : i64]] output_shape [5, 7] {stc.name = "c_fc_weight_expand"} : tensor<35xf32> into tensor<5x7xf32>
// CHECK-NEXT: %mlp_c_fc = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %c_fc_weight : tensor<3x5xf32>, tensor<5x7xf32>) outs(%o : tensor<3x7xf32>) attrs ={{ +}}{stc.module = "mlp.c_fc", stc.name = "mlp_c_fc"} {
// CHECK-NEXT: ^bb0(%0: f32, %1: f32, %2: f32):
// CHECK-NEXT: %3 = arith.mulf %0, %1 : f32
// CHECK-NEXT: %4 = arith.addf %3, %2 : f32
// CHECK-NEXT: linalg.yield %4 : f32
// CHECK-NEXT: } -> tensor<3x7xf32>
// CHECK-NEXT: %mlp_c_fc_add = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%mlp_c_fc : tensor<3x7xf32>) outs(%o : tensor<3x7xf32>) attrs ={{ +}}{stc.module = "mlp.c_fc", stc.name = "mlp_c_fc_add"} {
// CHECK-NEXT: ^bb0(%5: f32, %6: f32):
// CHECK-NEXT: %7 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %8 = arith.addf %5, %7 : f32
// CHECK-NEXT: linalg.yield %8 : f32
// CHECK-NEXT: } -> tensor<3x7xf32>
// CHECK-NEXT: %mlp_act = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%mlp_c_fc_add : tensor<3x7xf32>) outs(%o : tensor<3x7xf32>) attrs ={{ +}}{stc.module = "mlp.act", stc.name = "mlp_act"} {
// CHECK-NEXT: ^bb0(%9: f32, %10: f32):
// CHECK-NEXT: %11 = math.tanh %9 : f32
// CHECK-NEXT: %12 = arith.mulf %11, %9 : f32
// CHECK-NEXT: linalg.yield %12 : f32
// CHECK-NEXT: } -> tensor<3x7xf32>
// CHECK-NEXT: %ln_sum = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%f : tensor<3xf32>) attrs ={{ +}}{stc.module = "ln", stc.name = "ln_sum"} {
// CHECK-NEXT: ^bb0(%13: f32, %14: f32):
// CHECK-NEXT: %15 = arith.addf %13, %14 : f32
// CHECK-NEXT: linalg.yield %15 : f32
// CHECK-NEXT: } -> tensor<3xf32>
// CHECK-NEXT: %ln_mean = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel"]} ins(%ln_sum : tensor<3xf32>) outs(%f : tensor<3xf32>) attrs ={{ +}}{stc.module = "ln", stc.name = "ln_mean"} {
// CHECK-NEXT: ^bb0(%16: f32, %17: f32):
// CHECK-NEXT: %18 = arith.constant 5.000000e+00 : f32
// CHECK-NEXT: %19 = arith.divf %16, %18 : f32
// CHECK-NEXT: linalg.yield %19 : f32
// CHECK-NEXT: } -> tensor<3xf32>
// CHECK-NEXT: %ln_sum_square0 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%f : tensor<3xf32>) attrs ={{ +}}{stc.module = "ln", stc.name = "ln_sum_square0"} {
// CHECK-NEXT: ^bb0(%20: f32, %21: f32):
// CHECK-NEXT: %22 = arith.mulf %20, %20 : f32
// CHECK-NEXT: %23 = arith.addf %22, %21 : f32
// CHECK-NEXT: linalg.yield %23 : f32
// CHECK-NEXT: } -> tensor<3xf32>
// CHECK-NEXT: %ln_sum_square1 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%f : tensor<3xf32>) attrs ={{ +}}{stc.module = "ln", stc.name = "ln_sum_square1"} {
// CHECK-NEXT: ^bb0(%24: f32, %25: f32):
// CHECK-NEXT: %26 = arith.mulf %24, %24 : f32
// CHECK-NEXT: %27 = arith.addf %26, %25 : f32
// CHECK-NEXT: linalg.yield %27 : f32
// CHECK-NEXT: } -> tensor<3xf32>
// CHECK-NEXT: func.return %mlp_act, %ln_sum_square0, %ln_sum_square1 : tensor<3x7xf32>, tensor<3xf32>, tensor<3xf32>
