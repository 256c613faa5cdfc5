// RUN: stc-opt %s | stc-opt | filecheck %s

// The compute unit that a task is part of, the die that each lies on, and how many steps a launch computes.
!S = !stream.stream<f32, depth: 2>
dataflow.kernel @k() dies (@array = 2, @mover = 0) steps 3 {
  %s = stream.create @s {crossing = 8 : i64} : !S
  dataflow.task @fill outs(%out = %s : !S) unit @array {
    %0 = arith.constant 0.0 : f32
    stream.write %0 into %out : !S
  }
  dataflow.task @drain ins(%in = %s : !S) kind store unit @mover attributes {test} {
    %0 = stream.read %in : !S
  }
}

// CHECK: dataflow.kernel @k() dies (@array = 2, @mover = 0) steps 3 {
// CHECK-NEXT: %s = stream.create @s {crossing = 8 : i64}
// CHECK: dataflow.task @fill outs(%out = %s : !stream.stream<f32, depth: 2>) unit @array {
// CHECK: dataflow.task @drain ins(%in = %s : !stream.stream<f32, depth: 2>) kind store unit @mover attributes {test} {

// One step is not said.
dataflow.kernel @one() steps 1 attributes {test} {
}
dataflow.kernel @many() steps 16 attributes {test} {
}

// CHECK: dataflow.kernel @one() attributes {test} {
// CHECK: dataflow.kernel @many() steps 16 attributes {test} {
