"""The manifest of whatever can be simulated: that of an emitted project, or one made from a design file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stc.diagnostics import CompileError
from stc.manifest.files import read_manifest
from stc.manifest.schema import SCHEMA_VERSION, Kernel, LoopSchedule, Manifest, MemoryAccess, MemoryTiming, Port, Task
from stc.simulation.design_file import ForeignDesign, PortEntry, is_foreign, read_design
from stc.simulation.foreign_design import TimedPipeline, instrument_design
from stc.simulation.static_checks import refuse_contradictions
from stc.simulation.timing_table import NO_PLATFORM

ORIGIN = "executed: cycle-level simulation of the emitted C++, with estimated loop depths"
MEASURED = "measured"
"""What the `limit` of a loop begins with whose interval and depth a report of the vendor's tool has."""


def scalars_of_draw(directory: Path, manifest: Manifest, draw: str = "") -> dict[str, int]:
    """The scalars of the draw of inputs of that name, else of the first, by the symbol that sizes call them."""
    if not manifest.draws:
        return {}
    stored = next((each for each in manifest.draws if each.name == draw), manifest.draws[0]).tensors
    scalars = [scalar for kernel in manifest.kernels for scalar in kernel.scalars]
    files = {scalar.symbol: stored[scalar.tensor] for scalar in scalars}
    return {symbol: int.from_bytes(_read(directory / file.path), "little", signed=True) for symbol, file in files.items()}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CompileError(f"cannot read it ({error.strerror})", where=str(path), accepted="a file of the project") from None


def origin_of_cycles(manifest: Manifest) -> str:
    """Where the cycles of a run come from, in words."""
    if manifest.platform == NO_PLATFORM:
        return f"executed: cycle-level simulation of the given C++, with the {manifest.origins['depth']}"
    pipelined = [loop for kernel in manifest.kernels for loop in kernel.schedule if loop.ii is not None]
    if not (measured := sum((loop.limit or "").startswith(MEASURED) for loop in pipelined)):
        return ORIGIN
    depths = f"measured depths of {measured} of {len(pipelined)} loops, estimated ones of others"
    return f"executed: cycle-level simulation of the emitted C++, with {depths}"


def project_manifest(directory: Path, report: Path | None = None) -> Manifest:
    """What is known of the project in `directory`; CompileError where it is neither emitted nor has a design file. `report`: of a
    vendor, with figures of loops that the design file does not describe."""
    if is_foreign(directory):
        return foreign_manifest(read_design(directory, report))
    return read_manifest(directory)


def sound_manifest(directory: Path) -> Manifest:
    """As `project_manifest`; CompileError also where the manifest contradicts itself: what follows from it is worth nothing."""
    manifest = project_manifest(directory)
    refuse_contradictions(manifest)
    return manifest


def foreign_manifest(design: ForeignDesign) -> Manifest:
    """As much of a manifest as time needs: FIFOs, tensors and trip counts of a foreign design are not known here."""
    instrumented = instrument_design(design)
    words = {port.name: port.word_bytes for port in design.ports}
    writing = {t.entry.writes for t in instrumented.pipelines if t.entry is not None}
    kernel = Kernel(
        name=design.top,
        ports=tuple(_port(port, -1 - index, port.name in writing) for index, port in enumerate(design.ports)),
        tasks=tuple(Task(name, "foreign", None, (), ()) for name in instrumented.tasks),
        streams=(),
        blocks=(),
        schedule=tuple(_loop(timed, words) for timed in instrumented.pipelines),
    )
    return Manifest(
        schema_version=SCHEMA_VERSION, name=design.top, platform=NO_PLATFORM, kernels=(kernel,), tensors=(), steps=(),
        tolerance=0.0, versions={}, options={}, origins={"depth": _figures(design, instrumented.pipelines)}, memory=_memory(design),
    )


def _figures(design: ForeignDesign, pipelines: Sequence[TimedPipeline]) -> str:
    """Where II and depth of the loops are from."""
    assumed = sum(timed.entry is None for timed in pipelines)
    given = f"loop depths of {design.file.name}" + (f" and of {design.report}" if design.report is not None else "")
    return given if assumed == 0 else f"{given}; II and depth of {assumed} of {len(pipelines)} loops are assumed"


def _port(port: PortEntry, own_bank: int, is_written: bool) -> Port:
    bank = own_bank if port.bank is None else port.bank
    return Port(
        name=port.name, kind="output" if is_written else "input", direction="write" if is_written else "read", element_type="i8",
        lanes=port.word_bytes, words=1, bytes=port.word_bytes, buffer=port.name, tensor=port.name, shape=(), order=None, bank=bank,
    )


def _loop(timed: TimedPipeline, words: dict[str, int]) -> LoopSchedule:
    entry = timed.entry
    ports = [name for name in (entry.reads, entry.writes) if name is not None] if entry is not None else []
    return LoopSchedule(
        task=timed.pipeline.function, label=timed.pipeline.label or "-", parent=None, trip=0, ii=timed.ii, depth=timed.depth,
        unroll=1, flattened=False, reads={}, writes={}, memory=tuple(MemoryAccess(name, words[name]) for name in ports),
    )


def _memory(design: ForeignDesign) -> MemoryTiming | None:
    memory = design.memory
    if memory is None:
        return None
    return MemoryTiming(
        clock_mhz=memory.clock_mhz,
        read_latency=memory.read_latency,
        channel_bytes_per_cycle=memory.bytes_per_cycle,
        burst_words=memory.burst_words,
        outstanding_bursts=memory.outstanding_bursts,
        launch_us=0.0,
    )
