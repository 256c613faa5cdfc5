// RUN: stc-opt %s -p fuse-reads --split-input-file --check-semantics=3 | filecheck %s

// Apart, 4 iterations fill a tile and 4 use it, one a cycle, and then an addition has to end, in each of 4 tiles. Together, sums come up
// again in the fourth iteration and hold it up, but tiles are one loop, which drains once: they are fused.
// SHOW: memref.alloc\(\) .*|scf.for .*|stream.read .*
!one = vector<1xf32>
!s = !stream.stream<!one, depth: 2>
func.func @main(%x: tensor<16xf32> {stc.name = "x"}) -> (tensor<4xf32> {stc.name = "y"}) {
  %p = dataflow.pack %x : tensor<16xf32> as !itensor.itensor<1xf32, iter_space: [16] * [1], iter_map: (d0) -> (d0)> -> tensor<16x!one>
  %q = dataflow.kernel @k(%in = %p : tensor<16x!one> as memref<16x!one>) -> (tensor<4x!one> as memref<4x!one>) {
    %out = dataflow.memory @out : memref<4x!one>
    %words = stream.create @words : !s
    dataflow.task @load ins(%m = %in : memref<16x!one>) outs(%o = %words : !s) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c16 = arith.constant 16 : index
      scf.for %i = %c0 to %c16 step %c1 {
        %w = memref.load %m[%i] : memref<16x!one>
        stream.write %w into %o : !s
      }
    }
    dataflow.task @sums ins(%i = %words : !s) outs(%o = %out : memref<4x!one>) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
      %zero = arith.constant 0.0 : f32
      %tile = memref.alloc() : memref<4x1xf32>
      %sum = memref.alloc() : memref<4xf32>
      scf.for %row = %c0 to %c4 step %c1 {
        memref.store %zero, %sum[%row] : memref<4xf32>
      }
      scf.for %part = %c0 to %c4 step %c1 {
        scf.for %row = %c0 to %c4 step %c1 {
          scf.for %column = %c0 to %c1 step %c1 {
            %t = stream.read %i : !s
            vector.store %t, %tile[%row, %column] : memref<4x1xf32>, !one
          }
        }
        scf.for %row = %c0 to %c4 step %c1 {
          scf.for %lane = %c0 to %c1 step %c1 {
            %a = memref.load %tile[%row, %lane] : memref<4x1xf32>
            %d = memref.load %sum[%row] : memref<4xf32>
            %e = arith.addf %d, %a : f32
            memref.store %e, %sum[%row] : memref<4xf32>
          } {stc.unroll = 0 : i32}
        }
      }
      scf.for %row = %c0 to %c4 step %c1 {
        %t = memref.load %sum[%row] : memref<4xf32>
        %v = vector.broadcast %t : f32 to !one
        memref.store %v, %o[%row] : memref<4x!one>
      }
    }
    dataflow.yield %out : memref<4x!one>
  }
  %y = dataflow.unpack %q : tensor<4x!one> as !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)> -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @main(
// CHECK: dataflow.task @sums
// CHECK: memref.alloc() : memref<1xf32>
// CHECK: scf.for %part = %c0 to %c4 step %c1 {
// CHECK-NEXT: scf.for %row_{{.*}} = %c0 to %c4 step %c1 {
// CHECK-NEXT: stream.read %i : !stream.stream<vector<1xf32>, depth: 2>
// CHECK: scf.for %lane = %c0 to %c1 step %c1 {

// -----

// Tiles of two entries: fused, they are one loop for each row, and what its drain costs a tile is a quarter of it.
!one = vector<1xf32>
!s = !stream.stream<!one, depth: 2>
func.func @rows(%x: tensor<24xf32> {stc.name = "x"}) -> (tensor<6xf32> {stc.name = "y"}) {
  %p = dataflow.pack %x : tensor<24xf32> as !itensor.itensor<1xf32, iter_space: [24] * [1], iter_map: (d0) -> (d0)> -> tensor<24x!one>
  %q = dataflow.kernel @k(%in = %p : tensor<24x!one> as memref<24x!one>) -> (tensor<6x!one> as memref<6x!one>) {
    %out = dataflow.memory @out : memref<6x!one>
    %words = stream.create @words : !s
    %largest = stream.create @largest : !s
    dataflow.task @load ins(%m = %in : memref<24x!one>) outs(%o = %words : !s) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c24 = arith.constant 24 : index
      scf.for %i = %c0 to %c24 step %c1 {
        %w = memref.load %m[%i] : memref<24x!one>
        stream.write %w into %o : !s
      }
    }
    dataflow.task @max ins(%i = %words : !s) outs(%o = %largest : !s) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index  %c4 = arith.constant 4 : index
      %zero = arith.constant 0.0 : f32
      %tile = memref.alloc() : memref<2xf32>
      %max = memref.alloc() : memref<2xf32>
      scf.for %row = %c0 to %c3 step %c1 {
        scf.for %entry = %c0 to %c2 step %c1 {
          memref.store %zero, %max[%entry] : memref<2xf32>
        }
        scf.for %part = %c0 to %c4 step %c1 {
          scf.for %entry = %c0 to %c2 step %c1 {
            %t = stream.read %i : !s
            vector.store %t, %tile[%entry] : memref<2xf32>, !one
          }
          scf.for %entry = %c0 to %c2 step %c1 {
            %a = memref.load %tile[%entry] : memref<2xf32>
            %b = math.absf %a : f32
            %d = memref.load %max[%entry] : memref<2xf32>
            %e = arith.maximumf %d, %b : f32
            memref.store %e, %max[%entry] : memref<2xf32>
          }
        }
        scf.for %entry = %c0 to %c2 step %c1 {
          %v = vector.load %max[%entry] : memref<2xf32>, !one
          stream.write %v into %o : !s
        }
      }
    }
    dataflow.task @store ins(%i = %largest : !s) outs(%o = %out : memref<6x!one>) kind store {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c6 = arith.constant 6 : index
      scf.for %at = %c0 to %c6 step %c1 {
        %w = stream.read %i : !s
        memref.store %w, %o[%at] : memref<6x!one>
      }
    }
    dataflow.yield %out : memref<6x!one>
  }
  %y = dataflow.unpack %q : tensor<6x!one> as !itensor.itensor<1xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0)> -> tensor<6xf32>
  func.return %y : tensor<6xf32>
}

// CHECK-LABEL: func.func @rows(
// CHECK: dataflow.task @max
// CHECK: scf.for %part = %c0 to %c4 step %c1 {
// CHECK-NEXT: scf.for %entry_{{.*}} = %c0 to %c2 step %c1 {
// CHECK-NEXT: stream.read
// CHECK-NOT: scf.for
// CHECK: arith.maximumf
