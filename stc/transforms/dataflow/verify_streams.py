"""`verify-streams`: every stream carries the token sequence that its reader expects, by proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast, get_args

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from stc.analysis.stream_proofs import Solver, StreamProofs, prove_streams
from stc.diagnostics import CompileError, warn
from stc.transforms.finding_pass import FindingPass


class ContradictingProofs(Exception):
    """A defect of stc: two proofs of one edge answer differently."""


@dataclass(frozen=True)
class VerifyStreams(FindingPass):
    """Prove all edges of the module (`stc.analysis.stream_proofs`): ports, accesses, casts, reassociations, converters (what is
    emitted was received before, and no live entry is overwritten), chunks, concatenations, forks, splits, merges, and the
    boundaries of kernels; and that each stream has one reader, once forks have been inserted. Nothing is changed.

    Each edge has a proof in closed form (normal forms, arguments about loops) that holds for all values of symbols. Where two types
    meet that are not one and the same, z3 is asked as well, from the types as they are spelled (`stc.iteration.proof_obligations`).
    An edge that is wrong is an error that names it, a token at which both sides differ and both coordinates; one that nobody could
    prove is an error too. Two proofs that contradict each other are a bug of stc: a crash of this pass, with a reproducer. Where z3
    gives up on an edge that is proved otherwise, a warning counts it: its limit is one of work, not of time, the same on every
    machine.

    Options: `solver`, what z3 is asked: `normal-form` (nothing but what no other proof decides), `both` (default), or `z3` (the
    accesses as well: that bounds, steps and guards, as they stand in the IR, enumerate the type).

        %d = itensor.cast %s : !S to !T
      is left as it is if `!S` and `!T` are the same sequence, else the error is
        cast %s to %d in @k: token 1 is at [0, 4] in the source but at [4, 0] in the target
    """

    name = "verify-streams"

    solver: str = "both"

    def find(self, ctx: Context, op: ModuleOp) -> StreamProofs:
        if self.solver not in get_args(Solver):
            raise CompileError(f"solver is '{self.solver}'", where=self.name, accepted=" or ".join(get_args(Solver)))
        proofs = prove_streams(op, cast(Solver, self.solver))
        require_proved(proofs)
        return proofs


def require_proved(proofs: StreamProofs) -> None:
    """Raise CompileError for the first edge that is not proved; warn of those about which z3 gave up.

    Proofs that contradict each other come first, and are no refusal: a crash, for which there is a reproducer.
    """
    if (contradiction := next((failure for failure in proofs.failures if failure.is_contradiction), None)) is not None:
        where = "" if contradiction.where is None else f"{contradiction.where}: "
        raise ContradictingProofs(f"{where}{contradiction}")
    if not proofs.failures:
        if proofs.gave_up:
            warn(f"{VerifyStreams.name}: z3 gave up on {proofs.gave_up} of {len(proofs.edges)} edges, which are proved otherwise")
        return
    failure, more = proofs.failures[0], len(proofs.failures) - 1
    rest = f" (and {more} more such edges)" if more else ""
    raise CompileError(f"{failure}{rest}", where=failure.where)
