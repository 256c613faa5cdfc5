"""What benchmarks/paper.py measures of ours: compiles of a block, most of them run with time as emitted C++."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kept_rows import Rows
from measured_at import measured_at

from stc.diagnostics import CompileError
from stc.frontend.draws import EXAMPLE
from stc.pipeline import PipelineOptions
from stc.platforms.budget import PLAN, SMALL
from stc.quantisation.formats import DTYPES
from stc.simulation.simulate import timed_design
from stc.simulation.timing_table import SimulationOptions
from stc.tools.compile import CompileRequest, compile_model

DATA = Path(__file__).parent / "data" / "paper.json"
MODELS = ("gpt2-medium", "qwen2.5-0.5b", "tinyllama-1.1b", "gemma3-1b")
"""Those of the publication."""
TINY, TINY_TOKENS, TOKENS = "gpt2-tiny", 8, 32
STRATEGIES = ("published-normal", "published-conservative", "no-stall")
TILES, UNROLLS, C_MAX = (1, 2, 4, 8, 16), (16, 32, 64, 128, 256), (8192, 16384, 32768, 65536)


@dataclass(frozen=True)
class Case:
    """A block of `model` for `tokens` of a prompt. `options`: of the compile. `timed`: whether it runs."""

    model: str
    tokens: int
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    timed: bool = True

    def request(self) -> CompileRequest:
        return CompileRequest(self.model, seq=self.tokens, options=PipelineOptions(**self.options), check_inputs=(EXAMPLE,))


def _blocks() -> Mapping[str, Case]:
    """Memory and compile time: with the default search, and without one."""
    cases = dict[str, Case]()
    for model, tokens in ((TINY, TINY_TOKENS), *((model, TOKENS) for model in MODELS)):
        for dtype, quantize in (("f32", ""), ("w4a8", DTYPES["w4a8"])):
            for searched, budget in (("without a search", SMALL), ("as by default", PLAN)):
                options = {"budget": budget, "quantize": quantize}
                cases[f"{model}, {tokens} tokens, {dtype}, {searched}"] = Case(model, tokens, options, timed=False)
    return cases


def _strategies() -> Mapping[str, Case]:
    """FIFO depths, without a search: designs differ in nothing else. `mlp` and `attention` are those of benchmarks/published.py."""
    small = {name: (f"{Path(__file__).with_name('published.py')}:{name}", 12) for name in ("mlp", "attention")}
    blocks = {**small, TINY: (TINY, TINY_TOKENS), "gpt2-medium": ("gpt2-medium", TOKENS)}
    return {
        f"{name}, {tokens} tokens, {strategy}": Case(model, tokens, {"budget": SMALL, "fifo_strategy": strategy})
        for name, (model, tokens) in blocks.items()
        for strategy in STRATEGIES
    }


def _sweeps() -> Mapping[str, Case]:
    """One choice at a time, by the published strategy that it belongs to; C_max by ours, too, which counts all that is on chip."""
    knobs: dict[str, tuple[tuple[int, ...], Mapping[str, Any], str]] = {
        "tile size": (TILES, {"tiling": "published"}, "tile"),
        "unroll size": (UNROLLS, {"parallelism": "published"}, "overall_unroll_size"),
        "published C_max": ((4096, 65536), {"fusion": "published"}, "on_chip"),
        "C_max": (C_MAX, {}, "on_chip"),
    }
    return {
        f"{TINY}, {TINY_TOKENS} tokens, {knob} {value}": Case(TINY, TINY_TOKENS, {"budget": SMALL, **options, name: value})
        for knob, (values, options, name) in knobs.items()
        for value in values
    }


BLOCKS, FIFOS, SWEEPS = _blocks(), _strategies(), _sweeps()
CASES: Mapping[str, Case] = {**BLOCKS, **FIFOS, **SWEEPS}


@dataclass(frozen=True)
class Row:
    """A design: `memory` in bytes and `stages` in seconds, as its report has them; `fifo_bits` of all slots; `cycles` None where it
    was not run, or does not end; `refusal` in place of all of it."""

    design: str
    groups: int = 0
    memory: Mapping[str, float] = field(default_factory=dict[str, float])
    stages: Mapping[str, float] = field(default_factory=dict[str, float])
    fifo_bits: int = 0
    resources: Mapping[str, int] = field(default_factory=dict[str, int])
    cycles: int | None = None
    refusal: str = ""
    seconds: int = 0
    measured: str = ""

    def kilobytes(self, name: str) -> int | None:
        """Of `memory`; None for a design that was refused."""
        return round(self.memory[name] / 1e3) if self.memory else None

    def per_cent(self, name: str) -> float | None:
        """Of a ratio in `memory`."""
        return 100 * self.memory[name] if self.memory else None


def measure(name: str) -> Row:
    """Compile one case, and run it where it is to be timed."""
    case, begin = CASES[name], time.perf_counter()
    at = measured_at().removeprefix("Measured on ").removesuffix(".")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "project"
        try:
            report: Mapping[str, Any] = compile_model(case.request(), out)
        except CompileError as refused:
            return Row(name, refusal=str(refused), seconds=round(time.perf_counter() - begin), measured=at)
        cycles = timed_design(out).run(SimulationOptions(), report=None).cycles if case.timed else None
    memory = _numbers(report["memory_bytes"])
    stages = {stage: round(seconds, 2) for stage, seconds in _numbers(report["compile_seconds"]).items()}
    taken = dict(report["resources"]["total"])
    seconds = round(time.perf_counter() - begin)
    return Row(name, report["groups"], memory, stages, 8 * int(memory["fifos"]), taken, cycles, "", seconds, at)


def _numbers(table: Mapping[str, Any]) -> dict[str, float]:
    return {name: value for name, value in table.items() if isinstance(value, int | float)}


STORE = Rows(kind=Row, names=list(CASES), measure=measure, data=DATA)
