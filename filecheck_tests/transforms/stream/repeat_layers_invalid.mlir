// RUN: not stc-opt %s -p 'repeat-layers{count=2}' --split-input-file 2>&1 | filecheck %s

// All in one compute unit: the layers would close a cycle inside it.
!order = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!words = memref<2xvector<4xf32>>
!S = !stream.stream<vector<4xf32>, depth: 2>
func.func @main(%x: tensor<8xf32> {stc.name = "x"}) -> (tensor<8xf32> {stc.name = "y"}) {
  %xs = dataflow.pack %x : tensor<8xf32> as !order -> tensor<2xvector<4xf32>>
  %ys = dataflow.kernel @one(%xm = %xs : tensor<2xvector<4xf32>> as !words) -> (tensor<2xvector<4xf32>> as !words) {
    %a = stream.create @a {tokens = 2 : i64} : !S
    %ym = dataflow.memory @y : !words
    dataflow.task @load_x ins(%in = %xm : !words) outs(%out = %a : !S) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 {
        %t = memref.load %in[%word] : !words
        stream.write %t into %out : !S
      }
    }
    dataflow.task @store_y ins(%in = %a : !S) outs(%out = %ym : !words) kind store {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 {
        %t = stream.read %in : !S
        memref.store %t, %out[%word] : !words
      }
    }
    dataflow.yield %ym : !words
  }
  %y = dataflow.unpack %ys : tensor<2xvector<4xf32>> as !order -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// CHECK: repeat-layers @one: tasks {{.*}} form a cycle, in one compute unit; accepted: more units (--units memory, assign-units{strategy=memory})
