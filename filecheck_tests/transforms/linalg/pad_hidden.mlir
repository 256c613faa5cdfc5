// RUN: stc-opt %s -p 'pad-hidden{format="bits=8,group=4" tasks=12 port-bits=32}' --check-semantics=7 | filecheck %s

// Of 32 words of four rows 8 tasks have eight groups each, of 33 11 tasks have six: so four rows of zeros follow, and what is between
// has a zero more for each.
#activations = affine_map<(n, k) -> (k)>
#weights = affine_map<(n, k) -> (k, n)>
#sums = affine_map<(n, k) -> (n)>
#each = affine_map<(n) -> (n)>
func.func @main(%x: tensor<8xf32>, %up: tensor<8x128xf32> {stc.parameter}, %down: tensor<128x4xf32> {stc.parameter}) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128xf32>) -> tensor<128xf32>
  %h = linalg.generic {indexing_maps = [#activations, #weights, #sums], iterator_types = ["parallel", "reduction"]}
      ins(%x, %up : tensor<8xf32>, tensor<8x128xf32>) outs(%f : tensor<128xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<128xf32>
  %r = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]} ins(%h : tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.tanh %a : f32  linalg.yield %t : f32
  } -> tensor<128xf32>
  %e1 = tensor.empty() : tensor<4xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#activations, #weights, #sums], iterator_types = ["parallel", "reduction"]}
      ins(%r, %down : tensor<128xf32>, tensor<128x4xf32>) outs(%f1 : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @main(
// CHECK: %[[ROWS:.*]] = linalg.fill {{.*}} -> tensor<8x4xf32>
// CHECK-NEXT: %[[UP:.*]] = tensor.concat dim(1) %up, %[[ROWS]] : (tensor<8x128xf32>, tensor<8x4xf32>) -> tensor<8x132xf32>
// CHECK: %h = linalg.generic {{.*}} ins(%x, %[[UP]] : tensor<8xf32>, tensor<8x132xf32>) outs(%{{.*}} : tensor<132xf32>)
// CHECK: %r = linalg.generic {{.*}} ins(%h : tensor<132xf32>) outs(%{{.*}} : tensor<132xf32>)
// CHECK: %[[COLUMNS:.*]] = linalg.fill {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: %[[DOWN:.*]] = tensor.concat dim(0) %down, %[[COLUMNS]] : (tensor<128x4xf32>, tensor<4x4xf32>) -> tensor<132x4xf32>
// CHECK: %y = linalg.generic {{.*}} ins(%r, %[[DOWN]] : tensor<132xf32>, tensor<132x4xf32>)
