// RUN: stc-opt %s -p 'tile-linalg{only=write-in-last-step}' --allow-unregistered-dialect | filecheck %s

// The sums over k of a tile i are put together tile by tile: the loop over k carries the result too, and writes at its end.
func.func @f(%zero: tensor<4xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
  %y = scf.for %i = %c0 to %c8 step %c4 iter_args(%o = %out) -> (tensor<8xf32>) {
    %sums = scf.for %k = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (tensor<4xf32>) {
      %new = scf.for %j = %c0 to %c4 step %c2 iter_args(%a = %acc) -> (tensor<4xf32>) {
        %t = "test.op"(%a, %k) : (tensor<4xf32>, index) -> tensor<2xf32>
        %n = tensor.insert_slice %t into %a[%j] [2] [1] : tensor<2xf32> into tensor<4xf32>
        scf.yield %n : tensor<4xf32>
      }
      scf.yield %new : tensor<4xf32>
    }
    %w = tensor.insert_slice %sums into %o[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
    scf.yield %w : tensor<8xf32>
  }
  func.return %y : tensor<8xf32>
}

// CHECK-LABEL: @f(
// CHECK: scf.for %i = {{.*}} iter_args(%o = %out)
// CHECK-NEXT: %sums, %w = scf.for %k = {{.*}} iter_args(%acc = %zero, [[TO:%.*]] = %o)
// CHECK: [[LAST:%.*]] = arith.cmpi eq, %k, %c3
// CHECK-NEXT: [[W:%.*]] = scf.if [[LAST]]
// CHECK-NEXT: tensor.insert_slice %new into [[TO]][%i] [4] [1]
// CHECK: scf.yield [[TO]]
// CHECK: scf.yield %new, [[W]]
// CHECK: scf.yield %w
