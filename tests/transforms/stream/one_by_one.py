"""A rewrite pattern applied once at a time: what it leaves after every application is sound and computes the same."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from stc.dialects.preconditions import unfit_for_passes
from stc.tools.check_semantics import check_pass, random_inputs


def applications(module: ModuleOp, pattern: RewritePattern) -> Iterator[int]:
    """Rewrite until nothing matches, first match first; yields the number of applications after each."""
    count = 0
    while any(_rewritten(pattern, op) for op in list(module.body.walk())):
        count += 1
        yield count


def _rewritten(pattern: RewritePattern, op: Operation) -> bool:
    rewriter = PatternRewriter(op)
    pattern.match_and_rewrite(op, rewriter)
    return rewriter.has_done_action


def check_each(module: ModuleOp, pattern: RewritePattern) -> int:
    """Apply `pattern` until nothing matches; how often it did. After each time passes may get the IR, and values are the same."""
    before, inputs, count = module.clone(), random_inputs(module), 0
    for count in applications(module, pattern):
        assert unfit_for_passes(module) is None, (pattern, count)
        assert check_pass(before, module, inputs) is None, (pattern, count)
    return count
