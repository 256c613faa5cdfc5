// RUN: stc-opt %s -p 'repeat-layers{count=5}' | filecheck %s

// Two read what a layer takes. The mover serves them one after the other: the first one first, whose load stands last.
// SHOW: dataflow.task @move_x .*|scf.for .*|stream.read .*|stream.write .*
!order = !itensor.itensor<4xf32, iter_space: [8] * [4], iter_map: (d0) -> (d0)>
!words = memref<8xvector<4xf32>>
!S = !stream.stream<vector<4xf32>, depth: 2>
func.func @main(%x: tensor<32xf32> {stc.name = "x"}) -> (tensor<32xf32> {stc.name = "y"}) {
  %xs = dataflow.pack %x : tensor<32xf32> as !order -> tensor<8xvector<4xf32>>
  %ys = dataflow.kernel @main(%xm = %xs : tensor<8xvector<4xf32>> as !words, %xn = %xs : tensor<8xvector<4xf32>> as !words) -> (tensor<8xvector<4xf32>> as !words) {
    %a = stream.create @a {tokens = 8 : i64} : !S  %b = stream.create @b {tokens = 8 : i64} : !S
    %c = stream.create @c {tokens = 8 : i64} : !S  %d = stream.create @d {tokens = 8 : i64} : !S
    %ym = dataflow.memory @y : !words
    dataflow.task @load_again ins(%in = %xm : !words) outs(%out = %b : !S) kind load unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
      scf.for %word = %c0 to %c8 step %c1 { %t = memref.load %in[%word] : !words  stream.write %t into %out : !S }
    }
    dataflow.task @load_first ins(%in = %xn : !words) outs(%out = %a : !S) kind load unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
      scf.for %word = %c0 to %c8 step %c1 { %t = memref.load %in[%word] : !words  stream.write %t into %out : !S }
    }
    dataflow.task @double ins(%in = %a : !S) outs(%out = %c : !S) unit @body {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
      scf.for %word = %c0 to %c8 step %c1 {
        %t = stream.read %in : !S
        %v = arith.addf %t, %t : vector<4xf32>
        stream.write %v into %out : !S
      }
    }
    dataflow.task @add ins(%in = %c : !S, %again = %b : !S) outs(%out = %d : !S) unit @body {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
      scf.for %word = %c0 to %c8 step %c1 {
        %t = stream.read %in : !S
        %u = stream.read %again : !S
        %v = arith.addf %t, %u : vector<4xf32>
        stream.write %v into %out : !S
      }
    }
    dataflow.task @store_y ins(%in = %d : !S) outs(%out = %ym : !words) kind store unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
      scf.for %word = %c0 to %c8 step %c1 { %t = stream.read %in : !S  memref.store %t, %out[%word] : !words }
    }
    dataflow.yield %ym : !words
  }
  %y = dataflow.unpack %ys : tensor<8xvector<4xf32>> as !order -> tensor<32xf32>
  func.return %y : tensor<32xf32>
}

// CHECK: dataflow.task @move_x ins({{.*}}, %[[D:.*]] = %d : {{.*}}) outs(%[[A:.*]] = %a : {{.*}}, %[[B:.*]] = %b : {{.*}}, %{{.*}} = %d_last : {{.*}}) unit @memory {
// CHECK: scf.for %layer =
// CHECK: stream.write {{.*}} into %[[A]] :
// CHECK: stream.write {{.*}} into %[[B]] :
// CHECK: stream.read %[[D]] :
