"""The timed token model of tasks against the emitted C++: every FIFO's curves, and when every task ends, cycle by cycle.

FIFOs are unlimited and external memory answers at once, so that nobody waits for anything but tokens and blocks: there the model
claims to be exact, but for iterations that read several tokens of one FIFO. The model lets them wait for the last of these and then
begin; the simulation has taken the first ones by then.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from stc.analysis.task_graph import ends_of
from stc.analysis.task_timelines import task_timeline
from stc.codegen.project import emit_project
from stc.design_space.fifo_curves import LATENCY, SHALLOW, SHALLOW_LATENCY
from stc.design_space.network_run import Link, Network, NetworkRun, earliest_run
from stc.dialects import stream
from stc.dialects.context import make_context
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.frontend.exported import ExportedModel
from stc.iteration.task_timeline import lateness
from stc.manifest.files import read_manifest
from stc.pipeline import PipelineOptions, run_stages, stages
from stc.platforms.platform import load_platform
from stc.simulation.simulate import SimulationResult, simulate
from stc.simulation.timing_table import SimulationOptions

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


def emitted(text: str, options: PipelineOptions, folder: Path) -> ModuleOp:
    """The last level of a program, emitted without the times of external memory."""
    chance = np.random.default_rng(1)
    module = parse_module(text)
    inputs = {"arg0": chance.random((6, 20), dtype=np.float32), "arg1": chance.random((20, 14), dtype=np.float32)}
    results = execute(module, list(inputs.values()))
    run_stages(module, make_context(), stages(options))
    model = ExportedModel("timeline", module, inputs, {}, {"result0": results[0]})
    emit_project(module, model, folder, {"platform": "u55c"}, {"name": "timeline"})
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "memory": None}))
    assert read_manifest(folder).memory is None
    return module


def run_of_the_model(module: ModuleOp) -> tuple[NetworkRun, Network]:
    kernel = next(op for op in module.walk() if isinstance(op, KernelOp))
    ops = list(kernel.body.block.ops)
    streams = [op for op in ops if isinstance(op, stream.CreateOp)]
    rings = [op for op in ops if isinstance(op, stream.BufferOp)]
    names: dict[SSAValue, str] = {op.result: op.sym_name.data for op in (*streams, *rings)}
    links = []
    for create in streams:
        source, target = ends_of(create.result)
        latency = SHALLOW_LATENCY if create.result.type.depth <= SHALLOW else LATENCY
        links.append(Link(create.sym_name.data, source.sym_name.data, target.sym_name.data, latency))
    timelines = [task_timeline(op, names, load_platform("u55c").cycle_ns) for op in ops if isinstance(op, TaskOp)]
    network = Network(timelines, links, {ring.sym_name.data: ring.result.type.count for ring in rings})
    return earliest_run(network), network


def at_points(times: np.ndarray, points: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """What the model says at the counts that the simulation kept."""
    return [(int(times[count - 1]), count) for _, count in points]


def read_in_groups(network: Network) -> set[str]:
    """FIFOs of which one iteration reads several tokens."""
    late = [lateness(task.program) for task in network.tasks]
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
    [(PipelineOptions(tile=4, rows=4, lanes=4), False), (PipelineOptions(tile=7, lanes=2, propagate_orders=False), True)],
    ids=["orders", "uniform"],
)
def test_the_model_agrees_with_the_emitted_code(options: PipelineOptions, rings: bool, tmp_path: Path) -> None:
    module = emitted(NORM_AND_PRODUCT, replace(options, platform="u55c"), tmp_path / "project")
    found, network = run_of_the_model(module)
    assert len(network.tasks) >= 6
    assert bool(network.rings) == rings
    measured = simulate(tmp_path / "project", SimulationOptions(unbounded=True), optimisation=0)
    grouped = read_in_groups(network)
    assert len(grouped) < len(network.links) / 3
    require_agreement(found, measured, grouped)
    assert measured.cycles == found.makespan
