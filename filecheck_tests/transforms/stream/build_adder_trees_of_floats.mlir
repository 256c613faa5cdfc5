// RUN: stc-opt %s -p 'build-adder-trees,expand-partial-sums,fuse-reads' | filecheck %s
// RUN: stc-opt %s -p 'expand-partial-sums,fuse-reads,build-adder-trees' | filecheck %s --check-prefix BEHIND

// A row that arrives in tokens of four: behind a tree a sum waits for one adder, so 8 partial sums are enough for an iteration in
// each cycle, and the row is read where it is added up. With a chain of four adders in the loop, more would be needed.
dataflow.kernel @norm() {
  %x = stream.create @x : !stream.stream<vector<4xf32>, depth: 2>
  dataflow.task @feed ins() outs(%o = %x : !stream.stream<vector<4xf32>, depth: 2>) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %tokens = arith.constant 256 : index
    %zero = arith.constant 0.0 : f32  %token = vector.broadcast %zero : f32 to vector<4xf32>
    scf.for %i = %c0 to %tokens step %c1 {
      stream.write %token into %o : !stream.stream<vector<4xf32>, depth: 2>
    }
  }
  dataflow.task @t ins(%in = %x : !stream.stream<vector<4xf32>, depth: 2>) outs() {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
    %c1024 = arith.constant 1024 : index  %zero = arith.constant 0.0 : f32
    %row = memref.alloc() : memref<1024xf32>  %sum = memref.alloc() : memref<f32>  %out = memref.alloc() : memref<f32>
    scf.for %i = %c0 to %c1024 step %c4 {
      %v = stream.read %in : !stream.stream<vector<4xf32>, depth: 2>
      vector.store %v, %row[%i] : memref<1024xf32>, vector<4xf32>
    }
    memref.store %zero, %sum[] : memref<f32>
    scf.for %i = %c0 to %c1024 step %c4 {
      scf.for %lane = %c0 to %c4 step %c1 {
        %n = arith.addi %i, %lane : index
        %a = memref.load %row[%n] : memref<1024xf32>
        %s = memref.load %sum[] : memref<f32>
        %t = arith.addf %s, %a : f32
        memref.store %t, %sum[] : memref<f32>
      } {stc.label = "norm_lane", stc.unroll = 0 : i32}
    } {stc.label = "norm_i"}
    %r = memref.load %sum[] : memref<f32>
    memref.store %r, %out[] : memref<f32>
  }
}

// CHECK: dataflow.task @t
// CHECK: memref.alloc() : memref<8xf32>
// CHECK: scf.for %i
// CHECK: stream.read
// CHECK: sum_terms
// CHECK: {stc.label = "norm_i"}

// BEHIND-NOT: memref<8xf32>
