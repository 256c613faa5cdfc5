"""`choose-storage`: the memory of each array and FIFO, and the ports of each array."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from stc.analysis.resource_figures import ResourceCount
from stc.analysis.resources import design_resources
from stc.analysis.storage import Storable, storables
from stc.design_space.storage import Shares, choose_memories
from stc.diagnostics import CompileError
from stc.iteration.storage import Memory
from stc.platforms.budget import PLAN, Counts, limits_or_plan
from stc.platforms.platform import load_platform, share_of
from stc.transforms.linalg.apply_schedule import OWN_TABLE, read_tables
from stc.transforms.pass_pipeline import did_you_mean

MEMORIES_TABLE = "memories"


@dataclass(frozen=True)
class ChooseStorage(ModulePass):
    """Say of which memory each array and each FIFO is built: LUTs, block RAM or ultra RAM, shift registers for a short FIFO.

    The ports of an array are those that its pipelined loops need in a cycle, at their intervals: `ram_s2p` reads and writes one
    word, `ram_2p` reads two, or reads and writes, `ram_t2p` makes any two accesses, which LUTs cannot. All read a word a cycle
    after its address, as loops are scheduled for, so that no loop gets slower; a bank of ultra RAM is no deeper than a block, since
    a cascade takes more. What a memory takes is counted in the shapes of UltraScale+ (`stc/platforms/data/memories.csv`). The
    choice makes the largest share of what the budget has of LUTs, block and ultra RAM as small as may be, unless it is below half,
    and the sum of these shares small (`stc.design_space.storage`). What operators, memory ports, rings and control take is
    estimated and counts as well. Rings of blocks, registers and FIFOs of two slots are left to the vendor's tool.

    Options:
    * `budget`: the limits (`stc.platforms.budget`; default plan, and small is the same).
    * `platform`: default u55c.
    * `schedule`: path of a `schedule.toml` whose table `stc.memories` says which memory an array (`"task.array"`) or a FIFO is
      built of; what is registers now is left out.

        %s = stream.create @s {tokens = 64} : !stream.stream<vector<8xf32>, depth: 64>
        %tile = memref.alloc() {stc.partition = [[1 : i32, 8 : i32]]} : memref<64x64xf32>
      becomes
        %s = stream.create @s {tokens = 64, memory = "lutram"} : !stream.stream<vector<8xf32>, depth: 64>
        %tile = memref.alloc() {stc.partition = [[1 : i32, 8 : i32]], stc.storage = ["ram_s2p", "bram"]} : memref<64x64xf32>
    """

    name = "choose-storage"

    budget: str = PLAN
    platform: str = "u55c"
    schedule: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        platform, given = load_platform(self.platform), _given(self.schedule)
        limits = limits_or_plan(self.budget, self.platform)
        share = partial(_shares, limits=limits, memory_luts=platform.memory_luts)
        everything = list(storables(op))
        _require_known(given, [each.name for each in everything], self.schedule)
        for each in everything:
            each.put(None)
        found = [each for each in everything if each.allowed]
        options = [self._options(each, given, share) for each in found]
        whole = design_resources(op, platform.cycle_ns, platform.memory.word_bits)
        all_else = reduce(ResourceCount.plus, (each.counted.times(-1) for each in found), whole)
        used = share(all_else)
        for each, memory in zip(found, choose_memories(options, used), strict=True):
            each.put(memory)

    def _options(
        self, found: Storable, given: Mapping[str, str], share: Callable[[ResourceCount, Memory | None], Shares]
    ) -> dict[Memory, Shares]:
        """What each memory that `found` may be built of takes of the budget; the one that is given, where one is."""
        asked = given.get(found.name)
        if asked is not None and asked not in found.allowed:
            what = f"'{found.name}' is '{asked}', with {found.text}"
            raise CompileError(what, where=f"{self.schedule} [{OWN_TABLE}.{MEMORIES_TABLE}]", accepted=", ".join(found.allowed))
        return {memory: share(found.cost(memory), memory) for memory in found.allowed if asked in (None, memory)}


def _shares(count: ResourceCount, memory: Memory | None = None, *, limits: Counts, memory_luts: float) -> Shares:
    """What `count` takes of `limits`, each taken for at least 1; as a memory of LUTs also of the part that can be memory."""
    lut = share_of(count.lut, limits.lut)
    of_luts = {"memory lut": lut / memory_luts} if memory in ("srl", "lutram") else {}
    return {"lut": lut, "bram18": share_of(count.bram18, limits.bram), "uram": share_of(count.uram, limits.uram)} | of_luts


def _require_known(given: Mapping[str, str], names: Sequence[str], schedule: str) -> None:
    for name in given:
        if name not in names:
            some = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
            raise CompileError(f"no array or FIFO is called '{name}'{did_you_mean(name, names)}", where=schedule, accepted=some)


def _given(schedule: str) -> dict[str, Any]:
    """What a schedule says of memories, by name; CompileError where it cannot be used."""
    table = read_tables(schedule).get(OWN_TABLE, {}).get(MEMORIES_TABLE, {}) if schedule else {}
    if not isinstance(table, dict) or not all(isinstance(memory, str) for memory in table.values()):
        raise CompileError(f"{OWN_TABLE}.{MEMORIES_TABLE} is no table of memories", where=schedule, accepted="NAME = 'bram'")
    return table
