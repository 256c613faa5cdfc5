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
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [2, 2, 3, 4, 2] * [4, 8, 4, 1, 4], iter_map: (d0, d1, d2, d3, d4) -> (d2 + d3, d1 + d4)>
// CHECK: !itensor2 = !itensor.itensor<1x4xf32, iter_space: [2, 4, 4] * [4, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
// CHECK: !itensor3 = !itensor.itensor<1x4xf32, iter_space: [2, 2, 4, 2] * [4, 8, 1, 4], iter_map: (d0, d1, d2, d3) -> (d0 + d2, d1 + d3)>
// CHECK: !itensor4 = !itensor.itensor<1x4xf32, iter_space: [2, 2, 2, 4] * [4, 8, 4, 1], iter_map: (d0, d1, d2, d3) -> (d0 + d3, d1 + d2)>
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %[[X:.*]] = dataflow.pack %x : tensor<8x12xf32> as !itensor -> tensor<6xvector<16xf32>>
// CHECK-NEXT: %[[W:.*]] = dataflow.pack %w : tensor<12x16xf32> as !itensor1 -> tensor<12xvector<16xf32>>
// CHECK-NEXT: %y = dataflow.kernel @main(%[[X1:.*]] = %[[X]] : tensor<6xvector<16xf32>> as !itensor, %[[W1:.*]] = %[[W]] : tensor<12xvector<16xf32>> as !itensor1) -> (tensor<8xvector<16xf32>> as !itensor2) {
// CHECK-NEXT: %[[EMPTY:.*]] = itensor.empty : !itensor3
// CHECK-NEXT: %fc = dataflow.task @fc ins(%[[X2:.*]] = %[[X1]] : !itensor, %[[W2:.*]] = %[[W1]] : !itensor1) outs(%out = %[[EMPTY]] : !itensor3) -> !itensor3 attributes {stc.name = "fc", stc.module = "fc"} {
// CHECK: %[[CONSTANT:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[FC:.*]] = scf.for %i = %c0 to %c8 step %c4 iter_args(%[[FOR:.*]] = %out) -> (!itensor3) {
// CHECK-NEXT: %[[FOR1:.*]] = scf.for %j = %c0 to %c16 step %c8 iter_args(%[[FOR2:.*]] = %[[FOR]]) -> (!itensor3) {
// CHECK-NEXT: %[[EMPTY1:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK-NEXT: %[[FILL:.*]] = linalg.fill {stc.name = "fc", stc.module = "fc"} ins(%[[CONSTANT]] : f32) outs(%[[EMPTY1]] : tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[FOR3:.*]] = scf.for %k = %c0 to %c12 step %c4 iter_args(%[[FOR4:.*]] = %[[FILL]]) -> (tensor<4x8xf32>) {
// CHECK-NEXT: %[[X3:.*]] = tensor.empty() : tensor<4x4xf32>
// CHECK: %[[FOR5:.*]] = scf.for %row = %c0_{{.*}} to %c4_{{.*}} step %c1 iter_args(%[[FOR6:.*]] = %[[X3]]) -> (tensor<4x4xf32>) {
// CHECK-NEXT: %[[READ:.*]] = itensor.read %[[X2]][%i, %j, %k, %row] : !itensor -> tensor<1x4xf32>
// CHECK-NEXT: %[[INSERT_SLICE:.*]] = tensor.insert_slice %[[READ]] into %[[FOR6]][%row, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<4x4xf32>
// CHECK-NEXT: scf.yield %[[INSERT_SLICE]] : tensor<4x4xf32>
// CHECK: %[[W3:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK: %[[FOR7:.*]] = scf.for %[[ROW:.*]] = %c0_{{.*}} to %c4_{{.*}} step %c1_{{.*}} iter_args(%[[FOR8:.*]] = %[[W3]]) -> (tensor<4x8xf32>) {
// CHECK: %[[FOR9:.*]] = scf.for %column = %c0_{{.*}} to %c8_{{.*}} step %c4_{{.*}} iter_args(%[[FOR10:.*]] = %[[FOR8]]) -> (tensor<4x8xf32>) {
// CHECK-NEXT: %[[READ1:.*]] = itensor.read %[[W2]][%i, %j, %k, %[[ROW]], %column] : !itensor1 -> tensor<1x4xf32>
// CHECK-NEXT: %[[INSERT_SLICE1:.*]] = tensor.insert_slice %[[READ1]] into %[[FOR10]][%[[ROW]], %column] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<4x8xf32>
// CHECK-NEXT: scf.yield %[[INSERT_SLICE1]] : tensor<4x8xf32>
// CHECK: scf.yield %[[FOR9]] : tensor<4x8xf32>
// CHECK: %[[GENERIC:.*]] = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[FOR5]], %[[FOR7]] : tensor<4x4xf32>, tensor<4x8xf32>) outs(%[[FOR4]] : tensor<4x8xf32>) attrs ={{ +}}{stc.module = "fc", stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.fixed, stc.tile = "fc"} {
// CHECK-NEXT: ^bb0(%[[VALUE:.*]]: f32, %[[VALUE1:.*]]: f32, %[[VALUE2:.*]]: f32):
// CHECK-NEXT: %[[MULF:.*]] = arith.mulf %[[VALUE]], %[[VALUE1]] : f32
// CHECK-NEXT: %[[ADDF:.*]] = arith.addf %[[MULF]], %[[VALUE2]] : f32
// CHECK-NEXT: linalg.yield %[[ADDF]] : f32
// CHECK: scf.yield %[[GENERIC]] : tensor<4x8xf32>
// CHECK: %[[FOR11:.*]] = scf.for %[[ROW1:.*]] = %c0_{{.*}} to %c4_{{.*}} step %c1_{{.*}} iter_args(%[[FOR12:.*]] = %[[FOR2]]) -> (!itensor3) {
// CHECK: %[[FOR13:.*]] = scf.for %[[COLUMN:.*]] = %c0_{{.*}} to %c8_{{.*}} step %c4_{{.*}} iter_args(%[[FOR14:.*]] = %[[FOR12]]) -> (!itensor3) {
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %[[FOR3]][%[[ROW1]], %[[COLUMN]]] [1, 4] [1, 1] : tensor<4x8xf32> to tensor<1x4xf32>
// CHECK-NEXT: %[[WRITE:.*]] = itensor.write %[[EXTRACT_SLICE]] into %[[FOR14]][%i, %j, %[[ROW1]], %[[COLUMN]]] : tensor<1x4xf32> -> !itensor3
// CHECK-NEXT: scf.yield %[[WRITE]] : !itensor3
// CHECK: scf.yield %[[FOR13]] : !itensor3
// CHECK: scf.yield %[[FOR11]] : !itensor3
// CHECK: scf.yield %[[FOR1]] : !itensor3
// CHECK: dataflow.yield %[[FC]] : !itensor3
// CHECK: %[[FC1:.*]] = itensor.converter %fc {shared_loops = 2, buffer_shape = [4, 8], blocks = 2} : !itensor3 to !itensor4
// CHECK-NEXT: %[[FC:.*]] = itensor.cast %[[FC1]] : !itensor4 to !itensor2
// CHECK-NEXT: %[[EMPTY2:.*]] = itensor.empty : !itensor2
// CHECK-NEXT: %gelu = dataflow.task @gelu ins(%[[FC2:.*]] = %[[FC]] : !itensor2) outs(%out = %[[EMPTY2]] : !itensor2) -> !itensor2 attributes {stc.name = "gelu", stc.module = "gelu"} {
// CHECK: %[[GELU:.*]] = scf.for %i = %c0 to %c8 step %c4 iter_args(%[[FOR15:.*]] = %out) -> (!itensor2) {
// CHECK-NEXT: %[[FOR:.*]] = scf.for %j = %c0 to %c16 step %c4 iter_args(%[[FOR1:.*]] = %[[FOR15]]) -> (!itensor2) {
// CHECK-NEXT: %[[FC3:.*]] = tensor.empty() : tensor<4x4xf32>
// CHECK: %[[FOR2:.*]] = scf.for %row = %c0_{{.*}} to %c4_{{.*}} step %c1 iter_args(%[[FOR16:.*]] = %[[FC3]]) -> (tensor<4x4xf32>) {
// CHECK-NEXT: %[[READ2:.*]] = itensor.read %[[FC2]][%i, %j, %row] : !itensor2 -> tensor<1x4xf32>
// CHECK-NEXT: %[[INSERT_SLICE2:.*]] = tensor.insert_slice %[[READ2]] into %[[FOR16]][%row, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<4x4xf32>
// CHECK-NEXT: scf.yield %[[INSERT_SLICE2]] : tensor<4x4xf32>
// CHECK: %[[EMPTY1:.*]] = tensor.empty() : tensor<4x4xf32>
// CHECK-NEXT: %[[GENERIC1:.*]] = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%[[FOR2]] : tensor<4x4xf32>) outs(%[[EMPTY1]] : tensor<4x4xf32>) attrs ={{ +}}{stc.module = "gelu", stc.name = "gelu", stc.schedule = #dataflow.schedule<tile = [4, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.fixed, stc.tile = "gelu"} {
// CHECK-NEXT: ^bb0(%[[VALUE3:.*]]: f32, %[[VALUE4:.*]]: f32):
// CHECK-NEXT: %[[CONSTANT:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %[[CONSTANT1:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[CONSTANT2:.*]] = arith.constant 1.41421354 : f32
// CHECK-NEXT: %[[DIVF:.*]] = arith.divf %[[VALUE3]], %[[CONSTANT2]] : f32
// CHECK-NEXT: %[[ERF:.*]] = math.erf %[[DIVF]] : f32
// CHECK-NEXT: %[[ADDF1:.*]] = arith.addf %[[ERF]], %[[CONSTANT1]] : f32
// CHECK-NEXT: %[[MULF1:.*]] = arith.mulf %[[VALUE3]], %[[CONSTANT]] : f32
// CHECK-NEXT: %[[MULF2:.*]] = arith.mulf %[[MULF1]], %[[ADDF1]] : f32
// CHECK-NEXT: linalg.yield %[[MULF2]] : f32
// CHECK: %[[FOR3:.*]] = scf.for %[[ROW2:.*]] = %c0_{{.*}} to %c4_{{.*}} step %c1_{{.*}} iter_args(%[[FOR4:.*]] = %[[FOR1]]) -> (!itensor2) {
// CHECK-NEXT: %[[EXTRACT_SLICE1:.*]] = tensor.extract_slice %[[GENERIC1]][%[[ROW2]], 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<1x4xf32>
// CHECK-NEXT: %[[WRITE1:.*]] = itensor.write %[[EXTRACT_SLICE1]] into %[[FOR4]][%i, %j, %[[ROW2]]] : tensor<1x4xf32> -> !itensor2
// CHECK-NEXT: scf.yield %[[WRITE1]] : !itensor2
// CHECK: scf.yield %[[FOR3]] : !itensor2
// CHECK: scf.yield %[[FOR]] : !itensor2
// CHECK: dataflow.yield %[[GELU]] : !itensor2
// CHECK: dataflow.yield %gelu : !itensor2
// CHECK: %[[Y:.*]] = dataflow.unpack %y : tensor<8xvector<16xf32>> as !itensor2 -> tensor<8x16xf32>
// CHECK-NEXT: func.return %[[Y]] : tensor<8x16xf32>
