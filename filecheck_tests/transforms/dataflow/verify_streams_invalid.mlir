// RUN: stc-opt %s -p verify-streams --split-input-file --verify-diagnostics

// What the verifiers leave open is decided by proof: here a length that is known only at run time.
!S = !itensor.itensor<1x4xf32, iter_space: [seq<=64, 3] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!T = !itensor.itensor<1x4xf32, iter_space: [3, seq<=64] * [4, 1], iter_map: (d0, d1) -> (d1, d0)>
func.func @transposed(%x: tensor<64x12xf32>, %n: index) -> tensor<64x12xf32> {
  %y = dataflow.kernel @k(%s = %x : tensor<64x12xf32> as !S, %seq = %n : index as !itensor.symbol<seq<=64>) -> (tensor<64x12xf32> as !T) {
    // expected-error @below {{pass 'verify-streams': cast %s to %t in @k: token 1 is at [0, 4] in the source but at [1, 0] in the target where seq = 64}}
    %t = itensor.cast %s : !S to !T
    dataflow.yield %t : !T
  }
  func.return %y : tensor<64x12xf32>
}

// -----

// Pairs of rows: as many as rows if their number is even, so also at the maximum; z3 finds a length that is odd.
!S = !itensor.itensor<1xf32, iter_space: [seq<=64] * [1], iter_map: (d0) -> (d0)>
!T = !itensor.itensor<1xf32, iter_space: [ceildiv(seq<=64, 2), 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1)>
func.func @odd(%s: !S) -> !T {
  // expected-error @below {{cast %s to %t in no kernel: token 1 is at no coordinate in the source but at [1] in the target where seq = 1}}
  %t = itensor.cast %s : !S to !T
  func.return %t : !T
}

// -----

// As many tokens, but not the same positions of the tensor.
!S = !itensor.itensor<1x4xf32, iter_space: [4, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!T = !itensor.itensor<1x1x4xf32, iter_space: [2, 2, 2] * [1, 1, 4], iter_map: (d0, d1, d2) -> (d1, d0, d2)>
func.func @reshaped(%x: tensor<4x8xf32>) -> tensor<2x2x8xf32> {
  %y = dataflow.kernel @k(%s = %x : tensor<4x8xf32> as !S) -> (tensor<2x2x8xf32> as !T) {
    // expected-error @below {{reassociate %s to %t in @k: row-major position of an entry changes: token 8 is at [8] in the source but at [16] in the target (counted in entries)}}
    %t = itensor.reassociate %s : !S to !T
    dataflow.yield %t : !T
  }
  func.return %y : tensor<2x2x8xf32>
}

// -----

// The words of the packed tensor lie in another order than the kernel reads them.
!S = !itensor.itensor<1x4xf32, iter_space: [2, 3] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!T = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [4, 1], iter_map: (d0, d1) -> (d1, d0)>
func.func @packed(%x: tensor<2x12xf32>) -> tensor<6xvector<4xf32>> {
  %p = dataflow.pack %x : tensor<2x12xf32> as !S -> tensor<6xvector<4xf32>>
  // expected-error @below {{boundary %p into kernel @k: token 1 is at [0, 4] in the source but at [1, 0] in the target}}
  %y = dataflow.kernel @k(%t = %p : tensor<6xvector<4xf32>> as !T) -> (tensor<6xvector<4xf32>> as !T) {
    dataflow.yield %t : !T
  }
  func.return %y : tensor<6xvector<4xf32>>
}

// -----

// The kernel writes words in another order than the host reads them; a reuse loop does not count, memory holds a word once.
!S = !itensor.itensor<1x4xf32, iter_space: [2, 3] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!T = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [4, 1], iter_map: (d0, d1) -> (d1, d0)>
!R = !itensor.itensor<1x4xf32, iter_space: [5, 2, 3] * [1, 1, 4], iter_map: (d0, d1, d2) -> (d1, d2)>
func.func @unpacked(%x: tensor<2x12xf32>) -> tensor<2x12xf32> {
  %p = dataflow.pack %x : tensor<2x12xf32> as !S -> tensor<6xvector<4xf32>>
  %q = dataflow.kernel @k(%t = %p : tensor<6xvector<4xf32>> as !R) -> (tensor<6xvector<4xf32>> as !R) {
    dataflow.yield %t : !R
  }
  // expected-error @below {{boundary %q unpacked to %y: token 1 is at [0, 4] in the source but at [1, 0] in the target}}
  %y = dataflow.unpack %q : tensor<6xvector<4xf32>> as !T -> tensor<2x12xf32>
  func.return %y : tensor<2x12xf32>
}

// -----

// Eight million tokens: more than a verifier counts.
!S = !itensor.itensor<1x1xf32, iter_space: [4096, 2048] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!T = !itensor.itensor<1x1xf32, iter_space: [1024, 4096] * [1, 1], iter_map: (d0, d1) -> (d1, d0)>
func.func @sliced(%s: !S) -> !T {
  // expected-error @below {{chunk slice 0 of %s: token 1 is at [0, 1] in the source but at [1, 0] in the target}}
  %t = itensor.chunk %s at [0, 512] : !S to !T
  func.return %t : !T
}

// -----

// A converter whose block is too small never reaches the pass: its verifier sees to it.
!S = !itensor.itensor<1x4xf32, iter_space: [2, 3] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!T = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [4, 1], iter_map: (d0, d1) -> (d1, d0)>
func.func @small(%s: !S) -> !T {
  // expected-error @below {{buffers 8 entries of dimension 1, expected at least the 12 visited inside the shared loops}}
  %t = itensor.converter %s {shared_loops = 0, buffer_shape = [2, 8], blocks = 1} : !S to !T
  func.return %t : !T
}

// -----

// Tokens of eight entries and of four are the same words in another order.
!S = !itensor.itensor<1x8xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
!T = !itensor.itensor<1x4xf32, iter_space: [2, 2, 2] * [8, 1, 4], iter_map: (d0, d1, d2) -> (d1, d0 + d2)>
func.func @widths(%x: tensor<2x16xf32>) -> tensor<4xvector<8xf32>> {
  %p = dataflow.pack %x : tensor<2x16xf32> as !S -> tensor<4xvector<8xf32>>
  // expected-error @below {{boundary %p into kernel @k: token 2 is at [0, 8] in the source but at [1, 0] in the target}}
  %y = dataflow.kernel @k(%t = %p : tensor<4xvector<8xf32>> as !T) -> (tensor<4xvector<8xf32>> as !T) {
    dataflow.yield %t : !T
  }
  func.return %y : tensor<4xvector<8xf32>>
}

// -----

// One name is one scalar, so it has one maximum.
!S = !itensor.itensor<1xf32, iter_space: [seq<=64] * [1], iter_map: (d0) -> (d0)>
!T = !itensor.itensor<1xf32, iter_space: [seq<=32] * [1], iter_map: (d0) -> (d0)>
func.func @maxima(%s: !S) -> !T {
  // expected-error @below {{cast %s to %t in no kernel: not proved: symbol 'seq' has maximum 64 and also 32}}
  %t = itensor.cast %s : !S to !T
  func.return %t : !T
}

// -----

// Two readers of one stream, where forks have been inserted.
!S = !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
func.func @unforked(%x: tensor<4x4xf32>) -> (tensor<4xvector<4xf32>>, tensor<4xvector<4xf32>>) {
  %p = dataflow.pack %x : tensor<4x4xf32> as !S -> tensor<4xvector<4xf32>>
  // expected-error @below {{readers of streams in kernel @k: %s is taken by 'dataflow.yield' and 'itensor.cast', expected one reader, or a fork}}
  %y, %z = dataflow.kernel @k(%s = %p : tensor<4xvector<4xf32>> as !S) -> (tensor<4xvector<4xf32>> as !S, tensor<4xvector<4xf32>> as !S) {
    %t = itensor.cast %s : !S to !S
    dataflow.yield %s, %t : !S, !S
  }
  func.return %y, %z : tensor<4xvector<4xf32>>, tensor<4xvector<4xf32>>
}

// -----

// Both have 8 rows at the maximum, but at any other value the second kernel reads a row that the first did not write.
!S = !itensor.itensor<1x4xf32, iter_space: [pos<=8] * [1], iter_map: (d0) -> (d0, 0)>
!T = !itensor.itensor<1x4xf32, iter_space: [min(sum(pos<=8, 1), 8)] * [1], iter_map: (d0) -> (d0, 0)>
func.func @between(%x: tensor<8xvector<4xf32>>, %p: i32, %q: i32) -> tensor<8xvector<4xf32>> {
  %y = dataflow.kernel @writer(%s = %x : tensor<8xvector<4xf32>> as !S, %pos = %p : i32 as !itensor.symbol<pos<=8>) -> (tensor<8xvector<4xf32>> as !S) {
    dataflow.yield %s : !S
  }
  // expected-error @below {{boundary %y into kernel @reader: min(sum(pos<=8, 1), 8) entries of dimension 0 are read, expected the pos<=8 that were written}}
  %z = dataflow.kernel @reader(%s = %y : tensor<8xvector<4xf32>> as !T, %pos = %p : i32 as !itensor.symbol<pos<=8>) -> (tensor<8xvector<4xf32>> as !T) {
    dataflow.yield %s : !T
  }
  func.return %z : tensor<8xvector<4xf32>>
}

// -----

// All rows, of which some may not be there.
!S = !itensor.itensor<1x4xf32, iter_space: [pos<=8] * [1], iter_map: (d0) -> (d0, 0)>
!T = !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
func.func @between(%x: tensor<8x4xf32>, %p: i32, %q: i32) -> tensor<8x4xf32> {
  %y = dataflow.kernel @writer(%s = %x : tensor<8x4xf32> as !S, %pos = %p : i32 as !itensor.symbol<pos<=8>) -> (tensor<8x4xf32> as !S) {
    dataflow.yield %s : !S
  }
  // expected-error @below {{boundary %y into kernel @reader: 8 entries of dimension 0 are read, expected the pos<=8 that were written}}
  %z = dataflow.kernel @reader(%s = %y : tensor<8x4xf32> as !T, %pos = %p : i32 as !itensor.symbol<pos<=8>) -> (tensor<8x4xf32> as !T) {
    dataflow.yield %s : !T
  }
  func.return %z : tensor<8x4xf32>
}

// -----

// Symbols of one name, but of two scalars.
!S = !itensor.itensor<1x4xf32, iter_space: [pos<=8] * [1], iter_map: (d0) -> (d0, 0)>
!T = !itensor.itensor<1x4xf32, iter_space: [pos<=8] * [1], iter_map: (d0) -> (d0, 0)>
func.func @between(%x: tensor<8xvector<4xf32>>, %p: i32, %q: i32) -> tensor<8xvector<4xf32>> {
  %y = dataflow.kernel @writer(%s = %x : tensor<8xvector<4xf32>> as !S, %pos = %p : i32 as !itensor.symbol<pos<=8>) -> (tensor<8xvector<4xf32>> as !S) {
    dataflow.yield %s : !S
  }
  // expected-error @below {{boundary %y into kernel @reader: pos<=8 is %p where it is written, but %q here, expected one scalar}}
  %z = dataflow.kernel @reader(%s = %y : tensor<8xvector<4xf32>> as !T, %pos = %q : i32 as !itensor.symbol<pos<=8>) -> (tensor<8xvector<4xf32>> as !T) {
    dataflow.yield %s : !T
  }
  func.return %z : tensor<8xvector<4xf32>>
}
