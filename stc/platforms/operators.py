"""Operator latencies and costs: one row per operator, clock and variant, from published synthesis reports, else assumed."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from math import ceil

ASSUMED = "assumed"


@dataclass(frozen=True)
class OperatorCost:
    """One operator: pipeline `stages` and `ii` in cycles of `clock_ns`, resources, and the figures' source."""

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

    @property
    def origin(self) -> str:
        """Of `stages`: published or assumed."""
        return ASSUMED if self.source.startswith(ASSUMED) else "published"


@cache
def operator_costs() -> tuple[OperatorCost, ...]:
    """All rows of `data/vitis_operators.csv`, in the file's order."""
    return _rows("vitis_operators.csv")


@cache
def assumed_costs() -> tuple[OperatorCost, ...]:
    """All rows of `data/assumed_operators.csv`: operators without a report, and FF and LUT that reports leave out."""
    return _rows("assumed_operators.csv")


def _rows(file: str) -> tuple[OperatorCost, ...]:
    text = resources.files("stc.platforms").joinpath("data", file).read_text()
    return tuple(_cost(row) for row in csv.DictReader(text.splitlines()))


@cache
def find_operator(name: str, clock_ns: float) -> OperatorCost:
    """The row of operator `name` for designs with cycles of `clock_ns`; KeyError where no file has one.

    That is the published row of the longest cycle which is not longer: an operator scheduled for a shorter cycle has stages
    enough. Where all are longer, the shortest of them, with stages for the same time (assumed). Without a published row, the
    assumed one. FF and LUT that a report leaves out (no resource at all) are those of the assumed row.
    """
    assumed = next((row for row in assumed_costs() if row.operator == name), None)
    rows = sorted((row for row in operator_costs() if row.operator == name), key=lambda row: row.clock_ns)
    if not rows and assumed is None:
        raise KeyError(name)
    rows = rows or [row for row in (assumed,) if row is not None]
    found = max((row for row in rows if row.clock_ns <= clock_ns), key=lambda row: row.clock_ns, default=rows[0])
    if found.clock_ns > clock_ns:
        stages = ceil(found.stages * found.clock_ns / clock_ns)
        found = replace(found, stages=stages, source=f"{ASSUMED}: stages of {found.clock_ns} ns for the same time; {found.source}")
    if assumed is not None and not (found.dsp or found.ff or found.lut):
        found = replace(found, ff=assumed.ff, lut=assumed.lut, source=f"{found.source}; {assumed.source}")
    return found


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
