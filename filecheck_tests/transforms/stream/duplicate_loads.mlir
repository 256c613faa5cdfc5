// RUN: stc-opt %s -p 'duplicate-loads{least=32}' --split-input-file | filecheck %s

// The row sums are complete when all of x has passed: until then @fork_x_1 keeps x. A second DMA needs no FIFO, and no fork is left.
// SHOW: dataflow.kernel|stream.create|dataflow.task
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
!itensor = !itensor.itensor<1x4xf32, iter_space: [2, 4] * [4, 1], iter_map: (d0, d1) -> (d1, d0)>
func.func @residual(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %x_1 = dataflow.pack %x : tensor<4x8xf32> as !itensor -> tensor<2xvector<16xf32>>
  %y = dataflow.kernel @residual(%x_2 = %x_1 : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) -> (tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) {
    %x_stream = stream.create @x_stream {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf32>, depth: 4>
    dataflow.task @load_x ins(%x_3 = %x_2 : memref<2xvector<16xf32>>) outs(%out = %x_stream : !stream.stream<vector<4xf32>, depth: 4>) kind load {
      %word = memref.alloc() : memref<16xf32>
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %0 = memref.load %x_3[%i] : memref<2xvector<16xf32>>
        %c0_1 = arith.constant 0 : index
        vector.store %0, %word[%c0_1] : memref<16xf32>, vector<16xf32>
        %c0_2 = arith.constant 0 : index
        %c16 = arith.constant 16 : index
        %c4 = arith.constant 4 : index
        scf.for %t = %c0_2 to %c16 step %c4 {
          %1 = vector.load %word[%t] : memref<16xf32>, vector<4xf32>
          stream.write %1 into %out : !stream.stream<vector<4xf32>, depth: 4>
        } {stc.unroll = 0 : i32}
      }
      dataflow.yield
    }
    %fork_x = stream.create @fork_x_0 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf32>, depth: 2>
    %fork_x_1 = stream.create @fork_x_1 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf32>, depth: 8>
    dataflow.task @fork_x ins(%in0 = %x_stream : !stream.stream<vector<4xf32>, depth: 4>) outs(%out0 = %fork_x : !stream.stream<vector<4xf32>, depth: 2>, %out1 = %fork_x_1 : !stream.stream<vector<4xf32>, depth: 8>) kind fork {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %in0 : !stream.stream<vector<4xf32>, depth: 4>
        stream.write %0 into %out0 : !stream.stream<vector<4xf32>, depth: 2>
        stream.write %0 into %out1 : !stream.stream<vector<4xf32>, depth: 8>
      }
      dataflow.yield
    }
    %sum_out = stream.create @sum_out {tokens = 1 : i64, distinct_tokens = 1 : i64} : !stream.stream<vector<4xf32>, depth: 2>
    dataflow.task @sum ins(%x_3 = %fork_x : !stream.stream<vector<4xf32>, depth: 2>) outs(%out = %sum_out : !stream.stream<vector<4xf32>, depth: 2>) attributes {stc.name = "sum"} {
      %tile = memref.alloc() : memref<4xf32>
      %x_4 = memref.alloc() : memref<4x4xf32>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c = arith.constant 0.000000e+00 : f32
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      linalg.fill {stc.name = "sum"} ins(%c : f32) outs(%tile : memref<4xf32>)
      scf.for %j = %c0 to %c8 step %c4 {
        %c0_1 = arith.constant 0 : index
        %c4_1 = arith.constant 4 : index
        %c1_1 = arith.constant 1 : index
        scf.for %a = %c0_1 to %c4_1 step %c1_1 {
          %0 = stream.read %x_3 : !stream.stream<vector<4xf32>, depth: 2>
          %c0_2 = arith.constant 0 : index
          vector.store %0, %x_4[%a, %c0_2] : memref<4x4xf32>, vector<4xf32>
        }
        linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%x_4 : memref<4x4xf32>) outs(%tile : memref<4xf32>) attrs =  {stc.name = "sum", stc.schedule = #dataflow.schedule<tile = [4, 4], order = [1, 0], unroll = [1, 1], vector = []>, stc.tile = "sum"} {
        ^bb0(%a_1: f32, %o: f32):
          %t = arith.addf %a_1, %o : f32
          linalg.yield %t : f32
        }
      }
      %c0_3 = arith.constant 0 : index
      %1 = vector.load %tile[%c0_3] : memref<4xf32>, vector<4xf32>
      stream.write %1 into %out : !stream.stream<vector<4xf32>, depth: 2>
      dataflow.yield
    }
    %sub_out = stream.create @sub_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf32>, depth: 4>
    dataflow.task @sub ins(%s = %sum_out : !stream.stream<vector<4xf32>, depth: 2>, %x_3 = %fork_x_1 : !stream.stream<vector<4xf32>, depth: 8>) outs(%out = %sub_out : !stream.stream<vector<4xf32>, depth: 4>) attributes {stc.name = "sub"} {
      %x_4 = memref.alloc() : memref<4x4xf32>
      %0 = memref.alloc() : memref<4xf32>
      %tile = memref.alloc() : memref<4x4xf32>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %1 = stream.read %s : !stream.stream<vector<4xf32>, depth: 2>
      scf.for %j = %c0 to %c8 step %c4 {
        %c0_1 = arith.constant 0 : index
        %c4_1 = arith.constant 4 : index
        %c1_1 = arith.constant 1 : index
        scf.for %a = %c0_1 to %c4_1 step %c1_1 {
          %2 = stream.read %x_3 : !stream.stream<vector<4xf32>, depth: 8>
          %c0_2 = arith.constant 0 : index
          vector.store %2, %x_4[%a, %c0_2] : memref<4x4xf32>, vector<4xf32>
        }
        %c0_3 = arith.constant 0 : index
        vector.store %1, %0[%c0_3] : memref<4xf32>, vector<4xf32>
        linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%x_4, %0 : memref<4x4xf32>, memref<4xf32>) outs(%tile : memref<4x4xf32>) attrs =  {stc.name = "sub", stc.schedule = #dataflow.schedule<tile = [4, 4], order = [1, 0], unroll = [1, 4], vector = []>, stc.tile = "sub"} {
        ^bb0(%a_1: f32, %b: f32, %o: f32):
          %t = arith.subf %a_1, %b : f32
          linalg.yield %t : f32
        }
        %c0_4 = arith.constant 0 : index
        %c4_2 = arith.constant 4 : index
        %c1_2 = arith.constant 1 : index
        scf.for %a_2 = %c0_4 to %c4_2 step %c1_2 {
          %c0_5 = arith.constant 0 : index
          %3 = vector.load %tile[%a_2, %c0_5] : memref<4x4xf32>, vector<4xf32>
          stream.write %3 into %out : !stream.stream<vector<4xf32>, depth: 4>
        }
      }
      dataflow.yield
    }
    %y_1 = dataflow.memory @y : memref<2xvector<16xf32>>
    dataflow.task @store_y ins(%in = %sub_out : !stream.stream<vector<4xf32>, depth: 4>) outs(%y_2 = %y_1 : memref<2xvector<16xf32>>) kind store {
      %word = memref.alloc() : memref<16xf32>
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %c0_1 = arith.constant 0 : index
        %c16 = arith.constant 16 : index
        %c4 = arith.constant 4 : index
        scf.for %t = %c0_1 to %c16 step %c4 {
          %0 = stream.read %in : !stream.stream<vector<4xf32>, depth: 4>
          vector.store %0, %word[%t] : memref<16xf32>, vector<4xf32>
        } {stc.unroll = 0 : i32}
        %c0_2 = arith.constant 0 : index
        %1 = vector.load %word[%c0_2] : memref<16xf32>, vector<16xf32>
        memref.store %1, %y_2[%i] : memref<2xvector<16xf32>>
      }
      dataflow.yield
    }
    dataflow.yield %y_1 : memref<2xvector<16xf32>>
  }
  %y_1 = dataflow.unpack %y : tensor<2xvector<16xf32>> as !itensor -> tensor<4x8xf32>
  func.return %y_1 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @residual(
// CHECK: %y = dataflow.kernel @residual(%x_2 = %x_1 : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>, %x_3 = %x_1 : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) -> (tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) attributes {stc.duplicate_loads = [{tensor = "x", reader = "sub", instead_of = "fifo", saved_bytes = 64 : i64, traffic_bytes = 128 : i64, packed_bytes = 0 : i64}]} {
// CHECK-NEXT: %x_stream = stream.create @x_stream {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf32>, depth: 4>
// CHECK-NEXT: dataflow.task @load_x ins(%x_4 = %x_2 : memref<2xvector<16xf32>>) outs(%out = %x_stream : !stream.stream<vector<4xf32>, depth: 4>) kind load {
// CHECK: %x_stream_1 = stream.create @x_stream_2 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf32>, depth: 4>
// CHECK-NEXT: dataflow.task @load_x_2 ins(%x_4 = %x_3 : memref<2xvector<16xf32>>) outs(%out = %x_stream_1 : !stream.stream<vector<4xf32>, depth: 4>) kind load {
// CHECK: %sum_out = stream.create @sum_out {tokens = 1 : i64, distinct_tokens = 1 : i64} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @sum ins(%x_4 = %x_stream : !stream.stream<vector<4xf32>, depth: 4>) outs(%out = %sum_out : !stream.stream<vector<4xf32>, depth: 2>) attributes {stc.name = "sum"} {
// CHECK: %sub_out = stream.create @sub_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf32>, depth: 4>
// CHECK-NEXT: dataflow.task @sub ins(%s = %sum_out : !stream.stream<vector<4xf32>, depth: 2>, %x_4 = %x_stream_1 : !stream.stream<vector<4xf32>, depth: 4>) outs(%out = %sub_out : !stream.stream<vector<4xf32>, depth: 4>) attributes {stc.name = "sub"} {
// CHECK: dataflow.task @store_y ins(%in = %sub_out : !stream.stream<vector<4xf32>, depth: 4>) outs(%y_2 = %y_1 : memref<2xvector<16xf32>>) kind store {

// -----

// Three readers: those that take x as it comes share the fork; the third has its own DMA.
// SHOW: dataflow.kernel|stream.create|dataflow.task
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#schedule = #dataflow.schedule<tile = [4, 4], order = [1, 0], unroll = [1, 1], vector = []>
!itensor = !itensor.itensor<1x4xf32, iter_space: [2, 4] * [4, 1], iter_map: (d0, d1) -> (d1, d0)>
func.func @two_stay(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %x_1 = dataflow.pack %x : tensor<4x8xf32> as !itensor -> tensor<2xvector<16xf32>>
  %y = dataflow.kernel @two_stay(%x_2 = %x_1 : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) -> (tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) {
    %x_stream = stream.create @x_stream {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf32>, depth: 4>
    dataflow.task @load_x ins(%x_3 = %x_2 : memref<2xvector<16xf32>>) outs(%out = %x_stream : !stream.stream<vector<4xf32>, depth: 4>) kind load {
      %word = memref.alloc() : memref<16xf32>
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %0 = memref.load %x_3[%i] : memref<2xvector<16xf32>>
        %c0_1 = arith.constant 0 : index
        vector.store %0, %word[%c0_1] : memref<16xf32>, vector<16xf32>
        %c0_2 = arith.constant 0 : index
        %c16 = arith.constant 16 : index
        %c4 = arith.constant 4 : index
        scf.for %t = %c0_2 to %c16 step %c4 {
          %1 = vector.load %word[%t] : memref<16xf32>, vector<4xf32>
          stream.write %1 into %out : !stream.stream<vector<4xf32>, depth: 4>
        } {stc.unroll = 0 : i32}
      }
      dataflow.yield
    }
    %fork_x = stream.create @fork_x_0 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf32>, depth: 2>
    %fork_x_1 = stream.create @fork_x_1 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf32>, depth: 2>
    %fork_x_2 = stream.create @fork_x_2 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf32>, depth: 8>
    dataflow.task @fork_x ins(%in0 = %x_stream : !stream.stream<vector<4xf32>, depth: 4>) outs(%out0 = %fork_x : !stream.stream<vector<4xf32>, depth: 2>, %out1 = %fork_x_1 : !stream.stream<vector<4xf32>, depth: 2>, %out2 = %fork_x_2 : !stream.stream<vector<4xf32>, depth: 8>) kind fork {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = stream.read %in0 : !stream.stream<vector<4xf32>, depth: 4>
        stream.write %0 into %out0 : !stream.stream<vector<4xf32>, depth: 2>
        stream.write %0 into %out1 : !stream.stream<vector<4xf32>, depth: 2>
        stream.write %0 into %out2 : !stream.stream<vector<4xf32>, depth: 8>
      }
      dataflow.yield
    }
    %sum_out = stream.create @sum_out {tokens = 1 : i64, distinct_tokens = 1 : i64} : !stream.stream<vector<4xf32>, depth: 2>
    dataflow.task @sum ins(%x_3 = %fork_x : !stream.stream<vector<4xf32>, depth: 2>) outs(%out = %sum_out : !stream.stream<vector<4xf32>, depth: 2>) attributes {stc.name = "sum"} {
      %tile = memref.alloc() : memref<4xf32>
      %x_4 = memref.alloc() : memref<4x4xf32>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c = arith.constant 0.000000e+00 : f32
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      linalg.fill {stc.name = "sum"} ins(%c : f32) outs(%tile : memref<4xf32>)
      scf.for %j = %c0 to %c8 step %c4 {
        %c0_1 = arith.constant 0 : index
        %c4_1 = arith.constant 4 : index
        %c1_1 = arith.constant 1 : index
        scf.for %a = %c0_1 to %c4_1 step %c1_1 {
          %0 = stream.read %x_3 : !stream.stream<vector<4xf32>, depth: 2>
          %c0_2 = arith.constant 0 : index
          vector.store %0, %x_4[%a, %c0_2] : memref<4x4xf32>, vector<4xf32>
        }
        linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%x_4 : memref<4x4xf32>) outs(%tile : memref<4xf32>) attrs =  {stc.name = "sum", stc.schedule = #schedule, stc.tile = "sum"} {
        ^bb0(%a_1: f32, %o: f32):
          %t = arith.addf %a_1, %o : f32
          linalg.yield %t : f32
        }
      }
      %c0_3 = arith.constant 0 : index
      %1 = vector.load %tile[%c0_3] : memref<4xf32>, vector<4xf32>
      stream.write %1 into %out : !stream.stream<vector<4xf32>, depth: 2>
      dataflow.yield
    }
    %max_out = stream.create @max_out {tokens = 1 : i64, distinct_tokens = 1 : i64} : !stream.stream<vector<4xf32>, depth: 2>
    dataflow.task @max ins(%x_3 = %fork_x_1 : !stream.stream<vector<4xf32>, depth: 2>) outs(%out = %max_out : !stream.stream<vector<4xf32>, depth: 2>) attributes {stc.name = "max"} {
      %tile = memref.alloc() : memref<4xf32>
      %x_4 = memref.alloc() : memref<4x4xf32>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %d = arith.constant 0xff800000 : f32
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      linalg.fill {stc.name = "max"} ins(%d : f32) outs(%tile : memref<4xf32>)
      scf.for %j = %c0 to %c8 step %c4 {
        %c0_1 = arith.constant 0 : index
        %c4_1 = arith.constant 4 : index
        %c1_1 = arith.constant 1 : index
        scf.for %a = %c0_1 to %c4_1 step %c1_1 {
          %0 = stream.read %x_3 : !stream.stream<vector<4xf32>, depth: 2>
          %c0_2 = arith.constant 0 : index
          vector.store %0, %x_4[%a, %c0_2] : memref<4x4xf32>, vector<4xf32>
        }
        linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%x_4 : memref<4x4xf32>) outs(%tile : memref<4xf32>) attrs =  {stc.name = "max", stc.schedule = #schedule, stc.tile = "max"} {
        ^bb0(%a_1: f32, %o: f32):
          %t = arith.maximumf %a_1, %o : f32
          linalg.yield %t : f32
        }
      }
      %c0_3 = arith.constant 0 : index
      %1 = vector.load %tile[%c0_3] : memref<4xf32>, vector<4xf32>
      stream.write %1 into %out : !stream.stream<vector<4xf32>, depth: 2>
      dataflow.yield
    }
    %sub_out = stream.create @sub_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf32>, depth: 4>
    dataflow.task @sub ins(%s = %sum_out : !stream.stream<vector<4xf32>, depth: 2>, %m = %max_out : !stream.stream<vector<4xf32>, depth: 2>, %x_3 = %fork_x_2 : !stream.stream<vector<4xf32>, depth: 8>) outs(%out = %sub_out : !stream.stream<vector<4xf32>, depth: 4>) attributes {stc.name = "sub"} {
      %x_4 = memref.alloc() : memref<4x4xf32>
      %0 = memref.alloc() : memref<4xf32>
      %1 = memref.alloc() : memref<4xf32>
      %tile = memref.alloc() : memref<4x4xf32>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c4 = arith.constant 4 : index
      %2 = stream.read %s : !stream.stream<vector<4xf32>, depth: 2>
      %3 = stream.read %m : !stream.stream<vector<4xf32>, depth: 2>
      scf.for %j = %c0 to %c8 step %c4 {
        %c0_1 = arith.constant 0 : index
        %c4_1 = arith.constant 4 : index
        %c1_1 = arith.constant 1 : index
        scf.for %a = %c0_1 to %c4_1 step %c1_1 {
          %4 = stream.read %x_3 : !stream.stream<vector<4xf32>, depth: 8>
          %c0_2 = arith.constant 0 : index
          vector.store %4, %x_4[%a, %c0_2] : memref<4x4xf32>, vector<4xf32>
        }
        %c0_3 = arith.constant 0 : index
        vector.store %2, %0[%c0_3] : memref<4xf32>, vector<4xf32>
        %c0_4 = arith.constant 0 : index
        vector.store %3, %1[%c0_4] : memref<4xf32>, vector<4xf32>
        linalg.generic {indexing_maps = [#map, #map1, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%x_4, %0, %1 : memref<4x4xf32>, memref<4xf32>, memref<4xf32>) outs(%tile : memref<4x4xf32>) attrs =  {stc.name = "sub", stc.schedule = #dataflow.schedule<tile = [4, 4], order = [1, 0], unroll = [1, 4], vector = []>, stc.tile = "sub"} {
        ^bb0(%a_1: f32, %b: f32, %c2: f32, %o: f32):
          %u = arith.subf %a_1, %b : f32
          %t = arith.addf %u, %c2 : f32
          linalg.yield %t : f32
        }
        %c0_5 = arith.constant 0 : index
        %c4_2 = arith.constant 4 : index
        %c1_2 = arith.constant 1 : index
        scf.for %a_2 = %c0_5 to %c4_2 step %c1_2 {
          %c0_6 = arith.constant 0 : index
          %5 = vector.load %tile[%a_2, %c0_6] : memref<4x4xf32>, vector<4xf32>
          stream.write %5 into %out : !stream.stream<vector<4xf32>, depth: 4>
        }
      }
      dataflow.yield
    }
    %y_1 = dataflow.memory @y : memref<2xvector<16xf32>>
    dataflow.task @store_y ins(%in = %sub_out : !stream.stream<vector<4xf32>, depth: 4>) outs(%y_2 = %y_1 : memref<2xvector<16xf32>>) kind store {
      %word = memref.alloc() : memref<16xf32>
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %c0_1 = arith.constant 0 : index
        %c16 = arith.constant 16 : index
        %c4 = arith.constant 4 : index
        scf.for %t = %c0_1 to %c16 step %c4 {
          %0 = stream.read %in : !stream.stream<vector<4xf32>, depth: 4>
          vector.store %0, %word[%t] : memref<16xf32>, vector<4xf32>
        } {stc.unroll = 0 : i32}
        %c0_2 = arith.constant 0 : index
        %1 = vector.load %word[%c0_2] : memref<16xf32>, vector<16xf32>
        memref.store %1, %y_2[%i] : memref<2xvector<16xf32>>
      }
      dataflow.yield
    }
    dataflow.yield %y_1 : memref<2xvector<16xf32>>
  }
  %y_1 = dataflow.unpack %y : tensor<2xvector<16xf32>> as !itensor -> tensor<4x8xf32>
  func.return %y_1 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @two_stay(
// CHECK: %y = dataflow.kernel @two_stay(%x_2 = %x_1 : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>, %x_3 = %x_1 : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) -> (tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) attributes {stc.duplicate_loads = [{tensor = "x", reader = "sub", instead_of = "fifo", saved_bytes = 64 : i64, traffic_bytes = 128 : i64, packed_bytes = 0 : i64}]} {
// CHECK-NEXT: %x_stream = stream.create @x_stream {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf32>, depth: 4>
// CHECK-NEXT: dataflow.task @load_x ins(%x_4 = %x_2 : memref<2xvector<16xf32>>) outs(%out = %x_stream : !stream.stream<vector<4xf32>, depth: 4>) kind load {
// CHECK: %fork_x = stream.create @fork_x_0 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: %fork_x_1 = stream.create @fork_x_1 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: %x_stream_1 = stream.create @x_stream_2 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf32>, depth: 4>
// CHECK-NEXT: dataflow.task @load_x_2 ins(%x_4 = %x_3 : memref<2xvector<16xf32>>) outs(%out = %x_stream_1 : !stream.stream<vector<4xf32>, depth: 4>) kind load {
// CHECK: dataflow.task @fork_x ins(%in0 = %x_stream : !stream.stream<vector<4xf32>, depth: 4>) outs(%out0 = %fork_x : !stream.stream<vector<4xf32>, depth: 2>, %out1 = %fork_x_1 : !stream.stream<vector<4xf32>, depth: 2>) kind fork {
// CHECK: %sum_out = stream.create @sum_out {tokens = 1 : i64, distinct_tokens = 1 : i64} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @sum ins(%x_4 = %fork_x : !stream.stream<vector<4xf32>, depth: 2>) outs(%out = %sum_out : !stream.stream<vector<4xf32>, depth: 2>) attributes {stc.name = "sum"} {
// CHECK: %max_out = stream.create @max_out {tokens = 1 : i64, distinct_tokens = 1 : i64} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @max ins(%x_4 = %fork_x_1 : !stream.stream<vector<4xf32>, depth: 2>) outs(%out = %max_out : !stream.stream<vector<4xf32>, depth: 2>) attributes {stc.name = "max"} {
// CHECK: %sub_out = stream.create @sub_out {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf32>, depth: 4>
// CHECK-NEXT: dataflow.task @sub ins(%s = %sum_out : !stream.stream<vector<4xf32>, depth: 2>, %m = %max_out : !stream.stream<vector<4xf32>, depth: 2>, %x_4 = %x_stream_1 : !stream.stream<vector<4xf32>, depth: 4>) outs(%out = %sub_out : !stream.stream<vector<4xf32>, depth: 4>) attributes {stc.name = "sub"} {
// CHECK: dataflow.task @store_y ins(%in = %sub_out : !stream.stream<vector<4xf32>, depth: 4>) outs(%y_2 = %y_1 : memref<2xvector<16xf32>>) kind store {
