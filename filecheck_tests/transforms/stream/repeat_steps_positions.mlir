// RUN: stc-opt %s -p 'repeat-steps{count=2 vocabulary=6 positions=9}' | filecheck %s

// A row of another table is added to that of the token, which is held: a port is read by one pointer at a time.
!row = !itensor.itensor<8xf32, iter_space: [1] * [8], iter_map: (d0) -> (d0)>
!one = !itensor.itensor<1xi64, iter_space: [1] * [1], iter_map: (d0) -> (d0)>
!W = memref<2xvector<4xf32>>
!T = memref<1xvector<1xi64>>
!S = !stream.stream<vector<4xf32>, depth: 2>
!N = !stream.stream<vector<1xi64>, depth: 2>
!pos = !itensor.symbol<pos<=8>
func.func @main(%x: tensor<8xf32> {stc.name = "x"}, %p: i32 {stc.name = "pos"}) -> (tensor<1xi64> {stc.name = "token"}) {
  %xw = dataflow.pack %x : tensor<8xf32> as !row -> tensor<2xvector<4xf32>>
  %tw = dataflow.kernel @k(%xm = %xw : tensor<2xvector<4xf32>> as !W, %pos = %p : i32 as !pos) -> (tensor<1xvector<1xi64>> as !T) {
    %xs = stream.create @xs {tokens = 2 : i64} : !S  %ts = stream.create @ts {tokens = 1 : i64} : !N
    %tm = dataflow.memory @t : !T
    dataflow.task @load_x ins(%in = %xm : !W) outs(%out = %xs : !S) kind load unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 {
        %t = memref.load %in[%word] : !W
        stream.write %t into %out : !S
      }
    }
    dataflow.task @find ins(%in = %xs : !S) outs(%out = %ts : !N) unit @body {
      %u = stream.read %in : !S
      %v = stream.read %in : !S
      %a = vector.extract %u[0] : f32 from vector<4xf32>  %b = vector.extract %v[3] : f32 from vector<4xf32>
      %i1 = arith.constant 1 : i64  %i5 = arith.constant 5 : i64
      %is_a = arith.cmpf ogt, %a, %b : f32
      %number = arith.select %is_a, %i5, %i1 : i64
      %found = vector.broadcast %number : i64 to vector<1xi64>
      stream.write %found into %out : !N
    }
    dataflow.task @store_token ins(%in = %ts : !N) outs(%out = %tm : !T) kind store unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
      scf.for %word = %c0 to %c1 step %c1 {
        %t = stream.read %in : !N
        memref.store %t, %out[%word] : !T
      }
    }
    dataflow.yield %tm : !T
  }
  %t = dataflow.unpack %tw : tensor<1xvector<1xi64>> as !one -> tensor<1xi64>
  func.return %t : tensor<1xi64>
}

// CHECK-LABEL: @main(
// CHECK-SAME: %tokens: tensor<2xi64> {stc.name = "tokens"}, %embedding: tensor<6x8xf32> {stc.name = "embedding", stc.parameter},
// CHECK-SAME: %positions: tensor<9x8xf32> {stc.name = "positions", stc.parameter}, %p: i32 {stc.name = "pos"})
// CHECK: dataflow.pack %embedding : tensor<6x8xf32> as {{.*}} -> tensor<12xvector<4xf32>>
// CHECK: dataflow.pack %positions : tensor<9x8xf32> as {{.*}} -> tensor<18xvector<4xf32>>
// CHECK: dataflow.task @embed ins(%[[AT:.*]] = %pos : !itensor.symbol<pos<=8>, {{.*}}, %[[TABLE:.*]] = %embedding{{.*}} : memref<12xvector<4xf32>>, %[[ADDED:.*]] = %positions{{.*}} : memref<18xvector<4xf32>>) outs(%[[OUT:.*]] = %xs
// CHECK: %row = memref.alloc() {{.*}}: memref<8xf32>
// CHECK: scf.for %step
// CHECK: %first_word = arith.muli
// CHECK: scf.for %word
// CHECK-NEXT: %[[PLACE:.*]] = arith.addi %first_word, %word : index
// CHECK-NEXT: %[[HELD:.*]] = memref.load %[[TABLE]][%[[PLACE]]] : memref<12xvector<4xf32>>
// CHECK: vector.store %[[HELD]], %row[%{{.*}}] : memref<8xf32>, vector<4xf32>
// CHECK: %[[HERE:.*]] = itensor.advance %[[AT]] by %step : !itensor.symbol<pos<=8>
// CHECK-NEXT: %[[NUMBER:.*]] = itensor.size pos<=8 of %[[HERE]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[NUMBER]], %c2
// CHECK-NEXT: scf.for %[[WORD:.*]] = %c0 to %c2 step %c1
// CHECK: %[[ROW:.*]] = vector.load %row
// CHECK-NEXT: %[[OTHER:.*]] = arith.addi %[[FIRST]], %[[WORD]] : index
// CHECK-NEXT: %[[POSITION:.*]] = memref.load %[[ADDED]][%[[OTHER]]] : memref<18xvector<4xf32>>
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[ROW]], %[[POSITION]] : vector<4xf32>
// CHECK-NEXT: stream.write %[[SUM]] into %[[OUT]]
