// RUN: stc-opt %s -p 'hoist-constants' --split-input-file | filecheck %s

// One constant of a kind, at the top; equal numbers of different types stay apart; unused ones go.
func.func @merge() {
  dataflow.kernel @k() {
    dataflow.task @t ins() outs() {
      %m = memref.alloc() : memref<4xf32>
      %a = arith.constant 0 : index  %b = arith.constant 4 : index  %c = arith.constant 1 : index
      scf.for %i = %a to %b step %c {
        %d = arith.constant 0 : index  %e = arith.constant 1 : i32
        %f = arith.sitofp %e : i32 to f32
        %g = arith.constant 1 : index  %unused = arith.constant 7 : index
        memref.store %f, %m[%d] : memref<4xf32>
        memref.store %f, %m[%g] : memref<4xf32>
      }
    }
  }
  func.return
}

// CHECK-LABEL: func.func @merge(
// CHECK-NEXT: dataflow.kernel @k() {
// CHECK-NEXT: dataflow.task @t {
// CHECK: %[[C1:.*]] = arith.constant 1 : i32
// CHECK-NEXT: %m = memref.alloc() : memref<4xf32>
// CHECK-NEXT: scf.for %i = %c0 to %c4 step %c1 {
// CHECK-NEXT: %f = arith.sitofp %[[C1]] : i32 to f32
// CHECK-NEXT: memref.store %f, %m[%c0] : memref<4xf32>
// CHECK-NEXT: memref.store %f, %m[%c1] : memref<4xf32>
// CHECK: func.return
