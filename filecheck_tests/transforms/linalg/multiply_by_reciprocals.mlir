// RUN: stc-opt %s -p multiply-by-reciprocals --split-input-file | filecheck %s

func.func @mean(%x: f32) -> f32 {
  %n = arith.constant 1024.0 : f32
  %q = arith.divf %x, %n : f32
  func.return %q : f32
}

// CHECK-LABEL: func.func @mean(
// CHECK-NEXT: %q = arith.constant 0.0009765625 : f32
// CHECK-NEXT: %[[Q:.*]] = arith.mulf %x, %q : f32
// CHECK-NEXT: func.return %[[Q]] : f32

// -----

// The reciprocal of 2^127 is subnormal, that of 3 is rounded, 0 has none; a variable stays a divisor.
func.func @others_stay(%x: f32, %y: f32) -> (f32, f32, f32, f32) {
  %large = arith.constant 0x7F000000 : f32  %three = arith.constant 3.0 : f32  %zero = arith.constant 0.0 : f32
  %a = arith.divf %x, %large : f32
  %b = arith.divf %x, %three : f32
  %c = arith.divf %x, %zero : f32
  %d = arith.divf %x, %y : f32
  func.return %a, %b, %c, %d : f32, f32, f32, f32
}

// CHECK-LABEL: func.func @others_stay(
// CHECK-NEXT: %large = arith.constant 1.70141183e+38 : f32
// CHECK-NEXT: %three = arith.constant 3.000000e+00 : f32
// CHECK-NEXT: %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %a = arith.divf %x, %large : f32
// CHECK-NEXT: %b = arith.divf %x, %three : f32
// CHECK-NEXT: %c = arith.divf %x, %zero : f32
// CHECK-NEXT: %d = arith.divf %x, %y : f32
// CHECK-NEXT: func.return %a, %b, %c, %d : f32, f32, f32, f32
