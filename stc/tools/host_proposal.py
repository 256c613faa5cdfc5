"""Which submodules could run on the host, where a model cannot be compiled as a whole, and the command that says so."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace

from stc.diagnostics import CompileError, Obstacle
from stc.frontend.sources import CONFIGURATION
from stc.tools.request import CompileRequest

MOST_EXPORTS = 64
"""Of a model, each of which finds another obstacle: torch.export ends at the first."""
_PATH = re.compile(r"[^\s():/]+")
_WITH_VALUES = ("stage", "seq", "max_seq", "dtype", "weights", "layer", "seed")


def host_proposal(
    request: CompileRequest,
    found: Sequence[Obstacle],
    examine: Callable[[CompileRequest], Sequence[Obstacle]],
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[str, ...]:
    """The submodules without which `examine` finds no obstacle, each the innermost that holds one; none where that is not enough.

    `found`: the obstacles of the model as it is.
    """
    chosen: tuple[str, ...] = request.host or ()
    places = {_path(obstacle.where) for obstacle in found}
    for _ in range(MOST_EXPORTS):
        before, chosen = chosen, _outermost((*chosen, *sorted(places)))
        if not all(chosen) or chosen == before:
            return ()
        progress(f"export with {', '.join(chosen)} on the host")
        try:
            left = examine(replace(request, host=chosen))
        except CompileError as error:
            where = error.where or ""
            if (refused := where.removeprefix("--host ")) in chosen:  # what calls it may do instead
                chosen, places = tuple(path for path in chosen if path != refused), {refused.rpartition(".")[0]}
                continue
            left = [Obstacle(where, error.what, error.accepted or "")]
        if not left:
            return chosen
        places = {_path(obstacle.where) for obstacle in left}
    return ()


def compile_command(request: CompileRequest, host: Iterable[str]) -> str:
    """The command that compiles the model of `request` with these submodules on the host."""
    defaults = {field.name: field.default for field in fields(CompileRequest)}
    model = ["--config", request.model.removeprefix(CONFIGURATION)] if request.model.startswith(CONFIGURATION) else [request.model]
    said = [(name, getattr(request, name)) for name in _WITH_VALUES if getattr(request, name) != defaults[name]]
    options = [word for name, value in said for word in (f"--{name.replace('_', '-')}", str(value))]
    return shlex.join(["stc", "compile", *model, *options, *(word for path in host for word in ("--host", path)), "--out", "DIR"])


def _path(where: str) -> str:
    """The module path at the beginning of a place; empty where there is none."""
    found = _PATH.match(where)
    return found.group() if found else ""


def _outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Each once, without those within others."""
    unique = list(dict.fromkeys(paths))
    return tuple(path for path in unique if not any(path.startswith(f"{other}.") for other in unique if other))
