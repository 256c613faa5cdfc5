"""How a level lists its passes: by name, each imported only when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping

from xdsl.passes import ModulePass

PassFactory = Callable[[], type[ModulePass]]


def passes_of(package: str, classes: Mapping[str, str]) -> dict[str, PassFactory]:
    """`{pass name: factory}` for a package with one pass per file: `fuse-kernels` is in `fuse_kernels.py`.

    `classes` gives the class of each pass.
    """
    return {name: _lazy(f"{package}.{name.replace('-', '_')}", class_name) for name, class_name in classes.items()}


def _lazy(module: str, name: str) -> PassFactory:
    def load() -> type[ModulePass]:
        return getattr(importlib.import_module(module), name)

    return load
