// RUN: stc-opt %s -p 'lower-converters' --split-input-file | filecheck %s

// Columns of vectors to rows: the loop over pairs of rows is shared, so it wraps both tasks and two blocks of vectors take turns.
!A = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 2, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!B = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 1, 2], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
func.func @shared(%x0: tensor<4x4xf32>) -> (tensor<4x4xf32>) {
  %r0 = dataflow.kernel @k(%p0 = %x0 : tensor<4x4xf32> as !A) -> (tensor<4x4xf32> as !B) {
    %c = itensor.converter %p0 {shared_loops = 1, buffer_shape = [2, 4], blocks = 2} : !A to !B
    dataflow.yield %c : !B
  }
  func.return %r0 : tensor<4x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 2, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 1, 2], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
// CHECK: !block = !stream.block<memref<2x2xvector<2xf32>>, count: 2>
// CHECK-LABEL: func.func @shared(
// CHECK-NEXT: %r0 = dataflow.kernel @k(%p0 = %x0 : tensor<4x4xf32> as !itensor) -> (tensor<4x4xf32> as !itensor1) {
// CHECK-NEXT: %p0_buffer = stream.buffer @p0_buffer : !block
// CHECK-NEXT: %0 = stream.from_itensor %p0 : !itensor to !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %p0_reordered = stream.create @p0_reordered {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %c = stream.to_itensor %p0_reordered : !stream.stream<vector<2xf32>, depth: 2> to !itensor1
// CHECK-NEXT: dataflow.task @fill_p0 ins(%in = %0 : !stream.stream<vector<2xf32>, depth: 2>) outs(%out = %p0_buffer : !block) kind converter {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %c2 = arith.constant 2 : index
// CHECK-NEXT: scf.for %first_row = %c0 to %c4 step %c2 {
// CHECK-NEXT: %1 = stream.acquire %out : !block -> memref<2x2xvector<2xf32>>
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: %c2_1 = arith.constant 2 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %c0_2 = arith.constant 0 : index
// CHECK-NEXT: %c2_2 = arith.constant 2 : index
// CHECK-NEXT: %c1_1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %column = %c0_1 to %c2_1 step %c1 {
// CHECK-NEXT: scf.for %row = %c0_2 to %c2_2 step %c1_1 {
// CHECK-NEXT: %2 = stream.read %in : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: memref.store %2, %1[%row, %column] : memref<2x2xvector<2xf32>>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.task @drain_p0 ins(%in = %p0_buffer : !block) outs(%out = %p0_reordered : !stream.stream<vector<2xf32>, depth: 2>) kind converter {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %c2 = arith.constant 2 : index
// CHECK-NEXT: scf.for %first_row = %c0 to %c4 step %c2 {
// CHECK-NEXT: %1 = stream.acquire %in : !block -> memref<2x2xvector<2xf32>>
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: %c2_1 = arith.constant 2 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %c0_2 = arith.constant 0 : index
// CHECK-NEXT: %c2_2 = arith.constant 2 : index
// CHECK-NEXT: %c1_1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %row = %c0_1 to %c2_1 step %c1 {
// CHECK-NEXT: scf.for %column = %c0_2 to %c2_2 step %c1_1 {
// CHECK-NEXT: %2 = memref.load %1[%row, %column] : memref<2x2xvector<2xf32>>
// CHECK-NEXT: stream.write %2 into %out : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield %c : !itensor1
// CHECK-NEXT: }
// CHECK-NEXT: func.return %r0 : tensor<4x4xf32>

// -----

// Columns to rows of wider vectors, of which no entry of a block could be one: a task fills one half and empties the other.
// SHOW: stream\.|task|scf.for|scf.if|alloc|vector|remui|yield.*index
!A = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 2, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!B = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
func.func @merged(%x0: tensor<4x4xf32>) -> (tensor<4x4xf32>) {
  %r0 = dataflow.kernel @k(%p0 = %x0 : tensor<4x4xf32> as !A) -> (tensor<4x4xf32> as !B) {
    %c = itensor.converter %p0 {shared_loops = 1, buffer_shape = [2, 4], blocks = 2} : !A to !B
    dataflow.yield %c : !B
  }
  func.return %r0 : tensor<4x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 2, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
// CHECK-LABEL: func.func @merged(
// CHECK: %0 = stream.from_itensor %p0 : !itensor to !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %p0_reordered = stream.create @p0_reordered {tokens = 4 : i64, distinct_tokens = 4 : i64} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: %c = stream.to_itensor %p0_reordered : !stream.stream<vector<4xf32>, depth: 2> to !itensor1
// CHECK-NEXT: dataflow.task @merge_p0 ins(%in = %0 : !stream.stream<vector<2xf32>, depth: 2>) outs(%out = %p0_reordered : !stream.stream<vector<4xf32>, depth: 2>) kind converter {
// CHECK-NEXT: %blocks = memref.alloc() : memref<2x2x4xf32>
// CHECK: %1, %2, %3 = scf.for %block = %c0 to %c3 step %c1 iter_args(%in_column = %c0, %in_row = %c0, %out_row = %c0) -> (index, index, index) {
// CHECK-NEXT: %4, %5, %6 = scf.for %token = %c0 to %c4 step %c1 iter_args(%in_column_1 = %in_column, %in_row_1 = %in_row, %out_row_1 = %out_row) -> (index, index, index) {
// CHECK: scf.if %7 {
// CHECK: %10 = arith.remui %block, %c2_2 : index
// CHECK-NEXT: %11 = stream.read %in : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: vector.store %11, %blocks[%10, %in_row_1, %in_column_1] : memref<2x2x4xf32>, vector<2xf32>
// CHECK: scf.if %12 {
// CHECK: %13 = arith.remui %9, %c2_3 : index
// CHECK: %14 = vector.load %blocks[%13, %out_row_1, %c0_2] : memref<2x2x4xf32>, vector<4xf32>
// CHECK-NEXT: stream.write %14 into %out : !stream.stream<vector<4xf32>, depth: 2>
// CHECK: scf.yield %20, %16, %24 : index, index, index
// CHECK: scf.yield %4, %5, %6 : index, index, index

// -----

// Nothing is shared: one block for the whole tensor in one task, filled once, and drained again for each reuse loop.
// SHOW: stream\.|task|scf.for|vector
!A = !itensor.itensor<2xf32, iter_space: [3] * [2], iter_map: (d0) -> (d0)>
!B = !itensor.itensor<2xf32, iter_space: [4, 3] * [1, 2], iter_map: (d0, d1) -> (d1)>
func.func @reuse(%x0: tensor<6xf32>) -> (tensor<6xf32>) {
  %r0 = dataflow.kernel @k(%p0 = %x0 : tensor<6xf32> as !A) -> (tensor<6xf32> as !B) {
    %c = itensor.converter %p0 {shared_loops = 0, buffer_shape = [6], blocks = 1} : !A to !B
    dataflow.yield %c : !B
  }
  func.return %r0 : tensor<6xf32>
}

// CHECK: !itensor = !itensor.itensor<2xf32, iter_space: [3] * [2], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<2xf32, iter_space: [4, 3] * [1, 2], iter_map: (d0, d1) -> (d1)>
// CHECK-LABEL: func.func @reuse(
// CHECK: %0 = stream.from_itensor %p0 : !itensor to !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %p0_reordered = stream.create @p0_reordered {tokens = 12 : i64, distinct_tokens = 3 : i64} : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %c = stream.to_itensor %p0_reordered : !stream.stream<vector<2xf32>, depth: 2> to !itensor1
// CHECK-NEXT: dataflow.task @turn_p0 ins(%in = %0 : !stream.stream<vector<2xf32>, depth: 2>) outs(%out = %p0_reordered : !stream.stream<vector<2xf32>, depth: 2>) kind converter {
// CHECK: scf.for %entry = %c0 to %c6 step %c2 {
// CHECK-NEXT: %1 = stream.read %in : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: vector.store %1, %block[%entry] : memref<6xf32>, vector<2xf32>
// CHECK: scf.for %visit = %c0_1 to %c4 step %c1 {
// CHECK-NEXT: scf.for %entry_1 = %c0_2 to %c6_1 step %c2_1 {
// CHECK-NEXT: %2 = vector.load %block[%entry_1] : memref<6xf32>, vector<2xf32>
// CHECK-NEXT: stream.write %2 into %out : !stream.stream<vector<2xf32>, depth: 2>

// -----

// Two converters of one value: every name is its own. The second drains what the first wrote to.
// SHOW: stream\.|task
!A = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 2, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!B = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 1, 2], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
func.func @names(%x0: tensor<4x4xf32>) -> (tensor<4x4xf32>) {
  %r0 = dataflow.kernel @k(%p0 = %x0 : tensor<4x4xf32> as !A) -> (tensor<4x4xf32> as !B) {
    %c = itensor.converter %p0 {shared_loops = 1, buffer_shape = [2, 4], blocks = 2} : !A to !B
    %p1 = itensor.converter %c {shared_loops = 1, buffer_shape = [2, 4], blocks = 2} : !B to !A
    %d = itensor.converter %p1 {shared_loops = 1, buffer_shape = [2, 4], blocks = 2} : !A to !B
    dataflow.yield %d : !B
  }
  func.return %r0 : tensor<4x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 2, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 1, 2], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
// CHECK: !block = !stream.block<memref<2x2xvector<2xf32>>, count: 2>
// CHECK-LABEL: func.func @names(
// CHECK: %p0_buffer = stream.buffer @p0_buffer : !block
// CHECK-NEXT: %0 = stream.from_itensor %p0 : !itensor to !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %p0_reordered = stream.create @p0_reordered {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %c = stream.to_itensor %p0_reordered : !stream.stream<vector<2xf32>, depth: 2> to !itensor1
// CHECK-NEXT: dataflow.task @fill_p0 ins(%in = %0 : !stream.stream<vector<2xf32>, depth: 2>) outs(%out = %p0_buffer : !block) kind converter {
// CHECK: %1 = stream.acquire %out : !block -> memref<2x2xvector<2xf32>>
// CHECK: %2 = stream.read %in : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: dataflow.task @drain_p0 ins(%in = %p0_buffer : !block) outs(%out = %p0_reordered : !stream.stream<vector<2xf32>, depth: 2>) kind converter {
// CHECK: %1 = stream.acquire %in : !block -> memref<2x2xvector<2xf32>>
// CHECK: stream.write %2 into %out : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: %c_buffer = stream.buffer @c_buffer : !block
// CHECK-NEXT: %c_reordered = stream.create @c_reordered {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %p1 = stream.to_itensor %c_reordered : !stream.stream<vector<2xf32>, depth: 2> to !itensor
// CHECK-NEXT: dataflow.task @fill_c ins(%in = %p0_reordered : !stream.stream<vector<2xf32>, depth: 2>) outs(%out = %c_buffer : !block) kind converter {
// CHECK: %1 = stream.acquire %out : !block -> memref<2x2xvector<2xf32>>
// CHECK: %2 = stream.read %in : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: dataflow.task @drain_c ins(%in = %c_buffer : !block) outs(%out = %c_reordered : !stream.stream<vector<2xf32>, depth: 2>) kind converter {
// CHECK: %1 = stream.acquire %in : !block -> memref<2x2xvector<2xf32>>
// CHECK: stream.write %2 into %out : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: %p1_buffer = stream.buffer @p1_buffer : !block
// CHECK-NEXT: %p1_reordered = stream.create @p1_reordered {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %d = stream.to_itensor %p1_reordered : !stream.stream<vector<2xf32>, depth: 2> to !itensor1
// CHECK-NEXT: dataflow.task @fill_p1 ins(%in = %c_reordered : !stream.stream<vector<2xf32>, depth: 2>) outs(%out = %p1_buffer : !block) kind converter {
// CHECK: %1 = stream.acquire %out : !block -> memref<2x2xvector<2xf32>>
// CHECK: %2 = stream.read %in : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: dataflow.task @drain_p1 ins(%in = %p1_buffer : !block) outs(%out = %p1_reordered : !stream.stream<vector<2xf32>, depth: 2>) kind converter {
// CHECK: %1 = stream.acquire %in : !block -> memref<2x2xvector<2xf32>>
// CHECK: stream.write %2 into %out : !stream.stream<vector<2xf32>, depth: 2>

// -----

// Windows of two rows that slide by one: two rows, then a row and a window at a time. The third line replaces the first.
!R = !itensor.itensor<1x4xf32, iter_space: [9, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!W = !itensor.itensor<1x4xf32, iter_space: [8, 2, 2] * [1, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!L = !itensor.itensor<1x4xf32, iter_space: [32] * [1], iter_map: (d0) -> (d0, 0)>
func.func @lines(%x0: tensor<9x8xf32>) -> (tensor<32x4xf32>) {
  %r0 = dataflow.kernel @k(%p0 = %x0 : tensor<9x8xf32> as !R) -> (tensor<32x4xf32> as !L) {
    %c = itensor.converter %p0 {shared_loops = 0, buffer_shape = [2, 8], blocks = 1, window = 0} : !R to !W
    %f = itensor.reassociate %c : !W to !L
    dataflow.yield %f : !L
  }
  func.return %r0 : tensor<32x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [9, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [32] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor2 = !itensor.itensor<1x4xf32, iter_space: [8, 2, 2] * [1, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
// CHECK-LABEL: func.func @lines(
// CHECK-NEXT: %r0 = dataflow.kernel @k(%p0 = %x0 : tensor<9x8xf32> as !itensor) -> (tensor<32x4xf32> as !itensor1) {
// CHECK-NEXT: %0 = stream.from_itensor %p0 : !itensor to !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: %p0_reordered = stream.create @p0_reordered {tokens = 32 : i64, distinct_tokens = 32 : i64} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: %c = stream.to_itensor %p0_reordered : !stream.stream<vector<4xf32>, depth: 2> to !itensor2
// CHECK-NEXT: dataflow.task @lines_p0 ins(%in = %0 : !stream.stream<vector<4xf32>, depth: 2>) outs(%out = %p0_reordered : !stream.stream<vector<4xf32>, depth: 2>) kind converter {
// CHECK-NEXT: %lines = memref.alloc() : memref<2x8xf32>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: scf.for %entry = %c0 to %c8 step %c4 {
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: %1 = stream.read %in : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: vector.store %1, %lines[%c0_1, %entry] : memref<2x8xf32>, vector<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %c0_2 = arith.constant 0 : index
// CHECK-NEXT: %c4_1 = arith.constant 4 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %repeat = %c0_2 to %c4_1 step %c1 {
// CHECK-NEXT: %c0_3 = arith.constant 0 : index
// CHECK-NEXT: %c8_1 = arith.constant 8 : index
// CHECK-NEXT: %c4_2 = arith.constant 4 : index
// CHECK-NEXT: scf.for %entry_1 = %c0_3 to %c8_1 step %c4_2 {
// CHECK-NEXT: %c0_4 = arith.constant 0 : index
// CHECK-NEXT: %c1_1 = arith.constant 1 : index
// CHECK-NEXT: %2 = arith.addi %c0_4, %c1_1 : index
// CHECK-NEXT: %3 = stream.read %in : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: vector.store %3, %lines[%2, %entry_1] : memref<2x8xf32>, vector<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %c0_5 = arith.constant 0 : index
// CHECK-NEXT: %c8_2 = arith.constant 8 : index
// CHECK-NEXT: %c4_3 = arith.constant 4 : index
// CHECK-NEXT: %c0_6 = arith.constant 0 : index
// CHECK-NEXT: %c2 = arith.constant 2 : index
// CHECK-NEXT: %c1_2 = arith.constant 1 : index
// CHECK-NEXT: scf.for %column = %c0_5 to %c8_2 step %c4_3 {
// CHECK-NEXT: scf.for %row = %c0_6 to %c2 step %c1_2 {
// CHECK-NEXT: %4 = vector.load %lines[%row, %column] : memref<2x8xf32>, vector<4xf32>
// CHECK-NEXT: stream.write %4 into %out : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: %c0_7 = arith.constant 0 : index
// CHECK-NEXT: %c8_3 = arith.constant 8 : index
// CHECK-NEXT: %c4_4 = arith.constant 4 : index
// CHECK-NEXT: scf.for %entry_2 = %c0_7 to %c8_3 step %c4_4 {
// CHECK-NEXT: %c0_8 = arith.constant 0 : index
// CHECK-NEXT: %5 = stream.read %in : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: vector.store %5, %lines[%c0_8, %entry_2] : memref<2x8xf32>, vector<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %c0_9 = arith.constant 0 : index
// CHECK-NEXT: %c8_4 = arith.constant 8 : index
// CHECK-NEXT: %c4_5 = arith.constant 4 : index
// CHECK-NEXT: %c0_10 = arith.constant 0 : index
// CHECK-NEXT: %c2_1 = arith.constant 2 : index
// CHECK-NEXT: %c1_3 = arith.constant 1 : index
// CHECK-NEXT: scf.for %column_1 = %c0_9 to %c8_4 step %c4_5 {
// CHECK-NEXT: scf.for %row_1 = %c0_10 to %c2_1 step %c1_3 {
// CHECK-NEXT: %c1_4 = arith.constant 1 : index
// CHECK-NEXT: %6 = arith.addi %row_1, %c1_4 : index
// CHECK-NEXT: %c2_2 = arith.constant 2 : index
// CHECK-NEXT: %7 = arith.cmpi sge, %6, %c2_2 : index
// CHECK-NEXT: %8 = arith.subi %6, %c2_2 : index
// CHECK-NEXT: %9 = arith.select %7, %8, %6 : index
// CHECK-NEXT: %10 = vector.load %lines[%9, %column_1] : memref<2x8xf32>, vector<4xf32>
// CHECK-NEXT: stream.write %10 into %out : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: %f = itensor.reassociate %c : !itensor2 to !itensor1
// CHECK-NEXT: dataflow.yield %f : !itensor1
// CHECK-NEXT: }
// CHECK-NEXT: func.return %r0 : tensor<32x4xf32>
