// RUN: stc-opt %s --split-input-file --verify-diagnostics

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xi32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{source has entries of type f32 but result has i32, expected equal types}}
  %0 = itensor.cast %a : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<8xi32, iter_space: [8] * [8], iter_map: (d0) -> (d0)>
func.func @f(%a : !A) {
  // expected-error @below {{source has entries of type f32 but result has i32, expected equal types}}
  %0 = itensor.reassociate %a : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xi32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{source has entries of type f32 but result has i32, expected equal types}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [8, 8]} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<2x4xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{source has elements of shape [4, 2] but result has [2, 4], expected equal elements}}
  %0 = itensor.cast %a : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
func.func @f(%a : !A) {
  // expected-error @below {{different orders (token 1 is at [0, 2] in the source but at [4, 0] in the target), expected an equal order or a converter}}
  %0 = itensor.cast %a : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4xf32, iter_space: [8] * [4], iter_map: (d0) -> (d0)>
func.func @f(%a : !A) {
  // expected-error @below {{source has 8 entries per token but result has 4, expected as many}}
  %0 = itensor.reassociate %a : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<8xf32, iter_space: [4] * [8], iter_map: (d0) -> (d0)>
func.func @f(%a : !A) {
  // expected-error @below {{source has 8 tokens but result has 4, expected as many}}
  %0 = itensor.reassociate %a : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [2, 3] * [4, 3], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{converter target does not visit every coordinate}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [8, 8]} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{converter source is of shape (8, 8), its target of (8, 4)}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [8, 8]} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
func.func @f(%a : !A) {
  // expected-error @below {{has shared_loops = 1 but source and result share 0, expected 0 to 0}}
  %0 = itensor.converter %a {shared_loops = 1, buffer_shape = [8, 8]} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
func.func @f(%a : !A) {
  // expected-error @below {{has a buffer of rank 1, expected rank 2 of the tensor}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [64]} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
func.func @f(%a : !A) {
  // expected-error @below {{buffers 4 entries of dimension 0, expected at least the 8 visited inside the shared loops and at most the 8 of the tensor}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [4, 8]} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
func.func @f(%a : !A) {
  // expected-error @below {{buffers 16 entries of dimension 1, expected at least the 8}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [8, 16]} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
func.func @f(%a : !A) {
  // expected-error @below {{has blocks = 3, expected 1 (single buffer) or 2 (ping-pong)}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [8, 8], blocks = 3} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
func.func @f(%a : !A) {
  // expected-error @below {{itensor.converter without shared_loops, expected an integer}}
  %0 = itensor.converter %a {buffer_shape = [8, 8]} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
func.func @f(%a : !A) {
  // expected-error @below {{itensor.converter without buffer_shape, expected a list of integers}}
  %0 = itensor.converter %a {shared_loops = 0} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
func.func @f(%a : !A) {
  // expected-error @below {{itensor.converter with blocks that are not a number, expected an integer}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [8, 8], blocks = unit} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{itensor.converter between other types, expected itensors}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [8, 8]} : !A to f32
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{has 1 offsets for 2 results, expected one per result}}
  %0, %1 = itensor.chunk %a at [0, 0] : !A to !B, !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{has no result, expected at least one}}
  "itensor.chunk"(%a) <{offsets = []}> : (!A) -> ()
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<2x2xf32, iter_space: [4, 4] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{result 0 has elements tensor<2x2xf32>, expected tensor<4x2xf32> as the whole}}
  %0 = itensor.chunk %a at [0, 0] : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [seq<=2] * [2], iter_map: (d0) -> (0, d0)>
func.func @f(%a : !A) {
  // expected-error @below {{result 0 has the order 4x2, iter_space: [seq<=2] * [2], iter_map: (d0) -> (0, d0), expected the sizes of the whole: 4x2, iter_space: [2] * [2], iter_map: (d0) -> (0, d0)}}
  %0 = itensor.chunk %a at [0, 0] : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{result 0 has an offset of rank 1, expected rank 2}}
  %0 = itensor.chunk %a at [0] : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{result 0 covers 6 to 10 of dimension 1, expected a slice of its 8 entries}}
  %0 = itensor.chunk %a at [0, 6] : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{result 0 covers 1 to 5 of dimension 1, which cuts elements of 2, expected multiples of 2}}
  %0 = itensor.chunk %a at [0, 1] : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
func.func @f(%a : !A) {
  // expected-error @below {{token 1 of result 0 is at [4, 0], expected [0, 2]: the tokens of the whole in this slice, in its order}}
  %0 = itensor.chunk %a at [0, 0] : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [2, 2, 2] * [1, 4, 2], iter_map: (d0, d1, d2) -> (d1, d2)>
func.func @f(%a : !A) {
  // expected-error @below {{token 4 of result 0 is at [0, 0], expected the end}}
  %0 = itensor.chunk %a at [0, 0] : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [4, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{has 1 offsets for 2 inputs, expected one per input}}
  %0 = itensor.concat %a, %a at [0, 0] : !A, !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{has no input, expected at least one}}
  %0 = "itensor.concat"() <{offsets = []}> : () -> !A
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [4, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{inputs have 8 tokens but result has 16, expected disjoint inputs that cover the result}}
  %0 = itensor.concat %a at [0, 0] : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [4, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{inputs 0 and 2 overlap, expected disjoint slices of the result}}
  %0 = itensor.concat %a, %a, %a at [0, 0], [8, 0], [0, 0] : !A, !A, !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{has no result, expected at least one}}
  "itensor.fork"(%a) : (!A) -> ()
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{result 1 has type !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>, expected the source's type}}
  %0, %1 = itensor.fork %a : !A to !A, !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{has no input, expected at least one}}
  %0 = "itensor.merge"() : () -> !A
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A, %b : !B) {
  // expected-error @below {{input 1 has type !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>, expected the type of input 0}}
  %0 = itensor.merge %a, %b : !A, !B to !A
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<2x4xf32, iter_space: [8, 2] * [2, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{result has elements tensor<2x4xf32>, expected the inputs' tensor<4x2xf32>}}
  %0 = itensor.merge %a, %a : !A, !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{result has 8 tokens, expected the 16 of 2 inputs}}
  %0 = itensor.merge %a, %a : !A, !A to !A
  func.return
}

// -----

!S = !itensor.itensor<1x4xf32, iter_space: [2, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%s : !S) {
  // expected-error @below {{has no result, expected at least one}}
  "itensor.split"(%s) : (!S) -> ()
  func.return
}

// -----

// The halves of each row are a chunk, not a split: token 1 would be at column 4.
!S = !itensor.itensor<1x4xf32, iter_space: [2, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!A = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1 + 8)>
func.func @f(%s : !S) {
  // expected-error @below {{token 1 of result 0 is at [0, 4], expected [0, 8]: every 2. token of the whole from token 0 on}}
  %a, %b = itensor.split %s : !S to !A, !B
  func.return
}

// -----

// The parts in the wrong order.
!S = !itensor.itensor<1x4xf32, iter_space: [2, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!A = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1 + 4)>
func.func @f(%a : !A, %b : !B) {
  // expected-error @below {{token 0 of input 0 is at [0, 4], expected [0, 0]}}
  %s = itensor.merge %b, %a : !B, !A to !S
  func.return
}

// -----

// Too many parts: the first would have a token that it has not.
!S = !itensor.itensor<1x4xf32, iter_space: [2, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!A = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%s : !S) {
  // expected-error @below {{token 1 of result 0 is at [0, 8], expected [0, 12]}}
  %a, %b, %c = itensor.split %s : !S to !A, !A, !A
  func.return
}

// -----

!A = !itensor.itensor<1x4xf32, iter_space: [12, 2, 4] * [4, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!B = !itensor.itensor<1x4xf32, iter_space: [8, 2, 6] * [6, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{has a window of 7 lines of dimension 0, expected at least the 8 held}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [7, 8], blocks = 1, window = 0} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<1x4xf32, iter_space: [12, 2, 4] * [4, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!B = !itensor.itensor<1x4xf32, iter_space: [8, 2, 6] * [6, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{has window = 0 and blocks = 2, expected blocks = 1 of a line buffer}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [8, 8], blocks = 2, window = 0} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<1x4xf32, iter_space: [12, 2, 4] * [4, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!B = !itensor.itensor<1x4xf32, iter_space: [8, 2, 6] * [6, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{has window = 2, expected a dimension of the tensor, 0 to 1}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [48, 8], blocks = 1, window = 2} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<1x4xf32, iter_space: [12, 2, 4] * [4, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!B = !itensor.itensor<1x4xf32, iter_space: [8, 2, 6] * [6, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{has window = 1, along which source and result do not both move from tile to tile}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [48, 8], blocks = 1, window = 1} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<1x4xf32, iter_space: [12, 2, 4] * [4, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!B = !itensor.itensor<1x4xf32, iter_space: [8, 2, 6] * [6, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{buffers 4 entries of dimension 1, expected at least the 8}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [8, 4], blocks = 1, window = 0} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<1x4xf32, iter_space: [12, 2, 4] * [4, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!B = !itensor.itensor<1x4xf32, iter_space: [8, 2, 6] * [6, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{itensor.converter with a window that is not a number, expected a data dimension}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [8, 8], window = "rows"} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<8xf32, iter_space: [9] * [8], iter_map: (d0) -> (d0)>
!B = !itensor.itensor<12xf32, iter_space: [6] * [12], iter_map: (d0) -> (d0)>
func.func @f(%a : !A) {
  // expected-error @below {{has a window of 20 entries in which a token may wrap around, expected a multiple of 24}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [20], blocks = 1, window = 0} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<8xf32, iter_space: [9] * [8], iter_map: (d0) -> (d0)>
!B = !itensor.itensor<12xf32, iter_space: [16] * [4], iter_map: (d0) -> (d0)>
func.func @f(%a : !A) {
  // expected-error @below {{along which the result moves by less than a token}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [72], blocks = 1, window = 0} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<1x4xf32, iter_space: [12, 2, 4] * [4, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!B = !itensor.itensor<1x4xf32, iter_space: [8, 2, 6] * [6, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{has a window of 13 lines, whose schedule takes too many loop nests}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [13, 8], blocks = 1, window = 0} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<1xf32, iter_space: [3, 3] * [1, 3], iter_map: (d0, d1) -> (d0 + d1)>
!B = !itensor.itensor<3xf32, iter_space: [3, 3] * [1, 2], iter_map: (d0, d1) -> (d0 + d1)>
func.func @f(%a : !A) {
  // expected-error @below {{shares loop 0, over whose iterations the windows of the result reach}}
  %0 = itensor.converter %a {shared_loops = 1, buffer_shape = [3], blocks = 1} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<1xf32, iter_space: [9] * [1], iter_map: (d0) -> (d0)>
!B = !itensor.itensor<1xf32, iter_space: [5] * [2], iter_map: (d0) -> (d0)>
func.func @f(%a : !A) {
  // expected-error @below {{converter target does not visit every coordinate}}
  %0 = itensor.converter %a {shared_loops = 0, buffer_shape = [9]} : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<4x2xi32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%a : !A) {
  // expected-error @below {{source has entries of type f32 but result has i32, expected equal types}}
  %0 = itensor.reorder %a : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
!B = !itensor.itensor<2xf32, iter_space: [7] * [1], iter_map: (d0) -> (d0)>
func.func @f(%a : !A) {
  // expected-error @below {{result has the inexact type}}
  %0 = itensor.reorder %a : !A to !B
  func.return
}

// -----

!A = !itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
!B = !itensor.itensor<2xf32, iter_space: [3] * [2], iter_map: (d0) -> (d0)>
func.func @f(%a : !A) {
  // expected-error @below {{source is a tensor of [8] but result one of [6], expected one tensor}}
  %0 = itensor.reorder %a : !A to !B
  func.return
}
