"""Hand-written kernels whose trip counts are known at run time, with what they compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from stc.codegen.project import emit_project
from stc.dialects.context import make_context
from stc.frontend.exported import ExportedModel, Reference
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import Symbol, product_of, read_size, symbols_in
from stc.pipeline import Step, part, stages, steps
from stc.transforms.finding_pass import run_pass
from stc_testing.small import small_options

EXAMPLE = (Path(__file__).parents[2] / "examples" / "run_time_sizes.mlir").read_text()
LANES = "stc.schedule = #dataflow.schedule<tile = [1, 16], order = [0, 1], unroll = [1, 16], vector = []>"


def parsed(text: str) -> ModuleOp:
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


def lowering(first: str = "flatten-tasks", last: str = "", **options: Any) -> list[Step]:
    return part(steps(stages(small_options(**options))), first, last)


@dataclass(frozen=True)
class Doubling:
    """One task that doubles the tokens of `order`, read and written with these trips and steps.

    `trips` and `steps` of its loops, `dims` what each moves (None: temporal reuse), of a tensor of rows of 16.
    """

    name: str
    trips: tuple[str, ...]
    steps: tuple[int, ...]
    dims: tuple[int | None, ...]
    rank: int = 2

    @property
    def order_text(self) -> str:
        names = [f"d{loop}" for loop in range(len(self.trips))]
        results = [" + ".join(n for n, dim in zip(names, self.dims, strict=True) if dim == d) or "0" for d in range(self.rank)]
        space = f"[{', '.join(self.trips)}] * [{', '.join(map(str, self.steps))}]"
        return f"{'1x' * (self.rank - 1)}16xf32, iter_space: {space}, iter_map: ({', '.join(names)}) -> ({', '.join(results)})"

    @property
    def order(self) -> StreamOrder:
        loops = tuple(Loop(read_size(trip), step) for trip, step in zip(self.trips, self.steps, strict=True))
        moved = [tuple(loop for loop, dim in enumerate(self.dims) if dim == d) for d in range(self.rank)]
        return StreamOrder((*(1,) * (self.rank - 1), 16), loops, tuple(map(Coordinate, moved)))

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        return symbols_in(self.order.sizes)

    @property
    def text(self) -> str:
        order, symbols = self.order, self.symbols
        tensor = f"tensor<{'x'.join(map(str, order.largest.static_shape))}xf32>"
        scalars = "".join(f", %{s.name}_0: i32 {{stc.name = \"{s.name}\"}}" for s in symbols)
        bound = "".join(f", %{s.name} = %{s.name}_0 : i32 as !itensor.symbol<{s}>" for s in symbols)
        ins = "".join(f", %{s.name}_1 = %{s.name} : !itensor.symbol<{s}>" for s in symbols)
        bounds = [product_of(loop.trip, loop.step) for loop in order.loops]
        lines = [f"%s{k} = arith.constant {loop.step} : index" for k, loop in enumerate(order.loops)]
        for k, size in enumerate(bounds):
            of = ", ".join(f"%{s.name}_1" for s in symbols_in([size]))
            lines.append(f"%n{k} = " + (f"itensor.size {size} of {of}" if of else f"arith.constant {size} : index"))
        token = f"tensor<{'1x' * (self.rank - 1)}16xf32>"
        places = ", ".join(f"%d{k}" for k in range(len(bounds)))
        dims = ", ".join(f"d{d}" for d in range(self.rank))
        kinds = ", ".join(['"parallel"'] * self.rank)
        last = len(bounds)
        lanes = LANES if self.rank == 2 else LANES.replace("[1, 16]", "[1, 1, 16]").replace("[0, 1]", "[0, 1, 2]")
        body = [
            f"%t = itensor.read %in[{places}] : !X -> {token}",
            f"%e1 = tensor.empty() : {token}",
            f"%u = linalg.generic {{indexing_maps = [#m, #m], iterator_types = [{kinds}]}} ins(%t : {token}) outs(%e1 : {token}) "
            f"attrs = {{stc.name = \"twice\", {lanes}}} {{",
            "^bb0(%v: f32, %w: f32):  %z = arith.addf %v, %v : f32  linalg.yield %z : f32",
            f"}} -> {token}",
            f"%q{last} = itensor.write %u into %o{last}[{places}] : {token} -> !X",
        ]
        for k in reversed(range(last)):
            head = f"%q{k} = scf.for %d{k} = %c0 to %n{k} step %s{k} iter_args(%o{k + 1} = %o{k}) -> (!X) {{"
            body = [head, *body, f"scf.yield %q{k + 1} : !X", "}"]
        inside = "\n".join([*lines, *body])
        return f"""#m = affine_map<({dims}) -> ({dims})>
!X = !itensor.itensor<{self.order_text}>
func.func @main(%x: {tensor} {{stc.name = "x"}}{scalars}) -> ({tensor} {{stc.name = "y"}}) {{
  %y = dataflow.kernel @{self.name}(%a = %x : {tensor} as !X{bound}) -> ({tensor} as !X) {{
    %e = itensor.empty : !X
    %r = dataflow.task @twice ins(%in = %a : !X{ins}) outs(%o0 = %e : !X) -> !X {{
      %c0 = arith.constant 0 : index
      {inside}
      dataflow.yield %q0 : !X
    }}
    dataflow.yield %r : !X
  }}
  func.return %y : {tensor}
}}
"""

    def arrays(self, values: Mapping[str, int]) -> tuple[list[np.ndarray], np.ndarray]:
        """Inputs, with NaN wherever no token is at these values of the symbols, and the result, NaN there as well."""
        shape, order = self.order.largest.static_shape, self.order.at(values)
        x = np.full(shape, np.nan, np.float32)
        for token in order.enumerate():
            place = tuple(slice(start, start + extent) for start, extent in zip(token, order.element, strict=True))
            x[place] = np.random.default_rng(int(token.sum())).normal(size=order.element).astype(np.float32)
        scalars = [np.asarray(values[symbol.name], np.int32) for symbol in self.symbols]
        return [x, *scalars], 2 * x


DOUBLINGS = (
    Doubling("rows", ("sum(pos<=6, 1)",), (1,), (0,)),
    Doubling("columns_inside", ("pos<=5", "3"), (1, 16), (0, 1)),
    Doubling("rows_inside", ("3", "pos<=5"), (16, 1), (1, 0)),
    Doubling("between", ("2", "pos<=5", "3"), (48, 1, 16), (1, 0, 1)),
    Doubling("again", ("2", "pos<=5", "3"), (1, 1, 16), (None, 0, 1)),
    Doubling("so_often", ("rows<=4", "7"), (1, 1), (None, 0)),
    Doubling("window", ("min(sum(pos<=9, 1), 4)", "2"), (1, 16), (0, 1)),
    Doubling("pairs", ("ceildiv(pos<=7, 2)", "2"), (2, 1), (0, 0)),
    Doubling("two", ("rows<=3", "pos<=4", "1"), (1, 1, 1), (0, 1, None), 3),
)


def lowered(text: str) -> ModuleOp:
    """What is emitted of a module."""
    module = parsed(text)
    for step in lowering():
        run_pass(step.one_pass, make_context(), module)
    return module


def reference(name: str, inputs: Mapping[str, np.ndarray], golden: Mapping[str, np.ndarray]) -> Reference:
    """A draw whose outputs are unspecified where they are NaN."""
    return Reference(name, inputs, golden, unspecified={key: np.isnan(array) for key, array in golden.items()})


def project(module: ModuleOp, name: str, draws: Sequence[Reference], folder: Path) -> Path:
    """The emitted project of a lowered module, in a folder of its name."""
    model = ExportedModel(name, module, draws[0].inputs, {}, draws[0].golden, draws=tuple(draws))
    emit_project(module, model, folder / name, {"platform": "u55c"}, {})
    return folder / name


def example_draw(pos: int) -> Reference:
    """Of `examples/run_time_sizes.mlir`, with NaN in the rows that are not there."""
    rows = np.random.default_rng(pos).normal(size=(13, 16)).astype(np.float32)
    rows[pos:] = np.nan
    total = rows[:pos].sum(0, keepdims=True, dtype=np.float32)
    return reference(f"pos_{pos}", {"x": rows, "pos": np.asarray(pos, np.int32)}, {"y": rows + total, "sum": total})
