// RUN: stc-opt %s -p 'verify-streams{solver=z3}' --split-input-file | filecheck %s
// RUN: stc-opt %s -p 'vectorize-streams{lanes=2}' --split-input-file | filecheck %s --check-prefix CUT

// One nest takes the first four tokens, another the last two; cut in halves, each is twice as many.
!V = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
func.func @f(%x : tensor<6x4xf32>) -> tensor<6x4xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<6x4xf32> as !V) -> (tensor<6x4xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      %first = scf.for %i = %c0 to %c2 step %c1 iter_args(%d = %o) -> (!V) {
        %row = scf.for %j = %c0 to %c2 step %c1 iter_args(%b = %d) -> (!V) {
          // CHECK: [[T:%.*]] = itensor.read %p[%i, %j] segment <0, 4>
          // CHECK: itensor.write [[T]] into %{{.*}}[%i, %j] segment <0, 4>
          // CUT: itensor.read %p[%i, %j, %entry] segment <0, 8>
          // CUT: itensor.write {{.*}}[%i, %j, {{.*}}] segment <0, 8>
          %t = itensor.read %p[%i, %j] segment <0, 4> : !V -> tensor<1x4xf32>
          %w = itensor.write %t into %b[%i, %j] segment <0, 4> : tensor<1x4xf32> -> !V
          scf.yield %w : !V
        }
        scf.yield %row : !V
      }
      %last = scf.for %i = %c0 to %c2 step %c1 iter_args(%d = %first) -> (!V) {
        // CHECK: itensor.read %p[[[I:%.*]]] segment <4, 2>
        // CUT: itensor.read %p[{{.*}}] segment <8, 4>
        %t = itensor.read %p[%i] segment <4, 2> : !V -> tensor<1x4xf32>
        %w = itensor.write %t into %d[%i] segment <4, 2> : tensor<1x4xf32> -> !V
        scf.yield %w : !V
      }
      dataflow.yield %last : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<6x4xf32>
}

// -----

// Of run-time size: `pos` tokens, and one behind them.
!V = !itensor.itensor<1x4xf32, iter_space: [sum(pos<=7, 1)] * [1], iter_map: (d0) -> (d0, 0)>
func.func @f(%x : tensor<8x4xf32>, %q : i32) {
  dataflow.kernel @k(%a = %x : tensor<8x4xf32> as !V, %pos = %q : i32 as !itensor.symbol<pos<=7>) {
    dataflow.task @t ins(%p = %a : !V, %at = %pos : !itensor.symbol<pos<=7>) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
      %n = itensor.size pos<=7 of %at
      scf.for %i = %c0 to %n step %c1 {
        // CHECK: itensor.read %p[%i] segment <0, pos<=7>
        // CUT: itensor.read %p[%i, %{{.*}}] segment <0, mul(pos<=7, 2)>
        %t = itensor.read %p[%i] segment <0, pos<=7> : !V -> tensor<1x4xf32>
      }
      // CHECK: itensor.read %p[] segment <pos<=7, 1>
      // CUT: itensor.read %p[%{{.*}}] segment <mul(pos<=7, 2), 2>
      %last = itensor.read %p[] segment <pos<=7, 1> : !V -> tensor<1x4xf32>
      dataflow.yield
    }
  }
  func.return
}
