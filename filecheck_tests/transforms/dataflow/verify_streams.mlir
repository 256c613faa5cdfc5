// RUN: stc-opt %s -p verify-streams | filecheck %s

// Each of these is proved, and left as it is.

!L = !itensor.itensor<1x4xf32, iter_space: [seq<=64, 6] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!M = !itensor.itensor<1x4xf32, iter_space: [seq<=64, 1, 2, 3] * [1, 9, 12, 4], iter_map: (d0, d1, d2, d3) -> (d0, d2 + d3)>
func.func @split_for_every_length(%s: !L) -> !M {
  %t = itensor.cast %s : !L to !M
  func.return %t : !M
}

// Two overlapping loops commute while the symbol is at most two: only z3 equates these.
!V = !itensor.itensor<1xf32, iter_space: [seq<=2, 2] * [1, 1], iter_map: (d0, d1) -> (d0 + d1)>
!W = !itensor.itensor<1xf32, iter_space: [2, seq<=2] * [1, 1], iter_map: (d0, d1) -> (d0 + d1)>
func.func @only_by_the_solver(%s: !V) -> !W {
  %t = itensor.cast %s : !V to !W
  func.return %t : !W
}

// A block larger than needed, with fewer shared loops than there are.
!S = !itensor.itensor<1x4xf32, iter_space: [2, 2, 3] * [2, 1, 4], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
!T = !itensor.itensor<1x4xf32, iter_space: [2, 3, 2] * [2, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
func.func @generous(%s: !S) -> (!T, !T) {
  %t = itensor.converter %s {shared_loops = 1, buffer_shape = [3, 12], blocks = 1} : !S to !T
  %u = itensor.converter %s {shared_loops = 0, buffer_shape = [4, 12], blocks = 2} : !S to !T
  func.return %t, %u : !T, !T
}

// A line buffer of three lines, circular along the rows.
!R = !itensor.itensor<1x4xf32, iter_space: [6, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!K = !itensor.itensor<1x8xf32, iter_space: [4, 3] * [1, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
func.func @windows(%s: !R) -> !K {
  %t = itensor.converter %s {shared_loops = 0, buffer_shape = [3, 8], blocks = 1, window = 0} : !R to !K
  func.return %t : !K
}

// Eight million tokens are sliced by an argument about loops.
!B = !itensor.itensor<1x1xf32, iter_space: [4096, 2048] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!C = !itensor.itensor<1x1xf32, iter_space: [4096, 512] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
func.func @sliced(%s: !B) -> !C {
  %t = itensor.chunk %s at [0, 512] : !B to !C
  func.return %t : !C
}

!P = !itensor.itensor<1x4xf32, iter_space: [4, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!Q = !itensor.itensor<1x1x4xf32, iter_space: [2, 2, 2] * [1, 1, 4], iter_map: (d0, d1, d2) -> (d0, d1, d2)>
func.func @reshaped(%x: tensor<4x8xf32>) -> tensor<2x2x8xf32> {
  %p = dataflow.pack %x : tensor<4x8xf32> as !P -> tensor<8xvector<4xf32>>
  %y = dataflow.kernel @k(%s = %p : tensor<8xvector<4xf32>> as !P) -> (tensor<2x2x8xf32> as !Q) {
    %a, %b = itensor.fork %s : !P to !P, !P
    %t = itensor.reassociate %a : !P to !Q
    dataflow.yield %t : !Q
  }
  func.return %y : tensor<2x2x8xf32>
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [seq<=64, 6] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x4xf32, iter_space: [seq<=64, 1, 2, 3] * [1, 9, 12, 4], iter_map: (d0, d1, d2, d3) -> (d0, d2 + d3)>
// CHECK: !itensor2 = !itensor.itensor<1xf32, iter_space: [seq<=2, 2] * [1, 1], iter_map: (d0, d1) -> (d0 + d1)>
// CHECK: !itensor3 = !itensor.itensor<1xf32, iter_space: [2, seq<=2] * [1, 1], iter_map: (d0, d1) -> (d0 + d1)>
// CHECK: !itensor4 = !itensor.itensor<1x4xf32, iter_space: [2, 2, 3] * [2, 1, 4], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
// CHECK: !itensor5 = !itensor.itensor<1x4xf32, iter_space: [2, 3, 2] * [2, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
// CHECK: !itensor6 = !itensor.itensor<1x4xf32, iter_space: [6, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor7 = !itensor.itensor<1x8xf32, iter_space: [4, 3] * [1, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
// CHECK: !itensor8 = !itensor.itensor<1x1xf32, iter_space: [4096, 2048] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor9 = !itensor.itensor<1x1xf32, iter_space: [4096, 512] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor10 = !itensor.itensor<1x4xf32, iter_space: [4, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor11 = !itensor.itensor<1x1x4xf32, iter_space: [2, 2, 2] * [1, 1, 4], iter_map: (d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @split_for_every_length(
// CHECK-NEXT: %t = itensor.cast %s : !itensor to !itensor1
// CHECK-NEXT: func.return %t : !itensor1
// CHECK-LABEL: func.func @only_by_the_solver(
// CHECK-NEXT: %t = itensor.cast %s : !itensor2 to !itensor3
// CHECK-NEXT: func.return %t : !itensor3
// CHECK-LABEL: func.func @generous(
// CHECK-NEXT: %t = itensor.converter %s {shared_loops = 1, buffer_shape = [3, 12], blocks = 1} : !itensor4 to !itensor5
// CHECK-NEXT: %u = itensor.converter %s {shared_loops = 0, buffer_shape = [4, 12], blocks = 2} : !itensor4 to !itensor5
// CHECK-NEXT: func.return %t, %u : !itensor5, !itensor5
// CHECK-LABEL: func.func @windows(
// CHECK-NEXT: %t = itensor.converter %s {shared_loops = 0, buffer_shape = [3, 8], blocks = 1, window = 0} : !itensor6 to !itensor7
// CHECK-NEXT: func.return %t : !itensor7
// CHECK-LABEL: func.func @sliced(
// CHECK-NEXT: %t = itensor.chunk %s at [0, 512] : !itensor8 to !itensor9
// CHECK-NEXT: func.return %t : !itensor9
// CHECK-LABEL: func.func @reshaped(
// CHECK-NEXT: %p = dataflow.pack %x : tensor<4x8xf32> as !itensor10 -> tensor<8xvector<4xf32>>
// CHECK-NEXT: %y = dataflow.kernel @k(%s = %p : tensor<8xvector<4xf32>> as !itensor10) -> (tensor<2x2x8xf32> as !itensor11) {
// CHECK-NEXT: %a, %b = itensor.fork %s : !itensor10 to !itensor10, !itensor10
// CHECK-NEXT: %t = itensor.reassociate %a : !itensor10 to !itensor11
// CHECK-NEXT: dataflow.yield %t : !itensor11
// CHECK: func.return %y : tensor<2x2x8xf32>
