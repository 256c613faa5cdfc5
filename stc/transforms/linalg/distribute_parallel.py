"""`distribute-parallel`: one computation becomes several that work side by side on slices of its operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.generic_loops import GenericLoops, asked_loops, generics_in, name_of, shape_of
from stc.diagnostics import CompileError
from stc.dialects.facts import COPIES, DEALT, MODULE, NAME, PORTS, STRIPE, SUCCESSIVE
from stc.iteration.reshape import Groups, divide_outermost
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.dealt_copies import dealt_copies
from stc.transforms.linalg.generics import started_alike, stc_attributes, tensor_like
from stc.transforms.linalg.reshapes import collapse_shape, expand_shape, groups_of, source_dimension
from stc.transforms.linalg.split_loops import split_by_operand

Reshape: TypeAlias = tensor.ExpandShapeOp | tensor.CollapseShapeOp


@dataclass(frozen=True)
class DistributeParallel(ModulePass):
    """Divide generics along parallel loops, as their `stc.copies` says, into copies on equal slices of their operands.

    Each copy becomes a task of its own, with its own lanes. Operands that the divided loop does not index go to all copies. What
    comes from copies that were divided alike is taken from them slice by slice, so that neighbours meet copy by copy, without the
    tensor ever being put together; a reshape between them that leaves the divided dimension outermost is made copy by copy. Where
    there were a multiple of the copies, or a divisor, some are put together, or each taken apart. At the boundary of the function
    the slices become memory ports of their own (`layout-to-dataflow`). Each copy is dealt to parts, as its `stc.dealt` says, which
    take iterations of another parallel loop in turn: so results come in the order in which one task makes them, of one part after
    the other. Copies that such parts read along the same loop take its iterations in turn, too. CompileError where a loop reduces,
    does not divide, or its index is used.

        %y = linalg.generic {"parallel", "parallel", "reduction"} ins(%x, %w) ... attrs = {stc.copies = array<i64: 2, 1, 1>}
      becomes
        %x0 = tensor.extract_slice %x[0, 0] [4, 6] [1, 1] {stc.stripe} : tensor<8x6xf32> to tensor<4x6xf32>
        %x1 = tensor.extract_slice %x[4, 0] [4, 6] [1, 1] {stc.stripe} : tensor<8x6xf32> to tensor<4x6xf32>
        %y0 = linalg.generic ... ins(%x0, %w) ...
        %y1 = linalg.generic ... ins(%x1, %w) ...
        %y = tensor.concat dim(0) %y0, %y1 {stc.stripe} : ...
    """

    name = "distribute-parallel"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for generic, division in dealt_copies(generics_in(op)).items():
            _check(generic, division.loop, division.count)
            _split(generic, division.loop, division.count)
        for generic in generics_in(op):
            distribute(generic)
        erase_dead_ops(op)


def copies_of(generic: linalg.GenericOp) -> tuple[int, ...]:
    """Into how many parts each loop is to be divided; all 1 where nothing is said."""
    return COPIES.of(generic) or (1,) * len(generic.iterator_types)


def distribute(generic: linalg.GenericOp, *, in_turn: bool = False) -> None:
    """Divide one generic as its `stc.copies` says, and each copy as `stc.dealt` does. `in_turn`: whether copies are parts that take
    the iterations of a loop in turn, so that what they make comes side by side."""
    copies = copies_of(generic)
    loop = next((loop for loop, count in enumerate(copies) if count > 1), None)
    if loop is None:
        COPIES.drop(generic)
        _deal(generic)
        return
    _check(generic, loop, copies[loop])
    loops = GenericLoops(generic)
    parts = [_part(generic, loops, loop, number, copies) for number in range(copies[loop])]
    full: list[Operation] = []
    outside = [at for at in range(loop) if loops.extents[at] > 1]
    is_successive = loops.extents[loop] == copies[loop] and not in_turn and not outside
    for index, dims in enumerate(loops.output_dims):
        type_ = generic.results[index].type
        assert isinstance(type_, TensorType)
        attributes = _marked(generic, "whole") | (SUCCESSIVE.entry(None) if is_successive else {})
        concat = tensor.ConcatOp([part.results[index] for part in parts], dims.index(loop), type_, attributes)
        concat.results[0].name_hint = generic.results[index].name_hint
        full.append(concat)
    Rewriter.replace_op(generic, full, [op.results[0] for op in full])
    for part in parts:
        distribute(part)


def _is_dealt(generic: linalg.GenericOp) -> bool:
    """Whether parts of it take iterations of a loop in turn."""
    return any(count > 1 for count in DEALT.of(generic) or ())


def _deal(generic: linalg.GenericOp) -> None:
    """Divide one generic as its `stc.dealt` says: a loop becomes two, of which the inner one has as many copies as iterations."""
    counts = DEALT.of(generic) or ()
    DEALT.drop(generic)
    loop = next((loop for loop, count in enumerate(counts) if count > 1), None)
    if loop is None:
        return
    count = counts[loop]
    _check(generic, loop, count)
    DEALT.put(generic, tuple(1 if at == loop else number for at, number in enumerate(counts)))
    distribute(_split(generic, loop, count), in_turn=True)


def _split(generic: linalg.GenericOp, loop: int, count: int) -> linalg.GenericOp:
    """A generic of which a loop has become two, the inner one of `count` iterations and to be divided into as many copies."""
    loops = GenericLoops(generic)
    operand = next(index for index, dims in enumerate(loops.operand_dims) if loop in dims)
    extents = [(at, loops.extents[at]) for at in loops.operand_dims[operand]]
    shapes = tuple((extent // count, count) if at == loop else (extent,) for at, extent in extents)
    split = split_by_operand(generic, operand, shapes)
    assert split is not None
    Rewriter.insert_op(split.ops, InsertPoint.before(generic))
    made = next(op for op in split.ops if isinstance(op, linalg.GenericOp))
    for old, new in zip(generic.results, split.results, strict=True):
        old.replace_all_uses_with(new)
    Rewriter.erase_op(generic)
    for index in range(len(made.inputs)):  # which may become that of one before
        _share_reshape(made.inputs[index], made)
    COPIES.put(made, tuple(count if at == loop + 1 else 1 for at in range(len(made.iterator_types))))
    if counts := DEALT.of(made):
        DEALT.put(made, (*counts[: loop + 1], 1, *counts[loop + 1 :]))
    return made


def _share_reshape(value: SSAValue, reader: linalg.GenericOp) -> None:
    """Where `value` is a reshape for `reader`, let all that want the same have one, right behind what is reshaped; none where it
    only undoes another."""
    own = value.owner
    if not isinstance(own, tensor.ExpandShapeOp):
        return
    if isinstance(before := own.src.owner, tensor.CollapseShapeOp) and groups_of(before) == groups_of(own):
        value.replace_all_uses_with(before.src)
        Rewriter.erase_op(own)
        return
    for other in _alike(own):
        other.result.replace_all_uses_with(value)
        Rewriter.erase_op(other)
    own.detach()
    value.name_hint = own.src.name_hint
    _insert_behind(own, own.src, reader)


def _check(generic: linalg.GenericOp, loop: int, count: int) -> None:
    loops = GenericLoops(generic)
    where = name_of(generic)
    if loop in loops.reductions or any(loop not in dims for dims in loops.output_dims):
        raise CompileError(f"loop {loop} is divided into {count} copies but reduces", where=where, accepted="parallel loops")
    if loops.extents[loop] % count:
        raise CompileError(f"{count} copies do not divide loop {loop} of {loops.extents[loop]} iterations", where=where)
    if loop in asked_loops(generic):
        raise CompileError(f"loop {loop} is divided into {count} copies but its index is used", where=where)


def _part(
    generic: linalg.GenericOp, loops: GenericLoops, loop: int, number: int, copies: tuple[int, ...]
) -> linalg.GenericOp:
    """Copy `number` of those into which `loop` is divided."""
    inputs = [
        _slice(generic, value, dims.index(loop), number, copies[loop]) if loop in dims else value
        for value, dims in zip(generic.inputs, loops.input_dims, strict=True)
    ]
    *ports, of_results = PORTS.of(generic) or (*(0 for _ in inputs), 0)
    for value, count in zip(inputs, ports, strict=True):
        _say_ports(value, count)
    outputs = [
        _start(generic, value, dims.index(loop), copies[loop])
        for value, dims in zip(generic.outputs, loops.output_dims, strict=True)
    ]
    part = linalg.GenericOp(
        inputs,
        outputs,
        generic.body.clone(),
        generic.indexing_maps,
        generic.iterator_types,
        [value.type for value in outputs],
    )
    part.attributes |= stc_attributes(generic)
    NAME.put(part, f"{name_of(generic)}_{number}")
    COPIES.put(part, (*copies[:loop], 1, *copies[loop + 1 :]))
    PORTS.drop(part)
    left = ports if _is_dealt(part) else [0 for _ in inputs]  # whose parts have slices of their own
    if of_results or any(left):
        PORTS.put(part, (*left, of_results))
    for old, new in zip(generic.results, part.results, strict=True):
        new.name_hint = f"{old.name_hint or name_of(generic)}_{number}"
    Rewriter.insert_op(part, InsertPoint.before(generic))
    return part


def _slice(generic: linalg.GenericOp, value: SSAValue, dimension: int, number: int, count: int) -> SSAValue:
    """Part `number` of `count` of `value`: what another copy made, or a slice, shared by all that want the same."""
    parts = _parts(value, dimension)
    if len(parts) == count:
        return parts[number]
    if parts and len(parts) % count == 0:
        each = len(parts) // count
        name = f"{value.name_hint or name_of(generic)}_{number}"
        return _together(generic, parts[number * each : (number + 1) * each], dimension, name)
    if parts and count % len(parts) == 0:
        each = count // len(parts)
        return _slice(generic, parts[number // each], dimension, number % each, each)
    shape = list(shape_of(value.type))
    shape[dimension] //= count
    offsets = [number * shape[dimension] if dim == dimension else 0 for dim in range(len(shape))]
    for use in value.uses:
        other = use.operation
        if (
            isinstance(other, tensor.ExtractSliceOp)
            and STRIPE.on(other)
            and list(other.static_offsets.get_values()) == offsets
            and list(other.static_sizes.get_values()) == shape
        ):
            return other.result
    assert isinstance(value.type, TensorType)
    made = tensor.ExtractSliceOp(value, offsets, shape, [1] * len(shape), TensorType(value.type.element_type, shape))
    name = value.name_hint or name_of(generic) or "part"
    made.attributes |= _marked(generic, str(number)) | NAME.entry(f"{name}_{number}")
    made.result.name_hint = f"{name}_{number}"
    _insert_behind(made, value, generic)
    return made.result


def _say_ports(value: SSAValue, count: int) -> None:
    """Say of a slice of memory how many ports bring its like to all copies; of one that others want, too, nothing."""
    if isinstance(made := value.owner, tensor.ExtractSliceOp):
        if count and not made.result.uses:
            PORTS.put(made, (count,))
        else:
            PORTS.drop(made)


def _parts(value: SSAValue, dimension: int) -> Sequence[SSAValue]:
    """What copies made, side by side along `dimension`, if that is how `value` is made; also where that is reshaped."""
    match value.owner:
        case tensor.ConcatOp() as concat if STRIPE.on(concat):
            return concat.inputs if concat.dim.value.data == dimension else ()
        case tensor.ExpandShapeOp() | tensor.CollapseShapeOp() as reshape:
            return _reshaped_parts(reshape, dimension)
        case _:
            return ()


def _reshaped_parts(op: Reshape, dimension: int) -> Sequence[SSAValue]:
    """The same of a reshape that only takes apart or merges what lies within a part: it is done part by part."""
    if (source := source_dimension(op, dimension)) is None:
        return ()
    parts = _parts(op.src, source)
    coarse = source if isinstance(op, tensor.ExpandShapeOp) else dimension
    narrow = divide_outermost(groups_of(op), coarse, len(parts)) if parts else None
    return [] if narrow is None else [_reshaped(op, part, number, narrow) for number, part in enumerate(parts)]


def _together(generic: linalg.GenericOp, parts: Sequence[SSAValue], dimension: int, name: str) -> SSAValue:
    """Some of the parts that copies made, side by side, put together once for all that want the same."""
    for use in parts[0].uses:
        other = use.operation
        if isinstance(other, tensor.ConcatOp) and list(other.inputs) == list(parts) and other.dim.value.data == dimension:
            return other.result
    shape = list(shape_of(parts[0].type))
    shape[dimension] = sum(shape_of(part.type)[dimension] for part in parts)
    whole = (use.operation for use in parts[0].uses if isinstance(use.operation, tensor.ConcatOp))
    successive = SUCCESSIVE.entry(None) if any(map(SUCCESSIVE.on, whole)) else {}
    attributes = STRIPE.entry(None) | NAME.entry(name) | MODULE.retained(generic) | successive
    made = tensor.ConcatOp(parts, dimension, tensor_like(parts[0], shape), attributes)
    made.result.name_hint = name
    _insert_behind(made, parts[-1], generic)
    return made.result


def _reshaped(op: Reshape, part: SSAValue, number: int, groups: Groups) -> SSAValue:
    """Part `number` of what `op` reshapes in the shape that `op` gives it, made once."""
    made = expand_shape(part, groups) if isinstance(op, tensor.ExpandShapeOp) else collapse_shape(part, groups)
    for other in _alike(made):
        made.erase()
        return other.result
    name = f"{NAME.of(op) or op.result.name_hint or 'part'}_{number}"
    made.attributes |= MODULE.retained(op) | NAME.entry(name)
    made.result.name_hint = name
    assert isinstance(part.owner, Operation)
    Rewriter.insert_op(made, InsertPoint.after(part.owner))
    return made.result


def _alike(op: Reshape) -> Sequence[Reshape]:
    """Other reshapes of the same value to the same shape."""
    others = (use.operation for use in op.src.uses if use.operation is not op)
    return [other for other in others if isinstance(other, type(op)) and other.result.type == op.result.type]


def _insert_behind(made: Operation, value: SSAValue, generic: linalg.GenericOp) -> None:
    """Right behind where `value` is made, so that whatever else wants the slice can have it."""
    block = generic.parent_block()
    assert block is not None
    if isinstance(value.owner, Operation):
        Rewriter.insert_op(made, InsertPoint.after(value.owner))
    else:
        Rewriter.insert_op(made, InsertPoint.at_start(block))


def _start(generic: linalg.GenericOp, value: SSAValue, dimension: int, count: int) -> SSAValue:
    """What a part's result starts from: a smaller tensor of the same kind."""
    assert isinstance(value.type, TensorType)
    shape = list(value.type.get_shape())
    shape[dimension] //= count
    if not isinstance(value.owner, tensor.EmptyOp | linalg.FillOp):
        raise CompileError(
            "a computation that starts from a computed tensor is not divided",
            where=name_of(generic),
            accepted="a fill with a constant",
        )
    made = started_alike(value, shape)
    Rewriter.insert_op(made, InsertPoint.before(generic))
    return made[-1].results[0]


def _marked(generic: linalg.GenericOp, suffix: str) -> dict[str, Attribute]:
    """The attributes of a movement that dividing `generic` needs."""
    return STRIPE.entry(None) | NAME.entry(f"{name_of(generic)}_{suffix}") | MODULE.retained(generic)
