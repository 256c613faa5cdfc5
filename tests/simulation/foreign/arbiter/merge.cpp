// An array of streams polled in turn: what is found depends on time, so the order of the output is that of the cycles.
#include "hls_stream.h"

#define LANES 3
#define COUNT 8

static void lane(int id, hls::stream<int> &out) {
lane_loop:
    for (int i = 0; i < COUNT; i++) {
#pragma HLS PIPELINE II=4 style=flp
        out.write(id * 100 + i);
    }
}

static void arbiter(hls::stream<int> lanes[LANES], int *order, int *polls) {
    int taken = 0, asked = 0;
arbitrate:
    while (taken < LANES * COUNT) {
#pragma HLS PIPELINE II=1 style=flp
        const int l = asked % LANES;
        int v;
        if (lanes[l].read_nb(v)) order[taken++] = v;
        asked++;
    }
    *polls = asked;
}

void merge(int *order, int *polls) {
#pragma HLS DATAFLOW
    hls::stream<int> lanes[LANES];
#pragma HLS STREAM variable=lanes depth=2
    for (int l = 0; l < LANES; l++) {
#pragma HLS UNROLL
        lane(l, lanes[l]);
    }
    arbiter(lanes, order, polls);
}

#include <cstdio>

int main() {
    int order[LANES * COUNT], polls = 0, seen[LANES] = {0};
    merge(order, &polls);
    for (int v : order) {
        if (v % 100 != seen[v / 100]++) return 1;
    }
    std::printf("polls %d\n", polls);
    return 0;
}
