// RUN: stc-opt %s -p 'hls-directives,relax-intervals' --split-input-file --allow-unregistered-dialect | filecheck %s

// Three results of 64 iterations each, so that they come no sooner than every 64 cycles. Copies take two stages, which keep nothing:
// an iteration in each cycle. A reciprocal of what is copied takes 14, a square of that 6; these do not overlap. What reads a token in
// each third iteration stays.
!S = !stream.stream<vector<1xf32>, depth: 2>
%x = "test.op"() : () -> tensor<192xf32>
dataflow.kernel @slow(%m = %x : tensor<192xf32> as memref<192xf32>) {
  %s = stream.create @s : !S  %t = stream.create @t : !S  %u = stream.create @u : !S  %w = stream.create @w : !S
  %y = stream.create @y : !S
  dataflow.task @sums ins(%p = %m : memref<192xf32>) outs(%o = %s : !S) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index  %c64 = arith.constant 64 : index
    scf.for %i = %c0 to %c3 step %c1 {
      %row = arith.muli %i, %c64 : index
      %local = memref.alloc() : memref<1xf32>
      scf.for %j = %c0 to %c64 step %c1 {
        %at = arith.addi %row, %j : index
        %a = memref.load %p[%at] : memref<192xf32>
        memref.store %a, %local[%c0] : memref<1xf32>
      }
      %v = vector.load %local[%c0] : memref<1xf32>, vector<1xf32>
      stream.write %v into %o : !S
    }
  }
  dataflow.task @copy ins(%a = %s : !S) outs(%b = %t : !S) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
    scf.for %copied = %c0 to %c3 step %c1 {
      %v = stream.read %a : !S
      stream.write %v into %b : !S
    }
  }
  dataflow.task @reciprocals ins(%a = %t : !S) outs(%b = %u : !S) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
    %one = arith.constant dense<1.0> : vector<1xf32>
    scf.for %divided = %c0 to %c3 step %c1 {
      %v = stream.read %a : !S
      %r = arith.divf %one, %v : vector<1xf32>
      stream.write %r into %b : !S
    }
  }
  dataflow.task @squares ins(%a = %u : !S) outs(%b = %w : !S) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
    scf.for %squared = %c0 to %c3 step %c1 {
      %v = stream.read %a : !S
      %r = arith.mulf %v, %v : vector<1xf32>
      stream.write %r into %b : !S
    }
  }
  dataflow.task @repeat ins(%a = %w : !S) outs(%b = %y : !S) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
    %local = memref.alloc() : memref<1xf32>
    scf.for %i = %c0 to %c3 step %c1 {
      scf.for %again = %c0 to %c3 step %c1 {
        %first = arith.cmpi eq, %again, %c0 : index
        scf.if %first {
          %v = stream.read %a : !S
          vector.store %v, %local[%c0] : memref<1xf32>, vector<1xf32>
        }
        %l = vector.load %local[%c0] : memref<1xf32>, vector<1xf32>
        %r = arith.mulf %l, %l : vector<1xf32>
        stream.write %r into %b : !S
      }
    }
  }
  dataflow.task @end ins(%a = %y : !S) outs() {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c9 = arith.constant 9 : index
    scf.for %ends = %c0 to %c9 step %c1 {
      %v = stream.read %a : !S
    }
  }
}

// CHECK-LABEL: @slow
// CHECK: {stc.label = "move_copied", stc.pipeline = 1 : i32}
// CHECK: {stc.label = "move_divided", stc.pipeline = 14 : i32}
// CHECK: {stc.label = "move_squared", stc.pipeline = 6 : i32}
// CHECK: {stc.label = "move_again", stc.pipeline = 1 : i32}

// -----

// The same division where tokens come in each cycle: it starts in each cycle.
!S = !stream.stream<vector<1xf32>, depth: 2>
dataflow.kernel @fast() {
  %s = stream.create @s : !S  %t = stream.create @t : !S
  dataflow.task @begin ins() outs(%b = %s : !S) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
    %one = arith.constant dense<1.0> : vector<1xf32>
    scf.for %begun = %c0 to %c3 step %c1 {
      stream.write %one into %b : !S
    }
  }
  dataflow.task @reciprocals ins(%a = %s : !S) outs(%b = %t : !S) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
    %one = arith.constant dense<1.0> : vector<1xf32>
    scf.for %divided = %c0 to %c3 step %c1 {
      %v = stream.read %a : !S
      %r = arith.divf %one, %v : vector<1xf32>
      stream.write %r into %b : !S
    }
  }
  dataflow.task @end ins(%a = %t : !S) outs() {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c3 = arith.constant 3 : index
    scf.for %ends = %c0 to %c3 step %c1 {
      %v = stream.read %a : !S
    }
  }
}

// CHECK-LABEL: @fast
// CHECK: {stc.label = "move_divided", stc.pipeline = 1 : i32}
