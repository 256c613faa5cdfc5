"""Passes that find something out besides changing the IR: what they found is what a function returns."""

from __future__ import annotations

from abc import abstractmethod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from stc.diagnostics import CompileError
from stc.iteration.size import RunTimeSizeError


class FindingPass(ModulePass):
    """A pass with a result. Those who want it (`stc.pipeline.run_stages` keeps it for its callers) call `find` for `apply`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.find(ctx, op)

    @abstractmethod
    def find(self, ctx: Context, op: ModuleOp) -> object:
        """Run the pass on `op`, in place; what it found. CompileError where it refuses."""


def run_pass(one_pass: ModulePass, ctx: Context, op: ModuleOp) -> object | None:
    """Run any pass; what it found, None where it is not of those that find something.

    CompileError where it refuses; also where it needs integers for sizes that are known at run time only.
    """
    try:
        if isinstance(one_pass, FindingPass):
            return one_pass.find(ctx, op)
        one_pass.apply(ctx, op)
    except RunTimeSizeError as error:
        accepted = "integer sizes, of which alone this pass knows"
        raise CompileError(str(error), where=one_pass.name, accepted=accepted) from error
    return None
