// A converter as two tasks around a ping-pong buffer: 4x6 arrives by rows in vectors of 3 (stored as 4), leaves by columns of
// single entries, per half of 2 rows (a block is one memory: 3 entries take 2 cycles); a running sum and a branch with results use loop-carried values and int8 arithmetic.
!X = !itensor.itensor<1x3xi32, iter_space: [2, 2, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
!Y = !itensor.itensor<1x1xi32, iter_space: [2, 6, 2] * [2, 1, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!S = !stream.stream<vector<3xi32>, depth: 2>
!T = !stream.stream<vector<1xi32>, depth: 2>
!B = !stream.block<memref<2x6xi32>, count: 2>
func.func @main(%x: tensor<4x6xi32> {stc.name = "x"}) -> (tensor<4x6xi32> {stc.name = "out.0"}) {
  %xp = dataflow.pack %x : tensor<4x6xi32> as !X -> tensor<8xvector<4xi32>>
  %out = dataflow.kernel @turn(%x_in = %xp : tensor<8xvector<4xi32>> as memref<8xvector<4xi32>>)
      -> (tensor<24xvector<1xi32>> as memref<24xvector<1xi32>>) {
    %y = dataflow.memory @y : memref<24xvector<1xi32>>
    %xs = stream.create @x_stream : !S
    %ts = stream.create @turned : !T
    %ys = stream.create @y_stream : !T
    %conv = stream.buffer @halves : !B
    dataflow.task @load_x ins(%m = %x_in : memref<8xvector<4xi32>>) outs(%o = %xs : !S) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %none = arith.constant dense<0> : vector<3xi32>
      scf.for %i = %c0 to %c8 step %c1 {
        %w = memref.load %m[%i] : memref<8xvector<4xi32>>
        %e0 = vector.extract %w[0] : i32 from vector<4xi32>
        %e1 = vector.extract %w[1] : i32 from vector<4xi32>
        %e2 = vector.extract %w[2] : i32 from vector<4xi32>
        %v0 = vector.insert %e0, %none[0] : i32 into vector<3xi32>
        %v1 = vector.insert %e1, %v0[1] : i32 into vector<3xi32>
        %v2 = vector.insert %e2, %v1[2] : i32 into vector<3xi32>
        stream.write %v2 into %o : !S
      } {stc.label = "words", stc.pipeline = 1 : i32}
      dataflow.yield
    }
    dataflow.task @turn_fill ins(%i = %xs : !S) outs(%o = %conv : !B) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c6 = arith.constant 6 : index
      scf.for %h = %c0 to %c2 step %c1 {
        %m = stream.acquire %o : !B -> memref<2x6xi32>
        scf.for %a = %c0 to %c2 step %c1 {
          scf.for %b = %c0 to %c6 step %c3 {
            %v = stream.read %i : !S
            vector.store %v, %m[%a, %b] : memref<2x6xi32>, vector<3xi32>
          } {stc.label = "fill_b", stc.pipeline = 2 : i32}
        } {stc.label = "fill_a"}
      } {stc.label = "halves"}
      dataflow.yield
    }
    dataflow.task @turn_drain ins(%i = %conv : !B) outs(%o = %ts : !T) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      scf.for %h = %c0 to %c2 step %c1 {
        %m = stream.acquire %i : !B -> memref<2x6xi32>
        scf.for %b = %c0 to %c6 step %c1 {
          scf.for %a = %c0 to %c2 step %c1 {
            %e = memref.load %m[%a, %b] : memref<2x6xi32>
            %v = vector.broadcast %e : i32 to vector<1xi32>
            stream.write %v into %o : !T
          } {stc.label = "drain_a", stc.pipeline = 1 : i32}
        } {stc.label = "drain_b"}
      } {stc.label = "halves"}
      dataflow.yield
    }
    dataflow.task @running ins(%i = %ts : !T) outs(%o = %ys : !T) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c6 = arith.constant 6 : index
      %z = arith.constant 0 : i32
      %r = scf.for %g = %c0 to %c4 step %c1 iter_args(%sum = %z) -> (i32) {
        %n = scf.for %k = %c0 to %c6 step %c1 iter_args(%s = %sum) -> (i32) {
          %t = stream.read %i : !T
          %e = vector.extract %t[0] : i32 from vector<1xi32>
          %small = arith.trunci %e : i32 to i8
          %double = arith.addi %small, %small : i8
          %wide = arith.extsi %double : i8 to i32
          %odd = arith.remui %k, %c2 : index
          %is_odd = arith.cmpi ne, %odd, %c0 : index
          %picked = scf.if %is_odd -> (i32) {
            scf.yield %wide : i32
          } else {
            %neg = arith.subi %z, %wide : i32
            scf.yield %neg : i32
          }
          %next = arith.addi %s, %picked : i32
          %v = vector.broadcast %next : i32 to vector<1xi32>
          stream.write %v into %o : !T
          scf.yield %next : i32
        } {stc.label = "run", stc.pipeline = 1 : i32}
        scf.yield %n : i32
      } {stc.label = "groups"}
      dataflow.yield
    }
    dataflow.task @store_y ins(%a = %ys : !T) outs(%m = %y : memref<24xvector<1xi32>>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c24 = arith.constant 24 : index
      scf.for %i = %c0 to %c24 step %c1 {
        %v = stream.read %a : !T
        memref.store %v, %m[%i] : memref<24xvector<1xi32>>
      } {stc.label = "words", stc.pipeline = 1 : i32}
      dataflow.yield
    }
    dataflow.yield %y : memref<24xvector<1xi32>>
  }
  %r = dataflow.unpack %out : tensor<24xvector<1xi32>> as !Y -> tensor<4x6xi32>
  func.return %r : tensor<4x6xi32>
}
