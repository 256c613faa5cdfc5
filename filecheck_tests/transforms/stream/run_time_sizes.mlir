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

// -----

// A part that begins at a row known at run time: its first word is a size, the distance of the heads is that of the memory.
// SHOW: itensor.size .*|scf.for .* step %\w+ ...|arith.muli .*|arith.addi .*|memref.load .*
!x = !itensor.itensor<1x1x16xf32, iter_space: [2, min(pos<=7, 3)] * [1, 1], iter_map: (d0, d1) -> (d0, d1 + max(sum(pos<=7, -3), 0), 0)>
!y = !itensor.itensor<1x1x16xf32, iter_space: [2, sum(min(pos<=7, 3), 1)] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
!r = !itensor.itensor<1x1x16xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0, 0)>
!m = !itensor.itensor<1x1x16xf32, iter_space: [2, 7] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
func.func @window(%x: tensor<2x7x16xf32>, %r: tensor<2x1x16xf32>, %p: i32) -> tensor<8xvector<16xf32>> {
  %w = dataflow.pack %x : tensor<2x7x16xf32> as !m -> tensor<14xvector<16xf32>>
  %v = dataflow.pack %r : tensor<2x1x16xf32> as !r -> tensor<2xvector<16xf32>>
  %y = dataflow.kernel @k(%a = %w : tensor<14xvector<16xf32>> as !x, %b = %v : tensor<2xvector<16xf32>> as !r, %pos = %p : i32 as !itensor.symbol<pos<=7>)
      -> (tensor<8xvector<16xf32>> as !y) {
    %c = itensor.concat %a, %b at [0, 0, 0], [0, min(pos<=7, 3), 0] : !x, !r to !y
    dataflow.yield %c : !y
  }
  func.return %y : tensor<8xvector<16xf32>>
}

// CHECK-LABEL: func.func @window(
// CHECK: %first_word = itensor.size max(sum(pos<=7, -3), 0) of %pos_{{.*}}
// CHECK: %[[SIZE:.*]] = itensor.size min(pos<=7, 3) of %pos_{{.*}}
// CHECK: scf.for %group = %c0 to %c2 step %c1
// CHECK-NEXT: scf.for %word = %c0_{{.*}} to %[[SIZE]] step %c1_{{.*}}
// CHECK: %[[MULI:.*]] = arith.muli %group, %c7 : index
// CHECK-NEXT: %[[ADDI:.*]] = arith.addi %[[MULI]], %word : index
// CHECK-NEXT: %[[ADDI1:.*]] = arith.addi %[[ADDI]], %first_word : index
// CHECK-NEXT: memref.load %a_{{.*}}[%[[ADDI1]]] : memref<14xvector<16xf32>>
// CHECK: scf.for %word = %c0 to %c2 step %c1
// CHECK-NEXT: %[[LOAD:.*]] = memref.load %b_{{.*}}[%word] : memref<2xvector<16xf32>>
// CHECK: scf.for %plane = %c0 to %c2 step %c1
// CHECK: %[[SIZE:.*]] = itensor.size min(pos<=7, 3) of %pos_{{.*}}
// CHECK: scf.for %row = %c0_{{.*}} to %[[SIZE]] step %c1_{{.*}}
// CHECK: %[[SIZE1:.*]] = itensor.size sum(min(pos<=7, 3), 1) of %pos_{{.*}}
// CHECK: scf.for %group = %c0 to %c2 step %c1
// CHECK-NEXT: scf.for %word = %c0_{{.*}} to %[[SIZE1]] step %c1_{{.*}}
// CHECK: %[[MULI1:.*]] = arith.muli %group, %c4 : index
// CHECK-NEXT: %[[ADDI:.*]] = arith.addi %[[MULI1]], %word : index
