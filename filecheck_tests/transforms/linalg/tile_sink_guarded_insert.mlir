// RUN: stc-opt %s -p 'tile-linalg{only=sink-guarded-insert}' --allow-unregistered-dialect | filecheck %s

// What is written in the last step of k is written tile by tile, at the sum of both offsets.
func.func @f(%zero: tensor<4xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
  %s, %y = scf.for %k = %c0 to %c4 step %c1 iter_args(%acc = %zero, %o = %out) -> (tensor<4xf32>, tensor<8xf32>) {
    %new = scf.for %j = %c0 to %c4 step %c2 iter_args(%a = %acc) -> (tensor<4xf32>) {
      %t = "test.op"(%a, %k) : (tensor<4xf32>, index) -> tensor<2xf32>
      %n = tensor.insert_slice %t into %a[%j] [2] [1] : tensor<2xf32> into tensor<4xf32>
      scf.yield %n : tensor<4xf32>
    }
    %is_last = arith.cmpi eq, %k, %c2 : index
    %w = scf.if %is_last -> (tensor<8xf32>) {
      %m = tensor.insert_slice %new into %o[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
      scf.yield %m : tensor<8xf32>
    } else { scf.yield %o : tensor<8xf32> }
    scf.yield %new, %w : tensor<4xf32>, tensor<8xf32>
  }
  func.return %y : tensor<8xf32>
}

// CHECK-LABEL: @f(
// CHECK: scf.for %k = {{.*}} iter_args(%acc = %zero, %o = %out)
// CHECK-NEXT: %new, %w = scf.for %j = {{.*}} iter_args(%a = %acc, [[TO:%.*]] = %o)
// CHECK: %n = tensor.insert_slice %t into %a[%j]
// CHECK: [[AT:%.*]] = arith.addi %c4{{.*}}, %j
// CHECK-NEXT: [[W:%.*]] = scf.if %is_last
// CHECK-NEXT: tensor.insert_slice %t into [[TO]][[[AT]]] [2] [1]
// CHECK: scf.yield [[TO]]
// CHECK: scf.yield %n, [[W]]
// CHECK: scf.yield %new, %w
