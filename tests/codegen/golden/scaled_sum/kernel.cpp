#include "kernel.h"

// Load: x -> x_stream.
// x: tensor 3x16 of f32 (x), 6 words of 8.
static void load_x(const float_x8 *x, hls::stream<float_x8> &x_stream) {
#pragma HLS inline off
  // x -> x_stream
  words: for (int i = 0; i < 6; i += 1) {
#pragma HLS pipeline II=1 style=stp
    x_stream.write(x[i]);
  }
}

// Load: norm_gain -> gain_stream.
// norm_gain: tensor 16 of f32 (norm.gain), 2 words of 8.
static void load_gain(const float_x8 *norm_gain, hls::stream<float_x8> &gain_stream) {
#pragma HLS inline off
  // norm_gain -> gain_stream
  revisit: for (int i = 0; i < 3; i += 1) {
    words: for (int j = 0; j < 2; j += 1) {
#pragma HLS pipeline II=1 style=stp
      gain_stream.write(norm_gain[j]);
    }
  }
}

// Compute of norm: x_stream, gain_stream -> out_stream.
static void norm_gain2(hls::stream<float_x8> &x_stream, hls::stream<float_x8> &gain_stream,
                       hls::stream<float_x8> &out_stream) {
#pragma HLS inline off
  // x_stream, gain_stream -> out_stream
  rows: for (int i = 0; i < 3; i += 1) {
    columns: for (int j = 0; j < 2; j += 1) {
#pragma HLS pipeline II=1 style=stp
      const float_x8 va = x_stream.read();
      const float_x8 vb = gain_stream.read();
      float_x8 acc = float_x8(0.0f);
      lane: for (int lane = 0; lane < 8; lane += 1) {
#pragma HLS unroll
        acc[lane] = maximum(va[lane] * vb[lane] + 0.5f, -F32_INFINITY);
      }
      out_stream.write(acc);
    }
  }
}

// Store: out_stream -> out.
// out: tensor 3x16 of f32 (out), 6 words of 8.
static void store_out(hls::stream<float_x8> &out_stream, float_x8 *out) {
#pragma HLS inline off
  // out_stream -> out
  words: for (int i = 0; i < 6; i += 1) {
#pragma HLS pipeline II=1 style=stp
    const float_x8 v = out_stream.read();
    out[i] = v;
  }
}

// Compute unit scaled_sum: 4 tasks, 3 streams.
extern "C" void scaled_sum(const float_x8 *x, const float_x8 *norm_gain, float_x8 *out) {
#pragma HLS interface mode=m_axi port=x bundle=gmem0 offset=slave depth=6 max_read_burst_length=16 num_read_outstanding=16
#pragma HLS interface mode=m_axi port=norm_gain bundle=gmem1 offset=slave depth=2 max_read_burst_length=16 num_read_outstanding=16
#pragma HLS interface mode=m_axi port=out bundle=gmem2 offset=slave depth=6 max_write_burst_length=16 num_write_outstanding=16
#pragma HLS interface mode=s_axilite port=x bundle=control
#pragma HLS interface mode=s_axilite port=norm_gain bundle=control
#pragma HLS interface mode=s_axilite port=out bundle=control
#pragma HLS interface mode=s_axilite port=return bundle=control
#pragma HLS dataflow
  hls::stream<float_x8, 2> x_stream("x_stream");
  hls::stream<float_x8, 2> gain_stream("gain_stream");
  hls::stream<float_x8, 64> out_stream("out_stream");
#pragma HLS bind_storage variable=out_stream type=fifo impl=lutram
  load_x(x, x_stream);
  load_gain(norm_gain, gain_stream);
  norm_gain2(x_stream, gain_stream, out_stream);
  store_out(out_stream, out);
}
