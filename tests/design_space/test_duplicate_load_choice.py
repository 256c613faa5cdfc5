"""Which branches are read again: what the docstrings of `stc.design_space.duplicate_loads` promise, on random problems."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stc.design_space.duplicate_loads import (
    Branch,
    DuplicateLoadLimits,
    ForkedTensor,
    choose_duplicate_loads,
    choose_duplicate_loads_of_forks,
)
from stc_testing.drawn import examples


@st.composite
def forks(draw: st.DrawFn) -> list[ForkedTensor]:
    numbers = st.integers(0, 12)
    counts = draw(st.lists(st.integers(1, 4), max_size=4))
    return [
        ForkedTensor(f"t{fork}", tuple(Branch(f"t{fork}_{k}", draw(numbers), draw(numbers)) for k in range(count)))
        for fork, count in enumerate(counts)
    ]


@examples(150)
@given(forks(), st.integers(0, 8), st.sampled_from([0.5, 1.0, 4.0]), st.integers(-1, 6))
def test_choice(problem: list[ForkedTensor], least: int, price: float, ports: int) -> None:
    limits = DuplicateLoadLimits(least, price)
    chosen = choose_duplicate_loads_of_forks(problem, limits, ports)
    names = {branch.name for branch in chosen}
    assert len(names) == len(chosen) <= max(0, ports)
    for branch in chosen:
        assert least > 0 and branch.saved_bytes >= least and branch.traffic_bytes <= price * branch.saved_bytes
    for fork in problem:
        staying = [branch for branch in fork.branches if branch.name not in names]
        assert staying
        if len(staying) < len(fork.branches):
            assert min(branch.saved_bytes for branch in staying) == min(branch.saved_bytes for branch in fork.branches)
    assert choose_duplicate_loads_of_forks(problem, DuplicateLoadLimits(0, price), ports) == []


@examples(75)
@given(forks(), st.integers(1, 8), st.integers(0, 6))
def test_nothing_better_is_left_out(problem: list[ForkedTensor], least: int, ports: int) -> None:
    """With ports to spare every allowed branch is taken; without, none that saves more than a chosen one is left."""
    branches = [branch for fork in problem for branch in fork.branches]
    limits = DuplicateLoadLimits(least)
    chosen = choose_duplicate_loads(branches, limits, ports)
    left = [branch for branch in branches if limits.allows(branch) and branch not in chosen]
    assert not left or len(chosen) == ports
    assert all(one.saved_bytes >= other.saved_bytes for one in chosen for other in left)


def test_free_is_not_enough() -> None:
    """A branch that saves nothing is never worth a port, though it costs nothing."""
    assert choose_duplicate_loads([Branch("a", 0, 0)], DuplicateLoadLimits(1), 4) == []
