"""C++ identifiers: legal, and unique within the scopes that see them."""

from __future__ import annotations

import re

# Keywords of C++, and names that the emitted files or the headers they include already use.
_KEYWORDS = """alignas alignof and asm auto bool break case catch char class const constexpr continue default delete do double
    else enum explicit export extern false float for friend goto if inline int long mutable namespace new not nullptr operator
    or private protected public register return short signed sizeof static struct switch template this throw true try typedef
    typename union unsigned using virtual void volatile while xor"""
_LIBRARY = """half hls std main read write ap_int ap_uint maximum minimum int_quotient int_floor_quotient int_remainder y0 y1
    yn j0 j1 jn gamma index stdin stdout stderr signal time abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos
    cosh div erf erfc exp exp2 expm1 fabs floor fma fmax fmin fmod frexp hypot ldexp log log10 log1p log2 modf pow remainder
    rint round rsqrt sin sinh sqrt tan tanh tgamma trunc max min mad recip isnan isinf isfinite signbit lgamma nan hypotf
    lround llround nextafter scalbn"""
_RESERVED = frozenset(f"{_KEYWORDS} {_LIBRARY}".split())


def identifier(text: str) -> str:
    """`text` as a C++ identifier: other characters become `_`; a leading digit gets a prefix, a name in use a suffix.

    The library's functions exist with an `f` for float as well.
    """
    name = re.sub(r"[^A-Za-z0-9_]", "_", text)
    name = re.sub(r"__+", "_", name).strip("_") or "value"
    if name[0].isdigit():
        name = f"v{name}"
    return f"{name}_" if name in _RESERVED or name.removesuffix("f") in _RESERVED else name


class Scope:
    """Names visible at one place: those of the enclosing scopes and its own."""

    def __init__(self, parent: Scope | None = None):
        self._parent = parent
        self._names: set[str] = set()

    def is_taken(self, name: str) -> bool:
        return name in self._names or (self._parent is not None and self._parent.is_taken(name))

    def declare(self, wish: str, used_in: Scope | None = None) -> str:
        """`wish` as an identifier, numbered where the name is taken, also in the scope where it is used; taken from now on."""
        base = identifier(wish)
        name, number = base, 1
        while self.is_taken(name) or (used_in is not None and used_in.is_taken(name)):
            number += 1
            name = f"{base}{number}" if not base[-1].isdigit() else f"{base}_{number}"
        self._names.add(name)
        return name
