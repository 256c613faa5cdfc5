// RUN: stc-opt %s -p 'build-adder-trees,fuse-fills,fuse-writes,sink-reads,hoist-constants' | filecheck %s

// Scores of three queries with each of five keys: behind a tree of all four terms a score is its one sum, which leaves as it is
// computed, and the key is read with the first. All scores are one pipeline.
dataflow.kernel @scores() {
  %q = stream.create @q : !stream.stream<vector<4xi8>, depth: 4>
  %k = stream.create @k : !stream.stream<vector<4xi8>, depth: 2>
  %s = stream.create @s : !stream.stream<vector<1xi32>, depth: 2>
  dataflow.task @begin outs(%a = %q : !stream.stream<vector<4xi8>, depth: 4>, %b = %k : !stream.stream<vector<4xi8>, depth: 2>) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index  %c5 = arith.constant 5 : index
    %x = memref.alloc() : memref<4xi8>
    %v = vector.load %x[%c0] : memref<4xi8>, vector<4xi8>
    scf.for %i = %c0 to %c3 step %c1 {
      stream.write %v into %a : !stream.stream<vector<4xi8>, depth: 4>
    }
    scf.for %i = %c0 to %c5 step %c1 {
      stream.write %v into %b : !stream.stream<vector<4xi8>, depth: 2>
    }
  }
  dataflow.task @product ins(%a = %q : !stream.stream<vector<4xi8>, depth: 4>, %b = %k : !stream.stream<vector<4xi8>, depth: 2>)
      outs(%o = %s : !stream.stream<vector<1xi32>, depth: 2>) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index  %c5 = arith.constant 5 : index
    %queries = memref.alloc() : memref<1x3x4xi8>
    %sum = memref.alloc() : memref<1x3x1xi32>
    %key = memref.alloc() : memref<1x1x4xi8>
    %zero = arith.constant 0 : i32
    scf.for %row = %c0 to %c3 step %c1 {
      %v = stream.read %a : !stream.stream<vector<4xi8>, depth: 4>
      vector.store %v, %queries[%c0, %row, %c0] : memref<1x3x4xi8>, vector<4xi8>
    }
    scf.for %row = %c0 to %c5 step %c1 {
      %v = stream.read %b : !stream.stream<vector<4xi8>, depth: 2>
      scf.for %entry = %c0 to %c3 step %c1 {
        memref.store %zero, %sum[%c0, %entry, %c0] : memref<1x3x1xi32>
      } {stc.label = "init_entry"}
      vector.store %v, %key[%c0, %c0, %c0] : memref<1x1x4xi8>, vector<4xi8>
      scf.for %entry = %c0 to %c3 step %c1 {
        scf.for %term = %c0 to %c4 step %c1 {
          %x = memref.load %queries[%c0, %entry, %term] : memref<1x3x4xi8>
          %y = memref.load %key[%c0, %c0, %term] : memref<1x1x4xi8>
          %z = memref.load %sum[%c0, %entry, %c0] : memref<1x3x1xi32>
          %xw = arith.extsi %x : i8 to i32
          %yw = arith.extsi %y : i8 to i32
          %p = arith.muli %xw, %yw {stc.multipliers = "lut"} : i32
          %t = arith.addi %z, %p : i32
          memref.store %t, %sum[%c0, %entry, %c0] : memref<1x3x1xi32>
        } {stc.label = "product_term", stc.unroll = 0 : i32}
      } {stc.label = "product_entry"}
      scf.for %entry = %c0 to %c3 step %c1 {
        %r = vector.load %sum[%c0, %entry, %c0] : memref<1x3x1xi32>, vector<1xi32>
        stream.write %r into %o : !stream.stream<vector<1xi32>, depth: 2>
      }
    }
  }
  dataflow.task @end ins(%o = %s : !stream.stream<vector<1xi32>, depth: 2>) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c15 = arith.constant 15 : index
    scf.for %i = %c0 to %c15 step %c1 {
      %v = stream.read %o : !stream.stream<vector<1xi32>, depth: 2>
    }
  }
}

// CHECK: dataflow.task @product
// CHECK: scf.for %row
// CHECK: scf.for %row_1 = %c0 to %c5
// CHECK-NEXT: scf.for %entry = %c0 to %c3
// CHECK-NEXT: [[FIRST:%.*]] = arith.cmpi eq, %entry, %c0
// CHECK-NEXT: scf.if [[FIRST]] {
// CHECK-NEXT: [[KEY:%.*]] = stream.read %b
// CHECK-NEXT: vector.store [[KEY]], %key
// CHECK-NEXT: }
// CHECK-NEXT: %sum_terms = memref.alloc() : memref<4xi32>
// CHECK: {stc.unroll = 0 : i32, stc.label = "product_term"}
// CHECK: {stc.unroll = 0 : i32, stc.label = "product_level2_lane"}
// CHECK-NEXT: [[SUM:%.*]] = memref.load %sum_terms[%c0]
// CHECK-NEXT: memref.store [[SUM]], %sum[%c0]
// CHECK-NEXT: [[TOKEN:%.*]] = vector.load %sum[%c0]
// CHECK-NEXT: stream.write [[TOKEN]] into %o
// CHECK-NEXT: } {stc.label = "product_entry"}
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield
