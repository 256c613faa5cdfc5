// RUN: stc-opt %s | stc-opt | filecheck %s

// The compute unit that a task is part of.
!S = !stream.stream<f32, depth: 2>
dataflow.kernel @k() {
  %s = stream.create @s : !S
  dataflow.task @fill outs(%out = %s : !S) unit @array {
    %0 = arith.constant 0.0 : f32
    stream.write %0 into %out : !S
  }
  dataflow.task @drain ins(%in = %s : !S) kind store unit @mover attributes {test} {
    %0 = stream.read %in : !S
  }
}

// CHECK: dataflow.task @fill outs(%out = %s : !stream.stream<f32, depth: 2>) unit @array {
// CHECK: dataflow.task @drain ins(%in = %s : !stream.stream<f32, depth: 2>) kind store unit @mover attributes {test} {
