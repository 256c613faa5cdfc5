"""An emitted project as a callable: its own host.py, on pyxrt or on the C-simulation device."""

from __future__ import annotations

import importlib.util
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

import numpy as np

from stc.diagnostics import CompileError
from stc.manifest.files import read_manifest
from stc.runtime.devices import CSIM, XRT
from stc.runtime.xrt import device as xrt_device

Buffers = dict[str, Any]
"""Memory of the device (`pyxrt.bo`) by the name that the manifest gives a buffer."""


@dataclass(frozen=True)
class Opened:
    """A device of XRT's that several projects share, with the binary that it loads for all of them, where it has its own."""

    runtime: Any
    device: Any

    @property
    def xclbin(self) -> Path | None:
        return getattr(self.runtime, "built_xclbin", None)


_CARDS: dict[str, tuple[Any, Any]] = {}
"""Runtime and handle of each card that is open: projects that share buffers share the handle."""
_OPENING = Lock()


class Accelerator:
    """`Accelerator(folder)(inputs)` launches the design on input arrays by name and returns output arrays by name.

    `device`: one of stc.runtime.devices, the index of a card as text, or what is open already. `given`: buffers that every launch
    brings, which it makes none of.
    CompileError where the folder, the device or an input is unusable. Threads may share it: one launches at a time.
    """

    def __init__(self, folder: Path, device: str | Opened = CSIM, xclbin: Path | None = None, given: Collection[str] = ()):
        self.manifest = read_manifest(folder)
        self._host = _host_module(folder)
        self._accelerator = self._checked(lambda: self._open(folder, device, xclbin, given))
        self._own: Buffers = self._accelerator.buffers
        self._launching = Lock()

    def __call__(
        self, inputs: Mapping[str, np.ndarray], buffers: Buffers | None = None, resident: Collection[str] = ()
    ) -> dict[str, np.ndarray]:
        """`buffers`: those of this launch, from `with_parameters` and `allocated`, in place of the project's own. Inputs in
        `resident` are on the device: they are not sent, and what updates them there is not brought back."""
        names = dict.fromkeys(port.buffer for kernel in self.manifest.kernels for port in kernel.ports)
        if unknown := [name for name in buffers or {} if name not in names]:
            raise CompileError(f"no kernel has a buffer '{unknown[0]}'", accepted=", ".join(names))
        missing = [name for name in names if name not in self._own and name not in (buffers or {})]
        if missing and not self.manifest.takes_turns:  # whose host makes buffers whenever it loads a bitstream
            raise CompileError(f"buffer '{missing[0]}' is not given", accepted=", ".join(missing))
        with self._launching:
            self._accelerator.buffers = {**self._own, **(buffers or {})}
            try:
                return self._checked(lambda: self._accelerator(dict(inputs), resident))
            finally:
                self._accelerator.buffers = self._own

    def send(self, name: str, tensor: np.ndarray) -> None:
        """Put an input on the device."""
        with self._launching:
            self._checked(lambda: self._accelerator.send(name, tensor))

    def fetch(self, name: str) -> np.ndarray:
        """What the device has of an input."""
        with self._launching:
            return self._checked(lambda: self._accelerator.fetch(name))

    def with_parameters(self, words: Mapping[str, np.ndarray]) -> Buffers:
        """Buffers on the device with other parameters; `words`: the packed bytes of each parameter buffer."""
        return self._checked(lambda: {name: self._filled(name, data) for name, data in words.items()})

    def allocated(self, name: str, *, cleared: bool = False) -> Buffers:
        """Other buffers on the device for the input `name`, with anything in them, or zeros where they are `cleared`."""
        if name not in (names := [tensor.name for tensor in self.manifest.tensors if tensor.role == "input"]):
            raise CompileError(f"no input '{name}'", accepted=", ".join(names))
        sizes = {port.buffer: port.bytes for kernel in self.manifest.kernels for port in kernel.ports if port.tensor == name}
        if cleared:
            return self.with_parameters({buffer: np.zeros(size, np.uint8) for buffer, size in sizes.items()})
        return self._checked(lambda: {buffer: self._buffer(buffer, size) for buffer, size in sizes.items()})

    @property
    def scalars(self) -> frozenset[str]:
        """The inputs that sizes depend on."""
        return frozenset(scalar.tensor for kernel in self.manifest.kernels for scalar in kernel.scalars)

    @property
    def microseconds(self) -> Mapping[str, float]:
        """What the last launch of each kernel took here."""
        return self._accelerator.microseconds

    def golden(self, role: str) -> dict[str, np.ndarray]:
        """The arrays of golden/ with a role, input or output."""
        return self._checked(lambda: self._accelerator.golden(role))

    def _open(self, folder: Path, device: str | Opened, xclbin: Path | None, given: Collection[str]) -> Any:
        opened = device if isinstance(device, Opened) else self._device_called(device, folder)
        path = xclbin or opened.xclbin or folder / "build" / ("" if self.manifest.bitstreams else f"{self.manifest.name}.xclbin")
        self._device = opened.device
        return self._host.Accelerator(folder, opened.runtime, opened.device, path, given)

    def _device_called(self, name: str, folder: Path) -> Opened:
        if name == XRT:
            return open_xrt(folder)
        if name == CSIM:
            return Opened(*self._host.open_device(name, folder))
        with _OPENING:
            if name not in _CARDS:
                _CARDS[name] = self._host.open_device(name, folder)
            return Opened(*_CARDS[name])

    def _buffer(self, name: str, size: int) -> Any:
        """Memory where the ports that are bound to a buffer find it."""
        if self.manifest.bitstreams:
            what = f"buffer '{name}' would be one of {len(self.manifest.bitstreams)} bitstreams, whose host makes all buffers"
            raise CompileError(what, accepted="a project whose kernels are in one bitstream")
        xrt = self._accelerator.xrt
        bound = (port.name for kernel in self.manifest.kernels for port in kernel.ports if port.buffer == name)
        return xrt.bo(self._device, size, xrt.bo.normal, self._accelerator.banks[next(bound)])

    def _filled(self, name: str, data: np.ndarray) -> Any:
        xrt, buffer = self._accelerator.xrt, self._buffer(name, data.nbytes)
        buffer.write(data, 0)
        buffer.sync(xrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE, data.nbytes, 0)
        return buffer

    def _checked(self, action: Any) -> Any:
        try:
            return action()
        except (self._host.HostError, RuntimeError, OSError) as error:
            raise CompileError(str(error)) from error


def open_xrt(folder: Path) -> Opened:
    """XRT's first device, which may be the C simulation of the project or model in `folder`; CompileError where there is none."""
    try:
        return Opened(*xrt_device.open_xrt(folder))
    except (RuntimeError, OSError) as error:
        raise CompileError(str(error)) from error


def _host_module(folder: Path) -> ModuleType:
    path = folder / "host.py"
    specification = importlib.util.spec_from_file_location("stc_project_host", path)
    if not path.is_file() or specification is None or specification.loader is None:
        raise CompileError("no host.py here", where=str(folder), accepted="a folder written by `stc compile`")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module
