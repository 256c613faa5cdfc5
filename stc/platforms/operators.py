"""Operator latencies and costs from published synthesis reports: one row per operator, clock and variant."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True)
class OperatorCost:
    """One published operator: pipeline `stages` and `ii` in cycles of `clock_ns`, resources, and the figures' source."""

    operator: str
    stages: int
    ii: int
    dsp: int
    ff: int
    lut: int
    clock_ns: float
    device: str
    tool: str
    source: str


@cache
def operator_costs() -> tuple[OperatorCost, ...]:
    """All rows of `data/vitis_operators.csv`, in the file's order."""
    text = resources.files("stc.platforms").joinpath("data", "vitis_operators.csv").read_text()
    return tuple(_cost(row) for row in csv.DictReader(text.splitlines()))


@cache
def find_operator(name: str, clock_ns: float) -> OperatorCost:
    """The row of operator `name` for designs with cycles of `clock_ns`; KeyError where the file has none.

    That is the row of the longest cycle which is not longer: an operator scheduled for a shorter cycle has stages enough. Where
    all are longer, the shortest of them.
    """
    rows = sorted((row for row in operator_costs() if row.operator == name), key=lambda row: row.clock_ns)
    if not rows:
        raise KeyError(name)
    return max((row for row in rows if row.clock_ns <= clock_ns), key=lambda row: row.clock_ns, default=rows[0])


def _cost(row: dict[str, str]) -> OperatorCost:
    return OperatorCost(
        operator=row["operator"],
        stages=int(row["stages"]),
        ii=int(row["ii"]),
        dsp=int(row["dsp"]),
        ff=int(row["ff"]),
        lut=int(row["lut"]),
        clock_ns=float(row["clock_ns"]),
        device=row["device"],
        tool=row["tool"],
        source=row["source"],
    )
