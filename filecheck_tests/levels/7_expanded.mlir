// RUN: stc-opt %s --from HLS-optimisation | filecheck %s

// Level 7, expanded: loops with labels, pipelines and partitions, which is what gets printed as C++.
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
builtin.module {
  func.func @main(%x: tensor<8x12xf32> {stc.name = "x"}, %w: tensor<12x16xf32> {stc.name = "w", stc.parameter}) -> (tensor<8x16xf32> {stc.name = "y"}) {
    %x_1 = dataflow.pack %x : tensor<8x12xf32> as !itensor.itensor<1x4xf32, iter_space: [2, 2, 3, 4] * [4, 8, 4, 1], iter_map: (d0, d1, d2, d3) -> (d0 + d3, d2)> -> tensor<6xvector<16xf32>>
    %w_1 = dataflow.pack %w : tensor<12x16xf32> as !itensor.itensor<1x8xf32, iter_space: [2, 2, 3, 4] * [4, 8, 4, 1], iter_map: (d0, d1, d2, d3) -> (d2 + d3, d1)> -> tensor<12xvector<16xf32>>
    %y = dataflow.kernel @main(%x_2 = %x_1 : tensor<6xvector<16xf32>> as memref<6xvector<16xf32>>, %w_2 = %w_1 : tensor<12xvector<16xf32>> as memref<12xvector<16xf32>>) -> (tensor<8xvector<16xf32>> as memref<8xvector<16xf32>>) {
      %x_stream = stream.create @x_stream {tokens = 48 : i64, distinct_tokens = 24 : i64} : !stream.stream<vector<4xf32>, depth: 4>
      dataflow.task @load_x ins(%x_3 = %x_2 : memref<6xvector<16xf32>>) outs(%out = %x_stream : !stream.stream<vector<4xf32>, depth: 4>) kind load {
        %word = memref.alloc() : memref<16xf32>
        %c0 = arith.constant 0 : index
        %c2 = arith.constant 2 : index
        %c1 = arith.constant 1 : index
        %c0_1 = arith.constant 0 : index
        %c2_1 = arith.constant 2 : index
        %c1_1 = arith.constant 1 : index
        %c0_2 = arith.constant 0 : index
        %c3 = arith.constant 3 : index
        %c1_2 = arith.constant 1 : index
        scf.for %i = %c0 to %c2 step %c1 {
          scf.for %j = %c0_1 to %c2_1 step %c1_1 {
            scf.for %k = %c0_2 to %c3 step %c1_2 {
              %c3_1 = arith.constant 3 : index
              %0 = arith.muli %i, %c3_1 : index
              %1 = arith.addi %0, %k : index
              %2 = memref.load %x_3[%1] : memref<6xvector<16xf32>>
              %c0_3 = arith.constant 0 : index
              vector.store %2, %word[%c0_3] : memref<16xf32>, vector<16xf32>
              %c0_4 = arith.constant 0 : index
              %c16 = arith.constant 16 : index
              %c4 = arith.constant 4 : index
              scf.for %t = %c0_4 to %c16 step %c4 {
                %3 = vector.load %word[%t] : memref<16xf32>, vector<4xf32>
                stream.write %3 into %out : !stream.stream<vector<4xf32>, depth: 4>
              } {stc.unroll = 0 : i32}
            }
          }
        }
        dataflow.yield
      }
      %w_stream = stream.create @w_stream {tokens = 48 : i64, distinct_tokens = 24 : i64} : !stream.stream<vector<8xf32>, depth: 2>
      dataflow.task @load_w ins(%w_3 = %w_2 : memref<12xvector<16xf32>>) outs(%out = %w_stream : !stream.stream<vector<8xf32>, depth: 2>) kind load {
        %word = memref.alloc() : memref<16xf32>
        %c0 = arith.constant 0 : index
        %c2 = arith.constant 2 : index
        %c1 = arith.constant 1 : index
        %c0_1 = arith.constant 0 : index
        %c12 = arith.constant 12 : index
        %c1_1 = arith.constant 1 : index
        scf.for %i = %c0 to %c2 step %c1 {
          scf.for %j = %c0_1 to %c12 step %c1_1 {
            %0 = memref.load %w_3[%j] : memref<12xvector<16xf32>>
            %c0_2 = arith.constant 0 : index
            vector.store %0, %word[%c0_2] : memref<16xf32>, vector<16xf32>
            %c0_3 = arith.constant 0 : index
            %c16 = arith.constant 16 : index
            %c8 = arith.constant 8 : index
            scf.for %t = %c0_3 to %c16 step %c8 {
              %1 = vector.load %word[%t] : memref<16xf32>, vector<8xf32>
              stream.write %1 into %out : !stream.stream<vector<8xf32>, depth: 2>
            } {stc.unroll = 0 : i32}
          }
        }
        dataflow.yield
      }
      %fc_out = stream.create @fc_out {tokens = 16 : i64, distinct_tokens = 16 : i64} : !stream.stream<vector<8xf32>, depth: 2>
      dataflow.task @fc ins(%x_3 = %x_stream : !stream.stream<vector<4xf32>, depth: 4>, %w_3 = %w_stream : !stream.stream<vector<8xf32>, depth: 2>) outs(%out = %fc_out : !stream.stream<vector<8xf32>, depth: 2>) attributes {stc.name = "fc", stc.module = "fc"} {
        %tile = memref.alloc() : memref<4x8xf32>
        %x_4 = memref.alloc() : memref<4x4xf32>
        %w_4 = memref.alloc() : memref<4x8xf32>
        %c0 = arith.constant 0 : index
        %c8 = arith.constant 8 : index
        %c4 = arith.constant 4 : index
        %c16 = arith.constant 16 : index
        %0 = arith.constant 0.000000e+00 : f32
        %c12 = arith.constant 12 : index
        scf.for %i = %c0 to %c8 step %c4 {
          scf.for %j = %c0 to %c16 step %c8 {
            linalg.fill {stc.name = "fc", stc.module = "fc"} ins(%0 : f32) outs(%tile : memref<4x8xf32>)
            scf.for %k = %c0 to %c12 step %c4 {
              %c0_1 = arith.constant 0 : index
              %c4_1 = arith.constant 4 : index
              %c1 = arith.constant 1 : index
              scf.for %a = %c0_1 to %c4_1 step %c1 {
                %1 = stream.read %x_3 : !stream.stream<vector<4xf32>, depth: 4>
                %c0_2 = arith.constant 0 : index
                vector.store %1, %x_4[%a, %c0_2] : memref<4x4xf32>, vector<4xf32>
              }
              %c0_3 = arith.constant 0 : index
              %c4_2 = arith.constant 4 : index
              %c1_1 = arith.constant 1 : index
              scf.for %a_1 = %c0_3 to %c4_2 step %c1_1 {
                %2 = stream.read %w_3 : !stream.stream<vector<8xf32>, depth: 2>
                %c0_4 = arith.constant 0 : index
                vector.store %2, %w_4[%a_1, %c0_4] : memref<4x8xf32>, vector<8xf32>
              }
              linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x_4, %w_4 : memref<4x4xf32>, memref<4x8xf32>) outs(%tile : memref<4x8xf32>) attrs =  {stc.module = "fc", stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.fixed, stc.tile = "fc"} {
              ^bb0(%3: f32, %4: f32, %5: f32):
                %6 = arith.mulf %3, %4 : f32
                %7 = arith.addf %6, %5 : f32
                linalg.yield %7 : f32
              }
            }
            %c0_5 = arith.constant 0 : index
            %c4_3 = arith.constant 4 : index
            %c1_2 = arith.constant 1 : index
            scf.for %a_2 = %c0_5 to %c4_3 step %c1_2 {
              %c0_6 = arith.constant 0 : index
              %8 = vector.load %tile[%a_2, %c0_6] : memref<4x8xf32>, vector<8xf32>
              stream.write %8 into %out : !stream.stream<vector<8xf32>, depth: 2>
            }
          }
        }
        dataflow.yield
      }
      %fc_buffer = stream.buffer @fc_buffer : !stream.block<memref<4x8xf32>, count: 2>
      %fc_reordered = stream.create @fc_reordered {tokens = 32 : i64, distinct_tokens = 32 : i64} : !stream.stream<vector<4xf32>, depth: 2>
      dataflow.task @fill_fc ins(%in = %fc_out : !stream.stream<vector<8xf32>, depth: 2>) outs(%out = %fc_buffer : !stream.block<memref<4x8xf32>, count: 2>) kind converter {
        %c0 = arith.constant 0 : index
        %c8 = arith.constant 8 : index
        %c4 = arith.constant 4 : index
        %c0_1 = arith.constant 0 : index
        %c16 = arith.constant 16 : index
        %c8_1 = arith.constant 8 : index
        scf.for %i = %c0 to %c8 step %c4 {
          scf.for %j = %c0_1 to %c16 step %c8_1 {
            %0 = stream.acquire %out : !stream.block<memref<4x8xf32>, count: 2> -> memref<4x8xf32>
            %c0_2 = arith.constant 0 : index
            %c4_1 = arith.constant 4 : index
            %c1 = arith.constant 1 : index
            scf.for %a = %c0_2 to %c4_1 step %c1 {
              %1 = stream.read %in : !stream.stream<vector<8xf32>, depth: 2>
              %c0_3 = arith.constant 0 : index
              vector.store %1, %0[%a, %c0_3] : memref<4x8xf32>, vector<8xf32>
            }
          }
        }
        dataflow.yield
      }
      dataflow.task @drain_fc ins(%in = %fc_buffer : !stream.block<memref<4x8xf32>, count: 2>) outs(%out = %fc_reordered : !stream.stream<vector<4xf32>, depth: 2>) kind converter {
        %c0 = arith.constant 0 : index
        %c8 = arith.constant 8 : index
        %c4 = arith.constant 4 : index
        %c0_1 = arith.constant 0 : index
        %c16 = arith.constant 16 : index
        %c8_1 = arith.constant 8 : index
        scf.for %i = %c0 to %c8 step %c4 {
          scf.for %j = %c0_1 to %c16 step %c8_1 {
            %0 = stream.acquire %in : !stream.block<memref<4x8xf32>, count: 2> -> memref<4x8xf32>
            %c0_2 = arith.constant 0 : index
            %c8_2 = arith.constant 8 : index
            %c4_1 = arith.constant 4 : index
            %c0_3 = arith.constant 0 : index
            %c4_2 = arith.constant 4 : index
            %c1 = arith.constant 1 : index
            scf.for %a = %c0_2 to %c8_2 step %c4_1 {
              scf.for %b = %c0_3 to %c4_2 step %c1 {
                %1 = vector.load %0[%b, %a] : memref<4x8xf32>, vector<4xf32>
                stream.write %1 into %out : !stream.stream<vector<4xf32>, depth: 2>
              }
            }
          }
        }
        dataflow.yield
      }
      %gelu_out = stream.create @gelu_out {tokens = 32 : i64, distinct_tokens = 32 : i64} : !stream.stream<vector<4xf32>, depth: 4>
      dataflow.task @gelu ins(%fc = %fc_reordered : !stream.stream<vector<4xf32>, depth: 2>) outs(%out = %gelu_out : !stream.stream<vector<4xf32>, depth: 4>) attributes {stc.name = "gelu", stc.module = "gelu"} {
        %fc_1 = memref.alloc() : memref<4x4xf32>
        %tile = memref.alloc() : memref<4x4xf32>
        %c0 = arith.constant 0 : index
        %c8 = arith.constant 8 : index
        %c4 = arith.constant 4 : index
        %c16 = arith.constant 16 : index
        scf.for %i = %c0 to %c8 step %c4 {
          scf.for %j = %c0 to %c16 step %c4 {
            %c0_1 = arith.constant 0 : index
            %c4_1 = arith.constant 4 : index
            %c1 = arith.constant 1 : index
            scf.for %a = %c0_1 to %c4_1 step %c1 {
              %0 = stream.read %fc : !stream.stream<vector<4xf32>, depth: 2>
              %c0_2 = arith.constant 0 : index
              vector.store %0, %fc_1[%a, %c0_2] : memref<4x4xf32>, vector<4xf32>
            }
            linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%fc_1 : memref<4x4xf32>) outs(%tile : memref<4x4xf32>) attrs =  {stc.module = "gelu", stc.name = "gelu", stc.schedule = #dataflow.schedule<tile = [4, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.fixed, stc.tile = "gelu"} {
            ^bb0(%1: f32, %2: f32):
              %3 = arith.constant 5.000000e-01 : f32
              %4 = arith.constant 1.000000e+00 : f32
              %5 = arith.constant 1.41421354 : f32
              %6 = arith.divf %1, %5 : f32
              %7 = math.erf %6 : f32
              %8 = arith.addf %7, %4 : f32
              %9 = arith.mulf %1, %3 : f32
              %10 = arith.mulf %9, %8 : f32
              linalg.yield %10 : f32
            }
            %c0_3 = arith.constant 0 : index
            %c4_2 = arith.constant 4 : index
            %c1_1 = arith.constant 1 : index
            scf.for %a_1 = %c0_3 to %c4_2 step %c1_1 {
              %c0_4 = arith.constant 0 : index
              %11 = vector.load %tile[%a_1, %c0_4] : memref<4x4xf32>, vector<4xf32>
              stream.write %11 into %out : !stream.stream<vector<4xf32>, depth: 4>
            }
          }
        }
        dataflow.yield
      }
      %y_1 = dataflow.memory @y : memref<8xvector<16xf32>>
      dataflow.task @store_y ins(%in = %gelu_out : !stream.stream<vector<4xf32>, depth: 4>) outs(%y_2 = %y_1 : memref<8xvector<16xf32>>) kind store {
        %word = memref.alloc() : memref<16xf32>
        %c0 = arith.constant 0 : index
        %c8 = arith.constant 8 : index
        %c1 = arith.constant 1 : index
        scf.for %i = %c0 to %c8 step %c1 {
          %c0_1 = arith.constant 0 : index
          %c16 = arith.constant 16 : index
          %c4 = arith.constant 4 : index
          scf.for %t = %c0_1 to %c16 step %c4 {
            %0 = stream.read %in : !stream.stream<vector<4xf32>, depth: 4>
            vector.store %0, %word[%t] : memref<16xf32>, vector<4xf32>
          } {stc.unroll = 0 : i32}
          %c0_2 = arith.constant 0 : index
          %1 = vector.load %word[%c0_2] : memref<16xf32>, vector<16xf32>
          memref.store %1, %y_2[%i] : memref<8xvector<16xf32>>
        }
        dataflow.yield
      }
      dataflow.yield %y_1 : memref<8xvector<16xf32>>
    }
    %y_1 = dataflow.unpack %y : tensor<8xvector<16xf32>> as !itensor.itensor<1x4xf32, iter_space: [2, 4, 4] * [4, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)> -> tensor<8x16xf32>
    func.return %y_1 : tensor<8x16xf32>
  }
}

// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %x_1 = dataflow.pack %x : tensor<8x12xf32> as !itensor.itensor<1x4xf32, iter_space: [2, 2, 3, 4] * [4, 8, 4, 1], iter_map: (d0, d1, d2, d3) -> (d0 + d3, d2)> -> tensor<6xvector<16xf32>>
// CHECK-NEXT: %w_1 = dataflow.pack %w : tensor<12x16xf32> as !itensor.itensor<1x8xf32, iter_space: [2, 2, 3, 4] * [4, 8, 4, 1], iter_map: (d0, d1, d2, d3) -> (d2 + d3, d1)> -> tensor<12xvector<16xf32>>
// CHECK-NEXT: %y = dataflow.kernel @main(%x_2 = %x_1 : tensor<6xvector<16xf32>> as memref<6xvector<16xf32>>, %w_2 = %w_1 : tensor<12xvector<16xf32>> as memref<12xvector<16xf32>>) -> (tensor<8xvector<16xf32>> as memref<8xvector<16xf32>>) {
// CHECK-NEXT: %x_stream = stream.create @x_stream {tokens = 48 : i64, distinct_tokens = 24 : i64, required_depth = 4 : i64, memory = "srl"} : !stream.stream<vector<4xf32>, depth: 4>
// CHECK-NEXT: dataflow.task @load_x ins(%x_3 = %x_2 : memref<6xvector<16xf32>>) outs(%out = %x_stream : !stream.stream<vector<4xf32>, depth: 4>) kind load {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c2 = arith.constant 2 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %c3 = arith.constant 3 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %word = memref.alloc() {stc.partition = {{\[\[}}0 : i32, 0 : i32]]} : memref<16xf32>
// CHECK-NEXT: scf.for %i = %c0 to %c2 step %c1 {
// CHECK-NEXT: scf.for %j = %c0 to %c2 step %c1 {
// CHECK-NEXT: scf.for %k = %c0 to %c3 step %c1 {
// CHECK-NEXT: %0 = arith.muli %i, %c3 : index
// CHECK-NEXT: %1 = arith.addi %0, %k : index
// CHECK-NEXT: %2 = memref.load %x_3[%1] : memref<6xvector<16xf32>>
// CHECK-NEXT: vector.store %2, %word[%c0] : memref<16xf32>, vector<16xf32>
// CHECK-NEXT: scf.for %t = %c0 to %c16 step %c4 {
// CHECK-NEXT: %3 = vector.load %word[%t] : memref<16xf32>, vector<4xf32>
// CHECK-NEXT: stream.write %3 into %out : !stream.stream<vector<4xf32>, depth: 4>
// CHECK-NEXT: } {stc.unroll = 0 : i32, stc.label = "write_out_t"}
// CHECK-NEXT: } {stc.label = "write_out_k", stc.pipeline = 4 : i32}
// CHECK-NEXT: } {stc.label = "write_out_j"}
// CHECK-NEXT: } {stc.label = "write_out_i"}
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: %w_stream = stream.create @w_stream {tokens = 48 : i64, distinct_tokens = 24 : i64, required_depth = 2 : i64} : !stream.stream<vector<8xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @load_w ins(%w_3 = %w_2 : memref<12xvector<16xf32>>) outs(%out = %w_stream : !stream.stream<vector<8xf32>, depth: 2>) kind load {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c2 = arith.constant 2 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %c12 = arith.constant 12 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %word = memref.alloc() {stc.partition = {{\[\[}}0 : i32, 0 : i32]]} : memref<16xf32>
// CHECK-NEXT: scf.for %i = %c0 to %c2 step %c1 {
// CHECK-NEXT: scf.for %j = %c0 to %c12 step %c1 {
// CHECK-NEXT: %0 = memref.load %w_3[%j] : memref<12xvector<16xf32>>
// CHECK-NEXT: vector.store %0, %word[%c0] : memref<16xf32>, vector<16xf32>
// CHECK-NEXT: scf.for %t = %c0 to %c16 step %c8 {
// CHECK-NEXT: %1 = vector.load %word[%t] : memref<16xf32>, vector<8xf32>
// CHECK-NEXT: stream.write %1 into %out : !stream.stream<vector<8xf32>, depth: 2>
// CHECK-NEXT: } {stc.unroll = 0 : i32, stc.label = "write_out_t"}
// CHECK-NEXT: } {stc.label = "write_out_j", stc.pipeline = 2 : i32}
// CHECK-NEXT: } {stc.label = "write_out_i"}
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: %fc_out = stream.create @fc_out {tokens = 16 : i64, distinct_tokens = 16 : i64, required_depth = 2 : i64} : !stream.stream<vector<8xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @fc ins(%x_3 = %x_stream : !stream.stream<vector<4xf32>, depth: 4>, %w_3 = %w_stream : !stream.stream<vector<8xf32>, depth: 2>) outs(%out = %fc_out : !stream.stream<vector<8xf32>, depth: 2>) attributes {stc.name = "fc", stc.module = "fc"} {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %c12 = arith.constant 12 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %c3 = arith.constant 3 : index
// CHECK-NEXT: %c7 = arith.constant 7 : index
// CHECK-NEXT: %tile_token = memref.alloc() {stc.partition = {{\[\[}}0 : i32, 0 : i32]]} : memref<8xf32>
// CHECK-NEXT: %tile = memref.alloc() {stc.storage = ["ram_s2p", "lutram"]} : memref<4x8xf32>
// CHECK-NEXT: %x_4 = memref.alloc() {stc.partition = {{\[\[}}1 : i32, 0 : i32]], stc.storage = ["ram_s2p", "lutram"]} : memref<4x4xf32>
// CHECK-NEXT: %w_4 = memref.alloc() {stc.partition = {{\[\[}}0 : i32, 0 : i32]]} : memref<8xf32>
// CHECK-NEXT: scf.for %i = %c0 to %c8 step %c4 {
// CHECK-NEXT: scf.for %j = %c0 to %c16 step %c8 {
// CHECK-NEXT: scf.for %k = %c0 to %c12 step %c4 {
// CHECK-NEXT: scf.for %a = %c0 to %c4 step %c1 {
// CHECK-NEXT: %1 = stream.read %x_3 : !stream.stream<vector<4xf32>, depth: 4>
// CHECK-NEXT: vector.store %1, %x_4[%a, %c0] : memref<4x4xf32>, vector<4xf32>
// CHECK-NEXT: } {stc.label = "read_x_a", stc.pipeline = 1 : i32}
// CHECK-NEXT: scf.for %term = %c0 to %c4 step %c1 {
// CHECK-NEXT: scf.for %row = %c0 to %c4 step %c1 {
// CHECK-NEXT: scf.for %column = %c0 to %c8 step %c1 {
// CHECK-NEXT: %2 = arith.cmpi eq, %row, %c0 : index
// CHECK-NEXT: %3 = arith.cmpi eq, %column, %c0 : index
// CHECK-NEXT: %4 = arith.andi %2, %3 : i1
// CHECK-NEXT: scf.if %4 {
// CHECK-NEXT: %5 = stream.read %w_3 : !stream.stream<vector<8xf32>, depth: 2>
// CHECK-NEXT: vector.store %5, %w_4[%c0] : memref<8xf32>, vector<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %6 = arith.cmpi eq, %k, %c0 : index
// CHECK-NEXT: %7 = arith.cmpi eq, %term, %c0 : index
// CHECK-NEXT: %first = arith.andi %6, %7 : i1
// CHECK-NEXT: %8 = memref.load %x_4[%row, %term] : memref<4x4xf32>
// CHECK-NEXT: %9 = memref.load %w_4[%column] : memref<8xf32>
// CHECK-NEXT: %10 = memref.load %tile[%row, %column] : memref<4x8xf32>
// CHECK-NEXT: %11 = arith.select %first, %0, %10 : f32
// CHECK-NEXT: %12 = arith.mulf %8, %9 : f32
// CHECK-NEXT: %13 = arith.addf %12, %11 : f32
// CHECK-NEXT: memref.store %13, %tile[%row, %column] : memref<4x8xf32>
// CHECK-NEXT: memref.store %13, %tile_token[%column] : memref<8xf32>
// CHECK-NEXT: %14 = arith.cmpi eq, %k, %c8 : index
// CHECK-NEXT: %15 = arith.cmpi eq, %term, %c3 : index
// CHECK-NEXT: %16 = arith.cmpi eq, %column, %c7 : index
// CHECK-NEXT: %17 = arith.andi %14, %15 : i1
// CHECK-NEXT: %18 = arith.andi %17, %16 : i1
// CHECK-NEXT: scf.if %18 {
// CHECK-NEXT: %19 = vector.load %tile_token[%c0] : memref<8xf32>, vector<8xf32>
// CHECK-NEXT: stream.write %19 into %out : !stream.stream<vector<8xf32>, depth: 2>
// CHECK-NEXT: }
// CHECK-NEXT: } {stc.label = "fc_column", stc.pipeline = 1 : i32}
// CHECK-NEXT: } {stc.label = "fc_row"}
// CHECK-NEXT: } {stc.label = "fc_term"}
// CHECK-NEXT: } {stc.label = "tile_k"}
// CHECK-NEXT: } {stc.label = "tile_j"}
// CHECK-NEXT: } {stc.label = "tile_i"}
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: %fc_buffer = stream.buffer @fc_buffer : !stream.block<memref<4x8xf32>, count: 2>
// CHECK-NEXT: %fc_reordered = stream.create @fc_reordered {tokens = 32 : i64, distinct_tokens = 32 : i64, required_depth = 5 : i64, memory = "srl"} : !stream.stream<vector<4xf32>, depth: 8>
// CHECK-NEXT: dataflow.task @fill_fc ins(%in = %fc_out : !stream.stream<vector<8xf32>, depth: 2>) outs(%out = %fc_buffer : !stream.block<memref<4x8xf32>, count: 2>) kind converter {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %i = %c0 to %c8 step %c4 {
// CHECK-NEXT: scf.for %j = %c0 to %c16 step %c8 {
// CHECK-NEXT: %0 = stream.acquire %out : !stream.block<memref<4x8xf32>, count: 2> -> memref<4x8xf32>
// CHECK-NEXT: scf.for %a = %c0 to %c4 step %c1 {
// CHECK-NEXT: %1 = stream.read %in : !stream.stream<vector<8xf32>, depth: 2>
// CHECK-NEXT: vector.store %1, %0[%a, %c0] : memref<4x8xf32>, vector<8xf32>
// CHECK-NEXT: } {stc.label = "read_in_a", stc.pipeline = 4 : i32}
// CHECK-NEXT: } {stc.label = "tile_j"}
// CHECK-NEXT: } {stc.label = "tile_i"}
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.task @drain_fc ins(%in = %fc_buffer : !stream.block<memref<4x8xf32>, count: 2>) outs(%out = %fc_reordered : !stream.stream<vector<4xf32>, depth: 8>) kind converter {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %i = %c0 to %c8 step %c4 {
// CHECK-NEXT: scf.for %j = %c0 to %c16 step %c8 {
// CHECK-NEXT: %0 = stream.acquire %in : !stream.block<memref<4x8xf32>, count: 2> -> memref<4x8xf32>
// CHECK-NEXT: scf.for %a = %c0 to %c8 step %c4 {
// CHECK-NEXT: scf.for %b = %c0 to %c4 step %c1 {
// CHECK-NEXT: %1 = vector.load %0[%b, %a] : memref<4x8xf32>, vector<4xf32>
// CHECK-NEXT: stream.write %1 into %out : !stream.stream<vector<4xf32>, depth: 8>
// CHECK-NEXT: } {stc.label = "write_out_b", stc.pipeline = 2 : i32}
// CHECK-NEXT: } {stc.label = "write_out_a"}
// CHECK-NEXT: } {stc.label = "tile_j"}
// CHECK-NEXT: } {stc.label = "tile_i"}
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: %gelu_out = stream.create @gelu_out {tokens = 32 : i64, distinct_tokens = 32 : i64, required_depth = 4 : i64, memory = "srl"} : !stream.stream<vector<4xf32>, depth: 8>
// CHECK-NEXT: dataflow.task @gelu ins(%fc = %fc_reordered : !stream.stream<vector<4xf32>, depth: 8>) outs(%out = %gelu_out : !stream.stream<vector<4xf32>, depth: 8>) attributes {stc.name = "gelu", stc.module = "gelu"} {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %0 = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %1 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %2 = arith.constant 1.41421354 : f32
// CHECK-NEXT: %c3 = arith.constant 3 : index
// CHECK-NEXT: %fc_1 = memref.alloc() {stc.partition = {{\[\[}}0 : i32, 0 : i32]]} : memref<4xf32>
// CHECK-NEXT: %tile = memref.alloc() {stc.partition = {{\[\[}}0 : i32, 0 : i32]]} : memref<4xf32>
// CHECK-NEXT: scf.for %i = %c0 to %c8 step %c4 {
// CHECK-NEXT: scf.for %j = %c0 to %c16 step %c4 {
// CHECK-NEXT: scf.for %row = %c0 to %c4 step %c1 {
// CHECK-NEXT: scf.for %column = %c0 to %c4 step %c1 {
// CHECK-NEXT: %3 = arith.cmpi eq, %column, %c0 : index
// CHECK-NEXT: scf.if %3 {
// CHECK-NEXT: %4 = stream.read %fc : !stream.stream<vector<4xf32>, depth: 8>
// CHECK-NEXT: vector.store %4, %fc_1[%c0] : memref<4xf32>, vector<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %5 = memref.load %fc_1[%column] : memref<4xf32>
// CHECK-NEXT: %6 = arith.divf %5, %2 : f32
// CHECK-NEXT: %7 = math.erf %6 : f32
// CHECK-NEXT: %8 = arith.addf %7, %1 : f32
// CHECK-NEXT: %9 = arith.mulf %5, %0 : f32
// CHECK-NEXT: %10 = arith.mulf %9, %8 : f32
// CHECK-NEXT: memref.store %10, %tile[%column] : memref<4xf32>
// CHECK-NEXT: %11 = arith.cmpi eq, %column, %c3 : index
// CHECK-NEXT: scf.if %11 {
// CHECK-NEXT: %12 = vector.load %tile[%c0] : memref<4xf32>, vector<4xf32>
// CHECK-NEXT: stream.write %12 into %out : !stream.stream<vector<4xf32>, depth: 8>
// CHECK-NEXT: }
// CHECK-NEXT: } {stc.label = "gelu_column", stc.pipeline = 1 : i32}
// CHECK-NEXT: } {stc.label = "gelu_row"}
// CHECK-NEXT: } {stc.label = "gelu_j"}
// CHECK-NEXT: } {stc.label = "gelu_i"}
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: %y_1 = dataflow.memory @y : memref<8xvector<16xf32>>
// CHECK-NEXT: dataflow.task @store_y ins(%in = %gelu_out : !stream.stream<vector<4xf32>, depth: 8>) outs(%y_2 = %y_1 : memref<8xvector<16xf32>>) kind store {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %word = memref.alloc() {stc.partition = {{\[\[}}0 : i32, 0 : i32]]} : memref<16xf32>
// CHECK-NEXT: scf.for %i = %c0 to %c8 step %c1 {
// CHECK-NEXT: scf.for %t = %c0 to %c16 step %c4 {
// CHECK-NEXT: %0 = stream.read %in : !stream.stream<vector<4xf32>, depth: 8>
// CHECK-NEXT: vector.store %0, %word[%t] : memref<16xf32>, vector<4xf32>
// CHECK-NEXT: } {stc.unroll = 0 : i32, stc.label = "read_in_t"}
// CHECK-NEXT: %1 = vector.load %word[%c0] : memref<16xf32>, vector<16xf32>
// CHECK-NEXT: memref.store %1, %y_2[%i] : memref<8xvector<16xf32>>
// CHECK-NEXT: } {stc.label = "read_in_i", stc.pipeline = 4 : i32}
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield %y_1 : memref<8xvector<16xf32>>
// CHECK-NEXT: }
// CHECK-NEXT: %y_1 = dataflow.unpack %y : tensor<8xvector<16xf32>> as !itensor.itensor<1x4xf32, iter_space: [2, 4, 4] * [4, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)> -> tensor<8x16xf32>
// CHECK-NEXT: func.return %y_1 : tensor<8x16xf32>
