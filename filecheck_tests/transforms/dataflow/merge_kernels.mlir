// RUN: stc-opt %s -p merge-kernels --split-input-file | filecheck %s

// Where the later kernel takes what the earlier one made, its order is a reorder of it.
!S = !itensor.itensor<2x1xf32, iter_space: [2, 4] * [2, 1], iter_map: (d0, d1) -> (d0, d1)>
!T = !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
func.func @edge(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = dataflow.kernel @a(%p = %x : tensor<4x4xf32> as !S) -> (tensor<4x4xf32> as !S) group @acc { dataflow.yield %p : !S }
  %b = dataflow.kernel @b(%p = %a : tensor<4x4xf32> as !T) -> (tensor<4x4xf32> as !T) group @acc { dataflow.yield %p : !T }
  func.return %b : tensor<4x4xf32>
}

// CHECK: !itensor = !itensor.itensor<2x1xf32, iter_space: [2, 4] * [2, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK-LABEL: func.func @edge(
// CHECK-NEXT: %a, %b = dataflow.kernel @acc(%[[X:.*]] = %x : tensor<4x4xf32> as !itensor) -> (tensor<4x4xf32> as !itensor, tensor<4x4xf32> as !itensor1) {
// CHECK-NEXT: %[[B:.*]] = itensor.reorder %[[X]] : !itensor to !itensor1
// CHECK-NEXT: dataflow.yield %[[X]], %[[B]] : !itensor, !itensor1
// CHECK: func.return %b : tensor<4x4xf32>

// -----

// A shared input is two operands; each stream of the later kernel is a reorder, though of its own type.
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @shared(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = dataflow.kernel @a(%p = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) group @acc { dataflow.yield %p : !S }
  %b = dataflow.kernel @b(%p = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) group @acc { dataflow.yield %p : !S }
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @shared(
// CHECK-NEXT: %a, %b = dataflow.kernel @acc(%[[X:.*]] = %x : tensor<4xf32> as !itensor, %[[X1:.*]] = %x : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor, tensor<4xf32> as !itensor) {
// CHECK-NEXT: %[[B:.*]] = itensor.reorder %[[X1]] : !itensor to !itensor
// CHECK-NEXT: dataflow.yield %[[X]], %[[B]] : !itensor, !itensor
// CHECK: func.return %a, %b : tensor<4xf32>, tensor<4xf32>

// -----

// Work of the host and another kernel that take the first result stand behind the merged kernel, in their order.
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @fed(%x: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = dataflow.kernel @a(%p = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) group @acc { dataflow.yield %p : !S }
  %e = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %c = dataflow.kernel @c(%p = %a : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) group @other { dataflow.yield %p : !S }
  %b = dataflow.kernel @b(%p = %a : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) group @acc { dataflow.yield %p : !S }
  func.return %e, %b, %c : tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @fed(
// CHECK-NEXT: %a, %b = dataflow.kernel @acc(%[[X:.*]] = %x : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor, tensor<4xf32> as !itensor) {
// CHECK-NEXT: %[[B:.*]] = itensor.reorder %[[X]] : !itensor to !itensor
// CHECK-NEXT: dataflow.yield %[[X]], %[[B]] : !itensor, !itensor
// CHECK: %e = tensor.expand_shape %a {{\[\[}}0 : i64, 1 : i64]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
// CHECK-NEXT: %c = dataflow.kernel @other(%[[A:.*]] = %a : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) {
// CHECK-NEXT: dataflow.yield %[[A]] : !itensor
// CHECK: func.return %e, %b, %c : tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>

// -----

// The first and the third kernel have a path through the second: first it merges with one of them.
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @row(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = dataflow.kernel @a(%p = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) group @acc { dataflow.yield %p : !S }
  %b = dataflow.kernel @b(%p = %a : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) group @acc { dataflow.yield %p : !S }
  %c = dataflow.kernel @c(%p = %b : tensor<4xf32> as !S, %q = %a : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) group @acc {
    dataflow.yield %q : !S
  }
  func.return %c : tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @row(
// CHECK-NEXT: %a, %b, %c = dataflow.kernel @acc(%[[X:.*]] = %x : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor, tensor<4xf32> as !itensor, tensor<4xf32> as !itensor) {
// CHECK-NEXT: %[[B:.*]] = itensor.reorder %[[X]] : !itensor to !itensor
// CHECK-NEXT: %p = itensor.reorder %[[B]] : !itensor to !itensor
// CHECK-NEXT: %[[C:.*]] = itensor.reorder %[[X]] : !itensor to !itensor
// CHECK-NEXT: dataflow.yield %[[X]], %[[B]], %[[C]] : !itensor, !itensor, !itensor
// CHECK: func.return %c : tensor<4xf32>

// -----

// Tasks of one name are numbered.
// SHOW: task|reorder
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @names(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = dataflow.kernel @a(%p = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) group @acc {
    %e = itensor.empty : !S
    %r = dataflow.task @t ins(%q = %p : !S) outs(%o = %e : !S) -> !S { dataflow.yield %o : !S }
    dataflow.yield %r : !S
  }
  %b = dataflow.kernel @b(%p = %a : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) group @acc {
    %e = itensor.empty : !S
    %r = dataflow.task @t ins(%q = %p : !S) outs(%o = %e : !S) -> !S { dataflow.yield %o : !S }
    dataflow.yield %r : !S
  }
  func.return %b : tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @names(
// CHECK: %[[A:.*]] = dataflow.task @t ins(%q = %x_{{.*}} : !itensor) outs(%o = %e : !itensor) -> !itensor {
// CHECK: %p = itensor.reorder %[[A]] : !itensor to !itensor
// CHECK: dataflow.task @t_2 ins(%q = %p : !itensor) outs(%o = %e_{{.*}} : !itensor) -> !itensor {
