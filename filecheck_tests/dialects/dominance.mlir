// RUN: stc-opt %s --split-input-file --verify-diagnostics

func.func @in_a_block() {
  // expected-error @below {{'arith.addi' uses %late where it is not defined, expected a value that dominates this use}}
  %sum = arith.addi %late, %late : i32
  %late = arith.constant 1 : i32
  func.return
}

// -----

func.func @in_a_nested_region(%c : i1) {
  scf.if %c {
    // expected-error @below {{uses %late where it is not defined}}
    %sum = arith.addi %late, %late : i32
  }
  %late = arith.constant 1 : i32
  func.return
}

// -----

func.func @across_blocks(%c : i1) {
  cf.cond_br %c, ^left, ^right
^left:
  %left = arith.constant 1 : i32
  cf.br ^join
^right:
  cf.br ^join
^join:
  // expected-error @below {{uses %left where it is not defined}}
  %sum = arith.addi %left, %left : i32
  func.return
}

// -----

func.func @fine(%c : i1) {
  %early = arith.constant 1 : i32
  cf.cond_br %c, ^left, ^right
^left:
  %left = arith.addi %early, %early : i32
  cf.br ^below
^below:
  %sum = arith.addi %left, %early : i32
  func.return
^right:
  func.return
}
