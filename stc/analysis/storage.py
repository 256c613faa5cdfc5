"""The arrays of tasks and the FIFOs between them as memories whose kind can be chosen: how large, how many, with which ports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import SSAValue

from stc.analysis.kernel_memory import entry_bits
from stc.analysis.loop_estimates import innermost_loops
from stc.analysis.loops import pipeline_ii
from stc.analysis.partitions import bank_count, bank_words
from stc.analysis.port_pressure import bank_accesses
from stc.analysis.resource_figures import ResourceCount, fifo, local_memory
from stc.dialects.dataflow import TaskOp, own_kernel_of
from stc.dialects.facts import STORAGE
from stc.dialects.stream import CreateOp
from stc.iteration.storage import ARRAY_MEMORIES, FIFO_MEMORIES, ArrayStorage, Memory, Ports
from stc.platforms.fifo_storage import SRL_MAX_BITS, SRL_MAX_DEPTH, fifo_storage
from stc.platforms.memories import can_hold

PORTS: tuple[Ports, ...] = tuple(ARRAY_MEMORIES)
"""From the least to what gives any two accesses."""


@dataclass(frozen=True, eq=False)
class LocalArray:
    """An array of a task, called `task.array`: `banks` of `words` of `bits` each, which loops need these `ports` of."""

    name: str
    op: memref.AllocOp
    bits: int
    words: int
    banks: int
    ports: Ports

    @property
    def memory(self) -> Memory | None:
        """What was chosen."""
        return None if (storage := STORAGE.of(self.op)) is None else storage.memory

    @property
    def allowed(self) -> tuple[Memory, ...]:
        """The memories that it may be built of; none for registers."""
        if self.words <= 1:
            return ()
        return tuple(memory for memory in ARRAY_MEMORIES[self.ports] if can_hold(memory, self.ports, self.words))

    @property
    def text(self) -> str:
        banks = f"{self.banks} banks of {self.words}" if self.banks > 1 else f"{self.words}"
        return f"{banks} words of {self.bits} bits, {self.ports}"

    def cost(self, memory: Memory) -> ResourceCount:
        return self._cost(ArrayStorage(self.ports, memory))

    @property
    def counted(self) -> ResourceCount:
        """As the estimate of the design has it now."""
        return self._cost(STORAGE.of(self.op))

    def _cost(self, storage: ArrayStorage | None) -> ResourceCount:
        return local_memory(self.bits, self.banks * self.words, self.banks, storage)

    def put(self, memory: Memory | None) -> None:
        if memory is None:
            STORAGE.drop(self.op)
        else:
            STORAGE.put(self.op, ArrayStorage(self.ports, memory))


@dataclass(frozen=True, eq=False)
class Fifo:
    """A FIFO of `depth` tokens of `bits` each."""

    name: str
    op: CreateOp
    bits: int
    depth: int

    @property
    def memory(self) -> Memory | None:
        return self.op.memory

    @property
    def allowed(self) -> tuple[Memory, ...]:
        """The memories that it may be built of; none where two slots are registers anyway."""
        if self.depth <= SRL_MAX_DEPTH:
            return ()
        return tuple(memory for memory in FIFO_MEMORIES if self._fits(memory))

    def _fits(self, memory: Memory) -> bool:
        return self.bits * self.depth <= SRL_MAX_BITS if memory == "srl" else can_hold(memory, "fifo", self.depth)

    @property
    def text(self) -> str:
        return f"{self.depth} tokens of {self.bits} bits"

    def cost(self, memory: Memory) -> ResourceCount:
        return fifo(self.bits, self.depth, memory)

    @property
    def counted(self) -> ResourceCount:
        """As the estimate of the design has it now."""
        return fifo(self.bits, self.depth, self.memory)

    def put(self, memory: Memory | None) -> None:
        self.op.memory = memory


Storable = LocalArray | Fifo


def storables(module: ModuleOp) -> Iterator[Storable]:
    """Arrays of tasks and FIFOs, in order."""
    for op in module.walk():
        match op:
            case CreateOp():
                kind = op.result.type
                yield Fifo(op.sym_name.data, op, entry_bits(kind.element_type), kind.depth)
            case TaskOp() if own_kernel_of(op) is None:
                yield from _arrays(op)
            case _:
                pass


def memory_of(create: CreateOp) -> Memory:
    """The memory of a FIFO: what was chosen, else what its size suggests."""
    return create.memory or fifo_storage(entry_bits(create.result.type.element_type), create.result.type.depth)


def _arrays(task: TaskOp) -> list[LocalArray]:
    ports, found, names = _ports(task), list[LocalArray](), set[str]()
    for op in task.walk():
        if not isinstance(op, memref.AllocOp):
            continue
        kind, stem = op.memref.type, f"{task.sym_name.data}.{op.memref.name_hint or 'buffer'}"
        assert isinstance(kind, MemRefType)
        name = next(name for name in chain([stem], (f"{stem}_{n}" for n in count(2))) if name not in names)
        names.add(name)
        needed = ports.get(op.memref, PORTS[0])
        found.append(LocalArray(name, op, entry_bits(kind.element_type), bank_words(op, kind), bank_count(op, kind), needed))
    return found


def _ports(task: TaskOp) -> dict[SSAValue, Ports]:
    """The ports that the pipelined loops need of each array. Elsewhere accesses come one after the other."""
    found: dict[SSAValue, Ports] = {}
    for loop in innermost_loops(task):
        if (interval := pipeline_ii(loop)) is None:
            continue
        for buffer, accesses in bank_accesses(loop, task):
            needed, before = accesses.ports(interval), found.get(buffer, PORTS[0])
            found[buffer] = needed if PORTS.index(needed) > PORTS.index(before) else before
    return found
