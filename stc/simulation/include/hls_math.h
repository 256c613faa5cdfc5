// hls:: mathematics on the host's libm, in the precision of the argument: a float never passes through double.
//
// Vendor functions differ from libm by some units in the last place; comparisons with the hardware must allow for
// that.
#ifndef STC_HLS_MATH_H
#define STC_HLS_MATH_H

#include <cmath>
#include <cstdlib>

#ifdef STC_SIM_TAPPED
#include "stc_sim/tap.h"
#endif

namespace hls {

#define STC_HLS_UNARY(NAME)                                 \
  inline float NAME(float x) { return std::NAME(x); }       \
  inline double NAME(double x) { return std::NAME(x); }
STC_HLS_UNARY(exp)
STC_HLS_UNARY(exp2)
STC_HLS_UNARY(expm1)
STC_HLS_UNARY(log)
STC_HLS_UNARY(log10)
STC_HLS_UNARY(log1p)
STC_HLS_UNARY(sqrt)
STC_HLS_UNARY(cbrt)
STC_HLS_UNARY(sin)
STC_HLS_UNARY(cos)
STC_HLS_UNARY(tan)
STC_HLS_UNARY(asin)
STC_HLS_UNARY(acos)
STC_HLS_UNARY(atan)
STC_HLS_UNARY(sinh)
STC_HLS_UNARY(cosh)
STC_HLS_UNARY(tanh)
STC_HLS_UNARY(asinh)
STC_HLS_UNARY(acosh)
STC_HLS_UNARY(atanh)
STC_HLS_UNARY(erf)
STC_HLS_UNARY(erfc)
STC_HLS_UNARY(floor)
STC_HLS_UNARY(ceil)
STC_HLS_UNARY(trunc)
STC_HLS_UNARY(fabs)
#ifdef STC_SIM_TAPPED
#undef STC_HLS_UNARY
#define STC_HLS_UNARY(NAME)                                                           \
  inline float NAME(float x) { return stc_sim::rounded(x, float(std::NAME(x))); }    \
  inline double NAME(double x) { return stc_sim::rounded(x, double(std::NAME(x))); }
#endif
STC_HLS_UNARY(round)
STC_HLS_UNARY(rint)
STC_HLS_UNARY(nearbyint)
#undef STC_HLS_UNARY

#define STC_HLS_BINARY(NAME)                                            \
  inline float NAME(float x, float y) { return std::NAME(x, y); }       \
  inline double NAME(double x, double y) { return std::NAME(x, y); }
STC_HLS_BINARY(pow)
STC_HLS_BINARY(fmod)
STC_HLS_BINARY(remainder)
STC_HLS_BINARY(copysign)
STC_HLS_BINARY(fmax)
STC_HLS_BINARY(fmin)
STC_HLS_BINARY(fdim)
STC_HLS_BINARY(atan2)
STC_HLS_BINARY(hypot)
#undef STC_HLS_BINARY

inline float rsqrt(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float recip(float x) { return 1.0f / x; }
inline double recip(double x) { return 1.0 / x; }
inline float fma(float x, float y, float z) { return std::fma(x, y, z); }
inline double fma(double x, double y, double z) { return std::fma(x, y, z); }
inline float mad(float x, float y, float z) { return x * y + z; }
inline double mad(double x, double y, double z) { return x * y + z; }

inline int abs(int x) { return std::abs(x); }
inline long abs(long x) { return std::labs(x); }
inline long long abs(long long x) { return std::llabs(x); }
inline float abs(float x) { return std::fabs(x); }
inline double abs(double x) { return std::fabs(x); }

template <typename Value_>
Value_ max(Value_ x, Value_ y) {
  return x < y ? y : x;
}
template <typename Value_>
Value_ min(Value_ x, Value_ y) {
  return y < x ? y : x;
}

inline bool isnan(float x) { return std::isnan(x); }
inline bool isnan(double x) { return std::isnan(x); }
inline bool isinf(float x) { return std::isinf(x); }
inline bool isinf(double x) { return std::isinf(x); }
inline bool isfinite(float x) { return std::isfinite(x); }
inline bool isfinite(double x) { return std::isfinite(x); }
inline bool signbit(float x) { return std::signbit(x); }
inline bool signbit(double x) { return std::signbit(x); }

// Single-precision names of C99 that vendor code uses.
inline float expf(float x) { return std::exp(x); }
inline float logf(float x) { return std::log(x); }
inline float sqrtf(float x) { return std::sqrt(x); }
inline float rsqrtf(float x) { return rsqrt(x); }
inline float powf(float x, float y) { return std::pow(x, y); }
inline float sinf(float x) { return std::sin(x); }
inline float cosf(float x) { return std::cos(x); }
inline float tanhf(float x) { return std::tanh(x); }
inline float erff(float x) { return std::erf(x); }
inline float fabsf(float x) { return std::fabs(x); }
inline float floorf(float x) { return std::floor(x); }
inline float ceilf(float x) { return std::ceil(x); }
inline float roundf(float x) { return std::round(x); }
inline float fmaxf(float x, float y) { return std::fmax(x, y); }
inline float fminf(float x, float y) { return std::fmin(x, y); }

}  // namespace hls
#endif
