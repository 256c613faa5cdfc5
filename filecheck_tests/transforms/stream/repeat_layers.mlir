// RUN: stc-opt %s -p 'repeat-layers{count=5}' --split-input-file | filecheck %s

// A gain of each layer. Its load runs through the words of all layers; the task between the first and the last has a loop over
// layers, in which its own, of 2 by 4 iterations, is one that drains; the mover sends the input of each layer, and keeps the output of
// the one before until it has all.
#entry = affine_map<(d0) -> (d0)>
!order = !itensor.itensor<4xf32, iter_space: [8] * [4], iter_map: (d0) -> (d0)>
!token = vector<4xf32>
!words = memref<8xvector<4xf32>>
!S = !stream.stream<vector<4xf32>, depth: 2>
func.func @main(%x: tensor<32xf32> {stc.name = "x"}, %g: tensor<32xf32> {stc.name = "g", stc.parameter}) -> (tensor<32xf32> {stc.name = "y"}) {
  %xs = dataflow.pack %x : tensor<32xf32> as !order -> tensor<8xvector<4xf32>>
  %gs = dataflow.pack %g : tensor<32xf32> as !order -> tensor<8xvector<4xf32>>
  %ys = dataflow.kernel @main(%xm = %xs : tensor<8xvector<4xf32>> as !words, %gm = %gs : tensor<8xvector<4xf32>> as !words)
      -> (tensor<8xvector<4xf32>> as !words) {
    %a = stream.create @a {tokens = 8 : i64} : !S  %b = stream.create @b {tokens = 8 : i64} : !S
    %c = stream.create @c {tokens = 8 : i64} : !S
    %ym = dataflow.memory @y : !words
    dataflow.task @load_x ins(%in = %xm : !words) outs(%out = %a : !S) kind load unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
      scf.for %word = %c0 to %c8 step %c1 {
        %t = memref.load %in[%word] : !words
        stream.write %t into %out : !S
      }
    }
    dataflow.task @load_g ins(%in = %gm : !words) outs(%out = %b : !S) kind load unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
      scf.for %word = %c0 to %c8 step %c1 {
        %t = memref.load %in[%word] : !words
        stream.write %t into %out : !S
      }
    }
    dataflow.task @scale ins(%in = %a : !S, %gain = %b : !S) outs(%out = %c : !S) unit @body {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index
      scf.for %half = %c0 to %c4 step %c2 {
        scf.for %word = %c0 to %c4 step %c1 {
          %place = arith.addi %half, %word : index
          %t = stream.read %in : !S
          %u = stream.read %gain : !S
          %v = arith.mulf %t, %u : !token
          stream.write %v into %out : !S
        }
      }
    }
    dataflow.task @store_y ins(%in = %c : !S) outs(%out = %ym : !words) kind store unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
      scf.for %word = %c0 to %c8 step %c1 {
        %t = stream.read %in : !S
        memref.store %t, %out[%word] : !words
      }
    }
    dataflow.yield %ym : !words
  }
  %y = dataflow.unpack %ys : tensor<8xvector<4xf32>> as !order -> tensor<32xf32>
  func.return %y : tensor<32xf32>
}

// CHECK: !itensor = !itensor.itensor<16xf32, iter_space: [2] * [16], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %gs = dataflow.pack %g : tensor<5x32xf32> as !itensor.itensor<1x4xf32, iter_space: [5, 8] * [1, 4], iter_map: (d0, d1) -> (d0, d1)> -> tensor<40xvector<4xf32>>
// CHECK-NEXT: %[[X:.*]] = dataflow.pack %x : tensor<32xf32> as !itensor -> tensor<2xvector<16xf32>>
// CHECK-NEXT: %ys = dataflow.kernel @main(%gm = %gs : tensor<40xvector<4xf32>> as memref<40xvector<4xf32>>, %[[X1:.*]] = %[[X]] : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) -> (tensor<8xvector<4xf32>> as memref<8xvector<4xf32>>) {
// CHECK-NEXT: %x_stream = stream.create @x_stream {tokens = 2 : i64, distinct_tokens = 2 : i64, carries = !itensor} : !stream.stream<vector<16xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @load_x ins(%[[X2:.*]] = %[[X1]] : memref<2xvector<16xf32>>) outs(%out = %x_stream : !stream.stream<vector<16xf32>, depth: 2>) kind load unit @memory {
// CHECK: scf.for %word = %c0 to %c2 step %c1 {
// CHECK-NEXT: %[[LOAD:.*]] = memref.load %[[X2]][%word] : memref<2xvector<16xf32>>
// CHECK-NEXT: stream.write %[[LOAD]] into %out : !stream.stream<vector<16xf32>, depth: 2>
// CHECK: %a = stream.create @a {tokens = 40 : i64} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: %b = stream.create @b {tokens = 40 : i64} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: %c = stream.create @c {tokens = 40 : i64} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: %ym = dataflow.memory @y : memref<8xvector<4xf32>>
// CHECK-NEXT: dataflow.task @load_g ins(%in = %gm : memref<40xvector<4xf32>>) outs(%out = %b : !stream.stream<vector<4xf32>, depth: 2>) kind load unit @memory {
// CHECK: scf.for %word = %c0 to %c40 step %c1 {
// CHECK-NEXT: %t = memref.load %in[%word] : memref<40xvector<4xf32>>
// CHECK-NEXT: stream.write %t into %out : !stream.stream<vector<4xf32>, depth: 2>
// CHECK: dataflow.task @scale ins(%in = %a : !stream.stream<vector<4xf32>, depth: 2>, %gain = %b : !stream.stream<vector<4xf32>, depth: 2>) outs(%out = %c : !stream.stream<vector<4xf32>, depth: 2>) unit @body {
// CHECK: scf.for %layer = %c0_{{.*}} to %c5 step %c1_{{.*}} {
// CHECK-NEXT: scf.for %word = %c0{{.*}} to %c8 step %c1{{.*}} {
// CHECK-NOT: scf.for
// CHECK: %t = stream.read %in : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: %u = stream.read %gain : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: %v = arith.mulf %t, %u : vector<4xf32>
// CHECK-NEXT: stream.write %v into %out : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: } {stc.drains}
// CHECK: %c_last = stream.create @c_last {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @move_x ins(%[[X_STREAM:.*]] = %x_stream : !stream.stream<vector<16xf32>, depth: 2>, %[[C:.*]] = %c : !stream.stream<vector<4xf32>, depth: 2>) outs(%[[A:.*]] = %a : !stream.stream<vector<4xf32>, depth: 2>, %[[C_LAST:.*]] = %c_last : !stream.stream<vector<4xf32>, depth: 2>) unit @memory {
// CHECK-NEXT: %held = memref.alloc() : memref<32xf32>
// CHECK: scf.for %entry = %c0 to %c32 step %c16 {
// CHECK: %[[READ:.*]] = stream.read %[[X_STREAM]] : !stream.stream<vector<16xf32>, depth: 2>
// CHECK-NEXT: vector.store %[[READ]], %held[%entry] : memref<32xf32>, vector<16xf32>
// CHECK: scf.for %layer = %c0_{{.*}} to %c5 step %c1 {
// CHECK: scf.for %[[ENTRY:.*]] = %c0_{{.*}} to %c32_{{.*}} step %c4 {
// CHECK: %[[LOAD:.*]] = vector.load %held[%[[ENTRY]]] : memref<32xf32>, vector<4xf32>
// CHECK-NEXT: stream.write %[[LOAD]] into %[[A]] : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: } {stc.drains}
// CHECK: scf.for %[[ENTRY1:.*]] = %c0_{{.*}} to %c32_{{.*}} step %c4_{{.*}} {
// CHECK: %[[READ1:.*]] = stream.read %[[C]] : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: vector.store %[[READ1]], %held[%[[ENTRY1]]] : memref<32xf32>, vector<4xf32>
// CHECK-NEXT: } {stc.drains}
// CHECK: scf.for %[[ENTRY2:.*]] = %c0_{{.*}} to %c32_{{.*}} step %c4_{{.*}} {
// CHECK: %[[LOAD1:.*]] = vector.load %held[%[[ENTRY2]]] : memref<32xf32>, vector<4xf32>
// CHECK-NEXT: stream.write %[[LOAD1]] into %[[C_LAST]] : !stream.stream<vector<4xf32>, depth: 2>
// CHECK: dataflow.task @store_y ins(%in = %c_last : !stream.stream<vector<4xf32>, depth: 2>) outs(%out = %ym : memref<8xvector<4xf32>>) kind store unit @memory {
// CHECK: scf.for %word = %c0 to %c8 step %c1 {
// CHECK-NEXT: %t = stream.read %in : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: memref.store %t, %out[%word] : memref<8xvector<4xf32>>
// CHECK: dataflow.yield %ym : memref<8xvector<4xf32>>
// CHECK: %y = dataflow.unpack %ys : tensor<8xvector<4xf32>> as !itensor.itensor<4xf32, iter_space: [8] * [4], iter_map: (d0) -> (d0)> -> tensor<32xf32>
// CHECK-NEXT: func.return %y : tensor<32xf32>
