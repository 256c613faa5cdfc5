"""What of a model `stc` cannot compile, without compiling it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from stc.analysis.support import obstacles
from stc.diagnostics import CompileError, Obstacle, UnsupportedError
from stc.dialects.context import make_context
from stc.frontend.draws import EXAMPLE
from stc.pipeline import run_stages, stages
from stc.tools.request import CompileRequest, load


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
