"""Definitions of kernel.h, only where kernel.cpp uses them: constants without a C++ literal, and NaN-keeping extrema."""

from __future__ import annotations

import re

from stc.codegen.literals import F32_INFINITY, F32_NAN
from stc.scalars.forms import FLOOR_QUOTIENT, MAXIMUM, MINIMUM, QUOTIENT, REMAINDER

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
    QUOTIENT: f"""\
// Integer division of data, towards zero: a divider of its own, not an index computation. By zero, 0.
template <typename T> inline T {QUOTIENT}(T a, T b) {{
    const bool overflows = b == T(-1) && a == std::numeric_limits<T>::min();
    return b == 0 ? T(0) : overflows ? a : T(a / b);
}}""",
    FLOOR_QUOTIENT: f"""\
// Integer division of data, towards negative infinity. By zero, 0.
template <typename T> inline T {FLOOR_QUOTIENT}(T a, T b) {{
    const bool overflows = b == T(-1) && a == std::numeric_limits<T>::min();
    return b == 0 ? T(0) : overflows ? a : T(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}}""",
    REMAINDER: f"""\
// Remainder of `{QUOTIENT}`, with the sign of the dividend. By zero, 0.
template <typename T> inline T {REMAINDER}(T a, T b) {{
    const bool overflows = b == T(-1) && a == std::numeric_limits<T>::min();
    return b == 0 || overflows ? T(0) : T(a % b);
}}""",
}


def helper_definitions(source: str) -> list[str]:
    """The definitions `source` needs, in a fixed order."""
    words = set(re.findall(r"\w+", source))
    return [definition for name, definition in _DEFINITIONS.items() if name in words]
