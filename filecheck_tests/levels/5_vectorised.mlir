// RUN: stc-opt %s --from vectorize-streams --until verify-streams | filecheck %s

// Level 5, vectorised and packed: tokens are vectors, external memory lies in words in the order in which they stream.
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
!itensor = !itensor.itensor<4x4xf32, iter_space: [2, 2, 3] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d0, d2)>
!itensor1 = !itensor.itensor<4x8xf32, iter_space: [2, 2, 3] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d2, d1)>
!itensor2 = !itensor.itensor<4x4xf32, iter_space: [2, 4] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
!itensor3 = !itensor.itensor<4x8xf32, iter_space: [2, 2] * [4, 8], iter_map: (d0, d1) -> (d0, d1)>
!itensor4 = !itensor.itensor<4x4xf32, iter_space: [2, 2, 2] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d0, d1 + d2)>
builtin.module {
  func.func @main(%x: tensor<8x12xf32> {stc.name = "x"}, %w: tensor<12x16xf32> {stc.name = "w", stc.parameter}) -> (tensor<8x16xf32> {stc.name = "y"}) {
    %y = dataflow.kernel @main(%x_1 = %x : tensor<8x12xf32> as !itensor, %w_1 = %w : tensor<12x16xf32> as !itensor1) -> (tensor<8x16xf32> as !itensor2) {
      %0 = itensor.empty : !itensor3
      %fc = dataflow.task @fc ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1) outs(%out = %0 : !itensor3) -> !itensor3 attributes {stc.name = "fc", stc.module = "fc"} {
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
              %9 = itensor.read %x_2[%i, %j, %k] : !itensor -> tensor<4x4xf32>
              %10 = itensor.read %w_2[%i, %j, %k] : !itensor1 -> tensor<4x8xf32>
              %11 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9, %10 : tensor<4x4xf32>, tensor<4x8xf32>) outs(%8 : tensor<4x8xf32>) attrs =  {stc.module = "fc", stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.fixed, stc.tile = "fc"} {
              ^bb0(%12: f32, %13: f32, %14: f32):
                %15 = arith.mulf %12, %13 : f32
                %16 = arith.addf %15, %14 : f32
                linalg.yield %16 : f32
              } -> tensor<4x8xf32>
              scf.yield %11 : tensor<4x8xf32>
            }
            %17 = itensor.write %7 into %4[%i, %j] : tensor<4x8xf32> -> !itensor3
            scf.yield %17 : !itensor3
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
            %5 = itensor.read %fc_3[%i, %j] : !itensor2 -> tensor<4x4xf32>
            %6 = tensor.empty() : tensor<4x4xf32>
            %7 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<4x4xf32>) outs(%6 : tensor<4x4xf32>) attrs =  {stc.module = "gelu", stc.name = "gelu", stc.schedule = #dataflow.schedule<tile = [4, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.fixed, stc.tile = "gelu"} {
            ^bb0(%8: f32, %9: f32):
              %10 = arith.constant 5.000000e-01 : f32
              %11 = arith.constant 1.000000e+00 : f32
              %12 = arith.constant 1.41421354 : f32
              %13 = arith.divf %8, %12 : f32
              %14 = math.erf %13 : f32
              %15 = arith.addf %14, %11 : f32
              %16 = arith.mulf %8, %10 : f32
              %17 = arith.mulf %16, %15 : f32
              linalg.yield %17 : f32
            } -> tensor<4x4xf32>
            %18 = itensor.write %7 into %4[%i, %j] : tensor<4x4xf32> -> !itensor2
            scf.yield %18 : !itensor2
          }
          scf.yield %3 : !itensor2
        }
        dataflow.yield %gelu_1 : !itensor2
      }
      dataflow.yield %gelu : !itensor2
    }
    func.return %y : tensor<8x16xf32>
  }
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map3 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [2, 2, 3, 4] * [4, 8, 4, 1], iter_map: (d0, d1, d2, d3) -> (d0 + d3, d2)>
// CHECK: !itensor1 = !itensor.itensor<1x8xf32, iter_space: [2, 2, 3, 4] * [4, 8, 4, 1], iter_map: (d0, d1, d2, d3) -> (d2 + d3, d1)>
// CHECK: !itensor2 = !itensor.itensor<1x4xf32, iter_space: [2, 4, 4] * [4, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
// CHECK: !itensor3 = !itensor.itensor<1x8xf32, iter_space: [2, 2, 4] * [4, 8, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
// CHECK: !itensor4 = !itensor.itensor<1x4xf32, iter_space: [2, 2, 2, 4] * [4, 8, 4, 1], iter_map: (d0, d1, d2, d3) -> (d0 + d3, d1 + d2)>
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %x_1 = dataflow.pack %x : tensor<8x12xf32> as !itensor -> tensor<6xvector<16xf32>>
// CHECK-NEXT: %w_1 = dataflow.pack %w : tensor<12x16xf32> as !itensor1 -> tensor<12xvector<16xf32>>
// CHECK-NEXT: %y = dataflow.kernel @main(%x_2 = %x_1 : tensor<6xvector<16xf32>> as !itensor, %w_2 = %w_1 : tensor<12xvector<16xf32>> as !itensor1) -> (tensor<8xvector<16xf32>> as !itensor2) {
// CHECK-NEXT: %0 = itensor.empty : !itensor3
// CHECK-NEXT: %fc = dataflow.task @fc ins(%x_3 = %x_2 : !itensor, %w_3 = %w_2 : !itensor1) outs(%out = %0 : !itensor3) -> !itensor3 attributes {stc.name = "fc", stc.module = "fc"} {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %c12 = arith.constant 12 : index
// CHECK-NEXT: %fc_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor3) {
// CHECK-NEXT: %3 = scf.for %j = %c0 to %c16 step %c8 iter_args(%4 = %2) -> (!itensor3) {
// CHECK-NEXT: %5 = tensor.empty() : tensor<4x8xf32>
// CHECK-NEXT: %6 = linalg.fill {stc.name = "fc", stc.module = "fc"} ins(%1 : f32) outs(%5 : tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %7 = scf.for %k = %c0 to %c12 step %c4 iter_args(%8 = %6) -> (tensor<4x8xf32>) {
// CHECK-NEXT: %x_4 = tensor.empty() : tensor<4x4xf32>
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: %c4_1 = arith.constant 4 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %9 = scf.for %row = %c0_1 to %c4_1 step %c1 iter_args(%10 = %x_4) -> (tensor<4x4xf32>) {
// CHECK-NEXT: %11 = itensor.read %x_3[%i, %j, %k, %row] : !itensor -> tensor<1x4xf32>
// CHECK-NEXT: %12 = tensor.insert_slice %11 into %10[%row, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<4x4xf32>
// CHECK-NEXT: scf.yield %12 : tensor<4x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %w_4 = tensor.empty() : tensor<4x8xf32>
// CHECK-NEXT: %c0_2 = arith.constant 0 : index
// CHECK-NEXT: %c4_2 = arith.constant 4 : index
// CHECK-NEXT: %c1_1 = arith.constant 1 : index
// CHECK-NEXT: %13 = scf.for %row_1 = %c0_2 to %c4_2 step %c1_1 iter_args(%14 = %w_4) -> (tensor<4x8xf32>) {
// CHECK-NEXT: %15 = itensor.read %w_3[%i, %j, %k, %row_1] : !itensor1 -> tensor<1x8xf32>
// CHECK-NEXT: %16 = tensor.insert_slice %15 into %14[%row_1, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
// CHECK-NEXT: scf.yield %16 : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %17 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9, %13 : tensor<4x4xf32>, tensor<4x8xf32>) outs(%8 : tensor<4x8xf32>) attrs ={{ +}}{stc.module = "fc", stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.fixed, stc.tile = "fc"} {
// CHECK-NEXT: ^bb0(%18: f32, %19: f32, %20: f32):
// CHECK-NEXT: %21 = arith.mulf %18, %19 : f32
// CHECK-NEXT: %22 = arith.addf %21, %20 : f32
// CHECK-NEXT: linalg.yield %22 : f32
// CHECK-NEXT: } -> tensor<4x8xf32>
// CHECK-NEXT: scf.yield %17 : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %c0_3 = arith.constant 0 : index
// CHECK-NEXT: %c4_3 = arith.constant 4 : index
// CHECK-NEXT: %c1_2 = arith.constant 1 : index
// CHECK-NEXT: %23 = scf.for %row_2 = %c0_3 to %c4_3 step %c1_2 iter_args(%24 = %4) -> (!itensor3) {
// CHECK-NEXT: %25 = tensor.extract_slice %7[%row_2, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
// CHECK-NEXT: %26 = itensor.write %25 into %24[%i, %j, %row_2] : tensor<1x8xf32> -> !itensor3
// CHECK-NEXT: scf.yield %26 : !itensor3
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %23 : !itensor3
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %3 : !itensor3
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield %fc_1 : !itensor3
// CHECK-NEXT: }
// CHECK-NEXT: %fc_1 = itensor.converter %fc {shared_loops = 2, buffer_shape = [4, 8], blocks = 2} : !itensor3 to !itensor4
// CHECK-NEXT: %fc_2 = itensor.cast %fc_1 : !itensor4 to !itensor2
// CHECK-NEXT: %1 = itensor.empty : !itensor2
// CHECK-NEXT: %gelu = dataflow.task @gelu ins(%fc_3 = %fc_2 : !itensor2) outs(%out = %1 : !itensor2) -> !itensor2 attributes {stc.name = "gelu", stc.module = "gelu"} {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %gelu_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor2) {
// CHECK-NEXT: %3 = scf.for %j = %c0 to %c16 step %c4 iter_args(%4 = %2) -> (!itensor2) {
// CHECK-NEXT: %fc_4 = tensor.empty() : tensor<4x4xf32>
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: %c4_1 = arith.constant 4 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %5 = scf.for %row = %c0_1 to %c4_1 step %c1 iter_args(%6 = %fc_4) -> (tensor<4x4xf32>) {
// CHECK-NEXT: %7 = itensor.read %fc_3[%i, %j, %row] : !itensor2 -> tensor<1x4xf32>
// CHECK-NEXT: %8 = tensor.insert_slice %7 into %6[%row, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<4x4xf32>
// CHECK-NEXT: scf.yield %8 : tensor<4x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %9 = tensor.empty() : tensor<4x4xf32>
// CHECK-NEXT: %10 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<4x4xf32>) outs(%9 : tensor<4x4xf32>) attrs ={{ +}}{stc.module = "gelu", stc.name = "gelu", stc.schedule = #dataflow.schedule<tile = [4, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.fixed, stc.tile = "gelu"} {
// CHECK-NEXT: ^bb0(%11: f32, %12: f32):
// CHECK-NEXT: %13 = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %14 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %15 = arith.constant 1.41421354 : f32
// CHECK-NEXT: %16 = arith.divf %11, %15 : f32
// CHECK-NEXT: %17 = math.erf %16 : f32
// CHECK-NEXT: %18 = arith.addf %17, %14 : f32
// CHECK-NEXT: %19 = arith.mulf %11, %13 : f32
// CHECK-NEXT: %20 = arith.mulf %19, %18 : f32
// CHECK-NEXT: linalg.yield %20 : f32
// CHECK-NEXT: } -> tensor<4x4xf32>
// CHECK-NEXT: %c0_2 = arith.constant 0 : index
// CHECK-NEXT: %c4_2 = arith.constant 4 : index
// CHECK-NEXT: %c1_1 = arith.constant 1 : index
// CHECK-NEXT: %21 = scf.for %row_1 = %c0_2 to %c4_2 step %c1_1 iter_args(%22 = %4) -> (!itensor2) {
// CHECK-NEXT: %23 = tensor.extract_slice %10[%row_1, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<1x4xf32>
// CHECK-NEXT: %24 = itensor.write %23 into %22[%i, %j, %row_1] : tensor<1x4xf32> -> !itensor2
// CHECK-NEXT: scf.yield %24 : !itensor2
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %21 : !itensor2
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %3 : !itensor2
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield %gelu_1 : !itensor2
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield %gelu : !itensor2
// CHECK-NEXT: }
// CHECK-NEXT: %y_1 = dataflow.unpack %y : tensor<8xvector<16xf32>> as !itensor2 -> tensor<8x16xf32>
// CHECK-NEXT: func.return %y_1 : tensor<8x16xf32>
