// RUN: stc-opt %s -p 'repeat-layers{count=5}' | filecheck %s

// One task takes a token of each of two stripes at a time: the mover sends both in one loop.
// SHOW: dataflow.task @move_x .*|scf.for .*|stream.read .*|stream.write .*
!order = !itensor.itensor<4xf32, iter_space: [8] * [4], iter_map: (d0) -> (d0)>
!words = memref<8xvector<4xf32>>
!half = memref<4xvector<4xf32>>
!S = !stream.stream<vector<4xf32>, depth: 2>
func.func @main(%x: tensor<32xf32> {stc.name = "x"}) -> (tensor<32xf32> {stc.name = "y"}) {
  %xs, %xt = dataflow.pack %x : tensor<32xf32> as !order -> tensor<4xvector<4xf32>>, tensor<4xvector<4xf32>>
  %ys = dataflow.kernel @main(%xm = %xs : tensor<4xvector<4xf32>> as !half, %xn = %xt : tensor<4xvector<4xf32>> as !half) -> (tensor<8xvector<4xf32>> as !words) {
    %a = stream.create @a {tokens = 4 : i64} : !S  %b = stream.create @b {tokens = 4 : i64} : !S
    %c = stream.create @c {tokens = 8 : i64} : !S
    %ym = dataflow.memory @y : !words
    dataflow.task @load_even ins(%in = %xm : !half) outs(%out = %a : !S) kind load unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 { %t = memref.load %in[%word] : !half  stream.write %t into %out : !S }
    }
    dataflow.task @load_odd ins(%in = %xn : !half) outs(%out = %b : !S) kind load unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 { %t = memref.load %in[%word] : !half  stream.write %t into %out : !S }
    }
    dataflow.task @double ins(%even = %a : !S, %odd = %b : !S) outs(%out = %c : !S) unit @body {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %t = stream.read %even : !S
        %u = arith.addf %t, %t : vector<4xf32>
        stream.write %u into %out : !S
        %v = stream.read %odd : !S
        %w = arith.addf %v, %v : vector<4xf32>
        stream.write %w into %out : !S
      }
    }
    dataflow.task @store_y ins(%in = %c : !S) outs(%out = %ym : !words) kind store unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
      scf.for %word = %c0 to %c8 step %c1 { %t = stream.read %in : !S  memref.store %t, %out[%word] : !words }
    }
    dataflow.yield %ym : !words
  }
  %y = dataflow.unpack %ys : tensor<8xvector<4xf32>> as !order -> tensor<32xf32>
  func.return %y : tensor<32xf32>
}

// CHECK: dataflow.task @move_x ins({{.*}}, %[[C:.*]] = %c : {{.*}}) outs(%[[A:.*]] = %a : {{.*}}, %[[B:.*]] = %b : {{.*}}, %{{.*}} = %c_last : {{.*}}) unit @memory {
// CHECK: scf.for %layer =
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: stream.write {{.*}} into %[[A]] :
// CHECK-NOT: scf.for
// CHECK: stream.write {{.*}} into %[[B]] :
// CHECK: stream.read %[[C]] :
