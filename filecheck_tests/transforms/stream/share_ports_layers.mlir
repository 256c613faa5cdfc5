// RUN: stc-opt %s -p 'share-ports{layers=3}' | filecheck %s
// RUN: stc-opt %s -p 'share-ports' | filecheck %s --check-prefix=ONE

// The angle is the same for all layers: it comes with the gain of each. What goes round keeps its port, since one task brings the
// first layer's, and one stores what the last returns.
// SHOW: dataflow.task .*
!S = !stream.stream<vector<16xf32>, depth: 2>
!M = memref<2xvector<16xf32>>
!T = tensor<2xvector<16xf32>>
!A = memref<1xvector<16xf32>>
func.func @layer(%w: tensor<65536xvector<16xf32>> {stc.parameter}, %x: !T, %angle: tensor<1xvector<16xf32>>, %g: !T {stc.parameter}) -> !T {
  %y = dataflow.kernel @k(%pw = %w : tensor<65536xvector<16xf32>> as memref<65536xvector<16xf32>>, %px = %x : !T as !M, %pa = %angle : tensor<1xvector<16xf32>> as !A, %pg = %g : !T as !M) -> (!T as !M) {
    %sx = stream.create @sx : !S  %sa = stream.create @sa : !S  %sg = stream.create @sg : !S  %sy = stream.create @sy : !S
    dataflow.task @load_x ins(%m = %px : !M) outs(%o = %sx : !S) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 { %0 = memref.load %m[%word] : !M  stream.write %0 into %o : !S }
    }
    dataflow.task @load_angle ins(%m = %pa : !A) outs(%o = %sa : !S) kind load {
      %c0 = arith.constant 0 : index
      %0 = memref.load %m[%c0] : !A
      stream.write %0 into %o : !S
    }
    dataflow.task @load_g ins(%m = %pg : !M) outs(%o = %sg : !S) kind load {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 { %0 = memref.load %m[%word] : !M  stream.write %0 into %o : !S }
    }
    dataflow.task @rotate ins(%i = %sx : !S, %a = %sa : !S, %b = %sg : !S, %v = %pw : memref<65536xvector<16xf32>>) outs(%o = %sy : !S) { dataflow.yield }
    %my = dataflow.memory @my : !M
    dataflow.task @store_y ins(%i = %sy : !S) outs(%m = %my : !M) kind store {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %word = %c0 to %c2 step %c1 { %0 = stream.read %i : !S  memref.store %0, %m[%word] : !M }
    }
    dataflow.yield %my : !M
  }
  func.return %y : !T
}

// CHECK-LABEL: func.func @layer(
// CHECK: dataflow.task @load_x ins({{.*}} = %px : {{.*}}) outs({{.*}}) kind load {
// CHECK: dataflow.task @load_shared ins({{.*}} = %pa : {{.*}}, {{.*}} = %pg : {{.*}}) outs({{.*}}) kind load {
// CHECK: dataflow.task @load_angle {{.*}} kind hold {
// CHECK: dataflow.task @store_y {{.*}} kind store {

// ONE-LABEL: func.func @layer(
// ONE: dataflow.task @load_shared ins({{.*}} = %px : {{.*}}, {{.*}} = %pa : {{.*}}, {{.*}} = %pg : {{.*}}) outs({{.*}}) kind load {
