"""The model of an own kernel: loops that access its streams when its C++ does, as it declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from stc.diagnostics import CompileError
from stc.dialects import stream
from stc.dialects.dataflow import OwnKernelOp, OwnLoop, YieldOp
from stc.dialects.dataflow.own_kernel import Box
from stc.dialects.facts import DEPTH, LABEL, PIPELINE
from stc.transforms.index_constant import index_constant


def own_kernel_on_streams(op: OwnKernelOp, streams: Mapping[SSAValue, SSAValue]) -> OwnKernelOp:
    """`op` with the streams behind its ports, and a model in place of its declared loops; CompileError where one is not read."""
    if any(value not in streams for value in op.operands):
        raise CompileError("a result is not read", where=op.function.data, accepted="an own kernel all of whose results are")
    ports = [streams[value] for value in op.operands]
    ins, outs = ports[: len(op.ins)], ports[len(op.ins) :]
    model = Block(arg_types=[kind.element_type for port in outs if isinstance(kind := port.type, stream.StreamType)])
    for token, port in zip(model.args, outs, strict=True):
        token.name_hint = f"{port.name_hint or 'out'}_token"
    builder = Builder(InsertPoint.at_end(model))
    for loop in op.declared_loops:
        _nest(builder, loop, (), ins, list(zip(model.args, outs, strict=True)))
    builder.insert(YieldOp())
    return OwnKernelOp(
        op.function.data,
        ins,
        outs,
        file=op.file.data,
        source=op.source.data,
        resources=op.declared_resources,
        template=op.template_arguments,
        python=op.python.data if op.python is not None else None,
        ports=op.declared_ports,
        model=Region(model),
    )


def _nest(
    builder: Builder,
    loop: OwnLoop,
    variables: tuple[SSAValue, ...],
    ins: Sequence[SSAValue],
    outs: Sequence[tuple[SSAValue, SSAValue]],
) -> None:
    """The loops of `loop` inside those of `variables`; `outs` are tokens and where they go."""
    depth = len(variables)
    if depth == len(loop.trips):
        accesses = [*(stream.ReadOp(port) for port in ins), *(stream.WriteOp(token, port) for token, port in outs)]
        for access, box in zip(accesses, loop.accesses, strict=True):
            if box is not None:
                _guarded(builder, access, box, loop.trips, variables)
        return
    lower, upper, step = (index_constant(builder, value) for value in (0, loop.trips[depth], 1))
    body = Block(arg_types=[IndexType()])
    body.args[0].name_hint = f"{loop.label.lower()}_{depth}"
    inner = Builder(InsertPoint.at_end(body))
    _nest(inner, loop, (*variables, body.args[0]), ins, outs)
    inner.insert(scf.YieldOp())
    made = builder.insert(scf.ForOp(lower, upper, step, [], body))
    is_innermost = depth + 1 == len(loop.trips)
    LABEL.put(made, loop.label if is_innermost else f"{loop.label}_{depth}")
    DEPTH.put(made, loop.depth)
    if is_innermost:
        PIPELINE.put(made, loop.ii)


def _guarded(builder: Builder, access: Operation, box: Box, trips: Sequence[int], variables: Sequence[SSAValue]) -> None:
    """`access` in the iterations of `box`, in a branch where these are not all."""
    holds: SSAValue | None = None
    for variable, (begin, end), trip in zip(variables, box, trips, strict=True):
        for predicate, bound in (("sge", begin), ("slt", end)):
            if bound in (0, trip):
                continue
            compared = builder.insert(arith.CmpiOp(variable, index_constant(builder, bound), predicate)).result
            holds = compared if holds is None else builder.insert(arith.AndIOp(holds, compared)).result
    if holds is None:
        builder.insert(access)
        return
    builder.insert(scf.IfOp(holds, [], Region(Block([access, scf.YieldOp()]))))
