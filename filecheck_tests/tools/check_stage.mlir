// RUN: stc-opt %s --check-stage kernel-fusion --split-input-file --verify-diagnostics

// Loops of the function should be kernels by now.
func.func @loop(%n: index) {
  // expected-error @below {{'scf.for' op may not stand at function level after stage 'kernel fusion': 'linalg-to-dataflow' should have removed it}}
  scf.for %i = %n to %n step %n {
  }
  func.return
}

// -----

// What depends on parameters alone is the host's, and may be anything.
func.func @host(%w: tensor<4xf32> {stc.parameter}) -> tensor<2xf32> {
  %0 = tensor.extract_slice %w[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// The same of an input should be a chunk.
func.func @slice(%x: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error @below {{'layout-to-dataflow' should have removed it}}
  %0 = tensor.extract_slice %x[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// Streams come later: nobody should have made one yet.
func.func @stream() {
  dataflow.kernel @k() {
    // expected-error @below {{'stream.create' op may not stand between the tasks of a kernel after stage 'kernel fusion': no pass should have put it there}}
    %s = stream.create @s : !stream.stream<f32, depth: 2>
    dataflow.yield
  }
  func.return
}

// -----

// Arithmetic on data belongs into the bodies of linalg operations.
!X = !itensor.itensor<f32, iter_space: [4] * [1], iter_map: (d0) -> ()>
func.func @task(%f: f32) {
  dataflow.kernel @k(%g = %f : f32) {
    dataflow.task @t ins(%a = %g : f32) outs() {
      // expected-error @below {{'arith.addf' op may not stand in a task after stage 'kernel fusion': no pass should have put it there}}
      %s = arith.addf %a, %a : f32
      dataflow.yield
    }
    dataflow.yield
  }
  func.return
}
