// RUN: stc-opt %s -p 'interleave-loads' --split-input-file | filecheck %s

// Two copies take a scale now and then, and their slices say that one port is enough: the host lays out a word for each in turn. Words
// are the tokens that copies take, and whoever deals them out sends these.
// SHOW: func.func .*?\(|tensor.concat .*|dataflow.pack .*|dataflow.kernel .*?\)|stream\.create .*?:|dataflow.task .*|memref.load .*|stream\.(read|write) .*|scf\.\w+ .*|arith\.(cmpi|muli|addi) .*
!part = !itensor.itensor<1x8xf16, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
!s = !stream.stream<vector<8xf16>, depth: 2>
!words = memref<4xvector<8xf16>>
func.func @scaled(%w: tensor<4x16xf16> {stc.parameter}) -> (tensor<4xvector<8xf16>>, tensor<4xvector<8xf16>>) {
  %w0 = tensor.extract_slice %w[0, 0] [2, 16] [1, 1] {stc.stripe, stc.ports = array<i64: 1>} : tensor<4x16xf16> to tensor<2x16xf16>
  %w1 = tensor.extract_slice %w[2, 0] [2, 16] [1, 1] {stc.stripe, stc.ports = array<i64: 1>} : tensor<4x16xf16> to tensor<2x16xf16>
  %p0 = dataflow.pack %w0 : tensor<2x16xf16> as !part -> tensor<4xvector<8xf16>>
  %p1 = dataflow.pack %w1 : tensor<2x16xf16> as !part -> tensor<4xvector<8xf16>>
  %r0, %r1 = dataflow.kernel @k(%m0 = %p0 : tensor<4xvector<8xf16>> as !words, %m1 = %p1 : tensor<4xvector<8xf16>> as !words) -> (tensor<4xvector<8xf16>> as !words, tensor<4xvector<8xf16>> as !words) {
    %s0 = stream.create @s0 {tokens = 4 : i64, distinct_tokens = 4 : i64} : !s
    dataflow.task @load_0 ins(%m = %m0 : !words) outs(%o = %s0 : !s) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : !words
        stream.write %0 into %o : !s
      }
      dataflow.yield
    }
    %s1 = stream.create @s1 {tokens = 4 : i64, distinct_tokens = 4 : i64} : !s
    dataflow.task @load_1 ins(%m = %m1 : !words) outs(%o = %s1 : !s) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : !words
        stream.write %0 into %o : !s
      }
      dataflow.yield
    }
    %y0 = dataflow.memory @y0 : !words
    dataflow.task @scale_0 ins(%i = %s0 : !s) outs(%m = %y0 : !words) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = stream.read %i : !s
        %1 = arith.mulf %0, %0 : vector<8xf16>
        memref.store %1, %m[%word] : !words
      }
      dataflow.yield
    }
    %y1 = dataflow.memory @y1 : !words
    dataflow.task @scale_1 ins(%i = %s1 : !s) outs(%m = %y1 : !words) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = stream.read %i : !s
        %1 = arith.mulf %0, %0 : vector<8xf16>
        memref.store %1, %m[%word] : !words
      }
      dataflow.yield
    }
    dataflow.yield %y0, %y1 : !words, !words
  }
  func.return %r0, %r1 : tensor<4xvector<8xf16>>, tensor<4xvector<8xf16>>
}

// CHECK-LABEL: func.func @scaled(
// CHECK: %p0 = tensor.concat dim(0) %w0, %w1 : (tensor<2x16xf16>, tensor<2x16xf16>) -> tensor<4x16xf16>
// CHECK-NEXT: %[[P0:.*]] = dataflow.pack %p0 : tensor<4x16xf16> as !itensor.itensor<1x8xf16, iter_space: [2, 2, 2] * [1, 8, 2], iter_map: (d0, d1, d2) -> (d0 + d2, d1)> -> tensor<8xvector<8xf16>>
// CHECK-NEXT: dataflow.kernel @k(%[[P01:.*]] = %[[P0]] : tensor<8xvector<8xf16>> as memref<8xvector<8xf16>>) -> (tensor<4xvector<8xf16>> as memref<4xvector<8xf16>>, tensor<4xvector<8xf16>> as memref<4xvector<8xf16>>) {
// CHECK-NEXT: %s0 = stream.create @s0 {tokens = 4 : i64, distinct_tokens = 4 : i64} : !stream.stream<vector<8xf16>, depth: 2>
// CHECK-NEXT: %s1 = stream.create @s1 {tokens = 4 : i64, distinct_tokens = 4 : i64} : !stream.stream<vector<8xf16>, depth: 2>
// CHECK-NEXT: dataflow.task @load_interleaved ins(%[[P02:.*]] = %[[P01]] : memref<8xvector<8xf16>>) outs(%[[S0:.*]] = %s0 : !stream.stream<vector<8xf16>, depth: 2>, %[[S1:.*]] = %s1 : !stream.stream<vector<8xf16>, depth: 2>) kind load {
// CHECK: scf.for %word = %c0 to %c4 step %c1 {
// CHECK-NEXT: scf.for %copy = %c0_{{.*}} to %c2 step %c1_{{.*}} {
// CHECK: %[[MULI:.*]] = arith.muli %word, %c2_{{.*}} : index
// CHECK-NEXT: %[[ADDI:.*]] = arith.addi %[[MULI]], %copy : index
// CHECK-NEXT: %[[LOAD:.*]] = memref.load %[[P02]][%[[ADDI]]] : memref<8xvector<8xf16>>
// CHECK: %[[CMPI:.*]] = arith.cmpi eq, %copy, %c0_{{.*}} : index
// CHECK-NEXT: scf.if %[[CMPI]] {
// CHECK-NEXT: stream.write %[[LOAD]] into %[[S0]] : !stream.stream<vector<8xf16>, depth: 2>
// CHECK: %[[CMPI1:.*]] = arith.cmpi eq, %copy, %c1_{{.*}} : index
// CHECK-NEXT: scf.if %[[CMPI1]] {
// CHECK-NEXT: stream.write %[[LOAD]] into %[[S1]] : !stream.stream<vector<8xf16>, depth: 2>
// CHECK: dataflow.task @scale_0 ins(%i = %s0 : !stream.stream<vector<8xf16>, depth: 2>) outs(%m = %y0 : memref<4xvector<8xf16>>) {
// CHECK: scf.for %word = %c0 to %c4 step %c1 {
// CHECK-NEXT: %[[READ:.*]] = stream.read %i : !stream.stream<vector<8xf16>, depth: 2>
// CHECK: dataflow.task @scale_1 ins(%i = %s1 : !stream.stream<vector<8xf16>, depth: 2>) outs(%m = %y1 : memref<4xvector<8xf16>>) {
// CHECK: scf.for %word = %c0 to %c4 step %c1 {
// CHECK-NEXT: %[[READ1:.*]] = stream.read %i : !stream.stream<vector<8xf16>, depth: 2>

// -----

// Of words that hold two tokens: what was the load of a copy takes them apart.
// SHOW: func.func .*?\(|tensor.concat .*|dataflow.pack .*|dataflow.kernel .*?\)|stream\.create .*?:|dataflow.task .*|memref.load .*|stream\.(read|write) .*|scf\.\w+ .*|arith\.(cmpi|muli|addi) .*
!part = !itensor.itensor<1x4xf16, iter_space: [2, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!s = !stream.stream<vector<4xf16>, depth: 2>
!out = memref<8xvector<4xf16>>
!words = memref<4xvector<8xf16>>
func.func @scaled(%w: tensor<4x16xf16> {stc.parameter}) -> (tensor<8xvector<4xf16>>, tensor<8xvector<4xf16>>) {
  %w0 = tensor.extract_slice %w[0, 0] [2, 16] [1, 1] {stc.stripe, stc.ports = array<i64: 1>} : tensor<4x16xf16> to tensor<2x16xf16>
  %w1 = tensor.extract_slice %w[2, 0] [2, 16] [1, 1] {stc.stripe, stc.ports = array<i64: 1>} : tensor<4x16xf16> to tensor<2x16xf16>
  %p0 = dataflow.pack %w0 : tensor<2x16xf16> as !part -> tensor<4xvector<8xf16>>
  %p1 = dataflow.pack %w1 : tensor<2x16xf16> as !part -> tensor<4xvector<8xf16>>
  %r0, %r1 = dataflow.kernel @k(%m0 = %p0 : tensor<4xvector<8xf16>> as !words, %m1 = %p1 : tensor<4xvector<8xf16>> as !words) -> (tensor<8xvector<4xf16>> as !out, tensor<8xvector<4xf16>> as !out) {
    %s0 = stream.create @s0 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !s
    dataflow.task @load_0 ins(%m = %m0 : !words) outs(%o = %s0 : !s) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %packed = memref.alloc() : memref<8xf16>
      %c8 = arith.constant 8 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : !words
        vector.store %0, %packed[%c0] : memref<8xf16>, vector<8xf16>
        scf.for %lane = %c0 to %c8 step %c4 {
          %1 = vector.load %packed[%lane] : memref<8xf16>, vector<4xf16>
          stream.write %1 into %o : !s
        }
      }
      dataflow.yield
    }
    %s1 = stream.create @s1 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !s
    dataflow.task @load_1 ins(%m = %m1 : !words) outs(%o = %s1 : !s) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %packed = memref.alloc() : memref<8xf16>
      %c8 = arith.constant 8 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : !words
        vector.store %0, %packed[%c0] : memref<8xf16>, vector<8xf16>
        scf.for %lane = %c0 to %c8 step %c4 {
          %1 = vector.load %packed[%lane] : memref<8xf16>, vector<4xf16>
          stream.write %1 into %o : !s
        }
      }
      dataflow.yield
    }
    %y0 = dataflow.memory @y0 : !out
    dataflow.task @scale_0 ins(%i = %s0 : !s) outs(%m = %y0 : !out) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      scf.for %word = %c0 to %c8 step %c1 {
        %0 = stream.read %i : !s
        %1 = arith.mulf %0, %0 : vector<4xf16>
        memref.store %1, %m[%word] : !out
      }
      dataflow.yield
    }
    %y1 = dataflow.memory @y1 : !out
    dataflow.task @scale_1 ins(%i = %s1 : !s) outs(%m = %y1 : !out) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      scf.for %word = %c0 to %c8 step %c1 {
        %0 = stream.read %i : !s
        %1 = arith.mulf %0, %0 : vector<4xf16>
        memref.store %1, %m[%word] : !out
      }
      dataflow.yield
    }
    dataflow.yield %y0, %y1 : !out, !out
  }
  func.return %r0, %r1 : tensor<8xvector<4xf16>>, tensor<8xvector<4xf16>>
}

// CHECK-LABEL: func.func @scaled(
// CHECK: %p0 = tensor.concat dim(0) %w0, %w1 : (tensor<2x16xf16>, tensor<2x16xf16>) -> tensor<4x16xf16>
// CHECK-NEXT: %[[P0:.*]] = dataflow.pack %p0 : tensor<4x16xf16> as !itensor.itensor<1x4xf16, iter_space: [2, 2, 2, 2] * [1, 8, 2, 4], iter_map: (d0, d1, d2, d3) -> (d0 + d2, d1 + d3)> -> tensor<8xvector<8xf16>>
// CHECK-NEXT: dataflow.kernel @k(%[[P01:.*]] = %[[P0]] : tensor<8xvector<8xf16>> as memref<8xvector<8xf16>>) -> (tensor<8xvector<4xf16>> as memref<8xvector<4xf16>>, tensor<8xvector<4xf16>> as memref<8xvector<4xf16>>) {
// CHECK-NEXT: %s0 = stream.create @s0 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf16>, depth: 2>
// CHECK-NEXT: %m0_words = stream.create @m0_words {tokens = 4 : i64, distinct_tokens = 4 : i64} : !stream.stream<vector<8xf16>, depth: 2>
// CHECK-NEXT: %m1_words = stream.create @m1_words {tokens = 4 : i64, distinct_tokens = 4 : i64} : !stream.stream<vector<8xf16>, depth: 2>
// CHECK-NEXT: dataflow.task @load_interleaved ins(%[[P02:.*]] = %[[P01]] : memref<8xvector<8xf16>>) outs(%[[M0_WORDS:.*]] = %m0_words : !stream.stream<vector<8xf16>, depth: 2>, %[[M1_WORDS:.*]] = %m1_words : !stream.stream<vector<8xf16>, depth: 2>) kind load {
// CHECK: scf.for %word = %c0 to %c4 step %c1 {
// CHECK-NEXT: scf.for %copy = %c0_{{.*}} to %c2 step %c1_{{.*}} {
// CHECK: %[[MULI:.*]] = arith.muli %word, %c2_{{.*}} : index
// CHECK-NEXT: %[[ADDI:.*]] = arith.addi %[[MULI]], %copy : index
// CHECK-NEXT: %[[LOAD:.*]] = memref.load %[[P02]][%[[ADDI]]] : memref<8xvector<8xf16>>
// CHECK: %[[CMPI:.*]] = arith.cmpi eq, %copy, %c0_{{.*}} : index
// CHECK-NEXT: scf.if %[[CMPI]] {
// CHECK-NEXT: stream.write %[[LOAD]] into %[[M0_WORDS]] : !stream.stream<vector<8xf16>, depth: 2>
// CHECK: %[[CMPI1:.*]] = arith.cmpi eq, %copy, %c1_{{.*}} : index
// CHECK-NEXT: scf.if %[[CMPI1]] {
// CHECK-NEXT: stream.write %[[LOAD]] into %[[M1_WORDS]] : !stream.stream<vector<8xf16>, depth: 2>
// CHECK: dataflow.task @load_0 ins(%[[M0_WORDS1:.*]] = %m0_words : !stream.stream<vector<8xf16>, depth: 2>) outs(%o = %s0 : !stream.stream<vector<4xf16>, depth: 2>) {
// CHECK: scf.for %word = %c0 to %c4 step %c1 {
// CHECK-NEXT: %[[READ:.*]] = stream.read %[[M0_WORDS1]] : !stream.stream<vector<8xf16>, depth: 2>
// CHECK: scf.for %lane = %c0 to %c8 step %c4 {
// CHECK: stream.write %[[ADDI]] into %o : !stream.stream<vector<4xf16>, depth: 2>
// CHECK: %s1 = stream.create @s1 {tokens = 8 : i64, distinct_tokens = 8 : i64} : !stream.stream<vector<4xf16>, depth: 2>
// CHECK-NEXT: dataflow.task @load_1 ins(%[[M1_WORDS1:.*]] = %m1_words : !stream.stream<vector<8xf16>, depth: 2>) outs(%o = %s1 : !stream.stream<vector<4xf16>, depth: 2>) {
// CHECK: scf.for %word = %c0 to %c4 step %c1 {
// CHECK-NEXT: %[[READ1:.*]] = stream.read %[[M1_WORDS1]] : !stream.stream<vector<8xf16>, depth: 2>
// CHECK: scf.for %lane = %c0 to %c8 step %c4 {
// CHECK: stream.write %[[ADDI]] into %o : !stream.stream<vector<4xf16>, depth: 2>
// CHECK: dataflow.task @scale_0 ins(%i = %s0 : !stream.stream<vector<4xf16>, depth: 2>) outs(%m = %y0 : memref<8xvector<4xf16>>) {
// CHECK: scf.for %word = %c0 to %c8 step %c1 {
// CHECK-NEXT: %[[READ:.*]] = stream.read %i : !stream.stream<vector<4xf16>, depth: 2>
// CHECK: dataflow.task @scale_1 ins(%i = %s1 : !stream.stream<vector<4xf16>, depth: 2>) outs(%m = %y1 : memref<8xvector<4xf16>>) {
// CHECK: scf.for %word = %c0 to %c8 step %c1 {
// CHECK-NEXT: %[[READ1:.*]] = stream.read %i : !stream.stream<vector<4xf16>, depth: 2>

// -----

// Of three copies with two ports, two share one, and the third has its own.
// SHOW: func.func .*?\(|tensor.concat .*|dataflow.task .*? kind load
!part = !itensor.itensor<1x8xf16, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
!s = !stream.stream<vector<8xf16>, depth: 2>
!words = memref<4xvector<8xf16>>
func.func @two_ports(%w: tensor<6x16xf16> {stc.parameter}) -> (tensor<4xvector<8xf16>>, tensor<4xvector<8xf16>>, tensor<4xvector<8xf16>>) {
  %w0 = tensor.extract_slice %w[0, 0] [2, 16] [1, 1] {stc.stripe, stc.ports = array<i64: 2>} : tensor<6x16xf16> to tensor<2x16xf16>
  %w1 = tensor.extract_slice %w[2, 0] [2, 16] [1, 1] {stc.stripe, stc.ports = array<i64: 2>} : tensor<6x16xf16> to tensor<2x16xf16>
  %w2 = tensor.extract_slice %w[4, 0] [2, 16] [1, 1] {stc.stripe, stc.ports = array<i64: 2>} : tensor<6x16xf16> to tensor<2x16xf16>
  %p0 = dataflow.pack %w0 : tensor<2x16xf16> as !part -> tensor<4xvector<8xf16>>
  %p1 = dataflow.pack %w1 : tensor<2x16xf16> as !part -> tensor<4xvector<8xf16>>
  %p2 = dataflow.pack %w2 : tensor<2x16xf16> as !part -> tensor<4xvector<8xf16>>
  %r0, %r1, %r2 = dataflow.kernel @k(%m0 = %p0 : tensor<4xvector<8xf16>> as !words, %m1 = %p1 : tensor<4xvector<8xf16>> as !words, %m2 = %p2 : tensor<4xvector<8xf16>> as !words) -> (tensor<4xvector<8xf16>> as !words, tensor<4xvector<8xf16>> as !words, tensor<4xvector<8xf16>> as !words) {
    %s0 = stream.create @s0 {tokens = 4 : i64, distinct_tokens = 4 : i64} : !s
    dataflow.task @load_0 ins(%m = %m0 : !words) outs(%o = %s0 : !s) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : !words
        stream.write %0 into %o : !s
      }
      dataflow.yield
    }
    %s1 = stream.create @s1 {tokens = 4 : i64, distinct_tokens = 4 : i64} : !s
    dataflow.task @load_1 ins(%m = %m1 : !words) outs(%o = %s1 : !s) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : !words
        stream.write %0 into %o : !s
      }
      dataflow.yield
    }
    %s2 = stream.create @s2 {tokens = 4 : i64, distinct_tokens = 4 : i64} : !s
    dataflow.task @load_2 ins(%m = %m2 : !words) outs(%o = %s2 : !s) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : !words
        stream.write %0 into %o : !s
      }
      dataflow.yield
    }
    %y0 = dataflow.memory @y0 : !words
    dataflow.task @scale_0 ins(%i = %s0 : !s) outs(%m = %y0 : !words) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = stream.read %i : !s
        %1 = arith.mulf %0, %0 : vector<8xf16>
        memref.store %1, %m[%word] : !words
      }
      dataflow.yield
    }
    %y1 = dataflow.memory @y1 : !words
    dataflow.task @scale_1 ins(%i = %s1 : !s) outs(%m = %y1 : !words) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = stream.read %i : !s
        %1 = arith.mulf %0, %0 : vector<8xf16>
        memref.store %1, %m[%word] : !words
      }
      dataflow.yield
    }
    %y2 = dataflow.memory @y2 : !words
    dataflow.task @scale_2 ins(%i = %s2 : !s) outs(%m = %y2 : !words) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = stream.read %i : !s
        %1 = arith.mulf %0, %0 : vector<8xf16>
        memref.store %1, %m[%word] : !words
      }
      dataflow.yield
    }
    dataflow.yield %y0, %y1, %y2 : !words, !words, !words
  }
  func.return %r0, %r1, %r2 : tensor<4xvector<8xf16>>, tensor<4xvector<8xf16>>, tensor<4xvector<8xf16>>
}

// CHECK-LABEL: func.func @two_ports(
// CHECK: tensor.concat dim(0) %w0, %w1 : (tensor<2x16xf16>, tensor<2x16xf16>) -> tensor<4x16xf16>
// CHECK: dataflow.task @load_interleaved ins(%p0_{{.*}} = %p0_{{.*}} : memref<8xvector<8xf16>>) outs(%s0_{{.*}} = %s0 : !stream.stream<vector<8xf16>, depth: 2>, %s1_{{.*}} = %s1 : !stream.stream<vector<8xf16>, depth: 2>) kind load {
// CHECK: dataflow.task @load_2 ins(%m = %m2 : memref<4xvector<8xf16>>) outs(%o = %s2 : !stream.stream<vector<8xf16>, depth: 2>) kind load {

// -----

// Nothing is said: each keeps its port.
// SHOW: func.func .*?\(|dataflow.task .*? kind load
!part = !itensor.itensor<1x8xf16, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
!s = !stream.stream<vector<8xf16>, depth: 2>
!words = memref<4xvector<8xf16>>
func.func @silent(%w: tensor<4x16xf16> {stc.parameter}) -> (tensor<4xvector<8xf16>>, tensor<4xvector<8xf16>>) {
  %w0 = tensor.extract_slice %w[0, 0] [2, 16] [1, 1] {stc.stripe} : tensor<4x16xf16> to tensor<2x16xf16>
  %w1 = tensor.extract_slice %w[2, 0] [2, 16] [1, 1] {stc.stripe} : tensor<4x16xf16> to tensor<2x16xf16>
  %p0 = dataflow.pack %w0 : tensor<2x16xf16> as !part -> tensor<4xvector<8xf16>>
  %p1 = dataflow.pack %w1 : tensor<2x16xf16> as !part -> tensor<4xvector<8xf16>>
  %r0, %r1 = dataflow.kernel @k(%m0 = %p0 : tensor<4xvector<8xf16>> as !words, %m1 = %p1 : tensor<4xvector<8xf16>> as !words) -> (tensor<4xvector<8xf16>> as !words, tensor<4xvector<8xf16>> as !words) {
    %s0 = stream.create @s0 {tokens = 4 : i64, distinct_tokens = 4 : i64} : !s
    dataflow.task @load_0 ins(%m = %m0 : !words) outs(%o = %s0 : !s) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : !words
        stream.write %0 into %o : !s
      }
      dataflow.yield
    }
    %s1 = stream.create @s1 {tokens = 4 : i64, distinct_tokens = 4 : i64} : !s
    dataflow.task @load_1 ins(%m = %m1 : !words) outs(%o = %s1 : !s) kind load {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = memref.load %m[%word] : !words
        stream.write %0 into %o : !s
      }
      dataflow.yield
    }
    %y0 = dataflow.memory @y0 : !words
    dataflow.task @scale_0 ins(%i = %s0 : !s) outs(%m = %y0 : !words) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = stream.read %i : !s
        %1 = arith.mulf %0, %0 : vector<8xf16>
        memref.store %1, %m[%word] : !words
      }
      dataflow.yield
    }
    %y1 = dataflow.memory @y1 : !words
    dataflow.task @scale_1 ins(%i = %s1 : !s) outs(%m = %y1 : !words) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %word = %c0 to %c4 step %c1 {
        %0 = stream.read %i : !s
        %1 = arith.mulf %0, %0 : vector<8xf16>
        memref.store %1, %m[%word] : !words
      }
      dataflow.yield
    }
    dataflow.yield %y0, %y1 : !words, !words
  }
  func.return %r0, %r1 : tensor<4xvector<8xf16>>, tensor<4xvector<8xf16>>
}

// CHECK-LABEL: func.func @silent(
// CHECK: dataflow.task @load_0 ins(%m = %m0 : memref<4xvector<8xf16>>) outs(%o = %s0 : !stream.stream<vector<8xf16>, depth: 2>) kind load {
// CHECK: dataflow.task @load_1 ins(%m = %m1 : memref<4xvector<8xf16>>) outs(%o = %s1 : !stream.stream<vector<8xf16>, depth: 2>) kind load {
