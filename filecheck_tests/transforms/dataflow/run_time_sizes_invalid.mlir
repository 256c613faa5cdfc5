// RUN: stc-opt %s -p 'merge-kernels,insert-converters,vectorize-streams' --split-input-file --verify-diagnostics

// What needs integers refuses sizes that are known at run time, by the name of the pass.
!x = !itensor.itensor<1x16xf32, iter_space: [pos<=5, 2] * [1, 16], iter_map: (d0, d1) -> (d0, d1)>
!y = !itensor.itensor<1x16xf32, iter_space: [2, pos<=5] * [16, 1], iter_map: (d0, d1) -> (d1, d0)>
// expected-error @unknown {{pass 'insert-converters': size pos<=5 is symbolic, expected an integer; accepted: integer sizes, of which alone this pass knows}}
func.func @main(%x: tensor<5x32xf32>, %p: i32) -> tensor<5x32xf32> {
  %y = dataflow.kernel @main(%a = %x : tensor<5x32xf32> as !x, %pos = %p : i32 as !itensor.symbol<pos<=5>) -> (tensor<5x32xf32> as !y) {
    %b = itensor.reorder %a : !x to !y
    dataflow.yield %b : !y
  }
  func.return %y : tensor<5x32xf32>
}

// -----

!x = !itensor.itensor<1x16xf32, iter_space: [pos<=5] * [1], iter_map: (d0) -> (d0, 0)>
!y = !itensor.itensor<1x16xf32, iter_space: [pos<=5, 2] * [1, 16], iter_map: (d0, d1) -> (d0, d1)>
// expected-error @unknown {{pass 'vectorize-streams': size pos<=5 is symbolic, expected an integer}}
func.func @main(%x: tensor<5x16xf32>, %z: tensor<5x16xf32>, %p: i32) -> tensor<5x32xf32> {
  %y = dataflow.kernel @main(%a = %x : tensor<5x16xf32> as !x, %b = %z : tensor<5x16xf32> as !x, %pos = %p : i32 as !itensor.symbol<pos<=5>) -> (tensor<5x32xf32> as !y) {
    %m = itensor.merge %a, %b : !x, !x to !y
    dataflow.yield %m : !y
  }
  func.return %y : tensor<5x32xf32>
}

// -----

// A symbol is one scalar, in all kernels that become one.
!x = !itensor.itensor<1x16xf32, iter_space: [pos<=5] * [1], iter_map: (d0) -> (d0, 0)>
// expected-error @unknown {{pass 'merge-kernels': kernels @f and @g: symbol 'pos' stands for two scalars; accepted: one scalar for a symbol}}
func.func @main(%x: tensor<5x16xf32>, %p: i32, %q: i32) -> (tensor<5x16xf32>) {
  %h = dataflow.kernel @f(%a = %x : tensor<5x16xf32> as !x, %pos = %p : i32 as !itensor.symbol<pos<=5>) -> (tensor<5x16xf32> as !x) group @main {
    dataflow.yield %a : !x
  }
  %y = dataflow.kernel @g(%b = %h : tensor<5x16xf32> as !x, %pos = %q : i32 as !itensor.symbol<pos<=5>) -> (tensor<5x16xf32> as !x) group @main {
    dataflow.yield %b : !x
  }
  func.return %y : tensor<5x16xf32>
}
