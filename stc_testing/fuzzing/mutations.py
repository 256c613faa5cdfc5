"""Mutations of IR: of its operations, and of its text.

    mutant = mutate(module, random.Random(7))
    print(mutant.text, mutant.mutations)

A mutant is text again, well-formed or not, so that it can be stored and read as any input is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from xdsl.dialects import scf
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IndexType, IntegerAttr, ModuleOp
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator

from stc.dialects.printing import print_module

T = TypeVar("T")

INTEGERS = (0, 1, -1, 2, 3, 5, 16, 1000, 2**31 - 1, 2**31, 10**12, 2**63 - 1, 2**63, -(2**31), -(2**63))
ELEMENTS = ("f32", "f64", "f16", "bf16", "i1", "i8", "i32", "i64", "ui8", "index")
MOST_MUTATIONS = 3
_SHARE_OF_TEXT = 0.4
_GENERIC, _ALIASED = 0.1, 0.5


@dataclass(frozen=True)
class Mutant:
    """`mutations` are the names of those applied, in order."""

    text: str
    mutations: tuple[str, ...]


def mutate(original: ModuleOp, random: Random, most: int = MOST_MUTATIONS) -> Mutant:
    """One to `most` mutations of a copy of a module; those of operations first."""
    count = random.randint(1, most)
    textual = sum(random.random() < _SHARE_OF_TEXT for _ in range(count))
    module = original.clone()
    applied = [_apply_one(MUTATIONS_OF_OPERATIONS, module, random) for _ in range(count - textual)]
    result = _printed(module, random)
    for _ in range(textual):
        name, change = random.choice(MUTATIONS_OF_TEXT)
        result = change(result, random)
        applied.append(name)
    return Mutant(result, tuple(applied))


def _apply_one(mutations: Sequence[tuple[str, Callable[[ModuleOp, Random], bool]]], module: ModuleOp, random: Random) -> str:
    """The name of a mutation that found something to change."""
    for name, change in random.sample(mutations, len(mutations)):
        if change(module, random):
            return name
    return "nothing"


def _printed(module: ModuleOp, random: Random) -> str:
    """The custom form of an operation may have no text for what a mutation made of it; the generic form always has."""
    if random.random() > _GENERIC:
        try:
            return print_module(module, aliases=random.random() < _ALIASED)
        except Exception:
            pass
    return print_module(module, aliases=False, generic=True)


# Of operations: each says whether it found something to change --------------------------------------------------------


def _operations(module: ModuleOp) -> list[Operation]:
    return [op for op in module.walk() if op is not module]


def _pick(random: Random, among: Sequence[T]) -> T | None:
    return random.choice(among) if among else None


def _values(module: ModuleOp) -> list[SSAValue]:
    found: list[SSAValue] = []
    for op in module.walk():
        found += [*op.results, *(argument for region in op.regions for block in region.blocks for argument in block.args)]
    return found


def _change_integer(module: ModuleOp, random: Random) -> bool:
    """A constant becomes another: a bound, a step, an offset, a value."""
    values = [(op, op.properties.get("value")) for op in _operations(module) if isinstance(op, ConstantOp)]
    op, old = _pick(random, [entry for entry in values if isinstance(entry[1], IntegerAttr)]) or (None, None)
    if op is None or not isinstance(old, IntegerAttr):
        return False
    value = _other_integer(old.value.data, random)
    try:
        op.properties["value"] = IntegerAttr(value, old.type)
    except Exception:  # no integer of that type
        return False
    return True


def _other_integer(old: int, random: Random) -> int:
    return random.choice((*INTEGERS, old + 1, old - 1, 2 * old, old // 2, -old))


def _swap_operands(module: ModuleOp, random: Random) -> bool:
    op = _pick(random, [op for op in _operations(module) if len(op.operands) > 1])
    if op is None:
        return False
    one, other = random.sample(range(len(op.operands)), 2)
    op.operands[one], op.operands[other] = op.operands[other], op.operands[one]
    return True


def _replace_operand(module: ModuleOp, random: Random) -> bool:
    """By a value of the same type, most of the time; defined before or not."""
    op = _pick(random, [op for op in _operations(module) if op.operands])
    if op is None:
        return False
    index = random.randrange(len(op.operands))
    if not (values := _values(module)):
        return False
    alike = [value for value in values if value.type == op.operands[index].type and value is not op.operands[index]]
    op.operands[index] = random.choice(alike if alike and random.random() < 0.8 else values)
    return True


def _delete(module: ModuleOp, random: Random) -> bool:
    """Uses take another value of the type."""
    op = _pick(random, [op for op in _operations(module) if not op.has_trait(IsTerminator)])
    if op is None:
        return False
    inside = {result for nested in op.walk() for result in nested.results}
    for result in op.results:
        alike = [value for value in _values(module) if value.type == result.type and value not in inside]
        if result.uses and not alike:
            return False
        if result.uses:
            result.replace_all_uses_with(random.choice(alike))
    op.detach()
    op.erase()
    return True


def _duplicate(module: ModuleOp, random: Random) -> bool:
    op = _pick(random, _operations(module))
    if op is None:
        return False
    Rewriter.insert_op(op.clone(), InsertPoint.after(op))
    return True


def _move(module: ModuleOp, random: Random) -> bool:
    """To any other place, in another block too."""
    op, target = _pick(random, _operations(module)), _pick(random, _operations(module))
    if op is None or target is None or any(nested is target for nested in op.walk()):
        return False
    op.detach()
    Rewriter.insert_op(op, InsertPoint.before(target))
    return True


def _drop_terminator(module: ModuleOp, random: Random) -> bool:
    op = _pick(random, [op for op in _operations(module) if op.has_trait(IsTerminator, value_if_unregistered=False)])
    if op is None:
        return False
    op.detach()
    op.erase()
    return True


def _split_block(module: ModuleOp, random: Random) -> bool:
    """What stands behind an operation goes to a block of its own."""
    op = _pick(random, [op for op in _operations(module) if op.next_op is not None])
    block = None if op is None else op.parent_block()
    if op is None or block is None or op.next_op is None:
        return False
    block.split_before(op.next_op)
    return True


def _add_block(module: ModuleOp, random: Random) -> bool:
    region = _pick(random, [region for op in _operations(module) for region in op.regions])
    if region is None:
        return False
    arguments = region.blocks[0].args if region.blocks else ()
    region.add_block(Block(arg_types=[argument.type for argument in arguments] if random.random() < 0.5 else []))
    return True


def _nest(module: ModuleOp, random: Random) -> bool:
    """An operation without results goes into a loop; one with results too, where nothing uses them."""
    op = _pick(random, [op for op in _operations(module) if not any(r.uses for r in op.results) and not op.has_trait(IsTerminator)])
    if op is None:
        return False
    bounds = [ConstantOp.from_int_and_width(random.choice((0, 1, 1, 2, *INTEGERS[:5])), IndexType()) for _ in range(3)]
    body = Block(arg_types=[IndexType()])
    lower, upper, step = (bound.result for bound in bounds)
    loop = scf.ForOp(lower, upper, step, (), Region(body))
    Rewriter.insert_op([*bounds, loop], InsertPoint.before(op))
    op.detach()
    body.add_ops([op, scf.YieldOp()])
    return True


def _drop_attribute(module: ModuleOp, random: Random) -> bool:
    holders = [table for op in _operations(module) for table in (op.attributes, op.properties) if table]
    if (table := _pick(random, holders)) is None:
        return False
    del table[random.choice(list(table))]
    return True


def _exchange_attributes(module: ModuleOp, random: Random) -> bool:
    """An attribute gets the value that it has on another operation, or that another attribute has."""
    tables = [table for op in _operations(module) for table in (op.attributes, op.properties) if table]
    if len(tables) < 2:
        return False
    one, other = random.sample(tables, 2)
    name = random.choice(list(one))
    one[name] = other.get(name, other[random.choice(list(other))])
    return True


def _change_maps(module: ModuleOp, random: Random) -> bool:
    """Of an operation with indexing maps: results of one permuted, replaced or dropped, or two maps exchanged."""
    op = _pick(random, [op for op in _operations(module) if isinstance(op.properties.get("indexing_maps"), ArrayAttr)])
    maps = None if op is None else op.properties["indexing_maps"]
    if op is None or not isinstance(maps, ArrayAttr) or not maps.data:
        return False
    entries: list[Attribute] = list(maps.data)
    index = random.randrange(len(entries))
    entry = entries[index]
    if random.random() < 0.2 or not isinstance(entry, AffineMapAttr):
        other = random.randrange(len(entries))
        entries[index], entries[other] = entries[other], entries[index]
    else:
        entries[index] = AffineMapAttr(_other_map(entry.data, random))
    op.properties["indexing_maps"] = ArrayAttr(entries)
    return True


def _other_map(old: AffineMap, random: Random) -> AffineMap:
    results = list(old.results)
    change = random.randrange(4)
    if change == 0:
        random.shuffle(results)
    elif change == 1 and results:
        results[random.randrange(len(results))] = _expression(old.num_dims, random)
    elif change == 2 and results:
        results.pop(random.randrange(len(results)))
    else:
        results.insert(random.randint(0, len(results)), _expression(old.num_dims, random))
    return AffineMap(old.num_dims, old.num_symbols, tuple(results))


def _expression(dims: int, random: Random) -> AffineExpr:
    def loop() -> AffineExpr:
        return AffineDimExpr(random.randrange(dims)) if dims else AffineConstantExpr(0)

    constant = random.choice(INTEGERS[:6])
    return random.choice((loop(), AffineConstantExpr(constant), loop() + loop(), loop() * constant, loop() // 2, loop() % 2))


def _change_iterators(module: ModuleOp, random: Random) -> bool:
    op = _pick(random, [op for op in _operations(module) if isinstance(op.properties.get("iterator_types"), ArrayAttr)])
    kinds = None if op is None else op.properties["iterator_types"]
    if op is None or not isinstance(kinds, ArrayAttr) or not kinds.data:
        return False
    entries: list[Attribute] = list(kinds.data)
    entries[random.randrange(len(entries))] = IteratorTypeAttr(random.choice(list(IteratorType)))
    op.properties["iterator_types"] = ArrayAttr(entries[: random.choice((len(entries), len(entries), len(entries) - 1))])
    return True


def _change_type(module: ModuleOp, random: Random) -> bool:
    """A value takes the type of another one."""
    values = _values(module)
    if len(values) < 2:
        return False
    one, other = random.sample(values, 2)
    Rewriter.replace_value_with_new_type(one, other.type)
    return True


MUTATIONS_OF_OPERATIONS: tuple[tuple[str, Callable[[ModuleOp, Random], bool]], ...] = (
    ("change integer", _change_integer),
    ("swap operands", _swap_operands),
    ("replace operand", _replace_operand),
    ("delete", _delete),
    ("duplicate", _duplicate),
    ("move", _move),
    ("drop terminator", _drop_terminator),
    ("split block", _split_block),
    ("add block", _add_block),
    ("nest in loop", _nest),
    ("drop attribute", _drop_attribute),
    ("exchange attributes", _exchange_attributes),
    ("change maps", _change_maps),
    ("change iterators", _change_iterators),
    ("change type", _change_type),
)

# Of text --------------------------------------------------------------------------------------------------------------

_INTEGER = re.compile(r"(?<![\w.%#!])-?\d+(?![\w.]*\w)|(?<=[x<])\d+(?=x)")
_FLOAT = re.compile(r"-?\d+\.\d+(?:[eE][+-]?\d+)?")
_ELEMENT = re.compile(r"(?<=[x< ])(?:" + "|".join(ELEMENTS) + r")\b")
_TOKEN = re.compile(r'%[\w.$-]+|[!#@][\w.$]+|"[^"\n]*"|[\w.]+|->|[^\s\w]')
FLOATS = ("0.0", "-0.0", "1.0", "-1.0", "1.0e30", "1.0e-30", "3.0e38", "1.0e39", "1.0e400", "1.0e-50", "0x7F800000", "0x7FC00000")


def _replace_one(pattern: re.Pattern[str], text: str, random: Random, new: Callable[[str], str]) -> str:
    found = _pick(random, list(pattern.finditer(text)))
    return text if found is None else text[: found.start()] + new(found[0]) + text[found.end() :]


def _number(old: str, random: Random) -> str:
    return str(_other_integer(int(old), random))


def _text_integer(text: str, random: Random) -> str:
    """One integer: in types, maps, schedules, depths, dense constants, ..."""
    return _replace_one(_INTEGER, text, random, lambda old: _number(old, random))


def _text_integers(text: str, random: Random) -> str:
    """An integer wherever it stands, so that extents still agree."""
    found = _pick(random, _INTEGER.findall(text))
    if found is None:
        return text
    new = _number(found, random)
    return _INTEGER.sub(lambda match: new if match[0] == found else match[0], text)


def _text_float(text: str, random: Random) -> str:
    return _replace_one(_FLOAT, text, random, lambda old: random.choice(FLOATS))


def _text_element(text: str, random: Random) -> str:
    return _replace_one(_ELEMENT, text, random, lambda old: random.choice(ELEMENTS))


def _text_elements(text: str, random: Random) -> str:
    """An element type wherever it stands."""
    found = _pick(random, _ELEMENT.findall(text))
    new = random.choice(ELEMENTS)
    return _ELEMENT.sub(lambda match: new if match[0] == found else match[0], text)


def _text_token(text: str, random: Random) -> str:
    """A token is dropped, doubled, or becomes another one of the text."""
    tokens = _TOKEN.findall(text)
    return _replace_one(_TOKEN, text, random, lambda old: random.choice(("", f"{old} {old}", f" {random.choice(tokens)} ")))


def _text_lines(text: str, random: Random) -> str:
    """A line is dropped, doubled, or exchanged with another."""
    if not (lines := text.splitlines(keepends=True)):
        return text
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    change = random.randrange(3)
    if change == 0:
        del lines[one]
    elif change == 1:
        lines.insert(other, lines[one])
    else:
        lines[one], lines[other] = lines[other], lines[one]
    return "".join(lines)


def _text_cut(text: str, random: Random) -> str:
    return text[: random.randrange(len(text))] if text else text


def _text_deep(text: str, random: Random) -> str:
    """A bracket becomes thousands."""
    return _replace_one(re.compile(r"[\[({<]"), text, random, lambda old: old * random.choice((2, 70, 5000)))


MUTATIONS_OF_TEXT: tuple[tuple[str, Callable[[str, Random], str]], ...] = (
    *(("integer of the text", _text_integer),) * 4,
    *(("integers of the text", _text_integers),) * 4,
    ("float of the text", _text_float),
    ("element type of the text", _text_element),
    *(("element types of the text", _text_elements),) * 2,
    ("token of the text", _text_token),
    ("lines of the text", _text_lines),
    ("cut text", _text_cut),
    ("deep text", _text_deep),
)
