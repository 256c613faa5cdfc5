#include <cstdio>
#include "diamond.h"

int main() {
    int in[N], out[N], wrong = 0;
    for (int i = 0; i < N; i++) in[i] = i * i % 23;
    diamond(in, out);
    for (int i = 0; i < N; i++) wrong += out[i] != 4 * in[i] + 7;
    if (wrong) std::printf("%d values differ\n", wrong);
    return wrong != 0;
}
