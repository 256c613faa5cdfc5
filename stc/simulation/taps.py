"""What crosses chosen streams of a design in C simulation, and what chosen tasks round: files of `stc_sim/tap.h`, as arrays."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stc.diagnostics import CompileError
from stc.manifest.layouts import order_at
from stc.manifest.schema import BlockBuffer, Manifest, Stream
from stc.simulation.package import FOLDER
from stc.simulation.projects import scalars_of_draw

if TYPE_CHECKING:
    from stc.iteration.order import StreamOrder

_HEADER = Path(FOLDER) / "include" / "stc_sim" / "tap.h"
_BYTE = 8
_WIDEST = 64
"""Bits of the widest integer of numpy."""


@dataclass(frozen=True)
class Taps:
    """What a run is to write below `folder`, which exists: the tokens of `streams`, and what `tasks` round."""

    folder: Path
    streams: tuple[str, ...]
    tasks: tuple[str, ...] = ()

    def tables(self, draw: str) -> Mapping[str, str]:
        """What the program reads, by variable, to run on one draw of inputs. `folder` is absolute: it runs elsewhere."""
        of_draw = self.folder / draw
        of_draw.mkdir(exist_ok=True)
        lines = [f"stream\t{name}\t{of_draw / name}" for name in self.streams]
        lines += [f"task\t{name}\t{self._of_task(draw, name)}" for name in self.tasks]
        return {"STC_SIM_TAPS": "".join(f"{line}\n" for line in lines)}

    def _of_task(self, draw: str, task: str) -> Path:
        return self.folder / draw / f"{task}.rounded"

    def roundings(self, draw: str, task: str) -> np.ndarray:
        """[roundings, 2] in the order of execution: the number, and what it was rounded to."""
        raw = _read(self._of_task(draw, task))
        return np.zeros((0, 2), np.float32) if raw is None else raw.entries("").reshape(-1, 2)

    def read(self, directory: Path, manifest: Manifest, draw: str) -> list[Tapped]:
        """What crossed each of the streams of the project in `directory`, on a draw of inputs that has run."""
        scalars = scalars_of_draw(directory, manifest, draw)
        known = _channels(manifest)
        return [_tapped(name, _read(self.folder / draw / name), known.get(name), scalars) for name in self.streams]


@dataclass(frozen=True)
class Tapped:
    """What crossed one stream: `tokens` [tokens, lanes] in order (of blocks [blocks, entries]), and the `tensor` that they are
    slices of; of one that crosses several times (layers, launches), one for each along another first dimension. None: `note` says
    why. An entry of the tensor that crossed several times is as it did at last; `note` says where it was not always the same, and
    where some never crossed: these are NaN, or 0."""

    name: str
    tokens: np.ndarray
    tensor: np.ndarray | None
    note: str


def known_names(manifest: Manifest) -> dict[str, tuple[str, ...]]:
    """The streams that each name stands for: a stream for itself, a task for those that it reads and writes."""
    channels = _channels(manifest)
    tasks = {task.name: (*task.reads, *task.writes) for kernel in manifest.kernels for task in kernel.tasks}
    ends = {task: tuple(name for name in names if name in channels) for task, names in tasks.items()}
    return ends | {name: (name,) for name in channels}


def chosen_streams(names: Sequence[str], known: Mapping[str, tuple[str, ...]], where: Path) -> tuple[str, ...]:
    """The streams that `names` are or stand for, each once; CompileError for a name that is unknown."""
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=3) or list(known)[:3]
            what = f"no stream and no task is called '{name}'"
            raise CompileError(what, where=str(where), accepted=f"{', '.join(near)}, or another name in manifest.json")
    return tuple(dict.fromkeys(stream for name in names for stream in known[name]))


def require_tap_headers(directory: Path) -> None:
    """CompileError for a project whose headers are older than taps."""
    if not (directory / _HEADER).is_file():
        what = "its C simulation has no taps: it is of an earlier version"
        raise CompileError(what, where=str(directory), accepted="a folder that this `stc compile` wrote")


def _channels(manifest: Manifest) -> dict[str, Stream | BlockBuffer]:
    return {channel.name: channel for kernel in manifest.kernels for channel in (*kernel.streams, *kernel.blocks)}


@dataclass(frozen=True)
class _Raw:
    """What stands in one file: tokens of `lanes` entries of the type `kind`, as tap.h spells it."""

    path: Path
    kind: str
    lanes: int

    def entries(self, element_type: str) -> np.ndarray:
        """[tokens, lanes]. Of a token that is one wide integer: those of `element_type` (`i4`) that it holds, the first in its
        lowest bits, or its bytes."""
        if self.kind[0] not in "as":
            return self._whole(np.dtype(self.kind), self.lanes)
        width = int(self.kind[1:])
        size = -(-width // _BYTE)
        found = self._whole(np.dtype(np.uint8), self.lanes * size).reshape(-1, size)
        narrow = re.fullmatch(r"i(\d+)", element_type)
        bits, signed = (int(narrow[1]), True) if narrow is not None else (width, self.kind[0] == "s")
        if bits > _WIDEST or width % bits:
            return found.reshape(-1, self.lanes * found.shape[1])
        each = np.unpackbits(found, axis=1, bitorder="little")[:, :width].reshape(-1, bits)
        return _integers(each, signed).reshape(-1, self.lanes * (width // bits))

    def _whole(self, dtype: np.dtype, lanes: int) -> np.ndarray:
        """[tokens, lanes], without the part of a token that a run leaves which is stopped."""
        tokens = self.path.stat().st_size // (dtype.itemsize * lanes)
        return np.fromfile(self.path, dtype, tokens * lanes).reshape(tokens, lanes)


def _integers(bits: np.ndarray, signed: bool) -> np.ndarray:
    """[n]: of n rows of bits, the lowest first."""
    width = bits.shape[1]
    total = np.zeros(len(bits), np.uint64)
    for place in range(width):
        total |= bits[:, place].astype(np.uint64) << np.uint64(place)
    size = max(_BYTE, 1 << (width - 1).bit_length())
    if not signed:
        return total.astype(f"u{size // _BYTE}")
    shift = np.uint64(_WIDEST - width)
    return ((total << shift).view(np.int64) >> np.int64(shift)).astype(f"i{size // _BYTE}")


def _read(path: Path) -> _Raw | None:
    """None where nothing crossed."""
    told = path.with_name(f"{path.name}.type")
    if not path.is_file() or not told.is_file():
        return None
    kind, lanes = told.read_text().split()
    return _Raw(path, kind, int(lanes))


def _tapped(name: str, raw: _Raw | None, channel: Stream | BlockBuffer | None, scalars: Mapping[str, int]) -> Tapped:
    if raw is None:
        return Tapped(name, np.zeros((0, 0)), None, "nothing crossed it")
    tokens = raw.entries(channel.element_type if channel is not None else "")
    if isinstance(channel, BlockBuffer):
        return Tapped(name, tokens, tokens.reshape(-1, *channel.shape), "")
    if channel is None:
        return Tapped(name, tokens, None, "nothing says which tensor its tokens are")
    return Tapped(name, tokens, *in_layout_of(channel, tokens, scalars))


def in_layout_of(stream: Stream, tokens: np.ndarray, scalars: Mapping[str, int]) -> tuple[np.ndarray | None, str]:
    """The tensor that `tokens` of the stream are where scalars have these values, and what is to be said of it."""
    if stream.order is None:
        return None, "its tokens are words of memory, or slices of no tensor"
    try:
        return in_layout(tokens, order_at(stream.order, scalars))
    except ValueError as error:
        return None, f"its order in manifest.json is none: {error}"


def in_layout(tokens: np.ndarray, order: StreamOrder) -> tuple[np.ndarray | None, str]:
    """The tensor that `tokens` [tokens, lanes] are in `order`, as in `Tapped`, and what is to be said of it."""
    expected = order.token_count
    if not expected or len(tokens) % expected or tokens.shape[1] != order.element_count:
        return None, f"{len(tokens)} tokens of {tokens.shape[1]} are no whole tensor, which is {expected} of {order.element_count}"
    shape, times = order.static_shape, len(tokens) // expected
    inside = np.array(list(np.ndindex(*order.element)), np.int64).reshape(order.element_count, order.rank)
    entries = order.enumerate()[:, None, :] + inside   # [tokens, lanes, rank]
    places = (entries * [prod(shape[dimension + 1 :]) for dimension in range(order.rank)]).sum(-1).astype(np.int64)
    crossed, floats = tokens.reshape(times, expected, -1), tokens.dtype.kind == "f"
    tensor = np.full((times, prod(shape)), np.nan if floats else 0, tokens.dtype)
    tensor[:, places] = crossed
    notes: list[str] = []
    if never := prod(shape) - len(np.unique(places)):
        notes.append(f"{never:,} entries never crossed")
    if not np.array_equal(tensor[:, places], crossed, equal_nan=floats):
        notes.append("entries that crossed again were others")
    return tensor.reshape(shape if times == 1 else (times, *shape)), "; ".join(notes)
