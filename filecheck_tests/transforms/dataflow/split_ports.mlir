// RUN: stc-opt %s -p 'split-ports' --split-input-file --allow-unregistered-dialect | filecheck %s

// The task wants 8 lanes, a token carries 4: two ports, which take the place of the loop over vectors. Outside, a split.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#s = #dataflow.schedule<tile = [8], order = [0], unroll = [8], vector = []>
!T = tensor<8xf32>
!A = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
%v = "test.op"() : () -> !T
dataflow.kernel @read(%x = %v : !T as !A) {
  dataflow.task @n ins(%p = %x : !A) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
    %n = tensor.empty() : !T
    %t = scf.for %a = %c0 to %c8 step %c4 iter_args(%to = %n) -> (!T) {
      %token = itensor.read %p[%a] : !A -> tensor<4xf32>
      %tile = tensor.insert_slice %token into %to[%a] [4] [1] : tensor<4xf32> into !T
      scf.yield %tile : !T
    }
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
      attrs = {stc.schedule = #s} { ^bb0(%i: f32, %o: f32): linalg.yield %i : f32 } -> !T
  }
}

// CHECK-DAG: [[LOW:!.*]] = !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
// CHECK-DAG: [[HIGH:!.*]] = !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (4)>
// CHECK-LABEL: @read(
// CHECK: [[X0:%.*]], [[X1:%.*]] = itensor.split %x : !{{.*}} to [[LOW]], [[HIGH]]
// CHECK: ins([[P0:%.*]] = [[X0]] : [[LOW]], [[P1:%.*]] = [[X1]] : [[HIGH]])
// CHECK: [[TOKEN:%.*]] = itensor.read [[P0]][]
// CHECK-NEXT: [[HALF:%.*]] = tensor.insert_slice [[TOKEN]] into %n[%c0{{.*}}]
// CHECK: [[TOKEN1:%.*]] = itensor.read [[P1]][]
// CHECK-NEXT: [[TILE:%.*]] = tensor.insert_slice [[TOKEN1]] into [[HALF]][%c4{{.*}}]
// CHECK: ins([[TILE]] :

// -----

// Two ports for the result, which is carried through a loop and a guard, one for what is read at once; outside, a merge.
// The vector shape decides, not the unroll factor.
#s = #dataflow.schedule<tile = [8], order = [0], unroll = [1], vector = [[8]]>
!T = tensor<8xf32>
!A = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!X = !itensor.itensor<8xf32, iter_space: [] * [], iter_map: () -> (0)>
%v = "test.op"() : () -> !T
%y = dataflow.kernel @write(%x = %v : !T as !X) -> (!T as !A) {
  %e = itensor.empty : !A
  %y = dataflow.task @n ins(%p = %x : !X) outs(%out = %e : !A) -> !A {
    %c0 = arith.constant 0 : index  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
    %n = itensor.read %p[] : !X -> !T
    %sum, %done = scf.for %k = %c0 to %c8 step %c4 iter_args(%acc = %n, %to = %out) -> (!T, !A) {
      %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%acc : !T)
        attrs = {stc.schedule = #s} { ^bb0(%o: f32): linalg.yield %o : f32 } -> !T
      %last = arith.cmpi eq, %k, %c4 : index
      %g = scf.if %last -> (!A) {
        %all = scf.for %a = %c0 to %c8 step %c4 iter_args(%to_1 = %to) -> (!A) {
          %token = tensor.extract_slice %r[%a] [4] [1] : !T to tensor<4xf32>
          %w = itensor.write %token into %to_1[%a] : tensor<4xf32> -> !A
          scf.yield %w : !A
        }
        scf.yield %all : !A
      } else { scf.yield %to : !A }
      scf.yield %r, %g : !T, !A
    }
    dataflow.yield %done : !A
  }
  dataflow.yield %y : !A
}

// CHECK-LABEL: @write(
// CHECK: [[Y0:%.*]], [[Y1:%.*]] = dataflow.task @n ins(%p = %x : !{{.*}}) outs([[P0:%.*]] = {{.*}}, [[P1:%.*]] = {{.*}})
// CHECK: scf.for {{.*}} iter_args(%acc = %n, [[TO0:%.*]] = [[P0]], [[TO1:%.*]] = [[P1]])
// CHECK: [[G0:%.*]], [[G1:%.*]] = scf.if
// CHECK: [[TOKEN:%.*]] = tensor.extract_slice %r[%c0{{.*}}]
// CHECK-NEXT: [[W0:%.*]] = itensor.write [[TOKEN]] into [[TO0]][]
// CHECK: [[TOKEN1:%.*]] = tensor.extract_slice %r[%c4{{.*}}]
// CHECK-NEXT: [[W1:%.*]] = itensor.write [[TOKEN1]] into [[TO1]][]
// CHECK: scf.yield [[W0]], [[W1]]
// CHECK: scf.yield [[TO0]], [[TO1]]
// CHECK: scf.yield %r, [[G0]], [[G1]]
// CHECK: itensor.merge [[Y0]], [[Y1]]

// -----

// 16 entries are four tokens, 8 lanes are two ports: the loops over vectors have two iterations left.
#maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#s = #dataflow.schedule<tile = [16], order = [0], unroll = [8], vector = []>
!T = tensor<16xf32>
!A = !itensor.itensor<4xf32, iter_space: [4] * [4], iter_map: (d0) -> (d0)>
%v = "test.op"() : () -> !T
%y = dataflow.kernel @two_iterations_left(%x = %v : !T as !A) -> (!T as !A) {
  %e = itensor.empty : !A
  %y = dataflow.task @n ins(%p = %x : !A) outs(%out = %e : !A) -> !A {
    %c0 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c4 = arith.constant 4 : index
    %n = tensor.empty() : !T
    %t = scf.for %a = %c0 to %c16 step %c4 iter_args(%to = %n) -> (!T) {
      %token = itensor.read %p[%a] : !A -> tensor<4xf32>
      %tile = tensor.insert_slice %token into %to[%a] [4] [1] : tensor<4xf32> into !T
      scf.yield %tile : !T
    }
    %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]} ins(%t : !T) outs(%n : !T)
      attrs = {stc.schedule = #s} { ^bb0(%i: f32, %o: f32): linalg.yield %i : f32 } -> !T
    %done = scf.for %b = %c0 to %c16 step %c4 iter_args(%to = %out) -> (!A) {
      %token = tensor.extract_slice %r[%b] [4] [1] : !T to tensor<4xf32>
      %w = itensor.write %token into %to[%b] : tensor<4xf32> -> !A
      scf.yield %w : !A
    }
    dataflow.yield %done : !A
  }
  dataflow.yield %y : !A
}

// CHECK-LABEL: @two_iterations_left(
// CHECK: ins([[P0:%.*]] = {{.*}}, [[P1:%.*]] = {{.*}}) outs([[OUT0:%.*]] = {{.*}}, [[OUT1:%.*]] = {{.*}})
// CHECK: scf.for %a = %c0 to %c16 step %c8
// CHECK: itensor.read [[P0]][%a]
// CHECK-NEXT: [[HALF:%.*]] = tensor.insert_slice {{.*}}[%a]
// CHECK: [[NEXT:%.*]] = arith.addi %a, %c4
// CHECK-NEXT: itensor.read [[P1]][%a]
// CHECK-NEXT: tensor.insert_slice {{.*}} into [[HALF]][[[NEXT]]]
// CHECK: scf.for %b = %c0 to %c16 step %c8{{.*}} iter_args([[TO0:%.*]] = [[OUT0]], [[TO1:%.*]] = [[OUT1]])
// CHECK: tensor.extract_slice %r[%b]
// CHECK-NEXT: itensor.write {{.*}} into [[TO0]][%b]
// CHECK: [[NEXT1:%.*]] = arith.addi %b, %c4
// CHECK-NEXT: tensor.extract_slice %r[[[NEXT1]]]
// CHECK-NEXT: itensor.write {{.*}} into [[TO1]][%b]

// -----

// The stream between two tasks is as wide as the narrower wants it: it is not split.
#wide = #dataflow.schedule<tile = [8], order = [0], unroll = [8], vector = []>
#narrow = #dataflow.schedule<tile = [8], order = [0], unroll = [4], vector = []>
!T = tensor<8xf32>
!A = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
dataflow.kernel @narrow_reader() {
  %e = itensor.empty : !A
  %y = dataflow.task @wide outs(%out = %e : !A) -> !A {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
    %n = tensor.empty() : !T
    %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%n : !T)
      attrs = {stc.schedule = #wide} { ^bb0(%o: f32): linalg.yield %o : f32 } -> !T
    %done = scf.for %b = %c0 to %c8 step %c4 iter_args(%to = %out) -> (!A) {
      %token = tensor.extract_slice %r[%b] [4] [1] : !T to tensor<4xf32>
      %w = itensor.write %token into %to[%b] : tensor<4xf32> -> !A
      scf.yield %w : !A
    }
    dataflow.yield %done : !A
  }
  dataflow.task @narrow ins(%p = %y : !A) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
    %n = tensor.empty() : !T
    %t = scf.for %a = %c0 to %c8 step %c4 iter_args(%to = %n) -> (!T) {
      %token = itensor.read %p[%a] : !A -> tensor<4xf32>
      %tile = tensor.insert_slice %token into %to[%a] [4] [1] : tensor<4xf32> into !T
      scf.yield %tile : !T
    }
    %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%t : !T)
      attrs = {stc.schedule = #narrow} { ^bb0(%o: f32): linalg.yield %o : f32 } -> !T
  }
}

// CHECK-LABEL: @narrow_reader(
// CHECK-NOT: itensor.merge
// CHECK: dataflow.task @narrow ins(%p = %y : !{{.*}})
