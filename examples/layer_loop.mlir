// Five layers on the device, h = h * w[layer] + sum(h), in a loop that two compute units close: the mover holds the memory ports, sends
// the input of each layer and takes its output; the body, which nobody has to start, computes a layer after the other. The weights of
// all layers are one flat stream, which runs ahead of the layers as far as its FIFO allows. A pipeline that stops as a whole keeps its
// last tokens until more come, which here depends on them: where the loops over a layer's tokens would be one with that over layers,
// they drain instead (`stc.drains`).
#entry = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>
!order = !itensor.itensor<4xf32, iter_space: [8] * [4], iter_map: (d0) -> (d0)>
!layers = !itensor.itensor<1x4xf32, iter_space: [5, 8] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!token = vector<4xf32>
!words = memref<8xvector<4xf32>>
!weights = memref<40xvector<4xf32>>
!fifo = !stream.stream<vector<4xf32>, depth: 2>
func.func @main(%x: tensor<32xf32> {stc.name = "x"}, %w: tensor<5x32xf32> {stc.name = "w", stc.parameter}) -> (tensor<32xf32> {stc.name = "y"}) {
  %xs = dataflow.pack %x : tensor<32xf32> as !order -> tensor<8xvector<4xf32>>
  %ws = dataflow.pack %w : tensor<5x32xf32> as !layers -> tensor<40xvector<4xf32>>
  %ys = dataflow.kernel @main(%xm = %xs : tensor<8xvector<4xf32>> as !words, %wm = %ws : tensor<40xvector<4xf32>> as !weights)
      -> (tensor<8xvector<4xf32>> as !words) {
    %first = stream.create @first : !fifo
    %last = stream.create @last : !fifo
    %weight = stream.create @weight : !fifo
    %down = stream.create @down : !fifo
    %kept = stream.create @kept : !fifo
    %summed = stream.create @summed : !fifo
    %total = stream.create @total : !stream.stream<f32, depth: 2>
    %up = stream.create @up : !fifo
    %ym = dataflow.memory @y : !words
    dataflow.task @load_x ins(%in = %xm : !words) outs(%out = %first : !fifo) kind load unit @mover {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
      scf.for %word = %c0 to %c8 step %c1 {
        %t = memref.load %in[%word] : !words
        stream.write %t into %out : !fifo
      }
    }
    dataflow.task @load_w ins(%in = %wm : !weights) outs(%out = %weight : !fifo) kind load unit @mover {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c40 = arith.constant 40 : index
      scf.for %word = %c0 to %c40 step %c1 {
        %t = memref.load %in[%word] : !weights
        stream.write %t into %out : !fifo
      }
    }
    dataflow.task @move ins(%in = %first : !fifo, %back = %up : !fifo) outs(%out = %down : !fifo, %end = %last : !fifo) unit @mover {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
      scf.for %word = %c0 to %c8 step %c1 {
        %t = stream.read %in : !fifo
        stream.write %t into %out : !fifo
      }
      %held = memref.alloc() : memref<8x4xf32>
      scf.for %layer = %c0 to %c4 step %c1 {
        scf.for %word = %c0 to %c8 step %c1 {
          %t = stream.read %back : !fifo
          vector.store %t, %held[%word, %c0] : memref<8x4xf32>, vector<4xf32>
        }
        scf.for %word = %c0 to %c8 step %c1 {
          %t = vector.load %held[%word, %c0] : memref<8x4xf32>, vector<4xf32>
          stream.write %t into %out : !fifo
        }
      }
      scf.for %word = %c0 to %c8 step %c1 {
        %t = stream.read %back : !fifo
        stream.write %t into %end : !fifo
      }
    }
    dataflow.task @copy ins(%in = %down : !fifo) outs(%out = %kept : !fifo, %other = %summed : !fifo) kind fork unit @body {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c5 = arith.constant 5 : index  %c8 = arith.constant 8 : index
      scf.for %layer = %c0 to %c5 step %c1 {
        scf.for %word = %c0 to %c8 step %c1 {
          %t = stream.read %in : !fifo
          stream.write %t into %out : !fifo
          stream.write %t into %other : !fifo
        } {stc.drains}
      }
    }
    dataflow.task @sum ins(%in = %summed : !fifo) outs(%out = %total : !stream.stream<f32, depth: 2>) unit @body {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c5 = arith.constant 5 : index  %c8 = arith.constant 8 : index
      %zero = arith.constant 0.0 : f32
      %h = memref.alloc() : memref<4xf32>
      %s = memref.alloc() : memref<f32>
      scf.for %layer = %c0 to %c5 step %c1 {
        linalg.fill ins(%zero : f32) outs(%s : memref<f32>)
        scf.for %word = %c0 to %c8 step %c1 {
          %t = stream.read %in : !fifo
          vector.store %t, %h[%c0] : memref<4xf32>, vector<4xf32>
          linalg.generic {indexing_maps = [#entry, #one], iterator_types = ["reduction"]} ins(%h : memref<4xf32>) outs(%s : memref<f32>)
              attrs = {stc.name = "sum", stc.schedule = #dataflow.schedule<tile = [4], order = [0], unroll = [1], vector = []>} {
          ^bb0(%a: f32, %b: f32):
            %c = arith.addf %b, %a : f32
            linalg.yield %c : f32
          }
        } {stc.drains}
        %v = memref.load %s[] : memref<f32>
        stream.write %v into %out : !stream.stream<f32, depth: 2>
      }
    }
    dataflow.task @layer ins(%in = %kept : !fifo, %of = %total : !stream.stream<f32, depth: 2>, %win = %weight : !fifo)
        outs(%out = %up : !fifo) unit @body {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c5 = arith.constant 5 : index  %c8 = arith.constant 8 : index
      %h = memref.alloc() : memref<4xf32>
      %w1 = memref.alloc() : memref<4xf32>
      %s = memref.alloc() : memref<f32>
      %n = memref.alloc() : memref<4xf32>
      scf.for %layer = %c0 to %c5 step %c1 {
        %v = stream.read %of : !stream.stream<f32, depth: 2>
        memref.store %v, %s[] : memref<f32>
        scf.for %word = %c0 to %c8 step %c1 {
          %t = stream.read %in : !fifo
          vector.store %t, %h[%c0] : memref<4xf32>, vector<4xf32>
          %u = stream.read %win : !fifo
          vector.store %u, %w1[%c0] : memref<4xf32>, vector<4xf32>
          linalg.generic {indexing_maps = [#entry, #entry, #one, #entry], iterator_types = ["parallel"]}
              ins(%h, %w1, %s : memref<4xf32>, memref<4xf32>, memref<f32>) outs(%n : memref<4xf32>)
              attrs = {stc.name = "layer", stc.schedule = #dataflow.schedule<tile = [4], order = [0], unroll = [4], vector = []>} {
          ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
            %p = arith.mulf %a, %b : f32
            %q = arith.addf %p, %c : f32
            linalg.yield %q : f32
          }
          %r = vector.load %n[%c0] : memref<4xf32>, vector<4xf32>
          stream.write %r into %out : !fifo
        } {stc.drains}
      }
    }
    dataflow.task @store_y ins(%in = %last : !fifo) outs(%out = %ym : !words) kind store unit @mover {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
      scf.for %word = %c0 to %c8 step %c1 {
        %t = stream.read %in : !fifo
        memref.store %t, %out[%word] : !words
      }
    }
    dataflow.yield %ym : !words
  }
  %y = dataflow.unpack %ys : tensor<8xvector<4xf32>> as !order -> tensor<32xf32>
  func.return %y : tensor<32xf32>
}
