// RUN: stc-opt %s -p 'duplicate-loads-in-order{least=64}' --split-input-file | filecheck %s

// The reader in columns needs a converter of all 64 bytes: a port of its own needs none, and nothing is left to fork. The host
// packs x twice.
// SHOW: kernel|fork|converter|cast|yield
!R = !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
!C = !itensor.itensor<4x1xf32, iter_space: [4] * [1], iter_map: (d0) -> (0, d0)>
func.func @two_orders(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c, %d = dataflow.kernel @both(%p = %x : tensor<4x4xf32> as !R) -> (tensor<4x4xf32> as !R, tensor<4x4xf32> as !C) {
    %a, %b = itensor.fork %p : !R to !R, !R
    %e = itensor.cast %b : !R to !R
    %f = itensor.converter %e {shared_loops = 0, buffer_shape = [4, 4], blocks = 1} : !R to !C
    dataflow.yield %a, %f : !R, !C
  }
  func.return %c, %d : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<4x1xf32, iter_space: [4] * [1], iter_map: (d0) -> (0, d0)>
// CHECK-LABEL: func.func @two_orders(
// CHECK-NEXT: dataflow.kernel @both(%p = %x : tensor<4x4xf32> as !itensor, %[[P:.*]] = %x : tensor<4x4xf32> as !itensor1) -> (tensor<4x4xf32> as !itensor, tensor<4x4xf32> as !itensor1) attributes {stc.duplicate_loads = [{tensor = "p", reader = "f", instead_of = "converter", saved_bytes = 64 : i64, traffic_bytes = 64 : i64, packed_bytes = 64 : i64}]} {
// CHECK-NEXT: dataflow.yield %p, %[[P]] : !itensor, !itensor1

// -----

// Of three branches two are left. A parameter is packed once for all runs, however often: nothing more to pack.
// SHOW: kernel|fork|converter|cast|yield
!R = !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
!C = !itensor.itensor<4x1xf32, iter_space: [4] * [1], iter_map: (d0) -> (0, d0)>
func.func @parameter(%x: tensor<4x4xf32> {stc.parameter}) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %c, %d, %e = dataflow.kernel @both(%p = %x : tensor<4x4xf32> as !R) -> (tensor<4x4xf32> as !R, tensor<4x4xf32> as !C, tensor<4x4xf32> as !R) {
    %a, %b, %g = itensor.fork %p : !R to !R, !R, !R
    %f = itensor.converter %b {shared_loops = 0, buffer_shape = [4, 4], blocks = 1} : !R to !C
    dataflow.yield %a, %f, %g : !R, !C, !R
  }
  func.return %c, %d, %e : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<4x1xf32, iter_space: [4] * [1], iter_map: (d0) -> (0, d0)>
// CHECK-LABEL: func.func @parameter(
// CHECK-NEXT: dataflow.kernel @both(%p = %x : tensor<4x4xf32> as !itensor, %[[P:.*]] = %x : tensor<4x4xf32> as !itensor1) -> (tensor<4x4xf32> as !itensor, tensor<4x4xf32> as !itensor1, tensor<4x4xf32> as !itensor) attributes {stc.duplicate_loads = [{tensor = "p", reader = "f", instead_of = "converter", saved_bytes = 64 : i64, traffic_bytes = 64 : i64, packed_bytes = 0 : i64}]} {
// CHECK-NEXT: %a, %g = itensor.fork %p : !itensor to !itensor, !itensor
// CHECK-NEXT: dataflow.yield %a, %[[P]], %g : !itensor, !itensor1, !itensor

// -----

// Nobody takes x in the order in which it enters: the last reader takes over the port. Both take it column by column, in tokens of
// 1 and of 4 entries, so that one packed buffer is enough, and what the first entry adds the second takes back.
// SHOW: kernel|fork|converter|cast|yield
!R = !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
!C = !itensor.itensor<4x1xf32, iter_space: [4] * [1], iter_map: (d0) -> (0, d0)>
!Q = !itensor.itensor<1x1xf32, iter_space: [4, 4] * [1, 1], iter_map: (d0, d1) -> (d1, d0)>
func.func @none_stays(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c, %d = dataflow.kernel @both(%p = %x : tensor<4x4xf32> as !R) -> (tensor<4x4xf32> as !Q, tensor<4x4xf32> as !C) {
    %a, %b = itensor.fork %p : !R to !R, !R
    %e = itensor.converter %a {shared_loops = 0, buffer_shape = [4, 4], blocks = 1} : !R to !Q
    %f = itensor.converter %b {shared_loops = 0, buffer_shape = [4, 4], blocks = 1} : !R to !C
    dataflow.yield %e, %f : !Q, !C
  }
  func.return %c, %d : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK: !itensor = !itensor.itensor<4x1xf32, iter_space: [4] * [1], iter_map: (d0) -> (0, d0)>
// CHECK: !itensor1 = !itensor.itensor<1x1xf32, iter_space: [4, 4] * [1, 1], iter_map: (d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @none_stays(
// CHECK-NEXT: dataflow.kernel @both(%p = %x : tensor<4x4xf32> as !itensor, %[[P:.*]] = %x : tensor<4x4xf32> as !itensor1) -> (tensor<4x4xf32> as !itensor1, tensor<4x4xf32> as !itensor) attributes {stc.duplicate_loads = [{tensor = "p", reader = "e", instead_of = "converter", saved_bytes = 64 : i64, traffic_bytes = 64 : i64, packed_bytes = 64 : i64}, {tensor = "p", reader = "f", instead_of = "converter", saved_bytes = 64 : i64, traffic_bytes = 0 : i64, packed_bytes = -64 : i64}]} {
// CHECK-NEXT: dataflow.yield %[[P]], %p : !itensor1, !itensor

// -----

// Five visits of a converter's 64 bytes would be 320 bytes of traffic: the converter stays, and reads x once.
// SHOW: kernel|fork|converter|cast|yield
!R = !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
!C = !itensor.itensor<4x1xf32, iter_space: [5, 4] * [1, 1], iter_map: (d0, d1) -> (0, d1)>
func.func @reuse(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c, %d = dataflow.kernel @both(%p = %x : tensor<4x4xf32> as !R) -> (tensor<4x4xf32> as !R, tensor<4x4xf32> as !C) {
    %a, %b = itensor.fork %p : !R to !R, !R
    %f = itensor.converter %b {shared_loops = 0, buffer_shape = [4, 4], blocks = 1} : !R to !C
    dataflow.yield %a, %f : !R, !C
  }
  func.return %c, %d : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<4x1xf32, iter_space: [5, 4] * [1, 1], iter_map: (d0, d1) -> (0, d1)>
// CHECK-LABEL: func.func @reuse(
// CHECK-NEXT: dataflow.kernel @both(%p = %x : tensor<4x4xf32> as !itensor) -> (tensor<4x4xf32> as !itensor, tensor<4x4xf32> as !itensor1) {
// CHECK-NEXT: %a, %b = itensor.fork %p : !itensor to !itensor, !itensor
// CHECK-NEXT: %f = itensor.converter %b {shared_loops = 0, buffer_shape = [4, 4], blocks = 1} : !itensor to !itensor1
// CHECK-NEXT: dataflow.yield %a, %f : !itensor, !itensor1

// -----

// Half the tensor in a converter is 32 bytes, too little for a port of its own.
// SHOW: kernel|fork|converter|cast|yield
!R = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
!C = !itensor.itensor<2x1xf32, iter_space: [2, 4] * [2, 1], iter_map: (d0, d1) -> (d0, d1)>
func.func @small(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c, %d = dataflow.kernel @both(%p = %x : tensor<4x4xf32> as !R) -> (tensor<4x4xf32> as !R, tensor<4x4xf32> as !C) {
    %a, %b = itensor.fork %p : !R to !R, !R
    %f = itensor.converter %b {shared_loops = 1, buffer_shape = [2, 4], blocks = 1} : !R to !C
    dataflow.yield %a, %f : !R, !C
  }
  func.return %c, %d : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
// CHECK: !itensor1 = !itensor.itensor<2x1xf32, iter_space: [2, 4] * [2, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @small(
// CHECK-NEXT: dataflow.kernel @both(%p = %x : tensor<4x4xf32> as !itensor) -> (tensor<4x4xf32> as !itensor, tensor<4x4xf32> as !itensor1) {
// CHECK-NEXT: %a, %b = itensor.fork %p : !itensor to !itensor, !itensor
// CHECK-NEXT: %f = itensor.converter %b {shared_loops = 1, buffer_shape = [2, 4], blocks = 1} : !itensor to !itensor1
// CHECK-NEXT: dataflow.yield %a, %f : !itensor, !itensor1

// -----

// What the fork gives somebody else as well stays.
// SHOW: fork|converter|yield
!R = !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
!C = !itensor.itensor<4x1xf32, iter_space: [4] * [1], iter_map: (d0) -> (0, d0)>
func.func @shared(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c, %d = dataflow.kernel @both(%p = %x : tensor<4x4xf32> as !R) -> (tensor<4x4xf32> as !R, tensor<4x4xf32> as !C) {
    %a, %b = itensor.fork %p : !R to !R, !R
    %f = itensor.converter %a {shared_loops = 0, buffer_shape = [4, 4], blocks = 1} : !R to !C
    dataflow.yield %a, %f : !R, !C
  }
  func.return %c, %d : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<4x1xf32, iter_space: [4] * [1], iter_map: (d0) -> (0, d0)>
// CHECK-LABEL: func.func @shared(
// CHECK: %a, %b = itensor.fork %p : !itensor to !itensor, !itensor
// CHECK-NEXT: %f = itensor.converter %a {shared_loops = 0, buffer_shape = [4, 4], blocks = 1} : !itensor to !itensor1
// CHECK-NEXT: dataflow.yield %a, %f : !itensor, !itensor1
