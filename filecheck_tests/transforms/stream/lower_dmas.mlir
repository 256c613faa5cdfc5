// RUN: stc-opt %s -p 'lower-dmas' --split-input-file | filecheck %s

// One token per word: both loops address neighbouring words, so they become one burst.
// SHOW: stream\.\w+ %.* : ...|scf.for .*step %\w+|memref.load .*\] ...|memref.store .*\] ...|vector\.\w+ %.*?\] ...|muli|addi
!itensor = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @words(%x: tensor<6xvector<4xf32>>) -> tensor<6xvector<4xf32>> {
  %y = dataflow.kernel @k(%p = %x : tensor<6xvector<4xf32>> as !itensor) -> (tensor<6xvector<4xf32>> as !itensor) {
    dataflow.yield %p : !itensor
  }
  func.return %y : tensor<6xvector<4xf32>>
}

// CHECK-LABEL: func.func @words(
// CHECK: scf.for %word = %c0 to %c6 step %c1 {
// CHECK-NEXT: %[[LOAD:.*]] = memref.load %p_{{.*}}[%word]
// CHECK-NEXT: stream.write %[[LOAD]] into %out :
// CHECK: %[[P:.*]] = stream.to_itensor %p_stream :
// CHECK: scf.for %word = %c0 to %c6 step %c1 {
// CHECK-NEXT: %[[READ:.*]] = stream.read %in :
// CHECK-NEXT: memref.store %[[READ]], %y_{{.*}}[%word]

// -----

// Four tokens of 2 per word of 8: a word is cut into tokens, or assembled, at lanes known beforehand.
// SHOW: stream\.\w+ %.* : ...|scf.for .*step %\w+|memref.load .*\] ...|memref.store .*\] ...|vector\.\w+ %.*?\] ...|muli|addi
!itensor = !itensor.itensor<1x2xf32, iter_space: [6, 4] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @tokens_of_a_word(%x: tensor<6xvector<8xf32>>) -> tensor<6xvector<8xf32>> {
  %y = dataflow.kernel @k(%p = %x : tensor<6xvector<8xf32>> as !itensor) -> (tensor<6xvector<8xf32>> as !itensor) {
    dataflow.yield %p : !itensor
  }
  func.return %y : tensor<6xvector<8xf32>>
}

// CHECK-LABEL: func.func @tokens_of_a_word(
// CHECK: scf.for %word = %c0 to %c6 step %c1 {
// CHECK-NEXT: %[[LOAD:.*]] = memref.load %p_{{.*}}[%word]
// CHECK: vector.store %[[LOAD]], %packed[%c0_{{.*}}]
// CHECK: scf.for %first_lane = %c0_{{.*}} to %c8 step %c2 {
// CHECK-NEXT: %[[LOAD1:.*]] = vector.load %packed[%first_lane]
// CHECK-NEXT: stream.write %[[LOAD1]] into %out :
// CHECK: %[[P:.*]] = stream.to_itensor %p_stream :
// CHECK: scf.for %word = %c0 to %c6 step %c1 {
// CHECK: scf.for %first_lane = %c0_{{.*}} to %c8 step %c2 {
// CHECK-NEXT: %[[READ:.*]] = stream.read %in :
// CHECK-NEXT: vector.store %[[READ]], %packed[%first_lane]
// CHECK: %[[LOAD:.*]] = vector.load %packed[%c0_{{.*}}]
// CHECK-NEXT: memref.store %[[LOAD]], %y_{{.*}}[%word]

// -----

// Seven entries in a word of eight: the last lane is padding.
// SHOW: stream\.\w+ %.* : ...|scf.for .*step %\w+|memref.load .*\] ...|memref.store .*\] ...|vector\.\w+ %.*?\] ...|muli|addi
!itensor = !itensor.itensor<1x7xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
func.func @padding(%x: tensor<3xvector<8xf32>>) -> tensor<3xvector<8xf32>> {
  %y = dataflow.kernel @k(%p = %x : tensor<3xvector<8xf32>> as !itensor) -> (tensor<3xvector<8xf32>> as !itensor) {
    dataflow.yield %p : !itensor
  }
  func.return %y : tensor<3xvector<8xf32>>
}

// CHECK-LABEL: func.func @padding(
// CHECK: scf.for %word = %c0 to %c3 step %c1 {
// CHECK-NEXT: %[[LOAD:.*]] = memref.load %p_{{.*}}[%word]
// CHECK: vector.store %[[LOAD]], %packed[%c0_{{.*}}]
// CHECK: %[[LOAD1:.*]] = vector.load %packed[%c0_{{.*}}]
// CHECK-NEXT: stream.write %[[LOAD1]] into %out :
// CHECK: %[[P:.*]] = stream.to_itensor %p_stream :
// CHECK: scf.for %word = %c0 to %c3 step %c1 {
// CHECK: %[[READ:.*]] = stream.read %in :
// CHECK-NEXT: vector.store %[[READ]], %packed[%c0_{{.*}}]
// CHECK: %[[LOAD:.*]] = vector.load %packed[%c0_{{.*}}]
// CHECK-NEXT: memref.store %[[LOAD]], %y_{{.*}}[%word]

// -----

// Reuse loops read the same words again: outside the words (d0), and between them (d2).
// SHOW: stream\.\w+ %.* : ...|scf.for .*step %\w+|memref.load .*\] ...|memref.store .*\] ...|vector\.\w+ %.*?\] ...|muli|addi
!itensor = !itensor.itensor<4xf32, iter_space: [5, 2, 3, 2] * [1, 8, 1, 4], iter_map: (d0, d1, d2, d3) -> (d1 + d3)>
!itensor1 = !itensor.itensor<4xf32, iter_space: [4] * [4], iter_map: (d0) -> (d0)>
func.func @reuse(%x: tensor<4xvector<4xf32>>) -> tensor<4xvector<4xf32>> {
  %y = dataflow.kernel @k(%p = %x : tensor<4xvector<4xf32>> as !itensor) -> (tensor<4xvector<4xf32>> as !itensor1) {
    %c = itensor.converter %p {shared_loops = 0, buffer_shape = [16], blocks = 1} : !itensor to !itensor1
    dataflow.yield %c : !itensor1
  }
  func.return %y : tensor<4xvector<4xf32>>
}

// CHECK-LABEL: func.func @reuse(
// CHECK: scf.for %visit = %c0 to %c5 step %c1 {
// CHECK-NEXT: scf.for %group = %c0_{{.*}} to %c2 step %c1_{{.*}} {
// CHECK-NEXT: scf.for %visit_{{.*}} = %c0_{{.*}} to %c3 step %c1_{{.*}} {
// CHECK-NEXT: scf.for %word = %c0_{{.*}} to %c2_{{.*}} step %c1_{{.*}} {
// CHECK: %[[MULI:.*]] = arith.muli %group, %c2_{{.*}} : index
// CHECK-NEXT: %[[ADDI:.*]] = arith.addi %[[MULI]], %word : index
// CHECK-NEXT: %[[LOAD:.*]] = memref.load %p_{{.*}}[%[[ADDI]]]
// CHECK-NEXT: stream.write %[[LOAD]] into %out :
// CHECK: %[[P:.*]] = stream.to_itensor %p_stream :
// CHECK: %[[FROM_ITENSOR:.*]] = stream.from_itensor %c :
// CHECK: scf.for %word = %c0 to %c4 step %c1 {
// CHECK-NEXT: %[[READ:.*]] = stream.read %in :
// CHECK-NEXT: memref.store %[[READ]], %y_{{.*}}[%word]

// -----

// Rank 0: one word of one lane, no loop.
// SHOW: stream\.\w+ %.* : ...|scf.for .*step %\w+|memref.load .*\] ...|memref.store .*\] ...|vector\.\w+ %.*?\] ...|muli|addi
!itensor = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
func.func @scalar(%x: tensor<1xvector<1xf32>>) -> tensor<1xvector<1xf32>> {
  %y = dataflow.kernel @k(%p = %x : tensor<1xvector<1xf32>> as !itensor) -> (tensor<1xvector<1xf32>> as !itensor) {
    dataflow.yield %p : !itensor
  }
  func.return %y : tensor<1xvector<1xf32>>
}

// CHECK-LABEL: func.func @scalar(
// CHECK: %[[LOAD:.*]] = memref.load %p_{{.*}}[%c0]
// CHECK-NEXT: stream.write %[[LOAD]] into %out :
// CHECK: %[[P:.*]] = stream.to_itensor %p_stream :
// CHECK: %[[READ:.*]] = stream.read %in :
// CHECK: memref.store %[[READ]], %y_{{.*}}[%c0]

// -----

// Three entries in slots of four, four of them in a word of 16: tokens of both loops, one after the other.
// SHOW: stream\.\w+ %.* : ...|scf.for .*step %\w+|memref.load .*\] ...|memref.store .*\] ...|vector\.\w+ %.*?\] ...|muli|addi
!itensor = !itensor.itensor<1x3xf16, iter_space: [6, 2] * [1, 3], iter_map: (d0, d1) -> (d0, d1)>
func.func @slots(%x: tensor<3xvector<16xf16>>) -> tensor<3xvector<16xf16>> {
  %y = dataflow.kernel @k(%p = %x : tensor<3xvector<16xf16>> as !itensor) -> (tensor<3xvector<16xf16>> as !itensor) {
    dataflow.yield %p : !itensor
  }
  func.return %y : tensor<3xvector<16xf16>>
}

// CHECK-LABEL: func.func @slots(
// CHECK: scf.for %word = %c0 to %c3 step %c1 {
// CHECK-NEXT: %[[LOAD:.*]] = memref.load %p_{{.*}}[%word]
// CHECK: vector.store %[[LOAD]], %packed[%c0_{{.*}}]
// CHECK: scf.for %first_lane = %c0_{{.*}} to %c16 step %c4 {
// CHECK-NEXT: %[[LOAD1:.*]] = vector.load %packed[%first_lane]
// CHECK-NEXT: stream.write %[[LOAD1]] into %out :
// CHECK: %[[P:.*]] = stream.to_itensor %p_stream :
// CHECK: scf.for %word = %c0 to %c3 step %c1 {
// CHECK: scf.for %first_lane = %c0_{{.*}} to %c16 step %c4 {
// CHECK-NEXT: %[[READ:.*]] = stream.read %in :
// CHECK-NEXT: vector.store %[[READ]], %packed[%first_lane]
// CHECK: %[[LOAD:.*]] = vector.load %packed[%c0_{{.*}}]
// CHECK-NEXT: memref.store %[[LOAD]], %y_{{.*}}[%word]

// -----

// A row is written at a position known at run time, into memory of which the rows before it are read.
// SHOW: load_.*outs...|store_.*outs...|stream.read|itensor.size|scf.for|muli|addi|memref.load .*\] ...|memref.store .*\] ...
!C = !itensor.itensor<1x1x8xf32, iter_space: [2, 6] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
!R = !itensor.itensor<1x1x8xf32, iter_space: [2, pos<=5] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
!N = !itensor.itensor<1x1x8xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0, 0)>
func.func @append(%c: tensor<12xvector<8xf32>>, %x: tensor<2xvector<8xf32>>, %p: i32) -> (tensor<10xvector<8xf32>>, tensor<12xvector<8xf32>>) {
  %y, %u = dataflow.kernel @k(%s = %c : tensor<12xvector<8xf32>> as !R, %new = %x : tensor<2xvector<8xf32>> as !N, %pos = %p : i32 as !itensor.symbol<pos<=5>)
      -> (tensor<10xvector<8xf32>> as !R, tensor<12xvector<8xf32>> as !N into %s at [0, %pos, 0] of !C) {
    dataflow.yield %s, %new : !R, !N
  }
  func.return %y, %u : tensor<10xvector<8xf32>>, tensor<12xvector<8xf32>>
}

// CHECK-LABEL: func.func @append(
// CHECK: dataflow.task @load_s ins(%[[POS:.*]] = %pos : !itensor.symbol<pos<=5>, %[[S:.*]] = %s : memref<12xvector<8xf32>>) outs(%out = %s_stream : !stream.stream<vector<8xf32>, depth: 2>) kind load {
// CHECK: %[[SIZE:.*]] = itensor.size pos<=5 of %[[POS]]
// CHECK: scf.for %group = %c0 to %c2 step %c1 {
// CHECK-NEXT: scf.for %word = %c0_{{.*}} to %[[SIZE]] step %c1_{{.*}} {
// CHECK: %[[MULI:.*]] = arith.muli %group, %c6 : index
// CHECK-NEXT: %[[ADDI:.*]] = arith.addi %[[MULI]], %word : index
// CHECK-NEXT: %[[LOAD:.*]] = memref.load %[[S]][%[[ADDI]]]
// CHECK: dataflow.task @load_new ins(%[[NEW:.*]] = %new : memref<2xvector<8xf32>>) outs(%out = %new_stream : !stream.stream<vector<8xf32>, depth: 2>) kind load {
// CHECK: scf.for %word = %c0 to %c2 step %c1 {
// CHECK-NEXT: %[[LOAD1:.*]] = memref.load %[[NEW]][%word]
// CHECK: dataflow.task @store_y ins(%[[POS1:.*]] = %pos : !itensor.symbol<pos<=5>, %in = %s_stream : !stream.stream<vector<8xf32>, depth: 2>) outs(%[[Y:.*]] = %y_{{.*}} : memref<10xvector<8xf32>>) kind store {
// CHECK: %[[SIZE:.*]] = itensor.size pos<=5 of %[[POS1]]
// CHECK: scf.for %group = %c0 to %c2 step %c1 {
// CHECK-NEXT: scf.for %word = %c0_{{.*}} to %[[SIZE]] step %c1_{{.*}} {
// CHECK-NEXT: %[[READ:.*]] = stream.read %in : !stream.stream<vector<8xf32>, depth: 2>
// CHECK: %[[MULI:.*]] = arith.muli %group, %c5 : index
// CHECK-NEXT: %[[ADDI:.*]] = arith.addi %[[MULI]], %word : index
// CHECK-NEXT: memref.store %[[READ]], %[[Y]][%[[ADDI]]]
// CHECK: dataflow.task @store_u ins(%[[POS:.*]] = %pos : !itensor.symbol<pos<=5>, %in = %new_stream : !stream.stream<vector<8xf32>, depth: 2>) outs(%[[U:.*]] = %u_{{.*}} : memref<12xvector<8xf32>>) kind store {
// CHECK-NEXT: %first_word = itensor.size pos<=5 of %[[POS]]
// CHECK: scf.for %word = %c0 to %c2 step %c1 {
// CHECK-NEXT: %[[READ1:.*]] = stream.read %in : !stream.stream<vector<8xf32>, depth: 2>
// CHECK: %[[MULI1:.*]] = arith.muli %word, %c6 : index
// CHECK-NEXT: %[[ADDI1:.*]] = arith.addi %[[MULI1]], %first_word : index
// CHECK-NEXT: memref.store %[[READ1]], %[[U]][%[[ADDI1]]]

// -----

// What is read is what is written: the writing waits for a token that says that all is read.
// SHOW: load_.*outs...|store_.*outs...|stream.read %end|stream.write .*into %end|scf.for
!R = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!N = !itensor.itensor<1x8xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
func.func @after(%c: tensor<6xvector<8xf32>>, %x: tensor<1xvector<8xf32>>) -> (tensor<6xvector<8xf32>>, tensor<6xvector<8xf32>>) {
  %y, %u = dataflow.kernel @k(%s = %c : tensor<6xvector<8xf32>> as !R, %new = %x : tensor<1xvector<8xf32>> as !N)
      -> (tensor<6xvector<8xf32>> as !R, tensor<6xvector<8xf32>> as !N into %s at [3, 0] of !R after read) {
    dataflow.yield %s, %new : !R, !N
  }
  func.return %y, %u : tensor<6xvector<8xf32>>, tensor<6xvector<8xf32>>
}

// CHECK-LABEL: func.func @after(
// CHECK: dataflow.task @load_s ins(%s_{{.*}} = %s : memref<6xvector<8xf32>>) outs(%out = %s_stream : !stream.stream<vector<8xf32>, depth: 2>, %end = %{{.*}} : !stream.stream<i8, depth: 2>) kind load {
// CHECK: scf.for %word = %c0 to %c6 step %c1 {
// CHECK: stream.write %{{.*}} into %end : !stream.stream<i8, depth: 2>
// CHECK: dataflow.task @load_new ins(%new_{{.*}} = %new : memref<1xvector<8xf32>>) outs(%out = %new_stream : !stream.stream<vector<8xf32>, depth: 2>) kind load {
// CHECK: dataflow.task @store_y ins(%in = %s_stream : !stream.stream<vector<8xf32>, depth: 2>) outs(%y_{{.*}} = %y_{{.*}} : memref<6xvector<8xf32>>) kind store {
// CHECK: scf.for %word = %c0 to %c6 step %c1 {
// CHECK: dataflow.task @store_u ins(%end = %{{.*}} : !stream.stream<i8, depth: 2>, %in = %new_stream : !stream.stream<vector<8xf32>, depth: 2>) outs(%u_{{.*}} = %u_{{.*}} : memref<6xvector<8xf32>>) kind store {
// CHECK-NEXT: stream.read %end : !stream.stream<i8, depth: 2>
