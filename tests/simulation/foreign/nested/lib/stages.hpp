// A library of templates, as header-only HLS code is written: the dataflow regions are in here.
#pragma once
#include "hls_stream.h"

namespace lib {

namespace detail {
template <typename T, int K, unsigned COUNT>
void pass(hls::stream<T> &in, hls::stream<T> &out) {
pass_loop:
    for (unsigned i = 0; i < COUNT; i++) {
#pragma HLS pipeline II=1 style=flp
        T v = in.read();
        T sum = 0;
        for (int k = 0; k < K; k++) {
#pragma HLS UNROLL
            sum += v;
        }
        out.write(sum);
    }
}

template <typename T, unsigned COUNT>
void half(hls::stream<T> &in, hls::stream<T> &out) {
#pragma HLS DATAFLOW
    hls::stream<T> middle("middle");
#pragma HLS STREAM variable=middle depth=2
    detail::pass<T, 2, COUNT>(in, middle);
    detail::pass<T, 3, COUNT>(middle, out);
}
}  // namespace detail

template <typename T, unsigned COUNT>
void stage(hls::stream<T> &in, hls::stream<T> &out) {
#pragma HLS DATAFLOW
    hls::stream<T> between;
    detail::half<T, COUNT>(in, between);
    detail::half<T, COUNT>(between, out);
}

}  // namespace lib
