"""A decode block on each platform: cycles of the emitted C++, and its share of the platform's memory roofline.

    python benchmarks/platform_blocks.py [--platform NAME] [--model NAME] [--json] [--write] [--again] [ROW ...]

A layer is compiled for one token (`stc compile MODEL --stage decode --run-time-sizes --dtype w4a8 --platform NAME`) with the
default search, run with values, and run with time at the last position of its cache. Bytes are what crosses the memory ports there,
counted in the emitted loops; the roofline is the time that they take at the peak of the data sheet, or at what all channels sustain
together, as the platform file says. Cycles are those of the platform's fastest clock, without the launch. A design that takes more
than the platform has is a row that says so. Rows are kept in benchmarks/data/platform_blocks.json, each with the commit at which it
was measured; without --again only those that are missing are measured. --write puts the table into docs/platforms.md.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decode_block import bytes_at
from kept_rows import KeptRows
from measured_at import measured_at

from stc.diagnostics import BeyondBudget
from stc.pipeline import PipelineOptions
from stc.platforms.platform import Platform, load_platform
from stc.quantisation.formats import DTYPES
from stc.simulation.simulate import simulate, timed_design
from stc.simulation.timing_table import SimulationOptions
from stc.tools.compile import CompileRequest, compile_model

DOCUMENT = Path(__file__).parents[1] / "docs" / "platforms.md"
DATA = Path(__file__).parent / "data" / "platform_blocks.json"
BEGIN, END = "<!-- platform blocks -->\n", "<!-- end of platform blocks -->\n"
PLATFORMS = ("u55c", "u280", "v80", "kv260")
QUANTIZE = DTYPES["w4a8"]
COLUMNS = (
    "block, positions, platform", "cycles (simulated)", "clock MHz", "us (simulated)", "bytes (counted)", "GB/s",
    "of the peak", "of what is sustained", "values", "DSP, LUT, BRAM18, URAM (estimated)", "of the plan", "seconds", "measured on",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A decoder layer of `model` with room for `max_seq` positions, for one platform."""

    model: str
    max_seq: int
    platform: str


CASES: Mapping[str, Case] = {
    f"{model} [{max_seq}] {platform}": Case(model, max_seq, platform)
    for model, max_seq in (("gpt2-tiny", 17), ("qwen2.5-0.5b-tiny", 17), ("gpt2-medium", 128))
    for platform in PLATFORMS
}


@dataclass(frozen=True)
class Row:
    """A design as simulated; `cycles` None, and `values` why, where there is none."""

    design: str
    platform: str
    cycles: int | None
    bytes: int
    values: str
    resources: Mapping[str, int]
    seconds: int
    measured: str

    @property
    def nanoseconds(self) -> float:
        """Of one token, without the launch."""
        return (self.cycles or 0) * load_platform(self.platform).cycle_ns


def measure(name: str) -> Row:
    """Compile and run one design."""
    case, begin = CASES[name], time.perf_counter()
    at = measured_at().removeprefix("Measured on ").removesuffix(".")
    options = PipelineOptions(platform=case.platform, quantize=QUANTIZE)
    request = CompileRequest(case.model, stage="decode", max_seq=case.max_seq, run_time_sizes=True, options=options)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "project"
        try:
            report: Mapping[str, Any] = compile_model(request, out)
        except BeyondBudget as refused:
            return Row(name, case.platform, None, 0, refused.what, {}, round(time.perf_counter() - begin), at)
        result = simulate(out)
        timed, place = timed_design(out), {"pos": case.max_seq - 1}
        cycles = timed.run(SimulationOptions(at=place), report=None).cycles
        moved = sum(bytes_at(timed.manifest, place).values())
    assert cycles is not None, f"{name} does not end"
    values = "agree" if result.passed else result.values.outcome
    taken: Mapping[str, int] = report["resources"]["total"]
    return Row(name, case.platform, cycles, moved, values, dict(taken), round(time.perf_counter() - begin), at)


def markdown(rows: Sequence[Row]) -> str:
    """The table."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|" + " --- |" * len(COLUMNS), *(f"| {' | '.join(_cells(row))} |" for row in rows)]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> list[str]:
    platform = load_platform(row.platform)
    clock = f"{platform.clock_mhz}"
    if row.cycles is None:
        return [row.design, "none", clock, "", "", "", "", "", row.values, "", "", str(row.seconds), row.measured]
    rate, peak, sustained = _rates(row, platform)
    plan = platform.usable
    has = {"dsp": plan.dsp, "lut": plan.lut, "bram18": 2 * plan.bram36, "uram": plan.uram}
    taken = " ".join(f"{row.resources[name]:,}" for name in has)
    shares = " ".join(f"{row.resources[name] / most:.0%}" for name, most in has.items())
    return [row.design, f"{row.cycles:,}", clock, f"{row.nanoseconds / 1000:.1f}", f"{row.bytes:,}", f"{rate / 1e9:.2f}",
            f"{rate / peak:.1%}", f"{rate / sustained:.1%}", row.values, taken, shares, str(row.seconds), row.measured]


def _rates(row: Row, platform: Platform) -> tuple[float, float, float]:
    """Bytes a second: moved, of the data sheet, and sustained."""
    memory = platform.memory
    moved = row.bytes / row.nanoseconds * 1e9
    return moved, memory.peak_bytes_per_second(), memory.sustained_bytes_per_second(platform.cycle_ns)


def as_json(row: Row) -> dict[str, Any]:
    """What --json prints of a row, beside its fields."""
    if row.cycles is None:
        return {}
    moved, peak, sustained = _rates(row, load_platform(row.platform))
    return {"bytes_per_second": moved, "of_peak": moved / peak, "of_sustained": moved / sustained}


KEPT = KeptRows(
    kind=Row, names=list(CASES), measure=measure, data=DATA, cells=_cells, markdown=markdown,
    document=DOCUMENT, begin=BEGIN, end=END, further=as_json,
)  # fmt: skip


def _asked(arguments: Sequence[str]) -> list[str]:
    """The arguments of `KeptRows.main`, where `--platform NAME` stands for the designs of one platform."""
    rest = list(arguments)
    if "--platform" not in rest:
        return rest
    at = rest.index("--platform")
    name = rest[at + 1] if at + 1 < len(rest) else ""
    if name not in PLATFORMS:
        sys.exit(f"no platform is called '{name}'; accepted: {', '.join(PLATFORMS)}")
    del rest[at : at + 2]
    return rest + [design for design, case in CASES.items() if case.platform == name]


if __name__ == "__main__":
    sys.exit(KEPT.main(__doc__, _asked(sys.argv[1:])))
