// RUN: stc-opt %s -p 'share-ports{in-turn=true}' --split-input-file | filecheck %s

// @load_shared cuts words of two gains into tokens, both in one buffer: 16 tokens of each, where ports bring 128 words of @w each.
// The third has 128 tokens for its 8 words, for which there is no time left: it is cut behind a stream of words.
// SHOW: dataflow.task .*|memref\.\w+ .*|scf.for .*step %\w+
func.func @gains(%w: tensor<4096xvector<64xi8>> {stc.parameter}, %a: tensor<4xvector<16xf32>> {stc.parameter}, %b: tensor<4xvector<16xf32>> {stc.parameter}, %c: tensor<8xvector<16xf32>> {stc.parameter}) {
  dataflow.kernel @k(%pw = %w : tensor<4096xvector<64xi8>> as memref<4096xvector<64xi8>>, %pa = %a : tensor<4xvector<16xf32>> as memref<4xvector<16xf32>>, %pb = %b : tensor<4xvector<16xf32>> as memref<4xvector<16xf32>>, %pc = %c : tensor<8xvector<16xf32>> as memref<8xvector<16xf32>>) {
    %sa = stream.create @sa : !stream.stream<vector<4xf32>, depth: 2>
    dataflow.task @load_a ins(%m = %pa : memref<4xvector<16xf32>>) outs(%o = %sa : !stream.stream<vector<4xf32>, depth: 2>) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index  %step = arith.constant 4 : index
      %packed = memref.alloc() : memref<16xf32>
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : memref<4xvector<16xf32>>
        vector.store %0, %packed[%c0] : memref<16xf32>, vector<16xf32>
        scf.for %lane = %c0 to %c16 step %step {
          %1 = vector.load %packed[%lane] : memref<16xf32>, vector<4xf32>
          stream.write %1 into %o : !stream.stream<vector<4xf32>, depth: 2>
        } {stc.unroll = 0 : i32}
      }
      dataflow.yield
    }
    %sb = stream.create @sb : !stream.stream<vector<4xf32>, depth: 2>
    dataflow.task @load_b ins(%m = %pb : memref<4xvector<16xf32>>) outs(%o = %sb : !stream.stream<vector<4xf32>, depth: 2>) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index  %step = arith.constant 4 : index
      %packed = memref.alloc() : memref<16xf32>
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : memref<4xvector<16xf32>>
        vector.store %0, %packed[%c0] : memref<16xf32>, vector<16xf32>
        scf.for %lane = %c0 to %c16 step %step {
          %1 = vector.load %packed[%lane] : memref<16xf32>, vector<4xf32>
          stream.write %1 into %o : !stream.stream<vector<4xf32>, depth: 2>
        } {stc.unroll = 0 : i32}
      }
      dataflow.yield
    }
    %sc = stream.create @sc : !stream.stream<vector<1xf32>, depth: 2>
    dataflow.task @load_c ins(%m = %pc : memref<8xvector<16xf32>>) outs(%o = %sc : !stream.stream<vector<1xf32>, depth: 2>) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index  %step = arith.constant 1 : index
      %packed = memref.alloc() : memref<16xf32>
      scf.for %word = %c0 to %c8 step %c1 {
        %0 = memref.load %m[%word] : memref<8xvector<16xf32>>
        vector.store %0, %packed[%c0] : memref<16xf32>, vector<16xf32>
        scf.for %lane = %c0 to %c16 step %step {
          %1 = vector.load %packed[%lane] : memref<16xf32>, vector<1xf32>
          stream.write %1 into %o : !stream.stream<vector<1xf32>, depth: 2>
        } {stc.unroll = 0 : i32}
      }
      dataflow.yield
    }
    dataflow.task @sum ins(%x = %sa : !stream.stream<vector<4xf32>, depth: 2>, %y = %sb : !stream.stream<vector<4xf32>, depth: 2>, %z = %sc : !stream.stream<vector<1xf32>, depth: 2>, %v = %pw : memref<4096xvector<64xi8>>) { dataflow.yield }
    dataflow.yield
  }
  return
}

// CHECK: dataflow.task @load_shared ins(%[[A:.*]] = %pa : {{.*}}, %[[B:.*]] = %pb : {{.*}}, %[[C:.*]] = %pc : {{.*}}) outs(%[[SA:.*]] = %sa : {{.*}}, %[[SB:.*]] = %sb : {{.*}}, %[[WORDS:.*]] = %pc_words : {{.*}}) kind load {
// CHECK: %[[BUFFER:.*]] = memref.alloc() : memref<16xf32>
// CHECK-NEXT: scf.for %word = {{.*}} {
// CHECK-NEXT: %[[WORD:.*]] = memref.load %[[A]][%word]
// CHECK-NEXT: vector.store %[[WORD]], %[[BUFFER]]
// CHECK-NEXT: scf.for %lane = {{.*}} {
// CHECK-NEXT: %[[TOKEN:.*]] = vector.load %[[BUFFER]][%lane] : memref<16xf32>, vector<4xf32>
// CHECK-NEXT: stream.write %[[TOKEN]] into %[[SA]]
// CHECK-NOT: memref.alloc
// CHECK: stream.write %{{.*}} into %[[SB]]
// CHECK: memref.load %[[C]]
// CHECK-NEXT: stream.write %{{.*}} into %[[WORDS]]
// CHECK: dataflow.task @load_c ins({{.*}} = %pc_words : {{.*}}) outs(%o = %sc : {{.*}}) kind hold {

// -----

// As many words of 16xf32 may come behind the gains' through their port: there is no time for more tokens than words.
// SHOW: dataflow.task .*
func.func @followed(%w: tensor<4096xvector<16xf32>> {stc.parameter}, %a: tensor<4xvector<16xf32>> {stc.parameter}, %b: tensor<4xvector<16xf32>> {stc.parameter}, %c: tensor<8xvector<16xf32>> {stc.parameter}) {
  dataflow.kernel @k(%pw = %w : tensor<4096xvector<16xf32>> as memref<4096xvector<16xf32>>, %pa = %a : tensor<4xvector<16xf32>> as memref<4xvector<16xf32>>, %pb = %b : tensor<4xvector<16xf32>> as memref<4xvector<16xf32>>, %pc = %c : tensor<8xvector<16xf32>> as memref<8xvector<16xf32>>) {
    %sa = stream.create @sa : !stream.stream<vector<4xf32>, depth: 2>
    dataflow.task @load_a ins(%m = %pa : memref<4xvector<16xf32>>) outs(%o = %sa : !stream.stream<vector<4xf32>, depth: 2>) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index  %step = arith.constant 4 : index
      %packed = memref.alloc() : memref<16xf32>
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : memref<4xvector<16xf32>>
        vector.store %0, %packed[%c0] : memref<16xf32>, vector<16xf32>
        scf.for %lane = %c0 to %c16 step %step {
          %1 = vector.load %packed[%lane] : memref<16xf32>, vector<4xf32>
          stream.write %1 into %o : !stream.stream<vector<4xf32>, depth: 2>
        } {stc.unroll = 0 : i32}
      }
      dataflow.yield
    }
    %sb = stream.create @sb : !stream.stream<vector<4xf32>, depth: 2>
    dataflow.task @load_b ins(%m = %pb : memref<4xvector<16xf32>>) outs(%o = %sb : !stream.stream<vector<4xf32>, depth: 2>) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index  %step = arith.constant 4 : index
      %packed = memref.alloc() : memref<16xf32>
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : memref<4xvector<16xf32>>
        vector.store %0, %packed[%c0] : memref<16xf32>, vector<16xf32>
        scf.for %lane = %c0 to %c16 step %step {
          %1 = vector.load %packed[%lane] : memref<16xf32>, vector<4xf32>
          stream.write %1 into %o : !stream.stream<vector<4xf32>, depth: 2>
        } {stc.unroll = 0 : i32}
      }
      dataflow.yield
    }
    %sc = stream.create @sc : !stream.stream<vector<1xf32>, depth: 2>
    dataflow.task @load_c ins(%m = %pc : memref<8xvector<16xf32>>) outs(%o = %sc : !stream.stream<vector<1xf32>, depth: 2>) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index  %step = arith.constant 1 : index
      %packed = memref.alloc() : memref<16xf32>
      scf.for %word = %c0 to %c8 step %c1 {
        %0 = memref.load %m[%word] : memref<8xvector<16xf32>>
        vector.store %0, %packed[%c0] : memref<16xf32>, vector<16xf32>
        scf.for %lane = %c0 to %c16 step %step {
          %1 = vector.load %packed[%lane] : memref<16xf32>, vector<1xf32>
          stream.write %1 into %o : !stream.stream<vector<1xf32>, depth: 2>
        } {stc.unroll = 0 : i32}
      }
      dataflow.yield
    }
    dataflow.task @sum ins(%x = %sa : !stream.stream<vector<4xf32>, depth: 2>, %y = %sb : !stream.stream<vector<4xf32>, depth: 2>, %z = %sc : !stream.stream<vector<1xf32>, depth: 2>, %v = %pw : memref<4096xvector<16xf32>>) { dataflow.yield }
    dataflow.yield
  }
  return
}

// CHECK-LABEL: func.func @followed(
// CHECK: dataflow.task @load_a {{.*}} kind hold {
// CHECK: dataflow.task @load_b {{.*}} kind hold {

// -----

// Words of a quarter of a port's bits take it as long each: 120 of the 128 cycles are those of both gains' words, and there is no
// time for more tokens.
// SHOW: dataflow.task .*
func.func @narrow(%w: tensor<4096xvector<64xi8>> {stc.parameter}, %a: tensor<60xvector<4xf32>> {stc.parameter}, %b: tensor<60xvector<4xf32>> {stc.parameter}) {
  dataflow.kernel @k(%pw = %w : tensor<4096xvector<64xi8>> as memref<4096xvector<64xi8>>, %pa = %a : tensor<60xvector<4xf32>> as memref<60xvector<4xf32>>, %pb = %b : tensor<60xvector<4xf32>> as memref<60xvector<4xf32>>) {
    %sa = stream.create @sa : !stream.stream<vector<1xf32>, depth: 2>
    dataflow.task @load_a ins(%m = %pa : memref<60xvector<4xf32>>) outs(%o = %sa : !stream.stream<vector<1xf32>, depth: 2>) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c60 = arith.constant 60 : index
      %c4 = arith.constant 4 : index
      %packed = memref.alloc() : memref<4xf32>
      scf.for %word = %c0 to %c60 step %c1 {
        %0 = memref.load %m[%word] : memref<60xvector<4xf32>>
        vector.store %0, %packed[%c0] : memref<4xf32>, vector<4xf32>
        scf.for %lane = %c0 to %c4 step %c1 {
          %1 = vector.load %packed[%lane] : memref<4xf32>, vector<1xf32>
          stream.write %1 into %o : !stream.stream<vector<1xf32>, depth: 2>
        } {stc.unroll = 0 : i32}
      }
      dataflow.yield
    }
    %sb = stream.create @sb : !stream.stream<vector<1xf32>, depth: 2>
    dataflow.task @load_b ins(%m = %pb : memref<60xvector<4xf32>>) outs(%o = %sb : !stream.stream<vector<1xf32>, depth: 2>) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c60 = arith.constant 60 : index
      %c4 = arith.constant 4 : index
      %packed = memref.alloc() : memref<4xf32>
      scf.for %word = %c0 to %c60 step %c1 {
        %0 = memref.load %m[%word] : memref<60xvector<4xf32>>
        vector.store %0, %packed[%c0] : memref<4xf32>, vector<4xf32>
        scf.for %lane = %c0 to %c4 step %c1 {
          %1 = vector.load %packed[%lane] : memref<4xf32>, vector<1xf32>
          stream.write %1 into %o : !stream.stream<vector<1xf32>, depth: 2>
        } {stc.unroll = 0 : i32}
      }
      dataflow.yield
    }
    dataflow.task @sum ins(%xa = %sa : !stream.stream<vector<1xf32>, depth: 2>, %xb = %sb : !stream.stream<vector<1xf32>, depth: 2>, %v = %pw : memref<4096xvector<64xi8>>) { dataflow.yield }
    dataflow.yield
  }
  return
}

// CHECK-LABEL: func.func @narrow(
// CHECK: dataflow.task @load_a {{.*}} kind hold {
// CHECK: dataflow.task @load_b {{.*}} kind hold {
