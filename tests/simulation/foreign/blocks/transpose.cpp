// Blocks that are filled and drained in place.
#include "hls_streamofblocks.h"

#define TILES 4
#define SIDE 5

typedef int tile_t[SIDE * SIDE];

static void fill(const int *x, hls::stream_of_blocks<tile_t> &tiles) {
    for (int t = 0; t < TILES; t++) {
        hls::write_lock<tile_t> tile(tiles);
    fill_loop:
        for (int i = 0; i < SIDE * SIDE; i++) {
#pragma HLS PIPELINE II=1 style=flp
            tile[i] = x[t * SIDE * SIDE + i];
        }
    }
}

static void drain(hls::stream_of_blocks<tile_t> &tiles, int *y) {
    for (int t = 0; t < TILES; t++) {
        hls::read_lock<tile_t> tile(tiles);
    drain_loop:
        for (int i = 0; i < SIDE * SIDE; i++) {
#pragma HLS PIPELINE II=2 style=flp
            y[t * SIDE * SIDE + i] = tile[i % SIDE * SIDE + i / SIDE];
        }
    }
}

void transpose(const int *x, int *y) {
#pragma HLS DATAFLOW
    hls::stream_of_blocks<tile_t> tiles;
    fill(x, tiles);
    drain(tiles, y);
}

int main() {
    int x[TILES * SIDE * SIDE], y[TILES * SIDE * SIDE];
    for (int i = 0; i < TILES * SIDE * SIDE; i++) x[i] = 3 * i;
    transpose(x, y);
    for (int t = 0; t < TILES; t++) {
        for (int i = 0; i < SIDE * SIDE; i++) {
            if (y[t * SIDE * SIDE + i] != x[t * SIDE * SIDE + i % SIDE * SIDE + i / SIDE]) return 1;
        }
    }
    return 0;
}
