// RUN: stc-opt %s -p 'insert-forks' --split-input-file | filecheck %s

// An input of the kernel with two readers, one of them the yield.
// SHOW: kernel|itensor.fork|dataflow.task|converter|^      dataflow.yield
!X = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @input(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a, %b = dataflow.kernel @k(%p = %x : tensor<8xf32> as !X) -> (tensor<8xf32> as !X, tensor<8xf32> as !X) {
    %c = itensor.cast %p : !X to !X
    dataflow.yield %c, %p : !X, !X
  }
  func.return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// CHECK: !itensor = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @input(
// CHECK-NEXT: dataflow.kernel @k(%p = %x : tensor<8xf32> as !itensor) -> (tensor<8xf32> as !itensor, tensor<8xf32> as !itensor) {
// CHECK-NEXT: itensor.fork %p : !itensor to !itensor, !itensor

// -----

// One op that reads a value twice, and a third reader: branches in the order of the readers.
// SHOW: kernel|itensor.fork|dataflow.task|converter|^      dataflow.yield
!X = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!Y = !itensor.itensor<4xf32, iter_space: [4] * [4], iter_map: (d0) -> (d0)>
func.func @twice(%x: tensor<8xf32>) -> (tensor<16xf32>, tensor<8xf32>) {
  %a, %b = dataflow.kernel @k(%p = %x : tensor<8xf32> as !X) -> (tensor<16xf32> as !Y, tensor<8xf32> as !X) {
    %q = itensor.cast %p : !X to !X
    %c = itensor.concat %q, %q at [0], [8] : !X, !X to !Y
    dataflow.yield %c, %q : !Y, !X
  }
  func.return %a, %b : tensor<16xf32>, tensor<8xf32>
}

// CHECK: !itensor = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<4xf32, iter_space: [4] * [4], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @twice(
// CHECK-NEXT: dataflow.kernel @k(%p = %x : tensor<8xf32> as !itensor) -> (tensor<16xf32> as !itensor1, tensor<8xf32> as !itensor) {
// CHECK: itensor.fork %q : !itensor to !itensor, !itensor, !itensor

// -----

// One reader each: nothing to do. Scalars are read by whoever likes.
// SHOW: kernel|itensor.fork|dataflow.task|converter|^      dataflow.yield
!X = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @none(%x: tensor<8xf32>, %i: index) -> tensor<8xf32> {
  %a = dataflow.kernel @k(%p = %x : tensor<8xf32> as !X, %s = %i : index) -> (tensor<8xf32> as !X) {
    %q = itensor.cast %p : !X to !X
    dataflow.yield %q : !X
  }
  func.return %a : tensor<8xf32>
}

// CHECK: !itensor = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @none(
// CHECK-NEXT: dataflow.kernel @k(%p = %x : tensor<8xf32> as !itensor, %s = %i : index) -> (tensor<8xf32> as !itensor) {
