// RUN: stc-opt %s --from linalg-to-dataflow --until layout-to-dataflow | filecheck %s

// Level 3, dataflow: one kernel per nest, whose itensor types say in which order tiles cross its boundary.
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
builtin.module {
  func.func @main(%x: tensor<8x12xf32> {stc.name = "x"}, %w: tensor<12x16xf32> {stc.name = "w", stc.parameter}) -> (tensor<8x16xf32> {stc.name = "y"}) {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<8x16xf32>
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c12 = arith.constant 12 : index
    %fc = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %1) -> (tensor<8x16xf32>) {
      %3 = scf.for %j = %c0 to %c16 step %c8 iter_args(%4 = %2) -> (tensor<8x16xf32>) {
        %5 = tensor.empty() : tensor<4x8xf32>
        %6 = linalg.fill {stc.name = "fc", stc.module = "fc"} ins(%0 : f32) outs(%5 : tensor<4x8xf32>) -> tensor<4x8xf32>
        %7 = scf.for %k = %c0 to %c12 step %c4 iter_args(%8 = %6) -> (tensor<4x8xf32>) {
          %9 = tensor.extract_slice %x[%i, %k] [4, 4] [1, 1] : tensor<8x12xf32> to tensor<4x4xf32>
          %10 = tensor.extract_slice %w[%k, %j] [4, 8] [1, 1] : tensor<12x16xf32> to tensor<4x8xf32>
          %11 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9, %10 : tensor<4x4xf32>, tensor<4x8xf32>) outs(%8 : tensor<4x8xf32>) attrs =  {stc.module = "fc", stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.fixed, stc.tile = "fc"} {
          ^bb0(%12: f32, %13: f32, %14: f32):
            %15 = arith.mulf %12, %13 : f32
            %16 = arith.addf %15, %14 : f32
            linalg.yield %16 : f32
          } -> tensor<4x8xf32>
          scf.yield %11 : tensor<4x8xf32>
        }
        %17 = tensor.insert_slice %7 into %4[%i, %j] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x16xf32>
        scf.yield %17 : tensor<8x16xf32>
      }
      scf.yield %3 : tensor<8x16xf32>
    } {stc.name = "fc", stc.module = "fc"}
    %18 = tensor.empty() : tensor<8x16xf32>
    %c0_1 = arith.constant 0 : index
    %c8_1 = arith.constant 8 : index
    %c4_1 = arith.constant 4 : index
    %c16_1 = arith.constant 16 : index
    %gelu = scf.for %i_1 = %c0_1 to %c8_1 step %c4_1 iter_args(%19 = %18) -> (tensor<8x16xf32>) {
      %20 = scf.for %j_1 = %c0_1 to %c16_1 step %c4_1 iter_args(%21 = %19) -> (tensor<8x16xf32>) {
        %22 = tensor.extract_slice %fc[%i_1, %j_1] [4, 4] [1, 1] : tensor<8x16xf32> to tensor<4x4xf32>
        %23 = tensor.empty() : tensor<4x4xf32>
        %24 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%22 : tensor<4x4xf32>) outs(%23 : tensor<4x4xf32>) attrs =  {stc.module = "gelu", stc.name = "gelu", stc.schedule = #dataflow.schedule<tile = [4, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.fixed, stc.tile = "gelu"} {
        ^bb0(%25: f32, %26: f32):
          %27 = arith.constant 5.000000e-01 : f32
          %28 = arith.constant 1.000000e+00 : f32
          %29 = arith.constant 1.41421354 : f32
          %30 = arith.divf %25, %29 : f32
          %31 = math.erf %30 : f32
          %32 = arith.addf %31, %28 : f32
          %33 = arith.mulf %25, %27 : f32
          %34 = arith.mulf %33, %32 : f32
          linalg.yield %34 : f32
        } -> tensor<4x4xf32>
        %35 = tensor.insert_slice %24 into %21[%i_1, %j_1] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x16xf32>
        scf.yield %35 : tensor<8x16xf32>
      }
      scf.yield %20 : tensor<8x16xf32>
    } {stc.name = "gelu", stc.module = "gelu"}
    func.return %gelu : tensor<8x16xf32>
  }
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map3 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: !itensor = !itensor.itensor<4x4xf32, iter_space: [2, 2, 3] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d0, d2)>
// CHECK: !itensor1 = !itensor.itensor<4x8xf32, iter_space: [2, 2, 3] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d2, d1)>
// CHECK: !itensor2 = !itensor.itensor<4x8xf32, iter_space: [2, 2] * [4, 8], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor3 = !itensor.itensor<4x4xf32, iter_space: [2, 4] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %fc = dataflow.kernel @fc(%x_1 = %x : tensor<8x12xf32> as !itensor, %w_1 = %w : tensor<12x16xf32> as !itensor1) -> (tensor<8x16xf32> as !itensor2) attributes {stc.name = "fc", stc.module = "fc"} {
// CHECK-NEXT: %0 = itensor.empty : !itensor2
// CHECK-NEXT: %1 = dataflow.task @fc ins(%x_2 = %x_1 : !itensor, %w_2 = %w_1 : !itensor1) outs(%out = %0 : !itensor2) -> !itensor2 attributes {stc.name = "fc", stc.module = "fc"} {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %2 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %c12 = arith.constant 12 : index
// CHECK-NEXT: %fc_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%3 = %out) -> (!itensor2) {
// CHECK-NEXT: %4 = scf.for %j = %c0 to %c16 step %c8 iter_args(%5 = %3) -> (!itensor2) {
// CHECK-NEXT: %6 = tensor.empty() : tensor<4x8xf32>
// CHECK-NEXT: %7 = linalg.fill {stc.name = "fc", stc.module = "fc"} ins(%2 : f32) outs(%6 : tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %8 = scf.for %k = %c0 to %c12 step %c4 iter_args(%9 = %7) -> (tensor<4x8xf32>) {
// CHECK-NEXT: %10 = itensor.read %x_2[%i, %j, %k] : !itensor -> tensor<4x4xf32>
// CHECK-NEXT: %11 = itensor.read %w_2[%i, %j, %k] : !itensor1 -> tensor<4x8xf32>
// CHECK-NEXT: %12 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%10, %11 : tensor<4x4xf32>, tensor<4x8xf32>) outs(%9 : tensor<4x8xf32>) attrs ={{ +}}{stc.module = "fc", stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.fixed, stc.tile = "fc"} {
// CHECK-NEXT: ^bb0(%13: f32, %14: f32, %15: f32):
// CHECK-NEXT: %16 = arith.mulf %13, %14 : f32
// CHECK-NEXT: %17 = arith.addf %16, %15 : f32
// CHECK-NEXT: linalg.yield %17 : f32
// CHECK-NEXT: } -> tensor<4x8xf32>
// CHECK-NEXT: scf.yield %12 : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %18 = itensor.write %8 into %5[%i, %j] : tensor<4x8xf32> -> !itensor2
// CHECK-NEXT: scf.yield %18 : !itensor2
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %4 : !itensor2
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield %fc_1 : !itensor2
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield %1 : !itensor2
// CHECK-NEXT: }
// CHECK-NEXT: %gelu = dataflow.kernel @gelu(%fc_1 = %fc : tensor<8x16xf32> as !itensor3) -> (tensor<8x16xf32> as !itensor3) attributes {stc.name = "gelu", stc.module = "gelu"} {
// CHECK-NEXT: %0 = itensor.empty : !itensor3
// CHECK-NEXT: %1 = dataflow.task @gelu ins(%fc_2 = %fc_1 : !itensor3) outs(%out = %0 : !itensor3) -> !itensor3 attributes {stc.name = "gelu", stc.module = "gelu"} {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %gelu_1 = scf.for %i = %c0 to %c8 step %c4 iter_args(%2 = %out) -> (!itensor3) {
// CHECK-NEXT: %3 = scf.for %j = %c0 to %c16 step %c4 iter_args(%4 = %2) -> (!itensor3) {
// CHECK-NEXT: %5 = itensor.read %fc_2[%i, %j] : !itensor3 -> tensor<4x4xf32>
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
// CHECK-NEXT: %18 = itensor.write %7 into %4[%i, %j] : tensor<4x4xf32> -> !itensor3
// CHECK-NEXT: scf.yield %18 : !itensor3
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %3 : !itensor3
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield %gelu_1 : !itensor3
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.yield %1 : !itensor3
// CHECK-NEXT: }
// CHECK-NEXT: func.return %gelu : tensor<8x16xf32>
