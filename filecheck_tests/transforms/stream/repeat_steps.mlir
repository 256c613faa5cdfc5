// RUN: stc-opt %s -p 'repeat-steps{count=3}' | filecheck %s

// The sum of x, a row g of the position, and the rows of a cache finds the token; x becomes one more row. Where the cache ends is one
// more in each step. `@store_c` and `@load_c` end each with a credit, which goes through @body; what is there has no loop over steps.
!row = !itensor.itensor<4xf32, iter_space: [1] * [4], iter_map: (d0) -> (d0)>
!rows = !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
!one = !itensor.itensor<1xi64, iter_space: [1] * [1], iter_map: (d0) -> (d0)>
!W = memref<1xvector<4xf32>>
!C = memref<8xvector<4xf32>>
!T = memref<1xvector<1xi64>>
!S = !stream.stream<vector<4xf32>, depth: 2>
!N = !stream.stream<vector<1xi64>, depth: 2>
!pos = !itensor.symbol<pos<=7>
!P = !stream.stream<!pos, depth: 2>
func.func @main(%x: tensor<4xf32> {stc.name = "x"}, %g: tensor<4xf32> {stc.name = "g"}, %c: tensor<8x4xf32> {stc.name = "c"}, %p: i32 {stc.name = "pos"})
    -> (tensor<1xi64> {stc.name = "token"}, tensor<4xf32> {stc.name = "logits"}, tensor<8x4xf32> {stc.name = "updated"}) {
  %xw = dataflow.pack %x : tensor<4xf32> as !row -> tensor<1xvector<4xf32>>
  %gw = dataflow.pack %g : tensor<4xf32> as !row -> tensor<1xvector<4xf32>>
  %cw = dataflow.pack %c : tensor<8x4xf32> as !rows -> tensor<8xvector<4xf32>>
  %tw, %lw, %uw = dataflow.kernel @k(%xm = %xw : tensor<1xvector<4xf32>> as !W, %gm = %gw : tensor<1xvector<4xf32>> as !W, %cm = %cw : tensor<8xvector<4xf32>> as !C, %pos = %p : i32 as !pos)
      -> (tensor<1xvector<1xi64>> as !T, tensor<1xvector<4xf32>> as !W, tensor<8xvector<4xf32>> as !C into %cm at [%pos, 0] of !rows) {
    %xs = stream.create @xs {tokens = 1 : i64} : !S  %gs = stream.create @gs {tokens = 1 : i64} : !S  %cs = stream.create @cs : !S
    %us = stream.create @us {tokens = 1 : i64} : !S  %ls = stream.create @ls {tokens = 1 : i64} : !S
    %ts = stream.create @ts {tokens = 1 : i64} : !N  %ps = stream.create @ps {tokens = 1 : i64} : !P
    %tm = dataflow.memory @t : !T  %lm = dataflow.memory @l : !W  %um = dataflow.memory @u : !C
    dataflow.task @send_scalars ins(%at = %pos : !pos) outs(%out = %ps : !P) unit @memory {
      stream.write %at into %out : !P
    }
    dataflow.task @load_x ins(%in = %xm : !W) outs(%out = %xs : !S) kind load unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
      scf.for %word = %c0 to %c1 step %c1 {
        %t = memref.load %in[%word] : !W
        stream.write %t into %out : !S
      }
    }
    dataflow.task @load_g ins(%in = %gm : !W) outs(%out = %gs : !S) kind load unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
      scf.for %word = %c0 to %c1 step %c1 {
        %t = memref.load %in[%word] : !W
        stream.write %t into %out : !S
      }
    }
    dataflow.task @load_c ins(%at = %pos : !pos, %in = %cm : !C) outs(%out = %cs : !S) kind load unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
      %n = itensor.size pos<=7 of %at
      scf.for %word = %c0 to %n step %c1 {
        %t = memref.load %in[%word] : !C
        stream.write %t into %out : !S
      }
    }
    dataflow.task @total ins(%one = %xs : !S, %gain = %gs : !S, %in = %cs : !S, %there = %ps : !P) outs(%new = %us : !S, %out = %ls : !S, %token = %ts : !N) unit @body {
      %at = stream.read %there : !P
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
      %n = itensor.size pos<=7 of %at
      %sum = memref.alloc() : memref<4xf32>
      %x1 = stream.read %one : !S
      stream.write %x1 into %new : !S
      %g1 = stream.read %gain : !S
      %first = arith.addf %x1, %g1 : vector<4xf32>
      vector.store %first, %sum[%c0] : memref<4xf32>, vector<4xf32>
      scf.for %row = %c0 to %n step %c1 {
        %t = stream.read %in : !S
        %old = vector.load %sum[%c0] : memref<4xf32>, vector<4xf32>
        %u = arith.addf %old, %t : vector<4xf32>
        vector.store %u, %sum[%c0] : memref<4xf32>, vector<4xf32>
      }
      %all = vector.load %sum[%c0] : memref<4xf32>, vector<4xf32>
      stream.write %all into %out : !S
      %a = vector.extract %all[0] : f32 from vector<4xf32>  %b = vector.extract %all[1] : f32 from vector<4xf32>
      %d = vector.extract %all[2] : f32 from vector<4xf32>  %e = vector.extract %all[3] : f32 from vector<4xf32>
      %i0 = arith.constant 0 : i64  %i1 = arith.constant 1 : i64  %i2 = arith.constant 2 : i64
      %is_a = arith.cmpf ogt, %a, %b : f32  %is_d = arith.cmpf ogt, %d, %e : f32
      %two = arith.select %is_a, %i2, %i0 : i64  %more = arith.select %is_d, %i1, %i0 : i64
      %number = arith.addi %two, %more : i64
      %found = vector.broadcast %number : i64 to vector<1xi64>
      stream.write %found into %token : !N
    }
    dataflow.task @store_c ins(%at = %pos : !pos, %in = %us : !S) outs(%out = %um : !C) kind store unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
      %row = itensor.size pos<=7 of %at
      scf.for %word = %c0 to %c1 step %c1 {
        %t = stream.read %in : !S
        %place = arith.addi %word, %row : index
        memref.store %t, %out[%place] : !C
      }
    }
    dataflow.task @store_logits ins(%in = %ls : !S) outs(%out = %lm : !W) kind store unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
      scf.for %word = %c0 to %c1 step %c1 {
        %t = stream.read %in : !S
        memref.store %t, %out[%word] : !W
      }
    }
    dataflow.task @store_token ins(%in = %ts : !N) outs(%out = %tm : !T) kind store unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
      scf.for %word = %c0 to %c1 step %c1 {
        %t = stream.read %in : !N
        memref.store %t, %out[%word] : !T
      }
    }
    dataflow.yield %tm, %lm, %um : !T, !W, !C
  }
  %t = dataflow.unpack %tw : tensor<1xvector<1xi64>> as !one -> tensor<1xi64>
  %l = dataflow.unpack %lw : tensor<1xvector<4xf32>> as !row -> tensor<4xf32>
  %u = dataflow.unpack %uw : tensor<8xvector<4xf32>> as !rows -> tensor<8x4xf32>
  func.return %t, %l, %u : tensor<1xi64>, tensor<4xf32>, tensor<8x4xf32>
}

// CHECK-LABEL: @main(
// CHECK-SAME: %tokens: tensor<3xi64> {stc.name = "tokens"}, %embedding: tensor<4x4xf32> {stc.name = "embedding", stc.parameter},
// CHECK-SAME: %g: tensor<3x4xf32> {stc.name = "g", stc.steps}, %c: tensor<8x4xf32> {stc.name = "c"}, %p: i32 {stc.name = "pos"})
// CHECK-SAME: -> (tensor<3x1xi64> {stc.name = "token", stc.steps}, tensor<3x4xf32> {stc.name = "logits", stc.steps}, tensor<8x4xf32> {stc.name = "updated"})
// CHECK: %gw = dataflow.pack %g : tensor<3x4xf32> as {{.*}} -> tensor<3xvector<4xf32>>
// CHECK: dataflow.pack %tokens : tensor<3xi64> as !itensor.itensor<1xi64, iter_space: [3] * [1], iter_map: (d0) -> (d0)> -> tensor<3xvector<1xi64>>
// CHECK: dataflow.pack %embedding : tensor<4x4xf32> as {{.*}} -> tensor<4xvector<4xf32>>
// CHECK: dataflow.kernel @k(%gm = {{.*}}memref<3xvector<4xf32>>, %cm = {{.*}}memref<8xvector<4xf32>>, %pos = %p : i32 as !itensor.symbol<pos<=7>,
// CHECK-SAME: into %cm at [%pos, 0] of {{.*}} steps 3 {
// CHECK: %tokens_stream = stream.create @tokens_stream {tokens = 1 : i64, distinct_tokens = 1 : i64} :
// CHECK: %[[THERE:.*]] = stream.create @store_c_written {tokens = 2 : i64, distinct_tokens = 2 : i64} : !stream.stream<i8, depth: 2>
// CHECK: %[[BACK:.*]] = stream.create @store_c_written{{.+}} {tokens = 2 : i64, distinct_tokens = 2 : i64} : !stream.stream<i8, depth: 2>
// CHECK: dataflow.task @load_tokens
// CHECK: scf.for %word = %c0 to %c3 step %c1
// CHECK: } {stc.steps,
// CHECK: dataflow.task @send_scalars
// CHECK: scf.for %step = %c0{{.*}} to %c3 step
// CHECK-NEXT: %[[AT:.*]] = itensor.advance %at by %step : !itensor.symbol<pos<=7>
// CHECK-NEXT: scf.for %once
// CHECK-NEXT: stream.write %[[AT]] into %out
// CHECK-NEXT: } {stc.drains,
// CHECK-NEXT: } {stc.steps,
// CHECK: %[[PASSED:.*]] = stream.create @token_found {tokens = 1 : i64, distinct_tokens = 1 : i64} : !stream.stream<vector<1xi64>, depth: 2>
// CHECK-NEXT: dataflow.task @embed ins(%[[GIVEN:.*]] = %tokens_stream : {{.*}}, %[[FOUND:.*]] = %ts : {{.*}}, %[[TABLE:.*]] = %{{.*}} : memref<4xvector<4xf32>>)
// CHECK-SAME: outs(%[[ROW:.*]] = %xs : {{.*}}, %[[NEXT:.*]] = %[[PASSED]] : {{.*}}) kind load unit @memory {
// CHECK: %number = memref.alloc() : memref<1xi64>
// CHECK: scf.for %step = %c0{{.*}} to %c3 step
// CHECK: scf.for %once
// CHECK: stream.read %[[GIVEN]]
// CHECK: %[[BEFORE:.*]] = memref.load %number
// CHECK: arith.cmpi eq, %step,
// CHECK-NEXT: %[[KNOWN:.*]] = arith.select %{{.*}}, %{{.*}}, %[[BEFORE]] : i64
// CHECK: %[[CHOSEN:.*]] = arith.select %{{.*}}, %[[KNOWN]], %{{.*}} : i64
// CHECK-NEXT: memref.store %[[CHOSEN]], %number
// CHECK: arith.maxsi
// CHECK-NEXT: arith.minsi
// CHECK: %first_word = arith.muli
// CHECK-NEXT: scf.for %word
// CHECK-NEXT: %[[PLACE:.*]] = arith.addi %first_word, %word : index
// CHECK-NEXT: %[[WORD:.*]] = memref.load %[[TABLE]][%[[PLACE]]]
// CHECK-NEXT: stream.write %[[WORD]] into %[[ROW]]
// CHECK: scf.for %once
// CHECK-NEXT: %[[TAKEN:.*]] = stream.read %[[FOUND]]
// CHECK-NEXT: vector.store %[[TAKEN]], %number
// CHECK-NEXT: stream.write %[[TAKEN]] into %[[NEXT]]
// CHECK: } {stc.steps,
// CHECK-NOT: @load_x
// CHECK: dataflow.task @load_g
// CHECK: scf.for %step
// CHECK: %[[OF_STEP:.*]] = arith.muli %step, %c1
// CHECK: scf.for %word
// CHECK-NEXT: %[[AT_STEP:.*]] = arith.addi %[[OF_STEP]], %word : index
// CHECK-NEXT: memref.load %in[%[[AT_STEP]]] : memref<3xvector<4xf32>>
// CHECK: dataflow.task @load_c ins(%at = %pos : {{.*}}, %in = %cm : {{.*}}, %written = %[[BACK]] : !stream.stream<i8, depth: 2>)
// CHECK: scf.for %step
// CHECK-NEXT: %[[AT:.*]] = itensor.advance %at by %step : !itensor.symbol<pos<=7>
// CHECK-NEXT: %n = itensor.size pos<=7 of %[[AT]]
// CHECK-NEXT: scf.for %word = %c0 to %n step %c1
// CHECK: scf.for %word_1 = %{{.*}} to %c2{{.*}} step
// CHECK-NEXT: stream.read %written
// CHECK: dataflow.task @total
// CHECK-NOT: scf.for %step
// CHECK: dataflow.task @relay_store_c_written ins(%[[IN:.*]] = %[[THERE]] : {{.*}}) outs(%[[OUT:.*]] = %[[BACK]] : {{.*}}) unit @body {
// CHECK: %[[CREDIT:.*]] = stream.read %[[IN]]
// CHECK-NEXT: stream.write %[[CREDIT]] into %[[OUT]]
// CHECK: dataflow.task @store_c ins(%at = %pos : {{.*}}, %in = %us : {{.*}}) outs(%out = %um : {{.*}}, %written = %[[THERE]] : {{.*}}) kind store unit @memory {
// CHECK: scf.for %step
// CHECK-NEXT: %[[AT:.*]] = itensor.advance %at by %step
// CHECK-NEXT: itensor.size pos<=7 of %[[AT]]
// CHECK: memref.store
// CHECK-NEXT: } {stc.drains}
// CHECK: scf.for %word_1 = %{{.*}} to %c2{{.*}} step
// CHECK: stream.write %{{.*}} into %written
// CHECK: dataflow.task @store_token ins(%in = %[[PASSED]] :
// CHECK: scf.for %step
// CHECK: memref.store %t, %out[%{{.*}}] : memref<3xvector<1xi64>>
