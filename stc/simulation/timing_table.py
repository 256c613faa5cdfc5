"""What the simulated design is told about time: the lines that `stc_sim/timing_table.h` reads, from a manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil

from stc.diagnostics import CompileError
from stc.manifest.schema import Kernel, LoopSchedule, Manifest

STYLES = ("stp", "flp", "frp")


@dataclass(frozen=True)
class SimulationOptions:
    """How to run a design.

    `depths` replaces FIFO depths by name, `unbounded` all of them by as many slots as needed. `depth_error` multiplies the
    estimated depth of every pipelined loop. `style` (stp, flp, frp) replaces the pipeline style of the source. `limit`: most
    cycles.
    """

    depths: Mapping[str, int] = field(default_factory=dict[str, int])
    unbounded: bool = False
    depth_error: float = 1.0
    style: str | None = None
    invocations: int = 1
    limit: int | None = None


def timing_table(manifest: Manifest, options: SimulationOptions) -> str:
    """The table; CompileError for options that do not fit the design."""
    _check(manifest, options)
    lines = [line for kernel in manifest.kernels for line in _kernel_lines(manifest, kernel, options)]
    lines += [f"fifo {name} {depth} 0" for name, depth in options.depths.items()]
    if options.unbounded:
        lines.append("unbounded")
    if options.limit is not None:
        lines.append(f"limit {options.limit}")
    return "\n".join(lines) + "\n"


def _check(manifest: Manifest, options: SimulationOptions) -> None:
    if options.style is not None and options.style not in STYLES:
        raise CompileError(f"unknown pipeline style '{options.style}'", accepted=", ".join(STYLES))
    if options.depth_error <= 0:
        raise CompileError(f"depth error is {options.depth_error:g}", accepted="a positive factor")
    if options.invocations < 1:
        raise CompileError(f"{options.invocations} invocations", accepted="at least 1")
    known = {stream.name for kernel in manifest.kernels for stream in kernel.streams}
    for name, depth in options.depths.items():
        if name not in known:
            raise CompileError(f"no FIFO is called '{name}'", where="depths", accepted=_some(sorted(known)))
        if depth < 1:
            raise CompileError(f"FIFO '{name}' has depth {depth}", where="depths", accepted="at least 1")


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:8])
    return shown if len(names) <= 8 else f"{shown}, ... ({len(names)} FIFOs)"


def _kernel_lines(manifest: Manifest, kernel: Kernel, options: SimulationOptions) -> Iterator[str]:
    memory = manifest.memory
    sharing = {bank: sum(port.bank == bank for port in kernel.ports) for bank in {port.bank for port in kernel.ports}}
    for port in kernel.ports:
        if memory is not None:
            pace = max(1.0, port.bytes / port.words * sharing[port.bank] / memory.channel_bytes_per_cycle)
            yield f"port {port.name} {memory.read_latency} {pace:.6f} {memory.burst_words} {memory.outstanding_bursts}"
    directions = {port.name: port.direction for port in kernel.ports if memory is not None}
    for loop in kernel.schedule:
        if loop.ii is not None:
            yield _loop_line(loop, directions, options)


def _loop_line(loop: LoopSchedule, directions: Mapping[str, str], options: SimulationOptions) -> str:
    depth = max(1, ceil((loop.depth or 1) * options.depth_error))
    sides = {"read": "reads", "write": "writes"}
    memory = [f"{sides[directions[access.port]]}={access.port}" for access in loop.memory if access.port in directions]
    return " ".join(["loop", loop.task, loop.label, str(loop.ii), str(depth), options.style or "-", *memory])
