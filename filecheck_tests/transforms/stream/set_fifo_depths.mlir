// RUN: stc-opt %s -p 'set-fifo-depths' --split-input-file | filecheck %s

// A chain: 2 is enough, but for what one iteration brings at once (4 tokens).
!S = !stream.stream<vector<1xf32>, depth: 2>
dataflow.kernel @chain() {
  %a = stream.create @a {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S
  %b = stream.create @b {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S
  dataflow.task @fill outs(%out = %a : !S) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c4 = arith.constant 4 : index
    %0 = arith.constant dense<0.0> : vector<1xf32>
    scf.for %i = %c0 to %c8 step %c4 {
      stream.write %0 into %out : !S  stream.write %0 into %out : !S  stream.write %0 into %out : !S  stream.write %0 into %out : !S
    }
  }
  dataflow.task @pass ins(%in = %a : !S) outs(%out = %b : !S) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %0 = stream.read %in : !S
      stream.write %0 into %out : !S
    }
  }
  dataflow.task @drain ins(%in = %b : !S) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c8 step %c1 { %0 = stream.read %in : !S }
  }
}

// CHECK-LABEL: @chain(
// CHECK: stream.create @a{{.*}}depth: 4>
// CHECK-NEXT: stream.create @b{{.*}}depth: 2>

// -----

// Branches that part and meet again after as many tokens on either side: still 2.
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
// CHECK: stream.create @a{{.*}}depth: 2>
// CHECK-NEXT: stream.create @b{{.*}}depth: 2>
// CHECK-NEXT: stream.create @c{{.*}}depth: 2>

// -----

// One branch reads everything before it yields its token: the other holds what comes meanwhile.
!S = !stream.stream<vector<1xf32>, depth: 2>
dataflow.kernel @whole_tensor() {
  %a = stream.create @a {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S
  %b = stream.create @b {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S
  %last = stream.create @last {tokens = 1 : i64, distinct_tokens = 1 : i64} : !S
  dataflow.task @fill outs(%out0 = %a : !S, %out1 = %b : !S) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    %0 = arith.constant dense<0.0> : vector<1xf32>
    scf.for %i = %c0 to %c8 step %c1 { stream.write %0 into %out0 : !S  stream.write %0 into %out1 : !S }
  }
  dataflow.task @sum ins(%in = %a : !S) outs(%out = %last : !S) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    %0 = arith.constant dense<0.0> : vector<1xf32>
    scf.for %i = %c0 to %c8 step %c1 { %1 = stream.read %in : !S }
    stream.write %0 into %out : !S
  }
  dataflow.task @join ins(%first = %last : !S, %in = %b : !S) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    %0 = stream.read %first : !S
    scf.for %i = %c0 to %c8 step %c1 { %1 = stream.read %in : !S }
  }
}

// CHECK-LABEL: @whole_tensor(
// CHECK: stream.create @a{{.*}}depth: 2>
// CHECK-NEXT: stream.create @b{{.*}}depth: 8>
// CHECK-NEXT: stream.create @last{{.*}}depth: 2>
