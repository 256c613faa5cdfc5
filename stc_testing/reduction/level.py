"""The level of IR: a reduction may not leave it, since a pass may do anything to IR of a level it is never given."""

from __future__ import annotations

from enum import IntEnum

from xdsl.dialects.builtin import ModuleOp

_HIGHER = frozenset({"scf", "dataflow", "itensor", "stream", "memref", "vector"})


class Level(IntEnum):
    """What a module is made of."""

    LINALG = 0
    TILED = 1
    DATAFLOW = 2
    STREAM = 3


def level_of(module: ModuleOp) -> Level:
    """The highest level that an operation of `module` belongs to."""
    dialects = {op.name.partition(".")[0] for op in module.walk()}
    if "stream" in dialects:
        return Level.STREAM
    if "dataflow" in dialects:
        return Level.DATAFLOW
    return Level.TILED if dialects & _HIGHER else Level.LINALG


def is_legal_instead(new: Level, old: Level) -> bool:
    """Whether IR of level `new` may stand for IR of level `old`: the same, or tiled IR in which no loop is left."""
    return new == old or {new, old} == {Level.LINALG, Level.TILED}
