// RUN: stc-opt %s -p 'share-ports{in-turn=true}' | filecheck %s
// RUN: stc-opt %s -p 'share-ports' | filecheck %s --check-prefix=APART

// Two small matrices whose sums @down waits for: each has its turn at a port before one of its two large ones, so that they take no
// port more. Of two gains, which nothing follows, @load_shared sends on the tokens of what is sent once; what is sent twice is held in
// an array.
!t = !stream.stream<vector<16xf32>, depth: 2>
!small = memref<4xvector<16xf32>>
!large = memref<512xvector<16xf32>>
!gain = memref<4xvector<8xf32>>
!g = !stream.stream<vector<8xf32>, depth: 2>
func.func @mlp(%w0: tensor<4xvector<16xf32>> {stc.parameter}, %w1: tensor<4xvector<16xf32>> {stc.parameter}, %d0: tensor<512xvector<16xf32>> {stc.parameter}, %d1: tensor<512xvector<16xf32>> {stc.parameter}, %g0: tensor<4xvector<8xf32>> {stc.parameter}, %g1: tensor<4xvector<8xf32>> {stc.parameter}) {
  dataflow.kernel @k(%pw0 = %w0 : tensor<4xvector<16xf32>> as !small, %pw1 = %w1 : tensor<4xvector<16xf32>> as !small, %pd0 = %d0 : tensor<512xvector<16xf32>> as !large, %pd1 = %d1 : tensor<512xvector<16xf32>> as !large, %pg0 = %g0 : tensor<4xvector<8xf32>> as !gain, %pg1 = %g1 : tensor<4xvector<8xf32>> as !gain) {
    %s0 = stream.create @s0 : !t
    dataflow.task @load_w0 ins(%m = %pw0 : !small) outs(%o = %s0 : !t) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : !small
        stream.write %0 into %o : !t
      }
      dataflow.yield
    }
    %s1 = stream.create @s1 : !t
    dataflow.task @load_w1 ins(%m = %pw1 : !small) outs(%o = %s1 : !t) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : !small
        stream.write %0 into %o : !t
      }
      dataflow.yield
    }
    %x0 = stream.create @x0 : !g
    dataflow.task @load_g0 ins(%m = %pg0 : !gain) outs(%o = %x0 : !g) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : !gain
        stream.write %0 into %o : !g
      }
      dataflow.yield
    }
    %x1 = stream.create @x1 : !g
    dataflow.task @load_g1 ins(%m = %pg1 : !gain) outs(%o = %x1 : !g) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      scf.for %visit = %c0 to %c2 step %c1 {
        scf.for %word = %c0 to %c4 step %c1 {
          %0 = memref.load %m[%word] : !gain
          stream.write %0 into %o : !g
        }
      }
      dataflow.yield
    }
    %h = stream.create @h : !t
    dataflow.task @up ins(%a = %s0 : !t, %b = %s1 : !t, %c = %x0 : !g, %d = %x1 : !g) outs(%o = %h : !t) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c4 step %c1 {
        %0 = stream.read %a : !t
        %1 = stream.read %b : !t
        %2 = stream.read %c : !g
        %3 = stream.read %d : !g
        %4 = arith.addf %0, %1 : vector<16xf32>
        stream.write %4 into %o : !t
      }
      dataflow.yield
    }
    %t0 = stream.create @t0 : !t
    dataflow.task @load_d0 ins(%m = %pd0 : !large) outs(%o = %t0 : !t) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c512 = arith.constant 512 : index
      scf.for %word = %c0 to %c512 step %c1 {
        %0 = memref.load %m[%word] : !large
        stream.write %0 into %o : !t
      }
      dataflow.yield
    }
    %t1 = stream.create @t1 : !t
    dataflow.task @load_d1 ins(%m = %pd1 : !large) outs(%o = %t1 : !t) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c512 = arith.constant 512 : index
      scf.for %word = %c0 to %c512 step %c1 {
        %0 = memref.load %m[%word] : !large
        stream.write %0 into %o : !t
      }
      dataflow.yield
    }
    dataflow.task @down ins(%a = %h : !t, %b = %t0 : !t, %c = %t1 : !t) outs() {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c512 = arith.constant 512 : index
      scf.for %i = %c0 to %c512 step %c1 {
        %0 = stream.read %b : !t
        %1 = stream.read %c : !t
      }
      %2 = stream.read %a : !t
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

// CHECK: dataflow.task @load_w0 {{.*}} kind load {
// CHECK: dataflow.task @load_w1 {{.*}} kind load {
// CHECK: dataflow.task @load_shared ins(%[[G0:.*]] = %pg0 : {{.*}}, %[[G1:.*]] = %pg1 : {{.*}}) outs(%[[X0:.*]] = %x0 : {{.*}}, %[[G1_WORDS:.*]] = %pg1_words : {{.*}}) kind load {
// CHECK: %[[TOKEN:.*]] = memref.load %[[G0]][%word]
// CHECK-NEXT: stream.write %[[TOKEN]] into %[[X0]]
// CHECK: %[[WORD:.*]] = memref.load %[[G1]][%word
// CHECK-NEXT: stream.write %[[WORD]] into %[[G1_WORDS]]
// CHECK-NOT: @load_g0
// CHECK: dataflow.task @load_g1 ins({{.*}} = %pg1_words : {{.*}}) outs(%o = %x1 : {{.*}}) kind hold {

// APART: dataflow.task @load_shared ins(%{{.*}} = %pw0 : {{.*}}, %{{.*}} = %pw1 :
// APART: dataflow.task @load_w0 {{.*}} kind hold {
