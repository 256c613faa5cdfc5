// Fork and join over FIFOs: pragmas in upper and lower case, spaces around '=', comments, depths by macro, a perfect nest.
#include "diamond.h"

#define FIFO_DEPTH 16

static void load(const int in[N], hls::stream<int>& out) {
read_rows_outer:
    for (int r = 0; r < ROWS; r++) {
        // #pragma HLS PIPELINE II=7   (not this one)
    read_rows: for (int c = 0; c < COLS; c++) {
#pragma HLS PIPELINE II = 1 /* one word a cycle */ style = flp
            out << in[r * COLS + c];
        }
    }
}

static void split(hls::stream<int>& in, hls::stream<int>& a, hls::stream<int>& b) {
split_loop:
    for (int i = 0; i < N; ++i) {
#pragma hls pipeline style=flp ii=1
        const int v = in.read();
        a.write(v);
        b.write(v);
    }
}

static void scale(hls::stream<int>& in, hls::stream<int>& out) {
scale_loop:
    for (int i = 0; i < N; ++i)
    {
        #pragma HLS PIPELINE style=flp
        out.write(3 * in.read());
    }
}

static void offset(hls::stream<int>& in, hls::stream<int>& out) {
offset_loop:
    for (int i = 0; i < N; ++i) {
#pragma HLS PIPELINE II=1 style=flp
        out.write(in.read() + 7);
    }
}

static void join(hls::stream<int>& a, hls::stream<int>& b, int out[N]) {
join_loop:
    for (int i = 0; i < N; ++i) {
#pragma HLS PIPELINE II=1 style=flp
        out[i] = a.read() + b.read();
    }
}

void diamond(const int in[N], int out[N]) {
#pragma HLS INTERFACE mode=ap_memory port=in
#pragma HLS DataFlow
    hls::stream<int> loaded("loaded"), a, b;
#pragma HLS STREAM variable=loaded,a depth=FIFO_DEPTH
    hls::stream<int, FIFO_DEPTH> scaled;
    hls::stream<int> moved;
#pragma HLS STREAM depth=FIFO_DEPTH variable=b
#pragma HLS stream variable=moved depth=FIFO_DEPTH type=fifo
    load(in, loaded);
    split(loaded, a, b);
    scale(a, scaled);
    offset(b, moved);
    join(scaled, moved, out);
}
