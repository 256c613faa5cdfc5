// RUN: stc-opt %s -p carry-bf16 --split-input-file --verify-diagnostics

// expected-error @unknown {{5:3: arithmetic in bf16; accepted: bf16 made of f32, moved, chosen, and made f32 again}}
func.func @sum(%x: bf16) -> bf16 {
  %y = arith.addf %x, %x : bf16
  return %y : bf16
}
