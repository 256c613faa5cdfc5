// RUN: stc-opt %s -p size-streams --split-input-file | filecheck %s
// RUN: stc-opt %s -p size-streams,verify-streams --split-input-file | filecheck %s --check-prefix=PROVED

// Rows of a table behind which one more comes: loops and streams are as long as `pos` says, and the concatenation one longer.
!table = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!row = !itensor.itensor<1x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
!all = !itensor.itensor<1x4xf32, iter_space: [7] * [1], iter_map: (d0) -> (d0, 0)>
func.func @main(%x: tensor<6x4xf32> {stc.sizes = [#itensor.size<pos<=6>, #itensor.size<4>]}, %r: tensor<1x4xf32>,
                %p: i32 {stc.name = "pos"}) -> tensor<7x4xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<6x4xf32> as !table, %b = %r : tensor<1x4xf32> as !row) -> (tensor<7x4xf32> as !all) {
    %c = itensor.concat %a, %b at [0, 0], [6, 0] : !table, !row to !all
    %e = itensor.empty : !all
    %t = dataflow.task @t ins(%in = %c : !all) outs(%out = %e : !all) -> !all {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c7 = arith.constant 7 : index
      %f = scf.for %i = %c0 to %c7 step %c1 iter_args(%o = %out) -> (!all) {
        %v = itensor.read %in[%i] : !all -> tensor<1x4xf32>
        %w = itensor.write %v into %o[%i] : tensor<1x4xf32> -> !all
        scf.yield %w : !all
      }
      dataflow.yield %f : !all
    }
    dataflow.yield %t : !all
  }
  func.return %y : tensor<7x4xf32>
}
// CHECK-DAG:   !itensor = !itensor.itensor<1x4xf32, iter_space: [pos<=6] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK-DAG:   !itensor2 = !itensor.itensor<1x4xf32, iter_space: [sum(pos<=6, 1)] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK:       dataflow.kernel @k({{.*}} as !itensor, {{.*}}, %pos = %p : i32 as !itensor.symbol<pos<=6>)
// CHECK-NEXT:  itensor.concat {{.*}} at [0, 0], [pos<=6, 0] : !itensor, !itensor1 to !itensor2
// CHECK:       dataflow.task @t ins({{.*}}, %[[POS:.*]] = %pos : !itensor.symbol<pos<=6>)
// CHECK:       %[[N:.*]] = itensor.size sum(pos<=6, 1) of %[[POS]]
// CHECK-NEXT:  scf.for %i = %c0 to %[[N]]
// PROVED:      itensor.concat {{.*}} at [0, 0], [pos<=6, 0]

// -----

// Without a size nothing changes; memory keeps what it has at the largest sizes.
!table = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
func.func @main(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<6x4xf32> as !table) -> (tensor<6x4xf32> as !table) {
    dataflow.yield %a : !table
  }
  func.return %y : tensor<6x4xf32>
}
// CHECK:       iter_space: [6]
// CHECK-NOT:   symbol

// -----

// Through a reshape that adds a dimension of one entry, and a fork.
!table = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
func.func @main(%x: tensor<1x6x4xf32> {stc.sizes = [#itensor.size<1>, #itensor.size<min(pos<=9, 6)>, #itensor.size<4>]},
                %p: i32 {stc.name = "pos"}) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
  %z = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x6x4xf32> into tensor<6x4xf32>
  %y, %u = dataflow.kernel @k(%a = %z : tensor<6x4xf32> as !table) -> (tensor<6x4xf32> as !table, tensor<6x4xf32> as !table) {
    %b, %c = itensor.fork %a : !table to !table, !table
    dataflow.yield %b, %c : !table, !table
  }
  func.return %y, %u : tensor<6x4xf32>, tensor<6x4xf32>
}
// CHECK:       iter_space: [min(pos<=9, 6)] * [1]
// CHECK:       itensor.fork %a : !itensor to !itensor, !itensor
