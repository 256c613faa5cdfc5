"""A cache that a launch reads and appends to: at every level, in the emitted C++, and what is not ordered."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_time_modules import lowering, parsed, project
from typer.testing import CliRunner
from xdsl.utils.exceptions import VerifyException

from stc.codegen.host_plan import host_plan
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.dataflow import KernelOp
from stc.execution.run import execute
from stc.frontend.exported import Reference
from stc.iteration.memory_region import enlarged, entry_stride, token_strides
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.proof_obligations import Disjoint, Holds, Refuted, answer
from stc.iteration.size import Symbol, sum_of
from stc.manifest.files import read_manifest
from stc.runtime.accelerator import Accelerator
from stc.simulation.csim import csim
from stc.simulation.simulate import timed_design
from stc.simulation.timing_table import SimulationOptions
from stc.tools.stc import app
from stc.transforms.finding_pass import run_pass
from stc.transforms.stream import set_fifo_depths
from stc_testing.levels import levels

EXAMPLE = (Path(__file__).parents[2] / "examples" / "append.mlir").read_text()
ROWS = 8
WHOLE = (  # all rows are read, whatever the position
    EXAMPLE.replace("pos<=7] * [1, 1]", "8] * [1, 1]")
    .replace("%n = itensor.size pos<=7 of %at", "%n = arith.constant 8 : index")
    .replace(", %at = %pos : !pos", "")
)
ORDERED = WHOLE.replace("into %cache at [0, %pos, 0]", "into %cache at [0, %pos, 0] after read")

TWICE = (  # all rows are read through another operand, as they were
    EXAMPLE.replace("!pos = ", "!all = !itensor.itensor<1x1x16xf32, iter_space: [2, 8] * [1, 1], "
                               "iter_map: (d0, d1) -> (d0, d1, 0)>\n!pos = ")
    .replace("@main(%new", "@main(%all = %c : tensor<2x8x16xf32> as !all, %new")
    .replace("ins(%in = %cache : !rows", "ins(%before = %all : !all, %in = %cache : !rows")
    .replace("%w = ", """%c8 = arith.constant 8 : index
        scf.for %i = %c0 to %c8 step %c1 {
          %unused = itensor.read %before[%h, %i] : !all -> tensor<1x1x16xf32>
        }
        %w = """)
)


def arrays(pos: int, beyond: float = np.nan) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Inputs and results; rows of the cache from `pos` on are `beyond`."""
    random = np.random.default_rng(pos)
    x, cache = (random.normal(size=(2, rows, 16)).astype(np.float32) for rows in (1, ROWS))
    cache[:, pos:] = beyond
    y, updated = x.copy(), cache.copy()
    for row in range(pos):
        y[:, 0] += cache[:, row]
    updated[:, pos] = x[:, 0]
    return {"x": x, "cache": cache, "pos": np.asarray(pos, np.int32)}, {"y": y, "updated": updated}


def draw(pos: int, beyond: float = np.nan) -> Reference:
    inputs, golden = arrays(pos, beyond)
    return Reference(f"pos_{pos}", inputs, golden)


@pytest.mark.parametrize(("text", "beyond"), [(EXAMPLE, np.nan), (ORDERED, 0.0)], ids=["in part", "whole, then written"])
def test_every_level_at_every_position(text: str, beyond: float):
    module = parsed(text)
    for label, depths in levels(module, lowering()):
        for pos in range(ROWS):
            inputs, golden = arrays(pos, beyond)
            for found, expected in zip(execute(module, list(inputs.values()), depths=depths), golden.values(), strict=True):
                np.testing.assert_array_equal(found, expected, err_msg=f"{label} at {pos}")


def test_a_position_behind_the_last_row():
    inputs, _ = arrays(0)
    with pytest.raises(CompileError, match="pos"):
        execute(parsed(EXAMPLE), [inputs["x"], inputs["cache"], np.asarray(ROWS, np.int32)])


@pytest.mark.parametrize(
    ("text", "witness"),
    [
        (WHOLE, r"\(!itensor.*\[2, 8\].*\) and what is written \(.* at \[0, pos<=7, 0\]\) may be the same.*where pos = 0"),
        (EXAMPLE.replace("pos<=7] *", "sum(pos<=7, 1)] *").replace("size pos<=7 of", "size sum(pos<=7, 1) of"), "where pos = "),
        (EXAMPLE.replace("[0, %pos, 0]", "[0, 3, 0]"), r"where pos = \d, the token written at \[\d, 3, 0\] is read too"),
    ],
    ids=["whole", "one row more", "another row"],
)
def test_what_is_read_and_written_is_disjoint_or_ordered(text: str, witness: str):
    module = parsed(text)
    with pytest.raises(CompileError, match=f"order %cache in kernel @main.*{witness}"):
        for step in lowering(last="verify-streams"):
            run_pass(step.one_pass, make_context(), module)


LINALG = """
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(
    %x: tensor<2x16xf32> {stc.name = "x"}, %cache: tensor<1x2x8x16xf32> {stc.name = "cache"}, %p: i32 {stc.name = "pos"}
) -> (tensor<2x16xf32> {stc.name = "y"}, tensor<1x2x8x16xf32> {stc.name = "updated"}) {
  %zero = arith.constant 0.0 : f32
  %blank = tensor.empty() : tensor<2x16xf32>
  %new = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x16xf32>) outs(%blank : tensor<2x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %a : f32
    linalg.yield %c : f32
  } -> tensor<2x16xf32>
  %flat = tensor.collapse_shape %cache [[0, 1], [2], [3]] : tensor<1x2x8x16xf32> into tensor<2x8x16xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%blank : tensor<2x16xf32>) -> tensor<2x16xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>],
      iterator_types = ["parallel", "reduction", "parallel"]} ins(%flat : tensor<2x8x16xf32>) outs(%fill : tensor<2x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %b, %a : f32
    linalg.yield %c : f32
  } -> tensor<2x16xf32>
  %y = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %new : tensor<2x16xf32>, tensor<2x16xf32>) outs(%blank : tensor<2x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<2x16xf32>
  %row = tensor.expand_shape %new [[0, 1], [2, 3]] output_shape [1, 2, 1, 16] : tensor<2x16xf32> into tensor<1x2x1x16xf32>
  %pos = arith.index_cast %p : i32 to index
  %updated = tensor.insert_slice %row into %cache[0, 0, %pos, 0] [1, 2, 1, 16] [1, 1, 1, 1]
      : tensor<1x2x1x16xf32> into tensor<1x2x8x16xf32>
  func.return %y, %updated : tensor<2x16xf32>, tensor<1x2x8x16xf32>
}
"""


SUMS = "outs(%fill : tensor<2x16xf32>)"
READ_IN = "#dataflow.schedule<tile = [2, 8, 16], order = [0, 1, 2], unroll = [1, 1, {0}], vector = [[1, 1, {0}], [1, {0}]]>"


@pytest.mark.heavy
@pytest.mark.parametrize("lanes", [None, 2])
def test_an_insertion_from_linalg_to_the_simulation(lanes: int | None, tmp_path: Path):
    """`tensor.insert_slice` at a scalar becomes an update behind the reading, which MLIR's own engine agrees with at each draw;
    also where the cache is read in `lanes`, fewer than those in which the row is computed."""
    path, out = tmp_path / "append.mlir", tmp_path / "out"
    attributes = "" if lanes is None else f" attrs = {{stc.schedule = {READ_IN.format(lanes)}}}"
    path.write_text(LINALG.replace(SUMS, SUMS + attributes))
    done = CliRunner().invoke(app, ["compile", "--small", str(path), "--check", "--out", str(out)])
    assert done.exit_code == 0, done.output
    manifest = read_manifest(out)
    (update,) = (port for port in manifest.kernels[0].ports if port.updates)
    assert (update.updates, update.tensor, manifest.tensor("updated").shape) == ("cache", "updated", (1, 2, 8, 16))
    assert {"pos_0", "pos_6", "example"} <= {draw.name for draw in manifest.draws}


def test_what_is_read_through_another_operand_is_a_copy():
    """Else it would be read while it is written, and no token orders the two."""
    module = parsed(TWICE)
    for step in lowering(last="verify-streams"):
        run_pass(step.one_pass, make_context(), module)
    (kernel,) = (op for op in module.walk() if isinstance(op, KernelOp))
    assert kernel.inputs[0] is not kernel.inputs[2] and kernel.places[1] is not None and kernel.places[1].operand == 2
    kernel.operands[0] = kernel.inputs[2]
    with pytest.raises(VerifyException, match="operand 0 is the buffer that a result updates as operand 2, which nothing"):
        module.verify()
    with pytest.raises(CompileError, match=r"result 1 updates cache, which 'dataflow.kernel' takes too"):
        host_plan(module)


POS = Symbol("pos", 5)
ROW = StreamOrder((1, 1, 4), (Loop(2, 1),), (Coordinate((0,)), Coordinate(), Coordinate()))


def rows_of(count: int | Symbol) -> StreamOrder:
    return StreamOrder((1, 1, 4), (Loop(2, 1), Loop(count, 1)), (Coordinate((0,)), Coordinate((1,)), Coordinate()))


def test_disjoint_by_the_solver_and_by_counting():
    for read, offset in ((rows_of(POS), POS), (rows_of(3), sum_of(POS, 3))):
        disjoint = Disjoint(read, ROW, (0, offset, 0))
        assert isinstance(answer(disjoint), Holds) and isinstance(disjoint.counted(), Holds)
    for read, offset in ((rows_of(6), POS), (rows_of(POS), 4)):
        disjoint = Disjoint(read, ROW, (0, offset, 0))
        assert isinstance(answer(disjoint), Refuted) and isinstance(disjoint.counted(), Refuted)


def test_where_a_part_lies():
    memory = enlarged(rows_of(POS).largest, [2, 6, 4])
    assert memory == rows_of(6)
    assert token_strides(memory, rows_of(POS)) == [6, 1] and token_strides(memory, ROW) == [6]
    assert (entry_stride(memory, 1, POS), entry_stride(memory, 0, 0)) == (1, 0)
    with pytest.raises(ValueError, match="tokens of"):
        token_strides(memory, StreamOrder((1, 1, 2), (), (Coordinate(), Coordinate(), Coordinate())))
    in_tiles = StreamOrder((1, 1, 4), (Loop(2, 1), Loop(3, 2), Loop(2, 1)), (Coordinate((0,)), Coordinate((1, 2)), Coordinate()))
    assert enlarged(in_tiles, [2, 7, 4]) == rows_of(7) and token_strides(rows_of(7), in_tiles) == [7, 2, 1]
    with pytest.raises(ValueError, match="6 of the 9 entries of dimension 2"):
        enlarged(StreamOrder((1, 1, 2), (Loop(3, 2),), (Coordinate(), Coordinate(), Coordinate((0,)))), [1, 1, 9])


@pytest.mark.parametrize(("text", "runs"), [(EXAMPLE, ROWS), (ORDERED, 1)])
def test_depths_are_run_at_positions_only_where_those_move_other_tokens(text: str, runs: int, monkeypatch: pytest.MonkeyPatch):
    """Whole rows of static caches are read at any position: 128 equal runs of the token model were most of a compile."""
    grown, module, counted = set_fifo_depths.grown_depths, parsed(text), list[str]()
    for step in lowering():
        monkeypatch.setattr(set_fifo_depths, "grown_depths", lambda *given, by=step.label: counted.append(by) or grown(*given))
        run_pass(step.one_pass, make_context(), module)
    assert counted.count("set-fifo-depths") == runs


@pytest.fixture(scope="module")
def emitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _emitted(EXAMPLE, tmp_path_factory.mktemp("append"), [draw(pos) for pos in (7, 0, 3)])


def _emitted(text: str, folder: Path, draws: list[Reference], left_out: str = "", **options: Any) -> Path:
    module = parsed(text)
    for step in lowering(**options):
        if step.label != left_out:
            run_pass(step.one_pass, make_context(), module)
    return project(module, "rows", draws, folder)


@pytest.mark.heavy
def test_values_of_the_example(emitted: Path):
    """Two pointers to one buffer, and NaN in every row that is not there."""
    assert csim(emitted).passed
    ports = {port.name: port for port in read_manifest(emitted).kernels[0].ports}
    update = ports["cache_update"]
    assert (update.buffer, update.updates, update.bank) == ("cache", "cache", ports["cache"].bank)


@pytest.mark.heavy
def test_the_host_program(emitted: Path):
    done = subprocess.run([sys.executable, emitted / "host.py", "--device", "csim"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.heavy
def test_a_sequence_of_launches_on_one_buffer(emitted: Path):
    """The cache is sent once; each launch reads what those before it appended."""
    accelerator = Accelerator(emitted)
    rows = np.random.default_rng(0).normal(size=(ROWS, 2, 1, 16)).astype(np.float32)
    accelerator.send("cache", np.full((2, ROWS, 16), np.nan, np.float32))
    for pos in range(ROWS):
        outputs = accelerator({"x": rows[pos], "pos": np.asarray(pos, np.int32)}, resident=["cache"])
        np.testing.assert_allclose(outputs["y"], rows[: pos + 1].sum(0), rtol=1e-5, atol=1e-5)
        assert "updated" not in outputs
    np.testing.assert_array_equal(accelerator.fetch("cache"), rows[:, :, 0].transpose(1, 0, 2))
    with pytest.raises(CompileError, match="input 'cache' is missing"):
        accelerator({"x": rows[0], "pos": np.asarray(0, np.int32)})
    with pytest.raises(CompileError, match=r"input 'cache' has shape \[8, 16\]; accepted: \[2, 8, 16\]"):
        accelerator.send("cache", np.zeros((8, 16), np.float32))
    for mistaken in (
        lambda: accelerator.send("caches", np.zeros((2, 8, 16), np.float32)),
        lambda: accelerator.fetch("pos"),
        lambda: accelerator({"x": rows[0], "pos": np.asarray(0, np.int32)}, resident=["updated"]),
    ):
        with pytest.raises(CompileError, match=r"no input '(caches|pos|updated)' lies in a buffer; accepted: x, cache"):
            mistaken()


@pytest.mark.heavy
def test_buffers_of_a_launch(emitted: Path):
    """Two sequences on one accelerator, each with its own."""
    accelerator, row = Accelerator(emitted), np.ones((2, 1, 16), np.float32)
    first, second = accelerator.allocated("cache"), accelerator.allocated("cache", cleared=True)
    for pos in range(2):
        for buffers, scale in ((first, 1), (second, 3)):
            inputs = {"x": scale * row, "pos": np.asarray(pos, np.int32)}
            found = accelerator(inputs, buffers, resident=["cache"])["y"]
            np.testing.assert_array_equal(found, scale * (pos + 1) * row)
    with pytest.raises(CompileError, match="no kernel has a buffer 'caches'; accepted: x, cache, y"):
        accelerator({"x": row, "pos": np.asarray(0, np.int32)}, {"caches": first["cache"]}, resident=["cache"])


@pytest.mark.heavy
def test_threads_share_an_accelerator(emitted: Path):
    """Each with a sequence of its own, and another that opened the same project."""
    accelerators = [Accelerator(emitted)] * 3 + [Accelerator(emitted)]

    def sums(scale: int) -> list[float]:
        accelerator, row = accelerators[scale], np.full((2, 1, 16), scale, np.float32)
        buffers = accelerator.allocated("cache")
        launches = [{"x": row, "pos": np.asarray(pos, np.int32)} for pos in range(ROWS)]
        return [float(accelerator(inputs, buffers, resident=["cache"])["y"].max()) for _ in range(9) for inputs in launches]

    with ThreadPoolExecutor(len(accelerators)) as pool:
        found = list(pool.map(sums, range(len(accelerators))))
    assert found == [[scale * (pos + 1) for _ in range(9) for pos in range(ROWS)] for scale in range(len(accelerators))]


@pytest.mark.heavy
def test_a_row_that_is_read_before_its_write_is_acknowledged(tmp_path: Path):
    """Without `verify-streams`, the simulator finds an overlap: rows are read when the new one is written, by a load task that does
    not run ahead."""
    text = EXAMPLE.replace("pos<=7] *", "sum(pos<=7, 1)] *").replace("size pos<=7 of", "size sum(pos<=7, 1) of")
    folder = _emitted(text, tmp_path, [draw(3, 0.0)], left_out="verify-streams", run_ahead=1)
    result = timed_design(folder).run(SimulationOptions())
    assert not result.passed
    assert "of memory port cache is read, which port cache_update wrote in this launch" in str(result.values.explanation)


@pytest.mark.heavy
def test_an_order_that_is_declared(tmp_path: Path):
    folder = _emitted(ORDERED, tmp_path, [draw(pos, 0.0) for pos in (0, 7)])
    result = timed_design(folder).run(SimulationOptions())
    assert result.passed and any(fifo.name == "cache_read" and fifo.tokens == 1 for fifo in result.fifos)


def test_an_alias_that_the_manifest_does_not_declare(emitted: Path, tmp_path: Path):
    manifest = json.loads((emitted / "manifest.json").read_text())
    next(port for port in manifest["kernels"][0]["ports"] if port["name"] == "cache_update").pop("updates")
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(CompileError, match="updates' is None; accepted: 'cache', which reads buffer 'cache'"):
        read_manifest(tmp_path)
