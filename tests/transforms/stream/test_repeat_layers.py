"""`repeat-layers`: what one launch computes is what launches of one layer compute one after the other, at every level behind it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp

from stc.analysis.loops import is_unrolled, trip_count
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.dataflow import TaskOp
from stc.dialects.facts import BEHIND_LAYERS, DRAINS
from stc.dialects.parsing import parse_module
from stc.dialects.stream import StreamType
from stc.execution.run import execute
from stc.pipeline import PipelineOptions, part, run_stages, stages, steps
from stc.tools.plan import as_stages
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy


def layer(rows: int, columns: int, missing: int = 0) -> str:
    """relu(x w + b), whose weights are parameters; x comes and goes in the same shape. The last entries of b are `missing`."""
    given, no_more = f"tensor<{columns - missing}xf32>", f"tensor<{missing}xf32>"
    filled = f"""%n = tensor.empty() : {no_more}
  %z = linalg.fill ins(%zero : f32) outs(%n : {no_more}) -> {no_more}
  %b = tensor.concat dim(0) %g, %z : ({given}, {no_more}) -> tensor<{columns}xf32>"""
    name, filled = ("g", filled) if missing else ("b", "")
    x, w, b = f"tensor<{rows}x{columns}xf32>", f"tensor<{columns}x{columns}xf32>", f"tensor<{columns}xf32>"
    return f"""
#xw = affine_map<(d0, d1) -> (d0, d1)>
#b = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: {x} {{stc.name = "x"}}, %w: {w} {{stc.name = "w", stc.parameter}},
    %{name}: {given} {{stc.name = "b", stc.parameter}})
    -> ({x} {{stc.name = "y"}}) {{
  %zero = arith.constant 0.0 : f32
  {filled}
  %e = tensor.empty() : {x}
  %f = linalg.fill ins(%zero : f32) outs(%e : {x}) -> {x}
  %p = linalg.matmul ins(%x, %w : {x}, {w}) outs(%f : {x}) -> {x}
  %r = linalg.generic {{indexing_maps = [#xw, #b, #xw], iterator_types = ["parallel", "parallel"]}}
      ins(%p, %b : {x}, {b}) outs(%e : {x}) {{
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  }} -> {x}
  return %r : {x}
}}"""


def compiled(text: str, until: str, **options: object) -> ModuleOp:
    module = parse_module(text)
    chosen = small_options(units="memory", **options)
    run_stages(module, make_context(), as_stages(part(steps(stages(chosen)), last=until)))
    return module


BEHIND = ("repeat-layers", "hls-directives", "send-scalars", "size-fifos", "verify-bounds")


@pytest.mark.parametrize(("rows", "columns", "count"), [(3, 16, 2), (1, 1, 3), (5, 7, 4), (2, 24, 2)])
@pytest.mark.parametrize("until", BEHIND)
def test_layers_one_after_the_other(rows: int, columns: int, count: int, until: str) -> None:
    draw = np.random.default_rng([rows, columns, count])
    x = draw.normal(size=(rows, columns)).astype(np.float32)
    w = draw.normal(size=(count, columns, columns)).astype(np.float32)
    b = draw.normal(size=(count, columns)).astype(np.float32)
    text = layer(rows, columns)
    expected = x
    for number in range(count):
        (expected,) = execute(parse_module(text), [expected, w[number], b[number]])
    (found,) = execute(compiled(text, until, layers=count), [x, w, b], depths=until in BEHIND[-2:])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    assert np.abs(expected).max() > 0


def test_parameters_that_are_filled_up() -> None:
    """As a last group is, that is shorter than the others."""
    draw = np.random.default_rng(0)
    x, w, b = (draw.normal(size=size).astype(np.float32) for size in ((3, 16), (2, 16, 16), (2, 11)))
    text = layer(3, 16, missing=5)
    expected = x
    for number in range(2):
        (expected,) = execute(parse_module(text), [expected, w[number], b[number]])
    (found,) = execute(compiled(text, "repeat-layers", layers=2), [x, w, b])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_the_input_comes_through_one_port_of_the_platform() -> None:
    """Whose words are no wider than that has."""
    for platform, lanes in (("u55c", 16), ("v80", 8), ("kv260", 4)):
        module = compiled(layer(3, 32), "repeat-layers", layers=2, platform=platform)
        loads = [task.ins[0] for task in module.walk() if isinstance(task, TaskOp) and task.kind == "load"]
        words = [str(value.type) for value in loads if (value.name_hint or "").startswith("x")]
        assert words == [f"memref<{96 // lanes}xvector<{lanes}xf32>>"]


def test_one_layer_is_as_it_was() -> None:
    assert "repeat-layers" not in [step.one_pass.name for step in steps(stages(small_options(units="memory")))]


def test_layers_need_units_and_what_goes_round() -> None:
    with pytest.raises(CompileError, match="layers=2 with units=one; accepted: a strategy for more units"):
        PipelineOptions(layers=2)
    square = layer(4, 4).replace('{stc.name = "w", stc.parameter}', '{stc.name = "w"}')
    with pytest.raises(CompileError, match="2 pairs of a tensor that goes in and one that comes out"):
        compiled(square, "repeat-layers", layers=2)


def test_another_result_of_each_layer_would_be_lost() -> None:
    one, both = '(tensor<3x4xf32> {stc.name = "y"})', '(tensor<3x4xf32> {stc.name = "y"}, tensor<4xf32> {stc.name = "z"})'
    text = layer(3, 4).replace(f"-> {one}", f"-> {both}")
    text = text.replace("  return %r : tensor<3x4xf32>", """  %ez = tensor.empty() : tensor<4xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%ez : tensor<4xf32>) -> tensor<4xf32>
  %z = linalg.generic {indexing_maps = [#xw, #b], iterator_types = ["reduction", "parallel"]}
      ins(%r : tensor<3x4xf32>) outs(%fz : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.addf %a, %o : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  return %r, %z : tensor<3x4xf32>, tensor<4xf32>""")
    with pytest.raises(CompileError, match="is a result of each layer; accepted: the tensor that goes round, and updates in place"):
        compiled(text, "repeat-layers", layers=2)


def test_a_loop_of_one_iteration_does_not_stand_for_one_that_drains() -> None:
    """The tool drops it with its pragmas: what drains is the first loop that repeats anything."""
    module = compiled(layer(1, 24), "hls-directives", layers=2)
    drained = [loop for loop in module.walk() if isinstance(loop, scf.ForOp) and DRAINS.on(loop)]
    assert drained
    for loop in drained:
        inner = [op for op in loop.walk() if op is not loop and isinstance(op, scf.ForOp) and not is_unrolled(op)]
        assert trip_count(loop) > 1 or not any(trip_count(other) > 1 for other in inner)


def layer_and_head(rows: int, columns: int, wide: int, used: str = "h") -> str:
    """A `layer`, and behind its end a product with v, a parameter of its own, which takes the value called `used`."""
    x, v, z = f"tensor<{rows}x{columns}xf32>", f"tensor<{columns}x{wide}xf32>", f"tensor<{rows}x{wide}xf32>"
    signature = f'{{stc.name = "b", stc.parameter}})\n    -> ({x} {{stc.name = "y"}})'
    more = f'{{stc.name = "b", stc.parameter}}, %v: {v} {{stc.name = "v", stc.parameter}})\n    -> ({x} {{stc.name = "y"}}'
    text = layer(rows, columns).replace(signature, f'{more}, {z} {{stc.name = "z"}})')
    assert f"tensor<{columns}x{wide}xf32>" in text
    return text.replace(f"  return %r : {x}", f"""  %h = linalg.generic {{indexing_maps = [#xw, #xw],
      iterator_types = ["parallel", "parallel"]}} ins(%r : {x}) outs(%e : {x}) attrs = {{stc.ends_layers}} {{
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }} -> {x}
  %ez = tensor.empty() : {z}
  %fz = linalg.fill ins(%zero : f32) outs(%ez : {z}) -> {z}
  %z = linalg.matmul ins(%{used}, %v : {x}, {v}) outs(%fz : {z}) -> {z}
  return %h, %z : {x}, {z}""")


@pytest.mark.parametrize(("rows", "columns", "wide", "count"), [(3, 16, 32, 2), (1, 1, 1, 3), (5, 7, 11, 4), (1, 24, 48, 3)])
@pytest.mark.parametrize("until", ["repeat-layers", "verify-bounds"])
def test_what_follows_the_last_layer_is_computed_once(rows: int, columns: int, wide: int, count: int, until: str) -> None:
    draw = np.random.default_rng([rows, columns, wide, count])
    x, v = (draw.uniform(size=size).astype(np.float32) for size in ((rows, columns), (columns, wide)))
    w = draw.uniform(size=(count, columns, columns)).astype(np.float32)
    b = draw.uniform(size=(count, columns)).astype(np.float32)
    text, expected, z = layer_and_head(rows, columns, wide), x, np.zeros(0)
    for number in range(count):
        expected, z = execute(parse_module(text), [expected, w[number], b[number], v])
    module = compiled(text, until, layers=count)
    found = execute(module, [x, w, b, v], depths=until in BEHIND[-2:])
    for one, other in zip(found, (expected, z), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    assert np.abs(z).max() > 0
    last = [task for task in module.walk() if isinstance(task, TaskOp) and BEHIND_LAYERS.on(task)]
    assert {"store", "load"} <= {task.kind.value for task in last if task.kind}
    loops = [loop.body.block.args[0].name_hint for task in last for loop in task.walk() if isinstance(loop, scf.ForOp)]
    assert "layer" not in loops


SHARED = """[stc.parallelism]
max_abs1 = { lanes = 8, copies = 2 }
scale1 = { lanes = 1, copies = 2 }
reciprocal0 = { lanes = 1, copies = 2 }
quantise1 = { lanes = 32, copies = 2 }
matmul0 = { lanes = 64, copies = 1, parts = 2 }
matmul1 = { lanes = 16, copies = 1 }
max = { lanes = 16, copies = 1 }
copy = { lanes = 16, copies = 1 }
max_abs3 = { lanes = 8, copies = 2 }
scale3 = { lanes = 1, copies = 2 }
reciprocal1 = { lanes = 1, copies = 2 }
quantise3 = { lanes = 8, copies = 2 }
matmul2 = { lanes = 64, copies = 3, parts = 2 }
matmul3 = { lanes = 8, copies = 3 }
"""
"""Of a layer of 128 columns, and a head of 192: two tasks and six, each of which takes a word in a cycle."""


def test_ports_that_serve_two_tasks_each(tmp_path: Path) -> None:
    """One deals the words of a layer out to two tasks, and then those of the head, as two others do to two more each: half as many
    ports as tasks, and values are the same."""
    (tmp_path / "given.toml").write_text(SHARED)
    draw = np.random.default_rng(5)
    w, x = draw.normal(size=(2, 128, 128)).astype(np.float32), draw.normal(size=(1, 128)).astype(np.float32)
    b, v = draw.normal(size=(2, 128)).astype(np.float32), draw.normal(size=(128, 192)).astype(np.float32)

    def values(elements: int, until: str) -> tuple[list[np.ndarray], int]:
        said = {"weight_ports": "in-turn", "contractions": "shared", "quantize": "bits=8,group=64,activations=group"}
        given = {"budget": "dsp=2000,ports=3", "schedule": str(tmp_path / "given.toml"), "elements_per_port": elements}
        module = compiled(layer_and_head(1, 128, 192), until, layers=2, **said, **given)
        loads = [task for task in module.walk() if isinstance(task, TaskOp) and task.kind == "load"]
        weights = [task for task in loads if any(isinstance(out.type, StreamType) and out.type.lanes == 64 for out in task.outs)]
        return execute(module, [x, w, b, v], depths=until == "verify-bounds"), len(weights)

    expected, apart = values(1, "repeat-layers")
    for until in ("repeat-layers", "verify-bounds"):
        found, ports = values(2, until)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
        assert (apart, ports) == (6, 3)
    assert np.abs(expected[1]).max() > 0


def test_what_layers_return_goes_to_the_head_through_their_end_alone() -> None:
    """A head that takes what is in front of the end would get what each layer returns."""
    with pytest.raises(CompileError, match="is a result of each layer"):
        compiled(layer_and_head(3, 16, 32, used="r"), "repeat-layers", layers=2)


def test_a_parameter_of_layers_and_head_is_refused() -> None:
    text = layer_and_head(3, 16, 16).replace("ins(%h, %v", "ins(%h, %w")
    with pytest.raises(CompileError, match=r"follows the last layer, and takes what @.* sends in each; accepted: what layers end"):
        compiled(text, "repeat-layers", layers=2)
