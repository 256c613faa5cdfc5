"""Passes by name. Each level lists its own in its `__init__`; nothing is imported until a pass is asked for."""

from __future__ import annotations

import importlib
from types import ModuleType

from xdsl.passes import ModulePass

from stc.transforms.registry import PassFactory

LEVELS = {"linalg": "LINALG_PASSES", "dataflow": "DATAFLOW_PASSES", "stream": "STREAM_PASSES"}
"""The packages below this one and the dictionary in which each lists its passes (name -> factory)."""


def _canonicalize() -> type[ModulePass]:
    from xdsl.transforms.canonicalize import CanonicalizePass

    return CanonicalizePass


def _cse() -> type[ModulePass]:
    from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination

    return CommonSubexpressionElimination


UPSTREAM_PASSES: dict[str, PassFactory] = {"canonicalize": _canonicalize, "cse": _cse}


def our_passes() -> dict[str, PassFactory]:
    """The passes defined here, by name."""
    passes: dict[str, PassFactory] = {}
    for package, attribute in LEVELS.items():
        level: ModuleType = importlib.import_module(f"stc.transforms.{package}")
        passes |= getattr(level, attribute, {})
    return passes


def all_passes() -> dict[str, PassFactory]:
    """Every pass that `stc-opt` accepts, by name: ours, and xDSL's `canonicalize` and `cse`."""
    return dict(sorted((our_passes() | UPSTREAM_PASSES).items()))
