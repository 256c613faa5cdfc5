// Layout of tensors in the buffers of the memory ports, used by host.cpp and testbench.cpp.
// `tensor` is row-major; `words` are a port's words, lane after lane.
#ifndef STC_LAYOUT_H
#define STC_LAYOUT_H

#include <cstdint>

// x: tensor 3x16 of f32, tokens <1x8, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>, 6 words of 8.
inline void pack_x(const float *tensor, float *words) {
  float *word = words;
  for (long d0 = 0; d0 < 3; d0 += 1) {
    for (long d1 = 0; d1 < 16; d1 += 8) {
      for (long e1 = 0; e1 < 8; e1 += 1) *word++ = tensor[d0 * 16 + d1 + e1];
    }
  }
}

// norm_gain: tensor 16 of f32, tokens <8, iter_space: [2] * [8], iter_map: (d0) -> (d0)>, 2 words of 8.
inline void pack_norm_gain(const float *tensor, float *words) {
  float *word = words;
  for (long d0 = 0; d0 < 16; d0 += 8) {
    for (long e0 = 0; e0 < 8; e0 += 1) *word++ = tensor[d0 + e0];
  }
}

// out: tensor 3x16 of f32, tokens <1x8, iter_space: [3, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>, 6 words of 8.
inline void unpack_out(const float *words, float *tensor) {
  const float *word = words;
  for (long d0 = 0; d0 < 3; d0 += 1) {
    for (long d1 = 0; d1 < 16; d1 += 8) {
      for (long e1 = 0; e1 < 8; e1 += 1) tensor[d0 * 16 + d1 + e1] = *word++;
    }
  }
}

#endif
