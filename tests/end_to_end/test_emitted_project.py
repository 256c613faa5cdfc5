"""An emitted folder is whole: it builds and runs without `stc`, and its host programs are real."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from projects import Compile

from stc.manifest.files import read_manifest
from stc.runtime.xrt.device import simulated_device
from stc_testing.xrt import require_xrt

pytestmark = pytest.mark.heavy

HERE = Path(__file__).parent


@pytest.fixture
def fresh(compiled: Compile, tmp_path: Path) -> Path:
    """A copy of a small project, without anything built."""
    folder = compiled(f"{HERE / 'modules.py'}:branching").folder
    return shutil.copytree(folder, tmp_path / "moved", ignore=shutil.ignore_patterns("build"))


def run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*command], capture_output=True, text=True, check=False, cwd=cwd, env=env)


@pytest.mark.skipif(not Path("/usr/bin/make").is_file(), reason="make is needed")
def test_make_csim_needs_no_stc(fresh: Path) -> None:
    """The system's python3, an empty environment, another folder than the one it was compiled into."""
    done = run("/usr/bin/make", "-C", fresh, "csim", env={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert (fresh / "build" / "csim.json").is_file() and "draw: huge" in done.stdout
    golden = fresh / "golden" / "draw" / "out0.bin"
    golden.write_bytes(bytes(golden.stat().st_size))
    assert run("/usr/bin/make", "-C", fresh, "csim", env={"PATH": "/usr/bin:/bin"}).returncode != 0


def test_host_py_computes_and_compares(fresh: Path) -> None:
    done = run(sys.executable, fresh / "host.py", "--device", "csim")
    assert done.returncode == 0, done.stderr
    assert "out0: largest error" in done.stdout and "out1: largest error" in done.stdout
    weight = fresh / "parameters" / "fc_weight.bin"
    weight.write_bytes(bytes(weight.stat().st_size))
    corrupt = run(sys.executable, fresh / "host.py", "--device", "csim")
    assert corrupt.returncode == 2 and "checksum" in corrupt.stderr


@pytest.mark.parametrize("options", [{}, {"on_chip": 30_000}], ids=["one kernel", "several kernels"])
def test_host_cpp_computes_on_xrt(compiled: Compile, tmp_path: Path, options: dict[str, int]) -> None:
    """A block of GPT-2 on the vendor's runtime, the C simulation its device."""
    require_xrt()
    folder = compiled("gpt2-tiny", 8, **options).folder
    flags = ("-std=c++17", "-Wall", "-Werror", "-I/usr/include/xrt", f"-I{folder}", "-lxrt_coreutil", "-pthread")
    host = tmp_path / "host"
    done = run("g++", folder / "host.cpp", "-o", host, *flags)
    assert done.returncode == 0, done.stderr
    started = run(host, "none.xclbin", folder)
    assert started.returncode == 2 and started.stderr.strip(), started.stdout
    simulated = simulated_device(folder)
    trace = tmp_path / "trace"
    done = run(host, simulated.xclbin, folder, env={**os.environ, **simulated.environment, "STC_XRT_TRACE": str(trace)})
    draws = [draw.name for draw in read_manifest(folder).draws]
    assert done.returncode == 0 and done.stdout.count("passed") == len(draws) and not done.stderr, done.stdout + done.stderr
    events = [line.split()[1] for line in trace.read_text().splitlines()]
    ports = {port.buffer: port for kernel in read_manifest(folder).kernels for port in kernel.ports}
    kinds = [port.kind for port in ports.values()]
    sent = events[: events.index("end")].count("send")
    assert sent == kinds.count("parameter") + 2 * kinds.count("input"), "the second draw is sent before the first is computed"
