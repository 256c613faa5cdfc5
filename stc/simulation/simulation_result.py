"""What a run with time tells: cycles, tasks and what they waited for, FIFOs with their curves, the loops that ran."""

from __future__ import annotations

from dataclasses import dataclass, field

from stc.simulation.csim import CsimResult
from stc.simulation.memory_traffic import ChannelUses

MEMORY = "external memory"


@dataclass(frozen=True)
class Wait:
    """From cycle `begin` to `end` a task waited, mostly, to read or write `channel`; `cycles` of them were lost.

    `peer`: the task that releases a variable of that name when it returns; "" where `channel` is a FIFO, blocks or memory.
    """

    channel: str
    reads: bool
    begin: int
    end: int
    cycles: int
    peer: str = ""


@dataclass(frozen=True)
class TaskTime:
    """One task over all its calls. `busy` are the cycles between first start and last end in which it did not wait."""

    name: str
    calls: tuple[tuple[int, int], ...]
    stalled_reading: int
    stalled_writing: int
    waits: tuple[Wait, ...]

    @property
    def begin(self) -> int:
        return self.calls[0][0]

    @property
    def end(self) -> int:
        return self.calls[-1][1]

    @property
    def busy(self) -> int:
        return sum(until - begin for begin, until in self.calls) - self.stalled_reading - self.stalled_writing


@dataclass(frozen=True)
class FifoTime:
    """One FIFO or ring of blocks. Curves are (cycle, count from then on), thinned to at most 1024 points.

    `depth` is what the run was told (None: unlimited), `declared_depth` what the C++ says. A token can be read `latency` cycles
    after it was written, which was `lead` cycles after its producer's iteration issued. `crossing`: how many of them it takes to
    another die, and its slot back.
    """

    name: str
    depth: int | None
    tokens: int
    highest_occupancy: int
    stalled_reader: int
    stalled_writer: int
    producer: str
    consumer: str
    produced: tuple[tuple[int, int], ...]
    consumed: tuple[tuple[int, int], ...]
    kind: str = "fifo"
    declared_depth: int = 0
    latency: int = 1
    lead: int = 0
    crossing: int = 0


@dataclass(frozen=True)
class LoopRan:
    """A pipelined loop that ran. `pragma_ii` is 0 where its pragma has none; `ii` and `depth` are those it was charged."""

    task: str
    label: str
    line: int
    pragma_ii: int
    ii: int
    depth: int


@dataclass(frozen=True)
class SimulationResult:
    """`ends`: for each kernel the cycle in which each of its invocations ended. `launch_cycles`: what launches cost besides.
    `origin` of the cycles, in words; `notes`: what was assumed of a design that `stc` did not write, and what is not timed.
    `compared`: whether outputs were looked at, for which there is no reference where scalars had other values. `memory`: the
    channels of external memory over all invocations, of a run that ended, where they are known."""

    values: CsimResult
    ends: dict[str, tuple[int, ...]]
    first_output: int | None
    launch_cycles: int
    clock_mhz: float | None
    tasks: tuple[TaskTime, ...]
    fifos: tuple[FifoTime, ...]
    origin: str = ""
    notes: tuple[str, ...] = ()
    loops: tuple[LoopRan, ...] = ()
    kernel_tasks: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    compared: bool = True
    memory: ChannelUses | None = None
    steps: int = 1
    """Of an invocation, one after the other."""

    @property
    def passed(self) -> bool:
        """The run ended, and no value is wrong; one draw of inputs need not decide all of them."""
        return not self.values.failed

    @property
    def tokens(self) -> int:
        """Tokens written to all FIFOs of the design, and blocks to its rings, over all invocations."""
        return sum(fifo.tokens for fifo in self.fifos)

    @property
    def tokens_per_second(self) -> float | None:
        """Over the seconds inside the top functions: values and cycles, without loading parameters and comparing results."""
        return self.tokens / self.values.seconds if self.values.seconds > 0 else None

    @property
    def tokens_per_cpu_second(self) -> float | None:
        """As `tokens_per_second` on a machine that does nothing else."""
        return self.tokens / self.values.cpu_seconds if self.values.cpu_seconds else None

    @property
    def occupancies(self) -> dict[str, int]:
        """Most tokens in each FIFO, or blocks in each ring, at one time."""
        return {fifo.name: fifo.highest_occupancy for fifo in self.fifos}

    @property
    def stalled_writers(self) -> dict[str, int]:
        """Cycles that the writer of each FIFO or ring of blocks waited for room."""
        return {fifo.name: fifo.stalled_writer for fifo in self.fifos}

    @property
    def cycles(self) -> int | None:
        """Of one invocation of every kernel, one after the other, launches apart; None where the run did not end or called none."""
        ended = self.values.outcome == "finished" and bool(self.ends)
        return sum(ends[0] for ends in self.ends.values()) if ended else None

    @property
    def interval(self) -> int | None:
        """Cycles between the last two ends, summed over kernels; None after a single invocation, or where the run did not end."""
        if self.cycles is None or any(len(ends) < 2 for ends in self.ends.values()):
            return None
        return sum(ends[-1] - ends[-2] for ends in self.ends.values())
