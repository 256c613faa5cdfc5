// RUN: stc-opt %s -p size-streams --split-input-file --verify-diagnostics

!tiles = !itensor.itensor<2x4xf32, iter_space: [3] * [2], iter_map: (d0) -> (d0, 0)>
// expected-error @unknown {{pass 'size-streams': %a crosses 2 entries at a time along dimension 0, of size pos<=6: 2x4, iter_space: [3] * [2], iter_map: (d0) -> (d0, 0); accepted: one entry at a time, in one loop: a tile of 1 along it}}
func.func @main(%x: tensor<6x4xf32> {stc.sizes = [#itensor.size<pos<=6>, #itensor.size<4>]}, %p: i32 {stc.name = "pos"}) -> tensor<6x4xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<6x4xf32> as !tiles) -> (tensor<6x4xf32> as !tiles) {
    dataflow.yield %a : !tiles
  }
  func.return %y : tensor<6x4xf32>
}

// -----

!rows = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
// expected-error @unknown {{pass 'size-streams': @main: sizes depend on 'pos', and no scalar argument is called so; accepted: an argument of type i32 with {stc.name = "pos"}}}
func.func @main(%x: tensor<6x4xf32> {stc.sizes = [#itensor.size<pos<=6>, #itensor.size<4>]}) -> tensor<6x4xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<6x4xf32> as !rows) -> (tensor<6x4xf32> as !rows) {
    dataflow.yield %a : !rows
  }
  func.return %y : tensor<6x4xf32>
}

// -----

// A slice that takes rows of which it is not known whether they are there.
!rows = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!half = !itensor.itensor<1x4xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0, 0)>
// expected-error @unknown {{pass 'size-streams': @k: %c is no slice of other dimensions of %a (entries 3 to 6 of dimension 0, of run-time size, are cut out); accepted: slices that keep dimensions of run-time size whole}}
func.func @main(%x: tensor<6x4xf32> {stc.sizes = [#itensor.size<pos<=6>, #itensor.size<4>]}, %p: i32 {stc.name = "pos"}) -> tensor<3x4xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<6x4xf32> as !rows) -> (tensor<3x4xf32> as !half) {
    %c = itensor.chunk %a at [3, 0] : !rows to !half
    dataflow.yield %c : !half
  }
  func.return %y : tensor<3x4xf32>
}

// -----

// Tokens of several rows, of which the last may be there in part.
!rows = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!tiles = !itensor.itensor<2x4xf32, iter_space: [3] * [2], iter_map: (d0) -> (d0, 0)>
// expected-error @unknown {{pass 'size-streams': @k: %c is converted from or to another than entries in one loop (dimension 0 of 2x4, iter_space: [3] * [2], iter_map: (d0) -> (d0, 0) is not one loop over single entries from 0 on); accepted: a loop over single entries of run-time size}}
func.func @main(%x: tensor<6x4xf32> {stc.sizes = [#itensor.size<pos<=6>, #itensor.size<4>]}, %p: i32 {stc.name = "pos"}) -> tensor<6x4xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<6x4xf32> as !rows) -> (tensor<6x4xf32> as !tiles) {
    %c = itensor.converter %a {shared_loops = 0, buffer_shape = [6, 4], blocks = 1} : !rows to !tiles
    dataflow.yield %c : !tiles
  }
  func.return %y : tensor<6x4xf32>
}

// -----

// Two rows of each pair in turn: of an odd number of rows the last pair is not whole.
!rows = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!pairs = !itensor.itensor<1x4xf32, iter_space: [3, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0)>
// expected-error @unknown {{pass 'size-streams': @k: %c is no reshape of other dimensions (dimension 0 of 1x4, iter_space: [3, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1, 0) is not one loop over single entries from 0 on); accepted: reshapes that keep dimensions of run-time size}}
func.func @main(%x: tensor<6x4xf32> {stc.sizes = [#itensor.size<pos<=6>, #itensor.size<4>]}, %p: i32 {stc.name = "pos"}) -> tensor<6x4xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<6x4xf32> as !rows) -> (tensor<6x4xf32> as !pairs) {
    %c = itensor.cast %a : !rows to !pairs
    dataflow.yield %c : !pairs
  }
  func.return %y : tensor<6x4xf32>
}

// -----

!rows = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
// expected-error @unknown {{pass 'size-streams': stc.sizes [pos<=6] of an argument of shape [6, 4]; accepted: its extents, or sizes of symbols up to them}}
func.func @main(%x: tensor<6x4xf32> {stc.sizes = [#itensor.size<pos<=6>]}, %p: i32 {stc.name = "pos"}) -> tensor<6x4xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<6x4xf32> as !rows) -> (tensor<6x4xf32> as !rows) {
    dataflow.yield %a : !rows
  }
  func.return %y : tensor<6x4xf32>
}

// -----

!rows = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
// expected-error @unknown {{pass 'size-streams': @k: a loop of task @t takes pos<=6 tokens of one stream and rows<=6 of another; accepted: one size for each loop, or a converter that repeats its block}}
func.func @main(%x: tensor<6x4xf32> {stc.sizes = [#itensor.size<pos<=6>, #itensor.size<4>]},
                %z: tensor<6x4xf32> {stc.sizes = [#itensor.size<rows<=6>, #itensor.size<4>]},
                %p: i32 {stc.name = "pos"}, %q: i32 {stc.name = "rows"}) -> tensor<6x4xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<6x4xf32> as !rows, %b = %z : tensor<6x4xf32> as !rows) -> (tensor<6x4xf32> as !rows) {
    %e = itensor.empty : !rows
    %t = dataflow.task @t ins(%in = %a : !rows, %of = %b : !rows) outs(%out = %e : !rows) -> !rows {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c6 = arith.constant 6 : index
      %f = scf.for %i = %c0 to %c6 step %c1 iter_args(%o = %out) -> (!rows) {
        %v = itensor.read %in[%i] : !rows -> tensor<1x4xf32>
        %u = itensor.read %of[%i] : !rows -> tensor<1x4xf32>
        %w = itensor.write %v into %o[%i] : tensor<1x4xf32> -> !rows
        scf.yield %w : !rows
      }
      dataflow.yield %f : !rows
    }
    dataflow.yield %t : !rows
  }
  func.return %y : tensor<6x4xf32>
}

// -----

// Memory between kernels holds what one of them wrote; the other would read all of it.
!rows = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
// expected-error @unknown {{pass 'size-streams': @f: a result of run-time size (1x4, iter_space: [pos<=6] * [1], iter_map: (d0) -> (d0, 0)) goes to 'dataflow.kernel'; accepted: one kernel for all that has this size (a larger --on-chip)}}
func.func @main(%x: tensor<6x4xf32> {stc.sizes = [#itensor.size<pos<=6>, #itensor.size<4>]}, %p: i32 {stc.name = "pos"}) -> tensor<6x4xf32> {
  %h = dataflow.kernel @f(%a = %x : tensor<6x4xf32> as !rows) -> (tensor<6x4xf32> as !rows) {
    dataflow.yield %a : !rows
  }
  %y = dataflow.kernel @g(%a = %h : tensor<6x4xf32> as !rows) -> (tensor<6x4xf32> as !rows) {
    dataflow.yield %a : !rows
  }
  func.return %y : tensor<6x4xf32>
}

// -----

!rows = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
// expected-error @unknown {{pass 'size-streams': @main: sizes of arguments depend on pos<=6 and on pos<=9; accepted: one maximum of each name}}
func.func @main(%x: tensor<6x4xf32> {stc.sizes = [#itensor.size<pos<=6>, #itensor.size<4>]},
                %z: tensor<6x4xf32> {stc.sizes = [#itensor.size<min(pos<=9, 6)>, #itensor.size<4>]}, %p: i32 {stc.name = "pos"}) -> tensor<6x4xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<6x4xf32> as !rows, %b = %z : tensor<6x4xf32> as !rows) -> (tensor<6x4xf32> as !rows) {
    dataflow.yield %a : !rows
  }
  func.return %y : tensor<6x4xf32>
}

// -----

// Heads behind one another have as many rows each.
!half = !itensor.itensor<1x1xf32, iter_space: [2, 6] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!both = !itensor.itensor<1x1xf32, iter_space: [4, 6] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// expected-error @unknown {{pass 'size-streams': @k: %c is no concatenation along other dimensions (1x1, iter_space: [2, pos<=6] * [1, 1], iter_map: (d0, d1) -> (d0, d1) has other sizes than the whole: 1x1, iter_space: [4, min(seq<=9, 6)] * [1, 1], iter_map: (d0, d1) -> (d0, d1)); accepted: parts that have dimensions of run-time size whole, each of one size}}
func.func @main(%x: tensor<2x6xf32> {stc.sizes = [#itensor.size<2>, #itensor.size<pos<=6>]},
                %z: tensor<2x6xf32> {stc.sizes = [#itensor.size<2>, #itensor.size<min(seq<=9, 6)>]},
                %p: i32 {stc.name = "pos"}, %s: i32 {stc.name = "seq"}) -> tensor<4x6xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<2x6xf32> as !half, %b = %z : tensor<2x6xf32> as !half) -> (tensor<4x6xf32> as !both) {
    %c = itensor.concat %a, %b at [0, 0], [2, 0] : !half, !half to !both
    dataflow.yield %c : !both
  }
  func.return %y : tensor<4x6xf32>
}

// -----

// As many rows as there are, and behind them rows of as many columns as there are.
!half = !itensor.itensor<1x1xf32, iter_space: [2, 6] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
!both = !itensor.itensor<1x1xf32, iter_space: [4, 6] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
// expected-error @unknown {{pass 'size-streams': @k: %c concatenates along dimension 0, and 1 is of run-time size; accepted: one dimension of run-time size}}
func.func @main(%x: tensor<2x6xf32> {stc.sizes = [#itensor.size<pos<=2>, #itensor.size<6>]},
                %z: tensor<2x6xf32> {stc.sizes = [#itensor.size<2>, #itensor.size<seq<=6>]},
                %p: i32 {stc.name = "pos"}, %s: i32 {stc.name = "seq"}) -> tensor<4x6xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<2x6xf32> as !half, %b = %z : tensor<2x6xf32> as !half) -> (tensor<4x6xf32> as !both) {
    %c = itensor.concat %a, %b at [0, 0], [2, 0] : !half, !half to !both
    dataflow.yield %c : !both
  }
  func.return %y : tensor<4x6xf32>
}

// -----

// An iteration in the middle may not be there.
!rows = !itensor.itensor<1x4xf32, iter_space: [7] * [1], iter_map: (d0) -> (d0, 0)>
!one = !itensor.itensor<1x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// expected-error @unknown {{pass 'size-streams': @k: task @t uses a loop of run-time size in 'arith.cmpi'; accepted: loops that only enumerate streams, or guards to the first or last iteration of one that always has one}}
func.func @main(%x: tensor<7x4xf32> {stc.sizes = [#itensor.size<sum(pos<=6, 1)>, #itensor.size<4>]}, %p: i32 {stc.name = "pos"}) -> tensor<1x4xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<7x4xf32> as !rows) -> (tensor<1x4xf32> as !one) {
    %e = itensor.empty : !one
    %t = dataflow.task @t ins(%row = %a : !rows) outs(%out = %e : !one) -> !one {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c7 = arith.constant 7 : index  %there = arith.constant 3 : index
      %f = scf.for %i = %c0 to %c7 step %c1 iter_args(%o = %out) -> (!one) {
        %v = itensor.read %row[%i] : !rows -> tensor<1x4xf32>
        %at = arith.cmpi eq, %i, %there : index
        %h = scf.if %at -> (!one) {
          %w = itensor.write %v into %o[] : tensor<1x4xf32> -> !one
          scf.yield %w : !one
        } else {
          scf.yield %o : !one
        }
        scf.yield %h : !one
      }
      dataflow.yield %f : !one
    }
    dataflow.yield %t : !one
  }
  func.return %y : tensor<1x4xf32>
}

// -----

// Nor may the last of a loop without iterations.
!rows = !itensor.itensor<1x4xf32, iter_space: [7] * [1], iter_map: (d0) -> (d0, 0)>
!one = !itensor.itensor<1x4xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// expected-error @unknown {{pass 'size-streams': @k: task @t uses a loop of run-time size in 'arith.cmpi'; accepted: loops that only enumerate streams, or guards to the first or last iteration of one that always has one}}
func.func @main(%x: tensor<7x4xf32> {stc.sizes = [#itensor.size<pos<=7>, #itensor.size<4>]}, %p: i32 {stc.name = "pos"}) -> tensor<1x4xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<7x4xf32> as !rows) -> (tensor<1x4xf32> as !one) {
    %e = itensor.empty : !one
    %t = dataflow.task @t ins(%row = %a : !rows) outs(%out = %e : !one) -> !one {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c7 = arith.constant 7 : index  %there = arith.constant 6 : index
      %f = scf.for %i = %c0 to %c7 step %c1 iter_args(%o = %out) -> (!one) {
        %v = itensor.read %row[%i] : !rows -> tensor<1x4xf32>
        %at = arith.cmpi eq, %i, %there : index
        %h = scf.if %at -> (!one) {
          %w = itensor.write %v into %o[] : tensor<1x4xf32> -> !one
          scf.yield %w : !one
        } else {
          scf.yield %o : !one
        }
        scf.yield %h : !one
      }
      dataflow.yield %f : !one
    }
    dataflow.yield %t : !one
  }
  func.return %y : tensor<1x4xf32>
}

// -----

// A row that comes once from memory cannot come as often as there are others.
!rows = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
!again = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (0, 0)>
// expected-error @unknown {{pass 'size-streams': @k: a loop of task @t takes pos<=6 tokens of one stream and 6 of another; accepted: one size for each loop, or a converter that repeats its block}}
func.func @main(%x: tensor<6x4xf32> {stc.sizes = [#itensor.size<pos<=6>, #itensor.size<4>]}, %z: tensor<1x4xf32>, %p: i32 {stc.name = "pos"}) -> tensor<6x4xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<6x4xf32> as !rows, %b = %z : tensor<1x4xf32> as !again) -> (tensor<6x4xf32> as !rows) {
    %e = itensor.empty : !rows
    %t = dataflow.task @t ins(%in = %a : !rows, %of = %b : !again) outs(%out = %e : !rows) -> !rows {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c6 = arith.constant 6 : index
      %f = scf.for %i = %c0 to %c6 step %c1 iter_args(%o = %out) -> (!rows) {
        %v = itensor.read %in[%i] : !rows -> tensor<1x4xf32>
        %u = itensor.read %of[%i] : !again -> tensor<1x4xf32>
        %w = itensor.write %v into %o[%i] : tensor<1x4xf32> -> !rows
        scf.yield %w : !rows
      }
      dataflow.yield %f : !rows
    }
    dataflow.yield %t : !rows
  }
  func.return %y : tensor<6x4xf32>
}

// -----

!rows = !itensor.itensor<1x4xf32, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>
// expected-error @unknown {{pass 'size-streams': @k: %a is read as a whole, 6 entries, of which pos<=4 are there; accepted: its first 4 (tensor.extract_slice)}}
func.func @main(%x: tensor<6x4xf32> {stc.sizes = [#itensor.size<pos<=4>, #itensor.size<4>]}, %p: i32 {stc.name = "pos"}) -> tensor<6x4xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<6x4xf32> as !rows) -> (tensor<6x4xf32> as !rows) {
    dataflow.yield %a : !rows
  }
  func.return %y : tensor<6x4xf32>
}

// -----

!row = !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
// expected-error @unknown {{pass 'size-streams': part: 'tensor.extract_slice' joins or cuts a dimension whose size is known at run time; accepted: reshapes that add or drop dimensions of one entry}}
func.func @main(%x: tensor<6x4xf32> {stc.sizes = [#itensor.size<min(pos<=5, 1)>, #itensor.size<4>]}, %p: i32 {stc.name = "pos"}) -> tensor<4xf32> {
  %s = tensor.extract_slice %x[0, 0] [1, 4] [1, 1] {stc.name = "part"} : tensor<6x4xf32> to tensor<4xf32>
  %y = dataflow.kernel @k(%a = %s : tensor<4xf32> as !row) -> (tensor<4xf32> as !row) {
    dataflow.yield %a : !row
  }
  func.return %y : tensor<4xf32>
}
