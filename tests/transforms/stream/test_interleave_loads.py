"""`interleave-loads`: copies that take a word of a parameter now and then get it through one port, at every level behind it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from stc.design_space.parallelism import MemoryOperand, Parallelism, Serving
from stc.dialects.context import make_context
from stc.dialects.dataflow import TaskOp
from stc.dialects.itensor import ItensorType, MergeOp
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.pipeline import part, run_stages, stages, steps
from stc.tools.plan import as_stages
from stc_testing.small import small_options

MAPS = """
#x = affine_map<(d0, d1) -> (d1)>
#w = affine_map<(d0, d1) -> (d1, d0)>
#y = affine_map<(d0, d1) -> (d0)>
#s = affine_map<(d0) -> (d0)>
"""


def product_and_scale(number: int, given: str, w: str, s: str, rows: int, columns: int) -> str:
    """%r{number} = s * (given w)."""
    x, y = f"tensor<{columns}xf32>", f"tensor<{rows}xf32>"
    return f"""
  %e{number} = tensor.empty() : {y}
  %f{number} = linalg.fill ins(%zero : f32) outs(%e{number} : {y}) -> {y}
  %p{number} = linalg.generic {{indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]}}
      ins(%{given}, %{w} : {x}, tensor<{columns}x{rows}xf32>) outs(%f{number} : {y}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %m, %o : f32
    linalg.yield %n : f32
  }} -> {y}
  %r{number} = linalg.generic {{indexing_maps = [#s, #s, #s], iterator_types = ["parallel"]}}
      ins(%p{number}, %{s} : {y}, {y}) outs(%e{number} : {y}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  }} -> {y}"""


def arguments(**shapes: str) -> str:
    said = {name: "" if name == "x" else ", stc.parameter" for name in shapes}
    return ", ".join(f'%{name}: tensor<{shape}xf32> {{stc.name = "{name}"{said[name]}}}' for name, shape in shapes.items())


def scaled_product(rows: int, columns: int) -> str:
    """s * (x w), whose s and w are parameters."""
    return f"""{MAPS}
func.func @main({arguments(x=f"{columns}", w=f"{columns}x{rows}", s=f"{rows}")}) -> (tensor<{rows}xf32> {{stc.name = "y"}}) {{
  %zero = arith.constant 0.0 : f32{product_and_scale(0, "x", "w", "s", rows, columns)}
  return %r0 : tensor<{rows}xf32>
}}"""


def layer_and_head(size: int, wide: int, ends: bool) -> str:
    """s * (x w), with which a layer `ends`, and behind it t * (. v)."""
    x, z, mark = f"tensor<{size}xf32>", f"tensor<{wide}xf32>", "stc.ends_layers, " if ends else ""
    given = arguments(x=f"{size}", w=f"{size}x{size}", s=f"{size}", v=f"{size}x{wide}", t=f"{wide}")
    return f"""{MAPS}
func.func @main({given})
    -> ({x} {{stc.name = "y"}}, {z} {{stc.name = "z"}}) {{
  %zero = arith.constant 0.0 : f32{product_and_scale(0, "x", "w", "s", size, size)}
  %h = linalg.generic {{indexing_maps = [#s, #s], iterator_types = ["parallel"]}}
      ins(%r0 : {x}) outs(%e0 : {x}) attrs = {{{mark}stc.name = "end"}} {{
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }} -> {x}{product_and_scale(1, "h", "v", "t", wide, size)}
  return %h, %r1 : {x}, {z}
}}"""


def compiled(
    text: str, copies: int, folder: Path, until: str, weight_ports: str = "in-turn", lanes: int = 2, layers: int = 1
) -> ModuleOp:
    number = [""] if "%r1" not in text else ["0", "1"]
    names = [f"{name}{each}" for each in number for name in ("matmul", "mul")]
    ends = ["copy = { lanes = 1, copies = 1 }"] if "stc.ends_layers" in text else []
    file = folder / "schedule.toml"
    said = [f"{name} = {{ lanes = {lanes}, copies = {copies} }}" for name in names]
    file.write_text("\n".join(["[stc.parallelism]", *said, *ends]))
    module = parse_module(text)
    units = "memory" if layers > 1 else "one"
    options = small_options(weight_ports=weight_ports, schedule=str(file), budget="plan", layers=layers, units=units)
    run_stages(module, make_context(), as_stages(part(steps(stages(options)), last=until)))
    return module


def loads(module: ModuleOp) -> Counter[str]:
    """How many tasks read each operand from memory, by its name."""
    tasks = [task for task in module.walk() if isinstance(task, TaskOp) and task.kind == "load"]
    return Counter((task.ins[0].name_hint or "").split("_")[0] for task in tasks)


SIZES = [(16, 40, 2, 2), (36, 24, 3, 2), (40, 9, 5, 2), (18, 13, 2, 3), (18, 13, 2, 1), (8, 32, 4, 2)]


def draws(rows: int, columns: int) -> list[np.ndarray]:
    draw = np.random.default_rng([rows, columns])
    return [draw.normal(size=size).astype(np.float32) for size in (columns, (columns, rows), rows)]


@pytest.mark.parametrize(("rows", "columns", "copies", "lanes"), SIZES)
def test_values_stay_at_every_level(rows: int, columns: int, copies: int, lanes: int, tmp_path: Path):
    text, given = scaled_product(rows, columns), draws(rows, columns)
    (expected,) = execute(parse_module(text), given)
    for until in ("interleave-loads", "hls-directives", "size-fifos"):
        module = compiled(text, copies, tmp_path, until, lanes=lanes)
        (found,) = execute(module, given, depths=until == "size-fifos")
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
        assert loads(module)["s"] == 1
    assert np.abs(expected).max() > 0


def test_one_port_brings_the_scales_of_all_copies(tmp_path: Path):
    """Of each row a scale and 40 weights: a port has time for the scales of all."""
    text = scaled_product(32, 40)
    assert loads(compiled(text, 2, tmp_path, "interleave-loads")) == {"x": 1, "w": 2, "s": 1}
    assert loads(compiled(text, 2, tmp_path, "lower-tasks", "apart")) == {"x": 1, "w": 2, "s": 2}


def test_weights_keep_their_ports_where_a_scale_is_folded_into_their_product(tmp_path: Path):
    """What is said of a slice, or of a result, is said of no other operand of the task."""
    text = layer_and_head(32, 32, ends=False).replace("return %h,", "return %r0,").replace("ins(%h,", "ins(%r0,")
    found = loads(compiled(text, 4, tmp_path, "interleave-loads"))
    assert (found["w"], found["v"]) == (4, 4)


@pytest.mark.parametrize(("size", "wide", "copies", "lanes"), [(16, 48, 2, 2), (24, 24, 2, 3), (12, 60, 4, 1)])
def test_scales_of_layers_and_of_what_follows_come_in_turn(size: int, wide: int, copies: int, lanes: int, tmp_path: Path):
    """One port deals out those of layers, and then those of what follows the last."""
    draw = np.random.default_rng([size, wide])
    x, w, s, v, t = (
        draw.normal(size=each).astype(np.float32) for each in (size, (3, size, size), (3, size), (size, wide), wide)
    )
    text = layer_and_head(size, wide, ends=True)
    y = z = x
    for number in range(3):
        y, z = execute(parse_module(text), [y, w[number], s[number], v, t])
    for until in ("repeat-layers", "size-fifos"):
        module = compiled(text, copies, tmp_path, until, lanes=lanes, layers=3)
        found = execute(module, [x, w, s, v, t], depths=until == "size-fifos")
        for one, other in zip(found, (y, z), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4 * np.abs(other).max())


def test_one_port_stores_what_all_copies_make(tmp_path: Path):
    def stores(weight_ports: str) -> int:
        module = compiled(scaled_product(32, 40), 4, tmp_path, "lower-tasks", weight_ports)
        return sum(isinstance(task, TaskOp) and task.kind == "store" for task in module.walk())

    assert (stores("in-turn"), stores("apart")) == (1, 4)


WIDE = [(64, 2, 2, 16), (32, 4, 2, 8), (36, 3, 1, 12), (14, 2, 1, 7), (9, 3, 1, 3)]


@pytest.mark.parametrize(("rows", "copies", "lanes", "wide"), WIDE)
def test_tokens_that_leave_by_one_port_are_as_wide_as_that(rows: int, copies: int, lanes: int, wide: int, tmp_path: Path):
    """A merge passes one token a cycle, of any width: each copy puts together those of its lanes."""
    module = compiled(scaled_product(rows, 40), copies, tmp_path, "vectorize-streams", lanes=lanes)
    (merge,) = (op for op in module.walk() if isinstance(op, MergeOp))
    assert isinstance(merge.result.type, ItensorType)
    assert merge.result.type.order.element == (wide,)
    (expected,) = execute(parse_module(scaled_product(rows, 40)), given := draws(rows, 40))
    for until in ("vectorize-streams", "hls-directives"):
        (found,) = execute(compiled(scaled_product(rows, 40), copies, tmp_path, until, lanes=lanes), given)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


PARTS = [("1/40", 8, 1), ("1/8", 8, 1), ("1/8", 9, 2), ("1/2", 16, 8), ("1", 4, 4), ("2/3", 4, 4), ("3/8", 5, 3)]


@pytest.mark.parametrize(("part", "copies", "ports"), PARTS)
def test_ports_of_parts(part: str, copies: int, ports: int):
    assert MemoryOperand("s", True, None, part=Fraction(part)).ports(Parallelism(2, copies)) == ports


SERVED = [(4, 1, 64, 4), (4, 2, 64, 8), (3, 3, 64, 8), (8, 4, 64, 16), (8, 4, 32, 32), (1, 38, 64, 19)]


@pytest.mark.parametrize(("copies", "parts", "lanes", "ports"), SERVED)
def test_ports_that_serve_two_tasks_each(copies: int, parts: int, lanes: int, ports: int):
    """Where more than eight tasks take weights, a whole word in each cycle; some have a port for themselves if these are enough."""
    weights = MemoryOperand("w", True, 64, is_dealt=True, serving=Serving(2, 8))
    assert weights.ports(Parallelism(lanes, copies, parts=parts)) == ports
    assert replace(weights, serving=Serving(1, 8)).ports(Parallelism(lanes, copies, parts=parts)) == copies * parts


def test_tokens_wider_than_a_port_have_ports_of_their_own():
    assert MemoryOperand("s", True, 16, part=Fraction("1/8")).ports(Parallelism(32, 4)) == 8
