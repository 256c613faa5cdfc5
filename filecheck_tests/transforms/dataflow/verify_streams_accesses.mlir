// RUN: stc-opt %s -p 'verify-streams{solver=z3}' --no-verify-each --split-input-file --verify-diagnostics --allow-unregistered-dialect

// Bounds, steps and guards are read from the IR, and z3 says whether the accesses visit the loops of the type in order.

// Guards that are right, but not spelled as the verifier wants them: below one, and the else branch of at least one.
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @guards(%a: !S, %o: !S) {
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index  %c4 = arith.constant 4 : index
  %q = scf.for %r = %c0 to %c2 step %c1 iter_args(%m = %o) -> (!S) {
    %p = scf.for %i = %c0 to %c4 step %c1 iter_args(%n = %m) -> (!S) {
      %first = arith.cmpi ult, %r, %c1 : index
      scf.if %first {
        %u = itensor.read %a[%i] : !S -> tensor<1xf32>
      }
      %later = arith.cmpi sge, %r, %c1 : index
      %w = scf.if %later -> (!S) {
        scf.yield %n : !S
      } else {
        %v = "test.op"() : () -> tensor<1xf32>
        %z = itensor.write %v into %n[%i] : tensor<1xf32> -> !S
        scf.yield %z : !S
      }
      scf.yield %w : !S
    }
    scf.yield %p : !S
  }
  func.return
}

// -----

// Read in both iterations of a loop that the type does not have.
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @unguarded(%s: !S) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  scf.for %r = %c0 to %c2 step %c1 {
    scf.for %i = %c0 to %c4 step %c1 {
      // expected-error @below {{expected an scf.if on one iteration of it around the access; z3 finds: token}}
      %u = itensor.read %s[%i] : !S -> tensor<1xf32>
    }
  }
  func.return
}

// -----

// A guard to an iteration that the loop never makes.
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @guarded_to_no_iteration(%s: !S) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  scf.for %r = %c0 to %c2 step %c1 {
    scf.for %i = %c0 to %c4 step %c1 {
      %g = arith.cmpi eq, %r, %c2 : index
      scf.if %g {
        // expected-error @below {{a value that this loop never takes, expected one of its values; z3 finds: token 0, at loop values [0], is never accessed}}
        %u = itensor.read %s[%i] : !S -> tensor<1xf32>
      }
    }
  }
  func.return
}

// -----

// A guard on the loop that the type does have.
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @guarded_to_one_token(%s: !S) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %g = arith.cmpi eq, %i, %c0 : index
    scf.if %g {
      // expected-error @below {{expected an access in every iteration; z3 finds: token 1, at loop values [1], is never accessed}}
      %u = itensor.read %s[%i] : !S -> tensor<1xf32>
    }
  }
  func.return
}

// -----

// Every second value of the type's loop.
!S = !itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
func.func @step(%s: !S) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c4 {
    // expected-error @below {{loop of index 0 has step 4, expected step 2 of d0; z3 finds: token 1, at loop values [2], is never accessed}}
    %u = itensor.read %s[%i] : !S -> tensor<2xf32>
  }
  func.return
}

// -----

// One iteration too many.
!S = !itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>
func.func @bound(%s: !S) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c2 {
    // expected-error @below {{z3 finds: there is an access at loop values [8], which the type's loops do not take}}
    %u = itensor.read %s[%i] : !S -> tensor<2xf32>
  }
  func.return
}

// -----

// As many tokens, but the loops are swapped.
!S = !itensor.itensor<1x1xf32, iter_space: [3, 3] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
func.func @swapped(%s: !S) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %j = %c0 to %c3 step %c1 {
    scf.for %i = %c0 to %c3 step %c1 {
      // expected-error @below {{expected the loops outermost first as in the type; z3 finds: token}}
      %u = itensor.read %s[%i, %j] : !S -> tensor<1x1xf32>
    }
  }
  func.return
}

// -----

// A guard that depends on what was read is not one that z3 is asked about.
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @by_value(%s: !S, %g: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.if %g {
      // expected-error @below {{z3 does not decide it either: a guard is not made of comparisons of induction variables}}
      %u = itensor.read %s[%i] : !S -> tensor<1xf32>
    }
  }
  func.return
}
