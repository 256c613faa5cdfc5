"""Tokens per second of whole models on the U55C, one after another: simulated cycles of the emitted C++ of layers and head.

    python benchmarks/decode_u55c.py [--model NAME] [--json] [--write] [--again] [ROW ...]

A row is a model that writes some tokens behind a prompt. It is compiled as by `stc compile --target decoder`, once for all of its
lengths: all layers and the head in one launch, on one array; or as many layers in a launch as are alike, and the head in one of its
own, each within its part of the plan's budget, since one binary has both. The emitted C++ is run with time, with every layer of a
launch: at the first position, in the middle, and at the last, between which cycles are taken to lie on lines. *By 4*: a launch
computes so many tokens, each behind the one before, and those behind the last that is asked for cost time, too. A token takes the
cycles of all launches, and what each costs, as the platform says. The prompt goes through the same designs, token by token; a head
of its own is left out but for the last. *Asked* is what the project wants. Bytes are what crosses memory ports, counted in the
emitted loops, zeros that fill up groups and rows among them; shares are of 460 GB/s, the card's peak, and of the 425 GB/s that were
measured on such cards. Resources are estimated, of all designs together. Rows are kept in benchmarks/data/decode_u55c.json, each
with the commit at which it was measured.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

from decode_block import bytes_at
from kept_rows import KeptRows
from measured_at import measured_at

from stc.frontend.draws import EXAMPLE
from stc.frontend.sources import find_language_model
from stc.manifest.model_schema import DECODE, HEAD
from stc.pipeline import PipelineOptions
from stc.platforms.budget import PLAN, Budget, Counts, rest_of
from stc.platforms.platform import load_platform
from stc.simulation.simulate import TimedDesign, timed_design
from stc.simulation.timing_table import SimulationOptions
from stc.tools.compile import compile_from
from stc.tools.language_model import ModelStages, model_request
from stc.tools.request import DECODER
from stc.tools.targets import for_layers, with_target

DOCUMENT = Path(__file__).parents[1] / "docs" / "decode.md"
DATA = Path(__file__).parent / "data" / "decode_u55c.json"
BEGIN, END = "<!-- decode -->\n", "<!-- end of decode -->\n"
PLATFORM = load_platform("u55c")
CLOCKS = tuple(PLATFORM.clocks_mhz)
PEAK, SUSTAINED = 460e9, 425e9
"""Bytes a second."""

FORMAT = "bits=4,group=128,activations=group,kv=int8,attention=int8"
COLUMNS = (
    "model, prompt and tokens", "format", "layers, tokens of a launch", "cycles of a launch at the first, middle, last position",
    "of the head", "launches", *(f"tokens per second at {clock} MHz" for clock in CLOCKS), "asked",
    f"ms to the first token at {CLOCKS[0]} MHz", "bytes of a token", "of 460, 425 GB/s", "DSP, LUT, BRAM18, URAM",
    "seconds to compile", "measured on",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A model that writes `tokens` behind a prompt of `prompt`. `asked`: tokens per second."""

    model: str
    prompt: int
    tokens: int
    asked: int | None = None
    quantize: str = FORMAT
    steps: int = 1
    """Tokens of a launch, each behind the one before."""

    @property
    def positions(self) -> tuple[int, int, int]:
        """At which the launch that makes the second token begins, one in the middle, and the last."""
        first = self.prompt  # the first token comes from the prompt's own pass
        last = first + (self.launches - 1) * self.steps
        return first, first + (self.launches - 1) // 2 * self.steps, min(last, self.prompt + self.tokens - self.steps)

    @property
    def of_prompt(self) -> tuple[int, int, int]:
        """The same of the prompt's launches."""
        count = ceil(self.prompt / self.steps)
        return 0, (count - 1) // 2 * self.steps, (count - 1) * self.steps

    @property
    def launches(self) -> int:
        """For all tokens but the first; steps behind the last are made, too."""
        return ceil((self.tokens - 1) / self.steps)


FOUR = 4
LENGTHS = (32, 64, 128, 256)
CASES: Mapping[str, Case] = {
    "gpt2-tiny [16:16]": Case("gpt2-tiny", 16, 16),
    **{f"gpt2-medium [{length}:{length}]": Case("gpt2-medium", length, length, asked)
       for length, asked in ((32, None), (64, None), (128, 1560), (256, 1450))},
    **{f"gpt2-medium [{length}:{length}] by {FOUR}": Case("gpt2-medium", length, length, asked, steps=FOUR)
       for length, asked in ((32, None), (64, None), (128, 1900), (256, 1750))},
    **{f"{model} [{length}:{length}]": Case(model, length, length, asked if length == 128 else None)
       for model, asked in (("qwen2.5-0.5b", 1335), ("tinyllama-1.1b", 637), ("gemma3-1b", 660)) for length in LENGTHS},
    **{f"{model}-tiny [16:16]": Case(f"{model}-tiny", 16, 16) for model in ("qwen2.5-0.5b", "tinyllama-1.1b", "gemma3-1b")},
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """What was measured: `launch`, the cycles of the mean launch of `layers` layers at each of the case's positions, `prompt` at
    those of its prompt, `launches` of them for a token, or as many as a launch computes, `head` the cycles of a head in a launch of
    its own, 0 where it follows the layers, and bytes that a token moves."""

    design: str
    layers: int
    launches: int
    launch: tuple[float, ...]
    prompt: tuple[float, ...]
    head: int
    bytes: int
    resources: Mapping[str, int]
    seconds: int
    measured: str

    @property
    def cycles(self) -> float:
        """Of a token, on the average of all positions."""
        return (self.launches * _mean(self.launch) + self.head) * self._share

    @property
    def _share(self) -> float:
        """Of what launches take, a token's: 1 where each computes one."""
        case = CASES[self.design]
        return case.launches / (case.tokens - 1)

    @property
    def heads(self) -> int:
        """Launches of the head alone."""
        return int(self.head > 0)

    def tokens_per_second(self, clock: float) -> float:
        """With all launches."""
        return 1e6 / (self.cycles / clock + (self.launches + self.heads) * self._share * PLATFORM.launch_us)

    def first_token(self, clock: float) -> float:
        """Milliseconds: the prompt's tokens one after the other, and the head."""
        launches = ceil(CASES[self.design].prompt / CASES[self.design].steps) * self.launches
        return ((launches * _mean(self.prompt) + self.head) / clock + (launches + self.heads) * PLATFORM.launch_us) / 1e3


def _mean(cycles: Sequence[float]) -> float:
    """Of what lies on lines between three positions."""
    first, middle, last = cycles
    return (first + 2 * middle + last) / 4


@dataclass(frozen=True)
class _Accelerator:
    """The designs of a model: those of its kinds of layers, with how many launches of each a token takes, and that of a head that
    does not follow them."""

    layers: int
    kinds: Sequence[tuple[int, TimedDesign]]
    head: TimedDesign | None
    resources: Mapping[str, int]
    seconds: int


@cache
def _accelerator(model: str, quantize: str, steps: int) -> _Accelerator:
    """Compiled for the longest of the model's cases; kept as long as the program runs."""
    begin, folder = time.perf_counter(), Path(_FOLDERS.name) / f"{model} {quantize} {steps}"
    max_seq = max(case.prompt + case.tokens for case in CASES.values() if case.model == model)
    source = find_language_model(model, max_seq=max_seq, seed=0, weights=None)
    options = PipelineOptions(**with_target({"quantize": quantize, "tokens_per_launch": steps}, DECODER, ()))
    asked = model_request(model, max_seq, None, 0, options, DECODER)
    stages = ModelStages(for_layers(asked, source.model.layer_kinds), source)

    resources, told = Counter[str](), list[str]()

    def tell(step: str) -> None:
        if (now := step.split(": ")[0]) not in told[-1:]:
            told.append(now)
            print(f"  {now}", file=sys.stderr, flush=True)

    def compiled(stage: str, kind: str, rest: float | None = None) -> TimedDesign:
        out = folder / f"{stage}{kind}"
        start = stages.start(stage, kind, sized=stage != HEAD, rest=rest)
        one_input = replace(start.request, check_inputs=(EXAMPLE,))
        report = compile_from(replace(start, request=one_input), out, tell, {"export": 0.0})
        resources.update(report["resources"]["total"])
        return timed_design(out)

    head = compiled(HEAD, "") if stages.has_head else None
    taken = Counts(*(resources[name] for name in ("dsp", "lut", "ff", "bram18", "uram")))
    rest = rest_of(taken, Budget.parse(PLAN).limits(PLATFORM)) if head else None
    kinds = [(stages.launched(kind), compiled(DECODE, kind, rest)) for kind in stages.firsts]
    return _Accelerator(stages.count, kinds, head, dict(resources), round(time.perf_counter() - begin))


_FOLDERS = tempfile.TemporaryDirectory(prefix="decode_u55c_")
"""Of what is compiled, until the program ends."""


def measure(name: str) -> Row:
    """Run the designs of a case's model, compiled if they are not yet."""
    case = CASES[name]
    at = measured_at().removeprefix("Measured on ").removesuffix(".")
    made = _accelerator(case.model, case.quantize, case.steps)
    launches = sum(count for count, _ in made.kinds)

    def mean_launch(position: int) -> float:
        return sum(count * _cycles(design, {"pos": position}) for count, design in made.kinds) / launches

    launch = tuple(round(mean_launch(position), 1) for position in case.positions)
    prompt = tuple(round(mean_launch(position), 1) for position in case.of_prompt)
    head = _cycles(made.head, {}) if made.head else 0
    middle = {"pos": case.positions[1]}
    moved = sum(count * sum(bytes_at(design.manifest, middle).values()) for count, design in made.kinds)
    moved += sum(bytes_at(made.head.manifest, {}).values()) if made.head else 0
    return Row(name, made.layers, launches, launch, prompt, head, moved, made.resources, made.seconds, at)


def _cycles(design: TimedDesign, values: Mapping[str, int]) -> int:
    """Of a launch with these scalars."""
    cycles = design.run(SimulationOptions(at=values), report=None).cycles
    assert cycles is not None, f"{design.manifest.kernels[0].name} does not end at {values}"
    return cycles


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
    cycles = " ".join(f"{each:,.0f}" for each in row.launch)
    head = f"{row.head:,}" if row.heads else ""
    return [row.design, f"`{case.quantize}`", f"{row.layers} {case.steps}", cycles, head, str(row.launches + row.heads),
            *(f"{each:.1f}" for each in speeds), asked, f"{row.first_token(CLOCKS[0]):.1f}", f"{row.bytes:,}", shares, taken,
            str(row.seconds), row.measured]


def as_json(row: Row) -> dict[str, Any]:
    """What --json prints of a row, beside its fields."""
    speed, first = row.tokens_per_second(CLOCKS[0]), row.first_token(CLOCKS[0])
    said = {"format": CASES[row.design].quantize, "cycles_of_a_token": row.cycles}
    return {"tokens_per_second": speed, "ms_to_the_first_token": first} | said


KEPT = KeptRows(
    kind=Row, names=list(CASES), measure=measure, data=DATA, cells=_cells, markdown=markdown,
    document=DOCUMENT, begin=BEGIN, end=END, further=as_json,
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(KEPT.main(__doc__, sys.argv[1:]))
