// RUN: stc-opt %s -p 'size-fifos' --split-input-file | filecheck %s

// A chain at one issue rate: shift registers do, and stay as they are.
// SHOW: stream.create @\w+ ... required_depth = \d+ ... depth: \d+
!S2 = !stream.stream<vector<4xf32>, depth: 2>
func.func @chain(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  dataflow.kernel @main() {
    %x_stream = stream.create @x_stream {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @load_x outs(%out = %x_stream : !S2) kind load {
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
      %word = memref.alloc() {stc.partition = [[0 : i32, 0 : i32]]} : memref<16xf32>
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %t = %c0 to %c16 step %c4 {
          %0 = vector.load %word[%t] : memref<16xf32>, vector<4xf32>
          stream.write %0 into %out : !S2
        } {stc.unroll = 0 : i32, stc.label = "write_out_t"}
      } {stc.label = "write_out_i", stc.pipeline = 4 : i32}
    }
    %n_out = stream.create @n_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @n ins(%x_1 = %x_stream : !S2) outs(%out = %n_out : !S2) attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %x_1 : !S2
        scf.for %a = %c0 to %c4 step %c1 {
        } {stc.label = "n_a", stc.pipeline = 1 : i32}
        stream.write %0 into %out : !S2
      } {stc.label = "n_i"}
    }
    %m_out = stream.create @m_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @m ins(%n = %n_out : !S2) outs(%out = %m_out : !S2) attributes {stc.name = "m"} {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %n : !S2
        scf.for %a = %c0 to %c4 step %c1 {
        } {stc.label = "m_a", stc.pipeline = 1 : i32}
        stream.write %0 into %out : !S2
      } {stc.label = "m_i"}
    }
    dataflow.task @store_m ins(%in = %m_out : !S2) kind store {
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %t = %c0 to %c16 step %c4 {
          %0 = stream.read %in : !S2
        } {stc.unroll = 0 : i32, stc.label = "read_in_t"}
      } {stc.label = "read_in_i", stc.pipeline = 4 : i32}
    }
  }
  func.return %x : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @chain(
// CHECK: stream.create @x_stream{{.*}}required_depth = 4{{.*}}depth: 4>
// CHECK: stream.create @n_out{{.*}}required_depth = 2{{.*}}depth: 2>
// CHECK: stream.create @m_out{{.*}}required_depth = 4{{.*}}depth: 8>

// -----

// Branches of the same length that meet again: what one holds beyond a shift register, the other does for it.
// SHOW: stream.create @\w+ ... required_depth = \d+ ... depth: \d+
!S2 = !stream.stream<vector<4xf32>, depth: 2>
func.func @reconvergence(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  dataflow.kernel @main() {
    %x_stream = stream.create @x_stream {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @load_x outs(%out = %x_stream : !S2) kind load {
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
      %word = memref.alloc() {stc.partition = [[0 : i32, 0 : i32]]} : memref<16xf32>
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %t = %c0 to %c16 step %c4 {
          %0 = vector.load %word[%t] : memref<16xf32>, vector<4xf32>
          stream.write %0 into %out : !S2
        } {stc.unroll = 0 : i32, stc.label = "write_out_t"}
      } {stc.label = "write_out_i", stc.pipeline = 4 : i32}
    }
    %fork_x = stream.create @fork_x_0 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    %fork_x_1 = stream.create @fork_x_1 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @fork_x ins(%in0 = %x_stream : !S2) outs(%out0 = %fork_x : !S2, %out1 = %fork_x_1 : !S2) kind fork {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %in0 : !S2
        stream.write %0 into %out0 : !S2
        stream.write %0 into %out1 : !S2
      } {stc.label = "move_i", stc.pipeline = 1 : i32}
    }
    %n_out = stream.create @n_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @n ins(%x_1 = %fork_x : !S2) outs(%out = %n_out : !S2) attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %x_1 : !S2
        scf.for %a = %c0 to %c4 step %c1 {
        } {stc.label = "n_a", stc.pipeline = 1 : i32}
        stream.write %0 into %out : !S2
      } {stc.label = "n_i"}
    }
    %m_out = stream.create @m_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @m ins(%x_1 = %fork_x_1 : !S2, %n = %n_out : !S2) outs(%out = %m_out : !S2) attributes {stc.name = "m"} {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %x_1 : !S2
        %1 = stream.read %n : !S2
        scf.for %a = %c0 to %c4 step %c1 {
        } {stc.label = "m_a", stc.pipeline = 1 : i32}
        stream.write %0 into %out : !S2
      } {stc.label = "m_i"}
    }
    dataflow.task @store_m ins(%in = %m_out : !S2) kind store {
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %t = %c0 to %c16 step %c4 {
          %0 = stream.read %in : !S2
        } {stc.unroll = 0 : i32, stc.label = "read_in_t"}
      } {stc.label = "read_in_i", stc.pipeline = 4 : i32}
    }
  }
  func.return %x : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @reconvergence(
// CHECK: stream.create @x_stream{{.*}}required_depth = 4{{.*}}depth: 4>
// CHECK: stream.create @fork_x_0{{.*}}required_depth = 2{{.*}}depth: 2>
// CHECK-NEXT: stream.create @fork_x_1{{.*}}required_depth = 2{{.*}}depth: 2>
// CHECK: stream.create @n_out{{.*}}required_depth = 2{{.*}}depth: 2>
// CHECK: stream.create @m_out{{.*}}required_depth = 4{{.*}}depth: 8>

// -----

// One branch sums everything up before it yields its token: the other holds what comes meanwhile.
// SHOW: stream.create @\w+ ... required_depth = \d+ ... depth: \d+
!S2 = !stream.stream<vector<4xf32>, depth: 2>
func.func @whole_tensor(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  dataflow.kernel @main() {
    %x_stream = stream.create @x_stream {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @load_x outs(%out = %x_stream : !S2) kind load {
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
      %word = memref.alloc() {stc.partition = [[0 : i32, 0 : i32]]} : memref<16xf32>
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %t = %c0 to %c16 step %c4 {
          %0 = vector.load %word[%t] : memref<16xf32>, vector<4xf32>
          stream.write %0 into %out : !S2
        } {stc.unroll = 0 : i32, stc.label = "write_out_t"}
      } {stc.label = "write_out_i", stc.pipeline = 4 : i32}
    }
    %fork_x = stream.create @fork_x_0 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    %fork_x_1 = stream.create @fork_x_1 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @fork_x ins(%in0 = %x_stream : !S2) outs(%out0 = %fork_x : !S2, %out1 = %fork_x_1 : !S2) kind fork {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %in0 : !S2
        stream.write %0 into %out0 : !S2
        stream.write %0 into %out1 : !S2
      } {stc.label = "move_i", stc.pipeline = 1 : i32}
    }
    %s_out = stream.create @s_out {tokens = 1 : i64, distinct_tokens = 1 : i64} : !stream.stream<vector<1xf32>, depth: 2>
    dataflow.task @s ins(%x_1 = %fork_x : !S2) outs(%out = %s_out : !stream.stream<vector<1xf32>, depth: 2>) attributes {stc.name = "s"} {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %s_c = arith.constant 0.000000e+00 : f32
      %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %x_1 : !S2
        scf.for %a = %c0 to %c4 step %c1 {
        } {stc.label = "s_a", stc.pipeline = 7 : i32}
      } {stc.label = "s_i"}
      %1 = vector.broadcast %s_c : f32 to vector<1xf32>
      stream.write %1 into %out : !stream.stream<vector<1xf32>, depth: 2>
    }
    %m_out = stream.create @m_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @m ins(%s = %s_out : !stream.stream<vector<1xf32>, depth: 2>, %x_1 = %fork_x_1 : !S2) outs(%out = %m_out : !S2) attributes {stc.name = "m"} {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %0 = stream.read %s : !stream.stream<vector<1xf32>, depth: 2>
      scf.for %i = %c0 to %c8 step %c1 {
        %1 = stream.read %x_1 : !S2
        scf.for %a = %c0 to %c4 step %c1 {
        } {stc.label = "m_a", stc.pipeline = 1 : i32}
        stream.write %1 into %out : !S2
      } {stc.label = "m_i"}
    }
    dataflow.task @store_m ins(%in = %m_out : !S2) kind store {
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %t = %c0 to %c16 step %c4 {
          %0 = stream.read %in : !S2
        } {stc.unroll = 0 : i32, stc.label = "read_in_t"}
      } {stc.label = "read_in_i", stc.pipeline = 4 : i32}
    }
  }
  func.return %x : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @whole_tensor(
// CHECK: stream.create @x_stream{{.*}}required_depth = 4{{.*}}depth: 4>
// CHECK: stream.create @fork_x_0{{.*}}required_depth = 2{{.*}}depth: 2>
// CHECK-NEXT: stream.create @fork_x_1{{.*}}required_depth = 8{{.*}}depth: 8>
// CHECK: stream.create @s_out{{.*}}required_depth = 2{{.*}}depth: 2>
// CHECK: stream.create @m_out{{.*}}required_depth = 4{{.*}}depth: 8>
