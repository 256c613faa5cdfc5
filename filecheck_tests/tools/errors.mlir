// RUN: not stc-opt %s 2>&1 | filecheck %s --check-prefix=PARSE
// RUN: not stc-opt %s -p 'canonicalise' 2>&1 | filecheck %s --check-prefix=PASS
// RUN: not stc-opt %s -p 'cse{level=2}' 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not stc-opt %s -p 'cse{' 2>&1 | filecheck %s --check-prefix=PIPELINE
// RUN: not stc-opt %s --print-ir-after=cze 2>&1 | filecheck %s --check-prefix=DUMP
// RUN: not stc-opt %s.missing 2>&1 | filecheck %s --check-prefix=FILE
// RUN: stc-opt %s --verify-diagnostics --split-input-file | filecheck %s --check-prefix=SHOWN
// RUN: stc-opt /dev/null | filecheck %s --check-prefix=EMPTY

// PASS: stc-opt: error: unknown pass 'canonicalise', did you mean 'canonicalize' or {{.*}}?; accepted:
// OPTION: stc-opt: error: pass 'cse' has no option 'level'; accepted: no option
// PIPELINE: stc-opt: error: pipeline 'cse{': {{.*}}; accepted: 'pass{option=value ...},...'
// DUMP: stc-opt: error: unknown pass 'cze', did you mean {{.*}}'cse'?; accepted:
// FILE: errors.mlir.missing: cannot read it: No such file or directory; accepted: a file of MLIR text, or - for stdin
// EMPTY: builtin.module {

// PARSE: errors.mlir:18:{{[0-9]+}}: error:
func.func @f(%x : !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d1)>) {
  // SHOWN: errors.mlir:18:
  // SHOWN: func.func @f
  // SHOWN: ^
  func.return
}

// -----

// SHOWN: // -----
// SHOWN: func.func @g
func.func @g() {
  func.return
}
