// RUN: stc-opt %s -p interleave-slices --split-input-file | filecheck %s

// Memory has an entry of all slices side by side; each reader gets its slices one after the other.
!Cache = !itensor.itensor<1x1x4xf32, iter_space: [4, pos<=7] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
!Two = !itensor.itensor<1x1x4xf32, iter_space: [2, pos<=7] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
!Row = !itensor.itensor<1x1x4xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0, 0)>
func.func @copies(%cache: tensor<4x8x4xf32>, %row: tensor<4x1x4xf32>, %p: i32) -> (tensor<2x7x4xf32>, tensor<2x7x4xf32>, tensor<4x8x4xf32>) {
  %a, %b, %u = dataflow.kernel @k(%c = %cache : tensor<4x8x4xf32> as !Cache, %r = %row : tensor<4x1x4xf32> as !Row, %pos = %p : i32 as !itensor.symbol<pos<=7>)
      -> (tensor<2x7x4xf32> as !Two, tensor<2x7x4xf32> as !Two, tensor<4x8x4xf32> as !Row into %c at [0, %pos, 0]) {
    %x, %y = itensor.chunk %c at [0, 0, 0], [2, 0, 0] : !Cache to !Two, !Two
    dataflow.yield %x, %y, %r : !Two, !Two, !Row
  }
  return %a, %b, %u : tensor<2x7x4xf32>, tensor<2x7x4xf32>, tensor<4x8x4xf32>
}

// CHECK: [[CACHE:!\S+]] = !itensor.itensor<1x1x4xf32, iter_space: [pos<=7, 4] * [1, 1], iter_map: (d0, d1) -> (d1, d0, 0)>
// CHECK: [[TWO:!\S+]] = !itensor.itensor<1x1x4xf32, iter_space: [2, pos<=7] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
// CHECK: [[ONE:!\S+]] = !itensor.itensor<1x1x4xf32, iter_space: [pos<=7] * [1], iter_map: (d0) -> (0, d0, 0)>
// CHECK-LABEL: @copies
// CHECK: dataflow.kernel @k(%c = %cache : tensor<4x8x4xf32> as [[CACHE]],
// CHECK-NEXT: %0, %1, %2, %3 = itensor.chunk %c at [0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0] : [[CACHE]] to [[ONE]], [[ONE]], [[ONE]], [[ONE]]
// CHECK-NEXT: %x = itensor.concat %0, %1 at [0, 0, 0], [1, 0, 0] : [[ONE]], [[ONE]] to [[TWO]]
// CHECK-NEXT: %y = itensor.concat %2, %3 at [0, 0, 0], [1, 0, 0] : [[ONE]], [[ONE]] to [[TWO]]
// CHECK-NEXT: dataflow.yield %x, %y, %r

// -----

// How memory lies does not depend on who reads it: one reader gets all slices, one after the other.
!Scales = !itensor.itensor<1x1xf32, iter_space: [3, pos<=7] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!Row = !itensor.itensor<1x1xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
func.func @one(%cache: tensor<3x8xf32>, %row: tensor<3x1xf32>, %p: i32) -> (tensor<3x7xf32>, tensor<3x8xf32>) {
  %a, %u = dataflow.kernel @k(%c = %cache : tensor<3x8xf32> as !Scales, %r = %row : tensor<3x1xf32> as !Row, %pos = %p : i32 as !itensor.symbol<pos<=7>)
      -> (tensor<3x7xf32> as !Scales, tensor<3x8xf32> as !Row into %c at [0, %pos]) {
    dataflow.yield %c, %r : !Scales, !Row
  }
  return %a, %u : tensor<3x7xf32>, tensor<3x8xf32>
}

// CHECK-LABEL: @one
// CHECK: %0, %1, %2 = itensor.chunk %c at [0, 0], [1, 0], [2, 0]
// CHECK-NEXT: %3 = itensor.concat %0, %1, %2 at [0, 0], [1, 0], [2, 0]
// CHECK-NEXT: dataflow.yield %3, %r

// -----

// Entries that begin where a launch says: slices begin with the first of them.
!Window = !itensor.itensor<1x1xf32, iter_space: [3, pos<=4] * [1, 1], iter_map: (d0, d1) -> (d0, d1 + pos<=4)>
!Part = !itensor.itensor<1x1xf32, iter_space: [3, pos<=4] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!Row = !itensor.itensor<1x1xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
func.func @window(%cache: tensor<3x8xf32>, %row: tensor<3x1xf32>, %p: i32) -> (tensor<3x4xf32>, tensor<3x8xf32>) {
  %a, %u = dataflow.kernel @k(%c = %cache : tensor<3x8xf32> as !Window, %r = %row : tensor<3x1xf32> as !Row, %pos = %p : i32 as !itensor.symbol<pos<=4>)
      -> (tensor<3x4xf32> as !Part, tensor<3x8xf32> as !Row into %c at [0, 0]) {
    %x, %y = itensor.chunk %c at [0, 0], [1, 0] : !Window to !itensor.itensor<1x1xf32, iter_space: [pos<=4] * [1], iter_map: (d0) -> (0, d0)>,
                                                               !itensor.itensor<1x1xf32, iter_space: [2, pos<=4] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
    %z = itensor.concat %x, %y at [0, 0], [1, 0] : !itensor.itensor<1x1xf32, iter_space: [pos<=4] * [1], iter_map: (d0) -> (0, d0)>,
                                                   !itensor.itensor<1x1xf32, iter_space: [2, pos<=4] * [1, 1], iter_map: (d0, d1) -> (d0, d1)> to !Part
    dataflow.yield %z, %r : !Part, !Row
  }
  return %a, %u : tensor<3x4xf32>, tensor<3x8xf32>
}

// CHECK: [[WINDOW:!\S+]] = !itensor.itensor<1x1xf32, iter_space: [pos<=4, 3] * [1, 1], iter_map: (d0, d1) -> (d1, d0 + pos<=4)>
// CHECK: [[PART:!\S+]] = !itensor.itensor<1x1xf32, iter_space: [pos<=4] * [1], iter_map: (d0) -> (0, d0)>
// CHECK-LABEL: @window
// CHECK: %x, %0, %1 = itensor.chunk %c at [0, 0], [1, 0], [2, 0] : [[WINDOW]] to [[PART]], [[PART]], [[PART]]
// CHECK-NEXT: %y = itensor.concat %0, %1 at [0, 0], [1, 0] :
// CHECK-NEXT: %z = itensor.concat %x, %y at [0, 0], [1, 0] :

// -----

// As many entries in each launch are read as they lie.
!Whole = !itensor.itensor<1x1xf32, iter_space: [3, 8] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!Row = !itensor.itensor<1x1xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
func.func @all(%cache: tensor<3x8xf32>, %row: tensor<3x1xf32>, %p: i32) -> (tensor<3x8xf32>, tensor<3x8xf32>) {
  %a, %u = dataflow.kernel @k(%c = %cache : tensor<3x8xf32> as !Whole, %r = %row : tensor<3x1xf32> as !Row, %pos = %p : i32 as !itensor.symbol<pos<=4>)
      -> (tensor<3x8xf32> as !Whole, tensor<3x8xf32> as !Row into %c at [0, %pos] after read) {
    dataflow.yield %c, %r : !Whole, !Row
  }
  return %a, %u : tensor<3x8xf32>, tensor<3x8xf32>
}

// CHECK-LABEL: @all
// CHECK-NOT: itensor.chunk

// -----

// What nobody reads is not sent to anybody; a slice in a loop of its own keeps that.
!Cache = !itensor.itensor<1x1xf32, iter_space: [3, pos<=7] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!One = !itensor.itensor<1x1xf32, iter_space: [1, pos<=7] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!Row = !itensor.itensor<1x1xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
func.func @last(%cache: tensor<3x8xf32>, %unread: tensor<3x8xf32>, %row: tensor<3x1xf32>, %p: i32) -> (tensor<1x7xf32>, tensor<3x8xf32>, tensor<3x8xf32>) {
  %a, %u, %v = dataflow.kernel @k(%c = %cache : tensor<3x8xf32> as !Cache, %d = %unread : tensor<3x8xf32> as !Cache, %r = %row : tensor<3x1xf32> as !Row, %pos = %p : i32 as !itensor.symbol<pos<=7>)
      -> (tensor<1x7xf32> as !One, tensor<3x8xf32> as !Row into %c at [0, %pos], tensor<3x8xf32> as !Row into %d at [0, %pos]) {
    %x = itensor.chunk %c at [2, 0] : !Cache to !One
    %s, %t = itensor.fork %r : !Row to !Row, !Row
    dataflow.yield %x, %s, %t : !One, !Row, !Row
  }
  return %a, %u, %v : tensor<1x7xf32>, tensor<3x8xf32>, tensor<3x8xf32>
}

// CHECK: [[CACHE:!\S+]] = !itensor.itensor<1x1xf32, iter_space: [pos<=7, 3] * [1, 1], iter_map: (d0, d1) -> (d1, d0)>
// CHECK-LABEL: @last
// CHECK: %c = %cache : tensor<3x8xf32> as [[CACHE]], %d = %unread : tensor<3x8xf32> as [[CACHE]]
// CHECK-NEXT: %0 = itensor.chunk %c at [2, 0] : [[CACHE]] to [[SLICE:!\S+]]
// CHECK-NEXT: %x = itensor.cast %0 : [[SLICE]] to
// CHECK-NOT: itensor.chunk

// -----

// Results that take a slice twice take it from all of them, one after the other.
!Cache = !itensor.itensor<1x1xf32, iter_space: [3, pos<=7] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!Two = !itensor.itensor<1x1xf32, iter_space: [2, pos<=7] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!Row = !itensor.itensor<1x1xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
func.func @overlap(%cache: tensor<3x8xf32>, %row: tensor<3x1xf32>, %p: i32) -> (tensor<2x7xf32>, tensor<2x7xf32>, tensor<3x8xf32>) {
  %a, %b, %u = dataflow.kernel @k(%c = %cache : tensor<3x8xf32> as !Cache, %r = %row : tensor<3x1xf32> as !Row, %pos = %p : i32 as !itensor.symbol<pos<=7>)
      -> (tensor<2x7xf32> as !Two, tensor<2x7xf32> as !Two, tensor<3x8xf32> as !Row into %c at [0, %pos]) {
    %x, %y = itensor.chunk %c at [0, 0], [1, 0] : !Cache to !Two, !Two
    dataflow.yield %x, %y, %r : !Two, !Two, !Row
  }
  return %a, %b, %u : tensor<2x7xf32>, tensor<2x7xf32>, tensor<3x8xf32>
}

// CHECK-LABEL: @overlap
// CHECK: %0, %1, %2 = itensor.chunk %c at
// CHECK-NEXT: %3 = itensor.concat %0, %1, %2 at
// CHECK-NEXT: %x, %y = itensor.chunk %3 at [0, 0], [1, 0]

// -----

// FIFOs of three slices would have 30 MB.
!Cache = !itensor.itensor<1x1x64xf32, iter_space: [4, pos<=39999] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
!Row = !itensor.itensor<1x1x64xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0, 0, 0)>
func.func @long(%cache: tensor<4x40000x64xf32>, %row: tensor<4x1x64xf32>, %p: i32) -> (tensor<4x39999x64xf32>, tensor<4x40000x64xf32>) {
  %a, %u = dataflow.kernel @k(%c = %cache : tensor<4x40000x64xf32> as !Cache, %r = %row : tensor<4x1x64xf32> as !Row, %pos = %p : i32 as !itensor.symbol<pos<=39999>)
      -> (tensor<4x39999x64xf32> as !Cache, tensor<4x40000x64xf32> as !Row into %c at [0, %pos, 0]) {
    dataflow.yield %c, %r : !Cache, !Row
  }
  return %a, %u : tensor<4x39999x64xf32>, tensor<4x40000x64xf32>
}

// CHECK-LABEL: @long
// CHECK-NOT: itensor.chunk
