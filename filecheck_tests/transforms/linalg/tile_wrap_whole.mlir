// RUN: stc-opt %s -p 'tile-linalg{only=wrap-whole}' | filecheck %s

// An accumulator that is made once stands in a loop that runs once, so that the nest is one op.
// SHOW: scf.for .*\) ...|slice|fill|linalg.generic ... ins\(.*? : ...
func.func @once(%x: tensor<6xf32>) -> tensor<f32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<6xf32>) outs(%f : tensor<f32>) attrs = {stc.name = "sum", stc.schedule = #dataflow.schedule<tile = [3], order = [0], unroll = [1], vector = []>} {
  ^bb0(%a: f32, %o: f32):  %s = arith.addf %o, %a : f32  linalg.yield %s : f32
  } -> tensor<f32>
  func.return %y : tensor<f32>
}

// CHECK-LABEL: func.func @once(
// CHECK: scf.for %once = %c0 to %c1 step %c1 iter_args(%[[VALUE:.*]] = %{{.*}}) -> (tensor<f32>)
// CHECK-NEXT: %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %x[0] [6] [1] : tensor<6xf32> to tensor<6xf32>
// CHECK: linalg.fill {stc.name = "sum"} ins(%c : f32) outs(%{{.*}} : tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[GENERIC:.*]] = linalg.generic{{.*}}ins(%[[EXTRACT_SLICE]] :
// CHECK: tensor.insert_slice %[[GENERIC]] into %[[VALUE]][] [] [] : tensor<f32> into tensor<f32>
