"""Converter strategies: what is checked of plans; Algorithm 1 as printed against ours, on random orders."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stc.design_space.converter_choice import Surroundings
from stc.design_space.published.converter import published_converter
from stc.diagnostics import CompileError
from stc.iteration.converter import infer_converter
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.strategies.converters import CONVERTERS, Conversion, ConverterProblem

sys.path.insert(0, str(Path(__file__).parents[1] / "iteration"))

from random_orders import exact_orders, shapes

from stc_testing.drawn import examples

# Types (b) and (c) of the publication.
B = StreamOrder((4, 2), (Loop(4, 2), Loop(2, 4)), (Coordinate((1,)), Coordinate((0,))))
C = StreamOrder((4, 2), (Loop(4, 2), Loop(2, 1), Loop(2, 4)), (Coordinate((2,)), Coordinate((0,))))
AROUND = Surroundings(10**6)
PROBLEM = ConverterProblem([Conversion("b to c", B, C, infer_converter(B, C), AROUND)], "free")


def test_the_published_example() -> None:
    """Its Algorithm 1 gives 8x8, its text (and ours) 8x2; both double it."""
    assert CONVERTERS.decide("published", PROBLEM)["b to c"].buffer_shape == (8, 8)
    assert CONVERTERS.decide("smallest", PROBLEM)["b to c"].buffer_shape == (8, 2)


def test_wrong_plans() -> None:
    backwards = infer_converter(B, B)
    answers = {
        "nothing": ({}, "converter 'b to c' has no plan"),
        "unknown": ({"b to d": backwards}, "there is no converter 'b to d'"),
        "target": ({"b to c": backwards}, "the target of converter 'b to c' has another order"),
    }
    decision = replace(CONVERTERS, registered={})
    for name, (plans, complaint) in answers.items():
        decision.strategy(name)(lambda problem, plans=plans: plans)
        with pytest.raises(CompileError, match=complaint):
            decision.decide(name, PROBLEM)


OUTCOMES: Counter[str] = Counter()


@examples(75)
@given(st.data())
def test_what_it_decides_is_a_converter_or_an_error(data: st.DataObject) -> None:
    shape = data.draw(shapes)
    source, target = data.draw(exact_orders(shape)), data.draw(exact_orders(shape))
    ours = infer_converter(source, target)
    try:
        theirs = published_converter(source, target)
    except ValueError as error:
        assert str(error).startswith(("shares loop", "buffers"))
        OUTCOMES["error"] += 1
        return
    assert theirs.block_entries >= ours.block_entries
    OUTCOMES["larger" if theirs.block_entries > ours.block_entries else "equal"] += 1


def test_all_outcomes_were_met() -> None:
    assert all(OUTCOMES[outcome] >= 5 for outcome in ("error", "larger", "equal")), OUTCOMES
