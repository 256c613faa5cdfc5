// A ring of blocks whose consumer stores to memory: the block that is filled waits for nobody but that.
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
    %xs = stream.create @x_stream {tokens = 8 : i64} : !S
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
    dataflow.task @turn_drain ins(%i = %conv : !B) outs(%o = %y : memref<24xvector<1xi32>>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %c12 = arith.constant 12 : index
      scf.for %h = %c0 to %c2 step %c1 {
        %m = stream.acquire %i : !B -> memref<2x6xi32>
        scf.for %b = %c0 to %c6 step %c1 {
          scf.for %a = %c0 to %c2 step %c1 {
            %e = memref.load %m[%a, %b] : memref<2x6xi32>
            %v = vector.broadcast %e : i32 to vector<1xi32>
            %h12 = arith.muli %h, %c12 : index
            %b2 = arith.muli %b, %c2 : index
            %p = arith.addi %h12, %b2 : index
            %q = arith.addi %p, %a : index
            memref.store %v, %o[%q] : memref<24xvector<1xi32>>
          } {stc.label = "drain_a", stc.pipeline = 1 : i32}
        } {stc.label = "drain_b"}
      } {stc.label = "halves"}
      dataflow.yield
    }
    dataflow.yield %y : memref<24xvector<1xi32>>
  }
  %r = dataflow.unpack %out : tensor<24xvector<1xi32>> as !Y -> tensor<4x6xi32>
  func.return %r : tensor<4x6xi32>
}
