"""What a project takes into Vitis HLS: a testbench in standard C++, a script, and targets that run it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from l6_examples import EXAMPLES, parse, two_kernels

from stc.codegen.project import emit_project
from stc.manifest.files import read_manifest
from stc.simulation.package import INCLUDE, INTERFACE

pytestmark = pytest.mark.heavy

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")


def copy(emitted: Callable[[str], Path], name: str, folder: Path) -> Path:
    return Path(shutil.copytree(emitted(name), folder / name))


def built(project: Path) -> Path:
    binary = project / "vitis_testbench"
    sources = [project / "vitis_testbench.cpp", project / "kernel.cpp"]
    subprocess.run(["g++", "-std=c++17", "-w", "-I", INCLUDE, "-I", project, *sources, "-o", binary], check=True)
    return binary


def run_testbench(binary: Path, project: Path, *draws: str) -> subprocess.CompletedProcess[str]:
    """Run from somewhere else, as the tool does."""
    environment = {**os.environ, "STC_PROJECT": str(project)}
    return subprocess.run([binary, *draws], cwd="/", env=environment, capture_output=True, text=True)


@needs_compiler
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_testbench_is_standard_and_uses_what_is_documented(name: str, emitted: Callable[[str], Path]) -> None:
    project = emitted(name)
    text = (project / "vitis_testbench.cpp").read_text()
    assert "stc_sim" not in text
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-non-template-friend", "-Wno-unknown-pragmas", "-Wno-unused-label"]
    command = ["g++", "-std=c++14", "-fsyntax-only", *warnings, "-I", INTERFACE, "-I", project]
    subprocess.run([*command, project / "vitis_testbench.cpp"], check=True)


@needs_compiler
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_testbench_tells_right_from_wrong(name: str, emitted: Callable[[str], Path], tmp_path: Path) -> None:
    project = copy(emitted, name, tmp_path)
    binary, content = built(project), read_manifest(project)
    draw = content.draws[0].name
    assert subprocess.run([binary], cwd=project).returncode == 0
    assert run_testbench(binary, project, draw, draw).returncode == 0, "buffers are filled anew"
    output = next(tensor for tensor in content.tensors if tensor.role == "output")
    reference = project / "golden" / draw / f"{output.name}.bin"
    array = np.fromfile(reference, {"f32": np.float32, "i32": np.int32}[output.element_type])
    for wrong in ([array[-1] + 1] if output.element_type == "i32" else [array[-1] * 1.01 + 0.01, np.nan, np.inf]):
        changed = array.copy()
        changed[-1] = wrong
        changed.tofile(reference)
        done = run_testbench(binary, project)
        assert done.returncode == 1
        assert f"{output.name}: 1 of {array.size} entries wrong" in done.stdout
    array[:-1].tofile(reference)
    done = run_testbench(binary, project)
    assert done.returncode == 2 and f"{output.name}.bin: not readable as {array.size} values" in done.stderr


@pytest.mark.parametrize("name", EXAMPLES)
def test_interfaces_are_as_deep_as_the_buffers_of_the_testbench(name: str, emitted: Callable[[str], Path]) -> None:
    project = emitted(name)
    depths = dict(re.findall(r"m_axi port=(\w+) .*depth=(\d+)", (project / "kernel.cpp").read_text()))
    buffers = dict(re.findall(r"^static \w+ (\w+)_buffer\[(\d+)\];", (project / "vitis_testbench.cpp").read_text(), re.MULTILINE))
    assert depths == buffers and depths


TOOL = """#!/bin/sh
test "$1" = ../../vitis_hls.tcl && test -f "$1" || exit 1
echo "$STC_STEP $STC_KERNEL $STC_CLOCK_NS $STC_DRAWS" >> "$STC_PROJECT/calls"
mkdir -p $STC_KERNEL/solution/syn/report
echo $STC_KERNEL > $STC_KERNEL/solution/syn/report/csynth.xml
touch $STC_KERNEL/solution/syn/report/${STC_KERNEL}_csynth.xml
mkdir -p $STC_KERNEL/solution/sim/report && touch $STC_KERNEL/solution/sim/report/${STC_KERNEL}_cosim.rpt
"""


@pytest.mark.parametrize(("target", "step", "has_reports"), [
    ("csynth", "csynth", True), ("csim-vitis", "csim", False), ("cosim", "cosim", True),
])
def test_targets_run_the_script_per_kernel(target: str, step: str, has_reports: bool, tmp_path: Path) -> None:
    """In a folder whose name has what shells, tcl and make take apart."""
    project, model = tmp_path / "a project, $HOME {1}", EXAMPLES["scaled_sum"].model()
    module = parse(two_kernels("!X"))
    emit_project(module, replace(model, module=module), project, {"platform": "u55c"}, {"name": "twice"})
    tool = tmp_path / "vitis_hls"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    subprocess.run(["make", target, f"VITIS_HLS={tool}", "CLOCK_MHZ=200"], cwd=project, check=True, capture_output=True)
    kernels = ["scaled_sum", "second"]
    assert (project / "calls").read_text().splitlines() == [f"{step} {kernel} 5 example" for kernel in kernels]
    folder = project / "build" / "csynth"
    reports = {str(path.relative_to(folder)) for path in folder.rglob("*.xml")}
    expected = {f"{kernel}/{name}" for kernel in kernels for name in ("csynth.xml", f"{kernel}_csynth.xml")}
    assert reports == (expected if has_reports else set())
    assert [(folder / name).read_text().strip() for name in sorted(reports) if name.endswith("/csynth.xml")] == (
        kernels if has_reports else []
    )
    runs = {path.name for path in folder.rglob("*_cosim.rpt")}
    assert runs == ({f"{kernel}_cosim.rpt" for kernel in kernels} if target == "cosim" else set())
    marks = set(read_manifest(project).marks)
    assert all(set(path.read_text().split()) == marks for path in folder.rglob("design.txt"))
    assert len(list(folder.rglob("design.txt"))) == (len(kernels) if has_reports else 0), "what stc calibrate knows reports by"


def test_a_failing_tool_fails_the_target(emitted: Callable[[str], Path], tmp_path: Path) -> None:
    project = copy(emitted, "matmul", tmp_path)
    silent = subprocess.run(["make", "csynth", "VITIS_HLS=true"], cwd=project, capture_output=True, text=True)
    assert silent.returncode == 2 and "true left no report of" in silent.stderr, "nor is a tool that does nothing a success"
    assert subprocess.run(["make", "csynth", "VITIS_HLS=false"], cwd=project, capture_output=True).returncode == 2


@pytest.mark.skipif(shutil.which("tclsh") is None, reason="tclsh is needed")
@pytest.mark.parametrize("step", ["csim", "csynth", "cosim"])
def test_the_script_is_tcl(step: str, emitted: Callable[[str], Path], tmp_path: Path) -> None:
    commands = ["open_project", "set_top", "add_files", "open_solution", "set_part", "create_clock", "config_dataflow",
                "csim_design", "csynth_design", "cosim_design", "close_project"]
    procedures = "".join(f"proc {name} args {{ puts \"{name} $args\" }}\n" for name in commands)
    script = tmp_path / "run.tcl"
    script.write_text(procedures + (emitted("matmul") / "vitis_hls.tcl").read_text())
    variables = {"STC_STEP": step, "STC_PROJECT": "/p", "STC_KERNEL": "k", "STC_CLOCK_NS": "4", "STC_DRAWS": "example"}
    done = subprocess.run(["tclsh", script], env={**os.environ, **variables}, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert "set_part xcu55c-fsvh2892-2L-e" in lines and "config_dataflow -strict_mode error" in lines
    steps = [line for line in lines if line.split()[0].endswith("_design")]
    assert steps == {"csim": ["csim_design -argv example"], "csynth": ["csynth_design "],
                     "cosim": ["csynth_design ", "cosim_design -argv example"]}[step]
    assert [line.split()[-1] for line in lines if line.startswith("add_files")] == ["../../kernel.cpp", "../../vitis_testbench.cpp"]
    assert not any("/p" in line for line in lines)


@pytest.mark.parametrize("unsafe", [False, True])
def test_unsafe_math_is_allowed_where_it_was_asked_for(unsafe: bool, tmp_path: Path) -> None:
    model = EXAMPLES["matmul"].model()
    emit_project(model.module, model, tmp_path / "out", {"platform": "u55c", "unsafe_math": unsafe}, {"name": "matmul"})
    script = (tmp_path / "out" / "vitis_hls.tcl").read_text()
    assert ("\nconfig_compile -unsafe_math_optimizations\n" in script) is unsafe


@pytest.mark.parametrize("name", EXAMPLES)
def test_lines_are_no_longer_than_a_screen(name: str, tmp_path: Path) -> None:
    """Also where names are long; pragmas and what the vendor released stay in one piece."""
    model = EXAMPLES[name].model()
    long = "a_name_that_is_as_long_as_those_of_modules_in_modules_often_are"
    inputs = {f"{key}_{long}": value for key, value in model.inputs.items()}
    module = parse(str(model.module).replace('stc.name = "x"', f'stc.name = "x_{long}"'))
    emit_project(module, replace(model, module=module, inputs=inputs), tmp_path / "out", {"platform": "u55c"}, {"name": name})
    texts = [path for path in (tmp_path / "out").rglob("*") if path.suffix in (".cpp", ".h", ".py", ".tcl", ".cfg", "")]
    lines = [(path.name, line) for path in texts if path.is_file() and not path.name.startswith("ap_") and "etc" not in path.parts
             for line in path.read_text().splitlines()]
    assert len(lines) > 1000
    assert [(path, line) for path, line in lines if len(line) > 132 and not line.startswith("#pragma")] == []
