"""Blocks within the planning shares of the platform, as `--budget plan` compiles them: cycles, and how much of the chip they use.

    python benchmarks/planned_blocks.py [--write] [--again] [NAME ...]

A block is compiled, and the emitted C++ run with values and with time, or at its position in the cache. *Asked* are the cycles
that the project wants of a design (docs/planned_blocks.md), of which the simulated ones beside them are a multiple. Rows are kept
in benchmarks/data/planned_blocks.json, each with the commit at which it was measured; without --again only designs that have none
are run. --write puts the table into docs/planned_blocks.md.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kept_rows import KeptRows
from measured_at import measured_at

from stc.pipeline import PipelineOptions
from stc.platforms.budget import PLAN
from stc.quantisation.formats import DTYPES
from stc.simulation.simulate import simulate, timed_design
from stc.simulation.timing_table import SimulationOptions
from stc.tools.compile import CompileRequest, compile_model

DOCUMENT = Path(__file__).parents[1] / "docs" / "planned_blocks.md"
DATA = Path(__file__).parent / "data" / "planned_blocks.json"
BEGIN, END = "<!-- planned blocks -->\n", "<!-- end of planned blocks -->\n"
COLUMNS = (
    "block", "cycles (simulated)", "asked", "times", "values", "DSPs", "of what they could have done", "bound by", "compile s",
    "measured on",
)  # fmt: skip
FRONT_END = ("origin", "torch_import", "export", "references")


@dataclass(frozen=True)
class Case:
    """A block of `model`: prefill of `tokens`, or one token at `position` of a cache. `asked`: cycles, None for half of the
    multipliers in use."""

    model: str
    tokens: int = 1
    position: int | None = None
    quantize: str = ""
    asked: int | None = None

    def request(self) -> CompileRequest:
        options = PipelineOptions(budget=PLAN, quantize=self.quantize)
        if self.position is None:
            return CompileRequest(self.model, seq=self.tokens, options=options)
        return CompileRequest(self.model, stage="decode", max_seq=512, run_time_sizes=True, options=options)


CASES: Mapping[str, Case] = {
    "gpt2-medium, 32 tokens": Case("gpt2-medium", 32, asked=600_000),
    "gpt2-medium, 128 tokens": Case("gpt2-medium", 128, asked=2_200_000),
    "gpt2-medium, 1 token": Case("gpt2-medium", 1, asked=90_000),
    **{f"gpt2-medium, position {at}": Case("gpt2-medium", position=at, asked=90_000) for at in (0, 127, 511)},
    **{f"gpt2-medium, position {at}, W4A8": Case("gpt2-medium", position=at, quantize=DTYPES["w4a8"]) for at in (0, 127, 511)},
    **{f"{model}, 32 tokens": Case(model, 32) for model in ("qwen2.5-0.5b", "tinyllama-1.1b", "gemma3-1b")},
}


@dataclass(frozen=True)
class Row:
    """A design as simulated: `use` is the part that its multipliers did of what they could have done, `binding` what it is bound by
    in words."""

    design: str
    cycles: int
    asked: int | None
    values: str
    dsp: int
    use: float
    seconds: float
    binding: str
    measured: str


def measure(name: str, case: Case) -> Row:
    """Compile and run one design; CompileError where it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "project"
        report = compile_model(case.request(), out)
        use: Mapping[str, Any] = report["utilisation"] or {"products": 0, "possible": 0, "cycles": 1, "binding": "not known"}
        if case.position is None:
            result = simulate(out, optimisation=1)
            cycles, values = result.cycles, "agree" if result.passed else result.values.outcome
        else:
            timed, options = timed_design(out), SimulationOptions(at={"pos": case.position})
            run = timed.run(options, report=None)
            cycles, values = run.cycles, "cycles only"
            if (found := timed.utilisation(run, options)) is not None:
                use = found.as_json()
    assert cycles is not None, f"{name} does not end"
    seconds = sum(value for stage, value in report["compile_seconds"].items() if stage not in FRONT_END)
    at = measured_at().removeprefix("Measured on ").removesuffix(".")
    busy = use["products"] * use["cycles"] / (use["possible"] * cycles) if use["possible"] else 0.0
    dsp = report["resources"]["total"]["dsp"]
    return Row(name, cycles, case.asked, values, dsp, busy, round(seconds, 1), str(use["binding"]), at)


def markdown(rows: Sequence[Row]) -> str:
    """The table."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|" + " --- |" * len(COLUMNS), *(f"| {' | '.join(_cells(row))} |" for row in rows)]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> list[str]:
    asked = [f"{row.asked:,}", f"{row.cycles / row.asked:.2f}"] if row.asked is not None else ["half of the multipliers", ""]
    busiest = row.binding.partition("the multipliers of ")[2].partition(" ")[0]
    said = row.binding.rpartition("it is bound by ")[2] if "it is bound by" in row.binding else row.binding.rpartition("time, ")[2]
    bound = f"the multipliers of `{busiest}`" if said == "them" else said
    used = [row.values, f"{row.dsp:,}", f"{row.use:.1%}", bound, f"{row.seconds:.0f}"]
    return [row.design, f"{row.cycles:,}", *asked, *used, row.measured]


ROWS = KeptRows(
    kind=Row, names=list(CASES), measure=lambda name: measure(name, CASES[name]), data=DATA, cells=_cells, markdown=markdown,
    document=DOCUMENT, begin=BEGIN, end=END,
)  # fmt: skip


if __name__ == "__main__":
    sys.exit(ROWS.main(__doc__, sys.argv[1:]))
