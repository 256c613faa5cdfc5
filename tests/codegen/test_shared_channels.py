"""Time of memory ports: what sizing takes from the IR is what the simulation is told by the manifest, and who shares a channel."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from l6_examples import parse, two_kernels
from xdsl.dialects.builtin import ModuleOp

from stc.analysis.memory_beats import memory_beats
from stc.codegen.design import Design, design_of
from stc.codegen.manifest_builder import build_manifest
from stc.codegen.templates import render, render_model
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.iteration.trace import MICRO
from stc.manifest.schema import Draw, Manifest
from stc.pipeline import PipelineOptions, run_stages, stages
from stc.platforms.platform import Platform, load_platform
from stc.simulation.timing_table import SimulationOptions, timing_table
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

END_TO_END = Path(__file__).parents[1] / "end_to_end"
WIDE = (END_TO_END / "wide.mlir").read_text().replace("@forward", "@main")
ONE_SUM = """
func.func @main(%x: tensor<1x24xf32>) -> tensor<1xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1x24xf32>) outs(%f : tensor<1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %q = arith.addf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<1xf32>
  return %s : tensor<1xf32>
}
"""
BYTES_PER_CYCLE = 53.2
"""13.3 GB/s in cycles of 4 ns."""
OTHER_LAYOUT = "!itensor.itensor<1x8xf32, iter_space: [2, 3] * [8, 1], iter_map: (d0, d1) -> (d1, d0)>"


def few_channels(count: int) -> Platform:
    platform = load_platform("u55c")
    return replace(platform, memory=replace(platform.memory, channels=count, tags=count))


def lowered(text: str, options: PipelineOptions) -> ModuleOp:
    module = parse_module(text)
    run_stages(module, make_context(), stages(options))
    return module


def described(module: ModuleOp, platform: Platform) -> tuple[Design, Manifest]:
    design = design_of(module, platform)
    return design, build_manifest("shared", design, {}, {}, (), platform, {}, 1e-4)


def table_of(manifest: Manifest) -> dict[str, tuple[int, int]]:
    """Read latency and issue rate, in millionths of a cycle, of each port, as the simulation is told them."""
    lines = [line.split() for line in timing_table(manifest, SimulationOptions()).splitlines()]
    return {line[1]: (int(line[2]), int(line[3].replace(".", ""))) for line in lines if line[0] == "port"}


def cycles_per_beat(word_bytes: float) -> int:
    """By definition, in millionths of a cycle."""
    return round(max(1.0, word_bytes / BYTES_PER_CYCLE) * MICRO)


def sharing(manifest: Manifest) -> dict[str, set[str]]:
    """By kernel and channel the ports that get what others leave of it, as the simulation is told."""
    found: dict[str, set[str]] = {}
    for line in map(str.split, timing_table(manifest, SimulationOptions()).splitlines()):
        if line[0] == "port" and len(line) > 6:
            found.setdefault(line[6], set()).add(line[1])
    return found


def require_agreement(module: ModuleOp, platform: Platform) -> None:
    design, manifest = described(module, platform)
    beats = memory_beats(module, platform.memory, platform.cycle_ns)
    ports = [port for kernel in design.kernels for port in kernel.ports]
    assert {port.name: (beats[port.value].latency, beats[port.value].micro) for port in ports} == table_of(manifest)
    directions = {port.name: port.direction for kernel in manifest.kernels for port in kernel.ports}
    assert {port.name: "write" if beats[port.value].writes else "read" for port in ports} == directions


@pytest.mark.parametrize("channels", [1, 2, 3, 5, 7, 32])
def test_seven_ports_of_one_kernel(channels: int) -> None:
    """Of words of 64 bytes. The first result goes through the port that reads the least: both move less than another port does."""
    module, platform = lowered(WIDE, small_options(schedule=str(END_TO_END / "wide.toml"))), few_channels(channels)
    require_agreement(module, platform)
    _, manifest = described(module, platform)
    (kernel,) = manifest.kernels
    adapters = [0, 1, 2, 3, 0, 4, 5]
    linked = [number % channels for number in adapters]
    assert [port.bundle for port in kernel.ports] == [f"gmem{number}" for number in adapters]
    assert [port.bank for port in kernel.ports] == linked
    assert {micro for _, micro in table_of(manifest).values()} == {cycles_per_beat(64)}
    together = {f"{kernel.name}.{bank}": {port.name for port in kernel.ports if port.bank == bank} for bank in {*linked}}
    assert sharing(manifest) == {channel: ports for channel, ports in together.items() if len(ports) > 1}
    assert kernel.ports[0].mover != kernel.ports[4].mover and f"{kernel.name}.0" in sharing(manifest)   # it reads and writes


@pytest.mark.parametrize("channels", [1, 2])
def test_the_padding_counts(channels: int) -> None:
    """A result of one word of four bytes takes the time of 64."""
    module, platform = lowered(ONE_SUM, small_options(tile=24, rows=1, lanes=1)), few_channels(channels)
    require_agreement(module, platform)
    *_, (_, result) = table_of(described(module, platform)[1]).values()
    assert result == cycles_per_beat(64)


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_two_compiled_kernels(channels: int) -> None:
    """The buffer between the kernels lies in one channel for both."""
    module = lowered(WIDE, small_options(on_chip=2000))
    require_agreement(module, few_channels(channels))
    _, manifest = described(module, few_channels(channels))
    first, second = manifest.kernels
    assert first.ports[-1].buffer == second.ports[0].buffer and first.ports[-1].bank == second.ports[0].bank
    together = {port.bundle: port.bank for port in first.ports[:3]}
    assert len(together) == 2 and len(set(together.values())) == min(channels, 2)


@pytest.mark.parametrize(
    ("layout", "banks"), [("!X", [0, 1, 0, 0, 1, 1]), (OTHER_LAYOUT, [0, 1, 0, 1, 1, 0])], ids=["kept", "packed again"]
)
def test_a_buffer_that_is_unpacked_only_to_be_packed_alike(layout: str, banks: list[int]) -> None:
    """Six ports of words of 32 bytes on two channels: the buffer between the kernels is one where the host leaves it alone."""
    module, platform = parse(two_kernels(layout)), few_channels(2)
    require_agreement(module, platform)
    _, manifest = described(module, platform)
    assert [port.bank for kernel in manifest.kernels for port in kernel.ports] == banks
    assert {micro for _, micro in table_of(manifest).values()} == {cycles_per_beat(32)}
    halves = ((kernel, Counter(port.bank for port in kernel.ports)) for kernel in manifest.kernels)
    assert {*sharing(manifest)} == {f"{kernel.name}.{bank}" for kernel, count in halves for bank in count if count[bank] == 2}


def ends_of(manifest: Manifest, platform: Platform) -> dict[str, str]:
    """What connectivity.cfg links each port to."""
    text = render_model("shared", {"stage": manifest}, platform)["connectivity.cfg"]
    return dict(re.findall(r"^sp=\w+\.(\w+):(.*)$", text, re.MULTILINE))


def drawn(manifest: Manifest) -> Manifest:
    """With a draw, which hosts ask for."""
    return replace(manifest, draws=(Draw("input", {}, {}, {}),))


def test_bundles_of_one_channel_get_different_ends_of_it() -> None:
    """Two channels with two ends each, bundles in turn in either: counted per kernel, all of one would be at one end of it."""
    module, wide = lowered(WIDE, small_options(schedule=str(END_TO_END / "wide.toml"))), few_channels(2)
    platform = replace(wide, memory=replace(wide.memory, tags=4, tag="HBM{n}"))
    _, manifest = described(module, platform)
    (kernel,) = manifest.kernels
    ends = ends_of(manifest, platform)
    assert len({port.bundle for port in kernel.ports}) == 6 and {*ends.values()} == {"HBM0", "HBM1", "HBM2", "HBM3"}
    assert len({(port.bundle, ends[port.name]) for port in kernel.ports}) == 6
    assert all(platform.memory.channel_of[ends[port.name]] == port.bank for port in kernel.ports)


def test_kernels_take_ends_apart() -> None:
    """Their bundles have the same names, and run at different times: each begins at the first end of a channel."""
    module, wide = parse(two_kernels("!X")), few_channels(1)
    platform = replace(wide, memory=replace(wide.memory, tags=3, tag="HBM{n}"))
    _, manifest = described(module, platform)
    ends = ends_of(manifest, platform)
    assert [[ends[port.name] for port in kernel.ports] for kernel in manifest.kernels] == [["HBM0", "HBM1", "HBM2"]] * 2


def test_what_the_host_sends_or_fetches_lies_there_twice() -> None:
    """host.cpp has two of these buffers: a channel with a byte less is refused."""
    module, platform = lowered(ONE_SUM, small_options(tile=24, rows=1, lanes=1)), few_channels(1)
    design, manifest = described(module, platform)
    once = sum(port.bytes for kernel in design.kernels for port in kernel.ports)
    host = render(drawn(manifest), platform)["host.cpp"]
    assert host.count("_buffer[2] = {") == 2, "the input and the result"

    def of(size: int) -> Platform:
        return replace(platform, memory=replace(platform.memory, channel_bytes=size))

    design_of(module, of(2 * once))
    with pytest.raises(CompileError, match=f"channel 0 has buffers of {2 * once} bytes, .* at most {2 * once - 1} bytes"):
        design_of(module, of(2 * once - 1))


def test_makefiles_take_the_clock_that_is_scheduled_for() -> None:
    module, platform = lowered(ONE_SUM, small_options(tile=24, rows=1, lanes=1)), few_channels(1)
    platform = replace(platform, clocks_mhz=(100, 200, 150))
    manifest = drawn(described(module, platform)[1])
    assert manifest.memory is not None and manifest.memory.clock_mhz == 200
    for makefile in (render(manifest, platform)["Makefile"], render_model("shared", {"stage": manifest}, platform)["Makefile"]):
        assert "CLOCK_MHZ ?= 200\n" in makefile
