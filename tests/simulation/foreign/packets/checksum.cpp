// AXI streams at the top with ap_axiu words, loops that end with a flag, static state that outlives calls.
#include "ap_axi_sdata.h"
#include "ap_int.h"
#include "hls_stream.h"

typedef ap_axiu<32, 0, 0, 0> word_t;

static void parse(hls::stream<word_t> &in, hls::stream<ap_uint<33> > &out) {
    bool last = false;
parse_loop:
    while (!last) {
#pragma HLS PIPELINE II=1 style=flp
#pragma HLS LOOP_TRIPCOUNT min=1 max=64
        word_t w = in.read();
        ap_uint<33> token = w.data;
        token[32] = w.last;
        out.write(token);
        last = w.last;
    }
}

static void add_up(hls::stream<ap_uint<33> > &in, hls::stream<ap_uint<32> > &out) {
    static ap_uint<32> packets = 0;
    ap_uint<32> sum = 0;
    ap_uint<33> token;
    // A loop without a pragma, which the tool pipelines by itself.
    do {
        token = in.read();
        sum += token(31, 0);
    } while (!token[32]);
    packets++;
    out.write(sum + packets);
}

void checksum(hls::stream<word_t> &in, hls::stream<ap_uint<32> > &out) {
#pragma HLS INTERFACE axis port=in
#pragma HLS INTERFACE axis port=out
#pragma HLS INTERFACE ap_ctrl_none port=return
#pragma HLS DATAFLOW
    hls::stream<ap_uint<33> > tokens("tokens");
#pragma HLS STREAM variable=tokens depth=4
    parse(in, tokens);
    add_up(tokens, out);
}

int main() {
    hls::stream<word_t> in;
    hls::stream<ap_uint<32> > out;
    for (int p = 0; p < PACKETS; p++) {
        unsigned expected = unsigned(p) + 1;
        const int length = 10 + p;
        for (int i = 0; i < length; i++) {
            word_t w;
            w.data = unsigned(i * p);
            w.keep = -1;
            w.last = i == length - 1;
            expected += unsigned(i * p);
            in.write(w);
        }
        checksum(in, out);
        if (out.empty() || out.read() != expected) return 1 + p;
    }
    return 0;
}
