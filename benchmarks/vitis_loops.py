"""Intervals and depths that `stc` estimates, beside those of published synthesis reports.

    python benchmarks/vitis_loops.py [--json]

`data/vitis_loops.csv` lists 214 pipelined loops of published reports of Vitis HLS 2023.2 (xcu280, 3.33 ns, unsafe math allowed):
trip count, loops unrolled inside, the achieved interval and depth, the longest chain of operations, how often each occurs, and the
adders that were used. For each loop without unrolled ones inside a loop with that chain is written as IR, and stc's own rule
(`stc.analysis.loop_estimates`) is asked for both figures. Unrolled loops are not judged: the file does not say how their copies
are joined.

What the file leaves out is filled in one way for all: a sum whose adder has no DSPs stays in one place (the tool builds such adders
for these), any other has an entry for each iteration; what is forwarded was stored in the first iteration only; a quotient of what
comes straight from a stream is by a constant (no divider fits the depths of 7). Exit code 1 where fewer agree than REQUIRED.

Two figures of the rule were fitted to these same loops, the cycles of the counter and of `forward`: what it is worth for loops that
it has not seen, cross-validation says, which is printed as well.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from dataclasses import asdict, dataclass
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from stc.analysis.loop_estimates import innermost_loops, loop_estimate
from stc.analysis.operator_library import FORWARD, counter_stages
from stc.dialects.dataflow import TaskOp
from stc.dialects.parsing import parse_module

DATA = Path(__file__).parent / "data" / "vitis_loops.csv"
CLOCK_NS = 3.33
FORWARD_LINK = "+ forward "
"""How a chain says that it has one."""
REQUIRED_DEPTHS, REQUIRED_INTERVALS = 0.90, 0.95
"""Shares of the loops whose depth is within one cycle, and whose interval is the same."""


@dataclass(frozen=True)
class PublishedLoop:
    """A row of the file: cycles `ii` and `depth`, operations of the longest `chain` from the first to the last."""

    id: str
    trips: int
    copies: int
    ii: int
    depth: int
    chain: tuple[str, ...]
    in_place: bool


@dataclass(frozen=True)
class Comparison:
    """A published loop and what stc estimates for it, with its chain in words."""

    published: PublishedLoop
    ii: int
    depth: int
    chain: str

    @property
    def error(self) -> int:
        """Estimated minus published depth."""
        return self.depth - self.published.depth


def published_loops() -> list[PublishedLoop]:
    """All rows, in the file's order."""
    with DATA.open() as file:
        return [
            PublishedLoop(
                row["id"], int(row["trips"]), prod(int(copies) for copies in row["unrolled_inside"].split("x")), int(row["ii"]),
                int(row["depth"]), tuple(row["chain"].split()), row["adders"] == "5-stage no_dsp",
            )
            for row in csv.DictReader(file)
        ]  # fmt: skip


def comparisons() -> list[Comparison]:
    """Those without unrolled loops inside, by chain, each with its estimate."""
    loops = [loop for loop in published_loops() if loop.copies == 1]
    return [_compared(loop) for loop in sorted(loops, key=lambda loop: (loop.chain, loop.in_place, loop.trips))]


def _compared(published: PublishedLoop) -> Comparison:
    task = next(op for op in parse_module(loop_ir(published), published.id).walk() if isinstance(op, TaskOp))
    estimate = loop_estimate(next(innermost_loops(task)), task, CLOCK_NS)
    return Comparison(published, estimate.ii, estimate.depth, estimate.chain_text)


# A loop with a given chain ----------------------------------------------------------------------------------------------

DESIGN = """
func.func @f() {{
  dataflow.kernel @k() {{
    %first = stream.create @first : !stream.stream<f32, depth: 2>
    %last = stream.create @last : !stream.stream<f32, depth: 2>
    dataflow.task @t ins(%in = %first : !stream.stream<f32, depth: 2>) outs(%out = %last : !stream.stream<f32, depth: 2>) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %trips = arith.constant {trips} : index
      %eight = arith.constant 8.0 : f32
      %other = arith.constant 3.0 : f32
      %a = memref.alloc() : memref<{trips}xf32>
      %tile = memref.alloc() : memref<{trips}xf32>
      %b = memref.alloc() : memref<{trips}xf32>
      scf.for %i = %c0 to %trips step %c1 {{
        %begins = arith.cmpi eq, %i, %c0 : index
        {body}
      }}
      dataflow.yield
    }}
    dataflow.yield
  }}
  func.return
}}
"""
OPERATIONS = {
    "read": "{new} = stream.read %in : !stream.stream<f32, depth: 2>",
    "load": "{new} = memref.load %a[%i] : memref<{trips}xf32>",
    "forward": "scf.if %begins {{ memref.store {old}, %tile[%i] : memref<{trips}xf32> }}\n"
               "{new} = memref.load %tile[%i] : memref<{trips}xf32>",
    "mul": "{new} = arith.mulf {old}, %other : f32",
    "add": "{new} = arith.addf {old}, %other fastmath<reassoc,arcp> : f32",
    "sum": "%s = memref.load %b[{entry}] : memref<{trips}xf32>\n{new} = arith.addf %s, {old} fastmath<reassoc,arcp> : f32",
    "exp": "{new} = math.exp {old} : f32",
    "div": "{new} = arith.divf {old}, %eight fastmath<reassoc,arcp> : f32",
    "cmp": "%c = arith.cmpf ogt, {old}, %other : f32",
    "select": "{new} = arith.select %c, {old}, %other : f32",
    "max": "{new} = arith.maxnumf {old}, %other : f32",
    "store": "memref.store {old}, %b[{entry}] : memref<{trips}xf32>",
    "write": "stream.write {old} into %out : !stream.stream<f32, depth: 2>",
}  # fmt: skip


def loop_ir(published: PublishedLoop) -> str:
    """A task with one loop whose longest chain is the published one."""
    lines: list[str] = []
    for number, operation in enumerate(published.chain):
        accumulates = operation == "add" and published.chain[number:] == ("add", "store") and "mul" in published.chain
        lines.append(OPERATIONS["sum" if accumulates else operation].format(
            new=f"%v{number}", old=_value(published.chain, number), trips=published.trips,
            entry="%c0" if published.in_place else "%i",
        ))  # fmt: skip
    return DESIGN.format(trips=published.trips, body="\n        ".join(lines))


def _value(chain: tuple[str, ...], number: int) -> str:
    """What operation `number` works on: the last value before it (a comparison makes a condition, no value)."""
    before = [index for index in range(number) if chain[index] != "cmp"]
    return f"%v{before[-1]}" if before else ""


# Shares -----------------------------------------------------------------------------------------------------------------


def shares(compared: list[Comparison]) -> tuple[float, float]:
    """The shares of loops whose depth is within one cycle, and whose interval is the same."""
    close = sum(abs(one.error) <= 1 for one in compared)
    same = sum(one.ii == one.published.ii for one in compared)
    return close / len(compared), same / len(compared)


# What was fitted --------------------------------------------------------------------------------------------------------

LOW_BITS, HIGH_BITS, SOME_STAGES, FORWARD_CYCLES = range(8, 17), range(14, 23), range(5), range(4)


def cross_validated(compared: list[Comparison]) -> float:
    """The share of loops whose depth is within one cycle by a rule that was fitted without them.

    For each loop the cycles of the counter (from two lengths in bits on) and of `forward` are fitted anew to all others: as many
    depths as possible within one cycle, then the least sum of errors, then the smallest figures.
    """
    bits = np.array([one.published.trips.bit_length() for one in compared])
    forwards = np.array([FORWARD_LINK in one.chain for one in compared])
    counted = np.array([counter_stages(one.published.trips) for one in compared])
    rest = np.array([one.error for one in compared]) - counted - FORWARD.stages * forwards   # what is left of the error
    choices = product(LOW_BITS, HIGH_BITS, SOME_STAGES, SOME_STAGES, FORWARD_CYCLES)
    errors = np.array([
        rest + np.where(bits <= low, 0, np.where(bits <= high, middle, wide)) + forward * forwards
        for low, high, middle, wide, forward in choices
    ])  # fmt: skip
    missed, size = abs(errors) > 1, abs(errors)
    worst = size.sum(axis=1).max() + 1
    cost = (missed.sum(axis=1, keepdims=True) - missed) * worst + size.sum(axis=1, keepdims=True) - size   # without each loop
    best = cost.argmin(axis=0)
    return float(1 - missed[best, range(len(compared))].mean())


# The table --------------------------------------------------------------------------------------------------------------


def table(compared: list[Comparison]) -> Table:
    """One row a loop."""
    result = Table("loop", "trips", "II published", "II", "depth published", "depth", "error", "chain as estimated")
    for one in compared:
        loop = one.published
        result.add_row(loop.id, f"{loop.trips:,}", str(loop.ii), str(one.ii), str(loop.depth), str(one.depth), f"{one.error:+d}",
                       one.chain)  # fmt: skip
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    arguments = parser.parse_args()
    compared = comparisons()
    depths, intervals = shares(compared)
    if arguments.json:
        print(json.dumps([asdict(one) for one in compared]))
    else:
        console = Console(width=None if sys.stdout.isatty() else 150)
        console.print(table(compared))
        console.print(f"{len(compared)} of {len(published_loops())} published loops have no unrolled loop inside.")
        console.print(f"Depth within 1 cycle: {depths:.1%} (required {REQUIRED_DEPTHS:.0%}), by a rule fitted to these same loops.")
        console.print(f"The same, each loop by a rule fitted to the {len(compared) - 1} others: {cross_validated(compared):.1%}.")
        console.print(f"II the same: {intervals:.1%} (required {REQUIRED_INTERVALS:.0%}).")
    return 0 if depths >= REQUIRED_DEPTHS and intervals >= REQUIRED_INTERVALS else 1


if __name__ == "__main__":
    sys.exit(main())
