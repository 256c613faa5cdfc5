// RUN: stc-opt %s -p send-scalars --split-input-file | filecheck %s

// The body has no register that the host writes: its task reads the scalar, which one of the unit with ports sends.
!S = !stream.stream<vector<4xf32>, depth: 2>
!M = memref<4xvector<4xf32>>
!pos = !itensor.symbol<pos<=3>
func.func @main(%x: tensor<4xvector<4xf32>>, %p: i32 {stc.name = "pos"}) -> tensor<4xvector<4xf32>> {
  %r = dataflow.kernel @k(%xm = %x : tensor<4xvector<4xf32>> as !M, %at = %p : i32 as !pos) -> (tensor<4xvector<4xf32>> as !M) {
    %m = dataflow.memory @y : !M
    %a = stream.create @a : !S
    %b = stream.create @b : !S
    dataflow.task @load ins(%in = %xm : !M, %at1 = %at : !pos) outs(%out = %a : !S) kind load unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
      %n = itensor.size pos<=3 of %at1
      scf.for %i = %c0 to %n step %c1 {
        %t = memref.load %in[%i] : !M
        stream.write %t into %out : !S
      }
    }
    dataflow.task @pass ins(%in = %a : !S, %at2 = %at : !pos) outs(%out = %b : !S) unit @body {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
      %n = itensor.size pos<=3 of %at2
      scf.for %i = %c0 to %n step %c1 {
        %t = stream.read %in : !S
        stream.write %t into %out : !S
      }
    }
    dataflow.task @store ins(%in = %b : !S, %at3 = %at : !pos) outs(%out = %m : !M) kind store unit @memory {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
      %n = itensor.size pos<=3 of %at3
      scf.for %i = %c0 to %n step %c1 {
        %t = stream.read %in : !S
        memref.store %t, %out[%i] : !M
      }
    }
    dataflow.yield %m : !M
  }
  func.return %r : tensor<4xvector<4xf32>>
}

// CHECK:      !stream = !stream.stream<!itensor.symbol<pos<=3>, depth: 2>
// CHECK:      %pass_pos = stream.create @pass_pos : !stream
// CHECK-NEXT: dataflow.task @send_scalars ins(%[[AT:.*]] = %at : !itensor.symbol<pos<=3>) outs(%[[OUT:.*]] = %pass_pos : !stream) unit @memory {
// CHECK-NEXT:   stream.write %[[AT]] into %[[OUT]]
// CHECK:      dataflow.task @load ins({{.*}}!itensor.symbol<pos<=3>)
// CHECK:      dataflow.task @pass ins(%in = %a : {{.*}}, %[[IN:.*]] = %pass_pos : !stream) outs({{.*}}) unit @body {
// CHECK-NEXT:   %[[SCALAR:.*]] = stream.read %[[IN]]
// CHECK:        itensor.size pos<=3 of %[[SCALAR]]
// CHECK:      dataflow.task @store ins({{.*}}!itensor.symbol<pos<=3>)
