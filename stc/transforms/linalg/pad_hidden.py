"""`pad-hidden`: rows of zeros for what is between two contractions, so that more tasks divide both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import lcm

import numpy as np
from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import FloatAttr, ModuleOp, f32
from xdsl.dialects.linalg.ops import FillOp, GenericOp, IndexOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.generic_loops import GenericLoops, all_dims, generics_in
from stc.analysis.host_work import functions_of, host_values
from stc.design_space.group_fill import Tiles, filled_hidden
from stc.dialects.facts import MODULE
from stc.quantisation.formats import read_quantisation
from stc.scalars.table import ROWS
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.generics import filled, shape_of, started_alike, tensor_like, yielded
from stc.transforms.linalg.integer_contractions import Along, ProductSum, groups_of, is_of_one_row, linear_of, rows


@dataclass(frozen=True)
class PadHidden(ModulePass):
    """Fill up with zeros what one contraction with parameters makes and another reduces, where that leaves more tasks.

    Tasks divide the words of rows of a contraction, and the groups of its reduction, evenly: of 32 words of 8 groups 16 tasks have
    something, where there are ports for 24; of 33 all of them. So rows of weights that are all zeros follow those of the first, and
    columns of zeros those of the second, up to as many as `stc.design_space.group_fill` says. In between there is nothing but what
    is computed entry by entry and makes 0 of 0, as activation functions do; parameters of that (biases) have zeros, too. What comes
    out is the same: 0 is added to each sum.

    Options: `format`: what `quantize-linear` will make of the contractions, whose groups and words count; `tasks` (default 0:
    none): how many may compute one contraction side by side; `port-bits` (default 512): of a word. What is between contractions of
    several rows of activations stays as it is, and so is what is no whole number of words, or has whole rows as groups.

        %h = linalg.generic {...} ins(%x, %up : tensor<8xf32>, tensor<8x32xf32>) { s + x * w } ... -> tensor<32xf32>
        %a = linalg.generic {...} ins(%h, %bias : tensor<32xf32>, tensor<32xf32>) { tanh(h + b) } ... -> tensor<32xf32>
        %y = linalg.generic {...} ins(%a, %down : tensor<32xf32>, tensor<32x8xf32>) { s + a * w } ... -> tensor<8xf32>
      becomes
        %up_0 = tensor.concat dim(1) %up, %zeros : (tensor<8x32xf32>, tensor<8x1xf32>) -> tensor<8x33xf32>
        %h = linalg.generic {...} ins(%x, %up_0 : tensor<8xf32>, tensor<8x33xf32>) { s + x * w } ... -> tensor<33xf32>
        %bias_0 = tensor.concat dim(0) %bias, %zero : (tensor<32xf32>, tensor<1xf32>) -> tensor<33xf32>
        %a = linalg.generic {...} ins(%h, %bias_0 : tensor<33xf32>, tensor<33xf32>) { tanh(h + b) } ... -> tensor<33xf32>
        %down_0 = tensor.concat dim(0) %down, %zeros_0 : (tensor<32x8xf32>, tensor<1x8xf32>) -> tensor<33x8xf32>
        %y = linalg.generic {...} ins(%a, %down_0 : tensor<33xf32>, tensor<33x8xf32>) { s + a * w } ... -> tensor<8xf32>
    """

    name = "pad-hidden"

    format: str = "bits=8"
    tasks: int = 0
    port_bits: int = 512

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.tasks:
            return
        for function in functions_of(op):
            for generic in generics_in(function):
                known = host_values(function)  # what is padded, too
                reader = linear_of(generic, known)
                hidden = None if reader is None else _hidden(reader, known)
                if hidden is not None and hidden.readers[0].generic is generic and hidden.keeps_zeros:
                    hidden.pad(self._missing(hidden))
        erase_dead_ops(op)  # what was filled, or empty, in the old shape

    def _missing(self, hidden: _Hidden) -> int:
        """How many rows are to follow."""
        chosen = read_quantisation(self.format)
        made, read = ([(each, own) for each in of if (own := chosen.format_of(MODULE.of(each.generic) or "")) is not None]
                      for of in (hidden.makers, hidden.readers))  # fmt: skip
        if len(made) < len(hidden.makers) or len(read) < len(hidden.readers):
            return 0
        unit = lcm(*(self.port_bits // own.bits for _, own in made), *(groups_of(each, own)[1] for each, own in read))
        if hidden.extent % unit or not all(is_of_one_row(each) for each in (*hidden.makers, *hidden.readers)):
            return 0
        making: dict[SSAValue, Tiles] = {}  # of one activation they may become one (`merge-contractions`)
        for each, own in made:
            words = unit * own.bits // self.port_bits + (making[each.first.value].words if each.first.value in making else 0)
            making[each.first.value] = Tiles(words, groups_of(each, own)[0])
        reading = [Tiles(-(-rows(each) * own.bits // self.port_bits), unit // groups_of(each, own)[1]) for each, own in read]
        return unit * filled_hidden(hidden.extent // unit, [*making.values()], reading, self.tasks) - hidden.extent


# What is between contractions -----------------------------------------------------------------------------------------


@dataclass
class _Hidden:
    """A dimension between contractions: `places`, which one of each tensor it is; of inputs that the host knows, by generic and
    number, too (`known`). `loops`: which one of each generic that has it in its results runs along it; `makers` are contractions
    among these, `readers` reduce it."""

    places: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    known: dict[tuple[GenericOp, int], int] = field(default_factory=dict[tuple[GenericOp, int], int])
    loops: dict[GenericOp, int] = field(default_factory=dict[GenericOp, int])
    makers: list[ProductSum] = field(default_factory=list[ProductSum])
    readers: list[ProductSum] = field(default_factory=list[ProductSum])

    @property
    def extent(self) -> int:
        value, place = next(iter(self.places.items()))
        return shape_of(value)[place]

    @property
    def keeps_zeros(self) -> bool:
        """Whether readers have 0 where makers make 0, and what the host knows is 0."""
        entries: dict[SSAValue, np.float32] = {generic.inputs[at]: np.float32(0) for generic, at in self.known}
        made = {maker.generic for maker in self.makers}
        for generic in sorted(self.loops, key=_number):
            found = [np.float32(0)] if generic in made else _entry_of(generic, self.loops[generic], entries)
            entries |= {result: number for result, number in zip(generic.results, found, strict=True) if number is not None}
        return all(entries.get(reader.first.value) == 0 for reader in self.readers)

    def pad(self, count: int) -> None:
        """Let so many entries follow, which are 0."""
        if not count:
            return
        longer: dict[tuple[SSAValue, int], SSAValue] = {}
        for generic, at in sorted(self.known, key=lambda use: _number(use[0])):
            value, place = generic.inputs[at], self.known[generic, at]
            if (value, place) not in longer:
                longer[value, place] = _followed_by_zeros(value, place, count, generic)
            generic.operands[at] = longer[value, place]
        for generic in self.loops:
            for at, out in enumerate(generic.outputs):
                if (result := generic.results[at]) in self.places:
                    fresh = started_alike(out, _longer(result, self.places[result], count))
                    Rewriter.insert_op(fresh, InsertPoint.before(generic))
                    generic.operands[len(generic.inputs) + at] = fresh[-1].results[0]
        for value, place in self.places.items():
            Rewriter.replace_value_with_new_type(value, tensor_like(value, _longer(value, place, count)))


def _hidden(reader: ProductSum, known: set[SSAValue]) -> _Hidden | None:
    """The dimension that a contraction reduces, None where something else than contractions with parameters, and what is between
    them, has to do with it."""
    found = _Hidden()
    left = [(reader.first.value, reader.first.loops.index(reader.reduction))]
    while left:
        value, place = left.pop()
        if value in found.places:
            if found.places[value] != place:
                return None
            continue
        maker = value.owner
        if not isinstance(value, OpResult) or not isinstance(maker, GenericOp) or not _is_simple(maker):
            return None
        found.places[value] = place
        runs = [(maker, GenericLoops(maker).output_dims[value.index][place])]
        for use in value.uses:
            user = use.operation
            if not isinstance(user, GenericOp) or use.index >= len(user.inputs) or not _is_simple(user):
                return None
            loop = GenericLoops(user).input_dims[use.index][place]
            if loop not in GenericLoops(user).reductions:
                runs.append((user, loop))
            elif (read := linear_of(user, known)) is None or read.first.value is not value or read.reduction != loop:
                return None
            elif all(each.generic is not user for each in found.readers):
                found.readers.append(read)
                found.known[user, 1 - use.index] = read.second.loops.index(loop)
        for generic, loop in runs:
            if (more := _followed(found, generic, loop, known)) is None:
                return None
            left += more
    found.readers.sort(key=lambda each: _number(each.generic))
    return found if found.makers else None


def _followed(found: _Hidden, generic: GenericOp, loop: int, known: set[SSAValue]) -> list[tuple[SSAValue, int]] | None:
    """What else has the dimension, since this loop of a generic runs along it: inputs and results, of which the host knows none."""
    if generic in found.loops:
        return [] if found.loops[generic] == loop else None
    found.loops[generic] = loop
    loops = GenericLoops(generic)
    if (maker := linear_of(generic, known)) is not None:
        found.makers.append(maker)
    elif loops.reductions:
        return None
    if loop in loops.reductions or not all(loop in dims for dims in loops.output_dims):
        return None
    if not all(isinstance(out.owner, tensor.EmptyOp | FillOp) for out in generic.outputs):
        return None
    inputs = {at: dims.index(loop) for at, dims in enumerate(loops.input_dims) if loop in dims}
    given = {at: place for at, place in inputs.items() if generic.inputs[at] in known}
    if any(Along(generic.inputs[at], ()).element != f32 for at in given):
        return None
    found.known |= {(generic, at): place for at, place in given.items()}
    results = [(value, dims.index(loop)) for value, dims in zip(generic.results, loops.output_dims, strict=True)]
    return [*((generic.inputs[at], place) for at, place in inputs.items() if at not in given), *results]


def _is_simple(generic: GenericOp) -> bool:
    """Whether each dimension of each operand has a loop of its own, and no entry depends on where it is."""
    dims = all_dims(generic)
    is_placed = any(isinstance(op, IndexOp) for op in generic.walk())
    return dims is not None and all(None not in entry for entry in dims) and not is_placed


def _entry_of(generic: GenericOp, loop: int, entries: Mapping[SSAValue, np.float32]) -> list[np.float32 | None]:
    """What results have where inputs along the loop have these `entries`, None where that is not known, whatever others are."""
    block, inputs = generic.body.block, zip(generic.inputs, GenericLoops(generic).input_dims, strict=True)
    known = [entries.get(value) if loop in dims else None for value, dims in inputs]
    numbers: dict[SSAValue, np.float32] = {}
    for argument, number in zip(block.args, known, strict=False):
        if number is not None and argument.type == f32:
            numbers[argument] = number
    with np.errstate(all="ignore"):
        for op in block.ops:
            if op is not block.last_op and (number := _number_of(op, numbers)) is not None:
                numbers[op.results[0]] = number
    return [numbers.get(value) for value in yielded(generic)]


def _number_of(op: Operation, numbers: Mapping[SSAValue, np.float32]) -> np.float32 | None:
    """What a scalar operation gives, None where that is not known."""
    if isinstance(op, arith.ConstantOp):
        return np.float32(op.value.value.data) if isinstance(op.value, FloatAttr) and op.result.type == f32 else None
    row = ROWS.get(type(op))
    if row is None or row.numpy is None or any(operand not in numbers for operand in op.operands) or op.results[0].type != f32:
        return None
    return np.float32(row.numpy(*(numbers[operand] for operand in op.operands)))


def _longer(value: SSAValue, place: int, count: int) -> list[int]:
    return [extent + count * (index == place) for index, extent in enumerate(shape_of(value))]


def _followed_by_zeros(value: SSAValue, place: int, count: int, before: Operation) -> SSAValue:
    rest = [count if index == place else extent for index, extent in enumerate(shape_of(value))]
    zeros = filled(FloatAttr(0.0, f32), rest)
    concat = tensor.ConcatOp([value, zeros[-1].results[0]], place, tensor_like(value, _longer(value, place, count)))
    Rewriter.insert_op([*zeros, concat], InsertPoint.before(before))
    concat.results[0].name_hint = value.name_hint
    return concat.results[0]


def _number(op: Operation) -> int:
    """Where it stands in its block."""
    assert op.parent is not None
    return op.parent.get_operation_index(op)
