// RUN: stc-opt %s -p 'hls-directives{style="frp"}' --allow-unregistered-dialect | filecheck %s

// The loop that reads external memory cannot be frp: it stays stp, which nothing says. The one between streams is.
!F = !stream.stream<vector<4xf32>, depth: 2>
!m = memref<8xvector<4xf32>>
%x = "test.op"() : () -> tensor<8xvector<4xf32>>
dataflow.kernel @k(%m = %x : tensor<8xvector<4xf32>> as !m) {
  %s = stream.create @s : !F
  %t = stream.create @t : !F
  dataflow.task @load ins(%p = %m : !m) outs(%o = %s : !F) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %v = memref.load %p[%i] : !m
      stream.write %v into %o : !F
    }
  }
  dataflow.task @copy ins(%a = %s : !F) outs(%b = %t : !F) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %v = stream.read %a : !F
      stream.write %v into %b : !F
    }
  }
}

// CHECK: } {stc.label = "write_o_i", stc.pipeline = 1 : i32}
// CHECK: } {stc.label = "move_i", stc.pipeline = 1 : i32, stc.style = "frp"}
