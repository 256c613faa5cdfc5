"""`transpose-operands`: operands lie so that the lanes of their reader are neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.generic_loops import GenericLoops, all_dims, generics_in
from stc.analysis.host_work import functions_of, host_values
from stc.dialects.facts import NAME
from stc.transforms.linalg.generics import build, shape_of, transposed
from stc.transforms.stream.names import UniqueNames

LEAST_USES = 32
"""How often each entry of an operand that is no parameter is used, at least, for its transposition to be worth it."""


@dataclass(frozen=True)
class TransposeOperands(ModulePass):
    """Let the last parallel loop of every generic be the last dimension of the operands that it indexes.

    That loop is the one that is unrolled over lanes, which must lie side by side in every operand. A parameter that has it
    elsewhere (PyTorch's linear layers keep their weights transposed) is transposed first, which the host does when it packs
    parameters. Other operands are transposed by a computation of their own where the reader uses each entry so often that the
    lanes gain more than the transposition costs.

    Options: `parameters-only`: transpose nothing that costs hardware (default false).

        %y = linalg.generic {... (d0, d1, d2) -> (d0, d2), (d1, d2), (d0, d1) ...} ins(%x, %w : tensor<4x8xf32>, tensor<6x8xf32>)
      becomes
        %t = linalg.generic {... (d0, d1) -> (d1, d0), (d0, d1) ...} ins(%w : tensor<6x8xf32>) ... -> tensor<8x6xf32>
        %y = linalg.generic {... (d0, d1, d2) -> (d0, d2), (d2, d1), (d0, d1) ...} ins(%x, %t : tensor<4x8xf32>, tensor<8x6xf32>)
    """

    name = "transpose-operands"

    parameters_only: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            parameters = host_values(function)
            made = _Transposed(UniqueNames(name for op in function.walk() if (name := NAME.of(op)) is not None))
            for generic in generics_in(function):
                if not set(generic.results) <= parameters:
                    _transpose_inputs(generic, parameters, made, inf if self.parameters_only else LEAST_USES)


@dataclass
class _Transposed:
    """Values that were transposed, by which dimension of what is last, and the `names` that they may have."""

    names: UniqueNames
    values: dict[tuple[SSAValue, int], SSAValue] = field(default_factory=dict[tuple[SSAValue, int], SSAValue])


def _transpose_inputs(generic: linalg.GenericOp, parameters: set[SSAValue], made: _Transposed, least_uses: float) -> None:
    dims = all_dims(generic)
    if dims is None or any(None in entry for entry in dims):
        return
    loops = GenericLoops(generic)
    if not loops.parallels or not loops.output_dims[0]:
        return
    lanes = loops.output_dims[0][-1]
    changed = list(dims)
    for index, value in enumerate(generic.inputs):
        own = dims[index]
        if lanes not in own or own[-1] == lanes:
            continue
        if value not in parameters and prod(loops.extents) < least_uses * prod(shape_of(value)):
            continue
        place = own.index(lanes)
        if (value, place) not in made.values:
            name = made.names.fresh(f"{value.name_hint or 'parameter'}_t")
            made.values[value, place] = _with_last(generic, value, place, name)
        generic.operands[index] = made.values[value, place]
        changed[index] = (*own[:place], *own[place + 1 :], lanes)
    if changed == dims:
        return
    wider = build(
        generic.inputs, generic.outputs, generic.body.clone(), changed, list(generic.iterator_types), generic.attributes
    )
    for old, new in zip(generic.results, wider.results, strict=True):
        new.name_hint = old.name_hint
    Rewriter.replace_op(generic, wider)


def _with_last(near: linalg.GenericOp, value: SSAValue, place: int, name: str) -> SSAValue:
    """`value` with dimension `place` moved to the end, by a copy called `name` before everything that may read it."""
    every = range(len(shape_of(value)))
    made = transposed(value, [*every[:place], *every[place + 1 :], place], name)
    point = InsertPoint.before(near)
    Rewriter.insert_op(made, point)
    return made[-1].results[0]
