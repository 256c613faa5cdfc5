// RUN: stc-opt %s -p 'fuse-fills,hoist-constants' --split-input-file | filecheck %s

// The first of five terms is added to zero in place of what the buffer holds, and nothing sets it before.
dataflow.kernel @sums() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c5 = arith.constant 5 : index  %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32  %x = memref.alloc() : memref<5x16xf32>
    %sum = memref.alloc() : memref<16xf32>  %out = memref.alloc() : memref<16xf32>
    scf.for %i = %c0 to %c16 step %c1 {
      memref.store %zero, %sum[%i] : memref<16xf32>
    } {stc.label = "init_i"}
    scf.for %k = %c0 to %c5 step %c1 {
      scf.for %i = %c0 to %c16 step %c1 {
        %a = memref.load %x[%k, %i] : memref<5x16xf32>
        %b = memref.load %sum[%i] : memref<16xf32>
        %c = arith.addf %a, %b : f32
        memref.store %c, %sum[%i] : memref<16xf32>
      }
    }
    scf.for %i = %c0 to %c16 step %c1 {
      %r = memref.load %sum[%i] : memref<16xf32>
      memref.store %r, %out[%i] : memref<16xf32>
    }
  }
}

// CHECK-LABEL: @sums(
// CHECK-NOT: init_i
// CHECK: %first = arith.cmpi eq, %k, %c0 : index
// CHECK: %b = memref.load %sum[%i]
// CHECK-NEXT: %b_1 = arith.select %first, %{{.*}}, %b : f32
// CHECK-NEXT: %c = arith.addf %a, %b_1 : f32
// CHECK-NEXT: memref.store %c, %sum[%i]

// -----

// Half of the sums is set: the others go on from what the tile before left.
dataflow.kernel @half() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c5 = arith.constant 5 : index  %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index  %zero = arith.constant 0.0 : f32  %x = memref.alloc() : memref<5x16xf32>
    %sum = memref.alloc() : memref<16xf32>  %out = memref.alloc() : memref<16xf32>
    scf.for %i = %c0 to %c8 step %c1 {
      memref.store %zero, %sum[%i] : memref<16xf32>
    } {stc.label = "init_i"}
    scf.for %k = %c0 to %c5 step %c1 {
      scf.for %i = %c0 to %c16 step %c1 {
        %a = memref.load %x[%k, %i] : memref<5x16xf32>
        %b = memref.load %sum[%i] : memref<16xf32>
        %c = arith.addf %a, %b : f32
        memref.store %c, %sum[%i] : memref<16xf32>
      }
    }
    %r = memref.load %sum[%c0] : memref<16xf32>
    memref.store %r, %out[%c0] : memref<16xf32>
  }
}

// CHECK-LABEL: @half(
// CHECK: memref.store %zero, %sum[%i]
// CHECK-NEXT: } {stc.label = "init_i"}
// CHECK-NOT: arith.select

// -----

// Integers: of five terms the first is added to zero; a sum of one term, as behind a tree of all, is that term.
dataflow.kernel @integers() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c5 = arith.constant 5 : index  %c16 = arith.constant 16 : index
    %zero = arith.constant 0 : i32  %x = memref.alloc() : memref<5x16xi32>
    %sum = memref.alloc() : memref<16xi32>  %one = memref.alloc() : memref<16xi32>  %out = memref.alloc() : memref<16xi32>
    scf.for %i = %c0 to %c16 step %c1 {
      memref.store %zero, %sum[%i] : memref<16xi32>
    } {stc.label = "init_i"}
    scf.for %i = %c0 to %c16 step %c1 {
      memref.store %zero, %one[%i] : memref<16xi32>
    } {stc.label = "init_one_i"}
    scf.for %k = %c0 to %c5 step %c1 {
      scf.for %i = %c0 to %c16 step %c1 {
        %a = memref.load %x[%k, %i] : memref<5x16xi32>
        %b = memref.load %sum[%i] : memref<16xi32>
        %c = arith.addi %b, %a : i32
        memref.store %c, %sum[%i] : memref<16xi32>
      }
    }
    scf.for %i = %c0 to %c16 step %c1 {
      %a = memref.load %x[%c1, %i] : memref<5x16xi32>
      %b = memref.load %one[%i] : memref<16xi32>
      %c = arith.addi %b, %a : i32
      memref.store %c, %one[%i] : memref<16xi32>
    } {stc.label = "one_i"}
    scf.for %i = %c0 to %c16 step %c1 {
      %r = memref.load %sum[%i] : memref<16xi32>
      %q = memref.load %one[%i] : memref<16xi32>
      %s = arith.muli %r, %q : i32
      memref.store %s, %out[%i] : memref<16xi32>
    }
  }
}

// CHECK-LABEL: @integers(
// CHECK-NOT: init
// CHECK: %first = arith.cmpi eq, %k, %c0 : index
// CHECK: %b = memref.load %sum[%i]
// CHECK-NEXT: %b_1 = arith.select %first, %{{.*}}, %b : i32
// CHECK-NEXT: %c = arith.addi %b_1, %a : i32
// CHECK-NEXT: memref.store %c, %sum[%i]
// CHECK: [[TERM:%.*]] = memref.load %x[%c1,
// CHECK-NEXT: memref.store [[TERM]], %one[
// CHECK-NEXT: } {stc.label = "one_i"}

// -----

// Sums of integers that begin with one: another addition of what sets them would change them.
dataflow.kernel @one_more() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c5 = arith.constant 5 : index  %c16 = arith.constant 16 : index
    %one = arith.constant 1 : i32  %x = memref.alloc() : memref<5x16xi32>
    %sum = memref.alloc() : memref<16xi32>  %out = memref.alloc() : memref<16xi32>
    scf.for %i = %c0 to %c16 step %c1 {
      memref.store %one, %sum[%i] : memref<16xi32>
    } {stc.label = "init_i"}
    scf.for %k = %c0 to %c5 step %c1 {
      scf.for %i = %c0 to %c16 step %c1 {
        %a = memref.load %x[%k, %i] : memref<5x16xi32>
        %b = memref.load %sum[%i] : memref<16xi32>
        %c = arith.addi %b, %a : i32
        memref.store %c, %sum[%i] : memref<16xi32>
      }
    }
    %r = memref.load %sum[%c0] : memref<16xi32>
    memref.store %r, %out[%c0] : memref<16xi32>
  }
}

// CHECK-LABEL: @one_more(
// CHECK: } {stc.label = "init_i"}
// CHECK-NOT: arith.select
