// RUN: stc-opt %s -p 'simplify-routing' --split-input-file | filecheck %s

// A fork of a branch of a fork is one fork, and the branch that nobody reads goes.
// SHOW: itensor\.|dataflow.yield
!X = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @fork_of_fork(%x: tensor<3x16xf32>) -> (tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) {
  %r0, %r1, %r2 = dataflow.kernel @k(%s = %x : tensor<3x16xf32> as !X)
      -> (tensor<3x16xf32> as !X, tensor<3x16xf32> as !X, tensor<3x16xf32> as !X) {
    %a, %b, %unread = itensor.fork %s : !X to !X, !X, !X
    %c, %d = itensor.fork %b : !X to !X, !X
    dataflow.yield %d, %a, %c : !X, !X, !X
  }
  func.return %r0, %r1, %r2 : tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @fork_of_fork(
// CHECK: %a, %c, %d = itensor.fork %s : !itensor to !itensor, !itensor, !itensor
// CHECK-NEXT: dataflow.yield %d, %a, %c : !itensor, !itensor, !itensor

// -----

// A branch that nobody reads leaves a fork to one, which is no fork.
// SHOW: itensor\.|dataflow.yield
!X = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @fork_to_one(%x: tensor<3x16xf32>) -> tensor<3x16xf32> {
  %r = dataflow.kernel @k(%s = %x : tensor<3x16xf32> as !X) -> (tensor<3x16xf32> as !X) {
    %a, %unread = itensor.fork %s : !X to !X, !X
    dataflow.yield %a : !X
  }
  func.return %r : tensor<3x16xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @fork_to_one(
// CHECK: dataflow.yield %s : !itensor

// -----

// The slices are the inputs of the concat, in another order: both ops go.
// SHOW: itensor\.|dataflow.yield
!H = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!X = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @chunk_of_concat(%x: tensor<3x8xf32>, %y: tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>) {
  %r0, %r1 = dataflow.kernel @k(%s = %x : tensor<3x8xf32> as !H, %t = %y : tensor<3x8xf32> as !H)
      -> (tensor<3x8xf32> as !H, tensor<3x8xf32> as !H) {
    %c = itensor.concat %s, %t at [0, 0], [0, 8] : !H, !H to !X
    %a, %b = itensor.chunk %c at [0, 8], [0, 0] : !X to !H, !H
    dataflow.yield %a, %b : !H, !H
  }
  func.return %r0, %r1 : tensor<3x8xf32>, tensor<3x8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @chunk_of_concat(
// CHECK: dataflow.yield %t, %s : !itensor, !itensor

// -----

// Slices inside the inputs: two of the second, one of the first, are narrower chunks.
// SHOW: itensor\.|dataflow.yield
!Q = !itensor.itensor<1x4xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
!H = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!X = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @narrowed(%x: tensor<3x8xf32>, %y: tensor<3x8xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %r0, %r1, %r2 = dataflow.kernel @k(%s = %x : tensor<3x8xf32> as !H, %t = %y : tensor<3x8xf32> as !H)
      -> (tensor<3x4xf32> as !Q, tensor<3x4xf32> as !Q, tensor<3x4xf32> as !Q) {
    %c = itensor.concat %s, %t at [0, 0], [0, 8] : !H, !H to !X
    %a, %b, %d = itensor.chunk %c at [0, 4], [0, 8], [0, 12] : !X to !Q, !Q, !Q
    dataflow.yield %a, %b, %d : !Q, !Q, !Q
  }
  func.return %r0, %r1, %r2 : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK-LABEL: func.func @narrowed(
// CHECK: %a = itensor.chunk %s at [0, 4] : !itensor to !itensor1
// CHECK-NEXT: %b, %d = itensor.chunk %t at [0, 0], [0, 4] : !itensor to !itensor1, !itensor1
// CHECK-NEXT: dataflow.yield %a, %b, %d : !itensor1, !itensor1, !itensor1

// -----

// A slice that lies across two inputs stays, and so does one that would leave an operand without a reader.
// SHOW: itensor\.|dataflow.yield
!H = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!X = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @across(%x: tensor<3x8xf32>, %y: tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>) {
  %r0 = dataflow.kernel @across(%s = %x : tensor<3x8xf32> as !H, %t = %y : tensor<3x8xf32> as !H) -> (tensor<3x8xf32> as !H) {
    %c = itensor.concat %s, %t at [0, 0], [0, 8] : !H, !H to !X
    %a = itensor.chunk %c at [0, 4] : !X to !H
    dataflow.yield %a : !H
  }
  %r1 = dataflow.kernel @unread(%s = %x : tensor<3x8xf32> as !H, %t = %y : tensor<3x8xf32> as !H) -> (tensor<3x8xf32> as !H) {
    %c = itensor.concat %s, %t at [0, 0], [0, 8] : !H, !H to !X
    %a = itensor.chunk %c at [0, 8] : !X to !H
    dataflow.yield %a : !H
  }
  func.return %r0, %r1 : tensor<3x8xf32>, tensor<3x8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @across(
// CHECK: %c = itensor.concat %s, %t at [0, 0], [0, 8] : !itensor, !itensor to !itensor1
// CHECK-NEXT: %a = itensor.chunk %c at [0, 4] : !itensor1 to !itensor
// CHECK-NEXT: dataflow.yield %a : !itensor
// CHECK: %c = itensor.concat %s, %t at [0, 0], [0, 8] : !itensor, !itensor to !itensor1
// CHECK-NEXT: %a = itensor.chunk %c at [0, 8] : !itensor1 to !itensor
// CHECK-NEXT: dataflow.yield %a : !itensor

// -----

// All slices are put back where they were: nothing moves. The other type has a loop of one iteration.
// SHOW: itensor\.|dataflow.yield
!H = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!X = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!U = !itensor.itensor<1x4xf32, iter_space: [3, 1, 4] * [1, 16, 4], iter_map: (d0, d1, d2) -> (d0, d1 + d2)>
func.func @concat_of_chunks(%x: tensor<3x16xf32>) -> tensor<3x16xf32> {
  %r = dataflow.kernel @k(%s = %x : tensor<3x16xf32> as !X) -> (tensor<3x16xf32> as !U) {
    %a, %b = itensor.chunk %s at [0, 0], [0, 8] : !X to !H, !H
    %c = itensor.concat %b, %a at [0, 8], [0, 0] : !H, !H to !U
    dataflow.yield %c : !U
  }
  func.return %r : tensor<3x16xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [3, 1, 4] * [1, 16, 4], iter_map: (d0, d1, d2) -> (d0, d1 + d2)>
// CHECK-LABEL: func.func @concat_of_chunks(
// CHECK: %c = itensor.cast %s : !itensor to !itensor1
// CHECK-NEXT: dataflow.yield %c : !itensor1

// -----

// Halves that are exchanged are no identity.
// SHOW: itensor\.|dataflow.yield
!H = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!X = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @exchanged(%x: tensor<3x16xf32>) -> tensor<3x16xf32> {
  %r = dataflow.kernel @k(%s = %x : tensor<3x16xf32> as !X) -> (tensor<3x16xf32> as !X) {
    %a, %b = itensor.chunk %s at [0, 0], [0, 8] : !X to !H, !H
    %c = itensor.concat %b, %a at [0, 0], [0, 8] : !H, !H to !X
    dataflow.yield %c : !X
  }
  func.return %r : tensor<3x16xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @exchanged(
// CHECK: %a, %b = itensor.chunk %s at [0, 0], [0, 8] : !itensor to !itensor1, !itensor1
// CHECK-NEXT: %c = itensor.concat %b, %a at [0, 0], [0, 8] : !itensor1, !itensor1 to !itensor
// CHECK-NEXT: dataflow.yield %c : !itensor

// -----

// A merge of all parts of a split is the source; in another order it is not.
// SHOW: itensor\.|dataflow.yield
!X = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!A = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1 + 4)>
func.func @merge_of_split(%x: tensor<3x16xf32>) -> tensor<3x16xf32> {
  %r = dataflow.kernel @k(%s = %x : tensor<3x16xf32> as !X) -> (tensor<3x16xf32> as !X) {
    %a, %b = itensor.split %s : !X to !A, !B
    %c = itensor.merge %a, %b : !A, !B to !X
    dataflow.yield %c : !X
  }
  func.return %r : tensor<3x16xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @merge_of_split(
// CHECK: dataflow.yield %s : !itensor

// -----

// A split of a merge of as many inputs: two narrow streams. The fork is split once, not at every branch.
// SHOW: itensor\.|dataflow.yield
!X = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!A = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1 + 4)>
!P = tensor<6xvector<4xf32>>
func.func @split_of_merge(%x: !P, %y: !P) -> (!P, !P, !P, !P) {
  %r0, %r1, %r2, %r3 = dataflow.kernel @k(%s = %x : !P as !A, %t = %y : !P as !B) -> (!P as !A, !P as !B, !P as !A, !P as !B) {
    %j = itensor.merge %s, %t : !A, !B to !X
    %l, %m = itensor.fork %j : !X to !X, !X
    %a, %b = itensor.split %l : !X to !A, !B
    %c, %d = itensor.split %m : !X to !A, !B
    dataflow.yield %a, %b, %c, %d : !A, !B, !A, !B
  }
  func.return %r0, %r1, %r2, %r3 : !P, !P, !P, !P
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1 + 4)>
// CHECK-LABEL: func.func @split_of_merge(
// CHECK: %a, %c = itensor.fork %s : !itensor to !itensor, !itensor
// CHECK-NEXT: %b, %d = itensor.fork %t : !itensor1 to !itensor1, !itensor1
// CHECK-NEXT: dataflow.yield %a, %b, %c, %d : !itensor, !itensor1, !itensor, !itensor1

// -----

// Merged in another order than split: every second token changes places with its neighbour, and both ops stay.
// SHOW: itensor\.|dataflow.yield
!X = !itensor.itensor<4xf32, iter_space: [4] * [4], iter_map: (d0) -> (d0)>
!A = !itensor.itensor<4xf32, iter_space: [2] * [8], iter_map: (d0) -> (d0)>
!B = !itensor.itensor<4xf32, iter_space: [2] * [8], iter_map: (d0) -> (d0 + 4)>
!H = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @swapped(%x: tensor<16xf32>) -> tensor<16xf32> {
  %r = dataflow.kernel @k(%s = %x : tensor<16xf32> as !X) -> (tensor<16xf32> as !X) {
    %a, %b = itensor.split %s : !X to !A, !B
    %e = itensor.reassociate %a : !A to !H
    %f = itensor.reassociate %b : !B to !H
    %c = itensor.merge %f, %e : !H, !H to !X
    dataflow.yield %c : !X
  }
  func.return %r : tensor<16xf32>
}

// CHECK: !itensor = !itensor.itensor<4xf32, iter_space: [4] * [4], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<4xf32, iter_space: [2] * [8], iter_map: (d0) -> (d0)>
// CHECK: !itensor2 = !itensor.itensor<4xf32, iter_space: [2] * [8], iter_map: (d0) -> (d0 + 4)>
// CHECK: !itensor3 = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @swapped(
// CHECK: %a, %b = itensor.split %s : !itensor to !itensor1, !itensor2
// CHECK-NEXT: %e = itensor.reassociate %a : !itensor1 to !itensor3
// CHECK-NEXT: %f = itensor.reassociate %b : !itensor2 to !itensor3
// CHECK-NEXT: %c = itensor.merge %f, %e : !itensor3, !itensor3 to !itensor
// CHECK-NEXT: dataflow.yield %c : !itensor

// -----

// Each slice has a part of both inputs: a concat for each, of chunks of the inputs, so that neither waits for the other.
// SHOW: itensor\.|dataflow.yield
!R = !itensor.itensor<1x1x8xi8, iter_space: [4, pos<=7] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
!N = !itensor.itensor<1x1x8xi8, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0, 0)>
!A = !itensor.itensor<1x1x8xi8, iter_space: [4, sum(pos<=7, 1)] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
!S = !itensor.itensor<1x1x8xi8, iter_space: [3, sum(pos<=7, 1)] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
!T = !itensor.itensor<1x1x8xi8, iter_space: [sum(pos<=7, 1)] * [1], iter_map: (d0) -> (0, d0, 0)>
func.func @chunk_across_concat(%x: tensor<4x7x8xi8>, %y: tensor<4x1x8xi8>, %pos: i32) -> (tensor<1x8x8xi8>, tensor<3x8x8xi8>) {
  %r0, %r1 = dataflow.kernel @k(%s = %x : tensor<4x7x8xi8> as !R, %t = %y : tensor<4x1x8xi8> as !N, %p = %pos : i32 as !itensor.symbol<pos<=7>)
      -> (tensor<1x8x8xi8> as !T, tensor<3x8x8xi8> as !S) {
    %c = itensor.concat %s, %t at [0, 0, 0], [0, pos<=7, 0] : !R, !N to !A
    %a, %b = itensor.chunk %c at [3, 0, 0], [0, 0, 0] : !A to !T, !S
    dataflow.yield %a, %b : !T, !S
  }
  func.return %r0, %r1 : tensor<1x8x8xi8>, tensor<3x8x8xi8>
}

// CHECK: !itensor = !itensor.itensor<1x1x8xi8, iter_space: [4, pos<=7] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x1x8xi8, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0, 0)>
// CHECK: !itensor2 = !itensor.itensor<1x1x8xi8, iter_space: [sum(pos<=7, 1)] * [1], iter_map: (d0) -> (0, d0, 0)>
// CHECK: !itensor3 = !itensor.itensor<1x1x8xi8, iter_space: [3, sum(pos<=7, 1)] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
// CHECK: !itensor4 = !itensor.itensor<1x1x8xi8, iter_space: [pos<=7] * [1], iter_map: (d0) -> (0, d0, 0)>
// CHECK: !itensor5 = !itensor.itensor<1x1x8xi8, iter_space: [3, pos<=7] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
// CHECK: !itensor6 = !itensor.itensor<1x1x8xi8, iter_space: [] * [], iter_map: () -> (0, 0, 0)>
// CHECK: !itensor7 = !itensor.itensor<1x1x8xi8, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0, 0)>
// CHECK-LABEL: func.func @chunk_across_concat(
// CHECK-NEXT: dataflow.kernel @k(%s = %x : tensor<4x7x8xi8> as !itensor, %t = %y : tensor<4x1x8xi8> as !itensor1, %p = %pos : i32 as !itensor.symbol<pos<=7>) -> (tensor<1x8x8xi8> as !itensor2, tensor<3x8x8xi8> as !itensor3) {
// CHECK-NEXT: %a, %b = itensor.chunk %s at [3, 0, 0], [0, 0, 0] : !itensor to !itensor4, !itensor5
// CHECK-NEXT: %[[A:.*]], %[[B:.*]] = itensor.chunk %t at [3, 0, 0], [0, 0, 0] : !itensor1 to !itensor6, !itensor7
// CHECK-NEXT: %[[A1:.*]] = itensor.concat %a, %[[A]] at [0, 0, 0], [0, pos<=7, 0] : !itensor4, !itensor6 to !itensor2
// CHECK-NEXT: %[[B1:.*]] = itensor.concat %b, %[[B]] at [0, 0, 0], [0, pos<=7, 0] : !itensor5, !itensor7 to !itensor3
// CHECK-NEXT: dataflow.yield %[[A1]], %[[B1]] : !itensor2, !itensor3

// -----

// Slices of a reshape that are slices before it, too: a reshape of each.
// SHOW: itensor\.|dataflow.yield
!X = !itensor.itensor<1x1xi8, iter_space: [6, 5] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!Y = !itensor.itensor<1x1x1xi8, iter_space: [3, 2, 5] * [1, 1, 1], iter_map: (d0, d1, d2) -> (d0, d1, d2)>
!S = !itensor.itensor<1x1x1xi8, iter_space: [2, 2, 5] * [1, 1, 1], iter_map: (d0, d1, d2) -> (d0, d1, d2)>
!T = !itensor.itensor<1x1x1xi8, iter_space: [2, 5] * [1, 1], iter_map: (d0, d1) -> (0, d0, d1)>
func.func @chunk_of_reassociate(%x: tensor<6x5xi8>) -> (tensor<2x2x5xi8>, tensor<1x2x5xi8>) {
  %r0, %r1 = dataflow.kernel @k(%s = %x : tensor<6x5xi8> as !X) -> (tensor<2x2x5xi8> as !S, tensor<1x2x5xi8> as !T) {
    %y = itensor.reassociate %s : !X to !Y
    %a, %b = itensor.chunk %y at [1, 0, 0], [0, 0, 0] : !Y to !S, !T
    dataflow.yield %a, %b : !S, !T
  }
  func.return %r0, %r1 : tensor<2x2x5xi8>, tensor<1x2x5xi8>
}

// CHECK: !itensor = !itensor.itensor<1x1xi8, iter_space: [6, 5] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x1x1xi8, iter_space: [2, 2, 5] * [1, 1, 1], iter_map: (d0, d1, d2) -> (d0, d1, d2)>
// CHECK: !itensor2 = !itensor.itensor<1x1x1xi8, iter_space: [2, 5] * [1, 1], iter_map: (d0, d1) -> (0, d0, d1)>
// CHECK: !itensor3 = !itensor.itensor<1x1xi8, iter_space: [4, 5] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor4 = !itensor.itensor<1x1xi8, iter_space: [2, 5] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @chunk_of_reassociate(
// CHECK: %a, %b = itensor.chunk %s at [2, 0], [0, 0] : !itensor to !itensor3, !itensor4
// CHECK-NEXT: %[[A:.*]] = itensor.reassociate %a : !itensor3 to !itensor1
// CHECK-NEXT: %[[B:.*]] = itensor.reassociate %b : !itensor4 to !itensor2
// CHECK-NEXT: dataflow.yield %[[A]], %[[B]] : !itensor1, !itensor2

// -----

// Slices that end inside an iteration of what is reshaped stay as they are.
// SHOW: itensor\.|dataflow.yield
!X = !itensor.itensor<1x1xi8, iter_space: [2, 9] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!Y = !itensor.itensor<1x1xi8, iter_space: [6, 3] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!S = !itensor.itensor<1x1xi8, iter_space: [2, 3] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!T = !itensor.itensor<1x1xi8, iter_space: [4, 3] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
func.func @inside_an_iteration(%x: tensor<2x9xi8>) -> (tensor<2x3xi8>, tensor<4x3xi8>) {
  %r0, %r1 = dataflow.kernel @k(%s = %x : tensor<2x9xi8> as !X) -> (tensor<2x3xi8> as !S, tensor<4x3xi8> as !T) {
    %y = itensor.reassociate %s : !X to !Y
    %a, %b = itensor.chunk %y at [0, 0], [2, 0] : !Y to !S, !T
    dataflow.yield %a, %b : !S, !T
  }
  func.return %r0, %r1 : tensor<2x3xi8>, tensor<4x3xi8>
}

// CHECK: !itensor = !itensor.itensor<1x1xi8, iter_space: [2, 9] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x1xi8, iter_space: [2, 3] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor2 = !itensor.itensor<1x1xi8, iter_space: [4, 3] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor3 = !itensor.itensor<1x1xi8, iter_space: [6, 3] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @inside_an_iteration(
// CHECK: %y = itensor.reassociate %s : !itensor to !itensor3
// CHECK-NEXT: %a, %b = itensor.chunk %y at [0, 0], [2, 0] : !itensor3 to !itensor1, !itensor2
// CHECK-NEXT: dataflow.yield %a, %b : !itensor1, !itensor2

// -----

// Where all slices meet again nothing is cut up: the concat of the chunk is what comes.
// SHOW: itensor\.|dataflow.yield
!R = !itensor.itensor<1x1xi8, iter_space: [4, 3] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!A = !itensor.itensor<1x1xi8, iter_space: [4, 6] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!S = !itensor.itensor<1x1xi8, iter_space: [2, 6] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
func.func @met_again(%x: tensor<4x3xi8>, %y: tensor<4x3xi8>) -> tensor<4x6xi8> {
  %r = dataflow.kernel @k(%s = %x : tensor<4x3xi8> as !R, %t = %y : tensor<4x3xi8> as !R) -> (tensor<4x6xi8> as !A) {
    %c = itensor.concat %s, %t at [0, 0], [0, 3] : !R, !R to !A
    %a, %b = itensor.chunk %c at [0, 0], [2, 0] : !A to !S, !S
    %d = itensor.concat %a, %b at [0, 0], [2, 0] : !S, !S to !A
    dataflow.yield %d : !A
  }
  func.return %r : tensor<4x6xi8>
}

// CHECK: !itensor = !itensor.itensor<1x1xi8, iter_space: [4, 3] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x1xi8, iter_space: [4, 6] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @met_again(
// CHECK: %c = itensor.concat %s, %t at [0, 0], [0, 3] : !itensor, !itensor to !itensor1
// CHECK-NEXT: dataflow.yield %c : !itensor1
