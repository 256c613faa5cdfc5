"""How far the cycles that a compile estimates are from those of the simulation: a table with the median and the worst error.

    python benchmarks/estimates.py [--write] [--again] [NAME ...]

A design is compiled, and the emitted C++ run with time. *Estimated* are the cycles of FIFO sizing (what `stc compile` prints), and
those of the busiest task by its loops alone, as `utilisation` has them; *simulated* are the run's, and the cycles in which its
busiest task does not wait. Rows are kept in benchmarks/data/estimates.json, each with the commit at which it was measured; without
--again only designs that have none are run. --write puts the table into docs/estimates.md.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from kept_rows import KeptRows
from kernels import PUBLISHED, compile_request
from measured_at import measured_at

from stc.pipeline import PipelineOptions
from stc.quantisation.formats import DTYPES
from stc.simulation.simulate import simulate
from stc.tools.compile import CompileRequest, compile_model

DOCUMENT = Path(__file__).parents[1] / "docs" / "estimates.md"
DATA = Path(__file__).parent / "data" / "estimates.json"
BEGIN, END = "<!-- errors -->\n", "<!-- end of errors -->\n"


def prefill(model: str, seq: int, **options: object) -> CompileRequest:
    return CompileRequest(model, seq=seq, options=PipelineOptions(**{"budget": "small"} | options))  # pyright: ignore[reportArgumentType]


def decode(model: str, max_seq: int, quantize: str = "", tile: int = 16) -> CompileRequest:
    options = PipelineOptions(tile=tile, quantize=quantize, budget="small")
    return CompileRequest(model, stage="decode", max_seq=max_seq, options=options)


CASES: Mapping[str, Callable[[], CompileRequest]] = {
    **{f"kernel {name}": lambda row=row: compile_request(row) for name, row in PUBLISHED.items()},
    "gpt2-tiny, 1 token": lambda: prefill("gpt2-tiny", 1),
    "gpt2-tiny, 7 tokens": lambda: prefill("gpt2-tiny", 7),
    "gpt2-tiny, 32 tokens": lambda: prefill("gpt2-tiny", 32),
    "gpt2-tiny, 1 token, budget plan": lambda: prefill("gpt2-tiny", 1, budget="plan"),
    "qwen2.5-0.5b-tiny, 8 tokens, budget plan": lambda: prefill("qwen2.5-0.5b-tiny", 8, budget="plan"),
    "gemma3-1b-tiny, 5 tokens, budget plan": lambda: prefill("gemma3-1b-tiny", 5, budget="plan"),
    "gpt2-tiny, 13 tokens, budget plan": lambda: prefill("gpt2-tiny", 13, budget="plan"),
    "qwen2.5-0.5b-tiny, 8 tokens": lambda: prefill("qwen2.5-0.5b-tiny", 8),
    "gemma3-1b-tiny, 5 tokens": lambda: prefill("gemma3-1b-tiny", 5),
    "gpt2-tiny, decode": lambda: decode("gpt2-tiny", 16),
    "gpt2-tiny, decode, W4A8": lambda: decode("gpt2-tiny", 16, DTYPES["w4a8"]),
    "qwen2.5-0.5b-tiny, decode, W4A8": lambda: decode("qwen2.5-0.5b-tiny", 32, DTYPES["w4a8"]),
    "gpt2, decode": lambda: decode("gpt2", 128, tile=64),
    "gpt2, decode, W4A8": lambda: decode("gpt2", 128, DTYPES["w4a8"], tile=64),
}


@dataclass(frozen=True)
class Row:
    """Cycles of a design, and of its busiest task; `estimated` None where FIFO sizing gave up, `searched` without a search."""

    design: str
    estimated: int | None
    simulated: int
    busiest: str
    busiest_estimated: float
    busiest_simulated: int
    measured: str
    searched: int | None = None

    @property
    def error(self) -> float:
        """Of the estimate, in parts of the simulated cycles; below 0: too few."""
        assert self.estimated is not None
        return self.estimated / self.simulated - 1


def measure(name: str) -> Row:
    """Compile and run one design; CompileError where it is refused, AssertionError where it does not end with the right values."""
    with tempfile.TemporaryDirectory() as folder:
        report = compile_model(CASES[name](), Path(folder) / "project")
        result = simulate(Path(folder) / "project", optimisation=1)
    assert result.cycles is not None and result.passed, f"{name}: {result.values.outcome}"
    busiest = max(result.tasks, key=lambda task: task.busy)
    use = report["utilisation"]
    works = {task["task"]: task["works"] for task in use["tasks"]} if use is not None else {}
    estimated = use["cycles"] if use is not None else None
    searched = report["budget"]["expected_cycles"] if "budget" in report else None
    at = measured_at().removeprefix("Measured on ").removesuffix(".")
    return Row(name, estimated, result.cycles, busiest.name, works.get(busiest.name, 0.0), busiest.busy, at, searched)


def markdown(rows: Sequence[Row]) -> str:
    """The table, with the median and the worst error below."""
    lines = [
        "`python benchmarks/estimates.py`: cycles *estimated* by FIFO sizing and *simulated*; those of the busiest task by its",
        "loops alone, and those in which it does not wait; with a budget those by the model of the search, which knows no tiles.",
        "Each row at its commit.",
        "",
        "| design | by the search | estimated | simulated | error | busiest task | estimated | simulated | measured on |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        *(f"| {' | '.join(_cells(row))} |" for row in rows),
    ]
    known = [row for row in rows if row.estimated is not None]
    if known:
        worst = max(known, key=lambda row: abs(row.error))
        middle = median(abs(row.error) for row in known)
        lines += ["", f"Of {len(known)} designs: median error {middle:.1%}, worst {worst.error:+.1%} ({worst.design})."]
    if searches := [row.searched / row.simulated - 1 for row in rows if row.searched is not None]:
        middle = median(abs(error) for error in searches)
        lines += ["", f"Of {len(searches)} searches: median error {middle:.1%}, worst {max(searches, key=abs):+.1%}."]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> list[str]:
    whole = ["not known", f"{row.simulated:,}", ""]
    if row.estimated is not None:
        whole = [f"{row.estimated:,}", f"{row.simulated:,}", f"{row.error:+.1%}"]
    searched = "" if row.searched is None else f"{row.searched:,} ({row.searched / row.simulated - 1:+.1%})"
    busiest = [f"`{row.busiest}`", f"{row.busiest_estimated:,.0f}", f"{row.busiest_simulated:,}"]
    return [row.design, searched, *whole, *busiest, row.measured]


ROWS = KeptRows(
    kind=Row, names=list(CASES), measure=measure, data=DATA, cells=_cells, markdown=markdown,
    document=DOCUMENT, begin=BEGIN, end=END,
)  # fmt: skip


if __name__ == "__main__":
    sys.exit(ROWS.main(__doc__, sys.argv[1:]))
