// RUN: stc-opt %s -p share-contractions --check-semantics=7 | filecheck %s
// RUN: stc-opt %s -p share-contractions{sums-in-turn=true},assign-units --check-semantics=7 | filecheck %s

// %down waits for %up, and its weights come through the same port: both compute on the multipliers of @array, 2 sums of each lane and
// then 3, which leave one lane after the other. %other has another number of terms, and keeps its own.
// Sums in turn change nothing: %narrow computes in integers, and hands on to a contraction.
// SHOW: dataflow.task .*|stream.create .*?:
#term = affine_map<(d0, d1) -> (d1)>
#lane = affine_map<(d0, d1) -> (d0)>
#both = affine_map<(d0, d1) -> (d1, d0)>
!factors = !stream.stream<vector<1xi8>, depth: 4>
!words = !stream.stream<vector<2xi8>, depth: 2>
!sums = !stream.stream<vector<1xi32>, depth: 2>
func.func @main(%x: tensor<4xi8> {stc.name = "x"}, %u: tensor<8x2xi8> {stc.name = "u", stc.parameter}, %d: tensor<12x2xi8> {stc.name = "d", stc.parameter}, %o: tensor<6x2xi8> {stc.name = "o", stc.parameter}) -> (tensor<6xi32> {stc.name = "y"}, tensor<4xi32> {stc.name = "z"}) {
  %xs = dataflow.pack %x : tensor<4xi8> as !itensor.itensor<1xi8, iter_space: [4] * [1], iter_map: (d0) -> (d0)> -> tensor<4xvector<1xi8>>
  %us = dataflow.pack %u : tensor<8x2xi8> as !itensor.itensor<1x2xi8, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<8xvector<2xi8>>
  %ds = dataflow.pack %d : tensor<12x2xi8> as !itensor.itensor<1x2xi8, iter_space: [12] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<12xvector<2xi8>>
  %os = dataflow.pack %o : tensor<6x2xi8> as !itensor.itensor<1x2xi8, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<6xvector<2xi8>>
  %ys, %zs = dataflow.kernel @k(%px = %xs : tensor<4xvector<1xi8>> as memref<4xvector<1xi8>>, %pu = %us : tensor<8xvector<2xi8>> as memref<8xvector<2xi8>>, %pd = %ds : tensor<12xvector<2xi8>> as memref<12xvector<2xi8>>, %po = %os : tensor<6xvector<2xi8>> as memref<6xvector<2xi8>>) -> (tensor<6xvector<1xi32>> as memref<6xvector<1xi32>>, tensor<4xvector<1xi32>> as memref<4xvector<1xi32>>) {
    %xu = stream.create @xu : !factors
    %xo = stream.create @xo : !factors
    %wu = stream.create @wu : !words
    %wd = stream.create @wd : !words
    %wo = stream.create @wo : !words
    %h = stream.create @h : !sums
    %q = stream.create @q : !factors
    %t = stream.create @t : !sums
    %v = stream.create @v : !sums
    %ym = dataflow.memory @ym : memref<6xvector<1xi32>>
    %zm = dataflow.memory @zm : memref<4xvector<1xi32>>
    dataflow.task @load_x ins(%m = %px : memref<4xvector<1xi8>>) outs(%a = %xu : !factors, %b = %xo : !factors) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index  %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : memref<4xvector<1xi8>>
        stream.write %0 into %a : !factors
        %1 = arith.cmpi ult, %word, %c3 : index
        scf.if %1 {
          stream.write %0 into %b : !factors
        }
      }
      dataflow.yield
    }
    dataflow.task @load ins(%m0 = %pu : memref<8xvector<2xi8>>, %m1 = %po : memref<6xvector<2xi8>>, %m2 = %pd : memref<12xvector<2xi8>>) outs(%o0 = %wu : !words, %o1 = %wo : !words, %o2 = %wd : !words) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
      %n0 = arith.constant 8 : index
      %n1 = arith.constant 6 : index
      %n2 = arith.constant 12 : index
      scf.for %word0 = %c0 to %n0 step %c1 {
        %0 = memref.load %m0[%word0] : memref<8xvector<2xi8>>
        stream.write %0 into %o0 : !words
      }
      scf.for %word1 = %c0 to %n1 step %c1 {
        %0 = memref.load %m1[%word1] : memref<6xvector<2xi8>>
        stream.write %0 into %o1 : !words
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
    dataflow.task @other ins(%x = %xo : !factors, %w = %wo : !words) outs(%o = %v : !sums) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %cn = arith.constant 2 : index  %ck = arith.constant 3 : index
      %cl = arith.constant 2 : index
      %zero = arith.constant 0 : i32
      %a = memref.alloc() : memref<3xi8>
      %b = memref.alloc() : memref<3x2xi8>
      %s = memref.alloc() : memref<2xi32>
      scf.for %term = %c0 to %ck step %c1 {
        %t = stream.read %x : !factors
        vector.store %t, %a[%term] : memref<3xi8>, vector<1xi8>
      }
      scf.for %n = %c0 to %cn step %c1 {
        scf.for %term = %c0 to %ck step %c1 {
          %t = stream.read %w : !words
          vector.store %t, %b[%term, %c0] : memref<3x2xi8>, vector<2xi8>
        }
        linalg.fill ins(%zero : i32) outs(%s : memref<2xi32>)
        linalg.generic {indexing_maps = [#term, #both, #lane], iterator_types = ["parallel", "reduction"]}
            ins(%a, %b : memref<3xi8>, memref<3x2xi8>) outs(%s : memref<2xi32>) attrs = {stc.name = "other", stc.shared} {
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
    dataflow.task @narrow ins(%i = %h : !sums) outs(%o = %q : !factors) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
      %wide = memref.alloc() : memref<1xi32>  %narrow = memref.alloc() : memref<1xi8>
      scf.for %n = %c0 to %c4 step %c1 {
        %0 = stream.read %i : !sums
        vector.store %0, %wide[%c0] : memref<1xi32>, vector<1xi32>
        %1 = memref.load %wide[%c0] : memref<1xi32>
        %2 = arith.trunci %1 : i32 to i8
        memref.store %2, %narrow[%c0] : memref<1xi8>
        %3 = vector.load %narrow[%c0] : memref<1xi8>, vector<1xi8>
        stream.write %3 into %o : !factors
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
    dataflow.task @store_ym ins(%i = %t : !sums) outs(%o = %ym : memref<6xvector<1xi32>>) kind store {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %cn = arith.constant 6 : index
      scf.for %word = %c0 to %cn step %c1 {
        %0 = stream.read %i : !sums
        memref.store %0, %o[%word] : memref<6xvector<1xi32>>
      }
      dataflow.yield
    }
    dataflow.task @store_zm ins(%i = %v : !sums) outs(%o = %zm : memref<4xvector<1xi32>>) kind store {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %cn = arith.constant 4 : index
      scf.for %word = %c0 to %cn step %c1 {
        %0 = stream.read %i : !sums
        memref.store %0, %o[%word] : memref<4xvector<1xi32>>
      }
      dataflow.yield
    }
    dataflow.yield %ym, %zm : memref<6xvector<1xi32>>, memref<4xvector<1xi32>>
  }
  %y = dataflow.unpack %ys : tensor<6xvector<1xi32>> as !itensor.itensor<1xi32, iter_space: [6] * [1], iter_map: (d0) -> (d0)> -> tensor<6xi32>
  %z = dataflow.unpack %zs : tensor<4xvector<1xi32>> as !itensor.itensor<1xi32, iter_space: [4] * [1], iter_map: (d0) -> (d0)> -> tensor<4xi32>
  func.return %y, %z : tensor<6xi32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @main(
// CHECK: %xu = stream.create @xu : !stream.stream<vector<1xi8>, depth: 4>
// CHECK-NEXT: %xo = stream.create @xo : !stream.stream<vector<1xi8>, depth: 4>
// CHECK-NEXT: %wo = stream.create @wo : !stream.stream<vector<2xi8>, depth: 2>
// CHECK-NEXT: %h = stream.create @h : !stream.stream<vector<1xi32>, depth: 2>
// CHECK-NEXT: %q = stream.create @q : !stream.stream<vector<1xi8>, depth: 4>
// CHECK-NEXT: %t = stream.create @t : !stream.stream<vector<1xi32>, depth: 2>
// CHECK-NEXT: %v = stream.create @v : !stream.stream<vector<1xi32>, depth: 2>
// CHECK: dataflow.task @load_x ins(%m = %px : memref<4xvector<1xi8>>) outs(%a = %xu : !stream.stream<vector<1xi8>, depth: 4>, %b = %xo : !stream.stream<vector<1xi8>, depth: 4>) kind load unit @main {
// CHECK: %array_factors = stream.create @array_factors {tokens = 20 : i64, distinct_tokens = 20 : i64} : !stream.stream<vector<1xi8>, depth: 2>
// CHECK-NEXT: %array_weights = stream.create @array_weights {tokens = 20 : i64, distinct_tokens = 20 : i64} : !stream.stream<vector<2xi8>, depth: 2>
// CHECK-NEXT: %array_sums = stream.create @array_sums {tokens = 10 : i64, distinct_tokens = 10 : i64} : !stream.stream<vector<1xi32>, depth: 2>
// CHECK-NEXT: dataflow.task @load ins(%m0 = %pu : memref<8xvector<2xi8>>, %m1 = %po : memref<6xvector<2xi8>>, %m2 = %pd : memref<12xvector<2xi8>>) outs(%o1 = %wo : !stream.stream<vector<2xi8>, depth: 2>, %[[ARRAY_WEIGHTS:.*]] = %array_weights : !stream.stream<vector<2xi8>, depth: 2>) kind load unit @main {
// CHECK: dataflow.task @other ins(%x_{{.*}} = %xo : !stream.stream<vector<1xi8>, depth: 4>, %w = %wo : !stream.stream<vector<2xi8>, depth: 2>) outs(%[[O:.*]] = %v : !stream.stream<vector<1xi32>, depth: 2>) unit @main {
// CHECK: dataflow.task @narrow ins(%i = %h : !stream.stream<vector<1xi32>, depth: 2>) outs(%[[O1:.*]] = %q : !stream.stream<vector<1xi8>, depth: 4>) unit @main {
// CHECK: dataflow.task @array_send ins(%xu_{{.*}} = %xu : !stream.stream<vector<1xi8>, depth: 4>, %q_{{.*}} = %q : !stream.stream<vector<1xi8>, depth: 4>) outs(%[[ARRAY_FACTORS:.*]] = %array_factors : !stream.stream<vector<1xi8>, depth: 2>) unit @array {
// CHECK: [[TOKEN:%.*]] = stream.read %xu_
// CHECK-NEXT: vector.store [[TOKEN]], %held
// CHECK-NEXT: stream.write [[TOKEN]] into %[[ARRAY_FACTORS]]
// CHECK: [[AGAIN:%.*]] = vector.load %held
// CHECK-NEXT: stream.write [[AGAIN]] into %[[ARRAY_FACTORS]]
// CHECK: dataflow.task @array ins(%[[ARRAY_FACTORS1:.*]] = %array_factors : !stream.stream<vector<1xi8>, depth: 2>, %[[ARRAY_WEIGHTS1:.*]] = %array_weights : !stream.stream<vector<2xi8>, depth: 2>) outs(%[[ARRAY_SUMS:.*]] = %array_sums : !stream.stream<vector<1xi32>, depth: 2>) unit @array {
// CHECK: dataflow.task @array_hand_out ins(%[[ARRAY_SUMS1:.*]] = %array_sums : !stream.stream<vector<1xi32>, depth: 2>) outs(%h_{{.*}} = %h : !stream.stream<vector<1xi32>, depth: 2>, %t_{{.*}} = %t : !stream.stream<vector<1xi32>, depth: 2>) unit @array {
// CHECK: dataflow.task @store_ym ins(%i = %t : !stream.stream<vector<1xi32>, depth: 2>) outs(%[[O:.*]] = %ym : memref<6xvector<1xi32>>) kind store unit @main {
// CHECK: dataflow.task @store_zm ins(%i = %v : !stream.stream<vector<1xi32>, depth: 2>) outs(%[[O1:.*]] = %zm : memref<4xvector<1xi32>>) kind store unit @main {
