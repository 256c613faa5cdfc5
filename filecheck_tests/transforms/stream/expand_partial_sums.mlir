// RUN: stc-opt %s -p 'expand-partial-sums' --split-input-file | filecheck %s

// A row sum: 10 cycles from load to store, so 16 partial sums in turn, filled where the one was and combined in a tree before it
// is read. 31 terms are no multiple of 16: the remainder of the index decides all the same.
// SHOW: scf.for|_partial|andi|addf|stc.label|%sum|%r
func.func @row() {
  dataflow.kernel @k() {
    dataflow.task @t ins() outs() {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c31 = arith.constant 31 : index
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
      dataflow.yield
    }
    dataflow.yield
  }
  func.return
}

// CHECK-LABEL: func.func @row(
// CHECK: %sum = memref.alloc() : memref<f32>
// CHECK-NEXT: %sum_partial = memref.alloc() : memref<16xf32>
// CHECK: scf.for %partial = %c0_2 to %c16 step %c1_2 {
// CHECK-NEXT: memref.store %zero, %sum_partial[%partial] : memref<16xf32>
// CHECK-NEXT: } {stc.label = "sum_init_partial"}
// CHECK-NEXT: scf.for %i = %c0_1 to %c31 step %c1_1 {
// CHECK: %0 = arith.andi %i, %c15 : index
// CHECK-NEXT: %s = memref.load %sum_partial[%0] : memref<16xf32>
// CHECK-NEXT: %t = arith.addf %a, %s : f32
// CHECK-NEXT: memref.store %t, %sum_partial[%0] : memref<16xf32>
// CHECK-NEXT: } {stc.label = "row_sum_i"}
// CHECK: scf.for %once = %c0_3 to %c1_3 step %c1_4 {
// CHECK-NEXT: %1 = memref.load %sum_partial[%c0] : memref<16xf32>
// CHECK-NEXT: %2 = memref.load %sum_partial[%c1] : memref<16xf32>
// CHECK-NEXT: %3 = memref.load %sum_partial[%c2] : memref<16xf32>
// CHECK-NEXT: %4 = memref.load %sum_partial[%c3] : memref<16xf32>
// CHECK-NEXT: %5 = memref.load %sum_partial[%c4] : memref<16xf32>
// CHECK-NEXT: %6 = memref.load %sum_partial[%c5] : memref<16xf32>
// CHECK-NEXT: %7 = memref.load %sum_partial[%c6] : memref<16xf32>
// CHECK-NEXT: %8 = memref.load %sum_partial[%c7] : memref<16xf32>
// CHECK-NEXT: %9 = memref.load %sum_partial[%c8] : memref<16xf32>
// CHECK-NEXT: %10 = memref.load %sum_partial[%c9] : memref<16xf32>
// CHECK-NEXT: %11 = memref.load %sum_partial[%c10] : memref<16xf32>
// CHECK-NEXT: %12 = memref.load %sum_partial[%c11] : memref<16xf32>
// CHECK-NEXT: %13 = memref.load %sum_partial[%c12] : memref<16xf32>
// CHECK-NEXT: %14 = memref.load %sum_partial[%c13] : memref<16xf32>
// CHECK-NEXT: %15 = memref.load %sum_partial[%c14] : memref<16xf32>
// CHECK-NEXT: %16 = memref.load %sum_partial[%c15_1] : memref<16xf32>
// CHECK-NEXT: %t_1 = arith.addf %1, %2 : f32
// CHECK-NEXT: %t_2 = arith.addf %3, %4 : f32
// CHECK-NEXT: %t_3 = arith.addf %5, %6 : f32
// CHECK-NEXT: %t_4 = arith.addf %7, %8 : f32
// CHECK-NEXT: %t_5 = arith.addf %9, %10 : f32
// CHECK-NEXT: %t_6 = arith.addf %11, %12 : f32
// CHECK-NEXT: %t_7 = arith.addf %13, %14 : f32
// CHECK-NEXT: %t_8 = arith.addf %15, %16 : f32
// CHECK-NEXT: %t_9 = arith.addf %t_1, %t_2 : f32
// CHECK-NEXT: %t_10 = arith.addf %t_3, %t_4 : f32
// CHECK-NEXT: %t_11 = arith.addf %t_5, %t_6 : f32
// CHECK-NEXT: %t_12 = arith.addf %t_7, %t_8 : f32
// CHECK-NEXT: %t_13 = arith.addf %t_9, %t_10 : f32
// CHECK-NEXT: %t_14 = arith.addf %t_11, %t_12 : f32
// CHECK-NEXT: %t_15 = arith.addf %t_13, %t_14 : f32
// CHECK-NEXT: memref.store %t_15, %sum[] : memref<f32>
// CHECK-NEXT: } {stc.label = "row_sum_combine_once"}
// CHECK-NEXT: %r = memref.load %sum[] : memref<f32>
// CHECK-NEXT: memref.store %r, %out[] : memref<f32>

// -----

// Three rows take turns already; four partial sums each make 12 iterations between two additions. The innermost loop is a lane,
// and the sums are read under a guard, row by row of the tile that was just added to.
// SHOW: scf.for|scf.if|_partial|andi|stc.label|memref.load|memref.store
func.func @rows() {
  dataflow.kernel @k() {
    dataflow.task @t ins() outs() {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c64 = arith.constant 64 : index
      %zero = arith.constant 0.0 : f32
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
      dataflow.yield
    }
    dataflow.yield
  }
  func.return
}

// CHECK-LABEL: func.func @rows(
// CHECK: %sum_partial = memref.alloc() : memref<4x3x2xf32>
// CHECK: scf.for %partial = %c0_2 to %c4 step %c1_2 {
// CHECK-NEXT: scf.for %i = %c0_1 to %c3_2 step %c1_1 {
// CHECK-NEXT: scf.for %l = %c0_1 to %c2_1 step %c1_1 {
// CHECK-NEXT: memref.store %zero, %sum_partial[%partial, %i, %l] : memref<4x3x2xf32>
// CHECK-NEXT: } {stc.label = "fc_init_l", stc.unroll = 0 : i32}
// CHECK-NEXT: } {stc.label = "fc_init_i"}
// CHECK-NEXT: } {stc.label = "fc_init_partial"}
// CHECK-NEXT: scf.for %t = %c0_1 to %c64 step %c1_1 {
// CHECK-NEXT: scf.for %k = %c0_1 to %c64 step %c1_1 {
// CHECK-NEXT: scf.for %i_1 = %c0_1 to %c3_2 step %c1_1 {
// CHECK-NEXT: scf.for %l_1 = %c0_1 to %c2_1 step %c1_1 {
// CHECK-NEXT: %a = memref.load %x[%i_1, %k] : memref<3x64xf32>
// CHECK-NEXT: %b = memref.load %w[%k, %l_1] : memref<64x2xf32>
// CHECK-NEXT: %0 = arith.andi %k, %c3 : index
// CHECK-NEXT: %s = memref.load %sum_partial[%0, %i_1, %l_1] : memref<4x3x2xf32>
// CHECK: memref.store %n, %sum_partial[%0, %i_1, %l_1] : memref<4x3x2xf32>
// CHECK-NEXT: } {stc.label = "fc_l", stc.unroll = 0 : i32}
// CHECK-NEXT: } {stc.label = "fc_i"}
// CHECK-NEXT: } {stc.label = "fc_k"}
// CHECK: scf.if %last {
// CHECK-NEXT: scf.for %i_2 = %c0_1 to %c3_2 step %c1_1 {
// CHECK-NEXT: scf.for %l_2 = %c0_1 to %c2_1 step %c1_1 {
// CHECK-NEXT: %1 = memref.load %sum_partial[%c0, %i_2, %l_2] : memref<4x3x2xf32>
// CHECK-NEXT: %2 = memref.load %sum_partial[%c1, %i_2, %l_2] : memref<4x3x2xf32>
// CHECK-NEXT: %3 = memref.load %sum_partial[%c2, %i_2, %l_2] : memref<4x3x2xf32>
// CHECK-NEXT: %4 = memref.load %sum_partial[%c3_1, %i_2, %l_2] : memref<4x3x2xf32>
// CHECK: memref.store %n_3, %sum[%i_2, %l_2] : memref<3x2xf32>
// CHECK-NEXT: } {stc.unroll = 0 : i32, stc.label = "fc_combine_l"}
// CHECK-NEXT: } {stc.label = "fc_combine_i"}
// CHECK-NEXT: scf.for %i_3 = %c0_1 to %c3_2 step %c1_1 {
// CHECK-NEXT: scf.for %l_3 = %c0_1 to %c2_1 step %c1_1 {
// CHECK-NEXT: %r = memref.load %sum[%i_3, %l_3] : memref<3x2xf32>
// CHECK-NEXT: memref.store %r, %out[%i_3, %l_3] : memref<3x2xf32>
// CHECK-NEXT: } {stc.label = "write_l", stc.unroll = 0 : i32}
// CHECK-NEXT: } {stc.label = "write_i"}

// -----

// Nothing changes where the sums are far enough apart, or where the buffer is stored to in another way as well.
func.func @kept() {
  dataflow.kernel @k() {
    dataflow.task @t ins() outs() {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %zero = arith.constant 0.0 : f32
      %x = memref.alloc() : memref<16xf32>
      %far = memref.alloc() : memref<16xf32>
      %near = memref.alloc() : memref<f32>
      scf.for %i = %c0 to %c16 step %c1 {
        memref.store %zero, %far[%i] : memref<16xf32>
      }
      scf.for %k = %c0 to %c16 step %c1 {
        scf.for %i = %c0 to %c16 step %c1 {
          %a = memref.load %x[%k] : memref<16xf32>
          %s = memref.load %far[%i] : memref<16xf32>
          %t = arith.addf %a, %s : f32
          memref.store %t, %far[%i] : memref<16xf32>
        }
      }
      %start = memref.load %far[%c0] : memref<16xf32>
      memref.store %start, %near[] : memref<f32>
      scf.for %i = %c0 to %c16 step %c1 {
        %a = memref.load %x[%i] : memref<16xf32>
        %s = memref.load %near[] : memref<f32>
        %t = arith.addf %a, %s : f32
        memref.store %t, %near[] : memref<f32>
      }
      %r = memref.load %near[] : memref<f32>
      memref.store %r, %x[%c0] : memref<16xf32>
      dataflow.yield
    }
    dataflow.yield
  }
  func.return
}

// CHECK-LABEL: func.func @kept(
// CHECK-NEXT: dataflow.kernel @k() {
// CHECK-NEXT: dataflow.task @t {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %x = memref.alloc() : memref<16xf32>
// CHECK-NEXT: %far = memref.alloc() : memref<16xf32>
// CHECK-NEXT: %near = memref.alloc() : memref<f32>
// CHECK-NEXT: scf.for %i = %c0 to %c16 step %c1 {
// CHECK-NEXT: memref.store %zero, %far[%i] : memref<16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.for %k = %c0 to %c16 step %c1 {
// CHECK-NEXT: scf.for %i_1 = %c0 to %c16 step %c1 {
// CHECK-NEXT: %a = memref.load %x[%k] : memref<16xf32>
// CHECK-NEXT: %s = memref.load %far[%i_1] : memref<16xf32>
// CHECK-NEXT: %t = arith.addf %a, %s : f32
// CHECK-NEXT: memref.store %t, %far[%i_1] : memref<16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: %start = memref.load %far[%c0] : memref<16xf32>
// CHECK-NEXT: memref.store %start, %near[] : memref<f32>
// CHECK-NEXT: scf.for %i_2 = %c0 to %c16 step %c1 {
// CHECK-NEXT: %a_1 = memref.load %x[%i_2] : memref<16xf32>
// CHECK-NEXT: %s_1 = memref.load %near[] : memref<f32>
// CHECK-NEXT: %t_1 = arith.addf %a_1, %s_1 : f32
// CHECK-NEXT: memref.store %t_1, %near[] : memref<f32>
// CHECK-NEXT: }
// CHECK-NEXT: %r = memref.load %near[] : memref<f32>
// CHECK-NEXT: memref.store %r, %x[%c0] : memref<16xf32>
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return

// -----

// An index that the nest computes from a loop around it is computed again where the sums are combined.
// SHOW: scf.for|scf.if|addi|_partial|stc.label|%sum
func.func @computed_inside() {
  dataflow.kernel @k() {
    dataflow.task @t ins() outs() {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c31 = arith.constant 31 : index
      %zero = arith.constant 0.0 : f32
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
      dataflow.yield
    }
    dataflow.yield
  }
  func.return
}

// CHECK-LABEL: func.func @computed_inside(
// CHECK: %sum = memref.alloc() : memref<4xf32>
// CHECK-NEXT: %sum_partial = memref.alloc() : memref<16x4xf32>
// CHECK: scf.for %partial = %c0_2 to %c16 step %c1_2 {
// CHECK-NEXT: scf.for %i = %c0_1 to %c3_1 step %c1_1 {
// CHECK-NEXT: memref.store %zero, %sum_partial[%partial, %i] : memref<16x4xf32>
// CHECK-NEXT: } {stc.label = "sum_init_i"}
// CHECK-NEXT: } {stc.label = "sum_init_partial"}
// CHECK-NEXT: scf.for %j = %c0_1 to %c3_1 step %c1_1 {
// CHECK-NEXT: scf.for %i_1 = %c0_1 to %c31 step %c1_1 {
// CHECK: %at = arith.addi %j, %c0_1 : index
// CHECK: %s = memref.load %sum_partial[%0, %at] : memref<16x4xf32>
// CHECK: memref.store %t, %sum_partial[%0, %at] : memref<16x4xf32>
// CHECK-NEXT: } {stc.label = "row_sum_i"}
// CHECK: scf.for %once = %c0_3 to %c1_3 step %c1_4 {
// CHECK-NEXT: %at_1 = arith.addi %j, %c0_1 : index
// CHECK-NEXT: %1 = memref.load %sum_partial[%c0, %at_1] : memref<16x4xf32>
// CHECK-NEXT: %2 = memref.load %sum_partial[%c1, %at_1] : memref<16x4xf32>
// CHECK-NEXT: %3 = memref.load %sum_partial[%c2, %at_1] : memref<16x4xf32>
// CHECK-NEXT: %4 = memref.load %sum_partial[%c3, %at_1] : memref<16x4xf32>
// CHECK-NEXT: %5 = memref.load %sum_partial[%c4, %at_1] : memref<16x4xf32>
// CHECK-NEXT: %6 = memref.load %sum_partial[%c5, %at_1] : memref<16x4xf32>
// CHECK-NEXT: %7 = memref.load %sum_partial[%c6, %at_1] : memref<16x4xf32>
// CHECK-NEXT: %8 = memref.load %sum_partial[%c7, %at_1] : memref<16x4xf32>
// CHECK-NEXT: %9 = memref.load %sum_partial[%c8, %at_1] : memref<16x4xf32>
// CHECK-NEXT: %10 = memref.load %sum_partial[%c9, %at_1] : memref<16x4xf32>
// CHECK-NEXT: %11 = memref.load %sum_partial[%c10, %at_1] : memref<16x4xf32>
// CHECK-NEXT: %12 = memref.load %sum_partial[%c11, %at_1] : memref<16x4xf32>
// CHECK-NEXT: %13 = memref.load %sum_partial[%c12, %at_1] : memref<16x4xf32>
// CHECK-NEXT: %14 = memref.load %sum_partial[%c13, %at_1] : memref<16x4xf32>
// CHECK-NEXT: %15 = memref.load %sum_partial[%c14, %at_1] : memref<16x4xf32>
// CHECK-NEXT: %16 = memref.load %sum_partial[%c15_1, %at_1] : memref<16x4xf32>
// CHECK: memref.store %t_15, %sum[%at_1] : memref<4xf32>
// CHECK-NEXT: } {stc.label = "row_sum_combine_once"}
// CHECK-NEXT: %r = memref.load %sum[%j] : memref<4xf32>
// CHECK: } {stc.label = "row_j"}
