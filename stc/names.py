"""Names from outside (modules, arguments, results, files) as identifiers, file names and comments: here and nowhere else.

A model may call its modules and arguments anything: `'] = "\\n*/`, `select`, `../../x`, three hundred letters, nothing at all.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

LONGEST = 96
"""Characters of a name: with what is put around it (`parameters/NAME.bin`), a file system takes it."""

LONGEST_COMMENT = 400

# Keywords of C++ (to C++20), and alternative spellings of operators.
_KEYWORDS = """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await
    co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do double
    dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept
    not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires restrict return short signed
    sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename
    typeof union unsigned using virtual void volatile wchar_t while xor xor_eq"""
# Names that the emitted files define, or that the vendor's and the standard's headers define besides functions of the C library;
# the tool treats `top` functions and ports by these names as its own.
_EMITTED = """half hls std xrt main ap_int ap_uint ap_fixed ap_ufixed maximum minimum int_quotient int_floor_quotient int_remainder
    float_of_bits bits_of_float unpack_lanes pack_lanes
    stc_sim run compare number read_file load_parameter report device uuid xclbin dir index launch begin elapsed passed argc argv
    arrays mad recip rsqrt trunc min max abs errno assert linux unix i386 major minor makedev complex size_t ssize_t ptrdiff_t"""
# `int8_t` and `float_x16`: types that the text uses, which a variable of that name would hide.
_TYPE = re.compile(r"u?int(_fast|_least|max|ptr)?\d*_t|(half|float|double|bool|u?int\d+|ap_u?int\d+)_x\d+")
# No name that a header defines as a macro has a small letter, but those above.
_MACRO = re.compile(r"I|[A-Z0-9_]{2,}")


def identifier(text: str) -> str:
    """`text` as an identifier of letters, digits and single `_`, which begins with a letter: `layer0_weight` for `0.weight`.

    At most `LONGEST` characters, the middle left out. Different texts may give the same: number them (`Scope`, `UniqueNames`).
    """
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "value"
    if name[0].isdigit():
        name = f"layer{name}"
    return name if len(name) <= LONGEST else f"{name[: LONGEST // 2 - 1].rstrip('_')}_{name[-LONGEST // 2 :].lstrip('_')}"


def cpp_identifier(text: str) -> str:
    """`identifier(text)`, with `_` behind it where the language, a header or the emitted text has another use for it.

    The C library's functions exist with `f` and `l` for other widths as well.
    """
    name = identifier(text)
    taken = _reserved()
    is_taken = name in taken or (name[:-1] in taken and name[-1] in "fl") or _TYPE.fullmatch(name) or _MACRO.fullmatch(name)
    return f"{name}_" if is_taken else name


def file_name(text: str) -> str:
    """`text` as a file name that shells, make and C++ take as it stands: letters, digits, `.`, `_`, `-`."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", text).strip("._-") or "model"
    return name[:LONGEST]


def comment_text(text: str) -> str:
    """`text` for a comment of one line: printable ASCII, nothing that ends or continues a comment, at most `LONGEST_COMMENT`."""
    line = "".join(character if " " <= character <= "~" and character != "\\" else "?" for character in text)
    line = re.sub(r"\?{2,}", "?", line.replace("*/", "* /").replace("/*", "/ *"))
    return line if len(line) <= LONGEST_COMMENT else f"{line[: LONGEST_COMMENT - 4]} ..."


@cache
def _reserved() -> frozenset[str]:
    library = (Path(__file__).with_name("c_library_names.txt")).read_text().splitlines()
    return frozenset(f"{_KEYWORDS} {_EMITTED} {' '.join(library[1:])}".split())
