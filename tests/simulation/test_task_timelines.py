"""The timed token model of tasks against the emitted C++: every FIFO's curves, and when every task ends, cycle by cycle.

FIFOs are unlimited, so that nobody waits for anything but tokens, blocks and bus words of external memory: there the model claims
to be exact, but for iterations that read several tokens of one FIFO. The model lets them wait for the last of these and then begin;
the simulation has taken the first ones by then. And load tasks are never held up in the model.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from handmade import Handmade, fifo, loop, manifest
from xdsl.dialects.builtin import ModuleOp

from stc.analysis.memory_beats import memory_beats
from stc.analysis.task_graph import task_graph, task_traces
from stc.analysis.task_traces import Hardware
from stc.codegen.project import emit_project
from stc.dialects.context import make_context
from stc.dialects.dataflow import KernelOp
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.fifo.network_run import Network, NetworkRun, earliest_run
from stc.frontend.exported import ExportedModel
from stc.iteration.pipeline_style import Style
from stc.iteration.task_timeline import task_timeline
from stc.iteration.trace import Access, For, Hold, Pipeline, TaskTrace
from stc.manifest.files import read_manifest
from stc.network.graph import Channel, TaskGraph
from stc.pipeline import PipelineOptions, run_stages, stages
from stc.platforms.platform import load_platform
from stc.simulation.simulate import SimulationResult, simulate
from stc.simulation.timing_table import SimulationOptions
from stc.tools.check_semantics import random_inputs
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

NORM_AND_PRODUCT = """
func.func @main(%x: tensor<6x20xf32>, %w: tensor<20x14xf32>) -> tensor<6x14xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x20xf32>) outs(%f : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %a : f32
    %q = arith.addf %p, %b : f32
    linalg.yield %q : f32
  } -> tensor<6xf32>
  %g = tensor.empty() : tensor<6x20xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
      affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<6x20xf32>, tensor<6xf32>) outs(%g : tensor<6x20xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.divf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<6x20xf32>
  %h = tensor.empty() : tensor<6x14xf32>
  %i = linalg.fill ins(%zero : f32) outs(%h : tensor<6x14xf32>) -> tensor<6x14xf32>
  %y = linalg.matmul ins(%n, %w : tensor<6x20xf32>, tensor<20x14xf32>) outs(%i : tensor<6x14xf32>) -> tensor<6x14xf32>
  return %y : tensor<6x14xf32>
}
"""

LONG_SUM = """
func.func @main(%x: tensor<3x24xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x24xf32>) outs(%f : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %q = arith.addf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<3xf32>
  return %s : tensor<3xf32>
}
"""


def emitted(text: str, options: PipelineOptions, folder: Path, with_memory: bool = False) -> ModuleOp:
    """The last level of a program, emitted with or without the times of external memory."""
    module = parse_module(text)
    inputs = {f"arg{number}": array for number, array in enumerate(random_inputs(module, 1))}
    results = execute(module, list(inputs.values()))
    run_stages(module, make_context(), stages(options))
    model = ExportedModel("timeline", module, inputs, {}, {"result0": results[0]})
    emit_project(module, model, folder, {"platform": "u55c"}, {"name": "timeline"})
    if with_memory:
        return module
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "memory": None}))
    assert read_manifest(folder).memory is None
    return module


def run_of_the_model(module: ModuleOp, with_memory: bool = False) -> tuple[NetworkRun, Network]:
    kernel = next(op for op in module.walk() if isinstance(op, KernelOp))
    platform = load_platform("u55c")
    memories = memory_beats(module, platform.memory, platform.cycle_ns) if with_memory else {}
    traces = task_traces(kernel, Hardware(platform.cycle_ns, memories))
    network = Network([task_timeline(trace) for trace in traces.values()], task_graph(kernel, traces))
    return earliest_run(network), network


def at_points(times: np.ndarray, points: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """What the model says at the counts that the simulation kept."""
    return [(int(times[count - 1]), count) for _, count in points]


def read_in_groups(network: Network) -> set[str]:
    """FIFOs of which one iteration reads several tokens."""
    late = [task.late for task in network.tasks]
    return {name for ports in late for (name, writes), cycles in ports.items() if not writes and len(set(cycles.tolist())) > 1}


def require_agreement(found: NetworkRun, measured: SimulationResult, grouped: set[str]) -> None:
    assert measured.passed
    assert {task.name.rstrip("_"): task.end for task in measured.tasks} == found.ends  # div is a function of the library
    fifos = {fifo.name: fifo for fifo in measured.fifos}
    assert set(found.written) <= set(fifos)
    for name, written in found.written.items():
        assert list(fifos[name].produced) == at_points(written, fifos[name].produced), name
        consumed, expected = list(fifos[name].consumed), at_points(found.taken[name], fifos[name].consumed)
        assert consumed == expected or name in grouped, name
        assert all(at <= latest for (at, _), (latest, _) in zip(consumed, expected, strict=True)), name


@pytest.mark.parametrize(
    ("options", "rings"),
    [
        (small_options(tile=4, rows=4, lanes=4), False),
        (small_options(tile=7, lanes=2, propagate_orders=False), False),
        (small_options(tile=2, rows=2, lanes=2, propagate_orders=False), True),
    ],
    ids=["orders", "uniform, one block", "uniform, two blocks"],
)
def test_the_model_agrees_with_the_emitted_code(options: PipelineOptions, rings: bool, tmp_path: Path) -> None:
    module = emitted(NORM_AND_PRODUCT, replace(options, platform="u55c"), tmp_path / "project")
    found, network = run_of_the_model(module)
    assert len(network.tasks) >= 6
    assert bool(network.graph.rings) == rings
    measured = simulate(tmp_path / "project", SimulationOptions(unbounded=True), optimisation=0)
    grouped = read_in_groups(network)
    assert len(grouped) < len(network.graph.fifos) / 3
    require_agreement(found, measured, grouped)
    assert measured.cycles == found.makespan


def test_loops_that_wait_for_the_ports_of_their_memory_are_as_deep_as_the_manifest_says(tmp_path: Path) -> None:
    """Four partial sums of each row in one memory are added up in an iteration of two cycles."""
    module = emitted(LONG_SUM, small_options(tile=24, rows=3, lanes=1), tmp_path / "project")
    assert any(loop.label == "sum_combine_row" and loop.ii == 2 for loop in read_manifest(tmp_path / "project").kernels[0].schedule)
    found, _ = run_of_the_model(module)
    require_agreement(found, simulate(tmp_path / "project", SimulationOptions(unbounded=True), optimisation=0), set())


def test_the_model_agrees_with_external_memory(tmp_path: Path) -> None:
    """Words of 512 bits, which a channel delivers, or takes, more slowly than one per cycle."""
    module = emitted(NORM_AND_PRODUCT, small_options(lanes=16), tmp_path / "project", with_memory=True)
    found, network = run_of_the_model(module, with_memory=True)
    loads = {task.name for task in network.tasks if task.name.startswith("load_")}
    unlimited = {fifo.name: fifo.tokens for fifo in network.graph.sized}
    measured = simulate(tmp_path / "project", SimulationOptions(depths=unlimited), optimisation=0)
    assert measured.passed and measured.cycles == found.makespan
    ends = {task.name.rstrip("_"): task.end for task in measured.tasks}
    assert loads and all(found.ends[name] <= ends[name] for name in loads)
    assert {name: end for name, end in ends.items() if name not in loads} == {
        name: end for name, end in found.ends.items() if name not in loads
    }
    assert found.makespan > run_of_the_model(module)[0].makespan + 100


def blocks_in_a_pipeline(style: Style, slow: int, interval: int) -> str:
    """Blocks that take `slow` cycles to fill, emptied by the iterations of one pipelined loop."""
    return f"""
typedef int block_t[4];
static void fill(const int *x, hls::stream_of_blocks<block_t, 2> &blocks) {{
  for (int t = 0; t < 9; t++) {{
    hls::write_lock<block_t> w(blocks);
    fill_loop: for (int k = 0; k < {slow}; k++) {{
#pragma HLS pipeline II=1 style=flp
      w[k % 4] = x[t];
    }}
  }}
}}
static void drain(hls::stream_of_blocks<block_t, 2> &blocks, hls::stream<int> &s) {{
  drain_loop: for (int t = 0; t < 9; t++) {{
#pragma HLS pipeline II={interval} style={style}
    hls::read_lock<block_t> r(blocks);
    s.write(r[t % 4]);
  }}
}}
static void take(hls::stream<int> &s, int *y) {{
  take_loop: for (int t = 0; t < 9; t++) {{
#pragma HLS pipeline II=1 style=flp
    y[t] = s.read();
  }}
}}
extern "C" void top(const int *x, int *y) {{
#pragma HLS dataflow
  hls::stream_of_blocks<block_t, 2> blocks;
  hls::stream<int, 16> s("s");
  fill(x, blocks);
  drain(blocks, s);
  take(s, y);
}}
"""


@pytest.mark.parametrize(
    ("style", "slow", "interval"),
    [("stp", 1, 1), ("stp", 7, 1), ("stp", 7, 3), ("stp", 30, 2), ("frp", 1, 1), ("frp", 7, 3), ("flp", 7, 1), ("flp", 30, 2)],
)
def test_what_waits_for_a_block_keeps_what_it_computed(
    style: Style, slow: int, interval: int, tmp_path: Path, headers: Path
) -> None:
    """With `stp` a token leaves when later iterations have had their blocks, or after the last."""
    loops = [
        loop("fill", "fill_loop", slow, 4),
        loop("drain", "drain_loop", 9, 8, writes=["s"], ii=interval),
        loop("take", "take_loop", 9, 2, reads=["s"]),
    ]
    content = manifest([fifo("s", "drain", "take", 9)], loops)
    measured = Handmade(blocks_in_a_pipeline(style, slow, interval), content, tmp_path, headers).run({})
    inner = For("k", slow, (), pipeline=Pipeline(1, 4, "flp"))
    traces = [
        TaskTrace("fill", (For("t", 9, (Hold("blocks", True), inner)),)),
        TaskTrace("drain", (For("t", 9, (Hold("blocks", False), Access("s", True)), pipeline=Pipeline(interval, 8, style)),)),
        TaskTrace("take", (For("t", 9, (Access("s", False),), pipeline=Pipeline(1, 2, "flp")),)),
    ]
    graph = TaskGraph.of([Channel("s", "drain", "take", 9, 16), Channel("blocks", "fill", "drain", 9, 2, is_ring=True)])
    found = earliest_run(Network([task_timeline(trace) for trace in traces], graph))
    (tokens,) = (use for use in measured.fifos if use.name == "s")
    assert list(tokens.produced) == at_points(found.written["s"], tokens.produced)
    assert {task.name: task.end for task in measured.tasks} == found.ends
