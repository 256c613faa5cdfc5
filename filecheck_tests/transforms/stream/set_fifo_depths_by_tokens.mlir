// RUN: stc-opt %s -p 'set-fifo-depths{rule="tokens"}' --split-input-file | filecheck %s

// Without a run: branches that part and meet again hold all their tokens, as nobody may wait where they part.
!S = !stream.stream<vector<1xf32>, depth: 2>
dataflow.kernel @reconvergence() {
  %a = stream.create @a {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S
  %b = stream.create @b {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S
  %c = stream.create @c {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S
  dataflow.task @fill outs(%out0 = %a : !S, %out1 = %b : !S) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    %0 = arith.constant dense<0.0> : vector<1xf32>
    scf.for %i = %c0 to %c8 step %c1 { stream.write %0 into %out0 : !S  stream.write %0 into %out1 : !S }
  }
  dataflow.task @pass ins(%in = %a : !S) outs(%out = %c : !S) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %0 = stream.read %in : !S
      stream.write %0 into %out : !S
    }
  }
  dataflow.task @join ins(%in0 = %b : !S, %in1 = %c : !S) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c8 step %c1 { %0 = stream.read %in0 : !S  %1 = stream.read %in1 : !S }
  }
}

// CHECK-LABEL: @reconvergence(
// CHECK: stream.create @a{{.*}}depth: 8>
// CHECK-NEXT: stream.create @b{{.*}}depth: 8>
// CHECK-NEXT: stream.create @c{{.*}}depth: 2>

// -----

// Branches that do not meet again close no cycle.
!S = !stream.stream<vector<1xf32>, depth: 2>
dataflow.kernel @branches() {
  %a = stream.create @a {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S
  %b = stream.create @b {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S
  dataflow.task @fill outs(%out0 = %a : !S, %out1 = %b : !S) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    %0 = arith.constant dense<0.0> : vector<1xf32>
    scf.for %i = %c0 to %c8 step %c1 { stream.write %0 into %out0 : !S  stream.write %0 into %out1 : !S }
  }
  dataflow.task @first ins(%in = %a : !S) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c8 step %c1 { %0 = stream.read %in : !S }
  }
  dataflow.task @second ins(%in = %b : !S) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c8 step %c1 { %0 = stream.read %in : !S }
  }
}

// CHECK-LABEL: @branches(
// CHECK: stream.create @a{{.*}}depth: 2>
// CHECK-NEXT: stream.create @b{{.*}}depth: 2>
