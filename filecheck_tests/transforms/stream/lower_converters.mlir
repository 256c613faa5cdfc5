// RUN: stc-opt %s -p 'lower-converters' --split-input-file | filecheck %s

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
// CHECK-NEXT: %p0_reordered = stream.create @p0_reordered {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<2xf32>, depth: 2>
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
// CHECK-NEXT: %p0_reordered = stream.create @p0_reordered {tokens = 4 : i64, distinct_tokens = 4 : i64} : !stream.stream<vector<4xf32>, depth: 2>
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
// CHECK-NEXT: %p0_reordered = stream.create @p0_reordered {tokens = 12 : i64, distinct_tokens = 3 : i64} : !stream.stream<vector<2xf32>, depth: 2>
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

// Two converters of one value: every name is its own. The second drains what the first wrote to.
// SHOW: stream\.|task
!itensor = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 2, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!itensor1 = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 1, 2], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
func.func @names(%x0: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r0 = dataflow.kernel @k(%p0 = %x0 : tensor<4x4xf32> as !itensor) -> (tensor<4x4xf32> as !itensor1) {
    %c = itensor.converter %p0 {shared_loops = 1, buffer_shape = [2, 4], blocks = 2} : !itensor to !itensor1
    %p1 = itensor.converter %c {shared_loops = 1, buffer_shape = [2, 4], blocks = 2} : !itensor1 to !itensor
    %d = itensor.converter %p1 {shared_loops = 1, buffer_shape = [2, 4], blocks = 2} : !itensor to !itensor1
    dataflow.yield %d : !itensor1
  }
  func.return %r0 : tensor<4x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 2, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x2xf32, iter_space: [2, 2, 2] * [2, 1, 2], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
// CHECK: !block = !stream.block<memref<2x2xvector<2xf32>>, count: 2>
// CHECK-LABEL: func.func @names(
// CHECK: %p0_buffer = stream.buffer @p0_buffer : !block
// CHECK-NEXT: %[[FROM_ITENSOR:.*]] = stream.from_itensor %p0 : !itensor to !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %p0_reordered = stream.create @p0_reordered {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.to_itensor %p0_reordered : !stream.stream<vector<2xf32>, depth: 2> to !itensor1
// CHECK-NEXT: dataflow.task @fill_p0 ins(%in = %[[FROM_ITENSOR]] : !stream.stream<vector<2xf32>, depth: 2>) outs(%out = %p0_buffer : !block) kind converter {
// CHECK: %[[ACQUIRE:.*]] = stream.acquire %out : !block -> memref<2x2xvector<2xf32>>
// CHECK: %[[READ:.*]] = stream.read %in : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: dataflow.task @drain_p0 ins(%in = %p0_buffer : !block) outs(%out = %p0_reordered : !stream.stream<vector<2xf32>, depth: 2>) kind converter {
// CHECK: %[[ACQUIRE1:.*]] = stream.acquire %in : !block -> memref<2x2xvector<2xf32>>
// CHECK: stream.write %[[READ]] into %out : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: %c_buffer = stream.buffer @c_buffer : !block
// CHECK-NEXT: %c_reordered = stream.create @c_reordered {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.to_itensor %c_reordered : !stream.stream<vector<2xf32>, depth: 2> to !itensor
// CHECK-NEXT: dataflow.task @fill_c ins(%in = %p0_reordered : !stream.stream<vector<2xf32>, depth: 2>) outs(%out = %c_buffer : !block) kind converter {
// CHECK: %[[ACQUIRE:.*]] = stream.acquire %out : !block -> memref<2x2xvector<2xf32>>
// CHECK: %[[READ1:.*]] = stream.read %in : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: dataflow.task @drain_c ins(%in = %c_buffer : !block) outs(%out = %c_reordered : !stream.stream<vector<2xf32>, depth: 2>) kind converter {
// CHECK: %[[ACQUIRE1:.*]] = stream.acquire %in : !block -> memref<2x2xvector<2xf32>>
// CHECK: stream.write %[[READ1]] into %out : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: %p1_buffer = stream.buffer @p1_buffer : !block
// CHECK-NEXT: %p1_reordered = stream.create @p1_reordered {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.to_itensor %p1_reordered : !stream.stream<vector<2xf32>, depth: 2> to !itensor1
// CHECK-NEXT: dataflow.task @fill_p1 ins(%in = %c_reordered : !stream.stream<vector<2xf32>, depth: 2>) outs(%out = %p1_buffer : !block) kind converter {
// CHECK: %[[ACQUIRE:.*]] = stream.acquire %out : !block -> memref<2x2xvector<2xf32>>
// CHECK: %[[READ:.*]] = stream.read %in : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: dataflow.task @drain_p1 ins(%in = %p1_buffer : !block) outs(%out = %p1_reordered : !stream.stream<vector<2xf32>, depth: 2>) kind converter {
// CHECK: %[[ACQUIRE1:.*]] = stream.acquire %in : !block -> memref<2x2xvector<2xf32>>
// CHECK: stream.write %[[READ]] into %out : !stream.stream<vector<2xf32>, depth: 2>

// -----

// Windows of two rows that slide by one: two rows, then a row and a window at a time. The third line replaces the first.
// SHOW: stream\.create|stream\.\w+ %|scf.for .*step %\w+|addi|cmpi|subi|select|vector\.\w+ %.*?\] ...
!itensor = !itensor.itensor<1x4xf32, iter_space: [9, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!itensor1 = !itensor.itensor<1x4xf32, iter_space: [32] * [1], iter_map: (d0) -> (d0, 0)>
!itensor2 = !itensor.itensor<1x4xf32, iter_space: [8, 2, 2] * [1, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
func.func @lines(%x0: tensor<9x8xf32>) -> tensor<32x4xf32> {
  %r0 = dataflow.kernel @k(%p0 = %x0 : tensor<9x8xf32> as !itensor) -> (tensor<32x4xf32> as !itensor1) {
    %c = itensor.converter %p0 {shared_loops = 0, buffer_shape = [2, 8], blocks = 1, window = 0} : !itensor to !itensor2
    %f = itensor.reassociate %c : !itensor2 to !itensor1
    dataflow.yield %f : !itensor1
  }
  func.return %r0 : tensor<32x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [9, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor2 = !itensor.itensor<1x4xf32, iter_space: [8, 2, 2] * [1, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
// CHECK-LABEL: func.func @lines(
// CHECK: stream.from_itensor %p0 : !itensor to !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: %p0_reordered = stream.create @p0_reordered {tokens = 32 : i64, distinct_tokens = 32 : i64} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: stream.to_itensor %p0_reordered : !stream.stream<vector<4xf32>, depth: 2> to !itensor2
// CHECK: scf.for %entry = %c0 to %c8 step %c4 {
// CHECK: %[[READ:.*]] = stream.read %in : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: vector.store %[[READ]], %lines[%c0_{{.*}}, %entry]
// CHECK: scf.for %repeat = %c0_{{.*}} to %c4_{{.*}} step %c1 {
// CHECK: scf.for %[[ENTRY:.*]] = %c0_{{.*}} to %c8_{{.*}} step %c4_{{.*}} {
// CHECK: %[[ADDI:.*]] = arith.addi %c0_{{.*}}, %c1_{{.*}} : index
// CHECK-NEXT: %[[READ1:.*]] = stream.read %in : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: vector.store %[[READ1]], %lines[%[[ADDI]], %[[ENTRY]]]
// CHECK: scf.for %column = %c0_{{.*}} to %c8_{{.*}} step %c4_{{.*}} {
// CHECK-NEXT: scf.for %row = %c0_{{.*}} to %c2 step %c1_{{.*}} {
// CHECK-NEXT: %[[LOAD:.*]] = vector.load %lines[%row, %column]
// CHECK-NEXT: stream.write %[[LOAD]] into %out : !stream.stream<vector<4xf32>, depth: 2>
// CHECK: scf.for %[[ENTRY1:.*]] = %c0_{{.*}} to %c8_{{.*}} step %c4_{{.*}} {
// CHECK: %[[READ2:.*]] = stream.read %in : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: vector.store %[[READ2]], %lines[%c0_{{.*}}, %[[ENTRY1]]]
// CHECK: scf.for %[[COLUMN:.*]] = %c0_{{.*}} to %c8_{{.*}} step %c4_{{.*}} {
// CHECK-NEXT: scf.for %[[ROW:.*]] = %c0_{{.*}} to %c2_{{.*}} step %c1_{{.*}} {
// CHECK: %[[ADDI1:.*]] = arith.addi %[[ROW]], %c1_{{.*}} : index
// CHECK: %[[CMPI:.*]] = arith.cmpi sge, %[[ADDI1]], %c2_{{.*}} : index
// CHECK-NEXT: %[[SUBI:.*]] = arith.subi %[[ADDI1]], %c2_{{.*}} : index
// CHECK-NEXT: %[[SELECT:.*]] = arith.select %[[CMPI]], %[[SUBI]], %[[ADDI1]] : index
// CHECK-NEXT: %[[LOAD1:.*]] = vector.load %lines[%[[SELECT]], %[[COLUMN]]]
// CHECK-NEXT: stream.write %[[LOAD1]] into %out : !stream.stream<vector<4xf32>, depth: 2>
