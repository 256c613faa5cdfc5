// RUN: stc-opt %s -p 'expand-partial-sums{reassociate=false}' --split-input-file | filecheck %s

// Without reassociation a sum keeps its order and a maximum, which is the same in any order, does not.
// SHOW: scf.for %\w+ ...|_partial = |maximumf|addf|memref.store
func.func @row() {
  dataflow.kernel @k() {
    dataflow.task @t ins() outs() {
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
    }
  }
  func.return
}

// CHECK-LABEL: func.func @row(
// CHECK: memref.store %zero, %sum[] : memref<f32>
// CHECK-NEXT: scf.for %i
// CHECK: %t = arith.addf %a, %s : f32
// CHECK-NEXT: memref.store %t, %sum[] : memref<f32>
// CHECK: %max_partial = memref.alloc() : memref<8xf32>
// CHECK: scf.for %partial
// CHECK-NEXT: memref.store %low, %max_partial[%partial] : memref<8xf32>
// CHECK: scf.for %i_{{.*}}
// CHECK: %[[T:.*]] = arith.maximumf %a_{{.*}}, %s_{{.*}} : f32
// CHECK-NEXT: memref.store %[[T]], %max_partial[%{{.*}}] : memref<8xf32>
// CHECK: scf.for %once
// CHECK: %[[T1:.*]] = arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[T2:.*]] = arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[T3:.*]] = arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[T4:.*]] = arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[T5:.*]] = arith.maximumf %[[T1]], %[[T2]] : f32
// CHECK-NEXT: %[[T6:.*]] = arith.maximumf %[[T3]], %[[T4]] : f32
// CHECK-NEXT: %[[T7:.*]] = arith.maximumf %[[T5]], %[[T6]] : f32
// CHECK-NEXT: memref.store %[[T7]], %max[] : memref<f32>
// CHECK: memref.store %q, %out[] : memref<f32>
// CHECK: memref.store %r, %out[] : memref<f32>
