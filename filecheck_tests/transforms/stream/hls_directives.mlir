// RUN: stc-opt %s -p 'hls-directives' --split-input-file | filecheck %s

// A sum that returns to the same entry each iteration needs the 7 cycles of the adder.
dataflow.kernel @accumulation() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
    %m = memref.alloc() : memref<4xf32>  %n = memref.alloc() : memref<8xf32>
    scf.for %k = %c0 to %c8 step %c1 {
      %a = memref.load %m[%c0] : memref<4xf32>
      %b = memref.load %n[%k] : memref<8xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %m[%c0] : memref<4xf32>
    }
  }
}

// CHECK-LABEL: @accumulation(
// CHECK: } {stc.label = "loop_k", stc.pipeline = 7 : i32}

// -----

// Over 4 entries in turn, it needs 3.
dataflow.kernel @in_turn() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
    %m = memref.alloc() : memref<4xf32>  %n = memref.alloc() : memref<8xf32>
    scf.for %k = %c0 to %c8 step %c1 {
      scf.for %i = %c0 to %c4 step %c1 {
        %a = memref.load %m[%i] : memref<4xf32>
        %b = memref.load %n[%k] : memref<8xf32>
        %s = arith.addf %a, %b : f32
        memref.store %s, %m[%i] : memref<4xf32>
      }
    }
  }
}

// CHECK-LABEL: @in_turn(
// CHECK: } {stc.label = "loop_i", stc.pipeline = 3 : i32}
// CHECK-NEXT: } {stc.label = "loop_k"}

// -----

// The innermost loop that is not unrolled is the pipeline; labels are unique, and given ones keep their stem.
dataflow.kernel @unrolled() {
  dataflow.task @t {
    %x = arith.constant 0.0 : f32  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
    %m = memref.alloc() : memref<2x8xf32>
    scf.for %k = %c0 to %c2 step %c1 {
      scf.for %i = %c0 to %c8 step %c1 {
        %a = memref.load %m[%k, %i] : memref<2x8xf32>
        %s = arith.negf %a : f32
        memref.store %s, %m[%k, %i] : memref<2x8xf32>
      } {stc.unroll = 0 : i32, stc.label = "act_i"}
    } {stc.label = "act_k"}
    scf.for %k = %c0 to %c2 step %c1 {
      memref.store %x, %m[%k, %c0] : memref<2x8xf32>
    }

  }
}

// CHECK-LABEL: @unrolled(
// CHECK: memref.alloc() {stc.partition = {{\[\[}}1 : i32, 0 : i32]]} : memref<2x8xf32>
// CHECK-NEXT: scf.for %k
// CHECK-NEXT: scf.for %i
// CHECK: } {stc.unroll = 0 : i32, stc.label = "act_i"}
// CHECK-NEXT: } {stc.label = "act_k", stc.pipeline = 1 : i32}
// CHECK-NEXT: scf.for %k_{{.*}}
// CHECK: } {stc.label = "loop_k", stc.pipeline = 1 : i32}

// -----

// Vector accesses partition the last dimension: completely where a row is one vector, else by its lanes; the widest access
// counts.
dataflow.kernel @partitions() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
    %m = memref.alloc() : memref<2x8xf32>
    %n = memref.alloc() : memref<2x8xf32>
    %o = memref.alloc() : memref<2x8xf32>
    scf.for %k = %c0 to %c2 step %c1 {
      %v = vector.load %m[%k, %c0] : memref<2x8xf32>, vector<8xf32>
      vector.store %v, %m[%k, %c0] : memref<2x8xf32>, vector<8xf32>
      %w = vector.load %n[%k, %c4] : memref<2x8xf32>, vector<4xf32>
      %u = vector.load %n[%k, %c2] : memref<2x8xf32>, vector<2xf32>
      %f = memref.load %o[%k, %c0] : memref<2x8xf32>
    }
  }
}

// CHECK-LABEL: @partitions(
// CHECK: memref.alloc() {stc.partition = {{\[\[}}1 : i32, 0 : i32]]} : memref<2x8xf32>
// CHECK-NEXT: memref.alloc() {stc.partition = {{\[\[}}1 : i32, 4 : i32]]} : memref<2x8xf32>
// CHECK-NEXT: memref.alloc() : memref<2x8xf32>
// CHECK-NEXT: scf.for %k
// CHECK: } {stc.label = "loop_k", stc.pipeline = 1 : i32}

// -----

// Several tokens of one stream per iteration are as many cycles.
!S = !stream.stream<vector<2xf32>, depth: 2>
dataflow.kernel @tokens() {
  %s = stream.create @s {tokens = 8 : i64} : !S
  dataflow.task @fill outs(%o = %s : !S) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index
    %v = arith.constant dense<0.0> : vector<2xf32>
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %t = %c0 to %c4 step %c2 {
        stream.write %v into %o : !S
      } {stc.unroll = 0 : i32}
    }
  }
  dataflow.task @sink ins(%r = %s : !S) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %v = stream.read %r : !S
    }
  }
}

// CHECK-LABEL: @tokens(
// CHECK: scf.for %i
// CHECK-NEXT: scf.for %t
// CHECK: } {stc.unroll = 0 : i32, stc.label = "write_o_t"}
// CHECK-NEXT: } {stc.label = "write_o_i", stc.pipeline = 2 : i32}
// CHECK: scf.for %i
// CHECK: } {stc.label = "read_r_i", stc.pipeline = 1 : i32}

// -----

// A block of a ring has two ports, so four lanes of it take two cycles.
!B = !stream.block<memref<4x4xf32>, count: 2>
dataflow.kernel @blocks() {
  %b = stream.buffer @b : !B
  dataflow.task @fill outs(%o = %b : !B) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
    %v = arith.constant dense<0.0> : vector<4xf32>
    %m = stream.acquire %o : !B -> memref<4x4xf32>
    scf.for %i = %c0 to %c4 step %c1 {
      vector.store %v, %m[%i, %c0] : memref<4x4xf32>, vector<4xf32>
    }
  }
  dataflow.task @drain ins(%r = %b : !B) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
    %m = stream.acquire %r : !B -> memref<4x4xf32>
    scf.for %i = %c0 to %c4 step %c1 {
      %v = memref.load %m[%i, %c0] : memref<4x4xf32>
    }
  }
}

// CHECK-LABEL: @blocks(
// CHECK: stream.buffer @b : !stream.block<memref<4x4xf32>, count: 2>
// CHECK: scf.for %i
// CHECK: } {stc.label = "loop_i", stc.pipeline = 2 : i32}
// CHECK: scf.for %i
// CHECK: } {stc.label = "loop_i", stc.pipeline = 1 : i32}

// -----

// An unrolled loop along a part of a row: its induction variable is a term of the index, and the lanes are partitioned.
dataflow.kernel @part_of_a_row() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index  %c12 = arith.constant 12 : index
    %m = memref.alloc() : memref<12xf32>
    scf.for %j = %c0 to %c12 step %c4 {
      scf.for %i = %c0 to %c4 step %c1 {
        %place = arith.addi %j, %i : index
        %a = memref.load %m[%place] : memref<12xf32>
        %s = arith.negf %a : f32
        memref.store %s, %m[%place] : memref<12xf32>
      } {stc.unroll = 0 : i32}
    }
  }
}

// CHECK-LABEL: @part_of_a_row(
// CHECK: memref.alloc() {stc.partition = {{\[\[}}0 : i32, 4 : i32]]} : memref<12xf32>
// CHECK-NEXT: scf.for %j
// CHECK-NEXT: scf.for %i
// CHECK: } {stc.unroll = 0 : i32, stc.label = "loop_i"}
// CHECK-NEXT: } {stc.label = "loop_j", stc.pipeline = 1 : i32}

// -----

// Two unrolled loops along one dimension, the first of every second entry: together they reach all twelve.
dataflow.kernel @chains() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index  %c12 = arith.constant 12 : index
    %m = memref.alloc() : memref<12xf32>
    scf.for %j = %c0 to %c2 step %c1 {
      scf.for %i = %c0 to %c12 step %c2 {
        %place = arith.addi %j, %i : index
        %a = memref.load %m[%place] : memref<12xf32>
        %s = arith.negf %a : f32
        memref.store %s, %m[%place] : memref<12xf32>
      } {stc.unroll = 0 : i32}
    } {stc.unroll = 0 : i32}
  }
}

// CHECK-LABEL: @chains(
// CHECK: memref.alloc() {stc.partition = {{\[\[}}0 : i32, 0 : i32]]} : memref<12xf32>

// -----

// A load and two stores of one entry take the two ports of its bank two cycles; in a buffer that is one register they take one.
dataflow.kernel @registers() {
  dataflow.task @t {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
    %zero = arith.constant dense<0> : vector<1xi32>  %one = arith.constant 1 : i32
    %x = memref.alloc() : memref<1xi32>  %y = memref.alloc() : memref<4xi32>
    scf.for %i = %c0 to %c4 step %c1 {
      vector.store %zero, %x[%c0] : memref<1xi32>, vector<1xi32>
      %a = memref.load %x[%c0] : memref<1xi32>
      %s = arith.addi %a, %one : i32
      memref.store %s, %x[%c0] : memref<1xi32>
    }
    scf.for %j = %c0 to %c4 step %c1 {
      vector.store %zero, %y[%j] : memref<4xi32>, vector<1xi32>
      %a = memref.load %y[%j] : memref<4xi32>
      %s = arith.addi %a, %one : i32
      memref.store %s, %y[%j] : memref<4xi32>
    }
  }
}

// CHECK-LABEL: @registers(
// CHECK: } {stc.label = "loop_i", stc.pipeline = 1 : i32}
// CHECK: } {stc.label = "loop_j", stc.pipeline = 2 : i32}
