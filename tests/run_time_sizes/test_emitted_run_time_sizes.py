"""Run-time sizes in the emitted C++: values with NaN beyond the position, cycles, depths, the manifest, host programs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from run_time_modules import DOUBLINGS, EXAMPLE, Doubling, example_draw, lowered, project, reference
from typer.testing import CliRunner

from stc.analysis.task_graph import task_graph, task_traces
from stc.analysis.task_traces import Hardware
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp
from stc.fifo.network_run import Network, earliest_run
from stc.iteration.size import sampled_values
from stc.iteration.task_timeline import task_timeline
from stc.manifest.files import from_json, read_manifest
from stc.manifest.sizes import at_values
from stc.platforms.platform import load_platform
from stc.runtime.accelerator import Accelerator
from stc.simulation.batch import simulate
from stc.simulation.csim import csim
from stc.simulation.simulate import TimedDesign, timed_design
from stc.simulation.static_checks import check_statically
from stc.simulation.timing_table import SimulationOptions
from stc.tools.stc import app
from stc_testing.xrt import require_xrt

pytestmark = pytest.mark.heavy
POSITIONS = (13, 0, 1, 2, 7, 12)


def emitted(doubling: Doubling, folder: Path) -> Path:
    draws = []
    for values in sampled_values(doubling.symbols):
        (x, *scalars), y = doubling.arrays(values)
        inputs = {"x": x, **{symbol.name: scalar for symbol, scalar in zip(doubling.symbols, scalars, strict=True)}}
        draws.append(reference("_".join(["at", *map(str, values.values())]), inputs, {"y": y}))
    return project(lowered(doubling.text), doubling.name, draws, folder)


def test_values_at_every_position(tmp_path: Path):
    """Every order of loops, every value of its symbols, in one program."""
    projects = [emitted(doubling, tmp_path) for doubling in DOUBLINGS]
    for name, result in simulate(projects, tmp_path).items():
        assert result.passed, f"{name}: {result.explanation} {result.draws}"
        assert len(result.draws) == len(sampled_values(next(d for d in DOUBLINGS if d.name == name).symbols))


@pytest.mark.parametrize("name", ["rows", "rows_inside", "between", "two"])
def test_the_model_counts_the_cycles_of_the_program(name: str, tmp_path: Path):
    """Nests with run-time trips inside drain in each iteration around them."""
    doubling = next(each for each in DOUBLINGS if each.name == name)
    module, folder = lowered(doubling.text), emitted(doubling, tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "memory": None}))
    design, platform = timed_design(folder), load_platform("u55c")
    (kernel,) = [op for op in module.walk() if isinstance(op, KernelOp)]
    traces = task_traces(kernel, Hardware(platform.cycle_ns))
    some = [values for values in sampled_values(doubling.symbols) if all(values.values())]  # streams without tokens have no times
    for values in some:
        found = design.run(SimulationOptions(at=values, unbounded=True), report=None)
        here = {task: trace.at(values) for task, trace in traces.items()}
        network = Network([task_timeline(trace) for trace in here.values()], task_graph(kernel, here))
        assert {task.name: task.end for task in found.tasks} == earliest_run(network).ends, values


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("example")
    return project(lowered(EXAMPLE), "rows", [example_draw(pos) for pos in POSITIONS], folder)


@pytest.fixture(scope="module")
def timed(example: Path) -> TimedDesign:
    return timed_design(example)


def test_values_of_the_example(example: Path):
    result = csim(example)
    assert result.passed and [draw.name for draw in result.draws] == [f"pos_{pos}" for pos in POSITIONS]


def test_no_depth_costs_a_cycle_at_any_position(timed: TimedDesign):
    """The schedule was made at three of them."""
    cycles: list[int] = []
    for pos in range(14):
        found, unlimited = (timed.run(SimulationOptions(at={"pos": pos}, unbounded=free), report=None) for free in (False, True))
        assert found.passed and found.cycles is not None and found.cycles == unlimited.cycles, pos
        assert not found.compared and not found.values.outputs
        tokens = {fifo.name: fifo.tokens for fifo in found.fifos}
        assert tokens["rows_copy_1"] == pos and tokens["total_stream"] == 1
        cycles.append(found.cycles)
    assert cycles == sorted(cycles) and cycles[0] < cycles[1], "more rows take no less time"
    with pytest.raises(CompileError, match="scalar 'pos' is 14; accepted: a value from 0 to 13"):
        timed.run(SimulationOptions(at={"pos": 14}))
    with pytest.raises(CompileError, match="the design has no scalar 'rows'; accepted: pos"):
        timed.run(SimulationOptions(at={"rows": 1}))


def test_the_command_says_at_which_position(example: Path):
    done = CliRunner().invoke(app, ["simulate", str(example), "--at", "pos=5"])
    assert done.exit_code == 0 and "values not compared" in done.output and "at pos = 5, outputs not compared" in done.output
    for text, complaint in (("pos=14", "scalar 'pos' is 14"), ("pos", "accepted: a scalar and its value, pos=5")):
        done = CliRunner().invoke(app, ["simulate", str(example), "--at", text])
        assert isinstance(done.exception, CompileError) and complaint in str(done.exception)


def test_a_smaller_depth_costs_cycles_or_the_end(timed: TimedDesign):
    """What the test before says of the depths could fail."""
    assert not timed.run(SimulationOptions(at={"pos": 13}, depths={"rows_copy_1": 12}), report=None).passed
    assert timed.run(SimulationOptions(at={"pos": 12}, depths={"rows_copy_1": 12}), report=None).passed


def test_the_manifest_at_values(example: Path):
    manifest = read_manifest(example)
    (kernel,) = manifest.kernels
    assert [(scalar.name, scalar.tensor, scalar.symbol, scalar.maximum) for scalar in kernel.scalars] == [("pos", "pos", "pos", 13)]
    sizes = {stream.name: (stream.tokens, stream.size) for stream in kernel.streams}
    assert sizes["rows_stream"] == (13, "pos<=13") and sizes["total_stream"] == (1, None)
    for pos in range(14):
        at = at_values(manifest, {"pos": pos})
        assert {stream.name: stream.tokens for stream in at.kernels[0].streams}["rows_stream"] == pos
        assert {loop.trip for loop in at.kernels[0].schedule if loop.size is not None} == {pos}
        assert check_statically(at).passed


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"size": "pos<=13"', '"size": "pos<=12"', r"size' depends on 'pos<=12'; accepted: scalars of the kernel: pos<=13"),
        ('"size": "pos<=13"', '"size": "pos +"', r"size' is no size: 'pos' is no size"),
        ('"tensor": "pos",\n     "symbol"', '"tensor": "x",\n     "symbol"', r"tensor' is 'x'; accepted: an input of one i32"),
    ],
)
def test_manifests_that_contradict_themselves(example: Path, old: str, new: str, complaint: str):
    text = (example / "manifest.json").read_text()
    assert old in text
    with pytest.raises(CompileError, match=complaint):
        from_json(text.replace(old, new, 1))


def test_the_host_program(example: Path):
    """Positions one after the other on one device; a position beyond the maximum is refused before it is launched."""
    run = Accelerator(example)
    for pos in (5, 0, 13):
        draw = example_draw(pos)
        found = run(draw.inputs)
        np.testing.assert_allclose(found["y"][:pos], draw.golden["y"][:pos], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found["sum"], draw.golden["sum"], rtol=1e-5, atol=1e-6)
    for pos in (-1, 14):
        with pytest.raises(CompileError, match=f"input 'pos' is {pos}; accepted: 0 to 13"):
            run({"x": np.zeros((13, 16), np.float32), "pos": np.asarray(pos, np.int32)})


def test_the_native_host_program(example: Path, tmp_path: Path):
    Accelerator(example)  # builds the kernel
    stub = Path(__file__).parents[1] / "runtime" / "xrt_stub"
    build = ["g++", "-std=c++17", f"-I{stub}", f"-I{example}", example / "host.cpp", "-o", tmp_path / "host", "-ldl"]
    subprocess.run(build, check=True)
    program = [tmp_path / "host", example / "build" / "kernel.so", example]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.count("passed") == 2 * len(POSITIONS), done.stdout + done.stderr


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import host
xrt, device = host.open_device("xrt", host.Path(sys.argv[1]))
accelerator = host.Accelerator(sys.argv[1], xrt, device, None)
((handle, unit),), = accelerator.units.values()
ports = [accelerator.buffers[name] for name in unit["ports"]]
for arguments in ((*ports, ports[0]), (*ports, 1, 1)):
    try:
        handle(*arguments)
    except RuntimeError as error:
        print(error)
"""


def test_a_scalar_takes_no_buffer_of_xrt(example: Path, tmp_path: Path):
    require_xrt()
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run([sys.executable, tmp_path / "program.py", example], capture_output=True, text=True, check=False)
    (kernel,) = read_manifest(example).kernels
    scalar = len(kernel.ports)
    said = [f"argument {scalar} of kernel {kernel.name} takes no buffer", f"kernel {kernel.name} has no argument {scalar + 1}"]
    assert done.stdout.splitlines() == said, done.stderr


def test_what_is_emitted(example: Path):
    source = (example / "kernel.cpp").read_text()
    loops = re.findall(r"for \(int \w+ = 0; \w+ < (\w+); .*\n#pragma HLS pipeline II=(\d) style=stp\n(.*)", source)
    run_time = [loop for loop in loops if not loop[0].isdigit()]
    assert len(run_time) == 5 and {last for _, _, last in run_time} == {"#pragma HLS loop_tripcount min=0 max=13"}
    assert "#pragma HLS stable variable=pos" in source
    assert "int(t.pos_tensor[0]));" in (example / "host.cpp").read_text()


@pytest.fixture
def broken(example: Path) -> Callable[[str, str], list[str]]:
    from stc.codegen.vitis_rules import kernel_violations

    def violations(old: str, new: str) -> list[str]:
        source, header = ((example / name).read_text() for name in ("kernel.cpp", "kernel.h"))
        assert old in source and not kernel_violations(source, header)
        return [str(found) for found in kernel_violations(source.replace(old, new, 1), header)]

    return violations


def test_rules_of_the_text(broken: Callable[[str, str], list[str]]):
    assert "scalar pos of rows is not stable" in broken("#pragma HLS stable variable=pos\n", "")[0].replace("main_", "rows")
    (found,) = broken("#pragma HLS loop_tripcount min=0 max=13\n", "")
    assert found.startswith("rule 12") and "runs to trips, unrolled or without loop_tripcount" in found
    inner = "  write_out_word: for (int word = 0; word < trips; word += 1) {"
    around = f"  again: for (int i = 0; i < 2; i += 1) {{\n{inner}"
    assert any("inside another loop without loop_flatten off" in found for found in broken(inner, around))
