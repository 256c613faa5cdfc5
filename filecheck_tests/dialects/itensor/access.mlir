// RUN: stc-opt %s --split-input-file | stc-opt - --no-aliases --split-input-file | filecheck %s

// Itensors without a writer so far: where a task writes, and a FIFO.
!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @sources() {
  // CHECK: %e = itensor.empty : !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
  %e = itensor.empty : !V
  // CHECK: itensor.instance @fifo {stc.module = "here"} : !itensor.itensor<4xf32
  %f = itensor.instance @fifo {stc.module = "here"} : !V
  func.return
}

// -----

// A type without loops is read outside all loops.
!S = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
func.func @scalar(%s : !S) {
  // CHECK: itensor.read %s[] : !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()> -> tensor<f32>
  %scalar = itensor.read %s[] : !S -> tensor<f32>
  func.return
}

// -----

// A loop that the type reuse loops (3 times the same 2 tokens), and a destination for the tile.
!R = !itensor.itensor<4xf32, iter_space: [3, 2] * [1, 4], iter_map: (d0, d1) -> (d1)>
func.func @reused(%p : !R, %init : tensor<4xf32>) {
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
  scf.for %k = %c0 to %c3 step %c1 {
    scf.for %i = %c0 to %c8 step %c4 {
      // CHECK: itensor.read %p[%k, %i] into %init : !itensor.itensor<4xf32, iter_space: [3, 2] * [1, 4], iter_map: (d0, d1) -> (d1)> -> tensor<4xf32>
      %tile = itensor.read %p[%k, %i] into %init : !R -> tensor<4xf32>
    }
  }
  func.return
}

// -----

// A loop that the write does not name is guarded to one iteration; both branches carry the itensor on.
!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @guarded(%tile : tensor<4xf32>, %o : !V) -> !V {
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
  %o3 = scf.for %k = %c0 to %c3 step %c1 iter_args(%o0 = %o) -> (!V) {
    %o2 = scf.for %i = %c0 to %c8 step %c4 iter_args(%o1 = %o0) -> (!V) {
      %is_last = arith.cmpi eq, %k, %c2 : index
      %next = scf.if %is_last -> (!V) {
        // CHECK: %w = itensor.write %tile into %o1[%i] : tensor<4xf32> -> !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
        %w = itensor.write %tile into %o1[%i] : tensor<4xf32> -> !V
        scf.yield %w : !V
      } else {
        scf.yield %o1 : !V
      }
      scf.yield %next : !V
    }
    scf.yield %o2 : !V
  }
  func.return %o3 : !V
}

// -----

// Two guards in one condition, and a loop of one iteration without any.
!V = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @conjunction(%x : !V) {
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
  scf.for %once = %c0 to %c8 step %c8 {
    scf.for %i = %c0 to %c8 step %c4 {
      scf.for %j = %c0 to %c2 step %c1 {
        scf.for %k = %c0 to %c2 step %c1 {
          %a = arith.cmpi eq, %j, %c1 : index
          %b = arith.cmpi eq, %c0, %k : index
          %both = arith.andi %a, %b : i1
          scf.if %both {
            // CHECK: %t = itensor.read %x[%i]
            %t = itensor.read %x[%i] : !V -> tensor<4xf32>
          }
        }
      }
    }
  }
  func.return
}

// -----

// A symbol in a later step of a launch: a size of it is a size of the symbol.
func.func @advance(%s : !itensor.symbol<seq<=8>) -> index {
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
  %last = arith.constant 2 : index
  scf.for %step = %c0 to %c3 step %c1 {
    // CHECK: [[HERE:%.*]] = itensor.advance %s by %step : !itensor.symbol<seq<=8>
    %here = itensor.advance %s by %step : !itensor.symbol<seq<=8>
    // CHECK: itensor.size min(sum(seq<=8, 1), 8) of [[HERE]]
    %n = itensor.size min(sum(seq<=8, 1), 8) of %here
    scf.for %i = %c0 to %n step %c1 {
    }
  }
  // CHECK: [[END:%.*]] = itensor.advance %s by %last {test} : !itensor.symbol<seq<=8>
  %end = itensor.advance %s by %last {test} : !itensor.symbol<seq<=8>
  %m = itensor.size seq<=8 of %end
  func.return %m : index
}

// Symbolic trip counts: the bounds are computed from the scalar behind the symbol, to as many values as there are trips times steps.
!N = !itensor.itensor<1xf32, iter_space: [ceildiv(seq<=8, 4), seq<=8] * [4, 1], iter_map: (d0, d1) -> (d1)>
func.func @symbolic(%x : !N, %s : !itensor.symbol<seq<=8>) {
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
  // CHECK: %n = itensor.size seq<=8 of %s
  %n = itensor.size seq<=8 of %s
  // CHECK: itensor.size mul(ceildiv(seq<=8, 4), 4) of %s
  %m = itensor.size mul(ceildiv(seq<=8, 4), 4) of %s
  scf.for %j = %c0 to %m step %c4 {
   scf.for %i = %c0 to %n step %c1 {
    // CHECK: itensor.read %x[%j{{[_0-9]*}}, %i{{[_0-9]*}}] : !itensor.itensor<1xf32, iter_space: [ceildiv(seq<=8, 4), seq<=8] * [4, 1]
    %t = itensor.read %x[%j, %i] : !N -> tensor<1xf32>
   }
  }
  func.return
}
