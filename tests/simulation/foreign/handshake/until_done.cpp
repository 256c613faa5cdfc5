// A producer that never blocks: it goes on offering values until the consumer tells it to stop, over a FIFO that runs backwards.
#include "hls_stream.h"

#define MOST 4096
#define COUNT 2025

void feed(const int *values, hls::stream<int> &data, hls::stream<bool> &stop) {
    int next = 0;
    bool stopped;
    for (;;) {
        if (data.write_nb(values[next])) ++next;
        if (stop.read_nb(stopped)) break;
    }
}

void add_up(hls::stream<int> &data, hls::stream<bool> &stop, int *sum) {
    int value, total = 0;
    // Zero is the last value.
    do {
        value = data.read();
        total += value;
    } while (value != 0);
    *sum = total;
    stop.write(true);
}

void until_done(const int *values, int *sum) {
#pragma HLS DATAFLOW
    hls::stream<int> data;
    hls::stream<bool> stop;
    feed(values, data, stop);
    add_up(data, stop, sum);
}

int main() {
    static int values[MOST];
    int sum = 0;
    for (int i = 0; i < MOST; i++) values[i] = i == COUNT ? 0 : i + 1;
    until_done(values, &sum);
    return sum != COUNT * (COUNT + 1) / 2;
}
