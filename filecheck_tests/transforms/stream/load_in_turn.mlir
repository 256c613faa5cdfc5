// RUN: stc-opt %s -p 'load-in-turn' | filecheck %s

// What %down is multiplied with is computed with %up: one port brings both. %other is read beside %up, and keeps its own.
// SHOW: func.func .*?\(|stream\.create .*?:|dataflow.task .*|memref\.\w+ .*
!stream_t = !stream.stream<vector<16xf32>, depth: 2>
!out_t = memref<1xvector<16xf32>>
func.func @mlp(%up: tensor<4xvector<16xf32>> {stc.parameter}, %other: tensor<4xvector<16xf32>> {stc.parameter}, %down: tensor<2xvector<16xf32>> {stc.parameter}) -> tensor<1xvector<16xf32>> {
  %y = dataflow.kernel @k(%pu = %up : tensor<4xvector<16xf32>> as memref<4xvector<16xf32>>, %po = %other : tensor<4xvector<16xf32>> as memref<4xvector<16xf32>>, %pd = %down : tensor<2xvector<16xf32>> as memref<2xvector<16xf32>>) -> (tensor<1xvector<16xf32>> as memref<1xvector<16xf32>>) {
    %su = stream.create @su : !stream_t
    dataflow.task @load_up ins(%m = %pu : memref<4xvector<16xf32>>) outs(%o = %su : !stream_t) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : memref<4xvector<16xf32>>
        stream.write %0 into %o : !stream_t
      }
      dataflow.yield
    }
    %so = stream.create @so : !stream_t
    dataflow.task @load_other ins(%m = %po : memref<4xvector<16xf32>>) outs(%o = %so : !stream_t) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : memref<4xvector<16xf32>>
        stream.write %0 into %o : !stream_t
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
// CHECK: %su = stream.create @su : !stream.stream<vector<16xf32>, depth: 2>
// CHECK-NEXT: %sd = stream.create @sd : !stream.stream<vector<16xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @load_in_turn ins(%m = %pu : memref<4xvector<16xf32>>, %[[M:.*]] = %pd : memref<2xvector<16xf32>>) outs(%o = %su : !stream.stream<vector<16xf32>, depth: 2>, %o_{{.*}} = %sd : !stream.stream<vector<16xf32>, depth: 2>) kind load {
// CHECK: %[[LOAD:.*]] = memref.load %m[%word] : memref<4xvector<16xf32>>
// CHECK: memref.load %[[M]][%word_{{.*}}] : memref<2xvector<16xf32>>
// CHECK: %so = stream.create @so : !stream.stream<vector<16xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @load_other ins(%m = %po : memref<4xvector<16xf32>>) outs(%o = %so : !stream.stream<vector<16xf32>, depth: 2>) kind load {
// CHECK: %[[LOAD1:.*]] = memref.load %m[%word] : memref<4xvector<16xf32>>
// CHECK: %h = stream.create @h : !stream.stream<vector<16xf32>, depth: 2>
// CHECK-NEXT: dataflow.task @up ins(%a = %su : !stream.stream<vector<16xf32>, depth: 2>, %b = %so : !stream.stream<vector<16xf32>, depth: 2>) outs(%o = %h : !stream.stream<vector<16xf32>, depth: 2>) {
// CHECK: dataflow.task @down ins(%a = %h : !stream.stream<vector<16xf32>, depth: 2>, %b = %sd : !stream.stream<vector<16xf32>, depth: 2>) outs(%o = %out : memref<1xvector<16xf32>>) {
// CHECK: memref.store %{{.*}}, %o[%c0] : memref<1xvector<16xf32>>
