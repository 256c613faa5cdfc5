"""`apply-schedule`: scheduling decisions from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from stc.analysis.generic_loops import GenericLoops, generics_in, name_of
from stc.analysis.integer_products import integer_products, is_of_a_pair, multipliers_of
from stc.analysis.operator_library import adders_of
from stc.design_space.parallelism import divisors
from stc.design_space.tiling import MOST_LANES, default_order, default_unroll
from stc.diagnostics import CompileError
from stc.dialects.dataflow import ScheduleAttr
from stc.dialects.facts import ADDER_KINDS, ADDERS, FIXED, MULTIPLIER_KINDS, MULTIPLIERS, SCHEDULE
from stc.transforms.linalg.tile_linalg import check_schedule, check_vectors
from stc.user_files import toml_of

MULTIPLIERS_FIELD = "multipliers"
ADDERS_FIELD = "adders"
FIELDS = ("tile", "order", "unroll", "vector", "fixed", MULTIPLIERS_FIELD, ADDERS_FIELD)
OWN_TABLE = "stc"
"""The table of a schedule that is about no op: options, and depths of FIFOs."""


@dataclass(frozen=True)
class ApplySchedule(ModulePass):
    """Attach the schedules of a `schedule.toml` to the generics they name.

    One table per op (its `stc.name`), with the fields of `#dataflow.schedule`: `tile` is required; `order` defaults to
    parallel loops outside and reductions inside, `unroll` to what `default-tile-size` would do, `vector` to undecided (one shape
    per operand, inputs first: the lanes its streams carry). With `fixed = false` later passes may still choose another order.
    `multipliers`, "pairs", "dsp" or "lut", is what those of an integer contraction are made of (`choose-multipliers` reads it
    before pairs are packed); `adders`, "dsp" or "lut", what those of floats are made of. A table that says only these leaves the
    schedule to later passes. A name that no op has, a field that
    does not exist and a tile or vector that does not divide are errors. The tables of `stc` are about no op,
    and for others to read.

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
        tables = {name: table for name, table in read_tables(self.path).items() if name != OWN_TABLE}
        generics = {name_of(found): found for found in generics_in(op)}
        for name, table in tables.items():
            is_done = f"{name}_pairs" in generics or f"{name}_0" in generics or f"{name}_pairs_0" in generics
            if set(table) == {MULTIPLIERS_FIELD} and name not in generics and is_done:
                continue  # of what copies compute now
            if name not in generics:
                known = ", ".join(sorted(str(known) for known in generics))
                raise CompileError(f"no op is called '{name}'", where=self.path, accepted=known)
            generic = generics[name]
            where = f"{self.path} [{name}]"
            if MULTIPLIERS_FIELD in table and not (table[MULTIPLIERS_FIELD] == "pairs" and is_done):
                give_multipliers(generic, table[MULTIPLIERS_FIELD], where)
            if ADDERS_FIELD in table:
                _give_adders(generic, table[ADDERS_FIELD], where)
            if set(table) <= {MULTIPLIERS_FIELD, ADDERS_FIELD}:
                continue
            schedule = _schedule(generic, table, where)
            check_schedule(generic, schedule)
            check_vectors(generic, schedule)
            generic.attributes |= SCHEDULE.entry(schedule) | (FIXED.entry(None) if table.get("fixed", True) else {})


@dataclass(frozen=True)
class Decided:
    """What was decided for the op `name`: the `entries` of its table. `loops`: extent and kind of each, to read by."""

    name: str
    loops: tuple[tuple[int, str], ...]
    entries: Mapping[str, Any]


def decided_schedules(module: ModuleOp) -> list[Decided]:
    """The schedules of all generics that have one, as tables of a `schedule.toml`: given back they give the same."""
    found: list[Decided] = []
    for generic in generics_in(module):
        schedule = SCHEDULE.of(generic)
        if schedule is None:
            continue
        loops = GenericLoops(generic)
        kinds = ["sum" if loop in loops.reductions else "parallel" for loop in range(len(loops.extents))]
        vectors = [list(shape) for shape in schedule.vectors]
        entries = {"tile": schedule.tiles, "order": schedule.loop_order, "unroll": schedule.unrolls, "vector": vectors}
        entries |= {} if FIXED.on(generic) else {"fixed": False}
        entries |= {} if (made_of := multipliers_of(generic)) is None else {MULTIPLIERS_FIELD: made_of}
        adders = next((kind for adder in adders_of(generic) if (kind := ADDERS.of(adder)) is not None), None)
        entries |= {} if adders is None else {ADDERS_FIELD: adders}
        found.append(Decided(str(name_of(generic)), tuple(zip(loops.extents, kinds, strict=True)), entries))
    return found


def give_multipliers(generic: linalg.GenericOp, made_of: Any, where: str, *, can_pair: bool = False) -> None:
    """Let the integer multipliers of `generic` be made of what a table says; CompileError, about `where`, where they cannot be.

    `can_pair`: whether its products can be packed in pairs, which they are not yet.
    """
    products = integer_products(generic)
    if made_of not in MULTIPLIER_KINDS:
        raise CompileError(f"{MULTIPLIERS_FIELD} is {made_of!r}", where=where, accepted=", ".join(MULTIPLIER_KINDS))
    if not products:
        what = f"{MULTIPLIERS_FIELD} is '{made_of}', and no integers are multiplied"
        raise CompileError(what, where=where, accepted="contractions of integers")
    if any(is_of_a_pair(product) for product in products):
        if made_of != "pairs":
            what = f"{MULTIPLIERS_FIELD} is '{made_of}' for products that are packed in pairs"
            alone = f"a table for the contraction itself with {MULTIPLIERS_FIELD} = '{made_of}' alone, which is not packed then"
            raise CompileError(what, where=where, accepted=f"pairs, or {alone}")
        return
    if made_of == "pairs" and not can_pair:
        what = f"{MULTIPLIERS_FIELD} is 'pairs', and two rows of it cannot share a DSP"
        accepted = "dsp or lut; pairs where an even number of rows of a parameter is multiplied, and sums of two terms have room"
        raise CompileError(what, where=where, accepted=accepted)
    for product in products:
        MULTIPLIERS.put(product, made_of)


def _give_adders(generic: linalg.GenericOp, made_of: Any, where: str) -> None:
    """Let the adders of floats of `generic` be made of what a table says."""
    if made_of not in ADDER_KINDS:
        raise CompileError(f"{ADDERS_FIELD} is {made_of!r}", where=where, accepted=", ".join(ADDER_KINDS))
    if not adders_of(generic):
        what = f"{ADDERS_FIELD} is '{made_of}', and no floats are added"
        raise CompileError(what, where=where, accepted="computations with additions of floats")
    for adder in adders_of(generic):
        ADDERS.put(adder, made_of)


def read_tables(path: str) -> Mapping[str, Mapping[str, Any]]:
    """All tables of a schedule; CompileError where it cannot be read."""
    try:
        tables = toml_of(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise CompileError(f"schedule cannot be read ({error.strerror})", where=path, accepted="a TOML file") from error
    except ValueError as error:
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
    if type(table.get("fixed", True)) is not bool:
        raise CompileError(f"fixed is {table['fixed']}", where=where, accepted="true or false")
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
    for loop, (extent, factor) in enumerate(zip(tile, unroll, strict=True)):
        if extent % factor:
            factors = ", ".join(map(str, divisors(extent)))
            what = f"unroll {factor} of loop {loop} does not divide its tile {extent}"
            raise CompileError(what, where=where, accepted=f"one of {factors}")
    return schedule
