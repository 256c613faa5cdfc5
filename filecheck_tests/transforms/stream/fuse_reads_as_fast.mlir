// RUN: stc-opt %s -p fuse-reads --check-semantics=3 | filecheck %s

// Apart, 16 iterations fill the tile and 8 use it; together, 8 iterations are 3 cycles apart, since each sum comes up again in the
// eighth. As fast, and one pipeline less to fill in each tile: they are fused.
// SHOW: memref.alloc\(\) .*|scf.for .*|stream.read .*
!one = vector<1xf32>
!s = !stream.stream<!one, depth: 2>
func.func @main(%x: tensor<32xf32> {stc.name = "x"}) -> (tensor<8xf32> {stc.name = "y"}) {
  %p = dataflow.pack %x : tensor<32xf32> as !itensor.itensor<1xf32, iter_space: [32] * [1], iter_map: (d0) -> (d0)> -> tensor<32x!one>
  %q = dataflow.kernel @k(%in = %p : tensor<32x!one> as memref<32x!one>) -> (tensor<8x!one> as memref<8x!one>) {
    %out = dataflow.memory @out : memref<8x!one>
    %words = stream.create @words : !s
    dataflow.task @load ins(%m = %in : memref<32x!one>) outs(%o = %words : !s) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c32 = arith.constant 32 : index
      scf.for %i = %c0 to %c32 step %c1 {
        %w = memref.load %m[%i] : memref<32x!one>
        stream.write %w into %o : !s
      }
    }
    dataflow.task @sums ins(%i = %words : !s) outs(%o = %out : memref<8x!one>) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index  %c8 = arith.constant 8 : index
      %zero = arith.constant 0.0 : f32
      %tile = memref.alloc() : memref<8x2xf32>
      %sum = memref.alloc() : memref<8xf32>
      scf.for %row = %c0 to %c8 step %c1 {
        memref.store %zero, %sum[%row] : memref<8xf32>
      }
      scf.for %part = %c0 to %c2 step %c1 {
        scf.for %row = %c0 to %c8 step %c1 {
          scf.for %column = %c0 to %c2 step %c1 {
            %t = stream.read %i : !s
            vector.store %t, %tile[%row, %column] : memref<8x2xf32>, !one
          }
        }
        scf.for %row = %c0 to %c8 step %c1 {
          scf.for %lane = %c0 to %c2 step %c1 {
            %a = memref.load %tile[%row, %lane] : memref<8x2xf32>
            %d = memref.load %sum[%row] : memref<8xf32>
            %e = arith.addf %d, %a : f32
            memref.store %e, %sum[%row] : memref<8xf32>
          } {stc.unroll = 0 : i32}
        }
      }
      scf.for %row = %c0 to %c8 step %c1 {
        %t = memref.load %sum[%row] : memref<8xf32>
        %v = vector.broadcast %t : f32 to !one
        memref.store %v, %o[%row] : memref<8x!one>
      }
    }
    dataflow.yield %out : memref<8x!one>
  }
  %y = dataflow.unpack %q : tensor<8x!one> as !itensor.itensor<1xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0)> -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @main(
// CHECK: scf.for %i = %c0 to %c32 step %c1 {
// CHECK: memref.alloc() : memref<2xf32>
// CHECK-NEXT: memref.alloc() : memref<8xf32>
// CHECK-NEXT: scf.for %row = %c0 to %c8 step %c1 {
// CHECK: scf.for %part = %c0 to %c2 step %c1 {
// CHECK-NEXT: scf.for %row_{{.*}} = %c0 to %c8 step %c1 {
// CHECK-NEXT: stream.read %i : !stream.stream<vector<1xf32>, depth: 2>
// CHECK: stream.read %i : !stream.stream<vector<1xf32>, depth: 2>
// CHECK: scf.for %lane = %c0 to %c2 step %c1 {
// CHECK: scf.for %row_{{.*}} = %c0 to %c8 step %c1 {
