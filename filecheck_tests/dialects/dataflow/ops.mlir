// RUN: stc-opt %s --split-input-file --allow-unregistered-dialect | stc-opt - --no-aliases --split-input-file --allow-unregistered-dialect | filecheck %s
// RUN: stc-opt %s --split-input-file --allow-unregistered-dialect --print-op-generic | stc-opt - --no-aliases --split-input-file --allow-unregistered-dialect | filecheck %s

// Attributes.
// CHECK: schedule = #dataflow.schedule<tile = [16, 16, 16], order = [0, 2, 1], unroll = [1, 1, 8], vector = {{\[\[}}1, 8], []]>
"test.attr"() {schedule = #dataflow.schedule<tile = [16, 16, 16], order = [0, 2, 1], unroll = [1, 1, 8], vector = [[1, 8], []]>} : () -> ()
// CHECK: empty = #dataflow.schedule<tile = [], order = [], unroll = [], vector = []>
"test.attr"() {empty = #dataflow.schedule<tile = [], order = [], unroll = [], vector = []>} : () -> ()
// CHECK: place = #dataflow.in_place<operand 1 at [0, operand 2]>
"test.attr"() {place = #dataflow.in_place<operand 1 at [0, operand 2]>} : () -> ()
// CHECK: packed = #dataflow.in_place<operand 0 at [4] of !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)> after read>
"test.attr"() {packed = #dataflow.in_place<operand 0 at [4] of !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)> after read>} : () -> ()

// -----

// Stream level: packed tensors are memrefs inside, tasks have no results.
!X = !itensor.itensor<1x8xf32, iter_space: [32, 128] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
func.func @packed(%x : tensor<32x1024xf32>) -> tensor<32x1024xf32> {
  // CHECK: %xp = dataflow.pack %x : tensor<32x1024xf32> as !itensor.itensor<1x8xf32, iter_space: [32, 128] * [1, 8], iter_map: (d0, d1) -> (d0, d1)> -> tensor<4096xvector<8xf32>>
  %xp = dataflow.pack %x : tensor<32x1024xf32> as !X -> tensor<4096xvector<8xf32>>
  // CHECK: %yp = dataflow.kernel @copy(%in = %xp : tensor<4096xvector<8xf32>> as memref<4096xvector<8xf32>>) -> (tensor<4096xvector<8xf32>> as memref<4096xvector<8xf32>>) attributes {mine.top} {
  %yp = dataflow.kernel @copy(%in = %xp : tensor<4096xvector<8xf32>> as memref<4096xvector<8xf32>>) -> (tensor<4096xvector<8xf32>> as memref<4096xvector<8xf32>>) attributes {mine.top} {
    // CHECK-NEXT: %y = dataflow.memory @out : memref<4096xvector<8xf32>>
    %y = dataflow.memory @out : memref<4096xvector<8xf32>>
    // CHECK-NEXT: dataflow.task @copy ins(%m = %in : memref<4096xvector<8xf32>>) outs(%o = %y : memref<4096xvector<8xf32>>) attributes {stc.module = "here"} {
    dataflow.task @copy ins(%m = %in : memref<4096xvector<8xf32>>) outs(%o = %y : memref<4096xvector<8xf32>>) attributes {stc.module = "here"} {
      // CHECK-NEXT: "memref.copy"(%m, %o)
      "memref.copy"(%m, %o) : (memref<4096xvector<8xf32>>, memref<4096xvector<8xf32>>) -> ()
    }
    // CHECK: dataflow.yield %y : memref<4096xvector<8xf32>>
    dataflow.yield %y : memref<4096xvector<8xf32>>
  }
  // CHECK: %{{.*}} = dataflow.unpack %yp : tensor<4096xvector<8xf32>> as !itensor.itensor<1x8xf32, {{.*}}> -> tensor<32x1024xf32>
  %y = dataflow.unpack %yp : tensor<4096xvector<8xf32>> as !X -> tensor<32x1024xf32>
  func.return %y : tensor<32x1024xf32>
}

// -----

// Scalars, and a result that updates an operand in place at a position known at run time.
!S = !itensor.itensor<1x1x8xf32, iter_space: [2] * [8], iter_map: (d0) -> (0, 0, d0)>
func.func @cache(%c : tensor<1x64x16xf32>, %n : index) {
  // CHECK: dataflow.kernel @update(%cache = %c : tensor<1x64x16xf32> as memref<1x64x16xf32>, %pos = %n : index)
  // CHECK-SAME: -> (tensor<1x64x16xf32> as !itensor.itensor<1x1x8xf32, {{.*}}> into %cache at [0, %pos, 0]) {
  %0 = dataflow.kernel @update(%cache = %c : tensor<1x64x16xf32> as memref<1x64x16xf32>, %pos = %n : index)
      -> (tensor<1x64x16xf32> as !S into %cache at [0, %pos, 0]) {
    %f = itensor.empty : !S
    dataflow.yield %f : !S
  }
  func.return
}

// -----

// Tasks nest, and may have several results.
!S = !itensor.itensor<8xf32, iter_space: [2] * [8], iter_map: (d0) -> (d0)>
func.func @nested(%x : tensor<16xf32>, %n : index) -> (tensor<16xf32>, tensor<16xf32>) {
  %0, %1 = dataflow.kernel @k(%in = %x : tensor<16xf32> as !S, %pos = %n : index) -> (tensor<16xf32> as !S, tensor<16xf32> as !S) {
    %e = itensor.empty : !S
    %f = itensor.empty : !S
    // CHECK: %r, %s = dataflow.task @outer ins(%p = %in : {{.*}}, %at = %pos : index) outs(%a = %e : {{.*}}, %b = %f : {{.*}}) -> (
    %r, %s = dataflow.task @outer ins(%p = %in : !S, %at = %pos : index) outs(%a = %e : !S, %b = %f : !S) -> (!S, !S) {
      // CHECK-NEXT: %t = dataflow.task @inner outs(%o = %a : {{.*}}) -> !itensor.itensor<8xf32
      %t = dataflow.task @inner outs(%o = %a : !S) -> !S { dataflow.yield %o : !S }
      // CHECK: dataflow.yield %t, %b :
      dataflow.yield %t, %b : !S, !S
    }
    dataflow.yield %r, %s : !S, !S
  }
  func.return %0, %1 : tensor<16xf32>, tensor<16xf32>
}

// -----

// Seven lanes are stored as eight; two tokens may share a word.
func.func @words(%x : tensor<4x7xf32>, %y : tensor<4x4xf32>) {
  // CHECK: dataflow.pack %x : tensor<4x7xf32> as {{.*}} -> tensor<4xvector<8xf32>>
  // CHECK-NEXT: dataflow.pack %y : tensor<4x4xf32> as {{.*}} -> tensor<2xvector<8xf32>>
  %0 = dataflow.pack %x : tensor<4x7xf32> as !itensor.itensor<1x7xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0)> -> tensor<4xvector<8xf32>>
  %1 = dataflow.pack %y : tensor<4x4xf32> as !itensor.itensor<1x4xf32, iter_space: [2, 4] * [1, 1], iter_map: (d0, d1) -> (d1, 0)> -> tensor<2xvector<8xf32>>
  func.return
}

// -----

// Regions are isolated: names may repeat those outside.
// CHECK: func.func @names
func.func @names(%x : tensor<8xf32>) {
  // CHECK-NEXT: dataflow.kernel @k(%{{.*}} = %x :
  dataflow.kernel @k(%x = %x : tensor<8xf32> as memref<8xf32>) {
    dataflow.task @t ins(%x = %x : memref<8xf32>) {
    }
  }
  func.return
}
