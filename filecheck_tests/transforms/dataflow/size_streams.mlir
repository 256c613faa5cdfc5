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

// Heads of two caches, behind one another, with as many rows as there are.
!half = !itensor.itensor<1x1xf32, iter_space: [2, 6] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!both = !itensor.itensor<1x1xf32, iter_space: [4, 6] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<2x6xf32> {stc.sizes = [#itensor.size<2>, #itensor.size<pos<=6>]}, %p: i32 {stc.name = "pos"}) -> tensor<4x6xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<2x6xf32> as !half, %b = %x : tensor<2x6xf32> as !half) -> (tensor<4x6xf32> as !both) {
    %c = itensor.concat %a, %b at [0, 0], [2, 0] : !half, !half to !both
    dataflow.yield %c : !both
  }
  func.return %y : tensor<4x6xf32>
}
// CHECK-DAG:   ![[HALF:.*]] = !itensor.itensor<1x1xf32, iter_space: [2, pos<=6] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-DAG:   ![[BOTH:.*]] = !itensor.itensor<1x1xf32, iter_space: [4, pos<=6] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK:       itensor.concat {{.*}} at [0, 0], [2, 0] : ![[HALF]], ![[HALF]] to ![[BOTH]]
// PROVED:      itensor.concat {{.*}} at [0, 0], [2, 0]

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

// -----

// A row again for each of 3 queries, as often as there are rows, from a converter; the sums of the queries leave in the last row.
!rows = !itensor.itensor<1x4xf32, iter_space: [7] * [1], iter_map: (d0) -> (d0, 0)>
!once = !itensor.itensor<1x4xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
!again = !itensor.itensor<1x4xf32, iter_space: [7, 3] * [1, 1], iter_map: (d0, d1) -> (d1, 0)>
#m = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<7x4xf32> {stc.sizes = [#itensor.size<sum(pos<=6, 1)>, #itensor.size<4>]}, %q: tensor<3x4xf32>,
                %p: i32 {stc.name = "pos"}) -> tensor<3x4xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<7x4xf32> as !rows, %b = %q : tensor<3x4xf32> as !once) -> (tensor<3x4xf32> as !once) {
    %c = itensor.converter %b {shared_loops = 0, buffer_shape = [3, 4], blocks = 2} : !once to !again
    %e = itensor.empty : !once
    %t = dataflow.task @t ins(%row = %a : !rows, %query = %c : !again) outs(%out = %e : !once) -> !once {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index  %c7 = arith.constant 7 : index
      %c6 = arith.constant 6 : index
      %f = scf.for %i = %c0 to %c7 step %c1 iter_args(%o = %out) -> (!once) {
        %v = itensor.read %row[%i] : !rows -> tensor<1x4xf32>
        %g = scf.for %j = %c0 to %c3 step %c1 iter_args(%n = %o) -> (!once) {
          %u = itensor.read %query[%i, %j] : !again -> tensor<1x4xf32>
          %last = arith.cmpi eq, %i, %c6 : index
          %h = scf.if %last -> (!once) {
            %w = itensor.write %u into %n[%j] : tensor<1x4xf32> -> !once
            scf.yield %w : !once
          } else {
            scf.yield %n : !once
          }
          scf.yield %h : !once
        }
        scf.yield %g : !once
      }
      dataflow.yield %f : !once
    }
    dataflow.yield %t : !once
  }
  func.return %y : tensor<3x4xf32>
}
// CHECK-DAG:   !itensor = !itensor.itensor<1x4xf32, iter_space: [sum(pos<=6, 1)] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK-DAG:   !itensor2 = !itensor.itensor<1x4xf32, iter_space: [sum(pos<=6, 1), 3] * [1, 1], iter_map: (d0, d1) -> (d1, 0)>
// CHECK:       itensor.converter %b {shared_loops = 0, buffer_shape = [3, 4], blocks = 2} : !itensor1 to !itensor2
// CHECK:       %[[N:.*]] = itensor.size sum(pos<=6, 1) of %[[POS:.*]]
// CHECK-NEXT:  %[[LAST:.*]] = itensor.size pos<=6 of %[[POS]]
// CHECK-NEXT:  scf.for %i = %c0 to %[[N]]
// CHECK:       arith.cmpi eq, %i, %[[LAST]] : index
// PROVED:      arith.cmpi eq, %i

// -----

// A converter whose two blocks one task would fill and empty in one loop has a single block: how long the loop is would depend on
// the larger of two sizes.
!rows = !itensor.itensor<1x4xf32, iter_space: [7] * [1], iter_map: (d0) -> (d0, 0)>
!once = !itensor.itensor<1x4xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
!again = !itensor.itensor<1x2xf32, iter_space: [7, 3, 2] * [1, 1, 2], iter_map: (d0, d1, d2) -> (d1, d2)>
#m = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<7x4xf32> {stc.sizes = [#itensor.size<pos<=7>, #itensor.size<4>]}, %q: tensor<3x4xf32>,
                %p: i32 {stc.name = "pos"}) -> tensor<7x4xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<7x4xf32> as !rows, %b = %q : tensor<3x4xf32> as !once) -> (tensor<7x4xf32> as !rows) {
    %c = itensor.converter %b {shared_loops = 0, buffer_shape = [3, 4], blocks = 2} : !once to !again
    %e = itensor.empty : !rows
    %t = dataflow.task @t ins(%row = %a : !rows, %query = %c : !again) outs(%out = %e : !rows) -> !rows {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index  %c7 = arith.constant 7 : index
      %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index
      %f = scf.for %i = %c0 to %c7 step %c1 iter_args(%o = %out) -> (!rows) {
        %v = itensor.read %row[%i] : !rows -> tensor<1x4xf32>
        scf.for %j = %c0 to %c3 step %c1 {
          scf.for %k = %c0 to %c4 step %c2 {
            %u = itensor.read %query[%i, %j, %k] : !again -> tensor<1x2xf32>
          }
        }
        %w = itensor.write %v into %o[%i] : tensor<1x4xf32> -> !rows
        scf.yield %w : !rows
      }
      dataflow.yield %f : !rows
    }
    dataflow.yield %t : !rows
  }
  func.return %y : tensor<7x4xf32>
}
// CHECK:       itensor.converter %b {shared_loops = 0, buffer_shape = [3, 4], blocks = 1} : !itensor1 to !itensor2

// -----

// Heads that go to two copies of a task: a cut of another dimension, a cast that splits such a loop and a converter to narrower
// tokens keep the loop over rows; so does the cut of what a converter has sent again for each head, from a buffer of all rows.
!heads = !itensor.itensor<1x1x4xf32, iter_space: [4, 6] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
!pairs = !itensor.itensor<1x1x4xf32, iter_space: [2, 2, 6] * [2, 1, 1], iter_map: (d0, d1, d2) -> (d0 + d1, d2, 0)>
!half = !itensor.itensor<1x1x4xf32, iter_space: [2, 6] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
!narrow = !itensor.itensor<1x1x2xf32, iter_space: [2, 6, 2] * [1, 1, 2], iter_map: (d0, d1, d2) -> (d0, d1, d2)>
!mask = !itensor.itensor<1xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0)>
!again = !itensor.itensor<1xf32, iter_space: [2, 6] * [1, 1], iter_map: (d0, d1) -> (d1)>
func.func @main(%x: tensor<4x6x4xf32> {stc.sizes = [#itensor.size<4>, #itensor.size<pos<=6>, #itensor.size<4>]},
                %m: tensor<6xf32> {stc.sizes = [#itensor.size<pos<=6>]}, %p: i32 {stc.name = "pos"})
    -> (tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<6xf32>) {
  %y, %z, %n = dataflow.kernel @k(%a = %x : tensor<4x6x4xf32> as !heads, %b = %m : tensor<6xf32> as !mask)
      -> (tensor<2x6x4xf32> as !half, tensor<2x6x4xf32> as !narrow, tensor<6xf32> as !again) {
    %t = itensor.cast %a : !heads to !pairs
    %h, %l = itensor.chunk %t at [0, 0, 0], [2, 0, 0] : !pairs to !half, !half
    %c = itensor.converter %l {shared_loops = 2, buffer_shape = [1, 1, 4], blocks = 2} : !half to !narrow
    %d = itensor.converter %b {shared_loops = 0, buffer_shape = [6], blocks = 1} : !mask to !again
    dataflow.yield %h, %c, %d : !half, !narrow, !again
  }
  func.return %y, %z, %n : tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<6xf32>
}
// CHECK-DAG:   ![[PAIRS:.*]] = !itensor.itensor<1x1x4xf32, iter_space: [2, 2, pos<=6] * [2, 1, 1], iter_map: (d0, d1, d2) -> (d0 + d1, d2, 0)>
// CHECK-DAG:   ![[HALF:.*]] = !itensor.itensor<1x1x4xf32, iter_space: [2, pos<=6] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
// CHECK-DAG:   ![[NARROW:.*]] = !itensor.itensor<1x1x2xf32, iter_space: [2, pos<=6, 2] * [1, 1, 2], iter_map: (d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG:   ![[AGAIN:.*]] = !itensor.itensor<1xf32, iter_space: [2, pos<=6] * [1, 1], iter_map: (d0, d1) -> (d1)>
// CHECK:       itensor.cast %a : {{.*}} to ![[PAIRS]]
// CHECK-NEXT:  itensor.chunk {{.*}} at [0, 0, 0], [2, 0, 0] : ![[PAIRS]] to ![[HALF]], ![[HALF]]
// CHECK-NEXT:  itensor.converter {{.*}} {shared_loops = 2, buffer_shape = [1, 1, 4], blocks = 1} : ![[HALF]] to ![[NARROW]]
// CHECK-NEXT:  itensor.converter {{.*}} {shared_loops = 0, buffer_shape = [6], blocks = 1} : {{.*}} to ![[AGAIN]]
// PROVED:      itensor.chunk
