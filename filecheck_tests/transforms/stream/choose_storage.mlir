// RUN: stc-opt %s -p 'choose-storage' --split-input-file | filecheck %s

// Nothing is scarce: each memory is what takes the least of the device. A FIFO of two slots, and an array in registers, stay as they are.
!S = !stream.stream<vector<16xf32>, depth: 64>
!T = !stream.stream<f32, depth: 3000>
!U = !stream.stream<vector<16xf32>, depth: 2>
dataflow.kernel @fifos() {
  %a = stream.create @a {tokens = 64 : i64} : !S
  %b = stream.create @b {tokens = 3000 : i64} : !T
  %c = stream.create @c {tokens = 64 : i64} : !U
}

// CHECK-LABEL: @fifos(
// CHECK-NEXT: stream.create @a {tokens = 64 : i64, memory = "lutram"}
// CHECK-NEXT: stream.create @b {tokens = 3000 : i64, memory = "uram"}
// CHECK-NEXT: stream.create @c {tokens = 64 : i64}

// -----

// A loop that reads two words of a bank needs two ports that read, one that writes two any two.
dataflow.kernel @arrays() {
  dataflow.task @t {
    %f = arith.constant 1.0 : f32  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index  %c500 = arith.constant 500 : index
    %one = memref.alloc() : memref<500xf32>
    %two = memref.alloc() : memref<500x2xf32>
    %any = memref.alloc() : memref<20x2xf32>
    %few = memref.alloc() : memref<20xf32>
    %registers = memref.alloc() {stc.partition = [[0 : i32, 0 : i32]]} : memref<2xf32>
    scf.for %i = %c0 to %c500 step %c1 {
      %0 = memref.load %two[%i, %c0] : memref<500x2xf32>
      %1 = memref.load %two[%i, %c1] : memref<500x2xf32>
      %2 = memref.load %few[%c0] : memref<20xf32>
      memref.store %f, %one[%i] : memref<500xf32>
      memref.store %f, %registers[%c1] : memref<2xf32>
    } {stc.pipeline = 1 : i32}
    scf.for %i = %c0 to %c2 step %c1 {
      memref.store %f, %any[%i, %c0] : memref<20x2xf32>
      memref.store %f, %any[%i, %c1] : memref<20x2xf32>
    } {stc.pipeline = 1 : i32}
  }
}

// CHECK-LABEL: @arrays(
// CHECK: %one = memref.alloc() {stc.storage = ["ram_s2p", "bram"]} : memref<500xf32>
// CHECK-NEXT: %two = memref.alloc() {stc.storage = ["ram_2p", "bram"]} : memref<500x2xf32>
// CHECK-NEXT: %any = memref.alloc() {stc.storage = ["ram_t2p", "bram"]} : memref<20x2xf32>
// CHECK-NEXT: %few = memref.alloc() {stc.storage = ["ram_s2p", "lutram"]} : memref<20xf32>
// CHECK-NEXT: %registers = memref.alloc() {stc.partition = [[0 : i32, 0 : i32]]} : memref<2xf32>
