// RUN: stc-opt %s -p 'tile-linalg{only=tile-outermost-loop}' --split-input-file | filecheck %s

// A parallel loop takes slices of what it moves and inserts tiles; the generic inside is whole along it.
// SHOW: scf.for .*\) ...|slice|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|addi|index_cast|linalg.index
func.func @parallel(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) attrs = {stc.schedule = #dataflow.schedule<tile = [2, 6], order = [0, 1], unroll = [1, 1], vector = []>} {
  ^bb0(%a: f32, %o: f32):  linalg.yield %a : f32
  } -> tensor<4x6xf32>
  func.return %y : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @parallel(
// CHECK: scf.for %first_row = %c0 to %c4 step %c2 iter_args(%[[VALUE:.*]] = %{{.*}}) -> (tensor<4x6xf32>)
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %x[%first_row, 0] [2, 6] [1, 1] : tensor<4x6xf32> to tensor<2x6xf32>
// CHECK: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%[[EXTRACT_SLICE]] :{{.*}}outs(%{{.*}}
// CHECK: tensor.insert_slice %[[GENERIC]] into %[[VALUE]][%first_row, 0] [2, 6] [1, 1] : tensor<2x6xf32> into tensor<4x6xf32>

// -----

// A loop that reduces carries the accumulator; `linalg.index` counts on from where the tile begins.
// SHOW: scf.for .*\) ...|slice|linalg.generic ... ins\(.*? : ... outs\(%\w+ ...|addi|index_cast|linalg.index
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

// CHECK-LABEL: func.func @reduction(
// CHECK: scf.for %first_column = %c0_{{.*}} to %c6 step %c3 iter_args(%[[VALUE:.*]] = %f) -> (tensor<4xi32>)
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %x[0, %first_column] [4, 3] [1, 1] : tensor<4x6xi32> to tensor<4x3xi32>
// CHECK-NEXT: linalg.generic{{.*}}ins(%[[EXTRACT_SLICE]] :{{.*}}outs(%[[VALUE]]
// CHECK: %i = linalg.index 1 : index
// CHECK-NEXT: %[[I:.*]] = arith.addi %i, %first_column : index
// CHECK-NEXT: arith.index_cast %[[I]] : index to i32
// CHECK: arith.addi %o, %p : i32
