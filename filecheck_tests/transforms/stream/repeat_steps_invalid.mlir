// RUN: stc-opt %s -p 'repeat-steps{count=2 positions=4}' --split-input-file --verify-diagnostics
// RUN: not stc-opt %s -p 'repeat-steps{count=0}' --split-input-file 2>&1 | filecheck %s

// CHECK: repeat-steps': count is 0; accepted: a number of steps from 1

// A launch is of one kernel.
// expected-error @unknown {{repeat-steps': 0 kernels; accepted: one kernel}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}

// -----

// All in one unit, which the host starts.
!row = !itensor.itensor<4xf32, iter_space: [1] * [4], iter_map: (d0) -> (d0)>
!one = !itensor.itensor<1xi64, iter_space: [1] * [1], iter_map: (d0) -> (d0)>
!W = memref<1xvector<4xf32>>
!T = memref<1xvector<1xi64>>
!S = !stream.stream<vector<4xf32>, depth: 2>
!N = !stream.stream<vector<1xi64>, depth: 2>
// expected-error @unknown {{repeat-steps @k: 1 compute unit, of which the host starts all; accepted: units of which some have no memory ports (--units memory)}}
func.func @main(%x: tensor<4xf32> {stc.name = "x"}) -> (tensor<1xi64> {stc.name = "token"}, tensor<4xf32> {stc.name = "logits"}) {
  %xw = dataflow.pack %x : tensor<4xf32> as !row -> tensor<1xvector<4xf32>>
  %tw, %lw = dataflow.kernel @k(%xm = %xw : tensor<1xvector<4xf32>> as !W) -> (tensor<1xvector<1xi64>> as !T, tensor<1xvector<4xf32>> as !W) {
    %xs = stream.create @xs : !S  %ls = stream.create @ls : !S  %ts = stream.create @ts : !N
    %tm = dataflow.memory @t : !T  %lm = dataflow.memory @l : !W
    dataflow.task @load_x ins(%in = %xm : !W) outs(%out = %xs : !S) {
      %c0 = arith.constant 0 : index
      %t = memref.load %in[%c0] : !W
      stream.write %t into %out : !S
    }
    dataflow.task @find ins(%in = %xs : !S) outs(%out = %ls : !S, %token = %ts : !N) {
      %t = stream.read %in : !S
      stream.write %t into %out : !S
      %n = arith.constant dense<1> : vector<1xi64>
      stream.write %n into %token : !N
    }
    dataflow.task @store_l ins(%in = %ls : !S) outs(%out = %lm : !W) {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !S
      memref.store %t, %out[%c0] : !W
    }
    dataflow.task @store_t ins(%in = %ts : !N) outs(%out = %tm : !T) {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !N
      memref.store %t, %out[%c0] : !T
    }
    dataflow.yield %tm, %lm : !T, !W
  }
  %t = dataflow.unpack %tw : tensor<1xvector<1xi64>> as !one -> tensor<1xi64>
  %l = dataflow.unpack %lw : tensor<1xvector<4xf32>> as !row -> tensor<4xf32>
  func.return %t, %l : tensor<1xi64>, tensor<4xf32>
}

// -----

// Nothing would run by itself.
!row = !itensor.itensor<4xf32, iter_space: [1] * [4], iter_map: (d0) -> (d0)>
!one = !itensor.itensor<1xi64, iter_space: [1] * [1], iter_map: (d0) -> (d0)>
!W = memref<1xvector<4xf32>>
!T = memref<1xvector<1xi64>>
!S = !stream.stream<vector<4xf32>, depth: 2>
!N = !stream.stream<vector<1xi64>, depth: 2>
// expected-error @unknown {{repeat-steps @k: 1 compute unit, of which the host starts all; accepted: units of which some have no memory ports (--units memory)}}
func.func @main(%x: tensor<4xf32> {stc.name = "x"}) -> (tensor<1xi64> {stc.name = "token"}, tensor<4xf32> {stc.name = "logits"}) {
  %xw = dataflow.pack %x : tensor<4xf32> as !row -> tensor<1xvector<4xf32>>
  %tw, %lw = dataflow.kernel @k(%xm = %xw : tensor<1xvector<4xf32>> as !W) -> (tensor<1xvector<1xi64>> as !T, tensor<1xvector<4xf32>> as !W) {
    %xs = stream.create @xs : !S  %ls = stream.create @ls : !S  %ts = stream.create @ts : !N
    %tm = dataflow.memory @t : !T  %lm = dataflow.memory @l : !W
    dataflow.task @load_x ins(%in = %xm : !W) outs(%out = %xs : !S) unit @memory {
      %c0 = arith.constant 0 : index
      %t = memref.load %in[%c0] : !W
      stream.write %t into %out : !S
    }
    dataflow.task @find ins(%in = %xs : !S) outs(%out = %ls : !S, %token = %ts : !N) unit @memory {
      %t = stream.read %in : !S
      stream.write %t into %out : !S
      %n = arith.constant dense<1> : vector<1xi64>
      stream.write %n into %token : !N
    }
    dataflow.task @store_l ins(%in = %ls : !S) outs(%out = %lm : !W) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !S
      memref.store %t, %out[%c0] : !W
    }
    dataflow.task @store_t ins(%in = %ts : !N) outs(%out = %tm : !T) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !N
      memref.store %t, %out[%c0] : !T
    }
    dataflow.yield %tm, %lm : !T, !W
  }
  %t = dataflow.unpack %tw : tensor<1xvector<1xi64>> as !one -> tensor<1xi64>
  %l = dataflow.unpack %lw : tensor<1xvector<4xf32>> as !row -> tensor<4xf32>
  func.return %t, %l : tensor<1xi64>, tensor<4xf32>
}

// -----

// The input is called y.
!row = !itensor.itensor<4xf32, iter_space: [1] * [4], iter_map: (d0) -> (d0)>
!one = !itensor.itensor<1xi64, iter_space: [1] * [1], iter_map: (d0) -> (d0)>
!W = memref<1xvector<4xf32>>
!T = memref<1xvector<1xi64>>
!S = !stream.stream<vector<4xf32>, depth: 2>
!N = !stream.stream<vector<1xi64>, depth: 2>
// expected-error @unknown {{repeat-steps @k: no input 'x'; accepted: the name of the embedding's row}}
func.func @main(%x: tensor<4xf32> {stc.name = "y"}) -> (tensor<1xi64> {stc.name = "token"}, tensor<4xf32> {stc.name = "logits"}) {
  %xw = dataflow.pack %x : tensor<4xf32> as !row -> tensor<1xvector<4xf32>>
  %tw, %lw = dataflow.kernel @k(%xm = %xw : tensor<1xvector<4xf32>> as !W) -> (tensor<1xvector<1xi64>> as !T, tensor<1xvector<4xf32>> as !W) {
    %xs = stream.create @xs : !S  %ls = stream.create @ls : !S  %ts = stream.create @ts : !N
    %tm = dataflow.memory @t : !T  %lm = dataflow.memory @l : !W
    dataflow.task @load_x ins(%in = %xm : !W) outs(%out = %xs : !S) unit @memory {
      %c0 = arith.constant 0 : index
      %t = memref.load %in[%c0] : !W
      stream.write %t into %out : !S
    }
    dataflow.task @find ins(%in = %xs : !S) outs(%out = %ls : !S, %token = %ts : !N) unit @body {
      %t = stream.read %in : !S
      stream.write %t into %out : !S
      %n = arith.constant dense<1> : vector<1xi64>
      stream.write %n into %token : !N
    }
    dataflow.task @store_l ins(%in = %ls : !S) outs(%out = %lm : !W) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !S
      memref.store %t, %out[%c0] : !W
    }
    dataflow.task @store_t ins(%in = %ts : !N) outs(%out = %tm : !T) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !N
      memref.store %t, %out[%c0] : !T
    }
    dataflow.yield %tm, %lm : !T, !W
  }
  %t = dataflow.unpack %tw : tensor<1xvector<1xi64>> as !one -> tensor<1xi64>
  %l = dataflow.unpack %lw : tensor<1xvector<4xf32>> as !row -> tensor<4xf32>
  func.return %t, %l : tensor<1xi64>, tensor<4xf32>
}

// -----

// So many rows has the table.
!row = !itensor.itensor<4xf32, iter_space: [1] * [4], iter_map: (d0) -> (d0)>
!one = !itensor.itensor<1xi64, iter_space: [1] * [1], iter_map: (d0) -> (d0)>
!W = memref<1xvector<4xf32>>
!T = memref<1xvector<1xi64>>
!S = !stream.stream<vector<4xf32>, depth: 2>
!N = !stream.stream<vector<1xi64>, depth: 2>
// expected-error @unknown {{repeat-steps @k: no result 'logits'; accepted: one, or vocabulary=N, the rows of the embedding}}
func.func @main(%x: tensor<4xf32> {stc.name = "x"}) -> (tensor<1xi64> {stc.name = "token"}, tensor<4xf32> {stc.name = "scores"}) {
  %xw = dataflow.pack %x : tensor<4xf32> as !row -> tensor<1xvector<4xf32>>
  %tw, %lw = dataflow.kernel @k(%xm = %xw : tensor<1xvector<4xf32>> as !W) -> (tensor<1xvector<1xi64>> as !T, tensor<1xvector<4xf32>> as !W) {
    %xs = stream.create @xs : !S  %ls = stream.create @ls : !S  %ts = stream.create @ts : !N
    %tm = dataflow.memory @t : !T  %lm = dataflow.memory @l : !W
    dataflow.task @load_x ins(%in = %xm : !W) outs(%out = %xs : !S) unit @memory {
      %c0 = arith.constant 0 : index
      %t = memref.load %in[%c0] : !W
      stream.write %t into %out : !S
    }
    dataflow.task @find ins(%in = %xs : !S) outs(%out = %ls : !S, %token = %ts : !N) unit @body {
      %t = stream.read %in : !S
      stream.write %t into %out : !S
      %n = arith.constant dense<1> : vector<1xi64>
      stream.write %n into %token : !N
    }
    dataflow.task @store_l ins(%in = %ls : !S) outs(%out = %lm : !W) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !S
      memref.store %t, %out[%c0] : !W
    }
    dataflow.task @store_t ins(%in = %ts : !N) outs(%out = %tm : !T) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !N
      memref.store %t, %out[%c0] : !T
    }
    dataflow.yield %tm, %lm : !T, !W
  }
  %t = dataflow.unpack %tw : tensor<1xvector<1xi64>> as !one -> tensor<1xi64>
  %l = dataflow.unpack %lw : tensor<1xvector<4xf32>> as !row -> tensor<4xf32>
  func.return %t, %l : tensor<1xi64>, tensor<4xf32>
}

// -----

// The input is no operand.
!row = !itensor.itensor<4xf32, iter_space: [1] * [4], iter_map: (d0) -> (d0)>
!one = !itensor.itensor<1xi64, iter_space: [1] * [1], iter_map: (d0) -> (d0)>
!W = memref<1xvector<4xf32>>
!T = memref<1xvector<1xi64>>
!S = !stream.stream<vector<4xf32>, depth: 2>
!N = !stream.stream<vector<1xi64>, depth: 2>
// expected-error @unknown {{repeat-steps @k: 0 tasks read 'x'; accepted: one, with one stream, as repeat-layers makes it}}
func.func @main(%x: tensor<4xf32> {stc.name = "x"}, %y: tensor<4xf32> {stc.name = "y"}) -> (tensor<1xi64> {stc.name = "token"}, tensor<4xf32> {stc.name = "logits"}) {
  %xw = dataflow.pack %y : tensor<4xf32> as !row -> tensor<1xvector<4xf32>>
  %tw, %lw = dataflow.kernel @k(%xm = %xw : tensor<1xvector<4xf32>> as !W) -> (tensor<1xvector<1xi64>> as !T, tensor<1xvector<4xf32>> as !W) {
    %xs = stream.create @xs : !S  %ls = stream.create @ls : !S  %ts = stream.create @ts : !N
    %tm = dataflow.memory @t : !T  %lm = dataflow.memory @l : !W
    dataflow.task @load_x ins(%in = %xm : !W) outs(%out = %xs : !S) unit @memory {
      %c0 = arith.constant 0 : index
      %t = memref.load %in[%c0] : !W
      stream.write %t into %out : !S
    }
    dataflow.task @find ins(%in = %xs : !S) outs(%out = %ls : !S, %token = %ts : !N) unit @body {
      %t = stream.read %in : !S
      stream.write %t into %out : !S
      %n = arith.constant dense<1> : vector<1xi64>
      stream.write %n into %token : !N
    }
    dataflow.task @store_l ins(%in = %ls : !S) outs(%out = %lm : !W) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !S
      memref.store %t, %out[%c0] : !W
    }
    dataflow.task @store_t ins(%in = %ts : !N) outs(%out = %tm : !T) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !N
      memref.store %t, %out[%c0] : !T
    }
    dataflow.yield %tm, %lm : !T, !W
  }
  %t = dataflow.unpack %tw : tensor<1xvector<1xi64>> as !one -> tensor<1xi64>
  %l = dataflow.unpack %lw : tensor<1xvector<4xf32>> as !row -> tensor<4xf32>
  func.return %t, %l : tensor<1xi64>, tensor<4xf32>
}

// -----

// Two tasks read the input.
!row = !itensor.itensor<4xf32, iter_space: [1] * [4], iter_map: (d0) -> (d0)>
!one = !itensor.itensor<1xi64, iter_space: [1] * [1], iter_map: (d0) -> (d0)>
!W = memref<1xvector<4xf32>>
!T = memref<1xvector<1xi64>>
!S = !stream.stream<vector<4xf32>, depth: 2>
!N = !stream.stream<vector<1xi64>, depth: 2>
// expected-error @unknown {{repeat-steps @k: 2 tasks read 'x'; accepted: one, with one stream, as repeat-layers makes it}}
func.func @main(%x: tensor<4xf32> {stc.name = "x"}) -> (tensor<1xi64> {stc.name = "token"}, tensor<4xf32> {stc.name = "logits"}) {
  %xw = dataflow.pack %x : tensor<4xf32> as !row -> tensor<1xvector<4xf32>>
  %tw, %lw = dataflow.kernel @k(%xm = %xw : tensor<1xvector<4xf32>> as !W) -> (tensor<1xvector<1xi64>> as !T, tensor<1xvector<4xf32>> as !W) {
    %xs = stream.create @xs : !S  %ls = stream.create @ls : !S  %ts = stream.create @ts : !N
    %tm = dataflow.memory @t : !T  %lm = dataflow.memory @l : !W
    dataflow.task @load_x ins(%in = %xm : !W) outs(%out = %xs : !S) unit @memory {
      %c0 = arith.constant 0 : index
      %t = memref.load %in[%c0] : !W
      stream.write %t into %out : !S
    }
    dataflow.task @find ins(%in = %xs : !S) outs(%out = %ls : !S, %token = %ts : !N) unit @body {
      %t = stream.read %in : !S
      stream.write %t into %out : !S
      %n = arith.constant dense<1> : vector<1xi64>
      stream.write %n into %token : !N
    }
    dataflow.task @store_l ins(%other = %xm : !W, %in = %ls : !S) outs(%out = %lm : !W) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !S
      memref.store %t, %out[%c0] : !W
    }
    dataflow.task @store_t ins(%in = %ts : !N) outs(%out = %tm : !T) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !N
      memref.store %t, %out[%c0] : !T
    }
    dataflow.yield %tm, %lm : !T, !W
  }
  %t = dataflow.unpack %tw : tensor<1xvector<1xi64>> as !one -> tensor<1xi64>
  %l = dataflow.unpack %lw : tensor<1xvector<4xf32>> as !row -> tensor<4xf32>
  func.return %t, %l : tensor<1xi64>, tensor<4xf32>
}

// -----

// The next token is called next.
!row = !itensor.itensor<4xf32, iter_space: [1] * [4], iter_map: (d0) -> (d0)>
!one = !itensor.itensor<1xi64, iter_space: [1] * [1], iter_map: (d0) -> (d0)>
!W = memref<1xvector<4xf32>>
!T = memref<1xvector<1xi64>>
!S = !stream.stream<vector<4xf32>, depth: 2>
!N = !stream.stream<vector<1xi64>, depth: 2>
// expected-error @unknown {{repeat-steps @k: no result 'token'; accepted: the name of the next token}}
func.func @main(%x: tensor<4xf32> {stc.name = "x"}) -> (tensor<1xi64> {stc.name = "next"}, tensor<4xf32> {stc.name = "logits"}) {
  %xw = dataflow.pack %x : tensor<4xf32> as !row -> tensor<1xvector<4xf32>>
  %tw, %lw = dataflow.kernel @k(%xm = %xw : tensor<1xvector<4xf32>> as !W) -> (tensor<1xvector<1xi64>> as !T, tensor<1xvector<4xf32>> as !W) {
    %xs = stream.create @xs : !S  %ls = stream.create @ls : !S  %ts = stream.create @ts : !N
    %tm = dataflow.memory @t : !T  %lm = dataflow.memory @l : !W
    dataflow.task @load_x ins(%in = %xm : !W) outs(%out = %xs : !S) unit @memory {
      %c0 = arith.constant 0 : index
      %t = memref.load %in[%c0] : !W
      stream.write %t into %out : !S
    }
    dataflow.task @find ins(%in = %xs : !S) outs(%out = %ls : !S, %token = %ts : !N) unit @body {
      %t = stream.read %in : !S
      stream.write %t into %out : !S
      %n = arith.constant dense<1> : vector<1xi64>
      stream.write %n into %token : !N
    }
    dataflow.task @store_l ins(%in = %ls : !S) outs(%out = %lm : !W) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !S
      memref.store %t, %out[%c0] : !W
    }
    dataflow.task @store_t ins(%in = %ts : !N) outs(%out = %tm : !T) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !N
      memref.store %t, %out[%c0] : !T
    }
    dataflow.yield %tm, %lm : !T, !W
  }
  %t = dataflow.unpack %tw : tensor<1xvector<1xi64>> as !one -> tensor<1xi64>
  %l = dataflow.unpack %lw : tensor<1xvector<4xf32>> as !row -> tensor<4xf32>
  func.return %t, %l : tensor<1xi64>, tensor<4xf32>
}

// -----

// It is given, not found.
!row = !itensor.itensor<4xf32, iter_space: [1] * [4], iter_map: (d0) -> (d0)>
!one = !itensor.itensor<1xi64, iter_space: [1] * [1], iter_map: (d0) -> (d0)>
!W = memref<1xvector<4xf32>>
!T = memref<1xvector<1xi64>>
!S = !stream.stream<vector<4xf32>, depth: 2>
!N = !stream.stream<vector<1xi64>, depth: 2>
// expected-error @unknown {{repeat-steps @k: 'token' is no result of the kernel; accepted: one of its results}}
func.func @main(%x: tensor<4xf32> {stc.name = "x"}, %y: tensor<1xi64> {stc.name = "y"}) -> (tensor<1xi64> {stc.name = "token"}, tensor<4xf32> {stc.name = "logits"}) {
  %xw = dataflow.pack %x : tensor<4xf32> as !row -> tensor<1xvector<4xf32>>
  %tw, %lw = dataflow.kernel @k(%xm = %xw : tensor<1xvector<4xf32>> as !W) -> (tensor<1xvector<1xi64>> as !T, tensor<1xvector<4xf32>> as !W) {
    %xs = stream.create @xs : !S  %ls = stream.create @ls : !S  %ts = stream.create @ts : !N
    %tm = dataflow.memory @t : !T  %lm = dataflow.memory @l : !W
    dataflow.task @load_x ins(%in = %xm : !W) outs(%out = %xs : !S) unit @memory {
      %c0 = arith.constant 0 : index
      %t = memref.load %in[%c0] : !W
      stream.write %t into %out : !S
    }
    dataflow.task @find ins(%in = %xs : !S) outs(%out = %ls : !S, %token = %ts : !N) unit @body {
      %t = stream.read %in : !S
      stream.write %t into %out : !S
      %n = arith.constant dense<1> : vector<1xi64>
      stream.write %n into %token : !N
    }
    dataflow.task @store_l ins(%in = %ls : !S) outs(%out = %lm : !W) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !S
      memref.store %t, %out[%c0] : !W
    }
    dataflow.task @store_t ins(%in = %ts : !N) outs(%out = %tm : !T) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !N
      memref.store %t, %out[%c0] : !T
    }
    dataflow.yield %tm, %lm : !T, !W
  }
  %t = dataflow.unpack %tw : tensor<1xvector<1xi64>> as !one -> tensor<1xi64>
  %l = dataflow.unpack %lw : tensor<1xvector<4xf32>> as !row -> tensor<4xf32>
  func.return %y, %l : tensor<1xi64>, tensor<4xf32>
}

// -----

// It is a float.
!row = !itensor.itensor<4xf32, iter_space: [1] * [4], iter_map: (d0) -> (d0)>
!one = !itensor.itensor<1xf32, iter_space: [1] * [1], iter_map: (d0) -> (d0)>
!W = memref<1xvector<4xf32>>
!T = memref<1xvector<1xf32>>
!S = !stream.stream<vector<4xf32>, depth: 2>
!N = !stream.stream<vector<1xf32>, depth: 2>
// expected-error @unknown {{repeat-steps @k: 'token' is not stored as one i64; accepted: what an arg-max finds}}
func.func @main(%x: tensor<4xf32> {stc.name = "x"}) -> (tensor<1xf32> {stc.name = "token"}, tensor<4xf32> {stc.name = "logits"}) {
  %xw = dataflow.pack %x : tensor<4xf32> as !row -> tensor<1xvector<4xf32>>
  %tw, %lw = dataflow.kernel @k(%xm = %xw : tensor<1xvector<4xf32>> as !W) -> (tensor<1xvector<1xf32>> as !T, tensor<1xvector<4xf32>> as !W) {
    %xs = stream.create @xs : !S  %ls = stream.create @ls : !S  %ts = stream.create @ts : !N
    %tm = dataflow.memory @t : !T  %lm = dataflow.memory @l : !W
    dataflow.task @load_x ins(%in = %xm : !W) outs(%out = %xs : !S) unit @memory {
      %c0 = arith.constant 0 : index
      %t = memref.load %in[%c0] : !W
      stream.write %t into %out : !S
    }
    dataflow.task @find ins(%in = %xs : !S) outs(%out = %ls : !S, %token = %ts : !N) unit @body {
      %t = stream.read %in : !S
      stream.write %t into %out : !S
      %n = arith.constant dense<1.0> : vector<1xf32>
      stream.write %n into %token : !N
    }
    dataflow.task @store_l ins(%in = %ls : !S) outs(%out = %lm : !W) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !S
      memref.store %t, %out[%c0] : !W
    }
    dataflow.task @store_t ins(%in = %ts : !N) outs(%out = %tm : !T) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !N
      memref.store %t, %out[%c0] : !T
    }
    dataflow.yield %tm, %lm : !T, !W
  }
  %t = dataflow.unpack %tw : tensor<1xvector<1xf32>> as !one -> tensor<1xf32>
  %l = dataflow.unpack %lw : tensor<1xvector<4xf32>> as !row -> tensor<4xf32>
  func.return %t, %l : tensor<1xf32>, tensor<4xf32>
}

// -----

// Of no scalar is one the position, whose row is added (positions=4).
!row = !itensor.itensor<4xf32, iter_space: [1] * [4], iter_map: (d0) -> (d0)>
!one = !itensor.itensor<1xi64, iter_space: [1] * [1], iter_map: (d0) -> (d0)>
!W = memref<1xvector<4xf32>>
!T = memref<1xvector<1xi64>>
!S = !stream.stream<vector<4xf32>, depth: 2>
!N = !stream.stream<vector<1xi64>, depth: 2>
// expected-error @unknown {{repeat-steps @k: 0 scalars, of which one says the position; accepted: one}}
func.func @main(%x: tensor<4xf32> {stc.name = "x"}) -> (tensor<1xi64> {stc.name = "token"}, tensor<4xf32> {stc.name = "logits"}) {
  %xw = dataflow.pack %x : tensor<4xf32> as !row -> tensor<1xvector<4xf32>>
  %tw, %lw = dataflow.kernel @k(%xm = %xw : tensor<1xvector<4xf32>> as !W) -> (tensor<1xvector<1xi64>> as !T, tensor<1xvector<4xf32>> as !W) {
    %xs = stream.create @xs : !S  %ls = stream.create @ls : !S  %ts = stream.create @ts : !N
    %tm = dataflow.memory @t : !T  %lm = dataflow.memory @l : !W
    dataflow.task @load_x ins(%in = %xm : !W) outs(%out = %xs : !S) unit @memory {
      %c0 = arith.constant 0 : index
      %t = memref.load %in[%c0] : !W
      stream.write %t into %out : !S
    }
    dataflow.task @find ins(%in = %xs : !S) outs(%out = %ls : !S, %token = %ts : !N) unit @body {
      %t = stream.read %in : !S
      stream.write %t into %out : !S
      %n = arith.constant dense<1> : vector<1xi64>
      stream.write %n into %token : !N
    }
    dataflow.task @store_l ins(%in = %ls : !S) outs(%out = %lm : !W) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !S
      memref.store %t, %out[%c0] : !W
    }
    dataflow.task @store_t ins(%in = %ts : !N) outs(%out = %tm : !T) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !N
      memref.store %t, %out[%c0] : !T
    }
    dataflow.yield %tm, %lm : !T, !W
  }
  %t = dataflow.unpack %tw : tensor<1xvector<1xi64>> as !one -> tensor<1xi64>
  %l = dataflow.unpack %lw : tensor<1xvector<4xf32>> as !row -> tensor<4xf32>
  func.return %t, %l : tensor<1xi64>, tensor<4xf32>
}

// -----

// Rows end within a word, where the next begins.
!row = !itensor.itensor<4xf32, iter_space: [1] * [4], iter_map: (d0) -> (d0)>
!seven = !itensor.itensor<1xf32, iter_space: [7] * [1], iter_map: (d0) -> (d0)>
!one = !itensor.itensor<1xi64, iter_space: [1] * [1], iter_map: (d0) -> (d0)>
!W = memref<1xvector<4xf32>>
!T = memref<1xvector<1xi64>>
!S = !stream.stream<vector<4xf32>, depth: 2>
!N = !stream.stream<vector<1xi64>, depth: 2>
// expected-error @unknown {{repeat-steps @k: words of a row of 'x' are not apart from those of the next (the packed tensor is packed in 8 words, expected 7 words of 4 lanes); accepted: rows of whole words}}
func.func @main(%x: tensor<7xf32> {stc.name = "x"}) -> (tensor<1xi64> {stc.name = "token"}, tensor<4xf32> {stc.name = "logits"}) {
  %xw = dataflow.pack %x : tensor<7xf32> as !seven -> tensor<2xvector<4xf32>>
  %tw, %lw = dataflow.kernel @k(%xm = %xw : tensor<2xvector<4xf32>> as memref<2xvector<4xf32>>) -> (tensor<1xvector<1xi64>> as !T, tensor<1xvector<4xf32>> as !W) {
    %xs = stream.create @xs : !S  %ls = stream.create @ls : !S  %ts = stream.create @ts : !N
    %tm = dataflow.memory @t : !T  %lm = dataflow.memory @l : !W
    dataflow.task @load_x ins(%in = %xm : memref<2xvector<4xf32>>) outs(%out = %xs : !S) unit @memory {
      %c0 = arith.constant 0 : index
      %t = memref.load %in[%c0] : memref<2xvector<4xf32>>
      stream.write %t into %out : !S
    }
    dataflow.task @find ins(%in = %xs : !S) outs(%out = %ls : !S, %token = %ts : !N) unit @body {
      %t = stream.read %in : !S
      stream.write %t into %out : !S
      %n = arith.constant dense<1> : vector<1xi64>
      stream.write %n into %token : !N
    }
    dataflow.task @store_l ins(%in = %ls : !S) outs(%out = %lm : !W) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !S
      memref.store %t, %out[%c0] : !W
    }
    dataflow.task @store_t ins(%in = %ts : !N) outs(%out = %tm : !T) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !N
      memref.store %t, %out[%c0] : !T
    }
    dataflow.yield %tm, %lm : !T, !W
  }
  %t = dataflow.unpack %tw : tensor<1xvector<1xi64>> as !one -> tensor<1xi64>
  %l = dataflow.unpack %lw : tensor<1xvector<4xf32>> as !row -> tensor<4xf32>
  func.return %t, %l : tensor<1xi64>, tensor<4xf32>
}

// -----

// What has the words of each step is used as one of them.
!row = !itensor.itensor<4xf32, iter_space: [1] * [4], iter_map: (d0) -> (d0)>
!one = !itensor.itensor<1xi64, iter_space: [1] * [1], iter_map: (d0) -> (d0)>
!W = memref<1xvector<4xf32>>
!T = memref<1xvector<1xi64>>
!S = !stream.stream<vector<4xf32>, depth: 2>
!N = !stream.stream<vector<1xi64>, depth: 2>
// expected-error @unknown {{repeat-steps @k: task @store_l uses external memory in 'memref.dim'; accepted: memref.load and memref.store}}
func.func @main(%x: tensor<4xf32> {stc.name = "x"}, %p: i32 {stc.name = "pos"}) -> (tensor<1xi64> {stc.name = "token"}, tensor<4xf32> {stc.name = "logits"}) {
  %xw = dataflow.pack %x : tensor<4xf32> as !row -> tensor<1xvector<4xf32>>
  %tw, %lw = dataflow.kernel @k(%xm = %xw : tensor<1xvector<4xf32>> as !W, %pos = %p : i32 as !itensor.symbol<pos<=3>) -> (tensor<1xvector<1xi64>> as !T, tensor<1xvector<4xf32>> as !W) {
    %xs = stream.create @xs : !S  %ls = stream.create @ls : !S  %ts = stream.create @ts : !N
    %tm = dataflow.memory @t : !T  %lm = dataflow.memory @l : !W
    dataflow.task @load_x ins(%in = %xm : !W) outs(%out = %xs : !S) unit @memory {
      %c0 = arith.constant 0 : index
      %t = memref.load %in[%c0] : !W
      stream.write %t into %out : !S
    }
    dataflow.task @find ins(%in = %xs : !S) outs(%out = %ls : !S, %token = %ts : !N) unit @body {
      %t = stream.read %in : !S
      stream.write %t into %out : !S
      %n = arith.constant dense<1> : vector<1xi64>
      stream.write %n into %token : !N
    }
    dataflow.task @store_l ins(%in = %ls : !S) outs(%out = %lm : !W) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !S
      memref.store %t, %out[%c0] : !W
      %d = memref.dim %out, %c0 : !W
    }
    dataflow.task @store_t ins(%in = %ts : !N) outs(%out = %tm : !T) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !N
      memref.store %t, %out[%c0] : !T
    }
    dataflow.yield %tm, %lm : !T, !W
  }
  %t = dataflow.unpack %tw : tensor<1xvector<1xi64>> as !one -> tensor<1xi64>
  %l = dataflow.unpack %lw : tensor<1xvector<4xf32>> as !row -> tensor<4xf32>
  func.return %t, %l : tensor<1xi64>, tensor<4xf32>
}

// -----

// What finds the token is in the unit that looks its row up.
!row = !itensor.itensor<4xf32, iter_space: [1] * [4], iter_map: (d0) -> (d0)>
!one = !itensor.itensor<1xi64, iter_space: [1] * [1], iter_map: (d0) -> (d0)>
!W = memref<1xvector<4xf32>>
!T = memref<1xvector<1xi64>>
!S = !stream.stream<vector<4xf32>, depth: 2>
!N = !stream.stream<vector<1xi64>, depth: 2>
// expected-error @unknown {{repeat-steps @k: tasks embed, find of unit memory form a cycle; accepted: units that are acyclic inside}}
func.func @main(%x: tensor<4xf32> {stc.name = "x"}, %p: i32 {stc.name = "pos"}) -> (tensor<1xi64> {stc.name = "token"}, tensor<4xf32> {stc.name = "logits"}) {
  %xw = dataflow.pack %x : tensor<4xf32> as !row -> tensor<1xvector<4xf32>>
  %tw, %lw = dataflow.kernel @k(%xm = %xw : tensor<1xvector<4xf32>> as !W, %pos = %p : i32 as !itensor.symbol<pos<=3>) -> (tensor<1xvector<1xi64>> as !T, tensor<1xvector<4xf32>> as !W) {
    %xs = stream.create @xs : !S  %hs = stream.create @hs : !S  %ls = stream.create @ls : !S  %ts = stream.create @ts : !N
    %tm = dataflow.memory @t : !T  %lm = dataflow.memory @l : !W
    dataflow.task @load_x ins(%in = %xm : !W) outs(%out = %xs : !S) unit @memory {
      %c0 = arith.constant 0 : index
      %t = memref.load %in[%c0] : !W
      stream.write %t into %out : !S
    }
    dataflow.task @find ins(%in = %xs : !S) outs(%out = %hs : !S, %token = %ts : !N) unit @memory {
      %t = stream.read %in : !S
      stream.write %t into %out : !S
      %n = arith.constant dense<1> : vector<1xi64>
      stream.write %n into %token : !N
    }
    dataflow.task @pass ins(%in = %hs : !S) outs(%out = %ls : !S) unit @body {
      %t = stream.read %in : !S
      stream.write %t into %out : !S
    }
    dataflow.task @store_l ins(%in = %ls : !S) outs(%out = %lm : !W) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !S
      memref.store %t, %out[%c0] : !W
    }
    dataflow.task @store_t ins(%in = %ts : !N) outs(%out = %tm : !T) unit @memory {
      %c0 = arith.constant 0 : index
      %t = stream.read %in : !N
      memref.store %t, %out[%c0] : !T
    }
    dataflow.yield %tm, %lm : !T, !W
  }
  %t = dataflow.unpack %tw : tensor<1xvector<1xi64>> as !one -> tensor<1xi64>
  %l = dataflow.unpack %lw : tensor<1xvector<4xf32>> as !row -> tensor<4xf32>
  func.return %t, %l : tensor<1xi64>, tensor<4xf32>
}
