"""A device as the compiler sees it, read from a data file of this package."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, reduce
from importlib import resources
from math import ceil
from typing import Any

from stc.diagnostics import CompileError

BRAM18_BYTES = 18 * 1024 // 8
BRAM36_BYTES = 36 * 1024 // 8
URAM_BYTES = 288 * 1024 // 8


@dataclass(frozen=True)
class Resources:
    """Counts of the five resources of a die; `bram36` are blocks of 36 kbit, `uram` of 288 kbit."""

    lut: float
    ff: float
    bram36: float
    uram: float
    dsp: float

    def scaled(self, share: Resources) -> Resources:
        """Each resource times its factor in `share`."""
        return Resources(
            self.lut * share.lut,
            self.ff * share.ff,
            self.bram36 * share.bram36,
            self.uram * share.uram,
            self.dsp * share.dsp,
        )

    def plus(self, other: Resources) -> Resources:
        return Resources(
            self.lut + other.lut,
            self.ff + other.ff,
            self.bram36 + other.bram36,
            self.uram + other.uram,
            self.dsp + other.dsp,
        )


@dataclass(frozen=True)
class ExternalMemory:
    """The memory behind the ports: `channels` of `channel_bytes` each, all ports at die `slr`.

    `read_latency_cycles` is what HLS schedules for, `read_latency_ns` what it really takes.
    `adapter_bram18`: blocks of 18 kbit that the adapter of one port takes.
    """

    kind: str
    channels: int
    channel_bytes: int
    channel_gigabytes_per_second: float
    word_bits: int
    max_ports: int
    slr: int
    read_latency_cycles: int
    adapter_bram18: int
    read_latency_ns: float
    sustained_gigabytes_per_second: float
    burst_words: int
    outstanding_bursts: int

    @property
    def adapter_bytes(self) -> int:
        """Block RAM that the adapter of one port takes."""
        return self.adapter_bram18 * BRAM18_BYTES

    def read_cycles(self, cycle_ns: float) -> int:
        """Cycles of `cycle_ns` from the request of a word to its arrival."""
        return ceil(self.read_latency_ns / cycle_ns)

    def channel_bytes_per_cycle(self, cycle_ns: float) -> float:
        """Bytes that one channel sustains in a cycle of `cycle_ns`."""
        return self.sustained_gigabytes_per_second * cycle_ns


@dataclass(frozen=True)
class Platform:
    """One device with its shell. `plan` is the share of each die's resources a design may use.

    `memory_luts`: the part of the LUTs that can be memory.
    """

    name: str
    part: str
    shell: str
    clocks_mhz: tuple[int, ...]
    launch_us: float
    tool_version: str
    slrs: tuple[Resources, ...]
    plan: Resources
    memory_luts: float
    memory: ExternalMemory

    @property
    def whole(self) -> Resources:
        """What all dies together have."""
        return reduce(Resources.plus, self.slrs)

    @property
    def usable(self) -> Resources:
        """What a design may use of all dies together."""
        return self.whole.scaled(self.plan)

    @property
    def cycle_ns(self) -> float:
        """The cycle designs are scheduled for: that of the fastest clock."""
        return 1000 / max(self.clocks_mhz)

    @property
    def usable_on_chip_bytes(self) -> int:
        """Bytes of block and ultra RAM a design may use: the default of the fusion budget."""
        return int(self.usable.bram36) * BRAM36_BYTES + int(self.usable.uram) * URAM_BYTES


def platform_names() -> tuple[str, ...]:
    """The platforms this package has data for."""
    files = resources.files("stc.platforms").joinpath("data").iterdir()
    return tuple(sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml")))


@cache
def load_platform(name: str) -> Platform:
    """The platform `name`; CompileError where there is no data for it."""
    if name not in platform_names():
        raise CompileError(f"unknown platform '{name}'", accepted=", ".join(platform_names()))
    text = resources.files("stc.platforms").joinpath("data", f"{name}.toml").read_text()
    import tomllib

    return _platform(tomllib.loads(text))


def _platform(data: dict[str, Any]) -> Platform:
    return Platform(
        name=data["name"],
        part=data["part"],
        shell=data["shell"],
        clocks_mhz=tuple(data["clocks_mhz"]),
        launch_us=data["launch_us"],
        tool_version=data["tool_version"],
        slrs=tuple(Resources(**slr) for slr in data["slr"]),
        plan=Resources(**data["plan"]),
        memory_luts=data["memory_luts"],
        memory=ExternalMemory(**data["memory"]),
    )
