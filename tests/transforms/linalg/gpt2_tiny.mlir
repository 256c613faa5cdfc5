builtin.module {
  func.func @main(%x: tensor<1x8x36xf32> {stc.name = "x"}, %mask: tensor<1x1x8x8xf32> {stc.name = "mask"}, %ln_1_weight: tensor<36xf32> {stc.name = "ln_1.weight", stc.parameter}, %ln_1_bias: tensor<36xf32> {stc.name = "ln_1.bias", stc.parameter}, %attn_c_attn_weight: tensor<36x108xf32> {stc.name = "attn.c_attn.weight", stc.parameter}, %attn_c_attn_bias: tensor<108xf32> {stc.name = "attn.c_attn.bias", stc.parameter}, %attn_c_proj_weight: tensor<36x36xf32> {stc.name = "attn.c_proj.weight", stc.parameter}, %attn_c_proj_bias: tensor<36xf32> {stc.name = "attn.c_proj.bias", stc.parameter}, %ln_2_weight: tensor<36xf32> {stc.name = "ln_2.weight", stc.parameter}, %ln_2_bias: tensor<36xf32> {stc.name = "ln_2.bias", stc.parameter}, %mlp_c_fc_weight: tensor<36x144xf32> {stc.name = "mlp.c_fc.weight", stc.parameter}, %mlp_c_fc_bias: tensor<144xf32> {stc.name = "mlp.c_fc.bias", stc.parameter}, %mlp_c_proj_weight: tensor<144x36xf32> {stc.name = "mlp.c_proj.weight", stc.parameter}, %mlp_c_proj_bias: tensor<36xf32> {stc.name = "mlp.c_proj.bias", stc.parameter}) -> (tensor<1x8x36xf32> {stc.name = "out"}) {
    %c3_i64 = arith.constant 3 : i64
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f64
    %cst_1 = arith.constant 0.000000e+00 : f32
    %cst_2 = arith.constant 0xff800000 : f32
    %cst_3 = arith.constant 0.79788456080286541 : f64
    %cst_4 = arith.constant 4.471500e-02 : f64
    %cst_5 = arith.constant 0.28867513459481287 : f64
    %cst_6 = arith.constant 1.000000e-05 : f64
    %cst_7 = arith.constant 3.600000e+01 : f64
    %cst_8 = arith.constant 3.600000e+01 : f32
    %cst_9 = arith.constant 5.000000e-01 : f32
    %cst_10 = arith.constant 1.000000e+00 : f32
    %0 = tensor.empty() {stc.module = "ln_1"} : tensor<1x8x36xf64>
    %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<1x8x36xf32>) outs(%0 : tensor<1x8x36xf64>) attrs =  {stc.module = "ln_1"} {
    ^bb0(%in: f32, %out: f64):
      %2 = arith.extf %in : f32 to f64
      linalg.yield %2 : f64
    } -> tensor<1x8x36xf64>
    %3 = tensor.empty() {stc.module = "ln_1"} : tensor<1x8x1xf64>
    %4 = linalg.fill {stc.module = "ln_1"} ins(%cst : f64) outs(%3 : tensor<1x8x1xf64>) -> tensor<1x8x1xf64>
    %5 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1 : tensor<1x8x36xf64>) outs(%4 : tensor<1x8x1xf64>) attrs =  {stc.module = "ln_1"} {
    ^bb0(%in_1: f64, %out_1: f64):
      %6 = arith.addf %in_1, %out_1 : f64
      linalg.yield %6 : f64
    } -> tensor<1x8x1xf64>
    %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5 : tensor<1x8x1xf64>) outs(%3 : tensor<1x8x1xf64>) attrs =  {stc.module = "ln_1"} {
    ^bb0(%in_2: f64, %out_2: f64):
      %8 = arith.divf %in_2, %cst_7 : f64
      linalg.yield %8 : f64
    } -> tensor<1x8x1xf64>
    %9 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %7 : tensor<1x8x36xf64>, tensor<1x8x1xf64>) outs(%0 : tensor<1x8x36xf64>) attrs =  {stc.module = "ln_1"} {
    ^bb0(%in_3: f64, %in_4: f64, %out_3: f64):
      %10 = arith.subf %in_3, %in_4 : f64
      linalg.yield %10 : f64
    } -> tensor<1x8x36xf64>
    %11 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %9 : tensor<1x8x36xf64>, tensor<1x8x36xf64>) outs(%0 : tensor<1x8x36xf64>) attrs =  {stc.module = "ln_1"} {
    ^bb0(%in_5: f64, %in_6: f64, %out_4: f64):
      %12 = arith.mulf %in_5, %in_6 : f64
      linalg.yield %12 : f64
    } -> tensor<1x8x36xf64>
    %13 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%11 : tensor<1x8x36xf64>) outs(%4 : tensor<1x8x1xf64>) attrs =  {stc.module = "ln_1"} {
    ^bb0(%in_7: f64, %out_5: f64):
      %14 = arith.addf %in_7, %out_5 : f64
      linalg.yield %14 : f64
    } -> tensor<1x8x1xf64>
    %15 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<1x8x1xf64>) outs(%3 : tensor<1x8x1xf64>) attrs =  {stc.module = "ln_1"} {
    ^bb0(%in_8: f64, %out_6: f64):
      %16 = arith.divf %in_8, %cst_7 : f64
      linalg.yield %16 : f64
    } -> tensor<1x8x1xf64>
    %17 = tensor.empty() {stc.module = "ln_1"} : tensor<1x8x1xf32>
    %18 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<1x8x1xf64>) outs(%17 : tensor<1x8x1xf32>) attrs =  {stc.module = "ln_1"} {
    ^bb0(%in_9: f64, %out_7: f32):
      %19 = arith.truncf %in_9 : f64 to f32
      linalg.yield %19 : f32
    } -> tensor<1x8x1xf32>
    %20 = linalg.fill {stc.module = "ln_1"} ins(%cst_1 : f32) outs(%17 : tensor<1x8x1xf32>) -> tensor<1x8x1xf32>
    %21 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<1x8x36xf32>) outs(%20 : tensor<1x8x1xf32>) attrs =  {stc.module = "ln_1"} {
    ^bb0(%in_10: f32, %out_8: f32):
      %22 = arith.addf %in_10, %out_8 : f32
      linalg.yield %22 : f32
    } -> tensor<1x8x1xf32>
    %23 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21 : tensor<1x8x1xf32>) outs(%17 : tensor<1x8x1xf32>) attrs =  {stc.module = "ln_1"} {
    ^bb0(%in_11: f32, %out_9: f32):
      %24 = arith.divf %in_11, %cst_8 : f32
      linalg.yield %24 : f32
    } -> tensor<1x8x1xf32>
    %25 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18 : tensor<1x8x1xf32>) outs(%17 : tensor<1x8x1xf32>) attrs =  {stc.module = "ln_1"} {
    ^bb0(%in_12: f32, %out_10: f32):
      %26 = arith.truncf %cst_6 : f64 to f32
      %27 = arith.addf %in_12, %26 : f32
      linalg.yield %27 : f32
    } -> tensor<1x8x1xf32>
    %28 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25 : tensor<1x8x1xf32>) outs(%17 : tensor<1x8x1xf32>) attrs =  {stc.module = "ln_1"} {
    ^bb0(%in_13: f32, %out_11: f32):
      %29 = math.rsqrt %in_13 : f32
      linalg.yield %29 : f32
    } -> tensor<1x8x1xf32>
    %30 = tensor.empty() {stc.module = "ln_1"} : tensor<1x8x36xf32>
    %31 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %23 : tensor<1x8x36xf32>, tensor<1x8x1xf32>) outs(%30 : tensor<1x8x36xf32>) attrs =  {stc.module = "ln_1"} {
    ^bb0(%in_14: f32, %in_15: f32, %out_12: f32):
      %32 = arith.subf %in_14, %in_15 : f32
      linalg.yield %32 : f32
    } -> tensor<1x8x36xf32>
    %33 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31, %28 : tensor<1x8x36xf32>, tensor<1x8x1xf32>) outs(%30 : tensor<1x8x36xf32>) attrs =  {stc.module = "ln_1"} {
    ^bb0(%in_16: f32, %in_17: f32, %out_13: f32):
      %34 = arith.mulf %in_16, %in_17 : f32
      linalg.yield %34 : f32
    } -> tensor<1x8x36xf32>
    %35 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%33, %ln_1_weight : tensor<1x8x36xf32>, tensor<36xf32>) outs(%30 : tensor<1x8x36xf32>) attrs =  {stc.module = "ln_1"} {
    ^bb0(%in_18: f32, %in_19: f32, %out_14: f32):
      %36 = arith.mulf %in_18, %in_19 : f32
      linalg.yield %36 : f32
    } -> tensor<1x8x36xf32>
    %37 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35, %ln_1_bias : tensor<1x8x36xf32>, tensor<36xf32>) outs(%30 : tensor<1x8x36xf32>) attrs =  {stc.module = "ln_1"} {
    ^bb0(%in_20: f32, %in_21: f32, %out_15: f32):
      %38 = arith.addf %in_20, %in_21 : f32
      linalg.yield %38 : f32
    } -> tensor<1x8x36xf32>
    %collapsed = tensor.collapse_shape %37 [[0 : i64, 1 : i64], [2 : i64]] {stc.module = "attn.c_attn"} : tensor<1x8x36xf32> into tensor<8x36xf32>
    %39 = tensor.empty() {stc.module = "attn.c_attn"} : tensor<8x108xf32>
    %40 = linalg.fill {stc.module = "attn.c_attn"} ins(%cst_1 : f32) outs(%39 : tensor<8x108xf32>) -> tensor<8x108xf32>
    %41 = linalg.matmul {stc.module = "attn.c_attn"} ins(%collapsed, %attn_c_attn_weight : tensor<8x36xf32>, tensor<36x108xf32>) outs(%40 : tensor<8x108xf32>) -> tensor<8x108xf32>
    %42 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%41, %attn_c_attn_bias : tensor<8x108xf32>, tensor<108xf32>) outs(%39 : tensor<8x108xf32>) attrs =  {stc.module = "attn.c_attn"} {
    ^bb0(%in_22: f32, %in_23: f32, %out_16: f32):
      %43 = arith.addf %in_22, %in_23 : f32
      linalg.yield %43 : f32
    } -> tensor<8x108xf32>
    %expanded = tensor.expand_shape %42 [[0 : i64, 1 : i64], [2 : i64]] output_shape [1, 8, 108] {stc.module = "attn.c_attn"} : tensor<8x108xf32> into tensor<1x8x108xf32>
    %extracted_slice = tensor.extract_slice %expanded[0, 0, 0] [1, 8, 36] [1, 1, 1] {stc.module = "attn"} : tensor<1x8x108xf32> to tensor<1x8x36xf32>
    %extracted_slice_1 = tensor.extract_slice %expanded[0, 0, 36] [1, 8, 36] [1, 1, 1] {stc.module = "attn"} : tensor<1x8x108xf32> to tensor<1x8x36xf32>
    %extracted_slice_2 = tensor.extract_slice %expanded[0, 0, 72] [1, 8, 36] [1, 1, 1] {stc.module = "attn"} : tensor<1x8x108xf32> to tensor<1x8x36xf32>
    %expanded_1 = tensor.expand_shape %extracted_slice_1 [[0 : i64], [1 : i64], [2 : i64, 3 : i64]] output_shape [1, 8, 3, 12] {stc.module = "attn"} : tensor<1x8x36xf32> into tensor<1x8x3x12xf32>
    %expanded_2 = tensor.expand_shape %extracted_slice_2 [[0 : i64], [1 : i64], [2 : i64, 3 : i64]] output_shape [1, 8, 3, 12] {stc.module = "attn"} : tensor<1x8x36xf32> into tensor<1x8x3x12xf32>
    %44 = tensor.empty() {stc.module = "attn"} : tensor<1x3x8x12xf32>
    %transposed = linalg.transpose ins(%expanded_2 : tensor<1x8x3x12xf32>) outs(%44 : tensor<1x3x8x12xf32>) permutation = [0, 2, 1, 3] {stc.module = "attn"}
    %expanded_3 = tensor.expand_shape %extracted_slice [[0 : i64], [1 : i64], [2 : i64, 3 : i64]] output_shape [1, 8, 3, 12] {stc.module = "attn"} : tensor<1x8x36xf32> into tensor<1x8x3x12xf32>
    %transposed_1 = linalg.transpose ins(%expanded_3 : tensor<1x8x3x12xf32>) outs(%44 : tensor<1x3x8x12xf32>) permutation = [0, 2, 1, 3] {stc.module = "attn"}
    %45 = tensor.empty() {stc.module = "attn"} : tensor<1x3x12x8xf32>
    %transposed_2 = linalg.transpose ins(%expanded_1 : tensor<1x8x3x12xf32>) outs(%45 : tensor<1x3x12x8xf32>) permutation = [0, 2, 3, 1] {stc.module = "attn"}
    %collapsed_1 = tensor.collapse_shape %transposed_1 [[0 : i64, 1 : i64], [2 : i64], [3 : i64]] {stc.module = "attn"} : tensor<1x3x8x12xf32> into tensor<3x8x12xf32>
    %collapsed_2 = tensor.collapse_shape %transposed_2 [[0 : i64, 1 : i64], [2 : i64], [3 : i64]] {stc.module = "attn"} : tensor<1x3x12x8xf32> into tensor<3x12x8xf32>
    %46 = tensor.empty() {stc.module = "attn"} : tensor<3x8x8xf32>
    %47 = linalg.fill {stc.module = "attn"} ins(%cst_1 : f32) outs(%46 : tensor<3x8x8xf32>) -> tensor<3x8x8xf32>
    %48 = linalg.batch_matmul {stc.module = "attn"} ins(%collapsed_1, %collapsed_2 : tensor<3x8x12xf32>, tensor<3x12x8xf32>) outs(%47 : tensor<3x8x8xf32>) -> tensor<3x8x8xf32>
    %expanded_4 = tensor.expand_shape %48 [[0 : i64, 1 : i64], [2 : i64], [3 : i64]] output_shape [1, 3, 8, 8] {stc.module = "attn"} : tensor<3x8x8xf32> into tensor<1x3x8x8xf32>
    %49 = tensor.empty() {stc.module = "attn"} : tensor<1x3x8x8xf32>
    %50 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_4 : tensor<1x3x8x8xf32>) outs(%49 : tensor<1x3x8x8xf32>) attrs =  {stc.module = "attn"} {
    ^bb0(%in_24: f32, %out_17: f32):
      %51 = arith.truncf %cst_5 : f64 to f32
      %52 = arith.mulf %in_24, %51 : f32
      linalg.yield %52 : f32
    } -> tensor<1x3x8x8xf32>
    %53 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%50, %mask : tensor<1x3x8x8xf32>, tensor<1x1x8x8xf32>) outs(%49 : tensor<1x3x8x8xf32>) attrs =  {stc.module = "attn"} {
    ^bb0(%in_25: f32, %in_26: f32, %out_18: f32):
      %54 = arith.addf %in_25, %in_26 : f32
      linalg.yield %54 : f32
    } -> tensor<1x3x8x8xf32>
    %55 = tensor.empty() {stc.module = "attn"} : tensor<1x3x8xi64>
    %56 = linalg.fill {stc.module = "attn"} ins(%c0_i64 : i64) outs(%55 : tensor<1x3x8xi64>) -> tensor<1x3x8xi64>
    %57 = tensor.empty() {stc.module = "attn"} : tensor<1x3x8xf32>
    %58 = linalg.fill {stc.module = "attn"} ins(%cst_2 : f32) outs(%57 : tensor<1x3x8xf32>) -> tensor<1x3x8xf32>
    %59, %60 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%53 : tensor<1x3x8x8xf32>) outs(%58, %56 : tensor<1x3x8xf32>, tensor<1x3x8xi64>) attrs =  {stc.module = "attn"} {
    ^bb0(%in_27: f32, %out_19: f32, %out_20: i64):
      %61 = linalg.index 3 : index
      %62 = arith.index_cast %61 : index to i64
      %63 = arith.maximumf %in_27, %out_19 : f32
      %64 = arith.cmpf ogt, %in_27, %out_19 : f32
      %65 = arith.select %64, %62, %out_20 : i64
      linalg.yield %63, %65 : f32, i64
    } -> (tensor<1x3x8xf32>, tensor<1x3x8xi64>)
    %expanded_5 = tensor.expand_shape %59 [[0 : i64], [1 : i64], [2 : i64, 3 : i64]] output_shape [1, 3, 8, 1] {stc.module = "attn"} : tensor<1x3x8xf32> into tensor<1x3x8x1xf32>
    %66 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%53, %expanded_5 : tensor<1x3x8x8xf32>, tensor<1x3x8x1xf32>) outs(%49 : tensor<1x3x8x8xf32>) attrs =  {stc.module = "attn"} {
    ^bb0(%in_28: f32, %in_29: f32, %out_21: f32):
      %67 = arith.subf %in_28, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<1x3x8x8xf32>
    %68 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%66 : tensor<1x3x8x8xf32>) outs(%49 : tensor<1x3x8x8xf32>) attrs =  {stc.module = "attn"} {
    ^bb0(%in_30: f32, %out_22: f32):
      %69 = math.exp %in_30 : f32
      linalg.yield %69 : f32
    } -> tensor<1x3x8x8xf32>
    %70 = tensor.empty() {stc.module = "attn"} : tensor<1x3x8x1xf32>
    %71 = linalg.fill {stc.module = "attn"} ins(%cst_1 : f32) outs(%70 : tensor<1x3x8x1xf32>) -> tensor<1x3x8x1xf32>
    %72 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%68 : tensor<1x3x8x8xf32>) outs(%71 : tensor<1x3x8x1xf32>) attrs =  {stc.module = "attn"} {
    ^bb0(%in_31: f32, %out_23: f32):
      %73 = arith.addf %in_31, %out_23 : f32
      linalg.yield %73 : f32
    } -> tensor<1x3x8x1xf32>
    %74 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%68, %72 : tensor<1x3x8x8xf32>, tensor<1x3x8x1xf32>) outs(%49 : tensor<1x3x8x8xf32>) attrs =  {stc.module = "attn"} {
    ^bb0(%in_32: f32, %in_33: f32, %out_24: f32):
      %75 = arith.divf %in_32, %in_33 : f32
      linalg.yield %75 : f32
    } -> tensor<1x3x8x8xf32>
    %collapsed_3 = tensor.collapse_shape %74 [[0 : i64, 1 : i64], [2 : i64], [3 : i64]] {stc.module = "attn"} : tensor<1x3x8x8xf32> into tensor<3x8x8xf32>
    %collapsed_4 = tensor.collapse_shape %transposed [[0 : i64, 1 : i64], [2 : i64], [3 : i64]] {stc.module = "attn"} : tensor<1x3x8x12xf32> into tensor<3x8x12xf32>
    %76 = tensor.empty() {stc.module = "attn"} : tensor<3x8x12xf32>
    %77 = linalg.fill {stc.module = "attn"} ins(%cst_1 : f32) outs(%76 : tensor<3x8x12xf32>) -> tensor<3x8x12xf32>
    %78 = linalg.batch_matmul {stc.module = "attn"} ins(%collapsed_3, %collapsed_4 : tensor<3x8x8xf32>, tensor<3x8x12xf32>) outs(%77 : tensor<3x8x12xf32>) -> tensor<3x8x12xf32>
    %expanded_6 = tensor.expand_shape %78 [[0 : i64, 1 : i64], [2 : i64], [3 : i64]] output_shape [1, 3, 8, 12] {stc.module = "attn"} : tensor<3x8x12xf32> into tensor<1x3x8x12xf32>
    %79 = tensor.empty() {stc.module = "attn"} : tensor<1x8x3x12xf32>
    %transposed_3 = linalg.transpose ins(%expanded_6 : tensor<1x3x8x12xf32>) outs(%79 : tensor<1x8x3x12xf32>) permutation = [0, 2, 1, 3] {stc.module = "attn"}
    %collapsed_5 = tensor.collapse_shape %transposed_3 [[0 : i64, 1 : i64], [2 : i64, 3 : i64]] {stc.module = "attn.c_proj"} : tensor<1x8x3x12xf32> into tensor<8x36xf32>
    %80 = tensor.empty() {stc.module = "attn.c_proj"} : tensor<8x36xf32>
    %81 = linalg.fill {stc.module = "attn.c_proj"} ins(%cst_1 : f32) outs(%80 : tensor<8x36xf32>) -> tensor<8x36xf32>
    %82 = linalg.matmul {stc.module = "attn.c_proj"} ins(%collapsed_5, %attn_c_proj_weight : tensor<8x36xf32>, tensor<36x36xf32>) outs(%81 : tensor<8x36xf32>) -> tensor<8x36xf32>
    %83 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%82, %attn_c_proj_bias : tensor<8x36xf32>, tensor<36xf32>) outs(%80 : tensor<8x36xf32>) attrs =  {stc.module = "attn.c_proj"} {
    ^bb0(%in_34: f32, %in_35: f32, %out_25: f32):
      %84 = arith.addf %in_34, %in_35 : f32
      linalg.yield %84 : f32
    } -> tensor<8x36xf32>
    %expanded_7 = tensor.expand_shape %83 [[0 : i64, 1 : i64], [2 : i64]] output_shape [1, 8, 36] {stc.module = "attn.c_proj"} : tensor<8x36xf32> into tensor<1x8x36xf32>
    %85 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_7, %x : tensor<1x8x36xf32>, tensor<1x8x36xf32>) outs(%30 : tensor<1x8x36xf32>) {
    ^bb0(%in_36: f32, %in_37: f32, %out_26: f32):
      %86 = arith.addf %in_36, %in_37 : f32
      linalg.yield %86 : f32
    } -> tensor<1x8x36xf32>
    %87 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%85 : tensor<1x8x36xf32>) outs(%0 : tensor<1x8x36xf64>) attrs =  {stc.module = "ln_2"} {
    ^bb0(%in_38: f32, %out_27: f64):
      %88 = arith.extf %in_38 : f32 to f64
      linalg.yield %88 : f64
    } -> tensor<1x8x36xf64>
    %89 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%87 : tensor<1x8x36xf64>) outs(%4 : tensor<1x8x1xf64>) attrs =  {stc.module = "ln_2"} {
    ^bb0(%in_39: f64, %out_28: f64):
      %90 = arith.addf %in_39, %out_28 : f64
      linalg.yield %90 : f64
    } -> tensor<1x8x1xf64>
    %91 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%89 : tensor<1x8x1xf64>) outs(%3 : tensor<1x8x1xf64>) attrs =  {stc.module = "ln_2"} {
    ^bb0(%in_40: f64, %out_29: f64):
      %92 = arith.divf %in_40, %cst_7 : f64
      linalg.yield %92 : f64
    } -> tensor<1x8x1xf64>
    %93 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%87, %91 : tensor<1x8x36xf64>, tensor<1x8x1xf64>) outs(%0 : tensor<1x8x36xf64>) attrs =  {stc.module = "ln_2"} {
    ^bb0(%in_41: f64, %in_42: f64, %out_30: f64):
      %94 = arith.subf %in_41, %in_42 : f64
      linalg.yield %94 : f64
    } -> tensor<1x8x36xf64>
    %95 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93, %93 : tensor<1x8x36xf64>, tensor<1x8x36xf64>) outs(%0 : tensor<1x8x36xf64>) attrs =  {stc.module = "ln_2"} {
    ^bb0(%in_43: f64, %in_44: f64, %out_31: f64):
      %96 = arith.mulf %in_43, %in_44 : f64
      linalg.yield %96 : f64
    } -> tensor<1x8x36xf64>
    %97 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%95 : tensor<1x8x36xf64>) outs(%4 : tensor<1x8x1xf64>) attrs =  {stc.module = "ln_2"} {
    ^bb0(%in_45: f64, %out_32: f64):
      %98 = arith.addf %in_45, %out_32 : f64
      linalg.yield %98 : f64
    } -> tensor<1x8x1xf64>
    %99 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97 : tensor<1x8x1xf64>) outs(%3 : tensor<1x8x1xf64>) attrs =  {stc.module = "ln_2"} {
    ^bb0(%in_46: f64, %out_33: f64):
      %100 = arith.divf %in_46, %cst_7 : f64
      linalg.yield %100 : f64
    } -> tensor<1x8x1xf64>
    %101 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%99 : tensor<1x8x1xf64>) outs(%17 : tensor<1x8x1xf32>) attrs =  {stc.module = "ln_2"} {
    ^bb0(%in_47: f64, %out_34: f32):
      %102 = arith.truncf %in_47 : f64 to f32
      linalg.yield %102 : f32
    } -> tensor<1x8x1xf32>
    %103 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%85 : tensor<1x8x36xf32>) outs(%20 : tensor<1x8x1xf32>) attrs =  {stc.module = "ln_2"} {
    ^bb0(%in_48: f32, %out_35: f32):
      %104 = arith.addf %in_48, %out_35 : f32
      linalg.yield %104 : f32
    } -> tensor<1x8x1xf32>
    %105 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103 : tensor<1x8x1xf32>) outs(%17 : tensor<1x8x1xf32>) attrs =  {stc.module = "ln_2"} {
    ^bb0(%in_49: f32, %out_36: f32):
      %106 = arith.divf %in_49, %cst_8 : f32
      linalg.yield %106 : f32
    } -> tensor<1x8x1xf32>
    %107 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%101 : tensor<1x8x1xf32>) outs(%17 : tensor<1x8x1xf32>) attrs =  {stc.module = "ln_2"} {
    ^bb0(%in_50: f32, %out_37: f32):
      %108 = arith.truncf %cst_6 : f64 to f32
      %109 = arith.addf %in_50, %108 : f32
      linalg.yield %109 : f32
    } -> tensor<1x8x1xf32>
    %110 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107 : tensor<1x8x1xf32>) outs(%17 : tensor<1x8x1xf32>) attrs =  {stc.module = "ln_2"} {
    ^bb0(%in_51: f32, %out_38: f32):
      %111 = math.rsqrt %in_51 : f32
      linalg.yield %111 : f32
    } -> tensor<1x8x1xf32>
    %112 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%85, %105 : tensor<1x8x36xf32>, tensor<1x8x1xf32>) outs(%30 : tensor<1x8x36xf32>) attrs =  {stc.module = "ln_2"} {
    ^bb0(%in_52: f32, %in_53: f32, %out_39: f32):
      %113 = arith.subf %in_52, %in_53 : f32
      linalg.yield %113 : f32
    } -> tensor<1x8x36xf32>
    %114 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%112, %110 : tensor<1x8x36xf32>, tensor<1x8x1xf32>) outs(%30 : tensor<1x8x36xf32>) attrs =  {stc.module = "ln_2"} {
    ^bb0(%in_54: f32, %in_55: f32, %out_40: f32):
      %115 = arith.mulf %in_54, %in_55 : f32
      linalg.yield %115 : f32
    } -> tensor<1x8x36xf32>
    %116 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%114, %ln_2_weight : tensor<1x8x36xf32>, tensor<36xf32>) outs(%30 : tensor<1x8x36xf32>) attrs =  {stc.module = "ln_2"} {
    ^bb0(%in_56: f32, %in_57: f32, %out_41: f32):
      %117 = arith.mulf %in_56, %in_57 : f32
      linalg.yield %117 : f32
    } -> tensor<1x8x36xf32>
    %118 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%116, %ln_2_bias : tensor<1x8x36xf32>, tensor<36xf32>) outs(%30 : tensor<1x8x36xf32>) attrs =  {stc.module = "ln_2"} {
    ^bb0(%in_58: f32, %in_59: f32, %out_42: f32):
      %119 = arith.addf %in_58, %in_59 : f32
      linalg.yield %119 : f32
    } -> tensor<1x8x36xf32>
    %collapsed_6 = tensor.collapse_shape %118 [[0 : i64, 1 : i64], [2 : i64]] {stc.module = "mlp.c_fc"} : tensor<1x8x36xf32> into tensor<8x36xf32>
    %120 = tensor.empty() {stc.module = "mlp.c_fc"} : tensor<8x144xf32>
    %121 = linalg.fill {stc.module = "mlp.c_fc"} ins(%cst_1 : f32) outs(%120 : tensor<8x144xf32>) -> tensor<8x144xf32>
    %122 = linalg.matmul {stc.module = "mlp.c_fc"} ins(%collapsed_6, %mlp_c_fc_weight : tensor<8x36xf32>, tensor<36x144xf32>) outs(%121 : tensor<8x144xf32>) -> tensor<8x144xf32>
    %123 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%122, %mlp_c_fc_bias : tensor<8x144xf32>, tensor<144xf32>) outs(%120 : tensor<8x144xf32>) attrs =  {stc.module = "mlp.c_fc"} {
    ^bb0(%in_60: f32, %in_61: f32, %out_43: f32):
      %124 = arith.addf %in_60, %in_61 : f32
      linalg.yield %124 : f32
    } -> tensor<8x144xf32>
    %expanded_8 = tensor.expand_shape %123 [[0 : i64, 1 : i64], [2 : i64]] output_shape [1, 8, 144] {stc.module = "mlp.c_fc"} : tensor<8x144xf32> into tensor<1x8x144xf32>
    %125 = tensor.empty() {stc.module = "mlp.act"} : tensor<1x8x144xf32>
    %126 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_8 : tensor<1x8x144xf32>) outs(%125 : tensor<1x8x144xf32>) attrs =  {stc.module = "mlp.act"} {
    ^bb0(%in_62: f32, %out_44: f32):
      %127 = arith.mulf %in_62, %cst_9 : f32
      linalg.yield %127 : f32
    } -> tensor<1x8x144xf32>
    %128 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_8 : tensor<1x8x144xf32>) outs(%125 : tensor<1x8x144xf32>) attrs =  {stc.module = "mlp.act"} {
    ^bb0(%in_63: f32, %out_45: f32):
      %129 = math.fpowi %in_63, %c3_i64 : f32, i64
      linalg.yield %129 : f32
    } -> tensor<1x8x144xf32>
    %130 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%128 : tensor<1x8x144xf32>) outs(%125 : tensor<1x8x144xf32>) attrs =  {stc.module = "mlp.act"} {
    ^bb0(%in_64: f32, %out_46: f32):
      %131 = arith.truncf %cst_4 : f64 to f32
      %132 = arith.mulf %in_64, %131 : f32
      linalg.yield %132 : f32
    } -> tensor<1x8x144xf32>
    %133 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_8, %130 : tensor<1x8x144xf32>, tensor<1x8x144xf32>) outs(%125 : tensor<1x8x144xf32>) attrs =  {stc.module = "mlp.act"} {
    ^bb0(%in_65: f32, %in_66: f32, %out_47: f32):
      %134 = arith.addf %in_65, %in_66 : f32
      linalg.yield %134 : f32
    } -> tensor<1x8x144xf32>
    %135 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%133 : tensor<1x8x144xf32>) outs(%125 : tensor<1x8x144xf32>) attrs =  {stc.module = "mlp.act"} {
    ^bb0(%in_67: f32, %out_48: f32):
      %136 = arith.truncf %cst_3 : f64 to f32
      %137 = arith.mulf %in_67, %136 : f32
      linalg.yield %137 : f32
    } -> tensor<1x8x144xf32>
    %138 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%135 : tensor<1x8x144xf32>) outs(%125 : tensor<1x8x144xf32>) attrs =  {stc.module = "mlp.act"} {
    ^bb0(%in_68: f32, %out_49: f32):
      %139 = math.tanh %in_68 : f32
      linalg.yield %139 : f32
    } -> tensor<1x8x144xf32>
    %140 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%138 : tensor<1x8x144xf32>) outs(%125 : tensor<1x8x144xf32>) attrs =  {stc.module = "mlp.act"} {
    ^bb0(%in_69: f32, %out_50: f32):
      %141 = arith.addf %in_69, %cst_10 : f32
      linalg.yield %141 : f32
    } -> tensor<1x8x144xf32>
    %142 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%126, %140 : tensor<1x8x144xf32>, tensor<1x8x144xf32>) outs(%125 : tensor<1x8x144xf32>) attrs =  {stc.module = "mlp.act"} {
    ^bb0(%in_70: f32, %in_71: f32, %out_51: f32):
      %143 = arith.mulf %in_70, %in_71 : f32
      linalg.yield %143 : f32
    } -> tensor<1x8x144xf32>
    %collapsed_7 = tensor.collapse_shape %142 [[0 : i64, 1 : i64], [2 : i64]] {stc.module = "mlp.c_proj"} : tensor<1x8x144xf32> into tensor<8x144xf32>
    %144 = linalg.matmul {stc.module = "mlp.c_proj"} ins(%collapsed_7, %mlp_c_proj_weight : tensor<8x144xf32>, tensor<144x36xf32>) outs(%81 : tensor<8x36xf32>) -> tensor<8x36xf32>
    %145 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%144, %mlp_c_proj_bias : tensor<8x36xf32>, tensor<36xf32>) outs(%80 : tensor<8x36xf32>) attrs =  {stc.module = "mlp.c_proj"} {
    ^bb0(%in_72: f32, %in_73: f32, %out_52: f32):
      %146 = arith.addf %in_72, %in_73 : f32
      linalg.yield %146 : f32
    } -> tensor<8x36xf32>
    %expanded_9 = tensor.expand_shape %145 [[0 : i64, 1 : i64], [2 : i64]] output_shape [1, 8, 36] {stc.module = "mlp.c_proj"} : tensor<8x36xf32> into tensor<1x8x36xf32>
    %147 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%85, %expanded_9 : tensor<1x8x36xf32>, tensor<1x8x36xf32>) outs(%30 : tensor<1x8x36xf32>) {
    ^bb0(%in_74: f32, %in_75: f32, %out_53: f32):
      %148 = arith.addf %in_74, %in_75 : f32
      linalg.yield %148 : f32
    } -> tensor<1x8x36xf32>
    func.return %147 : tensor<1x8x36xf32>
  }
}
