"""An emitted project as a callable: its own host.py, on pyxrt or on the C-simulation device."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from stc.diagnostics import CompileError
from stc.manifest.files import read_manifest


class Accelerator:
    """`Accelerator(folder)(inputs)` launches the design on input arrays by name and returns output arrays by name.

    `device`: "csim", or the index of a card as text. CompileError where the folder, the device or an input is unusable.
    """

    def __init__(self, folder: Path, device: str = "csim", xclbin: Path | None = None):
        self.manifest = read_manifest(folder)
        self._host = _host_module(folder)
        self._accelerator = self._checked(lambda: self._open(folder, device, xclbin))

    def __call__(self, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return self._checked(lambda: self._accelerator(dict(inputs)))

    def golden(self, role: str) -> dict[str, np.ndarray]:
        """The arrays of golden/ with a role, input or output."""
        return self._checked(lambda: self._accelerator.golden(role))

    def _open(self, folder: Path, device: str, xclbin: Path | None) -> Any:
        runtime, opened = self._host.open_device(device, folder)
        path = xclbin or folder / "build" / f"{self.manifest.name}.xclbin"
        return self._host.Accelerator(folder, runtime, opened, path)

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
