"""`interleave-loads`: copies that take a word of a parameter now and then get it through one port, at every level behind it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from stc.design_space.parallelism import MemoryOperand, Parallelism
from stc.dialects.context import make_context
from stc.dialects.dataflow import TaskOp
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.pipeline import PipelineOptions, part, run_stages, stages, steps
from stc.tools.plan import as_stages
from stc_testing.small import small_options


def scaled_product(rows: int, columns: int) -> str:
    """s * (x w), whose s and w are parameters."""
    x, w, s = f"tensor<{columns}xf32>", f"tensor<{columns}x{rows}xf32>", f"tensor<{rows}xf32>"
    return f"""
#x = affine_map<(d0, d1) -> (d1)>
#w = affine_map<(d0, d1) -> (d1, d0)>
#y = affine_map<(d0, d1) -> (d0)>
#s = affine_map<(d0) -> (d0)>
func.func @main(%x: {x} {{stc.name = "x"}}, %w: {w} {{stc.name = "w", stc.parameter}}, %s: {s} {{stc.name = "s", stc.parameter}})
    -> ({s} {{stc.name = "y"}}) {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {s}
  %f = linalg.fill ins(%zero : f32) outs(%e : {s}) -> {s}
  %p = linalg.generic {{indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]}}
      ins(%x, %w : {x}, {w}) outs(%f : {s}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %m, %o : f32
    linalg.yield %n : f32
  }} -> {s}
  %r = linalg.generic {{indexing_maps = [#s, #s, #s], iterator_types = ["parallel"]}}
      ins(%p, %s : {s}, {s}) outs(%e : {s}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  }} -> {s}
  return %r : {s}
}}"""


def compiled(text: str, copies: int, folder: Path, until: str, weight_ports: str = "in-turn", lanes: int = 2) -> ModuleOp:
    file = folder / "schedule.toml"
    file.write_text("".join(f"{line}\n" for line in (
        "[stc.parallelism]", *(f"{name} = {{ lanes = {lanes}, copies = {copies} }}" for name in ("matmul", "mul")),
    )))
    module = parse_module(text)
    options: PipelineOptions = small_options(weight_ports=weight_ports, schedule=str(file), budget="plan")
    run_stages(module, make_context(), as_stages(part(steps(stages(options)), last=until)))
    return module


def loads(module: ModuleOp) -> Counter[str]:
    """How many tasks read each operand from memory, by its name."""
    tasks = [task for task in module.walk() if isinstance(task, TaskOp) and task.kind == "load"]
    return Counter((task.ins[0].name_hint or "").split("_")[0] for task in tasks)


SIZES = [(16, 40, 2, 2), (36, 24, 3, 2), (40, 9, 5, 2), (18, 13, 2, 3), (18, 13, 2, 1), (8, 32, 4, 2)]


@pytest.mark.parametrize(("rows", "columns", "copies", "lanes"), SIZES)
def test_values_stay_at_every_level(rows: int, columns: int, copies: int, lanes: int, tmp_path: Path):
    draw = np.random.default_rng([rows, columns, copies])
    given = [draw.normal(size=size).astype(np.float32) for size in (columns, (columns, rows), rows)]
    text = scaled_product(rows, columns)
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


@pytest.mark.parametrize(("part", "copies", "ports"), [("1/40", 8, 1), ("1/8", 8, 1), ("1/8", 9, 2), ("1/2", 16, 8), ("1", 4, 4)])
def test_ports_of_parts(part: str, copies: int, ports: int):
    assert MemoryOperand("s", True, None, part=Fraction(part)).ports(Parallelism(2, copies)) == ports
