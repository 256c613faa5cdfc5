"""The interface of `pyxrt` (device, xclbin, kernel, bo, run) on the C simulation of an emitted project.

A program written for pyxrt takes a `CsimRuntime` in its place. Buffers have a host and a device copy, as on a card: device memory
starts as poison (NaN as f32, large numbers as integers), so that a forgotten sync shows in the results. Mistakes that XRT
reports raise RuntimeError here, as pyxrt does.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

from stc.manifest.schema import Kernel
from stc.runtime.shared_kernel import SharedKernels, shared_kernels
from stc.runtime.xrt.c_pyxrt import ert_cmd_state as CommandState
from stc.runtime.xrt.c_pyxrt import xclBOSyncDirection as SyncDirection

# 0xFFFFFFFF is a NaN as f32 and 0xFFFF one as f16.
POISON = 0xFF
ALIGNMENT = 4096


class Xclbin:
    """pyxrt.xclbin: nothing is read, the design is the project's kernel.cpp."""

    def __init__(self, path: str):
        self.path = path


class CsimDevice:
    """pyxrt.device."""

    def __init__(self, kernels: SharedKernels):
        self.kernels = kernels
        self.loaded: Xclbin | None = None
        """Where the project has several: the bitstream whose kernels and buffers can be used."""
        self.started: dict[str, dict[str, CsimRun]] = {}
        """By kernel and compute unit what was started, and waits for the other units of the kernel."""

    def load_xclbin(self, xclbin: Xclbin | str) -> str:
        """The identifier of the loaded design. Of several bitstreams each is a file called as its kernel."""
        self.loaded = Xclbin(xclbin) if isinstance(xclbin, str) else xclbin
        return self.kernels.manifest.name


    def holds(self, kernel: str) -> bool:
        """Whether a kernel is in what is loaded."""
        loaded = Path(self.loaded.path).stem if self.loaded is not None else ""
        return not self.kernels.manifest.bitstreams or kernel == loaded


class CsimBuffer:
    """pyxrt.bo: `size` bytes on the host and as many on the device, for a port with index `group`. They are lost where the device
    loads another bitstream."""

    normal = 0

    def __init__(self, device: CsimDevice, size: int, flags: int, group: int):
        if size <= 0:
            raise RuntimeError(f"buffer of {size} bytes")
        self._size = size
        self._home = device, device.loaded
        self.group = group
        self._host = _aligned(size, 0)
        self._device = _aligned(size, POISON)

    @property
    def device_address(self) -> int:
        return ctypes.addressof(self._device)

    def size(self) -> int:
        return self._size

    def map(self) -> memoryview:
        """The host copy, writable."""
        return memoryview(self._host).cast("B")

    def write(self, data: bytes | memoryview, seek: int = 0) -> None:
        """Fill the host copy from byte `seek` on."""
        data = memoryview(data).cast("B")
        if seek + len(data) > self._size:
            raise RuntimeError(f"write of {len(data)} bytes at {seek} into a buffer of {self._size}")
        self.map()[seek : seek + len(data)] = data

    def read(self, size: int, skip: int = 0) -> memoryview:
        """`size` bytes of the host copy from byte `skip` on."""
        if skip + size > self._size:
            raise RuntimeError(f"read of {size} bytes at {skip} from a buffer of {self._size}")
        return self.map()[skip : skip + size]

    def sync(self, direction: SyncDirection, size: int | None = None, offset: int = 0) -> None:
        """Copy between host and device."""
        self.require_held(self._home[0])
        size = self._size - offset if size is None else size
        if offset + size > self._size:
            raise RuntimeError(f"sync of {size} bytes at {offset} of a buffer of {self._size}")
        host, device = ctypes.addressof(self._host) + offset, ctypes.addressof(self._device) + offset
        if direction is SyncDirection.XCL_BO_SYNC_BO_TO_DEVICE:
            ctypes.memmove(device, host, size)
        else:
            ctypes.memmove(host, device, size)

    def require_held(self, device: CsimDevice) -> None:
        """RuntimeError where this is no memory of `device` as it is."""
        own, loaded = self._home
        if not own.kernels.manifest.bitstreams:
            return
        if own is not device:
            raise RuntimeError("buffer of another device")
        if own.loaded is not loaded:
            raise RuntimeError("buffer that was lost when the device loaded another bitstream")


def _aligned(size: int, fill: int) -> ctypes.Array[ctypes.c_ubyte]:
    """`size` bytes at a page boundary, as XRT's buffers are."""
    raw = (ctypes.c_ubyte * (size + ALIGNMENT))()
    start = -ctypes.addressof(raw) % ALIGNMENT
    view = (ctypes.c_ubyte * size).from_buffer(raw, start)
    ctypes.memset(view, fill, size)
    return view


class CsimRun:
    """pyxrt.run: arguments, start, wait. A kernel of several units runs once the host has started all that it has to."""

    def __init__(self, kernel: CsimKernel):
        self._kernel = kernel
        self._arguments: dict[int, CsimBuffer] = {}
        self._scalars: dict[int, int] = {}
        self._state = CommandState.ERT_CMD_STATE_NEW

    def set_arg(self, index: int, argument: CsimBuffer | int) -> None:
        """Bind a buffer to a port, or give a scalar its value."""
        ports, scalars = self._kernel.ports, self._kernel.scalars
        if not 0 <= index < len(ports) + len(scalars):
            raise RuntimeError(f"kernel {self._kernel.name} has {len(ports) + len(scalars)} arguments, no index {index}")
        if isinstance(argument, int) != (index >= len(ports)):
            expected = "a buffer" if index < len(ports) else "an integer"
            raise RuntimeError(f"argument {index} of kernel {self._kernel.name} is {argument!r}, expected {expected}")
        if isinstance(argument, int):
            self._scalars[index - len(ports)] = argument
            return
        argument.require_held(self._kernel.device)
        if argument.size() < ports[index].bytes:
            port = ports[index]
            raise RuntimeError(f"buffer of {argument.size()} bytes for port {port.name}, expected {port.bytes} bytes")
        if argument.group != self._kernel.group_id(index):
            bank = self._kernel.group_id(index)
            raise RuntimeError(f"buffer in bank {argument.group} for port {ports[index].name}, which is linked to bank {bank}")
        self._arguments[index] = argument

    def start(self) -> None:
        """Run the kernel to its end; RuntimeError where an argument is missing or the design stops."""
        for index, port in enumerate(self._kernel.ports):
            if index not in self._arguments:
                raise RuntimeError(f"argument {port.name} of {self._kernel.name} is not set")
        for index, scalar in enumerate(self._kernel.scalars):
            if index not in self._scalars:
                raise RuntimeError(f"argument {scalar.name} of {self._kernel.name} is not set")
        whole = self._kernel.kernel
        if not self._kernel.device.holds(whole.name):
            raise RuntimeError(f"kernel {whole.name} is in a bitstream that is not loaded")
        started = self._kernel.device.started.setdefault(whole.name, {})
        if self._kernel.name in started:
            raise RuntimeError(f"{self._kernel.name} is started again before {', '.join(self._awaited())}")
        started[self._kernel.name] = self
        self._state = CommandState.ERT_CMD_STATE_RUNNING
        if not self._awaited():
            _launch(whole, self._kernel.device)

    def wait(self, timeout_ms: int = 0) -> CommandState:
        """The state of the run, which has ended; RuntimeError where other units of its kernel are not started."""
        if self._state is CommandState.ERT_CMD_STATE_RUNNING:
            raise RuntimeError(f"{self._kernel.name} waits for {', '.join(self._awaited())}, which nobody has started")
        return self._state

    def _awaited(self) -> list[str]:
        """The units of the kernel that are not started, and have to be."""
        started = self._kernel.device.started[self._kernel.kernel.name]
        return [unit.name for unit in self._kernel.kernel.built if unit.starts and unit.name not in started]

    def bound(self) -> tuple[dict[str, int], dict[str, int]]:
        """The address of each port, and the value of each scalar."""
        ports, scalars = self._kernel.ports, self._kernel.scalars
        addresses = {port.name: self._arguments[index].device_address for index, port in enumerate(ports)}
        return addresses, {scalar.name: self._scalars[index] for index, scalar in enumerate(scalars)}

    def ended(self, state: CommandState) -> None:
        self._state = state

    def state(self) -> CommandState:
        return self._state


def _launch(kernel: Kernel, device: CsimDevice) -> None:
    """Run all units of a kernel; RuntimeError where they stop."""
    runs = list(device.started.pop(kernel.name).values())
    addresses, scalars = dict[str, int](), dict[str, int]()
    for run in runs:
        of_ports, of_scalars = run.bound()
        addresses |= of_ports
        scalars |= of_scalars
    given = [scalars[scalar.name] for scalar in kernel.scalars]
    failure = device.kernels.launch(kernel.name, [addresses[port.name] for port in kernel.ports], given)
    for run in runs:
        run.ended(CommandState.ERT_CMD_STATE_COMPLETED if failure is None else CommandState.ERT_CMD_STATE_ERROR)
    if failure is not None:
        raise RuntimeError(f"kernel {kernel.name}: {failure}")


class CsimKernel:
    """pyxrt.kernel: a compute unit that the host starts."""

    exclusive = 0
    shared = 1

    def __init__(self, device: CsimDevice, uuid: str, name: str, mode: int = shared):
        units = {unit.name: (kernel, unit) for kernel in device.kernels.manifest.kernels for unit in kernel.built if unit.starts}
        if name not in units:
            raise RuntimeError(f"no kernel '{name}' in the design, expected one of {', '.join(units)}")
        if not device.holds(units[name][0].name):
            raise RuntimeError(f"kernel '{name}' is in a bitstream that is not loaded")
        self.device = device
        self.name = name
        self.kernel, unit = units[name]
        self.ports = [self.kernel.port(port) for port in unit.ports]
        self.scalars = [scalar for scalar in self.kernel.scalars if scalar.name in unit.scalars]

    def group_id(self, index: int) -> int:
        """The memory bank of an argument."""
        if not 0 <= index < len(self.ports):
            raise RuntimeError(f"kernel {self.name} has {len(self.ports)} arguments, no index {index}")
        return self.ports[index].bank or 0

    def __call__(self, *arguments: CsimBuffer | int) -> CsimRun:
        """Start a run on arguments in order."""
        run = CsimRun(self)
        for index, argument in enumerate(arguments):
            run.set_arg(index, argument)
        run.start()
        return run


class CsimRuntime:
    """Stands for the module `pyxrt`, on the project in `folder`."""

    xclBOSyncDirection = SyncDirection
    ert_cmd_state = CommandState
    xclbin = Xclbin
    kernel = CsimKernel
    bo = CsimBuffer
    run = CsimRun
    reads_xclbin = False

    def __init__(self, folder: str | Path):
        self._kernels: Callable[[], SharedKernels] = lambda: shared_kernels(Path(folder).resolve())

    def device(self, index: int) -> CsimDevice:
        """The only device, 0; builds the kernel."""
        if index != 0:
            raise RuntimeError(f"no device with index {index}, expected 0")
        return CsimDevice(self._kernels())
