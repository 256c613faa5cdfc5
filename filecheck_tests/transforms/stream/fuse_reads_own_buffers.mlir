// RUN: stc-opt %s -p fuse-reads --check-semantics=3 | filecheck %s

// Each iteration has terms of its own, in a buffer that it allocates: its loops may be interchanged all the same.
dataflow.kernel @k() {
  %x = stream.create @x : !stream.stream<vector<4xf32>, depth: 2>
  dataflow.task @feed ins() outs(%o = %x : !stream.stream<vector<4xf32>, depth: 2>) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %tokens = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32  %token = vector.broadcast %zero : f32 to vector<4xf32>
    scf.for %i = %c0 to %tokens step %c1 {
      stream.write %token into %o : !stream.stream<vector<4xf32>, depth: 2>
    }
  }
  dataflow.task @t ins(%in = %x : !stream.stream<vector<4xf32>, depth: 2>) outs() {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index  %c16 = arith.constant 16 : index
    %tile = memref.alloc() : memref<8x8xf32>  %sum = memref.alloc() : memref<8xf32>
    scf.for %i = %c0 to %c8 step %c1 {
      scf.for %j = %c0 to %c8 step %c4 {
        %v = stream.read %in : !stream.stream<vector<4xf32>, depth: 2>
        vector.store %v, %tile[%i, %j] : memref<8x8xf32>, vector<4xf32>
      }
    }
    scf.for %j = %c0 to %c8 step %c4 {
      scf.for %i = %c0 to %c8 step %c1 {
        %terms = memref.alloc() : memref<4xf32>
        scf.for %lane = %c0 to %c4 step %c1 {
          %n = arith.addi %j, %lane : index
          %a = memref.load %tile[%i, %n] : memref<8x8xf32>
          %b = math.absf %a : f32
          memref.store %b, %terms[%lane] : memref<4xf32>
        } {stc.unroll = 0 : i32}
        %t = memref.load %terms[%c0] : memref<4xf32>
        %s = memref.load %sum[%i] : memref<8xf32>
        %m = arith.maximumf %s, %t : f32
        memref.store %m, %sum[%i] : memref<8xf32>
      }
    }
  }
}

// CHECK: dataflow.task @t
// CHECK: scf.for %i
// CHECK: scf.for %j
// CHECK-NEXT: stream.read %in
// CHECK: %terms = memref.alloc()
// CHECK: memref.load %tile[%lane] : memref<4xf32>
// CHECK-NOT: scf.for %i
