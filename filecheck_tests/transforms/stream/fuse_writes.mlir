// RUN: stc-opt %s -p 'fuse-writes,hoist-constants' --split-input-file | filecheck %s

// Two iterations share a token: the second writes it. The tile is one token.
dataflow.kernel @shared() {
  %out = stream.create @out : !stream.stream<vector<2xf32>, depth: 2>
  dataflow.task @t ins() outs(%p = %out : !stream.stream<vector<2xf32>, depth: 2>) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index  %c4 = arith.constant 4 : index
    %x = memref.alloc() : memref<3x4xf32>
    %tile = memref.alloc() : memref<3x4xf32>
    scf.for %i = %c0 to %c3 step %c1 {
      scf.for %j = %c0 to %c4 step %c1 {
        %a = memref.load %x[%i, %j] : memref<3x4xf32>
        %b = arith.mulf %a, %a : f32
        memref.store %b, %tile[%i, %j] : memref<3x4xf32>
      } {stc.label = "square_j"}
    } {stc.label = "square_i"}
    scf.for %i = %c0 to %c3 step %c1 {
      scf.for %j = %c0 to %c4 step %c2 {
        %v = vector.load %tile[%i, %j] : memref<3x4xf32>, vector<2xf32>
        stream.write %v into %p : !stream.stream<vector<2xf32>, depth: 2>
      }
    }
  }
  dataflow.task @end ins(%p = %out : !stream.stream<vector<2xf32>, depth: 2>) outs() {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %tokens = arith.constant 6 : index
    scf.for %i = %c0 to %tokens step %c1 {
      %v = stream.read %p : !stream.stream<vector<2xf32>, depth: 2>
    }
  }
}

// CHECK-LABEL: @shared(
// CHECK: %tile = memref.alloc() : memref<2xf32>
// CHECK: scf.for %j = %c0 to %c4 step %c1
// CHECK: %[[LANE:.*]] = arith.andi %j, %c1
// CHECK-NEXT: memref.store %b, %tile[%[[LANE]]] : memref<2xf32>
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %{{.*}}, %c1
// CHECK-NEXT: scf.if %[[LAST]] {
// CHECK-NEXT: %[[TOKEN:.*]] = vector.load %tile[%c0] : memref<2xf32>, vector<2xf32>
// CHECK-NEXT: stream.write %[[TOKEN]] into %p
// CHECK: } {stc.label = "square_j"}
// CHECK-NEXT: } {stc.label = "square_i"}
// CHECK-NOT: vector.load

// -----

// A sum of five terms leaves in the last iteration of the loop that adds them; its buffer stays, the token is filled beside it.
dataflow.kernel @sums() {
  %out = stream.create @out : !stream.stream<vector<2xf32>, depth: 16>
  dataflow.task @t ins() outs(%p = %out : !stream.stream<vector<2xf32>, depth: 16>) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
    %c5 = arith.constant 5 : index  %c16 = arith.constant 16 : index
    %x = memref.alloc() : memref<5x16xf32>
    %sum = memref.alloc() : memref<16xf32>
    scf.for %k = %c0 to %c5 step %c1 {
      scf.for %i = %c0 to %c16 step %c1 {
        %a = memref.load %x[%k, %i] : memref<5x16xf32>
        %b = memref.load %sum[%i] : memref<16xf32>
        %c = arith.addf %a, %b : f32
        memref.store %c, %sum[%i] : memref<16xf32>
      }
    }
    scf.for %i = %c0 to %c16 step %c2 {
      %v = vector.load %sum[%i] : memref<16xf32>, vector<2xf32>
      stream.write %v into %p : !stream.stream<vector<2xf32>, depth: 16>
    }
  }
  dataflow.task @end ins(%p = %out : !stream.stream<vector<2xf32>, depth: 16>) outs() {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %v = stream.read %p : !stream.stream<vector<2xf32>, depth: 16>
    }
  }
}

// CHECK-LABEL: @sums(
// CHECK: %sum_token = memref.alloc() : memref<2xf32>
// CHECK: %sum = memref.alloc() : memref<16xf32>
// CHECK: memref.store %c, %sum[%i] : memref<16xf32>
// CHECK-NEXT: %[[LANE:.*]] = arith.andi %i, %c1
// CHECK-NEXT: memref.store %c, %sum_token[%[[LANE]]] : memref<2xf32>
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %k, %c4
// CHECK-NEXT: %[[FULL:.*]] = arith.cmpi eq, %{{.*}}, %c1
// CHECK-NEXT: %[[BOTH:.*]] = arith.andi %[[LAST]], %[[FULL]]
// CHECK-NEXT: scf.if %[[BOTH]] {
// CHECK-NEXT: %{{.*}} = vector.load %sum_token[%c0] : memref<2xf32>, vector<2xf32>
// CHECK-NEXT: stream.write
// CHECK-NOT: vector.load %sum[
