// Types and top functions of kernel.cpp. Plain Vitis HLS C++.
#ifndef STC_KERNEL_H
#define STC_KERNEL_H

#include <cstdint>

#include <hls_stream.h>
#include <hls_streamofblocks.h>
#include <hls_vector.h>

typedef hls::vector<int32_t, 4> int32_x4;
typedef hls::vector<int32_t, 3> int32_x3;
typedef hls::vector<int32_t, 1> int32_x1;
typedef int32_t halves_block[2][6];

extern "C" void turn(const int32_x4 *x, int32_x1 *out_0);

#endif
