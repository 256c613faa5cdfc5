"""Groups of kernels by each fusion strategy: external traffic, groups, and seconds, at several C_max: docs/published.md.

    python benchmarks/fusion.py [--write] [MODEL ...]

Each model is compiled up to the choice of groups, with the cheapest design, for C_max in shares of what all its kernels take as one
group. --write puts the table into docs/published.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from measured_at import measured_at, write_between
from published import BEGIN, DOCUMENT, END

from stc.diagnostics import CompileError
from stc.pipeline import PipelineOptions
from stc.platforms.budget import SMALL
from stc.strategies.fusion import FUSION, FusionProblem, Groups, joined
from stc.tools.compile import CompileRequest, compile_model

DECODE: Mapping[str, Any] = {"stage": "decode", "run_time_sizes": True}
MODELS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "gpt2-tiny, 8 tokens": ("gpt2-tiny", {"seq": 8}),
    "gpt2-tiny, decode, 33 positions": ("gpt2-tiny", {**DECODE, "max_seq": 33}),
    "tinyllama-1.1b, 8 tokens": ("tinyllama-1.1b", {"seq": 8}),
    "gemma3-1b, decode, 64 positions": ("gemma3-1b", {**DECODE, "max_seq": 64}),
}
SHARES = (0.25, 0.5, 0.75)
STRATEGIES = ("greedy", "published", "exact")

TEXT = """\
## Groups by each fusion strategy

Written by `python benchmarks/fusion.py --write`. {measured} C_max in shares of what all kernels of the model take as one group.
*Bytes*: of each tensor between groups, written once and read once by each group that reads it (counted); *seconds* of the strategy
alone. `exact` is stopped after a minute, and prints a warning where it has not proved that no groups have less: here none did.
Kernels that read and update one tensor, as the caches of a decoder, have to be one group. *Refused* by the check
of plans: `published` counts converters alone, and its largest group takes more than C_max; or what has to be together has no room
beside what a strategy has put there.

"""


class _Stopped(CompileError):
    """The groups are chosen: nothing behind that is wanted."""


def problem_of(name: str) -> FusionProblem:
    """What the strategies of fusion are asked for one of `MODELS`."""
    model, request = MODELS[name]
    kept: list[FusionProblem] = []

    def keep(problem: FusionProblem) -> Groups:
        kept.append(problem)
        raise _Stopped("the groups are chosen")

    FUSION.registered["kept"] = keep
    options = PipelineOptions(budget=SMALL, fusion="kept")
    try:
        with tempfile.TemporaryDirectory() as folder:
            compile_model(CompileRequest(model, options=options, **request), Path(folder) / "project")
    except _Stopped:
        pass
    return kept[0]


def rows_of(name: str) -> Iterator[str]:
    """A row for each C_max."""
    asked = problem_of(name)
    names = [[kernel.name] for kernel in asked.kernels]
    fused = [edge for edge in asked.edges if edge.stream_bytes <= asked.on_chip]
    whole = sum(kernel.local_bytes for kernel in asked.kernels) + sum(edge.stream_bytes for edge in fused)
    for share in SHARES:
        problem = replace(asked, on_chip=int(share * whole))
        cells = [cell for strategy in STRATEGIES for cell in cells_of(problem, strategy)]
        yield f"| {name} | {len(names)} | {asked.external_bytes(names):,} | {problem.on_chip:,} | {' | '.join(cells)} |"


def cells_of(problem: FusionProblem, strategy: str) -> tuple[str, str, str]:
    """Bytes, groups and seconds, as of a plan that nobody has checked: a group that takes too much is said."""
    begin = time.perf_counter()
    groups = FUSION.find(strategy)(problem)
    seconds = f"{time.perf_counter() - begin:.2f}"
    needed = max(map(problem.bytes_of, groups))
    try:
        groups = joined(problem, groups, problem.together)
    except CompileError:
        return "refused", "", seconds
    refused = f", refused: {needed:,} on chip" if needed > problem.on_chip else ""
    return f"{problem.external_bytes(groups):,}{refused}", str(len(groups)), seconds


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help="; ".join(MODELS))
    parser.add_argument("--write", action="store_true", help="into docs/published.md")
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.models if name not in MODELS]:
        parser.error(f"nothing is called '{unknown[0]}'; accepted: {'; '.join(MODELS)}")
    figures = " | ".join(f"{strategy}: bytes | groups | seconds" for strategy in STRATEGIES)
    lines = [f"| model | kernels | bytes, no fusion | C_max | {figures} |", "| --- " * (4 + 3 * len(STRATEGIES)) + "|"]
    print(*lines, sep="\n", flush=True)
    for name in asked.models or MODELS:
        for row in rows_of(name):
            lines.append(row)
            print(row, flush=True)
    if asked.write:
        write_between(DOCUMENT, BEGIN, TEXT.format(measured=measured_at()) + "\n".join(lines) + "\n", END)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
