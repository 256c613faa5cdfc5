"""The numbers that a design itself rounds to integers of activations, and the integers that it makes of them.

Both come from taps of a run in C simulation: what each task rounds, in order, and the integers that it sends. Where these are as
many, and each is what its number was rounded to, cut to 127, it is known which number became which integer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from stc.diagnostics import CompileError
from stc.manifest.schema import Manifest, Stream, Task
from stc.simulation.csim import csim
from stc.simulation.projects import scalars_of_draw
from stc.simulation.taps import Tapped, Taps, in_layout_of, require_tap_headers

LARGEST = 127
_ALIKE = 0.5
"""Part of the integers that are the same where a task makes those of a call of the reference: others agree in some hundredths."""
_MOST_AXES = 4


@dataclass(frozen=True)
class OwnRoundings:
    """What a `task` of a `module` makes: `integers`, as a tensor, of `numbers` of the same shape; None where `why` says why these
    are not known."""

    task: str
    module: str
    integers: np.ndarray
    numbers: np.ndarray | None
    why: str = ""


@dataclass(frozen=True)
class OwnNumbers:
    """All roundings of a design on one draw of inputs; `why` there are none, if so."""

    roundings: Sequence[OwnRoundings]
    why: str = ""

    def of(self, integers: np.ndarray) -> OwnRoundings | None:
        """Those of a call of the reference that makes `integers` [..., groups, size], in that shape: filled up behind the entries
        of a row as the reference fills up its groups. None where no task makes such integers, or two do."""
        found = [(each, _share(each.integers, integers)) for mine in self.roundings for each in _as(mine, integers.shape)]
        best, share = max(found, key=lambda pair: pair[1], default=(None, 0.0))
        alike = {each.task for each, other in found if other == share}
        return best if share > _ALIKE and len(alike) == 1 else None


def _share(own: np.ndarray, integers: np.ndarray) -> float:
    """Part of the entries that are the same, of those that are not 0 in both: what groups are filled up with."""
    counted = (own != 0) | (integers != 0)
    return float((own == integers)[counted].mean()) if counted.any() else 0.0


def _as(mine: OwnRoundings, shape: tuple[int, ...]) -> Iterator[OwnRoundings]:
    """`mine` with its entries in `shape`, with its axes in any order; none where there are too many entries for that."""
    axes = [axis for axis, extent in enumerate(mine.integers.shape) if extent > 1]
    rows = prod(shape[:-2])
    if mine.integers.size > prod(shape) or mine.integers.size % rows or len(axes) > _MOST_AXES:
        return
    for order in permutations(axes):
        integers = _filled(mine.integers.squeeze().transpose([axes.index(axis) for axis in order]), shape, rows)
        numbers = mine.numbers
        if numbers is not None:
            numbers = _filled(numbers.squeeze().transpose([axes.index(axis) for axis in order]), shape, rows)
        yield OwnRoundings(mine.task, mine.module, integers, numbers, mine.why)


def _filled(entries: np.ndarray, shape: tuple[int, ...], rows: int) -> np.ndarray:
    each = entries.reshape(rows, -1)
    return np.pad(each, ((0, 0), (0, prod(shape[-2:]) - each.shape[1]))).reshape(shape)


def own_numbers(folder: Path, manifest: Manifest, draw: str) -> OwnNumbers:
    """Of the project in `folder`, run again with taps; where that is not possible, none, with the reason."""
    makers, folder = list(_makers(manifest)), folder.resolve()
    try:
        require_tap_headers(folder)
        with TemporaryDirectory(prefix=".taps_", dir=folder / "build") as name:
            tasks = tuple(dict.fromkeys(task.name for task, _ in makers))
            taps = Taps(Path(name), tuple(stream.name for _, stream in makers), tasks)
            result = csim(folder, draws=[draw], taps=taps)
            if result.outcome != "finished":
                return OwnNumbers([], f"the run with taps ended with {result.outcome}")
            scalars = scalars_of_draw(folder, manifest, draw)
            crossed = dict(zip(taps.streams, taps.read(folder, manifest, draw), strict=True))
            numbers = {task.name: taps.roundings(draw, task.name) for task, _ in makers}
    except CompileError as error:
        return OwnNumbers([], str(error))
    found = [_roundings(task, stream, crossed[stream.name], numbers[task.name], scalars) for task, stream in makers]
    return OwnNumbers([each for each in found if each is not None])


def cut(wholes: np.ndarray) -> np.ndarray:
    """Numbers without a fraction as the integers that activations become; NaN is the largest."""
    return np.clip(np.nan_to_num(wholes, nan=LARGEST), -LARGEST, LARGEST)


def _makers(manifest: Manifest) -> Iterator[tuple[Task, Stream]]:
    """The tasks that compute bytes, each with the stream that it sends them on."""
    for kernel in manifest.kernels:
        streams = {stream.name: stream for stream in kernel.streams}
        for task in kernel.tasks:
            sent = [streams[name] for name in task.writes if name in streams] if task.kind == "compute" else []
            yield from ((task, stream) for stream in sent if stream.element_type == "i8")


def _roundings(
    task: Task, stream: Stream, crossed: Tapped, rounded: np.ndarray, scalars: dict[str, int]
) -> OwnRoundings | None:
    """None where the integers are no tensor, or more than one."""
    if crossed.tensor is None or crossed.note:
        return None
    module, sent = task.module or task.name, crossed.tokens.reshape(-1)
    numbers, wholes = rounded.T
    if not len(numbers):
        return OwnRoundings(task.name, module, crossed.tensor, None, f"task '{task.name}' rounds by no function of hls_math.h")
    if len(numbers) != len(sent) or not np.array_equal(cut(wholes), sent):
        why = f"task '{task.name}' does not send what it rounds in the order in which it does"
        return OwnRoundings(task.name, module, crossed.tensor, None, why)
    laid_out, _ = in_layout_of(stream, numbers.reshape(crossed.tokens.shape), scalars)
    return OwnRoundings(task.name, module, crossed.tensor, laid_out)


