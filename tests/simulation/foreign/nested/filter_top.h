#pragma once
constexpr unsigned COUNT = 37;
void filter_top(const int *x, int *y);
