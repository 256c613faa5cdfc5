"""Random graphs with fan-out and reconvergent paths: FIFO depths that suffice, none of which can be one less: docs/fifo_graphs.md.

    python benchmarks/fifo_graphs.py --count 300 --jobs 2 --json graphs.json [--write]
    python benchmarks/fifo_graphs.py --result graphs.json [--result more.json] --write

Each is a random program of `stc fuzz`, compiled, built with time, sized and minimised by `stc size`'s search; see
stc_testing/fuzzing/graphs.py for what is checked. `--result` runs nothing: it takes the graphs of earlier runs (each seed once, the
last file's). `--write` puts the summary into docs/fifo_graphs.md. Exit code 1 if anything is not as it should be.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from measured_at import measured_at

from stc_testing.fuzzing.graphs import PLAIN, REFUSED, SIZED, GraphCampaign, GraphCheck, as_json, check_graphs, summary

DOCUMENT = Path(__file__).parents[1] / "docs" / "fifo_graphs.md"

TEXT = """# FIFO depths of random graphs

Written by `python benchmarks/fifo_graphs.py --write`. Random programs of `stc fuzz`, those with at least one FIFO on an undirected
cycle of tasks (fan-out that joins again). Each was compiled, its emitted C++ built with time, its FIFOs sized by the linear program
of `size-fifos` and minimised by `stc size`; executed: every cycle count is that of the emitted C++ with estimated loop depths. Then
each FIFO whose minimal depth is above 1 was made one less: the run must be slower or deadlock, and the explanation must name it.

`stc size` takes the optimum where it can be deduced (on the premise that more slots never cost cycles; runs that contradict that
are counted as surprises); *descent alone* is what minimisation came to by itself.
"""


def document(checks: Sequence[GraphCheck]) -> str:
    """docs/fifo_graphs.md."""
    figures = summary(checks)
    table = [("what", "found"), ("---", "---"), *_lines(figures)]
    lost = [line for name in ("LP", "emitted") for line in slower_at(checks, name)]
    return "\n".join([
        TEXT,
        f"{measured_at()}\n",
        *(f"| {name} | {found} |" for name, found in table),
        "\n## Slower than with unlimited FIFOs\n",
        *(lost or ["None."]),
        "\n## Not as it should be\n",
        *(_failures(figures) or ["Nothing."]),
        "",
    ])  # fmt: skip


def _lines(figures: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    below, known, bits = figures["one_below"], figures["optimum_known"], figures["bits"]
    near = figures["bits_where_the_optimum_is_known"]
    ratio = figures["descent_alone_over_optimum"]
    drawn = ", ".join(f"{figures[verdict]:,} {verdict}" for verdict in (SIZED, PLAIN, REFUSED))
    yield "seeds drawn", f"{figures['seeds']:,}: {drawn}"
    yield "FIFOs sized; above depth 1 when minimal", f"{figures['fifos_sized']:,}; {figures['fifos_above_one']:,}"
    yield "each of those one less", ", ".join(f"{number:,} {outcome}" for outcome, number in sorted(below.items())) or "-"
    yield "the explanation names that FIFO", f"{figures['explanation_names_it']:,} of {sum(below.values()):,}"
    for name in ("LP", "emitted"):
        verdicts = sorted(figures[name].items())
        yield f"cycles at {name} depths, against unlimited", ", ".join(f"{number:,} {verdict}" for verdict, number in verdicts)
    yield "bits: all tokens, LP, emitted, minimal", ", ".join(_numbers(bits, ("worst", "LP", "emitted", "minimal")))
    yield "optimum known", f"{known:,} of {figures[SIZED]:,} graphs"
    yield "their bits: minimal, descent alone, optimum", ", ".join(_numbers(near, ("minimal", "descent alone", "optimum")))
    yield "largest descent alone/optimum; graphs above 1.05", f"{ratio['largest'] or 1:.3f}; {ratio['above_1.05']}"
    yield "runs; that were faster with less room", f"{figures['runs']:,}; {figures['surprises']:,}"
    yield "seconds a run", f"{figures['seconds_per_run']:.4f}"


def _numbers(figures: Mapping[str, int], names: Iterable[str]) -> list[str]:
    return [f"{figures[name]:,}" for name in names]


def slower_at(checks: Sequence[GraphCheck], name: str) -> list[str]:
    """A line for each graph that loses cycles at some depths (or does not end): which, and how many."""
    result: list[str] = []
    for check in checks:
        if not check.figures or check.figures["verdicts"][name] in ("equal", None):
            continue
        cycles, reference = check.figures["cycles"][name], check.figures["cycles"]["unlimited"]
        said = "does not end" if cycles is None else f"{cycles - reference:,} of {reference:,} cycles are lost"
        result.append(f"* seed {check.seed}, {name} depths: {said}")
    return result


def _failures(figures: Mapping[str, Any]) -> list[str]:
    return [f"* seed {entry['seed']}: {failure}" for entry in figures["failures"] for failure in entry["failures"]]


def read_checks(files: Sequence[Path]) -> list[GraphCheck]:
    """The graphs of earlier runs, by seed."""
    found = [GraphCheck(**entry) for file in files for entry in json.loads(file.read_text())["graphs"]]
    by_seed = {check.seed: check for check in found}
    return [by_seed[seed] for seed in sorted(by_seed)]


def run(options: argparse.Namespace) -> list[GraphCheck]:
    begin = time.perf_counter()
    found: list[GraphCheck] = []

    def heard(check: GraphCheck) -> None:
        found.append(check)
        sized = sum(entry.verdict == SIZED for entry in found)
        for failure in check.failures:
            print(f"seed {check.seed}: {failure}", file=sys.stderr)
        if options.json:
            options.json.write_text(json.dumps(as_json(found), indent=1) + "\n")
        print(f"\r{sized} of {options.count} graphs, {time.perf_counter() - begin:.0f} s", end="", file=sys.stderr, flush=True)

    checks = check_graphs(GraphCampaign(options.count, options.seed, options.jobs, options.batch), heard)
    print(file=sys.stderr)
    return checks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300, help="graphs with reconvergent paths")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--batch", type=int, default=10, help="programs built as one")
    parser.add_argument("--json", type=Path, help="write every graph to this file")
    parser.add_argument("--result", type=Path, action="append", help="run nothing, take the graphs of this file; may be repeated")
    parser.add_argument("--write", action="store_true", help="write docs/fifo_graphs.md")
    options = parser.parse_args()
    checks = read_checks(options.result) if options.result else run(options)
    print(json.dumps(summary(checks), indent=2))
    if options.write:
        DOCUMENT.write_text(document(checks))
    return 1 if any(check.failures for check in checks) else 0


if __name__ == "__main__":
    sys.exit(main())
