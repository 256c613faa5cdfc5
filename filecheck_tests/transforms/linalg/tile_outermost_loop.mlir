// RUN: stc-opt %s -p 'tile-linalg{only=tile-outermost-loop}' --split-input-file | filecheck %s

// A parallel loop takes slices of what it moves and inserts tiles; the generic inside is whole along it.
func.func @parallel(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) attrs = {stc.schedule = #dataflow.schedule<tile = [2, 6], order = [0, 1], unroll = [1, 1], vector = []>} {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x6xf32>
  func.return %y : tensor<4x6xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @parallel(
// CHECK-NEXT: %0 = tensor.empty() : tensor<4x6xf32>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c4 = arith.constant 4 : index
// CHECK-NEXT: %c2 = arith.constant 2 : index
// CHECK-NEXT: %y = scf.for %first_row = %c0 to %c4 step %c2 iter_args(%1 = %0) -> (tensor<4x6xf32>) {
// CHECK-NEXT: %2 = tensor.extract_slice %x[%first_row, 0] [2, 6] [1, 1] : tensor<4x6xf32> to tensor<2x6xf32>
// CHECK-NEXT: %3 = tensor.empty() : tensor<2x6xf32>
// CHECK-NEXT: %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<2x6xf32>) outs(%3 : tensor<2x6xf32>) attrs ={{ +}}{stc.schedule = #dataflow.schedule<tile = [2, 6], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "linalg.generic"} {
// CHECK-NEXT: ^bb0(%a: f32, %o: f32):
// CHECK-NEXT: linalg.yield %a : f32
// CHECK-NEXT: } -> tensor<2x6xf32>
// CHECK-NEXT: %5 = tensor.insert_slice %4 into %1[%first_row, 0] [2, 6] [1, 1] : tensor<2x6xf32> into tensor<4x6xf32>
// CHECK-NEXT: scf.yield %5 : tensor<4x6xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %y : tensor<4x6xf32>

// -----

// A loop that reduces carries the accumulator; `linalg.index` counts on from where the tile begins.
func.func @reduction(%x: tensor<4x6xi32>) -> tensor<4xi32> {
  %c0 = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4xi32>
  %f = linalg.fill ins(%c0 : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x6xi32>) outs(%f : tensor<4xi32>) attrs = {stc.schedule = #dataflow.schedule<tile = [4, 3], order = [0, 1], unroll = [1, 1], vector = []>} {
  ^bb0(%a: i32, %o: i32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %p = arith.muli %a, %j : i32
    %s = arith.addi %o, %p : i32
    linalg.yield %s : i32
  } -> tensor<4xi32>
  func.return %y : tensor<4xi32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @reduction(
// CHECK-NEXT: %c0 = arith.constant 0 : i32
// CHECK-NEXT: %e = tensor.empty() : tensor<4xi32>
// CHECK-NEXT: %f = linalg.fill ins(%c0 : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT: %c0_1 = arith.constant 0 : index
// CHECK-NEXT: %c6 = arith.constant 6 : index
// CHECK-NEXT: %c3 = arith.constant 3 : index
// CHECK-NEXT: %y = scf.for %first_column = %c0_1 to %c6 step %c3 iter_args(%0 = %f) -> (tensor<4xi32>) {
// CHECK-NEXT: %1 = tensor.extract_slice %x[0, %first_column] [4, 3] [1, 1] : tensor<4x6xi32> to tensor<4x3xi32>
// CHECK-NEXT: %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<4x3xi32>) outs(%0 : tensor<4xi32>) attrs ={{ +}}{stc.schedule = #dataflow.schedule<tile = [4, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "linalg.generic"} {
// CHECK-NEXT: ^bb0(%a: i32, %o: i32):
// CHECK-NEXT: %i = linalg.index 1 : index
// CHECK-NEXT: %i_1 = arith.addi %i, %first_column : index
// CHECK-NEXT: %j = arith.index_cast %i_1 : index to i32
// CHECK-NEXT: %p = arith.muli %a, %j : i32
// CHECK-NEXT: %s = arith.addi %o, %p : i32
// CHECK-NEXT: linalg.yield %s : i32
// CHECK-NEXT: } -> tensor<4xi32>
// CHECK-NEXT: scf.yield %2 : tensor<4xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %y : tensor<4xi32>
