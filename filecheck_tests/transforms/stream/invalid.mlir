// RUN: stc-opt %s -p 'lower-converters,lower-layout,lower-dmas,lower-tasks,set-fifo-depths' --split-input-file --verify-diagnostics

!S = !itensor.itensor<2x4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
!T = !itensor.itensor<2x2xf32, iter_space: [2, 2] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>
// expected-error @unknown {{lower-converters': %p: element of shape 2x4 is not a vector; accepted: run vectorize-streams first}}
func.func @tiles(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = dataflow.kernel @k(%p = %x : tensor<4x4xf32> as !S) -> (tensor<4x4xf32> as !T) {
    %c = itensor.converter %p {shared_loops = 1, buffer_shape = [2, 4], blocks = 2} : !S to !T
    dataflow.yield %c : !T
  }
  func.return %y : tensor<4x4xf32>
}

// -----

!S = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
// expected-error @unknown {{lower-dmas': k: port of type tensor<8xf32> is not packed; accepted: run pack-interfaces first}}
func.func @unpacked(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = dataflow.kernel @k(%p = %x : tensor<8xf32> as !S) -> (tensor<8xf32> as !S) {
    dataflow.yield %p : !S
  }
  func.return %y : tensor<8xf32>
}

// -----

!S = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
// expected-error @unknown {{lower-tasks': t: 'tensor.splat' has no form on buffers; accepted: linalg on tiles}}
func.func @splat() -> tensor<2xvector<4xf32>> {
  %y = dataflow.kernel @k() -> (tensor<2xvector<4xf32>> as !S) {
    %e = itensor.empty : !S
    %r = dataflow.task @t ins() outs(%o = %e : !S) -> !S {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %z = arith.constant 0.0 : f32
      %l = scf.for %i = %c0 to %c8 step %c4 iter_args(%a = %o) -> (!S) {
        %t = tensor.splat %z : tensor<4xf32>
        %w = itensor.write %t into %a[%i] : tensor<4xf32> -> !S
        scf.yield %w : !S
      }
      dataflow.yield %l : !S
    }
    dataflow.yield %r : !S
  }
  func.return %y : tensor<2xvector<4xf32>>
}

// -----

!S = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
// expected-error @unknown {{lower-tasks': t: tensor of type tensor<4xf32> has no buffer; accepted: tiles read or computed in the task}}
func.func @nothing() -> tensor<2xvector<4xf32>> {
  %y = dataflow.kernel @k() -> (tensor<2xvector<4xf32>> as !S) {
    %e = itensor.empty : !S
    %r = dataflow.task @t ins() outs(%o = %e : !S) -> !S {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %l = scf.for %i = %c0 to %c8 step %c4 iter_args(%a = %o) -> (!S) {
        %t = tensor.empty() : tensor<4xf32>
        %w = itensor.write %t into %a[%i] : tensor<4xf32> -> !S
        scf.yield %w : !S
      }
      dataflow.yield %l : !S
    }
    dataflow.yield %r : !S
  }
  func.return %y : tensor<2xvector<4xf32>>
}

// -----

!S = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
// expected-error @unknown {{lower-tasks': t: tensor of type tensor<4xf32> has no buffer; accepted: tiles read or computed in the task}}
func.func @branch(%x: tensor<2xvector<4xf32>>) -> tensor<2xvector<4xf32>> {
  %y = dataflow.kernel @k(%q = %x : tensor<2xvector<4xf32>> as !S) -> (tensor<2xvector<4xf32>> as !S) {
    %e = itensor.empty : !S
    %r = dataflow.task @t ins(%p = %q : !S) outs(%o = %e : !S) -> !S {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %l = scf.for %i = %c0 to %c8 step %c4 iter_args(%a = %o) -> (!S) {
        %t = itensor.read %p[%i] : !S -> tensor<4xf32>
        %n = tensor.empty() : tensor<4xf32>
        %is = arith.cmpi eq, %i, %c0 : index
        %v = scf.if %is -> (tensor<4xf32>) {
          scf.yield %t : tensor<4xf32>
        } else {
          scf.yield %n : tensor<4xf32>
        }
        %w = itensor.write %v into %a[%i] : tensor<4xf32> -> !S
        scf.yield %w : !S
      }
      dataflow.yield %l : !S
    }
    dataflow.yield %r : !S
  }
  func.return %y : tensor<2xvector<4xf32>>
}

// -----

// expected-error @unknown {{set-fifo-depths': stream %s: has 1 writers and 0 readers; accepted: one of each}}
func.func @unread() {
  dataflow.kernel @k() {
    %s = stream.create @s {tokens = 1 : i64} : !stream.stream<vector<4xf32>, depth: 2>
    dataflow.task @t ins() outs(%o = %s : !stream.stream<vector<4xf32>, depth: 2>) {
      %v = arith.constant dense<0.0> : vector<4xf32>
      stream.write %v into %o : !stream.stream<vector<4xf32>, depth: 2>
      dataflow.yield
    }
    dataflow.yield
  }
  func.return
}

// -----

// The tokens of a stream are gone once they are read.
!S = !itensor.itensor<2x4xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
func.func @f(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c, %d = dataflow.kernel @both(%p = %x : tensor<4x4xf32> as !S) -> (tensor<4x4xf32> as !S, tensor<4x4xf32> as !S) {
    // expected-error@unknown {{%p: itensor of 2 readers; accepted: one reader (run insert-forks first)}}
    %a, %b = itensor.fork %p : !S to !S, !S
    dataflow.yield %p, %b : !S, !S
  }
  func.return %c, %d : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// The guarded branch works on what is there without it: there is no other branch in hardware.
!S = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
// expected-error @unknown {{lower-tasks': t: both branches compute; accepted: a guard without an else branch}}
func.func @both(%x: tensor<2xvector<4xf32>>) -> tensor<2xvector<4xf32>> {
  %y = dataflow.kernel @k(%q = %x : tensor<2xvector<4xf32>> as !S) -> (tensor<2xvector<4xf32>> as !S) {
    %e = itensor.empty : !S
    %r = dataflow.task @t ins(%p = %q : !S) outs(%o = %e : !S) -> !S {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %l = scf.for %i = %c0 to %c8 step %c4 iter_args(%a = %o) -> (!S) {
        %t = itensor.read %p[%i] : !S -> tensor<4xf32>
        %is = arith.cmpi eq, %i, %c0 : index
        %v = scf.if %is -> (tensor<4xf32>) {
          scf.yield %t : tensor<4xf32>
        } else {
          %n = tensor.empty() : tensor<4xf32>
          scf.yield %n : tensor<4xf32>
        }
        %w = itensor.write %v into %a[%i] : tensor<4xf32> -> !S
        scf.yield %w : !S
      }
      dataflow.yield %l : !S
    }
    dataflow.yield %r : !S
  }
  func.return %y : tensor<2xvector<4xf32>>
}
