"""A manifest at values of its scalars: what depends on them counts at most as often as it says, and here so often."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from stc.diagnostics import CompileError
from stc.iteration.size import read_size, value_at
from stc.manifest.schema import Kernel, Manifest, Task, TaskWork


def scalar_maxima(manifest: Manifest) -> dict[str, int]:
    """The largest value of each scalar, by the symbol that sizes call it."""
    return {scalar.symbol: scalar.maximum for kernel in manifest.kernels for scalar in kernel.scalars}


def at_values(manifest: Manifest, values: Mapping[str, int] | None = None) -> Manifest:
    """`manifest` where scalars have `values`, those not named their maxima.

    CompileError for a name that no scalar has, and for a value out of range.
    """
    maxima, given = scalar_maxima(manifest), dict(values or {})
    for name, value in given.items():
        if name not in maxima:
            what = f"the design has no scalar '{name}'"
            raise CompileError(what, accepted=", ".join(maxima) or "none: all its sizes are known at compile time")
        if not 0 <= value <= maxima[name]:
            raise CompileError(f"scalar '{name}' is {value}", accepted=f"a value from 0 to {maxima[name]}")
    if not maxima:
        return manifest
    return replace(manifest, kernels=tuple(_at(kernel, maxima | given) for kernel in manifest.kernels))


def _at(kernel: Kernel, values: Mapping[str, int]) -> Kernel:
    def number(size: str | None, otherwise: int) -> int:
        return otherwise if size is None else value_at(read_size(size), values)

    return replace(
        kernel,
        streams=tuple(replace(stream, tokens=number(stream.size, stream.tokens)) for stream in kernel.streams),
        schedule=tuple(replace(loop, trip=number(loop.size, loop.trip)) for loop in kernel.schedule),
        tasks=tuple(_task_at(task, values) for task in kernel.tasks),
    )


def _task_at(task: Task, values: Mapping[str, int]) -> Task:
    counted = _counted(task.guarded_sizes, values)
    guarded = {**(task.guarded or {}), **counted} if counted else task.guarded
    return replace(task, guarded=guarded, work=_work_at(task.work, values) if task.work is not None else None)


def _work_at(work: TaskWork, values: Mapping[str, int]) -> TaskWork:
    products = work.products if work.size is None else value_at(read_size(work.size), values)
    return replace(work, products=products, moves={**work.moves, **_counted(work.sizes, values)})


def _counted(sizes: Mapping[str, str] | None, values: Mapping[str, int]) -> dict[str, int]:
    return {name: value_at(read_size(size), values) for name, size in (sizes or {}).items()}


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
