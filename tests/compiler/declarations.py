"""A header of C++ without the bodies of its functions, which stand in an object file: what they use of the standard library is then
not compiled again for each program.

Templates and constexpr functions keep theirs, and so do static functions outside of classes. It knows as much of C++ as the headers
of `stc/simulation/include` use; what comes of anything else does not compile or link.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LITERAL = r'''R"\(.*?\)"|(?P<quote>["'])(?:\\.|(?!(?P=quote))[^\\\n])*(?P=quote)'''
NOTHING = re.compile(rf"//[^\n]*|/\*.*?\*/|^[ \t]*#(?:\\\n|[^\n])*|{LITERAL}", re.S | re.M)
"""What has no braces that count: literals, comments, directives."""
SCOPE = re.compile(r"\s*(?:inline\s+)?(?:namespace|class|struct|union)\b(?![^{]*\()")
WHOLE = re.compile(r"template\b|\bconstexpr\b|\benum\b|\bauto\b|[A-Z]*_INLINE\b|=\s*$")

MEMBER = re.compile(r"[^(]*\w::~?\w+\s*\(")
"""Declared in its class."""


def declarations(text: str) -> str:
    """The text with `;` for each body, on the lines where they were."""
    blank = NOTHING.sub(lambda found: re.sub(r"[^\n]", " ", str(found[0])), text)
    return "".join(_scope(text, blank, 0, len(text), in_class=False))


def _scope(text: str, blank: str, at: int, end: int, in_class: bool) -> Iterator[str]:
    """The pieces of what stands between `at` and `end`, at the level of namespaces and classes."""
    begin = at
    while at < end:
        if blank[at] in ";}":
            yield text[begin : at + 1]
            begin = at + 1
        elif blank[at] == "(":
            at = _closing(blank, at, "()")
        elif blank[at] == "{":
            close = _closing(blank, at, "{}")
            head = blank[begin:at]
            if SCOPE.match(head) and not WHOLE.search(head):
                yield text[begin : at + 1]
                yield from _scope(text, blank, at + 1, close, in_class="namespace" not in head)
                begin = close
                at = close - 1
            elif _is_body(head) and not WHOLE.search(head) and (in_class or not re.match(r"\s*static\b", head)):
                declared = _directives(text[begin:at]) if MEMBER.match(head) else _declared(text[begin:at], head)
                yield declared + "\n" * (text.count("\n", begin, close + 1) - declared.count("\n"))
                begin = close + 1
                at = close
            else:
                at = close
                if _is_body(head) or ")" not in head:  # otherwise a member that a constructor initialises
                    yield text[begin : at + 1]
                    begin = at + 1
        at += 1
    yield text[begin:end]


def _declared(text: str, head: str) -> str:
    """A function without what a constructor initialises, which begins behind a single colon."""
    behind = re.search(r"(?<!:):(?!:)", head[head.index(")") :])
    return re.sub(r"\binline\s", "", text[: behind.start() + head.index(")")] if behind else text).rstrip() + ";"


def _directives(text: str) -> str:
    return re.sub(r"^[ \t]*(?!#)[^\n]*", "", text, flags=re.M).rstrip() + "\n"


def _is_body(head: str) -> bool:
    """Whether a brace behind this opens the body of a function."""
    return re.search(r"\)\s*(?:const|noexcept|override|final|\s)*$|\}\s*$", head) is not None and ")" in head


def _closing(blank: str, at: int, pair: str) -> int:
    depth = 0
    for place in range(at, len(blank)):
        depth += (blank[place] == pair[0]) - (blank[place] == pair[1])
        if depth == 0:
            return place
    return len(blank)
