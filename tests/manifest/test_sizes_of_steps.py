"""A manifest whose launch computes several steps: `at_values` is one of them, `of_launch` all together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stc.diagnostics import CompileError
from stc.manifest.schema import SCHEMA_VERSION, BlockBuffer, Kernel, LoopSchedule, Manifest, Scalar, Stream, Task, TaskWork
from stc.manifest.sizes import at_values, of_launch

MAXIMUM, LAUNCHED = 15, 12
"""Of the scalar in a step, and in a launch of four."""
ROWS = f"pos<={MAXIMUM}"


def design(steps: int = 4) -> Manifest:
    """Rows so far pass through a stream, where one fixed token passes through another; a scalar of a launch says how many."""
    streams = (
        Stream("rows", "f32", 1, 32, 2, "srl", "load", "fc", MAXIMUM, size=ROWS),
        Stream("row", "f32", 1, 32, 2, "srl", "load", "fc", 3),
    )
    loops = (
        LoopSchedule("load", "rows_loop", None, MAXIMUM, 1, 3, 1, False, {}, {"rows": 1}, (), size=ROWS),
        LoopSchedule("load", "row_loop", None, 3, 1, 3, 1, False, {}, {"row": 1}, ()),
    )
    load = Task("load", "load", None, ("w",), ("rows", "row"), guarded={"rows": MAXIMUM, "row": 3}, guarded_sizes={"rows": ROWS},
                outside_loops={"row": 2}, work=TaskWork(0, 0, 0, {"w": 64, "c": 15}, sizes={"c": f"mul({ROWS}, 8)"}))
    fc = Task("fc", "compute", None, ("rows", "row"), (), work=TaskWork(240, 0, 0, {}, size=f"mul({ROWS}, 16)"))
    blocks = (BlockBuffer("ring", "f32", (4,), 2, 32, "load", "fc", 5),)
    kernel = Kernel("top", (), (load, fc), streams, blocks, loops, steps=steps,
                    scalars=(Scalar("pos", "pos", "pos", MAXIMUM - (steps - 1)),))
    return Manifest(SCHEMA_VERSION, "sizes", "u55c", (kernel,), (), (), 0.0, {}, {}, {})


def counts(manifest: Manifest) -> dict[str, object]:
    (kernel,) = manifest.kernels
    load, fc = kernel.tasks
    assert load.work is not None and fc.work is not None
    return {
        "tokens": [stream.tokens for stream in kernel.streams],
        "blocks": [ring.blocks for ring in kernel.blocks],
        "trips": [loop.trip for loop in kernel.schedule],
        "guarded": load.guarded,
        "outside": load.outside_loops,
        "moves": load.work.moves,
        "products": fc.work.products,
    }


def expected(positions: list[int]) -> dict[str, object]:
    """Of steps at these positions; the loops are outermost ones."""
    steps, rows = len(positions), sum(positions)
    return {
        "tokens": [rows, 3 * steps],
        "blocks": [5 * steps],
        "trips": [rows, 3 * steps],
        "guarded": {"rows": rows, "row": 3 * steps},
        "outside": {"row": 2 * steps},
        "moves": {"w": 64 * steps, "c": 8 * rows},
        "products": 16 * rows,
    }


@pytest.mark.parametrize("begin", [0, 1, 7, LAUNCHED])
def test_all_steps_of_a_launch_together(begin: int) -> None:
    assert counts(of_launch(design(), {"pos": begin})) == expected([begin, begin + 1, begin + 2, begin + 3])


@pytest.mark.parametrize("begin", [0, 1, 7, LAUNCHED])
def test_the_step_in_the_middle(begin: int) -> None:
    assert counts(at_values(design(), {"pos": begin})) == expected([begin + 1])


@pytest.mark.parametrize(("steps", "middle"), [(2, 0), (3, 1), (5, 2), (16, 7)])
def test_the_middle_of_others(steps: int, middle: int) -> None:
    assert counts(at_values(design(steps), {"pos": 0})) == expected([middle])
    assert counts(of_launch(design(steps), {"pos": 0})) == expected(list(range(steps)))


def test_a_scalar_that_is_not_named_is_the_last_of_a_launch() -> None:
    """Whose last step is at the maximum of the sizes."""
    assert counts(of_launch(design())) == expected([12, 13, 14, 15])
    assert counts(at_values(design())) == expected([13])
    for read in (at_values, of_launch):
        with pytest.raises(CompileError, match="scalar 'pos' is 13; accepted: a value from 0 to 12"):
            read(design(), {"pos": 13})


@pytest.mark.parametrize("begin", range(MAXIMUM + 1))
def test_one_step_is_the_launch(begin: int) -> None:
    made = design(1)
    assert of_launch(made, {"pos": begin}) == at_values(made, {"pos": begin})
    assert counts(of_launch(made, {"pos": begin})) == expected([begin])


def test_steps_without_a_scalar() -> None:
    """What does not depend on a position counts as often, too."""
    (kernel,) = design().kernels
    kernel = replace(kernel, scalars=(), tasks=(), schedule=kernel.schedule[1:], streams=kernel.streams[1:])
    made = replace(design(), kernels=(kernel,))
    assert [stream.tokens for stream in at_values(made).kernels[0].streams] == [3]
    assert [stream.tokens for stream in of_launch(made).kernels[0].streams] == [12]


def test_inner_loops_run_as_often_as_in_the_middle() -> None:
    (kernel,) = design().kernels
    inner = tuple(replace(loop, parent="step") for loop in kernel.schedule)
    made = replace(design(), kernels=(replace(kernel, schedule=inner),))
    assert [loop.trip for loop in of_launch(made, {"pos": 7}).kernels[0].schedule] == [8, 3]
