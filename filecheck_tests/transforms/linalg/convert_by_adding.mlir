// RUN: stc-opt %s -p convert-by-adding --check-semantics=3 | filecheck %s

// An activation is rounded to int8 by adding 1.5 * 2^23, cut off before, and a sum of 16 products of 8 bits made a float so.
// SHOW: (arith|math)\.\w+ .*|linalg.yield .*
#v = affine_map<(d0) -> (d0)>
#s = affine_map<(d0) -> ()>
func.func @main(%x: tensor<16xf32>, %w: tensor<16xi8>) -> tensor<f32> {
  %e = tensor.empty() : tensor<16xi8>
  %q = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%x : tensor<16xf32>) outs(%e : tensor<16xi8>) {
  ^bb0(%a: f32, %b: i8):
    %most = arith.constant 127.0 : f32
    %least = arith.constant -127.0 : f32
    %r = math.roundeven %a : f32
    %n = arith.minnumf %r, %most : f32
    %m = arith.maxnumf %n, %least : f32
    %i = arith.fptosi %m : f32 to i8
    linalg.yield %i : i8
  } -> tensor<16xi8>
  %zero = arith.constant 0 : i32
  %f = tensor.empty() : tensor<i32>
  %g = linalg.fill ins(%zero : i32) outs(%f : tensor<i32>) -> tensor<i32>
  %sum = linalg.generic {indexing_maps = [#v, #v, #s], iterator_types = ["reduction"]} ins(%q, %w : tensor<16xi8>, tensor<16xi8>) outs(%g : tensor<i32>) {
  ^bb0(%a: i8, %b: i8, %c: i32):
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %c, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<i32>
  %h = tensor.empty() : tensor<f32>
  %y = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%sum : tensor<i32>) outs(%h : tensor<f32>) {
  ^bb0(%a: i32, %b: f32):
    %0 = arith.sitofp %a : i32 to f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  func.return %y : tensor<f32>
}

// CHECK-LABEL: func.func @main(
// CHECK: %most = arith.constant 1.270000e+02 : f32
// CHECK-NEXT: %least = arith.constant -1.270000e+02 : f32
// CHECK-NEXT: %n = arith.minnumf %a, %most : f32
// CHECK-NEXT: %m = arith.maxnumf %n, %least : f32
// CHECK-NEXT: %i = arith.constant 0x4B400000 : f32
// CHECK-NEXT: %[[I:.*]] = arith.addf %m, %i : f32
// CHECK-NEXT: %[[I1:.*]] = arith.bitcast %[[I]] : f32 to i32
// CHECK-NEXT: %[[I2:.*]] = arith.trunci %[[I1]] : i32 to i8
// CHECK-NEXT: linalg.yield %[[I2]] : i8
// CHECK: arith.constant 0 : i32
// CHECK: %[[EXTSI:.*]] = arith.extsi %a_{{.*}} : i8 to i32
// CHECK-NEXT: %[[EXTSI1:.*]] = arith.extsi %b_{{.*}} : i8 to i32
// CHECK-NEXT: %[[MULI:.*]] = arith.muli %[[EXTSI]], %[[EXTSI1]] : i32
// CHECK-NEXT: %[[ADDI:.*]] = arith.addi %c, %[[MULI]] : i32
// CHECK-NEXT: linalg.yield %[[ADDI]] : i32
// CHECK: %[[CONSTANT:.*]] = arith.constant 1262485504 : i32
// CHECK-NEXT: %[[CONSTANT1:.*]] = arith.constant 0x4B400000 : f32
// CHECK-NEXT: %[[ADDI1:.*]] = arith.addi %a_{{.*}}, %[[CONSTANT]] : i32
// CHECK-NEXT: %[[BITCAST:.*]] = arith.bitcast %[[ADDI1]] : i32 to f32
// CHECK-NEXT: %[[SUBF:.*]] = arith.subf %[[BITCAST]], %[[CONSTANT1]] : f32
// CHECK-NEXT: linalg.yield %[[SUBF]] : f32
