// RUN: stc-opt %s -p 'canonicalize,cse' --print-ir-after-all --print-ir-before=cse -o %t 2>&1 | filecheck %s --check-prefix=DUMP
// RUN: filecheck %s --check-prefix=RESULT --input-file %t
// RUN: stc-opt %s -p 'canonicalize,cse' --print-ir-before-all -o %t 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: stc-opt %s -p 'canonicalize,cse' --print-ir-to %t.folder -o %t
// RUN: filecheck %s --check-prefix=RESULT --input-file %t.folder/01_canonicalize.mlir
// RUN: filecheck %s --check-prefix=INPUT --input-file %t.folder/00_input.mlir
// RUN: stc-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: stc-opt --list-passes | filecheck %s --check-prefix=LIST

// DUMP: // -----// IR Dump After canonicalize //----- //
// DUMP: func.func @f
// DUMP: // -----// IR Dump Before cse //----- //
// DUMP: // -----// IR Dump After cse //----- //
// BEFORE: // -----// IR Dump Before canonicalize //----- //
// BEFORE: // -----// IR Dump Before cse //----- //
// RESULT: func.func @f
// RESULT-NEXT: func.return
// INPUT: arith.constant
// GENERIC: "func.func"() <{
// LIST: canonicalize
// LIST: cse
func.func @f() {
  %unused = arith.constant 1 : i32
  func.return
}
