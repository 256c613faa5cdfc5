// RUN: stc-opt %s -p 'lower-dmas' --split-input-file | filecheck %s

// One token per word: both loops address neighbouring words, so they become one burst.
!X = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @words(%x: tensor<6xvector<4xf32>>) -> tensor<6xvector<4xf32>> {
  %y = dataflow.kernel @k(%p = %x : tensor<6xvector<4xf32>> as !X) -> (tensor<6xvector<4xf32>> as !X) {
    dataflow.yield %p : !X
  }
  func.return %y : tensor<6xvector<4xf32>>
}

// CHECK-LABEL: func.func @words(
// CHECK-NEXT: %y = dataflow.kernel @k(%p = %x : tensor<6xvector<4xf32>> as memref<6xvector<4xf32>>) -> (tensor<6xvector<4xf32>> as memref<6xvector<4xf32>>) {
// CHECK-NEXT: %p_stream = stream.create @p_stream {tokens = 6 : i64, distinct_tokens = 6 : i64} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @load_p ins(%p_1 = %p : memref<6xvector<4xf32>>) outs(%out = %p_stream : !stream.stream<vector<4xf32>, depth: 2>) kind load {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c6 = arith.constant 6 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %word = %c0 to %c6 step %c1 {
// CHECK-NEXT: %0 = memref.load %p_1[%word] : memref<6xvector<4xf32>>
// CHECK-NEXT: stream.write %0 into %out : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: %p_1 = stream.to_itensor %p_stream : !stream.stream<vector<4xf32>, depth: 2> to !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-NEXT: %y_1 = dataflow.memory @y : memref<6xvector<4xf32>>
// CHECK-NEXT: dataflow.task @store_y ins(%in = %p_stream : !stream.stream<vector<4xf32>, depth: 2>) outs(%y_2 = %y_1 : memref<6xvector<4xf32>>) kind store {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c6 = arith.constant 6 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %word = %c0 to %c6 step %c1 {
// CHECK-NEXT: %0 = stream.read %in : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: memref.store %0, %y_2[%word] : memref<6xvector<4xf32>>
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield %y_1 : memref<6xvector<4xf32>>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %y : tensor<6xvector<4xf32>>

// -----

// Four tokens of 2 per word of 8: a word is cut into tokens, or assembled, at lanes known beforehand.
// SHOW: stream\.|task|scf.for|memref|vector|muli|addi|constant|kernel
!X = !itensor.itensor<1x2xf32, iter_space: [6, 4] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @tokens_of_a_word(%x: tensor<6xvector<8xf32>>) -> tensor<6xvector<8xf32>> {
  %y = dataflow.kernel @k(%p = %x : tensor<6xvector<8xf32>> as !X) -> (tensor<6xvector<8xf32>> as !X) {
    dataflow.yield %p : !X
  }
  func.return %y : tensor<6xvector<8xf32>>
}

// CHECK-LABEL: func.func @tokens_of_a_word(
// CHECK-NEXT: %y = dataflow.kernel @k(%p = %x : tensor<6xvector<8xf32>> as memref<6xvector<8xf32>>) -> (tensor<6xvector<8xf32>> as memref<6xvector<8xf32>>) {
// CHECK-NEXT: %p_stream = stream.create @p_stream {tokens = 24 : i64, distinct_tokens = 24 : i64} : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @load_p ins(%p_1 = %p : memref<6xvector<8xf32>>) outs(%out = %p_stream : !stream.stream<vector<2xf32>, depth: 2>) kind load {
// CHECK-NEXT: %packed = memref.alloc() : memref<8xf32>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c6 = arith.constant 6 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %word = %c0 to %c6 step %c1 {
// CHECK-NEXT: %0 = memref.load %p_1[%word] : memref<6xvector<8xf32>>
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: vector.store %0, %packed[%c0_1] : memref<8xf32>, vector<8xf32>
// CHECK-NEXT: %c0_2 = arith.constant 0 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %c2 = arith.constant 2 : index
// CHECK-NEXT: scf.for %first_lane = %c0_2 to %c8 step %c2 {
// CHECK-NEXT: %1 = vector.load %packed[%first_lane] : memref<8xf32>, vector<2xf32>
// CHECK-NEXT: stream.write %1 into %out : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: %p_1 = stream.to_itensor %p_stream : !stream.stream<vector<2xf32>, depth: 2> to !itensor.itensor<1x2xf32, iter_space: [6, 4] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-NEXT: %y_1 = dataflow.memory @y : memref<6xvector<8xf32>>
// CHECK-NEXT: dataflow.task @store_y ins(%in = %p_stream : !stream.stream<vector<2xf32>, depth: 2>) outs(%y_2 = %y_1 : memref<6xvector<8xf32>>) kind store {
// CHECK-NEXT: %packed = memref.alloc() : memref<8xf32>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c6 = arith.constant 6 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %word = %c0 to %c6 step %c1 {
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %c2 = arith.constant 2 : index
// CHECK-NEXT: scf.for %first_lane = %c0_1 to %c8 step %c2 {
// CHECK-NEXT: %0 = stream.read %in : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: vector.store %0, %packed[%first_lane] : memref<8xf32>, vector<2xf32>
// CHECK: %c0_2 = arith.constant 0 : index
// CHECK-NEXT: %1 = vector.load %packed[%c0_2] : memref<8xf32>, vector<8xf32>
// CHECK-NEXT: memref.store %1, %y_2[%word] : memref<6xvector<8xf32>>
// CHECK: dataflow.yield %y_1 : memref<6xvector<8xf32>>
// CHECK: func.return %y : tensor<6xvector<8xf32>>

// -----

// Seven entries in a word of eight: the last lane is padding.
// SHOW: stream\.|task|scf.for|memref|vector|muli|addi|constant|kernel
!X = !itensor.itensor<1x7xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
func.func @padding(%x: tensor<3xvector<8xf32>>) -> tensor<3xvector<8xf32>> {
  %y = dataflow.kernel @k(%p = %x : tensor<3xvector<8xf32>> as !X) -> (tensor<3xvector<8xf32>> as !X) {
    dataflow.yield %p : !X
  }
  func.return %y : tensor<3xvector<8xf32>>
}

// CHECK-LABEL: func.func @padding(
// CHECK-NEXT: %y = dataflow.kernel @k(%p = %x : tensor<3xvector<8xf32>> as memref<3xvector<8xf32>>) -> (tensor<3xvector<8xf32>> as memref<3xvector<8xf32>>) {
// CHECK-NEXT: %p_stream = stream.create @p_stream {tokens = 3 : i64, distinct_tokens = 3 : i64} : !stream.stream<vector<7xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @load_p ins(%p_1 = %p : memref<3xvector<8xf32>>) outs(%out = %p_stream : !stream.stream<vector<7xf32>, depth: 2>) kind load {
// CHECK-NEXT: %packed = memref.alloc() : memref<8xf32>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c3 = arith.constant 3 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %word = %c0 to %c3 step %c1 {
// CHECK-NEXT: %0 = memref.load %p_1[%word] : memref<3xvector<8xf32>>
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: vector.store %0, %packed[%c0_1] : memref<8xf32>, vector<8xf32>
// CHECK-NEXT: %c0_2 = arith.constant 0 : index
// CHECK-NEXT: %1 = vector.load %packed[%c0_2] : memref<8xf32>, vector<7xf32>
// CHECK-NEXT: stream.write %1 into %out : !stream.stream<vector<7xf32>, depth: 2>
// CHECK: %p_1 = stream.to_itensor %p_stream : !stream.stream<vector<7xf32>, depth: 2> to !itensor.itensor<1x7xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK-NEXT: %y_1 = dataflow.memory @y : memref<3xvector<8xf32>>
// CHECK-NEXT: dataflow.task @store_y ins(%in = %p_stream : !stream.stream<vector<7xf32>, depth: 2>) outs(%y_2 = %y_1 : memref<3xvector<8xf32>>) kind store {
// CHECK-NEXT: %packed = memref.alloc() : memref<8xf32>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c3 = arith.constant 3 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %word = %c0 to %c3 step %c1 {
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: %0 = stream.read %in : !stream.stream<vector<7xf32>, depth: 2>
// CHECK-NEXT: vector.store %0, %packed[%c0_1] : memref<8xf32>, vector<7xf32>
// CHECK-NEXT: %c0_2 = arith.constant 0 : index
// CHECK-NEXT: %1 = vector.load %packed[%c0_2] : memref<8xf32>, vector<8xf32>
// CHECK-NEXT: memref.store %1, %y_2[%word] : memref<3xvector<8xf32>>
// CHECK: dataflow.yield %y_1 : memref<3xvector<8xf32>>
// CHECK: func.return %y : tensor<3xvector<8xf32>>

// -----

// Reuse loops read the same words again: outside the words (d0), and between them (d2).
// SHOW: stream\.|task|scf.for|memref|vector|muli|addi|constant|kernel
!X = !itensor.itensor<4xf32, iter_space: [5, 2, 3, 2] * [1, 8, 1, 4], iter_map: (d0, d1, d2, d3) -> (d1 + d3)>
!Y = !itensor.itensor<4xf32, iter_space: [4] * [4], iter_map: (d0) -> (d0)>
func.func @reuse(%x: tensor<4xvector<4xf32>>) -> tensor<4xvector<4xf32>> {
  %y = dataflow.kernel @k(%p = %x : tensor<4xvector<4xf32>> as !X) -> (tensor<4xvector<4xf32>> as !Y) {
    %c = itensor.converter %p {shared_loops = 0, buffer_shape = [16], blocks = 1} : !X to !Y
    dataflow.yield %c : !Y
  }
  func.return %y : tensor<4xvector<4xf32>>
}

// CHECK: !itensor = !itensor.itensor<4xf32, iter_space: [5, 2, 3, 2] * [1, 8, 1, 4], iter_map: (d0, d1, d2, d3) -> (d1 + d3)>
// CHECK: !itensor1 = !itensor.itensor<4xf32, iter_space: [4] * [4], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @reuse(
// CHECK-NEXT: %y = dataflow.kernel @k(%p = %x : tensor<4xvector<4xf32>> as memref<4xvector<4xf32>>) -> (tensor<4xvector<4xf32>> as memref<4xvector<4xf32>>) {
// CHECK-NEXT: %p_stream = stream.create @p_stream {tokens = 60 : i64, distinct_tokens = 4 : i64} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @load_p ins(%p_1 = %p : memref<4xvector<4xf32>>) outs(%out = %p_stream : !stream.stream<vector<4xf32>, depth: 2>) kind load {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c5 = arith.constant 5 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: %c2 = arith.constant 2 : index
// CHECK-NEXT: %c1_1 = arith.constant 1 : index
// CHECK-NEXT: %c0_2 = arith.constant 0 : index
// CHECK-NEXT: %c3 = arith.constant 3 : index
// CHECK-NEXT: %c1_2 = arith.constant 1 : index
// CHECK-NEXT: %c0_3 = arith.constant 0 : index
// CHECK-NEXT: %c2_1 = arith.constant 2 : index
// CHECK-NEXT: %c1_3 = arith.constant 1 : index
// CHECK-NEXT: scf.for %visit = %c0 to %c5 step %c1 {
// CHECK-NEXT: scf.for %group = %c0_1 to %c2 step %c1_1 {
// CHECK-NEXT: scf.for %visit_1 = %c0_2 to %c3 step %c1_2 {
// CHECK-NEXT: scf.for %word = %c0_3 to %c2_1 step %c1_3 {
// CHECK-NEXT: %c2_2 = arith.constant 2 : index
// CHECK-NEXT: %0 = arith.muli %group, %c2_2 : index
// CHECK-NEXT: %1 = arith.addi %0, %word : index
// CHECK-NEXT: %2 = memref.load %p_1[%1] : memref<4xvector<4xf32>>
// CHECK-NEXT: stream.write %2 into %out : !stream.stream<vector<4xf32>, depth: 2>
// CHECK: %p_1 = stream.to_itensor %p_stream : !stream.stream<vector<4xf32>, depth: 2> to !itensor
// CHECK: %y_1 = dataflow.memory @y : memref<4xvector<4xf32>>
// CHECK-NEXT: %0 = stream.from_itensor %c : !itensor1 to !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @store_y ins(%in = %0 : !stream.stream<vector<4xf32>, depth: 2>) outs(%y_2 = %y_1 : memref<4xvector<4xf32>>) kind store {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %word = %c0 to %c4 step %c1 {
// CHECK-NEXT: %1 = stream.read %in : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: memref.store %1, %y_2[%word] : memref<4xvector<4xf32>>
// CHECK: dataflow.yield %y_1 : memref<4xvector<4xf32>>
// CHECK: func.return %y : tensor<4xvector<4xf32>>

// -----

// Rank 0: one word of one lane, no loop.
// SHOW: stream\.|task|scf.for|memref|vector|muli|addi|constant|kernel
!X = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
func.func @scalar(%x: tensor<1xvector<1xf32>>) -> tensor<1xvector<1xf32>> {
  %y = dataflow.kernel @k(%p = %x : tensor<1xvector<1xf32>> as !X) -> (tensor<1xvector<1xf32>> as !X) {
    dataflow.yield %p : !X
  }
  func.return %y : tensor<1xvector<1xf32>>
}

// CHECK-LABEL: func.func @scalar(
// CHECK-NEXT: %y = dataflow.kernel @k(%p = %x : tensor<1xvector<1xf32>> as memref<1xvector<1xf32>>) -> (tensor<1xvector<1xf32>> as memref<1xvector<1xf32>>) {
// CHECK-NEXT: %p_stream = stream.create @p_stream {tokens = 1 : i64, distinct_tokens = 1 : i64} : !stream.stream<vector<1xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @load_p ins(%p_1 = %p : memref<1xvector<1xf32>>) outs(%out = %p_stream : !stream.stream<vector<1xf32>, depth: 2>) kind load {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %0 = memref.load %p_1[%c0] : memref<1xvector<1xf32>>
// CHECK-NEXT: stream.write %0 into %out : !stream.stream<vector<1xf32>, depth: 2>
// CHECK: %p_1 = stream.to_itensor %p_stream : !stream.stream<vector<1xf32>, depth: 2> to !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
// CHECK-NEXT: %y_1 = dataflow.memory @y : memref<1xvector<1xf32>>
// CHECK-NEXT: dataflow.task @store_y ins(%in = %p_stream : !stream.stream<vector<1xf32>, depth: 2>) outs(%y_2 = %y_1 : memref<1xvector<1xf32>>) kind store {
// CHECK-NEXT: %0 = stream.read %in : !stream.stream<vector<1xf32>, depth: 2>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: memref.store %0, %y_2[%c0] : memref<1xvector<1xf32>>
// CHECK: dataflow.yield %y_1 : memref<1xvector<1xf32>>
// CHECK: func.return %y : tensor<1xvector<1xf32>>

// -----

// Three entries in slots of four, four of them in a word of 16: tokens of both loops, one after the other.
// SHOW: stream\.|task|scf.for|memref|vector|muli|addi|constant|kernel
!X = !itensor.itensor<1x3xf16, iter_space: [6, 2] * [1, 3], iter_map: (d0, d1) -> (d0, d1)>
func.func @slots(%x: tensor<3xvector<16xf16>>) -> tensor<3xvector<16xf16>> {
  %y = dataflow.kernel @k(%p = %x : tensor<3xvector<16xf16>> as !X) -> (tensor<3xvector<16xf16>> as !X) {
    dataflow.yield %p : !X
  }
  func.return %y : tensor<3xvector<16xf16>>
}

// CHECK-LABEL: func.func @slots(
// CHECK-NEXT: %y = dataflow.kernel @k(%p = %x : tensor<3xvector<16xf16>> as memref<3xvector<16xf16>>) -> (tensor<3xvector<16xf16>> as memref<3xvector<16xf16>>) {
// CHECK-NEXT: %p_stream = stream.create @p_stream {tokens = 12 : i64, distinct_tokens = 12 : i64} : !stream.stream<vector<3xf16>, depth: 2>
// CHECK-NEXT: dataflow.task @load_p ins(%p_1 = %p : memref<3xvector<16xf16>>) outs(%out = %p_stream : !stream.stream<vector<3xf16>, depth: 2>) kind load {
// CHECK-NEXT: %packed = memref.alloc() : memref<16xf16>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c3 = arith.constant 3 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %word = %c0 to %c3 step %c1 {
// CHECK-NEXT: %0 = memref.load %p_1[%word] : memref<3xvector<16xf16>>
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: vector.store %0, %packed[%c0_1] : memref<16xf16>, vector<16xf16>
// CHECK-NEXT: %c0_2 = arith.constant 0 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: scf.for %first_lane = %c0_2 to %c16 step %c4 {
// CHECK-NEXT: %1 = vector.load %packed[%first_lane] : memref<16xf16>, vector<3xf16>
// CHECK-NEXT: stream.write %1 into %out : !stream.stream<vector<3xf16>, depth: 2>
// CHECK: %p_1 = stream.to_itensor %p_stream : !stream.stream<vector<3xf16>, depth: 2> to !itensor.itensor<1x3xf16, iter_space: [6, 2] * [1, 3], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-NEXT: %y_1 = dataflow.memory @y : memref<3xvector<16xf16>>
// CHECK-NEXT: dataflow.task @store_y ins(%in = %p_stream : !stream.stream<vector<3xf16>, depth: 2>) outs(%y_2 = %y_1 : memref<3xvector<16xf16>>) kind store {
// CHECK-NEXT: %packed = memref.alloc() : memref<16xf16>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c3 = arith.constant 3 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %word = %c0 to %c3 step %c1 {
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: scf.for %first_lane = %c0_1 to %c16 step %c4 {
// CHECK-NEXT: %0 = stream.read %in : !stream.stream<vector<3xf16>, depth: 2>
// CHECK-NEXT: vector.store %0, %packed[%first_lane] : memref<16xf16>, vector<3xf16>
// CHECK: %c0_2 = arith.constant 0 : index
// CHECK-NEXT: %1 = vector.load %packed[%c0_2] : memref<16xf16>, vector<16xf16>
// CHECK-NEXT: memref.store %1, %y_2[%word] : memref<3xvector<16xf16>>
// CHECK: dataflow.yield %y_1 : memref<3xvector<16xf16>>
// CHECK: func.return %y : tensor<3xvector<16xf16>>
