"""host.py and the C-simulation device really compute, and mistakes show."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from stc.diagnostics import CompileError
from stc.runtime.accelerator import Accelerator
from stc.runtime.csim_device import CsimRuntime
from stc.runtime.shared_kernel import shared_kernels

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")]


@pytest.fixture(scope="module")
def project(emitted: Callable[[str], Path]) -> Path:
    return emitted("matmul")


def host(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, project / "host.py", *arguments], capture_output=True, text=True, check=False)


def test_host_py_computes(project: Path) -> None:
    done = host(project, "--device", "csim")
    assert done.returncode == 0 and "y: largest error" in done.stdout and "passed" in done.stdout, done.stderr


def test_host_py_without_a_card(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XILINX_XRT", raising=False)
    done = host(project)
    assert done.returncode == 2 and done.stderr.startswith("error: ") and "or --device csim" in done.stderr
    assert host(project, "--device", "gpu").returncode == 2


def test_other_inputs(project: Path) -> None:
    accelerator = Accelerator(project)
    weight = np.random.default_rng(7)
    weight.standard_normal((4, 6), dtype=np.float32)
    w = weight.standard_normal((8, 6), dtype=np.float32)
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    for _ in range(2):
        assert np.allclose(accelerator({"x": x})["y"], x @ w.T, atol=1e-4)


def test_wrong_inputs(project: Path) -> None:
    accelerator = Accelerator(project)
    with pytest.raises(CompileError, match=r"input 'x' is missing or of another shape; accepted: \[4, 6\]"):
        accelerator({"x": np.zeros((4, 7), np.float32)})


def test_a_scalar_is_unpacked(project: Path) -> None:
    """An index without dimensions gives a copy, no view: the result of an arg-max over everything was lost."""
    specification = importlib.util.spec_from_file_location("scalar_host", project / "host.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    order = {"element": [], "loops": [], "coordinates": []}
    port = {"shape": [], "lanes": 1, "element_type": "i64", "order": order}
    assert module.unpack(np.array([46]), port) == 46
    assert module.pack(np.array(46), port).tolist() == [46]


def test_parameters_of_one_launch(project: Path) -> None:
    accelerator = Accelerator(project)
    inputs = accelerator.golden("input")
    own = accelerator(inputs)["y"]
    packed = np.frombuffer((project / "parameters" / "fc_weight.bin").read_bytes(), np.uint8)
    twice = accelerator.with_parameters({"fc_weight": (2 * packed.view("<f4")).view(np.uint8)})
    assert np.allclose(accelerator(inputs, twice)["y"], 2 * own, rtol=1e-5)
    assert np.array_equal(accelerator(inputs)["y"], own)


def test_buffers_that_each_launch_brings(project: Path) -> None:
    """They are not made, not even where their file is gone, and nothing else stands in for one that is not brought."""
    accelerator = Accelerator(project, given=["fc_weight"])
    packed = np.frombuffer((project / "parameters" / "fc_weight.bin").read_bytes(), np.uint8)
    inputs, brought = accelerator.golden("input"), accelerator.with_parameters({"fc_weight": packed})
    assert np.array_equal(accelerator(inputs, brought)["y"], Accelerator(project)(inputs)["y"])
    with pytest.raises(CompileError, match="buffer 'fc_weight' is not given"):
        accelerator(inputs)


def test_truncated_parameters(project: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(project, tmp_path / "copy")
    parameter = copy / "parameters" / "fc_weight.bin"
    parameter.write_bytes(parameter.read_bytes()[:-4])
    with pytest.raises(CompileError, match=r"fc_weight\.bin: file has 188 bytes; accepted: 192"):
        Accelerator(copy)
    done = host(copy, "--device", "csim")
    assert done.returncode == 2 and "188 bytes" in done.stderr


def test_not_a_project(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"no manifest\.json"):
        Accelerator(tmp_path)


class Bench:
    """The matmul kernel on the C-simulation device, by hand."""

    def __init__(self, project: Path):
        self.xrt = CsimRuntime(project)
        device = self.xrt.device(0)
        self.kernel = self.xrt.kernel(device, device.load_xclbin("none"), "fc_kernel")
        self.sizes = (128, 192, 128)
        self.buffers = [self.xrt.bo(device, size, self.xrt.bo.normal, self.kernel.group_id(i)) for i, size in enumerate(self.sizes)]
        for buffer in self.buffers[:2]:
            buffer.write(np.ones(buffer.size() // 4, np.float32).tobytes())

    def to_device(self, index: int) -> None:
        self.buffers[index].sync(self.xrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE)

    def from_device(self) -> np.ndarray:
        self.buffers[2].sync(self.xrt.xclBOSyncDirection.XCL_BO_SYNC_BO_FROM_DEVICE)
        return np.frombuffer(self.buffers[2].map(), np.float32)


def test_synced_buffers_compute(project: Path) -> None:
    bench = Bench(project)
    bench.to_device(0)
    bench.to_device(1)
    run = bench.kernel(*bench.buffers)
    assert run.wait() is bench.xrt.ert_cmd_state.ERT_CMD_STATE_COMPLETED
    assert np.array_equal(bench.from_device(), np.full(32, 6, np.float32))


def test_a_forgotten_sync_shows(project: Path) -> None:
    bench = Bench(project)
    bench.to_device(0)
    bench.kernel(*bench.buffers)
    assert np.isnan(bench.from_device()).all()
    bench.to_device(1)
    bench.kernel(*bench.buffers)
    assert not np.frombuffer(bench.buffers[0].map(), np.float32).all() or not np.isnan(bench.from_device()).any()


def test_misuse_raises_as_xrt_does(project: Path) -> None:
    bench = Bench(project)
    device = bench.xrt.device(0)
    with pytest.raises(RuntimeError, match="no kernel 'other'"):
        bench.xrt.kernel(device, "", "other")
    with pytest.raises(RuntimeError, match="no index 3"):
        bench.kernel.group_id(3)
    with pytest.raises(RuntimeError, match="buffer of 64 bytes for port x, expected 128"):
        bench.kernel(bench.xrt.bo(device, 64, 0, 0))
    linked = bench.kernel.group_id(0)
    with pytest.raises(RuntimeError, match=f"buffer in bank {linked + 1} for port x, which is linked to bank {linked}"):
        bench.kernel(bench.xrt.bo(device, 128, 0, linked + 1))
    run = bench.xrt.run(bench.kernel)
    run.set_arg(0, bench.buffers[0])
    with pytest.raises(RuntimeError, match="argument fc_weight of fc_kernel is not set"):
        run.start()
    with pytest.raises(RuntimeError, match="no device with index 1"):
        bench.xrt.device(1)


def test_a_deadlock_is_an_error(project: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(project, tmp_path / "stuck", ignore=shutil.ignore_patterns("build"))
    kernel = copy / "kernel.cpp"
    kernel.write_text(kernel.read_text().replace("i < 12;", "i < 11;"))
    accelerator = Accelerator(copy)
    with pytest.raises(CompileError, match="x_stream"):
        accelerator(accelerator.golden("input"))
    other = Accelerator(project)
    assert other(other.golden("input")), "a design that stops does not stop another one in the same process"


STUB = Path(__file__).parent / "xrt_stub"


def native_host(project: Path, include: Path, *arguments: str) -> None:
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{include}", f"-I{project}", str(project / "host.cpp")]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_host_cpp_computes(project: Path, tmp_path: Path) -> None:
    """The native program, on the C simulation behind XRT's interface."""
    shared_kernels(project)
    binary, library = tmp_path / "host", project / "build" / "kernel.so"
    native_host(project, STUB, "-o", str(binary), "-ldl")

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([binary, *arguments], capture_output=True, text=True, check=False)

    done = run(library, project)
    assert done.returncode == 0 and "y: largest error" in done.stdout and "passed" in done.stdout, done.stdout + done.stderr
    usage = run()
    assert usage.returncode == 2 and "usage:" in usage.stderr
    copy = shutil.copytree(project, tmp_path / "copy")
    parameter = copy / "parameters" / "fc_weight.bin"
    parameter.write_bytes(parameter.read_bytes()[:-4])
    truncated = run(library, copy)
    assert truncated.returncode == 2 and "188 bytes; accepted: 192" in truncated.stderr
    golden = project / "golden" / "example" / "y.bin"
    (copy / "parameters").rename(copy / "other")
    shutil.copytree(project / "parameters", copy / "parameters")
    (copy / "golden" / "example" / "y.bin").write_bytes(bytes(len(golden.read_bytes())))
    wrong = run(library, copy)
    assert wrong.returncode == 1 and "FAILED" in wrong.stdout


def test_a_forgotten_sync_in_host_cpp_shows(project: Path, tmp_path: Path) -> None:
    shared_kernels(project)
    copy = shutil.copytree(project, tmp_path / "copy")
    host_cpp = copy / "host.cpp"
    host_cpp.write_text(host_cpp.read_text().replace("x_buffer[at].sync(XCL_BO_SYNC_BO_TO_DEVICE);", ""))
    native_host(copy, STUB, "-o", str(tmp_path / "host"), "-ldl")
    library = project / "build" / "kernel.so"
    done = subprocess.run([tmp_path / "host", library, copy], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "FAILED" in done.stdout


@pytest.mark.skipif(not Path("/usr/include/xrt/xrt/xrt_bo.h").is_file(), reason="libxrt-dev is needed")
def test_host_cpp_compiles_with_xrt(project: Path) -> None:
    native_host(project, Path("/usr/include/xrt"), "-fsyntax-only")
