#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map8 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @main(%arg0: tensor<1x5x24xf32>, %arg1: tensor<1x1x5x5xf32>, %arg2: tensor<1x5x4xf32>, %arg3: tensor<1x5x4xf32>, %arg4: tensor<24x24xf32>, %arg5: tensor<8x24xf32>, %arg6: tensor<8x24xf32>, %arg7: tensor<24x24xf32>, %arg8: tensor<4xf32>, %arg9: tensor<4xf32>, %arg10: tensor<40x24xf32>, %arg11: tensor<40x24xf32>, %arg12: tensor<24x40xf32>, %arg13: tensor<24xf32>, %arg14: tensor<24xf32>) -> tensor<1x5x24xf32> {
    %c2_i64 = arith.constant 2 : i64
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant 9.9999999999999995E-7 : f64
    %cst_3 = arith.constant 2.400000e+01 : f32
    %cst_4 = arith.constant 4.000000e+00 : f32
    %cst_5 = arith.constant 5.000000e-01 : f32
    %0 = tensor.empty() : tensor<1x5x24xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x5x24xf32>) outs(%0 : tensor<1x5x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %96 : f32
    } -> tensor<1x5x24xf32>
    %2 = tensor.empty() : tensor<1x5x1xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<1x5x1xf32>) -> tensor<1x5x1xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1 : tensor<1x5x24xf32>) outs(%3 : tensor<1x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = arith.addf %in, %out : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x1xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4 : tensor<1x5x1xf32>) outs(%2 : tensor<1x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = arith.divf %in, %cst_3 : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x1xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5 : tensor<1x5x1xf32>) outs(%2 : tensor<1x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = arith.truncf %cst_2 : f64 to f32
      %97 = arith.addf %in, %96 : f32
      linalg.yield %97 : f32
    } -> tensor<1x5x1xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<1x5x1xf32>) outs(%2 : tensor<1x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = math.rsqrt %in : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %7 : tensor<1x5x24xf32>, tensor<1x5x1xf32>) outs(%0 : tensor<1x5x24xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.mulf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x24xf32>
    %9 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg13, %8 : tensor<24xf32>, tensor<1x5x24xf32>) outs(%0 : tensor<1x5x24xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.mulf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x24xf32>
    %10 = tensor.empty() : tensor<24x24xf32>
    %transposed = linalg.transpose ins(%arg4 : tensor<24x24xf32>) outs(%10 : tensor<24x24xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %9 [[0, 1], [2]] : tensor<1x5x24xf32> into tensor<5x24xf32>
    %11 = tensor.empty() : tensor<5x24xf32>
    %12 = linalg.fill ins(%cst : f32) outs(%11 : tensor<5x24xf32>) -> tensor<5x24xf32>
    %13 = linalg.matmul ins(%collapsed, %transposed : tensor<5x24xf32>, tensor<24x24xf32>) outs(%12 : tensor<5x24xf32>) -> tensor<5x24xf32>
    %expanded = tensor.expand_shape %13 [[0, 1], [2, 3]] output_shape [1, 5, 6, 4] : tensor<5x24xf32> into tensor<1x5x6x4xf32>
    %14 = tensor.empty() : tensor<1x5x6x4xf32>
    %15 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x5x6x4xf32>) outs(%14 : tensor<1x5x6x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %96 : f32
    } -> tensor<1x5x6x4xf32>
    %16 = tensor.empty() : tensor<1x5x6x1xf32>
    %17 = linalg.fill ins(%cst : f32) outs(%16 : tensor<1x5x6x1xf32>) -> tensor<1x5x6x1xf32>
    %18 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%15 : tensor<1x5x6x4xf32>) outs(%17 : tensor<1x5x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = arith.addf %in, %out : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x6x1xf32>
    %19 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18 : tensor<1x5x6x1xf32>) outs(%16 : tensor<1x5x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = arith.divf %in, %cst_4 : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x6x1xf32>
    %20 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%19 : tensor<1x5x6x1xf32>) outs(%16 : tensor<1x5x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = arith.truncf %cst_2 : f64 to f32
      %97 = arith.addf %in, %96 : f32
      linalg.yield %97 : f32
    } -> tensor<1x5x6x1xf32>
    %21 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%20 : tensor<1x5x6x1xf32>) outs(%16 : tensor<1x5x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = math.rsqrt %in : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x6x1xf32>
    %22 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %21 : tensor<1x5x6x4xf32>, tensor<1x5x6x1xf32>) outs(%14 : tensor<1x5x6x4xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.mulf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x6x4xf32>
    %23 = linalg.generic {indexing_maps = [#map5, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg8, %22 : tensor<4xf32>, tensor<1x5x6x4xf32>) outs(%14 : tensor<1x5x6x4xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.mulf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x6x4xf32>
    %24 = tensor.empty() : tensor<1x6x5x4xf32>
    %transposed_6 = linalg.transpose ins(%23 : tensor<1x5x6x4xf32>) outs(%24 : tensor<1x6x5x4xf32>) permutation = [0, 2, 1, 3] 
    %25 = tensor.empty() : tensor<24x8xf32>
    %transposed_7 = linalg.transpose ins(%arg5 : tensor<8x24xf32>) outs(%25 : tensor<24x8xf32>) permutation = [1, 0] 
    %26 = tensor.empty() : tensor<5x8xf32>
    %27 = linalg.fill ins(%cst : f32) outs(%26 : tensor<5x8xf32>) -> tensor<5x8xf32>
    %28 = linalg.matmul ins(%collapsed, %transposed_7 : tensor<5x24xf32>, tensor<24x8xf32>) outs(%27 : tensor<5x8xf32>) -> tensor<5x8xf32>
    %expanded_8 = tensor.expand_shape %28 [[0, 1], [2, 3]] output_shape [1, 5, 2, 4] : tensor<5x8xf32> into tensor<1x5x2x4xf32>
    %29 = tensor.empty() : tensor<1x5x2x4xf32>
    %30 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_8 : tensor<1x5x2x4xf32>) outs(%29 : tensor<1x5x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %96 : f32
    } -> tensor<1x5x2x4xf32>
    %31 = tensor.empty() : tensor<1x5x2x1xf32>
    %32 = linalg.fill ins(%cst : f32) outs(%31 : tensor<1x5x2x1xf32>) -> tensor<1x5x2x1xf32>
    %33 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%30 : tensor<1x5x2x4xf32>) outs(%32 : tensor<1x5x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = arith.addf %in, %out : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x2x1xf32>
    %34 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33 : tensor<1x5x2x1xf32>) outs(%31 : tensor<1x5x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = arith.divf %in, %cst_4 : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x2x1xf32>
    %35 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%34 : tensor<1x5x2x1xf32>) outs(%31 : tensor<1x5x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = arith.truncf %cst_2 : f64 to f32
      %97 = arith.addf %in, %96 : f32
      linalg.yield %97 : f32
    } -> tensor<1x5x2x1xf32>
    %36 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%35 : tensor<1x5x2x1xf32>) outs(%31 : tensor<1x5x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = math.rsqrt %in : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x2x1xf32>
    %37 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_8, %36 : tensor<1x5x2x4xf32>, tensor<1x5x2x1xf32>) outs(%29 : tensor<1x5x2x4xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.mulf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x2x4xf32>
    %38 = linalg.generic {indexing_maps = [#map5, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg9, %37 : tensor<4xf32>, tensor<1x5x2x4xf32>) outs(%29 : tensor<1x5x2x4xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.mulf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x2x4xf32>
    %39 = tensor.empty() : tensor<1x2x5x4xf32>
    %transposed_9 = linalg.transpose ins(%38 : tensor<1x5x2x4xf32>) outs(%39 : tensor<1x2x5x4xf32>) permutation = [0, 2, 1, 3] 
    %transposed_10 = linalg.transpose ins(%arg6 : tensor<8x24xf32>) outs(%25 : tensor<24x8xf32>) permutation = [1, 0] 
    %40 = linalg.matmul ins(%collapsed, %transposed_10 : tensor<5x24xf32>, tensor<24x8xf32>) outs(%27 : tensor<5x8xf32>) -> tensor<5x8xf32>
    %expanded_11 = tensor.expand_shape %40 [[0, 1], [2, 3]] output_shape [1, 5, 2, 4] : tensor<5x8xf32> into tensor<1x5x2x4xf32>
    %transposed_12 = linalg.transpose ins(%expanded_11 : tensor<1x5x2x4xf32>) outs(%39 : tensor<1x2x5x4xf32>) permutation = [0, 2, 1, 3] 
    %expanded_13 = tensor.expand_shape %arg2 [[0], [1, 2], [3]] output_shape [1, 1, 5, 4] : tensor<1x5x4xf32> into tensor<1x1x5x4xf32>
    %expanded_14 = tensor.expand_shape %arg3 [[0], [1, 2], [3]] output_shape [1, 1, 5, 4] : tensor<1x5x4xf32> into tensor<1x1x5x4xf32>
    %41 = linalg.generic {indexing_maps = [#map3, #map6, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_6, %expanded_13 : tensor<1x6x5x4xf32>, tensor<1x1x5x4xf32>) outs(%24 : tensor<1x6x5x4xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.mulf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x6x5x4xf32>
    %extracted_slice = tensor.extract_slice %transposed_6[0, 0, 0, 0] [1, 6, 5, 2] [1, 1, 1, 1] : tensor<1x6x5x4xf32> to tensor<1x6x5x2xf32>
    %extracted_slice_15 = tensor.extract_slice %transposed_6[0, 0, 0, 2] [1, 6, 5, 2] [1, 1, 1, 1] : tensor<1x6x5x4xf32> to tensor<1x6x5x2xf32>
    %42 = tensor.empty() : tensor<1x6x5x2xf32>
    %43 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_15 : tensor<1x6x5x2xf32>) outs(%42 : tensor<1x6x5x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = arith.negf %in : f32
      linalg.yield %96 : f32
    } -> tensor<1x6x5x2xf32>
    %concat = tensor.concat dim(3) %43, %extracted_slice : (tensor<1x6x5x2xf32>, tensor<1x6x5x2xf32>) -> tensor<1x6x5x4xf32>
    %44 = linalg.generic {indexing_maps = [#map3, #map6, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat, %expanded_14 : tensor<1x6x5x4xf32>, tensor<1x1x5x4xf32>) outs(%24 : tensor<1x6x5x4xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.mulf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x6x5x4xf32>
    %45 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%41, %44 : tensor<1x6x5x4xf32>, tensor<1x6x5x4xf32>) outs(%24 : tensor<1x6x5x4xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.addf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x6x5x4xf32>
    %46 = linalg.generic {indexing_maps = [#map3, #map6, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_9, %expanded_13 : tensor<1x2x5x4xf32>, tensor<1x1x5x4xf32>) outs(%39 : tensor<1x2x5x4xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.mulf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x2x5x4xf32>
    %extracted_slice_16 = tensor.extract_slice %transposed_9[0, 0, 0, 0] [1, 2, 5, 2] [1, 1, 1, 1] : tensor<1x2x5x4xf32> to tensor<1x2x5x2xf32>
    %extracted_slice_17 = tensor.extract_slice %transposed_9[0, 0, 0, 2] [1, 2, 5, 2] [1, 1, 1, 1] : tensor<1x2x5x4xf32> to tensor<1x2x5x2xf32>
    %47 = tensor.empty() : tensor<1x2x5x2xf32>
    %48 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_17 : tensor<1x2x5x2xf32>) outs(%47 : tensor<1x2x5x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = arith.negf %in : f32
      linalg.yield %96 : f32
    } -> tensor<1x2x5x2xf32>
    %concat_18 = tensor.concat dim(3) %48, %extracted_slice_16 : (tensor<1x2x5x2xf32>, tensor<1x2x5x2xf32>) -> tensor<1x2x5x4xf32>
    %49 = linalg.generic {indexing_maps = [#map3, #map6, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_18, %expanded_14 : tensor<1x2x5x4xf32>, tensor<1x1x5x4xf32>) outs(%39 : tensor<1x2x5x4xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.mulf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x2x5x4xf32>
    %50 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%46, %49 : tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) outs(%39 : tensor<1x2x5x4xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.addf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x2x5x4xf32>
    %51 = tensor.empty() : tensor<1x2x3x5x4xf32>
    %52 = linalg.generic {indexing_maps = [#map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%50 : tensor<1x2x5x4xf32>) outs(%51 : tensor<1x2x3x5x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x3x5x4xf32>
    %collapsed_19 = tensor.collapse_shape %52 [[0], [1, 2], [3], [4]] : tensor<1x2x3x5x4xf32> into tensor<1x6x5x4xf32>
    %53 = linalg.generic {indexing_maps = [#map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_12 : tensor<1x2x5x4xf32>) outs(%51 : tensor<1x2x3x5x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x3x5x4xf32>
    %54 = tensor.empty() : tensor<1x6x4x5xf32>
    %transposed_20 = linalg.transpose ins(%collapsed_19 : tensor<1x6x5x4xf32>) outs(%54 : tensor<1x6x4x5xf32>) permutation = [0, 1, 3, 2] 
    %collapsed_21 = tensor.collapse_shape %45 [[0, 1], [2], [3]] : tensor<1x6x5x4xf32> into tensor<6x5x4xf32>
    %collapsed_22 = tensor.collapse_shape %transposed_20 [[0, 1], [2], [3]] : tensor<1x6x4x5xf32> into tensor<6x4x5xf32>
    %55 = tensor.empty() : tensor<6x5x5xf32>
    %56 = linalg.fill ins(%cst : f32) outs(%55 : tensor<6x5x5xf32>) -> tensor<6x5x5xf32>
    %57 = linalg.batch_matmul ins(%collapsed_21, %collapsed_22 : tensor<6x5x4xf32>, tensor<6x4x5xf32>) outs(%56 : tensor<6x5x5xf32>) -> tensor<6x5x5xf32>
    %expanded_23 = tensor.expand_shape %57 [[0, 1], [2], [3]] output_shape [1, 6, 5, 5] : tensor<6x5x5xf32> into tensor<1x6x5x5xf32>
    %58 = tensor.empty() : tensor<1x6x5x5xf32>
    %59 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_23 : tensor<1x6x5x5xf32>) outs(%58 : tensor<1x6x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = arith.mulf %in, %cst_5 : f32
      linalg.yield %96 : f32
    } -> tensor<1x6x5x5xf32>
    %60 = linalg.generic {indexing_maps = [#map3, #map6, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%59, %arg1 : tensor<1x6x5x5xf32>, tensor<1x1x5x5xf32>) outs(%58 : tensor<1x6x5x5xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.addf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x6x5x5xf32>
    %61 = tensor.empty() : tensor<1x6x5xi64>
    %62 = linalg.fill ins(%c0_i64 : i64) outs(%61 : tensor<1x6x5xi64>) -> tensor<1x6x5xi64>
    %63 = tensor.empty() : tensor<1x6x5xf32>
    %64 = linalg.fill ins(%cst_0 : f32) outs(%63 : tensor<1x6x5xf32>) -> tensor<1x6x5xf32>
    %65:2 = linalg.generic {indexing_maps = [#map3, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%60 : tensor<1x6x5x5xf32>) outs(%64, %62 : tensor<1x6x5xf32>, tensor<1x6x5xi64>) {
    ^bb0(%in: f32, %out: f32, %out_40: i64):
      %96 = linalg.index 3 : index
      %97 = arith.index_cast %96 : index to i64
      %98 = arith.maximumf %in, %out : f32
      %99 = arith.cmpf ogt, %in, %out : f32
      %100 = arith.select %99, %97, %out_40 : i64
      linalg.yield %98, %100 : f32, i64
    } -> (tensor<1x6x5xf32>, tensor<1x6x5xi64>)
    %expanded_24 = tensor.expand_shape %65#0 [[0], [1], [2, 3]] output_shape [1, 6, 5, 1] : tensor<1x6x5xf32> into tensor<1x6x5x1xf32>
    %66 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%60, %expanded_24 : tensor<1x6x5x5xf32>, tensor<1x6x5x1xf32>) outs(%58 : tensor<1x6x5x5xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.subf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x6x5x5xf32>
    %67 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%66 : tensor<1x6x5x5xf32>) outs(%58 : tensor<1x6x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = math.exp %in : f32
      linalg.yield %96 : f32
    } -> tensor<1x6x5x5xf32>
    %68 = tensor.empty() : tensor<1x6x5x1xf32>
    %69 = linalg.fill ins(%cst : f32) outs(%68 : tensor<1x6x5x1xf32>) -> tensor<1x6x5x1xf32>
    %70 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%67 : tensor<1x6x5x5xf32>) outs(%69 : tensor<1x6x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = arith.addf %in, %out : f32
      linalg.yield %96 : f32
    } -> tensor<1x6x5x1xf32>
    %71 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%67, %70 : tensor<1x6x5x5xf32>, tensor<1x6x5x1xf32>) outs(%58 : tensor<1x6x5x5xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.divf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x6x5x5xf32>
    %collapsed_25 = tensor.collapse_shape %71 [[0, 1], [2], [3]] : tensor<1x6x5x5xf32> into tensor<6x5x5xf32>
    %collapsed_26 = tensor.collapse_shape %53 [[0, 1, 2], [3], [4]] : tensor<1x2x3x5x4xf32> into tensor<6x5x4xf32>
    %72 = tensor.empty() : tensor<6x5x4xf32>
    %73 = linalg.fill ins(%cst : f32) outs(%72 : tensor<6x5x4xf32>) -> tensor<6x5x4xf32>
    %74 = linalg.batch_matmul ins(%collapsed_25, %collapsed_26 : tensor<6x5x5xf32>, tensor<6x5x4xf32>) outs(%73 : tensor<6x5x4xf32>) -> tensor<6x5x4xf32>
    %expanded_27 = tensor.expand_shape %74 [[0, 1], [2], [3]] output_shape [1, 6, 5, 4] : tensor<6x5x4xf32> into tensor<1x6x5x4xf32>
    %transposed_28 = linalg.transpose ins(%expanded_27 : tensor<1x6x5x4xf32>) outs(%14 : tensor<1x5x6x4xf32>) permutation = [0, 2, 1, 3] 
    %transposed_29 = linalg.transpose ins(%arg7 : tensor<24x24xf32>) outs(%10 : tensor<24x24xf32>) permutation = [1, 0] 
    %collapsed_30 = tensor.collapse_shape %transposed_28 [[0, 1], [2, 3]] : tensor<1x5x6x4xf32> into tensor<5x24xf32>
    %75 = linalg.matmul ins(%collapsed_30, %transposed_29 : tensor<5x24xf32>, tensor<24x24xf32>) outs(%12 : tensor<5x24xf32>) -> tensor<5x24xf32>
    %expanded_31 = tensor.expand_shape %75 [[0, 1], [2]] output_shape [1, 5, 24] : tensor<5x24xf32> into tensor<1x5x24xf32>
    %76 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %expanded_31 : tensor<1x5x24xf32>, tensor<1x5x24xf32>) outs(%0 : tensor<1x5x24xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.addf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x24xf32>
    %77 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76 : tensor<1x5x24xf32>) outs(%0 : tensor<1x5x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %96 : f32
    } -> tensor<1x5x24xf32>
    %78 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%77 : tensor<1x5x24xf32>) outs(%3 : tensor<1x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = arith.addf %in, %out : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x1xf32>
    %79 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%78 : tensor<1x5x1xf32>) outs(%2 : tensor<1x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = arith.divf %in, %cst_3 : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x1xf32>
    %80 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%79 : tensor<1x5x1xf32>) outs(%2 : tensor<1x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = arith.truncf %cst_2 : f64 to f32
      %97 = arith.addf %in, %96 : f32
      linalg.yield %97 : f32
    } -> tensor<1x5x1xf32>
    %81 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%80 : tensor<1x5x1xf32>) outs(%2 : tensor<1x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = math.rsqrt %in : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x1xf32>
    %82 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76, %81 : tensor<1x5x24xf32>, tensor<1x5x1xf32>) outs(%0 : tensor<1x5x24xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.mulf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x24xf32>
    %83 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg14, %82 : tensor<24xf32>, tensor<1x5x24xf32>) outs(%0 : tensor<1x5x24xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.mulf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x24xf32>
    %84 = tensor.empty() : tensor<24x40xf32>
    %transposed_32 = linalg.transpose ins(%arg10 : tensor<40x24xf32>) outs(%84 : tensor<24x40xf32>) permutation = [1, 0] 
    %collapsed_33 = tensor.collapse_shape %83 [[0, 1], [2]] : tensor<1x5x24xf32> into tensor<5x24xf32>
    %85 = tensor.empty() : tensor<5x40xf32>
    %86 = linalg.fill ins(%cst : f32) outs(%85 : tensor<5x40xf32>) -> tensor<5x40xf32>
    %87 = linalg.matmul ins(%collapsed_33, %transposed_32 : tensor<5x24xf32>, tensor<24x40xf32>) outs(%86 : tensor<5x40xf32>) -> tensor<5x40xf32>
    %expanded_34 = tensor.expand_shape %87 [[0, 1], [2]] output_shape [1, 5, 40] : tensor<5x40xf32> into tensor<1x5x40xf32>
    %88 = tensor.empty() : tensor<1x5x40xf32>
    %89 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_34 : tensor<1x5x40xf32>) outs(%88 : tensor<1x5x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = arith.negf %in : f32
      %97 = math.exp %96 : f32
      %98 = arith.addf %97, %cst_1 : f32
      %99 = arith.divf %cst_1, %98 : f32
      linalg.yield %99 : f32
    } -> tensor<1x5x40xf32>
    %90 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_34, %89 : tensor<1x5x40xf32>, tensor<1x5x40xf32>) outs(%88 : tensor<1x5x40xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.mulf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x40xf32>
    %transposed_35 = linalg.transpose ins(%arg11 : tensor<40x24xf32>) outs(%84 : tensor<24x40xf32>) permutation = [1, 0] 
    %91 = linalg.matmul ins(%collapsed_33, %transposed_35 : tensor<5x24xf32>, tensor<24x40xf32>) outs(%86 : tensor<5x40xf32>) -> tensor<5x40xf32>
    %expanded_36 = tensor.expand_shape %91 [[0, 1], [2]] output_shape [1, 5, 40] : tensor<5x40xf32> into tensor<1x5x40xf32>
    %92 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%90, %expanded_36 : tensor<1x5x40xf32>, tensor<1x5x40xf32>) outs(%88 : tensor<1x5x40xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.mulf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x40xf32>
    %93 = tensor.empty() : tensor<40x24xf32>
    %transposed_37 = linalg.transpose ins(%arg12 : tensor<24x40xf32>) outs(%93 : tensor<40x24xf32>) permutation = [1, 0] 
    %collapsed_38 = tensor.collapse_shape %92 [[0, 1], [2]] : tensor<1x5x40xf32> into tensor<5x40xf32>
    %94 = linalg.matmul ins(%collapsed_38, %transposed_37 : tensor<5x40xf32>, tensor<40x24xf32>) outs(%12 : tensor<5x24xf32>) -> tensor<5x24xf32>
    %expanded_39 = tensor.expand_shape %94 [[0, 1], [2]] output_shape [1, 5, 24] : tensor<5x24xf32> into tensor<1x5x24xf32>
    %95 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76, %expanded_39 : tensor<1x5x24xf32>, tensor<1x5x24xf32>) outs(%0 : tensor<1x5x24xf32>) {
    ^bb0(%in: f32, %in_40: f32, %out: f32):
      %96 = arith.addf %in, %in_40 : f32
      linalg.yield %96 : f32
    } -> tensor<1x5x24xf32>
    return %95 : tensor<1x5x24xf32>
  }
}
