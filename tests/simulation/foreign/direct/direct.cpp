// Loops that stand in a dataflow body: each is a task, with the variables of the body that it uses released.
#include "hls_stream.h"
void scale(hls::stream<int> &s, hls::stream<int> &t) {
  scale_loop: for (int i = 0; i < 40; i++) {
#pragma HLS pipeline II=1
    t.write(2 * s.read());
  }
}
void top(const int x[40], int y[40]) {
#pragma HLS dataflow
  hls::stream<int, 64> s, t;
  int copy[40];
  first: for (int i = 0; i < 40; i++) {
#pragma HLS pipeline II=1
    copy[i] = x[i] + 1;
  }
  second: for (int i = 0; i < 40; i++) s.write(copy[i]);
  scale(s, t);
  int sum = 0;
  total: for (int i = 0; i < 40; i++) {
#pragma HLS pipeline II=1
    sum += copy[i];
  }
  third: for (int i = 0; i < 40; i++) {
#pragma HLS pipeline II=1
    y[i] = t.read() + sum;
  }
}
int main() {
  int x[40], y[40];
  for (int i = 0; i < 40; i++) x[i] = i;
  top(x, y);
  for (int i = 0; i < 40; i++) if (y[i] != 2 * (i + 1) + 820) return 1;
  return 0;
}
