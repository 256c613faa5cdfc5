// RUN: stc-opt %s --from bufferization --until resource-allocation | filecheck %s

// Level 6, streams: DMAs, converter and tasks over FIFOs and buffers; the tiles are still linalg.
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
!itensor = !itensor.itensor<1x4xf32, iter_space: [2, 2, 3, 4] * [4, 8, 4, 1], iter_map: (d0, d1, d2, d3) -> (d0 + d3, d2)>
!itensor1 = !itensor.itensor<1x8xf32, iter_space: [2, 2, 3, 4] * [4, 8, 4, 1], iter_map: (d0, d1, d2, d3) -> (d2 + d3, d1)>
!itensor2 = !itensor.itensor<1x4xf32, iter_space: [2, 4, 4] * [4, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!itensor3 = !itensor.itensor<1x8xf32, iter_space: [2, 2, 4] * [4, 8, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!itensor4 = !itensor.itensor<1x4xf32, iter_space: [2, 2, 2, 4] * [4, 8, 4, 1], iter_map: (d0, d1, d2, d3) -> (d0 + d3, d1 + d2)>
builtin.module {
  func.func @main(%x: tensor<8x12xf32> {stc.name = "x"}, %w: tensor<12x16xf32> {stc.name = "w", stc.parameter}) -> (tensor<8x16xf32> {stc.name = "y"}) {
    %x_1 = dataflow.pack %x : tensor<8x12xf32> as !itensor -> tensor<6xvector<16xf32>>
    %w_1 = dataflow.pack %w : tensor<12x16xf32> as !itensor1 -> tensor<12xvector<16xf32>>
    %y = dataflow.kernel @main(%x_2 = %x_1 : tensor<6xvector<16xf32>> as !itensor, %w_2 = %w_1 : tensor<12xvector<16xf32>> as !itensor1) -> (tensor<8xvector<16xf32>> as !itensor2) {
      %0 = itensor.empty : !itensor3
      %fc = dataflow.task @fc ins(%x_3 = %x_2 : !itensor, %w_3 = %w_2 : !itensor1) outs(%out = %0 : !itensor3) -> !itensor3 attributes {stc.name = "fc", stc.module = "fc"} {
        %c0 = arith.constant 0 : index
        %c8 = arith.constant 8 : index
        %c4 = arith.constant 4 : index
        %c16 = arith.constant 16 : index
        %1 = arith.constant 0.000000e+00 : f32
        %c12 = arith.constant 12 : index
        %fc_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor3) {
          %3 = scf.for %j = %c0 to %c16 step %c8 iter_args(%4 = %2) -> (!itensor3) {
            %5 = tensor.empty() : tensor<4x8xf32>
            %6 = linalg.fill {stc.name = "fc", stc.module = "fc"} ins(%1 : f32) outs(%5 : tensor<4x8xf32>) -> tensor<4x8xf32>
            %7 = scf.for %k = %c0 to %c12 step %c4 iter_args(%8 = %6) -> (tensor<4x8xf32>) {
              %x_4 = tensor.empty() : tensor<4x4xf32>
              %c0_1 = arith.constant 0 : index
              %c4_1 = arith.constant 4 : index
              %c1 = arith.constant 1 : index
              %9 = scf.for %a = %c0_1 to %c4_1 step %c1 iter_args(%10 = %x_4) -> (tensor<4x4xf32>) {
                %11 = itensor.read %x_3[%i, %j, %k, %a] : !itensor -> tensor<1x4xf32>
                %12 = tensor.insert_slice %11 into %10[%a, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<4x4xf32>
                scf.yield %12 : tensor<4x4xf32>
              }
              %w_4 = tensor.empty() : tensor<4x8xf32>
              %c0_2 = arith.constant 0 : index
              %c4_2 = arith.constant 4 : index
              %c1_1 = arith.constant 1 : index
              %13 = scf.for %a_1 = %c0_2 to %c4_2 step %c1_1 iter_args(%14 = %w_4) -> (tensor<4x8xf32>) {
                %15 = itensor.read %w_3[%i, %j, %k, %a_1] : !itensor1 -> tensor<1x8xf32>
                %16 = tensor.insert_slice %15 into %14[%a_1, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
                scf.yield %16 : tensor<4x8xf32>
              }
              %17 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9, %13 : tensor<4x4xf32>, tensor<4x8xf32>) outs(%8 : tensor<4x8xf32>) attrs =  {stc.module = "fc", stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.fixed, stc.tile = "fc"} {
              ^bb0(%18: f32, %19: f32, %20: f32):
                %21 = arith.mulf %18, %19 : f32
                %22 = arith.addf %21, %20 : f32
                linalg.yield %22 : f32
              } -> tensor<4x8xf32>
              scf.yield %17 : tensor<4x8xf32>
            }
            %c0_3 = arith.constant 0 : index
            %c4_3 = arith.constant 4 : index
            %c1_2 = arith.constant 1 : index
            %23 = scf.for %a_2 = %c0_3 to %c4_3 step %c1_2 iter_args(%24 = %4) -> (!itensor3) {
              %25 = tensor.extract_slice %7[%a_2, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
              %26 = itensor.write %25 into %24[%i, %j, %a_2] : tensor<1x8xf32> -> !itensor3
              scf.yield %26 : !itensor3
            }
            scf.yield %23 : !itensor3
          }
          scf.yield %3 : !itensor3
        }
        dataflow.yield %fc_1 : !itensor3
      }
      %fc_1 = itensor.converter %fc {shared_loops = 2, buffer_shape = [4, 8], blocks = 2} : !itensor3 to !itensor4
      %fc_2 = itensor.cast %fc_1 : !itensor4 to !itensor2
      %1 = itensor.empty : !itensor2
      %gelu = dataflow.task @gelu ins(%fc_3 = %fc_2 : !itensor2) outs(%out = %1 : !itensor2) -> !itensor2 attributes {stc.name = "gelu", stc.module = "gelu"} {
        %c0 = arith.constant 0 : index
        %c8 = arith.constant 8 : index
        %c4 = arith.constant 4 : index
        %c16 = arith.constant 16 : index
        %gelu_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor2) {
          %3 = scf.for %j = %c0 to %c16 step %c4 iter_args(%4 = %2) -> (!itensor2) {
            %fc_4 = tensor.empty() : tensor<4x4xf32>
            %c0_1 = arith.constant 0 : index
            %c4_1 = arith.constant 4 : index
            %c1 = arith.constant 1 : index
            %5 = scf.for %a = %c0_1 to %c4_1 step %c1 iter_args(%6 = %fc_4) -> (tensor<4x4xf32>) {
              %7 = itensor.read %fc_3[%i, %j, %a] : !itensor2 -> tensor<1x4xf32>
              %8 = tensor.insert_slice %7 into %6[%a, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<4x4xf32>
              scf.yield %8 : tensor<4x4xf32>
            }
            %9 = tensor.empty() : tensor<4x4xf32>
            %10 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<4x4xf32>) outs(%9 : tensor<4x4xf32>) attrs =  {stc.module = "gelu", stc.name = "gelu", stc.schedule = #dataflow.schedule<tile = [4, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.fixed, stc.tile = "gelu"} {
            ^bb0(%11: f32, %12: f32):
              %13 = arith.constant 5.000000e-01 : f32
              %14 = arith.constant 1.000000e+00 : f32
              %15 = arith.constant 1.41421354 : f32
              %16 = arith.divf %11, %15 : f32
              %17 = math.erf %16 : f32
              %18 = arith.addf %17, %14 : f32
              %19 = arith.mulf %11, %13 : f32
              %20 = arith.mulf %19, %18 : f32
              linalg.yield %20 : f32
            } -> tensor<4x4xf32>
            %c0_2 = arith.constant 0 : index
            %c4_2 = arith.constant 4 : index
            %c1_1 = arith.constant 1 : index
            %21 = scf.for %a_1 = %c0_2 to %c4_2 step %c1_1 iter_args(%22 = %4) -> (!itensor2) {
              %23 = tensor.extract_slice %10[%a_1, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<1x4xf32>
              %24 = itensor.write %23 into %22[%i, %j, %a_1] : tensor<1x4xf32> -> !itensor2
              scf.yield %24 : !itensor2
            }
            scf.yield %21 : !itensor2
          }
          scf.yield %3 : !itensor2
        }
        dataflow.yield %gelu_1 : !itensor2
      }
      dataflow.yield %gelu : !itensor2
    }
    %y_1 = dataflow.unpack %y : tensor<8xvector<16xf32>> as !itensor2 -> tensor<8x16xf32>
    func.return %y_1 : tensor<8x16xf32>
  }
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map3 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [2, 2, 3, 4] * [4, 8, 4, 1], iter_map: (d0, d1, d2, d3) -> (d0 + d3, d2)>
// CHECK: !itensor1 = !itensor.itensor<1x8xf32, iter_space: [2, 2, 3, 4] * [4, 8, 4, 1], iter_map: (d0, d1, d2, d3) -> (d2 + d3, d1)>
// CHECK: !itensor2 = !itensor.itensor<1x4xf32, iter_space: [2, 4, 4] * [4, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %x_1 = dataflow.pack %x : tensor<8x12xf32> as !itensor -> tensor<6xvector<16xf32>>
// CHECK-NEXT: %w_1 = dataflow.pack %w : tensor<12x16xf32> as !itensor1 -> tensor<12xvector<16xf32>>
// CHECK-NEXT: %y = dataflow.kernel @main(%x_2 = %x_1 : tensor<6xvector<16xf32>> as memref<6xvector<16xf32>>, %w_2 = %w_1 : tensor<12xvector<16xf32>> as memref<12xvector<16xf32>>) -> (tensor<8xvector<16xf32>> as memref<8xvector<16xf32>>) {
// CHECK-NEXT: %x_stream = stream.create @x_stream {tokens = 48 : i64, distinct_tokens = 24 : i64, carries = !itensor} : !stream.stream<vector<4xf32>, depth: 4>
// CHECK-NEXT: dataflow.task @load_x ins(%x_3 = %x_2 : memref<6xvector<16xf32>>) outs(%out = %x_stream : !stream.stream<vector<4xf32>, depth: 4>) kind load {
// CHECK-NEXT: %packed = memref.alloc() : memref<16xf32>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c2 = arith.constant 2 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: %c2_1 = arith.constant 2 : index
// CHECK-NEXT: %c1_1 = arith.constant 1 : index
// CHECK-NEXT: %c0_2 = arith.constant 0 : index
// CHECK-NEXT: %c3 = arith.constant 3 : index
// CHECK-NEXT: %c1_2 = arith.constant 1 : index
// CHECK-NEXT: scf.for %group = %c0 to %c2 step %c1 {
// CHECK-NEXT: scf.for %visit = %c0_1 to %c2_1 step %c1_1 {
// CHECK-NEXT: scf.for %word = %c0_2 to %c3 step %c1_2 {
// CHECK-NEXT: %c3_1 = arith.constant 3 : index
// CHECK-NEXT: %0 = arith.muli %group, %c3_1 : index
// CHECK-NEXT: %1 = arith.addi %0, %word : index
// CHECK-NEXT: %2 = memref.load %x_3[%1] : memref<6xvector<16xf32>>
// CHECK-NEXT: %c0_3 = arith.constant 0 : index
// CHECK-NEXT: vector.store %2, %packed[%c0_3] : memref<16xf32>, vector<16xf32>
// CHECK-NEXT: %c0_4 = arith.constant 0 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: scf.for %first_lane = %c0_4 to %c16 step %c4 {
// CHECK-NEXT: %3 = vector.load %packed[%first_lane] : memref<16xf32>, vector<4xf32>
// CHECK-NEXT: stream.write %3 into %out : !stream.stream<vector<4xf32>, depth: 4>
// CHECK-NEXT: } {stc.unroll = 0 : i32}
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: %w_stream = stream.create @w_stream {tokens = 48 : i64, distinct_tokens = 24 : i64, carries = !itensor1} : !stream.stream<vector<8xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @load_w ins(%w_3 = %w_2 : memref<12xvector<16xf32>>) outs(%out = %w_stream : !stream.stream<vector<8xf32>, depth: 2>) kind load {
// CHECK-NEXT: %packed = memref.alloc() : memref<16xf32>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c2 = arith.constant 2 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: %c12 = arith.constant 12 : index
// CHECK-NEXT: %c1_1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %visit = %c0 to %c2 step %c1 {
// CHECK-NEXT: scf.for %word = %c0_1 to %c12 step %c1_1 {
// CHECK-NEXT: %0 = memref.load %w_3[%word] : memref<12xvector<16xf32>>
// CHECK-NEXT: %c0_2 = arith.constant 0 : index
// CHECK-NEXT: vector.store %0, %packed[%c0_2] : memref<16xf32>, vector<16xf32>
// CHECK-NEXT: %c0_3 = arith.constant 0 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: scf.for %first_lane = %c0_3 to %c16 step %c8 {
// CHECK-NEXT: %1 = vector.load %packed[%first_lane] : memref<16xf32>, vector<8xf32>
// CHECK-NEXT: stream.write %1 into %out : !stream.stream<vector<8xf32>, depth: 2>
// CHECK-NEXT: } {stc.unroll = 0 : i32}
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: %fc_stream = stream.create @fc_stream {tokens = 16 : i64, distinct_tokens = 16 : i64, carries = !itensor.itensor<1x8xf32, iter_space: [2, 2, 4] * [4, 8, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>} : !stream.stream<vector<8xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @fc ins(%x_3 = %x_stream : !stream.stream<vector<4xf32>, depth: 4>, %w_3 = %w_stream : !stream.stream<vector<8xf32>, depth: 2>) outs(%out = %fc_stream : !stream.stream<vector<8xf32>, depth: 2>) attributes {stc.name = "fc", stc.module = "fc"} {
// CHECK-NEXT: %fc = memref.alloc() : memref<4x8xf32>
// CHECK-NEXT: %x_4 = memref.alloc() : memref<4x4xf32>
// CHECK-NEXT: %w_4 = memref.alloc() : memref<4x8xf32>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %c12 = arith.constant 12 : index
// CHECK-NEXT: scf.for %i = %c0 to %c8 step %c4 {
// CHECK-NEXT: scf.for %j = %c0 to %c16 step %c8 {
// CHECK-NEXT: linalg.fill {stc.name = "fc", stc.module = "fc"} ins(%0 : f32) outs(%fc : memref<4x8xf32>)
// CHECK-NEXT: scf.for %k = %c0 to %c12 step %c4 {
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: %c4_1 = arith.constant 4 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %a = %c0_1 to %c4_1 step %c1 {
// CHECK-NEXT: %1 = stream.read %x_3 : !stream.stream<vector<4xf32>, depth: 4>
// CHECK-NEXT: %c0_2 = arith.constant 0 : index
// CHECK-NEXT: vector.store %1, %x_4[%a, %c0_2] : memref<4x4xf32>, vector<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %c0_3 = arith.constant 0 : index
// CHECK-NEXT: %c4_2 = arith.constant 4 : index
// CHECK-NEXT: %c1_1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %a_1 = %c0_3 to %c4_2 step %c1_1 {
// CHECK-NEXT: %2 = stream.read %w_3 : !stream.stream<vector<8xf32>, depth: 2>
// CHECK-NEXT: %c0_4 = arith.constant 0 : index
// CHECK-NEXT: vector.store %2, %w_4[%a_1, %c0_4] : memref<4x8xf32>, vector<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x_4, %w_4 : memref<4x4xf32>, memref<4x8xf32>) outs(%fc : memref<4x8xf32>) attrs ={{ +}}{stc.module = "fc", stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.fixed, stc.tile = "fc"} {
// CHECK-NEXT: ^bb0(%3: f32, %4: f32, %5: f32):
// CHECK-NEXT: %6 = arith.mulf %3, %4 : f32
// CHECK-NEXT: %7 = arith.addf %6, %5 : f32
// CHECK-NEXT: linalg.yield %7 : f32
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: %c0_5 = arith.constant 0 : index
// CHECK-NEXT: %c4_3 = arith.constant 4 : index
// CHECK-NEXT: %c1_2 = arith.constant 1 : index
// CHECK-NEXT: scf.for %a_2 = %c0_5 to %c4_3 step %c1_2 {
// CHECK-NEXT: %c0_6 = arith.constant 0 : index
// CHECK-NEXT: %8 = vector.load %fc[%a_2, %c0_6] : memref<4x8xf32>, vector<8xf32>
// CHECK-NEXT: stream.write %8 into %out : !stream.stream<vector<8xf32>, depth: 2>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: %fc_reordered = stream.create @fc_reordered {tokens = 32 : i64, distinct_tokens = 32 : i64, carries = !itensor.itensor<1x4xf32, iter_space: [2, 2, 2, 4] * [4, 8, 4, 1], iter_map: (d0, d1, d2, d3) -> (d0 + d3, d1 + d2)>} : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @merge_fc ins(%in = %fc_stream : !stream.stream<vector<8xf32>, depth: 2>) outs(%out = %fc_reordered : !stream.stream<vector<4xf32>, depth: 2>) kind converter {
// CHECK-NEXT: %blocks = memref.alloc() : memref<2x4x8xf32>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %c5 = arith.constant 5 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %0, %1, %2 = scf.for %block = %c0 to %c5 step %c1 iter_args(%in_row = %c0, %out_column = %c0, %out_row = %c0) -> (index, index, index) {
// CHECK-NEXT: %3, %4, %5 = scf.for %token = %c0 to %c8 step %c1 iter_args(%in_row_1 = %in_row, %out_column_1 = %out_column, %out_row_1 = %out_row) -> (index, index, index) {
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %6 = arith.cmpi slt, %block, %c4 : index
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: %7 = arith.cmpi sgt, %block, %c0_1 : index
// CHECK-NEXT: %c1_1 = arith.constant 1 : index
// CHECK-NEXT: %8 = arith.addi %block, %c1_1 : index
// CHECK-NEXT: %c4_1 = arith.constant 4 : index
// CHECK-NEXT: %in_moves = arith.cmpi slt, %token, %c4_1 : index
// CHECK-NEXT: %9 = arith.andi %6, %in_moves : i1
// CHECK-NEXT: scf.if %9 {
// CHECK-NEXT: %c2 = arith.constant 2 : index
// CHECK-NEXT: %10 = arith.remui %block, %c2 : index
// CHECK-NEXT: %c0_2 = arith.constant 0 : index
// CHECK-NEXT: %11 = stream.read %in : !stream.stream<vector<8xf32>, depth: 2>
// CHECK-NEXT: vector.store %11, %blocks[%10, %in_row_1, %c0_2] : memref<2x4x8xf32>, vector<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.if %7 {
// CHECK-NEXT: %c2_1 = arith.constant 2 : index
// CHECK-NEXT: %12 = arith.remui %8, %c2_1 : index
// CHECK-NEXT: %13 = vector.load %blocks[%12, %out_row_1, %out_column_1] : memref<2x4x8xf32>, vector<4xf32>
// CHECK-NEXT: stream.write %13 into %out : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: }
// CHECK-NEXT: %c3 = arith.constant 3 : index
// CHECK-NEXT: %14 = arith.cmpi eq, %in_row_1, %c3 : index
// CHECK-NEXT: %c1_2 = arith.constant 1 : index
// CHECK-NEXT: %15 = arith.addi %in_row_1, %c1_2 : index
// CHECK-NEXT: %c0_3 = arith.constant 0 : index
// CHECK-NEXT: %16 = arith.select %14, %c0_3, %15 : index
// CHECK-NEXT: %17 = arith.select %in_moves, %16, %in_row_1 : index
// CHECK-NEXT: %c3_1 = arith.constant 3 : index
// CHECK-NEXT: %out_row_wraps = arith.cmpi eq, %out_row_1, %c3_1 : index
// CHECK-NEXT: %c1_3 = arith.constant 1 : index
// CHECK-NEXT: %18 = arith.addi %out_row_1, %c1_3 : index
// CHECK-NEXT: %c0_4 = arith.constant 0 : index
// CHECK-NEXT: %19 = arith.select %out_row_wraps, %c0_4, %18 : index
// CHECK-NEXT: %c4_2 = arith.constant 4 : index
// CHECK-NEXT: %20 = arith.cmpi eq, %out_column_1, %c4_2 : index
// CHECK-NEXT: %c4_3 = arith.constant 4 : index
// CHECK-NEXT: %21 = arith.addi %out_column_1, %c4_3 : index
// CHECK-NEXT: %c0_5 = arith.constant 0 : index
// CHECK-NEXT: %22 = arith.select %20, %c0_5, %21 : index
// CHECK-NEXT: %23 = arith.select %out_row_wraps, %22, %out_column_1 : index
// CHECK-NEXT: scf.yield %17, %23, %19 : index, index, index
// CHECK-NEXT: } {stc.counters = {{\[\[}}4 : i64, 1 : i64, 4 : i64, 1 : i64], [8 : i64, 4 : i64, 2 : i64, 4 : i64], [8 : i64, 1 : i64, 4 : i64, 1 : i64]]}
// CHECK-NEXT: scf.yield %3, %4, %5 : index, index, index
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: %gelu_stream = stream.create @gelu_stream {tokens = 32 : i64, distinct_tokens = 32 : i64, carries = !itensor2} : !stream.stream<vector<4xf32>, depth: 4>
// CHECK-NEXT: dataflow.task @gelu ins(%fc = %fc_reordered : !stream.stream<vector<4xf32>, depth: 2>) outs(%out = %gelu_stream : !stream.stream<vector<4xf32>, depth: 4>) attributes {stc.name = "gelu", stc.module = "gelu"} {
// CHECK-NEXT: %fc_1 = memref.alloc() : memref<4x4xf32>
// CHECK-NEXT: %gelu = memref.alloc() : memref<4x4xf32>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: scf.for %i = %c0 to %c8 step %c4 {
// CHECK-NEXT: scf.for %j = %c0 to %c16 step %c4 {
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: %c4_1 = arith.constant 4 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %a = %c0_1 to %c4_1 step %c1 {
// CHECK-NEXT: %0 = stream.read %fc : !stream.stream<vector<4xf32>, depth: 2>
// CHECK-NEXT: %c0_2 = arith.constant 0 : index
// CHECK-NEXT: vector.store %0, %fc_1[%a, %c0_2] : memref<4x4xf32>, vector<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%fc_1 : memref<4x4xf32>) outs(%gelu : memref<4x4xf32>) attrs ={{ +}}{stc.module = "gelu", stc.name = "gelu", stc.schedule = #dataflow.schedule<tile = [4, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.fixed, stc.tile = "gelu"} {
// CHECK-NEXT: ^bb0(%1: f32, %2: f32):
// CHECK-NEXT: %3 = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %4 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %5 = arith.constant 1.41421354 : f32
// CHECK-NEXT: %6 = arith.divf %1, %5 : f32
// CHECK-NEXT: %7 = math.erf %6 : f32
// CHECK-NEXT: %8 = arith.addf %7, %4 : f32
// CHECK-NEXT: %9 = arith.mulf %1, %3 : f32
// CHECK-NEXT: %10 = arith.mulf %9, %8 : f32
// CHECK-NEXT: linalg.yield %10 : f32
// CHECK-NEXT: }
// CHECK-NEXT: %c0_3 = arith.constant 0 : index
// CHECK-NEXT: %c4_2 = arith.constant 4 : index
// CHECK-NEXT: %c1_1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %a_1 = %c0_3 to %c4_2 step %c1_1 {
// CHECK-NEXT: %c0_4 = arith.constant 0 : index
// CHECK-NEXT: %11 = vector.load %gelu[%a_1, %c0_4] : memref<4x4xf32>, vector<4xf32>
// CHECK-NEXT: stream.write %11 into %out : !stream.stream<vector<4xf32>, depth: 4>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: %y_1 = dataflow.memory @y : memref<8xvector<16xf32>>
// CHECK-NEXT: dataflow.task @store_y ins(%in = %gelu_stream : !stream.stream<vector<4xf32>, depth: 4>) outs(%y_2 = %y_1 : memref<8xvector<16xf32>>) kind store {
// CHECK-NEXT: %packed = memref.alloc() : memref<16xf32>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: scf.for %word = %c0 to %c8 step %c1 {
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: scf.for %first_lane = %c0_1 to %c16 step %c4 {
// CHECK-NEXT: %0 = stream.read %in : !stream.stream<vector<4xf32>, depth: 4>
// CHECK-NEXT: vector.store %0, %packed[%first_lane] : memref<16xf32>, vector<4xf32>
// CHECK-NEXT: } {stc.unroll = 0 : i32}
// CHECK-NEXT: %c0_2 = arith.constant 0 : index
// CHECK-NEXT: %1 = vector.load %packed[%c0_2] : memref<16xf32>, vector<16xf32>
// CHECK-NEXT: memref.store %1, %y_2[%word] : memref<8xvector<16xf32>>
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield %y_1 : memref<8xvector<16xf32>>
// CHECK-NEXT: }
// CHECK-NEXT: %y_1 = dataflow.unpack %y : tensor<8xvector<16xf32>> as !itensor2 -> tensor<8x16xf32>
// CHECK-NEXT: func.return %y_1 : tensor<8x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
