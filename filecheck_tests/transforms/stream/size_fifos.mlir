// RUN: stc-opt %s -p 'size-fifos' --split-input-file | filecheck %s

// A chain at one issue rate: a shift register does. What a load task fills keeps its depth: a DMA that waits costs nothing.
!S = !stream.stream<vector<1xf32>, depth: 2>
!S5 = !stream.stream<vector<1xf32>, depth: 5>
dataflow.kernel @chain() {
  %x = dataflow.memory @x : memref<8xvector<1xf32>>
  %a = stream.create @a {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S5
  %b = stream.create @b {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S
  dataflow.task @load ins(%from = %x : memref<8xvector<1xf32>>) outs(%out = %a : !S5) kind load {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %0 = memref.load %from[%i] : memref<8xvector<1xf32>>
      stream.write %0 into %out : !S5
    } {stc.label = "load", stc.pipeline = 1 : i32}
  }
  dataflow.task @pass ins(%in = %a : !S5) outs(%out = %b : !S) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %0 = stream.read %in : !S5
      stream.write %0 into %out : !S
    } {stc.label = "pass", stc.pipeline = 1 : i32}
  }
  dataflow.task @drain ins(%in = %b : !S) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c8 step %c1 { %0 = stream.read %in : !S } {stc.label = "drain", stc.pipeline = 1 : i32}
  }
}

// CHECK-LABEL: @chain(
// CHECK: stream.create @a{{.*}}required_depth = 5{{.*}}depth: 5>
// CHECK-NEXT: stream.create @b{{.*}}required_depth = 2{{.*}}depth: 2>

// -----

// One branch is a long pipeline: the other holds what is on its way in it. Both may hold more should that be twice as deep, rounded
// up to what costs the same.
!S = !stream.stream<vector<1xf32>, depth: 2>
dataflow.kernel @reconvergence() {
  %a = stream.create @a {tokens = 64 : i64, distinct_tokens = 64 : i64} : !S
  %b = stream.create @b {tokens = 64 : i64, distinct_tokens = 64 : i64} : !S
  %c = stream.create @c {tokens = 64 : i64, distinct_tokens = 64 : i64} : !S
  dataflow.task @fill outs(%long = %a : !S, %short = %c : !S) {
    %c0 = arith.constant 0 : index  %c64 = arith.constant 64 : index  %c1 = arith.constant 1 : index
    %0 = arith.constant dense<0.0> : vector<1xf32>
    scf.for %i = %c0 to %c64 step %c1 {
      stream.write %0 into %long : !S  stream.write %0 into %short : !S
    } {stc.label = "fill", stc.pipeline = 1 : i32}
  }
  dataflow.task @exp ins(%in = %a : !S) outs(%out = %b : !S) {
    %c0 = arith.constant 0 : index  %c64 = arith.constant 64 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c64 step %c1 {
      %0 = stream.read %in : !S
      %1 = vector.extract %0[0] : f32 from vector<1xf32>
      %2 = math.exp %1 : f32
      %3 = vector.broadcast %2 : f32 to vector<1xf32>
      stream.write %3 into %out : !S
    } {stc.label = "exp", stc.pipeline = 1 : i32}
  }
  dataflow.task @join ins(%long = %b : !S, %short = %c : !S) {
    %c0 = arith.constant 0 : index  %c64 = arith.constant 64 : index  %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c64 step %c1 {
      %0 = stream.read %long : !S  %1 = stream.read %short : !S
    } {stc.label = "join", stc.pipeline = 1 : i32}
  }
}

// CHECK-LABEL: @reconvergence(
// CHECK: stream.create @a{{.*}}required_depth = 2{{.*}}depth: 2>
// CHECK-NEXT: stream.create @b{{.*}}required_depth = 31{{.*}}depth: 64>
// CHECK-NEXT: stream.create @c{{.*}}required_depth = 31{{.*}}depth: 64>

// -----

// One branch reads everything before it yields a token: the other holds it all.
!S = !stream.stream<vector<1xf32>, depth: 2>
dataflow.kernel @whole_tensor() {
  %a = stream.create @a {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S
  %last = stream.create @last {tokens = 1 : i64, distinct_tokens = 1 : i64} : !S
  %c = stream.create @c {tokens = 8 : i64, distinct_tokens = 8 : i64} : !S
  dataflow.task @fill outs(%out = %a : !S, %beside = %c : !S) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    %0 = arith.constant dense<0.0> : vector<1xf32>
    scf.for %i = %c0 to %c8 step %c1 {
      stream.write %0 into %out : !S  stream.write %0 into %beside : !S
    } {stc.label = "fill", stc.pipeline = 1 : i32}
  }
  dataflow.task @sum ins(%in = %a : !S) outs(%out = %last : !S) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    %0 = arith.constant dense<0.0> : vector<1xf32>
    scf.for %i = %c0 to %c8 step %c1 { %1 = stream.read %in : !S } {stc.label = "sum", stc.pipeline = 1 : i32}
    stream.write %0 into %out : !S
  }
  dataflow.task @join ins(%in = %last : !S, %beside = %c : !S) {
    %c0 = arith.constant 0 : index  %c8 = arith.constant 8 : index  %c1 = arith.constant 1 : index
    %0 = stream.read %in : !S
    scf.for %i = %c0 to %c8 step %c1 { %1 = stream.read %beside : !S } {stc.label = "join", stc.pipeline = 1 : i32}
  }
}

// CHECK-LABEL: @whole_tensor(
// CHECK: stream.create @a{{.*}}required_depth = 2{{.*}}depth: 2>
// CHECK-NEXT: stream.create @last{{.*}}required_depth = 2{{.*}}depth: 2>
// CHECK-NEXT: stream.create @c{{.*}}required_depth = 8{{.*}}depth: 8>
