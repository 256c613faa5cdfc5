// RUN: stc-opt %s -p 'lower-converters' --split-input-file --allow-unregistered-dialect | filecheck %s

// Columns of vectors to rows: the loop over pairs of rows is shared, so it wraps both tasks and two blocks of vectors take turns.
// SHOW: stream\.create|stream\.\w+ %|scf.for .*step %\w+|scf.if ...|remui|memref.alloc|vector\.\w+ %.*?\] ...
!itensor = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 2, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!itensor1 = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 1, 2], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
func.func @shared(%x0: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r0 = dataflow.kernel @k(%p0 = %x0 : tensor<4x4xf32> as !itensor) -> (tensor<4x4xf32> as !itensor1) {
    %c = itensor.converter %p0 {shared_loops = 1, buffer_shape = [2, 4], blocks = 2} : !itensor to !itensor1
    dataflow.yield %c : !itensor1
  }
  func.return %r0 : tensor<4x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 2, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 1, 2], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
// CHECK: !block = !stream.block<memref<2x2xvector<2xf32>>, count: 2>
// CHECK-LABEL: func.func @shared(
// CHECK: stream.from_itensor %p0 : !itensor to !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %p0_reordered = stream.create @p0_reordered {tokens = 8 : i64, distinct_tokens = 8 : i64, carries = !itensor1} : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.to_itensor %p0_reordered : !stream.stream<vector<2xf32>, depth: 2> to !itensor1
// CHECK: scf.for %first_row = %c0 to %c4 step %c2 {
// CHECK-NEXT: %[[ACQUIRE:.*]] = stream.acquire %out : !block -> memref<2x2xvector<2xf32>>
// CHECK: scf.for %column = %c0_{{.*}} to %c2_{{.*}} step %c1 {
// CHECK-NEXT: scf.for %row = %c0_{{.*}} to %c2_{{.*}} step %c1_{{.*}} {
// CHECK-NEXT: %[[READ:.*]] = stream.read %in : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: scf.for %first_row = %c0 to %c4 step %c2 {
// CHECK-NEXT: %[[ACQUIRE1:.*]] = stream.acquire %in : !block -> memref<2x2xvector<2xf32>>
// CHECK: scf.for %row = %c0_{{.*}} to %c2_{{.*}} step %c1 {
// CHECK-NEXT: scf.for %column = %c0_{{.*}} to %c2_{{.*}} step %c1_{{.*}} {
// CHECK: stream.write %[[READ]] into %out : !stream.stream<vector<2xf32>, depth: 2>

// -----

// Columns to rows of wider vectors, of which no entry of a block could be one: a task fills one half and empties the other.
// SHOW: stream\.create|stream\.\w+ %|scf.for .*step %\w+|scf.if ...|remui|memref.alloc|vector\.\w+ %.*?\] ...
!itensor = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 2, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!itensor1 = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
func.func @merged(%x0: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r0 = dataflow.kernel @k(%p0 = %x0 : tensor<4x4xf32> as !itensor) -> (tensor<4x4xf32> as !itensor1) {
    %c = itensor.converter %p0 {shared_loops = 1, buffer_shape = [2, 4], blocks = 2} : !itensor to !itensor1
    dataflow.yield %c : !itensor1
  }
  func.return %r0 : tensor<4x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 2, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
// CHECK-LABEL: func.func @merged(
// CHECK: stream.from_itensor %p0 : !itensor to !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %p0_reordered = stream.create @p0_reordered {tokens = 4 : i64, distinct_tokens = 4 : i64, carries = !itensor1} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: stream.to_itensor %p0_reordered : !stream.stream<vector<4xf32>, depth: 2> to !itensor1
// CHECK: %blocks = memref.alloc() : memref<2x2x4xf32>
// CHECK: scf.for %block = %c0 to %c3 step %c1 iter_args(%in_column = %c0, %in_row = %c0, %out_row = %c0) -> (index, index, index) {
// CHECK-NEXT: scf.for %token = %c0 to %c4 step %c1 iter_args(%[[IN_COLUMN:.*]] = %in_column, %[[IN_ROW:.*]] = %in_row, %[[OUT_ROW:.*]] = %out_row) -> (index, index, index) {
// CHECK: scf.if
// CHECK: %[[REMUI:.*]] = arith.remui %block, %c2_{{.*}} : index
// CHECK-NEXT: %[[READ:.*]] = stream.read %in : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: vector.store %[[READ]], %blocks[%[[REMUI]], %[[IN_ROW]], %[[IN_COLUMN]]]
// CHECK: scf.if
// CHECK: %[[REMUI1:.*]] = arith.remui %{{.*}}, %c2_{{.*}} : index
// CHECK: %[[LOAD:.*]] = vector.load %blocks[%[[REMUI1]], %[[OUT_ROW]], %c0_{{.*}}]
// CHECK-NEXT: stream.write %[[LOAD]] into %out : !stream.stream<vector<4xf32>, depth: 2>

// -----

// Nothing is shared: one block for the whole tensor in one task, filled once, and drained again for each reuse loop.
// SHOW: stream\.create|stream\.\w+ %|scf.for .*step %\w+|scf.if ...|remui|memref.alloc|vector\.\w+ %.*?\] ...
!itensor = !itensor.itensor<2xf32, iter_space: [3] * [2], iter_map: (d0) -> (d0)>
!itensor1 = !itensor.itensor<2xf32, iter_space: [4, 3] * [1, 2], iter_map: (d0, d1) -> (d1)>
func.func @reuse(%x0: tensor<6xf32>) -> tensor<6xf32> {
  %r0 = dataflow.kernel @k(%p0 = %x0 : tensor<6xf32> as !itensor) -> (tensor<6xf32> as !itensor1) {
    %c = itensor.converter %p0 {shared_loops = 0, buffer_shape = [6], blocks = 1} : !itensor to !itensor1
    dataflow.yield %c : !itensor1
  }
  func.return %r0 : tensor<6xf32>
}

// CHECK: !itensor = !itensor.itensor<2xf32, iter_space: [3] * [2], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<2xf32, iter_space: [4, 3] * [1, 2], iter_map: (d0, d1) -> (d1)>
// CHECK-LABEL: func.func @reuse(
// CHECK: stream.from_itensor %p0 : !itensor to !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %p0_reordered = stream.create @p0_reordered {tokens = 12 : i64, distinct_tokens = 3 : i64, carries = !itensor1} : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.to_itensor %p0_reordered : !stream.stream<vector<2xf32>, depth: 2> to !itensor1
// CHECK: %block = memref.alloc() : memref<6xf32>
// CHECK: scf.for %entry = %c0 to %c6 step %c2 {
// CHECK-NEXT: %[[READ:.*]] = stream.read %in : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: vector.store %[[READ]], %block[%entry]
// CHECK: scf.for %visit = %c0_{{.*}} to %c4 step %c1 {
// CHECK-NEXT: scf.for %[[ENTRY:.*]] = %c0_{{.*}} to %c6_{{.*}} step %c2_{{.*}} {
// CHECK-NEXT: %[[LOAD:.*]] = vector.load %block[%[[ENTRY]]]
// CHECK-NEXT: stream.write %[[LOAD]] into %out : !stream.stream<vector<2xf32>, depth: 2>

// -----

// A converter behind another fills from what that drained to. Names come from values; one that is taken gets a number.
!A = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 2, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!B = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 1, 2], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
dataflow.kernel @names() {
  %x = "test.op"() : () -> !A
  %taken = stream.create @c_reordered {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<2xf32>, depth: 2>
  %c = itensor.converter %x {shared_loops = 1, buffer_shape = [2, 4], blocks = 2} : !A to !B
  %d = itensor.converter %c {shared_loops = 1, buffer_shape = [2, 4], blocks = 2} : !B to !A
}

// CHECK-LABEL: @names(
// CHECK: task @fill_x ins({{.*}}) outs(%out = %x_buffer :
// CHECK: task @drain_x ins(%in = %x_buffer : {{.*}}) outs(%out = %x_reordered :
// CHECK: stream.create @c_reordered_2
// CHECK: task @fill_c ins(%in = %x_reordered : {{.*}}) outs(%out = %c_buffer :

// -----

// Windows of two rows that slide by one: two rows, then a row and a window at a time. The third line replaces the first.
!A = !itensor.itensor<1x4xf32, iter_space: [9, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<1x4xf32, iter_space: [8, 2, 2] * [1, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
dataflow.kernel @lines() {
  %x = "test.op"() : () -> !A
  %c = itensor.converter %x {shared_loops = 0, buffer_shape = [2, 8], blocks = 1, window = 0} : !A to !B
}

// CHECK-LABEL: @lines(
// CHECK: %lines = memref.alloc() : memref<2x8xf32>
// CHECK: scf.for %entry
// CHECK: vector.store %{{.*}}, %lines[%c0{{.*}}, %entry]
// CHECK: scf.for %repeat = %c0{{.*}} to %c4
// CHECK: [[SECOND:%.*]] = arith.addi %c0{{.*}}, %c1
// CHECK: vector.store %{{.*}}, %lines[[[SECOND]], %entry_1]
// CHECK: vector.load %lines[%row, %column]
// CHECK: vector.store %{{.*}}, %lines[%c0{{.*}}, %entry_2]
// CHECK: [[NEXT:%.*]] = arith.addi %row_1, %c1
// CHECK: [[WRAPS:%.*]] = arith.cmpi sge, [[NEXT]], %c2
// CHECK-NEXT: [[BACK:%.*]] = arith.subi [[NEXT]], %c2
// CHECK-NEXT: [[LINE:%.*]] = arith.select [[WRAPS]], [[BACK]], [[NEXT]]
// CHECK-NEXT: vector.load %lines[[[LINE]], %column_1]

// -----

// A block again as often as a scalar says: whoever empties it takes the scalar, be it a task of its own or the one that fills it.
!once = !itensor.itensor<1x2xf32, iter_space: [2, 3] * [3, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
!again = !itensor.itensor<1x2xf32, iter_space: [2, pos<=4, 3] * [3, 1, 1], iter_map: (d0, d1, d2) -> (d0 + d2, 0)>
func.func @again(%p: i32) {
  dataflow.kernel @k(%pos = %p : i32 as !itensor.symbol<pos<=4>) {
    %x, %y = "test.op"() : () -> (!once, !once)
    %d = itensor.converter %x {shared_loops = 1, buffer_shape = [3, 2], blocks = 2} : !once to !again
    %e = itensor.converter %y {shared_loops = 1, buffer_shape = [3, 2], blocks = 1} : !once to !again
  }
  func.return
}

// CHECK-LABEL: @again(
// CHECK: dataflow.task @fill_x ins(%in = {{.*}} : !stream.stream
// CHECK: dataflow.task @drain_x ins([[POS:%.*]] = %pos : !itensor.symbol<pos<=4>, %in = {{.*}} : !block)
// CHECK: [[SIZE:%.*]] = itensor.size pos<=4 of [[POS]]
// CHECK: scf.for %visit = %c0{{.*}} to [[SIZE]]
// CHECK-NEXT: scf.for %entry
// CHECK: dataflow.task @turn_y ins([[POS1:%.*]] = %pos : !itensor.symbol<pos<=4>, %in = {{.*}} : !stream.stream
// CHECK: [[SIZE1:%.*]] = itensor.size pos<=4 of [[POS1]]
// CHECK: scf.for %visit{{.*}} = %c0{{.*}} to [[SIZE1]]

// -----

// Blocks as often as a scalar says: both tasks take it; where one task has both blocks, it fills and empties one of them in turn.
!across = !itensor.itensor<1x1xf32, iter_space: [sum(pos<=4, 1), 6] * [1, 1], iter_map: (d0, d1) -> (d1, d0)>
!twice = !itensor.itensor<1x1xf32, iter_space: [sum(pos<=4, 1), 2, 6] * [1, 1, 1], iter_map: (d0, d1, d2) -> (d2, d0)>
!rows = !itensor.itensor<1x2xf32, iter_space: [sum(pos<=4, 1), 2, 2] * [2, 2, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!wide = !itensor.itensor<1x4xf32, iter_space: [sum(pos<=4, 1), 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
func.func @as_often(%p: i32) {
  dataflow.kernel @k(%pos = %p : i32 as !itensor.symbol<pos<=4>) {
    %x, %y = "test.op"() : () -> (!across, !rows)
    %d = itensor.converter %x {shared_loops = 1, buffer_shape = [6, 1], blocks = 2} : !across to !twice
    %e = itensor.converter %y {shared_loops = 1, buffer_shape = [2, 4], blocks = 2} : !rows to !wide
  }
  func.return
}

// CHECK-LABEL: @as_often(
// CHECK: dataflow.task @fill_x ins([[POS:%.*]] = %pos : !itensor.symbol<pos<=4>, %in = {{.*}} : !stream.stream
// CHECK: [[SIZE:%.*]] = itensor.size sum(pos<=4, 1) of [[POS]]
// CHECK: scf.for %{{.*}} = %c0{{.*}} to [[SIZE]]
// CHECK-NEXT: stream.acquire
// CHECK: dataflow.task @drain_x ins([[POS1:%.*]] = %pos : !itensor.symbol<pos<=4>, %in = {{.*}} : !block)
// CHECK: dataflow.task @turn_y ins([[POS2:%.*]] = %pos : !itensor.symbol<pos<=4>, %in = {{.*}} : !stream.stream
// CHECK: memref.alloc() : memref<2x4xf32>

// -----

// Tokens of 2 become tokens of 4, in the same order: a token is put together where it leaves.
!Narrow = !itensor.itensor<1x2xf32, iter_space: [3, 2] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
!Wide = !itensor.itensor<1x4xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
func.func @wider(%x0: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %r0 = dataflow.kernel @k(%p0 = %x0 : tensor<3x4xf32> as !Narrow) -> (tensor<3x4xf32> as !Wide) {
    %c = itensor.converter %p0 {shared_loops = 1, buffer_shape = [1, 4], blocks = 2} : !Narrow to !Wide
    dataflow.yield %c : !Wide
  }
  func.return %r0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @wider(
// CHECK: dataflow.task @widen_p0
// CHECK: [[TOKEN:%.*]] = memref.alloc() : memref<4xf32>
// CHECK: scf.for %row = %c0 to %c3 step %c1 {
// CHECK: scf.for [[ENTRY:%.*]] = %c0_{{.*}} to %c4 step %c2 {
// CHECK-NEXT: [[PART:%.*]] = stream.read %in
// CHECK-NEXT: vector.store [[PART]], [[TOKEN]][[[ENTRY]]]
// CHECK: scf.if
// CHECK: [[WHOLE:%.*]] = vector.load [[TOKEN]][%c0_{{.*}}] : memref<4xf32>, vector<4xf32>
// CHECK-NEXT: stream.write [[WHOLE]] into %out
