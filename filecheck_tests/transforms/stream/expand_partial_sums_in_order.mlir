// RUN: stc-opt %s -p 'expand-partial-sums{reassociate=false}' --split-input-file | filecheck %s

// Without reassociation a sum keeps its order.
dataflow.kernel @sum() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c31 = arith.constant 31 : index
    %zero = arith.constant 0.0 : f32  %sum = memref.alloc() : memref<f32>  %out = memref.alloc() : memref<f32>
    %x = memref.alloc() : memref<31xf32>
    memref.store %zero, %sum[] : memref<f32>
    scf.for %i = %c0 to %c31 step %c1 {
      %a = memref.load %x[%i] : memref<31xf32>
      %s = memref.load %sum[] : memref<f32>
      %t = arith.addf %a, %s : f32
      memref.store %t, %sum[] : memref<f32>
    }
    %r = memref.load %sum[] : memref<f32>
    memref.store %r, %out[] : memref<f32>
  }
}

// CHECK-LABEL: @sum(
// CHECK-NOT: _partial

// -----

// A maximum is the same in any order: it is expanded all the same, and starts where the one did.
dataflow.kernel @maximum() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c31 = arith.constant 31 : index
    %low = arith.constant 0xff800000 : f32  %max = memref.alloc() : memref<f32>  %out = memref.alloc() : memref<f32>
    %x = memref.alloc() : memref<31xf32>
    memref.store %low, %max[] : memref<f32>
    scf.for %i = %c0 to %c31 step %c1 {
      %a = memref.load %x[%i] : memref<31xf32>
      %s = memref.load %max[] : memref<f32>
      %t = arith.maximumf %a, %s : f32
      memref.store %t, %max[] : memref<f32>
    }
    %r = memref.load %max[] : memref<f32>
    memref.store %r, %out[] : memref<f32>
  }
}

// CHECK-LABEL: @maximum(
// CHECK: memref.store %low, %max_partial[%partial] : memref<2xf32>
// CHECK: memref.store %t, %max_partial[
// CHECK: arith.maximumf
// CHECK-NEXT: memref.store %{{.*}}, %max[]
