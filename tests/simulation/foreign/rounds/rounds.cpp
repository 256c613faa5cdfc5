// Dataflow in a loop: the tiles overlap.
#define TILES 9
#define SIZE 16

static void read_tile(const int *x, int tile, int buffer[SIZE]) {
tile_in:
    for (int i = 0; i < SIZE; i++) {
#pragma HLS PIPELINE II=1
        buffer[i] = x[tile * SIZE + i];
    }
}
static void work(int buffer[SIZE], int result[SIZE]) {
work_loop:
    for (int i = 0; i < SIZE; i++) {
#pragma HLS PIPELINE II=3
        result[i] = buffer[SIZE - 1 - i] * 2;
    }
}
static void write_tile(int result[SIZE], int tile, int *y) {
tile_out:
    for (int i = 0; i < SIZE; i++) {
#pragma HLS PIPELINE II=1
        y[tile * SIZE + i] = result[i];
    }
}
void rounds(const int *x, int *y) {
tiles:
    for (int tile = 0; tile < TILES; tile++) {
#pragma HLS DATAFLOW
        int buffer[SIZE];
        int result[SIZE];
        read_tile(x, tile, buffer);
        work(buffer, result);
        write_tile(result, tile, y);
    }
}

int main() {
    int x[TILES * SIZE], y[TILES * SIZE], wrong = 0;
    for (int i = 0; i < TILES * SIZE; i++) x[i] = i;
    rounds(x, y);
    for (int t = 0; t < TILES; t++) {
        for (int i = 0; i < SIZE; i++) wrong += y[t * SIZE + i] != 2 * (t * SIZE + SIZE - 1 - i);
    }
    return wrong;
}
