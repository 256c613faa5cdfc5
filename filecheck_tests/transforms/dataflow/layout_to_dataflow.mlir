// RUN: stc-opt %s -p 'layout-to-dataflow{size=4}' --split-input-file | filecheck %s

// Slices of one tensor become one chunk; its tile divides every size and every offset.
// SHOW: @layout|itensor.chunk|itensor.concat|itensor.reassociate|_shape|extract_slice|tensor.concat|func.return
!itensor = !itensor.itensor<6x12xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
func.func @slices(%x: tensor<6x12xf32>) -> (tensor<6x4xf32>, tensor<6x8xf32>) {
  %n = dataflow.kernel @n(%x_1 = %x : tensor<6x12xf32> as !itensor) -> (tensor<6x12xf32> as !itensor) {
    dataflow.yield %x_1 : !itensor
  }
  %a = tensor.extract_slice %n[0, 0] [6, 4] [1, 1] : tensor<6x12xf32> to tensor<6x4xf32>
  %b = tensor.extract_slice %n[0, 4] [6, 8] [1, 1] : tensor<6x12xf32> to tensor<6x8xf32>
  func.return %a, %b : tensor<6x4xf32>, tensor<6x8xf32>
}

// CHECK: !itensor1 = !itensor.itensor<6x4xf32, iter_space: [3] * [4], iter_map: (d0) -> (0, d0)>
// CHECK: !itensor2 = !itensor.itensor<6x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK: !itensor3 = !itensor.itensor<6x4xf32, iter_space: [2] * [4], iter_map: (d0) -> (0, d0)>
// CHECK-LABEL: func.func @slices(
// CHECK: %layout, %[[LAYOUT:.*]] = dataflow.kernel @layout_split(%[[N:.*]] = %n : tensor<6x12xf32> as !itensor1) -> (tensor<6x4xf32> as !itensor2, tensor<6x8xf32> as !itensor3) {
// CHECK-NEXT: itensor.chunk %[[N]] at [0, 0], [0, 4] : !itensor1 to !itensor2, !itensor3
// CHECK: func.return %layout, %[[LAYOUT]] : tensor<6x4xf32>, tensor<6x8xf32>

// -----

// Slices may overlap, and leave out what nobody wants.
// SHOW: @layout|itensor.chunk|itensor.concat|itensor.reassociate|_shape|extract_slice|tensor.concat|func.return
!itensor = !itensor.itensor<12xf32, iter_space: [] * [], iter_map: () -> (0)>
func.func @overlap(%x: tensor<12xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %n = dataflow.kernel @n(%x_1 = %x : tensor<12xf32> as !itensor) -> (tensor<12xf32> as !itensor) {
    dataflow.yield %x_1 : !itensor
  }
  %a = tensor.extract_slice %n[2] [6] [1] : tensor<12xf32> to tensor<6xf32>
  %b = tensor.extract_slice %n[4] [6] [1] : tensor<12xf32> to tensor<6xf32>
  func.return %a, %b : tensor<6xf32>, tensor<6xf32>
}

// CHECK: !itensor1 = !itensor.itensor<2xf32, iter_space: [6] * [2], iter_map: (d0) -> (d0)>
// CHECK: !itensor2 = !itensor.itensor<2xf32, iter_space: [3] * [2], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @overlap(
// CHECK: %layout, %[[LAYOUT:.*]] = dataflow.kernel @layout_split(%[[N:.*]] = %n : tensor<12xf32> as !itensor1) -> (tensor<6xf32> as !itensor2, tensor<6xf32> as !itensor2) {
// CHECK-NEXT: itensor.chunk %[[N]] at [2], [4] : !itensor1 to !itensor2, !itensor2
// CHECK: func.return %layout, %[[LAYOUT]] : tensor<6xf32>, tensor<6xf32>

// -----

// A slice that drops a unit dimension is a slice and a reshape.
// SHOW: @layout|itensor.chunk|itensor.concat|itensor.reassociate|_shape|extract_slice|tensor.concat|func.return
!itensor = !itensor.itensor<3x8xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
func.func @unit_dimension(%x: tensor<3x8xf32>) -> tensor<8xf32> {
  %n = dataflow.kernel @n(%x_1 = %x : tensor<3x8xf32> as !itensor) -> (tensor<3x8xf32> as !itensor) {
    dataflow.yield %x_1 : !itensor
  }
  %s = tensor.extract_slice %n[1, 0] [1, 8] [1, 1] : tensor<3x8xf32> to tensor<8xf32>
  func.return %s : tensor<8xf32>
}

// CHECK: !itensor1 = !itensor.itensor<1x8xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor2 = !itensor.itensor<1x8xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK: !itensor3 = !itensor.itensor<8xf32, iter_space: [] * [], iter_map: () -> (0)>
// CHECK-LABEL: func.func @unit_dimension(
// CHECK: %layout = dataflow.kernel @layout_split(%[[N:.*]] = %n : tensor<3x8xf32> as !itensor1) -> (tensor<1x8xf32> as !itensor2) {
// CHECK-NEXT: %[[CHUNK:.*]] = itensor.chunk %[[N]] at [1, 0] : !itensor1 to !itensor2
// CHECK: %s = dataflow.kernel @layout_reshape(%[[LAYOUT:.*]] = %layout : tensor<1x8xf32> as !itensor2) -> (tensor<8xf32> as !itensor3) {
// CHECK-NEXT: %[[REASSOCIATE:.*]] = itensor.reassociate %[[LAYOUT]] : !itensor2 to !itensor3
// CHECK: func.return %s : tensor<8xf32>

// -----

// Concatenation along the inner axis: tiles divide both parts.
// SHOW: @layout|itensor.chunk|itensor.concat|itensor.reassociate|_shape|extract_slice|tensor.concat|func.return
!itensor = !itensor.itensor<6x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
func.func @concat_inner(%x: tensor<6x4xf32>, %u: tensor<6x6xf32>) -> tensor<6x10xf32> {
  %n = dataflow.kernel @n(%x_1 = %x : tensor<6x4xf32> as !itensor) -> (tensor<6x4xf32> as !itensor) {
    dataflow.yield %x_1 : !itensor
  }
  %c = tensor.concat dim(1) %n, %u : (tensor<6x4xf32>, tensor<6x6xf32>) -> tensor<6x10xf32>
  func.return %c : tensor<6x10xf32>
}

// CHECK: !itensor1 = !itensor.itensor<6x2xf32, iter_space: [2] * [2], iter_map: (d0) -> (0, d0)>
// CHECK: !itensor2 = !itensor.itensor<6x2xf32, iter_space: [3] * [2], iter_map: (d0) -> (0, d0)>
// CHECK: !itensor3 = !itensor.itensor<6x2xf32, iter_space: [5] * [2], iter_map: (d0) -> (0, d0)>
// CHECK-LABEL: func.func @concat_inner(
// CHECK: %c = dataflow.kernel @layout_concat(%[[N:.*]] = %n : tensor<6x4xf32> as !itensor1, %[[U:.*]] = %u : tensor<6x6xf32> as !itensor2) -> (tensor<6x10xf32> as !itensor3) {
// CHECK-NEXT: itensor.concat %[[N]], %[[U]] at [0, 0], [0, 4] : !itensor1, !itensor2 to !itensor3
// CHECK: func.return %c : tensor<6x10xf32>

// -----

// A concatenation of one value with itself.
// SHOW: @layout|itensor.chunk|itensor.concat|itensor.reassociate|_shape|extract_slice|tensor.concat|func.return
!itensor = !itensor.itensor<2x3xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
func.func @concat_twice(%x: tensor<2x3xf32>) -> tensor<4x3xf32> {
  %n = dataflow.kernel @n(%x_1 = %x : tensor<2x3xf32> as !itensor) -> (tensor<2x3xf32> as !itensor) {
    dataflow.yield %x_1 : !itensor
  }
  %c = tensor.concat dim(0) %n, %n : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  func.return %c : tensor<4x3xf32>
}

// CHECK: !itensor = !itensor.itensor<2x3xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK: !itensor1 = !itensor.itensor<2x3xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
// CHECK-LABEL: func.func @concat_twice(
// CHECK: %c = dataflow.kernel @layout_concat(%[[N:.*]] = %n : tensor<2x3xf32> as !itensor, %[[N1:.*]] = %n : tensor<2x3xf32> as !itensor) -> (tensor<4x3xf32> as !itensor1) {
// CHECK-NEXT: itensor.concat %[[N]], %[[N1]] at [0, 0], [2, 0] : !itensor, !itensor to !itensor1
// CHECK: func.return %c : tensor<4x3xf32>

// -----

// A reshape that really reorders: both sides run row-major over the largest blocks contiguous on both (3 of 6 entries, then 4
// of 8).
// SHOW: @layout|itensor.chunk|itensor.concat|itensor.reassociate|_shape|extract_slice|tensor.concat|func.return
!itensor = !itensor.itensor<4x6xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
!itensor1 = !itensor.itensor<3x8xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
func.func @reshape(%x: tensor<4x6xf32>) -> tensor<3x8xf32> {
  %n = dataflow.kernel @n(%x_1 = %x : tensor<4x6xf32> as !itensor) -> (tensor<4x6xf32> as !itensor) {
    dataflow.yield %x_1 : !itensor
  }
  %c = tensor.collapse_shape %n [[0 : i64, 1 : i64]] : tensor<4x6xf32> into tensor<24xf32>
  %e = tensor.expand_shape %c [[0 : i64, 1 : i64]] output_shape [3, 8] : tensor<24xf32> into tensor<3x8xf32>
  %y = dataflow.kernel @y(%e_1 = %e : tensor<3x8xf32> as !itensor1) -> (tensor<3x8xf32> as !itensor1) {
    dataflow.yield %e_1 : !itensor1
  }
  func.return %y : tensor<3x8xf32>
}

// CHECK: !itensor = !itensor.itensor<4x6xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK: !itensor1 = !itensor.itensor<24xf32, iter_space: [] * [], iter_map: () -> (0)>
// CHECK: !itensor2 = !itensor.itensor<3x8xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK-LABEL: func.func @reshape(
// CHECK: %c = dataflow.kernel @layout_reshape(%[[N:.*]] = %n : tensor<4x6xf32> as !itensor) -> (tensor<24xf32> as !itensor1) {
// CHECK-NEXT: %[[REASSOCIATE:.*]] = itensor.reassociate %[[N]] : !itensor to !itensor1
// CHECK: dataflow.kernel @layout_reshape(%[[C:.*]] = %c : tensor<24xf32> as !itensor1) -> (tensor<3x8xf32> as !itensor2) {
// CHECK-NEXT: %[[REASSOCIATE1:.*]] = itensor.reassociate %[[C]] : !itensor1 to !itensor2
// CHECK: func.return %y : tensor<3x8xf32>

// -----

// Reshapes of arguments and results are the host's: the bytes are the same.
// SHOW: @layout|itensor.chunk|itensor.concat|itensor.reassociate|_shape|extract_slice|tensor.concat|func.return
!itensor = !itensor.itensor<4x2x3xf32, iter_space: [] * [], iter_map: () -> (0, 0, 0)>
func.func @boundary(%x: tensor<4x6xf32>) -> tensor<8x3xf32> {
  %e = tensor.expand_shape %x [[0 : i64], [1 : i64, 2 : i64]] output_shape [4, 2, 3] : tensor<4x6xf32> into tensor<4x2x3xf32>
  %y = dataflow.kernel @y(%e_1 = %e : tensor<4x2x3xf32> as !itensor) -> (tensor<4x2x3xf32> as !itensor) {
    dataflow.yield %e_1 : !itensor
  }
  %c = tensor.collapse_shape %y [[0 : i64, 1 : i64], [2 : i64]] : tensor<4x2x3xf32> into tensor<8x3xf32>
  func.return %c : tensor<8x3xf32>
}

// CHECK-LABEL: func.func @boundary(
// CHECK-NEXT: tensor.expand_shape %x {{\[\[}}0 : i64], [1 : i64, 2 : i64]] output_shape [4, 2, 3] : tensor<4x6xf32> into tensor<4x2x3xf32>
// CHECK: %c = tensor.collapse_shape %y {{\[\[}}0 : i64, 1 : i64], [2 : i64]] : tensor<4x2x3xf32> into tensor<8x3xf32>
// CHECK-NEXT: func.return %c : tensor<8x3xf32>

// -----

// A reshape to rank 0.
// SHOW: @layout|itensor.chunk|itensor.concat|itensor.reassociate|_shape|extract_slice|tensor.concat|func.return
!itensor = !itensor.itensor<1x1xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
!itensor1 = !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
func.func @rank_zero(%x: tensor<1x1xf32>, %v: tensor<4xf32>) -> tensor<4xf32> {
  %n = dataflow.kernel @n(%x_1 = %x : tensor<1x1xf32> as !itensor) -> (tensor<1x1xf32> as !itensor) {
    dataflow.yield %x_1 : !itensor
  }
  %c = tensor.collapse_shape %n [] : tensor<1x1xf32> into tensor<f32>
  %y = dataflow.kernel @y(%v_1 = %v : tensor<4xf32> as !itensor1, %c_1 = %c : tensor<f32> as !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>) -> (tensor<4xf32> as !itensor1) {
    dataflow.yield %v_1 : !itensor1
  }
  func.return %y : tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x1xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK: !itensor1 = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
// CHECK-LABEL: func.func @rank_zero(
// CHECK: dataflow.kernel @layout_reshape(%[[N:.*]] = %n : tensor<1x1xf32> as !itensor) -> (tensor<f32> as !itensor1) {
// CHECK-NEXT: itensor.reassociate %[[N]] : !itensor to !itensor1
// CHECK: func.return %y : tensor<4xf32>

// -----

// Entries of which there are as many as a launch says cross one by one, through a computation too.
// SHOW: @layout|itensor.reassociate
!entries = !itensor.itensor<1x1xf32, iter_space: [4, 8] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
func.func @some(%x: tensor<4x8xf32> {stc.sizes = [#itensor.size<4>, #itensor.size<pos<=8>]}, %p: i32 {stc.name = "pos"}) -> tensor<2x2x8xf32> {
  %n = dataflow.kernel @n(%a = %x : tensor<4x8xf32> as !entries) -> (tensor<4x8xf32> as !entries) {
    %e = itensor.empty : !entries
    %t = dataflow.task @t ins(%in = %a : !entries) outs(%out = %e : !entries) -> !entries {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
      %f = scf.for %i = %c0 to %c4 step %c1 iter_args(%o = %out) -> (!entries) {
        %g = scf.for %j = %c0 to %c8 step %c1 iter_args(%q = %o) -> (!entries) {
          %v = itensor.read %in[%i, %j] : !entries -> tensor<1x1xf32>
          %w = itensor.write %v into %q[%i, %j] : tensor<1x1xf32> -> !entries
          scf.yield %w : !entries
        }
        scf.yield %g : !entries
      }
      dataflow.yield %f : !entries
    }
    dataflow.yield %t : !entries
  }
  %h = tensor.expand_shape %n [[0, 1], [2]] output_shape [2, 2, 8] {stc.name = "heads"} : tensor<4x8xf32> into tensor<2x2x8xf32>
  %m = dataflow.kernel @m(%a = %h : tensor<2x2x8xf32> as !itensor.itensor<1x1x1xf32, iter_space: [2, 2, 8] * [1, 1, 1], iter_map: (d0, d1, d2) -> (d0, d1, d2)>)
      -> (tensor<2x2x8xf32> as !itensor.itensor<1x1x1xf32, iter_space: [2, 2, 8] * [1, 1, 1], iter_map: (d0, d1, d2) -> (d0, d1, d2)>) {
    dataflow.yield %a : !itensor.itensor<1x1x1xf32, iter_space: [2, 2, 8] * [1, 1, 1], iter_map: (d0, d1, d2) -> (d0, d1, d2)>
  }
  func.return %m : tensor<2x2x8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x1xf32, iter_space: [4, 8] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x1x1xf32, iter_space: [2, 2, 8] * [1, 1, 1], iter_map: (d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @some(
// CHECK: itensor.reassociate %n_{{.*}} : !itensor to !itensor1

// -----

// Copies with one index each of the outermost dimension come one behind the other; others in turn, if that is how they are told.
// SHOW: @layout|itensor.concat|tensor.concat
!S = !itensor.itensor<1x1x4xf32, iter_space: [2] * [1], iter_map: (d0) -> (0, d0, 0)>
func.func @successive(%x: tensor<1x2x4xf32>) -> (tensor<2x2x4xf32>, tensor<2x2x4xf32>) {
  %n, %m = dataflow.kernel @n(%x_1 = %x : tensor<1x2x4xf32> as !S) -> (tensor<1x2x4xf32> as !S, tensor<1x2x4xf32> as !S) {
    %a, %b = itensor.fork %x_1 : !S to !S, !S
    dataflow.yield %a, %b : !S, !S
  }
  %c = tensor.concat dim(0) %n, %m {stc.successive} : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<2x2x4xf32>
  %d = tensor.concat dim(0) %n, %m : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<2x2x4xf32>
  func.return %c, %d : tensor<2x2x4xf32>, tensor<2x2x4xf32>
}

// CHECK: [[BEHIND:!\S+]] = !itensor.itensor<1x1x4xf32, iter_space: [2, 2] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
// CHECK: [[IN_TURN:!\S+]] = !itensor.itensor<1x1x4xf32, iter_space: [2, 2] * [1, 1], iter_map: (d0, d1) -> (d1, d0, 0)>
// CHECK-LABEL: func.func @successive(
// CHECK: itensor.concat {{.*}} to [[BEHIND]]
// CHECK: itensor.concat {{.*}} to [[IN_TURN]]
