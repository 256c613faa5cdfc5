// RUN: stc-opt %s -p 'expand-partial-sums{reassociate=false}' --split-input-file | filecheck %s

// Without reassociation a sum keeps its order and a maximum, which is the same in any order, does not.
// SHOW: scf.for|_partial|maximumf|addf
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
      %low = arith.constant 0xff800000 : f32
      %max = memref.alloc() : memref<f32>
      memref.store %low, %max[] : memref<f32>
      scf.for %i = %c0 to %c31 step %c1 {
        %a = memref.load %x[%i] : memref<31xf32>
        %s = memref.load %max[] : memref<f32>
        %t = arith.maximumf %a, %s : f32
        memref.store %t, %max[] : memref<f32>
      } {stc.label = "row_max_i"}
      %q = memref.load %max[] : memref<f32>
      memref.store %q, %out[] : memref<f32>
      %r = memref.load %sum[] : memref<f32>
      memref.store %r, %out[] : memref<f32>
      dataflow.yield
    }
    dataflow.yield
  }
  func.return
}

// CHECK-LABEL: func.func @row(
// CHECK: scf.for %i = %c0_1 to %c31 step %c1_1 {
// CHECK: %t = arith.addf %a, %s : f32
// CHECK: %max_partial = memref.alloc() : memref<8xf32>
// CHECK: scf.for %partial = %c0_2 to %c8 step %c1_2 {
// CHECK-NEXT: memref.store %low, %max_partial[%partial] : memref<8xf32>
// CHECK-NEXT: } {stc.label = "sum_init_partial"}
// CHECK-NEXT: scf.for %i_1 = %c0_1 to %c31 step %c1_1 {
// CHECK: %s_1 = memref.load %max_partial[%0] : memref<8xf32>
// CHECK-NEXT: %t_1 = arith.maximumf %a_1, %s_1 : f32
// CHECK-NEXT: memref.store %t_1, %max_partial[%0] : memref<8xf32>
// CHECK: scf.for %once = %c0_3 to %c1_3 step %c1_4 {
// CHECK-NEXT: %1 = memref.load %max_partial[%c0] : memref<8xf32>
// CHECK-NEXT: %2 = memref.load %max_partial[%c1] : memref<8xf32>
// CHECK-NEXT: %3 = memref.load %max_partial[%c2] : memref<8xf32>
// CHECK-NEXT: %4 = memref.load %max_partial[%c3] : memref<8xf32>
// CHECK-NEXT: %5 = memref.load %max_partial[%c4] : memref<8xf32>
// CHECK-NEXT: %6 = memref.load %max_partial[%c5] : memref<8xf32>
// CHECK-NEXT: %7 = memref.load %max_partial[%c6] : memref<8xf32>
// CHECK-NEXT: %8 = memref.load %max_partial[%c7_1] : memref<8xf32>
// CHECK-NEXT: %t_2 = arith.maximumf %1, %2 : f32
// CHECK-NEXT: %t_3 = arith.maximumf %3, %4 : f32
// CHECK-NEXT: %t_4 = arith.maximumf %5, %6 : f32
// CHECK-NEXT: %t_5 = arith.maximumf %7, %8 : f32
// CHECK-NEXT: %t_6 = arith.maximumf %t_2, %t_3 : f32
// CHECK-NEXT: %t_7 = arith.maximumf %t_4, %t_5 : f32
// CHECK-NEXT: %t_8 = arith.maximumf %t_6, %t_7 : f32
