// RUN: stc-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// expected-error @below {{stream has elements of type tensor<8xf32>, expected a float, integer or index type or a vector of one}}
"test.type"() {type = !stream.stream<tensor<8xf32>, depth: 2>} : () -> ()

// -----

// expected-error @below {{stream has depth 0, expected at least 1}}
"test.type"() {type = !stream.stream<f32, depth: 0>} : () -> ()

// -----

// expected-error @below {{block has buffers of type vector<8xf32>, expected a memref}}
"test.type"() {type = !stream.block<vector<8xf32>, count: 2>} : () -> ()

// -----

// expected-error @below {{block has buffers of type memref<?xf32>, expected a static shape}}
"test.type"() {type = !stream.block<memref<?xf32>, count: 2>} : () -> ()

// -----

// expected-error @below {{block has count 0, expected at least 1}}
"test.type"() {type = !stream.block<memref<8xf32>, count: 0>} : () -> ()

// -----

func.func @f(%s : !stream.stream<f32, depth: 2>, %x : !itensor.itensor<1x8xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>, %i : i32) {
  // expected-error @below {{source has tokens of 32 bits but result has 64, expected the same width}}
  %0 = stream.cast %s : !stream.stream<f32, depth: 2> to !stream.stream<f64, depth: 2>
  func.return
}

// -----

func.func @f(%s : !stream.stream<f32, depth: 2>, %x : !itensor.itensor<1x8xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>, %i : i32) {
  // expected-error @below {{source has depth 2 but result has 3, expected the same FIFO}}
  %0 = stream.cast %s : !stream.stream<f32, depth: 2> to !stream.stream<i32, depth: 3>
  func.return
}

// -----

func.func @f(%s : !stream.stream<f32, depth: 2>, %x : !itensor.itensor<1x8xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>, %i : i32) {
  // expected-error @below {{stream carries scalars of type i32, expected f32 of the itensor}}
  %0 = stream.from_itensor %x : !itensor.itensor<1x8xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)> to !stream.stream<vector<8xi32>, depth: 2>
  func.return
}

// -----

func.func @f(%s : !stream.stream<f32, depth: 2>, %x : !itensor.itensor<1x8xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>, %i : i32) {
  // expected-error @below {{stream carries 1 scalars per token, expected the 8 of an element}}
  %0 = stream.to_itensor %s : !stream.stream<f32, depth: 2> to !itensor.itensor<1x8xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
  func.return
}

// -----

func.func @f(%s : !stream.stream<f32, depth: 2>, %x : !itensor.itensor<1x8xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>, %i : i32) {
  // expected-error @below {{attribute i32 expected from variable 'T', but got f32}}
  "stream.write"(%i, %s) : (i32, !stream.stream<f32, depth: 2>) -> ()
  func.return
}

// -----

func.func @f(%s : !stream.stream<f32, depth: 2>, %x : !itensor.itensor<1x8xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>, %i : i32) {
  // expected-error @below {{f32 expected from variable 'T', but got i32}}
  %0 = "stream.read"(%s) : (!stream.stream<f32, depth: 2>) -> i32
  func.return
}

// -----

func.func @f() {
  dataflow.kernel @k() {
    %s = stream.create @s : !stream.stream<f32, depth: 2>
    %b = stream.buffer @b : !stream.block<memref<8xf32>, count: 2>
    dataflow.task @t ins(%i = %s : !stream.stream<f32, depth: 2>) outs(%o = %s : !stream.stream<f32, depth: 2>, %r = %b : !stream.block<memref<8xf32>, count: 2>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      // expected-error @below {{reads %o, an outs port, expected an ins port}}
      %v = stream.read %o : !stream.stream<f32, depth: 2>
    }
  }
  func.return
}

// -----

func.func @f() {
  dataflow.kernel @k() {
    %s = stream.create @s : !stream.stream<f32, depth: 2>
    %b = stream.buffer @b : !stream.block<memref<8xf32>, count: 2>
    dataflow.task @t ins(%i = %s : !stream.stream<f32, depth: 2>) outs(%o = %s : !stream.stream<f32, depth: 2>, %r = %b : !stream.block<memref<8xf32>, count: 2>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %v = stream.read %i : !stream.stream<f32, depth: 2>
      // expected-error @below {{writes %i, an ins port, expected an outs port}}
      stream.write %v into %i : !stream.stream<f32, depth: 2>
    }
  }
  func.return
}

// -----

func.func @f() {
  dataflow.kernel @k() {
    %s = stream.create @s : !stream.stream<f32, depth: 2>
    %b = stream.buffer @b : !stream.block<memref<8xf32>, count: 2>
    dataflow.task @t ins(%i = %s : !stream.stream<f32, depth: 2>) outs(%o = %s : !stream.stream<f32, depth: 2>, %r = %b : !stream.block<memref<8xf32>, count: 2>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      // expected-error @below {{result has type memref<4xf32>, expected the buffer memref<8xf32> of the block}}
      %m = stream.acquire %r : !stream.block<memref<8xf32>, count: 2> -> memref<4xf32>
    }
  }
  func.return
}

// -----

func.func @f() {
  dataflow.kernel @k() {
    %s = stream.create @s : !stream.stream<f32, depth: 2>
    %b = stream.buffer @b : !stream.block<memref<8xf32>, count: 2>
    dataflow.task @t ins(%i = %s : !stream.stream<f32, depth: 2>) outs(%o = %s : !stream.stream<f32, depth: 2>, %r = %b : !stream.block<memref<8xf32>, count: 2>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %first = memref.alloc() : memref<8xf32>
      %last = scf.for %j = %c0 to %c1 step %c1 iter_args(%m = %first) -> (memref<8xf32>) {
        // expected-error @below {{buffer leaves its block through 'scf.yield', where it is released, expected uses inside the block only}}
        %b = stream.acquire %r : !stream.block<memref<8xf32>, count: 2> -> memref<8xf32>
        scf.yield %b : memref<8xf32>
      }
    }
  }
  func.return
}

// -----

// expected-error @below {{has tokens = 0, expected one from 1 to 2147483647}}
%s = stream.create @s {tokens = 0 : i64} : !stream.stream<vector<2xf32>, depth: 2>

// -----

// expected-error @below {{has 5 distinct tokens of 4, expected 1 to as many}}
%s = stream.create @s {tokens = 4 : i64, distinct_tokens = 5 : i64} : !stream.stream<vector<2xf32>, depth: 2>

// -----

// expected-error @below {{has memory = 'rom', expected srl, lutram, bram, uram}}
%s = stream.create @s {memory = "rom"} : !stream.stream<f32, depth: 4>

// -----

// expected-error @below {{has crossing = -1, expected one from 1 to 2147483647}}
%s = stream.create @s {crossing = -1 : i64} : !stream.stream<f32, depth: 4>

// -----

// expected-error @below {{whose elements are not tokens of !stream.stream<vector<4xf32>, depth: 4>}}
%s = stream.create @s {carries = !itensor.itensor<1x8xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>} : !stream.stream<vector<4xf32>, depth: 4>

// -----

// What has the type of a symbol is the scalar of the launch.
func.func @f(%s : !stream.stream<i32, depth: 2>) {
  // expected-error @below {{makes another token of a symbol, or a symbol of another token, expected equal types}}
  %0 = stream.cast %s : !stream.stream<i32, depth: 2> to !stream.stream<!itensor.symbol<pos<=3>, depth: 2>
  func.return
}
