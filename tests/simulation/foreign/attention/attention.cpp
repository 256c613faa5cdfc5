// Self-attention as one lane of a published design sees it (8 to 64 such lanes there, which move alike): 32 rows of 32 features are
// projected to 16, of which a head has 8; 32 x 32 weights; 8 x 64 of the result are projected to 8 x 16.
#include "hls_stream.h"
#include <cmath>

typedef hls::stream<float> fifo;

void give_inputs(const float x[32][32], fifo &q, fifo &k, fifo &v) {
    for (int d = 0; d < 32; d++) {
        elements: for (int t = 0; t < 32; t++) {
#pragma HLS PIPELINE II=1
            q.write(x[t][d]);
            k.write(x[t][d]);
            v.write(x[t][d]);
        }
    }
}

void give_weights(const float w[32][16], fifo &out) {
    for (int d = 0; d < 32; d++) {
        elements: for (int n = 0; n < 16; n++) {
#pragma HLS PIPELINE II=1
            out.write(w[d][n]);
        }
    }
}

void project(fifo &x, fifo &w, fifo &y) {
    float inputs[32], weights[16], sums[32][16];
    for (int d = 0; d < 32; d++)
        for (int t = 0; t < 32; t++) {
            products: for (int n = 0; n < 16; n++) {
#pragma HLS PIPELINE II=1
                if (n == 0) inputs[t] = x.read();
                if (t == 0) weights[n] = w.read();
                sums[t][n] = (d == 0 ? 0 : sums[t][n]) + inputs[t] * weights[n];
                if (d == 31) y.write(sums[t][n]);
            }
        }
}

void project_queries(fifo &x, fifo &w, fifo &y) {
    float inputs[32], weights[16], sums[32][16];
    for (int d = 0; d < 32; d++)
        for (int n = 0; n < 16; n++) {
            products: for (int t = 0; t < 32; t++) {
#pragma HLS PIPELINE II=1
                if (n == 0) inputs[t] = x.read();
                if (t == 0) weights[n] = w.read();
                sums[t][n] = (d == 0 ? 0 : sums[t][n]) + inputs[t] * weights[n];
                if (d == 31) y.write(sums[t][n]);
            }
        }
}

void add_bias(fifo &x, float y[32][16]) {
    for (int t = 0; t < 32; t++) {
        elements: for (int n = 0; n < 16; n++) {
#pragma HLS PIPELINE II=1
            y[t][n] = x.read() + 0.125f;
        }
    }
}

void add_query_bias(fifo &x, float y[32][16]) {
    for (int n = 0; n < 16; n++) {
        elements: for (int t = 0; t < 32; t++) {
#pragma HLS PIPELINE II=1
            y[t][n] = x.read() + 0.125f;
        }
    }
}

void split(const float x[32][16], float head[32][8]) {
    for (int t = 0; t < 32; t++) {
        elements: for (int n = 0; n < 8; n++) {
#pragma HLS PIPELINE II=4
            head[t][n] = x[t][n];
        }
    }
}

void score(const float q[32][8], const float k[32][8], fifo &scores) {
    for (int i = 0; i < 32; i++) {
        pairs: for (int j = 0; j < 32; j++) {
#pragma HLS PIPELINE II=4
            float sum = 0;
            for (int n = 0; n < 8; n++) sum += q[i][n] * k[j][n];
            scores.write(sum);
        }
    }
}

void scale(fifo &scores, fifo &to_maximum, fifo &to_exponential) {
    for (int i = 0; i < 32; i++) {
        pairs: for (int j = 0; j < 32; j++) {
#pragma HLS PIPELINE II=1
            const float scaled = scores.read() / 4;
            to_maximum.write(scaled);
            to_exponential.write(scaled);
        }
    }
}

void row_maximum(fifo &scaled, fifo &largest) {
    rows: for (int i = 0; i < 32; i++) {
#pragma HLS PIPELINE II=32
        float most = -INFINITY;
        for (int j = 0; j < 32; j++) most = fmaxf(most, scaled.read());
        largest.write(most);
    }
}

void exponential(fifo &scaled, fifo &largest, fifo &to_sum, fifo &to_quotient) {
    rows: for (int i = 0; i < 32; i++) {
#pragma HLS PIPELINE II=32
        float most = 0;
        for (int j = 0; j < 32; j++) {
            const float x = scaled.read();
            if (j == 0) most = largest.read();
            const float e = expf(x - most);
            to_sum.write(e);
            to_quotient.write(e);
        }
    }
}

void row_sum(fifo &terms, fifo &sums) {
    rows: for (int i = 0; i < 32; i++) {
#pragma HLS PIPELINE II=32
        float sum = 0;
        for (int j = 0; j < 32; j++) sum += terms.read();
        sums.write(sum);
    }
}

void quotient(fifo &terms, fifo &sums, fifo &weights) {
    rows: for (int i = 0; i < 32; i++) {
#pragma HLS PIPELINE II=32
        float sum = 0;
        for (int j = 0; j < 32; j++) {
            const float x = terms.read();
            if (j == 0) sum = sums.read();
            weights.write(x / sum);
        }
    }
}

void mix(fifo &weights, const float v[32][8], float y[32][8]) {
    float sums[8], weight = 0;
    for (int i = 0; i < 32; i++)
        for (int j = 0; j < 32; j++) {
            products: for (int n = 0; n < 8; n++) {
#pragma HLS PIPELINE II=1
                if (n == 0) weight = weights.read();
                sums[n] = (j == 0 ? 0 : sums[n]) + weight * v[j][n];
                if (j == 31) y[i][n] = sums[n];
            }
        }
}

void merge(const float x[32][8], float y[32][8]) {
    for (int i = 0; i < 32; i++) {
        elements: for (int n = 0; n < 8; n++) {
#pragma HLS PIPELINE II=2
            y[i][n] = x[i][n];
        }
    }
}

void give_rows(const float x[32][8], fifo &rows) {
    for (int i = 0; i < 8; i++) {
        elements: for (int d = 0; d < 64; d++) {
#pragma HLS PIPELINE II=1
            rows.write(x[4 * i + d % 4][d / 4 % 8]);
        }
    }
}

void give_output_weights(const float w[64][16], fifo &out) {
    for (int d = 0; d < 64; d++) {
        elements: for (int n = 0; n < 16; n++) {
#pragma HLS PIPELINE II=1
            out.write(w[d][n]);
        }
    }
}

void project_output(fifo &w, fifo &x, fifo &y) {
    float input = 0, weights[64][16], sums[16];
    for (int i = 0; i < 8; i++)
        for (int d = 0; d < 64; d++) {
            products: for (int n = 0; n < 16; n++) {
#pragma HLS PIPELINE II=1
                if (n == 0) input = x.read();
                if (i == 0) weights[d][n] = w.read();
                sums[n] = (d == 0 ? 0 : sums[n]) + input * weights[d][n];
                if (d == 63) y.write(sums[n]);
            }
        }
}

void add_output_bias(fifo &x, fifo &y) {
    for (int i = 0; i < 8; i++) {
        elements: for (int n = 0; n < 16; n++) {
#pragma HLS PIPELINE II=1
            y.write(x.read() + 0.125f);
        }
    }
}

void take_output(fifo &x, float y[8][16]) {
    for (int i = 0; i < 8; i++) {
        elements: for (int n = 0; n < 16; n++) {
#pragma HLS PIPELINE II=1
            y[i][n] = x.read();
        }
    }
}

void attention(const float x[32][32], const float wq[32][16], const float wk[32][16], const float wv[32][16],
               const float wo[64][16], float y[8][16]) {
#pragma HLS DATAFLOW
    fifo xq, xk, xv, scores, to_maximum, to_exponential, to_sum, to_quotient, weights, output_weights;
#pragma HLS STREAM variable=xq depth=1024
#pragma HLS STREAM variable=xk depth=1024
#pragma HLS STREAM variable=xv depth=1024
#pragma HLS STREAM variable=scores depth=1024
#pragma HLS STREAM variable=to_maximum depth=1024
#pragma HLS STREAM variable=to_exponential depth=1024
#pragma HLS STREAM variable=to_sum depth=1024
#pragma HLS STREAM variable=to_quotient depth=1024
#pragma HLS STREAM variable=weights depth=1024
#pragma HLS STREAM variable=output_weights depth=1024
    fifo query_weights, key_weights, value_weights, queries, keys, values, rows;
#pragma HLS STREAM variable=query_weights depth=512
#pragma HLS STREAM variable=key_weights depth=512
#pragma HLS STREAM variable=value_weights depth=512
#pragma HLS STREAM variable=queries depth=512
#pragma HLS STREAM variable=keys depth=512
#pragma HLS STREAM variable=values depth=512
#pragma HLS STREAM variable=rows depth=512
    fifo projected, biased, largest, sums;
#pragma HLS STREAM variable=projected depth=128
#pragma HLS STREAM variable=biased depth=128
#pragma HLS STREAM variable=largest depth=32
#pragma HLS STREAM variable=sums depth=32
    float all_q[32][16], all_k[32][16], all_v[32][16], q[32][8], k[32][8], v[32][8], mixed[32][8], merged[32][8];
    give_inputs(x, xq, xk, xv);
    give_weights(wq, query_weights);
    project_queries(xq, query_weights, queries);
    add_query_bias(queries, all_q);
    give_weights(wk, key_weights);
    project(xk, key_weights, keys);
    add_bias(keys, all_k);
    give_weights(wv, value_weights);
    project(xv, value_weights, values);
    add_bias(values, all_v);
    split(all_q, q);
    split(all_k, k);
    score(q, k, scores);
    scale(scores, to_maximum, to_exponential);
    row_maximum(to_maximum, largest);
    exponential(to_exponential, largest, to_sum, to_quotient);
    row_sum(to_sum, sums);
    quotient(to_quotient, sums, weights);
    split(all_v, v);
    mix(weights, v, mixed);
    merge(mixed, merged);
    give_rows(merged, rows);
    give_output_weights(wo, output_weights);
    project_output(output_weights, rows, projected);
    add_output_bias(projected, biased);
    take_output(biased, y);
}

// The result is the weighted mean of the projected values: one for all rows where all keys are alike.
int main() {
    static float x[32][32], wq[32][16], wk[32][16], wv[32][16], wo[64][16], y[8][16];
    for (int t = 0; t < 32; t++)
        for (int d = 0; d < 32; d++) x[t][d] = float((7 * t + d) % 5);
    for (int d = 0; d < 32; d++)
        for (int n = 0; n < 16; n++) wq[d][n] = 0.5f, wv[d][n] = float((d + n) % 3 - 1);
    for (int d = 0; d < 64; d++)
        for (int n = 0; n < 16; n++) wo[d][n] = float(d % 16 == n) - 0.5f;
    attention(x, wq, wk, wv, wo, y);
    double mean[8] = {};
    for (int n = 0; n < 8; n++) {
        for (int t = 0; t < 32; t++)
            for (int d = 0; d < 32; d++) mean[n] += double(x[t][d]) * wv[d][n] / 32;
        mean[n] += 0.125;
    }
    for (int i = 0; i < 8; i++)
        for (int n = 0; n < 16; n++) {
            double expected = 0.125;
            for (int d = 0; d < 64; d++) expected += mean[d / 4 % 8] * wo[d][n];
            if (!(std::fabs(y[i][n] - expected) < 1e-3)) return 1;
        }
    return 0;
}
