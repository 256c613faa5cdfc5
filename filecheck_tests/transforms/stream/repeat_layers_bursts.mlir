// RUN: stc-opt %s -p 'repeat-layers{count=5}' | filecheck %s

// What waits for as many iterations as a launch says hands two words in bursts on. Who reads these drains behind each, though bits of
// one number would say both indices; who reads that has one loop.
!order = !itensor.itensor<4xf32, iter_space: [8] * [4], iter_map: (d0) -> (d0)>
!words = memref<8xvector<4xf32>>
!S = !stream.stream<vector<4xf32>, depth: 2>
func.func @main(%x: tensor<32xf32> {stc.name = "x"}, %p: i32 {stc.name = "pos"}) -> (tensor<32xf32> {stc.name = "y"}) {
  %xs = dataflow.pack %x : tensor<32xf32> as !order -> tensor<8xvector<4xf32>>
  %ys = dataflow.kernel @main(%pos = %p : i32 as !itensor.symbol<pos<=9>, %xm = %xs : tensor<8xvector<4xf32>> as !words)
      -> (tensor<8xvector<4xf32>> as !words) {
    %a = stream.create @a {tokens = 8 : i64} : !S  %b = stream.create @b {tokens = 8 : i64} : !S
    %c = stream.create @c {tokens = 8 : i64} : !S  %d = stream.create @d {tokens = 8 : i64} : !S
    %ym = dataflow.memory @y : !words
    dataflow.task @load_x ins(%in = %xm : !words) outs(%out = %a : !S) kind load unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
      scf.for %word = %c0 to %c8 step %c1 { %t = memref.load %in[%word] : !words  stream.write %t into %out : !S }
    }
    dataflow.task @waits ins(%n = %pos : !itensor.symbol<pos<=9>, %in = %a : !S) outs(%out = %b : !S) unit @body {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index
      %m = memref.alloc() : memref<1xvector<4xf32>>
      %trips = itensor.size pos<=9 of %n
      scf.for %i = %c0 to %c4 step %c1 {
        scf.for %j = %c0 to %c2 step %c1 {
          %t = stream.read %in : !S
          scf.for %k = %c0 to %trips step %c1 { memref.store %t, %m[%c0] : memref<1xvector<4xf32>> }
          stream.write %t into %out : !S
        }
      }
    }
    dataflow.task @behind ins(%in = %b : !S) outs(%out = %c : !S) unit @body {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index
      %m = memref.alloc() : memref<2xvector<4xf32>>
      scf.for %i = %c0 to %c4 step %c1 {
        scf.for %j = %c0 to %c2 step %c1 {
          %t = stream.read %in : !S
          memref.store %t, %m[%j] : memref<2xvector<4xf32>>
          stream.write %t into %out : !S
        }
      }
    }
    dataflow.task @further ins(%in = %c : !S) outs(%out = %d : !S) unit @body {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index
      %m = memref.alloc() : memref<2xvector<4xf32>>
      scf.for %i = %c0 to %c4 step %c1 {
        scf.for %j = %c0 to %c2 step %c1 {
          %t = stream.read %in : !S
          memref.store %t, %m[%j] : memref<2xvector<4xf32>>
          stream.write %t into %out : !S
        }
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

// CHECK: dataflow.task @behind
// CHECK: scf.for %layer
// CHECK-NEXT: scf.for %i
// CHECK-NEXT: scf.for %j
// CHECK: stc.drains
// CHECK: dataflow.task @further
// CHECK: scf.for %layer
// CHECK-NEXT: scf.for %i_and_j = {{.*}} {
// CHECK: [[J:%.*]] = arith.andi %i_and_j
// CHECK: memref.store {{.*}}[[[J]]]
// CHECK: stc.drains
