// RUN: stc-opt %s -p 'build-adder-trees' --split-input-file | filecheck %s
// RUN: stc-opt %s -p 'build-adder-trees{reassociate=false}' --split-input-file | filecheck %s --check-prefix KEPT

// Five terms, which no power of two is: two pairs, then both of them, then the fifth, which waited for two levels.
dataflow.kernel @five() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c5 = arith.constant 5 : index  %c7 = arith.constant 7 : index
    %x = memref.alloc() : memref<7x5xi8>  %w = memref.alloc() : memref<5xi4>  %sum = memref.alloc() : memref<7xi32>
    scf.for %i = %c0 to %c7 step %c1 {
      scf.for %k = %c0 to %c5 step %c1 {
        %a = memref.load %x[%i, %k] : memref<7x5xi8>
        %b = memref.load %w[%k] : memref<5xi4>
        %s = memref.load %sum[%i] : memref<7xi32>
        %c = arith.extsi %a : i8 to i32
        %d = arith.extsi %b : i4 to i32
        %p = arith.muli %c, %d : i32
        %t = arith.addi %s, %p : i32
        memref.store %t, %sum[%i] : memref<7xi32>
      } {stc.label = "fc_k", stc.unroll = 0 : i32}
    } {stc.label = "fc_i"}
  }
}

// CHECK-LABEL: @five(
// CHECK: scf.for %i
// CHECK-NEXT: %sum_terms = memref.alloc() : memref<5xi32>
// CHECK: scf.for %k = %{{.*}} to %c5_{{.*}} step
// CHECK: [[P:%.*]] = arith.muli
// CHECK-NEXT: memref.store [[P]], %sum_terms[%k] : memref<5xi32>
// CHECK-NEXT: } {stc.unroll = 0 : i32, stc.label = "fc_k"}
// CHECK: scf.for %lane = %c0{{.*}} to %c4{{.*}} step %c2
// CHECK: [[OTHER:%.*]] = arith.addi %lane, %c1
// CHECK-NEXT: [[A:%.*]] = memref.load %sum_terms[%lane]
// CHECK-NEXT: [[B:%.*]] = memref.load %sum_terms[[[OTHER]]]
// CHECK-NEXT: [[S:%.*]] = arith.addi [[A]], [[B]] {stc.registered} : i32
// CHECK-NEXT: memref.store [[S]], %sum_terms[%lane]
// CHECK-NEXT: } {stc.unroll = 0 : i32, stc.label = "fc_level1_lane"}
// CHECK: scf.for %lane{{.*}} = %c0{{.*}} to %c3{{.*}} step %c4
// CHECK: {stc.unroll = 0 : i32, stc.label = "fc_level2_lane"}
// CHECK: scf.for %lane{{.*}} = %c0{{.*}} to %c1{{.*}} step %c8
// CHECK: {stc.unroll = 0 : i32, stc.label = "fc_level3_lane"}
// CHECK: [[ALL:%.*]] = memref.load %sum_terms[%c0
// CHECK-NEXT: [[BEFORE:%.*]] = memref.load %sum[%i]
// CHECK-NEXT: [[AFTER:%.*]] = arith.addi [[BEFORE]], [[ALL]] : i32
// CHECK-NEXT: memref.store [[AFTER]], %sum[%i]
// CHECK-NOT: stc.label = "fc_k"
// CHECK: {stc.label = "fc_i"}

// -----

// Two rows and the lanes of a sum at once: a tree for each row. The lanes are a part of the loop around.
dataflow.kernel @rows() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %x = memref.alloc() : memref<2x8xi8>  %sum = memref.alloc() : memref<2xi32>
    scf.for %k = %c0 to %c8 step %c4 {
      scf.for %lane = %c0 to %c4 step %c1 {
        %term = arith.addi %k, %lane : index
        scf.for %row = %c0 to %c2 step %c1 {
          %a = memref.load %x[%row, %term] : memref<2x8xi8>
          %b = arith.extsi %a : i8 to i32
          %s = memref.load %sum[%row] : memref<2xi32>
          %t = arith.addi %b, %s : i32
          memref.store %t, %sum[%row] : memref<2xi32>
        } {stc.label = "fc_row", stc.unroll = 0 : i32}
      } {stc.label = "fc_lane", stc.unroll = 0 : i32}
    } {stc.label = "fc_k"}
  }
}

// CHECK-LABEL: @rows(
// CHECK: scf.for %k
// CHECK: scf.for %row = %c0{{.*}} to %c2
// CHECK: memref.alloc() : memref<4xi32>
// CHECK: scf.for %lane = %c0{{.*}} to %c4
// CHECK-NEXT: [[TERM:%.*]] = arith.addi %k, %lane : index
// CHECK-NEXT: memref.load %x[%row, [[TERM]]]
// CHECK: stc.registered
// CHECK: memref.load %sum[%row]
// CHECK: memref.store %{{.*}}, %sum[%row]
// CHECK-NEXT: } {stc.unroll = 0 : i32, stc.label = "fc_row"}
// CHECK-NEXT: } {stc.label = "fc_k"}

// -----

// What a DSP multiplies it adds: two chains of six, and an adder for both of them. Chain 0 has terms 0, 2, 4, and so on.
dataflow.kernel @in_dsps() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c12 = arith.constant 12 : index
    %x = memref.alloc() : memref<12xi16>  %sum = memref.alloc() : memref<i48>
    scf.for %k = %c0 to %c12 step %c1 {
      %a = memref.load %x[%k] : memref<12xi16>
      %b = arith.extsi %a : i16 to i48
      %p = arith.muli %b, %b : i48
      %s = memref.load %sum[] : memref<i48>
      %t = arith.addi %s, %p : i48
      memref.store %t, %sum[] : memref<i48>
    } {stc.label = "fc_k", stc.unroll = 0 : i32}
  }
}

// CHECK-LABEL: @in_dsps(
// CHECK: %sum_terms = memref.alloc() : memref<2xi48>
// CHECK: scf.for %chain = %c0{{.*}} to %c2{{.*}} step %c1
// CHECK-NEXT: [[ZERO:%.*]] = arith.constant 0 : i48
// CHECK-NEXT: memref.store [[ZERO]], %sum_terms[%chain]
// CHECK: scf.for %k = %c0{{.*}} to %c12{{.*}} step %c2
// CHECK-NEXT: [[TERM:%.*]] = arith.addi %chain, %k : index
// CHECK-NEXT: memref.load %x[[[TERM]]]
// CHECK: [[P:%.*]] = arith.muli
// CHECK-NEXT: [[S:%.*]] = memref.load %sum_terms[%chain]
// CHECK-NEXT: [[T:%.*]] = arith.addi [[S]], [[P]] : i48
// CHECK-NEXT: memref.store [[T]], %sum_terms[%chain]
// CHECK: {stc.registered} : i48
// CHECK-NOT: stc.registered
// CHECK: memref.load %sum[]

// -----

// As it is: a chain that DSPs add up, a sum that is not one of lanes, terms that depend on the sum, and entries that data
// choose.
dataflow.kernel @others() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
    %x = memref.alloc() : memref<8xi16>  %sum = memref.alloc() : memref<i48>
    %y = memref.alloc() : memref<8xi16>
    scf.for %k = %c0 to %c8 step %c1 {
      %a = memref.load %x[%k] : memref<8xi16>
      %b = arith.extsi %a : i16 to i48
      %p = arith.muli %b, %b : i48
      %s = memref.load %sum[] : memref<i48>
      %t = arith.addi %s, %p : i48
      memref.store %t, %sum[] : memref<i48>
    } {stc.unroll = 0 : i32}
    scf.for %k = %c0 to %c8 step %c1 {
      %a = memref.load %x[%k] : memref<8xi16>
      %s = memref.load %y[%k] : memref<8xi16>
      %t = arith.addi %s, %a : i16
      memref.store %t, %y[%k] : memref<8xi16>
    } {stc.unroll = 0 : i32}
    scf.for %k = %c0 to %c8 step %c1 {
      %s = memref.load %sum[] : memref<i48>
      %u = arith.shli %s, %s : i48
      %t = arith.addi %s, %u : i48
      memref.store %t, %sum[] : memref<i48>
    } {stc.unroll = 0 : i32}
    %bins = memref.alloc() : memref<8xindex>
    scf.for %k = %c0 to %c8 step %c1 {
      %bin = memref.load %bins[%k] : memref<8xindex>
      %a = memref.load %x[%k] : memref<8xi16>
      %s = memref.load %y[%bin] : memref<8xi16>
      %t = arith.addi %s, %a : i16
      memref.store %t, %y[%bin] : memref<8xi16>
    } {stc.unroll = 0 : i32}
  }
}

// CHECK-LABEL: @others(
// CHECK-NOT: _terms
// CHECK-NOT: stc.registered

// -----

// The largest of three: in a tree as well, whose comparisons need no register behind them.
dataflow.kernel @largest() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
    %x = memref.alloc() : memref<3xf32>  %most = memref.alloc() : memref<1xf32>
    scf.for %k = %c0 to %c3 step %c1 {
      %a = memref.load %x[%k] : memref<3xf32>
      %s = memref.load %most[%c0] : memref<1xf32>
      %m = math.absf %a : f32
      %t = arith.maximumf %s, %m : f32
      memref.store %t, %most[%c0] : memref<1xf32>
    } {stc.label = "max_k", stc.unroll = 0 : i32}
  }
}

// CHECK-LABEL: @largest(
// CHECK: memref.store %{{.*}}, %most_terms[%k] : memref<3xf32>
// CHECK: [[M:%.*]] = arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: memref.store [[M]], %most_terms[%lane]
// CHECK-NEXT: } {stc.unroll = 0 : i32, stc.label = "max_level1_lane"}
// CHECK: {stc.unroll = 0 : i32, stc.label = "max_level2_lane"}
// CHECK: [[ALL:%.*]] = memref.load %most_terms[%c0{{.*}}]
// CHECK-NEXT: [[S:%.*]] = memref.load %most[%c0]
// CHECK-NEXT: arith.maximumf [[S]], [[ALL]] : f32

// -----

// Floats: adders have stages of their own, so none has a register besides; unless sums are to keep their order.
dataflow.kernel @floats() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
    %x = memref.alloc() : memref<3xf32>  %sum = memref.alloc() : memref<f32>
    scf.for %k = %c0 to %c3 step %c1 {
      %a = memref.load %x[%k] : memref<3xf32>
      %s = memref.load %sum[] : memref<f32>
      %p = arith.mulf %a, %a : f32
      %t = arith.addf %s, %p : f32
      memref.store %t, %sum[] : memref<f32>
    } {stc.label = "sum_k", stc.unroll = 0 : i32}
  }
}

// CHECK-LABEL: @floats(
// CHECK: [[P:%.*]] = arith.mulf
// CHECK-NEXT: memref.store [[P]], %sum_terms[%k] : memref<3xf32>
// CHECK: [[T:%.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: memref.store [[T]], %sum_terms[%lane]
// CHECK-NEXT: } {stc.unroll = 0 : i32, stc.label = "sum_level1_lane"}
// CHECK: {stc.unroll = 0 : i32, stc.label = "sum_level2_lane"}
// CHECK: [[ALL:%.*]] = memref.load %sum_terms[%c0{{.*}}]
// CHECK-NEXT: [[S:%.*]] = memref.load %sum[]
// CHECK-NEXT: arith.addf [[S]], [[ALL]] : f32

// KEPT-LABEL: @floats(
// KEPT-NOT: sum_terms
// KEPT: {stc.label = "sum_k", stc.unroll = 0 : i32}
