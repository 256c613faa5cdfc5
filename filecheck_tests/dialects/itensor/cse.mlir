// RUN: stc-opt %s -p cse --no-aliases --allow-unregistered-dialect | filecheck %s

!S = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>

// Reads, placeholders, FIFOs and forks are things of their own; equal converters are merged.
// CHECK-LABEL: func.func @cse
// CHECK-NEXT: itensor.read %x[]
// CHECK-NEXT: itensor.read %x[]
// CHECK-NEXT: itensor.empty
// CHECK-NEXT: itensor.empty
// CHECK-NEXT: itensor.fork
// CHECK-NEXT: itensor.fork
// CHECK-NEXT: %[[CAST:.*]] = itensor.cast
// CHECK-NEXT: "test.use"({{.*}}, %[[CAST]], %[[CAST]])
func.func @cse(%x : !S) {
  %0 = itensor.read %x[] : !S -> tensor<f32>
  %1 = itensor.read %x[] : !S -> tensor<f32>
  %2 = itensor.empty : !S
  %3 = itensor.empty : !S
  %4, %5 = itensor.fork %x : !S to !S, !S
  %6, %7 = itensor.fork %x : !S to !S, !S
  %8 = itensor.cast %x : !S to !S
  %9 = itensor.cast %x : !S to !S
  "test.use"(%0, %1, %2, %3, %4, %5, %6, %7, %8, %9) : (tensor<f32>, tensor<f32>, !S, !S, !S, !S, !S, !S, !S, !S) -> ()
  func.return
}
