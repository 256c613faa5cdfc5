// Types and top functions of kernel.cpp. Plain Vitis HLS C++.
#ifndef STC_KERNEL_H
#define STC_KERNEL_H

#include <cstdint>
#include <limits>

#include <hls_stream.h>
#include <hls_vector.h>

typedef hls::vector<float, 8> float_x8;

// Infinity of IEEE 754 single precision; C++ has no literal for it.
const float F32_INFINITY = std::numeric_limits<float>::infinity();

// The larger value; NaN if either is NaN (hls::fmax would drop it).
inline float maximum(float a, float b) { return (a > b || a != a) ? a : b; }

extern "C" void scaled_sum(const float_x8 *x, const float_x8 *norm_gain, float_x8 *out);

#endif
