"""The interface of the vendor's `pyxrt` over the C functions of XRT's library, for where pyxrt is not installed (Debian has none).

A program written for pyxrt takes this module in its place: `device`, `xclbin`, `kernel`, `bo`, `run`, `uuid`, and two enumerations,
as far as host programs of `stc` use them. What XRT refuses raises RuntimeError, as in pyxrt, with XRT's own sentence.
"""
# The names are pyxrt's.

from __future__ import annotations

import atexit
import ctypes
import os
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from ctypes import c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from enum import IntEnum
from functools import cache
from pathlib import Path
from threading import Lock, RLock
from typing import Any

LIBRARY = "libxrt_coreutil.so.2"
ERROR = " ERROR: "
"""Before the sentence of a refusal, in a line of XRT's messages."""
DRIVERS = {None: "core", "noop": "noop", "sw_emu": "swemu", "hw_emu": "hwemu"}
"""What XRT loads for each XCL_EMULATION_MODE."""


class xclBOSyncDirection(IntEnum):
    XCL_BO_SYNC_BO_TO_DEVICE = 0
    XCL_BO_SYNC_BO_FROM_DEVICE = 1


class ert_cmd_state(IntEnum):
    ERT_CMD_STATE_NEW = 1
    ERT_CMD_STATE_QUEUED = 2
    ERT_CMD_STATE_RUNNING = 3
    ERT_CMD_STATE_COMPLETED = 4
    ERT_CMD_STATE_ERROR = 5
    ERT_CMD_STATE_ABORT = 6
    ERT_CMD_STATE_SUBMITTED = 7
    ERT_CMD_STATE_TIMEOUT = 8
    ERT_CMD_STATE_NORESPONSE = 9


uuid = bytes
"""16 of them."""

_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "xrtIniStringSet": (c_int, [c_char_p, c_char_p]),
    "xrtDeviceOpen": (c_void_p, [c_uint]),
    "xrtDeviceClose": (c_int, [c_void_p]),
    "xrtDeviceLoadXclbinFile": (c_int, [c_void_p, c_char_p]),
    "xrtDeviceGetXclbinUUID": (c_int, [c_void_p, c_char_p]),
    "xrtPLKernelOpen": (c_void_p, [c_void_p, c_char_p, c_char_p]),
    "xrtPLKernelOpenExclusive": (c_void_p, [c_void_p, c_char_p, c_char_p]),
    "xrtKernelClose": (c_int, [c_void_p]),
    "xrtKernelArgGroupId": (c_int, [c_void_p, c_int]),
    "xrtBOAlloc": (c_void_p, [c_void_p, c_size_t, c_uint64, c_uint]),
    "xrtBOFree": (c_int, [c_void_p]),
    "xrtBOMap": (c_void_p, [c_void_p]),
    "xrtBOSize": (c_size_t, [c_void_p]),
    "xrtBOAddress": (c_uint64, [c_void_p]),
    "xrtBOSync": (c_int, [c_void_p, c_int, c_size_t, c_size_t]),
    "xrtRunOpen": (c_void_p, [c_void_p]),
    "xrtRunClose": (c_int, [c_void_p]),
    "xrtRunStart": (c_int, [c_void_p]),
    "xrtRunState": (c_int, [c_void_p]),
    "xrtRunWaitFor": (c_int, [c_void_p, c_uint]),
}
"""What each returns and takes (XRT's `xrt_device.h`, `xrt_kernel.h`, `xrt_bo.h`). xrtRunSetArg takes any number."""


_RETURN_NOTHING = {"xrtDeviceLoadXclbinFile", "xrtDeviceGetXclbinUUID", "xrtBOSync", "xrtRunStart", "xrtRunSetArg"}


_NOT_LOCKED = {"xrtRunWaitFor"}
"""Other threads call XRT while one waits."""


class _Library:
    """The C functions, called by one thread at a time: XRT's tables of handles are for one. Messages of XRT go to a file, where the
    sentence of a refusal is found."""

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL(LIBRARY)
        except OSError:
            accepted = "Debian's package libxrt1, or --device csim"
            raise RuntimeError(f"XRT is not installed ({LIBRARY} is missing); accepted: {accepted}") from None
        self.lock = RLock()  # a handle may be given back in the middle of a call
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments
        self._library.xrtRunSetArg.restype = c_int
        handle, self._messages = tempfile.mkstemp(prefix="stc-xrt-", suffix=".log")
        os.close(handle)
        atexit.register(self._remove)
        self._library.xrtIniStringSet(b"Runtime.runtime_log", self._messages.encode())

    def __call__(self, name: str, *arguments: Any) -> Any:
        """What a function returns; RuntimeError with XRT's sentence where that says that it failed: no handle, or a number below 0,
        or any but 0 of those that return nothing else."""
        with nullcontext() if name in _NOT_LOCKED else self.lock:
            return self._called(name, arguments)

    def _called(self, name: str, arguments: Sequence[Any]) -> Any:
        before = os.path.getsize(self._messages)
        result = getattr(self._library, name)(*arguments)
        if result is None or result < 0 or (result != 0 and name in _RETURN_NOTHING):
            raise RuntimeError(self._sentence(before) or f"{name} failed")
        return result

    def give_back(self, name: str, handle: int) -> None:
        """Close a handle, whatever XRT says."""
        with self.lock:
            getattr(self._library, name)(c_void_p(handle))

    def of_argument(self, name: str, kernel: str, index: int, *arguments: Any) -> Any:
        """The same of a function about an argument of a kernel: of one that there is not, XRT says nothing that helps."""
        try:
            return self(name, *arguments)
        except RuntimeError as error:
            if "range_check" in str(error) or "Bad argument index" in str(error):
                raise RuntimeError(f"kernel {kernel} has no argument {index}") from None
            raise

    def _sentence(self, before: int) -> str | None:
        """The last refusal behind `before` bytes of messages."""
        with open(self._messages, encoding="utf-8", errors="replace") as file:
            file.seek(before)
            said = [line.partition(ERROR)[2].strip() for line in file if ERROR in line]
        return said[-1] if said else None

    def _remove(self) -> None:
        if os.path.exists(self._messages):
            os.unlink(self._messages)


_OPENING = Lock()


def _library() -> _Library:
    with _OPENING:
        return _opened()


@cache
def _opened() -> _Library:
    return _Library()


class _Handle:
    """What XRT gives out and takes back: closed once nobody has it, before what it is `of`."""

    def __init__(self, value: int, close: str, of: _Handle | None = None):
        self.value, self._close, self._of = value, close, of
        self._library = _library()

    def __del__(self) -> None:
        self._library.give_back(self._close, self.value)


def _require_driver() -> None:
    """RuntimeError where XRT would find no driver: its C function ends the process then."""
    accepted = "the vendor's XRT, or --device csim, or xrt"
    root, mode = os.environ.get("XILINX_XRT"), os.environ.get("XCL_EMULATION_MODE")
    if not root:
        raise RuntimeError(f"no card: XILINX_XRT, the folder of the vendor's runtime, is not set; accepted: {accepted}")
    driver = Path(root) / "lib" / f"libxrt_{DRIVERS.get(mode, mode)}.so.2"
    if not driver.is_file():
        raise RuntimeError(f"{driver}: file is missing; accepted: {accepted}")


class xclbin:
    def __init__(self, path: str):
        self.path = path


class device:
    def __init__(self, index: int):
        _require_driver()
        self.handle = _Handle(_library()("xrtDeviceOpen", index), "xrtDeviceClose")
        self._loaded: dict[tuple[str, int, int], uuid] = {}
        """By path, time of change and bytes."""

    def load_xclbin(self, binary: xclbin | str) -> uuid:
        """Its number, of 16 bytes. What is loaded stays as it is: XRT would read all of the file again."""
        path = binary if isinstance(binary, str) else binary.path
        with _library().lock:
            if (key := _version(path)) not in self._loaded:
                self._loaded = {key: self._load(path)}
            return self._loaded[key]

    def _load(self, path: str) -> uuid:
        _library()("xrtDeviceLoadXclbinFile", self.handle.value, os.fsencode(path))
        number = ctypes.create_string_buffer(16)
        _library()("xrtDeviceGetXclbinUUID", self.handle.value, number)
        return number.raw


def _version(path: str) -> tuple[str, int, int]:
    """RuntimeError where there is no such file."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise RuntimeError(f"{path}: {error.strerror}") from None
    return os.path.realpath(path), found.st_mtime_ns, found.st_size


class bo:
    """`size` bytes on the host, and as many on the device in the memory bank `group`."""

    normal = 0
    cacheable = 1 << 24

    def __init__(self, device: device, size: int, flags: int, group: int):
        self._size = size
        self.handle = _Handle(_library()("xrtBOAlloc", device.handle.value, size, flags, group), "xrtBOFree", device.handle)
        memory = (ctypes.c_ubyte * size).from_address(_library()("xrtBOMap", self.handle.value))
        vars(memory)["owner"] = self.handle  # whoever has a view of it keeps it
        self._host = memoryview(memory).cast("B")

    def size(self) -> int:
        return self._size

    def address(self) -> int:
        """Where it begins on the device."""
        return _library()("xrtBOAddress", self.handle.value)

    def map(self) -> memoryview:
        """The host's copy, writable: while somebody has it, so does XRT."""
        return self._host

    def write(self, data: Any, seek: int = 0) -> None:
        """Fill the host's copy from byte `seek` on."""
        data = memoryview(data).cast("B")
        self._require("write", len(data), seek)
        self._host[seek : seek + len(data)] = data

    def read(self, size: int, skip: int = 0) -> memoryview:
        """What `size` bytes of the host's copy from byte `skip` on are now."""
        self._require("read", size, skip)
        return memoryview(bytearray(self._host[skip : skip + size]))

    def sync(self, direction: xclBOSyncDirection, size: int | None = None, offset: int = 0) -> None:
        """Copy between host and device."""
        _library()("xrtBOSync", self.handle.value, direction, self._size - offset if size is None else size, offset)

    def _require(self, action: str, size: int, offset: int) -> None:
        if not 0 <= offset <= offset + size <= self._size:
            raise RuntimeError(f"{action} of {size} bytes at {offset} of a buffer of {self._size}")


class kernel:
    """A compute unit."""

    exclusive = 0
    shared = 1

    def __init__(self, device: device, number: uuid, name: str, mode: int = shared):
        self.name = name
        self._linked: set[int] = set()
        """Arguments that XRT has told the bank of."""
        function = "xrtPLKernelOpen" if mode == self.shared else "xrtPLKernelOpenExclusive"
        self.handle = _Handle(_library()(function, device.handle.value, number, name.encode()), "xrtKernelClose", device.handle)

    def group_id(self, index: int) -> int:
        """The memory bank of an argument."""
        return _library().of_argument("xrtKernelArgGroupId", self.name, index, self.handle.value, index)

    def takes_buffer(self, index: int) -> bool:
        """Whether an argument is linked to memory: of scalars XRT knows no bank."""
        if index not in self._linked:
            with suppress(RuntimeError):
                self.group_id(index)
                self._linked.add(index)
        return index in self._linked

    def __call__(self, *arguments: bo | int) -> run:
        """Start a run on arguments in order."""
        started = run(self)
        for index, argument in enumerate(arguments):
            started.set_arg(index, argument)
        started.start()
        return started


class run:
    def __init__(self, kernel: kernel):
        self._kernel = kernel
        self._arguments: dict[int, bo | int] = {}
        self.handle = _Handle(_library()("xrtRunOpen", kernel.handle.value), "xrtRunClose", kernel.handle)

    def set_arg(self, index: int, argument: bo | int) -> None:
        """Bind a buffer to a port, or give a scalar its value."""
        if isinstance(argument, bo) and not self._kernel.takes_buffer(index):  # XRT would take the handle for a number
            raise RuntimeError(f"argument {index} of kernel {self._kernel.name} takes no buffer")
        value = c_void_p(argument.handle.value) if isinstance(argument, bo) else c_int(argument)
        arguments = c_void_p(self.handle.value), c_int(index), value
        _library().of_argument("xrtRunSetArg", self._kernel.name, index, *arguments)
        self._arguments[index] = argument

    def start(self) -> None:
        _library()("xrtRunStart", self.handle.value)

    def wait(self, timeout_ms: int = 0) -> ert_cmd_state:
        """The state once it has ended, or after so many milliseconds (0: for ever)."""
        return ert_cmd_state(_library()("xrtRunWaitFor", self.handle.value, timeout_ms))

    def state(self) -> ert_cmd_state:
        return ert_cmd_state(_library()("xrtRunState", self.handle.value))
