// RUN: stc-opt %s -p 'join-parameters' | filecheck %s

// %up has tokens of two columns, in another order than its rows: the host puts them in order, before those of %down.
// SHOW: tensor\.\w+ .*|linalg.generic .*|dataflow.pack .*|dataflow.task @load.*|scf.for .*|memref\.\w+ .*
!W = vector<2xf32>
!S = !stream.stream<vector<2xf32>, depth: 2>
!Up = !itensor.itensor<1x2xf32, iter_space: [2, 3] * [2, 1], iter_map: (c, r) -> (r, c)>
!Down = !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d) -> (d)>
func.func @layer(%up: tensor<3x4xf32> {stc.parameter}, %down: tensor<4xf32> {stc.parameter}) -> tensor<1x!W> {
  %u = dataflow.pack %up : tensor<3x4xf32> as !Up -> tensor<6x!W>
  %d = dataflow.pack %down : tensor<4xf32> as !Down -> tensor<2x!W>
  %y = dataflow.kernel @k(%pu = %u : tensor<6x!W> as memref<6x!W>, %pd = %d : tensor<2x!W> as memref<2x!W>) -> (tensor<1x!W> as memref<1x!W>) {
    %weights = stream.create @weights : !S
    dataflow.task @load_in_turn ins(%m = %pu : memref<6x!W>, %n = %pd : memref<2x!W>) outs(%o = %weights : !S) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      scf.for %word = %c0 to %c6 step %c1 {
        %0 = memref.load %m[%word] : memref<6x!W>
        stream.write %0 into %o : !S
      }
      scf.for %word = %c0 to %c2 step %c1 {
        %0 = memref.load %n[%word] : memref<2x!W>
        stream.write %0 into %o : !S
      }
      dataflow.yield
    }
    %out = dataflow.memory @out : memref<1x!W>
    dataflow.task @sum ins(%i = %weights : !S) outs(%o = %out : memref<1x!W>) {
      %c0 = arith.constant 0 : index
      %0 = stream.read %i : !S
      memref.store %0, %o[%c0] : memref<1x!W>
      dataflow.yield
    }
    dataflow.yield %out : memref<1x!W>
  }
  return %y : tensor<1x!W>
}

// CHECK: [[PARTS:%.*]] = tensor.expand_shape %up {{.*}} output_shape [3, 2, 2]
// CHECK: [[ORDERED:%.*]] = linalg.generic {{.*}} ins([[PARTS]] : tensor<3x2x2xf32>) outs({{.*}} : tensor<2x3x2xf32>)
// CHECK: [[UP:%.*]] = tensor.collapse_shape [[ORDERED]] {{.*}} into tensor<12xf32>
// CHECK-NEXT: [[BOTH:%.*]] = tensor.concat dim(0) [[UP]], %down : (tensor<12xf32>, tensor<4xf32>) -> tensor<16xf32>
// CHECK-NEXT: [[WORDS:%.*]] = dataflow.pack [[BOTH]] : tensor<16xf32> as !itensor.itensor<2xf32, iter_space: [8] * [2], iter_map: (d0) -> (d0)>
// CHECK-NEXT: {{.*}}dataflow.kernel @k([[PORT:%.*]] = [[WORDS]] : tensor<8xvector<2xf32>>
// CHECK: dataflow.task @load_in_turn ins([[M:%.*]] = [[PORT]] : memref<8xvector<2xf32>>) outs([[O:%.*]] = %weights
// CHECK: scf.for [[I:%.*]] = %c0 to %c8 step %c1
// CHECK-NEXT: [[W:%.*]] = memref.load [[M]][[[I]]]
// CHECK-NEXT: stream.write [[W]] into [[O]]
// CHECK-NOT: scf.for
