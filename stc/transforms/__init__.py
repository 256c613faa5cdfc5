"""Passes by name. Each level lists its own in its `__init__`; nothing is imported until a pass is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import ModuleType

from xdsl.passes import ModulePass
from xdsl.transforms import get_all_passes

from stc.diagnostics import CompileError
from stc.extensions import loaded_files
from stc.transforms.registry import PassFactory, PassTable

LEVELS = {"linalg": "LINALG_PASSES", "dataflow": "DATAFLOW_PASSES", "stream": "STREAM_PASSES"}
"""The packages below this one and the dictionary in which each lists its passes (name -> factory)."""


UPSTREAM_PASSES: dict[str, PassFactory] = get_all_passes()
"""xDSL's own, by name."""


def our_passes() -> dict[str, PassFactory]:
    """The passes defined here, by name."""
    passes: dict[str, PassFactory] = {}
    for package, attribute in LEVELS.items():
        level: ModuleType = importlib.import_module(f"stc.transforms.{package}")
        passes |= getattr(level, attribute, {})
    return passes


def all_passes() -> Mapping[str, PassFactory]:
    """Every pass that `-p` accepts, by name: ours, xDSL's, those of `--load`ed files, and those of installed packages.

    CompileError where a loaded file's pass is called like another one.
    """
    known = UPSTREAM_PASSES | our_passes()
    files: dict[str, str] = {}
    for loaded in loaded_files():
        for name, kind in loaded.passes.items():
            if name in known:
                other = f"there is another pass '{name}'" + (f" in {files[name]}" if name in files else "")
                raise CompileError(other, where=str(loaded.path), accepted="another name")
            known[name], files[name] = _constant(kind), str(loaded.path)
    return PassTable(dict(sorted(known.items())))


def _constant(kind: type[ModulePass]) -> PassFactory:
    return lambda: kind
