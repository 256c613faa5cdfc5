"""Accesses put to z3, against running the loops around them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Literal, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stc.iteration.access_obligations import Enumeration, LoopAround
from stc.iteration.index_expressions import IndexExpression, Operator, computed
from stc.iteration.order import Loop
from stc.iteration.proof_obligations import Answer, Holds, Refuted, Undecided, answer
from stc.iteration.size import Size, Symbol, least_of, product_of, static, sum_of
from stc_testing.drawn import examples

COMPARE = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge")


@dataclass(frozen=True)
class Around:
    """A loop around an access."""

    lower: int
    step: int
    trip: int


@dataclass(frozen=True)
class Sum:
    """`constant` plus, for each (position, factor), the variable of that loop around the access times the factor."""

    constant: int
    terms: tuple[tuple[int, int], ...] = ()

    @property
    def expression(self) -> IndexExpression[int]:
        terms = (IndexExpression(0, frozenset([(at, factor)])) for at, factor in self.terms)
        return reduce(IndexExpression.plus, terms, IndexExpression[int](self.constant))


@dataclass(frozen=True)
class Comparison:
    predicate: str
    left: Sum
    right: Sum


@dataclass(frozen=True)
class Combined:
    """Guards that must all hold, of which one must hold, or an odd number of which must hold."""

    how: Literal["all", "any", "odd"]
    guards: tuple[Guard, ...]


@dataclass(frozen=True)
class Always:
    holds: bool


Guard: TypeAlias = Comparison | Combined | Always


@dataclass(frozen=True)
class Nested:
    """An access and what is around it, as the oracle has it."""

    around: tuple[Around, ...]
    guards: tuple[Guard, ...]
    named: tuple[int, ...]
    loops: tuple[Loop, ...]

    @property
    def obligation(self) -> Enumeration:
        around = (LoopAround(loop.lower, loop.step, loop.trip) for loop in self.around)
        return Enumeration(tuple(around), tuple(map(condition, self.guards)), self.named, self.loops)

    def answer(self) -> Answer:
        return answer(self.obligation)


def condition(guard: Guard) -> IndexExpression[int]:
    match guard:
        case Always(constant):
            return IndexExpression(int(constant))
        case Combined(how, guards):
            return combined(how, map(condition, guards))
        case Comparison(predicate, left, right):
            a, b = left.expression, right.expression
            less, equal = (b.less(a) if "g" in predicate else a.less(b)), computed(Operator.EQUAL, a, b)
            if predicate == "ult":  # of a constant
                return computed(Operator.MIN, a.less(IndexExpression(0)).negated(), less)
            choices = {"eq": equal, "ne": equal.negated(), "slt": less, "sgt": less}
            return choices.get(predicate) or computed(Operator.MAX, less, equal)


def combined(how: str, guards: Iterable[IndexExpression[int]]) -> IndexExpression[int]:
    match how:
        case "all":
            return reduce(lambda a, b: computed(Operator.MIN, a, b), guards, IndexExpression(1))
        case "any":
            return reduce(lambda a, b: computed(Operator.MAX, a, b), guards, IndexExpression(0))
        case _:
            return reduce(lambda a, b: computed(Operator.EQUAL, a, b).negated(), guards, IndexExpression(0))


def executed(obligation: Nested) -> list[tuple[int, ...]]:
    """The oracle: loop values of every access, in order."""
    ranges = (range(loop.lower, loop.lower + loop.step * loop.trip, loop.step) for loop in obligation.around)
    every = [values for values in product(*ranges) if all(holds(guard, values) for guard in obligation.guards)]
    return [tuple(values[position] for position in obligation.named) for values in every]


def holds(guard: Guard, values: tuple[int, ...]) -> bool:
    match guard:
        case Always(constant):
            return constant
        case Combined(how, guards):
            held = sum(holds(each, values) for each in guards)
            return {"all": held == len(guards), "any": held > 0, "odd": held % 2 == 1}[how]
        case Comparison(predicate, left, right):
            sides = [side.constant + sum(values[at] * factor for at, factor in side.terms) for side in (left, right)]
            if predicate[0] == "u":
                sides = [side + 2**64 if side < 0 else side for side in sides]
            return COMPARE[predicate[-2:]](*sides)


def typed(loops: tuple[Loop, ...]) -> list[tuple[int, ...]]:
    return list(product(*(range(0, static(loop.trip) * loop.step, loop.step) for loop in loops)))


def sums(count: int) -> st.SearchStrategy[Sum]:
    terms = st.lists(st.tuples(st.integers(0, count - 1), st.sampled_from([1, 1, 2, -1])), max_size=2) if count else st.just([])
    return st.builds(lambda constant, terms: Sum(constant, tuple(terms)), st.integers(-1, 4), terms)


def guards(count: int) -> st.SearchStrategy[Guard]:
    comparisons = st.builds(Comparison, st.sampled_from(PREDICATES), sums(count), sums(count))
    several = st.lists(comparisons | st.builds(Always, st.booleans()), max_size=3).map(tuple)
    combined = st.builds(Combined, st.sampled_from(["all", "any", "odd"]), several)
    return comparisons | combined


@st.composite
def enumerations(draw: st.DrawFn) -> Nested:
    """Mostly right: the type's loops with others around and between them, guarded to one iteration; then something is changed."""
    around: list[Around] = []
    own: list[Guard] = []
    named: list[int] = []
    loops: list[Loop] = []
    for _ in range(draw(st.integers(0, 4))):
        loop = Around(draw(st.sampled_from([0, 0, 0, 1])), draw(st.integers(1, 3)), draw(st.integers(1, 4)))
        if draw(st.booleans()):
            loop = Around(0, loop.step, loop.trip)
            named.append(len(around))
            loops.append(Loop(loop.trip, loop.step))
        elif draw(st.integers(0, 4)):
            at = loop.lower + loop.step * draw(st.integers(0, loop.trip - 1))
            own.append(Comparison("eq", Sum(0, ((len(around), 1),)), Sum(at)))
        around.append(loop)
    match draw(st.sampled_from(["nothing", "nothing", "loop", "type", "names", "guard"])):
        case "loop" if around:
            at = draw(st.integers(0, len(around) - 1))
            around[at] = Around(around[at].lower, draw(st.integers(1, 3)), draw(st.integers(0, 4)))
        case "type" if loops:
            at = draw(st.integers(0, len(loops) - 1))
            loops[at] = Loop(draw(st.integers(1, 4)), draw(st.integers(1, 3)))
        case "names" if named:
            named = list(draw(st.permutations(named)))
        case "guard":
            own.append(draw(guards(len(around))))
        case _:
            pass
    return Nested(tuple(around), tuple(own), tuple(named), tuple(loops))


@examples(15)
@given(enumerations())
def test_against_running_the_loops(obligation: Nested):
    expected = executed(obligation) == typed(obligation.loops)
    assert isinstance(obligation.obligation.counted(), Holds if expected else Refuted)
    found = obligation.answer()
    if isinstance(found, Undecided):  # only where guards tie loops that are not named to the named ones
        assert any(isinstance(guard, Comparison | Combined) for guard in obligation.guards)
        return
    assert isinstance(found, Holds if expected else Refuted), (found, obligation)


ROWS = (Around(0, 4, 8), Around(0, 1, 2), Around(0, 1, 3))
TYPE = (Loop(8, 4), Loop(3, 1))


def at(position: int, constant: int = 0) -> Sum:
    return Sum(constant, ((position, 1),))


@pytest.mark.parametrize(
    ("guard", "found"),
    [
        (Comparison("eq", at(1), Sum(1)), Holds()),
        (Comparison("ult", at(1), Sum(1)), Holds()),
        (Comparison("ult", at(1, -1), Sum(1)), Holds()),  # 0 - 1 is a large unsigned number
        (Comparison("slt", at(1, -1), Sum(0)), Holds()),
        (Combined("odd", (Comparison("ne", at(1), Sum(0)), Always(True))), Holds()),
        (Combined("all", ()), Refuted("")),
        (Comparison("sge", at(1), Sum(0)), Refuted("")),
        (Comparison("eq", at(1), Sum(2)), Refuted("token 0, at loop values [0, 0], is never accessed")),
        (Comparison("eq", at(0), Sum(0)), Refuted("")),
        (Always(False), Refuted("token 0, at loop values [0, 0], is never accessed")),
    ],
)
def test_guards(guard: Guard, found: Holds | Refuted):
    obligation = Nested(ROWS, (guard,), (0, 2), TYPE)
    assert (executed(obligation) == typed(TYPE)) == isinstance(found, Holds)
    assert obligation.answer() == found or (found == Refuted("") and isinstance(obligation.answer(), Refuted))


def test_millions_of_accesses():
    around = (Around(0, 1, 4096), Around(0, 1, 64), Around(0, 16, 4096))
    guard = Comparison("eq", at(1), Sum(63))
    assert Nested(around, (guard,), (0, 2), (Loop(4096, 1), Loop(4096, 16))).answer() == Holds()
    found = Nested(around, (guard,), (0, 2), (Loop(4096, 1), Loop(4097, 16))).answer()
    assert isinstance(found, Refuted) and "65536], is never accessed" in found.witness


def test_a_bound_that_is_fixed_where_the_type_has_a_symbol():
    loops = (Loop(Symbol("seq", 8), 1),)
    assert isinstance(Nested((Around(0, 1, 8),), (), (0,), loops).answer(), Refuted)


SEQ = Symbol("seq", 8)


@pytest.mark.parametrize(
    ("trips", "kind"), [(SEQ, Holds), (product_of(SEQ, 2), Refuted), (sum_of(SEQ, 1), Refuted), (least_of(SEQ, 7), Refuted)]
)
def test_bounds_known_at_run_time(trips: Size, kind: type[Answer]):
    """For all values of the symbol at once, 0 included."""
    around, loops = (LoopAround(0, 1, trips), LoopAround(0, 4, 2)), (Loop(SEQ, 1), Loop(2, 4))
    assert isinstance(answer(Enumeration(around, (), (0, 1), loops)), kind)


def test_an_access_that_moves_with_the_token():
    """A guard ties a loop that is not named to one that is: right, but z3 is not given a way to see it."""
    obligation = Nested((Around(0, 1, 3), Around(0, 1, 3)), (Comparison("eq", at(0), at(1)),), (0,), (Loop(3, 1),))
    assert obligation.obligation.counted() == Holds()
    assert obligation.answer() == Undecided("the iterations at which guards let an access happen differ from token to token")


def test_as_many_names_as_loops():
    assert Nested((Around(0, 1, 3),), (), (0,), ()).answer() == Refuted("1 loops are named, but the type has 0")
