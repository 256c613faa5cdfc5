"""A device as the compiler sees it, read from a data file of this package, or of a user (`stc.platforms.platform_schema`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, reduce
from importlib import resources
from math import ceil
from pathlib import Path
from typing import Any

from stc.diagnostics import CompileError, warn
from stc.platforms.adapters import adapter_bram18
from stc.platforms.platform_schema import check_platform, without_retired
from stc.user_files import reason_of, toml_of

SUFFIX = ".toml"
"""Of platform files."""
DEFAULT_PLATFORM = "u55c"
PLATFORM_FILE = f"platform{SUFFIX}"
"""The platform's data in a project, as they were: `--platform` takes the file."""

BRAM18_BYTES = 18 * 1024 // 8
BRAM36_BYTES = 36 * 1024 // 8
URAM_BYTES = 288 * 1024 // 8


def share_of(amount: float, has: float) -> float:
    """A part of what there is; of what there is none of, a part of one."""
    return amount / max(1, has)


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

    Ports of a kernel are at most `max_ports`, with words of at most `word_bits`. They are linked to the `tags` ports of the
    memory, as many for each channel, whose names are `tag` with the number in place of `{n}`. What uses a channel gets what others
    leave of it (assumed: at no cost of switching between them, or between reading and writing).
    `read_latency_ns` is what a read really takes; what HLS schedules for is its own.
    """

    kind: str
    channels: int
    channel_bytes: int
    channel_gigabytes_per_second: float
    word_bits: int
    max_ports: int
    tag: str
    tags: int
    slr: int
    read_latency_ns: float
    sustained_gigabytes_per_second: float
    burst_words: int
    outstanding_bursts: int

    def tag_of(self, channel: int, port: int) -> str:
        """What the link configuration calls that end of `channel` that the kernel's port of this number there is linked to."""
        of_channel = self.tags // self.channels
        return self.tag.format(n=channel * of_channel + port % of_channel)

    @property
    def channel_of(self) -> dict[str, int]:
        """The channel of every name that the link configuration may have for an end of the memory."""
        of_channel = self.tags // self.channels
        return {self.tag.format(n=number): number // of_channel for number in range(self.tags)}

    @property
    def all_tags(self) -> frozenset[str]:
        """Every name that the link configuration may have for an end of the memory."""
        return frozenset(self.channel_of)

    @property
    def adapter_bram18(self) -> int:
        """Blocks of 18 kbit that the adapter of one port takes that is as wide as any."""
        return adapter_bram18(self.word_bits, self.word_bits)

    @property
    def adapter_bytes(self) -> int:
        """Block RAM that the adapter of one port takes."""
        return self.adapter_bram18 * BRAM18_BYTES

    def read_cycles(self, cycle_ns: float) -> int:
        """Cycles of `cycle_ns` from the request of a word to its arrival."""
        return ceil(self.read_latency_ns / cycle_ns)

    def channel_bytes_per_cycle(self, cycle_ns: float) -> float:
        """Bytes that one channel sustains in a cycle of `cycle_ns`: no more than a word through each port of the memory."""
        through_ports = self.tags // self.channels * self.word_bits / 8
        return min(self.sustained_gigabytes_per_second * cycle_ns, through_ports)

    def peak_bytes_per_second(self) -> float:
        """Of all channels together, by the data sheet."""
        return self.channels * self.channel_gigabytes_per_second * 1e9

    def sustained_bytes_per_second(self, cycle_ns: float) -> float:
        """Of all channels together, with cycles of `cycle_ns`."""
        return self.channels * self.channel_bytes_per_cycle(cycle_ns) / cycle_ns * 1e9


@dataclass(frozen=True)
class Crossing:
    """Between two neighbouring dies: the cycles that a stream takes on its way, either way, and the wires that a plan may use."""

    cycles: int
    wires: int


@dataclass(frozen=True)
class Power:
    """What a card draws, to estimate: `static_watts` of the configured device and its board, `dynamic_watts` with all of a resource
    in use at the fastest clock, and what a byte costs that crosses the external memory. `most_watts`: what the card may draw."""

    most_watts: float
    static_watts: float
    memory_picojoules_per_byte: float
    dynamic_watts: Resources

    def watts(self, used: Resources, bytes_per_second: float) -> float:
        """Estimated, with `used` as shares of the device: linear in them, and as if what is used were never idle."""
        dynamic = self.dynamic_watts.scaled(used)
        logic = dynamic.lut + dynamic.ff + dynamic.bram36 + dynamic.uram + dynamic.dsp
        return self.static_watts + logic + bytes_per_second * self.memory_picojoules_per_byte * 1e-12


@dataclass(frozen=True)
class Platform:
    """One device with its shell. `plan` is the share of each die's resources a design may use.

    `memory_luts`: the part of the LUTs that can be memory. `power`, `crossing`: None where the file says nothing of it. `text`: the
    file that says all of this.
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
    power: Power | None
    text: str = field(repr=False, compare=False)
    crossing: Crossing | None = None

    @property
    def whole(self) -> Resources:
        """What all dies together have."""
        return reduce(Resources.plus, self.slrs)

    @property
    def usable_of_dies(self) -> tuple[Resources, ...]:
        """What a design may use of each die."""
        return tuple(die.scaled(self.plan) for die in self.slrs)

    @property
    def usable(self) -> Resources:
        """What a design may use of all dies together."""
        return self.whole.scaled(self.plan)

    @property
    def clock_mhz(self) -> int:
        """What designs are scheduled for, and the vendor's tools are told: the fastest clock."""
        return max(self.clocks_mhz)

    @property
    def cycle_ns(self) -> float:
        """The cycle of that clock."""
        return 1000 / self.clock_mhz

    @property
    def usable_on_chip_bytes(self) -> int:
        """Bytes of block and ultra RAM a design may use: the default of the fusion budget."""
        return int(self.usable.bram36) * BRAM36_BYTES + int(self.usable.uram) * URAM_BYTES


def platform_names() -> tuple[str, ...]:
    """The platforms this package has data for."""
    files = resources.files("stc.platforms").joinpath("data").iterdir()
    return tuple(sorted(file.name.removesuffix(SUFFIX) for file in files if file.name.endswith(SUFFIX)))


def load_platform(name: str) -> Platform:
    """The platform that this package calls `name`, or that of a user's file, where it is a path that ends in `.toml`.

    CompileError where there is no data, and for data that break the schema.
    """
    if name.endswith(SUFFIX):
        return _of_user(name)
    if name not in platform_names():
        accepted = f"{', '.join(platform_names())}, or the path of a platform file (NAME{SUFFIX})"
        raise CompileError(f"unknown platform '{name}'", accepted=accepted)
    return _ours(name)


@cache
def _ours(name: str) -> Platform:
    text = resources.files("stc.platforms").joinpath("data", f"{name}{SUFFIX}").read_text()
    return read_platform(text, f"{name}{SUFFIX}")


def _of_user(path: str) -> Platform:
    """With a warning where it has the name of one of ours, and other figures: such as of a project that an older stc made."""
    if '"' in path:
        raise CompileError("the path of a platform has a quotation mark", where=path, accepted="a path without any")
    try:
        text = Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CompileError(f"cannot read the platform ({reason_of(error)})", where=path, accepted="a TOML file") from None
    found = read_platform(text, path)
    if found.name in platform_names() and found != _ours(found.name):
        _told_once(f"{path}: not the figures that stc's own '{found.name}' has now; those of the file count")
    return found


@cache
def _told_once(text: str) -> None:
    """A warning: files are read by every pass anew."""
    warn(text)


@cache
def read_platform(text: str, where: str) -> Platform:
    """The platform of a file's `text`; CompileError names the file, the key, and what would be accepted.

    Keys of older files that nothing reads any more are left out, with a warning.
    """
    try:
        data = toml_of(text)
    except ValueError as error:
        raise CompileError(f"no TOML: {error}", where=where, accepted="a platform as docs/extending.md has it") from None
    data, retired = without_retired(data)
    if retired:
        _told_once(f"{where}: nothing reads {' or '.join(retired)} any more")
    check_platform(data, where)
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
        power=_power(data.get("power")),
        text=text,
        crossing=Crossing(**data["crossing"]) if "crossing" in data else None,
    )


def _power(table: Mapping[str, Any] | None) -> Power | None:
    if table is None:
        return None
    values = dict(table)
    return Power(dynamic_watts=Resources(**values.pop("dynamic_watts")), **values)
