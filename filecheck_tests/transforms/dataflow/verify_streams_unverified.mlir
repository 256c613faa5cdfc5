// RUN: stc-opt %s -p verify-streams --no-verify-each --split-input-file --verify-diagnostics

// The proofs do not rest on the verifiers: what these would refuse is found as well, with the first token at fault.
!S = !itensor.itensor<1x4xf32, iter_space: [2, 3] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!T = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [4, 1], iter_map: (d0, d1) -> (d1, d0)>
func.func @small(%s: !S) -> !T {
  // expected-error @below {{converter %s to %t in no kernel: token 2 of the source, at [0, 8], is stored at 8 to 11 of dimension 1, outside of the buffer's 8 entries}}
  %t = itensor.converter %s {shared_loops = 0, buffer_shape = [2, 8], blocks = 1} : !S to !T
  func.return %t : !T
}

// -----

!S = !itensor.itensor<1x4xf32, iter_space: [2, 2, 3] * [2, 1, 4], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
!T = !itensor.itensor<1x4xf32, iter_space: [2, 3, 2] * [2, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
func.func @shared(%s: !S) -> !T {
  // expected-error @below {{token 1 of the target, at [1, 0], needs coordinate 1 of dimension 0 at address 1 of it, which was not received in the same shared iteration}}
  %t = itensor.converter %s {shared_loops = 2, buffer_shape = [1, 12], blocks = 2} : !S to !T
  func.return %t : !T
}

// -----

!S = !itensor.itensor<1x4xf32, iter_space: [2, 3] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!T = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [4, 1], iter_map: (d0, d1) -> (d1, d0)>
func.func @blocks(%s: !S) -> !T {
  // expected-error @below {{not proved: there are 0 blocks to acquire, expected at least one}}
  %t = itensor.converter %s {shared_loops = 0, buffer_shape = [2, 12], blocks = 0} : !S to !T
  func.return %t : !T
}

// -----

!S = !itensor.itensor<1x4xf32, iter_space: [2, 3] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!T = !itensor.itensor<1x4xf32, iter_space: [2, 3] * [1, 4], iter_map: (d0, d1) -> (d0, d1 + 4)>
func.func @offset(%s: !S) -> !T {
  // expected-error @below {{cast %s to %t in no kernel: token 0 is at [0, 0] in the source but at [0, 4] in the target}}
  %t = itensor.cast %s : !S to !T
  func.return %t : !T
}

// -----

!S = !itensor.itensor<4xf32, iter_space: [3] * [4], iter_map: (d0) -> (d0)>
!T = !itensor.itensor<4xi32, iter_space: [3] * [4], iter_map: (d0) -> (d0)>
func.func @scalars(%s: !S) -> !T {
  // expected-error @below {{cast %s to %t in no kernel: entries are of type f32 in the source but of i32 in the target}}
  %t = itensor.cast %s : !S to !T
  func.return %t : !T
}

// -----

// As many entries in the same order, but twice as many tokens.
!S = !itensor.itensor<4xf32, iter_space: [3] * [4], iter_map: (d0) -> (d0)>
!T = !itensor.itensor<2xf32, iter_space: [6] * [2], iter_map: (d0) -> (d0)>
func.func @cut(%s: !S) -> !T {
  // expected-error @below {{reassociate %s to %t in no kernel: tokens have 4 entries in the source but 2 in the target}}
  %t = itensor.reassociate %s : !S to !T
  func.return %t : !T
}

// -----

// The tokens of the slice begin where they should, but are of another shape.
!S = !itensor.itensor<1xf32, iter_space: [2, 3, 4] * [1, 8, 2], iter_map: (d0, d1, d2) -> (d0 + d1 + d2)>
!B = !itensor.itensor<2xf32, iter_space: [2, 6] * [1, 2], iter_map: (d0, d1) -> (d0 + d1)>
func.func @slice(%s: !S) -> !B {
  // expected-error @below {{chunk slice 0 of %s: tokens are of shape [1] in the whole but of [2] in the slice}}
  %b = itensor.chunk %s at [0] : !S to !B
  func.return %b : !B
}

// -----

!S = !itensor.itensor<2xf32, iter_space: [3] * [2], iter_map: (d0) -> (d0)>
!T = !itensor.itensor<1xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0)>
func.func @stacked(%s: !S, %u: !S) -> !T {
  // expected-error @below {{merge %s, %u to %t in no kernel: tokens are of shape [2] in the inputs but of [1] in the result}}
  %t = itensor.merge %s, %u : !S, !S to !T
  func.return %t : !T
}
