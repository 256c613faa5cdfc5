// Matrix product with accumulators: y = x @ w, w a parameter that the host transposes once; reduction in the outer tile loop,
// results written in its last step. The last word of x and the words of y do not fill 64 bytes.
!X = !itensor.itensor<1x2xf32, iter_space: [3, 4] * [2, 1], iter_map: (d0, d1) -> (d1, d0)>
!W = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!Y = !itensor.itensor<1x4xf32, iter_space: [4, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!SX = !stream.stream<vector<2xf32>, depth: 2>
!SW = !stream.stream<vector<8xf32>, depth: 2>
!SY = !stream.stream<vector<4xf32>, depth: 8>
func.func @main(%x: tensor<4x6xf32> {stc.name = "x"}, %w: tensor<8x6xf32> {stc.name = "fc.weight", stc.parameter})
    -> (tensor<4x8xf32> {stc.name = "y"}) {
  %empty = tensor.empty() : tensor<6x8xf32>
  %wt = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                        iterator_types = ["parallel", "parallel"]} ins(%w : tensor<8x6xf32>) outs(%empty : tensor<6x8xf32>) {
  ^bb0(%in: f32, %old: f32):
    linalg.yield %in : f32
  } -> tensor<6x8xf32>
  %xp = dataflow.pack %x : tensor<4x6xf32> as !X -> tensor<12xvector<2xf32>>
  %wp = dataflow.pack %wt : tensor<6x8xf32> as !W -> tensor<6xvector<8xf32>>
  %out = dataflow.kernel @fc_kernel(%x_in = %xp : tensor<12xvector<2xf32>> as memref<12xvector<2xf32>>,
                                    %w_in = %wp : tensor<6xvector<8xf32>> as memref<6xvector<8xf32>>)
      -> (tensor<8xvector<4xf32>> as memref<8xvector<4xf32>>) {
    %y = dataflow.memory @y : memref<8xvector<4xf32>>
    %xs = stream.create @x_stream : !SX
    %ws = stream.create @w_stream : !SW
    %ys = stream.create @y_stream : !SY
    dataflow.task @load_x ins(%m = %x_in : memref<12xvector<2xf32>>) outs(%o = %xs : !SX) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c12 = arith.constant 12 : index
      scf.for %i = %c0 to %c12 step %c1 {
        %v = memref.load %m[%i] : memref<12xvector<2xf32>>
        stream.write %v into %o : !SX
      } {stc.label = "words", stc.pipeline = 1 : i32}
      dataflow.yield
    }
    dataflow.task @load_w ins(%m = %w_in : memref<6xvector<8xf32>>) outs(%o = %ws : !SW) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      scf.for %i = %c0 to %c6 step %c1 {
        %v = memref.load %m[%i] : memref<6xvector<8xf32>>
        stream.write %v into %o : !SW
      } {stc.label = "words", stc.pipeline = 1 : i32}
      dataflow.yield
    }
    dataflow.task @fc ins(%a = %xs : !SX, %b = %ws : !SW) outs(%o = %ys : !SY) attributes {stc.module = "mlp.fc"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %zero = arith.constant 0.0 : f32
      %acc = memref.alloc() {stc.partition = [[1, 0]]} : memref<4x8xf32>
      %xt = memref.alloc() : memref<4x2xf32>
      %wt2 = memref.alloc() {stc.partition = [[1, 0]]} : memref<2x8xf32>
      scf.for %i = %c0 to %c4 step %c1 {
        scf.for %j = %c0 to %c8 step %c1 {
          memref.store %zero, %acc[%i, %j] : memref<4x8xf32>
        } {stc.label = "clear_lanes", stc.unroll = 0 : i32}
      } {stc.label = "clear", stc.pipeline = 1 : i32}
      scf.for %k = %c0 to %c3 step %c1 {
        scf.for %i = %c0 to %c4 step %c1 {
          %va = stream.read %a : !SX
          vector.store %va, %xt[%i, %c0] : memref<4x2xf32>, vector<2xf32>
        } {stc.label = "read_x", stc.pipeline = 1 : i32, stc.comment = "tile of x"}
        scf.for %r = %c0 to %c2 step %c1 {
          %vb = stream.read %b : !SW
          vector.store %vb, %wt2[%r, %c0] : memref<2x8xf32>, vector<8xf32>
        } {stc.label = "read_w", stc.pipeline = 1 : i32, stc.comment = "tile of w"}
        scf.for %r = %c0 to %c2 step %c1 {
          scf.for %i = %c0 to %c4 step %c1 {
            scf.for %j = %c0 to %c8 step %c1 {
              %l = memref.load %xt[%i, %r] : memref<4x2xf32>
              %w2 = memref.load %wt2[%r, %j] : memref<2x8xf32>
              %old = memref.load %acc[%i, %j] : memref<4x8xf32>
              %p = arith.mulf %l, %w2 : f32
              %s = arith.addf %old, %p : f32
              memref.store %s, %acc[%i, %j] : memref<4x8xf32>
            } {stc.label = "mac_lanes", stc.unroll = 0 : i32}
          } {stc.label = "mac", stc.pipeline = 3 : i32}
        } {stc.label = "mac_k"}
        %last = arith.cmpi eq, %k, %c2 : index
        scf.if %last {
          scf.for %i = %c0 to %c4 step %c1 {
            scf.for %j = %c0 to %c8 step %c4 {
              %v = vector.load %acc[%i, %j] : memref<4x8xf32>, vector<4xf32>
              stream.write %v into %o : !SY
            } {stc.label = "write_y_j", stc.unroll = 0 : i32}
          } {stc.label = "write_y", stc.pipeline = 2 : i32}
        }
      } {stc.label = "tile_k"}
      dataflow.yield
    }
    dataflow.task @store_y ins(%a = %ys : !SY) outs(%m = %y : memref<8xvector<4xf32>>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %v = stream.read %a : !SY
        memref.store %v, %m[%i] : memref<8xvector<4xf32>>
      } {stc.label = "words", stc.pipeline = 1 : i32}
      dataflow.yield
    }
    dataflow.yield %y : memref<8xvector<4xf32>>
  }
  %r = dataflow.unpack %out : tensor<8xvector<4xf32>> as !Y -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
