// RUN: stc-opt %s -p share-contractions{sums-in-turn=true} --check-semantics=7 | filecheck %s

// Who takes the sums of %up and %down, which compute on one set of multipliers, is one task, too: a loop for the 4 sums of %up, and
// one for the 6 of %down. %narrow, which the second waits for, is in another unit: tasks of one form no cycle.
#term = affine_map<(d0, d1) -> (d1)>
#lane = affine_map<(d0, d1) -> (d0)>
#both = affine_map<(d0, d1) -> (d1, d0)>
!factors = !stream.stream<vector<1xi8>, depth: 4>
!words = !stream.stream<vector<2xi8>, depth: 2>
!sums = !stream.stream<vector<1xi32>, depth: 2>
!halves = !stream.stream<vector<1xf32>, depth: 2>
func.func @main(%x: tensor<4xi8> {stc.name = "x"}, %u: tensor<8x2xi8> {stc.name = "u", stc.parameter}, %d: tensor<12x2xi8> {stc.name = "d", stc.parameter}) -> (tensor<6xf32> {stc.name = "y"}) {
  %xs = dataflow.pack %x : tensor<4xi8> as !itensor.itensor<1xi8, iter_space: [4] * [1], iter_map: (d0) -> (d0)> -> tensor<4xvector<1xi8>>
  %us = dataflow.pack %u : tensor<8x2xi8> as !itensor.itensor<1x2xi8, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<8xvector<2xi8>>
  %ds = dataflow.pack %d : tensor<12x2xi8> as !itensor.itensor<1x2xi8, iter_space: [12] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<12xvector<2xi8>>
  %ys = dataflow.kernel @k(%px = %xs : tensor<4xvector<1xi8>> as memref<4xvector<1xi8>>, %pu = %us : tensor<8xvector<2xi8>> as memref<8xvector<2xi8>>, %pd = %ds : tensor<12xvector<2xi8>> as memref<12xvector<2xi8>>) -> (tensor<6xvector<1xf32>> as memref<6xvector<1xf32>>) {
    %xu = stream.create @xu : !factors
    %wu = stream.create @wu : !words
    %wd = stream.create @wd : !words
    %h = stream.create @h : !sums
    %q = stream.create @q : !factors
    %t = stream.create @t : !sums
    %g = stream.create @g : !halves
    %e = stream.create @e : !halves
    %ym = dataflow.memory @ym : memref<6xvector<1xf32>>
    dataflow.task @load_x ins(%m = %px : memref<4xvector<1xi8>>) outs(%a = %xu : !factors) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : memref<4xvector<1xi8>>
        stream.write %0 into %a : !factors
      }
      dataflow.yield
    }
    dataflow.task @load ins(%m0 = %pu : memref<8xvector<2xi8>>, %m2 = %pd : memref<12xvector<2xi8>>) outs(%o0 = %wu : !words, %o2 = %wd : !words) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
      %n0 = arith.constant 8 : index
      %n2 = arith.constant 12 : index
      scf.for %word0 = %c0 to %n0 step %c1 {
        %0 = memref.load %m0[%word0] : memref<8xvector<2xi8>>
        stream.write %0 into %o0 : !words
      }
      scf.for %word2 = %c0 to %n2 step %c1 {
        %0 = memref.load %m2[%word2] : memref<12xvector<2xi8>>
        stream.write %0 into %o2 : !words
      }
      dataflow.yield
    }
    dataflow.task @up ins(%x = %xu : !factors, %w = %wu : !words) outs(%o = %h : !sums) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %cn = arith.constant 2 : index  %ck = arith.constant 4 : index
      %cl = arith.constant 2 : index
      %zero = arith.constant 0 : i32
      %a = memref.alloc() : memref<4xi8>
      %b = memref.alloc() : memref<4x2xi8>
      %s = memref.alloc() : memref<2xi32>
      scf.for %term = %c0 to %ck step %c1 {
        %t = stream.read %x : !factors
        vector.store %t, %a[%term] : memref<4xi8>, vector<1xi8>
      }
      scf.for %n = %c0 to %cn step %c1 {
        scf.for %term = %c0 to %ck step %c1 {
          %t = stream.read %w : !words
          vector.store %t, %b[%term, %c0] : memref<4x2xi8>, vector<2xi8>
        }
        linalg.fill ins(%zero : i32) outs(%s : memref<2xi32>)
        linalg.generic {indexing_maps = [#term, #both, #lane], iterator_types = ["parallel", "reduction"]}
            ins(%a, %b : memref<4xi8>, memref<4x2xi8>) outs(%s : memref<2xi32>) attrs = {stc.name = "up", stc.shared} {
        ^bb0(%p: i8, %q: i8, %r: i32):
          %0 = arith.extsi %p : i8 to i32
          %1 = arith.extsi %q : i8 to i32
          %2 = arith.muli %0, %1 : i32
          %3 = arith.addi %r, %2 : i32
          linalg.yield %3 : i32
        }
        scf.for %lane = %c0 to %cl step %c1 {
          %t = vector.load %s[%lane] : memref<2xi32>, vector<1xi32>
          stream.write %t into %o : !sums
        }
      }
      dataflow.yield
    }
    dataflow.task @half_up ins(%i = %h : !sums) outs(%o = %g : !halves) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %cn = arith.constant 4 : index  %half = arith.constant 0.5 : f32
      %sum = memref.alloc() : memref<1xi32>  %scaled = memref.alloc() : memref<1xf32>
      scf.for %n = %c0 to %cn step %c1 {
        %0 = stream.read %i : !sums
        vector.store %0, %sum[%c0] : memref<1xi32>, vector<1xi32>
        %1 = memref.load %sum[%c0] : memref<1xi32>
        %2 = arith.sitofp %1 : i32 to f32
        %3 = arith.mulf %2, %half : f32
        memref.store %3, %scaled[%c0] : memref<1xf32>
        %4 = vector.load %scaled[%c0] : memref<1xf32>, vector<1xf32>
        stream.write %4 into %o : !halves
      }
      dataflow.yield
    }
    dataflow.task @narrow ins(%i = %g : !halves) outs(%o = %q : !factors) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
      %wide = memref.alloc() : memref<1xf32>  %narrow = memref.alloc() : memref<1xi8>
      scf.for %n = %c0 to %c4 step %c1 {
        %0 = stream.read %i : !halves
        vector.store %0, %wide[%c0] : memref<1xf32>, vector<1xf32>
        %1 = memref.load %wide[%c0] : memref<1xf32>
        %2 = arith.fptosi %1 : f32 to i32
        %3 = arith.trunci %2 : i32 to i8
        memref.store %3, %narrow[%c0] : memref<1xi8>
        %4 = vector.load %narrow[%c0] : memref<1xi8>, vector<1xi8>
        stream.write %4 into %o : !factors
      }
      dataflow.yield
    }
    dataflow.task @down ins(%x = %q : !factors, %w = %wd : !words) outs(%o = %t : !sums) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %cn = arith.constant 3 : index  %ck = arith.constant 4 : index
      %cl = arith.constant 2 : index
      %zero = arith.constant 0 : i32
      %a = memref.alloc() : memref<4xi8>
      %b = memref.alloc() : memref<4x2xi8>
      %s = memref.alloc() : memref<2xi32>
      scf.for %term = %c0 to %ck step %c1 {
        %t = stream.read %x : !factors
        vector.store %t, %a[%term] : memref<4xi8>, vector<1xi8>
      }
      scf.for %n = %c0 to %cn step %c1 {
        scf.for %term = %c0 to %ck step %c1 {
          %t = stream.read %w : !words
          vector.store %t, %b[%term, %c0] : memref<4x2xi8>, vector<2xi8>
        }
        linalg.fill ins(%zero : i32) outs(%s : memref<2xi32>)
        linalg.generic {indexing_maps = [#term, #both, #lane], iterator_types = ["parallel", "reduction"]}
            ins(%a, %b : memref<4xi8>, memref<4x2xi8>) outs(%s : memref<2xi32>) attrs = {stc.name = "down", stc.shared} {
        ^bb0(%p: i8, %q: i8, %r: i32):
          %0 = arith.extsi %p : i8 to i32
          %1 = arith.extsi %q : i8 to i32
          %2 = arith.muli %0, %1 : i32
          %3 = arith.addi %r, %2 : i32
          linalg.yield %3 : i32
        }
        scf.for %lane = %c0 to %cl step %c1 {
          %t = vector.load %s[%lane] : memref<2xi32>, vector<1xi32>
          stream.write %t into %o : !sums
        }
      }
      dataflow.yield
    }
    dataflow.task @half_down ins(%i = %t : !sums) outs(%o = %e : !halves) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %cn = arith.constant 6 : index  %half = arith.constant 0.5 : f32
      %sum = memref.alloc() : memref<1xi32>  %scaled = memref.alloc() : memref<1xf32>
      scf.for %n = %c0 to %cn step %c1 {
        %0 = stream.read %i : !sums
        vector.store %0, %sum[%c0] : memref<1xi32>, vector<1xi32>
        %1 = memref.load %sum[%c0] : memref<1xi32>
        %2 = arith.sitofp %1 : i32 to f32
        %3 = arith.mulf %2, %half : f32
        memref.store %3, %scaled[%c0] : memref<1xf32>
        %4 = vector.load %scaled[%c0] : memref<1xf32>, vector<1xf32>
        stream.write %4 into %o : !halves
      }
      dataflow.yield
    }
    dataflow.task @store_ym ins(%i = %e : !halves) outs(%o = %ym : memref<6xvector<1xf32>>) kind store {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %cn = arith.constant 6 : index
      scf.for %word = %c0 to %cn step %c1 {
        %0 = stream.read %i : !halves
        memref.store %0, %o[%word] : memref<6xvector<1xf32>>
      }
      dataflow.yield
    }
    dataflow.yield %ym : memref<6xvector<1xf32>>
  }
  %y = dataflow.unpack %ys : tensor<6xvector<1xf32>> as !itensor.itensor<1xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0)> -> tensor<6xf32>
  func.return %y : tensor<6xf32>
}

// CHECK-NOT: @half_down
// CHECK: dataflow.task @narrow {{.*}} unit @main {
// CHECK: dataflow.task @array_hand_out {{.*}} unit @array {
// CHECK: dataflow.task @half_up_in_turn ins(%[[UP:.*]] = %h : !stream.stream<vector<1xi32>, depth: 2>, %[[DOWN:.*]] = %t : !stream.stream<vector<1xi32>, depth: 2>) outs(%[[G:.*]] = %g : !stream.stream<vector<1xf32>, depth: 2>, %[[E:.*]] = %e : !stream.stream<vector<1xf32>, depth: 2>) unit @array {
// CHECK: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK: scf.for %n = %{{.*}} to %[[FOUR]] step
// CHECK-NEXT: stream.read %[[UP]] :
// CHECK: arith.mulf
// CHECK: stream.write %{{.*}} into %[[G]] :
// CHECK: %[[SIX:.*]] = arith.constant 6 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[SIX]] step
// CHECK-NEXT: stream.read %[[DOWN]] :
// CHECK: arith.mulf
// CHECK: stream.write %{{.*}} into %[[E]] :
