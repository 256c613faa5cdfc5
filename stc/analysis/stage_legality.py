"""Which operations may be left after which stage of the compile, and which pass should have removed the others.

The table (`STAGES`) says it by place: at the level of a function, between the tasks of a kernel, inside a task, or in the scalar
body of a linalg operation. Work on parameters and constants alone, which the host does, may stay in a function as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from xdsl.dialects import arith, func, linalg, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from stc.analysis.host_work import functions_of, host_values
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.updates import is_offset, is_prefix_read, is_update, scalar_argument
from stc.scalars.table import EMITTED
from stc.xdsl_gaps.linalg_named import NAMED_OPS

Place = Literal["function", "kernel", "task", "body"]
"""Where an operation stands: the innermost of a function (or the module), a kernel, a task, the region of a linalg operation."""

WHERE: Mapping[Place, str] = {
    "function": "at function level",
    "kernel": "between the tasks of a kernel",
    "task": "in a task",
    "body": "in the body of a linalg operation",
}


@dataclass(frozen=True)
class Removal:
    """`by`: the pass that removes these operations from a place."""

    by: str
    place: Place
    operations: frozenset[str]


@dataclass(frozen=True)
class Legality:
    """The operations that a stage may leave, by place, and which of its passes removes what."""

    function: frozenset[str]
    kernel: frozenset[str] = frozenset()
    task: frozenset[str] = frozenset()
    body: frozenset[str] = frozenset()
    removals: tuple[Removal, ...] = ()

    def at(self, place: Place) -> frozenset[str]:
        return getattr(self, place)


def _names(dialect: str, operations: str) -> frozenset[str]:
    return frozenset(f"{dialect}.{operation}" for operation in operations.split())


SCALAR = frozenset(operation.name for operation in EMITTED) | {"arith.constant"}
INDEX = _names("arith", "constant addi subi muli divui divsi remui remsi floordivsi minui maxui minsi maxsi") | _names(
    "arith", "andi ori xori shli shrsi shrui trunci extsi extui cmpi select index_cast"
)
"""What the guards and addresses of tile loops are made of, and the packing of small integers into words."""
BODY = SCALAR | _names("linalg", "yield index")
LOOPS = _names("scf", "for if yield")
SIZES = frozenset({"itensor.size", "itensor.index_symbol", "itensor.advance"})
"""Bounds of loops known at run time."""
FRAME = frozenset({"builtin.module", "func.func", "func.return"})
RESHAPES = _names("tensor", "expand_shape collapse_shape cast")
MOVEMENTS = RESHAPES | _names("tensor", "empty extract_slice concat from_elements")
STRUCTURED = _names("linalg", "generic fill")
TILES = _names("tensor", "empty extract_slice insert_slice")
ROUTING = _names("itensor", "empty instance cast reassociate converter chunk concat fork split merge")
BETWEEN_TASKS = _names("dataflow", "task yield")
STREAMS = frozenset({"stream.create", "stream.buffer", "dataflow.memory"})
MEMORY = _names("memref", "alloc load store")
VIEWS = _names("memref", "subview copy")
ACCESSES = _names("stream", "read write acquire") | _names("vector", "load store broadcast extract insert")

NAMED = frozenset(operation.name for operation in (*linalg.Linalg.operations, *NAMED_OPS)) - STRUCTURED - BODY

_TILED = FRAME | MOVEMENTS | STRUCTURED | LOOPS | INDEX | TILES
_KERNELS = FRAME | RESHAPES | {"dataflow.kernel"}
_PACKED = _KERNELS | {"dataflow.pack", "dataflow.unpack"}
_OWN = frozenset({"dataflow.own_kernel", "dataflow.yield"})
_ON_ITENSORS = _OWN | SIZES | LOOPS | INDEX | STRUCTURED | TILES | {"itensor.read", "itensor.write"}
_ON_BUFFERS = _OWN | SIZES | LOOPS | INDEX | STRUCTURED | MEMORY | VIEWS | ACCESSES

STAGES: Mapping[str, Legality] = {
    "linalg optimisation": Legality(
        function=FRAME | MOVEMENTS | STRUCTURED | {"arith.constant"},
        body=BODY,
        removals=(
            Removal("generalize-named-ops", "function", NAMED | {"tensor.splat"}),
            Removal("drop-asserts", "function", frozenset({"cf.assert"})),
            Removal("simplify-movements", "function", _names("tensor", "pad insert_slice")),
            Removal("expand-functions", "body", _names("math", "fpowi log2")),
        ),
    ),
    "linalg tiling": Legality(
        function=_TILED | {"dataflow.kernel"}, kernel=BETWEEN_TASKS | {"itensor.empty"}, task=_OWN, body=BODY
    ),
    "kernel fusion": Legality(
        function=_KERNELS,
        kernel=BETWEEN_TASKS | ROUTING,
        task=_ON_ITENSORS | BETWEEN_TASKS | ROUTING,
        body=BODY,
        removals=(
            Removal("linalg-to-dataflow", "function", LOOPS | INDEX | STRUCTURED | _names("tensor", "empty insert_slice")),
            Removal("layout-to-dataflow", "function", _names("tensor", "extract_slice concat from_elements")),
            Removal("insert-converters", "kernel", frozenset({"itensor.reorder"})),
        ),
    ),
    "dataflow optimisation": Legality(
        function=_PACKED,
        kernel=BETWEEN_TASKS | ROUTING,
        task=_ON_ITENSORS,
        body=BODY,
        removals=(Removal("flatten-tasks", "task", frozenset({"dataflow.task"}) | ROUTING),),
    ),
    "bufferization": Legality(
        function=_PACKED,
        kernel=BETWEEN_TASKS | STREAMS,
        task=_ON_BUFFERS,
        body=BODY,
        removals=(
            Removal("lower-converters", "kernel", frozenset({"itensor.converter"})),
            Removal("lower-layout", "kernel", _names("itensor", "cast reassociate chunk concat fork split merge")),
            Removal("lower-tasks", "kernel", _names("itensor", "empty instance") | _names("stream", "from_itensor to_itensor")),
            Removal("lower-tasks", "task", TILES | _names("itensor", "read write")),
        ),
    ),
    "resource allocation": Legality(function=_PACKED, kernel=BETWEEN_TASKS | STREAMS, task=_ON_BUFFERS, body=BODY),
    "HLS optimisation": Legality(
        function=_PACKED,
        kernel=BETWEEN_TASKS | STREAMS,
        task=_OWN | SIZES | LOOPS | SCALAR | INDEX | MEMORY | ACCESSES,
        removals=(Removal("lower-linalg-to-loops", "task", STRUCTURED | VIEWS),),
    ),
}
"""The published stages, in order, and what each may leave."""

BEFORE_UPDATES = ("linalg optimisation", "linalg tiling", "kernel fusion")
"""The stages that leave updates of inputs to `update-in-place`."""


@dataclass(frozen=True)
class IllegalOp:
    """`operation` may not be left in its `place` after `stage`; `remover` is the pass that should have removed it, if one does."""

    operation: Operation
    place: Place
    stage: str

    @property
    def remover(self) -> str | None:
        """The pass that should have removed it; None where the operation should never have come there."""
        so_far = list(STAGES)[: list(STAGES).index(self.stage) + 1]
        removals = [removal for stage in reversed(so_far) for removal in STAGES[stage].removals if removal.place == self.place]
        return next((removal.by for removal in removals if self.operation.name in removal.operations), None)

    def __str__(self) -> str:
        blame = f"'{self.remover}' should have removed it" if self.remover else "no pass should have put it there"
        return f"'{self.operation.name}' op may not stand {WHERE[self.place]} after stage '{self.stage}': {blame}"


def illegal_ops(module: ModuleOp, stage: str) -> Iterator[IllegalOp]:
    """The operations that `stage` should not have left in `module`, in the order of the text; KeyError for an unknown stage."""
    legality, host = STAGES[stage], _host_work(module)
    return _illegal_inside(module, "function", legality, stage, host)


def _host_work(module: ModuleOp) -> set[Operation]:
    """The operations that the host evaluates once, with all that is inside them."""
    known: set[SSAValue] = set().union(*(host_values(function) for function in functions_of(module)))
    return {value.owner for value in known if isinstance(value.owner, Operation)}


def _illegal_inside(op: Operation, place: Place, legality: Legality, stage: str, host: set[Operation]) -> Iterator[IllegalOp]:
    if (op in host and not isinstance(op, KernelOp)) or (stage in BEFORE_UPDATES and _is_update(op)) or _is_scalar(op):
        return
    if op.name not in legality.at(place):
        yield IllegalOp(op, place, stage)
        return
    for region in op.regions:
        for block in region.blocks:
            for nested in block.ops:
                yield from _illegal_inside(nested, _place_inside(op, place), legality, stage, host)


def _is_update(op: Operation) -> bool:
    """Whether a function inserts at an offset known at run time, computes it, or reads the beginning of what it updates."""
    if not isinstance(op.parent_op(), func.FuncOp):
        return False
    if isinstance(op, tensor.ExtractSliceOp):
        return is_prefix_read(op)
    if isinstance(op, tensor.InsertSliceOp):
        return is_update(op)
    return isinstance(op, arith.IndexCastOp) and is_offset(op)


def _is_scalar(op: Operation) -> bool:
    """Whether a function takes the only entry of an input, for kernels as a scalar."""
    if not isinstance(op, tensor.ExtractOp) or not isinstance(op.parent_op(), func.FuncOp):
        return False
    return scalar_argument(op.result) is not None and is_offset(op)


def _place_inside(op: Operation, place: Place) -> Place:
    """Where the operations in the regions of `op` stand, which itself stands at `place`."""
    if isinstance(op, KernelOp):
        return "kernel"
    if isinstance(op, TaskOp):
        return "task"
    return "body" if op.name.startswith("linalg.") else place
