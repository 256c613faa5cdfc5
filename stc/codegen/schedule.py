"""The manifest's schedule: what each labelled loop of a task does per iteration, and what its loops do not say."""

from __future__ import annotations

from collections import Counter

from xdsl.dialects import scf

from stc.analysis.loop_estimates import loop_estimate
from stc.analysis.loops import is_flattened, is_tabulated, is_unrolled, loop_labels, pipeline_ii, unroll_factor
from stc.analysis.summed_products import SummedProducts, summed_products
from stc.codegen.design import TaskDesign
from stc.diagnostics import CompileError
from stc.dialects.itensor.accesses import trip_size
from stc.iteration.size import Size, maximum, product_of
from stc.iteration.trace import Access, Block, For, accesses_of_iteration, items_of, placed
from stc.manifest.schema import LoopSchedule, MemoryAccess, TaskWork


def task_schedule(task: TaskDesign, clock_ns: float) -> list[LoopSchedule]:
    """One entry per loop that is left in hardware, in source order; depths for cycles of `clock_ns`."""
    labels = loop_labels(task.op)
    bodies = {item.label: item.body for item in items_of(task.accesses.body) if isinstance(item, For)}
    return [_entry(task, loop, labels, bodies.get(labels[loop], ()), clock_ns) for loop in labels if not is_unrolled(loop)]


def accesses_outside_loops(task: TaskDesign) -> dict[str, int]:
    """Tokens per launch that a task moves outside the loops that are left in hardware, by stream or ring of blocks."""
    counts: Counter[str] = Counter()
    for access, times in accesses_of_iteration(task.accesses.body):
        if not access.bytes:
            counts[access.name] += times
    return dict(counts)


def guarded_streams(task: TaskDesign) -> tuple[dict[str, int | None], dict[str, str] | None]:
    """Of the streams and rings of blocks that a task touches under a condition, or in loops whose trips stand in a table: how many
    tokens it moves there per launch at most, and the sizes of those that depend on scalars (None: no such)."""
    trace = task.accesses
    tabulated = {label for loop, label in loop_labels(task.op).items() if is_tabulated(loop)}
    counted = [access for access, loops, guards in placed(trace.body) if guards or any(loop.label in tabulated for loop in loops)]
    found = [access.port for access in counted if not access.bytes]
    counts = {name: trace.token_size(name, writes) for name, writes in found}
    sizes = {name: size for name, count in counts.items() if (size := run_time_size(count)) is not None}
    return {name: maximum(count) for name, count in counts.items()}, sizes or None


def task_work(task: TaskDesign, clock_ns: float) -> TaskWork | None:
    """Products that a task sums up and bytes that it moves, per launch; None where there are none, or data decides how many."""
    try:
        products = summed_products(task.op, clock_ns)
    except CompileError:
        return None
    trace = task.accesses
    words = {access.port: access.bytes for access, _, _ in placed(trace.body) if isinstance(access, Access) and access.bytes}
    moves = {name: product_of(size, trace.token_size(name, writes)) for (name, writes), size in words.items()}
    if products is None and not moves:
        return None
    found = products or SummedProducts(0, 0, 0)
    sizes = {name: text for name, size in moves.items() if (text := run_time_size(size)) is not None}
    most = {name: maximum(size) for name, size in moves.items()}
    return TaskWork(maximum(found.count), found.at_once, found.dsp, most, run_time_size(found.count), sizes or None)


def run_time_size(size: Size | None) -> str | None:
    """The text of a size that depends on scalars, None of any other."""
    return None if size is None or isinstance(size, int) else str(size)


def _entry(task: TaskDesign, loop: scf.ForOp, labels: dict[scf.ForOp, str], body: Block, clock_ns: float) -> LoopSchedule:
    reads: Counter[str] = Counter()
    writes: Counter[str] = Counter()
    memory: Counter[str] = Counter()
    for access, times in accesses_of_iteration(body):
        if access.bytes:
            memory[access.name] += access.bytes * times
        else:
            (writes if access.writes else reads)[access.name] += times
    trips = trip_size(loop)
    parent = loop.parent_op()
    while parent is not None and not isinstance(parent, scf.ForOp):
        parent = parent.parent_op() if parent is not task.op else None
    ii = pipeline_ii(loop)
    estimate = loop_estimate(loop, task.op, clock_ns) if ii is not None else None
    return LoopSchedule(
        task=task.name,
        label=labels[loop],
        parent=labels[parent] if parent is not None else None,
        trip=0 if trips is None else maximum(trips),
        ii=ii,
        depth=estimate.depth if estimate is not None else None,
        unroll=unroll_factor(loop) or 1,
        flattened=is_flattened(loop),
        reads=dict(reads),
        writes=dict(writes),
        memory=tuple(MemoryAccess(port, size) for port, size in memory.items()),
        limit=estimate.limit_at(ii).reason if ii is not None and estimate is not None else None,
        chain=estimate.chain_text if estimate is not None else None,
        size=None if is_tabulated(loop) else run_time_size(trips),
    )
