"""`stc explore`: designs that are best in something, of all that a `schedule.toml` can say."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from stc.diagnostics import CompileError
from stc.pipeline import PipelineOptions
from stc.tools import options as said
from stc.tools.command_line import debugging
from stc.tools.compile_options import MODEL, PIPELINE, asked_model, declaring, given_options, including
from stc.tools.consoles import messages, output, print_json
from stc.tools.loading import load_all
from stc.tools.request import STAGES, WHOLE_MODEL, CompileRequest, with_dtype
from stc.tools.schedule_file import FILE
from stc.tools.targets import stage_of

if TYPE_CHECKING:
    from stc.exploration.results import Found, Results
    from stc.exploration.study import Exploration

_NOT_ASKED = ("small", "uniform_tiles", "schedule", "fifo_depths", "layers", "overall_unroll_size")
"""Options of a compile that leave nothing to explore, or are about one design."""


@declaring({**MODEL, **{name: kind for name, kind in PIPELINE.items() if name not in _NOT_ASKED}})
def asked_exploration(ctx: typer.Context, *, load: said.Load = None, debug: said.Debug = False, **options: Any) -> CompileRequest:
    """The model, and options that hold for all its designs; CompileError for what cannot be."""
    with debugging(debug):
        load_all(load or ())
        options["stage"] = stage_of(STAGES, options["stage"], given_options(ctx))
        chosen = PipelineOptions(**{name: value for name, value in options.items() if name in PIPELINE})
        request = asked_model(**{name: options[name] for name in MODEL})
        return replace(request, options=with_dtype(chosen, options["dtype"]), given=given_options(ctx))


@including(request=asked_exploration)
def explore_command(
    request: CompileRequest,
    trials: Annotated[int, typer.Option(metavar="N", help="Estimates that the search has in the end.", min=1)] = 200,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder to write, or to go on in.")] = None,
    simulate: Annotated[
        int, typer.Option(metavar="K", help="Build and run K designs, the best of the estimated front first.", min=0)
    ] = 0,
    storage: Annotated[
        str, typer.Option(metavar="URL", help="Where trials are kept: a journal file (default: in OUT), or postgresql://...")
    ] = "",
    worker: Annotated[bool, typer.Option("--worker", help="Only add trials to a storage that others have, too.")] = False,
    search_seed: Annotated[int | None, typer.Option(help="Of the sampler, for one process to draw the same points again.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the fronts as JSON.")] = False,
) -> None:
    """Search everything that MODEL's schedule.toml decides: cycles, bytes on chip, DSPs and bytes moved, all at once.

    Estimates take a fraction of a second each; --simulate compiles, builds and runs the best. Each design of the front is a
    schedule.toml for `stc compile MODEL --schedule`; with --stage model a folder of them, for stages that share the budget, and
    cycles to the first token count as well. Given again, the same command goes on where it was.

    Example: stc explore gpt2-tiny --seq 5 --trials 200 --simulate 3 --out build/explored
    """
    kept = _storage(out, storage, worker)
    from stc.exploration.study import MOST_PRUNED, Exploration
    from stc.simulation.build import find_compiler
    from stc.tools.explored_front import fronts_json, write_fronts
    from stc.tools.explored_stages import explored_problem

    if simulate:
        find_compiler()
    with messages.status("starting") as status:
        problem = explored_problem(request, status.update)
        exploration = Exploration(problem, kept, search_seed, status.update)
        spent = _Spent(exploration)
        spent.take("estimated", lambda: exploration.estimate(trials))
        spent.take("simulated", lambda: exploration.simulate(simulate) if simulate else None)
        results, simulated = exploration.results(), exploration.finished("simulated")
        if out is not None:
            status.update("writing the front")
            write_fronts(results, out)
    if simulated < simulate:
        why = f"by estimates the last {MOST_PRUNED} points that were drawn are not worth a build"
        messages.print(f"{simulated} of {simulate} simulated: {why}", markup=False)
    if as_json:
        print_json(fronts_json(results))
        return
    if not worker:
        _print(results)
    spent.show()
    if out is not None:
        own = "" if request.stage == WHOLE_MODEL else f"/{FILE}"
        output.print(f"each design of the front: {out}/front/N{own}; pictures: {out}/index.html", markup=False)


def _storage(out: Path | None, storage: str, worker: bool) -> str:
    """Where trials are kept; CompileError where that is not said, or where `out` is a folder of something else."""
    from stc.exploration.storage import JOURNAL, is_database
    from stc.tools.explored_front import is_of_exploration

    if worker and not storage:
        raise CompileError("--worker without --storage", accepted="the storage of the search that it joins")
    if worker and out is not None:
        raise CompileError("--worker with --out", accepted="one of both: a worker adds trials, and writes nothing else")
    if out is None and not worker:
        raise CompileError("there is no --out", accepted="--out DIR, or --worker")
    if storage and not is_database(storage) and (worker and not Path(storage).is_file()):
        raise CompileError("there is no such journal to join", where=storage, accepted="the journal of a search that has begun")
    if out is not None and out.exists() and not (out.is_dir() and is_of_exploration(out, JOURNAL)):
        raise CompileError("it is in use", where=str(out), accepted="a new or empty folder, or one of an exploration")
    return storage or str((out or Path()) / JOURNAL)


class _Spent:
    """How long this process took for its trials."""

    def __init__(self, exploration: Exploration) -> None:
        self._exploration = exploration
        self._lines: list[str] = []

    def take(self, origin: str, run: Callable[[], None]) -> None:
        begin, before = time.perf_counter(), self._exploration.own[origin]
        run()
        seconds, own = time.perf_counter() - begin, self._exploration.own[origin] - before
        if own:
            rate = f"{own} in {seconds:.1f} s, {60 * own / seconds:.1f} per minute"
            self._lines.append(f"{origin} by this process (executed): {rate}")

    def show(self) -> None:
        for line in self._lines:
            output.print(line, markup=False)


def _print(results: Results) -> None:
    for origin in ("estimated", "simulated"):
        found, front, failed = results.designs[origin], results.front(origin), results.failures[origin]
        if not found and not failed:
            continue
        default = results.default(origin)
        fitting = sum(not each.objectives.beyond for each in found)
        title = f"{results.problem.name}: front of {len(found)} {origin} designs, {fitting} within the budget"
        words = list(results.problem.objectives.values())
        table = Table("design", *words, "", title=title)
        for each in front:
            table.add_row(*_row(each, front, default, results.estimate_of(each), words))
        if default is not None and default not in front:
            table.add_row(*_row(default, front, default, results.estimate_of(default), words))
        output.print(table)
        if failed:
            number, why = failed[-1]
            output.print(f"{len(failed)} {origin} trial(s) without a design; trial {number}: {why}", markup=False)


def _row(found: Found, front: list[Found], default: Found | None, estimate: Found | None, words: Sequence[str]) -> list[str]:
    """A design with what it is best in, in the `words` of the objectives, and which estimate was of it."""
    values = found.objectives.values
    best = [min(each.objectives.values[index] for each in front) for index in range(len(values))] if front else []
    notes = ["the default"] if found == default else []
    notes += [] if estimate is None else [f"estimated as {estimate.number}"]
    notes += [f"fewest {name}" for name, own, least in zip(words, values, best, strict=bool(best)) if own == least]
    return [str(found.number), *(f"{value:,}" for value in values), ", ".join(notes)]

