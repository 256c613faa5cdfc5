"""What `stc explore` leaves in its folder: the fronts, and a `schedule.toml` for each of their designs."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from stc.exploration.problem import OBJECTIVES, Origin, Problem
from stc.exploration.study import Exploration, Found
from stc.tools.atomic_files import write_atomically
from stc.tools.report.explored_page import render_explored
from stc.tools.schedule_file import FILE

FRONT = "front.json"
PAGE = "index.html"
FOLDERS: dict[Origin, str] = {"estimated": "front", "simulated": "simulated"}
"""Of the designs of each front, each in a folder by its number."""


def fronts_json(exploration: Exploration, problem: Problem) -> dict[str, Any]:
    """Both fronts, with the points that their designs are of."""
    found: dict[str, Any] = {"problem": problem.name, "objectives": dict(OBJECTIVES), "identity": dict(problem.identity)}
    for origin in FOLDERS:
        default = exploration.default(origin)
        found[origin] = {
            "designs": len(exploration.found(origin)),
            "default": None if default is None else _entry(exploration, default),
            "front": [_entry(exploration, each) for each in exploration.front(origin)],
            "without_a_design": [{"trial": number, "why": why} for number, why in exploration.failures(origin)],
        }
    return found


def _entry(exploration: Exploration, found: Found) -> dict[str, Any]:
    origin, estimate = found.objectives.origin, exploration.estimate_of(found)
    figures = dict(zip(OBJECTIVES, found.objectives.values, strict=True))
    schedule = f"{FOLDERS[origin]}/{found.number}/{FILE}"
    same = {} if estimate is None else {"estimated_trial": estimate.number}
    return {"trial": found.number, "origin": origin, **figures, **same, "schedule": schedule, "point": dict(found.point)}


def write_fronts(exploration: Exploration, problem: Problem, out: Path) -> None:
    """Write both fronts into `out`; what an earlier run left of them is replaced as a whole."""
    out.mkdir(parents=True, exist_ok=True)
    for origin, name in FOLDERS.items():
        front = exploration.front(origin)
        partial = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=out))
        try:
            for found in front:
                folder = partial / str(found.number)
                folder.mkdir()
                (folder / FILE).write_text(problem.schedule(found.point), encoding="utf-8")
            partial.chmod(0o755)
            _replace(out / name, partial)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    write_atomically(out / PAGE, render_explored(exploration, FOLDERS, FILE))
    write_atomically(out / FRONT, json.dumps(fronts_json(exploration, problem), indent=1) + "\n")


def _replace(folder: Path, new: Path) -> None:
    """Put `new` in the place of `folder`, which may be there already."""
    old = new.with_name(f"{new.name}.old")
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
