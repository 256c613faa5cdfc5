// RUN: stc-opt %s -p carry-bf16 --split-input-file | filecheck %s

// Rounded to the nearest, ties to even, and widened again; what is only moved is moved as bits.
#maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]
func.func @there_and_back(%x: tensor<3xf32>, %cache: tensor<5xbf16>) -> (tensor<3xbf16>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<3xbf16>
  %b = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%e : tensor<3xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %t = arith.truncf %in : f32 to bf16  linalg.yield %t : bf16
  } -> tensor<3xbf16>
  %all = tensor.concat dim(0) %cache, %b : (tensor<5xbf16>, tensor<3xbf16>) -> tensor<8xbf16>
  %f = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%all : tensor<8xbf16>) outs(%f : tensor<8xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %w = arith.extf %in : bf16 to f32  linalg.yield %w : f32
  } -> tensor<8xf32>
  return %b, %y : tensor<3xbf16>, tensor<8xf32>
}

// CHECK: #map = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @there_and_back(
// CHECK-NEXT: %e = tensor.empty() : tensor<3xi16>
// CHECK-NEXT: %b = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%e : tensor<3xi16>) {
// CHECK-NEXT: ^bb0(%in: f32, %out: i16):
// CHECK-NEXT: %[[CONSTANT:.*]] = arith.constant 16 : i32
// CHECK-NEXT: %[[CONSTANT1:.*]] = arith.constant 1 : i32
// CHECK-NEXT: %[[CONSTANT2:.*]] = arith.constant 65535 : i32
// CHECK-NEXT: %[[CONSTANT3:.*]] = arith.constant 32767 : i32
// CHECK-NEXT: %[[CONSTANT4:.*]] = arith.constant 32704 : i32
// CHECK-NEXT: %[[BITCAST:.*]] = arith.bitcast %in : f32 to i32
// CHECK-NEXT: %[[SHRUI:.*]] = arith.shrui %[[BITCAST]], %[[CONSTANT]] : i32
// CHECK-NEXT: %[[ANDI:.*]] = arith.andi %[[BITCAST]], %[[CONSTANT2]] : i32
// CHECK-NEXT: %[[ANDI1:.*]] = arith.andi %[[SHRUI]], %[[CONSTANT1]] : i32
// CHECK-NEXT: %[[ADDI:.*]] = arith.addi %[[ANDI]], %[[CONSTANT3]] : i32
// CHECK-NEXT: %[[ADDI1:.*]] = arith.addi %[[ADDI]], %[[ANDI1]] : i32
// CHECK-NEXT: %[[SHRUI1:.*]] = arith.shrui %[[ADDI1]], %[[CONSTANT]] : i32
// CHECK-NEXT: %[[ADDI2:.*]] = arith.addi %[[SHRUI]], %[[SHRUI1]] : i32
// CHECK-NEXT: %[[CMPF:.*]] = arith.cmpf une, %in, %in : f32
// CHECK-NEXT: %[[SELECT:.*]] = arith.select %[[CMPF]], %[[CONSTANT4]], %[[ADDI2]] : i32
// CHECK-NEXT: %t = arith.trunci %[[SELECT]] : i32 to i16
// CHECK-NEXT: linalg.yield %t : i16
// CHECK: %all = tensor.concat dim(0) %cache, %b : (tensor<5xi16>, tensor<3xi16>) -> tensor<8xi16>
// CHECK-NEXT: %f = tensor.empty() : tensor<8xf32>
// CHECK-NEXT: %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%all : tensor<8xi16>) outs(%f : tensor<8xf32>) {
// CHECK-NEXT: ^bb0(%[[IN:.*]]: i16, %out_{{.*}}: f32):
// CHECK-NEXT: %[[EXTUI:.*]] = arith.extui %[[IN]] : i16 to i32
// CHECK-NEXT: %[[CONSTANT5:.*]] = arith.constant 16 : i32
// CHECK-NEXT: %[[SHLI:.*]] = arith.shli %[[EXTUI]], %[[CONSTANT5]] : i32
// CHECK-NEXT: %w = arith.bitcast %[[SHLI]] : i32 to f32
// CHECK-NEXT: linalg.yield %w : f32
// CHECK: func.return %b, %y : tensor<3xi16>, tensor<8xf32>

// -----

// Constants are rounded here, a NaN to the one that there is.
func.func @constants(%c: i1) -> (tensor<4xbf16>, bf16) {
  %dense = arith.constant dense<[1.00390625, -0.0, 3.4e38, 1.01171875]> : tensor<4xbf16>
  %one = arith.constant 1.0 : bf16
  %nan = arith.constant 0x7fff : bf16
  %chosen = arith.select %c, %one, %nan : bf16
  return %dense, %chosen : tensor<4xbf16>, bf16
}

// CHECK-LABEL: func.func @constants(
// CHECK-NEXT: %dense = arith.constant dense<[16256, -32768, 32640, 16258]> : tensor<4xi16>
// CHECK-NEXT: %one = arith.constant 16256 : i16
// CHECK-NEXT: %nan = arith.constant 32704 : i16
// CHECK-NEXT: %chosen = arith.select %c, %one, %nan : i16
// CHECK-NEXT: func.return %dense, %chosen : tensor<4xi16>, i16
