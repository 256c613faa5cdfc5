"""Canonicalisation of operations that do what their types say: where these are equal nothing is done, and twice is once.

An unused `itensor.empty` needs no pattern: its only effect is to make its result, so dead-code elimination takes it.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait


@dataclass(frozen=True)
class SaidByTypes(HasCanonicalizationPatternsTrait):
    """Types decide what the operation does. `composes`: done twice it is done once, from the first type to the last."""

    composes: bool = False

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return (ToSameType(), Composed())


class ToSameType(RewritePattern):
    """`itensor.cast %x : !A to !A` -> `%x`; so with a fork to one copy, a merge of one input, a chunk of everything, ..."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if op.has_trait(SaidByTypes) and op.operand_types == op.result_types and len(op.results) == 1:
            rewriter.replace(op, [], op.operands)


class Composed(RewritePattern):
    """`itensor.cast (itensor.cast %x : !A to !B) : !B to !C` -> `itensor.cast %x : !A to !C`; so with `reorder`, `stream.cast`."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not op.has_trait(SaidByTypes(composes=True)):
            return
        inner = op.operands[0].owner
        if isinstance(inner, type(op)):
            rewriter.replace(op, type(op).create(operands=inner.operands, result_types=op.result_types))
