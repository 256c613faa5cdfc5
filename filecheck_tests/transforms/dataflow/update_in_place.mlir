// RUN: stc-opt %s --split-input-file -p update-in-place | filecheck %s

// All rows are read: the writing waits for that. The row gets the dimension that it is one entry of.
// SHOW: kernel|insert_slice|reassociate|expand_shape|return
!C = !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
!N = !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
func.func @scalar(%cache: tensor<8x4xf32>, %p: i32 {stc.name = "pos"}) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %y, %r = dataflow.kernel @k(%a = %cache : tensor<8x4xf32> as !C) -> (tensor<8x4xf32> as !C, tensor<4xf32> as !N) {
    %n = itensor.empty : !N
    dataflow.yield %a, %n : !C, !N
  }
  %row = tensor.expand_shape %r [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %at = arith.index_cast %p : i32 to index
  %u = tensor.insert_slice %row into %cache[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  func.return %y, %u : tensor<8x4xf32>, tensor<8x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK: !itensor2 = !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
// CHECK-LABEL: func.func @scalar(
// CHECK-NEXT: %y, %u = dataflow.kernel @k(%a = %cache : tensor<8x4xf32> as !itensor, %pos = %p : i32 as !itensor.symbol<pos<=7>) -> (tensor<8x4xf32> as !itensor, tensor<8x4xf32> as !itensor1 into %a at [%pos, 0] after read) {
// CHECK: itensor.reassociate %n : !itensor2 to !itensor1
// CHECK: func.return %y, %u : tensor<8x4xf32>, tensor<8x4xf32>

// -----

// Nothing of it is read: there is nothing to wait for. The result is given back in the shape of the input.
// SHOW: kernel|insert_slice|reassociate|expand_shape|return
!C = !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
!N = !itensor.itensor<2x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
func.func @unread(%cache: tensor<1x8x4xf32>, %p: i32 {stc.name = "pos"}) -> tensor<1x8x4xf32> {
  %flat = tensor.collapse_shape %cache [[0, 1], [2]] : tensor<1x8x4xf32> into tensor<8x4xf32>
  %r = dataflow.kernel @k(%a = %flat : tensor<8x4xf32> as !C) -> (tensor<2x4xf32> as !N) {
    %n = itensor.empty : !N
    dataflow.yield %n : !N
  }
  %rows = tensor.expand_shape %r [[0, 1], [2]] output_shape [1, 2, 4] : tensor<2x4xf32> into tensor<1x2x4xf32>
  %at = arith.index_cast %p : i32 to index
  %u = tensor.insert_slice %rows into %cache[0, %at, 0] [1, 2, 4] [1, 1, 1] : tensor<1x2x4xf32> into tensor<1x8x4xf32>
  func.return %u : tensor<1x8x4xf32>
}

// CHECK: !itensor = !itensor.itensor<2x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK-LABEL: func.func @unread(
// CHECK: %r = dataflow.kernel @k(%a = %flat : tensor<8x4xf32> as !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>, %pos = %p : i32 as !itensor.symbol<pos<=6>) -> (tensor<8x4xf32> as !itensor into %a at [%pos, 0]) {
// CHECK: %u = tensor.expand_shape %r {{\[\[}}0 : i64, 1 : i64], [2 : i64]] output_shape [1, 8, 4] : tensor<8x4xf32> into tensor<1x8x4xf32>
// CHECK-NEXT: func.return %u : tensor<1x8x4xf32>

// -----

// The first rows are read, as many as there are: the kernel takes all of the input, in the same shape.
// SHOW: kernel|insert_slice|extract_slice|collapse_shape|return
!C = !itensor.itensor<1x4xf32, iter_space: [pos<=7] * [1], iter_map: (d0) -> (d0, 0)>
!N = !itensor.itensor<1x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
func.func @prefix(%cache: tensor<1x8x4xf32>, %p: i32 {stc.name = "pos"}) -> (tensor<7x4xf32>, tensor<1x8x4xf32>) {
  %part = tensor.extract_slice %cache[0, 0, 0] [1, 7, 4] [1, 1, 1] : tensor<1x8x4xf32> to tensor<1x7x4xf32>
  %flat = tensor.collapse_shape %part [[0, 1], [2]] : tensor<1x7x4xf32> into tensor<7x4xf32>
  %y, %r = dataflow.kernel @k(%a = %flat : tensor<7x4xf32> as !C, %pos = %p : i32 as !itensor.symbol<pos<=7>)
      -> (tensor<7x4xf32> as !C, tensor<1x4xf32> as !N) {
    %n = itensor.empty : !N
    dataflow.yield %a, %n : !C, !N
  }
  %row = tensor.expand_shape %r [[0, 1], [2]] output_shape [1, 1, 4] : tensor<1x4xf32> into tensor<1x1x4xf32>
  %at = arith.index_cast %p : i32 to index
  %u = tensor.insert_slice %row into %cache[0, %at, 0] [1, 1, 4] [1, 1, 1] : tensor<1x1x4xf32> into tensor<1x8x4xf32>
  func.return %y, %u : tensor<7x4xf32>, tensor<1x8x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [pos<=7] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK-LABEL: func.func @prefix(
// CHECK-NEXT: %flat = tensor.collapse_shape %cache {{\[\[}}0 : i64, 1 : i64], [2 : i64]] : tensor<1x8x4xf32> into tensor<8x4xf32>
// CHECK-NEXT: %y, %r = dataflow.kernel @k(%a = %flat : tensor<8x4xf32> as !itensor, %pos = %p : i32 as !itensor.symbol<pos<=7>) -> (tensor<7x4xf32> as !itensor, tensor<8x4xf32> as !itensor1 into %a at [%pos, 0]) {
// CHECK: func.return %y, %u : tensor<7x4xf32>, tensor<1x8x4xf32>

// -----

// Read two entries at a time, computed six at a time: the row is cut, since memory lies as it is read.
// SHOW: kernel|converter
!C = !itensor.itensor<1x2xf32, iter_space: [7, 3] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
!N = !itensor.itensor<1x6xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
func.func @wide(%cache: tensor<7x6xf32>, %p: i32 {stc.name = "pos"}) -> (tensor<7x6xf32>, tensor<7x6xf32>) {
  %y, %r = dataflow.kernel @k(%a = %cache : tensor<7x6xf32> as !C) -> (tensor<7x6xf32> as !C, tensor<1x6xf32> as !N) {
    %n = itensor.empty : !N
    dataflow.yield %a, %n : !C, !N
  }
  %at = arith.index_cast %p : i32 to index
  %u = tensor.insert_slice %r into %cache[%at, 0] [1, 6] [1, 1] : tensor<1x6xf32> into tensor<7x6xf32>
  func.return %y, %u : tensor<7x6xf32>, tensor<7x6xf32>
}

// CHECK: !itensor = !itensor.itensor<1x2xf32, iter_space: [7, 3] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x2xf32, iter_space: [3] * [2], iter_map: (d0) -> (0, d0)>
// CHECK: !itensor2 = !itensor.itensor<1x6xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK-LABEL: func.func @wide(
// CHECK-NEXT: dataflow.kernel @k(%a = %cache : tensor<7x6xf32> as !itensor, %pos = %p : i32 as !itensor.symbol<pos<=6>) -> (tensor<7x6xf32> as !itensor, tensor<7x6xf32> as !itensor1 into %a at [%pos, 0] after read) {
// CHECK: itensor.converter %n {shared_loops = 0, buffer_shape = [1, 6], blocks = 1} : !itensor2 to !itensor1
