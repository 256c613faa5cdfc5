// RUN: stc-opt %s --pipeline 'compile{schedule="%S/Inputs/schedule.toml" propagate-orders=false budget="small"}' --from linalg-tiling --until linalg-tiling | filecheck %s

// Level 2, tiled linalg: nests of tile loops; fc accumulates a 4x8 tile over k.
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
builtin.module {
  func.func @main(%x: tensor<8x12xf32> {stc.name = "x"}, %w: tensor<12x16xf32> {stc.name = "w", stc.parameter}) -> (tensor<8x16xf32> {stc.name = "y"}) {
    %0 = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<8x16xf32>
    %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<8x16xf32>) -> tensor<8x16xf32>
    %fc = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x12xf32>, tensor<12x16xf32>) outs(%2 : tensor<8x16xf32>) attrs =  {stc.module = "fc", stc.name = "fc"} {
    ^bb0(%3: f32, %4: f32, %5: f32):
      %6 = arith.mulf %3, %4 : f32
      %7 = arith.addf %6, %5 : f32
      linalg.yield %7 : f32
    } -> tensor<8x16xf32>
    %y = tensor.empty() : tensor<8x16xf32>
    %gelu = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%fc : tensor<8x16xf32>) outs(%y : tensor<8x16xf32>) attrs =  {stc.module = "gelu", stc.name = "gelu"} {
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
    } -> tensor<8x16xf32>
    func.return %gelu : tensor<8x16xf32>
  }
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map3 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %1 = tensor.empty() : tensor<8x16xf32>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %c16 = arith.constant 16 : index
// CHECK-NEXT: %c12 = arith.constant 12 : index
// CHECK-NEXT: %fc = scf.for %first_row = %c0 to %c8 step %c4 iter_args(%2 = %1) -> (tensor<8x16xf32>) {
// CHECK-NEXT: %3 = scf.for %first_column = %c0 to %c16 step %c8 iter_args(%4 = %2) -> (tensor<8x16xf32>) {
// CHECK-NEXT: %5 = tensor.empty() : tensor<4x8xf32>
// CHECK-NEXT: %6 = linalg.fill {stc.name = "fc", stc.module = "fc"} ins(%0 : f32) outs(%5 : tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %7 = scf.for %first_term = %c0 to %c12 step %c4 iter_args(%8 = %6) -> (tensor<4x8xf32>) {
// CHECK-NEXT: %9 = tensor.extract_slice %x[%first_row, %first_term] [4, 4] [1, 1] : tensor<8x12xf32> to tensor<4x4xf32>
// CHECK-NEXT: %10 = tensor.extract_slice %w[%first_term, %first_column] [4, 8] [1, 1] : tensor<12x16xf32> to tensor<4x8xf32>
// CHECK-NEXT: %11 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9, %10 : tensor<4x4xf32>, tensor<4x8xf32>) outs(%8 : tensor<4x8xf32>) attrs ={{ +}}{stc.module = "fc", stc.name = "fc", stc.schedule = #dataflow.schedule<tile = [4, 8, 4], order = [0, 1, 2], unroll = [1, 1, 1], vector = []>, stc.fixed, stc.tile = "fc"} {
// CHECK-NEXT: ^bb0(%12: f32, %13: f32, %14: f32):
// CHECK-NEXT: %15 = arith.mulf %12, %13 : f32
// CHECK-NEXT: %16 = arith.addf %15, %14 : f32
// CHECK-NEXT: linalg.yield %16 : f32
// CHECK-NEXT: } -> tensor<4x8xf32>
// CHECK-NEXT: scf.yield %11 : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %17 = tensor.insert_slice %7 into %4[%first_row, %first_column] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x16xf32>
// CHECK-NEXT: scf.yield %17 : tensor<8x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %3 : tensor<8x16xf32>
// CHECK-NEXT: } {stc.name = "fc", stc.module = "fc"}
// CHECK-NEXT: %18 = tensor.empty() : tensor<8x16xf32>
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: %c8_1 = arith.constant 8 : index
// CHECK-NEXT: %c4_1 = arith.constant 4 : index
// CHECK-NEXT: %c16_1 = arith.constant 16 : index
// CHECK-NEXT: %gelu = scf.for %first_row_1 = %c0_1 to %c8_1 step %c4_1 iter_args(%19 = %18) -> (tensor<8x16xf32>) {
// CHECK-NEXT: %20 = scf.for %first_column_1 = %c0_1 to %c16_1 step %c4_1 iter_args(%21 = %19) -> (tensor<8x16xf32>) {
// CHECK-NEXT: %22 = tensor.extract_slice %fc[%first_row_1, %first_column_1] [4, 4] [1, 1] : tensor<8x16xf32> to tensor<4x4xf32>
// CHECK-NEXT: %23 = tensor.empty() : tensor<4x4xf32>
// CHECK-NEXT: %24 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%22 : tensor<4x4xf32>) outs(%23 : tensor<4x4xf32>) attrs ={{ +}}{stc.module = "gelu", stc.name = "gelu", stc.schedule = #dataflow.schedule<tile = [4, 4], order = [0, 1], unroll = [1, 1], vector = []>, stc.fixed, stc.tile = "gelu"} {
// CHECK-NEXT: ^bb0(%25: f32, %26: f32):
// CHECK-NEXT: %27 = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %28 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %29 = arith.constant 1.41421354 : f32
// CHECK-NEXT: %30 = arith.divf %25, %29 : f32
// CHECK-NEXT: %31 = math.erf %30 : f32
// CHECK-NEXT: %32 = arith.addf %31, %28 : f32
// CHECK-NEXT: %33 = arith.mulf %25, %27 : f32
// CHECK-NEXT: %34 = arith.mulf %33, %32 : f32
// CHECK-NEXT: linalg.yield %34 : f32
// CHECK-NEXT: } -> tensor<4x4xf32>
// CHECK-NEXT: %35 = tensor.insert_slice %24 into %21[%first_row_1, %first_column_1] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x16xf32>
// CHECK-NEXT: scf.yield %35 : tensor<8x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %20 : tensor<8x16xf32>
// CHECK-NEXT: } {stc.name = "gelu", stc.module = "gelu"}
// CHECK-NEXT: func.return %gelu : tensor<8x16xf32>
