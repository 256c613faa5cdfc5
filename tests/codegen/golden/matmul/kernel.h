// Types and top functions of kernel.cpp. Plain Vitis HLS C++.
#ifndef STC_KERNEL_H
#define STC_KERNEL_H

#include <cstdint>

#include <hls_stream.h>
#include <hls_vector.h>

typedef hls::vector<float, 2> float_x2;
typedef hls::vector<float, 8> float_x8;
typedef hls::vector<float, 4> float_x4;

extern "C" void fc_kernel(const float_x2 *x, const float_x8 *fc_weight, float_x4 *y);

#endif
