// RUN: stc-opt %s --from choose-groups --until insert-forks | filecheck %s

// Level 4, fused: one kernel; 4x8 tiles become 4x4 tiles in a converter that keeps one tile, twice, since the schedule is fixed.
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
!itensor = !itensor.itensor<4x4xf32, iter_space: [2, 2, 3] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d0, d2)>
!itensor1 = !itensor.itensor<4x8xf32, iter_space: [2, 2, 3] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d2, d1)>
!itensor2 = !itensor.itensor<4x8xf32, iter_space: [2, 2] * [4, 8], iter_map: (d0, d1) -> (d0, d1)>
!itensor3 = !itensor.itensor<4x4xf32, iter_space: [2, 4] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
builtin.module {
  func.func @main(%x: tensor<8x12xf32> {stc.name = "x"}, %w: tensor<12x16xf32> {stc.name = "w", stc.parameter}) -> (tensor<8x16xf32> {stc.name = "y"}) {
    %fc = dataflow.kernel @fc(%x_1 = %x : tensor<8x12xf32> as !itensor, %w_1 = %w : tensor<12x16xf32> as !itensor1) -> (tensor<8x16xf32> as !itensor2) attributes {stc.name = "fc", stc.module = "fc"} {
      %0 = itensor.empty : !itensor2
      %1 = dataflow.task @fc ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1) outs(%out = %0 : !itensor2) -> !itensor2 attributes {stc.name = "fc", stc.module = "fc"} {
        %c0 = arith.constant 0 : index
        %c8 = arith.constant 8 : index
        %c4 = arith.constant 4 : index
        %c16 = arith.constant 16 : index
        %2 = arith.constant 0.000000e+00 : f32
        %c12 = arith.constant 12 : index
        %fc_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%3 = %out) -> (!itensor2) {
          %4 = scf.for %j = %c0 to %c16 step %c8 iter_args(%5 = %3) -> (!itensor2) {
            %6 = tensor.empty() : tensor<4x8xf32>
            %7 = linalg.fill {stc.name = "fc", stc.module = "fc"} ins(%2 : f32) outs(%6 : tensor<4x8xf32>) -> tensor<4x8xf32>
            %8 = scf.for %k = %c0 to %c12 step %c4 iter_args(%9 = %7) -> (tensor<4x8xf32>) {
              %10 = itensor.read %x_2[%i, %j, %k] : !itensor -> tensor<4x4xf32>
              %11 = itensor.read %w_2[%i, %j, %k] : !itensor1 -> tensor<4x8xf32>
              %12 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%10, %11 : tensor<4x4xf32>, tensor<4x8xf32>) outs(%9 : tensor<4x8xf32>) attrs =  {stc.module = "fc", stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.fixed, stc.tile = "fc"} {
              ^bb0(%13: f32, %14: f32, %15: f32):
                %16 = arith.mulf %13, %14 : f32
                %17 = arith.addf %16, %15 : f32
                linalg.yield %17 : f32
              } -> tensor<4x8xf32>
              scf.yield %12 : tensor<4x8xf32>
            }
            %18 = itensor.write %8 into %5[%i, %j] : tensor<4x8xf32> -> !itensor2
            scf.yield %18 : !itensor2
          }
          scf.yield %4 : !itensor2
        }
        dataflow.yield %fc_1 : !itensor2
      }
      dataflow.yield %1 : !itensor2
    }
    %gelu = dataflow.kernel @gelu(%fc_1 = %fc : tensor<8x16xf32> as !itensor3) -> (tensor<8x16xf32> as !itensor3) attributes {stc.name = "gelu", stc.module = "gelu"} {
      %0 = itensor.empty : !itensor3
      %1 = dataflow.task @gelu ins(%fc_2 = %fc_1 : !itensor3) outs(%out = %0 : !itensor3) -> !itensor3 attributes {stc.name = "gelu", stc.module = "gelu"} {
        %c0 = arith.constant 0 : index
        %c8 = arith.constant 8 : index
        %c4 = arith.constant 4 : index
        %c16 = arith.constant 16 : index
        %gelu_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor3) {
          %3 = scf.for %j = %c0 to %c16 step %c4 iter_args(%4 = %2) -> (!itensor3) {
            %5 = itensor.read %fc_2[%i, %j] : !itensor3 -> tensor<4x4xf32>
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
            %18 = itensor.write %7 into %4[%i, %j] : tensor<4x4xf32> -> !itensor3
            scf.yield %18 : !itensor3
          }
          scf.yield %3 : !itensor3
        }
        dataflow.yield %gelu_1 : !itensor3
      }
      dataflow.yield %1 : !itensor3
    }
    func.return %gelu : tensor<8x16xf32>
  }
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map3 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: !itensor = !itensor.itensor<4x4xf32, iter_space: [2, 2, 3] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d0, d2)>
// CHECK: !itensor1 = !itensor.itensor<4x8xf32, iter_space: [2, 2, 3] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d2, d1)>
// CHECK: !itensor2 = !itensor.itensor<4x4xf32, iter_space: [2, 4] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor3 = !itensor.itensor<4x8xf32, iter_space: [2, 2] * [4, 8], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor4 = !itensor.itensor<4x4xf32, iter_space: [2, 2, 2] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d0, d1 + d2)>
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %y = dataflow.kernel @main(%x_1 = %x : tensor<8x12xf32> as !itensor, %w_1 = %w : tensor<12x16xf32> as !itensor1) -> (tensor<8x16xf32> as !itensor2) {
// CHECK-NEXT: %0 = itensor.empty : !itensor3
// CHECK-NEXT: %fc = dataflow.task @fc ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1) outs(%out = %0 : !itensor3) -> !itensor3 attributes {stc.name = "fc", stc.module = "fc"} {
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
// CHECK-NEXT: %9 = itensor.read %x_2[%i, %j, %k] : !itensor -> tensor<4x4xf32>
// CHECK-NEXT: %10 = itensor.read %w_2[%i, %j, %k] : !itensor1 -> tensor<4x8xf32>
// CHECK-NEXT: %11 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9, %10 : tensor<4x4xf32>, tensor<4x8xf32>) outs(%8 : tensor<4x8xf32>) attrs ={{ +}}{stc.module = "fc", stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.fixed, stc.tile = "fc"} {
// CHECK-NEXT: ^bb0(%12: f32, %13: f32, %14: f32):
// CHECK-NEXT: %15 = arith.mulf %12, %13 : f32
// CHECK-NEXT: %16 = arith.addf %15, %14 : f32
// CHECK-NEXT: linalg.yield %16 : f32
// CHECK-NEXT: } -> tensor<4x8xf32>
// CHECK-NEXT: scf.yield %11 : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %17 = itensor.write %7 into %4[%i, %j] : tensor<4x8xf32> -> !itensor3
// CHECK-NEXT: scf.yield %17 : !itensor3
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
// CHECK-NEXT: %5 = itensor.read %fc_3[%i, %j] : !itensor2 -> tensor<4x4xf32>
// CHECK-NEXT: %6 = tensor.empty() : tensor<4x4xf32>
// CHECK-NEXT: %7 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<4x4xf32>) outs(%6 : tensor<4x4xf32>) attrs ={{ +}}{stc.module = "gelu", stc.name = "gelu", stc.schedule = #dataflow.schedule<tile = [4, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.fixed, stc.tile = "gelu"} {
// CHECK-NEXT: ^bb0(%8: f32, %9: f32):
// CHECK-NEXT: %10 = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %11 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %12 = arith.constant 1.41421354 : f32
// CHECK-NEXT: %13 = arith.divf %8, %12 : f32
// CHECK-NEXT: %14 = math.erf %13 : f32
// CHECK-NEXT: %15 = arith.addf %14, %11 : f32
// CHECK-NEXT: %16 = arith.mulf %8, %10 : f32
// CHECK-NEXT: %17 = arith.mulf %16, %15 : f32
// CHECK-NEXT: linalg.yield %17 : f32
// CHECK-NEXT: } -> tensor<4x4xf32>
// CHECK-NEXT: %18 = itensor.write %7 into %4[%i, %j] : tensor<4x4xf32> -> !itensor2
// CHECK-NEXT: scf.yield %18 : !itensor2
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %3 : !itensor2
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield %gelu_1 : !itensor2
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield %gelu : !itensor2
// CHECK-NEXT: }
// CHECK-NEXT: func.return %y : tensor<8x16xf32>
