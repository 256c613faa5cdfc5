// Arrays between tasks: each is released when its writer returns, and has two blocks (one of them three).
#include <cstdio>

#define N 40
#define CALLS 6

static void fetch(const int *in, int raw[N]) {
fetch_loop:
    for (int i = 0; i < N; i++) {
#pragma HLS PIPELINE
        raw[i] = in[i];
    }
}

static void smooth(const int raw[N], int soft[N], int &peak) {
    int highest = 0;
smooth_loop:
    for (int i = 0; i < N; i++) {
#pragma HLS PIPELINE II=2
        soft[i] = (raw[i] + raw[i == 0 ? 0 : i - 1]) / 2;
        highest = soft[i] > highest ? soft[i] : highest;
    }
    peak = highest;
}

static void emit(const int soft[N], int peak, int *out) {
emit_loop:
    for (int i = 0; i < N; i++) {
#pragma HLS PIPELINE
        out[i] = peak - soft[i];
    }
}

int blur(const int *in, int *out) {
#pragma HLS DATAFLOW
    int raw[N], soft[N];
#pragma HLS ARRAY_PARTITION variable=raw cyclic factor=2
#pragma HLS STREAM variable=soft type=pipo depth=3
    int peak;
    fetch(in, raw);
    smooth(raw, soft, peak);
    emit(soft, peak, out);
    return 0;
}

int main(int, char **) {
    for (int call = 0; call < CALLS; call++) {
        int in[N], out[N], soft[N], peak = 0;
        for (int i = 0; i < N; i++) in[i] = (i * 7 + call) % 31;
        blur(in, out);
        for (int i = 0; i < N; i++) {
            soft[i] = (in[i] + in[i == 0 ? 0 : i - 1]) / 2;
            peak = soft[i] > peak ? soft[i] : peak;
        }
        for (int i = 0; i < N; i++) {
            if (out[i] != peak - soft[i]) return 1;
        }
    }
    // no return: main() means 0
}
