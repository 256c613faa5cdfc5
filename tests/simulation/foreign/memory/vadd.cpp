// Vector addition over three ports of external memory; no loop has a label, a pragma or braces.
#include "ap_int.h"
#include "hls_stream.h"
#include <cstdio>

#define WORDS 64

typedef ap_uint<512> wide_t;

extern "C" {
// Read one operand.
static void load(const wide_t* in, hls::stream<wide_t>& out) {

    for (int i = 0; i < WORDS; i++) out << in[i];
}

// Read the other one.
static void load2(const wide_t* in, hls::stream<wide_t>& out) {

    for (int i = 0; i < WORDS; i++)
        out.write(in[i]);
}

static void compute(hls::stream<wide_t>& a, hls::stream<wide_t>& b, hls::stream<wide_t>& sum) {

    for (int i = 0; i < WORDS; i++)
        if (i % 2 == 0) sum << (a.read() + b.read());
        else sum << (b.read() + a.read());
}

static void store(hls::stream<wide_t>& in, wide_t* out) {

    for (int i = 0; i < WORDS; i++)
    { out[i] = in.read(); }
}

void vadd(const wide_t* a, const wide_t* b, wide_t* sum) {
#pragma HLS INTERFACE m_axi port = a bundle = gmem0
#pragma HLS INTERFACE m_axi port = b bundle = gmem1
#pragma HLS INTERFACE m_axi port = sum bundle = gmem2
#pragma HLS dataflow
    static hls::stream<wide_t> in1("in1");
    static hls::stream<wide_t> in2("in2");
    static hls::stream<wide_t> out("out");
    load(a, in1);
    load2(b, in2);
    compute(in1, in2, out);
    store(out, sum);
}
}

int main(int argc, char *argv[]) {
    static wide_t a[WORDS], b[WORDS], sum[WORDS];
    for (int i = 0; i < WORDS; i++) a[i] = i, b[i] = 1000 + i;
    vadd(a, b, sum);
    for (int i = 0; i < WORDS; i++) {
        if (sum[i] != 1000 + 2 * i) return 1;
    }
    return 0;
}
