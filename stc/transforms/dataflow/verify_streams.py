"""`verify-streams`: every stream carries the token sequence that its reader expects, by proof."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from stc.analysis.stream_proofs import StreamProofs, prove_streams
from stc.diagnostics import CompileError


@dataclass(frozen=True)
class VerifyStreams(ModulePass):
    """Prove all edges of the module (`stc.analysis.stream_proofs`): ports, accesses, casts, reassociations, converters (what is
    emitted was received before, and no live entry is overwritten), chunks, concatenations, forks, deals, joins, and the
    boundaries of kernels; and that each stream has one reader, once forks have been inserted. Nothing is changed.

    Normal forms come first, z3 decides what they leave open for symbolic sizes, for all values of the symbols. An edge that is
    wrong is an error that names it, the first differing token and both coordinates; one that could not be proved is an error too.

        %d = itensor.cast %s : !S to !T
      is left as it is if `!S` and `!T` are the same sequence, else the error is
        cast %s to %d in @k: token 1 is at [0, 4] in the source but at [4, 0] in the target
    """

    name = "verify-streams"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.judge(prove_streams(op))

    def judge(self, proofs: StreamProofs) -> None:
        """Raise CompileError for the first edge that is not proved."""
        if not proofs.failures:
            return
        failure, more = proofs.failures[0], len(proofs.failures) - 1
        rest = f" (and {more} more such edges)" if more else ""
        raise CompileError(f"{failure.kind} {failure.name}: {failure.reason}{rest}", where=failure.where)
