// RUN: stc-opt %s -p 'assign-dies{strategy=optimum}' | filecheck %s
// RUN: stc-opt %s -p 'assign-dies{schedule="%S/dies.toml"}' | filecheck %s --check-prefix GIVEN
// RUN: stc-opt %s -p 'assign-dies{schedule="%S/dies.toml"},assign-dies{strategy=optimum}' | filecheck %s --check-prefix GIVEN
// RUN: stc-opt %s -p 'assign-dies{strategy=optimum platform="kv260"}' | filecheck %s
// RUN: stc-opt %s -p 'assign-dies' | filecheck %s --check-prefix NONE

// All fits the die of the memory, where no wire crosses. A schedule may say another die: both links then cross two boundaries.
!S = !stream.stream<vector<4xf32>, depth: 2>
!M = memref<4xvector<4xf32>>
func.func @main(%arg: tensor<4xvector<4xf32>>) -> tensor<4xvector<4xf32>> {
%r = dataflow.kernel @k(%x = %arg : tensor<4xvector<4xf32>> as !M) -> (tensor<4xvector<4xf32>> as !M) {
  %m = dataflow.memory @y : !M
  %a = stream.create @a : !S
  %b = stream.create @b : !S
  dataflow.task @load ins(%in = %x : !M) outs(%out = %a : !S) kind load unit @memory {
    %c0 = arith.constant 0 : index  %c4 = arith.constant 4 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %0 = memref.load %in[%i] : !M
      stream.write %0 into %out : !S
    }
  }
  dataflow.task @pass ins(%in = %a : !S) outs(%out = %b : !S) unit @body {
    %c0 = arith.constant 0 : index  %c4 = arith.constant 4 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %0 = stream.read %in : !S
      stream.write %0 into %out : !S
    }
  }
  dataflow.task @store ins(%in = %b : !S) outs(%out = %m : !M) kind store unit @memory {
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

// CHECK: dataflow.kernel @k({{.*}} dies (@memory = 0, @body = 0) {
// CHECK: stream.create @a : !stream
// GIVEN: dataflow.kernel @k({{.*}} dies (@memory = 0, @body = 2) {
// GIVEN: stream.create @a {crossing = 8 : i64} : !stream
// GIVEN-NEXT: stream.create @b {crossing = 8 : i64} : !stream
// NONE-NOT: dies (
// NONE-NOT: crossing
