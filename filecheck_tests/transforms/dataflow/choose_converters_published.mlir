// RUN: stc-opt %s -p 'choose-converters{strategy=published}' --split-input-file --verify-diagnostics
// RUN: not stc-opt %s -p 'choose-converters{strategy=published}' --split-input-file | filecheck %s

// The publication's own example: its Algorithm 1 as printed buffers all of the tensor, twice, where 8x2 suffices.
!B = !itensor.itensor<4x2xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
!C = !itensor.itensor<4x2xf32, iter_space: [4, 2, 2] * [2, 1, 4], iter_map: (d0, d1, d2) -> (d2, d0)>
// CHECK: itensor.converter %p {shared_loops = 0, buffer_shape = [8, 8], blocks = 2} :
func.func @whole(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = dataflow.kernel @k(%p = %x : tensor<8x8xf32> as !B) -> (tensor<8x8xf32> as !C) {
    %c = itensor.converter %p {shared_loops = 1, buffer_shape = [8, 2], blocks = 2} : !B to !C
    dataflow.yield %c : !C
  }
  func.return %r : tensor<8x8xf32>
}

// -----

// Trip counts and steps are not compared: what it shares are not the same loops.
!Short = !itensor.itensor<2x2xf32, iter_space: [4, 4] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>
!Long = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
// expected-error @unknown {{converter 'p to c': Algorithm 1 as printed shares loop 0, which is 4 times a step of 2 on one side and 2 times 4 on the other}}
func.func @steps(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = dataflow.kernel @k(%p = %x : tensor<8x8xf32> as !Short) -> (tensor<8x8xf32> as !Long) {
    %c = itensor.converter %p {shared_loops = 0, buffer_shape = [8, 8], blocks = 1} : !Short to !Long
    dataflow.yield %c : !Long
  }
  func.return %r : tensor<8x8xf32>
}
