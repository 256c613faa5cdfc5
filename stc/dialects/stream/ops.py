"""Operations of the `stream` dialect."""

from __future__ import annotations

from typing import ClassVar, cast

from xdsl.dialects.builtin import FixedBitwidthType, IntegerAttr, MemRefType, StringAttr, SymbolNameConstraint, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParamAttrConstraint,
    ParsePropInAttrDict,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import IsTerminator, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from stc.dialects.canonicalization import SaidByTypes
from stc.dialects.effects import AdvancesCursor, OwnsResults
from stc.dialects.itensor.size_ops import SymbolType
from stc.dialects.itensor.type import ItensorType
from stc.dialects.ports import verify_is_readable, verify_is_writable
from stc.dialects.stream.types import BlockType, StreamType
from stc.iteration.storage import FIFO_MEMORIES, Memory


def _stream(value: SSAValue) -> StreamType[Attribute]:
    type = value.type
    if not isinstance(type, StreamType):
        raise ValueError(f"value of type {type}, expected a stream")
    return type


def _block(value: SSAValue) -> BlockType:
    type = value.type
    if not isinstance(type, BlockType):
        raise ValueError(f"value of type {type}, expected a block")
    return type


def _symbol(name: str | StringAttr) -> StringAttr:
    return StringAttr(name) if isinstance(name, str) else name


@irdl_op_definition
class CreateOp(IRDLOperation):
    """A FIFO.

    It may say how many `tokens` cross it per run, how many of them are distinct (`distinct_tokens`: those up to temporal reuse,
    which are sent again), which depth `size-fifos` found to be required (`required_depth`), what it is built of
    (`memory`: srl, lutram, bram or uram), how many cycles its tokens take to another die (`crossing`: `assign-dies`), and which
    itensor it `carries`: once per run, or per layer that a run repeats.

    Example: `%s = stream.create @fc_to_gelu {tokens = 64 : i64} : !stream.stream<vector<8xf32>, depth: 34>`
    """

    name = "stream.create"

    sym_name = prop_def(SymbolNameConstraint())
    tokens_attr = opt_prop_def(IntegerAttr, prop_name="tokens")
    distinct_tokens_attr = opt_prop_def(IntegerAttr, prop_name="distinct_tokens")
    required_depth_attr = opt_prop_def(IntegerAttr, prop_name="required_depth")
    memory_attr = opt_prop_def(StringAttr, prop_name="memory")
    crossing_attr = opt_prop_def(IntegerAttr, prop_name="crossing")
    carries = opt_prop_def(base(ItensorType))
    result = result_def(base(StreamType))

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(OwnsResults())
    assembly_format = "$sym_name attr-dict `:` type($result)"

    def __init__(
        self,
        name: str | StringAttr,
        type: StreamType[Attribute],
        tokens: int | None = None,
        distinct_tokens: int | None = None,
        carries: ItensorType | None = None,
    ):
        counts = {"tokens": tokens, "distinct_tokens": distinct_tokens}
        given = {key: None if count is None else IntegerAttr(count, i64) for key, count in counts.items()}
        super().__init__(properties={"sym_name": _symbol(name), **given, "carries": carries}, result_types=[type])

    @property
    def tokens(self) -> int | None:
        return None if self.tokens_attr is None else self.tokens_attr.value.data

    @property
    def distinct_tokens(self) -> int | None:
        return None if self.distinct_tokens_attr is None else self.distinct_tokens_attr.value.data

    @property
    def required_depth(self) -> int | None:
        return None if self.required_depth_attr is None else self.required_depth_attr.value.data

    @required_depth.setter
    def required_depth(self, depth: int) -> None:
        self.required_depth_attr = IntegerAttr(depth, i64)

    @property
    def memory(self) -> Memory | None:
        return None if self.memory_attr is None else cast(Memory, self.memory_attr.data)

    @memory.setter
    def memory(self, memory: Memory | None) -> None:
        self.memory_attr = None if memory is None else StringAttr(memory)

    @property
    def crossing(self) -> int:
        """Cycles between the dies of its ends, 0 where they are on one."""
        return 0 if self.crossing_attr is None else self.crossing_attr.value.data

    @crossing.setter
    def crossing(self, cycles: int) -> None:
        self.crossing_attr = IntegerAttr(cycles, i64) if cycles else None

    def verify_(self) -> None:
        if self.memory is not None and self.memory not in FIFO_MEMORIES:
            raise VerifyException(f"has memory = '{self.memory}', expected {', '.join(FIFO_MEMORIES)}")
        for name, count in (("tokens", self.tokens), ("required_depth", self.required_depth), ("crossing", self.crossing or None)):
            if count is not None and not 1 <= count < 1 << 31:
                raise VerifyException(f"has {name} = {count}, expected one from 1 to {(1 << 31) - 1}")
        if self.distinct_tokens is not None and (self.tokens is None or not 1 <= self.distinct_tokens <= self.tokens):
            raise VerifyException(f"has {self.distinct_tokens} distinct tokens of {self.tokens}, expected 1 to as many")
        if self.carries is not None and self.carries.order.element_count != _stream(self.result).lanes:
            raise VerifyException(f"carries {self.carries}, whose elements are not tokens of {self.result.type}")


@irdl_op_definition
class ReadOp(IRDLOperation):
    """Pop the next token; waits while the stream is empty.

    Example: `%v = stream.read %i : !stream.stream<vector<8xf32>, depth: 2>`
    """

    name = "stream.read"

    T: ClassVar = VarConstraint("T", AnyAttr())

    stream = operand_def(ParamAttrConstraint(StreamType, (T, AnyAttr())))
    result = result_def(T)

    traits = traits_def(AdvancesCursor())
    assembly_format = "$stream attr-dict `:` type($stream)"

    def __init__(self, stream: SSAValue | Operation):
        super().__init__(operands=[stream], result_types=[_stream(SSAValue.get(stream)).element_type])

    def verify_(self) -> None:
        verify_is_readable(self.stream)


@irdl_op_definition
class WriteOp(IRDLOperation):
    """Push a token; waits while the stream is full.

    Example: `stream.write %v into %o : !stream.stream<vector<8xf32>, depth: 2>`
    """

    name = "stream.write"

    T: ClassVar = VarConstraint("T", AnyAttr())

    value = operand_def(T)
    stream = operand_def(ParamAttrConstraint(StreamType, (T, AnyAttr())))

    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$value `into` $stream attr-dict `:` type($stream)"

    def __init__(self, value: SSAValue | Operation, stream: SSAValue | Operation):
        super().__init__(operands=[value, stream])

    def verify_(self) -> None:
        verify_is_writable(self.stream)


@irdl_op_definition
class CastOp(IRDLOperation):
    """Retype the tokens of a stream bit by bit; tokens keep their width.

    Example: `%b = stream.cast %a : !stream.stream<vector<8xi8>, depth: 2> to !stream.stream<i64, depth: 2>`
    """

    name = "stream.cast"

    source = operand_def(base(StreamType))
    result = result_def(base(StreamType))

    traits = traits_def(Pure(), SaidByTypes(composes=True))
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue | Operation, type: StreamType[Attribute]):
        super().__init__(operands=[source], result_types=[type])

    def verify_(self) -> None:
        source, result = _stream(self.source), _stream(self.result)
        if source.element_type != result.element_type and SymbolType in (type(source.element_type), type(result.element_type)):
            raise VerifyException("makes another token of a symbol, or a symbol of another token, expected equal types")
        if _bits(source) != _bits(result):
            raise VerifyException(
                f"source has tokens of {_bits(source)} bits but result has {_bits(result)}, expected the same width"
            )
        if source.depth != result.depth:
            raise VerifyException(
                f"source has depth {source.depth} but result has {result.depth}, expected the same FIFO"
            )


def _bits(stream: StreamType[Attribute]) -> int:
    """Width of one token; an index counts as 32 bits."""
    scalar = stream.scalar_type
    return stream.lanes * (scalar.bitwidth if isinstance(scalar, FixedBitwidthType) else 32)


def _verify_bridge(itensor: Attribute, stream: Attribute) -> None:
    assert isinstance(itensor, ItensorType) and isinstance(stream, StreamType)
    if stream.scalar_type != itensor.element_type:
        raise VerifyException(
            f"stream carries scalars of type {stream.scalar_type}, expected {itensor.element_type} of the itensor"
        )
    if stream.lanes != itensor.order.element_count:
        raise VerifyException(
            f"stream carries {stream.lanes} scalars per token, expected the {itensor.order.element_count} of an element"
        )


@irdl_op_definition
class FromItensorOp(IRDLOperation):
    """Bridge from an itensor to the stream that carries it; gone after bufferization.

    Example: `%s = stream.from_itensor %x : !X to !stream.stream<vector<8xf32>, depth: 2>`
    """

    name = "stream.from_itensor"

    source = operand_def(base(ItensorType))
    result = result_def(base(StreamType))

    traits = traits_def(OwnsResults())
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue | Operation, type: StreamType[Attribute]):
        super().__init__(operands=[source], result_types=[type])

    def verify_(self) -> None:
        _verify_bridge(self.source.type, self.result.type)


@irdl_op_definition
class ToItensorOp(IRDLOperation):
    """Bridge from a stream to the itensor it carries; gone after bufferization.

    Example: `%x = stream.to_itensor %s : !stream.stream<vector<8xf32>, depth: 2> to !X`
    """

    name = "stream.to_itensor"

    source = operand_def(base(StreamType))
    result = result_def(base(ItensorType))

    traits = traits_def(OwnsResults())
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue | Operation, type: ItensorType):
        super().__init__(operands=[source], result_types=[type])

    def verify_(self) -> None:
        _verify_bridge(self.result.type, self.source.type)


@irdl_op_definition
class BufferOp(IRDLOperation):
    """A ring of buffers between one writing and one reading task.

    Example: `%b = stream.buffer @conv : !stream.block<memref<16x64xf32>, count: 2>`
    """

    name = "stream.buffer"

    sym_name = prop_def(SymbolNameConstraint())
    result = result_def(base(BlockType))

    traits = traits_def(OwnsResults())
    assembly_format = "$sym_name attr-dict `:` type($result)"

    def __init__(self, name: str | StringAttr, type: BlockType):
        super().__init__(properties={"sym_name": _symbol(name)}, result_types=[type])


@irdl_op_definition
class AcquireOp(IRDLOperation):
    """Take the next buffer of a ring, to write it if the operand is an `outs` port of the task, else to read it.

    Waits until a buffer is free (writer) or full (reader). The buffer is released at the end of the block in which the
    operation stands.

    Example: `%m = stream.acquire %o : !stream.block<memref<16x64xf32>, count: 2> -> memref<16x64xf32>`
    """

    name = "stream.acquire"

    block = operand_def(base(BlockType))
    buffer = result_def(base(MemRefType))

    traits = traits_def(AdvancesCursor())
    assembly_format = "$block attr-dict `:` type($block) `->` type($buffer)"

    def __init__(self, block: SSAValue | Operation):
        super().__init__(operands=[block], result_types=[_block(SSAValue.get(block)).buffer_type])

    def verify_(self) -> None:
        expected = _block(self.block).buffer_type
        if self.buffer.type != expected:
            raise VerifyException(f"result has type {self.buffer.type}, expected the buffer {expected} of the block")
        for use in self.buffer.uses:
            if use.operation.has_trait(IsTerminator, value_if_unregistered=False):
                raise VerifyException(
                    f"buffer leaves its block through '{use.operation.name}', where it is released, "
                    "expected uses inside the block only"
                )
