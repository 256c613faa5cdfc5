"""What passes tell each other about operations of other dialects: discardable attributes, each defined, read and written here.

    NAME.put(op, "fc")          # stc.name = "fc"
    NAME.of(op)                 # "fc", None where it has none
    COPIES.of(op) or (1, 1)     # decoded: a tuple of integers
    arguments[0] = DictionaryAttr(NAME.entry("x") | PARAMETER.entry(None))

What is said of operations of our own is a property of theirs (`TaskOp.kind`, `CreateOp.tokens`). The preconditions of all passes
check what stands in a module against `FACTS`: a fact has the type it is defined with, and holds where it may.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast, get_args, get_origin

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import AttrConstraint, irdl_to_attr_constraint

from stc.dialects.dataflow.schedule import ScheduleAttr
from stc.dialects.itensor.size_ops import SizeAttr
from stc.iteration.pipeline_style import STYLES, Style
from stc.iteration.size import Size
from stc.iteration.storage import ArrayStorage, Memory, Ports

T = TypeVar("T")
Holder: TypeAlias = Operation | DictionaryAttr | Mapping[str, Attribute] | None
"""An operation, or what is said of one argument or result of a function (None: nothing is)."""


def _always(holder: object, value: object) -> str | None:
    return None


@dataclass(frozen=True)
class Fact(Generic[T]):
    """An attribute that says one thing. `decode` and `encode` go between it and a plain value.

    `rule`: what is wrong with a value on an operation, None where nothing is; it is asked of operations only.
    """

    name: str
    kind: Any
    """The attribute's type, as `xdsl.irdl.irdl_to_attr_constraint` takes it."""
    decode: Callable[[Any], T]
    encode: Callable[[T], Attribute]
    rule: Callable[[Operation, T], str | None] = _always

    @cached_property
    def _constraint(self) -> AttrConstraint:
        """That an attribute is of this type: made once, which takes longer than to ask it."""
        return irdl_to_attr_constraint(self.kind)

    def of(self, holder: Holder) -> T | None:
        """What is said of `holder`, None where nothing is, or something of another type (which no pass gets)."""
        attribute = _attributes(holder).get(self.name)
        return self.decode(attribute) if attribute is not None and self._constraint.verifies(attribute) else None

    def on(self, holder: Holder) -> bool:
        return self.name in _attributes(holder)

    def put(self, op: Operation, value: T) -> None:
        op.attributes[self.name] = self.encode(value)

    def drop(self, op: Operation) -> None:
        op.attributes.pop(self.name, None)

    def entry(self, value: T) -> dict[str, Attribute]:
        """The attribute, to be put into a dictionary of others."""
        return {self.name: self.encode(value)}

    def retained(self, holder: Holder) -> dict[str, Attribute]:
        """The attribute of `holder`, for another operation; nothing where it has none."""
        attributes = _attributes(holder)
        return {self.name: attributes[self.name]} if self.name in attributes else {}

    def complaint(self, op: Operation, attribute: Attribute) -> str | None:
        """What is wrong with `attribute` on `op`, or on one of its arguments or results; None where nothing is."""
        if not self._constraint.verifies(attribute):
            is_text = self.kind is StringAttr and isinstance(attribute, BytesAttr)
            return "expected UTF-8 text" if is_text else f"expected {(get_origin(self.kind) or self.kind).name}"
        return self.rule(op, self.decode(attribute))


def _attributes(holder: Holder) -> Mapping[str, Attribute]:
    if isinstance(holder, Operation):
        return holder.attributes
    return holder.data if isinstance(holder, DictionaryAttr) else holder or {}


def _text(name: str) -> Fact[str]:
    return Fact(name, StringAttr, lambda attribute: attribute.data, StringAttr)


def _mark(name: str, rule: Callable[[Operation, None], str | None] = _always) -> Fact[None]:
    return Fact(name, UnitAttr, lambda attribute: None, lambda value: UnitAttr(), rule)


def _number(name: str, rule: Callable[[Operation, int], str | None]) -> Fact[int]:
    return Fact(name, IntegerAttr, lambda attribute: attribute.value.data, lambda value: IntegerAttr(value, i32), rule)


def _numbers(name: str, rule: Callable[[Operation, tuple[int, ...]], str | None] = _always) -> Fact[tuple[int, ...]]:
    return Fact(
        name,
        DenseArrayBase,
        lambda attribute: tuple(int(number) for number in attribute.get_values()),
        lambda numbers: DenseArrayBase.from_list(i64, numbers),
        rule,
    )


BOUND = 1 << 31
"""Numbers are below it: they are `int` in the emitted C++."""


def _count(op: Operation, value: int) -> str | None:
    return None if 0 <= value < BOUND else f"expected one from 0 to {BOUND - 1}"


def _count_of_loop(op: Operation, value: int) -> str | None:
    return _count(op, value) or (None if isinstance(op, scf.ForOp) else "expected it on an 'scf.for'")


def _of_a_loop(op: Operation, value: None) -> str | None:
    return None if isinstance(op, scf.ForOp) else "expected it on an 'scf.for'"


def _of_steps(op: Operation, value: None) -> str | None:
    return None if isinstance(op, scf.ForOp | func.FuncOp) else "expected it on an 'scf.for', or an argument or result of @main"


def _parts_of_loops(op: Operation, value: tuple[int, ...]) -> str | None:
    return None if all(0 < parts < BOUND for parts in value) else f"expected parts from 1 to {BOUND - 1}"


def _numbers_of_ports(op: Operation, value: tuple[int, ...]) -> str | None:
    return None if value and all(0 <= ports < BOUND for ports in value) else f"expected numbers of ports from 0 to {BOUND - 1}"


Multipliers: TypeAlias = Literal["pairs", "dsp", "lut"]
"""What integer products are made of: half a DSP each, as one of two that share it (`pack-products`), a DSP, or LUTs."""

MULTIPLIER_KINDS: tuple[Multipliers, ...] = get_args(Multipliers)

Adders: TypeAlias = Literal["dsp", "lut"]
"""What additions of floats are made of: DSPs, or LUTs alone, which take fewer stages."""

ADDER_KINDS: tuple[Adders, ...] = get_args(Adders)


def _of_a_product(op: Operation, value: Multipliers) -> str | None:
    if value not in MULTIPLIER_KINDS:
        return f"expected {', '.join(MULTIPLIER_KINDS)}"
    is_product = isinstance(op, arith.MuliOp) and isinstance(op.result.type, IntegerType)
    return None if is_product else "expected it on a product of integers"


def _of_a_float_sum(op: Operation, value: Adders) -> str | None:
    if value not in ADDER_KINDS:
        return f"expected {', '.join(ADDER_KINDS)}"
    return None if isinstance(op, arith.AddfOp) else "expected it on an addition of floats"


def _of_an_integer_sum(op: Operation, value: None) -> str | None:
    is_sum = isinstance(op, arith.AddiOp) and isinstance(op.result.type, IntegerType)
    return None if is_sum else "expected it on an addition of integers"


def _banks(op: Operation, value: Pairs) -> str | None:
    if not isinstance(op, memref.AllocOp):
        return None
    shape = op.memref.type.get_shape()
    fits = all(
        len(pair) == 2 and pair[0] in range(len(shape)) and pair[1] in range(shape[pair[0]] + 1) for pair in value
    )
    return None if fits else f"expected pairs of a dimension of {op.memref.type} and a factor, from 0 to its extent"


Pairs: TypeAlias = tuple[tuple[int, ...], ...]


def _pairs(attribute: ArrayAttr[ArrayAttr[IntegerAttr]]) -> Pairs:
    return tuple(tuple(number.value.data for number in pair) for pair in attribute)


def _array_of_pairs(pairs: Pairs) -> Attribute:
    return ArrayAttr([ArrayAttr([IntegerAttr(number, i32) for number in pair]) for pair in pairs])


def _storage(op: Operation, value: ArrayStorage) -> str | None:
    if not isinstance(op, memref.AllocOp):
        return "expected it on a 'memref.alloc'"
    return value.expected


def _array_storage(attribute: ArrayAttr[StringAttr]) -> ArrayStorage:
    ports, memory = [entry.data for entry in attribute] if len(attribute) == 2 else ("", "")
    return ArrayStorage(cast(Ports, ports), cast(Memory, memory))


NAME = _text("stc.name")
"""What an operation is called; of an argument or result of a function, its name in the model."""
MODULE = _text("stc.module")
"""The path of the module of the model that an operation comes from."""
COMMENT = _text("stc.comment")
"""A line of text above what is emitted for an operation."""
PARAMETER = _mark("stc.parameter")
"""An argument that is known before the accelerator runs."""
HOST = _text("stc.host")
"""Of an argument, the submodule that gives it, run by PyTorch on the host; of a result, the one that takes it."""
VALUES = _numbers("stc.values")
"""The least and the largest entry of a parameter of integers. Who packs parameters checks it."""
SIZES: Fact[tuple[Size, ...]] = Fact(
    "stc.sizes",
    ArrayAttr[SizeAttr],
    lambda attribute: tuple(size.data for size in attribute),
    lambda sizes: ArrayAttr([SizeAttr(size) for size in sizes]),
)
"""How much of each dimension of an argument is there: its extents, some of which follow a scalar argument of a symbol's name."""
BEGINS: Fact[tuple[Size, ...]] = Fact(
    "stc.begins",
    ArrayAttr[SizeAttr],
    lambda attribute: tuple(size.data for size in attribute),
    lambda begins: ArrayAttr([SizeAttr(begin) for begin in begins]),
)
"""Where, along each dimension of an argument, that begins of which `stc.sizes` says how much is there: at 0 where nothing is said.
Operations on tensors count from there."""
UNSUPPORTED = _mark("stc.unsupported")
"""An argument that stands for what could not be imported."""

SCHEDULE: Fact[ScheduleAttr] = Fact("stc.schedule", ScheduleAttr, lambda attribute: attribute, lambda value: value)
"""Tiles, order, unrolls and vector shapes of a generic."""
FIXED = _mark("stc.fixed")
"""A generic whose schedule was given: no pass gives it another."""
LANES = _number("stc.lanes", _count)
"""How many points of the last parallel loop of a generic were decided to run at once."""
ROWS = _number("stc.rows", _count)
"""The same of its row loop (`stc.design_space.tiling.row_loop`): each lane's factor is used for so many results at once."""
COPIES = _numbers("stc.copies", _parts_of_loops)
"""Into how many computations each loop of a generic is divided."""
DEALT = _numbers("stc.dealt", _parts_of_loops)
"""The same of each copy, whose iterations the parts get in turn: of two one gets the first, the third, ... of a loop."""
PORTS = _numbers("stc.ports", _numbers_of_ports)
"""How many memory ports move what copies of a generic divide, each for several in turn: one number for each input, and one for
results; 0 where each copy has its own. Once it is divided, each slice of an input says it of itself (`interleave-loads`), and a
copy of its results (`pack-interfaces`)."""
SHARED = _mark("stc.shared")
"""A generic whose multipliers are those of others, too, which compute one after the other (`share-contractions`)."""
MERGED = _mark("stc.merged")
"""A generic that computes what several did, which has a part of its result for each (`merge-contractions`)."""
STRIPE = _mark("stc.stripe")
"""A slice or concatenation of the equal parts into which a tensor is divided for copies of a computation."""
SUCCESSIVE = _mark("stc.successive")
"""A concatenation of what copies made that have one iteration each of a computation's outermost loop: one behind the other, as that
computation would have made them."""
ENDS_LAYERS = _mark("stc.ends_layers")
"""A generic, and later a task, that only hands on what a layer ends with: all that waits for it follows the last layer
(`repeat-layers`)."""
BEHIND_LAYERS = _mark("stc.behind_layers")
"""A task of what follows the last layer, in a kernel in which another ends layers; or an operation at the top of a task, where
what it does is for these."""
STEPS = _mark("stc.steps", _of_steps)
"""A loop of a task over the steps of a launch (`repeat-steps`), or an argument or result of which each step has its own."""
TILE = _text("stc.tile")
"""A generic that computes a tile, and of what."""

MULTIPLIERS: Fact[Multipliers] = Fact(
    "stc.multipliers", StringAttr, lambda attribute: cast(Multipliers, attribute.data), StringAttr, _of_a_product
)
"""What the multiplier of an `arith.muli` is made of; the vendor's tool decides where nothing is said."""
ADDERS: Fact[Adders] = Fact("stc.adders", StringAttr, lambda attribute: cast(Adders, attribute.data), StringAttr, _of_a_float_sum)
"""The same of the adder of an `arith.addf`."""
REGISTERED = _mark("stc.registered", _of_an_integer_sum)
"""An addition of integers, in LUTs, with a register behind it: a stage of the pipeline."""

LABEL = _text("stc.label")
"""What a loop is called."""
PIPELINE = _number("stc.pipeline", _count_of_loop)
"""The initiation interval of a pipelined loop."""
DEPTH = _number("stc.depth", _count_of_loop)
"""The stages of a pipelined loop, where they are declared (an own kernel's) or measured, and not estimated."""
STYLE: Fact[Style] = Fact(
    "stc.style",
    StringAttr,
    lambda attribute: STYLES.get(attribute.data, "stp"),
    StringAttr,
    lambda op, value: None if STYLE.retained(op).get("stc.style") == StringAttr(value) else f"expected {', '.join(STYLES)}",
)
"""How a pipelined loop waits; `stp` where nothing is said."""
DRAINS = _mark("stc.drains", _of_a_loop)
"""A loop that is not merged with the loops around it: it ends in each of their iterations, with all that is in its pipeline."""
UNROLL = _number("stc.unroll", _count_of_loop)
"""How many iterations of a loop become hardware of their own; 0: all."""
PARTITION: Fact[Pairs] = Fact("stc.partition", ArrayAttr[ArrayAttr[IntegerAttr]], _pairs, _array_of_pairs, _banks)
"""(dimension, factor): into which banks an array is cut; factor 0 is one bank per entry."""
STORAGE: Fact[ArrayStorage] = Fact(
    "stc.storage",
    ArrayAttr[StringAttr],
    _array_storage,
    lambda storage: ArrayAttr([StringAttr(storage.ports), StringAttr(storage.memory)]),
    _storage,
)
"""The ports that the banks of an array have, and what memory they are; the vendor's tool decides where nothing is said."""
COUNTERS: Fact[Pairs] = Fact(
    "stc.counters",
    ArrayAttr[ArrayAttr[IntegerAttr]],
    _pairs,
    lambda rows: ArrayAttr([ArrayAttr([IntegerAttr(number, i64) for number in row]) for row in rows]),
)
"""Of a loop from 0 by 1: for each value that it carries the four numbers of a `Counter`. It is believed only once it is proved."""
DUPLICATE_LOADS: Fact[tuple[DictionaryAttr, ...]] = Fact("stc.duplicate_loads", ArrayAttr[DictionaryAttr], tuple, ArrayAttr)
"""What a kernel reads more than once (`stc.analysis.duplicate_loads`)."""

PREFIX = "stc."
"""What begins so and is none of `FACTS` is a mistake: a misspelled schedule would be none."""

FACTS: Mapping[str, Fact[Any]] = {
    fact.name: fact
    for fact in (
        NAME, MODULE, COMMENT, PARAMETER, HOST, VALUES, SIZES, BEGINS, UNSUPPORTED,
        SCHEDULE, FIXED, LANES, ROWS, COPIES, DEALT, PORTS, SHARED, MERGED, STRIPE, SUCCESSIVE, ENDS_LAYERS, BEHIND_LAYERS, TILE,
        STEPS, MULTIPLIERS, ADDERS, REGISTERED,
        LABEL, PIPELINE, DEPTH, STYLE, DRAINS, UNROLL, COUNTERS, PARTITION, STORAGE, DUPLICATE_LOADS,
    )
}  # fmt: skip
"""All of them, by name."""
