"""Single fp32 kernels against Stream-HLS (FPGA'25): simulated cycles and estimated DSPs beside published ones.

    python benchmarks/kernels.py [--folder DIR] [--missing] [--write] [NAME ...]

Each workload is compiled with as many DSPs as are published for it (`--budget dsp=N`), built, run with time and compared with
PyTorch. What is found for a workload is kept as DIR/NAME.json, so that workloads can be measured one by one; --write puts all that
are there into docs/kernels.md. Exit code 1 where values differ from PyTorch or a design takes more DSPs than published.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from measured_at import measured_at
from rich.console import Console
from rich.table import Table

from stc.pipeline import PipelineOptions
from stc.simulation.simulate import SimulationResult, simulate
from stc.tools.compile import CompileRequest, compile_model

WORKLOADS = Path(__file__).parent / "workloads" / "kernels.py"
DOCUMENT = Path(__file__).parents[1] / "docs" / "kernels.md"
DEFAULT_FOLDER = Path("/tmp/stc-kernels")

TARGET_NS = 3.33
"""The clock that the published designs were scheduled for."""


@dataclass(frozen=True)
class Published:
    """A row of Stream-HLS: RTL co-simulation cycles, DSPs, the clock that HLS estimates for the design in ns, and the shape.

    `products`: multiply-accumulates of the matrix products, from the shape. `required`: cycles that ours may take, in parts of
    those, external memory included.
    """

    factory: str
    shape: str
    products: int
    cycles: int
    dsp: int
    clock_ns: float
    required: float


PUBLISHED: Mapping[str, Published] = {
    "FeedForward": Published("feed_forward", "1x512x128, hidden 256", 2 * 512 * 128 * 256, 65_997, 2944, 4.28, 1.05),
    "MHSA": Published("attention", "1x64x128, 8 heads", 4 * 64 * 128 * 128 + 2 * 64 * 64 * 128, 35_143, 3216, 3.77, 1.0),
    "gemm": Published("gemm", "200x240x220", 200 * 240 * 220, 24_051, 2552, 2.80, 1.05),
    "3mm": Published(
        "three_products", "180, 200, 190, 220, 210", 180 * 200 * 190 + 190 * 220 * 210 + 180 * 190 * 210, 49_092, 2507, 4.68, 1.05
    ),
    "atax": Published("atax", "390x410", 2 * 390 * 410, 2_180, 1502, 4.91, 1.3),
}


@dataclass(frozen=True)
class Measured:
    """What was found for a workload; cycles simulated, DSPs and other resources estimated, errors executed."""

    name: str
    passed: bool
    max_error: float
    cycles: int
    dsp: int
    resources: Mapping[str, Any]
    clock_mhz: float
    tasks: int
    ports: int
    busiest: str
    busiest_busy: int


def measure(name: str, folder: Path) -> Measured:
    """Compile, build and run one workload with the DSPs published for it; CompileError where it is refused."""
    published = PUBLISHED[name]
    result, report = _run(published, folder / name)
    assert result.cycles is not None, f"{name} does not end"
    busiest = max(result.tasks, key=lambda task: task.busy)
    return Measured(
        name=name,
        passed=result.passed,
        max_error=max(output.max_abs_error for output in result.values.outputs),
        cycles=result.cycles,
        dsp=report["resources"]["total"]["dsp"],
        resources={key: report["resources"][key] for key in ("total", "share")},
        clock_mhz=result.clock_mhz or 0.0,
        tasks=len(result.tasks),
        ports=sum(task.name.startswith(("load", "store")) for task in result.tasks),
        busiest=busiest.name,
        busiest_busy=busiest.busy,
    )


def compile_request(published: Published) -> CompileRequest:
    """The workload, with as many DSPs as are published for it."""
    return CompileRequest(f"{WORKLOADS}:{published.factory}", options=PipelineOptions(budget=f"dsp={published.dsp}"))


def _run(published: Published, folder: Path) -> tuple[SimulationResult, Mapping[str, Any]]:
    shutil.rmtree(folder, ignore_errors=True)
    report = compile_model(compile_request(published), folder)
    return simulate(folder, optimisation=1), report


# The table ------------------------------------------------------------------------------------------------------------

COLUMNS = (
    "workload", "shape", "cycles published", "cycles ours", "ratio", "required", "DSP published", "DSP ours", "MAC/cycle published",
    "MAC/cycle ours", "use of own DSPs", "ns published", "ns ours", "us published", "us ours",
)  # fmt: skip


def rows(measured: Sequence[Measured]) -> list[list[str]]:
    """One row a workload, in the order of `COLUMNS`."""
    result: list[list[str]] = []
    for one in measured:
        published = PUBLISHED[one.name]
        clock = max(TARGET_NS, published.clock_ns)
        ours = 1000 / one.clock_mhz
        rate = published.products / one.cycles
        result.append([
            one.name,
            published.shape,
            f"{published.cycles:,}",
            f"{one.cycles:,}",
            f"{one.cycles / published.cycles:.2f}",
            f"{published.required:.2f}",
            str(published.dsp),
            str(one.dsp),
            f"{published.products / published.cycles:.0f}",
            f"{rate:.0f}",
            f"{rate * 5 / one.dsp:.0%}" if one.dsp else "-",
            f"{published.clock_ns:.2f} ({'met' if published.clock_ns <= TARGET_NS else 'missed'})",
            f"{ours:.2f}",
            f"{published.cycles * clock / 1000:.1f}",
            f"{one.cycles * ours / 1000:.1f}",
        ])  # fmt: skip
    return result


ORIGIN = """\
**Ours are simulated**: cycles of the emitted C++, run with `stc simulate` (values compared with PyTorch in the same run), not RTL
co-simulation; DSPs are estimated from the operators of the emitted code, 5 for a multiply-accumulate, not synthesised; nothing was
placed.
Published are Stream-HLS's (FPGA'25) Vitis RTL co-simulation cycles and DSPs, of the configuration in its artifact.

* *Clock*: the published designs were scheduled for 3.33 ns; *ns published* is what HLS estimates for each, and most miss it. Ours
  are scheduled with operator latencies published for 3.33 ns and run at 250 MHz in the model, which is *assumed*. Compare
  microseconds, not cycles alone; *us published* takes the estimate, or 3.33 ns where that is met.
* *Memory*: ours read every input and parameter from external memory and write every result there (at most 32 ports of 512 bit, read
  latency, 0.9 words per cycle and port), inside the cycles given. The published designs (the kernels in the artifact) have inputs,
  parameters and results in partitioned on-chip arrays, filled before the first cycle.
* *Use of own DSPs*: multiply-accumulates done over those that the DSPs could have done in the cycles taken.
* *Per cent* of LUT, FF and BRAM18, below: of what may be used on a U55C at the fill that is taken as the limit. The search
  limits them no further than `--budget` says.
"""


WHERE = """\
## Where the cycles go

Read off the task times of `stc simulate` of the designs of 2026-11-22 (commit 76e6b0f), before the search knew of time, so of other
cycles than those above; not generated:

* gemm: 24,000 of the cycles are products; a task reads its tiles, computes and writes one after the other (14 % more). The next
  number of copies that divides 200 rows, 10, would take 2,750 DSPs.
* FeedForward: either layer computes for 65,536 cycles and reads for 7,300; the second ends one tile of 128 rows behind the first.
* MHSA: projections, softmax and output projection mostly wait for one another: each needs all of what is before it.
* 3mm: the third product re-reads its rows of A B for each of its column tiles, through a converter that holds them whole; so it
  starts when the first product ends, and the two phases do not overlap. 190 columns have no divisor that fills a port: 10 lanes.
* atax: 13 copies of either product read their 30 rows of A through ports of their own, 10 lanes wide, once for each product: 2,460
  cycles of the 2,620 that a copy of the first works, since it reads and computes in turn. The second follows ten rows behind. Its
  13 partial results are added up one after the other, which takes the last 1,200 cycles.
"""


def document(measured: Sequence[Measured]) -> str:
    """docs/kernels.md."""
    lines = [COLUMNS, ["---"] * len(COLUMNS), *rows(measured)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    details = "\n".join(
        f"* {one.name}: {one.tasks} tasks, {one.ports} of them memory ports; the busiest, `{one.busiest}`, works for "
        f"{one.busiest_busy:,} of {one.cycles:,} cycles; largest error {one.max_error:.1e}; estimated "
        f"{_taken(one, 'lut')} LUT, {_taken(one, 'ff')} FF, {_taken(one, 'bram18')} BRAM18{_fit(one)}."
        for one in measured
    )
    head = f"# Single kernels\n\nWritten by `python benchmarks/kernels.py --write`. {measured_at()}"
    return f"{head}\n\n{ORIGIN}\n{table}\n\n{details}\n\n{WHERE}"


def _taken(one: Measured, kind: str) -> str:
    return f"{one.resources['total'][kind]:,} ({one.resources['share'][kind]:.0%})"


def _fit(one: Measured) -> str:
    """Which resources a design wants more of than there are."""
    missing = [kind.upper() for kind, share in one.resources["share"].items() if share > 1]
    return f": **does not fit** the card ({', '.join(missing)})" if missing else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"workloads (default: all of {', '.join(PUBLISHED)})")
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER, help=f"projects and results (default {DEFAULT_FOLDER})")
    parser.add_argument("--missing", action="store_true", help="measure only what has no result in the folder yet")
    parser.add_argument("--write", action="store_true", help=f"write docs/{DOCUMENT.name}")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in PUBLISHED]:
        parser.error(f"no workload '{unknown[0]}'; accepted: {', '.join(PUBLISHED)}")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or PUBLISHED:
        if arguments.missing and (arguments.folder / f"{name}.json").is_file():
            continue
        found = measure(name, arguments.folder)
        (arguments.folder / f"{name}.json").write_text(json.dumps(asdict(found)))
    files = [arguments.folder / f"{name}.json" for name in PUBLISHED]
    measured = [Measured(**json.loads(file.read_text())) for file in files if file.is_file()]
    table = Table(*COLUMNS, caption="ours: cycles simulated, DSPs estimated; published: RTL co-simulation")
    for row in rows(measured):
        table.add_row(*row)
    Console(width=220).print(table)
    if arguments.write:
        DOCUMENT.write_text(document(measured))
    missed = [one.name for one in measured if not one.passed or one.dsp > PUBLISHED[one.name].dsp]
    for name in missed:
        print(f"{name}: values differ from PyTorch, or more DSPs than published", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
