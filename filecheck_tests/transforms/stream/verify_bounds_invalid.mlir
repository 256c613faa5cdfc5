// RUN: stc-opt %s -p verify-bounds --split-input-file --verify-diagnostics

// The sign of an offset is wrong.
func.func @sign() {
  dataflow.kernel @k() {
    dataflow.task @t ins() outs() {
      %tile = memref.alloc() : memref<4x16xf32>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      scf.for %c = %c0 to %c16 step %c1 {
        %back = arith.subi %c0, %c : index
        // expected-error @below {{pass 'verify-bounds': load from tile[4][16], dimension 1 in @t of @k: the index ranges over -15 to 0, outside 0 to 15 (16 entries); it is -1 where %c = 1}}
        %v = memref.load %tile[%c0, %back] : memref<4x16xf32>
      }
      dataflow.yield
    }
    dataflow.yield
  }
  func.return
}

// -----

// A loop runs once too often: the words of a port have an extent, too. The last vector starts one entry too far.
func.func @extent(%port: memref<6xvector<16xf32>>, %word: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  scf.for %i = %c0 to %c7 step %c1 {
    // expected-error @below {{load from port[6], dimension 0: the index ranges over 0 to 6, outside 0 to 5 (6 entries); it is 6 where %i = 6 (and 1 more such indices)}}
    %v = memref.load %port[%i] : memref<6xvector<16xf32>>
    %w = vector.load %word[%i] : memref<16xf32>, vector<12xf32>
  }
  func.return
}

// -----

// The guard is there, but for another variable.
func.func @guard(%row: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %inside = arith.cmpi ne, %i, %c0 : index
      scf.if %inside {
        %before = arith.subi %j, %c1 : index
        // expected-error @below {{load from row[8], dimension 0: the index ranges over -1 to 6, outside 0 to 7 (8 entries); it is -1 where %j = 0}}
        %v = memref.load %row[%before] : memref<8xf32>
      }
    }
  }
  func.return
}

// -----

// What is not decided is not proved.
func.func @wraps(%row: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %before = arith.subi %i, %c1 : index
    %wrapped = arith.remui %before, %c8 : index
    // expected-error @below {{not proved to stay in 0 to 7 (8 entries): an operand of an unsigned division, remainder or shift is negative, or a divisor is 0}}
    %v = memref.load %row[%wrapped] : memref<8xf32>
  }
  func.return
}

// -----

// A lane that a vector does not have.
func.func @lane(%words: memref<2xvector<4xf32>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %word = memref.load %words[%c0] : memref<2xvector<4xf32>>
  scf.for %lane = %c0 to %c5 step %c1 {
    // expected-error @below {{lane of word[4], dimension 0: the index ranges over 0 to 4, outside 0 to 3 (4 entries); it is 4 where %lane = 4}}
    %v = vector.extract %word[%lane] : f32 from vector<4xf32>
  }
  func.return
}

// -----

// Of a vector of two dimensions, both count.
func.func @block(%tile: memref<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  // expected-error @below {{load from tile[4][8], dimension 0: the index is 3, outside 0 to 2 (4 entries, 2 at a time)}}
  %v = vector.load %tile[%c3, %c0] : memref<4x8xf32>, vector<2x8xf32>
  func.return
}

// -----

// A view of a buffer, taken where the buffer ends.
func.func @view(%tile: memref<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    // expected-error @below {{view of tile[4][8], dimension 0: the index ranges over 0 to 3, outside 0 to 2 (4 entries, 2 at a time); it is 3 where %i = 3}}
    %v = memref.subview %tile[%i, 0] [2, 8] [1, 1] : memref<4x8xf32> to memref<2x8xf32, strided<[8, 1], offset: ?>>
  }
  func.return
}

// -----

// A block of a ring is called after its ring.
func.func @ring() {
  dataflow.kernel @k() {
    %rows = stream.buffer @rows : !stream.block<memref<4x8xf32>, count: 2>
    dataflow.task @fill ins() outs(%out = %rows : !stream.block<memref<4x8xf32>, count: 2>) {
      %c4 = arith.constant 4 : index
      %zero = arith.constant 0.0 : f32
      %0 = stream.acquire %out : !stream.block<memref<4x8xf32>, count: 2> -> memref<4x8xf32>
      // expected-error @below {{store to the block of out[4][8], dimension 0 in @fill of @k: the index is 4, outside 0 to 3 (4 entries)}}
      memref.store %zero, %0[%c4, %c4] : memref<4x8xf32>
      dataflow.yield
    }
    dataflow.task @drain ins(%in = %rows : !stream.block<memref<4x8xf32>, count: 2>) outs() {
      %1 = stream.acquire %in : !stream.block<memref<4x8xf32>, count: 2> -> memref<4x8xf32>
      dataflow.yield
    }
    dataflow.yield
  }
  func.return
}
