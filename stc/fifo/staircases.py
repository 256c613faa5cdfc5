"""Which clause about FIFO depths to try next: where FIFOs stand in for each other, clauses form staircases.

A clause says: *one of these FIFOs must be at least so deep*. Where 64 slots more in one FIFO save 128 in another, all
of "a >= 64 or b >= 1536", "a >= 128 or b >= 1408", ... hold; and where a design has copies of a task, each copy has the same
clauses. Found one by one, each takes a search of dozens of runs; guessed from earlier ones, it takes the one run that proves it:

* a *step* that led from one clause to another of the same FIFOs, one deeper and one less deep, is repeated;
* *twins*, FIFOs with as many bits and tokens, change places.

A guess is worth a run if the depths that are looked at do not satisfy it. Nothing depends on guesses being right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stc.fifo.depth_search import FLOOR, SizedFifo, Vector

Clause = Mapping[int, int]
"""FIFO -> depth: at least one of these FIFOs is at least so deep."""
Step = tuple[tuple[int, int], tuple[int, int]]
"""Two FIFOs, each with how much deeper it gets."""


class Staircases:
    """The clauses so far, and the guesses that they suggest."""

    def __init__(self, fifos: Sequence[SizedFifo]):
        self.fifos = tuple(fifos)
        self._known: list[Clause] = []
        self._steps: dict[frozenset[int], set[Step]] = {}
        kinds: dict[tuple[int, int], list[int]] = {}
        for index, fifo in enumerate(fifos):
            kinds.setdefault((fifo.bits, fifo.tokens), []).append(index)
        self._twins = [kinds[fifo.bits, fifo.tokens] for fifo in fifos]

    def learn(self, clause: Clause) -> None:
        for other in self._known:
            changed = [index for index in clause if clause[index] != other.get(index)]
            if len(changed) == 2 and other.keys() == clause.keys():
                one, two = ((index, clause[index] - other[index]) for index in changed)
                back_one, back_two = (one[0], -one[1]), (two[0], -two[1])
                if one[1] * two[1] < 0:
                    self._steps.setdefault(frozenset(clause), set()).update(((one, two), (back_one, back_two)))
        self._known.append(clause)

    def marks(self, index: int) -> set[int]:
        """Depths of a FIFO in the clauses so far."""
        return {clause[index] for clause in self._known if index in clause}

    def guesses(self, depths: Vector) -> list[Clause]:
        """Clauses that may hold and that `depths` do not satisfy.

        Those of FIFOs that a clause names together come first, then the strongest (most bits beyond these depths).
        """
        together = {frozenset(clause) for clause in self._known}
        found = {tuple(sorted(guess.items())): guess for guess in self._candidates() if self._excludes(guess, depths)}
        return sorted(found.values(), key=lambda guess: (frozenset(guess) not in together, -self._strength(guess, depths)))

    def _strength(self, clause: Clause, depths: Vector) -> int:
        return sum(self.fifos[index].bits * (depth - depths[index]) for index, depth in clause.items())

    def _excludes(self, clause: Clause, depths: Vector) -> bool:
        return all(max(FLOOR, depths[index]) < depth <= self.fifos[index].tokens for index, depth in clause.items())

    def _candidates(self) -> Iterator[Clause]:
        for clause in self._known:
            for (one, more), (two, less) in self._steps.get(frozenset(clause), ()):
                yield {**clause, one: clause[one] + more, two: clause[two] + less}
            for index in clause:
                for twin in self._twins[index]:
                    if clause.get(twin) != clause[index]:
                        yield _exchanged(clause, index, twin)


def _exchanged(clause: Clause, index: int, twin: int) -> Clause:
    changed = {key: depth for key, depth in clause.items() if key != index}
    if twin in clause:
        changed[index] = clause[twin]
    return {**changed, twin: clause[index]}
