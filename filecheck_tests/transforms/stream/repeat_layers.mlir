// RUN: stc-opt %s -p 'repeat-layers{count=5}' --split-input-file | filecheck %s

// A gain of each layer. Its load runs through the words of all layers; the task between the first and the last has a loop over
// layers, in which its own drains; the mover sends the input of each layer, and keeps the output of the one before until it has all.
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
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
      scf.for %word = %c0 to %c8 step %c1 {
        %t = stream.read %in : !S
        %u = stream.read %gain : !S
        %v = arith.mulf %t, %u : !token
        stream.write %v into %out : !S
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

// CHECK:      func.func @main(%x: tensor<32xf32> {stc.name = "x"}, %g: tensor<5x32xf32> {stc.name = "g", stc.parameter})
// CHECK:      %gs = dataflow.pack %g : tensor<5x32xf32> as !itensor.itensor<1x4xf32, iter_space: [5, 8] * [1, 4], iter_map: (d0, d1) -> (d0, d1)> -> tensor<40xvector<4xf32>>
// CHECK:      %a = stream.create @a {tokens = 40 : i64}
// CHECK:      %a_first = stream.create @a_first {tokens = 8 : i64, distinct_tokens = 8 : i64}
// CHECK-NEXT: dataflow.task @load_x ins({{.*}}) outs(%out = %a_first : {{.*}}) kind load unit @memory {
// CHECK:      dataflow.task @load_g
// CHECK:        scf.for %word = %c0 to %c40 step %c1 {
// CHECK:      dataflow.task @scale
// CHECK:        scf.for %layer = %{{.*}} to %c5 step %{{.*}} {
// CHECK-NEXT:     scf.for %word = %c0 to %c8 step %c1 {
// CHECK:          } {stc.drains}
// CHECK:      %c_last = stream.create @c_last {tokens = 8 : i64
// CHECK-NEXT: dataflow.task @move_x ins(%[[FIRST:.*]] = %a_first : {{.*}}, %[[UP:.*]] = %c : {{.*}}) outs(%[[DOWN:.*]] = %a : {{.*}}, %[[LAST:.*]] = %c_last : {{.*}}) unit @memory {
// CHECK:        %[[T:.*]] = stream.read %[[FIRST]]
// CHECK-NEXT:   stream.write %[[T]] into %[[DOWN]]
// CHECK:        scf.for %layer = %{{.*}} to %c5 step %{{.*}} {
// CHECK:          %[[T:.*]] = stream.read %[[UP]]
// CHECK-NEXT:     vector.store %[[T]], %held[%entry]
// CHECK:          %[[T:.*]] = vector.load %held[%entry_1]
// CHECK-NEXT:     stream.write %[[T]] into %[[DOWN]]
// CHECK:        %[[T:.*]] = stream.read %[[UP]]
// CHECK-NEXT:   stream.write %[[T]] into %[[LAST]]
// CHECK:      dataflow.task @store_y ins(%in = %c_last : {{.*}})
