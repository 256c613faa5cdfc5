// RUN: stc-opt %s -p flatten-tasks --split-input-file --allow-unregistered-dialect | filecheck %s

// Two levels of tasks of tasks, a value of its own between two of them, and a name that is used outside.
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) {
    %e = itensor.empty : !S
    %r = dataflow.task @outer ins(%p = %a : !S) outs(%o = %e : !S) -> !S {
      %h = itensor.empty : !S
      %s = dataflow.task @middle ins(%q = %p : !S) outs(%n = %h : !S) -> !S {
        %i = dataflow.task @inner ins(%v = %q : !S) outs(%w = %n : !S) -> !S { dataflow.yield %w : !S }
        dataflow.yield %i : !S
      }
      %t = dataflow.task @inner ins(%q = %s : !S) outs(%n = %o : !S) -> !S { dataflow.yield %n : !S }
      dataflow.yield %t : !S
    }
    dataflow.yield %r : !S
  }
  func.return %y : tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @nested(
// CHECK-NEXT: %y = dataflow.kernel @k(%a = %x : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) {
// CHECK-NEXT: %e = itensor.empty : !itensor
// CHECK-NEXT: %h = itensor.empty : !itensor
// CHECK-NEXT: %s = dataflow.task @inner_2 ins(%v = %a : !itensor) outs(%w = %h : !itensor) -> !itensor {
// CHECK-NEXT: dataflow.yield %w : !itensor
// CHECK: %r = dataflow.task @inner ins(%q = %s : !itensor) outs(%n = %e : !itensor) -> !itensor {
// CHECK-NEXT: dataflow.yield %n : !itensor
// CHECK: dataflow.yield %r : !itensor
// CHECK: func.return %y : tensor<4xf32>

// -----

// A constant goes into the tasks that take it; a scalar of the kernel stays an operand.
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @scalars(%i: index) {
  dataflow.kernel @k(%n = %i : index) {
    dataflow.task @outer ins(%m = %n : index) {
      %c = arith.constant 3 : index
      dataflow.task @a ins(%p = %c : index, %q = %m : index, %r = %c : index) {
        "test.op"(%p, %q, %r) : (index, index, index) -> ()
        dataflow.yield
      }
      dataflow.yield
    }
    dataflow.yield
  }
  func.return
}

// CHECK-LABEL: func.func @scalars(
// CHECK-NEXT: dataflow.kernel @k(%n = %i : index) {
// CHECK-NEXT: dataflow.task @a ins(%q = %n : index) {
// CHECK-NEXT: %c = arith.constant 3 : index
// CHECK-NEXT: "test.op"(%c, %q, %c) : (index, index, index) -> ()
// CHECK: func.return
