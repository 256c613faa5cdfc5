// RUN: stc-opt %s -p 'fuse-reads,hoist-constants' --split-input-file | filecheck %s

// Weights come row by row, and each is used once: the loops that add to three sums in turn take the order of the tokens, and the
// buffer is one token. The order of the additions to each sum stays: along %j.
dataflow.kernel @k() {
  %in = stream.create @in : !stream.stream<vector<4xi32>, depth: 2>
  dataflow.task @feed ins() outs(%o = %in : !stream.stream<vector<4xi32>, depth: 2>) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %tokens = arith.constant 15 : index
    %zero = arith.constant 0 : i32  %token = vector.broadcast %zero : i32 to vector<4xi32>
    scf.for %i = %c0 to %tokens step %c1 {
      stream.write %token into %o : !stream.stream<vector<4xi32>, depth: 2>
    }
  }
  dataflow.task @t ins(%p = %in : !stream.stream<vector<4xi32>, depth: 2>) outs() {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
    %c3 = arith.constant 3 : index  %c5 = arith.constant 5 : index
    %w = memref.alloc() : memref<3x5x4xi32>
    %s = memref.alloc() : memref<3x4xi32>
    scf.for %i = %c0 to %c3 step %c1 {
      scf.for %j = %c0 to %c5 step %c1 {
        %v = stream.read %p : !stream.stream<vector<4xi32>, depth: 2>
        vector.store %v, %w[%i, %j, %c0] : memref<3x5x4xi32>, vector<4xi32>
      }
    }
    scf.for %j = %c0 to %c5 step %c1 {
      scf.for %i = %c0 to %c3 step %c1 {
        scf.for %k = %c0 to %c4 step %c1 {
          %a = memref.load %w[%i, %j, %k] : memref<3x5x4xi32>
          %b = memref.load %s[%i, %k] : memref<3x4xi32>
          %c = arith.addi %a, %b : i32
          memref.store %c, %s[%i, %k] : memref<3x4xi32>
        } {stc.unroll = 0 : i32}
      } {stc.label = "fc_i"}
    } {stc.label = "fc_j"}
  }
}

// CHECK-LABEL: @k(
// CHECK: %w = memref.alloc() : memref<4xi32>
// CHECK: scf.for %i = %c0 to %c3
// CHECK-NEXT: scf.for %j = %c0 to %c5
// CHECK-NEXT: %v = stream.read %p
// CHECK-NEXT: vector.store %v, %w[%c0] : memref<4xi32>, vector<4xi32>
// CHECK-NEXT: scf.for %k
// CHECK-NEXT: %a = memref.load %w[%k]
// CHECK-NEXT: %b = memref.load %s[%i, %k]
// CHECK: } {stc.label = "fc_j"}
// CHECK-NEXT: } {stc.label = "fc_i"}
// CHECK-NOT: scf.for

// -----

// Two iterations share a token: the first reads it.
dataflow.kernel @shared() {
  %in = stream.create @in : !stream.stream<vector<2xf32>, depth: 2>
  dataflow.task @feed ins() outs(%o = %in : !stream.stream<vector<2xf32>, depth: 2>) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %tokens = arith.constant 3 : index
    %zero = arith.constant 0.0 : f32  %token = vector.broadcast %zero : f32 to vector<2xf32>
    scf.for %i = %c0 to %tokens step %c1 {
      stream.write %token into %o : !stream.stream<vector<2xf32>, depth: 2>
    }
  }
  dataflow.task @t ins(%p = %in : !stream.stream<vector<2xf32>, depth: 2>) outs() {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index  %c6 = arith.constant 6 : index
    %w = memref.alloc() : memref<6xf32>
    %s = memref.alloc() : memref<6xf32>
    scf.for %i = %c0 to %c6 step %c2 {
      %v = stream.read %p : !stream.stream<vector<2xf32>, depth: 2>
      vector.store %v, %w[%i] : memref<6xf32>, vector<2xf32>
    }
    scf.for %i = %c0 to %c6 step %c1 {
      %a = memref.load %w[%i] : memref<6xf32>
      memref.store %a, %s[%i] : memref<6xf32>
    }
  }
}

// CHECK-LABEL: @shared(
// CHECK: %w = memref.alloc() : memref<2xf32>
// CHECK: scf.for %i = %c0 to %c6 step %c1
// CHECK-NEXT: [[LANE:%.*]] = arith.andi %i, %c1
// CHECK-NEXT: [[FIRST:%.*]] = arith.cmpi eq, [[LANE]], %c0
// CHECK-NEXT: scf.if [[FIRST]] {
// CHECK-NEXT: %v = stream.read %p
// CHECK-NEXT: vector.store %v, %w[%c0]
// CHECK-NEXT: }
// CHECK-NEXT: [[AGAIN:%.*]] = arith.andi %i, %c1
// CHECK-NEXT: %a = memref.load %w[[[AGAIN]]]
// CHECK-NOT: scf.for

// -----

// A float sum that the next iteration continues would wait longer than the fill takes: nothing changes.
dataflow.kernel @waits() {
  %in = stream.create @in : !stream.stream<vector<1xf32>, depth: 2>
  dataflow.task @feed ins() outs(%o = %in : !stream.stream<vector<1xf32>, depth: 2>) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %tokens = arith.constant 80 : index
    %zero = arith.constant 0.0 : f32  %token = vector.broadcast %zero : f32 to vector<1xf32>
    scf.for %i = %c0 to %tokens step %c1 {
      stream.write %token into %o : !stream.stream<vector<1xf32>, depth: 2>
    }
  }
  dataflow.task @t ins(%p = %in : !stream.stream<vector<1xf32>, depth: 2>) outs() {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index  %c16 = arith.constant 16 : index
    %w = memref.alloc() : memref<16x5xf32>
    %s = memref.alloc() : memref<16xf32>
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c5 step %c1 {
        %v = stream.read %p : !stream.stream<vector<1xf32>, depth: 2>
        vector.store %v, %w[%i, %j] : memref<16x5xf32>, vector<1xf32>
      }
    }
    scf.for %j = %c0 to %c5 step %c1 {
      scf.for %i = %c0 to %c16 step %c1 {
        %a = memref.load %w[%i, %j] : memref<16x5xf32>
        %b = memref.load %s[%i] : memref<16xf32>
        %c = arith.addf %a, %b : f32
        memref.store %c, %s[%i] : memref<16xf32>
      }
    }
  }
}

// CHECK-LABEL: @waits(
// CHECK: %w = memref.alloc() : memref<16x5xf32>
// CHECK: scf.for %i
// CHECK-NEXT: scf.for %j
// CHECK-NEXT: stream.read
// CHECK: scf.for %j
// CHECK-NEXT: scf.for %i
// CHECK-NEXT: memref.load %w
