"""A manifest at values of its scalars: what depends on them counts at most as often as it says, and here so often."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from stc.diagnostics import CompileError
from stc.iteration.size import read_size, value_at
from stc.manifest.schema import Kernel, LoopSchedule, Manifest, Task, TaskWork

_Steps: TypeAlias = Sequence[Mapping[str, int]]
"""The values of scalars, by symbol, in each step of a launch that is looked at."""


def scalar_maxima(manifest: Manifest) -> dict[str, int]:
    """The largest value of each scalar of a launch, by the symbol that sizes call it."""
    return {scalar.symbol: scalar.maximum for kernel in manifest.kernels for scalar in kernel.scalars}


def at_values(manifest: Manifest, values: Mapping[str, int] | None = None) -> Manifest:
    """`manifest` where scalars of a launch have `values`, those not named their maxima; of several steps the one in the middle.

    CompileError for a name that no scalar has, and for a value out of range.
    """
    return _with(manifest, values, lambda steps: steps[(len(steps) - 1) // 2 :][:1])


def of_launch(manifest: Manifest, values: Mapping[str, int] | None = None) -> Manifest:
    """As `at_values`, but what is counted is that of all steps of the launch together; trips of inner loops are those of the step
    in the middle."""
    return _with(manifest, values, lambda steps: steps)


def _with(manifest: Manifest, values: Mapping[str, int] | None, chosen: Callable[[_Steps], _Steps]) -> Manifest:
    maxima, given = scalar_maxima(manifest), dict(values or {})
    for name, value in given.items():
        if name not in maxima:
            what = f"the design has no scalar '{name}'"
            raise CompileError(what, accepted=", ".join(maxima) or "none: all its sizes are known at compile time")
        if not 0 <= value <= maxima[name]:
            raise CompileError(f"scalar '{name}' is {value}", accepted=f"a value from 0 to {maxima[name]}")
    if not maxima and all(kernel.steps == 1 for kernel in manifest.kernels):
        return manifest
    at = maxima | given
    steps = {
        kernel.name: chosen([{name: value + step for name, value in at.items()} for step in range(kernel.steps)])
        for kernel in manifest.kernels
    }
    return replace(manifest, kernels=tuple(_at(kernel, steps[kernel.name]) for kernel in manifest.kernels))


def _at(kernel: Kernel, steps: _Steps) -> Kernel:
    def number(size: str | None, otherwise: int) -> int:
        return len(steps) * otherwise if size is None else _over(steps, size)

    return replace(
        kernel,
        streams=tuple(replace(stream, tokens=number(stream.size, stream.tokens)) for stream in kernel.streams),
        blocks=tuple(replace(ring, blocks=len(steps) * ring.blocks) for ring in kernel.blocks),
        schedule=tuple(replace(loop, trip=_trip(loop, steps)) for loop in kernel.schedule),
        tasks=tuple(_task_at(task, steps) for task in kernel.tasks),
    )


def _trip(loop: LoopSchedule, steps: _Steps) -> int:
    """An outermost loop runs in each step; one inside as often as in the step in the middle."""
    if loop.parent is None:
        return len(steps) * loop.trip if loop.size is None else _over(steps, loop.size)
    return loop.trip if loop.size is None else value_at(read_size(loop.size), steps[(len(steps) - 1) // 2])


def _over(steps: _Steps, size: str) -> int:
    """A size, of all steps of a launch together."""
    return sum(value_at(read_size(size), values) for values in steps)


def _task_at(task: Task, steps: _Steps) -> Task:
    each = {name: None if count is None else len(steps) * count for name, count in (task.guarded or {}).items()}
    guarded = None if task.guarded is None else {**each, **_counted(task.guarded_sizes, steps)}
    outside = None if task.outside_loops is None else {name: len(steps) * count for name, count in task.outside_loops.items()}
    work = _work_at(task.work, steps) if task.work is not None else None
    return replace(task, outside_loops=outside, guarded=guarded, work=work)


def _work_at(work: TaskWork, steps: _Steps) -> TaskWork:
    products = len(steps) * work.products if work.size is None else _over(steps, work.size)
    moves = {name: len(steps) * count for name, count in work.moves.items()}
    return replace(work, products=products, moves={**moves, **_counted(work.sizes, steps)})


def _counted(sizes: Mapping[str, str] | None, steps: _Steps) -> dict[str, int]:
    return {name: _over(steps, size) for name, size in (sizes or {}).items()}


def sizes_in(kernel: Kernel) -> Iterator[tuple[str, str]]:
    """Where a size stands, and its text."""
    for index, stream in enumerate(kernel.streams):
        if stream.size is not None:
            yield f"streams[{index}].size", stream.size
    for index, loop in enumerate(kernel.schedule):
        if loop.size is not None:
            yield f"schedule[{index}].size", loop.size
    for index, task in enumerate(kernel.tasks):
        yield from ((f"tasks[{index}].guarded_sizes.{name}", size) for name, size in (task.guarded_sizes or {}).items())
        if task.work is not None and task.work.size is not None:
            yield f"tasks[{index}].work.size", task.work.size
        sizes = (task.work.sizes or {}) if task.work is not None else {}
        yield from ((f"tasks[{index}].work.sizes.{name}", size) for name, size in sizes.items())
