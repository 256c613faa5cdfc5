// Element-wise over two streams: out = x * gain + bias, over rows of 3 in vectors of 8, one of them read 3 times.
!X = !itensor.itensor<1x8xf32, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
!G = !itensor.itensor<8xf32, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d1)>
!S = !stream.stream<vector<8xf32>, depth: 2>
func.func @main(%x: tensor<1x3x16xf32> {stc.name = "x"}, %gain: tensor<16xf32> {stc.name = "norm.gain", stc.parameter})
    -> (tensor<1x3x16xf32> {stc.name = "out"}) {
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x3x16xf32> into tensor<3x16xf32>
  %xp = dataflow.pack %flat : tensor<3x16xf32> as !X -> tensor<6xvector<8xf32>>
  %gp = dataflow.pack %gain : tensor<16xf32> as !G -> tensor<2xvector<8xf32>>
  %out = dataflow.kernel @scaled_sum(%x_in = %xp : tensor<6xvector<8xf32>> as memref<6xvector<8xf32>>,
                                     %gain_in = %gp : tensor<2xvector<8xf32>> as memref<2xvector<8xf32>>)
      -> (tensor<6xvector<8xf32>> as memref<6xvector<8xf32>>) {
    %y = dataflow.memory @out : memref<6xvector<8xf32>>
    %xs = stream.create @x_stream : !S
    %gs = stream.create @gain_stream : !S
    %os = stream.create @out_stream : !stream.stream<vector<8xf32>, depth: 64>
    dataflow.task @load_x ins(%m = %x_in : memref<6xvector<8xf32>>) outs(%o = %xs : !S) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      scf.for %i = %c0 to %c6 step %c1 {
        %v = memref.load %m[%i] : memref<6xvector<8xf32>>
        stream.write %v into %o : !S
      } {stc.label = "words", stc.pipeline = 1 : i32}
      dataflow.yield
    }
    dataflow.task @load_gain ins(%m = %gain_in : memref<2xvector<8xf32>>) outs(%o = %gs : !S) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      scf.for %i = %c0 to %c3 step %c1 {
        scf.for %j = %c0 to %c2 step %c1 {
          %v = memref.load %m[%j] : memref<2xvector<8xf32>>
          stream.write %v into %o : !S
        } {stc.label = "words", stc.pipeline = 1 : i32}
      } {stc.label = "revisit"}
      dataflow.yield
    }
    dataflow.task @norm_gain ins(%a = %xs : !S, %b = %gs : !S) outs(%o = %os : !stream.stream<vector<8xf32>, depth: 64>)
        attributes {stc.module = "norm"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c8 = arith.constant 8 : index
      %half = arith.constant 0.5 : f32
      %low = arith.constant 0xFF800000 : f32
      %zeros = arith.constant dense<0.0> : vector<8xf32>
      scf.for %i = %c0 to %c3 step %c1 {
        scf.for %j = %c0 to %c2 step %c1 {
          %va = stream.read %a : !S
          %vb = stream.read %b : !S
          %r = scf.for %lane = %c0 to %c8 step %c1 iter_args(%acc = %zeros) -> (vector<8xf32>) {
            %ea = vector.extract %va[%lane] : f32 from vector<8xf32>
            %eb = vector.extract %vb[%lane] : f32 from vector<8xf32>
            %p = arith.mulf %ea, %eb : f32
            %s = arith.addf %p, %half : f32
            %t = arith.maximumf %s, %low : f32
            %n = vector.insert %t, %acc[%lane] : f32 into vector<8xf32>
            scf.yield %n : vector<8xf32>
          } {stc.label = "lane", stc.unroll = 0 : i32}
          stream.write %r into %o : !stream.stream<vector<8xf32>, depth: 64>
        } {stc.label = "columns", stc.pipeline = 1 : i32}
      } {stc.label = "rows"}
      dataflow.yield
    }
    dataflow.task @store_out ins(%a = %os : !stream.stream<vector<8xf32>, depth: 64>) outs(%m = %y : memref<6xvector<8xf32>>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      scf.for %i = %c0 to %c6 step %c1 {
        %v = stream.read %a : !stream.stream<vector<8xf32>, depth: 64>
        memref.store %v, %m[%i] : memref<6xvector<8xf32>>
      } {stc.label = "words", stc.pipeline = 1 : i32}
      dataflow.yield
    }
    dataflow.yield %y : memref<6xvector<8xf32>>
  }
  %u = dataflow.unpack %out : tensor<6xvector<8xf32>> as !X -> tensor<3x16xf32>
  %r = tensor.expand_shape %u [[0, 1], [2]] output_shape [1, 3, 16] : tensor<3x16xf32> into tensor<1x3x16xf32>
  func.return %r : tensor<1x3x16xf32>
}
