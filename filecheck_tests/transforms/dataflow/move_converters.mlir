// RUN: stc-opt %s -p 'move-converters{lanes=1}' --split-input-file --allow-unregistered-dialect | filecheck %s

// Two results of rows are subtracted in columns: @s goes by rows instead, so that its one output is converted, not both inputs.
#maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
#s = #dataflow.schedule<tile = [6, 2], order = [0, 1], unroll = [1, 1], vector = []>
!Rows = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!Columns = !itensor.itensor<6x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
!T = tensor<6x2xf32>
dataflow.kernel @two_inputs() {
  %a, %b, %e = "test.op"() : () -> (!Rows, !Rows, !Columns)
  %a_1 = itensor.converter %a {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !Rows to !Columns
  %b_1 = itensor.converter %b {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !Rows to !Columns
  %s = dataflow.task @s ins(%p = %a_1 : !Columns, %q = %b_1 : !Columns) outs(%out = %e : !Columns) -> !Columns {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c2 = arith.constant 2 : index
    %done = scf.for %j = %c0 to %c8 step %c2 iter_args(%to = %out) -> (!Columns) {
      %t = itensor.read %p[%j] : !Columns -> !T  %u = itensor.read %q[%j] : !Columns -> !T  %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel"]} ins(%t, %u : !T, !T) outs(%n : !T)
        attrs = {stc.schedule = #s} { ^bb0(%x: f32, %y: f32, %z: f32): linalg.yield %x : f32 } -> !T
      %w = itensor.write %r into %to[%j] : !T -> !Columns
      scf.yield %w : !Columns
    }
    dataflow.yield %done : !Columns
  }
  "test.op"(%s) : (!Columns) -> ()
}

// CHECK-LABEL: @two_inputs(
// CHECK-NOT: itensor.converter
// CHECK: [[S:%.*]] = dataflow.task @s ins({{.*}} = %a : [[ROWS:!.*]], {{.*}} = %b : [[ROWS]]) outs({{.*}}) -> [[ROWS]]
// CHECK: [[C:%.*]] = itensor.converter [[S]] {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : [[ROWS]] to
// CHECK: "test.op"([[C]])

// -----

// @s spreads a vector over rows and is wanted by columns: as columns it needs the vector whole, 24 bytes instead of 192.
#maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>]
#s = #dataflow.schedule<tile = [1, 8], order = [0, 1], unroll = [1, 1], vector = []>
!V = !itensor.itensor<1xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0)>
!Rows = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!Columns = !itensor.itensor<6x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
!T = tensor<1x8xf32>
dataflow.kernel @broadcast() {
  %a, %e = "test.op"() : () -> (!V, !Rows)
  %s = dataflow.task @s ins(%p = %a : !V) outs(%out = %e : !Rows) -> !Rows {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c6 = arith.constant 6 : index
    %done = scf.for %i = %c0 to %c6 step %c1 iter_args(%to = %out) -> (!Rows) {
      %t = itensor.read %p[%i] : !V -> tensor<1xf32>  %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel"]} ins(%t : tensor<1xf32>) outs(%n : !T)
        attrs = {stc.schedule = #s} { ^bb0(%x: f32, %z: f32): linalg.yield %x : f32 } -> !T
      %w = itensor.write %r into %to[%i] : !T -> !Rows
      scf.yield %w : !Rows
    }
    dataflow.yield %done : !Rows
  }
  %s_1 = itensor.converter %s {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !Rows to !Columns
  "test.op"(%s_1) : (!Columns) -> ()
}

// CHECK-LABEL: @broadcast(
// CHECK: [[C:%.*]] = itensor.converter %a {shared_loops = 0, buffer_shape = [6], blocks = 1}
// CHECK: [[S:%.*]] = dataflow.task @s ins({{.*}} = [[C]] :
// CHECK-NOT: itensor.converter
// CHECK: "test.op"([[S]])

// -----

// @s asks which row it is in: it is not element-wise, and stays as it is.
#maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>]
#s = #dataflow.schedule<tile = [1, 8], order = [0, 1], unroll = [1, 1], vector = []>
!V = !itensor.itensor<1xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0)>
!Rows = !itensor.itensor<1x8xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!Columns = !itensor.itensor<6x2xf32, iter_space: [4] * [2], iter_map: (d0) -> (0, d0)>
!T = tensor<1x8xf32>
dataflow.kernel @not_elementwise() {
  %a, %e = "test.op"() : () -> (!V, !Rows)
  %s = dataflow.task @s ins(%p = %a : !V) outs(%out = %e : !Rows) -> !Rows {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c6 = arith.constant 6 : index
    %done = scf.for %i = %c0 to %c6 step %c1 iter_args(%to = %out) -> (!Rows) {
      %t = itensor.read %p[%i] : !V -> tensor<1xf32>  %n = tensor.empty() : !T
      %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel"]} ins(%t : tensor<1xf32>) outs(%n : !T)
        attrs = {stc.schedule = #s} {
      ^bb0(%x: f32, %z: f32): %row = arith.index_cast %i : index to i32  linalg.yield %x : f32 } -> !T
      %w = itensor.write %r into %to[%i] : !T -> !Rows
      scf.yield %w : !Rows
    }
    dataflow.yield %done : !Rows
  }
  %s_1 = itensor.converter %s {shared_loops = 0, buffer_shape = [6, 8], blocks = 1} : !Rows to !Columns
  "test.op"(%s_1) : (!Columns) -> ()
}

// CHECK-LABEL: @not_elementwise(
// CHECK: dataflow.task @s ins(%p = %a :
// CHECK: itensor.converter %s
