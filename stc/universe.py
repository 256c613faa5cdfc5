"""What plain `xdsl-opt` loads through the entry point `xdsl.universe`: our dialects, passes and target."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from xdsl.ir import Dialect
from xdsl.universe import Universe
from xdsl.utils.target import Target

from stc.dialects.context import OURS
from stc.transforms import our_passes


def _lazy(module: str, attribute: str) -> Callable[[], Dialect]:
    return lambda: getattr(importlib.import_module(module), attribute)


def _hls_cpp() -> type[Target]:
    from stc.codegen.hls_target import HlsCppTarget

    return HlsCppTarget


STC_UNIVERSE = Universe(
    all_dialects={name: _lazy(module, attribute) for name, (module, attribute) in OURS.items()},
    all_passes=our_passes(),
    all_targets={"hls-cpp": _hls_cpp},
)
