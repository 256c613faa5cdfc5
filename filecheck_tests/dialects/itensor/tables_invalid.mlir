// RUN: stc-opt %s --split-input-file --verify-diagnostics

// As many tokens as all phases together.
!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%p : !V) {
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %s = itensor.index_symbol %i : !itensor.symbol<phase<=2>
    %n = itensor.size entry(phase<=2, 2, 0, 3) of %s
    scf.for %j = %c0 to %n step %c1 {
      // expected-error @below {{takes 5 tokens in the loops it names, expected 6, those of its segment}}
      %t = itensor.read %p[%i, %j] segment <0, 6> : !V -> tensor<4xf32>
    }
  }
  func.return
}

// -----

// The second phase comes first.
!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) {
    // expected-error @below {{port %p is read in two segments in one loop (%i), which takes their tokens in turn, expected nests one behind the other}}
    dataflow.task @t ins(%p = %a : !V) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %second = arith.cmpi eq, %i, %c1 : index
        scf.if %second {
          %t = itensor.read %p[] segment <0, 1> : !V -> tensor<4xf32>
        }
        %first = arith.cmpi eq, %i, %c0 : index
        scf.if %first {
          %t = itensor.read %p[] segment <1, 1> : !V -> tensor<4xf32>
        }
      }
      dataflow.yield
    }
  }
  func.return
}

// -----

// One symbol for each value that the loop takes.
func.func @f() {
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    // expected-error @below {{makes phase<=3 of another value, expected the induction variable of a loop from 0 to 4 by 1}}
    %s = itensor.index_symbol %i : !itensor.symbol<phase<=3>
  }
  func.return
}

// -----

// Names are told apart.
func.func @f() {
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %s = itensor.index_symbol %i : !itensor.symbol<phase<=2>
    scf.for %j = %c0 to %c3 step %c1 {
      // expected-error @below {{makes phase<=2, but that of another loop around has this name, expected one of its own}}
      %t = itensor.index_symbol %j : !itensor.symbol<phase<=2>
    }
  }
  func.return
}

// -----

// A table has an entry for each value.
func.func @f(%s : !itensor.symbol<phase<=2>) {
  // expected-error @below {{entry(phase<=2, 4, 8) is none, expected a symbol, and for each value of it an entry from 0 on}}
  %n = itensor.size entry(phase<=2, 4, 8) of %s
  func.return
}

// -----

// A stream of `pos` rows is not one of as many as the loop of this name says.
!V = !itensor.itensor<4xf32, iter_space: [pos<=2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>, %q : i32) {
  dataflow.kernel @k(%a = %x : tensor<8xf32> as !V, %pos = %q : i32 as !itensor.symbol<pos<=2>) {
    dataflow.task @t ins(%p = %a : !V) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index  %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c3 step %c1 {
        // expected-error @below {{makes pos<=2, but an argument of 'dataflow.task' has this name, expected one of its own}}
        %s = itensor.index_symbol %i : !itensor.symbol<pos<=2>
        %n = itensor.size mul(pos<=2, 4) of %s
        %second = arith.cmpi eq, %i, %c1 : index
        scf.if %second {
          scf.for %j = %c0 to %n step %c4 {
            %t = itensor.read %p[%j] : !V -> tensor<4xf32>
          }
        }
      }
      dataflow.yield
    }
  }
  func.return
}
