"""`duplicate-loads-in-order`: a converter of an input becomes a second DMA that reads the input in the order wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from stc.analysis.duplicate_loads import DuplicateLoad, record_duplicate_loads
from stc.analysis.host_work import functions_of, host_values
from stc.analysis.kernel_memory import bytes_of_entries, itensor_bytes, traffic_bytes
from stc.design_space.duplicate_loads import Branch, DuplicateLoadLimits, choose_duplicate_loads
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.itensor import CastOp, ConverterOp, ForkOp, ItensorType
from stc.dialects.use_def import through_reshapes
from stc.iteration.bus_words import same_entries
from stc.iteration.order import StreamOrder
from stc.platforms.budget import SMALL, most_ports
from stc.platforms.platform import load_platform
from stc.transforms.shared_parameters import shared_parameters


@dataclass(frozen=True)
class DuplicateLoadsInOrder(ModulePass):
    """Give a reader that wants an input in another order a port in that order, where its converter would be big.

    A tensor from outside enters a kernel once. Behind the fork, a reader whose order differs needs a converter; a DMA of
    its own, from memory that the host has packed in that order, needs none. Where nobody else reads the input, its only port
    changes its order. `stc.design_space.duplicate_loads` decides: bytes of converter saved against traffic added (reuse loops are
    read again). The kernel's attribute `stc.duplicate_loads` says what was decided, and what the host packs in addition. It stands
    behind `vectorize-streams`, which removes converters between orders that become the same, and before `pack-interfaces`.

    What another kernel makes is read again only in the order in which it lies there: any other would have to be packed between
    two launches, or made by a converter in that kernel (`cancel-packs`), and nothing would be saved.

    Options: `least`: bytes a converter must have (default -1: the block RAM that the adapter of a memory port takes on
    `platform`; 0: none is replaced), `platform` (default u55c), `budget` (default small: all of the
    platform's), whose memory ports are kept as well.

        dataflow.kernel @f(%x = %in : tensor<8x8xf32> as !R) ... {
          %a, %b = itensor.fork %x : !R to !R, !R
          %c = itensor.converter %b {shared_loops = 0, buffer_shape = [8, 8]} : !R to !C
      becomes
        dataflow.kernel @f(%a = %in : tensor<8x8xf32> as !R, %c = %in : tensor<8x8xf32> as !C) ... {
    """

    name = "duplicate-loads-in-order"

    least: int = -1
    platform: str = "u55c"
    budget: str = SMALL

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        platform = load_platform(self.platform)
        limits = DuplicateLoadLimits.of_option(self.least, platform, self.name)
        for function in functions_of(op):
            known = host_values(function)
            kernels = [found for found in function.walk() if isinstance(found, KernelOp)]
            shared = shared_parameters((operand for kernel in kernels for operand in kernel.inputs), known, platform.memory)
            for kernel in kernels:
                converted = [entry for op in kernel.body.block.ops if (entry := _converted_input(op, kernel)) is not None]
                branches = [entry.branch(str(index)) for index, entry in enumerate(converted)]
                ports = [shared.get(operand, operand) for operand in kernel.inputs]
                free_ports = most_ports(self.budget, self.platform) - len(set(ports)) - len(kernel.outputs)
                for branch in choose_duplicate_loads(branches, limits, free_ports):
                    entry = _converted_input(converted[int(branch.name)].converter, kernel)  # its fork may be gone by now
                    assert entry is not None
                    record_duplicate_loads(kernel, [entry.duplicate_load(kernel, known)])
                    _read_in_order(kernel, entry)


@dataclass(frozen=True)
class _ConvertedInput:
    """A converter behind an operand of the kernel. `path`: the casts and the fork between them, from the converter upwards."""

    port: BlockArgument
    path: tuple[Operation, ...]
    converter: ConverterOp

    @property
    def required(self) -> ItensorType:
        assert isinstance(self.converter.result.type, ItensorType)
        return self.converter.result.type

    @property
    def has_other_readers(self) -> bool:
        return any(isinstance(op, ForkOp) for op in self.path)

    @property
    def traffic(self) -> int:
        """Bytes read in addition: all of them, or the difference where the port has no other reader."""
        assert isinstance(self.port.type, ItensorType)
        return traffic_bytes(self.required) - (0 if self.has_other_readers else traffic_bytes(self.port.type))

    @property
    def saved(self) -> int:
        blocks = 2 if self.converter.blocks is None else self.converter.blocks
        return bytes_of_entries(prod(self.converter.buffer_shape) * blocks, self.required.element_type)

    def branch(self, name: str) -> Branch:
        return Branch(name, self.saved, self.traffic)

    def duplicate_load(self, kernel: KernelOp, known: set[SSAValue]) -> DuplicateLoad:
        """`known`: values that depend on parameters alone, packed once for all runs."""
        operand = kernel.inputs[self.port.index]
        is_made_before = isinstance(through_reshapes(operand).owner, KernelOp)
        ports = [port for value, port in zip(kernel.inputs, kernel.arguments, strict=True) if value is operand]
        staying = [port for port in ports if self.has_other_readers or port is not self.port]
        added = _packings([self.required, *(port.type for port in staying)]) - _packings([port.type for port in ports])
        packed = 0 if operand in known or is_made_before else added * itensor_bytes(self.required)
        tensor, reader = self.port.name_hint or "input", _reader(self.converter.result)
        return DuplicateLoad(tensor, reader, "converter", self.saved, self.traffic, packed)


def _packings(ports: Sequence[Attribute]) -> int:
    """How often the host packs a tensor for ports of these types: those that take the same entries in the same order share."""
    distinct: list[StreamOrder] = []
    for type_ in ports:
        assert isinstance(type_, ItensorType)
        if not any(same_entries(type_.order, other) for other in distinct):
            distinct.append(type_.order)
    return len(distinct)


def _reader(value: SSAValue) -> str:
    """The task that reads `value`, through whatever passes tokens on; the name of the value where there is none."""
    for use in value.uses:
        if isinstance(use.operation, TaskOp):
            return use.operation.sym_name.data
        if use.operation.results:
            return _reader(use.operation.results[0])
    return value.name_hint or "result"


def _converted_input(op: Operation, kernel: KernelOp) -> _ConvertedInput | None:
    """`op` if it is a converter behind an operand, through casts and forks, whose result is exact, as a port must be.

    None where something else reads what lies between them: it would lose what it reads.
    """
    if not isinstance(op, ConverterOp) or not (required := op.result.type).order.is_exact:
        return None
    path: list[Operation] = []
    value = op.source
    while isinstance(maker := value.owner, CastOp | ForkOp) and value.has_one_use():
        path.append(maker)
        value = maker.source
    if not (value.has_one_use() and isinstance(value, BlockArgument)):
        return None
    if not isa((operand := kernel.inputs[value.index]).type, TensorType):
        return None
    return _ConvertedInput(value, tuple(path), op) if _may_lie_as(operand, required) else None


def _may_lie_as(operand: SSAValue, required: ItensorType) -> bool:
    """Whether the host can have `operand` in the order `required` without work between two launches."""
    maker = through_reshapes(operand).owner
    if not isinstance(maker, KernelOp):
        return True
    if not (isinstance(operand, OpResult) and operand.op is maker):
        return False
    made = maker.terminator.arguments[operand.index].type
    return isinstance(made, ItensorType) and same_entries(made.order, required.order)


def _read_in_order(kernel: KernelOp, entry: _ConvertedInput) -> None:
    block = kernel.body.block
    branch = entry.converter.source
    if entry.has_other_readers:
        port = block.insert_arg(entry.required, len(block.args))
        port.name_hint = entry.port.name_hint
        kernel.operands = [*kernel.operands, kernel.operands[entry.port.index]]
        entry.converter.result.replace_all_uses_with(port)
    else:
        entry.converter.result.replace_all_uses_with(entry.port)
    Rewriter.erase_op(entry.converter)
    _drop(branch)
    if not entry.has_other_readers:
        Rewriter.replace_value_with_new_type(entry.port, entry.required)


def _drop(value: SSAValue) -> None:
    """`value` is not read any more: the casts that made it go, and a fork loses a branch."""
    match value.owner:
        case CastOp() as cast:
            source = cast.source
            Rewriter.erase_op(cast)
            _drop(source)
        case ForkOp() as fork:
            _without_branch(fork, value)
        case _:
            return


def _without_branch(fork: ForkOp, dropped: SSAValue) -> None:
    staying = [result for result in fork.results if result is not dropped]
    if len(staying) == 1:
        replacements: Sequence[SSAValue] = [fork.source]
    else:
        smaller = Builder(InsertPoint.before(fork)).insert(ForkOp(fork.source, len(staying)))
        replacements = smaller.results
    for old, new in zip(staying, replacements, strict=True):
        if isinstance(new.owner, ForkOp):
            new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    Rewriter.erase_op(fork)
