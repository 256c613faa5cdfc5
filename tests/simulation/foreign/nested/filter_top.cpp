#include "filter_top.h"
#include "lib/stages.hpp"

using hls::stream;

void source(const int *x, stream<int> &out)
{
    for (unsigned i = 0; i < COUNT; i++)
        out << x[i];
}

void sink(stream<int> &in, int *y)
{

    for (unsigned i = 0; i < COUNT; i++) in >> y[i];
}

void filter_top(const int *x, int *y) {
#pragma HLS DATAFLOW
    stream<int> a, b;
    source(x, a);
    lib::stage<int, COUNT>(a, b);
    sink(b, y);
}
