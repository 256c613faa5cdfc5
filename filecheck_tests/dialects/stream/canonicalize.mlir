// RUN: stc-opt %s -p canonicalize | filecheck %s

!F = !stream.stream<vector<2xf32>, depth: 2>
!I = !stream.stream<i64, depth: 2>
!D = !stream.stream<f64, depth: 2>

// CHECK: func.func @casts
// CHECK-NEXT: %[[ONCE:.*]] = stream.cast %s : !stream.stream<vector<2xf32>, depth: 2> to !stream.stream<f64, depth: 2>
// CHECK-NEXT: func.return %[[ONCE]]
func.func @casts(%s : !F) -> !D {
  %same = stream.cast %s : !F to !F
  %0 = stream.cast %same : !F to !I
  %1 = stream.cast %0 : !I to !D
  func.return %1 : !D
}

// Reads stay, unused FIFOs go.
// CHECK: func.func @reads
// CHECK-NEXT: stream.read
// CHECK-NEXT: stream.read
// CHECK-NEXT: func.return
func.func @reads(%s : !I) {
  %unused = stream.create @unused : !I
  %0 = stream.read %s : !I
  %1 = stream.read %s : !I
  func.return
}
