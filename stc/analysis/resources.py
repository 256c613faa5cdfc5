"""Resources of tasks, kernels and designs, estimated from the IR that is emitted (stc.analysis.resource_figures says how)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from math import ceil
from typing import Any

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from stc.analysis.adder_trees import holds_a_tree
from stc.analysis.data_multiplexers import multiplexer_luts
from stc.analysis.kernel_memory import entry_bits
from stc.analysis.loops import is_unrolled, most_trips, pipeline_ii, trip_count, unroll_factor
from stc.analysis.memory_ports import memory_ports
from stc.analysis.operator_library import operators_of
from stc.analysis.partitions import bank_count, bank_words
from stc.analysis.remembered import Remembered
from stc.analysis.resource_figures import (
    ASSUMPTIONS,
    KERNEL_CONTROL,
    ResourceCount,
    adapter,
    fifo,
    local_memory,
    of_control,
    operators,
)
from stc.analysis.task_control import task_control
from stc.dialects.dataflow import KernelOp, TaskOp, own_kernel_of
from stc.dialects.facts import STORAGE
from stc.dialects.stream import BufferOp, CreateOp
from stc.iteration.storage import ArrayStorage
from stc.platforms.adapters import WIDEST
from stc.platforms.control import ControlCost
from stc.platforms.platform import Platform

ORIGIN = "estimated: no synthesis"


def task_resources(task: TaskOp, clock_ns: float) -> ResourceCount:
    """What the function of `task` takes, its arrays included."""
    return _sum(_task_parts(task, clock_ns).values())


def _task_parts(task: TaskOp, clock_ns: float) -> dict[str, ResourceCount]:
    if (own := own_kernel_of(task)) is not None:
        return {"own kernels, as they declare": ResourceCount(**own.declared_resources)}
    arrays = [op for op in task.walk() if isinstance(op, memref.AllocOp) and not holds_a_tree(op.memref)]
    return {
        "operators": operators(task_operators(task), clock_ns),
        "arrays": _sum(_array(array, array.memref.type, 1, STORAGE.of(array)) for array in arrays),
        "multiplexers": ResourceCount(lut=_MULTIPLEXERS.of(task, None, lambda: multiplexer_luts(task))),
        "control": _control(task, clock_ns),
    }


_MULTIPLEXERS = Remembered[int](with_names=False)
_CONTROL = Remembered[ControlCost](with_names=False)


def _control(task: TaskOp, clock_ns: float) -> ResourceCount:
    intervals = tuple(pipeline_ii(op) for op in task.walk() if isinstance(op, scf.ForOp))  # which `Remembered` does not read
    return of_control(_CONTROL.of(task, (clock_ns, intervals), lambda: task_control(task, clock_ns)))


def task_operators(task: TaskOp) -> Counter[str]:
    """Operators of each kind that the task needs at once: the most over its regions, which run one after the other."""
    needed = Counter[str]()
    for counts, interval in _regions(task.body.block, 1):
        needed |= Counter({name: ceil(count / interval) for name, count in counts.items()})
    return needed


def _regions(block: Block, interval: int) -> Iterator[tuple[Counter[str], int]]:
    """Operators of `block` itself (unrolled loops and branches included), then of each loop in it; with its interval."""
    own, loops = _own(block)
    yield own, interval
    for loop in loops:
        yield from _regions(loop.body.block, pipeline_ii(loop) or 1)


def _own(block: Block) -> tuple[Counter[str], list[scf.ForOp]]:
    counts, loops = Counter[str](), list[scf.ForOp]()
    for op in block.ops:
        counts.update(operators_of(op))
        if isinstance(op, scf.ForOp) and not is_unrolled(op):
            loops.append(op)
            continue
        for inner in (region.block for region in op.regions if region.blocks):
            inside, below = _own(inner)
            copies = trip_count(op) if isinstance(op, scf.ForOp) else 1
            counts.update({name: copies * count for name, count in inside.items()})
            loops += below
    factor = _partial_factor(block)
    return Counter({name: factor * count for name, count in counts.items()}), loops


def _partial_factor(block: Block) -> int:
    """Copies of an iteration that a loop unrolled by a factor makes of its body."""
    parent = block.parent_op()
    return min(unroll_factor(parent) or 1, most_trips(parent)) if isinstance(parent, scf.ForOp) else 1


def kernel_parts(kernel: KernelOp, clock_ns: float, widest: int = WIDEST) -> dict[str, ResourceCount]:
    """What a kernel takes, by what it is for, on a platform whose memory ports have at most `widest` bits."""
    parts: dict[str, ResourceCount] = {"control": KERNEL_CONTROL}
    for _, name, count in _pieces(kernel, clock_ns, widest):
        parts[name] = parts.get(name, ResourceCount()).plus(count)
    parts.setdefault("memory ports", ResourceCount())
    return parts


def _pieces(kernel: KernelOp, clock_ns: float, widest: int) -> Iterator[tuple[TaskOp | SSAValue, str, ResourceCount]]:
    """What each thing in a kernel takes, and for what: of a task, a FIFO, a ring, the memory behind a port."""
    for op in kernel.body.block.ops:
        match op:
            case TaskOp():
                yield from ((op, name, count) for name, count in _task_parts(op, clock_ns).items())
            case CreateOp():
                kind = op.result.type
                yield op.result, "FIFOs", fifo(entry_bits(kind.element_type), kind.depth, op.memory)
            case BufferOp():
                kind = op.result.type
                yield op.result, "rings of blocks", _array(op, kind.buffer_type, kind.count)
            case _:
                pass
    for memory, *_ in memory_ports(kernel):
        if isinstance(kind := memory.type, MemRefType):
            yield memory, "memory ports", adapter(entry_bits(kind.element_type), clock_ns, widest)


def unit_resources(kernel: KernelOp, clock_ns: float, widest: int = WIDEST) -> dict[str, ResourceCount]:
    """What each compute unit of a kernel takes: its tasks, what they read from, and its memory ports. A link is counted at the unit
    that reads it, and each unit has control of its own."""
    units = dict.fromkeys(kernel.units, KERNEL_CONTROL)
    for owner, _, count in _pieces(kernel, clock_ns, widest):
        if (task := owner if isinstance(owner, TaskOp) else _task_at(owner)) is not None:
            unit = task.unit or kernel.sym_name.data
            units[unit] = units[unit].plus(count)
    return units


def _task_at(value: SSAValue) -> TaskOp | None:
    """The task that reads a FIFO or ring, or uses a memory; the one that writes where none reads."""
    tasks = [use.operation for use in value.uses if isinstance(use.operation, TaskOp)]
    return next((task for task in tasks if value in task.ins), tasks[0] if tasks else None)


def _array(owner: Operation, kind: Attribute, count: int, storage: ArrayStorage | None = None) -> ResourceCount:
    assert isinstance(kind, MemRefType)
    banks = bank_count(owner, kind)
    return local_memory(entry_bits(kind.element_type), banks * bank_words(owner, kind), banks, storage).times(count)


def _sum(counts: Any) -> ResourceCount:
    total = ResourceCount()
    for count in counts:
        total = total.plus(count)
    return total


def design_resources(module: ModuleOp, clock_ns: float, widest: int = WIDEST) -> ResourceCount:
    """What all kernels take together, on a platform whose memory ports have at most `widest` bits."""
    return _sum(_design_parts(module, clock_ns, widest).values())


def _design_parts(module: ModuleOp, clock_ns: float, widest: int) -> dict[str, ResourceCount]:
    parts: dict[str, ResourceCount] = {}
    for kernel in [op for op in module.walk() if isinstance(op, KernelOp)]:
        for name, count in kernel_parts(kernel, clock_ns, widest).items():
            parts[name] = parts.get(name, ResourceCount()).plus(count)
    return parts


def _of_kernel(kernel: KernelOp, platform: Platform) -> dict[str, Any]:
    total = _sum(kernel_parts(kernel, platform.cycle_ns, platform.memory.word_bits).values())
    return {"total": asdict(total), "share": total.shares_of(platform.usable), "memory_ports": len(memory_ports(kernel))}


# Report -----------------------------------------------------------------------------------------------------------------


def resource_report(module: ModuleOp, platform: Platform) -> dict[str, Any]:
    """The section "resources" of report.json: all kernels together, by what they are for, against what a plan may use.

    `share`: of all dies; `share_of_slr`: of each die alone, for a design that is on one. `kernels`: of each alone, with its ports.
    """
    parts = _design_parts(module, platform.cycle_ns, platform.memory.word_bits)
    total = _sum(parts.values())
    return {
        "origin": ORIGIN,
        "assumptions": list(ASSUMPTIONS),
        "clock_ns": platform.cycle_ns,
        "total": asdict(total),
        "parts": {name: asdict(count) for name, count in parts.items()},
        "share": total.shares_of(platform.usable),
        "kernels": {op.sym_name.data: _of_kernel(op, platform) for op in module.walk() if isinstance(op, KernelOp)},
        "share_of_slr": [total.shares_of(slr.scaled(platform.plan)) for slr in platform.slrs],
        "tasks": {
            task.sym_name.data: {**asdict(task_resources(task, platform.cycle_ns)), "operators": dict(task_operators(task))}
            for task in module.walk()
            if isinstance(task, TaskOp)
        },
    }
