"""`fuse-kernels`: kernels become groups, one accelerator each; inside a group tensors are streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, BlockArgument, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from stc.analysis.host_work import functions_of
from stc.analysis.kernel_memory import bytes_of, itensor_bytes, local_bytes
from stc.design_space.fifo_depths import SHALLOW
from stc.design_space.fusion import FusionEdge, FusionKernel, fuse_greedily
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, TaskOp, YieldOp
from stc.dialects.itensor import ItensorType
from stc.names import identifier
from stc.platforms.platform import load_platform
from stc.transforms.dataflow.connections import connect, converter_bytes
from stc.transforms.stream.names import UniqueNames


@dataclass(frozen=True)
class FuseKernels(ModulePass):
    """Fuse kernels greedily under a budget of on-chip memory (method.md section 5).

    A tensor between two kernels of a group becomes an itensor value: types that are the same sequence (by normal form
    or z3) meet directly, others through the smallest `itensor.converter`. A tensor from outside enters once, whoever
    reads it: with one reader in that reader's order, with several in the first one's order without revisits.

    Options: `budget` in bytes (default 0: what `platform` has on chip), `platform` (default u55c), `kernel-name` of
    the fused kernel (default: the function's), with an index where there are several groups.

        %h = dataflow.kernel @a(%x = %in : tensor<8x8xf32> as !X) -> (tensor<8x8xf32> as !H) {...}
        %y = dataflow.kernel @b(%p = %h : tensor<8x8xf32> as !P) -> (tensor<8x8xf32> as !Y) {...}
      becomes
        %y = dataflow.kernel @main(%x = %in : tensor<8x8xf32> as !X) -> (tensor<8x8xf32> as !Y) {
          %h = dataflow.task @a ins(... = %x : !X) ...
          %c = itensor.converter %h {shared_loops = 1, buffer_shape = [2, 8], blocks = 2} : !H to !P
          %y = dataflow.task @b ins(... = %c : !P) ...
          dataflow.yield %y : !Y
        }
    """

    name = "fuse-kernels"

    budget: int = 0
    platform: str = "u55c"
    kernel_name: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        budget = self.budget or load_platform(self.platform).usable_on_chip_bytes
        for function in functions_of(op):
            kernels = [found for found in function.body.block.ops if isinstance(found, KernelOp)]
            if not kernels:
                continue
            refuse_in_place(kernels, self.name)
            keys = UniqueNames()
            by_key = {keys.fresh(kernel.sym_name.data): kernel for kernel in kernels}
            groups = fuse_greedily(*_fusion_problem(by_key), budget)
            stem = self.kernel_name or function.sym_name.data
            _hoist_host_work(function)
            for index, group in enumerate(groups):
                members = [by_key[key] for key in group]
                _Group(stem if len(groups) == 1 else f"{stem}_{index}", members).build(function)


def _fusion_problem(kernels: dict[str, KernelOp]) -> tuple[list[FusionKernel], list[FusionEdge]]:
    key_of = {kernel: key for key, kernel in kernels.items()}
    nodes = [FusionKernel(key, local_bytes(kernel)) for key, kernel in kernels.items()]
    edges: list[FusionEdge] = []
    for key, kernel in kernels.items():
        for operand, port in zip(kernel.operands, kernel.body.block.args, strict=True):
            producer = operand.owner
            if isinstance(producer, KernelOp) and isinstance(operand, OpResult) and isinstance(port.type, ItensorType):
                source = producer.terminator.operands[operand.index].type
                assert isinstance(source, ItensorType)
                cost = _fifo_bytes(producer, operand, source) + converter_bytes(source, port.type)
                edges.append(FusionEdge(key_of[producer], key, cost))
    return nodes, edges


def _fifo_bytes(producer: KernelOp, value: OpResult, type_: ItensorType) -> int:
    """The most a FIFO for `value` can come to hold, before depths are decided.

    Two elements, unless the producer has another way out: then one branch may have to wait for the other with all of the
    tensor (`stc.design_space.fifo_depths`).
    """
    has_branches = len(producer.results) > 1 or len(list(value.uses)) > 1
    element = type_.order.element_count * bytes_of(type_.element_type)
    return itensor_bytes(type_) if has_branches else min(itensor_bytes(type_), SHALLOW * element)


def _hoist_host_work(function: func.FuncOp) -> None:
    """Move the ops that no kernel feeds to the front, so that a group may stand wherever its members allow."""
    block = function.body.block
    late: set[SSAValue] = set()
    for op in list(block.ops):
        if isinstance(op, KernelOp) or any(operand in late for operand in op.operands):
            late |= set(op.results)
            continue
        first = next((candidate for candidate in block.ops if isinstance(candidate, KernelOp)), None)
        if first is not None and op is not block.last_op:
            op.detach()
            block.insert_op_before(op, first)


def refuse_in_place(kernels: Sequence[KernelOp], where: str) -> None:
    """CompileError where a kernel updates an operand in place: no pass carries that on yet."""
    for kernel in kernels:
        if any(place is not None for place in kernel.places):
            name = kernel.sym_name.data
            raise CompileError(f"kernel @{name} updates an operand in place", where=where, accepted="results of their own")


def host_name(value: SSAValue) -> str | None:
    """What an outside tensor is called: after the argument it is a reshape or copy of, else its own name."""
    if isinstance(value, BlockArgument):
        return value.name_hint
    op = value.owner
    if isinstance(op, tensor.ExpandShapeOp | tensor.CollapseShapeOp):
        return host_name(op.src)
    return value.name_hint


def result_name(function: func.FuncOp, value: SSAValue) -> str | None:
    """The name of the function's result that `value` becomes, through reshapes; None if it becomes none."""
    for use in value.uses:
        user = use.operation
        if isinstance(user, tensor.ExpandShapeOp | tensor.CollapseShapeOp):
            if (name := result_name(function, user.result)) is not None:
                return name
        elif isinstance(user, func.ReturnOp):
            attributes = function.res_attrs.data[use.index].data if function.res_attrs is not None else {}
            name = attributes.get("stc.name")
            return identifier(name.data) if isinstance(name, StringAttr) else None
    return None


@dataclass
class _Group:
    """Builds one fused kernel from its members."""

    name: str
    members: Sequence[KernelOp]
    itensors: dict[SSAValue, SSAValue] = field(default_factory=dict)
    """Tensor outside or between members: the itensor (or scalar) that carries it inside."""
    connected: dict[tuple[SSAValue, ItensorType], SSAValue] = field(default_factory=dict)
    names: UniqueNames = field(default_factory=UniqueNames)
    """Of the tasks: those of different members may be called the same."""

    def build(self, function: func.FuncOp) -> None:
        inputs = self._inputs()
        block = Block(arg_types=[self._entry_type(value) for value in inputs])
        for arg, value in zip(block.args, inputs, strict=True):
            arg.name_hint = host_name(value)
            self.itensors[value] = arg
        builder = Builder(InsertPoint.at_end(block))
        for member in self.members:
            self._inline(builder, member)
        results = [result for member in self.members for result in member.results if self._leaves(result)]
        builder.insert(YieldOp(*(self.itensors[result] for result in results)))
        self._sink_users(function, results)
        kernel = KernelOp(self.name, inputs, [], [result.type for result in results], block)
        Builder(InsertPoint.before(self.members[-1])).insert(kernel)
        for old, new in zip(results, kernel.results, strict=True):
            new.name_hint = result_name(function, old) or old.name_hint
            old.replace_all_uses_with(new)
        for member in reversed(self.members):
            member.detach()
            member.erase()

    def _inputs(self) -> list[SSAValue]:
        inside = {result for member in self.members for result in member.results}
        return list(dict.fromkeys(v for member in self.members for v in member.operands if v not in inside))

    def _entry_type(self, value: SSAValue) -> Attribute:
        """The one type in which an outside tensor enters; scalars keep theirs."""
        types = [
            port.type
            for member in self.members
            for operand, port in zip(member.operands, member.body.block.args, strict=True)
            if operand is value
        ]
        first = types[0]
        if len(types) == 1 or not isinstance(first, ItensorType):
            return first
        return ItensorType.from_order(first.order.without_revisits(), first.element_type)

    def _inline(self, builder: Builder, member: KernelOp) -> None:
        ports = member.body.block.args
        for port, operand in zip(list(ports), member.operands, strict=True):
            port.replace_all_uses_with(self._connected(builder, self.itensors[operand], port.type))
        terminator = member.terminator
        for result, value in zip(member.results, terminator.operands, strict=True):
            self.itensors[result] = value
            value.name_hint = result.name_hint or value.name_hint or member.sym_name.data
        for op in list(member.body.block.ops):
            if op is not terminator:
                if isinstance(op, TaskOp):
                    op.sym_name = StringAttr(self.names.fresh(op.sym_name.data))
                op.detach()
                builder.insert(op)

    def _connected(self, builder: Builder, value: SSAValue, wanted: object) -> SSAValue:
        if not isinstance(wanted, ItensorType):
            return value
        key = (value, wanted)
        if key not in self.connected:
            self.connected[key] = connect(builder, value, wanted)
        return self.connected[key]

    def _leaves(self, result: SSAValue) -> bool:
        return any(use.operation not in self.members for use in result.uses)

    def _sink_users(self, function: func.FuncOp, results: Sequence[SSAValue]) -> None:
        """Host ops between the members that use a result move behind the group."""
        block = function.body.block
        last, place = self.members[-1], self.members[-1]
        late = set(results)
        between = False
        for op in list(block.ops):
            if op is last:
                break
            between = between or op in self.members
            if between and op not in self.members and any(operand in late for operand in op.operands):
                late |= set(op.results)
                op.detach()
                block.insert_op_after(op, place)
                place = op
