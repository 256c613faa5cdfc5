"""Loop-carried dependences through local memory: how soon an iteration may start after the one it continues."""

from __future__ import annotations

from xdsl.dialects import arith, memref, scf
from xdsl.ir import Block, Operation, SSAValue

from stc.analysis.loops import trip_count
from stc.analysis.operator_library import ADD
from stc.analysis.task_programs import values_behind
from stc.platforms.operators import find_operator


def accumulation_interval(loop: scf.ForOp, clock_ns: float) -> int:
    """Cycles of `clock_ns` between iterations so that a sum is finished before it is added to again."""
    stages = find_operator(ADD, clock_ns).stages
    worst = 1
    for store in [op for op in loop.walk() if isinstance(op, memref.StoreOp)]:
        if _accumulates(store) and (distance := _distance(store, loop)) is not None:
            worst = max(worst, -(-stages // distance))
    return worst


def _accumulates(store: memref.StoreOp) -> bool:
    """Whether the stored value is computed from the entry it replaces."""
    pending, seen = [store.value], set[SSAValue]()
    while pending:
        value = pending.pop()
        if value in seen or isinstance(value.owner, Block):
            continue
        seen.add(value)
        load = value.owner
        if isinstance(load, memref.LoadOp):
            if load.memref is store.memref:
                return True
            continue
        if isinstance(load, arith.ConstantOp):
            continue
        pending.extend(load.operands)
    return False


def _distance(store: memref.StoreOp, loop: scf.ForOp) -> int | None:
    """Iterations of the flattened nest around `loop` before the same entry is stored again; None: not before it drains."""
    moving = values_behind(store.indices)
    distance = 1
    current: Operation | None = loop
    while isinstance(current, scf.ForOp) and current.body.block.args[0] in moving:
        distance *= trip_count(current)
        parent = current.parent_op()
        perfect = isinstance(parent, scf.ForOp) and sum(isinstance(op, scf.ForOp) for op in parent.body.block.ops) == 1
        current = parent if perfect else None
    return distance if isinstance(current, scf.ForOp) else None
