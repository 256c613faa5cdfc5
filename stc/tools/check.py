"""What of a model `stc` cannot compile, without compiling it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from stc.analysis.support import obstacles
from stc.diagnostics import CompileError, Obstacle, UnsupportedError
from stc.dialects.context import make_context
from stc.frontend.draws import EXAMPLE
from stc.pipeline import run_stages, stages
from stc.tools.request import CompileRequest, load


@dataclass(frozen=True)
class Checked:
    """All obstacles to compiling a model, and the submodules that could run on the host instead (none where that is not enough)."""

    obstacles: list[Obstacle]
    host: tuple[str, ...] = ()


def checked_model(request: CompileRequest, progress: Callable[[str], None] = lambda _: None) -> Checked:
    """As `check_model`; where there are obstacles, or the model cannot be exported, also what could run on the host."""
    from stc.tools.host_proposal import host_proposal

    try:
        found = check_model(request, progress)
    except CompileError as error:
        found = [Obstacle(error.where or "", error.what, error.accepted or "")]
        if not (host := host_proposal(request, found, check_model, progress)):
            raise
        return Checked(found, host)
    return Checked(found, host_proposal(request, found, check_model, progress) if found else ())


def check_model(request: CompileRequest, progress: Callable[[str], None] = lambda _: None) -> list[Obstacle]:
    """All obstacles to compiling the model that `request` names; none if it is supported.

    The model is exported and brought into the form in which it would be tiled, which takes seconds and writes nothing.
    CompileError where there is no such model or it does not run.
    """
    progress("export to linalg")
    try:
        model = load(replace(request, check_inputs=(EXAMPLE,)))
    except UnsupportedError as error:
        return list(error.obstacles)
    if found := obstacles(model.module):
        return found
    progress("linalg optimisation")
    try:
        run_stages(model.module, make_context(), stages(request.options)[:1])
    except CompileError as error:
        return [Obstacle(error.where or model.name, error.what, error.accepted or "")]
    return []
