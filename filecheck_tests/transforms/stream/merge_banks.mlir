// RUN: stc-opt %s -p 'hls-directives,merge-banks' --split-input-file | filecheck %s

// 16 entries are stored at once, in 64 iterations, and two are loaded in each of 524,288. Of two banks each has eight of the 16 to
// store, one a cycle.
!S = !stream.stream<vector<16xf32>, depth: 2>
!T = !stream.stream<vector<2xf32>, depth: 2>
%x = tensor.empty() : tensor<192xf32>
dataflow.kernel @wide(%m = %x : tensor<192xf32> as memref<192xf32>) {
  %s = stream.create @s : !S  %t = stream.create @t : !T
  dataflow.task @scale ins(%p = %s : !S) outs(%o = %t : !T) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index  %c16 = arith.constant 16 : index
    %c1024 = arith.constant 1024 : index
    %kept = memref.alloc() : memref<1024xf32>
    scf.for %i = %c0 to %c1024 step %c16 {
      %v = stream.read %p : !S
      vector.store %v, %kept[%i] : memref<1024xf32>, vector<16xf32>
    }
    scf.for %again = %c0 to %c1024 step %c1 {
      scf.for %j = %c0 to %c1024 step %c2 {
        %w = vector.load %kept[%j] : memref<1024xf32>, vector<2xf32>
        stream.write %w into %o : !T
      }
    }
  }
}

// CHECK: %x = tensor.empty() : tensor<192xf32>
// CHECK-NEXT: dataflow.kernel @wide(%m = %x : tensor<192xf32> as memref<192xf32>) {
// CHECK-NEXT: %s = stream.create @s : !stream.stream<vector<16xf32>, depth: 2>
// CHECK-NEXT: %t = stream.create @t : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @scale ins(%p = %s : !stream.stream<vector<16xf32>, depth: 2>) outs(%o = %t : !stream.stream<vector<2xf32>, depth: 2>) {
// CHECK: %kept = memref.alloc() {stc.partition = {{\[\[}}0 : i32, 2 : i32]]} : memref<1024xf32>
// CHECK-NEXT: scf.for %i = %c0 to %c1024 step %c16 {
// CHECK-NEXT: %v = stream.read %p : !stream.stream<vector<16xf32>, depth: 2>
// CHECK-NEXT: vector.store %v, %kept[%i] : memref<1024xf32>, vector<16xf32>
// CHECK-NEXT: } {stc.label = "read_p_i", stc.pipeline = 8 : i32}
// CHECK-NEXT: scf.for %again = %c0 to %c1024 step %c1 {
// CHECK-NEXT: scf.for %j = %c0 to %c1024 step %c2 {
// CHECK-NEXT: %w = vector.load %kept[%j] : memref<1024xf32>, vector<2xf32>
// CHECK-NEXT: stream.write %w into %o : !stream.stream<vector<2xf32>, depth: 2>
// CHECK-NEXT: } {stc.label = "write_o_j", stc.pipeline = 1 : i32}
// CHECK-NEXT: } {stc.label = "write_o_again"}

// -----

// It is stored as often as it is loaded: any cycle more would be felt.
!S = !stream.stream<vector<16xf32>, depth: 2>
%x = tensor.empty() : tensor<192xf32>
dataflow.kernel @busy(%m = %x : tensor<192xf32> as memref<192xf32>) {
  %s = stream.create @s : !S  %t = stream.create @t : !S
  dataflow.task @copy ins(%p = %s : !S) outs(%o = %t : !S) {
    %c0 = arith.constant 0 : index  %c16 = arith.constant 16 : index  %c1024 = arith.constant 1024 : index
    %kept = memref.alloc() : memref<1024xf32>
    scf.for %i = %c0 to %c1024 step %c16 {
      %v = stream.read %p : !S
      vector.store %v, %kept[%i] : memref<1024xf32>, vector<16xf32>
    }
    scf.for %j = %c0 to %c1024 step %c16 {
      %w = vector.load %kept[%j] : memref<1024xf32>, vector<16xf32>
      stream.write %w into %o : !S
    }
  }
}

// CHECK: %x = tensor.empty() : tensor<192xf32>
// CHECK-NEXT: dataflow.kernel @busy(%m = %x : tensor<192xf32> as memref<192xf32>) {
// CHECK-NEXT: %s = stream.create @s : !stream.stream<vector<16xf32>, depth: 2>
// CHECK-NEXT: %t = stream.create @t : !stream.stream<vector<16xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @copy ins(%p = %s : !stream.stream<vector<16xf32>, depth: 2>) outs(%o = %t : !stream.stream<vector<16xf32>, depth: 2>) {
// CHECK: %kept = memref.alloc() {stc.partition = {{\[\[}}0 : i32, 16 : i32]]} : memref<1024xf32>
// CHECK-NEXT: scf.for %i = %c0 to %c1024 step %c16 {
// CHECK-NEXT: %v = stream.read %p : !stream.stream<vector<16xf32>, depth: 2>
// CHECK-NEXT: vector.store %v, %kept[%i] : memref<1024xf32>, vector<16xf32>
// CHECK-NEXT: } {stc.label = "read_p_i", stc.pipeline = 1 : i32}
// CHECK-NEXT: scf.for %j = %c0 to %c1024 step %c16 {
// CHECK-NEXT: %w = vector.load %kept[%j] : memref<1024xf32>, vector<16xf32>
// CHECK-NEXT: stream.write %w into %o : !stream.stream<vector<16xf32>, depth: 2>
// CHECK-NEXT: } {stc.label = "write_o_j", stc.pipeline = 1 : i32}
