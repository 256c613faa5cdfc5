"""`merge-kernels`: the kernels of a group become one; inside it tensors are streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from stc.analysis.host_parts import given_from
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, TaskOp, YieldOp
from stc.dialects.facts import NAME
from stc.dialects.itensor import ItensorType, ReorderOp, complaint_about_reorder
from stc.dialects.use_def import through_reshapes, used_by, uses_through
from stc.names import identifier
from stc.transforms.stream.names import UniqueNames


@dataclass(frozen=True)
class MergeKernels(ModulePass):
    """Merge two kernels of one `group` with no path between them through a third, until each group is one kernel of its name.

    The merged kernel has the operands, tasks and results of both. Every stream that a task of the later kernel takes is an
    `itensor.reorder` of what enters, or of what the earlier kernel made: whether that is hardware is decided by
    `insert-converters`. What the later kernel used of the earlier one still leaves (`trim-boundaries`).
    A group that a path leaves and enters again is an error.

        %h = dataflow.kernel @a(%x = %in : tensor<8x8xf32> as !X) -> (tensor<8x8xf32> as !H) group @main {...}
        %y = dataflow.kernel @b(%p = %h : tensor<8x8xf32> as !P) -> (tensor<8x8xf32> as !Y) group @main {...}
      becomes
        %h, %y = dataflow.kernel @main(%x = %in : tensor<8x8xf32> as !X) -> (tensor<8x8xf32> as !H, tensor<8x8xf32> as !Y) {
          %h = dataflow.task @a ins(... = %x : !X) ...
          %p = itensor.reorder %h : !H to !P
          %y = dataflow.task @b ins(... = %p : !P) ...
          dataflow.yield %h, %y : !H, !Y
        }
    """

    name = "merge-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(MergeTwoKernels()).rewrite_module(op)
        PatternRewriteWalker(NameAfterGroup()).rewrite_module(op)
        for kernel in op.walk():
            if isinstance(kernel, KernelOp) and kernel.group is not None:
                where, accepted = kernel.sym_name.data, "groups that no path leaves and enters again"
                raise CompileError(f"group @{kernel.group.data} is no one kernel", where=where, accepted=accepted)


class MergeTwoKernels(RewritePattern):
    """A kernel takes in an earlier one of its group, and stands in its own place; what the earlier one fed stands behind it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, later: KernelOp, rewriter: PatternRewriter) -> None:
        candidates = ((kernel, _fed_between(kernel, later)) for kernel in _earlier_of_group(later))
        earlier, fed = next(((kernel, fed) for kernel, fed in candidates if fed is not None), (None, []))
        if earlier is None:
            return
        _rename_tasks(later, UniqueNames(task.sym_name.data for task in earlier.body.block.ops if isinstance(task, TaskOp)))
        made: dict[SSAValue, SSAValue] = dict(zip(earlier.results, _named(earlier), strict=True)) | _shared_scalars(earlier, later)
        last = later.terminator
        _named(later)
        body = rewriter.move_region_contents_to_new_regions(earlier.body)
        end = body.block.last_op
        assert end is not None
        entering: list[SSAValue] = []
        streams: list[SSAValue] = []
        for value, port in zip(later.inputs, later.arguments, strict=True):
            stream = made.get(value)
            if stream is None:
                entering.append(value)
                stream = rewriter.insert_block_argument(body.block, len(body.block.args), port.type)
                stream.name_hint = port.name_hint
            if isinstance(port.type, ItensorType):
                stream = rewriter.insert(ReorderOp(stream, port.type), InsertPoint.before(end)).result
            streams.append(stream)
        rewriter.inline_block(later.body.block, InsertPoint.before(end), streams)
        rewriter.replace(end, YieldOp(*end.operands, *last.operands))
        rewriter.erase(last)
        types = [result.type for result in (*earlier.results, *later.results)]
        merged = KernelOp(later.sym_name, [*earlier.inputs, *entering], [], types, body, group=later.group)
        rewriter.insert(merged, InsertPoint.before(later))
        for op in fed:
            op.detach()
            rewriter.insert(op, InsertPoint.before(later))
        for kernel, results in ((earlier, merged.results[: len(earlier.results)]), (later, merged.results[len(earlier.results) :])):
            rewriter.replace(kernel, [], results)


def _shared_scalars(earlier: KernelOp, later: KernelOp) -> dict[SSAValue, SSAValue]:
    """Of the scalars behind symbols that both take, what `earlier` calls them. CompileError where it takes another for a symbol."""
    shared: dict[SSAValue, SSAValue] = {}
    for symbol, port in later.symbols.items():
        own = next((own for other, own in earlier.symbols.items() if other.name == symbol.name), None)
        if own is None:
            continue
        value = later.inputs[port.index]
        if own.type != port.type or earlier.inputs[own.index] != value:
            where = f"kernels @{earlier.sym_name.data} and @{later.sym_name.data}"
            raise CompileError(f"symbol '{symbol.name}' stands for two scalars", where=where, accepted="one scalar for a symbol")
        shared[value] = own
    return shared


def _earlier_of_group(later: KernelOp) -> list[KernelOp]:
    """The kernels of `later`'s group in front of it that it could be merged with, the nearest first."""
    found: list[KernelOp] = []
    op = later.prev_op if later.group is not None and later.in_place is None else None
    while op is not None:
        if isinstance(op, KernelOp) and op.group == later.group and op.in_place is None:
            found.append(op)
        op = op.prev_op
    return found


def _fed_between(earlier: KernelOp, later: KernelOp) -> list[Operation] | None:
    """The operations between the two that depend on `earlier`, in order.

    None where `later` gets what `earlier` made through one of them, or otherwise than as a stream.
    """
    fed: list[Operation] = []
    function = earlier.parent_op()
    reached = set(earlier.results) | (given_from(earlier.results, function) if isinstance(function, func.FuncOp) else set())
    op = earlier.next_op
    while op is not None and op is not later:
        if not reached.isdisjoint(used_by(op)):
            fed.append(op)
            reached |= set(op.results)
        op = op.next_op
    made: dict[SSAValue, SSAValue] = dict(zip(earlier.results, earlier.terminator.arguments, strict=True))
    for value, port in zip(later.inputs, later.arguments, strict=True):
        if value in reached and (value not in made or complaint_about_reorder(made[value].type, port.type) is not None):
            return None
    return fed


def _rename_tasks(kernel: KernelOp, names: UniqueNames) -> None:
    for task in kernel.body.block.ops:
        if isinstance(task, TaskOp):
            task.sym_name = StringAttr(names.fresh(task.sym_name.data))


def _named(kernel: KernelOp) -> Sequence[SSAValue]:
    """What a kernel yields, called after the results."""
    for result, value in zip(kernel.results, kernel.terminator.arguments, strict=True):
        value.name_hint = result.name_hint or value.name_hint or kernel.sym_name.data
    return kernel.terminator.arguments


class NameAfterGroup(RewritePattern):
    """A kernel that is all of its group takes the group's name, and its ports those of the tensors outside."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        function = op.parent_op()
        if op.group is None or not isinstance(function, func.FuncOp):
            return
        if any(other is not op and isinstance(other, KernelOp) and other.group == op.group for other in function.body.block.ops):
            return
        _named(op)
        for value, port in zip(op.inputs, op.arguments, strict=True):
            port.name_hint = host_name(value) or port.name_hint
        for result in op.results:
            result.name_hint = result_name(function, result) or result.name_hint
        op.sym_name, op.group = op.group, None
        op.attributes.clear()
        rewriter.notify_op_modified(op)


def host_name(value: SSAValue) -> str | None:
    """What an outside tensor is called: after the argument it is a reshape or copy of, else its own name."""
    return through_reshapes(value).name_hint


def result_name(function: func.FuncOp, value: SSAValue) -> str | None:
    """The name of the function's result that `value` becomes, through reshapes; None if it becomes none."""
    for use in uses_through(value):
        if isinstance(use.operation, func.ReturnOp):
            name = NAME.of(function.res_attrs.data[use.index]) if function.res_attrs is not None else None
            return None if name is None else identifier(name)
    return None
