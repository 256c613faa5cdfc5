// RUN: stc-opt %s -p 'pack-products{terms=7}' --split-input-file | filecheck %s

// Rows n and n + 3 of i4 weights in one byte; their products with one activation summed 22 bits apart.
#maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
func.func @i4(%x: tensor<4x32xi8>, %w: tensor<6x32xi4> {stc.parameter}) -> tensor<4x6xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x6xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4x6xi32>) -> tensor<4x6xi32>
  %y = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x32xi8>, tensor<6x32xi4>) outs(%f : tensor<4x6xi32>) attrs = {stc.name = "fc"} {
  ^bb0(%a: i8, %b: i4, %s: i32):
    %c = arith.extsi %a : i8 to i32  %d = arith.extsi %b : i4 to i32
    %p = arith.muli %c, %d : i32  %t = arith.addi %s, %p : i32  linalg.yield %t : i32
  } -> tensor<4x6xi32>
  return %y : tensor<4x6xi32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @i4(
// CHECK-NEXT: %[[EXPAND_SHAPE:.*]] = tensor.expand_shape %w {{\[\[}}0 : i64, 1 : i64], [2 : i64]] output_shape [2, 3, 32] : tensor<6x32xi4> into tensor<2x3x32xi4>
// CHECK-NEXT: %[[CONSTANT:.*]] = arith.constant 0 : i8
// CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty() : tensor<3x32xi8>
// CHECK-NEXT: %[[FILL:.*]] = linalg.fill ins(%[[CONSTANT]] : i8) outs(%[[EMPTY]] : tensor<3x32xi8>) -> tensor<3x32xi8>
// CHECK-NEXT: %fc_pairs = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction", "parallel", "parallel"]} ins(%[[EXPAND_SHAPE]] : tensor<2x3x32xi4>) outs(%[[FILL]] : tensor<3x32xi8>) attrs ={{ +}}{stc.name = "fc_pairs"} {
// CHECK-NEXT: ^bb0(%[[VALUE:.*]]: i4, %[[VALUE1:.*]]: i8):
// CHECK-NEXT: %[[EXTSI:.*]] = arith.extsi %[[VALUE]] : i4 to i8
// CHECK-NEXT: %[[CONSTANT1:.*]] = arith.constant 15 : i8
// CHECK-NEXT: %[[ANDI:.*]] = arith.andi %[[EXTSI]], %[[CONSTANT1]] : i8
// CHECK-NEXT: %[[CONSTANT2:.*]] = arith.constant 4 : i8
// CHECK-NEXT: %[[SHLI:.*]] = arith.shli %[[EXTSI]], %[[CONSTANT2]] : i8
// CHECK-NEXT: %[[INDEX:.*]] = linalg.index 0 : index
// CHECK-NEXT: %[[CONSTANT3:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[CMPI:.*]] = arith.cmpi eq, %[[INDEX]], %[[CONSTANT3]] : index
// CHECK-NEXT: %[[SELECT:.*]] = arith.select %[[CMPI]], %[[ANDI]], %[[SHLI]] : i8
// CHECK-NEXT: %[[ORI:.*]] = arith.ori %[[VALUE1]], %[[SELECT]] : i8
// CHECK-NEXT: linalg.yield %[[ORI]] : i8
// CHECK: %[[CONSTANT4:.*]] = arith.constant 0 : i40
// CHECK-NEXT: %[[EMPTY1:.*]] = tensor.empty() : tensor<4x3xi40>
// CHECK-NEXT: %[[FILL1:.*]] = linalg.fill ins(%[[CONSTANT4]] : i40) outs(%[[EMPTY1]] : tensor<4x3xi40>) -> tensor<4x3xi40>
// CHECK-NEXT: %[[FC_PAIRS:.*]] = linalg.generic {indexing_maps = [#map2, #map1, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %fc_pairs : tensor<4x32xi8>, tensor<3x32xi8>) outs(%[[FILL1]] : tensor<4x3xi40>) attrs ={{ +}}{stc.name = "fc_pairs"} {
// CHECK-NEXT: ^bb0(%[[VALUE2:.*]]: i8, %[[VALUE3:.*]]: i8, %[[VALUE4:.*]]: i40):
// CHECK-NEXT: %[[CONSTANT5:.*]] = arith.constant 4 : i8
// CHECK-NEXT: %[[SHLI1:.*]] = arith.shli %[[VALUE3]], %[[CONSTANT5]] : i8
// CHECK-NEXT: %[[SHRSI:.*]] = arith.shrsi %[[SHLI1]], %[[CONSTANT5]] : i8
// CHECK-NEXT: %[[EXTSI1:.*]] = arith.extsi %[[SHRSI]] : i8 to i32
// CHECK-NEXT: %[[SHRSI1:.*]] = arith.shrsi %[[VALUE3]], %[[CONSTANT5]] : i8
// CHECK-NEXT: %[[EXTSI2:.*]] = arith.extsi %[[SHRSI1]] : i8 to i32
// CHECK-NEXT: %[[CONSTANT6:.*]] = arith.constant 17 : i32
// CHECK-NEXT: %[[SHLI2:.*]] = arith.shli %[[EXTSI2]], %[[CONSTANT6]] : i32
// CHECK-NEXT: %[[ADDI:.*]] = arith.addi %[[SHLI2]], %[[EXTSI1]] : i32
// CHECK-NEXT: %[[TRUNCI:.*]] = arith.trunci %[[ADDI]] : i32 to i27
// CHECK-NEXT: %[[EXTSI3:.*]] = arith.extsi %[[TRUNCI]] : i27 to i40
// CHECK-NEXT: %[[EXTSI4:.*]] = arith.extsi %[[VALUE2]] : i8 to i40
// CHECK-NEXT: %[[MULI:.*]] = arith.muli %[[EXTSI3]], %[[EXTSI4]] : i40
// CHECK-NEXT: %[[ADDI1:.*]] = arith.addi %[[VALUE4]], %[[MULI]] : i40
// CHECK-NEXT: linalg.yield %[[ADDI1]] : i40
// CHECK: %[[EMPTY2:.*]] = tensor.empty() : tensor<4x2x3xi32>
// CHECK-NEXT: %y = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[FC_PAIRS]] : tensor<4x3xi40>) outs(%[[EMPTY2]] : tensor<4x2x3xi32>) attrs ={{ +}}{stc.name = "fc"} {
// CHECK-NEXT: ^bb0(%[[VALUE5:.*]]: i40, %{{.*}}: i32):
// CHECK-NEXT: %[[TRUNCI1:.*]] = arith.trunci %[[VALUE5]] : i40 to i17
// CHECK-NEXT: %[[EXTSI5:.*]] = arith.extsi %[[TRUNCI1]] : i17 to i32
// CHECK-NEXT: %[[CONSTANT7:.*]] = arith.constant 16 : i40
// CHECK-NEXT: %[[SHRUI:.*]] = arith.shrui %[[VALUE5]], %[[CONSTANT7]] : i40
// CHECK-NEXT: %[[CONSTANT8:.*]] = arith.constant 1 : i40
// CHECK-NEXT: %[[ANDI1:.*]] = arith.andi %[[SHRUI]], %[[CONSTANT8]] : i40
// CHECK-NEXT: %[[CONSTANT9:.*]] = arith.constant 17 : i40
// CHECK-NEXT: %[[SHRSI2:.*]] = arith.shrsi %[[VALUE5]], %[[CONSTANT9]] : i40
// CHECK-NEXT: %[[ADDI2:.*]] = arith.addi %[[SHRSI2]], %[[ANDI1]] : i40
// CHECK-NEXT: %[[TRUNCI2:.*]] = arith.trunci %[[ADDI2]] : i40 to i32
// CHECK-NEXT: %[[INDEX1:.*]] = linalg.index 1 : index
// CHECK-NEXT: %[[CONSTANT10:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[CMPI1:.*]] = arith.cmpi eq, %[[INDEX1]], %[[CONSTANT10]] : index
// CHECK-NEXT: %[[SELECT1:.*]] = arith.select %[[CMPI1]], %[[EXTSI5]], %[[TRUNCI2]] : i32
// CHECK-NEXT: linalg.yield %[[SELECT1]] : i32
// CHECK: %[[Y:.*]] = tensor.collapse_shape %y {{\[\[}}0 : i64], [1 : i64, 2 : i64]] : tensor<4x2x3xi32> into tensor<4x6xi32>
// CHECK-NEXT: func.return %[[Y]] : tensor<4x6xi32>

// -----

// Sums of 7 products of bytes have room: 28 terms are 4 blocks, which the second computation adds up.
#maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
func.func @i8(%x: tensor<4x28xi8>, %w: tensor<6x28xi8> {stc.parameter}) -> tensor<4x6xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x6xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4x6xi32>) -> tensor<4x6xi32>
  %y = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x28xi8>, tensor<6x28xi8>) outs(%f : tensor<4x6xi32>) attrs = {stc.name = "fc"} {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %c = arith.extsi %a : i8 to i32  %d = arith.extsi %b : i8 to i32
    %p = arith.muli %c, %d : i32  %t = arith.addi %s, %p : i32  linalg.yield %t : i32
  } -> tensor<4x6xi32>
  return %y : tensor<4x6xi32>
}

// CHECK: #map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK: #map1 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
// CHECK: #map2 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK: #map3 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1)>
// CHECK: #map4 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK: #map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @i8(
// CHECK-NEXT: %zero = arith.constant 0 : i32
// CHECK-NEXT: %[[EXPAND_SHAPE:.*]] = tensor.expand_shape %x {{\[\[}}0 : i64], [1 : i64, 2 : i64]] output_shape [4, 4, 7] : tensor<4x28xi8> into tensor<4x4x7xi8>
// CHECK-NEXT: %[[EXPAND_SHAPE1:.*]] = tensor.expand_shape %w {{\[\[}}0 : i64, 1 : i64], [2 : i64, 3 : i64]] output_shape [2, 3, 4, 7] : tensor<6x28xi8> into tensor<2x3x4x7xi8>
// CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty() : tensor<4x2x3xi32>
// CHECK-NEXT: %[[FILL:.*]] = linalg.fill ins(%zero : i32) outs(%[[EMPTY]] : tensor<4x2x3xi32>) -> tensor<4x2x3xi32>
// CHECK-NEXT: %[[CONSTANT:.*]] = arith.constant 0 : i16
// CHECK-NEXT: %[[EMPTY1:.*]] = tensor.empty() : tensor<3x4x7xi16>
// CHECK-NEXT: %[[FILL1:.*]] = linalg.fill ins(%[[CONSTANT]] : i16) outs(%[[EMPTY1]] : tensor<3x4x7xi16>) -> tensor<3x4x7xi16>
// CHECK-NEXT: %fc_pairs = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction", "parallel", "parallel", "parallel"]} ins(%[[EXPAND_SHAPE1]] : tensor<2x3x4x7xi8>) outs(%[[FILL1]] : tensor<3x4x7xi16>) attrs ={{ +}}{stc.name = "fc_pairs"} {
// CHECK-NEXT: ^bb0(%[[VALUE:.*]]: i8, %[[VALUE1:.*]]: i16):
// CHECK-NEXT: %[[EXTSI:.*]] = arith.extsi %[[VALUE]] : i8 to i16
// CHECK-NEXT: %[[CONSTANT1:.*]] = arith.constant 255 : i16
// CHECK-NEXT: %[[ANDI:.*]] = arith.andi %[[EXTSI]], %[[CONSTANT1]] : i16
// CHECK-NEXT: %[[CONSTANT2:.*]] = arith.constant 8 : i16
// CHECK-NEXT: %[[SHLI:.*]] = arith.shli %[[EXTSI]], %[[CONSTANT2]] : i16
// CHECK-NEXT: %[[INDEX:.*]] = linalg.index 0 : index
// CHECK-NEXT: %[[CONSTANT3:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[CMPI:.*]] = arith.cmpi eq, %[[INDEX]], %[[CONSTANT3]] : index
// CHECK-NEXT: %[[SELECT:.*]] = arith.select %[[CMPI]], %[[ANDI]], %[[SHLI]] : i16
// CHECK-NEXT: %[[ORI:.*]] = arith.ori %[[VALUE1]], %[[SELECT]] : i16
// CHECK-NEXT: linalg.yield %[[ORI]] : i16
// CHECK: %[[CONSTANT4:.*]] = arith.constant 0 : i40
// CHECK-NEXT: %[[EMPTY2:.*]] = tensor.empty() : tensor<4x4x3xi40>
// CHECK-NEXT: %[[FILL2:.*]] = linalg.fill ins(%[[CONSTANT4]] : i40) outs(%[[EMPTY2]] : tensor<4x4x3xi40>) -> tensor<4x4x3xi40>
// CHECK-NEXT: %[[FC_PAIRS:.*]] = linalg.generic {indexing_maps = [#map2, #map1, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[EXPAND_SHAPE]], %fc_pairs : tensor<4x4x7xi8>, tensor<3x4x7xi16>) outs(%[[FILL2]] : tensor<4x4x3xi40>) attrs ={{ +}}{stc.name = "fc_pairs"} {
// CHECK-NEXT: ^bb0(%[[VALUE2:.*]]: i8, %[[VALUE3:.*]]: i16, %[[VALUE4:.*]]: i40):
// CHECK-NEXT: %[[CONSTANT5:.*]] = arith.constant 8 : i16
// CHECK-NEXT: %[[SHLI1:.*]] = arith.shli %[[VALUE3]], %[[CONSTANT5]] : i16
// CHECK-NEXT: %[[SHRSI:.*]] = arith.shrsi %[[SHLI1]], %[[CONSTANT5]] : i16
// CHECK-NEXT: %[[EXTSI1:.*]] = arith.extsi %[[SHRSI]] : i16 to i32
// CHECK-NEXT: %[[SHRSI1:.*]] = arith.shrsi %[[VALUE3]], %[[CONSTANT5]] : i16
// CHECK-NEXT: %[[EXTSI2:.*]] = arith.extsi %[[SHRSI1]] : i16 to i32
// CHECK-NEXT: %[[CONSTANT6:.*]] = arith.constant 18 : i32
// CHECK-NEXT: %[[SHLI2:.*]] = arith.shli %[[EXTSI2]], %[[CONSTANT6]] : i32
// CHECK-NEXT: %[[ADDI:.*]] = arith.addi %[[SHLI2]], %[[EXTSI1]] : i32
// CHECK-NEXT: %[[TRUNCI:.*]] = arith.trunci %[[ADDI]] : i32 to i27
// CHECK-NEXT: %[[EXTSI3:.*]] = arith.extsi %[[TRUNCI]] : i27 to i40
// CHECK-NEXT: %[[EXTSI4:.*]] = arith.extsi %[[VALUE2]] : i8 to i40
// CHECK-NEXT: %[[MULI:.*]] = arith.muli %[[EXTSI3]], %[[EXTSI4]] : i40
// CHECK-NEXT: %[[ADDI1:.*]] = arith.addi %[[VALUE4]], %[[MULI]] : i40
// CHECK-NEXT: linalg.yield %[[ADDI1]] : i40
// CHECK: %y = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[FC_PAIRS]] : tensor<4x4x3xi40>) outs(%[[FILL]] : tensor<4x2x3xi32>) attrs ={{ +}}{stc.name = "fc"} {
// CHECK-NEXT: ^bb0(%[[VALUE5:.*]]: i40, %[[VALUE6:.*]]: i32):
// CHECK-NEXT: %[[TRUNCI1:.*]] = arith.trunci %[[VALUE5]] : i40 to i18
// CHECK-NEXT: %[[EXTSI5:.*]] = arith.extsi %[[TRUNCI1]] : i18 to i32
// CHECK-NEXT: %[[CONSTANT7:.*]] = arith.constant 17 : i40
// CHECK-NEXT: %[[SHRUI:.*]] = arith.shrui %[[VALUE5]], %[[CONSTANT7]] : i40
// CHECK-NEXT: %[[CONSTANT8:.*]] = arith.constant 1 : i40
// CHECK-NEXT: %[[ANDI1:.*]] = arith.andi %[[SHRUI]], %[[CONSTANT8]] : i40
// CHECK-NEXT: %[[CONSTANT9:.*]] = arith.constant 18 : i40
// CHECK-NEXT: %[[SHRSI2:.*]] = arith.shrsi %[[VALUE5]], %[[CONSTANT9]] : i40
// CHECK-NEXT: %[[ADDI2:.*]] = arith.addi %[[SHRSI2]], %[[ANDI1]] : i40
// CHECK-NEXT: %[[TRUNCI2:.*]] = arith.trunci %[[ADDI2]] : i40 to i32
// CHECK-NEXT: %[[INDEX1:.*]] = linalg.index 1 : index
// CHECK-NEXT: %[[CONSTANT10:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[CMPI1:.*]] = arith.cmpi eq, %[[INDEX1]], %[[CONSTANT10]] : index
// CHECK-NEXT: %[[SELECT1:.*]] = arith.select %[[CMPI1]], %[[EXTSI5]], %[[TRUNCI2]] : i32
// CHECK-NEXT: %[[ADDI3:.*]] = arith.addi %[[VALUE6]], %[[SELECT1]] : i32
// CHECK-NEXT: linalg.yield %[[ADDI3]] : i32
// CHECK: %[[Y:.*]] = tensor.collapse_shape %y {{\[\[}}0 : i64], [1 : i64, 2 : i64]] : tensor<4x2x3xi32> into tensor<4x6xi32>
// CHECK-NEXT: func.return %[[Y]] : tensor<4x6xi32>
