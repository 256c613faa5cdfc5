// Pipelined functions: one that is called in a pipelined loop and so is part of it, one that is a task of its own.
#include "hls_stream.h"

#define N 50
#define TAPS 4

template <typename T, int SIZE>
T dot(const T a[SIZE]) {
#pragma HLS PIPELINE II=1
    T sum = 0;
    for (int k = 0; k < SIZE; k++) sum += (k + 1) * a[k];
    return sum;
}

static void feed(const int *x, hls::stream<int> &out) {
feed_loop: for (int i = 0; i < N; i++) {
#pragma HLS PIPELINE II=1 style=flp
        out.write(x[i]);
    }
}

static void slide(hls::stream<int> &in, hls::stream<int> &out) {
    int taps[TAPS] = {0};
#pragma HLS ARRAY_PARTITION variable=taps complete
slide_loop:
    for (int i = 0; i < N; i++) {
#pragma HLS PIPELINE II=1 style=flp
        for (int k = TAPS - 1; k > 0; k--) taps[k] = taps[k - 1];
        taps[0] = in.read();
        const int value = dot<int, TAPS>(taps);
        if (i == N - 1) out.write(value);
    }
}

static void last_sum(hls::stream<int> &in, int *y) {
#pragma HLS PIPELINE II=2 style=flp
    *y = in.read();
}

void window(const int *x, int *y) {
#pragma HLS DATAFLOW
    hls::stream<int> fed, sums;
    feed(x, fed);
    slide(fed, sums);
    last_sum(sums, y);
}

int main() {
    int x[N], y = 0, expected = 0;
    for (int i = 0; i < N; i++) x[i] = i % 9;
    window(x, &y);
    for (int k = 0; k < TAPS; k++) expected += (k + 1) * x[N - 1 - k];
    return y == expected ? 0 : 1;
}
