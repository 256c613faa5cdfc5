#include "kernel.h"

// Load: x -> x_stream.
// x: tensor 4x6 of i32 (x), 8 words of 4.
static void load_x(const int32_x4 *x, hls::stream<int32_x3> &x_stream) {
#pragma HLS inline off
  // x -> x_stream
  words: for (int i = 0; i < 8; i += 1) {
#pragma HLS pipeline II=1 style=stp
    const int32_x4 w = x[i];
    int32_x3 v0 = int32_x3(0);
    v0[0] = w[0];
    v0[1] = w[1];
    v0[2] = w[2];
    x_stream.write(v0);
  }
}

// Converter: x_stream -> halves.
static void turn_fill(hls::stream<int32_x3> &x_stream, hls::stream_of_blocks<halves_block, 2> &halves) {
#pragma HLS inline off
  halves: for (int h = 0; h < 2; h += 1) {
    hls::write_lock<halves_block> m(halves);
    // x_stream -> m
    fill_a: for (int a = 0; a < 2; a += 1) {
      fill_b: for (int b = 0; b < 6; b += 3) {
#pragma HLS pipeline II=2 style=stp
        const int32_x3 v = x_stream.read();
        m_lane: for (int lane = 0; lane < 3; lane += 1) {
#pragma HLS unroll
          m[a][b + lane] = v[lane];
        }
      }
    }
  }
}

// Converter: halves -> turned.
static void turn_drain(hls::stream_of_blocks<halves_block, 2> &halves, hls::stream<int32_x1> &turned) {
#pragma HLS inline off
  halves: for (int h = 0; h < 2; h += 1) {
    hls::read_lock<halves_block> m(halves);
    // m -> turned
    drain_b: for (int b = 0; b < 6; b += 1) {
      drain_a: for (int a = 0; a < 2; a += 1) {
#pragma HLS pipeline II=1 style=stp
        turned.write(int32_x1(m[a][b]));
      }
    }
  }
}

// Compute: turned -> y_stream.
static void running(hls::stream<int32_x1> &turned, hls::stream<int32_x1> &y_stream) {
#pragma HLS inline off
  int32_t sum = 0;
  // turned -> y_stream
  groups: for (int g = 0; g < 4; g += 1) {
    run_: for (int k = 0; k < 6; k += 1) {
#pragma HLS pipeline II=1 style=stp
      const int32_x1 t = turned.read();
      const int8_t small = (int8_t)t[0];
      const int32_t wide = (int32_t)int8_t(small + small);
      int32_t picked;
      if ((k & 1) != 0) {
        picked = wide;
      } else {
        picked = 0 - wide;
      }
      const int32_t next = int32_t((uint32_t)sum + (uint32_t)picked);
      y_stream.write(int32_x1(next));
      sum = next;
    }
  }
}

// Store: y_stream -> out_0.
// out_0: tensor 4x6 of i32 (out.0), 24 words of 1.
static void store_y(hls::stream<int32_x1> &y_stream, int32_x1 *out_0) {
#pragma HLS inline off
  // y_stream -> out_0
  words: for (int i = 0; i < 24; i += 1) {
#pragma HLS pipeline II=1 style=stp
    const int32_x1 v = y_stream.read();
    out_0[i] = v;
  }
}

// Compute unit turn: 5 tasks, 3 streams.
extern "C" void turn(const int32_x4 *x, int32_x1 *out_0) {
#pragma HLS interface mode=m_axi port=x bundle=gmem0 offset=slave depth=8 max_read_burst_length=16 num_read_outstanding=16
#pragma HLS interface mode=m_axi port=out_0 bundle=gmem1 offset=slave depth=32 max_write_burst_length=16 num_write_outstanding=16
#pragma HLS interface mode=s_axilite port=x bundle=control
#pragma HLS interface mode=s_axilite port=out_0 bundle=control
#pragma HLS interface mode=s_axilite port=return bundle=control
#pragma HLS dataflow
  hls::stream<int32_x3, 2> x_stream("x_stream");
  hls::stream<int32_x1, 2> turned("turned");
  hls::stream<int32_x1, 2> y_stream("y_stream");
  hls::stream_of_blocks<halves_block, 2> halves;
  load_x(x, x_stream);
  turn_fill(x_stream, halves);
  turn_drain(halves, turned);
  running(turned, y_stream);
  store_y(y_stream, out_0);
}
