// RUN: stc-opt %s -p 'lower-tasks' --split-input-file --allow-unregistered-dialect | filecheck %s

// Vectors are stored into the tile as they arrive; the result is written from a tile of its own, vector by vector.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
!T = tensor<8xf32>
!A = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
dataflow.kernel @tiles() {
  %x, %e = "test.op"() : () -> (!A, !A)
  %y = dataflow.task @n ins(%p = %x : !A) outs(%out = %e : !A) -> !A {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
    %m = tensor.empty() : !T
    %t = scf.for %a = %c0 to %c8 step %c4 iter_args(%to = %m) -> (!T) {
      %token = itensor.read %p[%a] : !A -> tensor<4xf32>
      %tile = tensor.insert_slice %token into %to[%a] [4] [1] : tensor<4xf32> into !T
      scf.yield %tile : !T
    }
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
      { ^bb0(%i: f32, %o: f32): linalg.yield %i : f32 } -> !T
    %done = scf.for %b = %c0 to %c8 step %c4 iter_args(%to = %out) -> (!A) {
      %token = tensor.extract_slice %r[%b] [4] [1] : !T to tensor<4xf32>
      %w = itensor.write %token into %to[%b] : tensor<4xf32> -> !A
      scf.yield %w : !A
    }
    dataflow.yield %done : !A
  }
  "test.op"(%y) : (!A) -> ()
}

// CHECK-LABEL: @tiles(
// CHECK: [[X:%.*]] = stream.from_itensor %x : !itensor to !stream.stream<vector<4xf32>, depth: 2>
// CHECK: [[Y:%.*]] = stream.create @y_stream {tokens = 2
// CHECK: stream.to_itensor [[Y]]
// CHECK: dataflow.task @n ins(%p = [[X]] : {{.*}}) outs(%out = [[Y]] :
// CHECK: %m = memref.alloc() : memref<8xf32>
// CHECK-NEXT: %n = memref.alloc() : memref<8xf32>
// CHECK: scf.for %a
// CHECK-NEXT: [[TOKEN:%.*]] = stream.read %p
// CHECK-NEXT: vector.store [[TOKEN]], %m[%a]
// CHECK: linalg.generic{{.*}} ins(%m : {{.*}}) outs(%n :
// CHECK: scf.for %b
// CHECK-NEXT: [[TOKEN1:%.*]] = vector.load %n[%b]
// CHECK-NEXT: stream.write [[TOKEN1]] into %out

// -----

// One vector is the whole tile: it needs no loop.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
!T = tensor<4xf32>
!A = !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
dataflow.kernel @one_vector() {
  %x, %e = "test.op"() : () -> (!A, !A)
  %y = dataflow.task @n ins(%p = %x : !A) outs(%out = %e : !A) -> !A {
    %t = itensor.read %p[] : !A -> !T
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
      { ^bb0(%i: f32, %o: f32): linalg.yield %i : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  "test.op"(%y) : (!A) -> ()
}

// CHECK-LABEL: @one_vector(
// CHECK: [[TOKEN:%.*]] = stream.read %p
// CHECK: vector.store [[TOKEN]], %t[%c0]
// CHECK: vector.load %n[%c0_1]

// -----

// Rank 0: a token of one lane.
#maps = [affine_map<() -> ()>, affine_map<() -> ()>]
!T = tensor<f32>
!A = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
dataflow.kernel @scalars() {
  %x, %e = "test.op"() : () -> (!A, !A)
  %y = dataflow.task @n ins(%p = %x : !A) outs(%out = %e : !A) -> !A {
    %t = itensor.read %p[] : !A -> !T
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = #maps, iterator_types = []} ins(%t : !T) outs(%n : !T)
      { ^bb0(%i: f32, %o: f32): linalg.yield %i : f32 } -> !T
    %w = itensor.write %r into %out[] : !T -> !A
    dataflow.yield %w : !A
  }
  "test.op"(%y) : (!A) -> ()
}

// CHECK-LABEL: @scalars(
// CHECK: [[TOKEN:%.*]] = stream.read %p : !stream.stream<vector<1xf32>, depth: 2>
// CHECK: [[LANE:%.*]] = vector.extract [[TOKEN]][0]
// CHECK-NEXT: memref.store [[LANE]], %t[]
// CHECK: [[LANE1:%.*]] = memref.load %n[]
// CHECK-NEXT: [[TOKEN1:%.*]] = vector.broadcast [[LANE1]]
// CHECK-NEXT: stream.write [[TOKEN1]]

// -----

// The accumulator of a reduction is one buffer, filled for each tile and updated in place.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
!T = tensor<4xf32>
!A = !itensor.itensor<4xf32, iter_space: [2, 3] * [4, 1], iter_map: (d0, d1) -> (d0)>
!Y = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
dataflow.kernel @accumulator() {
  %x, %e = "test.op"() : () -> (!A, !Y)
  %y = dataflow.task @n ins(%p = %x : !A) outs(%out = %e : !Y) -> !Y {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index  %zero = arith.constant 0.0 : f32
    %done = scf.for %i = %c0 to %c8 step %c4 iter_args(%to = %out) -> (!Y) {
      %n = tensor.empty() : !T
      %init = linalg.fill ins(%zero : f32) outs(%n : !T) -> !T
      %sum = scf.for %k = %c0 to %c3 step %c1 iter_args(%acc = %init) -> (!T) {
        %t = itensor.read %p[%i, %k] : !A -> !T
        %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%acc : !T)
          { ^bb0(%a: f32, %o: f32): linalg.yield %a : f32 } -> !T
        scf.yield %r : !T
      }
      %w = itensor.write %sum into %to[%i] : !T -> !Y
      scf.yield %w : !Y
    }
    dataflow.yield %done : !Y
  }
  "test.op"(%y) : (!Y) -> ()
}

// CHECK-LABEL: @accumulator(
// CHECK: %n = memref.alloc()
// CHECK: scf.for %i
// CHECK-NEXT: linalg.fill {{.*}}outs(%n :
// CHECK-NEXT: scf.for %k
// CHECK: linalg.generic{{.*}} outs(%n :
// CHECK-NOT: memref.copy
// CHECK: [[TOKEN:%.*]] = vector.load %n
// CHECK-NEXT: stream.write [[TOKEN]]

// -----

// Reduction outermost: the generic works on a view of the whole accumulator, and the last step writes from there.
!T = tensor<4xf32>
!Y = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
dataflow.kernel @view() {
  %e = "test.op"() : () -> !Y
  %y = dataflow.task @n outs(%out = %e : !Y) -> !Y {
    %c0 = arith.constant 0 : index  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
    %n = tensor.empty() : tensor<8xf32>
    %sums, %done = scf.for %k = %c0 to %c8 step %c4 iter_args(%acc = %n, %to = %out) -> (tensor<8xf32>, !Y) {
      %all, %end = scf.for %i = %c0 to %c8 step %c4 iter_args(%part = %acc, %to_1 = %to) -> (tensor<8xf32>, !Y) {
        %t = tensor.extract_slice %part[%i] [4] [1] : tensor<8xf32> to !T
        %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%t : !T)
          { ^bb0(%o: f32): linalg.yield %o : f32 } -> !T
        %into = tensor.insert_slice %r into %part[%i] [4] [1] : !T into tensor<8xf32>
        %last = arith.cmpi eq, %k, %c4 : index
        %w = scf.if %last -> (!Y) {
          %written = itensor.write %r into %to_1[%i] : !T -> !Y
          scf.yield %written : !Y
        } else { scf.yield %to_1 : !Y }
        scf.yield %into, %w : tensor<8xf32>, !Y
      }
      scf.yield %all, %end : tensor<8xf32>, !Y
    }
    dataflow.yield %done : !Y
  }
  "test.op"(%y) : (!Y) -> ()
}

// CHECK-LABEL: @view(
// CHECK: %n = memref.alloc() : memref<8xf32>
// CHECK-NOT: memref.alloc
// CHECK: [[VIEW:%.*]] = memref.subview %n[%i] [4] [1]
// CHECK-NEXT: linalg.generic{{.*}} outs([[VIEW]] :
// CHECK-NOT: memref.copy
// CHECK: scf.if %last
// CHECK: [[TOKEN:%.*]] = vector.load [[VIEW]]
// CHECK-NEXT: stream.write [[TOKEN]]

// -----

// Two results are two streams, each with its own tile.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
!T = tensor<4xf32>
!A = !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
dataflow.kernel @two_results() {
  %e, %e_1 = "test.op"() : () -> (!A, !A)
  %y, %z = dataflow.task @n outs(%out = %e : !A, %out_1 = %e_1 : !A) -> (!A, !A) {
    %0 = tensor.empty() : !T  %1 = tensor.empty() : !T
    %r, %s = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} outs(%0, %1 : !T, !T)
      attrs = {stc.name = "both"} { ^bb0(%o: f32, %q: f32): linalg.yield %q, %o : f32, f32 } -> (!T, !T)
    %w = itensor.write %r into %out[] : !T -> !A
    %v = itensor.write %s into %out_1[] : !T -> !A
    dataflow.yield %w, %v : !A, !A
  }
  "test.op"(%y, %z) : (!A, !A) -> ()
}

// CHECK-LABEL: @two_results(
// CHECK: dataflow.task @n outs(%out = %y_stream : {{.*}}, %out_1 = %z_stream :
// CHECK: linalg.generic{{.*}} outs([[R:%both.*]], [[S:%both.*]] : memref
// CHECK: [[TOKEN:%.*]] = vector.load [[R]]
// CHECK-NEXT: stream.write [[TOKEN]] into %out :
// CHECK: [[TOKEN1:%.*]] = vector.load [[S]]
// CHECK-NEXT: stream.write [[TOKEN1]] into %out_1
