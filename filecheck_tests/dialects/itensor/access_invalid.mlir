// RUN: stc-opt %s --split-input-file --verify-diagnostics

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  // expected-error @below {{index 0 is not the induction variable of an scf.for, expected an enclosing loop}}
  %v = itensor.read %x[%n] : !V -> tensor<4xf32>
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  scf.for %i = %c0 to %c8 step %c4 {
    // expected-error @below {{names 0 loops but its type has 1, expected one index per loop}}
    %v = itensor.read %x[] : !V -> tensor<4xf32>
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  scf.for %i = %c4 to %c12 step %c4 {
    // expected-error @below {{loop of index 0 has no constant lower bound 0, expected to start at 0}}
    %v = itensor.read %x[%i] : !V -> tensor<4xf32>
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  scf.for %i = %c0 to %c4 step %c2 {
    // expected-error @below {{loop of index 0 has step 2, expected step 4 of d0}}
    %v = itensor.read %x[%i] : !V -> tensor<4xf32>
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  scf.for %i = %c0 to %c4 step %n {
    // expected-error @below {{loop of index 0 has no constant step, expected step 4 of d0}}
    %v = itensor.read %x[%i] : !V -> tensor<4xf32>
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  scf.for %i = %c0 to %n step %c4 {
    // expected-error @below {{loop of index 0 has no constant upper bound, expected 2 iterations of d0}}
    %v = itensor.read %x[%i] : !V -> tensor<4xf32>
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  scf.for %i = %c0 to %c12 step %c4 {
    // expected-error @below {{loop of index 0 has 3 iterations, expected 2 of d0}}
    %v = itensor.read %x[%i] : !V -> tensor<4xf32>
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : !V) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c4 {
    dataflow.kernel @k() {
      // expected-error @below {{isolated region uses %x, %i, not defined in it, expected them among the operands}}
      %v = itensor.read %x[%i] : !V -> tensor<4xf32>
    }
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  scf.for %i = %c0 to %c8 step %c4 {
    scf.for %j = %c0 to %c8 step %c4 {
      // expected-error @below {{loop of index 1 is not nested inside the loop of index 0, expected the loops outermost first as in the type}}
      %v = itensor.read %d[%j, %i] : !D -> tensor<4x4xf32>
    }
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  scf.for %i = %c0 to %c8 step %c4 {
    scf.for %k = %c0 to %c3 step %c1 {
      // expected-error @below {{stands in enclosing loop 1 (%k), which it does not name, expected an scf.if on one iteration of it around the access}}
      %v = itensor.read %x[%i] : !V -> tensor<4xf32>
    }
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  scf.for %i = %c0 to %c8 step %c4 {
    scf.for %k = %c0 to %c3 step %c1 {
      %g = arith.cmpi eq, %k, %c2 : index
      scf.if %g {
      } else {
        // expected-error @below {{stands in the else branch of an scf.if, expected the then branch of a guard}}
        %v = itensor.read %x[%i] : !V -> tensor<4xf32>
      }
    }
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  scf.for %i = %c0 to %c8 step %c4 {
    %g = arith.cmpi eq, %i, %c4 : index
    scf.if %g {
      // expected-error @below {{is guarded to one iteration of the loop of index 0, which enumerates its type, expected an access in every iteration}}
      %v = itensor.read %x[%i] : !V -> tensor<4xf32>
    }
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  scf.for %i = %c0 to %c8 step %c4 {
    scf.if %b {
      // expected-error @below {{depends on an scf.if whose condition is not a conjunction of 'arith.cmpi eq' comparisons}}
      %v = itensor.read %x[%i] : !V -> tensor<4xf32>
    }
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  scf.for %i = %c0 to %c8 step %c4 {
    scf.for %k = %c0 to %c3 step %c1 {
      %g = arith.cmpi ult, %k, %c1 : index
      scf.if %g {
        // expected-error @below {{depends on an scf.if whose condition is not a conjunction of 'arith.cmpi eq' comparisons}}
        %v = itensor.read %x[%i] : !V -> tensor<4xf32>
      }
    }
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  scf.for %i = %c0 to %c8 step %c4 {
    scf.for %k = %c0 to %c3 step %c1 {
      %g = arith.cmpi eq, %k, %c3 : index
      scf.if %g {
        // expected-error @below {{is guarded to %k == 3, a value that this loop never takes, expected one of its values}}
        %v = itensor.read %x[%i] : !V -> tensor<4xf32>
      }
    }
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  scf.for %i = %c0 to %c8 step %c4 {
    "scf.while"() ({
      "scf.condition"(%b) : (i1) -> ()
    }, {
      // expected-error @below {{stands inside 'scf.while', expected only scf.for loops and guarding scf.if}}
      %v = itensor.read %x[%i] : !V -> tensor<4xf32>
      scf.yield
    }) : () -> ()
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  scf.for %i = %c0 to %c8 step %c4 {
    // expected-error @below {{result has type tensor<8xf32>, expected the element tensor<4xf32> of the itensor}}
    %v = itensor.read %x[%i] : !V -> tensor<8xf32>
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %u = tensor.empty() : tensor<2xf32>
  scf.for %i = %c0 to %c8 step %c4 {
    // expected-error @below {{value has type tensor<2xf32>, expected the element tensor<4xf32> of the itensor}}
    %v = itensor.write %u into %x[%i] : tensor<2xf32> -> !V
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %e = itensor.empty : !V
  %r = scf.for %i = %c0 to %c8 step %c4 iter_args(%o = %e) -> (!V) {
    %also = itensor.cast %o : !V to !V
    // expected-error @below {{destination is also used by 'itensor.cast', expected the write to be its only use}}
    %v = itensor.write %t into %o[%i] : tensor<4xf32> -> !V
    scf.yield %v : !V
  }
  func.return
}

// -----

!S = !itensor.itensor<1xf32, iter_space: [seq<=8] * [1], iter_map: (d0) -> (d0)>
func.func @f(%x : !S) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    // expected-error @below {{loop of index 0 has 8 iterations, expected seq<=8 of d0}}
    %v = itensor.read %x[%i] : !S -> tensor<1xf32>
  }
  func.return
}

// -----

// Any other number is no bound, and neither is another size of the same symbol.
!S = !itensor.itensor<1xf32, iter_space: [seq<=8] * [1], iter_map: (d0) -> (d0)>
func.func @f(%x : !S, %n : index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{loop of index 0 has no upper bound that is an itensor.size, expected seq<=8 iterations of d0}}
    %v = itensor.read %x[%i] : !S -> tensor<1xf32>
  }
  func.return
}

// -----

!S = !itensor.itensor<1xf32, iter_space: [seq<=8] * [1], iter_map: (d0) -> (d0)>
func.func @f(%x : !S, %s : !itensor.symbol<seq<=8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = itensor.size min(sum(seq<=8, 1), 8) of %s
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{loop of index 0 has min(sum(seq<=8, 1), 8) iterations, expected seq<=8 of d0}}
    %v = itensor.read %x[%i] : !S -> tensor<1xf32>
  }
  func.return
}

// -----

// A loop that may be left out reaches no last iteration.
!S = !itensor.itensor<1xf32, iter_space: [] * [], iter_map: () -> (0)>
func.func @f(%x : !S, %s : !itensor.symbol<seq<=8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = itensor.size seq<=8 of %s
  scf.for %i = %c0 to %n step %c1 {
    %first = arith.cmpi eq, %i, %c0 : index
    scf.if %first {
      // expected-error @below {{is guarded to %i == 0, which a loop of seq<=8 iterations does not always reach, expected a value that it takes for all sizes, or an access behind the loop}}
      %v = itensor.read %x[] : !S -> tensor<1xf32>
    }
  }
  func.return
}

// -----

func.func @f(%s : !itensor.symbol<seq<=8>) {
  // expected-error @below {{computes 4, expected a size with a symbol, or an arith.constant}}
  %n = "itensor.size"() <{size = #itensor.size<4>}> : () -> index
  func.return
}

// -----

func.func @f(%s : !itensor.symbol<seq<=8>) {
  // expected-error @below {{computes seq<=4 of (!itensor.symbol<seq<=8>), expected (!itensor.symbol<seq<=4>): its symbols by name}}
  %n = "itensor.size"(%s) <{size = #itensor.size<seq<=4>}> : (!itensor.symbol<seq<=8>) -> index
  func.return
}

// -----

// A step is counted from 0.
func.func @f(%s : !itensor.symbol<seq<=8>, %step : i32) {
  // expected-error @below {{operand 'step' at position 1 does not verify: i32 should be of base attribute index}}
  %t = "itensor.advance"(%s, %step) : (!itensor.symbol<seq<=8>, i32) -> !itensor.symbol<seq<=8>
  func.return
}

// -----

// In each step it has the same maximum.
func.func @f(%s : !itensor.symbol<seq<=8>, %step : index) {
  // expected-error @below {{attribute !itensor.symbol<seq<=8> expected from variable 'SYMBOL', but got !itensor.symbol<seq<=9>}}
  %t = "itensor.advance"(%s, %step) : (!itensor.symbol<seq<=8>, index) -> !itensor.symbol<seq<=9>
  func.return
}

// -----

// What is no symbol has a value of its own in each step.
func.func @f(%s : index, %step : index) {
  // expected-error @below {{operand 'source' at position 0 does not verify: index should be of base attribute itensor.symbol}}
  %t = "itensor.advance"(%s, %step) : (index, index) -> index
  func.return
}

// -----

// expected-error @below {{'4' is no symbol, expected 'name<=maximum'}}
func.func @f(%s : !itensor.symbol<4>) {
  func.return
}

// -----

!S = !itensor.itensor<1xf32, iter_space: [seq<=8] * [1], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>, %n : index) {
  // expected-error @below {{has a value of type !itensor.itensor<1xf32, iter_space: [seq<=8] * [1], iter_map: (d0) -> (d0)>, expected an argument of type !itensor.symbol<seq<=8>}}
  dataflow.kernel @k(%a = %x : tensor<8xf32> as !S, %s = %n : index as !itensor.symbol<seq<=4>) {
    dataflow.yield
  }
  func.return
}

// -----

func.func @f(%n : index, %m : i32) {
  // expected-error @below {{has 2 arguments for symbol 'seq', expected one}}
  dataflow.kernel @k(%r = %n : index as !itensor.symbol<seq<=4>, %s = %m : i32 as !itensor.symbol<seq<=4>) {
    dataflow.yield
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) -> tensor<8xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) -> (tensor<8xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %t = tensor.empty() : tensor<4xf32>
      scf.for %i = %c0 to %c8 step %c4 {
        // expected-error @below {{reads %o, an outs port, expected an ins port}}
        %v = itensor.read %o[%i] : !V -> tensor<4xf32>
      }
      dataflow.yield %o : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<8xf32>
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) -> tensor<8xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) -> (tensor<8xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %t = tensor.empty() : tensor<4xf32>
      %w = scf.for %i = %c0 to %c8 step %c4 iter_args(%d = %p) -> (!V) {
        // expected-error @below {{writes %p, an ins port, expected an outs port}}
        %v = itensor.write %t into %d[%i] : tensor<4xf32> -> !V
        scf.yield %v : !V
      }
      dataflow.yield %o : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<8xf32>
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x : tensor<8xf32>) {
  dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t outs(%o = %e : !V) -> !V {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %w = scf.for %i = %c0 to %c8 step %c4 iter_args(%d = %o) -> (!V) {
        // expected-error @below {{reads %o, an outs port, expected an ins port}}
        %t = itensor.read %d[%i] : !V -> tensor<4xf32>
        scf.yield %d : !V
      }
      dataflow.yield %w : !V
    }
  }
  func.return
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
!D = !itensor.itensor<4x4xf32, iter_space: [2, 2] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>
func.func @f(%x : !V, %d : !D, %n : index, %t : tensor<4xf32>, %b : i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c4 {
    scf.for %k = %c0 to %c3 step %c1 {
      %first = arith.cmpi eq, %k, %c0 : index
      %second = arith.cmpi eq, %c1, %k : index
      scf.if %second {
        scf.if %first {
          // expected-error @below {{is guarded to %k == 0 and %k == 1, which never both hold, expected one value of the loop}}
          %v = itensor.read %x[%i] : !V -> tensor<4xf32>
        }
      }
    }
  }
  func.return
}

// -----

// Nor does one that may have fewer iterations than the guard says.
!S = !itensor.itensor<1xf32, iter_space: [] * [], iter_map: () -> (0)>
func.func @f(%x : !S, %s : !itensor.symbol<seq<=8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = itensor.size sum(seq<=8, 1) of %s
  %m = itensor.size sum(seq<=8, 1) of %s
  scf.for %i = %c0 to %n step %c1 {
    %last = arith.cmpi eq, %i, %m : index
    scf.if %last {
      // expected-error @below {{is guarded to %i == sum(seq<=8, 1), which a loop of sum(seq<=8, 1) iterations may not reach, expected its last value, of a loop that always has one}}
      %v = itensor.read %x[] : !S -> tensor<1xf32>
    }
  }
  func.return
}
