"""Definitions of kernel.h, only where kernel.cpp uses them: constants without a C++ literal, NaN-keeping extrema, packed words."""

from __future__ import annotations

import re

from stc.codegen.literals import F32_INFINITY, F32_NAN
from stc.scalars.forms import BITS_OF_FLOAT, FLOAT_OF_BITS, FLOOR_QUOTIENT, MAXIMUM, MINIMUM, PACK, QUOTIENT, REMAINDER, UNPACK


def _same_bits(function: str, given: tuple[str, str], made: tuple[str, str]) -> str:
    """A function of what is `given` (type and name) whose result, `made`, has the same bits."""
    return f"""\
inline {made[0]} {function}({given[0]} {given[1]}) {{
#pragma HLS inline
    union {{
        int32_t bits;
        float number;
    }} both;
    both.{given[1]} = {given[1]};
    return both.{made[1]};
}}"""


_DEFINITIONS = {
    F32_INFINITY: f"""\
// Infinity of IEEE 754 single precision; C++ has no literal for it.
const float {F32_INFINITY} = std::numeric_limits<float>::infinity();""",
    F32_NAN: f"""\
// Quiet NaN of IEEE 754 single precision; C++ has no literal for it.
const float {F32_NAN} = std::numeric_limits<float>::quiet_NaN();""",
    MAXIMUM: f"""\
// The larger value; NaN if either is NaN (hls::fmax would drop it).
inline float {MAXIMUM}(float a, float b) {{ return (a > b || a != a) ? a : b; }}""",
    MINIMUM: f"""\
// The smaller value; NaN if either is NaN (hls::fmin would drop it).
inline float {MINIMUM}(float a, float b) {{ return (a < b || a != a) ? a : b; }}""",
    FLOAT_OF_BITS: f"""\
// The number of IEEE 754 single precision that has these bits: nothing is computed.
{_same_bits(FLOAT_OF_BITS, ("int32_t", "bits"), ("float", "number"))}""",
    BITS_OF_FLOAT: f"""\
// The bits of a number of IEEE 754 single precision: nothing is computed.
{_same_bits(BITS_OF_FLOAT, ("float", "number"), ("int32_t", "bits"))}""",
    UNPACK: f"""\
// The lanes of a word, the first in its lowest bits: slices of 64 bits, and of each the signed integers in it.
template <int Width, int Lanes>
inline void {UNPACK}(const ap_uint<Width * Lanes> &word, ap_int<Width> (&lanes)[Lanes]) {{
#pragma HLS inline
    const int count = 64 / Width;
    for (int first = 0; first < Lanes; first += count) {{
#pragma HLS unroll
        const uint64_t part = (word >> (Width * first)).to_uint64();
        for (int lane = 0; lane < count; lane += 1) {{
#pragma HLS unroll
            if (first + lane < Lanes) lanes[first + lane] = ap_int<Width>(part >> (Width * lane));
        }}
    }}
}}""",
    PACK: f"""\
// The word of such lanes.
template <int Width, int Lanes>
inline ap_uint<Width * Lanes> {PACK}(const ap_int<Width> (&lanes)[Lanes]) {{
#pragma HLS inline
    const int count = 64 / Width;
    ap_uint<Width * Lanes> word = 0;
    for (int first = 0; first < Lanes; first += count) {{
#pragma HLS unroll
        uint64_t part = 0;
        for (int lane = 0; lane < count; lane += 1) {{
#pragma HLS unroll
            if (first + lane < Lanes) part |= ap_uint<Width>(lanes[first + lane]).to_uint64() << (Width * lane);
        }}
        word |= ap_uint<Width * Lanes>(part) << (Width * first);
    }}
    return word;
}}""",
    QUOTIENT: f"""\
// Integer division of data, towards zero: a divider of its own, not an index computation. By zero, 0.
// A quotient of ap_int has a bit more, and does not overflow before it is cut.
template <typename T> inline T {QUOTIENT}(T a, T b) {{
    const bool overflows = std::numeric_limits<T>::is_specialized && b == T(-1) && a == std::numeric_limits<T>::min();
    return b == 0 ? T(0) : overflows ? a : T(a / b);
}}""",
    FLOOR_QUOTIENT: f"""\
// Integer division of data, towards negative infinity. By zero, 0.
template <typename T> inline T {FLOOR_QUOTIENT}(T a, T b) {{
    const bool overflows = std::numeric_limits<T>::is_specialized && b == T(-1) && a == std::numeric_limits<T>::min();
    return b == 0 ? T(0) : overflows ? a : T(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}}""",
    REMAINDER: f"""\
// Remainder of `{QUOTIENT}`, with the sign of the dividend. By zero, 0.
template <typename T> inline T {REMAINDER}(T a, T b) {{
    const bool overflows = std::numeric_limits<T>::is_specialized && b == T(-1) && a == std::numeric_limits<T>::min();
    return b == 0 || overflows ? T(0) : T(a % b);
}}""",
}


def helper_definitions(source: str) -> list[str]:
    """The definitions `source` needs, in a fixed order."""
    words = set(re.findall(r"\w+", source))
    return [definition for name, definition in _DEFINITIONS.items() if name in words]
