// RUN: stc-opt %s -p 'repeat-layers{count=5}' | filecheck %s

// A task brings a word of each of two parameters and cuts it. In a layer each has a loop of one iteration: in one pipeline with the
// other its port would wait for the other's FIFO.
// SHOW: scf.for .*|memref.load .*|stream.write .*
!order = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!words = memref<2xvector<4xf32>>
!word = memref<1xvector<8xf32>>
!S = !stream.stream<vector<4xf32>, depth: 2>
func.func @main(%x: tensor<8xf32> {stc.name = "x"}, %g: tensor<8xf32> {stc.parameter}, %h: tensor<8xf32> {stc.parameter}) -> (tensor<8xf32> {stc.name = "y"}) {
  %xs = dataflow.pack %x : tensor<8xf32> as !order -> tensor<2xvector<4xf32>>
  %gs = dataflow.pack %g : tensor<8xf32> as !order -> tensor<1xvector<8xf32>>
  %hs = dataflow.pack %h : tensor<8xf32> as !order -> tensor<1xvector<8xf32>>
  %ys = dataflow.kernel @main(%xm = %xs : tensor<2xvector<4xf32>> as !words, %gm = %gs : tensor<1xvector<8xf32>> as !word, %hm = %hs : tensor<1xvector<8xf32>> as !word) -> (tensor<2xvector<4xf32>> as !words) {
    %a = stream.create @a {tokens = 2 : i64} : !S  %b = stream.create @b {tokens = 2 : i64} : !S
    %c = stream.create @c {tokens = 2 : i64} : !S  %d = stream.create @d {tokens = 2 : i64} : !S
    %ym = dataflow.memory @y : !words
    dataflow.task @load_x ins(%in = %xm : !words) outs(%out = %a : !S) kind load unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 { %t = memref.load %in[%word] : !words  stream.write %t into %out : !S }
    }
    dataflow.task @load_shared ins(%gain = %gm : !word, %bias = %hm : !word) outs(%gains = %b : !S, %biases = %c : !S) kind load unit @memory {
      %c0 = arith.constant 0 : index  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
      %packed = memref.alloc() : memref<8xf32>
      %t = memref.load %gain[%c0] : !word
      vector.store %t, %packed[%c0] : memref<8xf32>, vector<8xf32>
      scf.for %lane = %c0 to %c8 step %c4 {
        %v = vector.load %packed[%lane] : memref<8xf32>, vector<4xf32>
        stream.write %v into %gains : !S
      } {stc.unroll = 0 : i32}
      %u = memref.load %bias[%c0] : !word
      vector.store %u, %packed[%c0] : memref<8xf32>, vector<8xf32>
      scf.for %lane = %c0 to %c8 step %c4 {
        %w = vector.load %packed[%lane] : memref<8xf32>, vector<4xf32>
        stream.write %w into %biases : !S
      } {stc.unroll = 0 : i32}
    }
    dataflow.task @scale ins(%in = %a : !S, %gains = %b : !S, %biases = %c : !S) outs(%out = %d : !S) unit @body {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 {
        %t = stream.read %in : !S
        %u = stream.read %gains : !S
        %v = stream.read %biases : !S
        %w = arith.mulf %t, %u : vector<4xf32>
        %z = arith.addf %w, %v : vector<4xf32>
        stream.write %z into %out : !S
      }
    }
    dataflow.task @store_y ins(%in = %d : !S) outs(%out = %ym : !words) kind store unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 { %t = stream.read %in : !S  memref.store %t, %out[%word] : !words }
    }
    dataflow.yield %ym : !words
  }
  %y = dataflow.unpack %ys : tensor<2xvector<4xf32>> as !order -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// CHECK: dataflow.task @load_shared ins(%[[GAIN:.*]] = %gm : {{.*}}, %[[BIAS:.*]] = %hm : {{.*}}) outs(%[[GAINS:.*]] = %b : {{.*}}, %[[BIASES:.*]] = %c : {{.*}}) kind load unit @memory {
// CHECK: scf.for %layer = {{.*}} {
// CHECK: scf.for %once = {{.*}} {
// CHECK: memref.load %[[GAIN]][
// CHECK: stream.write %{{.*}} into %[[GAINS]] :
// CHECK: {stc.drains}
// CHECK: scf.for %{{.*}} = {{.*}} {
// CHECK: memref.load %[[BIAS]][
// CHECK: stream.write %{{.*}} into %[[BIASES]] :
// CHECK: {stc.drains}
