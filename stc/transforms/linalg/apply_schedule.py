"""`apply-schedule`: scheduling decisions from a file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xdsl.context import Context
from xdsl.dialects import linalg
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from stc.analysis.generic_loops import GenericLoops, generics_in, name_of
from stc.design_space.tiling import MOST_LANES, default_order, default_unroll
from stc.diagnostics import CompileError
from stc.dialects.dataflow import ScheduleAttr
from stc.transforms.linalg.tile_linalg import check_schedule, check_vectors

FIELDS = ("tile", "order", "unroll", "vector")
FIXED = "stc.fixed"
"""Marks a generic whose schedule a user decided: no later pass chooses another."""


@dataclass(frozen=True)
class ApplySchedule(ModulePass):
    """Attach the schedules of a `schedule.toml` to the generics they name.

    One table per op (its `stc.name`), with the fields of `#dataflow.schedule`: `tile` is required; `order` defaults to
    parallel loops outside and reductions inside, `unroll` to what `default-tile-size` would do, `vector` to undecided (one shape
    per operand, inputs first: the lanes its streams carry). A name that no op has, a field that does not exist and a tile or vector
    that does not divide are errors.

    Options: `path` of the file.

        [attn_c_proj]
        tile = [16, 32, 4, 16]
        order = [2, 3, 0, 1]
      gives
        linalg.generic ... attrs = {stc.name = "attn_c_proj",
          stc.schedule = #dataflow.schedule<tile = [16, 32, 4, 16], order = [2, 3, 0, 1], unroll = [1, 1, 1, 1], vector = []>,
          stc.fixed}
    """

    name = "apply-schedule"

    path: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        tables = _read(self.path)
        generics = {name_of(found): found for found in generics_in(op)}
        for name, table in tables.items():
            if name not in generics:
                known = ", ".join(sorted(str(known) for known in generics))
                raise CompileError(f"no op is called '{name}'", where=self.path, accepted=known)
            generic = generics[name]
            schedule = _schedule(generic, table, f"{self.path} [{name}]")
            check_schedule(generic, schedule)
            check_vectors(generic, schedule)
            generic.attributes |= {"stc.schedule": schedule, FIXED: UnitAttr()}


def _read(path: str) -> Mapping[str, Mapping[str, Any]]:
    try:
        tables = tomllib.loads(Path(path).read_text())
    except OSError as error:
        raise CompileError(f"schedule cannot be read ({error.strerror})", where=path, accepted="a TOML file") from error
    except tomllib.TOMLDecodeError as error:
        raise CompileError(f"schedule is not TOML ({error})", where=path, accepted="one table per op") from error
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise CompileError(f"'{name}' is no table", where=path, accepted=f"[{name}] with {', '.join(FIELDS)}")
    return tables


def _schedule(generic: linalg.GenericOp, table: Mapping[str, Any], where: str) -> ScheduleAttr:
    unknown = sorted(set(table) - set(FIELDS))
    if unknown or "tile" not in table:
        complaint = f"unknown field '{unknown[0]}'" if unknown else "no field 'tile'"
        raise CompileError(complaint, where=where, accepted=", ".join(FIELDS))
    loops = GenericLoops(generic)
    count = len(loops.extents)
    order = table.get("order", list(default_order(count, loops.reductions)))
    tile = table["tile"]
    fits = isinstance(tile, list) and len(tile) == count and all(type(entry) is int and entry > 0 for entry in tile)
    natural = default_unroll(tile, loops.reductions, loops.operand_dims, MOST_LANES) if fits else ()
    unroll = table.get("unroll", list(natural))
    vector = table.get("vector", [])
    for field, value in (("tile", tile), ("order", order), ("unroll", unroll)):
        if not (isinstance(value, list) and all(type(entry) is int for entry in value) and len(value) == count):
            raise CompileError(f"{field} is {value}", where=where, accepted=f"a list of {count} integers, one per loop")
    if not (isinstance(vector, list) and all(isinstance(v, list) and all(type(e) is int for e in v) for v in vector)):
        raise CompileError(f"vector is {vector}", where=where, accepted="a list of integer lists, one per operand")
    try:
        schedule = ScheduleAttr.of(tile, order, unroll, vector)
        schedule.verify()
    except VerifyException as error:
        raise CompileError(str(error), where=where) from error
    return schedule
