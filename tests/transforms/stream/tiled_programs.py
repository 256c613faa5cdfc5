"""Programs that between them contain what the passes from tiling to directives must keep apart: text, and pipeline options."""

from __future__ import annotations

import random
from itertools import permutations
from math import prod
from typing import Any

from notation import ADD_UP, LARGEST, MULTIPLY_ADD, NEGATE, SUBTRACT, Program

ADD = ("addf %a0, %a1",)
ADD_INDICES = (
    "linalg.index 0 : index",
    "linalg.index 1 : index",
    "arith.muli %t0, %t1 : index",
    "arith.index_cast %t2 : index to i32",
    "arith.sitofp %t3 : i32 to f32",
    "addf %a0, %t4",
)
INNER, OUTER = "order = [0, 1]", "order = [1, 0]"
TILES = ("[8, 8, 4]", "[4, 16, 4]", "[4, 8, 12]", "[8, 16, 4]", "[8, 16, 12]", "[1, 1, 1]", "[2, 16, 3]")


def matmul(tile: str, order: object) -> Program:
    program = Program({"x": (8, 12), "w": (12, 16)})
    return program.op("fc", "ik kj -> ij", "x w", MULTIPLY_ADD, initial="0.0", schedule=f"tile = {tile}, order = {order}")


def _softmax(tile: str) -> str:
    return (
        Program({"x": (6, 10)})
        .op("m", "ij -> i", "x", LARGEST, initial="0xFF800000", schedule=f"tile = {tile}, {INNER}")
        .op("d", "ij i -> ij", "x m", SUBTRACT, schedule=f"tile = [3, 2], {INNER}")
        .op("s", "ij -> i", "d", ADD_UP, initial="0.0", schedule=f"tile = {tile}, {OUTER}")
        .op("q", "ij i -> ij", "d s", ("divf %a0, %a1",))
        .returning("q")
    )


def _x(*shape: int) -> Program:
    return Program({"x": shape})


def _negated(*shape: int, schedule: str | None = None) -> Program:
    letters = "ijkl"[: len(shape)]
    return _x(*shape).op("n", f"{letters} -> {letters}", "x", NEGATE, schedule=schedule)


PROGRAMS: dict[str, str] = {
    **{f"order_{order}": matmul("[4, 8, 4]", list(order)).returning("fc") for order in permutations(range(3))},
    **{
        f"tile_{tile}": matmul(tile, "[2, 0, 1]")
        .op("act", "ij -> ij", "fc", NEGATE, schedule=f"tile = [2, 4], {OUTER}")
        .returning("fc act")
        for tile in TILES
    },
    "initial_value": _x(8, 12).op("s", "ik -> i", "x", ADD_UP, initial="1.5", schedule=f"tile = [2, 3], {OUTER}").returning("s"),
    "rank_zero": _x(6, 10)
    .op("s", "ij -> ", "x", ADD_UP, initial="0.0", schedule=f"tile = [2, 5], {OUTER}")
    .op("d", "ij . -> ij", "x s", SUBTRACT, schedule=f"tile = [2, 5], {INNER}")
    .returning("d s"),
    "scalars": Program({"s": (), "r": ()}).op("d", ". . -> ", "s r", SUBTRACT).returning("d"),
    "broadcasts": Program({"x": (8,), "b": (6,)})
    .op("y", "i j -> ij", "x b", SUBTRACT, schedule=f"tile = [2, 3], {OUTER}")
    .returning("y"),
    "two_maps": _negated(6, 6).op("y", "ij ji -> ij", "n n", SUBTRACT, schedule=f"tile = [2, 3], {INNER}").returning("y"),
    "transposed_result": _x(6, 10).op("n", "ij -> ji", "x", NEGATE, schedule=f"tile = [5, 2], {OUTER}").returning("n"),
    "primes": Program({"x": (7, 13), "w": (13, 11)}).op("y", "ik kj -> ij", "x w", MULTIPLY_ADD, initial="0.0").returning("y"),
    "ones": Program({"x": (1, 13), "w": (13, 1)}).op("y", "ik kj -> ij", "x w", MULTIPLY_ADD, initial="0.0").returning("y"),
    "one": _negated(1).returning("n"),
    "padded_words_reused": Program({"x": (6, 7), "w": (7, 7)})
    .op("y", "ik kj -> ij", "x w", MULTIPLY_ADD, initial="0.0", schedule="tile = [2, 7, 7], order = [0, 1, 2]")
    .returning("y"),
    "several_tokens_per_word": _negated(24, 2, schedule=f"tile = [12, 2], {INNER}").returning("n"),
    "result_and_intermediate": _negated(6, 8, schedule=f"tile = [3, 2], {OUTER}")
    .op("z", "ij -> ij", "n", NEGATE)
    .returning("n z n x"),
    "readers_in_different_orders": _negated(6, 8, schedule=f"tile = [3, 2], {OUTER}")
    .op("z", "ij -> ij", "x", NEGATE, schedule=f"tile = [2, 4], {INNER}")
    .op("s", "ij ij -> ij", "n z", ADD)
    .returning("s"),
    "readers_with_reuse": Program({"x": (6, 8), "w": (8, 8)})
    .op("y", "ik kj -> ij", "x w", MULTIPLY_ADD, initial="0.0", schedule="tile = [3, 2, 4], order = [0, 1, 2]")
    .op("z", "ij ij -> ij", "x y", ADD)
    .op("r", "ik kj -> ij", "z w", MULTIPLY_ADD, initial="0.0", schedule="tile = [2, 8, 2], order = [2, 0, 1]")
    .returning("r"),
    "indices": _x(6, 8).op("y", "ij -> ij", "x", ADD_INDICES, schedule=f"tile = [3, 2], {OUTER}").returning("y"),
    "slices": _negated(6, 12).slice("a", "n", [1, 0], [3, 4]).slice("b", "n", [0, 4], [6, 8]).returning("a b n"),
    "slices_that_overlap": _negated(6, 12)
    .slice("a", "n", [0, 0], [6, 8])
    .slice("b", "n", [0, 4], [6, 8])
    .op("y", "ij ij -> ij", "a b", SUBTRACT)
    .returning("y"),
    "concat": Program({"x": (2, 3, 4), "u": (2, 5, 4), "v": (2, 1, 4)})
    .op("n", "ijk -> ijk", "x", NEGATE)
    .concat("c", 1, "n u v")
    .op("y", "ijk -> ijk", "c", NEGATE)
    .returning("y"),
    "concat_of_one_value": _negated(4, 6).concat("c", 0, "n n").returning("c"),
    "reshape_that_reorders": _negated(4, 6)
    .collapse("c", "n", "[[0, 1]]", (24,))
    .expand("e", "c", "[[0, 1]]", (3, 8))
    .op("y", "ij -> ij", "e", NEGATE)
    .returning("y c"),
    "reshape_to_rank_zero": Program({"x": (1, 1), "v": (4,)})
    .op("n", "ij -> ij", "x", NEGATE)
    .collapse("c", "n", "[]", ())
    .op("y", "i . -> i", "v c", SUBTRACT)
    .returning("y"),
    "work_on_parameters": Program({"x": (4, 6), "w": (6,), "g": (6,)}, parameters=("w", "g"))
    .op("p", "i i -> i", "w g", SUBTRACT)
    .op("y", "ij j -> ij", "x p", SUBTRACT)
    .returning("y"),
    "softmax": _softmax("[2, 5]"),
    "many_loops": Program({"x": (2, 3, 4, 5), "y": (2, 3, 5, 6)})
    .op("z", "bhik bhkj -> bhij", "x y", MULTIPLY_ADD, initial="0.0", schedule="tile = [1, 3, 2, 3, 5], order = [4, 0, 1, 2, 3]")
    .op("o", "bhij -> bihj", "z", NEGATE)
    .returning("o"),
    "two_reductions": Program({"x": (4, 2, 6), "w": (2, 6, 8)})
    .op("z", "ihk hkj -> ij", "x w", MULTIPLY_ADD, initial="0.0", schedule="tile = [2, 4, 1, 3], order = [2, 0, 3, 1]")
    .returning("z"),
    "same_names": _negated(4, 6).op("y", "ij -> ij", "n", NEGATE).returning("y").replace('"y"', '"n"'),
}


# Random programs ------------------------------------------------------------------------------------------------------


def divisors(extent: int) -> list[int]:
    return [divisor for divisor in range(1, extent + 1) if extent % divisor == 0]


class RandomProgram:
    """A few random ops on two random tensors, each result and argument read by whoever fits."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        extents = [self.random.choice([1, 2, 3, 4, 5, 6, 8, 12]) for _ in range(3)]
        shapes = {f"x{k}": tuple(self.random.choices(extents, k=self.random.choice([1, 2, 2, 3]))) for k in range(2)}
        self.program = Program(dict(shapes))
        self.values = list(shapes)
        self.used: set[str] = set()
        for index in range(self.random.choice([2, 3, 4, 5])):
            self._op(f"v{index}")
        if len(self.values) == len(shapes):
            self._elementwise("v", "x0")
            self.values.append("v")

    def text(self) -> str:
        results = [value for value in self.values if value not in self.used and value.startswith("v")]
        more = [value for value in self.used if value.startswith("v")]
        return self.program.returning(" ".join([*results, *sorted(more)[: self.random.choice([0, 0, 1])]]))

    def options(self) -> dict[str, Any]:
        return {"tile": self.random.choice([1, 2, 3, 4, 16]), "lanes": self.random.choice([1, 2, 4, 8, 16])}

    def _schedule(self, extents: list[int]) -> str | None:
        if self.random.random() < 0.3:
            return None
        order = list(range(len(extents)))
        self.random.shuffle(order)
        return f"tile = {[self.random.choice(divisors(extent)) for extent in extents]}, order = {order}"

    def _op(self, name: str) -> None:
        source = self.random.choice(self.values[-3:])
        kinds = [
            self._elementwise,
            self._binary,
            self._binary,
            self._reduce,
            self._contract,
            self._slice,
            self._concat,
            self._reshape,
        ]
        if self.program.shapes[source] and self.random.choice(kinds)(name, source):
            self.values.append(name)
            self.used.add(source)

    def _letters(self, source: str) -> str:
        return "ijklmn"[: len(self.program.shapes[source])]

    def _extents(self, source: str, letters: str) -> list[int]:
        return [self.program.shapes[source]["ijklmn".index(letter)] for letter in letters]

    def _elementwise(self, name: str, source: str) -> bool:
        left = self._letters(source)
        right = "".join(self.random.sample(left, len(left)))
        self.program.op(name, f"{left} -> {right}", source, NEGATE, schedule=self._schedule(self._extents(source, right)))
        return True

    def _binary(self, name: str, source: str) -> bool:
        """The second operand is any value whose dimensions find loops of the same extent."""
        other, left = self.random.choice(self.values), self._letters(source)
        free, found = list(left), ""
        for extent in self.program.shapes[other]:
            fitting = [letter for letter in free if self._extents(source, letter) == [extent]]
            if not fitting:
                return False
            found += self.random.choice(fitting)
            free.remove(found[-1])
        schedule = self._schedule(self._extents(source, left))
        self.program.op(name, f"{left} {found or '.'} -> {left}", f"{source} {other}", SUBTRACT, schedule=schedule)
        self.used.add(other)
        return True

    def _reduce(self, name: str, source: str) -> bool:
        left = self._letters(source)
        right = "".join(self.random.sample(left, self.random.randrange(len(left))))
        gone = "".join(letter for letter in left if letter not in right)
        body, initial = self.random.choice([(ADD_UP, "0.0"), (LARGEST, "0xFF800000"), (ADD_UP, "1.5")])
        schedule = self._schedule(self._extents(source, right + gone))
        self.program.op(name, f"{left} -> {right}", source, body, initial=initial, schedule=schedule)
        return True

    def _contract(self, name: str, source: str) -> bool:
        shape = self.program.shapes[source]
        fitting = [v for v in self.values if len(self.program.shapes[v]) == 2 and shape[-1] in self.program.shapes[v]]
        if len(shape) != 2 or not fitting:
            return False
        other = self.random.choice(fitting)
        rows, columns = self.program.shapes[other]
        operand, width = ("kj", columns) if rows == shape[1] else ("jk", rows)
        schedule = self._schedule([shape[0], width, shape[1]])
        self.program.op(name, f"ik {operand} -> ij", f"{source} {other}", MULTIPLY_ADD, initial="0.0", schedule=schedule)
        self.used.add(other)
        return True

    def _slice(self, name: str, source: str) -> bool:
        shape = self.program.shapes[source]
        offsets = [self.random.randrange(extent) for extent in shape]
        sizes = [self.random.randint(1, extent - offset) for extent, offset in zip(shape, offsets, strict=True)]
        self.program.slice(name, source, offsets, sizes)
        return True

    def _concat(self, name: str, source: str) -> bool:
        axis = self.random.randrange(len(self.program.shapes[source]))
        self.program.concat(name, axis, f"{source} {source}")
        return True

    def _reshape(self, name: str, source: str) -> bool:
        shape = self.program.shapes[source]
        if len(shape) < 2:
            return False
        size = prod(shape)
        rows = self.random.choice(divisors(size))
        self.program.collapse(f"{name}c", source, f"[[{', '.join(map(str, range(len(shape))))}]]", (size,))
        self.program.expand(name, f"{name}c", "[[0, 1]]", (rows, size // rows))
        return True
