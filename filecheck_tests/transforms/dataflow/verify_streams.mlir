// RUN: stc-opt %s -p verify-streams --split-input-file | filecheck %s

// Each of these is proved, and left as it is. A split, for every length.
!L = !itensor.itensor<1x4xf32, iter_space: [seq<=64, 6] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!M = !itensor.itensor<1x4xf32, iter_space: [seq<=64, 1, 2, 3] * [1, 9, 12, 4], iter_map: (d0, d1, d2, d3) -> (d0, d2 + d3)>
func.func @split_for_every_length(%s: !L) -> !M {
  %t = itensor.cast %s : !L to !M
  func.return %t : !M
}

// CHECK-LABEL: @split_for_every_length(
// CHECK-NEXT: itensor.cast %s : !itensor to !itensor1

// -----

// Two overlapping loops commute while the symbol is at most two: only z3 equates these.
!V = !itensor.itensor<1xf32, iter_space: [seq<=2, 2] * [1, 1], iter_map: (d0, d1) -> (d0 + d1)>
!W = !itensor.itensor<1xf32, iter_space: [2, seq<=2] * [1, 1], iter_map: (d0, d1) -> (d0 + d1)>
func.func @only_by_the_solver(%s: !V) -> !W {
  %t = itensor.cast %s : !V to !W
  func.return %t : !W
}

// CHECK-LABEL: @only_by_the_solver(
// CHECK-NEXT: itensor.cast %s : !itensor to !itensor1

// -----

// A block larger than needed, with fewer shared loops than there are.
!S = !itensor.itensor<1x4xf32, iter_space: [2, 2, 3] * [2, 1, 4], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
!T = !itensor.itensor<1x4xf32, iter_space: [2, 3, 2] * [2, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
func.func @generous(%s: !S) -> (!T, !T) {
  %t = itensor.converter %s {shared_loops = 1, buffer_shape = [3, 12], blocks = 1} : !S to !T
  %u = itensor.converter %s {shared_loops = 0, buffer_shape = [4, 12], blocks = 2} : !S to !T
  func.return %t, %u : !T, !T
}

// CHECK-LABEL: @generous(
// CHECK-NEXT: itensor.converter %s {shared_loops = 1, buffer_shape = [3, 12], blocks = 1}
// CHECK-NEXT: itensor.converter %s {shared_loops = 0, buffer_shape = [4, 12], blocks = 2}

// -----

// A line buffer of three lines, circular along the rows.
!R = !itensor.itensor<1x4xf32, iter_space: [6, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!K = !itensor.itensor<1x8xf32, iter_space: [4, 3] * [1, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
func.func @windows(%s: !R) -> !K {
  %t = itensor.converter %s {shared_loops = 0, buffer_shape = [3, 8], blocks = 1, window = 0} : !R to !K
  func.return %t : !K
}

// CHECK-LABEL: @windows(
// CHECK-NEXT: itensor.converter %s {shared_loops = 0, buffer_shape = [3, 8], blocks = 1, window = 0}

// -----

// Eight million tokens are sliced by an argument about loops.
!B = !itensor.itensor<1x1xf32, iter_space: [4096, 2048] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!C = !itensor.itensor<1x1xf32, iter_space: [4096, 512] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
func.func @sliced(%s: !B) -> !C {
  %t = itensor.chunk %s at [0, 512] : !B to !C
  func.return %t : !C
}

// CHECK-LABEL: @sliced(
// CHECK-NEXT: itensor.chunk %s at [0, 512] : !itensor to !itensor1

// -----

// The same tokens under another shape, behind a fork.
!P = !itensor.itensor<1x4xf32, iter_space: [4, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!Q = !itensor.itensor<1x1x4xf32, iter_space: [2, 2, 2] * [1, 1, 4], iter_map: (d0, d1, d2) -> (d0, d1, d2)>
func.func @reshaped(%s: !P) -> !Q {
  %a, %b = itensor.fork %s : !P to !P, !P
  %t = itensor.reassociate %a : !P to !Q
  func.return %t : !Q
}

// CHECK-LABEL: @reshaped(
// CHECK-NEXT: itensor.fork %s : !itensor to !itensor, !itensor
// CHECK-NEXT: itensor.reassociate %a : !itensor to !itensor1
