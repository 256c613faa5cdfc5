#ifndef DIAMOND_H
#define DIAMOND_H
#include "hls_stream.h"
#define ROWS 6
#define COLS 10
#define N (ROWS * COLS)
void diamond(const int in[N], int out[N]);
#endif
