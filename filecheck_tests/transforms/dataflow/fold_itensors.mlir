// RUN: stc-opt %s -p 'fold-itensors{limit=1000 added=100}' --split-input-file --allow-unregistered-dialect | filecheck %s

// Two tasks that pass tiles in step become one, which reads the reader's other input where it writes.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#s = #dataflow.schedule<tile = [2], order = [0], unroll = [1], vector = []>
!T = tensor<2xf32>
!A = !itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
dataflow.kernel @in_step() {
  %v, %e, %e_1 = "test.op"() : () -> (!A, !A, !A)
  %f = dataflow.task @f outs(%out = %e : !A) -> !A {
    %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c8 = arith.constant 8 : index
    %done = scf.for %i = %c0 to %c8 step %c2 iter_args(%to = %out) -> (!A) {
      %t = "test.op"() : () -> !T
      %w = itensor.write %t into %to[%i] : !T -> !A
      scf.yield %w : !A
    }
    dataflow.yield %done : !A
  }
  %g = dataflow.task @g ins(%p = %f : !A, %q = %v : !A) outs(%out = %e_1 : !A) -> !A {
    %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c8 = arith.constant 8 : index
    %done = scf.for %k = %c0 to %c8 step %c2 iter_args(%to = %out) -> (!A) {
      %a = itensor.read %p[%k] : !A -> !T  %b = itensor.read %q[%k] : !A -> !T
      %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%a, %b : !T, !T)
        outs(%n : !T) attrs = {stc.schedule = #s} { ^bb0(%x: f32, %y: f32, %z: f32): linalg.yield %y : f32 } -> !T
      %w = itensor.write %r into %to[%k] : !T -> !A
      scf.yield %w : !A
    }
    dataflow.yield %done : !A
  }
}

// CHECK-LABEL: @in_step(
// CHECK: @f_and_g ins(%[[Q:.*]] = %v : !itensor)
// CHECK: %[[T:.*]] = "test.op"
// CHECK-NEXT: %[[B:.*]] = itensor.read %[[Q]][%i]
// CHECK: %[[R:.*]] = linalg.generic{{.*}}ins(%[[T]], %[[B]] :
// CHECK: itensor.write %[[R]] into %to[%i]
// CHECK-NOT: dataflow.task

// -----

// The writer writes in the last step of a reduction: the reader's other input is read in that step too.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#s = #dataflow.schedule<tile = [2], order = [0], unroll = [1], vector = []>
!T = tensor<2xf32>
!A = !itensor.itensor<2xf32, iter_space: [] * [], iter_map: () -> (0)>
dataflow.kernel @guarded() {
  %v, %e, %e_1 = "test.op"() : () -> (!A, !A, !A)
  %f = dataflow.task @f outs(%out = %e : !A) -> !A {
    %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index
    %done = scf.for %k = %c0 to %c4 step %c2 iter_args(%to = %out) -> (!A) {
      %t = "test.op"() : () -> !T  %last = arith.cmpi eq, %k, %c2 : index
      %w = scf.if %last -> (!A) {
        %written = itensor.write %t into %to[] : !T -> !A
        scf.yield %written : !A
      } else { scf.yield %to : !A }
      scf.yield %w : !A
    }
    dataflow.yield %done : !A
  }
  %g = dataflow.task @g ins(%p = %f : !A, %q = %v : !A) outs(%out = %e_1 : !A) -> !A {
    %a = itensor.read %p[] : !A -> !T  %b = itensor.read %q[] : !A -> !T
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%a, %b : !T, !T)
      outs(%n : !T) attrs = {stc.schedule = #s} { ^bb0(%x: f32, %y: f32, %z: f32): linalg.yield %y : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
}

// CHECK-LABEL: @guarded(
// CHECK: @f_and_g ins(%[[Q:.*]] = %v : !itensor)
// CHECK: scf.if
// CHECK-NEXT: %[[B:.*]] = itensor.read %[[Q]][]
// CHECK: itensor.write

// -----

// The writer computes two sums at once, and the loop that reduces is one pipeline: a reader of two iterations stays a task.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#once = #dataflow.schedule<tile = [2], order = [0], unroll = [2], vector = []>
#twice = #dataflow.schedule<tile = [2], order = [0], unroll = [1], vector = []>
!T = tensor<2xf32>
!A = !itensor.itensor<2xf32, iter_space: [] * [], iter_map: () -> (0)>
dataflow.kernel @pipelined() {
  %e, %e_1 = "test.op"() : () -> (!A, !A)
  %f = dataflow.task @f outs(%out = %e : !A) -> !A {
    %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index  %z = tensor.empty() : !T
    %sum, %done = scf.for %k = %c0 to %c4 step %c2 iter_args(%s = %z, %to = %out) -> (!T, !A) {
      %v = "test.op"() : () -> !T
      %t = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%v : !T) outs(%s : !T)
        attrs = {stc.schedule = #once} { ^bb0(%x: f32, %y: f32):  %a = arith.addf %x, %y : f32  linalg.yield %a : f32 } -> !T
      %last = arith.cmpi eq, %k, %c2 : index
      %w = scf.if %last -> (!A) {
        %written = itensor.write %t into %to[] : !T -> !A
        scf.yield %written : !A
      } else { scf.yield %to : !A }
      scf.yield %t, %w : !T, !A
    }
    dataflow.yield %done : !A
  }
  %g = dataflow.task @g ins(%p = %f : !A) outs(%out = %e_1 : !A) -> !A {
    %a = itensor.read %p[] : !A -> !T  %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%a : !T)
      outs(%n : !T) attrs = {stc.schedule = #twice} { ^bb0(%x: f32, %y: f32): linalg.yield %x : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
}

// CHECK-LABEL: @pipelined(
// CHECK: dataflow.task @f outs(
// CHECK: dataflow.task @g ins(

// -----

// A reader of one iteration is in the pipeline.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#once = #dataflow.schedule<tile = [2], order = [0], unroll = [2], vector = []>
#twice = #dataflow.schedule<tile = [2], order = [0], unroll = [2], vector = []>
!T = tensor<2xf32>
!A = !itensor.itensor<2xf32, iter_space: [] * [], iter_map: () -> (0)>
dataflow.kernel @at_once() {
  %e, %e_1 = "test.op"() : () -> (!A, !A)
  %f = dataflow.task @f outs(%out = %e : !A) -> !A {
    %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index  %z = tensor.empty() : !T
    %sum, %done = scf.for %k = %c0 to %c4 step %c2 iter_args(%s = %z, %to = %out) -> (!T, !A) {
      %v = "test.op"() : () -> !T
      %t = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%v : !T) outs(%s : !T)
        attrs = {stc.schedule = #once} { ^bb0(%x: f32, %y: f32):  %a = arith.addf %x, %y : f32  linalg.yield %a : f32 } -> !T
      %last = arith.cmpi eq, %k, %c2 : index
      %w = scf.if %last -> (!A) {
        %written = itensor.write %t into %to[] : !T -> !A
        scf.yield %written : !A
      } else { scf.yield %to : !A }
      scf.yield %t, %w : !T, !A
    }
    dataflow.yield %done : !A
  }
  %g = dataflow.task @g ins(%p = %f : !A) outs(%out = %e_1 : !A) -> !A {
    %a = itensor.read %p[] : !A -> !T  %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%a : !T)
      outs(%n : !T) attrs = {stc.schedule = #twice} { ^bb0(%x: f32, %y: f32): linalg.yield %x : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
}

// CHECK-LABEL: @at_once(
// CHECK: dataflow.task @f_and_g outs(

// -----

// There is no pipeline where the writer needs two iterations, too.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#once = #dataflow.schedule<tile = [2], order = [0], unroll = [1], vector = []>
#twice = #dataflow.schedule<tile = [2], order = [0], unroll = [1], vector = []>
!T = tensor<2xf32>
!A = !itensor.itensor<2xf32, iter_space: [] * [], iter_map: () -> (0)>
dataflow.kernel @one_by_one() {
  %e, %e_1 = "test.op"() : () -> (!A, !A)
  %f = dataflow.task @f outs(%out = %e : !A) -> !A {
    %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index  %z = tensor.empty() : !T
    %sum, %done = scf.for %k = %c0 to %c4 step %c2 iter_args(%s = %z, %to = %out) -> (!T, !A) {
      %v = "test.op"() : () -> !T
      %t = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%v : !T) outs(%s : !T)
        attrs = {stc.schedule = #once} { ^bb0(%x: f32, %y: f32):  %a = arith.addf %x, %y : f32  linalg.yield %a : f32 } -> !T
      %last = arith.cmpi eq, %k, %c2 : index
      %w = scf.if %last -> (!A) {
        %written = itensor.write %t into %to[] : !T -> !A
        scf.yield %written : !A
      } else { scf.yield %to : !A }
      scf.yield %t, %w : !T, !A
    }
    dataflow.yield %done : !A
  }
  %g = dataflow.task @g ins(%p = %f : !A) outs(%out = %e_1 : !A) -> !A {
    %a = itensor.read %p[] : !A -> !T  %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%a : !T)
      outs(%n : !T) attrs = {stc.schedule = #twice} { ^bb0(%x: f32, %y: f32): linalg.yield %x : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
}

// CHECK-LABEL: @one_by_one(
// CHECK: dataflow.task @f_and_g outs(

// -----

// A vector along the rows is read outside the writer's loop over columns.
#maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>]
#s = #dataflow.schedule<tile = [4, 2], order = [0, 1], unroll = [1, 1], vector = []>
!T = tensor<4x2xf32>
!V = !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
!A = !itensor.itensor<4x2xf32, iter_space: [2] * [2], iter_map: (d0) -> (0, d0)>
dataflow.kernel @outside_the_inner_loop() {
  %v, %e, %e_1 = "test.op"() : () -> (!V, !A, !A)
  %f = dataflow.task @f outs(%out = %e : !A) -> !A {
    %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index
    %done = scf.for %j = %c0 to %c4 step %c2 iter_args(%to = %out) -> (!A) {
      %t = "test.op"() : () -> !T
      %w = itensor.write %t into %to[%j] : !T -> !A
      scf.yield %w : !A
    }
    dataflow.yield %done : !A
  }
  %g = dataflow.task @g ins(%p = %f : !A, %q = %v : !V) outs(%out = %e_1 : !A) -> !A {
    %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index
    %b = itensor.read %q[] : !V -> tensor<4xf32>
    %done = scf.for %j = %c0 to %c4 step %c2 iter_args(%to = %out) -> (!A) {
      %a = itensor.read %p[%j] : !A -> !T  %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : !T, tensor<4xf32>) outs(%n : !T) attrs = {stc.schedule = #s} {
      ^bb0(%x: f32, %y: f32, %z: f32): linalg.yield %y : f32 } -> !T
      %w = itensor.write %r into %to[%j] : !T -> !A
      scf.yield %w : !A
    }
    dataflow.yield %done : !A
  }
}

// CHECK-LABEL: @outside_the_inner_loop(
// CHECK: @f_and_g ins(%[[Q:.*]] = %v : !itensor
// CHECK: %[[B:.*]] = itensor.read %[[Q]][]
// CHECK-NEXT: scf.for %j
// CHECK: linalg.generic{{.*}}ins(%{{.*}}, %[[B]] :

// -----

// The same where a reduction is around the write: the vector would have to be read in one step of it only. Not folded.
#maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>]
#s = #dataflow.schedule<tile = [4, 2], order = [0, 1], unroll = [1, 1], vector = []>
!T = tensor<4x2xf32>
!V = !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
!A = !itensor.itensor<4x2xf32, iter_space: [2] * [2], iter_map: (d0) -> (0, d0)>
dataflow.kernel @vector_in_a_reduction() {
  %v, %e, %e_1 = "test.op"() : () -> (!V, !A, !A)
  %f = dataflow.task @f outs(%out = %e : !A) -> !A {
    %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index
    %done = scf.for %k = %c0 to %c4 step %c2 iter_args(%to = %out) -> (!A) {
      %done = scf.for %j = %c0 to %c4 step %c2 iter_args(%to_1 = %to) -> (!A) {
        %t = "test.op"() : () -> !T  %last = arith.cmpi eq, %k, %c2 : index
        %w = scf.if %last -> (!A) {
          %written = itensor.write %t into %to_1[%j] : !T -> !A
          scf.yield %written : !A
        } else { scf.yield %to_1 : !A }
        scf.yield %w : !A
      }
      scf.yield %done : !A
    }
    dataflow.yield %done : !A
  }
  %g = dataflow.task @g ins(%p = %f : !A, %q = %v : !V) outs(%out = %e_1 : !A) -> !A {
    %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index
    %b = itensor.read %q[] : !V -> tensor<4xf32>
    %done = scf.for %j = %c0 to %c4 step %c2 iter_args(%to = %out) -> (!A) {
      %a = itensor.read %p[%j] : !A -> !T  %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : !T, tensor<4xf32>) outs(%n : !T) attrs = {stc.schedule = #s} {
      ^bb0(%x: f32, %y: f32, %z: f32): linalg.yield %y : f32 } -> !T
      %w = itensor.write %r into %to[%j] : !T -> !A
      scf.yield %w : !A
    }
    dataflow.yield %done : !A
  }
}

// CHECK-LABEL: @vector_in_a_reduction(
// CHECK: dataflow.task @f outs
// CHECK: dataflow.task @g ins

// -----

// Not in step: a tile that is read once is written in one loop, and used in each step of the reader's. Not folded.
#maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>]
#s = #dataflow.schedule<tile = [4, 2], order = [0, 1], unroll = [1, 1], vector = []>
!T = tensor<4x2xf32>
!V = !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
!A = !itensor.itensor<4x2xf32, iter_space: [2] * [2], iter_map: (d0) -> (0, d0)>
dataflow.kernel @out_of_step() {
  %e, %e_1 = "test.op"() : () -> (!V, !A)
  %f = dataflow.task @f outs(%out = %e : !V) -> !V {
    %t = "test.op"() : () -> tensor<4xf32>
    %w = itensor.write %t into %out[] : tensor<4xf32> -> !V
    dataflow.yield %w : !V
  }
  %g = dataflow.task @g ins(%p = %f : !V) outs(%out = %e_1 : !A) -> !A {
    %c0 = arith.constant 0 : index  %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index
    %a = itensor.read %p[] : !V -> tensor<4xf32>
    %done = scf.for %j = %c0 to %c4 step %c2 iter_args(%to = %out) -> (!A) {
      %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4xf32>)
        outs(%n : !T) attrs = {stc.schedule = #s} { ^bb0(%x: f32, %z: f32): linalg.yield %x : f32 } -> !T
      %w = itensor.write %r into %to[%j] : !T -> !A
      scf.yield %w : !A
    }
    dataflow.yield %done : !A
  }
}

// CHECK-LABEL: @out_of_step(
// CHECK: dataflow.task @f outs
// CHECK: dataflow.task @g ins

// -----

// An input that both read in the same place is read once.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#s = #dataflow.schedule<tile = [2], order = [0], unroll = [1], vector = []>
!T = tensor<2xf32>
!A = !itensor.itensor<2xf32, iter_space: [] * [], iter_map: () -> (0)>
dataflow.kernel @shared_input() {
  %x, %e, %e_1 = "test.op"() : () -> (!A, !A, !A)
  %f = dataflow.task @f ins(%p = %x : !A) outs(%out = %e : !A) -> !A {
    %t = itensor.read %p[] : !A -> !T
    %w = itensor.write %t into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %g = dataflow.task @g ins(%p = %f : !A, %q = %x : !A) outs(%out = %e_1 : !A) -> !A {
    %a = itensor.read %p[] : !A -> !T  %b = itensor.read %q[] : !A -> !T
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%a, %b : !T, !T)
      outs(%n : !T) attrs = {stc.schedule = #s} { ^bb0(%x: f32, %y: f32, %z: f32): linalg.yield %y : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
}

// CHECK-LABEL: @shared_input(
// CHECK: @f_and_g ins(%p = %x : !itensor) outs
// CHECK: %[[T:.*]] = itensor.read %p[]
// CHECK-NOT: itensor.read
// CHECK: linalg.generic{{.*}}ins(%[[T]], %[[T]] :

// -----

// What was folded is folded further: three in a row are one.
#s = #dataflow.schedule<tile = [2], order = [0], unroll = [1], vector = []>
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
!T = tensor<2xf32>
!A = !itensor.itensor<2xf32, iter_space: [] * [], iter_map: () -> (0)>
dataflow.kernel @three_in_a_row() {
  %e, %e_1, %e_2 = "test.op"() : () -> (!A, !A, !A)
  %f = dataflow.task @f outs(%out = %e : !A) -> !A {
    %t = "test.op"() : () -> !T
    %w = itensor.write %t into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %g = dataflow.task @g ins(%p = %f : !A) outs(%out = %e_1 : !A) -> !A {
    %t = itensor.read %p[] : !A -> !T  %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
      attrs = {stc.schedule = #s} { ^bb0(%i: f32, %o: f32): linalg.yield %i : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %h = dataflow.task @h ins(%p = %g : !A) outs(%out = %e_2 : !A) -> !A {
    %t = itensor.read %p[] : !A -> !T  %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
      attrs = {stc.schedule = #s} { ^bb0(%i: f32, %o: f32): linalg.yield %i : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
}

// CHECK-LABEL: @three_in_a_row(
// CHECK: @f_and_g_and_h outs
// CHECK: %[[T:.*]] = "test.op"
// CHECK: %[[G:.*]] = linalg.generic{{.*}}ins(%[[T]] :
// CHECK: %[[H:.*]] = linalg.generic{{.*}}ins(%[[G]] :
// CHECK: itensor.write %[[H]] into

// -----

// A second reader of the stream: not folded.
#s = #dataflow.schedule<tile = [2], order = [0], unroll = [1], vector = []>
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
!T = tensor<2xf32>
!A = !itensor.itensor<2xf32, iter_space: [] * [], iter_map: () -> (0)>
dataflow.kernel @two_readers() {
  %e, %e_1 = "test.op"() : () -> (!A, !A)
  %f = dataflow.task @f outs(%out = %e : !A) -> !A {
    %t = "test.op"() : () -> !T
    %w = itensor.write %t into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %g = dataflow.task @g ins(%p = %f : !A) outs(%out = %e_1 : !A) -> !A {
    %t = itensor.read %p[] : !A -> !T  %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
      attrs = {stc.schedule = #s} { ^bb0(%i: f32, %o: f32): linalg.yield %i : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  "test.op"(%f) : (!A) -> ()
}

// CHECK-LABEL: @two_readers(
// CHECK: dataflow.task @f outs
// CHECK: dataflow.task @g ins
