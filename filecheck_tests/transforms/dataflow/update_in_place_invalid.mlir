// RUN: stc-opt %s -p update-in-place --split-input-file --verify-diagnostics

!C = !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
!N = !itensor.itensor<1x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// expected-error @unknown {{pass 'update-in-place': @twice: 'u' writes a part of a tensor: what is inserted is no result of a kernel, or is used elsewhere too; accepted: a result of a kernel, inserted once into an input that the same kernel takes, at scalars of the function}}
func.func @twice(%cache: tensor<8x4xf32>, %p: i32) -> (tensor<1x4xf32>, tensor<8x4xf32>) {
  %r = dataflow.kernel @k(%a = %cache : tensor<8x4xf32> as !C) -> (tensor<1x4xf32> as !N) {
    %n = itensor.empty : !N
    dataflow.yield %n : !N
  }
  %at = arith.index_cast %p : i32 to index
  %u = tensor.insert_slice %r into %cache[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  func.return %r, %u : tensor<1x4xf32>, tensor<8x4xf32>
}

// -----

!N = !itensor.itensor<1x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// expected-error @unknown {{pass 'update-in-place': @other: 'u' writes a part of a tensor: kernel @k takes what is inserted into 0 times; accepted: a result of a kernel, inserted once into an input that the same kernel takes, at scalars of the function}}
func.func @other(%cache: tensor<8x4xf32>, %x: tensor<1x4xf32>, %p: i32) -> tensor<8x4xf32> {
  %r = dataflow.kernel @k(%a = %x : tensor<1x4xf32> as !N) -> (tensor<1x4xf32> as !N) {
    dataflow.yield %a : !N
  }
  %at = arith.index_cast %p : i32 to index
  %u = tensor.insert_slice %r into %cache[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  func.return %u : tensor<8x4xf32>
}
