// RUN: stc-opt %s -p 'cancel-packs{on-chip=100}' --split-input-file | filecheck %s

// One order, spelled differently: the consumer visits every token twice. The unpack has no other user.
// SHOW: dataflow.kernel|dataflow.pack|dataflow.unpack|itensor.converter|return
!X = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!R = !itensor.itensor<1x4xf32, iter_space: [3, 2, 2, 2] * [1, 1, 8, 4], iter_map: (d0, d1, d2, d3) -> (d0, d2 + d3)>
func.func @same_order(%x: tensor<12xvector<4xf32>>) -> tensor<12xvector<4xf32>> {
  %q = dataflow.kernel @a(%s = %x : tensor<12xvector<4xf32>> as !X) -> (tensor<12xvector<4xf32>> as !X) {
    dataflow.yield %s : !X
  }
  %h = dataflow.unpack %q : tensor<12xvector<4xf32>> as !X -> tensor<3x16xf32>
  %p = dataflow.pack %h : tensor<3x16xf32> as !R -> tensor<12xvector<4xf32>>
  %r = dataflow.kernel @b(%s = %p : tensor<12xvector<4xf32>> as !R) -> (tensor<12xvector<4xf32>> as !R) {
    dataflow.yield %s : !R
  }
  func.return %r : tensor<12xvector<4xf32>>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [3, 2, 2, 2] * [1, 1, 8, 4], iter_map: (d0, d1, d2, d3) -> (d0, d2 + d3)>
// CHECK-LABEL: func.func @same_order(
// CHECK-NEXT: %q = dataflow.kernel @a(%s = %x : tensor<12xvector<4xf32>> as !itensor) -> (tensor<12xvector<4xf32>> as !itensor) {
// CHECK: %r = dataflow.kernel @b(%s = %q : tensor<12xvector<4xf32>> as !itensor1) -> (tensor<12xvector<4xf32>> as !itensor1) {
// CHECK: func.return %r : tensor<12xvector<4xf32>>

// -----

// Other words: 16 lanes leave, and pairs of tokens come between reuse loops, so that both sides take words of 8. Somebody else
// unpacks the result: that stays.
// SHOW: dataflow.kernel|dataflow.pack|dataflow.unpack|itensor.converter|return
!X = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!R = !itensor.itensor<1x4xf32, iter_space: [3, 2, 3, 2] * [1, 8, 1, 4], iter_map: (d0, d1, d2, d3) -> (d0, d1 + d3)>
func.func @other_words(%x: tensor<3xvector<16xf32>>) -> (tensor<3x16xf32>, tensor<6xvector<8xf32>>) {
  %q = dataflow.kernel @a(%s = %x : tensor<3xvector<16xf32>> as !X) -> (tensor<3xvector<16xf32>> as !X) {
    dataflow.yield %s : !X
  }
  %h = dataflow.unpack %q : tensor<3xvector<16xf32>> as !X -> tensor<3x16xf32>
  %p = dataflow.pack %h : tensor<3x16xf32> as !R -> tensor<6xvector<8xf32>>
  %r = dataflow.kernel @b(%s = %p : tensor<6xvector<8xf32>> as !R) -> (tensor<6xvector<8xf32>> as !R) {
    dataflow.yield %s : !R
  }
  func.return %h, %r : tensor<3x16xf32>, tensor<6xvector<8xf32>>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [3, 2, 3, 2] * [1, 8, 1, 4], iter_map: (d0, d1, d2, d3) -> (d0, d1 + d3)>
// CHECK-LABEL: func.func @other_words(
// CHECK-NEXT: %q = dataflow.kernel @a(%s = %x : tensor<3xvector<16xf32>> as !itensor) -> (tensor<6xvector<8xf32>> as !itensor) {
// CHECK: %h = dataflow.unpack %q : tensor<6xvector<8xf32>> as !itensor -> tensor<3x16xf32>
// CHECK-NEXT: %r = dataflow.kernel @b(%s = %q : tensor<6xvector<8xf32>> as !itensor1) -> (tensor<6xvector<8xf32>> as !itensor1) {
// CHECK: func.return %h, %r : tensor<3x16xf32>, tensor<6xvector<8xf32>>

// -----

// Other tokens: rows of 4 and of 2 are the same entries in the same order.
// SHOW: dataflow.kernel|dataflow.pack|dataflow.unpack|itensor.converter|return
!X = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!N = !itensor.itensor<1x2xf32, iter_space: [3, 8] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @other_tokens(%x: tensor<12xvector<4xf32>>) -> tensor<6xvector<8xf32>> {
  %q = dataflow.kernel @a(%s = %x : tensor<12xvector<4xf32>> as !X) -> (tensor<12xvector<4xf32>> as !X) {
    dataflow.yield %s : !X
  }
  %h = dataflow.unpack %q : tensor<12xvector<4xf32>> as !X -> tensor<3x16xf32>
  %p = dataflow.pack %h : tensor<3x16xf32> as !N -> tensor<6xvector<8xf32>>
  %r = dataflow.kernel @b(%s = %p : tensor<6xvector<8xf32>> as !N) -> (tensor<6xvector<8xf32>> as !N) {
    dataflow.yield %s : !N
  }
  func.return %r : tensor<6xvector<8xf32>>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x2xf32, iter_space: [3, 8] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @other_tokens(
// CHECK-NEXT: %q = dataflow.kernel @a(%s = %x : tensor<12xvector<4xf32>> as !itensor) -> (tensor<6xvector<8xf32>> as !itensor) {
// CHECK: %r = dataflow.kernel @b(%s = %q : tensor<6xvector<8xf32>> as !itensor1) -> (tensor<6xvector<8xf32>> as !itensor1) {
// CHECK: func.return %r : tensor<6xvector<8xf32>>

// -----

// Padded tokens, 3 entries in 4 lanes, are alike only as a whole: tokens of 6 entries in 8 lanes lie elsewhere, so that the producer
// puts pairs together.
// SHOW: dataflow.kernel|dataflow.pack|dataflow.unpack|itensor.converter|return
!X = !itensor.itensor<1x3xf32, iter_space: [2, 4] * [1, 3], iter_map: (d0, d1) -> (d0, d1)>
!Y = !itensor.itensor<1x6xf32, iter_space: [2, 2] * [1, 6], iter_map: (d0, d1) -> (d0, d1)>
func.func @padded(%x: tensor<4xvector<8xf32>>) -> (tensor<8xvector<4xf32>>, tensor<4xvector<8xf32>>) {
  %q = dataflow.kernel @a(%s = %x : tensor<4xvector<8xf32>> as !X) -> (tensor<4xvector<8xf32>> as !X) {
    dataflow.yield %s : !X
  }
  %h = dataflow.unpack %q : tensor<4xvector<8xf32>> as !X -> tensor<2x12xf32>
  %p0 = dataflow.pack %h : tensor<2x12xf32> as !X -> tensor<8xvector<4xf32>>
  %p1 = dataflow.pack %h : tensor<2x12xf32> as !Y -> tensor<4xvector<8xf32>>
  %r0 = dataflow.kernel @same(%s = %p0 : tensor<8xvector<4xf32>> as !X) -> (tensor<8xvector<4xf32>> as !X) {
    dataflow.yield %s : !X
  }
  %r1 = dataflow.kernel @other(%s = %p1 : tensor<4xvector<8xf32>> as !Y) -> (tensor<4xvector<8xf32>> as !Y) {
    dataflow.yield %s : !Y
  }
  func.return %r0, %r1 : tensor<8xvector<4xf32>>, tensor<4xvector<8xf32>>
}

// CHECK: !itensor = !itensor.itensor<1x3xf32, iter_space: [2, 4] * [1, 3], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x6xf32, iter_space: [2, 2] * [1, 6], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor2 = !itensor.itensor<1x3xf32, iter_space: [2, 2, 2] * [1, 6, 3], iter_map: (d0, d1, d2) -> (d0, d1 + d2)>
// CHECK-LABEL: func.func @padded(
// CHECK-NEXT: %q, %[[Q:.*]] = dataflow.kernel @a(%s = %x : tensor<4xvector<8xf32>> as !itensor) -> (tensor<4xvector<8xf32>> as !itensor, tensor<4xvector<8xf32>> as !itensor1) {
// CHECK: itensor.converter %s_{{.*}} {shared_loops = 2, buffer_shape = [1, 6], blocks = 2} : !itensor2 to !itensor1
// CHECK: %r0 = dataflow.kernel @same(%s = %q : tensor<4xvector<8xf32>> as !itensor) -> (tensor<8xvector<4xf32>> as !itensor) {
// CHECK: %r1 = dataflow.kernel @other(%s = %[[Q]] : tensor<4xvector<8xf32>> as !itensor1) -> (tensor<4xvector<8xf32>> as !itensor1) {
// CHECK: func.return %r0, %r1 : tensor<8xvector<4xf32>>, tensor<4xvector<8xf32>>

// -----

// Another order, column by column: the producer converts, once for both consumers, and yields the old order too for the host. A
// second converter of 96 bytes is more than what is left of 100.
!X = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!C = !itensor.itensor<1x4xf32, iter_space: [2, 3] * [4, 1], iter_map: (d0, d1) -> (d1, d0)>
!P = tensor<6xvector<4xf32>>
!T = tensor<3x8xf32>
func.func @other_order(%x: !P, %y: !P) -> (!P, !P, !P, !T) {
  %q, %w = dataflow.kernel @a(%s = %x : !P as !X, %t = %y : !P as !X) -> (!P as !X, !P as !X) { dataflow.yield %s, %t : !X, !X }
  %h = dataflow.unpack %q : !P as !X -> !T
  %g = dataflow.unpack %w : !P as !X -> !T
  %p0 = dataflow.pack %h : !T as !C -> !P
  %p1 = dataflow.pack %h : !T as !C -> !P
  %p2 = dataflow.pack %g : !T as !C -> !P
  %r0, %r1 = dataflow.kernel @b(%s = %p0 : !P as !C, %t = %p2 : !P as !C) -> (!P as !C, !P as !C) { dataflow.yield %s, %t : !C, !C }
  %r2 = dataflow.kernel @c(%s = %p1 : !P as !C) -> (!P as !C) { dataflow.yield %s : !C }
  func.return %r0, %r1, %r2, %h : !P, !P, !P, !T
}

// CHECK-LABEL: @other_order(
// CHECK-NEXT: %q, [[Q:%.*]], %w = dataflow.kernel @a(
// CHECK: itensor.converter %s_{{.*}} {shared_loops = 0, buffer_shape = [3, 8], blocks = 1} : !itensor to !itensor1
// CHECK: %h = dataflow.unpack %q
// CHECK-NEXT: %g = dataflow.unpack %w
// CHECK-NEXT: %p2 = dataflow.pack %g
// CHECK-NEXT: %r0, %r1 = dataflow.kernel @b(%s = [[Q]] : {{.*}}, %t = %p2 :
// CHECK: dataflow.kernel @c(%s = [[Q]] :

// -----

// Stripes are passed on one by one; a consumer with another number of them goes through the host.
!X = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!A = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1 + 4)>
!P = tensor<6xvector<4xf32>>
!Q = tensor<12xvector<4xf32>>
func.func @stripes(%x: !P, %y: !P) -> (!P, !P, !Q) {
  %q0, %q1 = dataflow.kernel @a(%s = %x : !P as !A, %t = %y : !P as !B) -> (!P as !A, !P as !B) { dataflow.yield %s, %t : !A, !B }
  %h = dataflow.unpack %q0, %q1 : !P, !P as !X -> tensor<3x16xf32>
  %p0, %p1 = dataflow.pack %h : tensor<3x16xf32> as !X -> !P, !P
  %p = dataflow.pack %h : tensor<3x16xf32> as !X -> !Q
  %r0, %r1 = dataflow.kernel @b(%s = %p0 : !P as !A, %t = %p1 : !P as !B) -> (!P as !A, !P as !B) { dataflow.yield %s, %t : !A, !B }
  %r2 = dataflow.kernel @c(%s = %p : !Q as !X) -> (!Q as !X) { dataflow.yield %s : !X }
  func.return %r0, %r1, %r2 : !P, !P, !Q
}

// CHECK-LABEL: @stripes(
// CHECK: %h = dataflow.unpack %q0, %q1 :
// CHECK-NEXT: %p = dataflow.pack %h :
// CHECK-NEXT: %r0, %r1 = dataflow.kernel @b(%s = %q0 : {{.*}}, %t = %q1 :
// CHECK: dataflow.kernel @c(%s = %p :

// -----

// An input that two kernels want alike is packed once; what depends on parameters alone is left to be evaluated.
// SHOW: dataflow.kernel|dataflow.pack|dataflow.unpack|itensor.converter|return
!X = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @inputs(%x: tensor<3x16xf32>, %w: tensor<3x16xf32> {stc.parameter}) -> (tensor<12xvector<4xf32>>, tensor<12xvector<4xf32>>, tensor<12xvector<4xf32>>, tensor<12xvector<4xf32>>) {
  %p0 = dataflow.pack %x : tensor<3x16xf32> as !X -> tensor<12xvector<4xf32>>
  %w0 = dataflow.pack %w : tensor<3x16xf32> as !X -> tensor<12xvector<4xf32>>
  %r0, %r1 = dataflow.kernel @a(%s = %p0 : tensor<12xvector<4xf32>> as !X, %t = %w0 : tensor<12xvector<4xf32>> as !X) -> (tensor<12xvector<4xf32>> as !X, tensor<12xvector<4xf32>> as !X) {
    dataflow.yield %s, %t : !X, !X
  }
  %p1 = dataflow.pack %x : tensor<3x16xf32> as !X -> tensor<12xvector<4xf32>>
  %w1 = dataflow.pack %w : tensor<3x16xf32> as !X -> tensor<12xvector<4xf32>>
  %r2, %r3 = dataflow.kernel @b(%s = %p1 : tensor<12xvector<4xf32>> as !X, %t = %w1 : tensor<12xvector<4xf32>> as !X) -> (tensor<12xvector<4xf32>> as !X, tensor<12xvector<4xf32>> as !X) {
    dataflow.yield %s, %t : !X, !X
  }
  func.return %r0, %r1, %r2, %r3 : tensor<12xvector<4xf32>>, tensor<12xvector<4xf32>>, tensor<12xvector<4xf32>>, tensor<12xvector<4xf32>>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [3, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @inputs(
// CHECK-NEXT: %p0 = dataflow.pack %x : tensor<3x16xf32> as !itensor -> tensor<12xvector<4xf32>>
// CHECK-NEXT: %w0 = dataflow.pack %w : tensor<3x16xf32> as !itensor -> tensor<12xvector<4xf32>>
// CHECK-NEXT: %r0, %r1 = dataflow.kernel @a(%s = %p0 : tensor<12xvector<4xf32>> as !itensor, %t = %w0 : tensor<12xvector<4xf32>> as !itensor) -> (tensor<12xvector<4xf32>> as !itensor, tensor<12xvector<4xf32>> as !itensor) {
// CHECK: %w1 = dataflow.pack %w : tensor<3x16xf32> as !itensor -> tensor<12xvector<4xf32>>
// CHECK-NEXT: %r2, %r3 = dataflow.kernel @b(%s = %p0 : tensor<12xvector<4xf32>> as !itensor, %t = %w1 : tensor<12xvector<4xf32>> as !itensor) -> (tensor<12xvector<4xf32>> as !itensor, tensor<12xvector<4xf32>> as !itensor) {
// CHECK: func.return %r0, %r1, %r2, %r3 : tensor<12xvector<4xf32>>, tensor<12xvector<4xf32>>, tensor<12xvector<4xf32>>, tensor<12xvector<4xf32>>
