// Two contractions, the second one of sums of the first: their weights come through one port, those of @up before those of @down.
!word = vector<2xi8>
!words = !stream.stream<!word, depth: 64>
func.func @main(%x: tensor<6xi8> {stc.name = "x"}, %u: tensor<18x2xi8> {stc.name = "u", stc.parameter},
    %d: tensor<18x2xi8> {stc.name = "d", stc.parameter}) -> (tensor<6xi32> {stc.name = "y"}) {
  %xp = dataflow.pack %x : tensor<6xi8> as !itensor.itensor<1xi8, iter_space: [6] * [1], iter_map: (d0) -> (d0)> -> tensor<6xvector<1xi8>>
  %up = dataflow.pack %u : tensor<18x2xi8> as !itensor.itensor<1x2xi8, iter_space: [18] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<18x!word>
  %dp = dataflow.pack %d : tensor<18x2xi8> as !itensor.itensor<1x2xi8, iter_space: [18] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<18x!word>
  %yp = dataflow.kernel @k(%px = %xp : tensor<6xvector<1xi8>> as memref<6xvector<1xi8>>, %pu = %up : tensor<18x!word> as memref<18x!word>,
      %pd = %dp : tensor<18x!word> as memref<18x!word>) -> (tensor<6xvector<1xi32>> as memref<6xvector<1xi32>>) {
    %xs = stream.create @xs : !stream.stream<vector<1xi8>, depth: 64>
    %wu = stream.create @wu : !words
    %wd = stream.create @wd : !words
    %h = stream.create @h : !stream.stream<vector<1xi32>, depth: 64>
    %q = stream.create @q : !stream.stream<vector<1xi8>, depth: 64>
    %t = stream.create @t : !stream.stream<vector<1xi32>, depth: 64>
    %ym = dataflow.memory @ym : memref<6xvector<1xi32>>
    dataflow.task @load_x ins(%m = %px : memref<6xvector<1xi8>>) outs(%a = %xs : !stream.stream<vector<1xi8>, depth: 64>) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %n = arith.constant 6 : index  %times = arith.constant 1 : index
      scf.for %time = %c0 to %times step %c1 { scf.for %word = %c0 to %n step %c1 {
        %0 = memref.load %m[%word] : memref<6xvector<1xi8>>
        stream.write %0 into %a : !stream.stream<vector<1xi8>, depth: 64>
      } }
      dataflow.yield
    }
    dataflow.task @load ins(%m0 = %pu : memref<18x!word>, %m1 = %pd : memref<18x!word>)
        outs(%o0 = %wu : !words, %o1 = %wd : !words) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %n0 = arith.constant 18 : index  %n1 = arith.constant 18 : index
      scf.for %word0 = %c0 to %n0 step %c1 {
        %w0 = memref.load %m0[%word0] : memref<18x!word>
        stream.write %w0 into %o0 : !words
      }
      scf.for %word1 = %c0 to %n1 step %c1 {
        %w1 = memref.load %m1[%word1] : memref<18x!word>
        stream.write %w1 into %o1 : !words
      }
      dataflow.yield
    }
    dataflow.task @up ins(%x = %xs : !stream.stream<vector<1xi8>, depth: 64>, %w = %wu : !words)
        outs(%o = %h : !stream.stream<vector<1xi32>, depth: 64>) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %terms = arith.constant 6 : index  %lanes = arith.constant 2 : index
      %taken = arith.constant 1 : index  %sent = arith.constant 1 : index
      %columns = arith.constant 3 : index  %zero = arith.constant 0 : i32
      %a = memref.alloc() : memref<6xi8>  %b = memref.alloc() : memref<6x2xi8>
      %s = memref.alloc() : memref<2xi32>
        scf.for %term = %c0 to %terms step %taken {
          %t = stream.read %x : !stream.stream<vector<1xi8>, depth: 64>
          vector.store %t, %a[%term] : memref<6xi8>, vector<1xi8>
        }
      scf.for %column = %c0 to %columns step %c1 {
        scf.for %term = %c0 to %terms step %c1 {
          %t = stream.read %w : !words
          vector.store %t, %b[%term, %c0] : memref<6x2xi8>, vector<2xi8>
        }
        linalg.fill ins(%zero : i32) outs(%s : memref<2xi32>)
        linalg.generic {indexing_maps = [affine_map<(l, k) -> (k)>, affine_map<(l, k) -> (k, l)>, affine_map<(l, k) -> (l)>],
            iterator_types = ["parallel", "reduction"]}
            ins(%a, %b : memref<6xi8>, memref<6x2xi8>)
            outs(%s : memref<2xi32>) attrs = {stc.name = "up", stc.shared} {
        ^bb0(%p: i8, %q: i8, %r: i32):
          %0 = arith.extsi %p : i8 to i32
          %1 = arith.extui %q : i8 to i32
          %2 = arith.muli %0, %1 : i32
          %3 = arith.addi %r, %2 : i32
          linalg.yield %3 : i32
        }
        scf.for %lane = %c0 to %lanes step %sent {
          %t = vector.load %s[%lane] : memref<2xi32>, vector<1xi32>
          stream.write %t into %o : !stream.stream<vector<1xi32>, depth: 64>
        }
      }
      dataflow.yield
    }
    dataflow.task @narrow ins(%i = %h : !stream.stream<vector<1xi32>, depth: 64>)
        outs(%o = %q : !stream.stream<vector<1xi8>, depth: 64>) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %made = arith.constant 6 : index  %sent = arith.constant 1 : index
      %terms = arith.constant 6 : index  %taken = arith.constant 1 : index
      %times = arith.constant 1 : index
      %wide = memref.alloc() : memref<6xi32>  %narrow = memref.alloc() : memref<6xi8>
      scf.for %n = %c0 to %made step %sent {
        %0 = stream.read %i : !stream.stream<vector<1xi32>, depth: 64>
        vector.store %0, %wide[%n] : memref<6xi32>, vector<1xi32>
      }
      scf.for %n = %c0 to %made step %c1 {
        %1 = memref.load %wide[%n] : memref<6xi32>
        %2 = arith.trunci %1 : i32 to i8
        memref.store %2, %narrow[%n] : memref<6xi8>
      }
      scf.for %time = %c0 to %times step %c1 { scf.for %n = %c0 to %terms step %taken {
        %3 = vector.load %narrow[%n] : memref<6xi8>, vector<1xi8>
        stream.write %3 into %o : !stream.stream<vector<1xi8>, depth: 64>
      } }
      dataflow.yield
    }
    dataflow.task @down ins(%x = %q : !stream.stream<vector<1xi8>, depth: 64>, %w = %wd : !words)
        outs(%o = %t : !stream.stream<vector<1xi32>, depth: 64>) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %terms = arith.constant 6 : index  %lanes = arith.constant 2 : index
      %taken = arith.constant 1 : index  %sent = arith.constant 1 : index
      %columns = arith.constant 3 : index  %zero = arith.constant 0 : i32
      %a = memref.alloc() : memref<6xi8>  %b = memref.alloc() : memref<6x2xi8>
      %s = memref.alloc() : memref<2xi32>
        scf.for %term = %c0 to %terms step %taken {
          %t = stream.read %x : !stream.stream<vector<1xi8>, depth: 64>
          vector.store %t, %a[%term] : memref<6xi8>, vector<1xi8>
        }
      scf.for %column = %c0 to %columns step %c1 {
        scf.for %term = %c0 to %terms step %c1 {
          %t = stream.read %w : !words
          vector.store %t, %b[%term, %c0] : memref<6x2xi8>, vector<2xi8>
        }
        linalg.fill ins(%zero : i32) outs(%s : memref<2xi32>)
        linalg.generic {indexing_maps = [affine_map<(l, k) -> (k)>, affine_map<(l, k) -> (k, l)>, affine_map<(l, k) -> (l)>],
            iterator_types = ["parallel", "reduction"]}
            ins(%a, %b : memref<6xi8>, memref<6x2xi8>)
            outs(%s : memref<2xi32>) attrs = {stc.name = "down", stc.shared} {
        ^bb0(%p: i8, %q: i8, %r: i32):
          %0 = arith.extsi %p : i8 to i32
          %1 = arith.extui %q : i8 to i32
          %2 = arith.muli %0, %1 : i32
          %3 = arith.addi %r, %2 : i32
          linalg.yield %3 : i32
        }
        scf.for %lane = %c0 to %lanes step %sent {
          %t = vector.load %s[%lane] : memref<2xi32>, vector<1xi32>
          stream.write %t into %o : !stream.stream<vector<1xi32>, depth: 64>
        }
      }
      dataflow.yield
    }
    dataflow.task @store_ym ins(%i = %t : !stream.stream<vector<1xi32>, depth: 64>)
        outs(%o = %ym : memref<6xvector<1xi32>>) kind store {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %n = arith.constant 6 : index
      scf.for %word = %c0 to %n step %c1 {
        %0 = stream.read %i : !stream.stream<vector<1xi32>, depth: 64>
        memref.store %0, %o[%word] : memref<6xvector<1xi32>>
      }
      dataflow.yield
    }
    dataflow.yield %ym : memref<6xvector<1xi32>>
  }
  %y = dataflow.unpack %yp : tensor<6xvector<1xi32>> as !itensor.itensor<1xi32, iter_space: [6] * [1], iter_map: (d0) -> (d0)> -> tensor<6xi32>
  func.return %y : tensor<6xi32>
}
