"""`stc csim --tap`: what crosses chosen streams, as files for NumPy."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.table import Table
from rich.text import Text

from stc.codegen.project import require_free
from stc.simulation.csim import CsimResult, csim, draws_of
from stc.simulation.design_file import is_foreign
from stc.simulation.projects import project_manifest
from stc.simulation.taps import Tapped, Taps, chosen_streams, known_names, require_tap_headers
from stc.tools.check_tables import check_report, print_check
from stc.tools.consoles import messages, output
from stc.tools.stages import Told

DEFAULT = Path("build") / "taps"
"""Of a project, where nobody says another folder; replaced by each run."""

WRITTEN = ("finished", "deadlock")
"""Ends of a run that write all that crossed."""


@dataclass(frozen=True)
class TapFile:
    """One stream on one draw of inputs: `file` has its `tokens` of `lanes` entries, `tensor` the tensor that they are (`shape`),
    None and `note` where they are none. `least` and `largest` of what is a number, None of nothing, in words of what is
    infinite, as JSON cannot be; `nans`: how many are none."""

    draw: str
    stream: str
    tokens: int
    lanes: int
    entries: str
    least: float | int | str | None
    largest: float | int | str | None
    nans: int
    file: str
    tensor: str | None
    shape: tuple[int, ...] | None
    note: str


def tapped(directory: Path, names: Sequence[str], out: Path | None, draws: Sequence[str], timeout: float) -> Told:
    """A run of the project on each of `draws` (none: all), with files in `out` of what crosses the streams `names`."""
    directory = directory.resolve()
    target = directory / DEFAULT if out is None else out.absolute()
    if out is not None:
        require_free(out)
    streams = _streams(directory, names)
    draws = draws or [draw.name for draw in draws_of(directory)]
    (directory / "build").mkdir(exist_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".taps_", dir=target.parent) as folder:
        whole = Path(folder) / "taps"
        whole.mkdir()
        taps = Taps(whole, streams)
        with messages.status("building and running the emitted C++ with taps"):
            result = csim(directory, timeout, draws=draws if draws != [""] else None, taps=taps)
        if is_foreign(directory):
            _require_seen(streams, result, directory)
        if not result.passed:
            from stc.tools.near_ties import LOOKING_FOR_NEAR_TIES, with_near_ties

            with messages.status(LOOKING_FOR_NEAR_TIES):
                result = with_near_ties(directory, result)
        manifest = project_manifest(directory)
        ran = [draw.name for draw in result.draws] or [""]
        files = [_written(tap, draw, whole, target) for draw in ran for tap in taps.read(directory, manifest, draw)]
        _drop_raw(whole)
        if out is None:
            shutil.rmtree(target, ignore_errors=True)
        whole.replace(target)

    def show() -> None:
        print_check(result, None)
        _print(files, target)
        if result.outcome not in WRITTEN:
            output.print(f"ended with {result.outcome}: the last 4 KiB of a stream may not be written", markup=False)

    return Told(result.passed, lambda: {**check_report(result, None), "taps": [asdict(file) for file in files]}, show)


def _streams(directory: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Of an emitted project; those of another design are known when it has run."""
    if is_foreign(directory):
        return tuple(dict.fromkeys(names))
    known = known_names(project_manifest(directory))
    require_tap_headers(directory)
    return chosen_streams(names, known, directory)


def _require_seen(streams: Sequence[str], result: CsimResult, directory: Path) -> None:
    """CompileError for a stream that the run did not have."""
    seen = {use.name: (use.name,) for use in result.channels}
    if seen:
        chosen_streams(streams, seen, directory)


def _written(tap: Tapped, draw: str, whole: Path, target: Path) -> TapFile:
    """The files of one stream, which stand in `whole` and will in `target`."""
    np.save(whole / draw / f"{tap.name}.npy", tap.tokens)
    place = target / draw
    tensor = None if tap.tensor is None else str(place / f"{tap.name}.tensor.npy")
    if tap.tensor is not None:
        np.save(whole / draw / f"{tap.name}.tensor.npy", tap.tensor)
    nans = int(np.isnan(tap.tokens).sum()) if tap.tokens.dtype.kind == "f" else 0
    has_numbers = tap.tokens.dtype.kind in "fiu" and tap.tokens.size > nans
    count, lanes = tap.tokens.shape
    return TapFile(
        draw=draw,
        stream=tap.name,
        tokens=count,
        lanes=lanes,
        entries=str(tap.tokens.dtype) if count else "-",
        least=_told(np.nanmin(tap.tokens).item()) if has_numbers else None,
        largest=_told(np.nanmax(tap.tokens).item()) if has_numbers else None,
        nans=nans,
        file=str(place / f"{tap.name}.npy"),
        tensor=tensor,
        shape=None if tap.tensor is None else tap.tensor.shape,
        note=tap.note,
    )


def _told(number: float | int) -> float | int | str:
    return number if isfinite(number) else str(number)


def _drop_raw(whole: Path) -> None:
    for path in list(whole.rglob("*")):
        if path.is_file() and path.suffix != ".npy":
            path.unlink()


def _print(files: Sequence[TapFile], target: Path) -> None:
    table = Table("inputs", "stream", "tokens", "lanes", "of", "min", "max", "tensor", title="what crossed (executed)")
    for file in files:
        shape = "-" if file.shape is None else "x".join(map(str, file.shape)) or "scalar"
        ends = (file.least, file.largest)
        numbers = (f"{end:.6g}" if isinstance(end, float | int) else end or "-" for end in ends)
        row = (file.draw, file.stream, f"{file.tokens:,}", str(file.lanes), file.entries, *numbers, shape)
        table.add_row(*map(Text, row))
    output.print(table)
    for file in files:
        notes = [file.note] if file.note else []
        notes += [f"{file.nans:,} of {file.tokens * file.lanes:,} entries are NaN"] if file.nans else []
        for note in notes:
            output.print(f"  {file.stream}{file.draw and f' on {file.draw}'}: {note}", markup=False)
    where = "DRAW/STREAM.npy is [tokens][lanes] in the order of crossing, DRAW/STREAM.tensor.npy the tensor"
    output.print(f"written to {target}: {where}", markup=False, soft_wrap=True)
