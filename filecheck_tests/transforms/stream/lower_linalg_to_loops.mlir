// RUN: stc-opt %s -p 'lower-linalg-to-loops' --split-input-file | filecheck %s

// Reductions go outward, parallel loops innermost; the schedule unrolls; labels are the op's name.
dataflow.kernel @contraction() {
  dataflow.task @t ins() outs() {
    %a = memref.alloc() : memref<2x3xf32>
    %b = memref.alloc() : memref<3x4xf32>
    %c = memref.alloc() : memref<2x4xf32>
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<2x3xf32>, memref<3x4xf32>) outs(%c : memref<2x4xf32>) attrs = {stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [2, 4, 3], order = [0, 1, 2], unroll = [2, 2, 1], vector = []>} {
    ^bb0(%x: f32, %y: f32, %z: f32):  %p = arith.mulf %x, %y : f32  %s = arith.addf %p, %z : f32  linalg.yield %s : f32
    }
  }
}

// CHECK-LABEL: @contraction(
// CHECK: scf.for %term = %c0_{{.*}} to %c3 step %c1 {
// CHECK-NEXT: scf.for %column = %c0_{{.*}} to %c4 step %c2_{{.*}} {
// CHECK-NEXT: scf.for %row = %c0_{{.*}} to %c2 step %c1 {
// CHECK-NEXT: scf.for %lane = %c0_{{.*}} to %c2_{{.*}} step %c1 {
// CHECK-NEXT: %[[ADDI:.*]] = arith.addi %column, %lane : index
// CHECK-NEXT: %x = memref.load %a[%row, %term] : memref<2x3xf32>
// CHECK-NEXT: %y = memref.load %b[%term, %[[ADDI]]] : memref<3x4xf32>
// CHECK-NEXT: %z = memref.load %c[%row, %[[ADDI]]] : memref<2x4xf32>
// CHECK-NEXT: %p = arith.mulf %x, %y : f32
// CHECK-NEXT: %s = arith.addf %p, %z : f32
// CHECK-NEXT: memref.store %s, %c[%row, %[[ADDI]]] : memref<2x4xf32>
// CHECK-NEXT: } {stc.label = "fc_lane", stc.unroll = 0 : i32}
// CHECK-NEXT: } {stc.label = "fc_row", stc.unroll = 0 : i32}
// CHECK-NEXT: } {stc.label = "fc_column"}
// CHECK-NEXT: } {stc.label = "fc_term"}

// -----

// Loops of one point disappear, operands of rank 0 have no index, values nobody reads are not loaded.
dataflow.kernel @units() {
  dataflow.task @t ins() outs() {
    %a = memref.alloc() : memref<1x3xf32>
    %b = memref.alloc() : memref<f32>
    %c = memref.alloc() : memref<1x3xf32>
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a, %b : memref<1x3xf32>, memref<f32>) outs(%c : memref<1x3xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):  %p = arith.mulf %x, %y : f32  linalg.yield %p : f32
    }
  }
}

// CHECK-LABEL: @units(
// CHECK: %a = memref.alloc() : memref<1x3xf32>
// CHECK-NEXT: %b = memref.alloc() : memref<f32>
// CHECK-NEXT: %c = memref.alloc() : memref<1x3xf32>
// CHECK: scf.for %entry = %c0_{{.*}} to %c3 step %c1 {
// CHECK-NEXT: %x = memref.load %a[%c0, %entry] : memref<1x3xf32>
// CHECK-NEXT: %y = memref.load %b[] : memref<f32>
// CHECK-NEXT: %p = arith.mulf %x, %y : f32
// CHECK-NEXT: memref.store %p, %c[%c0, %entry] : memref<1x3xf32>

// -----

// A fill sets a row of up to 16 entries at once, longer ones one by one.
dataflow.kernel @fills() {
  dataflow.task @t ins() outs() {
    %k = arith.constant 0.0 : f32
    %a = memref.alloc() : memref<2x16xf32>
    %b = memref.alloc() : memref<17xf32>
    %c = memref.alloc() : memref<f32>
    linalg.fill ins(%k : f32) outs(%a : memref<2x16xf32>)
    linalg.fill ins(%k : f32) outs(%b : memref<17xf32>)
    linalg.fill ins(%k : f32) outs(%c : memref<f32>)
  }
}

// CHECK-LABEL: @fills(
// CHECK: %a = memref.alloc() : memref<2x16xf32>
// CHECK-NEXT: %b = memref.alloc() : memref<17xf32>
// CHECK-NEXT: %c = memref.alloc() : memref<f32>
// CHECK: scf.for %row = %c0_{{.*}} to %c2 step %c1 {
// CHECK-NEXT: scf.for %column = %c0_{{.*}} to %c16 step %c1 {
// CHECK-NEXT: memref.store %k, %a[%row, %column] : memref<2x16xf32>
// CHECK: scf.for %entry = %c0_{{.*}} to %c17 step %c1_{{.*}} {
// CHECK-NEXT: memref.store %k, %b[%entry] : memref<17xf32>
// CHECK: memref.store %k, %c[] : memref<f32>

// -----

// linalg.index is the induction variable, or 0 where the loop disappeared.
dataflow.kernel @indices() {
  dataflow.task @t ins() outs() {
    %a = memref.alloc() : memref<1x3xi32>
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%a : memref<1x3xi32>) {
    ^bb0(%z: i32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %s = arith.addi %i, %j : index
      %t = arith.index_cast %s : index to i32
      linalg.yield %t : i32
    }
  }
}

// CHECK-LABEL: @indices(
// CHECK: %a = memref.alloc() : memref<1x3xi32>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %c3 = arith.constant 3 : index
// CHECK-NEXT: scf.for %entry = %[[C0]] to %c3 step %c1 {
// CHECK-NEXT: %s = arith.addi %c0, %entry : index
// CHECK-NEXT: %t = arith.index_cast %s : index to i32
// CHECK-NEXT: memref.store %t, %a[%c0, %entry] : memref<1x3xi32>

// -----

// Views become offsets: in scalar accesses,
!V = memref<2x8xf32, strided<[8, 1]>>
dataflow.kernel @scalars_of_views() {
  dataflow.task @t {
    %i = arith.constant 2 : index  %a = memref.alloc() : memref<4x8xf32>
    %v = memref.subview %a[%i, 0] [2, 8] [1, 1] : memref<4x8xf32> to !V
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%v : !V) {
    ^bb0(%z: f32):  %n = arith.negf %z : f32  linalg.yield %n : f32
    }
  }
}

// CHECK-LABEL: @scalars_of_views(
// CHECK: scf.for %row = %c0{{.*}} to %c2
// CHECK-NEXT: scf.for %column = %c0{{.*}} to %c8
// CHECK-NEXT: [[AT:%.*]] = arith.addi %i, %row
// CHECK-NEXT: memref.load %a[[[AT]], %column]
// CHECK: [[AT1:%.*]] = arith.addi %i, %row
// CHECK-NEXT: memref.store %n, %a[[[AT1]], %column]

// -----

// in vector accesses and copies.
!V = memref<2x8xf32, strided<[8, 1]>>
dataflow.kernel @vectors_of_views() {
  dataflow.task @t {
    %i = arith.constant 2 : index  %c0 = arith.constant 0 : index
    %a = memref.alloc() : memref<4x8xf32>  %b = memref.alloc() : memref<2x8xf32>
    %v = memref.subview %a[%i, 0] [2, 8] [1, 1] : memref<4x8xf32> to !V
    %t = vector.load %v[%c0, %c0] : !V, vector<8xf32>
    vector.store %t, %b[%c0, %c0] : memref<2x8xf32>, vector<8xf32>
    "memref.copy"(%b, %v) : (memref<2x8xf32>, !V) -> ()
  }
}

// CHECK-LABEL: @vectors_of_views(
// CHECK: [[AT:%.*]] = arith.addi %i, %c0
// CHECK-NEXT: %t = vector.load %a[[[AT]], %c0]
// CHECK-NEXT: vector.store %t, %b[%c0, %c0]
// CHECK: scf.for %row = %c0{{.*}} to %c2
// CHECK-NEXT: scf.for %column = %c0{{.*}} to %c8
// CHECK-NEXT: [[ENTRY:%.*]] = memref.load %b[%row, %column]
// CHECK-NEXT: [[AT1:%.*]] = arith.addi %i, %row
// CHECK-NEXT: memref.store [[ENTRY]], %a[[[AT1]], %column]
