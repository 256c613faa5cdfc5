// RUN: stc-opt %s -p expand-functions --split-input-file | filecheck %s

func.func @cube(%x: f32) -> f32 {
  %n = arith.constant 3 : i64
  %p = math.fpowi %x, %n : f32, i64
  func.return %p : f32
}

// CHECK-LABEL: func.func @cube(
// CHECK-NEXT: %p = arith.mulf %x, %x : f32
// CHECK-NEXT: %[[P:.*]] = arith.mulf %p, %x : f32
// CHECK-NEXT: func.return %[[P]] : f32

// -----

func.func @one(%x: f32) -> f32 {
  %n = arith.constant 1 : i64
  %p = math.fpowi %x, %n : f32, i64
  func.return %p : f32
}

// CHECK-LABEL: func.func @one(
// CHECK-NEXT: func.return %x : f32

// -----

func.func @zero(%x: f32) -> f32 {
  %n = arith.constant 0 : i64
  %p = math.fpowi %x, %n : f32, i64
  func.return %p : f32
}

// CHECK-LABEL: func.func @zero(
// CHECK-NEXT: %p = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: func.return %p : f32

// -----

func.func @inverse_square(%x: f32) -> f32 {
  %n = arith.constant -2.000000e+00 : f32
  %p = math.powf %x, %n : f32
  func.return %p : f32
}

// CHECK-LABEL: func.func @inverse_square(
// CHECK-NEXT: %p = arith.mulf %x, %x : f32
// CHECK-NEXT: %[[P:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[P1:.*]] = arith.divf %[[P]], %p : f32
// CHECK-NEXT: func.return %[[P1]] : f32

// -----

func.func @roots(%x: f32) -> (f32, f32) {
  %n = arith.constant 5.000000e-01 : f32  %m = arith.constant -5.000000e-01 : f32
  %p = math.powf %x, %n : f32
  %q = math.powf %x, %m : f32
  func.return %p, %q : f32, f32
}

// CHECK-LABEL: func.func @roots(
// CHECK-NEXT: %p = math.sqrt %x : f32
// CHECK-NEXT: %q = math.rsqrt %x : f32
// CHECK-NEXT: func.return %p, %q : f32, f32

// -----

func.func @others_stay(%x: f32, %y: f32) -> (f32, f32, f32) {
  %n = arith.constant 9 : i64  %m = arith.constant 1.500000e+00 : f32
  %p = math.fpowi %x, %n : f32, i64
  %q = math.powf %x, %m : f32
  %r = math.powf %x, %y : f32
  func.return %p, %q, %r : f32, f32, f32
}

// CHECK-LABEL: func.func @others_stay(
// CHECK-NEXT: %n = arith.constant 9 : i64
// CHECK-NEXT: %m = arith.constant 1.500000e+00 : f32
// CHECK-NEXT: %p = math.fpowi %x, %n : f32, i64
// CHECK-NEXT: %q = math.powf %x, %m : f32
// CHECK-NEXT: %r = math.powf %x, %y : f32
// CHECK-NEXT: func.return %p, %q, %r : f32, f32, f32

// -----

func.func @binary_logarithm(%x: f32) -> f32 {
  %p = math.log2 %x : f32
  func.return %p : f32
}

// CHECK-LABEL: func.func @binary_logarithm(
// CHECK-NEXT: %p = math.log %x : f32
// CHECK-NEXT: %[[P:.*]] = arith.constant 1.44269502 : f32
// CHECK-NEXT: %[[P1:.*]] = arith.mulf %p, %[[P]] : f32
// CHECK-NEXT: func.return %[[P1]] : f32
