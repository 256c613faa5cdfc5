"""`apply-measurements`: loops get the interval and depth that synthesis has found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from stc.analysis.measured_loops import pipelined_loops
from stc.diagnostics import CompileError
from stc.dialects.facts import DEPTH, PIPELINE
from stc.manifest.checks import MOST_LOOP_CYCLES
from stc.transforms.linalg.apply_schedule import OWN_TABLE, read_tables
from stc.transforms.pass_pipeline import did_you_mean

LOOPS_TABLE = "loops"
ACCEPTED = f'"TASK.LABEL" = [II, DEPTH], integers of at least 1 and at most {MOST_LOOP_CYCLES:,}'


@dataclass(frozen=True)
class ApplyMeasurements(ModulePass):
    """Give pipelined loops the initiation interval and the depth that were measured, in place of estimates.

    They come from the table `stc.loops` of a `schedule.toml`, which `stc calibrate` writes from the reports of the vendor's tool:
    `"task.label" = [ii, depth]`, in cycles. What follows sizes FIFOs for them, and the C++ asks for these intervals. Loops that the
    table leaves out keep their estimates. Where there is no such table, nothing changes.

    Options: `schedule`, the path of that file.

        scf.for ... {stc.label = "mac", stc.pipeline = 1 : i32}
      becomes, with "fc.mac" = [2, 19] and in task @fc,
        scf.for ... {stc.label = "mac", stc.pipeline = 2 : i32, stc.depth = 19 : i32}
    """

    name = "apply-measurements"

    schedule: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        given = read_loops(self.schedule)
        loops = {f"{task.sym_name.data}.{label}": loop for task, label, loop in pipelined_loops(op)}
        where = f"{self.schedule} [{OWN_TABLE}.{LOOPS_TABLE}]"
        for name, (interval, depth) in given.items():
            if name not in loops:
                what = f"no pipelined loop of ours is called '{name}'{did_you_mean(name, loops)}"
                raise CompileError(what, where=where, accepted="TASK.LABEL, as in manifest.json")
            PIPELINE.put(loops[name], interval)
            DEPTH.put(loops[name], depth)


def read_loops(path: str) -> Mapping[str, tuple[int, int]]:
    """Interval and depth by task and label, of a schedule; none without one. CompileError for what is neither."""
    table: Any = read_tables(path).get(OWN_TABLE, {}).get(LOOPS_TABLE, {}) if path else {}
    where = f"{path} [{OWN_TABLE}.{LOOPS_TABLE}]"
    if not isinstance(table, dict):
        raise CompileError(f"'{OWN_TABLE}.{LOOPS_TABLE}' is no table", where=path, accepted=ACCEPTED)
    for name, value in table.items():
        if not (isinstance(value, list) and len(value) == 2 and all(map(_is_possible, value))):
            raise CompileError(f"'{name}' is {value}", where=where, accepted=ACCEPTED)
    return {name: (value[0], value[1]) for name, value in table.items()}


def _is_possible(cycles: object) -> bool:
    return type(cycles) is int and 1 <= cycles <= MOST_LOOP_CYCLES
