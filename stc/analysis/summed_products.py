"""Multiply-accumulates of a task: the products that it sums up, how many its multipliers begin in a cycle, and on how many DSPs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Operation, SSAValue

from stc.analysis.adder_trees import holds_a_tree
from stc.analysis.integer_products import is_of_a_pair
from stc.analysis.loops import pipeline_ii
from stc.analysis.operator_library import operators_of
from stc.analysis.port_pressure import copies_in
from stc.analysis.task_traces import task_trace
from stc.dialects.dataflow import TaskOp
from stc.iteration.size import Size, product_of, sum_of
from stc.platforms.operators import find_operator

_SUMS = (arith.AddfOp, arith.AddiOp, arith.SubfOp, arith.SubiOp)
_PASSING = (*_SUMS, arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp, arith.SelectOp)
"""What leaves a sum a sum."""


@dataclass(frozen=True)
class SummedProducts:
    """`count`: per launch. `at_once`: what the multipliers can begin in a cycle: loops of a task run one after the other, so
    those of the loop that has most. They are made of `dsp` DSPs, adders included (0: of LUTs)."""

    count: Size
    at_once: int
    dsp: int


def summed_products(task: TaskOp, clock_ns: float) -> SummedProducts | None:
    """Those of a task of the stream level; None where it sums no products up. CompileError where data decides how many."""
    products = list(_products(task))
    if not products:
        return None
    trace = task_trace(task, {product.result: str(worth) for product, worth in products})
    counts = [product_of(worth, trace.token_size(str(worth), True)) for worth in sorted({worth for _, worth in products})]
    loops: dict[Operation, list[tuple[arith.MulfOp | arith.MuliOp, int]]] = {}
    for product, worth in products:
        loops.setdefault(_pipeline(product, task), []).append((product, worth))
    return SummedProducts(sum_of(*counts), *max(_at_once(loop, inside, task, clock_ns) for loop, inside in loops.items()))


def _products(task: TaskOp) -> Iterator[tuple[arith.MulfOp | arith.MuliOp, int]]:
    """The products that are summed up, and how many products of numbers each is."""
    for op in task.walk():
        if isinstance(op, arith.MulfOp | arith.MuliOp) and _is_data(op.result) and _is_summed(op.result):
            yield op, 2 if isinstance(op, arith.MuliOp) and is_of_a_pair(op) else 1


def _is_data(value: SSAValue) -> bool:
    return isinstance(value.type, AnyFloat) or (isinstance(value.type, IntegerType) and value.type.width.data > 1)


def _at_once(
    loop: Operation, products: list[tuple[arith.MulfOp | arith.MuliOp, int]], task: TaskOp, clock_ns: float
) -> tuple[int, int]:
    """Products that a pipelined loop can begin in a cycle, and the DSPs that multiply and add them."""
    interval = (pipeline_ii(loop) if isinstance(loop, scf.ForOp) else None) or 1
    begun = dsp = 0
    for product, worth in products:
        multipliers = ceil(copies_in(product, task) / interval)
        begun += worth * multipliers
        dsp += multipliers * sum(_dsp(op, clock_ns) for op in (product, *_first_sums(product.result)))
    return begun, dsp


def _dsp(op: Operation, clock_ns: float) -> int:
    return sum(count * find_operator(name, clock_ns).dsp for name, count in operators_of(op).items())


def _pipeline(op: Operation, task: TaskOp) -> Operation:
    """The pipelined loop around an operation; the task where there is none."""
    around = op.parent_op()
    while around is not None and around is not task and not (isinstance(around, scf.ForOp) and pipeline_ii(around) is not None):
        around = around.parent_op()
    return around or task


# What is a sum --------------------------------------------------------------------------------------------------------


def _is_summed(product: SSAValue) -> bool:
    """Whether a sum that has begun before goes on with `product`: it is kept in memory, or carried by a loop."""
    later = _reached(product)
    begun = _sources(value for value in later if isinstance(value.owner, _SUMS))
    return any(_place(use.operation, use.index) in begun for value in later if value is not product for use in value.uses)


def _reached(value: SSAValue) -> list[SSAValue]:
    """`value` and what is made of it by nothing but additions."""
    found = [value]
    for value in found:
        for use in value.uses:
            op = use.operation
            passed = list(op.results) if isinstance(op, _PASSING) else []
            if isinstance(op, scf.YieldOp) and isinstance(around := op.parent_op(), scf.IfOp):
                passed = [around.results[use.index]]
            if isinstance(op, memref.StoreOp) and holds_a_tree(op.memref):
                passed = [load.operation.results[0] for load in op.memref.uses if isinstance(load.operation, memref.LoadOp)]
            found += [result for result in passed if result not in found]
    return found


def _sources(sums: Iterable[SSAValue]) -> set[SSAValue]:
    """The buffers and carried values that sums come from."""
    found, waiting = set[SSAValue](), list(sums)
    while waiting:
        value = waiting.pop()
        if value in found:
            continue
        found.add(value)
        if isinstance(value.owner, memref.LoadOp):
            found.add(value.owner.memref)
        elif isinstance(value.owner, _PASSING):
            waiting += value.owner.operands
    return found


def _place(user: Operation, index: int) -> SSAValue | None:
    """Where `user` puts its operand for later iterations."""
    if isinstance(user, memref.StoreOp) and index == 0:
        return user.memref
    around = user.parent_op()
    if isinstance(user, scf.YieldOp) and isinstance(around, scf.ForOp):
        return around.body.block.args[1 + index]
    return None


def _first_sums(product: SSAValue) -> list[Operation]:
    """What adds a product first: through extensions."""
    users = [use.operation for use in product.uses]
    through = [user for user in users if isinstance(user, arith.ExtSIOp | arith.ExtUIOp | arith.TruncIOp)]
    return [user for user in users if isinstance(user, _SUMS)] + [op for user in through for op in _first_sums(user.results[0])]
