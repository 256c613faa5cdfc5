// RUN: stc-opt %s -p allow-unsafe-math | filecheck %s

// Inside tasks only: the host keeps its arithmetic.
func.func @f(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  dataflow.kernel @k() {
    dataflow.task @t ins() outs() {
      %one = arith.constant 1.0 : f32
      %s = arith.addf %one, %one : f32
      %q = arith.divf %s, %one : f32
      dataflow.yield
    }
    dataflow.yield
  }
  func.return %y : f32
}

// CHECK: %y = arith.addf %x, %x : f32
// CHECK: %s = arith.addf %one, %one fastmath<reassoc,arcp> : f32
// CHECK: %q = arith.divf %s, %one fastmath<reassoc,arcp> : f32
