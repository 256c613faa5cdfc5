"""A kernel built as several compute units, joined by streams that lead both ways: values, cycles, hosts and files."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from stc.codegen.vitis_rules import connectivity_violations, kernel_violations
from stc.diagnostics import CompileError
from stc.manifest.files import read_manifest
from stc.runtime.accelerator import Accelerator
from stc.runtime.csim_device import CsimRuntime
from stc.simulation.simulate import SimulationOptions, simulate
from stc.tools.compile import CompileRequest, compile_model
from stc_testing.commands import Stc
from stc_testing.small import small_options
from stc_testing.xrt import require_xrt

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")]

LINEAR = str(Path(__file__).parents[2] / "examples" / "linear_relu.mlir")


@pytest.fixture(scope="module")
def two_units(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("units") / "out"
    compile_model(CompileRequest(LINEAR, options=small_options(units="memory")), folder)
    return folder


def test_values_and_cycles_are_those_of_one_unit(two_units: Path, tmp_path: Path, stc: Stc) -> None:
    assert stc("compile", LINEAR, "--small", "--out", tmp_path / "one").code == 0
    apart, one = simulate(two_units, optimisation=0), simulate(tmp_path / "one", optimisation=0)
    assert apart.passed and one.passed and apart.cycles == one.cycles
    (kernel,) = read_manifest(two_units).kernels
    memory, body = kernel.units
    assert (memory.starts, body.starts) == (True, False)
    assert body.ports == () and memory.ports == tuple(port.name for port in kernel.ports)
    assert set(memory.sends) == set(body.receives) and set(memory.receives) == set(body.sends) and memory.receives
    assert len({task.name for task in apart.tasks}) == len(kernel.tasks)  # the units themselves are none


def test_what_is_emitted(two_units: Path) -> None:
    header, source, linked = ((two_units / name).read_text() for name in ("kernel.h", "kernel.cpp", "connectivity.cfg"))
    name = read_manifest(two_units).kernels[0].name
    assert re.search(rf"{name}_body\([^)]*hls::stream<float_x16> &\w+\) {{\n#pragma HLS interface mode=axis port=", source)
    assert "#pragma HLS interface mode=ap_ctrl_none port=return\n#pragma HLS dataflow disable_start_propagation\n" in source
    assert re.search(rf"^stream_connect={name}_memory_1.(\w+):{name}_body_1.\1:\d+$", linked, re.MULTILINE)
    assert not kernel_violations(source, header) and not connectivity_violations(source, linked)


BROKEN = {
    "a link has no port": (r"#pragma HLS interface mode=axis port=\w+\n", "", "has no axis port="),
    "nobody starts it": (r"#pragma HLS interface mode=ap_ctrl_none port=return\n", "", "has no ap_ctrl_none port=return"),
    "tasks wait for a start": (r"dataflow disable_start_propagation", "dataflow", "runs by itself without"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_unit_is_seen(two_units: Path, fault: str) -> None:
    pattern, text, complaint = BROKEN[fault]
    changed, count = re.subn(pattern, text, (two_units / "kernel.cpp").read_text(), count=1)
    found = kernel_violations(changed, (two_units / "kernel.h").read_text())
    assert count == 1 and [violation.rule for violation in found] == [26] and complaint in found[0].message


def test_a_broken_link_is_seen(two_units: Path) -> None:
    source, linked = (two_units / "kernel.cpp").read_text(), (two_units / "connectivity.cfg").read_text()
    line = next(line for line in linked.splitlines(keepends=True) if line.startswith("stream_connect="))
    for changed, count in ((linked.replace(line, ""), 2), (linked + line, 2), (linked.replace(line, f"{line[:-1]}:x\n"), 3)):
        assert [violation.rule for violation in connectivity_violations(source, changed)] == [25] * count


def test_wide_tokens_are_no_links() -> None:
    top = 'extern "C" void f(hls::stream<hls::vector<float, 80>> &x) {\n#pragma HLS interface mode=axis port=x\n'
    rest = "#pragma HLS interface mode=ap_ctrl_none port=return\n#pragma HLS dataflow disable_start_propagation\n}\n"
    (violation,) = kernel_violations(top + rest)
    assert violation.rule == 8 and "2560 bit between units" in violation.message


def test_the_host_starts_what_has_to_be_started(two_units: Path) -> None:
    done = subprocess.run([sys.executable, two_units / "host.py", "--device", "csim"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "passed" in done.stdout, done.stderr
    accelerator = Accelerator(two_units)
    assert accelerator(accelerator.golden("input")).keys() == accelerator.golden("output").keys()
    runtime = CsimRuntime(two_units)
    with pytest.raises(RuntimeError, match="no kernel 'linear_relu_body' in the design, expected one of linear_relu_memory"):
        runtime.kernel(runtime.device(0), "", "linear_relu_body")


def test_a_schedule_gives_the_same_units_back(two_units: Path, tmp_path: Path, stc: Stc) -> None:
    said = tomllib.loads((two_units / "schedule.toml").read_text())["stc"]
    assert said["options"]["units"] == "memory" and set(said["units"].values()) == {"memory", "body"}
    assert stc("compile", LINEAR, "--schedule", two_units / "schedule.toml", "--out", tmp_path / "again").code == 0
    for name in ("kernel.cpp", "connectivity.cfg", "schedule.toml", "manifest.json"):
        assert (tmp_path / "again" / name).read_text() == (two_units / name).read_text()


def test_units_of_ones_own(two_units: Path, tmp_path: Path, stc: Stc) -> None:
    """Three of them, two with memory ports, by an edited schedule; the host starts both."""
    text = (two_units / "schedule.toml").read_text()
    stores = re.sub(r'^(store\w*) = "memory"', r'\1 = "last"', text, flags=re.MULTILINE)
    (tmp_path / "schedule.toml").write_text(stores)
    folder = tmp_path / "out"
    assert stores != text and stc("compile", LINEAR, "--schedule", tmp_path / "schedule.toml", "--out", folder).code == 0
    manifest = read_manifest(folder)
    assert [unit.starts for unit in manifest.kernels[0].units] == [True, False, True]
    assert simulate(folder, optimisation=0).passed
    runtime, name = CsimRuntime(folder), manifest.kernels[0].name
    kernel, device = manifest.kernels[0], runtime.device(0)
    handle = runtime.kernel(device, "", f"{name}_memory")
    ports = [kernel.port(port) for port in kernel.units[0].ports]
    run = handle(*(runtime.bo(device, port.bytes, 0, handle.group_id(index)) for index, port in enumerate(ports)))
    with pytest.raises(RuntimeError, match=f"{name}_memory waits for {name}_last, which nobody has started"):
        run.wait()
    require_xrt()
    done = stc("run", folder, "--device", "xrt", "--host", "python")
    assert done.code == 0 and "passed" in done.stdout, done.stderr
    host = folder / "host.py"
    host.write_text(host.read_text().replace("for handle, unit in self.units[name]", "for handle, unit in self.units[name][:1]"))
    stuck = stc("run", folder, "--device", "xrt", "--host", "python")
    assert stuck.code == 2 and f"nobody has started {name}_last" in stuck.stderr, stuck.stderr


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ((r"^\[stc.units\]$", '[stc.units]\nnobody = "memory"'), "no task is called 'nobody'"),
        ((r'^(load_x) = "memory"\n', ""), "task 'load_x' has no unit"),
    ],
)
def test_wrong_units_of_a_schedule(two_units: Path, tmp_path: Path, stc: Stc, change: tuple[str, str], complaint: str) -> None:
    text, count = re.subn(*change, (two_units / "schedule.toml").read_text(), flags=re.MULTILINE)
    (tmp_path / "schedule.toml").write_text(text)
    done = stc("compile", LINEAR, "--schedule", tmp_path / "schedule.toml", "--out", tmp_path / "out")
    assert count == 1 and done.code == 2 and complaint in done.stderr + done.stdout


def test_a_manifest_of_other_units_is_refused(two_units: Path, tmp_path: Path) -> None:
    value = json.loads((two_units / "manifest.json").read_text())
    value["kernels"][0]["units"][0]["sends"].pop()
    shutil.copytree(two_units, tmp_path / "copy", ignore=shutil.ignore_patterns("build"))
    (tmp_path / "copy" / "manifest.json").write_text(json.dumps(value))
    with pytest.raises(CompileError, match=r"kernels\[0\].units\[0\].sends"):
        read_manifest(tmp_path / "copy")


def test_scalars_reach_units_that_nobody_starts(tmp_path: Path, stc: Stc) -> None:
    """A decoder layer, of which all but the memory ports is such a unit: as many rows of the cache as the position says, and the
    cycles of one unit but for the tokens in front."""
    cycles: dict[str, list[int | None]] = {}
    for units in ("memory", "one"):
        out = tmp_path / units
        words = ["gpt2-tiny", "--stage", "decode", "--max-seq", "8", "--run-time-sizes", "--small", "--units", units]
        assert stc("compile", *words, "--out", out).code == 0
        assert simulate(out, optimisation=0).passed
        cycles[units] = [simulate(out, SimulationOptions(at={"pos": at}), optimisation=0).cycles for at in (0, 1, 5)]
    (kernel,) = read_manifest(tmp_path / "memory").kernels
    memory, body = kernel.units
    assert (memory.starts, body.starts, memory.scalars, body.scalars) == (True, False, ("pos",), ())
    assert {stream.name for stream in kernel.streams if stream.element_type == "index"} <= set(body.receives)
    assert "const int pos = concat_attn_k_concat_pos.read();" in (tmp_path / "memory" / "kernel.cpp").read_text()
    for apart, one in zip(cycles["memory"], cycles["one"], strict=True):
        assert apart is not None and one is not None and one <= apart <= 1.02 * one
