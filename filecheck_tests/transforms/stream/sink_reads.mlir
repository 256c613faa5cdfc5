// RUN: stc-opt %s -p 'sink-reads,hoist-constants' --split-input-file | filecheck %s

// A scalar for each of eight rows of a product: with its read in the first iteration, both loops are one nest.
dataflow.kernel @rows() {
  %in = stream.create @in : !stream.stream<vector<1xf32>, depth: 2>
  dataflow.task @t ins(%p = %in : !stream.stream<vector<1xf32>, depth: 2>) outs() {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
    %x = memref.alloc() : memref<1xf32>
    %s = memref.alloc() : memref<4xf32>
    scf.for %i = %c0 to %c8 step %c1 {
      %v = stream.read %p : !stream.stream<vector<1xf32>, depth: 2>
      vector.store %v, %x[%c0] : memref<1xf32>, vector<1xf32>
      scf.for %j = %c0 to %c4 step %c1 {
        %a = memref.load %x[%c0] : memref<1xf32>
        %b = memref.load %s[%j] : memref<4xf32>
        %c = arith.addf %a, %b : f32
        memref.store %c, %s[%j] : memref<4xf32>
      }
    }
  }
}

// CHECK-LABEL: @rows(
// CHECK: scf.for %i
// CHECK-NEXT: scf.for %j
// CHECK-NEXT: [[FIRST:%.*]] = arith.cmpi eq, %j, %c0
// CHECK-NEXT: scf.if [[FIRST]] {
// CHECK-NEXT: %v = stream.read %p
// CHECK-NEXT: vector.store %v, %x[%c0]
// CHECK-NEXT: }
// CHECK-NEXT: %a = memref.load %x[%c0]

// -----

// The last sum of one row is the first of the next: as one nest, 64 iterations would each wait for it. Nothing changes.
dataflow.kernel @waits() {
  %in = stream.create @in : !stream.stream<vector<1xf32>, depth: 2>
  dataflow.task @t ins(%p = %in : !stream.stream<vector<1xf32>, depth: 2>) outs() {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
    %c63 = arith.constant 63 : index  %c64 = arith.constant 64 : index
    %x = memref.alloc() : memref<1xf32>
    %s = memref.alloc() : memref<127xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %row = arith.muli %i, %c63 : index
      %v = stream.read %p : !stream.stream<vector<1xf32>, depth: 2>
      vector.store %v, %x[%c0] : memref<1xf32>, vector<1xf32>
      scf.for %j = %c0 to %c64 step %c1 {
        %at = arith.addi %row, %j : index
        %a = memref.load %x[%c0] : memref<1xf32>
        %b = memref.load %s[%at] : memref<127xf32>
        %c = arith.addf %a, %b : f32
        memref.store %c, %s[%at] : memref<127xf32>
      }
    }
  }
}

// CHECK-LABEL: @waits(
// CHECK: scf.for %i
// CHECK-NEXT: %row
// CHECK-NEXT: %v = stream.read %p
// CHECK-NEXT: vector.store %v
// CHECK-NEXT: scf.for %j
// CHECK-NEXT: %at

// -----

// What else the loop does with a token, or behind the nest, is not part of the nest: nothing changes.
dataflow.kernel @more() {
  %in = stream.create @in : !stream.stream<vector<1xf32>, depth: 2>
  dataflow.task @t ins(%p = %in : !stream.stream<vector<1xf32>, depth: 2>) outs() {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
    %x = memref.alloc() : memref<1xf32>
    %s = memref.alloc() : memref<4xf32>
    scf.for %i = %c0 to %c8 step %c1 {
      %v = stream.read %p : !stream.stream<vector<1xf32>, depth: 2>
      vector.store %v, %x[%c0] : memref<1xf32>, vector<1xf32>
      scf.for %j = %c0 to %c4 step %c1 {
        %a = memref.load %x[%c0] : memref<1xf32>
        memref.store %a, %s[%j] : memref<4xf32>
      }
      %b = memref.load %s[%c0] : memref<4xf32>
      memref.store %b, %s[%c1] : memref<4xf32>
    }
    scf.for %i = %c0 to %c8 step %c1 {
      %v = stream.read %p : !stream.stream<vector<1xf32>, depth: 2>
      %w = vector.extract %v[0] : f32 from vector<1xf32>
      scf.for %j = %c0 to %c4 step %c1 {
        memref.store %w, %s[%j] : memref<4xf32>
      }
    }
  }
}

// CHECK-LABEL: @more(
// CHECK-NOT: scf.if

// -----

// The nest stores the token in each iteration, before it loads it: once is enough. What is loaded first, or stored to besides, would
// hold another; a buffer of the nest has it in one iteration only. In one iteration nothing is won: the read stays outside.
dataflow.kernel @stored_inside() {
  %in = stream.create @in : !stream.stream<vector<2xf32>, depth: 2>
  dataflow.task @t ins(%p = %in : !stream.stream<vector<2xf32>, depth: 2>) outs() {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
    %x = memref.alloc() : memref<1x2xf32>  %y = memref.alloc() : memref<2xf32>  %z = memref.alloc() : memref<2xf32>
    %u = memref.alloc() : memref<2xf32>  %s = memref.alloc() : memref<4xf32>
    scf.for %i = %c0 to %c8 step %c1 {
      %v = stream.read %p : !stream.stream<vector<2xf32>, depth: 2>
      scf.for %j = %c0 to %c4 step %c1 {
        %inside = arith.constant 0 : index
        vector.store %v, %x[%inside, %inside] : memref<1x2xf32>, vector<2xf32>
        %a = memref.load %x[%c0, %c1] : memref<1x2xf32>
        memref.store %a, %s[%j] : memref<4xf32>
      } {stc.label = "alone_j"}
    }
    scf.for %i = %c0 to %c8 step %c1 {
      %v = stream.read %p : !stream.stream<vector<2xf32>, depth: 2>
      scf.for %j = %c0 to %c4 step %c1 {
        %a = memref.load %y[%c1] : memref<2xf32>
        vector.store %v, %y[%c0] : memref<2xf32>, vector<2xf32>
        memref.store %a, %s[%j] : memref<4xf32>
      } {stc.label = "loaded_j"}
    }
    scf.for %i = %c0 to %c8 step %c1 {
      %v = stream.read %p : !stream.stream<vector<2xf32>, depth: 2>
      scf.for %j = %c0 to %c4 step %c1 {
        vector.store %v, %z[%c0] : memref<2xf32>, vector<2xf32>
        %a = memref.load %z[%c1] : memref<2xf32>
        memref.store %a, %s[%j] : memref<4xf32>
        memref.store %a, %s[%j] : memref<4xf32>
      } {stc.label = "twice_j"}
    }
    "memref.copy"(%y, %z) : (memref<2xf32>, memref<2xf32>) -> ()
    scf.for %i = %c0 to %c8 step %c1 {
      %v = stream.read %p : !stream.stream<vector<2xf32>, depth: 2>
      scf.for %j = %c0 to %c4 step %c1 {
        %own = memref.alloc() : memref<2xf32>
        vector.store %v, %own[%c0] : memref<2xf32>, vector<2xf32>
        %a = memref.load %own[%c1] : memref<2xf32>
        memref.store %a, %s[%j] : memref<4xf32>
      } {stc.label = "own_j"}
    }
    scf.for %i = %c0 to %c8 step %c1 {
      %v = stream.read %p : !stream.stream<vector<2xf32>, depth: 2>
      scf.for %j = %c0 to %c1 step %c1 {
        vector.store %v, %u[%c0] : memref<2xf32>, vector<2xf32>
        %a = memref.load %u[%c1] : memref<2xf32>
        memref.store %a, %s[%i] : memref<4xf32>
      } {stc.label = "once_j"}
    }
  }
}

// CHECK-LABEL: @stored_inside(
// CHECK: scf.for %i
// CHECK-NEXT: scf.for %j
// CHECK-NEXT: [[FIRST:%.*]] = arith.cmpi eq, %j, %c0
// CHECK-NEXT: scf.if [[FIRST]] {
// CHECK-NEXT: [[V:%.*]] = stream.read %p
// CHECK-NEXT: vector.store [[V]], %x[%c0, %c0]
// CHECK-NEXT: }
// CHECK-NEXT: memref.load %x[%c0, %c1]
// CHECK: {stc.label = "alone_j"}
// CHECK: stream.read %p
// CHECK-NEXT: scf.for
// CHECK-NOT: scf.if
// CHECK: {stc.label = "loaded_j"}
// CHECK: stream.read %p
// CHECK-NEXT: scf.for
// CHECK-NOT: scf.if
// CHECK: {stc.label = "twice_j"}
// CHECK: stream.read %p
// CHECK-NEXT: scf.for
// CHECK-NOT: scf.if
// CHECK: {stc.label = "own_j"}
// CHECK: [[TOKEN:%.*]] = stream.read %p
// CHECK-NEXT: vector.store [[TOKEN]], %u[%c0]
// CHECK-NEXT: scf.for
// CHECK-NOT: scf.if
// CHECK: {stc.label = "once_j"}

// -----

// The lane of a token that was read before all loops goes in, too: nothing stays between the loops.
dataflow.kernel @taken_before() {
  %in = stream.create @in : !stream.stream<vector<1xf32>, depth: 2>
  dataflow.task @t ins(%p = %in : !stream.stream<vector<1xf32>, depth: 2>) outs() {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
    %x = memref.alloc() : memref<f32>  %s = memref.alloc() : memref<4xf32>
    %v = stream.read %p : !stream.stream<vector<1xf32>, depth: 2>
    scf.for %i = %c0 to %c8 step %c1 {
      %lane = vector.extract %v[0] : f32 from vector<1xf32>
      memref.store %lane, %x[] : memref<f32>
      scf.for %j = %c0 to %c4 step %c1 {
        %a = memref.load %x[] : memref<f32>
        memref.store %a, %s[%j] : memref<4xf32>
      }
    }
  }
}

// CHECK-LABEL: @taken_before(
// CHECK: scf.for %i
// CHECK-NEXT: scf.for %j
// CHECK-NEXT: [[FIRST:%.*]] = arith.cmpi eq, %j, %c0
// CHECK-NEXT: scf.if [[FIRST]] {
// CHECK-NEXT: [[LANE:%.*]] = vector.extract %v[0]
// CHECK-NEXT: memref.store [[LANE]], %x[]

// -----

// A lane that nobody stores stays behind what it is taken of.
dataflow.kernel @unused() {
  %in = stream.create @in : !stream.stream<vector<1xf32>, depth: 2>
  dataflow.task @t ins(%p = %in : !stream.stream<vector<1xf32>, depth: 2>) outs() {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
    %x = memref.alloc() : memref<1xf32>  %s = memref.alloc() : memref<4xf32>  %f = arith.constant 0.0 : f32
    scf.for %i = %c0 to %c8 step %c1 {
      %v = stream.read %p : !stream.stream<vector<1xf32>, depth: 2>
      vector.store %v, %x[%c0] : memref<1xf32>, vector<1xf32>
      scf.for %j = %c0 to %c4 step %c1 {
        %a = memref.load %x[%c0] : memref<1xf32>
        memref.store %a, %s[%j] : memref<4xf32>
      }
      %w = vector.broadcast %f : f32 to vector<1xf32>
      %lane = vector.extract %w[0] : f32 from vector<1xf32>
    }
  }
}

// CHECK-LABEL: @unused(
// CHECK: stream.read
// CHECK: [[W:%.*]] = vector.broadcast
// CHECK-NEXT: vector.extract [[W]][0]
