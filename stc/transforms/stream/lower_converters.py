"""`lower-converters`: a converter becomes a task that fills a ping-pong buffer and a task that drains it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import vector
from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, TaskOp, YieldOp
from stc.dialects.itensor import ConverterOp, ItensorType
from stc.iteration.converter import infer_converter
from stc.transforms.stream.bridges import consumed_stream, produced_stream, token_type
from stc.transforms.stream.loops import coordinates, loop_nest
from stc.transforms.stream.names import UniqueNames, symbols_of


@dataclass(frozen=True)
class LowerConverters(ModulePass):
    """Materialise every `itensor.converter` whose elements are vectors.

    The shared loops wrap both tasks. In each iteration the writer acquires a block and stores the tokens at their local
    coordinates; the reader acquires it full and loads them in its own order, revisits included.

        %d = itensor.converter %s {shared_loops = 1, buffer_shape = [16, 64], blocks = 2} : !S to !T
      becomes
        %b = stream.buffer @s_buffer : !stream.block<memref<16x64xf32>, count: 2>
        dataflow.task @fill_s ins(%i = %in : ...) outs(%o = %b : ...) { scf.for %k ... { %m = stream.acquire %o ... } }
        dataflow.task @drain_s ins(%i = %b : ...) outs(%o = %out : ...) { ... }
    """

    name = "lower-converters"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            names = symbols_of(kernel)
            for converter in [found for found in kernel.body.block.ops if isinstance(found, ConverterOp)]:
                _lower(converter, converter.source.name_hint or "stream", names)


def _lower(converter: ConverterOp, name: str, names: UniqueNames) -> None:
    source_type, target_type = converter.source.type, converter.result.type
    assert isinstance(source_type, ItensorType) and isinstance(target_type, ItensorType)
    builder = Builder(InsertPoint.before(converter))
    buffer_type = MemRefType(source_type.element_type, converter.buffer_shape)
    blocks = 2 if converter.blocks is None else converter.blocks
    ring_name = names.fresh(f"{name}_buffer")
    ring = builder.insert(stream.BufferOp(ring_name, stream.BlockType(buffer_type, blocks)))
    ring.result.name_hint = ring_name
    source = consumed_stream(builder, converter.source)
    target = produced_stream(builder, converter.result, names.fresh(f"{name}_reordered"))
    plan = infer_converter(source_type.order, target_type.order)  # both sides by loops of which the shared ones are the same
    filled, drained = (ItensorType.from_order(order, source_type.element_type) for order in (plan.source, plan.target))
    _task(builder, names.fresh(f"fill_{name}"), source, ring.result, filled, converter.shared_loops, _store_tokens)
    _task(builder, names.fresh(f"drain_{name}"), ring.result, target, drained, converter.shared_loops, _load_tokens)
    converter.detach()
    converter.erase()


def _task(builder: Builder, name: str, source: SSAValue, target: SSAValue, type_: ItensorType, shared: int, body) -> None:
    block = Block(arg_types=[source.type, target.type])
    block.args[0].name_hint, block.args[1].name_hint = "in", "out"
    outer = Builder(InsertPoint.at_end(block))
    _, once = loop_nest(outer, type_.order.loops[:shared])
    body(once, block, type_, shared)
    Builder(InsertPoint.at_end(block)).insert(YieldOp())
    task = builder.insert(TaskOp(name, [source], [target], block, []))
    task.attributes["stc.kind"] = StringAttr("converter")


def _store_tokens(builder: Builder, block: Block, type_: ItensorType, shared: int) -> None:
    buffer = builder.insert(stream.AcquireOp(block.args[1])).buffer
    ivs, inner = loop_nest(builder, type_.order.loops[shared:], "abcdefgh")
    token = inner.insert(stream.ReadOp(block.args[0])).result
    inner.insert(vector.StoreOp(token, buffer, coordinates(inner, type_.order, ivs, shared)))


def _load_tokens(builder: Builder, block: Block, type_: ItensorType, shared: int) -> None:
    buffer = builder.insert(stream.AcquireOp(block.args[0])).buffer
    ivs, inner = loop_nest(builder, type_.order.loops[shared:], "abcdefgh")
    place = coordinates(inner, type_.order, ivs, shared)
    token = inner.insert(vector.LoadOp(buffer, place, token_type(type_))).result
    inner.insert(stream.WriteOp(token, block.args[1]))
