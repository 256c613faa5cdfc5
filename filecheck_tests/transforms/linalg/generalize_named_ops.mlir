// RUN: stc-opt %s -p generalize-named-ops --split-input-file | filecheck %s

func.func @matmul(%x: tensor<3x7xf32>, %w: tensor<7x5xf32>, %o: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %y = linalg.matmul {stc.module = "fc"} ins(%x, %w : tensor<3x7xf32>, tensor<7x5xf32>) outs(%o : tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @matmul(
// CHECK-NEXT: %y = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<3x7xf32>, tensor<7x5xf32>) outs(%o : tensor<3x5xf32>) attrs ={{ +}}{stc.module = "fc"} {
// CHECK-NEXT: ^bb0(%[[VALUE:.*]]: f32, %[[VALUE1:.*]]: f32, %[[VALUE2:.*]]: f32):
// CHECK-NEXT: %[[MULF:.*]] = arith.mulf %[[VALUE]], %[[VALUE1]] : f32
// CHECK-NEXT: %[[ADDF:.*]] = arith.addf %[[MULF]], %[[VALUE2]] : f32
// CHECK-NEXT: linalg.yield %[[ADDF]] : f32
// CHECK: func.return %y : tensor<3x5xf32>

// -----

func.func @batch_matmul(%x: tensor<2x3x7xf32>, %w: tensor<2x7x1xf32>, %o: tensor<2x3x1xf32>) -> tensor<2x3x1xf32> {
  %y = linalg.batch_matmul ins(%x, %w : tensor<2x3x7xf32>, tensor<2x7x1xf32>) outs(%o : tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  func.return %y : tensor<2x3x1xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK: #map1 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK: #map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @batch_matmul(
// CHECK-NEXT: %y = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<2x3x7xf32>, tensor<2x7x1xf32>) outs(%o : tensor<2x3x1xf32>) {
// CHECK-NEXT: ^bb0(%[[VALUE:.*]]: f32, %[[VALUE1:.*]]: f32, %[[VALUE2:.*]]: f32):
// CHECK-NEXT: %[[MULF:.*]] = arith.mulf %[[VALUE]], %[[VALUE1]] : f32
// CHECK-NEXT: %[[ADDF:.*]] = arith.addf %[[VALUE2]], %[[MULF]] : f32
// CHECK-NEXT: linalg.yield %[[ADDF]] : f32
// CHECK: func.return %y : tensor<2x3x1xf32>

// -----

func.func @transpose(%x: tensor<2x3x7xf32>, %o: tensor<7x2x3xf32>) -> tensor<7x2x3xf32> {
  %y = linalg.transpose ins(%x : tensor<2x3x7xf32>) outs(%o : tensor<7x2x3xf32>) permutation = [2, 0, 1]
  func.return %y : tensor<7x2x3xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @transpose(
// CHECK-NEXT: %y = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<2x3x7xf32>) outs(%o : tensor<7x2x3xf32>) {
// CHECK-NEXT: ^bb0(%[[VALUE:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: linalg.yield %[[VALUE]] : f32
// CHECK: func.return %y : tensor<7x2x3xf32>

// -----

func.func @broadcast(%x: tensor<3xf32>, %o: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %y = linalg.broadcast ins(%x : tensor<3xf32>) outs(%o : tensor<3x5xf32>) dimensions = [1]
  func.return %y : tensor<3x5xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @broadcast(
// CHECK-NEXT: %y = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3xf32>) outs(%o : tensor<3x5xf32>) {
// CHECK-NEXT: ^bb0(%[[VALUE:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: linalg.yield %[[VALUE]] : f32
// CHECK: func.return %y : tensor<3x5xf32>

// -----

func.func @reduce(%x: tensor<3x5xf32>, %o: tensor<5xf32>) -> tensor<5xf32> {
  %y = linalg.reduce ins(%x : tensor<3x5xf32>) outs(%o : tensor<5xf32>) dimensions = [0]
    (%a: f32, %b: f32) { %m = arith.maximumf %a, %b : f32
      linalg.yield %m : f32 }
  func.return %y : tensor<5xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @reduce(
// CHECK-NEXT: %y = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<3x5xf32>) outs(%o : tensor<5xf32>) {
// CHECK-NEXT: ^bb0(%a: f32, %b: f32):
// CHECK-NEXT: %m = arith.maximumf %a, %b : f32
// CHECK-NEXT: linalg.yield %m : f32
// CHECK: func.return %y : tensor<5xf32>

// -----

func.func @splat(%s: f32) -> tensor<2x3xf32> {
  %y = tensor.splat %s : tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @splat(
// CHECK-NEXT: %y = tensor.empty() : tensor<2x3xf32>
// CHECK-NEXT: %[[Y:.*]] = linalg.fill ins(%s : f32) outs(%y : tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %[[Y]] : tensor<2x3xf32>
