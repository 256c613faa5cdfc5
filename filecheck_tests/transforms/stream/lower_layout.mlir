// RUN: stc-opt %s -p 'lower-layout' --split-input-file | filecheck %s

// A fork reads each token once and writes it to every branch.
!X = !itensor.itensor<2xf32, iter_space: [3] * [2], iter_map: (d0) -> (d0)>
func.func @fork(%x0: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %r0, %r1 = dataflow.kernel @k(%p0 = %x0 : tensor<6xf32> as !X) -> (tensor<6xf32> as !X, tensor<6xf32> as !X) {
    %a, %b = itensor.fork %p0 : !X to !X, !X
    dataflow.yield %a, %b : !X, !X
  }
  func.return %r0, %r1 : tensor<6xf32>, tensor<6xf32>
}

// CHECK: !itensor = !itensor.itensor<2xf32, iter_space: [3] * [2], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @fork(
// CHECK-NEXT: %r0, %r1 = dataflow.kernel @k(%p0 = %x0 : tensor<6xf32> as !itensor) -> (tensor<6xf32> as !itensor, tensor<6xf32> as !itensor) {
// CHECK-NEXT: %[[FROM_ITENSOR:.*]] = stream.from_itensor %p0 : !itensor to !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %p0_copy = stream.create @p0_copy_0 {tokens = 3 : i64, distinct_tokens = 3 : i64, carries = !itensor} : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %a = stream.to_itensor %p0_copy : !stream.stream<vector<2xf32>, depth: 2> to !itensor
// CHECK-NEXT: %[[P0_COPY:.*]] = stream.create @p0_copy_1 {tokens = 3 : i64, distinct_tokens = 3 : i64, carries = !itensor} : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %b = stream.to_itensor %[[P0_COPY]] : !stream.stream<vector<2xf32>, depth: 2> to !itensor
// CHECK-NEXT: dataflow.task @fork_p0 ins(%in0 = %[[FROM_ITENSOR]] : !stream.stream<vector<2xf32>, depth: 2>) outs(%out0 = %p0_copy : !stream.stream<vector<2xf32>, depth: 2>, %out1 = %[[P0_COPY]] : !stream.stream<vector<2xf32>, depth: 2>) kind fork {
// CHECK: scf.for %token = %c0 to %c3 step %c1 {
// CHECK-NEXT: %[[READ:.*]] = stream.read %in0 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.write %[[READ]] into %out0 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.write %[[READ]] into %out1 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: dataflow.yield %a, %b : !itensor, !itensor
// CHECK: func.return %r0, %r1 : tensor<6xf32>, tensor<6xf32>

// -----

// A chunk passes a token on where its coordinate lies in the slice: an upper test for the first slice, a lower one for the
// last.
// SHOW: scf|cmpi|andi|stream\.(read|write)|task
!X = !itensor.itensor<2xf32, iter_space: [3] * [2], iter_map: (d0) -> (d0)>
!Y = !itensor.itensor<2xf32, iter_space: [6] * [2], iter_map: (d0) -> (d0)>
func.func @chunk(%x0: tensor<12xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %r0, %r1 = dataflow.kernel @k(%p0 = %x0 : tensor<12xf32> as !Y) -> (tensor<6xf32> as !X, tensor<6xf32> as !X) {
    %a, %b = itensor.chunk %p0 at [0], [6] : !Y to !X, !X
    dataflow.yield %a, %b : !X, !X
  }
  func.return %r0, %r1 : tensor<6xf32>, tensor<6xf32>
}

// CHECK-LABEL: func.func @chunk(
// CHECK: dataflow.task @chunk_p0 ins(%in0 = %{{.*}} : !stream.stream<vector<2xf32>, depth: 2>) outs(%out0 = %a_stream : !stream.stream<vector<2xf32>, depth: 2>, %out1 = %b_stream : !stream.stream<vector<2xf32>, depth: 2>) kind chunk {
// CHECK: scf.for %entry = %c0 to %c12 step %c2 {
// CHECK-NEXT: %[[READ:.*]] = stream.read %in0 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: %[[CMPI:.*]] = arith.cmpi slt, %entry, %c6 : index
// CHECK-NEXT: scf.if %[[CMPI]] {
// CHECK-NEXT: stream.write %[[READ]] into %out0 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: %[[CMPI1:.*]] = arith.cmpi sge, %entry, %c6_{{.*}} : index
// CHECK-NEXT: scf.if %[[CMPI1]] {
// CHECK-NEXT: stream.write %[[READ]] into %out1 : !stream.stream<vector<2xf32>, depth: 2>

// -----

// A slice in the middle needs both tests; what is in no slice is read and dropped.
// SHOW: scf|cmpi|andi|stream\.(read|write)|task
!X = !itensor.itensor<2xf32, iter_space: [3] * [2], iter_map: (d0) -> (d0)>
!Y = !itensor.itensor<2xf32, iter_space: [6] * [2], iter_map: (d0) -> (d0)>
func.func @middle(%x0: tensor<12xf32>) -> (tensor<6xf32>) {
  %r0 = dataflow.kernel @k(%p0 = %x0 : tensor<12xf32> as !Y) -> (tensor<6xf32> as !X) {
    %a = itensor.chunk %p0 at [2] : !Y to !X
    dataflow.yield %a : !X
  }
  func.return %r0 : tensor<6xf32>
}

// CHECK-LABEL: func.func @middle(
// CHECK: dataflow.task @chunk_p0 ins(%in0 = %{{.*}} : !stream.stream<vector<2xf32>, depth: 2>) outs(%out0 = %a_stream : !stream.stream<vector<2xf32>, depth: 2>) kind chunk {
// CHECK: scf.for %entry = %c0 to %c12 step %c2 {
// CHECK-NEXT: %[[READ:.*]] = stream.read %in0 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: %[[CMPI:.*]] = arith.cmpi sge, %entry, %c2_{{.*}} : index
// CHECK: %[[CMPI1:.*]] = arith.cmpi slt, %entry, %c8 : index
// CHECK-NEXT: %[[ANDI:.*]] = arith.andi %[[CMPI]], %[[CMPI1]] : i1
// CHECK-NEXT: scf.if %[[ANDI]] {
// CHECK-NEXT: stream.write %[[READ]] into %out0 : !stream.stream<vector<2xf32>, depth: 2>

// -----

// A concatenation along the inner axis takes turns between its inputs, row by row.
// SHOW: scf|cmpi|andi|stream\.(read|write)|task
!S = !itensor.itensor<1x2xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
!T = !itensor.itensor<1x2xf32, iter_space: [3, 2] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @concat(%x0: tensor<3x2xf32>, %x1: tensor<3x2xf32>) -> (tensor<3x4xf32>) {
  %r0 = dataflow.kernel @k(%p0 = %x0 : tensor<3x2xf32> as !S, %p1 = %x1 : tensor<3x2xf32> as !S) -> (tensor<3x4xf32> as !T) {
    %c = itensor.concat %p0, %p1 at [0, 0], [0, 2] : !S, !S to !T
    dataflow.yield %c : !T
  }
  func.return %r0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @concat(
// CHECK: dataflow.task @concat_c ins(%in0 = %{{.*}} : !stream.stream<vector<2xf32>, depth: 2>, %in1 = %{{.*}} : !stream.stream<vector<2xf32>, depth: 2>) outs(%out0 = %c_stream : !stream.stream<vector<2xf32>, depth: 2>) kind concat {
// CHECK: scf.for %row = %c0 to %c3 step %c1 {
// CHECK-NEXT: scf.for %column = %c0_{{.*}} to %c4 step %c2 {
// CHECK: %[[CMPI:.*]] = arith.cmpi slt, %column, %c2_{{.*}} : index
// CHECK-NEXT: scf.if %[[CMPI]] {
// CHECK-NEXT: %[[READ:.*]] = stream.read %in0 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.write %[[READ]] into %out0 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: %[[READ1:.*]] = stream.read %in1 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.write %[[READ1]] into %out0 : !stream.stream<vector<2xf32>, depth: 2>

// -----

// Casts and reassociations cost nothing: the stream behind them has another name, also for the task that follows.
// SHOW: stream|task|reassociate
!S = !itensor.itensor<1x2xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
!T = !itensor.itensor<2xf32, iter_space: [3] * [2], iter_map: (d0) -> (d0)>
func.func @rename(%x0: tensor<3x2xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %r0, %r1 = dataflow.kernel @k(%p0 = %x0 : tensor<3x2xf32> as !S) -> (tensor<6xf32> as !T, tensor<6xf32> as !T) {
    %a = itensor.reassociate %p0 : !S to !T
    %b, %c = itensor.fork %a : !T to !T, !T
    dataflow.yield %b, %c : !T, !T
  }
  func.return %r0, %r1 : tensor<6xf32>, tensor<6xf32>
}

// CHECK: !itensor = !itensor.itensor<1x2xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<2xf32, iter_space: [3] * [2], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @rename(
// CHECK: %[[FROM_ITENSOR:.*]] = stream.from_itensor %p0 : !itensor to !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.to_itensor %[[FROM_ITENSOR]] : !stream.stream<vector<2xf32>, depth: 2> to !itensor1
// CHECK-NEXT: %a_copy = stream.create @a_copy_0 {tokens = 3 : i64, distinct_tokens = 3 : i64, carries = !itensor1} : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.to_itensor %a_copy : !stream.stream<vector<2xf32>, depth: 2> to !itensor1
// CHECK-NEXT: %[[A_COPY:.*]] = stream.create @a_copy_1 {tokens = 3 : i64, distinct_tokens = 3 : i64, carries = !itensor1} : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.to_itensor %[[A_COPY]] : !stream.stream<vector<2xf32>, depth: 2> to !itensor1
// CHECK-NEXT: dataflow.task @fork_a ins(%in0 = %[[FROM_ITENSOR]] : !stream.stream<vector<2xf32>, depth: 2>) outs(%out0 = %a_copy : !stream.stream<vector<2xf32>, depth: 2>, %out1 = %[[A_COPY]] : !stream.stream<vector<2xf32>, depth: 2>) kind fork {
// CHECK: %[[READ:.*]] = stream.read %in0 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.write %[[READ]] into %out0 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.write %[[READ]] into %out1 : !stream.stream<vector<2xf32>, depth: 2>

// -----

// A split gives a token to each part in turn, a merge takes one from each: as many per iteration as there are parts.
// SHOW: scf|stream\.(read|write)|task
!X = !itensor.itensor<1x2xf32, iter_space: [3, 6] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
!A = !itensor.itensor<1x2xf32, iter_space: [3, 2] * [1, 6], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<1x2xf32, iter_space: [3, 2] * [1, 6], iter_map: (d0, d1) -> (d0, d1 + 2)>
!C = !itensor.itensor<1x2xf32, iter_space: [3, 2] * [1, 6], iter_map: (d0, d1) -> (d0, d1 + 4)>
func.func @split(%x0: tensor<3x12xf32>) -> (tensor<3x12xf32>) {
  %r0 = dataflow.kernel @k(%p0 = %x0 : tensor<3x12xf32> as !X) -> (tensor<3x12xf32> as !X) {
    %a, %b, %c = itensor.split %p0 : !X to !A, !B, !C
    %j = itensor.merge %a, %b, %c : !A, !B, !C to !X
    dataflow.yield %j : !X
  }
  func.return %r0 : tensor<3x12xf32>
}

// CHECK-LABEL: func.func @split(
// CHECK: dataflow.task @split_p0 ins(%in0 = %{{.*}} : !stream.stream<vector<2xf32>, depth: 2>) outs(%out0 = %p0_part : !stream.stream<vector<2xf32>, depth: 2>, %out1 = %p0_part_{{.*}} : !stream.stream<vector<2xf32>, depth: 2>, %out2 = %p0_part_{{.*}} : !stream.stream<vector<2xf32>, depth: 2>) kind split {
// CHECK: scf.for %token = %c0 to %c6 step %c1 {
// CHECK-NEXT: %[[READ:.*]] = stream.read %in0 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.write %[[READ]] into %out0 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %[[READ1:.*]] = stream.read %in0 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.write %[[READ1]] into %out1 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %[[READ2:.*]] = stream.read %in0 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.write %[[READ2]] into %out2 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK: dataflow.task @merge_j ins(%in0 = %p0_part : !stream.stream<vector<2xf32>, depth: 2>, %in1 = %p0_part_{{.*}} : !stream.stream<vector<2xf32>, depth: 2>, %in2 = %p0_part_{{.*}} : !stream.stream<vector<2xf32>, depth: 2>) outs(%out0 = %j_stream : !stream.stream<vector<2xf32>, depth: 2>) kind merge {
// CHECK: scf.for %token = %c0 to %c6 step %c1 {
// CHECK-NEXT: %[[READ3:.*]] = stream.read %in0 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.write %[[READ3]] into %out0 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %[[READ:.*]] = stream.read %in1 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.write %[[READ]] into %out0 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: %[[READ1:.*]] = stream.read %in2 : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: stream.write %[[READ1]] into %out0 : !stream.stream<vector<2xf32>, depth: 2>

// -----

// Two heads one after the other, and behind the positions of each its new one: no task, nor FIFO, between the concatenations.
!One = !itensor.itensor<1x1x4xf32, iter_space: [pos<=7] * [1], iter_map: (d0) -> (0, d0, 0)>
!Two = !itensor.itensor<1x1x4xf32, iter_space: [2, pos<=7] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
!New = !itensor.itensor<1x1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0, 0)>
!All = !itensor.itensor<1x1x4xf32, iter_space: [2, sum(pos<=7, 1)] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
func.func @heads(%x: tensor<1x7x4xf32>, %y: tensor<1x7x4xf32>, %n: tensor<2x1x4xf32>, %p: i32) -> tensor<2x8x4xf32> {
  %r = dataflow.kernel @k(%a = %x : tensor<1x7x4xf32> as !One, %b = %y : tensor<1x7x4xf32> as !One, %c = %n : tensor<2x1x4xf32> as !New, %pos = %p : i32 as !itensor.symbol<pos<=7>) -> (tensor<2x8x4xf32> as !All) {
    %two = itensor.concat %a, %b at [0, 0, 0], [1, 0, 0] : !One, !One to !Two
    %all = itensor.concat %two, %c at [0, 0, 0], [0, pos<=7, 0] : !Two, !New to !All
    dataflow.yield %all : !All
  }
  func.return %r : tensor<2x8x4xf32>
}

// CHECK-LABEL: func.func @heads(
// CHECK: dataflow.task @concat_all ins(%pos_1 = %pos : !itensor.symbol<pos<=7>, %in0 = {{.*}}, %in1 = {{.*}}, %in2 = {{.*}}) outs(%out0 = %all_stream
// CHECK: scf.for %plane = %c0 to %c2 step %c1 {
// CHECK: %[[POS:.*]] = itensor.size pos<=7 of %pos_1
// CHECK: scf.for %row = %{{.*}} to %[[POS]] step
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %plane, %{{.*}} : index
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK-NEXT: stream.read %in0
// CHECK: } else {
// CHECK-NEXT: stream.read %in1
// CHECK: stream.read %in2
// CHECK-NOT: dataflow.task
