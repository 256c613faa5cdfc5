// hls:: mathematics, the functions that the manual lists. UG1399 2023.2, "HLS Math Library": each one for half, float and
// double, and under the name with an `f` for float alone.
#ifndef STC_INTERFACE_HLS_MATH_H
#define STC_INTERFACE_HLS_MATH_H

#include "hls_half.h"

namespace hls {

#define STC_ONE(NAME)     \
  half NAME(half x);      \
  float NAME(float x);    \
  double NAME(double x);  \
  half half_##NAME(half); \
  float NAME##f(float x);
#define STC_TWO(NAME)              \
  half NAME(half x, half y);       \
  float NAME(float x, float y);    \
  double NAME(double x, double y); \
  half half_##NAME(half, half);    \
  float NAME##f(float x, float y);

STC_ONE(acos) STC_ONE(acospi) STC_ONE(asin) STC_ONE(asinpi) STC_ONE(atan) STC_TWO(atan2) STC_TWO(atan2pi)   // Trigonometric
STC_ONE(cos) STC_ONE(cospi) STC_ONE(sin) STC_ONE(sinpi) STC_ONE(tan) STC_ONE(tanpi)
STC_ONE(acosh) STC_ONE(asinh) STC_ONE(atanh) STC_ONE(cosh) STC_ONE(sinh) STC_ONE(tanh)                     // Hyperbolic
STC_ONE(exp) STC_ONE(exp10) STC_ONE(exp2) STC_ONE(expm1)                                                   // Exponential
STC_ONE(log) STC_ONE(log10) STC_ONE(log1p)                                                                  // Logarithmic
STC_ONE(cbrt) STC_TWO(hypot) STC_TWO(pow) STC_ONE(rsqrt) STC_ONE(sqrt)                                     // Power
STC_ONE(erf) STC_ONE(erfc)                                                                                 // Error
STC_ONE(ceil) STC_ONE(floor) STC_ONE(nearbyint) STC_ONE(rint) STC_ONE(round) STC_ONE(trunc)                // Rounding
STC_TWO(fmod) STC_TWO(remainder)                                                                           // Remainder
STC_TWO(copysign) STC_TWO(nextafter)                                                                       // Floating-point
STC_TWO(fdim) STC_TWO(fmax) STC_TWO(fmin) STC_TWO(maxmag) STC_TWO(minmag)                                  // Difference
STC_ONE(fabs) STC_ONE(fract) STC_ONE(recip) STC_TWO(divide)                                                // Other

#undef STC_ONE
#undef STC_TWO

half fma(half x, half y, half z);
float fma(float x, float y, float z);
double fma(double x, double y, double z);
float fmaf(float x, float y, float z);
half mad(half x, half y, half z);
float mad(float x, float y, float z);
double mad(double x, double y, double z);
float madf(float x, float y, float z);

int abs(int x);
long abs(long x);
long long abs(long long x);
half abs(half x);
float abs(float x);
double abs(double x);

bool isfinite(float x);   // Classification; Comparison
bool isinf(float x);
bool isnan(float x);
bool isnormal(float x);
bool signbit(float x);
bool isfinite(double x);
bool isinf(double x);
bool isnan(double x);
bool isnormal(double x);
bool signbit(double x);

}  // namespace hls
#endif
