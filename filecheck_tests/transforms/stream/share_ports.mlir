// RUN: stc-opt %s -p 'share-ports' --split-input-file | filecheck %s

// Two gains, one of which is read twice: one task brings both, each stays in an array, and a visit reads it there.
// SHOW: func.func .*?\(|stream\.\w+ %.* : ...|dataflow.task .*|scf.for .*step %\w+|memref\.\w+ .*
func.func @gains(%w: tensor<4096xvector<16xf32>> {stc.parameter}, %a: tensor<2xvector<16xf32>> {stc.parameter}, %b: tensor<1xvector<16xf32>> {stc.parameter}) -> tensor<2xvector<16xf32>> {
  %y = dataflow.kernel @k(%pw = %w : tensor<4096xvector<16xf32>> as memref<4096xvector<16xf32>>, %pa = %a : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>, %pb = %b : tensor<1xvector<16xf32>> as memref<1xvector<16xf32>>) -> (tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) {
    %sa = stream.create @sa : !stream.stream<vector<16xf32>, depth: 2>
    dataflow.task @load_a ins(%m = %pa : memref<2xvector<16xf32>>) outs(%o = %sa : !stream.stream<vector<16xf32>, depth: 2>) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 {
        %0 = memref.load %m[%word] : memref<2xvector<16xf32>>
        stream.write %0 into %o : !stream.stream<vector<16xf32>, depth: 2>
      }
      dataflow.yield
    }
    %sb = stream.create @sb : !stream.stream<vector<16xf32>, depth: 2>
    dataflow.task @load_b ins(%m = %pb : memref<1xvector<16xf32>>) outs(%o = %sb : !stream.stream<vector<16xf32>, depth: 2>) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      scf.for %visit = %c0 to %c2 step %c1 {
        %0 = memref.load %m[%c0] : memref<1xvector<16xf32>>
        stream.write %0 into %o : !stream.stream<vector<16xf32>, depth: 2>
      }
      dataflow.yield
    }
    %out = dataflow.memory @out : memref<2xvector<16xf32>>
    dataflow.task @sum ins(%x = %sa : !stream.stream<vector<16xf32>, depth: 2>, %z = %sb : !stream.stream<vector<16xf32>, depth: 2>, %v = %pw : memref<4096xvector<16xf32>>) outs(%o = %out : memref<2xvector<16xf32>>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %0 = stream.read %x : !stream.stream<vector<16xf32>, depth: 2>
        %1 = stream.read %z : !stream.stream<vector<16xf32>, depth: 2>
        %2 = arith.addf %0, %1 : vector<16xf32>
        memref.store %2, %o[%i] : memref<2xvector<16xf32>>
      }
      dataflow.yield
    }
    dataflow.yield %out : memref<2xvector<16xf32>>
  }
  func.return %y : tensor<2xvector<16xf32>>
}

// CHECK-LABEL: func.func @gains(
// CHECK: dataflow.task @load_shared ins(%[[PA:.*]] = %pa : memref<2xvector<16xf32>>, %[[PB:.*]] = %pb : memref<1xvector<16xf32>>) outs(%[[PA_WORDS:.*]] = %pa_words : !stream.stream<vector<16xf32>, depth: 2>, %[[PB_WORDS:.*]] = %pb_words : !stream.stream<vector<16xf32>, depth: 2>) kind load {
// CHECK: scf.for %word = %c0 to %c2 step %c1 {
// CHECK-NEXT: %[[LOAD:.*]] = memref.load %[[PA]][%word] : memref<2xvector<16xf32>>
// CHECK-NEXT: stream.write %[[LOAD]] into %[[PA_WORDS]] :
// CHECK: %[[LOAD1:.*]] = memref.load %[[PB]][%c0_{{.*}}] : memref<1xvector<16xf32>>
// CHECK-NEXT: stream.write %[[LOAD1]] into %[[PB_WORDS]] :
// CHECK: dataflow.task @load_a ins(%[[PA_WORDS1:.*]] = %pa_words : !stream.stream<vector<16xf32>, depth: 2>) outs(%o = %sa : !stream.stream<vector<16xf32>, depth: 2>) kind hold {
// CHECK: scf.for %word = %c0 to %c2 step %c1 {
// CHECK-NEXT: %[[READ:.*]] = stream.read %[[PA_WORDS1]] :
// CHECK-NEXT: memref.store %[[READ]], %[[PA]][%word] : memref<2xvector<16xf32>>
// CHECK: scf.for %[[WORD:.*]] = %c0_{{.*}} to %c2_{{.*}} step %c1_{{.*}} {
// CHECK-NEXT: %[[LOAD:.*]] = memref.load %[[PA]][%[[WORD]]] : memref<2xvector<16xf32>>
// CHECK-NEXT: stream.write %[[LOAD]] into %o :
// CHECK: dataflow.task @load_b ins(%[[PB_WORDS1:.*]] = %pb_words : !stream.stream<vector<16xf32>, depth: 2>) outs(%o = %sb : !stream.stream<vector<16xf32>, depth: 2>) kind hold {
// CHECK: %[[READ1:.*]] = stream.read %[[PB_WORDS1]] :
// CHECK-NEXT: memref.store %[[READ1]], %[[PB]][%c0] : memref<1xvector<16xf32>>
// CHECK: scf.for %visit = %c0_{{.*}} to %c2 step %c1 {
// CHECK-NEXT: %[[LOAD1:.*]] = memref.load %[[PB]][%c0_{{.*}}] : memref<1xvector<16xf32>>
// CHECK-NEXT: stream.write %[[LOAD1]] into %o :
// CHECK: dataflow.task @sum ins(%x = %sa : !stream.stream<vector<16xf32>, depth: 2>, %z = %sb : !stream.stream<vector<16xf32>, depth: 2>, %v = %pw : memref<4096xvector<16xf32>>) outs(%o = %out : memref<2xvector<16xf32>>) {
// CHECK: scf.for %i = %c0 to %c2 step %c1 {
// CHECK-NEXT: %[[READ:.*]] = stream.read %x :
// CHECK-NEXT: %[[READ1:.*]] = stream.read %z :
// CHECK: memref.store %{{.*}}, %o[%i] : memref<2xvector<16xf32>>

// -----

// Two small results are stored by one task, the second behind the first; an input comes with the gain, before which it is read.
// SHOW: dataflow.task .*|memref\.\w+ .*
!S = !stream.stream<vector<16xf32>, depth: 2>
!M = memref<2xvector<16xf32>>
!T = tensor<2xvector<16xf32>>
func.func @results(%w: tensor<32768xvector<16xf32>> {stc.parameter}, %x: !T, %g: !T {stc.parameter}) -> (!T, !T) {
  %y, %z = dataflow.kernel @k(%pw = %w : tensor<32768xvector<16xf32>> as memref<32768xvector<16xf32>>, %px = %x : !T as !M, %pg = %g : !T as !M) -> (!T as !M, !T as !M) {
    %sx = stream.create @sx : !S  %sg = stream.create @sg : !S  %sy = stream.create @sy : !S  %sz = stream.create @sz : !S
    dataflow.task @load_g ins(%m = %pg : !M) outs(%o = %sg : !S) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 { %0 = memref.load %m[%word] : !M  stream.write %0 into %o : !S }
    }
    dataflow.task @load_x ins(%m = %px : !M) outs(%o = %sx : !S) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 { %0 = memref.load %m[%word] : !M  stream.write %0 into %o : !S }
    }
    dataflow.task @first ins(%i = %sx : !S, %v = %pw : memref<32768xvector<16xf32>>) outs(%o = %sy : !S) { dataflow.yield }
    dataflow.task @second ins(%i = %sg : !S) outs(%o = %sz : !S) { dataflow.yield }
    %my = dataflow.memory @my : !M  %mz = dataflow.memory @mz : !M
    dataflow.task @store_y ins(%i = %sy : !S) outs(%m = %my : !M) kind store {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 { %0 = stream.read %i : !S  memref.store %0, %m[%word] : !M }
    }
    dataflow.task @store_z ins(%i = %sz : !S) outs(%m = %mz : !M) kind store {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 { %0 = stream.read %i : !S  memref.store %0, %m[%word] : !M }
    }
    dataflow.yield %my, %mz : !M, !M
  }
  func.return %y, %z : !T, !T
}

// CHECK-LABEL: func.func @results(
// CHECK: dataflow.task @load_shared ins({{.*}} = %px : {{.*}}, {{.*}} = %pg : {{.*}}) outs({{.*}}) kind load {
// CHECK: dataflow.task @store_shared ins(%[[Y:.*]] = %sy : {{.*}}, %[[Z:.*]] = %sz : {{.*}}) outs(%[[MY:.*]] = %my : {{.*}}, %[[MZ:.*]] = %mz : {{.*}}) kind store {
// CHECK: %[[A:.*]] = stream.read %[[Y]] :
// CHECK-NEXT: memref.store %[[A]], %[[MY]][
// CHECK: %[[B:.*]] = stream.read %[[Z]] :
// CHECK-NEXT: memref.store %[[B]], %[[MZ]][
// CHECK-NOT: kind store
