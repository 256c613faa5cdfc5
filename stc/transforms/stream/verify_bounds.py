"""`verify-bounds`: every index stays within its array, by proof."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from stc.analysis.index_proofs import BoundsProofs, prove_indices
from stc.diagnostics import CompileError
from stc.transforms.finding_pass import FindingPass


@dataclass(frozen=True)
class VerifyBounds(FindingPass):
    """Prove that every index stays within its extent (`stc.analysis.index_proofs`): of local arrays, blocks of a ring, words of
    memory ports, and lanes of vectors, in every iteration of the loops around it in which the branches around it are taken.
    Nothing is changed.

    Sums of loop variables are decided by their range, and by guards on them; what is left is counted iteration by iteration, or
    put to z3. An index that depends on data is not proved: the execution of the IR and the C simulation check it at run time,
    hardware reads or writes whatever is there. An index that leaves its array is an error that names the access, the array, its
    extent, the range of the index, and an iteration; so is one that could not be decided.

        scf.for %a = %c0 to %c4 step %c1 {
          %v = memref.load %t[%a] : memref<4xf32>
        }
      is left as it is; with `%b = arith.subi %c0, %a` and `%t[%b]` the error is
        load from t[4], dimension 0 in @fc of @k: the index ranges over -3 to 0, outside 0 to 3 (4 entries); it is -1 where %a = 1
    """

    name = "verify-bounds"

    def find(self, ctx: Context, op: ModuleOp) -> BoundsProofs:
        """What is proved; CompileError for the first index that is not."""
        proofs = prove_indices(op)
        if not proofs.failures:
            return proofs
        failure, more = proofs.failures[0], len(proofs.failures) - 1
        rest = f" (and {more} more such indices)" if more else ""
        raise CompileError(f"{failure.name}: {failure.reason}{rest}", where=failure.where)
