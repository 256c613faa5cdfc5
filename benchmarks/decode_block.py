"""Cycles of a decoder layer for one token, by the position, beside what its memory ports take at least.

    python benchmarks/decode_block.py [--max-seq 512] [--position 0 --position 127] [--platform NAME] [--folder DIR]
        [--json] [--write] [MODEL]

The layer (`stc compile --stage decode --run-time-sizes`) is compiled once and simulated at each position. Bytes are counted over
all ports: parameters, inputs, results, and the rows of the cache that are there. *Floor*: they divided evenly over all ports, at
what the memory channel of a port sustains; *busiest port*: the longest that one alone takes. --write puts the table into
docs/generation.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from measured_at import measured_at, write_between

from stc.manifest.element_types import ELEMENT_TYPES
from stc.manifest.files import read_manifest
from stc.manifest.schema import LoopSchedule, Manifest, MemoryTiming, Port
from stc.manifest.sizes import at_values
from stc.pipeline import PipelineOptions
from stc.simulation.simulate import timed_design
from stc.simulation.timing_table import SimulationOptions
from stc.tools.compile import CompileRequest, compile_model

DOCUMENT = Path(__file__).parents[1] / "docs" / "generation.md"
BEGIN, END = "<!-- decode block -->\n", "<!-- end of decode block -->\n"
POSITIONS = (0, 127, 511)


@dataclass(frozen=True)
class Row:
    """One position: simulated cycles, counted bytes, and cycles that the memory takes at least."""

    position: int
    cycles: int
    bytes: int
    floor: int
    busiest: str
    busiest_cycles: int


def measure(folder: Path, positions: Sequence[int]) -> list[Row]:
    """The emitted layer in `folder` at some positions."""
    manifest, timed = read_manifest(folder), timed_design(folder)
    runs = {position: timed.run(SimulationOptions(at={"pos": position}), report=None) for position in positions}
    return [_row(manifest, position, run.cycles) for position, run in runs.items()]


def _row(manifest: Manifest, position: int, cycles: int | None) -> Row:
    assert cycles is not None and manifest.memory is not None, f"no end at position {position}"
    rates = {port.name: _rate(port, manifest.memory) for kernel in manifest.kernels for port in kernel.ports}
    moved = bytes_at(manifest, {"pos": position})
    busiest = max(moved, key=lambda name: moved[name] / rates[name])
    total = sum(moved.values())
    return Row(position, cycles, total, round(total / sum(rates.values())), busiest, round(moved[busiest] / rates[busiest]))


def bytes_at(manifest: Manifest, values: Mapping[str, int]) -> dict[str, int]:
    """What crosses each port in a launch, by the trips of the loops that access it."""
    moved: dict[str, int] = {}
    for kernel in at_values(manifest, values).kernels:
        loops = {(loop.task, loop.label): loop for loop in kernel.schedule}
        for loop in kernel.schedule:
            for access in loop.memory:
                moved[access.port] = moved.get(access.port, 0) + access.bytes * _times(loop, loops)
    return moved


def _times(loop: LoopSchedule, loops: Mapping[tuple[str, str], LoopSchedule]) -> int:
    """Iterations of a loop in a launch."""
    return loop.trip * (1 if loop.parent is None else _times(loops[loop.task, loop.parent], loops))


def _word_bytes(port: Port) -> int:
    return port.lanes * ELEMENT_TYPES[port.element_type].bits // 8


def _rate(port: Port, memory: MemoryTiming) -> float:
    """Bytes a cycle: of the port's words, and of its channel."""
    return min(_word_bytes(port), memory.channel_bytes_per_cycle)


def markdown(model: str, max_seq: int, tile: int, rows: Sequence[Row]) -> str:
    """The table."""
    lines = [
        f"A decoder layer of {model} for one token, f32, room for {max_seq} positions, tiles of {tile} "
        "(`python benchmarks/decode_block.py`):",
        "cycles *simulated*, bytes *counted*; the floor is the bytes divided evenly over all ports, at what the memory channel "
        "of a port",
        "sustains.",
        measured_at(),
        "",
        "| position | cycles | bytes over all ports | floor: cycles over all ports | busiest port | its cycles |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {row.position} | {row.cycles:,} | {row.bytes:,} | {row.floor:,} | `{row.busiest}` | {row.busiest_cycles:,} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="gpt2", help="a preset")
    parser.add_argument("--max-seq", type=int, default=512)
    parser.add_argument("--tile", type=int, default=64, help="as of stc compile (default 64, entries of a head)")
    parser.add_argument("--position", type=int, action="append", help="may be repeated (default 0, 127, 511)")
    parser.add_argument("--platform", default=PipelineOptions.platform, help="a name or a file, as of stc compile")
    parser.add_argument("--folder", type=Path, help="keep the project here, or take the one that is")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--write", action="store_true", help="write the table into docs/generation.md")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = arguments.folder or Path(temporary) / "layer"
        if not (folder / "manifest.json").is_file():
            options = PipelineOptions(tile=arguments.tile, budget="small", platform=arguments.platform)
            request = CompileRequest(
                arguments.model, stage="decode", options=options, max_seq=arguments.max_seq, run_time_sizes=True
            )
            compile_model(request, folder)
        rows = measure(folder, arguments.position or POSITIONS)
    table = markdown(arguments.model, arguments.max_seq, arguments.tile, rows)
    print(json.dumps([asdict(row) for row in rows], indent=1) if arguments.json else table)
    if arguments.write:
        write_between(DOCUMENT, BEGIN, table, END)
    return 0


if __name__ == "__main__":
    sys.exit(main())
