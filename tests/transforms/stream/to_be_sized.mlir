// A chain at one issue rate: shift registers do, and stay as they are.
!S2 = !stream.stream<vector<4xf32>, depth: 2>
func.func @chain(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %x_1 = dataflow.pack %x : tensor<8x4xf32> as !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<2xvector<16xf32>>
  %m = dataflow.kernel @main(%x_2 = %x_1 : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) -> (tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) {
    %x_stream = stream.create @x_stream {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @load_x ins(%x_3 = %x_2 : memref<2xvector<16xf32>>) outs(%out = %x_stream : !S2) kind load {
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
      %word = memref.alloc() {stc.partition = [[0 : i32, 0 : i32]]} : memref<16xf32>
      scf.for %i = %c0 to %c2 step %c1 {
        %0 = memref.load %x_3[%i] : memref<2xvector<16xf32>>
        vector.store %0, %word[%c0] : memref<16xf32>, vector<16xf32>
        scf.for %t = %c0 to %c16 step %c4 {
          %1 = vector.load %word[%t] : memref<16xf32>, vector<4xf32>
          stream.write %1 into %out : !S2
        } {stc.unroll = 0 : i32, stc.label = "write_out_t"}
      } {stc.label = "write_out_i", stc.pipeline = 4 : i32}
    }
    %n_out = stream.create @n_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @n ins(%x_3 = %x_stream : !S2) outs(%out = %n_out : !S2) attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %0 = memref.alloc() {stc.partition = [[1 : i32, 0 : i32]]} : memref<1x4xf32>
      %tile = memref.alloc() {stc.partition = [[1 : i32, 0 : i32]]} : memref<1x4xf32>
      scf.for %i = %c0 to %c8 step %c1 {
        %1 = stream.read %x_3 : !S2
        vector.store %1, %0[%c0, %c0] : memref<1x4xf32>, vector<4xf32>
        scf.for %a = %c0 to %c4 step %c1 {
          %a0 = memref.load %0[%c0, %a] : memref<1x4xf32>
          %t0 = arith.negf %a0 : f32
          memref.store %t0, %tile[%c0, %a] : memref<1x4xf32>
        } {stc.label = "n_a", stc.pipeline = 1 : i32}
        %2 = vector.load %tile[%c0, %c0] : memref<1x4xf32>, vector<4xf32>
        stream.write %2 into %out : !S2
      } {stc.label = "n_i"}
    }
    %m_out = stream.create @m_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @m ins(%n = %n_out : !S2) outs(%out = %m_out : !S2) attributes {stc.name = "m"} {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %0 = memref.alloc() {stc.partition = [[1 : i32, 0 : i32]]} : memref<1x4xf32>
      %tile = memref.alloc() {stc.partition = [[1 : i32, 0 : i32]]} : memref<1x4xf32>
      scf.for %i = %c0 to %c8 step %c1 {
        %1 = stream.read %n : !S2
        vector.store %1, %0[%c0, %c0] : memref<1x4xf32>, vector<4xf32>
        scf.for %a = %c0 to %c4 step %c1 {
          %a0 = memref.load %0[%c0, %a] : memref<1x4xf32>
          %t0 = arith.negf %a0 : f32
          memref.store %t0, %tile[%c0, %a] : memref<1x4xf32>
        } {stc.label = "m_a", stc.pipeline = 1 : i32}
        %2 = vector.load %tile[%c0, %c0] : memref<1x4xf32>, vector<4xf32>
        stream.write %2 into %out : !S2
      } {stc.label = "m_i"}
    }
    %m_1 = dataflow.memory @m_2 : memref<2xvector<16xf32>>
    dataflow.task @store_m ins(%in = %m_out : !S2) outs(%m_2 = %m_1 : memref<2xvector<16xf32>>) kind store {
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
      %word = memref.alloc() {stc.partition = [[0 : i32, 0 : i32]]} : memref<16xf32>
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %t = %c0 to %c16 step %c4 {
          %0 = stream.read %in : !S2
          vector.store %0, %word[%t] : memref<16xf32>, vector<4xf32>
        } {stc.unroll = 0 : i32, stc.label = "read_in_t"}
        %1 = vector.load %word[%c0] : memref<16xf32>, vector<16xf32>
        memref.store %1, %m_2[%i] : memref<2xvector<16xf32>>
      } {stc.label = "read_in_i", stc.pipeline = 4 : i32}
    }
    dataflow.yield %m_1 : memref<2xvector<16xf32>>
  }
  %m_1 = dataflow.unpack %m : tensor<2xvector<16xf32>> as !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<8x4xf32>
  func.return %m_1 : tensor<8x4xf32>
}

// -----

// Branches of the same length that meet again: what one holds beyond a shift register, the other does for it.
!S2 = !stream.stream<vector<4xf32>, depth: 2>
func.func @reconvergence(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %x_1 = dataflow.pack %x : tensor<8x4xf32> as !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<2xvector<16xf32>>
  %m = dataflow.kernel @main(%x_2 = %x_1 : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) -> (tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) {
    %x_stream = stream.create @x_stream {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @load_x ins(%x_3 = %x_2 : memref<2xvector<16xf32>>) outs(%out = %x_stream : !S2) kind load {
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
      %word = memref.alloc() {stc.partition = [[0 : i32, 0 : i32]]} : memref<16xf32>
      scf.for %i = %c0 to %c2 step %c1 {
        %0 = memref.load %x_3[%i] : memref<2xvector<16xf32>>
        vector.store %0, %word[%c0] : memref<16xf32>, vector<16xf32>
        scf.for %t = %c0 to %c16 step %c4 {
          %1 = vector.load %word[%t] : memref<16xf32>, vector<4xf32>
          stream.write %1 into %out : !S2
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
    dataflow.task @n ins(%x_3 = %fork_x : !S2) outs(%out = %n_out : !S2) attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %0 = memref.alloc() {stc.partition = [[1 : i32, 0 : i32]]} : memref<1x4xf32>
      %tile = memref.alloc() {stc.partition = [[1 : i32, 0 : i32]]} : memref<1x4xf32>
      scf.for %i = %c0 to %c8 step %c1 {
        %1 = stream.read %x_3 : !S2
        vector.store %1, %0[%c0, %c0] : memref<1x4xf32>, vector<4xf32>
        scf.for %a = %c0 to %c4 step %c1 {
          %a0 = memref.load %0[%c0, %a] : memref<1x4xf32>
          %t0 = arith.negf %a0 : f32
          memref.store %t0, %tile[%c0, %a] : memref<1x4xf32>
        } {stc.label = "n_a", stc.pipeline = 1 : i32}
        %2 = vector.load %tile[%c0, %c0] : memref<1x4xf32>, vector<4xf32>
        stream.write %2 into %out : !S2
      } {stc.label = "n_i"}
    }
    %m_out = stream.create @m_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @m ins(%x_3 = %fork_x_1 : !S2, %n = %n_out : !S2) outs(%out = %m_out : !S2) attributes {stc.name = "m"} {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %0 = memref.alloc() {stc.partition = [[1 : i32, 0 : i32]]} : memref<1x4xf32>
      %1 = memref.alloc() {stc.partition = [[1 : i32, 0 : i32]]} : memref<1x4xf32>
      %tile = memref.alloc() {stc.partition = [[1 : i32, 0 : i32]]} : memref<1x4xf32>
      scf.for %i = %c0 to %c8 step %c1 {
        %2 = stream.read %x_3 : !S2
        %3 = stream.read %n : !S2
        vector.store %2, %0[%c0, %c0] : memref<1x4xf32>, vector<4xf32>
        vector.store %3, %1[%c0, %c0] : memref<1x4xf32>, vector<4xf32>
        scf.for %a = %c0 to %c4 step %c1 {
          %a0 = memref.load %0[%c0, %a] : memref<1x4xf32>
          %a1 = memref.load %1[%c0, %a] : memref<1x4xf32>
          %t0 = arith.addf %a0, %a1 : f32
          memref.store %t0, %tile[%c0, %a] : memref<1x4xf32>
        } {stc.label = "m_a", stc.pipeline = 1 : i32}
        %4 = vector.load %tile[%c0, %c0] : memref<1x4xf32>, vector<4xf32>
        stream.write %4 into %out : !S2
      } {stc.label = "m_i"}
    }
    %m_1 = dataflow.memory @m_2 : memref<2xvector<16xf32>>
    dataflow.task @store_m ins(%in = %m_out : !S2) outs(%m_2 = %m_1 : memref<2xvector<16xf32>>) kind store {
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
      %word = memref.alloc() {stc.partition = [[0 : i32, 0 : i32]]} : memref<16xf32>
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %t = %c0 to %c16 step %c4 {
          %0 = stream.read %in : !S2
          vector.store %0, %word[%t] : memref<16xf32>, vector<4xf32>
        } {stc.unroll = 0 : i32, stc.label = "read_in_t"}
        %1 = vector.load %word[%c0] : memref<16xf32>, vector<16xf32>
        memref.store %1, %m_2[%i] : memref<2xvector<16xf32>>
      } {stc.label = "read_in_i", stc.pipeline = 4 : i32}
    }
    dataflow.yield %m_1 : memref<2xvector<16xf32>>
  }
  %m_1 = dataflow.unpack %m : tensor<2xvector<16xf32>> as !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<8x4xf32>
  func.return %m_1 : tensor<8x4xf32>
}

// -----

// One branch sums everything up before it yields its token: the other holds what comes meanwhile.
!S2 = !stream.stream<vector<4xf32>, depth: 2>
func.func @whole_tensor(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %x_1 = dataflow.pack %x : tensor<8x4xf32> as !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<2xvector<16xf32>>
  %m = dataflow.kernel @main(%x_2 = %x_1 : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) -> (tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) {
    %x_stream = stream.create @x_stream {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @load_x ins(%x_3 = %x_2 : memref<2xvector<16xf32>>) outs(%out = %x_stream : !S2) kind load {
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
      %word = memref.alloc() {stc.partition = [[0 : i32, 0 : i32]]} : memref<16xf32>
      scf.for %i = %c0 to %c2 step %c1 {
        %0 = memref.load %x_3[%i] : memref<2xvector<16xf32>>
        vector.store %0, %word[%c0] : memref<16xf32>, vector<16xf32>
        scf.for %t = %c0 to %c16 step %c4 {
          %1 = vector.load %word[%t] : memref<16xf32>, vector<4xf32>
          stream.write %1 into %out : !S2
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
    dataflow.task @s ins(%x_3 = %fork_x : !S2) outs(%out = %s_out : !stream.stream<vector<1xf32>, depth: 2>) attributes {stc.name = "s"} {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %s_c = arith.constant 0.000000e+00 : f32
      %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
      %tile = memref.alloc() : memref<f32>
      %0 = memref.alloc() {stc.partition = [[1 : i32, 0 : i32]]} : memref<1x4xf32>
      memref.store %s_c, %tile[] : memref<f32>
      scf.for %i = %c0 to %c8 step %c1 {
        %1 = stream.read %x_3 : !S2
        vector.store %1, %0[%c0, %c0] : memref<1x4xf32>, vector<4xf32>
        scf.for %a = %c0 to %c4 step %c1 {
          %a0 = memref.load %0[%c0, %a] : memref<1x4xf32>
          %o0 = memref.load %tile[] : memref<f32>
          %t0 = arith.addf %a0, %o0 : f32
          memref.store %t0, %tile[] : memref<f32>
        } {stc.label = "s_a", stc.pipeline = 7 : i32}
      } {stc.label = "s_i"}
      %2 = memref.load %tile[] : memref<f32>
      %3 = vector.broadcast %2 : f32 to vector<1xf32>
      stream.write %3 into %out : !stream.stream<vector<1xf32>, depth: 2>
    }
    %m_out = stream.create @m_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @m ins(%s = %s_out : !stream.stream<vector<1xf32>, depth: 2>, %x_3 = %fork_x_1 : !S2) outs(%out = %m_out : !S2) attributes {stc.name = "m"} {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %0 = memref.alloc() {stc.partition = [[1 : i32, 0 : i32]]} : memref<1x4xf32>
      %1 = memref.alloc() : memref<f32>
      %tile = memref.alloc() {stc.partition = [[1 : i32, 0 : i32]]} : memref<1x4xf32>
      %2 = stream.read %s : !stream.stream<vector<1xf32>, depth: 2>
      scf.for %i = %c0 to %c8 step %c1 {
        %3 = stream.read %x_3 : !S2
        vector.store %3, %0[%c0, %c0] : memref<1x4xf32>, vector<4xf32>
        %4 = vector.extract %2[0] : f32 from vector<1xf32>
        memref.store %4, %1[] : memref<f32>
        scf.for %a = %c0 to %c4 step %c1 {
          %a0 = memref.load %0[%c0, %a] : memref<1x4xf32>
          %a1 = memref.load %1[] : memref<f32>
          %t0 = arith.subf %a0, %a1 : f32
          memref.store %t0, %tile[%c0, %a] : memref<1x4xf32>
        } {stc.label = "m_a", stc.pipeline = 1 : i32}
        %5 = vector.load %tile[%c0, %c0] : memref<1x4xf32>, vector<4xf32>
        stream.write %5 into %out : !S2
      } {stc.label = "m_i"}
    }
    %m_1 = dataflow.memory @m_2 : memref<2xvector<16xf32>>
    dataflow.task @store_m ins(%in = %m_out : !S2) outs(%m_2 = %m_1 : memref<2xvector<16xf32>>) kind store {
      %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
      %word = memref.alloc() {stc.partition = [[0 : i32, 0 : i32]]} : memref<16xf32>
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %t = %c0 to %c16 step %c4 {
          %0 = stream.read %in : !S2
          vector.store %0, %word[%t] : memref<16xf32>, vector<4xf32>
        } {stc.unroll = 0 : i32, stc.label = "read_in_t"}
        %1 = vector.load %word[%c0] : memref<16xf32>, vector<16xf32>
        memref.store %1, %m_2[%i] : memref<2xvector<16xf32>>
      } {stc.label = "read_in_i", stc.pipeline = 4 : i32}
    }
    dataflow.yield %m_1 : memref<2xvector<16xf32>>
  }
  %m_1 = dataflow.unpack %m : tensor<2xvector<16xf32>> as !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<8x4xf32>
  func.return %m_1 : tensor<8x4xf32>
}

