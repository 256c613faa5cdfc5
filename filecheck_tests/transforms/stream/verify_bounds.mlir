// RUN: stc-opt %s -p verify-bounds --split-input-file | filecheck %s

// Sums, factors of -1, masks, and guards that keep a padded access from leaving its row: all are proved, nothing is changed.
dataflow.kernel @proved() {
  dataflow.task @t {
    %row = memref.alloc() : memref<8xf32>  %line = memref.alloc() : memref<2x12xf32>
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index  %c7 = arith.constant 7 : index  %c10 = arith.constant 10 : index
    scf.for %i = %c0 to %c10 step %c1 {
      %lines = arith.andi %i, %c1 : index
      scf.for %j = %c0 to %c10 step %c2 {
        %v = vector.load %line[%lines, %j] : memref<2x12xf32>, vector<4xf32>
      }
      %inside = arith.cmpi slt, %c0, %i : index  %too_far = arith.cmpi sgt, %i, %c7 : index
      scf.if %inside {
        scf.if %too_far {} else {
          %before = arith.subi %i, %c1 : index
          %w = memref.load %row[%before] : memref<8xf32>
          %mirrored = arith.subi %c7, %before : index
          memref.store %w, %row[%mirrored] : memref<8xf32>
        }
      }
    }
  }
}

// CHECK-LABEL: @proved(
// CHECK: %v = vector.load %line[%lines, %j]
// CHECK: scf.if %inside
// CHECK-NEXT: scf.if %too_far
// CHECK: %w = memref.load %row[%before]
// CHECK: memref.store %w, %row[%mirrored]

// -----

// An index that is data is left to checks at run time.
func.func @gathered(%table: memref<8xf32>, %places: memref<4xindex>) {
  %c2 = arith.constant 2 : index
  %place = memref.load %places[%c2] : memref<4xindex>
  %v = memref.load %table[%place] : memref<8xf32>
  func.return
}

// CHECK-LABEL: func.func @gathered(
// CHECK: %place = memref.load %places[%c2] : memref<4xindex>
// CHECK-NEXT: %v = memref.load %table[%place] : memref<8xf32>
// CHECK-NEXT: func.return
