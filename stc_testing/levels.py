"""A module at every level of the compile, for tests that compare each with what it has to compute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp

from stc.dialects.context import make_context
from stc.pipeline import Step
from stc.transforms.finding_pass import run_pass

SETS_DEPTHS = "set-fifo-depths"


def levels(module: ModuleOp, passes: Sequence[Step]) -> Iterator[tuple[str, bool]]:
    """Lower `module` in place, verified behind each of `passes`: what the level is called, and whether its FIFOs have depths.

    The first is the module as it is given.
    """
    has_depths = False
    yield "as given", has_depths
    for step in passes:
        run_pass(step.one_pass, make_context(), module)
        module.verify()
        has_depths = has_depths or step.label == SETS_DEPTHS
        yield step.label, has_depths
