// RUN: stc-opt %s -p 'tile-linalg{only=carry-whole-tensor}' --allow-unregistered-dialect | filecheck %s

// A loop whose result is put back where it started from carries the whole tensor, and takes the slice itself.
// SHOW: scf.for .*\) ...|slice|test|scf.yield .* : ...
func.func @f(%zero: tensor<4xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
  %y = scf.for %i = %c0 to %c8 step %c4 iter_args(%o = %out) -> (tensor<8xf32>) {
    %part = tensor.extract_slice %o[%i] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %new = scf.for %j = %c0 to %c4 step %c2 iter_args(%a = %part) -> (tensor<4xf32>) {
      %t = "test.op"(%a) : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %t : tensor<4xf32>
    }
    %w = tensor.insert_slice %new into %o[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
    scf.yield %w : tensor<8xf32>
  }
  func.return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @f(
// CHECK: scf.for %i = %c0 to %c8 step %c4 iter_args(%o = %out) -> (tensor<8xf32>)
// CHECK-NEXT: %new = scf.for %j = %c0 to %c4 step %c2 iter_args(%a = %o) -> (tensor<8xf32>)
// CHECK-NEXT: %[[A:.*]] = tensor.extract_slice %a[%i] [4] [1] : tensor<8xf32> to tensor<4xf32>
// CHECK-NEXT: %t = "test.op"(%[[A]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[INSERT_SLICE:.*]] = tensor.insert_slice %t into %a[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
// CHECK-NEXT: scf.yield %[[INSERT_SLICE]] :
// CHECK: scf.yield %new :
