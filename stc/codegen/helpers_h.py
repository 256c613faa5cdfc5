"""Definitions of kernel.h, only where kernel.cpp uses them: constants without a C++ literal, and NaN-keeping extrema."""

from __future__ import annotations

import re

from stc.codegen.expressions import MAXIMUM, MINIMUM
from stc.codegen.literals import F32_INFINITY, F32_NAN

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
}


def helper_definitions(source: str) -> list[str]:
    """The definitions `source` needs, in a fixed order."""
    words = set(re.findall(r"\w+", source))
    return [definition for name, definition in _DEFINITIONS.items() if name in words]
