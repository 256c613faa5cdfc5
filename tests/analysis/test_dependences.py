"""What iterations carry to later ones in memory, against a run of the loops that notes who stored what."""

from __future__ import annotations

import itertools
import random

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.scf import ForOp

from stc.analysis import dependences
from stc.analysis.dependences import CarriedDependence, carried_dependences
from stc.dialects.parsing import parse_module

TRIPS = (3, 4, 5)


def nest(load: str, store: str, shape: str, before: str = "", trips: tuple[int, ...] = TRIPS) -> ModuleOp:
    """`for i, j, k: m[store] = f(m[load])`; `%t` is i + j."""
    names = "ijk"
    heads = "".join(f"scf.for %{name} = %c0 to %n{trip} step %c1 {{\n" for name, trip in zip(names, trips, strict=True))
    constants = "".join(f"%n{trip} = arith.constant {trip} : index\n" for trip in sorted(set(trips)))
    return parse_module(f"""
      func.func @main() {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        {constants}
        %one = arith.constant 1.0 : f32
        %m = memref.alloc() : memref<{shape}xf32>
        {heads} {before}
          %t = arith.addi %i, %j : index
          %a = memref.load %m[{load}] : memref<{shape}xf32>
          %b = arith.addf %a, %one : f32
          memref.store %b, %m[{store}] : memref<{shape}xf32>
        }} {{stc.pipeline = 1 : i32}} }} }}
        func.return
      }}""")


def found(module: ModuleOp) -> CarriedDependence | None:
    innermost = [op for op in module.walk() if isinstance(op, ForOp)][-1]
    return next(carried_dependences(innermost), None)


def executed(load: list[str], store: list[str]) -> int | None:
    """The least distance in a run."""
    stored: dict[tuple[int, ...], int] = {}
    least = None
    for time, (i, j, k) in enumerate(itertools.product(*map(range, TRIPS))):
        values = {"%i": i, "%j": j, "%k": k, "%t": i + j, "%c0": 0, "%c1": 1}
        at = tuple(values[index] for index in load)
        if at in stored:
            least = min(least or time, time - stored[at])
        stored[tuple(values[index] for index in store)] = time
    return least


@pytest.mark.parametrize("seed", range(60))
def test_distances_of_random_nests(seed: int) -> None:
    numbers = random.Random(seed)
    indices = ["%i", "%j", "%k", "%t", "%c0", "%c1"]
    load = [numbers.choice(indices) for _ in range(2)]
    store = load if numbers.random() < 0.5 else [numbers.choice(indices) for _ in range(2)]
    least = executed(load, store)
    result = found(nest(", ".join(load), ", ".join(store), "8x8"))
    if least is None or least < 2:
        assert result is None, "nothing worth saying"
    else:
        assert result is not None and result.distance == least


def test_the_distance_is_said_with_its_proof() -> None:
    result = found(nest("%k", "%k", "8"))
    assert result is not None and result.distance == 5
    assert result.proof == "what is stored is loaded 5 iterations later at the soonest, in all 60 iterations"


def test_part_of_a_long_nest_stands_for_all_where_indices_are_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependences, "MOST_ACCESSES", 80)
    result = found(nest("%k", "%k", "8"))
    assert result is not None and result.distance == 5
    assert result.proof.endswith("in 40 of 60 iterations, as which the others are")
    assert found(nest("%k", "%j", "8")) is None, "the distance depends on where one is"


def test_nothing_is_said_of_what_depends_on_data() -> None:
    before = "%f = memref.load %m[%k] : memref<8xf32>\n%w = arith.fptoui %f : f32 to i32\n%d = arith.index_cast %w : i32 to index"
    assert found(nest("%d", "%d", "8", before)) is None


def merged(ahead: int, step: str = "%next", counters: str = "[[4, 1, 4, 1]]", guard: str = "%first") -> ModuleOp:
    """Round k stores entry d, which counts, of half k in its first 4 of 6 iterations, and loads that of half k + `ahead`."""
    return parse_module(f"""
      func.func @main() {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %c3 = arith.constant 3 : index
        %c4 = arith.constant 4 : index
        %c6 = arith.constant 6 : index
        %ahead = arith.constant {ahead} : index
        %always = arith.constant true
        %one = arith.constant 1.0 : f32
        %m = memref.alloc() : memref<2x8xf32>
        %r = scf.for %k = %c0 to %c6 step %c1 iter_args(%o = %c0) -> (index) {{
          %e = scf.for %t = %c0 to %c6 step %c1 iter_args(%d = %o) -> (index) {{
            %own = arith.remui %k, %c2 : index
            %n = arith.addi %k, %ahead : index
            %other = arith.remui %n, %c2 : index
            %first = arith.cmpi slt, %t, %c4 : index
            scf.if {guard} {{ memref.store %one, %m[%own, %d] : memref<2x8xf32> }}
            %a = memref.load %m[%other, %d] : memref<2x8xf32>
            %last = arith.cmpi eq, %d, %c3 : index
            %more = arith.addi %d, %c1 : index
            %next = arith.select %last, %c0, %more : index
            %f = arith.select %first, {step}, %d : index
            scf.yield %f : index
          }} {{stc.pipeline = 1 : i32, stc.counters = {counters}}}
          scf.yield %e : index
        }}
        func.return
      }}""")


def test_halves_of_a_nest_that_counts_where_it_is() -> None:
    """Entry d of a half is stored in iteration d of a round and loaded in iteration d of the next one; entry 0 in the last, too."""
    result = found(merged(1))
    assert result is not None and result.distance == 6
    assert result.proof == "what is stored is loaded 6 iterations later at the soonest, in all 36 iterations"
    own = found(merged(2))
    assert own is not None and own.distance == 4, "entry 0 of a round's own half is loaded again in its last two iterations"


def test_a_store_that_also_runs_when_its_side_is_through_comes_later() -> None:
    result = found(merged(1, guard="%always"))
    assert result is None, "entry 0 is stored in the last iteration of a round and loaded in the first of the next one"


@pytest.mark.parametrize(("step", "counters"), [
    ("%more", "[[4, 1, 4, 1]]"),    # it does not wrap around
    ("%next", "[[4, 1, 4, 2]]"),    # nor advances by 2
    ("%next", "[[6, 1, 4, 1]]"),    # nor goes on after 4 iterations
    ("%k", "[[4, 1, 4, 1]]"),       # it is the round's
    ("%next", "[[4, 1, 4]]"), ("%next", "[[4, 1, 4, 0]]"), ("%next", "[]"), ("%next", "4 : i64"),
])
def test_a_counter_is_believed_only_where_it_is_proved(step: str, counters: str) -> None:
    assert found(merged(1, step, counters)) is None
