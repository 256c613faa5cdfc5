// RUN: stc-opt %s -p 'lower-layout,lower-dmas,lower-tasks,set-fifo-depths' --split-input-file | filecheck %s

// Tasks that move tokens take the scalars behind their sizes. A DMA makes one flat loop of a run-time size and what is in it; the
// reuse of a fork is a product.
// SHOW: dataflow.task @\w+ ins\(.*?\) ...|itensor.size .*|scf.for .* step %\w+ ...|memref.load .*
!x = !itensor.itensor<1x16xf32, iter_space: [sum(pos<=6, 1), 3] * [1, 16], iter_map: (d0, d1) -> (d0, d1)>
!m = !itensor.itensor<1x16xf32, iter_space: [7, 3] * [1, 16], iter_map: (d0, d1) -> (d0, d1)>
func.func @rows(%x: tensor<7x48xf32>, %p: i32) -> (tensor<21xvector<16xf32>>, tensor<21xvector<16xf32>>) {
  %w = dataflow.pack %x : tensor<7x48xf32> as !m -> tensor<21xvector<16xf32>>
  %y, %z = dataflow.kernel @k(%a = %w : tensor<21xvector<16xf32>> as !x, %pos = %p : i32 as !itensor.symbol<pos<=6>)
      -> (tensor<21xvector<16xf32>> as !x, tensor<21xvector<16xf32>> as !x) {
    %b, %c = itensor.fork %a : !x to !x, !x
    dataflow.yield %b, %c : !x, !x
  }
  func.return %y, %z : tensor<21xvector<16xf32>>, tensor<21xvector<16xf32>>
}

// CHECK-LABEL: func.func @rows(
// CHECK: dataflow.task @load_a ins(%[[POS:.*]] = %pos : !itensor.symbol<pos<=6>, %[[A:.*]] = %a : memref<21xvector<16xf32>>)
// CHECK: %[[SIZE:.*]] = itensor.size mul(sum(pos<=6, 1), 3) of %[[POS]]
// CHECK: scf.for %word = %c0 to %[[SIZE]] step %c1
// CHECK-NEXT: memref.load %[[A]][%word] : memref<21xvector<16xf32>>
// CHECK: dataflow.task @fork_a ins(%[[POS1:.*]] = %pos : !itensor.symbol<pos<=6>, %in0 = %a_stream : !stream.stream<vector<16xf32>, depth: 2>)
// CHECK: %[[SIZE1:.*]] = itensor.size mul(sum(pos<=6, 1), 3) of %[[POS1]]
// CHECK: scf.for %token = %c0 to %[[SIZE1]] step %c1
// CHECK: dataflow.task @store_y ins(%[[POS:.*]] = %pos : !itensor.symbol<pos<=6>, %in = %a_copy : !stream.stream<vector<16xf32>, depth: 2>)
// CHECK: %[[SIZE:.*]] = itensor.size mul(sum(pos<=6, 1), 3) of %[[POS]]
// CHECK: scf.for %word = %c0 to %[[SIZE]] step %c1
// CHECK: dataflow.task @store_z ins(%[[POS1:.*]] = %pos : !itensor.symbol<pos<=6>, %in = %a_copy_{{.*}} : !stream.stream<vector<16xf32>, depth: 2>)
// CHECK: %[[SIZE1:.*]] = itensor.size mul(sum(pos<=6, 1), 3) of %[[POS1]]
// CHECK: scf.for %word = %c0 to %[[SIZE1]] step %c1

// -----

// A run-time size inside another loop keeps the distance of the rows in memory: that of the maximum.
// SHOW: itensor.size .*|scf.for .* step %\w+ ...|arith.muli .*|memref.load .*
!x = !itensor.itensor<1x16xf32, iter_space: [3, pos<=5] * [16, 1], iter_map: (d0, d1) -> (d1, d0)>
!m = !itensor.itensor<1x16xf32, iter_space: [3, 5] * [16, 1], iter_map: (d0, d1) -> (d1, d0)>
func.func @columns(%x: tensor<5x48xf32>, %p: i32) -> tensor<15xvector<16xf32>> {
  %w = dataflow.pack %x : tensor<5x48xf32> as !m -> tensor<15xvector<16xf32>>
  %y = dataflow.kernel @k(%a = %w : tensor<15xvector<16xf32>> as !x, %pos = %p : i32 as !itensor.symbol<pos<=5>)
      -> (tensor<15xvector<16xf32>> as !x) {
    dataflow.yield %a : !x
  }
  func.return %y : tensor<15xvector<16xf32>>
}

// CHECK-LABEL: func.func @columns(
// CHECK: %[[SIZE:.*]] = itensor.size pos<=5 of %pos_{{.*}}
// CHECK: scf.for %group = %c0 to %c3 step %c1
// CHECK-NEXT: scf.for %word = %c0_{{.*}} to %[[SIZE]] step %c1_{{.*}}
// CHECK: arith.muli %group, %c5 : index
// CHECK: memref.load %a_{{.*}}[%{{.*}}] : memref<15xvector<16xf32>>
// CHECK: %[[SIZE1:.*]] = itensor.size pos<=5 of %pos_{{.*}}
// CHECK: scf.for %group = %c0 to %c3 step %c1
// CHECK-NEXT: scf.for %word = %c0_{{.*}} to %[[SIZE1]] step %c1_{{.*}}
// CHECK: %[[MULI:.*]] = arith.muli %group, %c5 : index
