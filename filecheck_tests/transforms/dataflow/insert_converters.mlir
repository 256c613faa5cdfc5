// RUN: stc-opt %s -p insert-converters --split-input-file --allow-unregistered-dialect | filecheck %s

// Equal types meet directly.
// SHOW: itensor|test
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
%s = "test.op"() : () -> !S
%t = itensor.reorder %s : !S to !S
"test.op"(%t) : (!S) -> ()

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK: %s = "test.op"() : () -> !itensor
// CHECK-NEXT: "test.op"(%s) : (!itensor) -> ()

// -----

// Types that differ in spelling only (4 steps of 1, 2 x 2 steps of 1) meet through a cast.
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
!T = !itensor.itensor<1xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1)>
%s = "test.op"() : () -> !S
%t = itensor.reorder %s : !S to !T
"test.op"(%t) : (!T) -> ()

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<1xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1)>
// CHECK: %s = "test.op"() : () -> !itensor
// CHECK-NEXT: %[[S:.*]] = itensor.cast %s : !itensor to !itensor1
// CHECK-NEXT: "test.op"(%[[S]]) : (!itensor1) -> ()

// -----

// Orders that differ meet through a converter; the loop over rows is shared, so two blocks of two rows suffice.
!S = !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
!T = !itensor.itensor<2x2xf32, iter_space: [4, 3] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>
%s = "test.op"() : () -> !S
%t = itensor.reorder %s : !S to !T
"test.op"(%t) : (!T) -> ()

// CHECK: !itensor = !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<2x2xf32, iter_space: [4, 3] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: %s = "test.op"() : () -> !itensor
// CHECK-NEXT: %[[S:.*]] = itensor.converter %s {shared_loops = 1, buffer_shape = [2, 6], blocks = 2} : !itensor to !itensor1
// CHECK-NEXT: "test.op"(%[[S]]) : (!itensor1) -> ()

// -----

// No loop is shared between rows outside and columns outside: one block holds everything.
!S = !itensor.itensor<1x1xf32, iter_space: [4, 8] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!T = !itensor.itensor<1x1xf32, iter_space: [8, 4] * [1, 1], iter_map: (d0, d1) -> (d1, d0)>
%s = "test.op"() : () -> !S
%t = itensor.reorder %s : !S to !T
"test.op"(%t) : (!T) -> ()

// CHECK: !itensor = !itensor.itensor<1x1xf32, iter_space: [4, 8] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<1x1xf32, iter_space: [8, 4] * [1, 1], iter_map: (d0, d1) -> (d1, d0)>
// CHECK: %s = "test.op"() : () -> !itensor
// CHECK-NEXT: %[[S:.*]] = itensor.converter %s {shared_loops = 0, buffer_shape = [4, 8], blocks = 1} : !itensor to !itensor1
// CHECK-NEXT: "test.op"(%[[S]]) : (!itensor1) -> ()

// -----

// A reader that reuses tokens needs a converter, though it sees the same tiles in the same order.
!S = !itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
!T = !itensor.itensor<2xf32, iter_space: [3, 4] * [1, 2], iter_map: (d0, d1) -> (d1)>
%s = "test.op"() : () -> !S
%t = itensor.reorder %s : !S to !T
"test.op"(%t) : (!T) -> ()

// CHECK: !itensor = !itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<2xf32, iter_space: [3, 4] * [1, 2], iter_map: (d0, d1) -> (d1)>
// CHECK: %s = "test.op"() : () -> !itensor
// CHECK-NEXT: %[[S:.*]] = itensor.converter %s {shared_loops = 0, buffer_shape = [8], blocks = 1} : !itensor to !itensor1
// CHECK-NEXT: "test.op"(%[[S]]) : (!itensor1) -> ()

// -----

// Two readers that want one order share what brings the stream there.
!S = !itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
!T = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
%s = "test.op"() : () -> !S
%t = itensor.reorder %s : !S to !T
%u = itensor.reorder %s : !S to !T
"test.op"(%t, %u) : (!T, !T) -> ()

// CHECK: !itensor = !itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<2xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d0 + d1)>
// CHECK: !itensor2 = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
// CHECK: %s = "test.op"() : () -> !itensor
// CHECK-NEXT: %[[S:.*]] = itensor.cast %s : !itensor to !itensor1
// CHECK-NEXT: %[[S1:.*]] = itensor.converter %[[S]] {shared_loops = 1, buffer_shape = [4], blocks = 2} : !itensor1 to !itensor2
// CHECK-NEXT: "test.op"(%[[S1]], %[[S1]]) : (!itensor2, !itensor2) -> ()
