"""Random programs in which the rewrites on itensors have something to do: element-wise rows between reductions and contractions."""

from __future__ import annotations

from notation import ADD_UP, MULTIPLY_ADD, NEGATE, SUBTRACT, Program
from tiled_programs import RandomProgram


class RowProgram(RandomProgram):
    """Matrices of few extents, so that operands fit; mostly element-wise; tiles and orders that now agree and now do not."""

    def __init__(self, seed: int):
        super().__init__(seed)
        extents = self.random.choice([(6, 8), (4, 12), (5, 6), (7, 3), (8, 1), (12, 16)])
        shapes = {"x0": extents, "x1": extents[::-1], "x2": extents, "b": extents[1:]}
        self.program = Program(dict(shapes))
        self.values = list(shapes)
        self.used = set()
        tiles = [self.random.choice(self._divisors(extent)) for extent in (*extents, *extents)]
        self.styles = [tiles[:2], tiles[2:], None]
        for index in range(self.random.randint(3, 7)):
            self._next(f"v{index}")

    def _next(self, name: str) -> None:
        matrices = [value for value in self.values if len(self.program.shapes[value]) == 2]
        source = self.random.choice(matrices[-4:])
        kinds = [self._row, self._row, self._row, self._pair, self._pair, self._broadcast, self._sum, self._product]
        if self.random.choice(kinds)(name, source):
            self.values.append(name)
            self.used.add(source)

    @staticmethod
    def _divisors(extent: int) -> list[int]:
        return [divisor for divisor in range(1, extent + 1) if extent % divisor == 0]

    def _style(self, extents: list[int]) -> str | None:
        """One of two tilings of the program, as far as its tiles divide, or none."""
        tile = self.random.choice(self.styles)
        if tile is None or len(extents) != 2 or any(extent % part for extent, part in zip(extents, tile, strict=True)):
            return None
        return f"tile = {tile}, order = {self.random.choice([[0, 1], [0, 1], [1, 0]])}"

    def _row(self, name: str, source: str) -> bool:
        right = self.random.choice(["ij", "ij", "ij", "ji"])
        self.program.op(name, f"ij -> {right}", source, NEGATE, schedule=self._style(self._extents(source, right)))
        return True

    def _pair(self, name: str, source: str) -> bool:
        shape = self.program.shapes[source]
        straight = [(value, "ij") for value in self.values if self.program.shapes[value] == shape]
        turned = [(value, "ji") for value in self.values if self.program.shapes[value] == shape[::-1]]
        other, letters = self.random.choice([*straight, *turned])
        self.program.op(name, f"ij {letters} -> ij", f"{source} {other}", SUBTRACT, schedule=self._style(list(shape)))
        self.used.add(other)
        return True

    def _broadcast(self, name: str, source: str) -> bool:
        shape = self.program.shapes[source]
        shapes = self.program.shapes
        vectors = [value for value in self.values if len(shapes[value]) == 1 and shapes[value][0] in shape]
        if not vectors:
            return False
        vector = self.random.choice(vectors)
        letter = "ij"[shape.index(shapes[vector][0])]
        self.program.op(name, f"ij {letter} -> ij", f"{source} {vector}", SUBTRACT, schedule=self._style(list(shape)))
        self.used.add(vector)
        return True

    def _sum(self, name: str, source: str) -> bool:
        self.program.op(name, self.random.choice(["ij -> i", "ij -> j"]), source, ADD_UP, initial="0.0")
        return True

    def _product(self, name: str, source: str) -> bool:
        shape = self.program.shapes[source]
        fitting = [v for v in self.values if len(self.program.shapes[v]) == 2 and self.program.shapes[v][0] == shape[1]]
        if not fitting:
            return False
        other = self.random.choice(fitting)
        self.program.op(name, "ik kj -> ij", f"{source} {other}", MULTIPLY_ADD, initial="0.0")
        self.used.add(other)
        return True
