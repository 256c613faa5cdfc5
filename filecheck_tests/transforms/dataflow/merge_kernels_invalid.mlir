// RUN: stc-opt %s -p merge-kernels --split-input-file --verify-diagnostics

// A path leaves the group and enters it again.
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @leaves(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = dataflow.kernel @a(%p = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) group @one { dataflow.yield %p : !S }
  %b = dataflow.kernel @b(%p = %a : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) group @two { dataflow.yield %p : !S }
  // expected-error @unknown {{pass 'merge-kernels': a: group @one is no one kernel; accepted: groups that no path leaves and enters again}}
  %c = dataflow.kernel @c(%p = %b : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) group @one { dataflow.yield %p : !S }
  func.return %c : tensor<4xf32>
}
