// RUN: stc-opt %s -p 'load-in-turn' | filecheck %s

// What %down is multiplied with is computed with both that one port brings: it comes behind them, through that.
// SHOW: func.func .*?\(|stream\.create .*?:|dataflow.task .*|memref\.\w+ .*
!stream_t = !stream.stream<vector<16xf32>, depth: 2>
!out_t = memref<1xvector<16xf32>>
func.func @mlp(%up: tensor<4xvector<16xf32>> {stc.parameter}, %other: tensor<4xvector<16xf32>> {stc.parameter}, %down: tensor<2xvector<16xf32>> {stc.parameter}) -> tensor<1xvector<16xf32>> {
  %y = dataflow.kernel @k(%pu = %up : tensor<4xvector<16xf32>> as memref<4xvector<16xf32>>, %po = %other : tensor<4xvector<16xf32>> as memref<4xvector<16xf32>>, %pd = %down : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) -> (tensor<1xvector<16xf32>> as memref<1xvector<16xf32>>) {
    %su = stream.create @su : !stream_t
    %so = stream.create @so : !stream_t
    dataflow.task @load_shared ins(%m0 = %pu : memref<4xvector<16xf32>>, %m1 = %po : memref<4xvector<16xf32>>) outs(%o0 = %su : !stream_t, %o1 = %so : !stream_t) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m0[%word] : memref<4xvector<16xf32>>
        stream.write %0 into %o0 : !stream_t
      }
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m1[%word] : memref<4xvector<16xf32>>
        stream.write %0 into %o1 : !stream_t
      }
      dataflow.yield
    }
    %h = stream.create @h : !stream_t
    dataflow.task @up ins(%a = %su : !stream_t, %b = %so : !stream_t) outs(%o = %h : !stream_t) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c4 step %c1 {
        %0 = stream.read %a : !stream_t
        %1 = stream.read %b : !stream_t
        %2 = arith.addf %0, %1 : vector<16xf32>
        stream.write %2 into %o : !stream_t
      }
      dataflow.yield
    }
    %sd = stream.create @sd : !stream_t
    dataflow.task @load_down ins(%m = %pd : memref<2xvector<16xf32>>) outs(%o = %sd : !stream_t) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      scf.for %visit = %c0 to %c2 step %c1 {
        scf.for %word = %c0 to %c2 step %c1 {
          %0 = memref.load %m[%word] : memref<2xvector<16xf32>>
          stream.write %0 into %o : !stream_t
        }
      }
      dataflow.yield
    }
    %out = dataflow.memory @out : memref<1xvector<16xf32>>
    dataflow.task @down ins(%a = %h : !stream_t, %b = %sd : !stream_t) outs(%o = %out : memref<1xvector<16xf32>>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c4 step %c1 {
        %0 = stream.read %a : !stream_t
        %1 = stream.read %b : !stream_t
        %2 = arith.mulf %0, %1 : vector<16xf32>
        memref.store %2, %o[%c0] : memref<1xvector<16xf32>>
      }
      dataflow.yield
    }
    dataflow.yield %out : memref<1xvector<16xf32>>
  }
  func.return %y : tensor<1xvector<16xf32>>
}

// CHECK-LABEL: func.func @mlp(
// CHECK: dataflow.task @load_in_turn ins(%m0 = %pu : memref<4xvector<16xf32>>, %m1 = %po : memref<4xvector<16xf32>>, %[[M:.*]] = %pd : memref<2xvector<16xf32>>) outs(%o0 = %su : {{.*}}, %o1 = %so : {{.*}}, %{{.*}} = %sd : {{.*}}) kind load {
// CHECK: memref.load %m0[%word] : memref<4xvector<16xf32>>
// CHECK: memref.load %m1[%{{.*}}] : memref<4xvector<16xf32>>
// CHECK: memref.load %[[M]][%{{.*}}] : memref<2xvector<16xf32>>
// CHECK-NOT: kind load
