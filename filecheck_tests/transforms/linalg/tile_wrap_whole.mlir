// RUN: stc-opt %s -p 'tile-linalg{only=wrap-whole}' | filecheck %s

// An accumulator that is made once stands in a loop that runs once, so that the nest is one op.
func.func @once(%x: tensor<6xf32>) -> tensor<f32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<6xf32>) outs(%f : tensor<f32>) attrs = {stc.name = "sum", stc.schedule = #dataflow.schedule<tile = [3], order = [0], unroll = [1], vector = []>} {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  func.return %y : tensor<f32>
}

// CHECK: #map = affine_map<(d0) -> (d0)>
// CHECK: #map1 = affine_map<(d0) -> ()>
// CHECK-LABEL: func.func @once(
// CHECK-NEXT: %c = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %0 = tensor.empty() : tensor<f32>
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %y = scf.for %once = %c0 to %c1 step %c1 iter_args(%1 = %0) -> (tensor<f32>) {
// CHECK-NEXT: %2 = tensor.extract_slice %x[0] [6] [1] : tensor<6xf32> to tensor<6xf32>
// CHECK-NEXT: %3 = tensor.empty() : tensor<f32>
// CHECK-NEXT: %4 = linalg.fill {stc.name = "sum"} ins(%c : f32) outs(%3 : tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction"]} ins(%2 : tensor<6xf32>) outs(%4 : tensor<f32>) attrs ={{ +}}{stc.name = "sum", stc.schedule = #dataflow.schedule<tile = [3], order = [0], unroll = [1], vector = []>, stc.tile = "sum"} {
// CHECK-NEXT: ^bb0(%a: f32, %o: f32):
// CHECK-NEXT: %s = arith.addf %o, %a : f32
// CHECK-NEXT: linalg.yield %s : f32
// CHECK-NEXT: } -> tensor<f32>
// CHECK-NEXT: %6 = tensor.insert_slice %5 into %1[] [] [] : tensor<f32> into tensor<f32>
// CHECK-NEXT: scf.yield %6 : tensor<f32>
// CHECK-NEXT: } {stc.name = "sum"}
// CHECK-NEXT: func.return %y : tensor<f32>
