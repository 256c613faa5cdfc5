// RUN: stc-opt %s -p trim-boundaries --split-input-file --allow-unregistered-dialect | filecheck %s

// A tensor enters once, in the order of the first operand without its temporal reuse; readers get their own orders.
!S = !itensor.itensor<1xf32, iter_space: [2, 4] * [1, 1], iter_map: (d0, d1) -> (d1)>
!T = !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
func.func @once(%x: tensor<4xf32>) {
  "dataflow.kernel"(%x, %x) <{sym_name = "a"}> ({
  ^bb0(%p: !S, %q: !T):
    "test.op"(%p, %q) : (!S, !T) -> ()
    dataflow.yield
  }) : (tensor<4xf32>, tensor<4xf32>) -> ()
  func.return
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<1xf32, iter_space: [2, 4] * [1, 1], iter_map: (d0, d1) -> (d1)>
// CHECK: !itensor2 = !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @once(
// CHECK-NEXT: dataflow.kernel @a(%p = %x : tensor<4xf32> as !itensor) {
// CHECK-NEXT: %[[P:.*]] = itensor.reorder %p : !itensor to !itensor1
// CHECK-NEXT: %q = itensor.reorder %p : !itensor to !itensor2
// CHECK-NEXT: "test.op"(%[[P]], %q) : (!itensor1, !itensor2) -> ()
// CHECK: func.return

// -----

// Three operands of one type become one, without a reorder; scalars as well.
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @alike(%x: tensor<4xf32>, %n: index) {
  "dataflow.kernel"(%x, %n, %x, %n, %x) <{sym_name = "a"}> ({
  ^bb0(%p: !S, %i: index, %q: !S, %j: index, %r: !S):
    "test.op"(%p, %q, %r, %i, %j) : (!S, !S, !S, index, index) -> ()
    dataflow.yield
  }) : (tensor<4xf32>, index, tensor<4xf32>, index, tensor<4xf32>) -> ()
  func.return
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @alike(
// CHECK-NEXT: dataflow.kernel @a(%p = %x : tensor<4xf32> as !itensor, %i = %n : index) {
// CHECK-NEXT: "test.op"(%p, %p, %p, %i, %i) : (!itensor, !itensor, !itensor, index, index) -> ()
// CHECK: func.return

// -----

// A reorder that is there already takes the tensor as it enters now.
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
!T = !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
func.func @reordered(%x: tensor<4xf32>) {
  "dataflow.kernel"(%x, %x) <{sym_name = "a"}> ({
  ^bb0(%p: !S, %q: !T):
    %t = itensor.reorder %q : !T to !T
    "test.op"(%p, %t) : (!S, !T) -> ()
    dataflow.yield
  }) : (tensor<4xf32>, tensor<4xf32>) -> ()
  func.return
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @reordered(
// CHECK-NEXT: dataflow.kernel @a(%p = %x : tensor<4xf32> as !itensor) {
// CHECK-NEXT: %t = itensor.reorder %p : !itensor to !itensor1
// CHECK-NEXT: "test.op"(%p, %t) : (!itensor, !itensor1) -> ()
// CHECK: func.return

// -----

// A result that nobody uses does not leave.
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a, %b = dataflow.kernel @a(%p = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S, tensor<4xf32> as !S) group @acc {
    dataflow.yield %p, %p : !S, !S
  }
  func.return %b : tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @unused(
// CHECK-NEXT: %b = dataflow.kernel @a(%p = %x : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) group @acc {
// CHECK-NEXT: dataflow.yield %p : !itensor
// CHECK: func.return %b : tensor<4xf32>
