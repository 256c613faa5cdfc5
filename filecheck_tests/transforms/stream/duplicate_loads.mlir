// RUN: stc-opt %s -p 'duplicate-loads{least=32}' --split-input-file --allow-unregistered-dialect | filecheck %s

// All of x has passed when @later is first read: until then it keeps x. A second DMA needs no FIFO, and no fork is left.
!S = !stream.stream<vector<4xf32>, depth: 2>
!Deep = !stream.stream<vector<4xf32>, depth: 8>
!m = memref<8xvector<4xf32>>
%x = "test.op"() : () -> tensor<8xvector<4xf32>>
dataflow.kernel @residual(%x_1 = %x : tensor<8xvector<4xf32>> as !m) {
  %x_stream = stream.create @x_stream {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S
  %now = stream.create @now {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S
  %later = stream.create @later {tokens = 8 : i64, distinct_tokens = 8 : i64} : !Deep
  dataflow.task @load_x ins(%from = %x_1 : !m) outs(%out = %x_stream : !S) kind load {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %0 = memref.load %from[%i] : !m
      stream.write %0 into %out : !S
    }
  }
  dataflow.task @fork ins(%in = %x_stream : !S) outs(%out0 = %now : !S, %out1 = %later : !Deep) kind fork {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %0 = stream.read %in : !S
      stream.write %0 into %out0 : !S
      stream.write %0 into %out1 : !Deep
    }
  }
  dataflow.task @sub ins(%sum = %now : !S, %in = %later : !Deep) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c8 step %c1 { %0 = stream.read %sum : !S }
    scf.for %i = %c0 to %c8 step %c1 { %0 = stream.read %in : !Deep }
  }
}

// CHECK-LABEL: @residual(
// CHECK-SAME: [[X:%.*]] = %x : {{.*}}, [[X1:%.*]] = %x : {{.*}}) attributes {stc.duplicate_loads = [{tensor = "x", reader = "sub",
// CHECK-SAME: instead_of = "fifo", saved_bytes = 96 : i64, traffic_bytes = 128 : i64, packed_bytes = 0 : i64}]}
// CHECK: [[STREAM:%.*]] = stream.create @x_stream_2 {{.*}} depth: 2>
// CHECK-NEXT: dataflow.task @load_x_2 ins(%from = [[X1]] : {{.*}}) outs(%out = [[STREAM]] :
// CHECK: dataflow.task @load_x ins(%from = [[X]] : {{.*}}) outs(%out = %x_stream :
// CHECK-NOT: @fork
// CHECK: dataflow.task @sub ins(%sum = %x_stream : {{.*}}, %in = [[STREAM]] : {{.*}} depth: 2>)

// -----

// Three branches: those that are taken as they come share the fork; the third has its own DMA.
!S = !stream.stream<vector<4xf32>, depth: 2>
!Deep = !stream.stream<vector<4xf32>, depth: 8>
!m = memref<8xvector<4xf32>>
%x = "test.op"() : () -> tensor<8xvector<4xf32>>
dataflow.kernel @two_stay(%x_1 = %x : tensor<8xvector<4xf32>> as !m) {
  %x_stream = stream.create @x_stream {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S
  %a = stream.create @a {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S
  %b = stream.create @b {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S
  %later = stream.create @later {tokens = 8 : i64, distinct_tokens = 8 : i64} : !Deep
  dataflow.task @load_x ins(%from = %x_1 : !m) outs(%out = %x_stream : !S) kind load {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %0 = memref.load %from[%i] : !m
      stream.write %0 into %out : !S
    }
  }
  dataflow.task @fork ins(%in = %x_stream : !S) outs(%out0 = %a : !S, %out1 = %b : !S, %out2 = %later : !Deep) kind fork {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %0 = stream.read %in : !S
      stream.write %0 into %out0 : !S
      stream.write %0 into %out1 : !S
      stream.write %0 into %out2 : !Deep
    }
  }
  dataflow.task @sub ins(%in0 = %a : !S, %in1 = %b : !S, %in = %later : !Deep) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %0 = stream.read %in0 : !S
      %1 = stream.read %in1 : !S
    }
    scf.for %i = %c0 to %c8 step %c1 { %0 = stream.read %in : !Deep }
  }
}

// CHECK-LABEL: @two_stay(
// CHECK: [[STREAM:%.*]] = stream.create @x_stream_2 {{.*}} depth: 2>
// CHECK: dataflow.task @fork ins(%in = %x_stream : {{.*}}) outs(%out0 = %a : {{[^%]*}}, %out1 = %b : {{[^%]*}}) kind fork
// CHECK: dataflow.task @sub ins(%in0 = %a : {{.*}}, %in1 = %b : {{.*}}, %in = [[STREAM]] :
