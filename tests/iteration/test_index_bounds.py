"""Proofs about indices agree with brute force: every iteration of random nests, guards and expressions is looked at."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stc.iteration import index_bounds
from stc.iteration.index_bounds import Access, Inside, LoopValues, Outside, Undecided, prove_index
from stc.iteration.index_expressions import IndexExpression, Operator, computed, variable
from stc_testing.drawn import examples

Index = IndexExpression[str]
FIRST, SECOND = variable("i"), variable("j")


def number(value: int) -> Index:
    return IndexExpression(value)


def loop(upper: int, lower: int = 0, step: int = 1) -> LoopValues:
    return LoopValues.of(lower, upper, step)


@pytest.mark.parametrize(
    ("index", "guards", "method"),
    [
        (number(7).minus(FIRST), (), "range"),                                              # a factor of -1
        (FIRST.minus(FIRST).plus(SECOND), (), "range"),                                              # terms that cancel
        (FIRST.times(100).masked(7), (), "range"),
        (computed(Operator.MIN, FIRST.times(3), number(7)), (), "range"),
        (computed(Operator.MAX, FIRST.minus(number(9)), number(0)), (), "range"),
        (computed(Operator.SELECT, FIRST.less(number(4)), FIRST, number(5)), (), "range"),
        (FIRST.minus(number(1)), (number(0).less(FIRST),), "guard"),                            # padding: only where i > 0
        (FIRST.plus(SECOND), (FIRST.plus(SECOND).less(number(8)),), "guard"),
        (SECOND.plus(number(5)), (computed(Operator.MIN, SECOND.less(number(3)), FIRST.less(SECOND)),), "guard"),
        (number(11).minus(FIRST), (FIRST.less(number(4)).negated(),), "guard"),
        (FIRST.minus(number(1)), (computed(Operator.EQUAL, FIRST, number(0)).negated(),), "counted"),
        (FIRST.plus(SECOND), (FIRST.less(number(4)), SECOND.less(number(4))), "counted"),                 # two guards at once
        (computed(Operator.REM, FIRST.product(SECOND), number(7)).plus(number(1)), (), "range"),
    ],
)
def test_what_proves_an_index(index: Index, guards: tuple[Index, ...], method: str) -> None:
    assert prove_index(Access(index, 1, 8, {"i": loop(8), "j": loop(8)}, guards)) == Inside(method)


def test_an_iteration_outside_is_named() -> None:
    found = prove_index(Access(number(0).minus(FIRST), 1, 4, {"i": loop(4)}))
    assert found == Outside(-1, {"i": 1}, (-3, 0))


def test_the_guard_decides() -> None:
    loops = {"i": loop(9)}
    assert isinstance(prove_index(Access(FIRST, 1, 8, loops, [FIRST.less(number(9))])), Outside)
    assert prove_index(Access(FIRST, 1, 8, loops, [FIRST.less(number(8))])) == Inside("guard")


def test_a_branch_that_is_never_taken_accesses_nothing() -> None:
    loops = {"i": loop(9), "j": loop(4)}
    assert isinstance(prove_index(Access(FIRST, 1, 8, loops, [number(9).less(SECOND)])), Inside)
    assert isinstance(prove_index(Access(FIRST, 1, 8, loops, [number(2).less(SECOND)])), Outside)


def test_a_loop_that_never_runs_accesses_nothing() -> None:
    assert isinstance(prove_index(Access(number(100), 1, 8, {"i": loop(0)})), Inside)


def test_lanes_count() -> None:
    access = Access(FIRST, 4, 16, {"i": loop(16, step=4)})
    assert prove_index(access) == Inside("range")
    assert isinstance(prove_index(Access(FIRST, 5, 16, {"i": loop(16, step=4)})), Outside)


LARGE = {"i": loop(1 << 20), "j": loop(1 << 20)}


def test_the_solver_decides_what_is_too_large_to_count() -> None:
    both = (FIRST.less(number(4)), SECOND.less(number(4)))
    assert prove_index(Access(FIRST.plus(SECOND), 1, 7, LARGE, both)) == Inside("z3")
    found = prove_index(Access(FIRST.plus(SECOND), 1, 6, LARGE, both))
    assert isinstance(found, Outside) and found.value == 6 and found.iteration == {"i": 3, "j": 3}


def test_a_negative_operand_of_an_unsigned_operator_is_not_proved() -> None:
    for operator in (Operator.DIV, Operator.REM, Operator.SHR):
        access = Access(computed(operator, FIRST.minus(number(1)), number(2)), 1, 8, {"i": loop(4)})
        assert isinstance(prove_index(access), Undecided)


def test_an_index_wider_than_an_int_is_not_proved() -> None:
    access = Access(computed(Operator.REM, FIRST.times(1 << 12), number(8)), 1, 8, {"i": loop(1 << 20)})
    assert isinstance(prove_index(access), Undecided)


def test_an_unknown_operator_is_never_taken_for_granted() -> None:
    """The bits that an uneven mask leaves are none of the solver's: it may not prove anything with them."""
    access = Access(FIRST.plus(SECOND).masked(5).plus(FIRST), 1, 8, LARGE, [FIRST.less(number(4))])
    assert isinstance(prove_index(access), Undecided)


# Random nests -----------------------------------------------------------------------------------------------------------

_leaves = st.one_of(st.integers(-3, 9).map(number), st.sampled_from([FIRST, SECOND]))


def _nodes(inner: st.SearchStrategy[Index]) -> st.SearchStrategy[Index]:
    binary = st.sampled_from(
        [operator for operator in Operator if operator is not Operator.SELECT]
    )
    return st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0].plus(pair[1])),
        st.tuples(inner, st.integers(-2, 3)).map(lambda pair: pair[0].times(pair[1])),
        st.tuples(binary, inner, inner).map(lambda node: computed(*node)),
        st.tuples(inner, inner, inner).map(lambda node: computed(Operator.SELECT, *node)),
        inner.map(Index.negated),
    )


_expressions = st.recursive(_leaves, _nodes, max_leaves=6)
_loops = st.tuples(st.integers(0, 3), st.integers(0, 8), st.integers(1, 3)).map(lambda b: LoopValues.of(b[0], b[1], b[2]))


def _iterations(access: Access[str]) -> list[dict[str, np.ndarray]]:
    axes = [range(values.first, values.last + 1, values.step) for values in access.loops.values()]
    return [dict(zip(access.loops, map(np.array, point), strict=True)) for point in product(*axes)]


def _holds(condition: Index, point: dict[str, np.ndarray]) -> bool:
    """Whether a guard holds; one without a value never keeps an access from running."""
    value = condition.evaluate(point)
    return value is None or bool(value)


@examples(100)
@given(_expressions, st.lists(_expressions, max_size=2), _loops, _loops, st.integers(1, 3), st.integers(3, 9), st.booleans())
def test_proofs_agree_with_brute_force(
    index: Index, guards: list[Index], i: LoopValues, j: LoopValues, length: int, extent: int, solver: bool
) -> None:
    access = Access(index, length, extent, {"i": i, "j": j}, guards)
    points = [point for point in _iterations(access) if all(_holds(guard, point) for guard in guards)]
    values = [index.evaluate(point) for point in points]
    with pytest.MonkeyPatch.context() as patch:
        if solver:
            patch.setattr(index_bounds, "MOST_ITERATIONS_COUNTED", 0)
        found = prove_index(access)
    match found:
        case Inside():
            assert all(value is not None and access.inside((int(value), int(value))) for value in values)
        case Outside(value, iteration):
            point = {name: np.array(entry) for name, entry in iteration.items()}
            assert not access.inside((value, value))
            everywhere = [p for p in points if all(p[name] == point[name] for name in point)]
            # A guard on other loops that never holds may be more than the solver sees.
            assert not points or (everywhere and int(index.evaluate({**everywhere[0]})) == value)   # pyright: ignore[reportArgumentType]
        case Undecided():
            unknown = [guard.evaluate(point) for guard in guards for point in points]
            # Where guards keep the access from ever running, that may be more than the solver sees.
            assert solver or not points or any(value is None for value in [*values, *unknown])
