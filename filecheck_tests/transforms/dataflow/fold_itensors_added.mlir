// RUN: stc-opt %s -p 'fold-itensors{limit=1000000}' --allow-unregistered-dialect | filecheck %s
// RUN: stc-opt %s -p 'fold-itensors{limit=1000000 added=100}' --allow-unregistered-dialect | filecheck %s --check-prefix ANY

// By default a task takes the turns of another only where that adds little: a sixteenth of its cycles here, but not all of them.
#maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
!T = tensor<16x128xf32>
!A = !itensor.itensor<16x128xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
dataflow.kernel @k() {
  %e, %e_1, %e_2, %x = "test.op"() : () -> (!A, !A, !A, !A)
  %f = dataflow.task @f ins(%p = %x : !A) outs(%out = %e : !A) -> !A {
    %t = itensor.read %p[] : !A -> !T  %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel"]} ins(%t : !T) outs(%n : !T)
      attrs = {stc.schedule = #dataflow.schedule<tile = [16, 128], order = [0, 1], unroll = [1, 1], vector = []>} {
    ^bb0(%i: f32, %o: f32): linalg.yield %i : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %g = dataflow.task @g ins(%p = %f : !A) outs(%out = %e_1 : !A) -> !A {
    %t = itensor.read %p[] : !A -> !T  %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel"]} ins(%t : !T) outs(%n : !T)
      attrs = {stc.schedule = #dataflow.schedule<tile = [16, 128], order = [0, 1], unroll = [1, 16], vector = []>} {
    ^bb0(%i: f32, %o: f32): linalg.yield %i : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  %h = dataflow.task @h ins(%p = %g : !A) outs(%out = %e_2 : !A) -> !A {
    %t = itensor.read %p[] : !A -> !T  %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel"]} ins(%t : !T) outs(%n : !T)
      attrs = {stc.schedule = #dataflow.schedule<tile = [16, 128], order = [0, 1], unroll = [1, 1], vector = []>} {
    ^bb0(%i: f32, %o: f32): linalg.yield %i : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
}

// CHECK: dataflow.task @f_and_g ins
// CHECK: dataflow.task @h ins
// ANY: dataflow.task @f_and_g_and_h ins
// ANY-NOT: dataflow.task
