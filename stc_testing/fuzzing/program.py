"""Text of a function of linalg on tensors, built op by op, with the type of every value known."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

PARALLEL, REDUCTION = '"parallel"', '"reduction"'
MINUS_INFINITY, INFINITY = "-inf", "inf"
_SPECIAL = {
    (MINUS_INFINITY, "f32"): "0xFF800000",
    (INFINITY, "f32"): "0x7F800000",
    (MINUS_INFINITY, "f64"): "0xFFF0000000000000",
    (INFINITY, "f64"): "0x7FF0000000000000",
}


@dataclass(frozen=True)
class Value:
    """A tensor of the program.

    `exact`: any order of evaluation gives the same bits. `bound`: about its largest magnitude on the inputs that are drawn.
    `computed`: it depends on an input through arithmetic, so that it becomes hardware.
    """

    name: str
    shape: tuple[int, ...]
    element: str
    exact: bool = True
    bound: float = 4.0
    computed: bool = False

    @property
    def type(self) -> str:
        return tensor_type(self.shape, self.element)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def entries(self) -> int:
        return prod(self.shape)


def tensor_type(shape: Sequence[int], element: str) -> str:
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}{element}>"


def is_float(element: str) -> bool:
    return element.startswith("f")


@dataclass(frozen=True)
class Operand:
    """An input of a generic: for each dimension the expression that indexes it, "d0", "0" (of extent 1), "d0 * 2 + d1"."""

    value: Value
    indices: tuple[str, ...]


@dataclass(frozen=True)
class Output:
    """A result of a generic. `start`: a scalar literal, the name of a tensor of the result's type, or None (not read)."""

    shape: tuple[int, ...]
    element: str
    indices: tuple[str, ...]
    start: str | None = None

    @property
    def type(self) -> str:
        return tensor_type(self.shape, self.element)


@dataclass
class Body:
    """Scalar operations of one generic; `inside`: constants stand in the body rather than in front of the op."""

    program: Program
    inside: bool
    lines: list[str] = field(default_factory=list[str])

    def op(self, text: str) -> str:
        """One operation with its types; the name of its result."""
        name = f"%t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def constant(self, literal: str | int, element: str) -> str:
        if not self.inside:
            return self.program.scalar(literal, element)
        return self.op(f"arith.constant {literal_of(literal, element)}")


def literal_of(literal: str | int, element: str) -> str:
    """A scalar with its type, as MLIR writes it; an integer is cut to its type."""
    text = _SPECIAL.get((str(literal), element), fitting(literal, element))
    return text if element == "i1" else f"{text} : {element}"


def fitting(literal: str | int, element: str) -> str:
    """An integer as its type has it; anything else as it is."""
    if not element.startswith("i") or element in ("i1", "index"):
        return str(literal)
    half = 1 << (int(element[1:]) - 1)
    return str((int(literal) + half) % (2 * half) - half)


@dataclass
class Program:
    """One function @main: arguments, lines, and a counter for names."""

    arguments: list[tuple[Value, bool]] = field(default_factory=list[tuple[Value, bool]])
    """Each argument, and whether it is a parameter."""
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    """More attributes of an argument, by its name."""
    lines: list[str] = field(default_factory=list[str])
    scalars: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    count: int = 0

    # Names and lines --------------------------------------------------------------------------------------------------

    def fresh(self, stem: str = "v") -> str:
        self.count += 1
        return f"%{stem}{self.count}"

    def line(self, text: str, stem: str = "v") -> str:
        name = self.fresh(stem)
        self.lines.append(f"{name} = {text}")
        return name

    def scalar(self, literal: str | int, element: str) -> str:
        """A scalar constant; each is written once, at its first use."""
        key = (str(literal), element)
        if key not in self.scalars:
            self.scalars[key] = self.line(f"arith.constant {literal_of(literal, element)}", "c")
        return self.scalars[key]

    # Tensors ----------------------------------------------------------------------------------------------------------

    def argument(self, shape: Sequence[int], element: str, parameter: bool) -> Value:
        value = Value(self.fresh("p" if parameter else "x"), tuple(shape), element)
        self.arguments.append((value, parameter))
        return value

    def dense(self, shape: Sequence[int], element: str, entries: Sequence[str]) -> Value:
        """A constant; one entry means that all are equal. `entries` are row-major."""
        text = entries[0] if len(entries) == 1 else _nested(list(entries), tuple(shape))
        name = self.line(f"arith.constant dense<{text}> : {tensor_type(shape, element)}", "k")
        return Value(name, tuple(shape), element)

    def empty(self, shape: Sequence[int], element: str) -> str:
        return self.line(f"tensor.empty() : {tensor_type(shape, element)}", "e")

    def filled(self, shape: Sequence[int], element: str, literal: str | int) -> str:
        kind = tensor_type(shape, element)
        scalar, empty = self.scalar(literal, element), self.empty(shape, element)
        return self.line(f"linalg.fill ins({scalar} : {element}) outs({empty} : {kind}) -> {kind}", "f")

    def destination(self, output: Output) -> str:
        """What a result starts from."""
        if output.start is None:
            return self.empty(output.shape, output.element)
        return output.start if output.start.startswith("%") else self.filled(output.shape, output.element, output.start)

    # Operations -------------------------------------------------------------------------------------------------------

    def generic(
        self,
        loops: Sequence[str],
        operands: Sequence[Operand],
        outputs: Sequence[Output],
        body: Body,
        yields: Sequence[str],
    ) -> list[str]:
        """One `linalg.generic`; `loops` are their kinds. The body reads %a0.. (operands) and %o0.. (outputs). Names of results."""
        starts = [self.destination(output) for output in outputs]
        dims = ", ".join(f"d{k}" for k in range(len(loops)))
        maps = ", ".join(f"affine_map<({dims}) -> ({', '.join(entry.indices)})>" for entry in (*operands, *outputs))
        names, types = [o.value.name for o in operands], [o.value.type for o in operands]
        ins = f" ins({', '.join(names)} : {', '.join(types)})" if operands else ""
        kinds = ", ".join(output.type for output in outputs)
        arguments = [f"%a{k}: {operand.value.element}" for k, operand in enumerate(operands)]
        arguments += [f"%o{k}: {output.element}" for k, output in enumerate(outputs)]
        results = [self.fresh() for _ in outputs]
        self.lines += [
            f"{', '.join(results)} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{', '.join(loops)}]}}"
            f"{ins} outs({', '.join(starts)} : {kinds}) {{",
            f"^bb0({', '.join(arguments)}):",
            *(f"  {line}" for line in body.lines),
            f"  linalg.yield {', '.join(yields)} : {', '.join(output.element for output in outputs)}",
            f"}} -> {kinds if len(outputs) == 1 else f'({kinds})'}",
        ]
        return results

    def named(self, name: str, inputs: Sequence[Value], output: Output, suffix: str = "") -> str:
        """A named linalg operation; `suffix` is what follows `outs`."""
        start = self.destination(output)
        names, types = ", ".join(v.name for v in inputs), ", ".join(v.type for v in inputs)
        arrow = suffix or f" -> {output.type}"
        return self.line(f"linalg.{name} ins({names} : {types}) outs({start} : {output.type}){arrow}")

    # The function -----------------------------------------------------------------------------------------------------

    def text(self, results: Sequence[Value], scalars: Sequence[str] = ()) -> str:
        """`scalars`: arguments of type i32, by name, that come last."""
        more = {value.name: ", stc.parameter" for value, parameter in self.arguments if parameter} | self.attributes
        kinds = {value.name: value.type for value, _ in self.arguments} | {f"%{name}": "i32" for name in scalars}
        arguments = ",\n    ".join(
            f"{name}: {kind} {{stc.name = \"{name[1:]}\"{more.get(name, '')}}}" for name, kind in kinds.items()
        )
        types = ", ".join(f'{value.type} {{stc.name = "out{k}"}}' for k, value in enumerate(results))
        body = "\n".join(f"  {line}" for line in self.lines)
        names, kinds = ", ".join(v.name for v in results), ", ".join(v.type for v in results)
        return f"func.func @main({arguments})\n    -> ({types}) {{\n{body}\n  return {names} : {kinds}\n}}\n"


def as_double(text: str) -> str:
    """The same program computed in f64 throughout."""
    changed = text
    for literal in (MINUS_INFINITY, INFINITY):
        changed = changed.replace(_SPECIAL[literal, "f32"], _SPECIAL[literal, "f64"])
    return re.sub(r"(?<!%)f32", "f64", changed)  # %f32 is the 32nd value


def _nested(entries: list[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return entries[0]
    size = prod(shape[1:])
    rows = [_nested(entries[k * size : (k + 1) * size], shape[1:]) for k in range(shape[0])]
    return f"[{', '.join(rows)}]"


def identity(rank: int) -> tuple[str, ...]:
    return tuple(f"d{k}" for k in range(rank))


def dimensions(indices: Sequence[str], extents: Mapping[str, int]) -> tuple[int, ...]:
    """The shape that plain indices span: an extent for each loop, 1 for "0"."""
    return tuple(1 if index == "0" else extents[index] for index in indices)
