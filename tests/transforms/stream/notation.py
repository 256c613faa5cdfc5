"""Small linalg programs written as index expressions: `op("y", "ik kj -> ij", "x w", MULTIPLY_ADD, initial="0.0")`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

MULTIPLY_ADD = ("mulf %a0, %a1", "addf %t0, %o0")
ADD_UP = ("addf %a0, %o0",)
LARGEST = ("maximumf %a0, %o0",)
SUBTRACT = ("subf %a0, %a1",)
NEGATE = ("negf %a0",)


@dataclass
class Program:
    """Text of one function @main, built op by op. `shapes` knows every tensor by name."""

    arguments: dict[str, tuple[int, ...]]
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    parameters: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.shapes |= self.arguments

    def op(
        self,
        name: str,
        indices: str,
        operands: str,
        body: Sequence[str],
        *,
        initial: str | None = None,
        schedule: str | None = None,
    ) -> Program:
        """One generic. `indices`: "ik kj -> ij" (loops in order of first appearance on the right, then on the left; those
        on the left only are reductions). `body`: arith ops on %a0.. (inputs), %o0 (result so far) and %t0.. (earlier lines).
        `schedule`: "tile = [...], order = [...]" with unroll ones."""
        left, right = (side.split() for side in indices.split("->"))
        inputs = operands.split()
        left, right = left or [""] * len(inputs), right or [""]
        left = ["" if entry == "." else entry for entry in left]
        right = ["" if entry == "." else entry for entry in right]
        loops = list(dict.fromkeys("".join(right) + "".join(left)))
        extents = {i: n for name_, entry in zip(inputs, left, strict=True) for i, n in zip(entry, self.shapes[name_], strict=True)}
        shape = tuple(extents[i] for i in right[0])
        maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({', '.join(entry)})>" for entry in (*left, *right))
        kinds = ", ".join('"parallel"' if loop in right[0] else '"reduction"' for loop in loops)
        types = ", ".join(self.type_of(value) for value in inputs)
        self.shapes[name] = shape
        out = f"%{name}_e"
        self.lines.append(f"{out} = tensor.empty() : {self.type_of(name)}")
        if initial is not None:
            self.lines.append(f"%{name}_c = arith.constant {initial} : f32")
            self.lines.append(
                f"%{name}_f = linalg.fill ins(%{name}_c : f32) outs({out} : {self.type_of(name)}) -> {self.type_of(name)}"
            )
            out = f"%{name}_f"
        attributes = f'stc.name = "{name}"'
        if schedule is not None:
            ones = ", ".join("1" for _ in loops)
            attributes += f", stc.schedule = #dataflow.schedule<{schedule}, unroll = [{ones}], vector = []>"
        operands_text = f"ins({', '.join('%' + value for value in inputs)} : {types}) " if inputs else ""
        args = ", ".join([*(f"%a{k}: f32" for k in range(len(inputs))), "%o0: f32"])
        ops = "\n".join(self._line(k, line) for k, line in enumerate(body))
        self.lines.append(
            f"%{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {operands_text}"
            f"outs({out} : {self.type_of(name)}) attrs = {{{attributes}}} {{\n^bb0({args}):\n{ops}\n"
            f"linalg.yield %t{len(body) - 1} : f32 }} -> {self.type_of(name)}"
        )
        return self

    @staticmethod
    def _line(index: int, text: str) -> str:
        """An arith operation on f32, or (where a dialect is written) any operation with its types."""
        return f"%t{index} = {text}" if "." in text.split()[0] else f"%t{index} = arith.{text} : f32"

    def raw(self, name: str, shape: Sequence[int], text: str) -> Program:
        """Any other op that gives one tensor."""
        self.shapes[name] = tuple(shape)
        self.lines.append(f"%{name} = {text}")
        return self

    def slice(self, name: str, source: str, offsets: Sequence[int], sizes: Sequence[int]) -> Program:
        ones = [1] * len(sizes)
        shape = tuple(sizes)
        self.shapes[name] = shape
        text = f"tensor.extract_slice %{source}{list(offsets)} {list(sizes)} {ones}"
        return self.raw(name, shape, f"{text} : {self.type_of(source)} to {self.type_of(name)}")

    def concat(self, name: str, axis: int, sources: str) -> Program:
        shapes = [self.shapes[source] for source in sources.split()]
        shape = list(shapes[0])
        shape[axis] = sum(entry[axis] for entry in shapes)
        self.shapes[name] = tuple(shape)
        values = ", ".join("%" + source for source in sources.split())
        types = ", ".join(self.type_of(source) for source in sources.split())
        return self.raw(name, shape, f"tensor.concat dim({axis}) {values} : ({types}) -> {self.type_of(name)}")

    def expand(self, name: str, source: str, groups: str, shape: Sequence[int]) -> Program:
        self.shapes[name] = tuple(shape)
        types = f"{self.type_of(source)} into {self.type_of(name)}"
        return self.raw(name, shape, f"tensor.expand_shape %{source} {groups} output_shape {list(shape)} : {types}")

    def collapse(self, name: str, source: str, groups: str, shape: Sequence[int]) -> Program:
        self.shapes[name] = tuple(shape)
        types = f"{self.type_of(source)} into {self.type_of(name)}"
        return self.raw(name, shape, f"tensor.collapse_shape %{source} {groups} : {types}")

    def type_of(self, name: str) -> str:
        return f"tensor<{''.join(f'{extent}x' for extent in self.shapes[name])}f32>"

    def returning(self, results: str) -> str:
        """The function."""
        marks = {name: " {stc.parameter}" if name in self.parameters else "" for name in self.arguments}
        arguments = ", ".join(f"%{name}: {self.type_of(name)}{marks[name]}" for name in self.arguments)
        names = results.split()
        types = ", ".join(self.type_of(name) for name in names)
        values = ", ".join("%" + name for name in names)
        body = "\n".join(self.lines)
        return f"func.func @main({arguments}) -> ({types}) {{\n{body}\nfunc.return {values} : {types}\n}}\n"
