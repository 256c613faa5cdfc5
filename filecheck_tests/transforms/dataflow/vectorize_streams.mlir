// RUN: stc-opt %s -p 'vectorize-streams{lanes=4}' --split-input-file --allow-unregistered-dialect | filecheck %s

// A 2x8 tile is read as four vectors of 4, and written so; the type says in which order.
!A = !itensor.itensor<2x8xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
dataflow.kernel @tiles() {
  %x, %e = "test.op"() : () -> (!A, !A)
  %y = dataflow.task @n ins(%p = %x : !A) outs(%out = %e : !A) -> !A {
    %c0 = arith.constant 0 : index  %c4 = arith.constant 4 : index  %c2 = arith.constant 2 : index
    %done = scf.for %i = %c0 to %c4 step %c2 iter_args(%to = %out) -> (!A) {
      %t = itensor.read %p[%i] : !A -> tensor<2x8xf32>
      %w = itensor.write %t into %to[%i] : tensor<2x8xf32> -> !A
      scf.yield %w : !A
    }
    dataflow.yield %done : !A
  }
}

// CHECK: !itensor = !itensor.itensor<1x4xf32, iter_space: [2, 2, 2] * [2, 1, 4], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
// CHECK-LABEL: @tiles(
// CHECK: [[TILE:%.*]] = scf.for %row = %c0{{.*}} to %c2{{.*}} step %c1
// CHECK: scf.for %column = %c0{{.*}} to %c8{{.*}} step %c4
// CHECK-NEXT: [[TOKEN:%.*]] = itensor.read %p[%i, %row, %column] : !itensor -> tensor<1x4xf32>
// CHECK-NEXT: tensor.insert_slice [[TOKEN]] into %{{.*}}[%row, %column] [1, 4]
// CHECK: scf.for [[ROW:%.*]] = %c0{{.*}} to %c2{{.*}} step %c1
// CHECK: scf.for [[COLUMN:%.*]] = %c0{{.*}} to %c8{{.*}} step %c4
// CHECK-NEXT: [[TOKEN1:%.*]] = tensor.extract_slice [[TILE]][[[ROW]], [[COLUMN]]] [1, 4]
// CHECK-NEXT: itensor.write [[TOKEN1]] into %{{.*}}[%i, [[ROW]], [[COLUMN]]] : tensor<1x4xf32> -> !itensor

// -----

// 7 entries do not split into 4 lanes but into single ones; 6 into threes.
!A = !itensor.itensor<7xf32, iter_space: [] * [], iter_map: () -> (0)>
!B = !itensor.itensor<6xf32, iter_space: [] * [], iter_map: () -> (0)>
dataflow.kernel @odd() {
  %x, %y = "test.op"() : () -> (!A, !B)
  dataflow.task @n ins(%p = %x : !A, %q = %y : !B) {
    %t = itensor.read %p[] : !A -> tensor<7xf32>
    %u = itensor.read %q[] : !B -> tensor<6xf32>
  }
}

// CHECK-DAG: [[A:!.*]] = !itensor.itensor<1xf32, iter_space: [7] * [1], iter_map: (d0) -> (d0)>
// CHECK-DAG: [[B:!.*]] = !itensor.itensor<3xf32, iter_space: [2] * [3], iter_map: (d0) -> (d0)>
// CHECK-LABEL: @odd(
// CHECK: scf.for [[ENTRY:%.*]] = %c0 to %c7 step %c1
// CHECK-NEXT: itensor.read %p[[[ENTRY]]] : [[A]] -> tensor<1xf32>
// CHECK: scf.for [[ENTRY1:%.*]] = %c0{{.*}} to %c6 step %c3
// CHECK-NEXT: itensor.read %q[[[ENTRY1]]] : [[B]] -> tensor<3xf32>

// -----

// Tokens that are vectors already, and rank 0, stay.
!A = !itensor.itensor<1x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
!B = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
dataflow.kernel @unchanged() {
  %x, %y = "test.op"() : () -> (!A, !B)
  dataflow.task @n ins(%p = %x : !A, %q = %y : !B) {
    %t = itensor.read %p[] : !A -> tensor<1x4xf32>
    %u = itensor.read %q[] : !B -> tensor<f32>
  }
}

// CHECK: itensor<1x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK-LABEL: @unchanged(
// CHECK-NOT: scf.for
// CHECK: itensor.read %p[] : !itensor -> tensor<1x4xf32>
// CHECK-NEXT: itensor.read %q[] : !itensor1 -> tensor<f32>

// -----

// Tiles of 2x4 and of 1x4 over whole rows: different tokens, the same vectors, so that the converter goes.
!A = !itensor.itensor<2x4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
!B = !itensor.itensor<1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)>
dataflow.kernel @same_vectors() {
  %x = "test.op"() : () -> !A
  %y = itensor.converter %x {shared_loops = 0, buffer_shape = [4, 4], blocks = 1} : !A to !B
  "test.op"(%y) : (!B) -> ()
}

// CHECK-LABEL: @same_vectors(
// CHECK-NOT: itensor.converter
// CHECK: itensor.cast %x

// -----

// Where schedules say more than `lanes`: 16 at the input, as the first vector shape says, 8 between the tasks, since the first
// brings no more, and 16 at the result for the unroll factor.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#wide = #dataflow.schedule<tile = [16], order = [0], unroll = [16], vector = []>
#shaped = #dataflow.schedule<tile = [16], order = [0], unroll = [1], vector = [[16], [8]]>
!T = tensor<16xf32>
!A = !itensor.itensor<16xf32, iter_space: [] * [], iter_map: () -> (0)>
dataflow.kernel @as_scheduled() {
  %x, %e, %e_1 = "test.op"() : () -> (!A, !A, !A)
  %y = dataflow.task @shaped ins(%p = %x : !A) outs(%out = %e : !A) -> !A {
    %t = itensor.read %p[] : !A -> !T  %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
      attrs = {stc.schedule = #shaped} { ^bb0(%a: f32, %o: f32): linalg.yield %a : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %z = dataflow.task @wide ins(%p = %y : !A) outs(%out = %e_1 : !A) -> !A {
    %t = itensor.read %p[] : !A -> !T  %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
      attrs = {stc.schedule = #wide} { ^bb0(%a: f32, %o: f32): linalg.yield %a : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
}

// CHECK-LABEL: @as_scheduled(
// CHECK: itensor.read %p[] : {{.*}} -> tensor<16xf32>
// CHECK: itensor.write {{.*}} : tensor<8xf32> ->
// CHECK: itensor.read %p[{{.*}} -> tensor<8xf32>
// CHECK: itensor.write {{.*}} : tensor<16xf32> ->

// -----

// A concatenation passes a token in a cycle: three tasks of 4 lanes want 12 lanes, so that all go on in each cycle, which are 16,
// since 12 do not divide their rows.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#four = #dataflow.schedule<tile = [16], order = [0], unroll = [4], vector = []>
#wide = #dataflow.schedule<tile = [16], order = [0], unroll = [16], vector = []>
!T = tensor<16xf32>
!A = !itensor.itensor<16xf32, iter_space: [] * [], iter_map: () -> (0)>
!J = !itensor.itensor<16xf32, iter_space: [3] * [16], iter_map: (d0) -> (d0)>
dataflow.kernel @joined() {
  %a, %b, %c, %e, %e_1, %e_2 = "test.op"() : () -> (!T, !T, !T, !A, !A, !A)
  %x = dataflow.task @first ins(%p = %a : !T) outs(%out = %e : !A) -> !A {
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%p : !T) outs(%n : !T)
      attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %y = dataflow.task @second ins(%p = %b : !T) outs(%out = %e_1 : !A) -> !A {
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%p : !T) outs(%n : !T)
      attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %z = dataflow.task @third ins(%p = %c : !T) outs(%out = %e_2 : !A) -> !A {
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%p : !T) outs(%n : !T)
      attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %j = itensor.concat %x, %y, %z at [0], [16], [32] : !A, !A, !A to !J
  dataflow.task @behind ins(%p = %j : !J) {
    %c0 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c48 = arith.constant 48 : index
    scf.for %i = %c0 to %c48 step %c16 {
      %t = itensor.read %p[%i] : !J -> !T  %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
        attrs = {stc.schedule = #wide} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
      "test.op"(%r) : (!T) -> ()
    }
  }
}

// CHECK-LABEL: @joined(
// CHECK-COUNT-3: itensor.write {{.*}} : tensor<16xf32> ->
// CHECK: itensor.concat %x, %y, %z
// CHECK: itensor.read %p[{{.*}} -> tensor<16xf32>

// -----

// Where what stands behind takes 4 entries at a time, vectors of 4 are enough.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#four = #dataflow.schedule<tile = [16], order = [0], unroll = [4], vector = []>
#slow = #dataflow.schedule<tile = [16], order = [0], unroll = [4], vector = []>
!T = tensor<16xf32>
!A = !itensor.itensor<16xf32, iter_space: [] * [], iter_map: () -> (0)>
!J = !itensor.itensor<16xf32, iter_space: [3] * [16], iter_map: (d0) -> (d0)>
dataflow.kernel @narrow() {
  %a, %b, %c, %e, %e_1, %e_2 = "test.op"() : () -> (!T, !T, !T, !A, !A, !A)
  %x = dataflow.task @first ins(%p = %a : !T) outs(%out = %e : !A) -> !A {
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%p : !T) outs(%n : !T)
      attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %y = dataflow.task @second ins(%p = %b : !T) outs(%out = %e_1 : !A) -> !A {
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%p : !T) outs(%n : !T)
      attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %z = dataflow.task @third ins(%p = %c : !T) outs(%out = %e_2 : !A) -> !A {
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%p : !T) outs(%n : !T)
      attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %j = itensor.concat %x, %y, %z at [0], [16], [32] : !A, !A, !A to !J
  dataflow.task @behind ins(%p = %j : !J) {
    %c0 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c48 = arith.constant 48 : index
    scf.for %i = %c0 to %c48 step %c16 {
      %t = itensor.read %p[%i] : !J -> !T  %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
        attrs = {stc.schedule = #slow} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
      "test.op"(%r) : (!T) -> ()
    }
  }
}

// CHECK-LABEL: @narrow(
// CHECK-COUNT-3: itensor.write {{.*}} : tensor<4xf32> ->
// CHECK: itensor.concat %x, %y, %z
// CHECK: itensor.read %p[{{.*}} -> tensor<4xf32>

// -----

// What a schedule says of vectors is so, however many are joined.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#four = #dataflow.schedule<tile = [16], order = [0], unroll = [4], vector = [[4], [2]]>
#slow = #dataflow.schedule<tile = [16], order = [0], unroll = [16], vector = []>
!T = tensor<16xf32>
!A = !itensor.itensor<16xf32, iter_space: [] * [], iter_map: () -> (0)>
!J = !itensor.itensor<16xf32, iter_space: [3] * [16], iter_map: (d0) -> (d0)>
dataflow.kernel @said() {
  %a, %b, %c, %e, %e_1, %e_2 = "test.op"() : () -> (!T, !T, !T, !A, !A, !A)
  %x = dataflow.task @first ins(%p = %a : !T) outs(%out = %e : !A) -> !A {
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%p : !T) outs(%n : !T)
      attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %y = dataflow.task @second ins(%p = %b : !T) outs(%out = %e_1 : !A) -> !A {
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%p : !T) outs(%n : !T)
      attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %z = dataflow.task @third ins(%p = %c : !T) outs(%out = %e_2 : !A) -> !A {
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%p : !T) outs(%n : !T)
      attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %j = itensor.concat %x, %y, %z at [0], [16], [32] : !A, !A, !A to !J
  dataflow.task @behind ins(%p = %j : !J) {
    %c0 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c48 = arith.constant 48 : index
    scf.for %i = %c0 to %c48 step %c16 {
      %t = itensor.read %p[%i] : !J -> !T  %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
        attrs = {stc.schedule = #slow} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
      "test.op"(%r) : (!T) -> ()
    }
  }
}

// CHECK-LABEL: @said(
// CHECK-COUNT-3: itensor.write {{.*}} : tensor<2xf32> ->
// CHECK: itensor.concat %x, %y, %z
// CHECK: itensor.read %p[{{.*}} -> tensor<2xf32>

// -----

// But for the width that `propagate-orders` writes where nobody asked for one: all that is joined has room.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#four = #dataflow.schedule<tile = [16], order = [0], unroll = [4], vector = [[4], [4]]>
#slow = #dataflow.schedule<tile = [16], order = [0], unroll = [16], vector = []>
!T = tensor<16xf32>
!A = !itensor.itensor<16xf32, iter_space: [] * [], iter_map: () -> (0)>
!J = !itensor.itensor<16xf32, iter_space: [3] * [16], iter_map: (d0) -> (d0)>
dataflow.kernel @unsaid() {
  %a, %b, %c, %e, %e_1, %e_2 = "test.op"() : () -> (!T, !T, !T, !A, !A, !A)
  %x = dataflow.task @first ins(%p = %a : !T) outs(%out = %e : !A) -> !A {
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%p : !T) outs(%n : !T)
      attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %y = dataflow.task @second ins(%p = %b : !T) outs(%out = %e_1 : !A) -> !A {
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%p : !T) outs(%n : !T)
      attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %z = dataflow.task @third ins(%p = %c : !T) outs(%out = %e_2 : !A) -> !A {
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%p : !T) outs(%n : !T)
      attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %j = itensor.concat %x, %y, %z at [0], [16], [32] : !A, !A, !A to !J
  dataflow.task @behind ins(%p = %j : !J) {
    %c0 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c48 = arith.constant 48 : index
    scf.for %i = %c0 to %c48 step %c16 {
      %t = itensor.read %p[%i] : !J -> !T  %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
        attrs = {stc.schedule = #slow} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
      "test.op"(%r) : (!T) -> ()
    }
  }
}

// CHECK-LABEL: @unsaid(
// CHECK-COUNT-3: itensor.write {{.*}} : tensor<16xf32> ->
// CHECK: itensor.concat %x, %y, %z
// CHECK: itensor.read %p[{{.*}} -> tensor<16xf32>

// -----

// What one point a cycle makes leaves entry by entry, as it is read behind the converter, which has nothing left to do then; what four
// make leaves by fours, so that the converter takes them apart.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#one = #dataflow.schedule<tile = [8], order = [0], unroll = [1], vector = []>
#four = #dataflow.schedule<tile = [8], order = [0], unroll = [4], vector = []>
#slow = #dataflow.schedule<tile = [16], order = [0], unroll = [1], vector = [[1], [1]]>
!T = tensor<8xf32>
!U = tensor<16xf32>
!A = !itensor.itensor<8xf32, iter_space: [2] * [8], iter_map: (d0) -> (d0)>
!B = !itensor.itensor<16xf32, iter_space: [] * [], iter_map: () -> (0)>
dataflow.kernel @behind() {
  %a, %e, %e_1 = "test.op"() : () -> (!T, !A, !A)
  %x = dataflow.task @slow ins(%p = %a : !T) outs(%out = %e : !A) -> !A {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c16 = arith.constant 16 : index
    %w = scf.for %i = %c0 to %c16 step %c8 iter_args(%to = %out) -> (!A) {
      %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%p : !T) outs(%n : !T)
        attrs = {stc.schedule = #one} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
      %v = itensor.write %r into %to[%i] : !T -> !A
      scf.yield %v : !A
    }
    dataflow.yield %w : !A
  }
  %y = dataflow.task @fast ins(%p = %a : !T) outs(%out = %e_1 : !A) -> !A {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c16 = arith.constant 16 : index
    %w = scf.for %i = %c0 to %c16 step %c8 iter_args(%to = %out) -> (!A) {
      %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%p : !T) outs(%n : !T)
        attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
      %v = itensor.write %r into %to[%i] : !T -> !A
      scf.yield %v : !A
    }
    dataflow.yield %w : !A
  }
  %b = itensor.converter %x {shared_loops = 0, buffer_shape = [16], blocks = 1} : !A to !B
  %c = itensor.converter %y {shared_loops = 0, buffer_shape = [16], blocks = 1} : !A to !B
  dataflow.task @reader ins(%p = %b : !B, %q = %c : !B) {
    %t = itensor.read %p[] : !B -> !U  %u = itensor.read %q[] : !B -> !U  %n = tensor.empty() : !U
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !U) outs(%n : !U)
      attrs = {stc.schedule = #slow} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !U
    %z = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%u : !U) outs(%n : !U)
      attrs = {stc.schedule = #slow} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !U
    "test.op"(%r, %z) : (!U, !U) -> ()
  }
}

// CHECK-LABEL: @behind(
// CHECK: dataflow.task @slow
// CHECK: itensor.write {{.*}} : tensor<1xf32> ->
// CHECK: dataflow.task @fast
// CHECK: itensor.write {{.*}} : tensor<4xf32> ->
// CHECK-NOT: itensor.converter %x
// CHECK: itensor.converter %y

// -----

// Nobody says how fast a stream comes that no computation makes: what one reader takes through a converter does not make it narrow for
// another.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#fast = #dataflow.schedule<tile = [8], order = [0], unroll = [8], vector = []>
#slow = #dataflow.schedule<tile = [16], order = [0], unroll = [1], vector = [[1], [1]]>
!T = tensor<8xf32>
!U = tensor<16xf32>
!A = !itensor.itensor<8xf32, iter_space: [2] * [8], iter_map: (d0) -> (d0)>
!B = !itensor.itensor<16xf32, iter_space: [] * [], iter_map: () -> (0)>
dataflow.kernel @forked() {
  %x = "test.op"() : () -> !A
  %p, %q = itensor.fork %x : !A to !A, !A
  dataflow.task @wide ins(%i = %p : !A) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c16 = arith.constant 16 : index
    scf.for %j = %c0 to %c16 step %c8 {
      %t = itensor.read %i[%j] : !A -> !T
      %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
        attrs = {stc.schedule = #fast} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
      "test.op"(%r) : (!T) -> ()
    }
  }
  %b = itensor.converter %q {shared_loops = 0, buffer_shape = [16], blocks = 1} : !A to !B
  dataflow.task @slow ins(%i = %b : !B) {
    %t = itensor.read %i[] : !B -> !U  %n = tensor.empty() : !U
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !U) outs(%n : !U)
      attrs = {stc.schedule = #slow} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !U
    "test.op"(%r) : (!U) -> ()
  }
}

// CHECK-LABEL: @forked(
// CHECK: dataflow.task @wide
// CHECK: itensor.read {{.*}} -> tensor<8xf32>
// CHECK: itensor.converter

// -----

// A converter that turns columns to rows has to do that, however narrow: what it reads stays as wide as it was.
#maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
#one = #dataflow.schedule<tile = [2, 4], order = [0, 1], unroll = [1, 1], vector = []>
#slow = #dataflow.schedule<tile = [2, 4], order = [0, 1], unroll = [1, 1], vector = [[1, 1], [1, 1]]>
!T = tensor<2x4xf32>
!A = !itensor.itensor<2x4xf32, iter_space: [2, 2] * [4, 2], iter_map: (d0, d1) -> (d1, d0)>
!B = !itensor.itensor<2x4xf32, iter_space: [2, 2] * [2, 4], iter_map: (d0, d1) -> (d0, d1)>
dataflow.kernel @turned() {
  %a, %e = "test.op"() : () -> (!T, !A)
  %x = dataflow.task @slow ins(%p = %a : !T) outs(%out = %e : !A) -> !A {
    %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
    %w = scf.for %j = %c0 to %c8 step %c4 iter_args(%d = %out) -> (!A) {
      %v = scf.for %i = %c0 to %c4 step %c2 iter_args(%to = %d) -> (!A) {
        %n = tensor.empty() : !T
        %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel"]} ins(%p : !T) outs(%n : !T)
          attrs = {stc.schedule = #one} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
        %u = itensor.write %r into %to[%j, %i] : !T -> !A
        scf.yield %u : !A
      }
      scf.yield %v : !A
    }
    dataflow.yield %w : !A
  }
  %b = itensor.converter %x {shared_loops = 0, buffer_shape = [4, 8], blocks = 1} : !A to !B
  dataflow.task @reader ins(%q = %b : !B) {
    %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c4 step %c2 { scf.for %j = %c0 to %c8 step %c4 {
      %t = itensor.read %q[%i, %j] : !B -> !T  %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel"]} ins(%t : !T) outs(%n : !T)
        attrs = {stc.schedule = #slow} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
      "test.op"(%r) : (!T) -> ()
    } }
  }
}

// CHECK-LABEL: @turned(
// CHECK: itensor.write {{.*}} : tensor<1x4xf32> ->
// CHECK: itensor.converter

// -----

// Rows of a cache come in halves, those of all heads before the others: they are put together to vectors as wide as those read.
!C = !itensor.itensor<1x1x8xf32, iter_space: [2, 6] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
!H = !itensor.itensor<1x1x4xf32, iter_space: [2, 2] * [4, 1], iter_map: (d0, d1) -> (d1, 0, d0)>
func.func @halves(%cache: tensor<2x6x8xf32>, %p: i32 {stc.name = "pos"}) -> (tensor<2x6x8xf32>, tensor<2x6x8xf32>) {
  %y, %r = dataflow.kernel @k(%a = %cache : tensor<2x6x8xf32> as !C) -> (tensor<2x6x8xf32> as !C, tensor<2x1x8xf32> as !H) {
    %n = itensor.empty : !H
    dataflow.yield %a, %n : !C, !H
  }
  %at = arith.index_cast %p : i32 to index
  %u = tensor.insert_slice %r into %cache[0, %at, 0] [2, 1, 8] [1, 1, 1] : tensor<2x1x8xf32> into tensor<2x6x8xf32>
  func.return %y, %u : tensor<2x6x8xf32>, tensor<2x6x8xf32>
}

// CHECK-LABEL: func.func @halves(
// CHECK: %n = itensor.empty : !itensor2
// CHECK-NEXT: %n_1 = itensor.converter %n {shared_loops = 0, buffer_shape = [2, 1, 8], blocks = 1} : !itensor2 to !itensor1
// CHECK-NEXT: dataflow.yield %a, %n_1 : !itensor, !itensor1

// -----

// Sums leave as many at once as are added, though one at a time is read behind them; what is no sum is as wide as its reader wants;
// six at once would take a divider to find one.
#sums = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>]
#same = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#eight = #dataflow.schedule<tile = [48, 5], order = [1, 0], unroll = [8, 1], vector = [[1, 8], [8]]>
#six = #dataflow.schedule<tile = [48, 5], order = [1, 0], unroll = [6, 1], vector = [[1, 6], [6]]>
#wide = #dataflow.schedule<tile = [48], order = [0], unroll = [8], vector = [[8], [8]]>
#single = #dataflow.schedule<tile = [48], order = [0], unroll = [1], vector = [[1], [1]]>
!T = tensor<48xf32>
!A = !itensor.itensor<48xf32, iter_space: [] * [], iter_map: () -> (0)>
dataflow.kernel @sums() {
  %a, %b, %e, %f, %g = "test.op"() : () -> (tensor<5x48xf32>, !T, !A, !A, !A)
  %x = dataflow.task @sums_of_eight ins(%p = %a : tensor<5x48xf32>) outs(%out = %e : !A) -> !A {
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #sums, iterator_types = ["parallel", "reduction"]} ins(%p : tensor<5x48xf32>) outs(%n : !T)
      attrs = {stc.schedule = #eight} { ^bb0(%s: f32, %o: f32): %t = arith.addf %s, %o : f32 linalg.yield %t : f32 } -> !T
    %u = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %u : !A
  }
  %y = dataflow.task @copies_of_eight ins(%p = %b : !T) outs(%out = %f : !A) -> !A {
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #same, iterator_types = ["parallel"]} ins(%p : !T) outs(%n : !T)
      attrs = {stc.schedule = #wide} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
    %u = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %u : !A
  }
  %z = dataflow.task @sums_of_six ins(%p = %a : tensor<5x48xf32>) outs(%out = %g : !A) -> !A {
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #sums, iterator_types = ["parallel", "reduction"]} ins(%p : tensor<5x48xf32>) outs(%n : !T)
      attrs = {stc.schedule = #six} { ^bb0(%s: f32, %o: f32): %t = arith.addf %s, %o : f32 linalg.yield %t : f32 } -> !T
    %u = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %u : !A
  }
  dataflow.task @readers ins(%q = %x : !A, %r = %y : !A, %s = %z : !A) {
    %t0 = itensor.read %q[] : !A -> !T  %n0 = tensor.empty() : !T
    %r0 = linalg.generic {indexing_maps = #same, iterator_types = ["parallel"]} ins(%t0 : !T) outs(%n0 : !T)
      attrs = {stc.schedule = #single} { ^bb0(%i: f32, %o: f32): linalg.yield %i : f32 } -> !T
    %t1 = itensor.read %r[] : !A -> !T  %n1 = tensor.empty() : !T
    %r1 = linalg.generic {indexing_maps = #same, iterator_types = ["parallel"]} ins(%t1 : !T) outs(%n1 : !T)
      attrs = {stc.schedule = #single} { ^bb0(%i: f32, %o: f32): linalg.yield %i : f32 } -> !T
    %t2 = itensor.read %s[] : !A -> !T  %n2 = tensor.empty() : !T
    %r2 = linalg.generic {indexing_maps = #same, iterator_types = ["parallel"]} ins(%t2 : !T) outs(%n2 : !T)
      attrs = {stc.schedule = #single} { ^bb0(%i: f32, %o: f32): linalg.yield %i : f32 } -> !T
    "test.op"(%r0, %r1, %r2) : (!T, !T, !T) -> ()
  }
}

// CHECK-LABEL: @sums(
// CHECK: dataflow.task @sums_of_eight
// CHECK: itensor.write {{.*}} : tensor<8xf32> ->
// CHECK: dataflow.task @copies_of_eight
// CHECK: itensor.write {{.*}} : tensor<1xf32> ->
// CHECK: dataflow.task @sums_of_six
// CHECK: itensor.write {{.*}} : tensor<1xf32> ->

// -----

// One stream is taken apart to two, whose readers take 4 at once each: 8 at once keep both at work, where that is made.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#eight = #dataflow.schedule<tile = [16], order = [0], unroll = [8], vector = [[8], [8]]>
#four = #dataflow.schedule<tile = [16], order = [0], unroll = [4], vector = [[4], [4]]>
!T = tensor<16xf32>
!A = !itensor.itensor<16xf32, iter_space: [2] * [16], iter_map: (d0) -> (d0)>
!P = !itensor.itensor<16xf32, iter_space: [] * [], iter_map: () -> (0)>
dataflow.kernel @taken_apart() {
  %a, %e = "test.op"() : () -> (!T, !A)
  %x = dataflow.task @fast ins(%p = %a : !T) outs(%out = %e : !A) -> !A {
    %c0 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c32 = arith.constant 32 : index
    %w = scf.for %i = %c0 to %c32 step %c16 iter_args(%to = %out) -> (!A) {
      %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%p : !T) outs(%n : !T)
        attrs = {stc.schedule = #eight} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
      %u = itensor.write %r into %to[%i] : !T -> !A
      scf.yield %u : !A
    }
    dataflow.yield %w : !A
  }
  %l, %h = itensor.chunk %x at [0], [16] : !A to !P, !P
  dataflow.task @low ins(%q = %l : !P) {
    %t = itensor.read %q[] : !P -> !T  %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
      attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
    "test.op"(%r) : (!T) -> ()
  }
  dataflow.task @high ins(%q = %h : !P) {
    %t = itensor.read %q[] : !P -> !T  %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
      attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
    "test.op"(%r) : (!T) -> ()
  }
}

// CHECK-LABEL: @taken_apart(
// CHECK: itensor.write {{.*}} : tensor<8xf32> ->
// CHECK: dataflow.task @low
// CHECK: itensor.read {{.*}} -> tensor<8xf32>
// CHECK: dataflow.task @high
// CHECK: itensor.read {{.*}} -> tensor<8xf32>

// -----

// Where each of what is joined has a reader of its own, of 4 lanes, which all of them are too wide for: vectors of 4 up to there, and
// from there to the join of as many as who reads all of them takes.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#four = #dataflow.schedule<tile = [16], order = [0], unroll = [4], vector = []>
#wide = #dataflow.schedule<tile = [16], order = [0], unroll = [16], vector = []>
!T = tensor<16xf32>
!A = !itensor.itensor<16xf32, iter_space: [] * [], iter_map: () -> (0)>
!J = !itensor.itensor<16xf32, iter_space: [2] * [16], iter_map: (d0) -> (d0)>
dataflow.kernel @put_together() {
  %a, %b = "test.op"() : () -> (!A, !A)
  %x0, %x1 = itensor.fork %a : !A to !A, !A
  %y0, %y1 = itensor.fork %b : !A to !A, !A
  dataflow.task @own ins(%p = %x1 : !A, %q = %y1 : !A) {
    %t = itensor.read %p[] : !A -> !T  %u = itensor.read %q[] : !A -> !T  %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%t, %u : !T, !T) outs(%n : !T) attrs = {stc.schedule = #four} { ^bb0(%s: f32, %v: f32, %o: f32): linalg.yield %s : f32 } -> !T
    "test.op"(%r) : (!T) -> ()
  }
  %j = itensor.concat %x0, %y0 at [0], [16] : !A, !A to !J
  dataflow.task @behind ins(%p = %j : !J) {
    %c0 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c32 = arith.constant 32 : index
    scf.for %i = %c0 to %c32 step %c16 {
      %t = itensor.read %p[%i] : !J -> !T  %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
        attrs = {stc.schedule = #wide} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
      "test.op"(%r) : (!T) -> ()
    }
  }
}

// CHECK-LABEL: @put_together(
// CHECK-COUNT-2: itensor.read {{.*}} -> tensor<4xf32>
// CHECK: [[X:%.*]] = itensor.converter %x0 {{.*}}buffer_shape = [16]
// CHECK: [[Y:%.*]] = itensor.converter %y0 {{.*}}buffer_shape = [16]
// CHECK: itensor.concat [[X]], [[Y]]
// CHECK: itensor.read {{.*}} -> tensor<16xf32>

// -----

// What is taken apart passes a token a cycle for all parts: each of four parts is read 4 entries at a time, by tasks that have tiles of
// their own, so that vectors of 16 are taken apart.
#maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
#four = #dataflow.schedule<tile = [1, 32], order = [0, 1], unroll = [1, 4], vector = []>
!T = tensor<1x32xf32>
!J = !itensor.itensor<1x16xf32, iter_space: [4, 2] * [1, 16], iter_map: (d0, d1) -> (d0, d1)>
!P = !itensor.itensor<1x16xf32, iter_space: [1, 2] * [1, 16], iter_map: (d0, d1) -> (d0, d1)>
!A = !itensor.itensor<1x32xf32, iter_space: [1] * [1], iter_map: (d0) -> (d0, 0)>
dataflow.kernel @chunked() {
  %a = "test.op"() : () -> !J
  %x0, %x1, %x2, %x3 = itensor.chunk %a at [0, 0], [1, 0], [2, 0], [3, 0] : !J to !P, !P, !P, !P
  %t0 = itensor.converter %x0 {shared_loops = 1, buffer_shape = [1, 32], blocks = 1} : !P to !A
  %t1 = itensor.converter %x1 {shared_loops = 1, buffer_shape = [1, 32], blocks = 1} : !P to !A
  dataflow.task @one ins(%p = %t0 : !A) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c1 step %c1 {
      %t = itensor.read %p[%i] : !A -> !T  %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel"]} ins(%t : !T) outs(%n : !T)
        attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
      "test.op"(%r) : (!T) -> ()
    }
  }
  dataflow.task @other ins(%p = %t1 : !A) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c1 step %c1 {
      %t = itensor.read %p[%i] : !A -> !T  %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel"]} ins(%t : !T) outs(%n : !T)
        attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
      "test.op"(%r) : (!T) -> ()
    }
  }
  "test.op"(%x2, %x3) : (!P, !P) -> ()
}

// CHECK: [[WIDE:!.*]] = !itensor.itensor<1x16xf32, iter_space: [4, 2] * [1, 16]
// CHECK-LABEL: @chunked(
// CHECK: itensor.chunk {{.*}} : [[WIDE]] to
// CHECK-NOT: itensor.converter
// CHECK: itensor.read {{.*}} -> tensor<1x16xf32>
// CHECK: itensor.read {{.*}} -> tensor<1x16xf32>

// -----

// What is joined twice, the second time for who takes few at a time, stays as narrow as that: there is one stream for both.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#four = #dataflow.schedule<tile = [16], order = [0], unroll = [4], vector = []>
#wide = #dataflow.schedule<tile = [16], order = [0], unroll = [16], vector = []>
!T = tensor<16xf32>
!A = !itensor.itensor<16xf32, iter_space: [] * [], iter_map: () -> (0)>
!J = !itensor.itensor<16xf32, iter_space: [2] * [16], iter_map: (d0) -> (d0)>
!K = !itensor.itensor<16xf32, iter_space: [4] * [16], iter_map: (d0) -> (d0)>
dataflow.kernel @joined_twice() {
  %a, %b = "test.op"() : () -> (!A, !A)
  %z = "test.op"() : () -> (!J)
  %x0, %x1 = itensor.fork %a : !A to !A, !A
  %y0, %y1 = itensor.fork %b : !A to !A, !A
  %z0, %z1 = itensor.fork %z : !J to !J, !J
  "test.op"(%x1, %y1, %z1) : (!A, !A, !J) -> ()
  %j = itensor.concat %x0, %y0 at [0], [16] : !A, !A to !J
  %j0, %j1 = itensor.fork %j : !J to !J, !J
  dataflow.task @behind ins(%p = %j0 : !J) {
    %c0 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c32 = arith.constant 32 : index
    scf.for %i = %c0 to %c32 step %c16 {
      %t = itensor.read %p[%i] : !J -> !T  %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
        attrs = {stc.schedule = #wide} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
      "test.op"(%r) : (!T) -> ()
    }
  }
  %k = itensor.concat %j1, %z0 at [0], [32] : !J, !J to !K
  dataflow.task @last ins(%p = %k : !K) {
    %c0 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c32 = arith.constant 64 : index
    scf.for %i = %c0 to %c32 step %c16 {
      %t = itensor.read %p[%i] : !K -> !T  %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
        attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !T
      "test.op"(%r) : (!T) -> ()
    }
  }
}

// CHECK-LABEL: @joined_twice(
// CHECK-NOT: itensor.converter
// CHECK: itensor.read {{.*}} -> tensor<4xf32>
// CHECK: itensor.read {{.*}} -> tensor<4xf32>

// -----

// A converter that sends what it has three times brings its reader tokens as that wants them, however many streams there are before it.
#maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
#four = #dataflow.schedule<tile = [2, 32], order = [0, 1], unroll = [1, 4], vector = []>
!T = tensor<2x32xf32>
!J = !itensor.itensor<1x32xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
!P = !itensor.itensor<1x32xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0)>
!A = !itensor.itensor<1x32xf32, iter_space: [3, 2] * [1, 1], iter_map: (d0, d1) -> (d1, 0)>
!R = tensor<1x32xf32>
dataflow.kernel @reordered_behind() {
  %a = "test.op"() : () -> !J
  %x0, %x1, %x2, %x3 = itensor.chunk %a at [0, 0], [2, 0], [4, 0], [6, 0] : !J to !P, !P, !P, !P
  %t0 = itensor.converter %x0 {shared_loops = 0, buffer_shape = [2, 32], blocks = 1} : !P to !A
  dataflow.task @one ins(%p = %t0 : !A) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index %c3 = arith.constant 3 : index
    scf.for %h = %c0 to %c3 step %c1 {
    scf.for %i = %c0 to %c2 step %c1 {
      %t = itensor.read %p[%h, %i] : !A -> !R  %n = tensor.empty() : !R
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel"]} ins(%t : !R) outs(%n : !R)
        attrs = {stc.schedule = #four} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !R
      "test.op"(%r) : (!R) -> ()
    }}
  }
  "test.op"(%x1, %x2, %x3) : (!P, !P, !P) -> ()
}

// CHECK-LABEL: @reordered_behind(
// CHECK: itensor.read {{.*}} -> tensor<1x4xf32>

// -----

// Of two readers behind converters, of 16 and 8 lanes, the stream has the fewer, whichever comes first.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#s8 = #dataflow.schedule<tile = [32], order = [0], unroll = [8], vector = []>
#s16 = #dataflow.schedule<tile = [32], order = [0], unroll = [16], vector = []>
!T = tensor<32xf32>
!S = !itensor.itensor<32xf32, iter_space: [2] * [32], iter_map: (d0) -> (d0)>
!A = !itensor.itensor<64xf32, iter_space: [] * [], iter_map: () -> (0)>
!U = tensor<64xf32>
dataflow.kernel @least_of_two() {
  %a = "test.op"() : () -> !S
  %f, %g = itensor.fork %a : !S to !S, !S
  %x = itensor.converter %f {shared_loops = 0, buffer_shape = [64], blocks = 1} : !S to !A
  %y = itensor.converter %g {shared_loops = 0, buffer_shape = [64], blocks = 1} : !S to !A
  dataflow.task @one ins(%p = %x : !A) {
      %t = itensor.read %p[] : !A -> !U  %n = tensor.empty() : !U
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !U) outs(%n : !U)
        attrs = {stc.schedule = #s16} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !U
      "test.op"(%r) : (!U) -> ()
  }
  dataflow.task @two ins(%p = %y : !A) {
      %t = itensor.read %p[] : !A -> !U  %n = tensor.empty() : !U
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !U) outs(%n : !U)
        attrs = {stc.schedule = #s8} { ^bb0(%s: f32, %o: f32): linalg.yield %s : f32 } -> !U
      "test.op"(%r) : (!U) -> ()
  }
}

// CHECK: [[EIGHT:!.*]] = !itensor.itensor<8xf32
// CHECK-LABEL: @least_of_two(
// CHECK: itensor.fork {{.*}} : [[EIGHT]] to [[EIGHT]], [[EIGHT]]
