// RUN: stc-opt %s -p 'duplicate-loads{least=32}' --split-input-file | filecheck %s

// The sum is complete when all of x has passed: until then @later keeps x. A second DMA needs no FIFO, and no fork is left.
// SHOW: dataflow.kernel @\w+\(.*?\) ... attributes .*\}|stream.create @\w+ ... depth: \d+|dataflow.task @\w+ ins\(.*?\) ...
!S2 = !stream.stream<vector<4xf32>, depth: 2>
!S8 = !stream.stream<vector<4xf32>, depth: 8>
!m = memref<8xvector<4xf32>>
func.func @residual(%x: tensor<8x4xf32>) {
  %x_1 = dataflow.pack %x : tensor<8x4xf32> as !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<8xvector<4xf32>>
  dataflow.kernel @residual(%x_2 = %x_1 : tensor<8xvector<4xf32>> as !m) {
    %x_stream = stream.create @x_stream {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @load_x ins(%from = %x_2 : !m) outs(%out = %x_stream : !S2) kind load {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = memref.load %from[%i] : !m
        stream.write %0 into %out : !S2
      }
    }
    %now = stream.create @now {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    %later = stream.create @later {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S8
    dataflow.task @fork ins(%in = %x_stream : !S2) outs(%out0 = %now : !S2, %out1 = %later : !S8) kind fork {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %in : !S2
        stream.write %0 into %out0 : !S2
        stream.write %0 into %out1 : !S8
      }
    }
    %sum = stream.create @sum {tokens = 1 : i64, distinct_tokens = 1 : i64} : !S2
    dataflow.task @sum_up ins(%in = %now : !S2) outs(%out = %sum : !S2) {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      %0 = arith.constant dense<0.0> : vector<4xf32>
      scf.for %i = %c0 to %c8 step %c1 {
        %1 = stream.read %in : !S2
      }
      stream.write %0 into %out : !S2
    }
    dataflow.task @sub ins(%s = %sum : !S2, %in = %later : !S8) {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      %0 = stream.read %s : !S2
      scf.for %i = %c0 to %c8 step %c1 {
        %1 = stream.read %in : !S8
      }
    }
  }
  func.return
}

// CHECK-LABEL: func.func @residual(
// CHECK: dataflow.kernel @residual(%[[X:.*]] = %x_{{.*}} : tensor<8xvector<4xf32>> as memref<8xvector<4xf32>>, %[[X1:.*]] = %x_{{.*}} : tensor<8xvector<4xf32>> as memref<8xvector<4xf32>>){{.*}}attributes {stc.duplicate_loads = [{tensor = "x", reader = "sub", instead_of = "fifo", saved_bytes = 96 : i64, traffic_bytes = 128 : i64, packed_bytes = 0 : i64}]} {
// CHECK-NEXT: %x_stream = stream.create @x_stream{{.*}}depth: 2>
// CHECK-NEXT: dataflow.task @load_x ins(%from = %[[X]] : memref<8xvector<4xf32>>)
// CHECK: %[[X_STREAM:.*]] = stream.create @x_stream_2{{.*}}depth: 2>
// CHECK-NEXT: dataflow.task @load_x_2 ins(%from = %[[X1]] : memref<8xvector<4xf32>>)
// CHECK: %sum = stream.create @sum{{.*}}depth: 2>
// CHECK-NEXT: dataflow.task @sum_up ins(%in = %x_stream : !stream.stream<vector<4xf32>, depth: 2>)
// CHECK: dataflow.task @sub ins(%s = %sum : !stream.stream<vector<4xf32>, depth: 2>, %in = %[[X_STREAM]] : !stream.stream<vector<4xf32>, depth: 2>)

// -----

// Three readers: those that take x as it comes share the fork; the third has its own DMA.
// SHOW: stream.create @\w+ ... depth: \d+|dataflow.task @\w+ ins\(.*?\) ...
!S2 = !stream.stream<vector<4xf32>, depth: 2>
!S8 = !stream.stream<vector<4xf32>, depth: 8>
!m = memref<8xvector<4xf32>>
func.func @two_stay(%x: tensor<8x4xf32>) {
  %x_1 = dataflow.pack %x : tensor<8x4xf32> as !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<8xvector<4xf32>>
  dataflow.kernel @two_stay(%x_2 = %x_1 : tensor<8xvector<4xf32>> as !m) {
    %x_stream = stream.create @x_stream {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    dataflow.task @load_x ins(%from = %x_2 : !m) outs(%out = %x_stream : !S2) kind load {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = memref.load %from[%i] : !m
        stream.write %0 into %out : !S2
      }
    }
    %a = stream.create @a {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    %b = stream.create @b {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S2
    %later = stream.create @later {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S8
    dataflow.task @fork ins(%in = %x_stream : !S2) outs(%out0 = %a : !S2, %out1 = %b : !S2, %out2 = %later : !S8) kind fork {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %in : !S2
        stream.write %0 into %out0 : !S2
        stream.write %0 into %out1 : !S2
        stream.write %0 into %out2 : !S8
      }
    }
    %sum = stream.create @sum {tokens = 1 : i64, distinct_tokens = 1 : i64} : !S2
    dataflow.task @sum_up ins(%in0 = %a : !S2, %in1 = %b : !S2) outs(%out = %sum : !S2) {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      %0 = arith.constant dense<0.0> : vector<4xf32>
      scf.for %i = %c0 to %c8 step %c1 {
        %1 = stream.read %in0 : !S2
        %2 = stream.read %in1 : !S2
      }
      stream.write %0 into %out : !S2
    }
    dataflow.task @sub ins(%s = %sum : !S2, %in = %later : !S8) {
      %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
      %0 = stream.read %s : !S2
      scf.for %i = %c0 to %c8 step %c1 {
        %1 = stream.read %in : !S8
      }
    }
  }
  func.return
}

// CHECK-LABEL: func.func @two_stay(
// CHECK: %x_stream = stream.create @x_stream{{.*}}depth: 2>
// CHECK-NEXT: dataflow.task @load_x ins(%from = %x_{{.*}} : memref<8xvector<4xf32>>)
// CHECK: %a = stream.create @a{{.*}}depth: 2>
// CHECK-NEXT: %b = stream.create @b{{.*}}depth: 2>
// CHECK-NEXT: %[[X_STREAM:.*]] = stream.create @x_stream_2{{.*}}depth: 2>
// CHECK-NEXT: dataflow.task @load_x_2 ins(%from = %x_{{.*}} : memref<8xvector<4xf32>>)
// CHECK: dataflow.task @fork ins(%in = %x_stream : !stream.stream<vector<4xf32>, depth: 2>)
// CHECK: %sum = stream.create @sum{{.*}}depth: 2>
// CHECK-NEXT: dataflow.task @sum_up ins(%in0 = %a : !stream.stream<vector<4xf32>, depth: 2>, %in1 = %b : !stream.stream<vector<4xf32>, depth: 2>)
// CHECK: dataflow.task @sub ins(%s = %sum : !stream.stream<vector<4xf32>, depth: 2>, %in = %[[X_STREAM]] : !stream.stream<vector<4xf32>, depth: 2>)
