// RUN: stc-opt %s -p 'expand-partial-sums' --split-input-file | filecheck %s

// A row sum: 7 cycles from register to register, so 8 partial sums in turn, all set at once where the one was and combined before it
// is read. 31 terms are no multiple of 8: the remainder of the index decides all the same.
dataflow.kernel @row() {
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
    } {stc.label = "row_sum_i"}
    %r = memref.load %sum[] : memref<f32>
    memref.store %r, %out[] : memref<f32>
  }
}

// CHECK-LABEL: @row(
// CHECK: %sum_partial = memref.alloc() : memref<8xf32>
// CHECK: scf.for %partial
// CHECK-NEXT: memref.store %zero, %sum_partial[%partial]
// CHECK-NEXT: } {stc.label = "sum_init_partial", stc.unroll = 0 : i32}
// CHECK-NEXT: scf.for %i
// CHECK: [[TURN:%.*]] = arith.andi %i, %c7
// CHECK-NEXT: %s = memref.load %sum_partial[[[TURN]]]
// CHECK: memref.store %t, %sum_partial[[[TURN]]]
// CHECK: } {stc.label = "row_sum_combine_once"}
// CHECK-NEXT: %r = memref.load %sum[]

// -----

// Three rows take turns already; four partial sums each make 12 iterations between two additions: 10 cycles from load to store, since
// they are several entries, in memory. Neighbours are combined first.
dataflow.kernel @rows() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
    %c64 = arith.constant 64 : index  %zero = arith.constant 0.0 : f32  %out = memref.alloc() : memref<3xf32>
    %x = memref.alloc() : memref<3x64xf32>  %sum = memref.alloc() : memref<3xf32>
    scf.for %i = %c0 to %c3 step %c1 {
      memref.store %zero, %sum[%i] : memref<3xf32>
    } {stc.label = "fc_init_i"}
    scf.for %k = %c0 to %c64 step %c1 {
      scf.for %i = %c0 to %c3 step %c1 {
        %a = memref.load %x[%i, %k] : memref<3x64xf32>
        %s = memref.load %sum[%i] : memref<3xf32>
        %t = arith.addf %a, %s : f32
        memref.store %t, %sum[%i] : memref<3xf32>
      } {stc.label = "fc_i"}
    } {stc.label = "fc_k"}
    scf.for %i = %c0 to %c3 step %c1 {
      %r = memref.load %sum[%i] : memref<3xf32>
      memref.store %r, %out[%i] : memref<3xf32>
    }
  }
}

// CHECK-LABEL: @rows(
// CHECK: scf.for %partial
// CHECK-NEXT: scf.for %i
// CHECK-NEXT: memref.store %zero, %sum_partial[%partial, %i] : memref<4x3xf32>
// CHECK: [[TURN:%.*]] = arith.andi %k, %c3
// CHECK: memref.store %t, %sum_partial[[[TURN]], %i_1]
// CHECK: [[S0:%.*]] = memref.load %sum_partial[%c0, %i_2]
// CHECK-NEXT: [[S1:%.*]] = memref.load %sum_partial[%c1, %i_2]
// CHECK-NEXT: [[S2:%.*]] = memref.load %sum_partial[%c2, %i_2]
// CHECK-NEXT: [[S3:%.*]] = memref.load %sum_partial[%c3_1, %i_2]
// CHECK-NEXT: [[LEFT:%.*]] = arith.addf [[S0]], [[S1]]
// CHECK-NEXT: [[RIGHT:%.*]] = arith.addf [[S2]], [[S3]]
// CHECK-NEXT: [[ALL:%.*]] = arith.addf [[LEFT]], [[RIGHT]]
// CHECK-NEXT: memref.store [[ALL]], %sum[%i_2]

// -----

// Read under a guard, in an unrolled lane: the sums are combined there, lane by lane.
dataflow.kernel @guarded() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index  %zero = arith.constant 0.0 : f32  %out = memref.alloc() : memref<2xf32>
    %x = memref.alloc() : memref<64x2xf32>  %sum = memref.alloc() : memref<2xf32>
    scf.for %l = %c0 to %c2 step %c1 {
      memref.store %zero, %sum[%l] : memref<2xf32>
    } {stc.unroll = 0 : i32}
    scf.for %t = %c0 to %c2 step %c1 {
      scf.for %k = %c0 to %c64 step %c1 {
        scf.for %l = %c0 to %c2 step %c1 {
          %a = memref.load %x[%k, %l] : memref<64x2xf32>
          %s = memref.load %sum[%l] : memref<2xf32>
          %n = arith.addf %a, %s : f32
          memref.store %n, %sum[%l] : memref<2xf32>
        } {stc.label = "fc_l", stc.unroll = 0 : i32}
      } {stc.label = "fc_k"}
      %last = arith.cmpi eq, %t, %c1 : index
      scf.if %last {
        scf.for %l = %c0 to %c2 step %c1 {
          %r = memref.load %sum[%l] : memref<2xf32>
          memref.store %r, %out[%l] : memref<2xf32>
        } {stc.unroll = 0 : i32}
      }
    }
  }
}

// CHECK-LABEL: @guarded(
// CHECK: scf.if %last
// CHECK: memref.store %{{.*}}, %sum[%l_2]
// CHECK-NEXT: } {stc.unroll = 0 : i32, stc.label = "fc_combine_l"}
// CHECK-NEXT: } {stc.label = "fc_combine_once"}
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.load %sum[

// -----

// Nothing changes where the sums are far enough apart.
dataflow.kernel @far_apart() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<16xf32>
    %sum = memref.alloc() : memref<16xf32>
    scf.for %i = %c0 to %c16 step %c1 {
      memref.store %zero, %sum[%i] : memref<16xf32>
    }
    scf.for %k = %c0 to %c16 step %c1 {
      scf.for %i = %c0 to %c16 step %c1 {
        %a = memref.load %x[%k] : memref<16xf32>
        %s = memref.load %sum[%i] : memref<16xf32>
        %t = arith.addf %a, %s : f32
        memref.store %t, %sum[%i] : memref<16xf32>
      }
    }
    %r = memref.load %sum[%c0] : memref<16xf32>
    memref.store %r, %x[%c0] : memref<16xf32>
  }
}

// CHECK-LABEL: @far_apart(
// CHECK-NOT: _partial

// -----

// Nor where the sum does not begin with 0, but with what is stored in another way.
dataflow.kernel @another_start() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c16 = arith.constant 16 : index
    %x = memref.alloc() : memref<16xf32>
    %start = memref.load %x[%c1] : memref<16xf32>
    %sum = memref.alloc() : memref<f32>
    memref.store %start, %sum[] : memref<f32>
    scf.for %i = %c0 to %c16 step %c1 {
      %a = memref.load %x[%i] : memref<16xf32>
      %s = memref.load %sum[] : memref<f32>
      %t = arith.addf %a, %s : f32
      memref.store %t, %sum[] : memref<f32>
    }
    %r = memref.load %sum[] : memref<f32>
    memref.store %r, %x[%c0] : memref<16xf32>
  }
}

// CHECK-LABEL: @another_start(
// CHECK-NOT: _partial

// -----

// An index that the nest computes from a loop around it is computed again where the sums are combined.
dataflow.kernel @computed_inside() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
    %c31 = arith.constant 31 : index  %zero = arith.constant 0.0 : f32  %out = memref.alloc() : memref<4xf32>
    %x = memref.alloc() : memref<31xf32>  %sum = memref.alloc() : memref<4xf32>
    scf.for %i = %c0 to %c3 step %c1 {
      memref.store %zero, %sum[%i] : memref<4xf32>
    } {stc.label = "sum_init_i"}
    scf.for %j = %c0 to %c3 step %c1 {
      scf.for %i = %c0 to %c31 step %c1 {
        %a = memref.load %x[%i] : memref<31xf32>
        %at = arith.addi %j, %c0 : index
        %s = memref.load %sum[%at] : memref<4xf32>
        %t = arith.addf %a, %s : f32
        memref.store %t, %sum[%at] : memref<4xf32>
      } {stc.label = "row_sum_i"}
      %r = memref.load %sum[%j] : memref<4xf32>
      memref.store %r, %out[%j] : memref<4xf32>
    }
  }
}

// CHECK-LABEL: @computed_inside(
// CHECK: %sum_partial = memref.alloc() : memref<16x4xf32>
// CHECK: memref.store %t, %sum_partial[%{{.*}}, %at]
// CHECK-NEXT: } {stc.label = "row_sum_i"}
// CHECK: scf.for %once
// CHECK-NEXT: [[AT:%.*]] = arith.addi %j, %c0
// CHECK: memref.store %{{.*}}, %sum[[[AT]]]
// CHECK-NEXT: } {stc.label = "row_sum_combine_once"}
