// RUN: stc-opt %s -p 'share-converters' --split-input-file --allow-unregistered-dialect | filecheck %s

// Rows are wanted as column blocks by @b, and as column blocks three times over by @a: @a's converter starts from what @b's gives.
// 48 entries and twice 12 instead of twice 48.
// SHOW: itensor.converter|itensor.cast|dataflow.yield .*, .* : ...
!itensor = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!itensor1 = !itensor.itensor<3x2xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d1, d0)>
!itensor2 = !itensor.itensor<3x2xf32, iter_space: [4, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d2, d0)>
!itensor3 = !itensor.itensor<1x2x3xf32, iter_space: [4, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d1, d0, d2)>
func.func @start_from_another(%n: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %0 = dataflow.kernel @main(%n_1 = %n : tensor<6x8xf32> as !itensor) -> (tensor<6x8xf32> as !itensor1) {
    %n_2 = itensor.converter %n_1 {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor to !itensor2
    %1 = itensor.empty : !itensor3
    %a = dataflow.task @a ins(%n_3 = %n_2 : !itensor2) outs(%out = %1 : !itensor3) -> !itensor3 {
      dataflow.yield %out : !itensor3
    }
    %n_3 = itensor.converter %n_1 {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor to !itensor1
    dataflow.yield %n_3 : !itensor1
  }
  func.return %0 : tensor<6x8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<3x2xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d1, d0)>
// CHECK: !itensor2 = !itensor.itensor<3x2xf32, iter_space: [4, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d2, d0)>
// CHECK-LABEL: func.func @start_from_another(
// CHECK: %[[N:.*]] = itensor.converter %n_{{.*}} {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !itensor to !itensor1
// CHECK-NEXT: itensor.converter %[[N]] {shared_loops = 1, buffer_shape = [6, 2], blocks = 2} : !itensor1 to !itensor2

// -----

// The same, but @c joins both: one branch would wait for the other with the whole tensor in a FIFO, so that nothing is gained.
!Rows = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!A = !itensor.itensor<3x2xf32, iter_space: [4, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d2, d0)>
!B = !itensor.itensor<3x2xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d1, d0)>
dataflow.kernel @branches_that_meet() {
  %x, %e, %f, %g = "test.op"() : () -> (!Rows, !A, !B, !A)
  %p = itensor.converter %x {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !Rows to !A
  %q = itensor.converter %x {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !Rows to !B
  %a = dataflow.task @a ins(%in = %p : !A) outs(%out = %e : !A) -> !A { dataflow.yield %out : !A }
  %b = dataflow.task @b ins(%in = %q : !B) outs(%out = %f : !B) -> !B { dataflow.yield %out : !B }
  %c = dataflow.task @c ins(%in = %a : !A, %too = %b : !B) outs(%out = %g : !A) -> !A { dataflow.yield %out : !A }
}

// CHECK-LABEL: @branches_that_meet(
// CHECK: itensor.converter %x {shared_loops = 0, buffer_shape = [6, 8], blocks = 1}
// CHECK: itensor.converter %x {shared_loops = 0, buffer_shape = [6, 8], blocks = 1}
// CHECK-NOT: itensor.converter

// -----

// Where a column block is half of the tensor nothing is gained either.
// SHOW: itensor.converter|itensor.cast|dataflow.yield .*, .* : ...
!itensor = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!itensor1 = !itensor.itensor<3x2xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d1, d0)>
!itensor2 = !itensor.itensor<3x2xf32, iter_space: [2, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d2, d0)>
!itensor3 = !itensor.itensor<1x2x3xf32, iter_space: [2, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d1, d0, d2)>
func.func @no_gain(%n: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = dataflow.kernel @main(%n_1 = %n : tensor<6x4xf32> as !itensor) -> (tensor<6x4xf32> as !itensor1) {
    %n_2 = itensor.converter %n_1 {shared_loops = 0, buffer_shape = [6, 4], blocks = 1} : !itensor to !itensor2
    %1 = itensor.empty : !itensor3
    %a = dataflow.task @a ins(%n_3 = %n_2 : !itensor2) outs(%out = %1 : !itensor3) -> !itensor3 {
      dataflow.yield %out : !itensor3
    }
    %n_3 = itensor.converter %n_1 {shared_loops = 0, buffer_shape = [6, 4], blocks = 1} : !itensor to !itensor1
    dataflow.yield %n_3 : !itensor1
  }
  func.return %0 : tensor<6x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<3x2xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d1, d0)>
// CHECK: !itensor2 = !itensor.itensor<3x2xf32, iter_space: [2, 3, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d2, d0)>
// CHECK-LABEL: func.func @no_gain(
// CHECK: itensor.converter %n_{{.*}} {shared_loops = 0, buffer_shape = [6, 4], blocks = 1} : !itensor to !itensor2
// CHECK: itensor.converter %n_{{.*}} {shared_loops = 0, buffer_shape = [6, 4], blocks = 1} : !itensor to !itensor1

// -----

// The same sequence, spelled in two ways and read by two results that never meet: one converter, and a cast.
// SHOW: itensor.converter|itensor.cast|dataflow.yield .*, .* : ...
!itensor = !itensor.itensor<1x8xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
!itensor1 = !itensor.itensor<8x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
!itensor2 = !itensor.itensor<8x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (0, d0 + d1)>
func.func @same_sequence(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y, %z = dataflow.kernel @k(%p = %x : tensor<8x8xf32> as !itensor) -> (tensor<8x8xf32> as !itensor1, tensor<8x8xf32> as !itensor2) {
    %a = itensor.converter %p {shared_loops = 0, buffer_shape = [8, 8], blocks = 1} : !itensor to !itensor1
    %b = itensor.converter %p {shared_loops = 0, buffer_shape = [8, 8], blocks = 1} : !itensor to !itensor2
    dataflow.yield %a, %b : !itensor1, !itensor2
  }
  func.return %z : tensor<8x8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x8xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<8x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
// CHECK: !itensor2 = !itensor.itensor<8x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (0, d0 + d1)>
// CHECK-LABEL: func.func @same_sequence(
// CHECK: %[[P:.*]] = itensor.converter %p {shared_loops = 0, buffer_shape = [8, 8], blocks = 1} : !itensor to !itensor1
// CHECK-NEXT: %[[P1:.*]] = itensor.cast %[[P]] : !itensor1 to !itensor2
// CHECK-NEXT: dataflow.yield %[[P]], %[[P1]] :

// -----

// Column blocks, each twice and each three times: the second converter takes a block twice in and gives it three times.
// SHOW: itensor.converter|itensor.cast|dataflow.yield .*, .* : ...
!itensor = !itensor.itensor<1x16xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
!itensor1 = !itensor.itensor<8x2xf32, iter_space: [8, 2] * [2, 1], iter_map: (d0, d1) -> (0, d0)>
!itensor2 = !itensor.itensor<8x2xf32, iter_space: [8, 3] * [2, 1], iter_map: (d0, d1) -> (0, d0)>
func.func @reused_differently(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %y, %z = dataflow.kernel @k(%p = %x : tensor<8x16xf32> as !itensor) -> (tensor<8x16xf32> as !itensor1, tensor<8x16xf32> as !itensor2) {
    %a = itensor.converter %p {shared_loops = 0, buffer_shape = [8, 16], blocks = 1} : !itensor to !itensor1
    %b = itensor.converter %p {shared_loops = 0, buffer_shape = [8, 16], blocks = 1} : !itensor to !itensor2
    dataflow.yield %a, %b : !itensor1, !itensor2
  }
  func.return %z : tensor<8x16xf32>
}

// CHECK: !itensor = !itensor.itensor<1x16xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<8x2xf32, iter_space: [8, 2] * [2, 1], iter_map: (d0, d1) -> (0, d0)>
// CHECK: !itensor2 = !itensor.itensor<8x2xf32, iter_space: [8, 3] * [2, 1], iter_map: (d0, d1) -> (0, d0)>
// CHECK-LABEL: func.func @reused_differently(
// CHECK: %[[P:.*]] = itensor.converter %p {shared_loops = 0, buffer_shape = [8, 16], blocks = 1} : !itensor to !itensor1
// CHECK-NEXT: %[[P1:.*]] = itensor.converter %[[P]] {shared_loops = 1, buffer_shape = [8, 2], blocks = 2} : !itensor1 to !itensor2
// CHECK-NEXT: dataflow.yield %[[P]], %[[P1]] :
