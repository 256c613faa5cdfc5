"""`schedule.toml`: every decision about a design, as a file that is written into the project and can be given back.

    [stc.options]            what the passes were asked for
    [NAME]                   one table per computation: tile, order, unroll, vector (`apply-schedule`)
    [stc.parallelism]        lanes, rows and copies of each computation, where they were searched (`choose-parallelism`)
    [stc.loops]              interval and depth of loops, where they were measured (`apply-measurements`)
    [stc.fifos]              the depth that each FIFO requires (`size-fifos`)
    [stc.memories]           what memory each array and FIFO is built of (`choose-storage`)
    [stc.units]              the compute unit of each task, where there are several (`assign-units`)
    [stc.dies]               the die of each compute unit, where they are assigned (`assign-dies`)
    [stc.formats]            how each linear layer is quantised, where any is (`quantize-linear`)

Given back unchanged (`--schedule`) for the same model, it gives the same design. A whole model has a folder of them,
STAGE/schedule.toml for each stage, as the folder of a compiled one is.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from stc.analysis.storage import Storable
from stc.design_space.parallelism import Parallelism
from stc.diagnostics import CompileError
from stc.pipeline import PipelineOptions
from stc.quantisation.formats import F32, LinearFormat, read_quantisation, require_layers, with_formats
from stc.strategies.dies import UNASSIGNED
from stc.transforms.linalg.apply_schedule import OWN_TABLE, Decided, read_tables
from stc.transforms.linalg.choose_parallelism import PARALLELISM_TABLE
from stc.transforms.pass_pipeline import did_you_mean
from stc.transforms.stream.apply_measurements import LOOPS_TABLE
from stc.transforms.stream.assign_dies import DIES_TABLE
from stc.transforms.stream.assign_units import UNITS_TABLE
from stc.transforms.stream.choose_storage import MEMORIES_TABLE
from stc.user_files import toml_of

FILE = "schedule.toml"

OPTIONS, FIFOS, FORMATS = "options", "fifos", "formats"
TABLES = (OPTIONS, PARALLELISM_TABLE, LOOPS_TABLE, FIFOS, MEMORIES_TABLE, UNITS_TABLE, DIES_TABLE, FORMATS)

NOT_IN_FILE = ("schedule", "fifo_depths", "kernel_name", "position_rows")
"""Options that are files themselves, or follow from the model."""

_HEAD = """\
# Every decision about this design. Given back unchanged, it gives the same design:
#     stc compile MODEL --schedule schedule.toml --out FOLDER
# An option on the command line counts more than one here. A table that is left out is decided by the compiler again.
"""
_PARALLELISM = """\
# Lanes and rows of each computation in a task, and copies of that. Leave this table, and all below, out for another search.
"""
_LOOPS = """\
# Initiation interval and depth of pipelined loops, in cycles, as synthesis reported them (stc calibrate); others are estimated.
# Leave this table out after a change of anything above: the figures are those of that design.
"""

_FIFOS = """\
# Tokens that each FIFO has to hold; what is emitted is rounded up to what costs the same.
# Leave this table out after a change of anything above: it follows from the rest.
"""

_MEMORIES = """\
# What each array of a task ("task.array") and each FIFO of more than two tokens is built of: LUTs (lutram, srl), bram or uram.
"""


_FORMATS = """\
# How each linear layer, by path of its module, is quantised: as --quantize says it of one, or f32. This counts more than `quantize`
# above, which is of those that are left out.
"""


def with_schedule(options: PipelineOptions, given: Iterable[str]) -> PipelineOptions:
    """`options`, and for those that are not `given` what their schedule says.

    CompileError for a schedule that cannot be read, or says something that is no option.
    """
    if not options.schedule:
        return options
    said = read_tables(options.schedule).get(OWN_TABLE, {})
    table, where = said.get(OPTIONS, {}), f"{options.schedule} [{OWN_TABLE}.{OPTIONS}]"
    if unknown := sorted(set(said) - set(TABLES)):
        raise CompileError(f"there is no table '{OWN_TABLE}.{unknown[0]}'", where=options.schedule, accepted=", ".join(TABLES))
    if not isinstance(table, dict):
        raise CompileError(f"'{OWN_TABLE}.{OPTIONS}' is no table", where=options.schedule, accepted="a table of options")
    known = {field.name: type(field.default) for field in fields(PipelineOptions) if field.name not in NOT_IN_FILE}
    for name, value in table.items():
        if name not in known:
            raise CompileError(f"no option is called '{name}'{did_you_mean(name, known)}", where=where, accepted=", ".join(known))
        if type(value) is not known[name]:
            raise CompileError(f"{name} is {value!r}", where=where, accepted=f"a value of type {known[name].__name__}")
    given = set(given)
    searches = {"parallelism": "--parallelism", "overall_unroll_size": "--overall-unroll-size"}
    if PARALLELISM_TABLE in said and (asked := [option for name, option in searches.items() if name in given]):
        what = f"it says lanes and copies, and {asked[0]} asks for others"
        accepted = f"one of both: leave out the option, or the tables '{OWN_TABLE}.{PARALLELISM_TABLE}' and of computations"
        raise CompileError(what, where=options.schedule, accepted=accepted)
    decided = replace(options, **{name: value for name, value in table.items() if name not in given})
    if DIES_TABLE in said and decided.dies == UNASSIGNED:
        what = f"there is a table '{OWN_TABLE}.{DIES_TABLE}', and dies are '{UNASSIGNED}'"
        raise CompileError(what, where=options.schedule, accepted=f'dies = "optimum" in {OWN_TABLE}.{OPTIONS}, or no such table')
    return _with_formats(decided, said, given)


def require_folder(schedule: str) -> None:
    """CompileError where the schedule of a whole model, if there is one, is no folder with schedules of stages."""
    if schedule and not any(Path(schedule).glob(f"*/{FILE}")):
        what = "no stage has a schedule here" if Path(schedule).is_dir() else "the schedule of a whole model is a folder"
        raise CompileError(what, where=schedule, accepted=f"a folder with STAGE/{FILE}, as `stc compile --stage model` writes one")


def require_stages(folder: str, names: Collection[str]) -> None:
    """CompileError where `folder`, unless empty, has the schedule of a stage that is none of `names`."""
    found = sorted(path.parent.name for path in Path(folder).glob(f"*/{FILE}")) if folder else []
    if unknown := next((name for name in found if name not in names), None):
        raise CompileError(f"no stage is called '{unknown}'{did_you_mean(unknown, names)}", where=folder, accepted=", ".join(names))


def stage_schedule(folder: str, stage: str) -> str:
    """The path of a stage's schedule in the folder of a whole model's, empty where nothing is said of the stage."""
    path = Path(folder) / stage / FILE
    return str(path) if folder and path.is_file() else ""


def _with_formats(options: PipelineOptions, said: Mapping[str, Any], given: Collection[str]) -> PipelineOptions:
    """The options, such that each layer of the schedule's table of formats has that one; CompileError where it cannot, and where
    the command line asks for another."""
    where = f"{options.schedule} [{OWN_TABLE}.{FORMATS}]"
    table = said.get(FORMATS, {})
    if not isinstance(table, dict) or not all(isinstance(text, str) for text in table.values()):
        what, accepted = f"'{OWN_TABLE}.{FORMATS}' is no table of texts", f'"PATH" = "{LinearFormat()}"'
        raise CompileError(what, where=options.schedule, accepted=accepted)
    if wrong := next((path for path in table if not path or "," in path or "=" in path), None):
        raise CompileError(f"{wrong!r} is no path of a module", where=where, accepted="paths such as 'mlp.c_fc'")
    formats = {path: LinearFormat.read(text, f"{where} {path}") for path, text in table.items()}
    text = with_formats(options.quantize, formats)
    if "quantize" in given and text != options.quantize:
        asked = read_quantisation(options.quantize)
        path = next(path for path, own in formats.items() if asked.format_of(path) != own)
        what = f"'{path}' is {formats[path] or F32} here, and {asked.format_of(path) or F32} by --quantize or --dtype"
        raise CompileError(what, where=where, accepted="one of both: leave out the option, or the layer's entry")
    return replace(options, quantize=text)


def require_known_formats(schedule: str, layers: Iterable[str]) -> None:
    """CompileError where the schedule has a format for none of the linear `layers` that there are."""
    table = read_tables(schedule).get(OWN_TABLE, {}).get(FORMATS, {}) if schedule else {}
    require_layers(table, layers, f"{schedule} [{OWN_TABLE}.{FORMATS}]")


def schedule_text(
    options: PipelineOptions,
    ops: Sequence[Decided] | None,
    sizings: Sequence[Mapping[str, Any]] | None,
    memories: Iterable[Storable],
    units: Mapping[str, str],
    dies: Mapping[str, int],
    formats: Mapping[str, LinearFormat | None],
    parallelism: Mapping[str, Parallelism],
    measured: Mapping[tuple[str, str], tuple[int, int]],
) -> str:
    """The file. `ops`: None where the compile began behind the pass that tiles them; `sizings`: kernels as in report.json;
    `memories`: those that were chosen are said; `units`: by task; `dies`: by unit; `formats`: by path
    of the layer, None: f32; `parallelism`: by computation, before it was copied, empty where nothing was searched;
    `measured`: loops by task and label, interval and depth."""
    lines = [_HEAD, f"[{OWN_TABLE}.{OPTIONS}]"]
    comments = _comments()
    for field in fields(PipelineOptions):
        if field.name not in NOT_IN_FILE:
            comment = comments.get(field.name)
            lines += [f"# {comment}"] if comment else []
            lines.append(f"{field.name} = {_value(getattr(options, field.name))}")
    if parallelism:
        lines += ["", _PARALLELISM + f"[{OWN_TABLE}.{PARALLELISM_TABLE}]"]
        lines += [f"{_key(name)} = {_inline(chosen)}" for name, chosen in parallelism.items()]
    if ops is None:
        lines += ["", "# Computations were tiled before this compile began: their schedules are in the IR it began with."]
    for op in ops or ():
        loops = ", ".join(f"{extent} {kind}" for extent, kind in op.loops)
        lines += ["", f"[{_key(op.name)}]", f"# loops: {loops}"]
        lines += [f"{field} = {_value(value)}" for field, value in op.entries.items()]
    if measured:
        lines += ["", loops_text(measured)]
    if sizings is not None:
        lines += ["", _FIFOS + f"[{OWN_TABLE}.{FIFOS}]"]
        for fifo in (fifo for kernel in sizings for fifo in kernel["fifos"]):
            lines.append(f"{_key(fifo['name'])} = {fifo['required']}  # of {fifo['tokens']} tokens of {fifo['bits']} bits")
    if chosen := [f"{_key(each.name)} = {_value(each.memory)}  # {each.text}" for each in memories if each.memory is not None]:
        lines += ["", _MEMORIES + f"[{OWN_TABLE}.{MEMORIES_TABLE}]", *chosen]
    if units:
        lines += ["", f"# The compute unit of each task.\n[{OWN_TABLE}.{UNITS_TABLE}]"]
        lines += [f"{_key(task)} = {_value(unit)}" for task, unit in units.items()]
    if dies:
        lines += ["", f"# The die of each compute unit, from 0.\n[{OWN_TABLE}.{DIES_TABLE}]"]
        lines += [f"{_key(unit)} = {die}" for unit, die in dies.items()]
    if said := {path: own for path, own in formats.items() if path}:  # what is outside of modules has no path to be called by
        lines += ["", _FORMATS + f"[{OWN_TABLE}.{FORMATS}]"]
        lines += [f"{_key(path)} = {_value(str(own or F32))}" for path, own in said.items()]
    return "\n".join(lines) + "\n"


def loops_text(loops: Mapping[tuple[str, str], tuple[int, int]]) -> str:
    """The table of measured loops: interval and depth by task and label."""
    rows = [f'"{task}.{label}" = {_value(list(figures))}' for (task, label), figures in loops.items()]
    return "\n".join([_LOOPS + f"[{OWN_TABLE}.{LOOPS_TABLE}]", *rows])


def without_table(text: str, table: str, where: str, keeps: Callable[[str], bool] = lambda key: False) -> str:
    """A schedule without the entries of our table `table`, but for the keys that `keeps` says, nor the comments right above them;
    without its heading where none is left.

    CompileError where it cannot be read, or is not written with a line for each entry, as we do.
    """
    said = _tables_of(text, where)
    left = {key: value for key, value in said[OWN_TABLE].get(table, {}).items() if keeps(key)}
    kept: list[str] = []
    above: list[str] = []
    inside = False
    for line in text.splitlines():
        if line.startswith("#"):
            above.append(line)
            continue
        stays = True
        if line.startswith("["):
            inside = line.strip() == f"[{OWN_TABLE}.{table}]"
            stays = not inside or bool(left)
        elif inside:
            stays = keeps(line.partition("=")[0].strip().strip('"')) if line.strip() else bool(left)
        kept += [*above, line] if stays else []
        above = []
    found = "\n".join([*kept, *above]) + "\n"
    own = {name: value for name, value in said[OWN_TABLE].items() if name != table} | ({table: left} if left else {})
    _require_tables(found, {**said, OWN_TABLE: own}, table, where)
    return found


def _tables_of(text: str, where: str) -> dict[str, Any]:
    """What a schedule says; CompileError where it is no TOML, or has something else in place of one of our tables."""
    accepted = "what `stc compile` wrote"
    try:
        said = toml_of(text)
    except ValueError as error:
        raise CompileError(f"schedule is not TOML ({error})", where=where, accepted=accepted) from None
    own = said.setdefault(OWN_TABLE, {})
    tables = {OWN_TABLE: own} | ({f"{OWN_TABLE}.{name}": table for name, table in own.items()} if isinstance(own, dict) else {})
    if other := next((name for name, table in tables.items() if not isinstance(table, dict)), None):
        raise CompileError(f"'{other}' is no table", where=where, accepted=accepted)
    return said


def _require_tables(text: str, expected: Mapping[str, Any], table: str, where: str) -> None:
    """CompileError where a schedule that was rewritten, of which only `table` is another, does not say what is `expected`."""
    if _tables_of(text, where) != expected:
        what = f"'{OWN_TABLE}.{table}' is not written with a line for each entry"
        raise CompileError(what, where=where, accepted="the file as `stc compile` wrote it")


def with_cut(text: str, units: Mapping[str, str], where: str) -> str:
    """The file `text` with these compute units, on dies that are to be found; what follows from units is decided anew.

    CompileError where it is not written as we do.
    """
    asked = {"units": "memory", "dies": "optimum"}
    for table in (FIFOS, MEMORIES_TABLE, UNITS_TABLE, DIES_TABLE):
        text = without_table(text, table, where)
    kept = without_table(text, OPTIONS, where, keeps=lambda key: key not in asked)
    heading = f"[{OWN_TABLE}.{OPTIONS}]\n"
    chosen = heading + "".join(f"{name} = {_value(value)}\n" for name, value in asked.items())
    options = kept.replace(heading, chosen, 1) if heading in kept else f"{kept}\n{chosen}"
    table = "".join(f"{_key(task)} = {_value(unit)}\n" for task, unit in units.items())
    cut = f"{options.rstrip()}\n\n# A compute unit for each die.\n[{OWN_TABLE}.{UNITS_TABLE}]\n{table}"
    said = _tables_of(kept, where)
    said[OWN_TABLE] |= {OPTIONS: {**said[OWN_TABLE].get(OPTIONS, {}), **asked}, UNITS_TABLE: dict(units)}
    _require_tables(cut, said, OPTIONS, where)
    return cut


def _comments() -> dict[str, str]:
    """What each option means, as `--help` says it."""
    from stc.tools.compile_options import asked_compile

    found: dict[str, str] = {"propagate_orders": "Whether tiles and loop orders follow the neighbours; false: --uniform-tiles."}
    found["search_within"] = "What the search was given in the end, in place of the budget, for a design within that."
    found["search_rank"] = "Which of the designs that the search finds: 1 for the best by its model (--confirm takes the fastest)."
    for name, parameter in inspect.signature(asked_compile, eval_str=True).parameters.items():
        for annotation in getattr(parameter.annotation, "__metadata__", ()):
            if text := getattr(annotation, "help", None):
                found.setdefault(name, text)
    return found


def _inline(chosen: Parallelism) -> str:
    """Lanes, rows and copies as an inline table."""
    adders = ", adders_in_luts = true" if chosen.adders_in_luts else ""
    parts = f", parts = {chosen.parts}" if chosen.parts > 1 else ""
    return f"{{ lanes = {chosen.lanes}, rows = {chosen.rows}, copies = {chosen.copies}{parts}{adders} }}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


def _value(value: Any) -> str:
    """A TOML value: JSON's spelling of numbers, texts, truth values and lists is TOML's."""
    return json.dumps(value)
