"""The publication's choices beside ours, one at a time, on small designs: docs/published.md.

    python benchmarks/published.py [--write] [DESIGN ...]

Every design is compiled, and run with time as emitted C++ with estimated loop depths. A choice that gives no design is shown with
the sentence that refuses it. `--write` puts the tables into docs/published.md. Exit code 0.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

import stc
from stc.diagnostics import CompileError

DOCUMENT = Path(__file__).parents[1] / "docs" / "published.md"
BEGIN, END = "<!-- fusion -->\n", "<!-- end of fusion -->\n"
"""Around what benchmarks/fusion.py writes there, which stays."""

TEXT = """# The publication's choices beside ours

Written by `python benchmarks/published.py --write`. Each row changes one choice of the compiler to the publication's (StreamTensor,
MICRO 2025), the others stay ours. Bytes are counted in the IR; cycles are executed, those of the emitted C++ with estimated loop
depths. A choice that gives no design is refused with the sentence below its table.

What each choice is, and where it differs:

* `--tiling published`: one `default_tile_size` for every loop, parallel loops outside, reductions inside. Ours lets neighbours
  inherit tiles and take the loop order of least memory.
* `--fusion published`: Algorithm 2. It counts converters alone, and a kernel without predecessors opens a group. Ours counts FIFOs
  and the kernels' own buffers too, places such a kernel with its first consumer, and merges groups that fit together.
* `--converters published`: Algorithm 1 as printed. It walks over data dimensions and stops at the first that does not match: on the
  publication's own example it buffers 8x8 where its text says 8x2. It compares neither trip counts nor steps: what it then shares
  are not the same loops (`columns` below), and the compile ends with an error that names the edge. Always ping-pong.
* `--parallelism published --overall-unroll-size {unroll}`: the slowest is unrolled twice as far until the sum of all factors is
  used up. Ours (`--budget dsp={dsp}`) counts the DSPs of the operators, takes back what is faster than the slowest, copies tasks.
* `--fifo-strategy published-normal`, `published-conservative`: three numbers (D, II, L) for a kernel, delays of least sum along all
  paths, tokens by equations 1 and 2. Ours (`no-stall`) knows every token's cycle and what a slot costs. Depths at which a design
  does not end are an error that names the FIFO.

"""
DSP, UNROLL = 200, 64

CHOICES: Mapping[str, dict[str, Any]] = {
    "ours": {"budget": "small"},
    "tiling published": {"budget": "small", "tiling": "published"},
    "fusion published": {"budget": "small", "fusion": "published"},
    "converters published": {"budget": "small", "converters": "published"},
    "ours, 200 DSPs": {"budget": f"dsp={DSP}"},
    "parallelism published": {"budget": "small", "parallelism": "published", "overall_unroll_size": UNROLL},
    "published-normal": {"budget": "small", "fifo_strategy": "published-normal"},
    "published-conservative": {"budget": "small", "fifo_strategy": "published-conservative"},
}


class Mlp(nn.Module):
    """Two linear layers around an activation, with a residual."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(24, 40), nn.Linear(40, 24)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.relu(self.up(x)))


class Attention(nn.Module):
    """One head: three projections, scores, softmax, values."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(16, 16) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores = self.q(x) @ self.k(x).transpose(0, 1) * 0.25
        return torch.softmax(scores, -1) @ self.v(x)


class Columns(nn.Module):
    """Two linear layers, the second of some columns of what the first gives: loops of other trips and steps on either side."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(24, 40), nn.Linear(36, 24)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.relu(self.up(x))[:, 2:38])


DESIGNS: Mapping[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "mlp": (Mlp, (12, 24)),
    "attention": (Attention, (12, 16)),
    "columns": (Columns, (12, 24)),
}


def mlp() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """For `stc compile benchmarks/published.py:mlp`."""
    make, shape = DESIGNS["mlp"]
    return make(), (torch.randn(shape),)


def attention() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """For `stc compile benchmarks/published.py:attention`."""
    make, shape = DESIGNS["attention"]
    return make(), (torch.randn(shape),)


@dataclass(frozen=True)
class Row:
    """What a choice came to; `refusal` in place of figures."""

    choice: str
    figures: tuple[Any, ...] = ()
    refusal: str = ""


COLUMNS = ("groups", "converters [bytes]", "FIFOs [bytes]", "between groups [bytes]", "DSPs", "cycles")


def rows_of(name: str) -> Iterator[Row]:
    """One row for each choice."""
    make, shape = DESIGNS[name]
    for choice, options in CHOICES.items():
        torch.manual_seed(0)
        try:
            design = stc.compile(make(), (torch.randn(shape),), name=name, check_inputs=["example"], **options)
        except CompileError as error:
            yield Row(choice, refusal=str(error))
            continue
        report, result = design.report(), design.simulate()
        memory = report["memory_bytes"]
        cycles = result.cycles if result.passed else result.values.outcome
        counted = (memory["converters"], memory["fifos"], memory["external"], report["resources"]["total"]["dsp"])
        yield Row(choice, (report["groups"], *counted, cycles))


def table_of(name: str, rows: list[Row]) -> str:
    """Markdown: the table, and the refusals below it."""
    _, shape = DESIGNS[name]
    lines = [f"## {name}, input {'x'.join(map(str, shape))}", "", f"| choice | {' | '.join(COLUMNS)} |", "| --- " * 7 + "|"]
    for row in rows:
        cells = [f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row.figures] or ["refused"] + [""] * 5
        lines.append(f"| {row.choice} | {' | '.join(cells)} |")
    refusals = [f"* {row.choice}: `{row.refusal}`" for row in rows if row.refusal]
    return "\n".join([*lines, *(["", *refusals] if refusals else []), ""])


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("designs", nargs="*", metavar="DESIGN", help=", ".join(DESIGNS))
    parser.add_argument("--write", action="store_true", help="into docs/published.md")
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.designs if name not in DESIGNS]:
        parser.error(f"no design is called '{unknown[0]}'; accepted: {', '.join(DESIGNS)}")
    tables = []
    for name in asked.designs or DESIGNS:
        tables.append(table_of(name, list(rows_of(name))))
        print(tables[-1], flush=True)
    if asked.write:
        _, begin, fusion = DOCUMENT.read_text().partition(BEGIN)
        DOCUMENT.write_text(TEXT.format(unroll=UNROLL, dsp=DSP) + "\n".join(tables) + "\n" + begin + fusion)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
