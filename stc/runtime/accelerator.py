"""An emitted project as a callable: its own host.py, on pyxrt or on the C-simulation device."""

from __future__ import annotations

import importlib.util
from collections.abc import Collection, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from stc.diagnostics import CompileError
from stc.manifest.files import read_manifest

Parameters = dict[str, Any]
"""Buffers of the device (`pyxrt.bo`) by the name that the manifest gives them."""


class Accelerator:
    """`Accelerator(folder)(inputs)` launches the design on input arrays by name and returns output arrays by name.

    `device`: "csim", or the index of a card as text. CompileError where the folder, the device or an input is unusable.
    """

    def __init__(self, folder: Path, device: str = "csim", xclbin: Path | None = None):
        self.manifest = read_manifest(folder)
        self._host = _host_module(folder)
        self._accelerator = self._checked(lambda: self._open(folder, device, xclbin))
        self._own: Parameters = {name: self._accelerator.buffers[name] for name in self._parameter_ports()}

    def __call__(
        self, inputs: Mapping[str, np.ndarray], parameters: Parameters | None = None, resident: Collection[str] = ()
    ) -> dict[str, np.ndarray]:
        """`parameters`: those of this launch, from `with_parameters`, in place of the project's own. Inputs in `resident` are on
        the device (`send`): they are not sent, and what updates them there is not brought back."""
        self._accelerator.buffers.update(self._own if parameters is None else parameters)
        return self._checked(lambda: self._accelerator(dict(inputs), resident))

    def send(self, name: str, tensor: np.ndarray) -> None:
        """Put an input on the device."""
        self._checked(lambda: self._accelerator.send(name, tensor))

    def fetch(self, name: str) -> np.ndarray:
        """What the device has of an input."""
        return self._checked(lambda: self._accelerator.fetch(name))

    def with_parameters(self, words: Mapping[str, np.ndarray]) -> Parameters:
        """Buffers on the device with other parameters; `words`: the packed bytes of each parameter buffer."""
        return self._checked(lambda: {name: self._filled(name, data) for name, data in words.items()})

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

    def _open(self, folder: Path, device: str, xclbin: Path | None) -> Any:
        runtime, opened = self._host.open_device(device, folder)
        path = xclbin or folder / "build" / f"{self.manifest.name}.xclbin"
        self._device = opened
        return self._host.Accelerator(folder, runtime, opened, path)

    def _parameter_ports(self) -> dict[str, tuple[str, int]]:
        """For each buffer of parameters, one port that is bound to it: the kernel and the index."""
        kernels = self.manifest.kernels
        return {port.buffer: (kernel.name, index) for kernel in kernels for index, port in enumerate(kernel.ports)
                if port.kind == "parameter"}

    def _filled(self, name: str, data: np.ndarray) -> Any:
        xrt = self._accelerator.xrt
        kernel, index = self._parameter_ports()[name]
        handle, _ = self._accelerator.kernels[kernel]
        buffer = xrt.bo(self._device, data.nbytes, xrt.bo.normal, handle.group_id(index))
        buffer.write(data, 0)
        buffer.sync(xrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE, data.nbytes, 0)
        return buffer

    def _checked(self, action: Any) -> Any:
        try:
            return action()
        except (self._host.HostError, RuntimeError, OSError) as error:
            raise CompileError(str(error)) from error


def _host_module(folder: Path) -> ModuleType:
    path = folder / "host.py"
    specification = importlib.util.spec_from_file_location("stc_project_host", path)
    if not path.is_file() or specification is None or specification.loader is None:
        raise CompileError("no host.py here", where=str(folder), accepted="a folder written by `stc compile`")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module
