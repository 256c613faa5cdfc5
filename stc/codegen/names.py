"""C++ identifiers that are unique within the scopes that see them."""

from __future__ import annotations

from stc.names import cpp_identifier


class Scope:
    """Names visible at one place: those of the enclosing scopes and its own.

    Names that differ by case alone count as the same: the tool writes VHDL, and a file of each function's name.
    """

    def __init__(self, parent: Scope | None = None):
        self._parent = parent
        self._names: set[str] = set()

    def is_taken(self, name: str) -> bool:
        return name.lower() in self._names or (self._parent is not None and self._parent.is_taken(name))

    def declare(self, wish: str, used_in: Scope | None = None) -> str:
        """`wish` as an identifier, numbered where the name is taken, also in the scope where it is used; taken from now on."""
        base = cpp_identifier(wish)
        name, number = base, 1
        while self.is_taken(name) or (used_in is not None and used_in.is_taken(name)):
            number += 1
            name = cpp_identifier(f"{base}{number}" if not base[-1].isdigit() else f"{base}_{number}")  # M_PI_2 is a macro, too
        self._names.add(name.lower())
        return name
