"""What `stc explore` leaves in its folder: the fronts, and a `schedule.toml` for each of their designs."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from stc.exploration.problem import Origin
from stc.exploration.results import Found, Results
from stc.tools.report.explored_page import render_explored, schedule_of

FRONT = "front.json"
PAGE = "index.html"
FOLDERS: dict[Origin, str] = {"estimated": "front", "simulated": "simulated"}
"""Of the designs of each front, each in a folder by its number."""

PARTIAL = ".explored."
"""Begins the name of the folder in which all of it is written first; then the number of the process that writes follows."""


def fronts_json(results: Results) -> dict[str, Any]:
    """Both fronts, with the points that their designs are of."""
    problem = results.problem
    found: dict[str, Any] = {"problem": problem.name, "objectives": dict(problem.objectives), "identity": dict(problem.identity)}
    for origin in FOLDERS:
        default, front = results.default(origin), results.front(origin)
        found[origin] = {
            "designs": len(results.designs[origin]),
            "default": None if default is None else _entry(results, default, default in front),
            "front": [_entry(results, each, is_in_front=True) for each in front],
            "without_a_design": [{"trial": number, "why": why} for number, why in results.failures[origin]],
        }
    return found


def _entry(results: Results, found: Found, is_in_front: bool) -> dict[str, Any]:
    """A design; those of a front have a folder, and in it a schedule."""
    estimate = results.estimate_of(found)
    figures = dict(zip(results.problem.objectives, found.objectives.values, strict=True))
    same = {} if estimate is None else {"estimated_trial": estimate.number}
    origin = found.objectives.origin
    folder = {"schedule": schedule_of(results.problem, found, FOLDERS[origin])} if is_in_front else {}
    return {"trial": found.number, "origin": origin, **figures, **same, **folder, "point": dict(found.point)}


def write_fronts(results: Results, out: Path) -> None:
    """Write both fronts into `out`; what an earlier run left of them is replaced. All is written before anything is replaced, and
    `front.json`, by which a later start knows the folder, is put into place first."""
    out.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(out)
    partial = Path(tempfile.mkdtemp(prefix=f"{PARTIAL}{os.getpid()}.", dir=out))
    try:
        for origin, name in FOLDERS.items():
            (partial / name).mkdir()
            for found in results.front(origin):
                for path, text in results.problem.schedules(found.point).items():
                    file = partial / name / str(found.number) / path
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text, encoding="utf-8")
        (partial / PAGE).write_text(render_explored(results, FOLDERS), encoding="utf-8")
        (partial / FRONT).write_text(json.dumps(fronts_json(results), indent=1) + "\n", encoding="utf-8")
        os.replace(partial / FRONT, out / FRONT)
        for name in FOLDERS.values():
            _replace(out / name, partial / name)
        os.replace(partial / PAGE, out / PAGE)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _remove_leftovers(out: Path) -> None:
    """What writers left that were killed."""
    for left in out.glob(f"{PARTIAL}*"):
        if not Path("/proc", left.name.removeprefix(PARTIAL).partition(".")[0]).exists():
            shutil.rmtree(left, ignore_errors=True)


def _replace(folder: Path, new: Path) -> None:
    """Put `new` in the place of `folder`, which may be there already."""
    if folder.exists():
        folder.rename(new.with_name(f"{new.name}.old"))
    new.rename(folder)


def is_of_exploration(out: Path, journal: str) -> bool:
    """Whether a folder is an exploration's: it has a front, the `journal`, or nothing but what a writer left that was killed."""
    names = [path.name for path in out.iterdir()]
    return FRONT in names or journal in names or all(name.startswith(PARTIAL) for name in names)
