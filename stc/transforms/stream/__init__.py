"""Passes on tasks over streams: from itensors down to what is printed."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.passes import ModulePass


def _expand_tiles() -> type[ModulePass]:
    from stc.transforms.stream.expand_tiles import ExpandTiles

    return ExpandTiles


def _hls_directives() -> type[ModulePass]:
    from stc.transforms.stream.hls_directives import HlsDirectives

    return HlsDirectives


def _hoist_constants() -> type[ModulePass]:
    from stc.transforms.stream.hoist_constants import HoistConstants

    return HoistConstants


def _lower_converters() -> type[ModulePass]:
    from stc.transforms.stream.lower_converters import LowerConverters

    return LowerConverters


def _lower_dmas() -> type[ModulePass]:
    from stc.transforms.stream.lower_dmas import LowerDmas

    return LowerDmas


def _lower_layout() -> type[ModulePass]:
    from stc.transforms.stream.lower_layout import LowerLayout

    return LowerLayout


def _lower_tasks() -> type[ModulePass]:
    from stc.transforms.stream.lower_tasks import LowerTasks

    return LowerTasks


def _set_fifo_depths() -> type[ModulePass]:
    from stc.transforms.stream.set_fifo_depths import SetFifoDepths

    return SetFifoDepths


STREAM_PASSES: dict[str, Callable[[], type[ModulePass]]] = {
    "lower-converters": _lower_converters,
    "lower-layout": _lower_layout,
    "lower-dmas": _lower_dmas,
    "lower-tasks": _lower_tasks,
    "set-fifo-depths": _set_fifo_depths,
    "expand-tiles": _expand_tiles,
    "hoist-constants": _hoist_constants,
    "hls-directives": _hls_directives,
}
