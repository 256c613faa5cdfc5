// Layout of tensors in the buffers of the memory ports, used by host.cpp and testbench.cpp.
// `tensor` is row-major; `words` are a port's words, lane after lane.
#ifndef STC_LAYOUT_H
#define STC_LAYOUT_H

#include <cstdint>

// x: tensor 4x6 of i32, tokens <1x3, iter_space: [2, 2, 2] * [2, 1, 3], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>, 8
// words of 4.
inline void pack_x(const int32_t *tensor, int32_t *words) {
  int32_t *word = words;
  for (long d0 = 0; d0 < 4; d0 += 2) {
    for (long d1 = 0; d1 < 2; d1 += 1) {
      for (long d2 = 0; d2 < 6; d2 += 3) {
        for (long e1 = 0; e1 < 3; e1 += 1) *word++ = tensor[(d0 + d1) * 6 + d2 + e1];
        for (int pad = 0; pad < 1; pad += 1) *word++ = 0;
      }
    }
  }
}

// out_0: tensor 4x6 of i32, tokens <1x1, iter_space: [2, 6, 2] * [2, 1, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>,
// 24 words of 1.
inline void unpack_out_0(const int32_t *words, int32_t *tensor) {
  const int32_t *word = words;
  for (long d0 = 0; d0 < 4; d0 += 2) {
    for (long d1 = 0; d1 < 6; d1 += 1) {
      for (long d2 = 0; d2 < 2; d2 += 1) {
        tensor[(d0 + d2) * 6 + d1] = *word++;
      }
    }
  }
}

#endif
