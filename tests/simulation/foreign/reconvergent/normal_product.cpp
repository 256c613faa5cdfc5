// y = A^T (A x) in tiles of 2 rows and 10 columns: A is streamed a second time, beside the sums that depend on all of it.
#include "hls_stream.h"
#include <cmath>
#include <hls_half.h>

#define ROWS 390
#define COLUMNS 410
#define TALL 2
#define WIDE 10

typedef hls::stream<float> fifo;

void multiply(const float a[ROWS][COLUMNS], const float x[COLUMNS], fifo sums[TALL]) {
    float partial[ROWS];
#pragma HLS array_partition variable=partial cyclic factor=2
    for (int c = 0; c < COLUMNS; c += WIDE) {
        row_tiles: for (int r = 0; r < ROWS; r += TALL) {
#pragma HLS PIPELINE II=1
            for (int i = 0; i < TALL; i++) {
                float sum = c == 0 ? 0.0f : partial[r + i];
                for (int j = 0; j < WIDE; j++) sum += a[r + i][c + j] * x[c + j];
                partial[r + i] = sum;
                if (c == COLUMNS - WIDE) sums[i].write(sum);
            }
        }
    }
}

void reread(const float a[ROWS][COLUMNS], fifo elements[WIDE][TALL]) {
    for (int r = 0; r < ROWS; r += TALL) {
        column_tiles: for (int c = 0; c < COLUMNS; c += WIDE) {
#pragma HLS PIPELINE II=1
            for (int j = 0; j < WIDE; j++)
                for (int i = 0; i < TALL; i++) elements[j][i].write(a[r + i][c + j]);
        }
    }
}

void project(fifo sums[TALL], fifo elements[WIDE][TALL], fifo result[WIDE]) {
    float total[COLUMNS], row[TALL];
    for (int r = 0; r < ROWS; r += TALL) {
        column_tiles: for (int c = 0; c < COLUMNS; c += WIDE) {
#pragma HLS PIPELINE II=1
            for (int i = 0; i < TALL; i++)
                if (c == 0) row[i] = sums[i].read();
            for (int j = 0; j < WIDE; j++) {
                float sum = r == 0 ? 0.0f : total[c + j];
                for (int i = 0; i < TALL; i++) sum += elements[j][i].read() * row[i];
                total[c + j] = sum;
                if (r == ROWS - TALL) result[j].write(sum);
            }
        }
    }
}

void collect(fifo result[WIDE], float y[COLUMNS]) {
    column_tiles: for (int c = 0; c < COLUMNS; c += WIDE) {
#pragma HLS PIPELINE II=1
        for (int j = 0; j < WIDE; j++) y[c + j] = result[j].read();
    }
}

void normal_product(const float a[ROWS][COLUMNS], const float x[COLUMNS], float y[COLUMNS]) {
#pragma HLS DATAFLOW
    fifo sums[TALL];
#pragma HLS STREAM variable=sums depth=195
    fifo elements[WIDE][TALL];
#pragma HLS STREAM variable=elements depth=7995
    fifo result[WIDE];
#pragma HLS STREAM variable=result depth=41
    multiply(a, x, sums);
    reread(a, elements);
    project(sums, elements, result);
    collect(result, y);
}

int main() {
    static float a[ROWS][COLUMNS], x[COLUMNS], y[COLUMNS];
    static double expected[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) x[c] = float(c % 5);
    for (int r = 0; r < ROWS; r++) {
        double sum = 0;
        for (int c = 0; c < COLUMNS; c++) a[r][c] = float((7 * r + 3 * c) % 11) - 5, sum += double(a[r][c]) * x[c];
        for (int c = 0; c < COLUMNS; c++) expected[c] += sum * a[r][c];
    }
    normal_product(a, x, y);
    for (int c = 0; c < COLUMNS; c++) {
        if (std::fabs(expected[c] - y[c]) > 1e-3 * (1 + std::fabs(expected[c]))) return 1;
    }
    return 0;
}
