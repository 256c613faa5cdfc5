// RUN: stc-opt %s -p canonicalize --split-input-file --no-aliases | filecheck %s

// What changes nothing goes, and what nobody uses.
!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!U = !itensor.itensor<4x2xf32, iter_space: [1, 2, 4] * [1, 4, 2], iter_map: (u, d0, d1) -> (d0, d1)>
func.func @nothing_left(%a : !A) -> !A {
  %0 = itensor.cast %a : !A to !A
  %1 = itensor.reassociate %0 : !A to !A
  %2 = itensor.converter %1 {shared_loops = 2, buffer_shape = [4, 2]} : !A to !A
  %order = itensor.reorder %2 : !A to !A
  %3 = itensor.chunk %order at [0, 0] : !A to !A
  %4 = itensor.concat %3 at [0, 0] : !A to !A
  %5 = itensor.fork %4 : !A to !A
  %6 = itensor.merge %5 : !A to !A
  %there = itensor.cast %6 : !A to !U
  %back = itensor.cast %there : !U to !A
  %unused = itensor.empty : !A
  func.return %back : !A
}

// CHECK-LABEL: @nothing_left(
// CHECK-NEXT: func.return %a

// -----

// Casts combine.
!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!U = !itensor.itensor<4x2xf32, iter_space: [1, 2, 4] * [1, 4, 2], iter_map: (u, d0, d1) -> (d0, d1)>
func.func @casts_combine(%a : !A) -> !U {
  %0 = itensor.cast %a : !A to !U
  %1 = itensor.cast %0 : !U to !A
  %2 = itensor.cast %1 : !A to !U
  func.return %2 : !U
}

// CHECK-LABEL: @casts_combine(
// CHECK-NEXT: itensor.cast %a
// CHECK-NEXT: func.return

// -----

// So do reorders.
!A = !itensor.itensor<4x2xf32, iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)>
!U = !itensor.itensor<4x2xf32, iter_space: [1, 2, 4] * [1, 4, 2], iter_map: (u, d0, d1) -> (d0, d1)>
!C = !itensor.itensor<2x8xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0, 0)>
func.func @reorders_combine(%a : !A) -> !U {
  %0 = itensor.reorder %a : !A to !C
  %1 = itensor.reorder %0 : !C to !U
  func.return %1 : !U
}

// CHECK-LABEL: @reorders_combine(
// CHECK-NEXT: itensor.reorder %a
// CHECK-NEXT: func.return

// -----

// A read advances a cursor: it stays although its result is unused.
!S = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
func.func @read_stays(%x : !S) {
  %0 = itensor.read %x[] : !S -> tensor<f32>
  %1 = itensor.read %x[] : !S -> tensor<f32>
  func.return
}

// CHECK-LABEL: @read_stays(
// CHECK: itensor.read
// CHECK: itensor.read
