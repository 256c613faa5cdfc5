// RUN: stc-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// expected-error @below {{schedule has 2 tile sizes, 1 loops in its order and 2 unroll factors, expected one of each per loop}}
"test.attr"() {schedule = #dataflow.schedule<tile = [4, 4], order = [0], unroll = [1, 1], vector = []>} : () -> ()

// -----

// expected-error @below {{schedule has order [0, 0], expected each of the loops 0 to 1 once}}
"test.attr"() {schedule = #dataflow.schedule<tile = [4, 4], order = [0, 0], unroll = [1, 1], vector = []>} : () -> ()

// -----

// expected-error @below {{schedule has tile size 0 for loop 1, expected at least 1}}
"test.attr"() {schedule = #dataflow.schedule<tile = [4, 0], order = [0, 1], unroll = [1, 1], vector = []>} : () -> ()

// -----

// expected-error @below {{schedule has unroll factor 0 for loop 0, expected at least 1}}
"test.attr"() {schedule = #dataflow.schedule<tile = [4, 4], order = [0, 1], unroll = [0, 1], vector = []>} : () -> ()

// -----

// expected-error @below {{schedule has vector shape [0] for operand 1, expected extents of at least 1}}
"test.attr"() {schedule = #dataflow.schedule<tile = [4, 4], order = [0, 1], unroll = [1, 1], vector = [[8], [0]]>} : () -> ()

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : i32) {
  // expected-error @below {{operand 0 is a i32 outside, expected a tensor, or a scalar of the same type inside}}
  dataflow.kernel @k(%a = %x : i32 as i64) {
    dataflow.yield
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{operand 0 is a tensor<8xf32> outside but a memref<4xf32> inside, expected the same shape and elements}}
  dataflow.kernel @k(%a = %x : tensor<8xf32> as memref<4xf32>) {
    dataflow.yield
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{operand 0 is a f32 inside, expected an itensor or a memref of tensor<8xf32>}}
  dataflow.kernel @k(%a = %x : tensor<8xf32> as f32) {
    dataflow.yield
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{operand 0 has the inexact type}}
  dataflow.kernel @k(%a = %x : tensor<8xf32> as !itensor.itensor<4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>) {
    dataflow.yield
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{operand 0 has entries of type i32, expected f32 of the tensor}}
  dataflow.kernel @k(%a = %x : tensor<8xf32> as !itensor.itensor<4xi32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>) {
    dataflow.yield
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<16xf32>) {
  // expected-error @below {{operand 0 enumerates [8], expected [16] of the tensor}}
  dataflow.kernel @k(%a = %x : tensor<16xf32> as !V) {
    dataflow.yield
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<16xf32>) {
  // expected-error @below {{operand 0 enumerates [seq<=8], expected [16] of the tensor}}
  dataflow.kernel @k(%a = %x : tensor<16xf32> as !itensor.itensor<1xf32, iter_space: [seq<=8] * [1], iter_map: (d0) -> (d0)>) {
    dataflow.yield
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<2x1xvector<4xf32>>) {
  // expected-error @below {{operand 0 is packed as tensor<2x1xvector<4xf32>>, expected a tensor of one dimension of one-dimensional vectors}}
  dataflow.kernel @k(%a = %x : tensor<2x1xvector<4xf32>> as !V) {
    dataflow.yield
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<2xvector<4xi32>>) {
  // expected-error @below {{operand 0 is packed in words of i32, expected f32 of the itensor}}
  dataflow.kernel @k(%a = %x : tensor<2xvector<4xi32>> as !V) {
    dataflow.yield
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<2xvector<3xf32>>) {
  // expected-error @below {{operand 0 is packed in words of 3 lanes, which neither divide nor hold tokens of 4 entries, expected a divisor, a multiple or the next power of two}}
  dataflow.kernel @k(%a = %x : tensor<2xvector<3xf32>> as !V) {
    dataflow.yield
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<4xvector<4xf32>>) {
  // expected-error @below {{operand 0 is packed in 4 words, expected 2 words of 4 lanes}}
  dataflow.kernel @k(%a = %x : tensor<4xvector<4xf32>> as !V) {
    dataflow.yield
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{kernel yields values of types (), expected (!itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>)}}
  %y = dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) -> (tensor<8xf32> as !V) {
    dataflow.yield
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{result 0 enumerates [8], expected [16] of the tensor}}
  %y = dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) -> (tensor<16xf32> as !V) {
    dataflow.yield %a : !V
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{'%b' is not an argument of the kernel, expected one of %a}}
  %y = dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) -> (tensor<8xf32> as !V into %b at [0]) {
    dataflow.yield %a : !V
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{result 0 is a tensor<16xf32> but updates operand 0 of type tensor<8xf32>, expected the same tensor type}}
  %y = dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) -> (tensor<16xf32> as !V into %a at [0]) {
    dataflow.yield %a : !V
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{result 0 is placed at operand 0, expected an operand of type index, or a symbol}}
  %y = dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) -> (tensor<8xf32> as !V into %a at [%a]) {
    dataflow.yield %a : !V
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{result 0 covers 4 to 12 of dimension 0, expected a slice of its 8 entries}}
  %y = dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) -> (tensor<8xf32> as !V into %a at [4]) {
    dataflow.yield %a : !V
  }
  func.return
}

// -----

!V = !itensor.itensor<1xf32, iter_space: [n<=8] * [1], iter_map: (d0) -> (d0)>
!W = !itensor.itensor<1xf32, iter_space: [] * [], iter_map: () -> (0)>
func.func @f(%x : tensor<8xf32>, %p : i32) {
  // expected-error @below {{result 0 covers n<=8 to 9 of dimension 0, expected a slice of its 8 entries}}
  %y = dataflow.kernel @k(%a = %x : tensor<8xf32> as !V, %n = %p : i32 as !itensor.symbol<n<=8>) -> (tensor<8xf32> as !W into %a at [%n]) {
    %e = itensor.empty : !W
    dataflow.yield %e : !W
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<4xf32>) {
  // expected-error @below {{operand 0 enumerates [8], expected at most [4] of the tensor}}
  %y = dataflow.kernel @k(%a = %x : tensor<4xf32> as !V) -> (tensor<4xf32> as !V into %a at [0]) {
    dataflow.yield %a : !V
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<2xvector<4xf32>>) {
  // expected-error @below {{operand 0 is a tensor<2xvector<4xf32>>, expected a plain tensor, or its layout}}
  %y = dataflow.kernel @k(%a = %x : tensor<2xvector<4xf32>> as !V) -> (tensor<2xvector<4xf32>> as !V into %a at [0]) {
    dataflow.yield %a : !V
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{result 0 places 1 dimensions at 2 offsets, expected 1 of each}}
  %y = dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) -> (tensor<8xf32> as !V into %a at [0, 0]) {
    dataflow.yield %a : !V
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{operand 0 is updated by 2 results, expected one}}
  %y, %z = dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) -> (tensor<8xf32> as !V into %a at [0], tensor<8xf32> as !V into %a at [0]) {
    dataflow.yield %a, %a : !V, !V
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>, %f : f32) {
  // expected-error @below {{result 0 is a f32 inside, expected an itensor with integer sizes or a memref}}
  %y = dataflow.kernel @k(%a = %x : tensor<8xf32> as !V, %s = %f : f32) -> (tensor<8xf32> as f32 into %a at [0]) {
    dataflow.yield %s : f32
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{result 0 has type !itensor.itensor<4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>, expected an exact itensor with entries of type f32}}
  %y = dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) -> (tensor<8xf32> as !itensor.itensor<4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)> into %a at [0]) {
    %e = itensor.empty : !itensor.itensor<4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
    dataflow.yield %e : !itensor.itensor<4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{has 2 block arguments, expected 1: one per operand}}
  "dataflow.kernel"(%x) <{sym_name = "k"}> ({
  ^bb0(%a : !V, %b : !V):
    "dataflow.yield"() : () -> ()
  }) : (tensor<8xf32>) -> ()
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{yields 0 values, expected 1: one per result}}
  %r = "dataflow.kernel"(%x) <{sym_name = "k"}> ({
  ^bb0(%a : !V):
    "dataflow.yield"() : () -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{says for 2 results what they update in place, expected 1}}
  %r = "dataflow.kernel"(%x) <{sym_name = "k", in_place = [none, none]}> ({
  ^bb0(%a : !V):
    "dataflow.yield"(%a) : (!V) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{result 0 updates operand 3 in place, expected one of 1 operands}}
  %r = "dataflow.kernel"(%x) <{sym_name = "k", in_place = [#dataflow.in_place<operand 3 at [0]>]}> ({
  ^bb0(%a : !V):
    "dataflow.yield"(%a) : (!V) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{has a body that ends in 'test.end', expected it to end in 'dataflow.yield'}}
  "dataflow.kernel"(%x) <{sym_name = "k"}> ({
  ^bb0(%a : !V):
    "test.end"() : () -> ()
  }) : (tensor<8xf32>) -> ()
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{Redefinition of symbol "s"}}
  "dataflow.kernel"(%x) <{sym_name = "k"}> ({
  ^bb0(%a : !V):
    %s = stream.create @s : !stream.stream<f32, depth: 2>
    %t = stream.create @s : !stream.stream<f32, depth: 2>
    "dataflow.yield"() : () -> ()
  }) : (tensor<8xf32>) -> ()
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) {
    %e = itensor.empty : !V
    %e2 = itensor.empty : !V
    // expected-error @below {{has 0 results of types (), expected one per itensor among outs: (!itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>)}}
    dataflow.task @t outs(%o = %e : !V) {
      dataflow.yield
    }
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) {
    %e = itensor.empty : !V
    %e2 = itensor.empty : !V
    // expected-error @below {{yields values of types (), expected (!itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>)}}
    %r = dataflow.task @t outs(%o = %e : !V) -> !V {
      dataflow.yield
    }
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) {
    %e = itensor.empty : !V
    %e2 = itensor.empty : !V
    // expected-error @below {{yields what was written to %p as result 0, expected what was written to %o}}
    %r, %s = dataflow.task @t outs(%o = %e : !V, %p = %e2 : !V) -> (!V, !V) {
      dataflow.yield %p, %o : !V, !V
    }
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) {
    // expected-error @below {{has 0 block arguments, expected 1: one per operand}}
    "dataflow.task"(%a) <{sym_name = "t", operandSegmentSizes = array<i32: 1, 0>}> ({
    ^bb0():
      "dataflow.yield"() : () -> ()
    }) : (!V) -> ()
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) {
    // expected-error @below {{has block argument 0 of type f32, expected !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>}}
    "dataflow.task"(%a) <{sym_name = "t", operandSegmentSizes = array<i32: 1, 0>}> ({
    ^bb0(%p : f32):
      "dataflow.yield"() : () -> ()
    }) : (!V) -> ()
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) {
    // expected-error @below {{has a body that ends in 'test.end', expected it to end in 'dataflow.yield'}}
    "dataflow.task"(%a) <{sym_name = "t", operandSegmentSizes = array<i32: 1, 0>}> ({
    ^bb0(%p : !V):
      "test.end"() : () -> ()
    }) : (!V) -> ()
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) {
    %e = itensor.empty : !V
    %e2 = itensor.empty : !V
    // expected-error @below {{port %p is read by 2 operations, expected one, or a segment of it by each}}
    dataflow.task @t ins(%p = %a : !V) {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      scf.for %i = %c0 to %c8 step %c4 {
        %0 = itensor.read %p[%i] : !V -> tensor<4xf32>
        %1 = itensor.read %p[%i] : !V -> tensor<4xf32>
      }
      dataflow.yield
    }
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) {
    %e = itensor.empty : !V
    %e2 = itensor.empty : !V
    // expected-error @below {{port %o is written by 2 operations, expected one, or a segment of it by each}}
    %r = dataflow.task @t outs(%o = %e : !V) -> !V {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %t = tensor.empty() : tensor<4xf32>
      %w = scf.for %i = %c0 to %c8 step %c4 iter_args(%d = %o) -> (!V) {
        %0 = itensor.write %t into %d[%i] : tensor<4xf32> -> !V
        %1 = itensor.write %t into %0[%i] : tensor<4xf32> -> !V
        scf.yield %1 : !V
      }
      dataflow.yield %w : !V
    }
  }
  func.return
}

// -----

func.func @f() {
  // expected-error @below {{expects parent op}}
  dataflow.task @t {
  }
  func.return
}

// -----

func.func @f() {
  // expected-error @below {{expects parent op}}
  %m = dataflow.memory @m : memref<8xf32>
  func.return
}

// -----

func.func @f(%x : f32) {
  dataflow.kernel @k() {
    dataflow.task @t {
      // expected-error @below {{isolated region uses %x, not defined in it, expected them among the operands}}
      %y = arith.addf %x, %x : f32
    }
  }
  func.return
}

// -----

func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{packs tensor<8xf32> as f32, expected a tensor and an itensor type}}
  %p = dataflow.pack %x : tensor<8xf32> as f32 -> tensor<2xvector<4xf32>>
  func.return
}

// -----

func.func @f(%x : tensor<16xf32>) {
  // expected-error @below {{the layout enumerates [8], expected [16] of the tensor}}
  %p = dataflow.pack %x : tensor<16xf32> as !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)> -> tensor<4xvector<4xf32>>
  func.return
}

// -----

func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{the packed tensor is packed in 3 words, expected 2 words of 4 lanes}}
  %p = dataflow.pack %x : tensor<8xf32> as !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)> -> tensor<3xvector<4xf32>>
  func.return
}

// -----

func.func @f(%x : tensor<3xvector<4xf32>>) {
  // expected-error @below {{the packed tensor is packed in 3 words, expected 2 words of 4 lanes}}
  %p = dataflow.unpack %x : tensor<3xvector<4xf32>> as !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)> -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%x : tensor<8xf32>) {
  // expected-error @below {{task @t writes operand 0, which no result updates in place, expected a read-only operand}}
  dataflow.kernel @k(%a = %x : tensor<8xf32> as memref<8xf32>) {
    dataflow.task @t outs(%o = %a : memref<8xf32>) {
    }
  }
  func.return
}

// -----

// Three stripes of four vectors do not split.
!X = !itensor.itensor<4xf32, iter_space: [4] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<16xf32>) {
  // expected-error @below {{has 3 packed tensors: innermost loop of 4 iterations does not split into 3 parts}}
  %p, %q, %r = dataflow.pack %x : tensor<16xf32> as !X -> tensor<1xvector<4xf32>>, tensor<1xvector<4xf32>>, tensor<1xvector<4xf32>>
  func.return
}

// -----

// Each of two stripes holds half of the tokens.
!X = !itensor.itensor<4xf32, iter_space: [4] * [4], iter_map: (d0) -> (d0)>
func.func @f(%p : tensor<2xvector<4xf32>>, %q : tensor<3xvector<4xf32>>) {
  // expected-error @below {{packed tensor 1 is packed in 3 words, expected 2 words of 4 lanes}}
  %x = dataflow.unpack %p, %q : tensor<2xvector<4xf32>>, tensor<3xvector<4xf32>> as !X -> tensor<16xf32>
  func.return
}

// -----

// Where a token is visited again innermost, splitting does not part the tensor.
!X = !itensor.itensor<4xf32, iter_space: [4, 2] * [4, 1], iter_map: (d0, d1) -> (d0)>
func.func @f(%x : tensor<16xf32>) {
  // expected-error @below {{has 2 packed tensors: the innermost loop is a reuse loop, expected one that moves}}
  %p, %q = dataflow.pack %x : tensor<16xf32> as !X -> tensor<2xvector<4xf32>>, tensor<2xvector<4xf32>>
  func.return
}

// -----

// A stripe may leave gaps, but visit nothing twice.
!X = !itensor.itensor<4xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<4xvector<4xf32>>) {
  // expected-error @below {{expected one that visits no coordinate twice, up to temporal reuse}}
  dataflow.kernel @k(%a = %x : tensor<4xvector<4xf32>> as !X) {
    dataflow.yield
  }
  func.return
}

// -----

!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @f(%x: tensor<4xf32>) {
  dataflow.kernel @k(%a = %x : tensor<4xf32> as !S) {
    // expected-error @below {{task @inner writes %p, expected one of the outs}}
    dataflow.task @outer ins(%p = %a : !S) {
      %r = dataflow.task @inner outs(%o = %p : !S) -> !S { dataflow.yield %o : !S }
      dataflow.yield
    }
    dataflow.yield
  }
  func.return
}

// -----

func.func @k(%w: tensor<2xvector<4xf32>>) -> tensor<2xvector<4xf32>> {
  %y = dataflow.kernel @k(%p = %w : tensor<2xvector<4xf32>> as memref<2xvector<4xf32>>) -> (tensor<2xvector<4xf32>> as memref<2xvector<4xf32>>) {
    %s = stream.create @s : !stream.stream<vector<4xf32>, depth: 2>
    %t = stream.create @t : !stream.stream<vector<4xf32>, depth: 2>
    // expected-error @below {{reads a stream behind or beside a write, expected all reads before: its kind is hold}}
    dataflow.task @pass_on ins(%i = %s : !stream.stream<vector<4xf32>, depth: 2>) outs(%o = %t : !stream.stream<vector<4xf32>, depth: 2>) kind hold {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 {
        %0 = stream.read %i : !stream.stream<vector<4xf32>, depth: 2>
        stream.write %0 into %o : !stream.stream<vector<4xf32>, depth: 2>
      }
      dataflow.yield
    }
    %out = dataflow.memory @out : memref<2xvector<4xf32>>
    dataflow.yield %out : memref<2xvector<4xf32>>
  }
  func.return %y : tensor<2xvector<4xf32>>
}

// -----

!S = !stream.stream<f32, depth: 2>
// expected-error @below {{has dies of array, expected one for each unit: array, mover}}
dataflow.kernel @k() dies (@array = 1) {
  %s = stream.create @s : !S
  dataflow.task @fill outs(%out = %s : !S) unit @array {
    %0 = arith.constant 0.0 : f32
    stream.write %0 into %out : !S
  }
  dataflow.task @drain ins(%in = %s : !S) unit @mover {
    %0 = stream.read %in : !S
  }
}

// -----

// expected-error @below {{computes 0 steps, expected one at least}}
dataflow.kernel @k() steps 0 {
}

// -----

// expected-error @below {{computes -2 steps, expected one at least}}
dataflow.kernel @k() steps -2 {
}

// -----

// expected-error @below {{Expected integer literal}}
dataflow.kernel @k() steps {
}
