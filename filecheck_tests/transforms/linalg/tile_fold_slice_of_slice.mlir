// RUN: stc-opt %s -p 'tile-linalg{only=fold-slice-of-slice}' --allow-unregistered-dialect | filecheck %s

// A slice of a slice is one of the tensor; slices at the top of the function, which become kernels, stay.
func.func @f(%zero: tensor<4xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
  %half = tensor.extract_slice %out[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %y = scf.for %i = %c0 to %c4 step %c2 iter_args(%o = %out) -> (tensor<8xf32>) {
    %a = tensor.extract_slice %half[%i] [2] [1] : tensor<4xf32> to tensor<2xf32>
    %b = tensor.extract_slice %a[1] [1] [1] : tensor<2xf32> to tensor<1xf32>
    "test.op"(%b) : (tensor<1xf32>) -> ()
    scf.yield %o : tensor<8xf32>
  }
  func.return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @f(
// CHECK: %half = tensor.extract_slice %out[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
// CHECK-NEXT: %y = scf.for %i = %c0 to %c4 step %c2 iter_args(%o = %out) -> (tensor<8xf32>) {
// CHECK: %[[ADDI:.*]] = arith.addi %i, %c1 : index
// CHECK-NEXT: %b = tensor.extract_slice %half[%[[ADDI]]] [1] [1] : tensor<4xf32> to tensor<1xf32>
// CHECK-NEXT: "test.op"(%b) : (tensor<1xf32>) -> ()
// CHECK-NEXT: scf.yield %o : tensor<8xf32>
// CHECK: func.return %y : tensor<8xf32>
