// RUN: stc-opt %s -p 'duplicate-loads{least=32}' --split-input-file | filecheck %s

// The row sums are complete when all of x has passed: until then @fork_x_1 keeps x. A second DMA needs no FIFO, and no fork is left.
// SHOW: dataflow.kernel @\w+\(.*?\) ... attributes .*\}|stream.create @\w+ ... depth: \d+|dataflow.task @\w+ ins\(.*?\) ...
!S2 = !stream.stream<vector<4xf32>, depth: 2>
!S4 = !stream.stream<vector<4xf32>, depth: 4>
!S8 = !stream.stream<vector<4xf32>, depth: 8>
func.func @residual(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %x_1 = dataflow.pack %x : tensor<4x8xf32> as !itensor.itensor<1x4xf32, iter_space: [2, 4] * [4, 1], iter_map: (d0, d1) -> (d1, d0)> -> tensor<2xvector<16xf32>>
  dataflow.kernel @residual(%x_2 = %x_1 : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) {
    %x_stream = stream.create @x_stream {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S4
    dataflow.task @load_x ins(%x_3 = %x_2 : memref<2xvector<16xf32>>) outs(%out = %x_stream : !S4) kind load {
      %word = memref.alloc() : memref<16xf32>
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %c0_1 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
        scf.for %t = %c0_1 to %c16 step %c4 {
          %0 = vector.load %word[%t] : memref<16xf32>, vector<4xf32>
          stream.write %0 into %out : !S4
        } {stc.unroll = 0 : i32}
      }
    }
    %fork_x = stream.create @fork_x_0 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    %fork_x_1 = stream.create @fork_x_1 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S8
    dataflow.task @fork_x ins(%in0 = %x_stream : !S4) outs(%out0 = %fork_x : !S2, %out1 = %fork_x_1 : !S8) kind fork {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %in0 : !S4
        stream.write %0 into %out0 : !S2
        stream.write %0 into %out1 : !S8
      }
    }
    %sum_out = stream.create @sum_out {tokens = 1 : i64, distinct_tokens = 1 : i64} : !S2
    dataflow.task @sum ins(%x_3 = %fork_x : !S2) outs(%out = %sum_out : !S2) {
      %tile = memref.alloc() : memref<4xf32>
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      scf.for %j = %c0 to %c8 step %c4 {
        %c0_1 = arith.constant 0 : index  %c4_1 = arith.constant 4 : index  %c1 = arith.constant 1 : index
        scf.for %a = %c0_1 to %c4_1 step %c1 {
          %0 = stream.read %x_3 : !S2
        }
      }
      %c0_2 = arith.constant 0 : index
      %1 = vector.load %tile[%c0_2] : memref<4xf32>, vector<4xf32>
      stream.write %1 into %out : !S2
    }
    %sub_out = stream.create @sub_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S4
    dataflow.task @sub ins(%s = %sum_out : !S2, %x_3 = %fork_x_1 : !S8) outs(%out = %sub_out : !S4) {
      %x_4 = memref.alloc() : memref<4x4xf32>
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      %0 = stream.read %s : !S2
      scf.for %j = %c0 to %c8 step %c4 {
        %c0_1 = arith.constant 0 : index  %c4_1 = arith.constant 4 : index  %c1 = arith.constant 1 : index
        scf.for %a = %c0_1 to %c4_1 step %c1 {
          %1 = stream.read %x_3 : !S8
        }
        %c0_2 = arith.constant 0 : index  %c4_2 = arith.constant 4 : index  %c1_1 = arith.constant 1 : index
        scf.for %a_1 = %c0_2 to %c4_2 step %c1_1 {
          %c0_3 = arith.constant 0 : index
          %2 = vector.load %x_4[%a_1, %c0_3] : memref<4x4xf32>, vector<4xf32>
          stream.write %2 into %out : !S4
        }
      }
    }
    dataflow.task @store_y ins(%in = %sub_out : !S4) kind store {
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %c0_1 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
        scf.for %t = %c0_1 to %c16 step %c4 {
          %0 = stream.read %in : !S4
        } {stc.unroll = 0 : i32}
      }
    }
  }
  func.return %x : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @residual(
// CHECK: dataflow.kernel @residual(%[[X:.*]] = %x_{{.*}} : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>, %[[X1:.*]] = %x_{{.*}} : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>){{.*}}attributes {stc.duplicate_loads = [{tensor = "x", reader = "sub", instead_of = "fifo", saved_bytes = 64 : i64, traffic_bytes = 0 : i64, packed_bytes = 0 : i64}]} {
// CHECK-NEXT: %x_stream = stream.create @x_stream{{.*}}depth: 4>
// CHECK-NEXT: dataflow.task @load_x ins(%[[X2:.*]] = %[[X]] : memref<2xvector<16xf32>>)
// CHECK: %[[X_STREAM:.*]] = stream.create @x_stream_2{{.*}}depth: 4>
// CHECK-NEXT: dataflow.task @load_x_2 ins(%[[X3:.*]] = %[[X1]] : memref<2xvector<16xf32>>)
// CHECK: %sum_out = stream.create @sum_out{{.*}}depth: 2>
// CHECK-NEXT: dataflow.task @sum ins(%[[X2:.*]] = %x_stream : !stream.stream<vector<4xf32>, depth: 4>)
// CHECK: %sub_out = stream.create @sub_out{{.*}}depth: 4>
// CHECK-NEXT: dataflow.task @sub ins(%s = %sum_out : !stream.stream<vector<4xf32>, depth: 2>, %[[X3:.*]] = %[[X_STREAM]] : !stream.stream<vector<4xf32>, depth: 4>)
// CHECK: dataflow.task @store_y ins(%in = %sub_out : !stream.stream<vector<4xf32>, depth: 4>)

// -----

// Three readers: those that take x as it comes share the fork; the third has its own DMA.
// SHOW: dataflow.kernel @\w+\(.*?\) ... attributes .*\}|stream.create @\w+ ... depth: \d+|dataflow.task @\w+ ins\(.*?\) ...
!S2 = !stream.stream<vector<4xf32>, depth: 2>
!S4 = !stream.stream<vector<4xf32>, depth: 4>
!S8 = !stream.stream<vector<4xf32>, depth: 8>
func.func @two_stay(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %x_1 = dataflow.pack %x : tensor<4x8xf32> as !itensor.itensor<1x4xf32, iter_space: [2, 4] * [4, 1], iter_map: (d0, d1) -> (d1, d0)> -> tensor<2xvector<16xf32>>
  dataflow.kernel @two_stay(%x_2 = %x_1 : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) {
    %x_stream = stream.create @x_stream {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S4
    dataflow.task @load_x ins(%x_3 = %x_2 : memref<2xvector<16xf32>>) outs(%out = %x_stream : !S4) kind load {
      %word = memref.alloc() : memref<16xf32>
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %c0_1 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
        scf.for %t = %c0_1 to %c16 step %c4 {
          %0 = vector.load %word[%t] : memref<16xf32>, vector<4xf32>
          stream.write %0 into %out : !S4
        } {stc.unroll = 0 : i32}
      }
    }
    %fork_x = stream.create @fork_x_0 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    %fork_x_1 = stream.create @fork_x_1 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    %fork_x_2 = stream.create @fork_x_2 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S8
    dataflow.task @fork_x ins(%in0 = %x_stream : !S4) outs(%out0 = %fork_x : !S2, %out1 = %fork_x_1 : !S2, %out2 = %fork_x_2 : !S8) kind fork {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %in0 : !S4
        stream.write %0 into %out0 : !S2
        stream.write %0 into %out1 : !S2
        stream.write %0 into %out2 : !S8
      }
    }
    %sum_out = stream.create @sum_out {tokens = 1 : i64, distinct_tokens = 1 : i64} : !S2
    dataflow.task @sum ins(%x_3 = %fork_x : !S2) outs(%out = %sum_out : !S2) {
      %tile = memref.alloc() : memref<4xf32>
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      scf.for %j = %c0 to %c8 step %c4 {
        %c0_1 = arith.constant 0 : index  %c4_1 = arith.constant 4 : index  %c1 = arith.constant 1 : index
        scf.for %a = %c0_1 to %c4_1 step %c1 {
          %0 = stream.read %x_3 : !S2
        }
      }
      %c0_2 = arith.constant 0 : index
      %1 = vector.load %tile[%c0_2] : memref<4xf32>, vector<4xf32>
      stream.write %1 into %out : !S2
    }
    %max_out = stream.create @max_out {tokens = 1 : i64, distinct_tokens = 1 : i64} : !S2
    dataflow.task @max ins(%x_3 = %fork_x_1 : !S2) outs(%out = %max_out : !S2) {
      %tile = memref.alloc() : memref<4xf32>
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      scf.for %j = %c0 to %c8 step %c4 {
        %c0_1 = arith.constant 0 : index  %c4_1 = arith.constant 4 : index  %c1 = arith.constant 1 : index
        scf.for %a = %c0_1 to %c4_1 step %c1 {
          %0 = stream.read %x_3 : !S2
        }
      }
      %c0_2 = arith.constant 0 : index
      %1 = vector.load %tile[%c0_2] : memref<4xf32>, vector<4xf32>
      stream.write %1 into %out : !S2
    }
    %sub_out = stream.create @sub_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S4
    dataflow.task @sub ins(%s = %sum_out : !S2, %m = %max_out : !S2, %x_3 = %fork_x_2 : !S8) outs(%out = %sub_out : !S4) {
      %x_4 = memref.alloc() : memref<4x4xf32>
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      %0 = stream.read %s : !S2
      %1 = stream.read %m : !S2
      scf.for %j = %c0 to %c8 step %c4 {
        %c0_1 = arith.constant 0 : index  %c4_1 = arith.constant 4 : index  %c1 = arith.constant 1 : index
        scf.for %a = %c0_1 to %c4_1 step %c1 {
          %2 = stream.read %x_3 : !S8
        }
        %c0_2 = arith.constant 0 : index  %c4_2 = arith.constant 4 : index  %c1_1 = arith.constant 1 : index
        scf.for %a_1 = %c0_2 to %c4_2 step %c1_1 {
          %c0_3 = arith.constant 0 : index
          %3 = vector.load %x_4[%a_1, %c0_3] : memref<4x4xf32>, vector<4xf32>
          stream.write %3 into %out : !S4
        }
      }
    }
    dataflow.task @store_y ins(%in = %sub_out : !S4) kind store {
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %c0_1 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
        scf.for %t = %c0_1 to %c16 step %c4 {
          %0 = stream.read %in : !S4
        } {stc.unroll = 0 : i32}
      }
    }
  }
  func.return %x : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @two_stay(
// CHECK: dataflow.kernel @two_stay(%[[X:.*]] = %x_{{.*}} : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>, %[[X1:.*]] = %x_{{.*}} : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>){{.*}}attributes {stc.duplicate_loads = [{tensor = "x", reader = "sub", instead_of = "fifo", saved_bytes = 64 : i64, traffic_bytes = 0 : i64, packed_bytes = 0 : i64}]} {
// CHECK-NEXT: %x_stream = stream.create @x_stream{{.*}}depth: 4>
// CHECK-NEXT: dataflow.task @load_x ins(%[[X2:.*]] = %[[X]] : memref<2xvector<16xf32>>)
// CHECK: %fork_x = stream.create @fork_x_0{{.*}}depth: 2>
// CHECK-NEXT: %[[FORK_X:.*]] = stream.create @fork_x_1{{.*}}depth: 2>
// CHECK-NEXT: %[[X_STREAM:.*]] = stream.create @x_stream_2{{.*}}depth: 4>
// CHECK-NEXT: dataflow.task @load_x_2 ins(%[[X3:.*]] = %[[X1]] : memref<2xvector<16xf32>>)
// CHECK: dataflow.task @fork_x ins(%in0 = %x_stream : !stream.stream<vector<4xf32>, depth: 4>)
// CHECK: %sum_out = stream.create @sum_out{{.*}}depth: 2>
// CHECK-NEXT: dataflow.task @sum ins(%[[X2:.*]] = %fork_x : !stream.stream<vector<4xf32>, depth: 2>)
// CHECK: %max_out = stream.create @max_out{{.*}}depth: 2>
// CHECK-NEXT: dataflow.task @max ins(%[[X3:.*]] = %[[FORK_X]] : !stream.stream<vector<4xf32>, depth: 2>)
// CHECK: %sub_out = stream.create @sub_out{{.*}}depth: 4>
// CHECK-NEXT: dataflow.task @sub ins(%s = %sum_out : !stream.stream<vector<4xf32>, depth: 2>, %m = %max_out : !stream.stream<vector<4xf32>, depth: 2>, %[[X2:.*]] = %[[X_STREAM]] : !stream.stream<vector<4xf32>, depth: 4>)
// CHECK: dataflow.task @store_y ins(%in = %sub_out : !stream.stream<vector<4xf32>, depth: 4>)
