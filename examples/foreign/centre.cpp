// y = x - mean(x): the values wait in `direct` while their sum is still being formed.
#include "centre.h"
#include "hls_stream.h"

static void fetch(const float *x, hls::stream<float> &direct, hls::stream<float> &summed) {
fetch_loop:
    for (int i = 0; i < N; i++) {
#pragma HLS PIPELINE II=1
        const float value = x[i];
        direct.write(value);
        summed.write(value);
    }
}

static void average(hls::stream<float> &in, hls::stream<float> &mean) {
    float sum = 0;
sum_loop:
    for (int i = 0; i < N; i++) {
#pragma HLS PIPELINE
        sum += in.read();
    }
    mean.write(sum / N);
}

static void subtract(hls::stream<float> &in, hls::stream<float> &mean, float *y) {
    const float m = mean.read();
    for (int i = 0; i < N; i++)
        y[i] = in.read() - m;
}

void centre(const float *x, float *y) {
#pragma HLS DATAFLOW
    hls::stream<float> direct, summed, mean;
#pragma HLS STREAM variable=direct depth=64
    fetch(x, direct, summed);
    average(summed, mean);
    subtract(direct, mean, y);
}
