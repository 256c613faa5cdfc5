// RUN: stc-opt %s --split-input-file | stc-opt - --split-input-file --no-aliases | filecheck %s

// The same sequence in another spelling, another order, another shape.
!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!UNIT = !itensor.itensor<4x2xf32, iter_space: [1, 2, 4] * [1, 4, 2], iter_map: (u, d0, d1) -> (d0, d1)>
!FLAT = !itensor.itensor<8xf32, iter_space: [8] * [8], iter_map: (d0) -> (d0)>
!B = !itensor.itensor<4x2xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
func.func @orders(%a : !A) {
  // CHECK: %cast = itensor.cast %a : !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)> to !itensor.itensor<4x2xf32, iter_space: [1, 2, 4] * [1, 4, 2], iter_map: (d0, d1, d2) -> (d1, d2)>
  %cast = itensor.cast %a : !A to !UNIT
  // CHECK: %order = itensor.reorder %a : {{.*}} to !itensor.itensor<4x2xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
  %order = itensor.reorder %a : !A to !B
  // CHECK: %flat = itensor.reassociate %a : {{.*}} to !itensor.itensor<8xf32, iter_space: [8] * [8], iter_map: (d0) -> (d0)>
  %flat = itensor.reassociate %a : !A to !FLAT
  func.return
}

// -----

// (b) and (c) of docs/design/method.md: one shared loop, so that the buffer is 8x2. Three rows at a time, one row further down each
// time: a line buffer holds three rows.
!B = !itensor.itensor<4x2xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
!C = !itensor.itensor<4x2xf32, iter_space: [4, 2, 2] * [2, 1, 4], iter_map: (d0, d1, d2) -> (d2, d0)>
!ROWS = !itensor.itensor<1x8xf32, iter_space: [30] * [1], iter_map: (d0) -> (d0, 0)>
!WINDOWS = !itensor.itensor<3x2xf32, iter_space: [28, 4] * [1, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @converters(%b : !B, %rows : !ROWS) {
  // CHECK: %conv = itensor.converter %b {shared_loops = 1, buffer_shape = [8, 2]} : {{.*}} to !itensor.itensor<4x2xf32, iter_space: [4, 2, 2] * [2, 1, 4], iter_map: (d0, d1, d2) -> (d2, d0)>
  %conv = itensor.converter %b {shared_loops = 1, buffer_shape = [8, 2]} : !B to !C
  // CHECK: %single = itensor.converter %b {shared_loops = 0, buffer_shape = [8, 8], blocks = 1, stc.module = "here"} :
  %single = itensor.converter %b {shared_loops = 0, buffer_shape = [8, 8], blocks = 1, stc.module = "here"} : !B to !C
  // CHECK: %lines = itensor.converter %rows {shared_loops = 0, buffer_shape = [3, 8], blocks = 1, window = 0} :
  %lines = itensor.converter %rows {shared_loops = 0, buffer_shape = [3, 8], blocks = 1, window = 0} : !ROWS to !WINDOWS
  func.return
}

// -----

// Slices, and what they are slices of.
!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!HALF = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @parts(%a : !A) {
  // CHECK: %left, %right = itensor.chunk %a at [0, 0], [0, 4] : {{.*}} to !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>, !itensor
  %left, %right = itensor.chunk %a at [0, 0], [0, 4] : !A to !HALF, !HALF
  // CHECK: %whole = itensor.concat %left, %right at [0, 0], [0, 4] :
  %whole = itensor.concat %left, %right at [0, 0], [0, 4] : !HALF, !HALF to !A
  func.return
}

// -----

// Copies, and tokens dealt round-robin.
!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!EVEN = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
!ODD = !itensor.itensor<4x2xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1 + 2)>
!TALL = !itensor.itensor<4x2xf32, iter_space: [4, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
func.func @copies(%a : !A) {
  // CHECK: %one, %two = itensor.fork %a :
  %one, %two = itensor.fork %a : !A to !A, !A
  // CHECK: %merged = itensor.merge %one, %two : {{.*}} to !itensor.itensor<4x2xf32, iter_space: [4, 4]
  %merged = itensor.merge %one, %two : !A, !A to !TALL
  // CHECK: %even, %odd = itensor.split %a :
  %even, %odd = itensor.split %a : !A to !EVEN, !ODD
  // CHECK: %again = itensor.merge %even, %odd :
  %again = itensor.merge %even, %odd : !EVEN, !ODD to !A
  func.return
}
