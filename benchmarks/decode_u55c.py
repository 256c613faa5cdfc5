"""Tokens per second of whole models on the U55C, one after another: simulated cycles of the emitted C++ of layers and head.

    python benchmarks/decode_u55c.py [--model NAME] [--json] [--write] [--again] [ROW ...]

A row is a model that writes some tokens behind a prompt. Its decoder layer (one of each kind) and its head are compiled as `stc
generate` compiles them, each within its part of the plan's budget, since one binary has both, and the emitted C++ is run with time:
the layer at the first position, in the middle, and at the last, between which its cycles are taken to lie on lines. A token takes
the cycles of all its layers and of the head, and a launch for each of them, as the platform says what one costs. *Asked* is what
the project wants. Bytes are what crosses the memory ports, counted in the emitted loops; shares are of 460 GB/s, the card's peak,
and of the 425 GB/s that were measured on such cards. Resources are estimated, of both designs together. Prefill is in none of this.
Rows are kept in benchmarks/data/decode_u55c.json, each with the commit at which it was measured.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decode_block import bytes_at
from kept_rows import KeptRows
from measured_at import measured_at

from stc.frontend.draws import EXAMPLE
from stc.frontend.sources import find_language_model
from stc.pipeline import PipelineOptions
from stc.platforms.budget import PLAN, part_of
from stc.platforms.platform import load_platform
from stc.quantisation.formats import DTYPES
from stc.simulation.simulate import timed_design
from stc.simulation.timing_table import SimulationOptions
from stc.tools.compile import CompileRequest, compile_model

DOCUMENT = Path(__file__).parents[1] / "docs" / "decode.md"
DATA = Path(__file__).parent / "data" / "decode_u55c.json"
BEGIN, END = "<!-- decode -->\n", "<!-- end of decode -->\n"
PLATFORM = load_platform("u55c")
CLOCKS = tuple(PLATFORM.clocks_mhz)
PEAK, SUSTAINED = 460e9, 425e9
"""Bytes a second."""

FORMAT = f"{DTYPES['w4a8']},activations=group,kv=int8,attention=int8"
COLUMNS = (
    "model, prompt and tokens", "format", "cycles of a layer at the first, middle, last position", "of the head", "launches",
    *(f"tokens per second at {clock} MHz" for clock in CLOCKS),
    "asked", "bytes of a token", "of 460, 425 GB/s", "DSP, LUT, BRAM18, URAM", "seconds to compile and run", "measured on",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A model that writes `tokens` behind a prompt of `prompt`. `asked`: tokens per second."""

    model: str
    prompt: int
    tokens: int
    asked: int | None = None
    quantize: str = FORMAT

    @property
    def positions(self) -> tuple[int, int, int]:
        """At which the second token is made, one in the middle, and the last."""
        last = self.prompt + self.tokens - 2  # the first token comes from the prompt's own pass
        return self.prompt, (self.prompt + last) // 2, last


CASES: Mapping[str, Case] = {
    "gpt2-tiny [16:16]": Case("gpt2-tiny", 16, 16),
    **{f"gpt2-medium [{length}:{length}]": Case("gpt2-medium", length, length, asked)
       for length, asked in ((32, None), (64, None), (128, 1560), (256, 1450))},
    **{f"{model} [{length}:{length}]": Case(model, length, length, asked if length == 128 else None)
       for model, asked in (("qwen2.5-0.5b", 1335), ("tinyllama-1.1b", 637), ("gemma3-1b", 660)) for length in (32, 64, 128, 256)},
    **{f"{model}-tiny [16:16]": Case(f"{model}-tiny", 16, 16) for model in ("qwen2.5-0.5b", "tinyllama-1.1b", "gemma3-1b")},
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """What was measured: `layer`, the cycles of the mean layer at each of the case's positions, `head` those of the head, and bytes
    that a token moves."""

    design: str
    layers: int
    layer: tuple[float, ...]
    head: int
    bytes: int
    resources: Mapping[str, int]
    seconds: int
    measured: str

    @property
    def cycles(self) -> float:
        """Of a token, on the average of all positions."""
        first, middle, last = self.layer
        return self.layers * (first + 2 * middle + last) / 4 + self.head

    def tokens_per_second(self, clock: float) -> float:
        """With a launch for each layer and one for the head."""
        return 1e6 / (self.cycles / clock + (self.layers + 1) * PLATFORM.launch_us)


def measure(name: str) -> Row:
    """Compile and run a layer of each kind, and the head."""
    case, begin = CASES[name], time.perf_counter()
    at = measured_at().removeprefix("Measured on ").removesuffix(".")
    max_seq = case.prompt + case.tokens
    model = find_language_model(case.model, max_seq=max_seq, seed=0, weights=None).model
    kinds = Counter(model.layer_kinds)
    options = PipelineOptions(budget=part_of(PLAN, 2 * len(kinds) + 1))  # prefill is in the binary, too
    cycles, moved, resources = [0.0] * len(case.positions), 0, Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for number, (kind, count) in enumerate(kinds.items()):
            layer = model.layer_kinds.index(kind)
            quantised = PipelineOptions(budget=options.budget, quantize=model.quantisation_of(layer, case.quantize))
            given: dict[str, Any] = {"stage": "decode", "max_seq": max_seq, "run_time_sizes": True, "layer": layer}
            request = CompileRequest(case.model, options=quantised, check_inputs=(EXAMPLE,), **given)
            places = [{"pos": position} for position in case.positions]
            found, taken = _runs(request, Path(folder) / str(number), places)
            cycles = [before + count * each for before, (each, _) in zip(cycles, found, strict=True)]
            moved += count * found[1][1]
            resources.update(taken)
        quantised = PipelineOptions(budget=options.budget, quantize=model.quantisation_of(None, case.quantize))
        request = CompileRequest(case.model, stage="head", options=quantised, check_inputs=(EXAMPLE,))
        ((head, of_head),), taken = _runs(request, Path(folder) / "head", [{}])
        resources.update(taken)
    layers = sum(kinds.values())
    mean = tuple(round(each / layers, 1) for each in cycles)
    return Row(name, layers, mean, head, moved + of_head, dict(resources), round(time.perf_counter() - begin), at)


def _runs(
    request: CompileRequest, out: Path, places: Sequence[Mapping[str, int]]
) -> tuple[list[tuple[int, int]], Mapping[str, int]]:
    """Cycles and bytes of the design at each of the values of its scalars, and what it takes."""
    report: Mapping[str, Any] = compile_model(request, out)
    timed, found = timed_design(out), list[tuple[int, int]]()
    for values in places:
        cycles = timed.run(SimulationOptions(at=values), report=None).cycles
        assert cycles is not None, f"{out} does not end at {values}"
        found.append((cycles, sum(bytes_at(timed.manifest, values).values())))
    return found, report["resources"]["total"]


def markdown(rows: Sequence[Row]) -> str:
    """The table."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|" + " --- |" * len(COLUMNS), *(f"| {' | '.join(_cells(row))} |" for row in rows)]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> list[str]:
    case = CASES[row.design]
    speeds = [row.tokens_per_second(clock) for clock in CLOCKS]
    shares = " ".join(f"{row.bytes * speeds[0] / rate:.1%}" for rate in (PEAK, SUSTAINED))
    asked = "" if case.asked is None else f"{case.asked:,}"
    taken = " ".join(f"{row.resources[name]:,}" for name in ("dsp", "lut", "bram18", "uram"))
    cycles = " ".join(f"{each:,.0f}" for each in row.layer)
    return [row.design, f"`{case.quantize}`", cycles, f"{row.head:,}", str(row.layers + 1), *(f"{each:.1f}" for each in speeds),
            asked, f"{row.bytes:,}", shares, taken, str(row.seconds), row.measured]


def as_json(row: Row) -> dict[str, Any]:
    """What --json prints of a row, beside its fields."""
    speed = row.tokens_per_second(CLOCKS[0])
    return {"tokens_per_second": speed, "format": CASES[row.design].quantize, "cycles_of_a_token": row.cycles}


KEPT = KeptRows(
    kind=Row, names=list(CASES), measure=measure, data=DATA, cells=_cells, markdown=markdown,
    document=DOCUMENT, begin=BEGIN, end=END, further=as_json,
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(KEPT.main(__doc__, sys.argv[1:]))
