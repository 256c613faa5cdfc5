// RUN: stc-opt %s --split-input-file | stc-opt - --split-input-file -p verify-streams | filecheck %s

// Three phases of 2, 0 and 3 tokens are one stream of 5.
!V = !itensor.itensor<4xf32, iter_space: [5] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<20xf32>) {
  dataflow.kernel @k(%a = %x : tensor<20xf32> as !V) {
    dataflow.task @t ins(%p = %a : !V) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
      scf.for %i = %c0 to %c3 step %c1 {
        // CHECK: [[S:%.*]] = itensor.index_symbol %i : !itensor.symbol<phase<=2>
        %s = itensor.index_symbol %i : !itensor.symbol<phase<=2>
        // CHECK: [[N:%.*]] = itensor.size entry(phase<=2, 2, 0, 3) of [[S]]
        %n = itensor.size entry(phase<=2, 2, 0, 3) of %s
        scf.for %j = %c0 to %n step %c1 {
          // CHECK: itensor.read %p[%i, %j] segment <0, 5>
          %t = itensor.read %p[%i, %j] segment <0, 5> : !V -> tensor<4xf32>
        }
      }
      dataflow.yield
    }
  }
  func.return
}

// -----

// Phases that take their tokens in different places: each is guarded to its own, and they follow one another.
!V = !itensor.itensor<4xf32, iter_space: [5] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<20xf32>) {
  dataflow.kernel @k(%a = %x : tensor<20xf32> as !V) {
    dataflow.task @t ins(%p = %a : !V) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %s = itensor.index_symbol %i : !itensor.symbol<phase<=1>
        %n = itensor.size entry(phase<=1, 2, 3) of %s
        %first = arith.cmpi eq, %i, %c0 : index
        scf.if %first {
          scf.for %j = %c0 to %n step %c1 {
            // CHECK: itensor.read %p[%j] segment <0, 2>
            %t = itensor.read %p[%j] segment <0, 2> : !V -> tensor<4xf32>
          }
        }
        %second = arith.cmpi eq, %i, %c1 : index
        scf.if %second {
          scf.for %j = %c0 to %n step %c1 {
            // CHECK: itensor.read %p[%j_1] segment <2, 3>
            %t = itensor.read %p[%j] segment <2, 3> : !V -> tensor<4xf32>
          }
        }
      }
      dataflow.yield
    }
  }
  func.return
}
