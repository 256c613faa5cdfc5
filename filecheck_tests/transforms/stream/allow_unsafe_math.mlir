// RUN: stc-opt %s -p allow-unsafe-math | filecheck %s

// Inside tasks only: the host keeps its arithmetic.
func.func @f(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  dataflow.kernel @k() {
    dataflow.task @t ins() outs() {
      %one = arith.constant 1.0 : f32
      %s = arith.addf %one, %one : f32
      %q = arith.divf %s, %one : f32
    }
  }
  func.return %y : f32
}

// CHECK-LABEL: func.func @f(
// CHECK-NEXT: %y = arith.addf %x, %x : f32
// CHECK-NEXT: dataflow.kernel @k() {
// CHECK-NEXT: dataflow.task @t {
// CHECK-NEXT: %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %s = arith.addf %one, %one fastmath<reassoc,arcp> : f32
// CHECK-NEXT: %q = arith.divf %s, %one fastmath<reassoc,arcp> : f32
// CHECK: func.return %y : f32
