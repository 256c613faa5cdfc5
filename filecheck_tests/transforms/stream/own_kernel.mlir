// RUN: stc-opt %s --from dataflow-optimisation -t hls-cpp | filecheck %s

// From itensors to C++: the file in a namespace of its own, and a call in the task.

!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @main(%x: tensor<24xf32> {stc.name = "x"}) -> (tensor<24xf32> {stc.name = "y"}) {
  %y = dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) -> (tensor<24xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      %s = dataflow.own_kernel @twice ins(%p : !V) outs(%o : !V) -> !V {file = "twice.cpp", source = "void twice(hls::stream<hls::vector<float, 4>> &x, hls::stream<hls::vector<float, 4>> &out) {\0A  tokens: for (int t = 0; t < 6; ++t) {\0A#pragma HLS pipeline II=1 style=stp\0A    hls::vector<float, 4> token = x.read();\0A    for (int lane = 0; lane < 4; ++lane) {\0A#pragma HLS unroll\0A      token[lane] *= 2.0f;\0A    }\0A    out.write(token);\0A  }\0A}\0A", loops = [#dataflow.own_loop<"tokens", trips = [6], ii = 1, depth = 7, ports = [[0 to 6], [0 to 6]]>], resources = {dsp = 12 : i64}}
      dataflow.yield %s : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<24xf32>
}

// CHECK: // twice.cpp, as it was given.
// CHECK-NEXT: namespace [[OWN:own_twice_.*]] {
// CHECK: void twice(hls::stream<hls::vector<float, 4>> &x, hls::stream<hls::vector<float, 4>> &out) {
// CHECK: // Own kernel: a_stream -> r_stream.
// CHECK-NEXT: static void t(hls::stream<float_x4> &a_stream, hls::stream<float_x4> &r_stream) {
// CHECK-NEXT: #pragma HLS inline off
// CHECK-NEXT: [[OWN]]::twice(a_stream, r_stream);
