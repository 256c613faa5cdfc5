// RUN: stc-opt %s -p 'tile-linalg{only=fold-insert-into-slice}' --allow-unregistered-dialect | filecheck %s

// A tile that is inserted into a slice, which goes back to where it came from, is inserted into the tensor.
func.func @f(%zero: tensor<4xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
  %y = scf.for %i = %c0 to %c8 step %c4 iter_args(%o = %out) -> (tensor<8xf32>) {
    %part = tensor.extract_slice %o[%i] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %t = "test.op"() : () -> tensor<2xf32>
    %n = tensor.insert_slice %t into %part[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
    %w = tensor.insert_slice %n into %o[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
    scf.yield %w : tensor<8xf32>
  }
  func.return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @f(
// CHECK: %y = scf.for %i = %c0 to %c8 step %c4 iter_args(%o = %out) -> (tensor<8xf32>) {
// CHECK-NEXT: %t = "test.op"() : () -> tensor<2xf32>
// CHECK: %[[ADDI:.*]] = arith.addi %i, %c2 : index
// CHECK-NEXT: %w = tensor.insert_slice %t into %o[%[[ADDI]]] [2] [1] : tensor<2xf32> into tensor<8xf32>
// CHECK-NEXT: scf.yield %w : tensor<8xf32>
// CHECK: func.return %y : tensor<8xf32>
