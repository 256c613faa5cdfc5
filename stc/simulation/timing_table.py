"""What the simulated design is told about time: the lines that `stc_sim/timing_table.h` reads, from a manifest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil

from stc.diagnostics import CompileError
from stc.manifest.checks import MOST, MOST_LOOP_CYCLES
from stc.manifest.element_types import word_bytes
from stc.manifest.schema import Kernel, LoopSchedule, Manifest, Stream
from stc.platforms.memory_channels import BEAT_DIGITS, cycles_per_word, shared_channels
from stc.simulation.profile import Profile, with_profile

STYLES = ("stp", "flp", "frp")
NO_PLATFORM = "none"
"""The platform of a design that `stc` did not write: its FIFOs are known only when it runs."""
MOST_DEPTH_ERROR = 1000
MOST_INVOCATIONS = 10_000
"""What each task waited for is kept for every one of them."""
REGISTERS = 2
"""A FIFO of so many slots is made of registers; a deeper one is read a cycle later."""


@dataclass(frozen=True)
class SimulationOptions:
    """How to run a design.

    `depths` replaces FIFO depths by name, `unbounded` all of them by as many slots as needed. `depth_error` multiplies the
    estimated depth of every pipelined loop, or of the `deeper_loop` (task and label) alone. `style` (stp, flp, frp) replaces
    the pipeline style of the source. `limit`: most cycles. `profile`: measured intervals and depths in place of estimates. `at`:
    values of scalars in place of those of the inputs; then outputs are not compared.
    """

    depths: Mapping[str, int] = field(default_factory=dict[str, int])
    unbounded: bool = False
    depth_error: float = 1.0
    style: str | None = None
    invocations: int = 1
    limit: int | None = None
    profile: Profile | None = None
    deeper_loop: tuple[str, str] | None = None
    at: Mapping[str, int] = field(default_factory=dict[str, int])


def timing_table(manifest: Manifest, options: SimulationOptions) -> str:
    """The table; CompileError for options that do not fit the design."""
    _check(manifest, options)
    if options.profile is not None:
        manifest = with_profile(manifest, options.profile)
    lines = [line for kernel in manifest.kernels for line in _kernel_lines(manifest, kernel, options)]
    streams = {stream.name: stream for kernel in manifest.kernels for stream in kernel.streams}
    told = dict.fromkeys([*options.depths, *(name for name, stream in streams.items() if stream.crossing)])
    lines += [_fifo_line(name, options.depths.get(name, 0), streams.get(name)) for name in told]
    if options.unbounded:
        lines.append("unbounded")
    if options.limit is not None:
        lines.append(f"limit {options.limit}")
    return "\n".join(lines) + "\n"


def linked_table(manifest: Manifest) -> str:
    """The channel behind each port, whose traffic a run then counts. Apart: simulators of older projects do not know such lines."""
    linked = [(kernel, port) for kernel in manifest.kernels for port in kernel.ports if manifest.memory and port.bank is not None]
    return "".join(f"linked {port.name} {traffic_name(kernel, port.channel)} {word_bytes(port)}\n" for kernel, port in linked)


def _fifo_line(name: str, depth: int, stream: Stream | None) -> str:
    """`depth`: 0 for that of the source; of a design that `stc` did not write nothing else is known."""
    latency, crossing = (fifo_latency(stream), stream.crossing) if stream is not None else (0, 0)
    return f"fifo {name} {depth} {latency}" + (f" {crossing}" if crossing else "")


def fifo_latency(stream: Stream) -> int:
    """Cycles from a write to the first possible read, as `stc_sim/channel.h` takes it from the depth in the source.

    Runs with replaced depths keep it: they differ in the number of slots only, so that their cycles can be compared.
    """
    return 2 if stream.depth > REGISTERS else 1


def _check(manifest: Manifest, options: SimulationOptions) -> None:
    if options.style is not None and options.style not in STYLES:
        raise CompileError(f"unknown pipeline style '{options.style}'", accepted=", ".join(STYLES))
    if not 0 < options.depth_error <= MOST_DEPTH_ERROR:
        raise CompileError(f"depth error is {options.depth_error:g}", accepted=f"a positive factor, at most {MOST_DEPTH_ERROR}")
    if options.limit is not None and not 1 <= options.limit <= MOST:
        raise CompileError(f"a limit of {options.limit} cycles", accepted=f"1 to {MOST}")
    if not 1 <= options.invocations <= MOST_INVOCATIONS:
        raise CompileError(f"{options.invocations} invocations", accepted=f"1 to {MOST_INVOCATIONS}")
    foreign = manifest.platform == NO_PLATFORM
    if foreign and options.invocations != 1:
        what = f"{options.invocations} invocations of a design that stc did not write"
        raise CompileError(what, accepted="1: the testbench's calls of the top function are the invocations")
    known = {stream.name for kernel in manifest.kernels for stream in kernel.streams}
    for name, depth in options.depths.items():
        if name not in known and not foreign:
            raise unknown_fifo(name, known)
        if not 1 <= depth <= MOST:
            raise CompileError(f"FIFO '{name}' has depth {depth}", where="depths", accepted=f"1 to {MOST}")


def unknown_fifo(name: str, known: Iterable[str]) -> CompileError:
    """The refusal of a FIFO that the design does not have."""
    return CompileError(f"no FIFO is called '{name}'", where="depths", accepted=_some(sorted(known)))


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:8])
    return shown if len(names) <= 8 else f"{shown}, ... ({len(names)} FIFOs)"


def _channels(kernel: Kernel) -> dict[int | str, str]:
    """The names of the channels that its ports share as they need them. Kernels run one after the other, each from cycle 0 on."""
    shared = shared_channels((port.channel, port.mover) for port in kernel.ports)
    return {channel: traffic_name(kernel, channel) for channel in sorted(shared, key=str)}


def traffic_name(kernel: Kernel, channel: int | str) -> str:
    """What a run calls the traffic of a kernel in a channel: each kernel begins at cycle 0."""
    return f"{kernel.name}.{channel}"


def cycles_between_words(kernel: Kernel, manifest: Manifest) -> dict[str, float]:
    """Cycles between two words of each port, by its name, as the simulation is told."""
    memory = manifest.memory
    rate = memory.channel_bytes_per_cycle if memory is not None else float("inf")
    return {port.name: cycles_per_word(port.padded_word_bytes, rate) for port in kernel.ports}


def _kernel_lines(manifest: Manifest, kernel: Kernel, options: SimulationOptions) -> Iterator[str]:
    memory = manifest.memory
    channels = _channels(kernel)
    if memory is not None:
        yield from (f"channel {name} {memory.channel_bytes_per_cycle:.{BEAT_DIGITS}f}" for name in channels.values())
        pace = cycles_between_words(kernel, manifest)
        for port in kernel.ports:
            beat = f"{pace[port.name]:.{BEAT_DIGITS}f}"
            channel = f" {channels[port.channel]} {port.padded_word_bytes:.{BEAT_DIGITS}f}" if port.channel in channels else ""
            yield f"port {port.name} {memory.read_latency} {beat} {memory.burst_words} {memory.outstanding_bursts}{channel}"
    directions = {port.name: port.direction for port in kernel.ports if memory is not None}
    for loop in kernel.schedule:
        if loop.ii is not None:
            yield _loop_line(loop, directions, options)


def _loop_line(loop: LoopSchedule, directions: Mapping[str, str], options: SimulationOptions) -> str:
    if max(loop.ii or 1, loop.depth or 1) > MOST_LOOP_CYCLES:
        what = f"loop '{loop.label}' of task '{loop.task}' has II {loop.ii} and depth {loop.depth}"
        raise CompileError(what, accepted=f"at most {MOST_LOOP_CYCLES} each")
    is_deeper = options.deeper_loop in (None, (loop.task, loop.label))
    depth = max(1, ceil((loop.depth or 1) * (options.depth_error if is_deeper else 1)))
    sides = {"read": "reads", "write": "writes"}
    memory = [f"{sides[directions[access.port]]}={access.port}" for access in loop.memory if access.port in directions]
    return " ".join(["loop", loop.task, loop.label, str(loop.ii), str(depth), options.style or "-", *memory])
