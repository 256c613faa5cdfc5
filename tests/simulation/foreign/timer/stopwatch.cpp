// A task that counts cycles until another one says that it is done: values that are times.
#include "hls_stream.h"

#define WORK 30

static void worker(int *y, hls::stream<bool> &done) {
    int sum = 0;
busy:
    for (int i = 0; i < WORK; i++) {
#pragma HLS PIPELINE II=5
        sum += i;
    }
    *y = sum;
    done.write(true);
}

static void watch(hls::stream<bool> &done, int *cycles) {
    int ticks = 0;
ticks:
    while (done.empty()) {
#pragma HLS PIPELINE II=1
        ticks++;
    }
    done.read();
    *cycles = ticks;
}

void stopwatch(int *y, int *cycles) {
#pragma HLS DATAFLOW
    hls::stream<bool> done;
    worker(y, done);
    watch(done, cycles);
}

int main() {
    int y = 0, cycles = 0;
    stopwatch(&y, &cycles);
    const int expected = 5 * (WORK - 1) + 6 + 1 + 1;   // the loop, and from write to readable
#ifdef STC_SIM_TIMED
    if (cycles != expected) return 2;
#endif
    return y != WORK * (WORK - 1) / 2 || expected < 0;
}
