// RUN: stc-opt %s -p 'mark-behind-layers' | filecheck %s

// %g is read behind the end of layers alone: its load is of what follows, as the head is. An array is for all that a task does.
!words = memref<2xvector<4xf32>>
!S = !stream.stream<vector<4xf32>, depth: 2>
func.func @main(%x: tensor<2xvector<4xf32>>, %g: tensor<2xvector<4xf32>> {stc.parameter}) -> (tensor<2xvector<4xf32>>) {
  %y = dataflow.kernel @k(%xm = %x : tensor<2xvector<4xf32>> as !words, %gm = %g : tensor<2xvector<4xf32>> as !words)
      -> (tensor<2xvector<4xf32>> as !words) {
    %a = stream.create @a : !S  %b = stream.create @b : !S  %c = stream.create @c : !S  %d = stream.create @d : !S
    %ym = dataflow.memory @y : !words
    dataflow.task @load_x ins(%in = %xm : !words) outs(%out = %a : !S) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 {
        %t = memref.load %in[%word] : !words
        stream.write %t into %out : !S
      }
    }
    dataflow.task @end ins(%in = %a : !S) outs(%out = %b : !S) attributes {stc.ends_layers} {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 {
        %t = stream.read %in : !S
        stream.write %t into %out : !S
      }
    }
    dataflow.task @load_g ins(%in = %gm : !words) outs(%out = %c : !S) kind load {
      %packed = memref.alloc() : memref<4xf32>
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 {
        %t = memref.load %in[%word] : !words
        stream.write %t into %out : !S
      }
    }
    dataflow.task @head ins(%in = %b : !S, %gain = %c : !S) outs(%out = %d : !S) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 {
        %t = stream.read %in : !S
        %u = stream.read %gain : !S
        %v = arith.mulf %t, %u : vector<4xf32>
        stream.write %v into %out : !S
      }
    }
    dataflow.task @store_y ins(%in = %d : !S) outs(%out = %ym : !words) kind store {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 {
        %t = stream.read %in : !S
        memref.store %t, %out[%word] : !words
      }
    }
    dataflow.yield %ym : !words
  }
  func.return %y : tensor<2xvector<4xf32>>
}

// CHECK:      dataflow.task @load_x {{.*}} kind load {
// CHECK:      dataflow.task @end {{.*}} attributes {stc.ends_layers} {
// CHECK:      dataflow.task @load_g {{.*}} kind load attributes {stc.behind_layers} {
// CHECK-NEXT:   memref.alloc() : memref<4xf32>
// CHECK:        } {stc.behind_layers}
// CHECK:      dataflow.task @head {{.*}} attributes {stc.behind_layers} {
// CHECK:      dataflow.task @store_y {{.*}} kind store attributes {stc.behind_layers} {
