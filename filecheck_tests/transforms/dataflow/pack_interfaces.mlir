// RUN: stc-opt %s -p 'pack-interfaces{port_bits=256}' --split-input-file | filecheck %s

// Four tokens of 2 fill a word of 8.
// SHOW: pack|kernel|return
!X = !itensor.itensor<1x2xf32, iter_space: [4, 4] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @several_tokens(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = dataflow.kernel @k(%p = %x : tensor<4x8xf32> as !X) -> (tensor<4x8xf32> as !X) {
    dataflow.yield %p : !X
  }
  func.return %y : tensor<4x8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x2xf32, iter_space: [4, 4] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @several_tokens(
// CHECK-NEXT: %[[X:.*]] = dataflow.pack %x : tensor<4x8xf32> as !itensor -> tensor<4xvector<8xf32>>
// CHECK-NEXT: %y = dataflow.kernel @k(%p = %[[X]] : tensor<4xvector<8xf32>> as !itensor) -> (tensor<4xvector<8xf32>> as !itensor) {
// CHECK: %[[Y:.*]] = dataflow.unpack %y : tensor<4xvector<8xf32>> as !itensor -> tensor<4x8xf32>
// CHECK-NEXT: func.return %[[Y]] : tensor<4x8xf32>

// -----

// Six tokens in the innermost loop, but all 24 lie one after the other: words of four.
// SHOW: pack|kernel|return
!X = !itensor.itensor<1x2xf32, iter_space: [4, 6] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @pairs(%x: tensor<4x12xf32>) -> tensor<4x12xf32> {
  %y = dataflow.kernel @k(%p = %x : tensor<4x12xf32> as !X) -> (tensor<4x12xf32> as !X) {
    dataflow.yield %p : !X
  }
  func.return %y : tensor<4x12xf32>
}

// CHECK: !itensor = !itensor.itensor<1x2xf32, iter_space: [4, 6] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @pairs(
// CHECK-NEXT: %[[X:.*]] = dataflow.pack %x : tensor<4x12xf32> as !itensor -> tensor<6xvector<8xf32>>
// CHECK-NEXT: %y = dataflow.kernel @k(%p = %[[X]] : tensor<6xvector<8xf32>> as !itensor) -> (tensor<6xvector<8xf32>> as !itensor) {
// CHECK: %[[Y:.*]] = dataflow.unpack %y : tensor<6xvector<8xf32>> as !itensor -> tensor<4x12xf32>
// CHECK-NEXT: func.return %[[Y]] : tensor<4x12xf32>

// -----

// Seven entries are padded to a word of eight.
// SHOW: pack|kernel|return
!X = !itensor.itensor<1x7xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
func.func @padded(%x: tensor<3x7xf32>) -> tensor<3x7xf32> {
  %y = dataflow.kernel @k(%p = %x : tensor<3x7xf32> as !X) -> (tensor<3x7xf32> as !X) {
    dataflow.yield %p : !X
  }
  func.return %y : tensor<3x7xf32>
}

// CHECK: !itensor = !itensor.itensor<1x7xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK-LABEL: func.func @padded(
// CHECK-NEXT: %[[X:.*]] = dataflow.pack %x : tensor<3x7xf32> as !itensor -> tensor<3xvector<8xf32>>
// CHECK-NEXT: %y = dataflow.kernel @k(%p = %[[X]] : tensor<3xvector<8xf32>> as !itensor) -> (tensor<3xvector<8xf32>> as !itensor) {
// CHECK: %[[Y:.*]] = dataflow.unpack %y : tensor<3xvector<8xf32>> as !itensor -> tensor<3x7xf32>
// CHECK-NEXT: func.return %[[Y]] : tensor<3x7xf32>

// -----

// A rank-0 token is a word of one lane.
// SHOW: pack|kernel|return
!X = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
func.func @scalar(%x: tensor<f32>) -> tensor<f32> {
  %y = dataflow.kernel @k(%p = %x : tensor<f32> as !X) -> (tensor<f32> as !X) {
    dataflow.yield %p : !X
  }
  func.return %y : tensor<f32>
}

// CHECK: !itensor = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
// CHECK-LABEL: func.func @scalar(
// CHECK-NEXT: %[[X:.*]] = dataflow.pack %x : tensor<f32> as !itensor -> tensor<1xvector<1xf32>>
// CHECK-NEXT: %y = dataflow.kernel @k(%p = %[[X]] : tensor<1xvector<1xf32>> as !itensor) -> (tensor<1xvector<1xf32>> as !itensor) {
// CHECK: %[[Y:.*]] = dataflow.unpack %y : tensor<1xvector<1xf32>> as !itensor -> tensor<f32>
// CHECK-NEXT: func.return %[[Y]] : tensor<f32>

// -----

// Reuse loops are not stored: 2 tokens of 4 lanes; the innermost loop is a reuse loop, so they are not packed together.
// SHOW: pack|kernel|return
!X = !itensor.itensor<4xf32, iter_space: [2, 3] * [4, 1], iter_map: (d0, d1) -> (d0)>
!Y = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @reuse(%x: tensor<8xf32>, %y: tensor<8xf32>, %i: index) -> tensor<8xf32> {
  %r = dataflow.kernel @k(%p = %x : tensor<8xf32> as !X, %q = %y : tensor<8xf32> as !Y, %s = %i : index) -> (tensor<8xf32> as !Y) {
    dataflow.yield %q : !Y
  }
  func.return %r : tensor<8xf32>
}

// CHECK: !itensor = !itensor.itensor<4xf32, iter_space: [2, 3] * [4, 1], iter_map: (d0, d1) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @reuse(
// CHECK-NEXT: %[[X:.*]] = dataflow.pack %x : tensor<8xf32> as !itensor -> tensor<2xvector<4xf32>>
// CHECK-NEXT: %[[Y:.*]] = dataflow.pack %y : tensor<8xf32> as !itensor1 -> tensor<1xvector<8xf32>>
// CHECK-NEXT: %r = dataflow.kernel @k(%p = %[[X]] : tensor<2xvector<4xf32>> as !itensor, %q = %[[Y]] : tensor<1xvector<8xf32>> as !itensor1, %s = %i : index) -> (tensor<1xvector<8xf32>> as !itensor1) {
// CHECK: %[[R:.*]] = dataflow.unpack %r : tensor<1xvector<8xf32>> as !itensor1 -> tensor<8xf32>
// CHECK-NEXT: func.return %[[R]] : tensor<8xf32>

// -----

// Narrow types: 256 bits are 16 lanes of f16; two rows of 8 share a word.
// SHOW: pack|kernel|return
!X = !itensor.itensor<1x8xf16, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
func.func @half(%x: tensor<6x8xf16>) -> tensor<6x8xf16> {
  %y = dataflow.kernel @k(%s = %x : tensor<6x8xf16> as !X) -> (tensor<6x8xf16> as !X) {
    dataflow.yield %s : !X
  }
  func.return %y : tensor<6x8xf16>
}

// CHECK: !itensor = !itensor.itensor<1x8xf16, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK-LABEL: func.func @half(
// CHECK-NEXT: %[[X:.*]] = dataflow.pack %x : tensor<6x8xf16> as !itensor -> tensor<3xvector<16xf16>>
// CHECK-NEXT: %y = dataflow.kernel @k(%s = %[[X]] : tensor<3xvector<16xf16>> as !itensor) -> (tensor<3xvector<16xf16>> as !itensor) {
// CHECK: %[[Y:.*]] = dataflow.unpack %y : tensor<3xvector<16xf16>> as !itensor -> tensor<6x8xf16>
// CHECK-NEXT: func.return %[[Y]] : tensor<6x8xf16>

// -----

// 32 lanes of i8, across both loops.
// SHOW: pack|kernel|return
!X = !itensor.itensor<1x4xi8, iter_space: [6, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @bytes(%x: tensor<6x16xi8>) -> tensor<6x16xi8> {
  %y = dataflow.kernel @k(%s = %x : tensor<6x16xi8> as !X) -> (tensor<6x16xi8> as !X) {
    dataflow.yield %s : !X
  }
  func.return %y : tensor<6x16xi8>
}

// CHECK: !itensor = !itensor.itensor<1x4xi8, iter_space: [6, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @bytes(
// CHECK-NEXT: %[[X:.*]] = dataflow.pack %x : tensor<6x16xi8> as !itensor -> tensor<3xvector<32xi8>>
// CHECK-NEXT: %y = dataflow.kernel @k(%s = %[[X]] : tensor<3xvector<32xi8>> as !itensor) -> (tensor<3xvector<32xi8>> as !itensor) {
// CHECK: %[[Y:.*]] = dataflow.unpack %y : tensor<3xvector<32xi8>> as !itensor -> tensor<6x16xi8>
// CHECK-NEXT: func.return %[[Y]] : tensor<6x16xi8>

// -----

// Truth values are stored as bytes: 8 lanes, since 15 tokens have no even part.
// SHOW: pack|kernel|return
!X = !itensor.itensor<1x8xi1, iter_space: [15] * [1], iter_map: (d0) -> (d0, 0)>
func.func @truth(%x: tensor<15x8xi1>) -> tensor<15x8xi1> {
  %y = dataflow.kernel @k(%s = %x : tensor<15x8xi1> as !X) -> (tensor<15x8xi1> as !X) {
    dataflow.yield %s : !X
  }
  func.return %y : tensor<15x8xi1>
}

// CHECK: !itensor = !itensor.itensor<1x8xi1, iter_space: [15] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK-LABEL: func.func @truth(
// CHECK-NEXT: %[[X:.*]] = dataflow.pack %x : tensor<15x8xi1> as !itensor -> tensor<15xvector<8xi8>>
// CHECK-NEXT: %y = dataflow.kernel @k(%s = %[[X]] : tensor<15xvector<8xi8>> as !itensor) -> (tensor<15xvector<8xi8>> as !itensor) {
// CHECK: %[[Y:.*]] = dataflow.unpack %y : tensor<15xvector<8xi8>> as !itensor -> tensor<15x8xi1>
// CHECK-NEXT: func.return %[[Y]] : tensor<15x8xi1>

// -----

// Three f16 take the place of four; 20 tokens come out even in words of four, 16 lanes.
// SHOW: pack|kernel|return
!X = !itensor.itensor<1x3xf16, iter_space: [5, 4] * [1, 3], iter_map: (d0, d1) -> (d0, d1)>
func.func @odd_lanes(%x: tensor<5x12xf16>) -> tensor<5x12xf16> {
  %y = dataflow.kernel @k(%s = %x : tensor<5x12xf16> as !X) -> (tensor<5x12xf16> as !X) {
    dataflow.yield %s : !X
  }
  func.return %y : tensor<5x12xf16>
}

// CHECK: !itensor = !itensor.itensor<1x3xf16, iter_space: [5, 4] * [1, 3], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @odd_lanes(
// CHECK-NEXT: %[[X:.*]] = dataflow.pack %x : tensor<5x12xf16> as !itensor -> tensor<5xvector<16xf16>>
// CHECK-NEXT: %y = dataflow.kernel @k(%s = %[[X]] : tensor<5xvector<16xf16>> as !itensor) -> (tensor<5xvector<16xf16>> as !itensor) {
// CHECK: %[[Y:.*]] = dataflow.unpack %y : tensor<5xvector<16xf16>> as !itensor -> tensor<5x12xf16>
// CHECK-NEXT: func.return %[[Y]] : tensor<5x12xf16>

// -----

// Three tokens of 4 lanes between reuse loops fill 12 of 16 lanes: a word holds one.
// SHOW: pack|kernel|return
!X = !itensor.itensor<1x4xf16, iter_space: [5, 2, 3] * [1, 1, 4], iter_map: (d0, d1, d2) -> (d0, d2)>
func.func @between_reuse(%x: tensor<5x12xf16>) -> tensor<5x12xf16> {
  %y = dataflow.kernel @k(%s = %x : tensor<5x12xf16> as !X) -> (tensor<5x12xf16> as !X) {
    dataflow.yield %s : !X
  }
  func.return %y : tensor<5x12xf16>
}

// CHECK: !itensor = !itensor.itensor<1x4xf16, iter_space: [5, 2, 3] * [1, 1, 4], iter_map: (d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func.func @between_reuse(
// CHECK-NEXT: %[[X:.*]] = dataflow.pack %x : tensor<5x12xf16> as !itensor -> tensor<15xvector<4xf16>>
// CHECK-NEXT: %y = dataflow.kernel @k(%s = %[[X]] : tensor<15xvector<4xf16>> as !itensor) -> (tensor<15xvector<4xf16>> as !itensor) {
// CHECK: %[[Y:.*]] = dataflow.unpack %y : tensor<15xvector<4xf16>> as !itensor -> tensor<5x12xf16>
// CHECK-NEXT: func.return %[[Y]] : tensor<5x12xf16>

// -----

// An operand that is only split, and a result that is only merged, have a port per part.
// SHOW: pack|kernel|return
!X = !itensor.itensor<1x8xf32, iter_space: [3, 4] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
!A = !itensor.itensor<1x8xf32, iter_space: [3, 2] * [1, 16], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<1x8xf32, iter_space: [3, 2] * [1, 16], iter_map: (d0, d1) -> (d0, d1 + 8)>
func.func @striped(%x: tensor<3x32xf32>, %z: tensor<3x32xf32>) -> (tensor<3x32xf32>, tensor<3x32xf32>) {
  %y, %u = dataflow.kernel @k(%s = %x : tensor<3x32xf32> as !X, %t = %z : tensor<3x32xf32> as !X) -> (tensor<3x32xf32> as !X, tensor<3x32xf32> as !X) {
    %a, %b = itensor.split %s : !X to !A, !B
    %j = itensor.merge %a, %b : !A, !B to !X
    dataflow.yield %t, %j : !X, !X
  }
  func.return %y, %u : tensor<3x32xf32>, tensor<3x32xf32>
}

// CHECK: !itensor = !itensor.itensor<1x8xf32, iter_space: [3, 4] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x8xf32, iter_space: [3, 2] * [1, 16], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor2 = !itensor.itensor<1x8xf32, iter_space: [3, 2] * [1, 16], iter_map: (d0, d1) -> (d0, d1 + 8)>
// CHECK-LABEL: func.func @striped(
// CHECK-NEXT: %[[X:.*]], %[[X1:.*]] = dataflow.pack %x : tensor<3x32xf32> as !itensor -> tensor<6xvector<8xf32>>, tensor<6xvector<8xf32>>
// CHECK-NEXT: %[[Z:.*]] = dataflow.pack %z : tensor<3x32xf32> as !itensor -> tensor<12xvector<8xf32>>
// CHECK-NEXT: %y, %u, %[[U:.*]] = dataflow.kernel @k(%a = %[[X]] : tensor<6xvector<8xf32>> as !itensor1, %b = %[[X1]] : tensor<6xvector<8xf32>> as !itensor2, %t = %[[Z]] : tensor<12xvector<8xf32>> as !itensor) -> (tensor<12xvector<8xf32>> as !itensor, tensor<6xvector<8xf32>> as !itensor1, tensor<6xvector<8xf32>> as !itensor2) {
// CHECK: %[[Y:.*]] = dataflow.unpack %y : tensor<12xvector<8xf32>> as !itensor -> tensor<3x32xf32>
// CHECK-NEXT: %[[U1:.*]] = dataflow.unpack %u, %[[U]] : tensor<6xvector<8xf32>>, tensor<6xvector<8xf32>> as !itensor -> tensor<3x32xf32>
// CHECK-NEXT: func.return %[[Y]], %[[U1]] : tensor<3x32xf32>, tensor<3x32xf32>

// -----

// A split of an operand that others read too stays inside: one port for that.
// SHOW: pack|kernel|return
!X = !itensor.itensor<1x8xf32, iter_space: [3, 4] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
!A = !itensor.itensor<1x8xf32, iter_space: [3, 2] * [1, 16], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<1x8xf32, iter_space: [3, 2] * [1, 16], iter_map: (d0, d1) -> (d0, d1 + 8)>
func.func @inside(%x: tensor<3x32xf32>) -> (tensor<3x32xf32>, tensor<3x32xf32>) {
  %y, %u = dataflow.kernel @k(%s = %x : tensor<3x32xf32> as !X) -> (tensor<3x32xf32> as !X, tensor<3x32xf32> as !X) {
    %v, %w = itensor.fork %s : !X to !X, !X
    %a, %b = itensor.split %v : !X to !A, !B
    %j = itensor.merge %a, %b : !A, !B to !X
    dataflow.yield %w, %j : !X, !X
  }
  func.return %y, %u : tensor<3x32xf32>, tensor<3x32xf32>
}

// CHECK: !itensor = !itensor.itensor<1x8xf32, iter_space: [3, 4] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x8xf32, iter_space: [3, 2] * [1, 16], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor2 = !itensor.itensor<1x8xf32, iter_space: [3, 2] * [1, 16], iter_map: (d0, d1) -> (d0, d1 + 8)>
// CHECK-LABEL: func.func @inside(
// CHECK-NEXT: %[[X:.*]] = dataflow.pack %x : tensor<3x32xf32> as !itensor -> tensor<12xvector<8xf32>>
// CHECK-NEXT: %y, %u, %[[U:.*]] = dataflow.kernel @k(%s = %[[X]] : tensor<12xvector<8xf32>> as !itensor) -> (tensor<12xvector<8xf32>> as !itensor, tensor<6xvector<8xf32>> as !itensor1, tensor<6xvector<8xf32>> as !itensor2) {
// CHECK: %[[Y:.*]] = dataflow.unpack %y : tensor<12xvector<8xf32>> as !itensor -> tensor<3x32xf32>
// CHECK-NEXT: %[[U1:.*]] = dataflow.unpack %u, %[[U]] : tensor<6xvector<8xf32>>, tensor<6xvector<8xf32>> as !itensor -> tensor<3x32xf32>
// CHECK-NEXT: func.return %[[Y]], %[[U1]] : tensor<3x32xf32>, tensor<3x32xf32>

// -----

// What is updated in place lies as it is read, in words of one token, all rows of it.
// SHOW: pack|kernel|return
!R = !itensor.itensor<1x8xf32, iter_space: [pos<=5] * [1], iter_map: (d0) -> (d0, 0)>
!N = !itensor.itensor<1x8xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
func.func @append(%c: tensor<6x8xf32>, %p: i32) -> (tensor<5x8xf32>, tensor<6x8xf32>) {
  %y, %u = dataflow.kernel @k(%s = %c : tensor<6x8xf32> as !R, %pos = %p : i32 as !itensor.symbol<pos<=5>)
      -> (tensor<5x8xf32> as !R, tensor<6x8xf32> as !N into %s at [%pos, 0]) {
    %new = itensor.empty : !N
    dataflow.yield %s, %new : !R, !N
  }
  func.return %y, %u : tensor<5x8xf32>, tensor<6x8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x8xf32, iter_space: [pos<=5] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor2 = !itensor.itensor<1x8xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK-LABEL: func.func @append(
// CHECK-NEXT: %[[C:.*]] = dataflow.pack %c : tensor<6x8xf32> as !itensor -> tensor<6xvector<8xf32>>
// CHECK-NEXT: %y, %u = dataflow.kernel @k(%s = %[[C]] : tensor<6xvector<8xf32>> as !itensor1, %pos = %p : i32 as !itensor.symbol<pos<=5>) -> (tensor<5xvector<8xf32>> as !itensor1, tensor<6xvector<8xf32>> as !itensor2 into %s at [%pos, 0] of !itensor) {
// CHECK: %[[Y:.*]] = dataflow.unpack %y : tensor<5xvector<8xf32>> as !itensor.itensor<1x8xf32, iter_space: [5] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<5x8xf32>
// CHECK-NEXT: %[[U:.*]] = dataflow.unpack %u : tensor<6xvector<8xf32>> as !itensor -> tensor<6x8xf32>
// CHECK-NEXT: func.return %[[Y]], %[[U]] : tensor<5x8xf32>, tensor<6x8xf32>

// -----

// Integers of less than a byte lie side by side, those between two powers of two as the wider one, and a word has a byte at least.
// SHOW: pack|kernel
!X = !itensor.itensor<1x8xi4, iter_space: [3, 4] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
!Y = !itensor.itensor<1x7xi3, iter_space: [3, 5] * [1, 7], iter_map: (d0, d1) -> (d0, d1)>
!Z = !itensor.itensor<1x8xi12, iter_space: [3, 1] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
!V = !itensor.itensor<1xi4, iter_space: [5] * [1], iter_map: (d0) -> (d0)>
func.func @narrow(%x: tensor<3x32xi4>, %y: tensor<3x35xi3>, %z: tensor<3x8xi12>, %v: tensor<5xi4>) -> () {
  dataflow.kernel @k(%a = %x : tensor<3x32xi4> as !X, %b = %y : tensor<3x35xi3> as !Y, %c = %z : tensor<3x8xi12> as !Z,
                     %d = %v : tensor<5xi4> as !V) -> () {
    dataflow.yield
  }
  func.return
}

// CHECK: !itensor = !itensor.itensor<1x8xi4, iter_space: [3, 4] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x7xi3, iter_space: [3, 5] * [1, 7], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor2 = !itensor.itensor<1x8xi12, iter_space: [3, 1] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor3 = !itensor.itensor<1xi4, iter_space: [5] * [1], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @narrow(
// CHECK-NEXT: %[[X:.*]] = dataflow.pack %x : tensor<3x32xi4> as !itensor -> tensor<3xvector<32xi4>>
// CHECK-NEXT: %[[Y:.*]] = dataflow.pack %y : tensor<3x35xi3> as !itensor1 -> tensor<15xvector<8xi4>>
// CHECK-NEXT: %[[Z:.*]] = dataflow.pack %z : tensor<3x8xi12> as !itensor2 -> tensor<3xvector<8xi16>>
// CHECK-NEXT: %[[V:.*]] = dataflow.pack %v : tensor<5xi4> as !itensor3 -> tensor<5xvector<1xi8>>
// CHECK-NEXT: dataflow.kernel @k(%a = %[[X]] : tensor<3xvector<32xi4>> as !itensor, %b = %[[Y]] : tensor<15xvector<8xi4>> as !itensor1, %c = %[[Z]] : tensor<3xvector<8xi16>> as !itensor2, %d = %[[V]] : tensor<5xvector<1xi8>> as !itensor3) {
