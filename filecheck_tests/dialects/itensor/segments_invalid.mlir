// RUN: stc-opt %s --split-input-file --verify-diagnostics

// A token is left out.
!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<24xf32>) {
  dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) {
    // expected-error @below {{port %p is read in segments, but segment 1 begins at token 4, expected 3, where segment 0 ends}}
    dataflow.task @t ins(%p = %a : !V) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index  %c3 = arith.constant 3 : index
      scf.for %i = %c0 to %c3 step %c1 {
        %t = itensor.read %p[%i] segment <0, 3> : !V -> tensor<4xf32>
      }
      scf.for %i = %c0 to %c2 step %c1 {
        %t = itensor.read %p[%i] segment <4, 2> : !V -> tensor<4xf32>
      }
      dataflow.yield
    }
  }
  func.return
}

// -----

// One is taken twice.
!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<24xf32>) {
  dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) {
    // expected-error @below {{port %p is read in segments, but segment 1 begins at token 2, expected 3, where segment 0 ends}}
    dataflow.task @t ins(%p = %a : !V) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index  %c3 = arith.constant 3 : index
      scf.for %i = %c0 to %c3 step %c1 {
        %t = itensor.read %p[%i] segment <0, 3> : !V -> tensor<4xf32>
      }
      scf.for %i = %c0 to %c3 step %c1 {
        %t = itensor.read %p[%i] segment <2, 3> : !V -> tensor<4xf32>
      }
      dataflow.yield
    }
  }
  func.return
}

// -----

// The last is missing.
!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<24xf32>) {
  dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) {
    // expected-error @below {{port %p is read in segments, but the last ends at token 5, expected 6, all tokens of the stream}}
    dataflow.task @t ins(%p = %a : !V) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index  %c3 = arith.constant 3 : index
      scf.for %i = %c0 to %c3 step %c1 {
        %t = itensor.read %p[%i] segment <0, 3> : !V -> tensor<4xf32>
      }
      scf.for %i = %c0 to %c2 step %c1 {
        %t = itensor.read %p[%i] segment <3, 2> : !V -> tensor<4xf32>
      }
      dataflow.yield
    }
  }
  func.return
}

// -----

// Program order is the stream's.
!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<24xf32>) {
  dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) {
    // expected-error @below {{port %p is read in segments, but segment 0 begins at token 3, expected 0, where the stream begins}}
    dataflow.task @t ins(%p = %a : !V) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index  %c3 = arith.constant 3 : index
      scf.for %i = %c0 to %c3 step %c1 {
        %t = itensor.read %p[%i] segment <3, 3> : !V -> tensor<4xf32>
      }
      scf.for %i = %c0 to %c3 step %c1 {
        %t = itensor.read %p[%i] segment <0, 3> : !V -> tensor<4xf32>
      }
      dataflow.yield
    }
  }
  func.return
}

// -----

// Only one says which part it takes.
!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<24xf32>) {
  dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) {
    dataflow.task @t ins(%p = %a : !V) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index  %c3 = arith.constant 3 : index
      scf.for %i = %c0 to %c3 step %c1 {
        %t = itensor.read %p[%i] segment <0, 3> : !V -> tensor<4xf32>
      }
      scf.for %i = %c0 to %c3 step %c1 {
        // expected-error @below {{loop of index 0 has step 1, expected step 4 of d0}}
        %t = itensor.read %p[%i] : !V -> tensor<4xf32>
      }
      dataflow.yield
    }
  }
  func.return
}

// -----

// The loop has another number of iterations.
!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<24xf32>) {
  dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) {
    dataflow.task @t ins(%p = %a : !V) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index  %c3 = arith.constant 3 : index
      scf.for %i = %c0 to %c2 step %c1 {
        // expected-error @below {{takes 2 tokens in the loops it names, expected 3, those of its segment}}
        %t = itensor.read %p[%i] segment <0, 3> : !V -> tensor<4xf32>
      }
      scf.for %i = %c0 to %c3 step %c1 {
        %t = itensor.read %p[%i] segment <3, 3> : !V -> tensor<4xf32>
      }
      dataflow.yield
    }
  }
  func.return
}

// -----

// Two in one loop take tokens in turn, not one segment behind the other.
!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<24xf32>) {
  dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) {
    // expected-error @below {{port %p is read in two segments in one loop (%i), which takes their tokens in turn, expected nests one behind the other}}
    dataflow.task @t ins(%p = %a : !V) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index  %c3 = arith.constant 3 : index
      scf.for %i = %c0 to %c3 step %c1 {
        %s = itensor.read %p[%i] segment <0, 3> : !V -> tensor<4xf32>
        %t = itensor.read %p[%i] segment <3, 3> : !V -> tensor<4xf32>
      }
      dataflow.yield
    }
  }
  func.return
}
