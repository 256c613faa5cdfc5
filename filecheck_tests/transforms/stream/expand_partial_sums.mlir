// RUN: stc-opt %s -p 'expand-partial-sums' --split-input-file | filecheck %s

// A row sum: 10 cycles from load to store, so 16 partial sums in turn, filled where the one was and combined in a tree before it
// is read. 31 terms are no multiple of 16: the remainder of the index decides all the same.
// SHOW: scf.for %\w+ ...|_partial = |memref.store|andi|addf|stc.label
func.func @row() {
  dataflow.kernel @k() {
    dataflow.task @t {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c31 = arith.constant 31 : index
      %zero = arith.constant 0.0 : f32
      %x = memref.alloc() : memref<31xf32>
      %sum = memref.alloc() : memref<f32>
      %out = memref.alloc() : memref<f32>
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
  func.return
}

// CHECK-LABEL: func.func @row(
// CHECK: %sum_partial = memref.alloc() : memref<16xf32>
// CHECK: scf.for %partial
// CHECK-NEXT: memref.store %zero, %sum_partial[%partial] : memref<16xf32>
// CHECK-NEXT: } {stc.label = "sum_init_partial"}
// CHECK-NEXT: scf.for %i
// CHECK: %[[ANDI:.*]] = arith.andi %i, %c15 : index
// CHECK: %t = arith.addf %a, %s : f32
// CHECK-NEXT: memref.store %t, %sum_partial[%[[ANDI]]] : memref<16xf32>
// CHECK-NEXT: } {stc.label = "row_sum_i"}
// CHECK: scf.for %once
// CHECK: %[[T:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[T1:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[T2:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[T3:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[T4:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[T5:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[T6:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[T7:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[T8:.*]] = arith.addf %[[T]], %[[T1]] : f32
// CHECK-NEXT: %[[T9:.*]] = arith.addf %[[T2]], %[[T3]] : f32
// CHECK-NEXT: %[[T10:.*]] = arith.addf %[[T4]], %[[T5]] : f32
// CHECK-NEXT: %[[T11:.*]] = arith.addf %[[T6]], %[[T7]] : f32
// CHECK-NEXT: %[[T12:.*]] = arith.addf %[[T8]], %[[T9]] : f32
// CHECK-NEXT: %[[T13:.*]] = arith.addf %[[T10]], %[[T11]] : f32
// CHECK-NEXT: %[[T14:.*]] = arith.addf %[[T12]], %[[T13]] : f32
// CHECK-NEXT: memref.store %[[T14]], %sum[] : memref<f32>
// CHECK-NEXT: } {stc.label = "row_sum_combine_once"}
// CHECK: memref.store %r, %out[] : memref<f32>

// -----

// Three rows take turns already; four partial sums each make 12 iterations between two additions. The innermost loop is a lane,
// and the sums are read under a guard, row by row of the tile that was just added to.
// SHOW: scf.for %\w+ ...|scf.if ...|_partial = |memref.store|andi|stc.label
func.func @rows() {
  dataflow.kernel @k() {
    dataflow.task @t {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index  %c64 = arith.constant 64 : index  %zero = arith.constant 0.0 : f32
      %x = memref.alloc() : memref<3x64xf32>
      %w = memref.alloc() : memref<64x2xf32>
      %sum = memref.alloc() : memref<3x2xf32>
      %out = memref.alloc() : memref<3x2xf32>
      scf.for %i = %c0 to %c3 step %c1 {
        scf.for %l = %c0 to %c2 step %c1 {
          memref.store %zero, %sum[%i, %l] : memref<3x2xf32>
        } {stc.label = "fc_init_l", stc.unroll = 0 : i32}
      } {stc.label = "fc_init_i"}
      scf.for %t = %c0 to %c64 step %c1 {
        scf.for %k = %c0 to %c64 step %c1 {
          scf.for %i = %c0 to %c3 step %c1 {
            scf.for %l = %c0 to %c2 step %c1 {
              %a = memref.load %x[%i, %k] : memref<3x64xf32>
              %b = memref.load %w[%k, %l] : memref<64x2xf32>
              %s = memref.load %sum[%i, %l] : memref<3x2xf32>
              %m = arith.mulf %a, %b : f32
              %n = arith.addf %m, %s : f32
              memref.store %n, %sum[%i, %l] : memref<3x2xf32>
            } {stc.label = "fc_l", stc.unroll = 0 : i32}
          } {stc.label = "fc_i"}
        } {stc.label = "fc_k"}
        %last = arith.cmpi eq, %t, %c2 : index
        scf.if %last {
          scf.for %i = %c0 to %c3 step %c1 {
            scf.for %l = %c0 to %c2 step %c1 {
              %r = memref.load %sum[%i, %l] : memref<3x2xf32>
              memref.store %r, %out[%i, %l] : memref<3x2xf32>
            } {stc.label = "write_l", stc.unroll = 0 : i32}
          } {stc.label = "write_i"}
        }
      }
    }
  }
  func.return
}

// CHECK-LABEL: func.func @rows(
// CHECK: %sum_partial = memref.alloc() : memref<4x3x2xf32>
// CHECK: scf.for %partial
// CHECK-NEXT: scf.for %i
// CHECK-NEXT: scf.for %l
// CHECK-NEXT: memref.store %zero, %sum_partial[%partial, %i, %l] : memref<4x3x2xf32>
// CHECK-NEXT: } {stc.label = "fc_init_l", stc.unroll = 0 : i32}
// CHECK-NEXT: } {stc.label = "fc_init_i"}
// CHECK-NEXT: } {stc.label = "fc_init_partial"}
// CHECK-NEXT: scf.for %t
// CHECK-NEXT: scf.for %k
// CHECK-NEXT: scf.for %i_{{.*}}
// CHECK-NEXT: scf.for %l_{{.*}}
// CHECK: %[[ANDI:.*]] = arith.andi %k, %c3 : index
// CHECK: memref.store %n, %sum_partial[%[[ANDI]], %i_{{.*}}, %l_{{.*}}] : memref<4x3x2xf32>
// CHECK-NEXT: } {stc.label = "fc_l", stc.unroll = 0 : i32}
// CHECK-NEXT: } {stc.label = "fc_i"}
// CHECK-NEXT: } {stc.label = "fc_k"}
// CHECK: scf.if
// CHECK-NEXT: scf.for %i_{{.*}}
// CHECK-NEXT: scf.for %l_{{.*}}
// CHECK: memref.store %n_{{.*}}, %sum[%i_{{.*}}, %l_{{.*}}] : memref<3x2xf32>
// CHECK-NEXT: } {stc.unroll = 0 : i32, stc.label = "fc_combine_l"}
// CHECK-NEXT: } {stc.label = "fc_combine_i"}
// CHECK-NEXT: scf.for %i_{{.*}}
// CHECK-NEXT: scf.for %l_{{.*}}
// CHECK: memref.store %r, %out[%i_{{.*}}, %l_{{.*}}] : memref<3x2xf32>
// CHECK-NEXT: } {stc.label = "write_l", stc.unroll = 0 : i32}
// CHECK-NEXT: } {stc.label = "write_i"}

// -----

// Nothing changes where the sums are far enough apart.
// SHOW: addf
func.func @far_apart() {
  dataflow.kernel @k() {
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
  func.return
}

// CHECK-LABEL: func.func @far_apart(
// CHECK: arith.addf %a, %s : f32
// CHECK-NOT: _partial

// -----

// Nor where the sum does not begin with 0, but with what is stored in another way.
// SHOW: addf
func.func @another_start() {
  dataflow.kernel @k() {
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
  func.return
}

// CHECK-LABEL: func.func @another_start(
// CHECK: arith.addf %a, %s : f32
// CHECK-NOT: _partial

// -----

// An index that the nest computes from a loop around it is computed again where the sums are combined.
// SHOW: scf.for %\w+ ...|scf.if ...|addi|_partial = |memref.store|stc.label
func.func @computed_inside() {
  dataflow.kernel @k() {
    dataflow.task @t {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
      %c31 = arith.constant 31 : index  %zero = arith.constant 0.0 : f32
      %x = memref.alloc() : memref<31xf32>
      %sum = memref.alloc() : memref<4xf32>
      %out = memref.alloc() : memref<4xf32>
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
      } {stc.label = "row_j"}
    }
  }
  func.return
}

// CHECK-LABEL: func.func @computed_inside(
// CHECK: %sum_partial = memref.alloc() : memref<16x4xf32>
// CHECK: scf.for %partial
// CHECK-NEXT: scf.for %i
// CHECK-NEXT: memref.store %zero, %sum_partial[%partial, %i] : memref<16x4xf32>
// CHECK-NEXT: } {stc.label = "sum_init_i"}
// CHECK-NEXT: } {stc.label = "sum_init_partial"}
// CHECK-NEXT: scf.for %j
// CHECK-NEXT: scf.for %i_{{.*}}
// CHECK: %at = arith.addi %j, %c0_{{.*}} : index
// CHECK: memref.store %t, %sum_partial[%{{.*}}, %at] : memref<16x4xf32>
// CHECK-NEXT: } {stc.label = "row_sum_i"}
// CHECK: scf.for %once
// CHECK-NEXT: %[[AT:.*]] = arith.addi %j, %c0_{{.*}} : index
// CHECK: memref.store %t_{{.*}}, %sum[%[[AT]]] : memref<4xf32>
// CHECK-NEXT: } {stc.label = "row_sum_combine_once"}
// CHECK: memref.store %r, %out[%j] : memref<4xf32>
// CHECK-NEXT: } {stc.label = "row_j"}
