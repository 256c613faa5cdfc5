#include "kernel.h"

// Load: x -> x_stream.
// x: tensor 4x6 of f32 (x), 12 words of 2.
static void load_x(const float_x2 *x, hls::stream<float_x2> &x_stream) {
#pragma HLS inline off
  // x -> x_stream
  words: for (int i = 0; i < 12; i += 1) {
#pragma HLS pipeline II=1 style=stp
    x_stream.write(x[i]);
  }
}

// Load: fc_weight -> w_stream.
// fc_weight: tensor 6x8 of f32 (fc.weight), 6 words of 8.
static void load_w(const float_x8 *fc_weight, hls::stream<float_x8> &w_stream) {
#pragma HLS inline off
  // fc_weight -> w_stream
  words: for (int i = 0; i < 6; i += 1) {
#pragma HLS pipeline II=1 style=stp
    w_stream.write(fc_weight[i]);
  }
}

// Compute of mlp.fc: x_stream, w_stream -> y_stream.
static void fc(hls::stream<float_x2> &x_stream, hls::stream<float_x8> &w_stream, hls::stream<float_x4> &y_stream) {
#pragma HLS inline off
  float acc[4][8];
#pragma HLS array_partition variable=acc type=complete dim=2
  float xt[4][2];
  float wt2[2][8];
#pragma HLS array_partition variable=wt2 type=complete dim=2
  // constants -> acc
  clear: for (int i = 0; i < 4; i += 1) {
#pragma HLS pipeline II=1 style=stp
    clear_lanes: for (int j = 0; j < 8; j += 1) {
#pragma HLS unroll
      acc[i][j] = 0.0f;
    }
  }
  tile_k: for (int k = 0; k < 3; k += 1) {
    // tile of x
    read_x: for (int i = 0; i < 4; i += 1) {
#pragma HLS pipeline II=1 style=stp
      const float_x2 va = x_stream.read();
      xt_lane: for (int lane = 0; lane < 2; lane += 1) {
#pragma HLS unroll
        xt[i][lane] = va[lane];
      }
    }
    // tile of w
    read_w: for (int r = 0; r < 2; r += 1) {
#pragma HLS pipeline II=1 style=stp
      const float_x8 vb = w_stream.read();
      wt2_lane: for (int lane = 0; lane < 8; lane += 1) {
#pragma HLS unroll
        wt2[r][lane] = vb[lane];
      }
    }
    // xt, wt2 -> acc
    mac_k: for (int r = 0; r < 2; r += 1) {
      mac: for (int i = 0; i < 4; i += 1) {
#pragma HLS pipeline II=3 style=stp
        // acc: what is stored is loaded 4 iterations later at the soonest, in all 8 iterations
#pragma HLS dependence variable=acc type=inter direction=RAW distance=4 dependent=true
        mac_lanes: for (int j = 0; j < 8; j += 1) {
#pragma HLS unroll
          acc[i][j] = acc[i][j] + xt[i][r] * wt2[r][j];
        }
      }
    }
    if (k == 2) {
      // acc -> y_stream
      write_y: for (int i = 0; i < 4; i += 1) {
#pragma HLS pipeline II=2 style=stp
        write_y_j: for (int j = 0; j < 8; j += 4) {
#pragma HLS unroll
          float_x4 v;
          v_lane: for (int lane = 0; lane < 4; lane += 1) {
#pragma HLS unroll
            v[lane] = acc[i][j + lane];
          }
          y_stream.write(v);
        }
      }
    }
  }
}

// Store: y_stream -> y.
// y: tensor 4x8 of f32 (y), 8 words of 4.
static void store_y(hls::stream<float_x4> &y_stream, float_x4 *y) {
#pragma HLS inline off
  // y_stream -> y
  words: for (int i = 0; i < 8; i += 1) {
#pragma HLS pipeline II=1 style=stp
    const float_x4 v = y_stream.read();
    y[i] = v;
  }
}

// Compute unit fc_kernel: 4 tasks, 3 streams.
extern "C" void fc_kernel(const float_x2 *x, const float_x8 *fc_weight, float_x4 *y) {
#pragma HLS interface mode=m_axi port=x bundle=gmem0 offset=slave depth=16 max_read_burst_length=16 num_read_outstanding=16
#pragma HLS interface mode=m_axi port=fc_weight bundle=gmem1 offset=slave depth=6 max_read_burst_length=16 num_read_outstanding=16
#pragma HLS interface mode=m_axi port=y bundle=gmem2 offset=slave depth=8 max_write_burst_length=16 num_write_outstanding=16
#pragma HLS interface mode=s_axilite port=x bundle=control
#pragma HLS interface mode=s_axilite port=fc_weight bundle=control
#pragma HLS interface mode=s_axilite port=y bundle=control
#pragma HLS interface mode=s_axilite port=return bundle=control
#pragma HLS dataflow
  hls::stream<float_x2, 2> x_stream("x_stream");
  hls::stream<float_x8, 2> w_stream("w_stream");
  hls::stream<float_x4, 8> y_stream("y_stream");
#pragma HLS bind_storage variable=y_stream type=fifo impl=srl
  load_x(x, x_stream);
  load_w(fc_weight, w_stream);
  fc(x_stream, w_stream, y_stream);
  store_y(y_stream, y);
}
