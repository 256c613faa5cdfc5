// RUN: stc-opt %s -p 'apply-measurements{schedule="%S/Inputs/measured.toml"}' --verify-diagnostics

// expected-error @unknown {{no pipelined loop of ours is called 'copy.moved'}}
!S = !stream.stream<vector<1xf32>, depth: 2>
dataflow.kernel @k() {
  %s = stream.create @s : !S  %t = stream.create @t : !S
  dataflow.task @other ins(%a = %s : !S) outs(%b = %t : !S) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
    scf.for %i = %c0 to %c3 step %c1 {
      %v = stream.read %a : !S
      stream.write %v into %b : !S
    } {stc.label = "moved", stc.pipeline = 1 : i32}
  }
}
