// RUN: stc-opt %s -p 'set-fifo-depths{rule="tokens"}' --split-input-file | filecheck %s

// Without a run: both branches of a fork that meet again hold all their tokens (8), as nobody may wait at the fork.
// SHOW: stream.create @\w+ ... depth: \d+
!S2 = !stream.stream<vector<4xf32>, depth: 2>
func.func @reconvergence(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  dataflow.kernel @main() {
    %x_stream = stream.create @x_stream {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @load_x outs(%out = %x_stream : !S2) kind load {
      %word = memref.alloc() : memref<16xf32>
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %c0_1 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
        scf.for %t = %c0_1 to %c16 step %c4 {
          %0 = vector.load %word[%t] : memref<16xf32>, vector<4xf32>
          stream.write %0 into %out : !S2
        } {stc.unroll = 0 : i32}
      }
    }
    %fork_x = stream.create @fork_x_0 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    %fork_x_1 = stream.create @fork_x_1 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @fork_x ins(%in0 = %x_stream : !S2) outs(%out0 = %fork_x : !S2, %out1 = %fork_x_1 : !S2) kind fork {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %in0 : !S2
        stream.write %0 into %out0 : !S2
        stream.write %0 into %out1 : !S2
      }
    }
    %n_out = stream.create @n_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @n ins(%x_1 = %fork_x : !S2) outs(%out = %n_out : !S2) {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %x_1 : !S2
        stream.write %0 into %out : !S2
      }
    }
    %m_out = stream.create @m_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @m ins(%x_1 = %fork_x_1 : !S2, %n = %n_out : !S2) outs(%out = %m_out : !S2) {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %x_1 : !S2
        %1 = stream.read %n : !S2
        stream.write %0 into %out : !S2
      }
    }
    dataflow.task @store_m ins(%in = %m_out : !S2) kind store {
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %c0_1 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
        scf.for %t = %c0_1 to %c16 step %c4 {
          %0 = stream.read %in : !S2
        } {stc.unroll = 0 : i32}
      }
    }
  }
  func.return %x : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @reconvergence(
// CHECK: stream.create @x_stream{{.*}}depth: 4>
// CHECK: stream.create @fork_x_0{{.*}}depth: 8>
// CHECK-NEXT: stream.create @fork_x_1{{.*}}depth: 8>
// CHECK: stream.create @n_out{{.*}}depth: 2>
// CHECK: stream.create @m_out{{.*}}depth: 4>

// -----

// A fork whose branches leave by different results closes no cycle.
// SHOW: stream.create @\w+ ... depth: \d+
!S2 = !stream.stream<vector<4xf32>, depth: 2>
func.func @branches(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  dataflow.kernel @main() {
    %x_stream = stream.create @x_stream {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @load_x outs(%out = %x_stream : !S2) kind load {
      %word = memref.alloc() : memref<16xf32>
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %c0_1 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
        scf.for %t = %c0_1 to %c16 step %c4 {
          %0 = vector.load %word[%t] : memref<16xf32>, vector<4xf32>
          stream.write %0 into %out : !S2
        } {stc.unroll = 0 : i32}
      }
    }
    %n_out = stream.create @n_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @n ins(%x_1 = %x_stream : !S2) outs(%out = %n_out : !S2) {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %x_1 : !S2
        stream.write %0 into %out : !S2
      }
    }
    %fork_n = stream.create @fork_n_0 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    %fork_n_1 = stream.create @fork_n_1 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @fork_n ins(%in0 = %n_out : !S2) outs(%out0 = %fork_n : !S2, %out1 = %fork_n_1 : !S2) kind fork {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %in0 : !S2
        stream.write %0 into %out0 : !S2
        stream.write %0 into %out1 : !S2
      }
    }
    %m_out = stream.create @m_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @m ins(%n = %fork_n : !S2) outs(%out = %m_out : !S2) {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %n : !S2
        stream.write %0 into %out : !S2
      }
    }
    dataflow.task @store_n ins(%in = %fork_n_1 : !S2) kind store {
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %c0_1 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
        scf.for %t = %c0_1 to %c16 step %c4 {
          %0 = stream.read %in : !S2
        } {stc.unroll = 0 : i32}
      }
    }
    dataflow.task @store_m ins(%in = %m_out : !S2) kind store {
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %c0_1 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
        scf.for %t = %c0_1 to %c16 step %c4 {
          %0 = stream.read %in : !S2
        } {stc.unroll = 0 : i32}
      }
    }
  }
  func.return %x, %x : tensor<8x4xf32>, tensor<8x4xf32>
}

// CHECK-LABEL: func.func @branches(
// CHECK: stream.create @x_stream{{.*}}depth: 4>
// CHECK: stream.create @n_out{{.*}}depth: 2>
// CHECK: stream.create @fork_n_0{{.*}}depth: 2>
// CHECK-NEXT: stream.create @fork_n_1{{.*}}depth: 4>
// CHECK: stream.create @m_out{{.*}}depth: 4>
