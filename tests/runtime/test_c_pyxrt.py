"""Our pyxrt over C functions of XRT that a test replaces: what is called when, by whom, and what is given back."""

from __future__ import annotations

import ctypes
import gc
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stc.runtime.csim_device import CsimKernel
from stc.runtime.xrt import c_pyxrt


class Functions:
    """XRT's, of a kernel with one port and one scalar; `calls`: their names, `most`: how many were running at once, by name."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.running: list[str] = []
        self.most: dict[str, int] = {}
        self.memory = (ctypes.c_ubyte * 64)()

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: self.called(name, arguments)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def called(self, name: str, arguments: tuple[Any, ...]) -> int:
        self.calls.append(name)
        self.running.append(name)
        self.most[name] = max(self.most.get(name, 0), len(self.running))
        time.sleep(0.01)
        self.running.remove(name)
        if name == "xrtKernelArgGroupId":
            return 5 if arguments[1] == 0 else -1
        return {"xrtBOMap": ctypes.addressof(self.memory), "xrtRunWaitFor": 4}.get(name, name.endswith(("Open", "Alloc")))


@pytest.fixture
def functions(monkeypatch: pytest.MonkeyPatch) -> Functions:
    replaced = Functions()
    monkeypatch.setattr(c_pyxrt, "ctypes", SimpleNamespace(**{**vars(ctypes), "CDLL": lambda _: replaced}))
    monkeypatch.setattr(c_pyxrt, "_require_driver", lambda: None)
    opened = c_pyxrt._Library()  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(c_pyxrt, "_library", lambda: opened)
    replaced.calls.clear()
    return replaced


def test_one_thread_at_a_time_but_for_waits(functions: Functions) -> None:
    device = c_pyxrt.device(0)
    buffer = c_pyxrt.bo(device, 64, c_pyxrt.bo.normal, 5)
    run = c_pyxrt.run(c_pyxrt.kernel(device, b"", "k"))
    with ThreadPoolExecutor(8) as threads:
        done = [threads.submit(run.wait) for _ in range(4)]
        time.sleep(0.002)
        done += [threads.submit(buffer.sync, c_pyxrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE) for _ in range(4)]
        for each in done:
            each.result()
    assert functions.most["xrtRunWaitFor"] > 1
    del run
    functions.most.clear()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: c_pyxrt.bo(device, 64, c_pyxrt.bo.normal, 5).address(), range(8)))
    assert set(functions.most.values()) == {1} and functions.calls.count("xrtBOFree") >= 8


def test_a_binary_is_loaded_once(functions: Functions, tmp_path: Path) -> None:
    device, path = c_pyxrt.device(0), tmp_path / "a.xclbin"
    path.write_text("one")
    for _ in range(3):
        assert len(device.load_xclbin(c_pyxrt.xclbin(str(path)))) == 16
    assert functions.calls.count("xrtDeviceLoadXclbinFile") == 1
    path.write_text("another")
    device.load_xclbin(str(path))
    assert functions.calls.count("xrtDeviceLoadXclbinFile") == 2
    with pytest.raises(RuntimeError, match=r"none: No such file"):
        device.load_xclbin(str(tmp_path / "none"))


def test_memory_lives_as_long_as_a_view_of_it(functions: Functions) -> None:
    buffer = c_pyxrt.bo(c_pyxrt.device(0), 64, c_pyxrt.bo.normal, 5)
    view, read = buffer.map(), buffer.read(3, 1)
    buffer.write(b"abc", 1)
    assert (bytes(read), bytes(view[:5]), bytes(buffer.read(3, 1))) == (bytes(3), b"\0abc\0", b"abc")
    del buffer
    gc.collect()
    assert "xrtBOFree" not in functions.calls and "xrtDeviceClose" not in functions.calls
    del view
    gc.collect()
    assert functions.calls[-2:] == ["xrtBOFree", "xrtDeviceClose"]


def test_a_scalar_takes_no_buffer(functions: Functions) -> None:
    device = c_pyxrt.device(0)
    run = c_pyxrt.run(c_pyxrt.kernel(device, b"", "k"))
    buffer = c_pyxrt.bo(device, 64, c_pyxrt.bo.normal, 5)
    run.set_arg(0, buffer)
    run.set_arg(1, 3)
    with pytest.raises(RuntimeError, match="argument 1 of kernel k takes no buffer"):
        run.set_arg(1, buffer)
    assert functions.calls.count("xrtRunSetArg") == 2


def test_modes_are_the_vendors() -> None:
    """`xrt::kernel::cu_access_mode` of xrt_kernel.h: exclusive 0, shared 1."""
    for kernel in (c_pyxrt.kernel, CsimKernel):
        assert (kernel.exclusive, kernel.shared) == (0, 1)
