// RUN: stc-opt %s -p fuse-reads --check-semantics=3 | filecheck %s

// Each iteration has terms of its own, in a buffer that it allocates: its loops may be interchanged all the same.
!one = vector<1xf32>
!two = vector<2xf32>
!s = !stream.stream<!two, depth: 2>
func.func @main(%x: tensor<32xf32> {stc.name = "x"}) -> (tensor<8xf32> {stc.name = "y"}) {
  %p = dataflow.pack %x : tensor<32xf32> as !itensor.itensor<2xf32, iter_space: [16] * [2], iter_map: (d0) -> (d0)> -> tensor<16x!two>
  %q = dataflow.kernel @k(%in = %p : tensor<16x!two> as memref<16x!two>) -> (tensor<8x!one> as memref<8x!one>) {
    %out = dataflow.memory @out : memref<8x!one>
    %words = stream.create @words : !s
    dataflow.task @load ins(%m = %in : memref<16x!two>) outs(%o = %words : !s) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c16 = arith.constant 16 : index
      scf.for %i = %c0 to %c16 step %c1 {
        %w = memref.load %m[%i] : memref<16x!two>
        stream.write %w into %o : !s
      }
    }
    dataflow.task @maxima ins(%i = %words : !s) outs(%o = %out : memref<8x!one>) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index  %zero = arith.constant 0.0 : f32
      %tile = memref.alloc() : memref<8x4xf32>  %max = memref.alloc() : memref<8xf32>
      scf.for %row = %c0 to %c8 step %c1 {
        memref.store %zero, %max[%row] : memref<8xf32>
      }
      scf.for %row = %c0 to %c8 step %c1 {
        scf.for %column = %c0 to %c4 step %c2 {
          %t = stream.read %i : !s
          vector.store %t, %tile[%row, %column] : memref<8x4xf32>, !two
        }
      }
      scf.for %column = %c0 to %c4 step %c2 {
        scf.for %row = %c0 to %c8 step %c1 {
          %terms = memref.alloc() : memref<2xf32>
          scf.for %lane = %c0 to %c2 step %c1 {
            %n = arith.addi %column, %lane : index
            %a = memref.load %tile[%row, %n] : memref<8x4xf32>
            memref.store %a, %terms[%lane] : memref<2xf32>
          } {stc.unroll = 0 : i32}
          %l = memref.load %terms[%c0] : memref<2xf32>  %r = memref.load %terms[%c1] : memref<2xf32>
          %b = arith.maximumf %l, %r : f32
          %d = memref.load %max[%row] : memref<8xf32>
          %e = arith.maximumf %d, %b : f32
          memref.store %e, %max[%row] : memref<8xf32>
        }
      }
      scf.for %row = %c0 to %c8 step %c1 {
        %t = memref.load %max[%row] : memref<8xf32>
        %v = vector.broadcast %t : f32 to !one
        memref.store %v, %o[%row] : memref<8x!one>
      }
    }
    dataflow.yield %out : memref<8x!one>
  }
  %y = dataflow.unpack %q : tensor<8x!one> as !itensor.itensor<1xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0)> -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// CHECK: dataflow.task @maxima
// CHECK: [[TILE:%.*]] = memref.alloc() : memref<2xf32>
// CHECK: scf.for %row
// CHECK: scf.for %row
// CHECK: scf.for %column
// CHECK-NEXT: stream.read
// CHECK: %terms = memref.alloc()
// CHECK: memref.load [[TILE]][
