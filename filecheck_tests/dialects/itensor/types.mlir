// RUN: stc-opt %s --allow-unregistered-dialect | stc-opt - --no-aliases --allow-unregistered-dialect | filecheck %s

// The three itensors of one tensor<8x8xf32> in docs/design/method.md.
// CHECK: type_a = !itensor.itensor<2x2xf32, iter_space: [4, 4] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>
"test.types"() {type_a = !itensor.itensor<2x2xf32, iter_space: [4, 4] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>} : () -> ()
// CHECK: type_b = !itensor.itensor<4x2xf32, iter_space: [4, 2] * [2, 4], iter_map: (d0, d1) -> (d1, d0)>
"test.types"() {type_b = !itensor.itensor<4x2xf32, iter_space: [4, 2] * [2, 4], iter_map: (i, j) -> (j, i)>} : () -> ()
// CHECK: type_c = !itensor.itensor<4x2xf32, iter_space: [4, 2, 2] * [2, 1, 4], iter_map: (d0, d1, d2) -> (d2, d0)>
"test.types"() {type_c = !itensor.itensor<4x2xf32, iter_space: [4, 2, 2] * [2, 1, 4], iter_map: (d0, d1, d2) -> (d2, d0)>} : () -> ()

// Sums are sorted and constants added up.
// CHECK: sums = !itensor.itensor<4x4xi8, iter_space: [2, 2, 2] * [4, 4, 8], iter_map: (d0, d1, d2) -> (d0 + d2 + 6, 4)>
"test.types"() {sums = !itensor.itensor<4x4xi8, iter_space: [2, 2, 2] * [4, 4, 8], iter_map: (a, b, c) -> (c + 2 + a + 4, 4)>} : () -> ()

// CHECK: rank_0 = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
"test.types"() {rank_0 = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>} : () -> ()

// CHECK: symbol = !itensor.itensor<1xf32, iter_space: [seq<=128] * [1], iter_map: (d0) -> (d0)>
"test.types"() {symbol = !itensor.itensor<1xf32, iter_space: [seq<=128] * [1], iter_map: (d0) -> (d0)>} : () -> ()
// CHECK: tiles = !itensor.itensor<16x8xf32, iter_space: [ceildiv(seq<=128, 16)] * [16], iter_map: (d0) -> (d0, pos<=7)>
"test.types"() {tiles = !itensor.itensor<16x8xf32, iter_space: [ceildiv(seq<=128, 16)] * [16], iter_map: (d0) -> (d0, pos<=7)>} : () -> ()

// Sizes of decoding: rows up to the position, at most a window of them; integers are folded, and one spelling is printed.
// CHECK: rows = !itensor.itensor<1x8xf32, iter_space: [min(sum(pos<=7, 1), 4)] * [1], iter_map: (d0) -> (d0 + max(sum(pos<=7, -3), 0), 0)>
"test.types"() {rows = !itensor.itensor<1x8xf32, iter_space: [min(4, sum(1, pos<=7), 9)] * [1], iter_map: (d0) -> (d0 + max(0, sum(pos<=7, -4, 1)), 0)>} : () -> ()

// CHECK: order = #itensor.order<4x4, iter_space: [2] * [4], iter_map: (d0) -> (d0, 0)>
"test.types"() {order = #itensor.order<4x4, iter_space: [2] * [4], iter_map: (d0) -> (d0, 0)>} : () -> ()
// CHECK: scalar_order = #itensor.order<[], iter_space: [] * [], iter_map: () -> ()>
"test.types"() {scalar_order = #itensor.order<[], iter_space: [] * [], iter_map: () -> ()>} : () -> ()
