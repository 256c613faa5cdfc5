"""Commands on a project that `stc compile` wrote work on a compiled model too: on each of its stages, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from stc.diagnostics import CompileError
from stc.manifest.model_files import MODEL, read_model, require_intact
from stc.tools.consoles import output, print_json

CHECK_FAILED = 1


@dataclass(frozen=True)
class Told:
    """What a command found of one project: as JSON values, and printed by `show`; whichever is asked for."""

    passed: bool
    as_json: Callable[[], Any]
    show: Callable[[], None]


def stages_of(directory: Path) -> dict[str, Path]:
    """The folders of a compiled model's projects, by their names; a project is its only one, without a name."""
    if not (directory / MODEL).is_file():
        return {"": directory}
    projects = read_model(directory).projects
    for project in projects:
        require_intact(directory, project.manifest)
    return {project.folder: directory / project.folder for project in projects}


def on_each_stage(
    directory: Path,
    run: Callable[[Path], Told],
    as_json: bool = False,
    own: Mapping[str, bool] | None = None,
    together: Callable[[], None] = lambda: None,
) -> None:
    """What `run` finds of the project in `directory`, or of each stage of a model, printed; exit code 1 unless all passed.

    As JSON, of a model: an object with an entry for each stage. `own`: options that name things of one project, and whether they
    were given: CompileError with a model. `together` prints, of a model, what is said of all its stages.
    """
    folders = stages_of(directory)
    if "" not in folders and (given := [name for name, holds in (own or {}).items() if holds]):
        accepted = ", ".join(str(folder) for folder in folders.values())
        raise CompileError(f"{given[0]} is about one stage, and this is a model", where=str(directory), accepted=accepted)
    told: dict[str, Told] = {}
    for name, folder in folders.items():
        told[name] = _run(folder, run) if name else run(folder)
        if as_json:
            continue
        if name:
            output.print(f"{name}:", markup=False)
        told[name].show()
    if "" not in told and not as_json:
        together()
    if as_json:
        values = {name: one.as_json() for name, one in told.items()}
        print_json(values.get("", values))
    if not all(one.passed for one in told.values()):
        raise typer.Exit(CHECK_FAILED)


def _run(folder: Path, run: Callable[[Path], Told]) -> Told:
    """`run`, whose refusals say of which stage."""
    try:
        return run(folder)
    except CompileError as error:
        error.where = error.where or str(folder)
        raise
