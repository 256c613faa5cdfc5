"""A design on several cards as a project for each: its kernel, what comes from other cards among its inputs, and what goes to them
among its results, as packed words in their order.

What crosses has no reference of the model's: it is what the semantics of the IR compute of the model's inputs (stc.execution).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, TensorType, VectorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from stc.codegen.golden import Reference
from stc.codegen.host_plan import argument_name, entry_of, main_function, result_hint
from stc.dialects.dataflow import KernelOp, PackOp, UnpackOp
from stc.dialects.facts import HOST, NAME
from stc.dialects.itensor import ItensorType
from stc.execution.run import execute
from stc.execution.undefined import undefined_as
from stc.execution.work import MOST_STEPS
from stc.iteration.layout_orders import row_major

MOST_OF_CARDS = 10 * MOST_STEPS
"""Operations that are executed to learn what crosses, of all draws together: some ten minutes."""
_CONTENTS = (0, 1)
"""What memory has that nobody wrote: where a result differs between both, it is nobody's."""

WORDS = "_words"
"""Behind the name of what crosses, as an input or result of a card."""

ANY_INTEGER = 2.0**64
"""The allowed error of an integer that nobody has written."""
GOLDEN_OF_CARDS = f"executed: the reference runs of the model; of tensors '*{WORDS}', the IR as emitted, on numpy"


@dataclass(frozen=True)
class CardReference:
    """A draw of a card: `stc.codegen.golden.Reference`."""

    name: str
    inputs: Mapping[str, np.ndarray]
    golden: Mapping[str, np.ndarray]
    uncertainty: Mapping[str, np.ndarray]
    unspecified: Mapping[str, np.ndarray]
    unrounded: Mapping[str, np.ndarray]


@dataclass(frozen=True)
class _Words:
    """Entries of what crosses, and which of them nobody has written: they fill up words, or are beyond a size known at run time."""

    entries: np.ndarray
    unwritten: np.ndarray


@dataclass(frozen=True)
class CardModel:
    """What a card computes, as `stc.codegen.project.Model`."""

    name: str
    parameters: Mapping[str, np.ndarray]
    references: Sequence[CardReference]
    host_parts: Sequence[Any] = ()


@dataclass(frozen=True)
class Card:
    module: ModuleOp
    model: CardModel


def cards_of(
    module: ModuleOp, name: str, parameters: Mapping[str, np.ndarray], references: Sequence[Reference]
) -> Iterator[Card]:
    """A card for each kernel of `module` (level L6), in order. CompileError where what crosses takes too long to compute."""
    function = main_function(module)
    kernels = [op for op in function.body.block.ops if isinstance(op, KernelOp)]
    slices = {kernel: _slice(kernel) for kernel in kernels}
    crossing = list(dict.fromkeys(value for own in slices.values() for value in own.cuts))
    names = {value: f"{_name_of(value)}{WORDS}" for value in crossing}
    most = MOST_OF_CARDS // (len(_CONTENTS) * max(1, len(references)))
    made = [_crossed(module, function, crossing, names, parameters, reference, most) for reference in references]
    for index, kernel in enumerate(kernels):
        own, inputs, outputs = _module_of(function, kernel, slices[kernel], names)
        draws = [_reference(reference, words, inputs, outputs) for reference, words in zip(references, made, strict=True)]
        yield Card(own, CardModel(f"{name}_card{index}", parameters, draws))


@dataclass
class _Slice:
    """What the host does before a kernel: `ops` of @main that its operands come from, the `arguments` of these, and results of
    other kernels (`cuts`)."""

    ops: set[Operation] = field(default_factory=set[Operation])
    arguments: dict[BlockArgument, None] = field(default_factory=dict[BlockArgument, None])
    cuts: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])


def _slice(kernel: KernelOp) -> _Slice:
    found, left = _Slice(), list[SSAValue](kernel.inputs)
    while left:
        value = left.pop(0)
        owner = value.owner
        if isinstance(value, BlockArgument):
            found.arguments[value] = None
        elif isinstance(owner, KernelOp):
            found.cuts[value] = None
        elif isinstance(owner, Operation) and owner not in found.ops:
            found.ops.add(owner)
            left += owner.operands
    return found


def _name_of(value: SSAValue) -> str:
    kernel = value.owner
    assert isinstance(kernel, KernelOp)
    return result_hint(kernel, tuple(kernel.outputs).index(value))


def _words_type(value: SSAValue) -> tuple[TensorType[Attribute], ItensorType]:
    """Packed words as a tensor of their entries, and the layout that packs it."""
    kind = _tensor(value)
    word = kind.element_type
    assert isinstance(word, VectorType)
    lanes, entries = word.get_shape(), prod(kind.get_shape()) * prod(word.get_shape())
    order = row_major([entries], lanes)
    return TensorType(word.element_type, [entries]), ItensorType.from_order(order, word.element_type)


def _crossed(
    module: ModuleOp,
    function: func.FuncOp,
    crossing: Sequence[SSAValue],
    names: Mapping[SSAValue, str],
    parameters: Mapping[str, np.ndarray],
    reference: Reference,
    most_steps: int,
) -> dict[str, _Words]:
    """What crosses, by name, for a draw of the model's inputs."""
    places = [(list(function.body.block.ops).index(owner), tuple(owner.results).index(value))
              for value in crossing if isinstance(owner := value.owner, Operation)]
    copy = main_function(module.clone())
    ops = list(copy.body.block.ops)
    terminator, wanted = ops[-1], [ops[at].results[index] for at, index in places]
    terminator.operands = wanted
    copy.function_type = FunctionType.from_lists([argument.type for argument in copy.body.block.args],
                                                      [value.type for value in wanted])
    copy.res_attrs = None
    names_of = [argument_name(function, argument.index) for argument in function.body.block.args]
    given = [reference.inputs[name] if name in reference.inputs else parameters[name] for name in names_of]
    found: list[list[np.ndarray]] = []
    for content in _CONTENTS:
        with undefined_as(content):
            found.append(execute(copy, given, most_steps=most_steps))
    return {names[value]: _Words(array.reshape(-1), ~_same(array, other).reshape(-1))
            for value, array, other in zip(crossing, *found, strict=True)}


def _same(array: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Which entries are, NaN among them."""
    return (array == other) | ((array != array) & (other != other))


def _module_of(
    function: func.FuncOp, kernel: KernelOp, own: _Slice, names: Mapping[SSAValue, str]
) -> tuple[ModuleOp, list[str], list[str]]:
    """@main with one kernel, and the names of its inputs (parameters among them) and results."""
    words = {value: _words_type(value) for value in (*own.cuts, *kernel.outputs) if value in names}
    arguments = [argument for argument in function.body.block.args if argument in own.arguments]
    block = Block(arg_types=[*(argument.type for argument in arguments), *(words[value][0] for value in own.cuts)])
    mapping: dict[SSAValue, SSAValue] = dict(zip((*arguments, *own.cuts), block.args, strict=True))
    for value in own.cuts:
        pack = PackOp(mapping[value], words[value][1], _tensor(value))
        pack.result.name_hint = value.name_hint
        block.add_op(pack)
        mapping[value] = pack.result
    host = {*own.ops, kernel, *_behind(kernel)}
    for op in function.body.block.ops:
        if op in host:
            block.add_op(op.clone(mapping))
    terminator = function.body.block.last_op
    assert terminator is not None
    kept = [index for index, value in enumerate(terminator.operands) if value in mapping and value.owner in host]
    results = [mapping[terminator.operands[index]] for index in kept]
    attributes = [_without_host(entry_of(function.res_attrs, index)) for index in kept]
    for value in kernel.outputs:
        if value in names:
            unpack = UnpackOp(mapping[value], words[value][1], words[value][0])
            block.add_op(unpack)
            results.append(unpack.result)
            attributes.append(DictionaryAttr(NAME.entry(names[value])))
    block.add_op(func.ReturnOp(*results))
    given = [_without_host(entry_of(function.arg_attrs, argument.index)) for argument in arguments]
    given += [DictionaryAttr(NAME.entry(names[value])) for value in own.cuts]
    kind = FunctionType.from_lists([argument.type for argument in block.args], [value.type for value in results])
    main = func.FuncOp("main", kind, Region(block), arg_attrs=ArrayAttr(given), res_attrs=ArrayAttr(attributes))
    return ModuleOp([main]), [NAME.of(entry) or "" for entry in given], [NAME.of(entry) or "" for entry in attributes]


def _behind(kernel: KernelOp) -> set[Operation]:
    """What the host does with the results of a kernel alone, before another one."""
    found: set[Operation] = set()
    left = [use.operation for value in kernel.outputs for use in value.uses]
    while left:
        op = left.pop()
        if isinstance(op, (KernelOp, PackOp, func.ReturnOp)) or op in found:
            continue
        found.add(op)
        left += [use.operation for value in op.results for use in value.uses]
    return found


def _tensor(value: SSAValue) -> TensorType[Attribute]:
    assert isinstance(value.type, TensorType)
    return value.type


def _without_host(entry: DictionaryAttr | None) -> DictionaryAttr:
    """What PyTorch runs between kernels is the whole design's: a card alone gets PyTorch's values."""
    return DictionaryAttr({key: value for key, value in (entry.data if entry is not None else {}).items() if key != HOST.name})


def _reference(
    whole: Reference, words: Mapping[str, _Words], inputs: Sequence[str], outputs: Sequence[str]
) -> CardReference:
    """A draw of a card: the model's where it has the names, else what crosses."""

    def of(names: Sequence[str], arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name: arrays[name] for name in names if name in arrays}

    entries = {name: crossed.entries for name, crossed in words.items()}
    floats = {name for name, array in entries.items() if np.issubdtype(array.dtype, np.floating)}
    unspecified = {name: words[name].unwritten for name in floats}
    free = {name: np.where(words[name].unwritten, ANY_INTEGER, 0.0) for name in words.keys() - floats}
    return CardReference(
        whole.name, of(inputs, {**whole.inputs, **entries}), of(outputs, {**whole.golden, **entries}),
        of(outputs, {**whole.uncertainty, **free}), of(outputs, {**whole.unspecified, **unspecified}), of(outputs, whole.unrounded),
    )
