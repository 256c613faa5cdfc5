// RUN: stc-opt %s -p 'linalg-to-dataflow,layout-to-dataflow,choose-groups{on-chip=100},merge-kernels,trim-boundaries,insert-converters,insert-forks,vectorize-streams' --split-input-file --verify-diagnostics

// expected-error @unknown {{linalg-to-dataflow': twice: result 0 is written by 2 insert_slices; accepted: exactly one}}
func.func @writes(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<8xf32>
  %y = scf.for %i = %c0 to %c8 step %c4 iter_args(%o = %e) -> (tensor<8xf32>) {
    %t = tensor.extract_slice %x[%i] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %a = tensor.insert_slice %t into %o[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
    %b = tensor.insert_slice %t into %o[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  } {stc.name = "twice"}
  func.return %y : tensor<8xf32>
}

// -----

// expected-error @unknown {{linalg-to-dataflow': scale: 'linalg.fill' uses a f32 from outside; accepted: slices of tensors, and constants}}
func.func @capture(%x: tensor<8xf32>, %s: f32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<8xf32>
  %y = scf.for %i = %c0 to %c8 step %c4 iter_args(%o = %e) -> (tensor<8xf32>) {
    %t = tensor.empty() : tensor<4xf32>
    %f = linalg.fill ins(%s : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    %a = tensor.insert_slice %f into %o[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
    scf.yield %a : tensor<8xf32>
  } {stc.name = "scale"}
  func.return %y : tensor<8xf32>
}

// -----

// expected-error @unknown {{linalg-to-dataflow': loop bound is not a constant; accepted: arith.constant bounds}}
func.func @bound(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<8xf32>
  %y = scf.for %i = %c0 to %n step %c4 iter_args(%o = %e) -> (tensor<8xf32>) {
    %t = tensor.extract_slice %x[%i] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %a = tensor.insert_slice %t into %o[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
    scf.yield %a : tensor<8xf32>
  } {stc.name = "dynamic"}
  func.return %y : tensor<8xf32>
}

// -----

// expected-error @unknown {{layout-to-dataflow': every_other: slice with strides [2]; accepted: stride 1}}
func.func @strides(%x: tensor<8xf32>) -> tensor<4xf32> {
  %y = tensor.extract_slice %x[0] [4] [2] {stc.name = "every_other"} : tensor<8xf32> to tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// expected-error @unknown {{layout-to-dataflow': window: slice at run-time offsets; accepted: constant offsets and sizes}}
func.func @offset(%x: tensor<8xf32>, %i: index) -> tensor<4xf32> {
  %y = tensor.extract_slice %x[%i] [4] [1] {stc.name = "window"} : tensor<8xf32> to tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// expected-error @unknown {{choose-groups': big: needs 128 bytes of on-chip memory, on-chip allows 100; accepted: --on-chip of at least 128 bytes, or smaller tiles}}
func.func @little_memory(%x: tensor<32xf32>) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<32xf32>
  %y = scf.for %once = %c0 to %c1 step %c1 iter_args(%o = %e) -> (tensor<32xf32>) {
    %t = tensor.extract_slice %x[0] [32] [1] : tensor<32xf32> to tensor<32xf32>
    %a = tensor.insert_slice %t into %o[0] [32] [1] : tensor<32xf32> into tensor<32xf32>
    scf.yield %a : tensor<32xf32>
  } {stc.name = "big"}
  func.return %y : tensor<32xf32>
}

// -----

// expected-error @unknown {{pass 'choose-groups': an operation computes what a part on the host takes, and needs what it gives; accepted: parts (--host) that a pass does not fuse around}}
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @around(%g: tensor<4xf32> {stc.host = "part"}) -> (tensor<4xf32> {stc.host = "part"}) {
  %a = dataflow.kernel @a(%p = %g : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) { dataflow.yield %p : !S }
  func.return %a : tensor<4xf32>
}
