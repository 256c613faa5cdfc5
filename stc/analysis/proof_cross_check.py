"""What two proofs of one edge come to: one in closed form, and z3's on the raw types.

Neither overrules the other. Where both answer and differ, one of them has a defect, and so has the compiler: an error that says
what each found, and what enumeration finds where the tokens are few enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from stc.iteration.proof_obligations import Holds, Obligation, Refuted, Undecided, answer

Z3: TypeAlias = Literal["not asked", "confirmed", "gave up", "alone"]
"""What z3 said of an edge that was proved; "alone": no other proof decides it."""


class NotProved(Exception):
    """An edge that is wrong, whatever its types; the text is a sentence."""


class Wrong(NotProved):
    """A proof found a token at which both sides of an edge differ."""


class Contradiction(NotProved):
    """Two proofs answer differently: a defect of the compiler, whatever its input."""


class Open(NotProved):
    """A proof decided neither way; `cause` is the reason alone, which z3 may have as well."""

    def __init__(self, text: str, cause: str | None = None):
        super().__init__(text)
        self.cause = text if cause is None else cause


@dataclass(frozen=True)
class Proof:
    """How an edge was shown, and what z3 said."""

    method: str
    z3: Z3


def judged(first: str | Wrong | Open, obligation: Obligation | None) -> Proof:
    """The proof of an edge.

    `first`: how its proof in closed form ended: its method, or what it found. `obligation`: what z3 is asked, None for nothing.
    Raises NotProved where the edge is wrong, is not proved, or where the two proofs contradict each other.
    """
    match first, None if obligation is None else answer(obligation):
        case str(method), None:
            return Proof(method, "not asked")
        case str(method), Holds():
            return Proof(method, "confirmed")
        case str(method), Undecided():
            return Proof(method, "gave up")
        case Open(), Holds():
            return Proof("z3", "alone")
        case Open() as reason, Refuted(witness):
            raise NotProved(f"{reason}; z3 finds: {witness}")
        case Open() as reason, Undecided(why) if why != reason.cause:
            raise NotProved(f"{reason}; z3 does not decide it either: {why}")
        case str(method), Refuted(witness):
            raise Contradiction(_contradicted(f"right by {method}", f"but z3 finds: {witness}", obligation))
        case Wrong() as reason, Holds():
            raise Contradiction(_contradicted(f"wrong by its own proof: {reason}", "but z3 finds no such token", obligation))
        case failure, _:
            assert isinstance(failure, NotProved)
            raise failure


def _contradicted(own: str, other: str, obligation: Obligation | None) -> str:
    assert obligation is not None
    match obligation.counted():
        case Holds():
            third = "both sides counted out are the same"
        case Refuted(difference):
            third = f"both sides counted out: {difference}"
        case Undecided(reason):
            third = reason
    return f"two proofs contradict each other, a bug of stc: {own}, {other} ({third})"
