"""Clauses about FIFO depths guessed from earlier ones, and the optimum of designs that are full of staircases."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from stc.fifo.depth_search import DepthTest, Outcome, SizedFifo
from stc.fifo.optimum import optimal_depths
from stc.fifo.staircases import Staircases

WIDE, NARROW = SizedFifo("wide", 8, 100, 1), SizedFifo("narrow", 1, 300, 1)


def learnt(fifos: list[SizedFifo], *clauses: Mapping[int, int]) -> Staircases:
    staircases = Staircases(fifos)
    for clause in clauses:
        staircases.learn(clause)
    return staircases


def test_a_step_is_repeated_both_ways():
    staircases = learnt([WIDE, NARROW], {0: 40, 1: 10}, {0: 37, 1: 15})
    assert staircases.guesses((1, 15)) == [{0: 34, 1: 20}]
    assert staircases.guesses((40, 1)) == [{0: 43, 1: 5}]
    assert staircases.marks(0) == {40, 37}


def test_no_guess_is_satisfied_or_deeper_than_all_tokens():
    staircases = learnt([WIDE, NARROW], {0: 95, 1: 10}, {0: 90, 1: 15})
    assert staircases.guesses((34, 20)) == []  # beyond one step
    assert staircases.guesses((95, 1)) == [{0: 100, 1: 5}]
    assert learnt([WIDE, NARROW], {0: 98, 1: 10}, {0: 93, 1: 15}).guesses((98, 1)) == []  # 103 of 100 tokens


def test_twins_change_places():
    staircases = learnt([WIDE, NARROW, NARROW], {0: 40, 1: 10})
    assert staircases.guesses((1, 10, 1)) == [{0: 40, 2: 10}]
    within = learnt([WIDE, NARROW, NARROW], {0: 40, 1: 10, 2: 30})
    assert within.guesses((1, 10, 1)) == [{0: 40, 1: 30, 2: 10}]


def test_clauses_of_fifos_named_together_come_first():
    staircases = learnt([WIDE, NARROW, NARROW], {0: 40, 1: 10}, {0: 37, 1: 15})
    assert staircases.guesses((1, 15, 1))[0] == {0: 34, 1: 20}
    assert {0: 40, 2: 10} in staircases.guesses((1, 15, 1))[1:]


def chained(lanes: int, per_slot: int, total: int, bits: tuple[int, int]) -> DepthTest:
    """`lanes` copies of a chain; each is fast where `per_slot` * its own slots + those of the FIFO all share reach `total`.

    A slow run says nothing of most FIFOs, as one that ends before it comes to them.
    """
    own = [SizedFifo(f"own_{lane}", bits[0], total, 1) for lane in range(lanes)]
    fifos = [SizedFifo("shared", bits[1], total, 1), *own]

    def run(depths: Mapping[str, int]) -> Outcome:
        fast = all(per_slot * depths[fifo.name] + depths["shared"] >= total for fifo in own)
        return Outcome(100, depths) if fast else Outcome(101, {"shared": depths["shared"]})

    return DepthTest(fifos, run, Outcome(100, {fifo.name: fifo.tokens for fifo in fifos}))


CHAINS = [(1, 1, 60, (1, 1)), (3, 1, 40, (2, 5)), (4, 2, 60, (1, 3)), (2, 3, 61, (7, 3))]


@pytest.mark.heavy
@pytest.mark.parametrize("lanes, per_slot, total, bits", CHAINS)
def test_staircases_take_few_runs_a_clause(lanes: int, per_slot: int, total: int, bits: tuple[int, int]):
    """The optimum is that of all choices, and the runs stay below what searching each clause of a staircase takes."""
    best = min(bits[1] * shared + lanes * bits[0] * max(1, -(-(total - shared) // per_slot)) for shared in range(1, total + 1))
    test = chained(lanes, per_slot, total, bits)
    found = optimal_depths(test, most_runs=600)
    assert found.bits == best and found.surprises == 0
    assert found.runs <= 3 * total // per_slot * lanes
