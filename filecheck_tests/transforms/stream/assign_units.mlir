// RUN: stc-opt %s -p 'assign-units{strategy=memory}' --split-input-file | filecheck %s
// RUN: stc-opt %s -p 'assign-units' --split-input-file | filecheck %s --check-prefix ONE

// What has memory ports is one unit, all else another; the streams between them go both ways.
!S = !stream.stream<vector<4xf32>, depth: 2>
!M = memref<4xvector<4xf32>>
func.func @main(%arg: tensor<4xvector<4xf32>>) -> tensor<4xvector<4xf32>> {
%r = dataflow.kernel @both_ways(%x = %arg : tensor<4xvector<4xf32>> as !M) -> (tensor<4xvector<4xf32>> as !M) {
  %m = dataflow.memory @y : !M
  %a = stream.create @a : !S
  %b = stream.create @b : !S
  dataflow.task @load ins(%in = %x : !M) outs(%out = %a : !S) kind load {
    %c0 = arith.constant 0 : index  %c4 = arith.constant 4 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %0 = memref.load %in[%i] : !M
      stream.write %0 into %out : !S
    }
  }
  dataflow.task @pass ins(%in = %a : !S) outs(%out = %b : !S) {
    %c0 = arith.constant 0 : index  %c4 = arith.constant 4 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %0 = stream.read %in : !S
      stream.write %0 into %out : !S
    }
  }
  dataflow.task @store ins(%in = %b : !S) outs(%out = %m : !M) kind store {
    %c0 = arith.constant 0 : index  %c4 = arith.constant 4 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %0 = stream.read %in : !S
      memref.store %0, %out[%i] : !M
    }
  }
  dataflow.yield %m : !M
}
func.return %r : tensor<4xvector<4xf32>>
}

// CHECK-LABEL: @both_ways(
// CHECK: dataflow.task @load{{.*}} kind load unit @memory {
// CHECK: dataflow.task @pass{{.*}} unit @body {
// CHECK: dataflow.task @store{{.*}} kind store unit @memory {
// ONE-LABEL: @both_ways(
// ONE-NOT: unit @
