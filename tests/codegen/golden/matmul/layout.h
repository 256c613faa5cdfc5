// Layout of tensors in the buffers of the memory ports, used by host.cpp and testbench.cpp.
// `tensor` is row-major; `words` are a port's words, lane after lane.
#ifndef STC_LAYOUT_H
#define STC_LAYOUT_H

#include <cstdint>

// x: tensor 4x6 of f32, tokens <1x2, iter_space: [3, 4] * [2, 1], iter_map: (d0, d1) -> (d1, d0)>, 12 words of 2.
inline void pack_x(const float *tensor, float *words) {
  float *word = words;
  for (long d0 = 0; d0 < 6; d0 += 2) {
    for (long d1 = 0; d1 < 4; d1 += 1) {
      for (long e1 = 0; e1 < 2; e1 += 1) *word++ = tensor[d1 * 6 + d0 + e1];
    }
  }
}

// fc_weight: tensor 6x8 of f32, tokens <1x8, iter_space: [6] * [1], iter_map: (d0) -> (d0, 0)>, 6 words of 8.
inline void pack_fc_weight(const float *tensor, float *words) {
  float *word = words;
  for (long d0 = 0; d0 < 6; d0 += 1) {
    for (long e1 = 0; e1 < 8; e1 += 1) *word++ = tensor[d0 * 8 + e1];
  }
}

// y: tensor 4x8 of f32, tokens <1x4, iter_space: [4, 2] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>, 8 words of 4.
inline void unpack_y(const float *words, float *tensor) {
  const float *word = words;
  for (long d0 = 0; d0 < 4; d0 += 1) {
    for (long d1 = 0; d1 < 8; d1 += 4) {
      for (long e1 = 0; e1 < 4; e1 += 1) tensor[d0 * 8 + d1 + e1] = *word++;
    }
  }
}

#endif
