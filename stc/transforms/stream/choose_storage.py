"""`choose-storage`: the memory of each array and FIFO, and the ports of each array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from stc.analysis.resource_figures import ResourceCount
from stc.analysis.resources import design_resources
from stc.analysis.storage import Storable, storables
from stc.design_space.storage import choose_memories
from stc.diagnostics import CompileError
from stc.iteration.storage import Memory
from stc.platforms.platform import Platform, load_platform
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
    choice makes the largest share of what the plan of the platform may use of LUTs, block and ultra RAM as small as may be, unless
    it is below half, and the sum of these shares small (`stc.design_space.storage`). What operators, memory ports, rings and
    control take is estimated and counts as well. Rings of blocks, registers and FIFOs of two slots are left to the vendor's tool.

    Options: `platform` (default u55c), whose plan counts; `schedule`: path of a `schedule.toml` whose table `stc.memories` says
    which memory an array (`"task.array"`) or a FIFO is built of; what became
      registers since is left out.

        %s = stream.create @s {tokens = 64} : !stream.stream<vector<8xf32>, depth: 64>
        %tile = memref.alloc() {stc.partition = [[1 : i32, 8 : i32]]} : memref<64x64xf32>
      becomes
        %s = stream.create @s {tokens = 64, memory = "lutram"} : !stream.stream<vector<8xf32>, depth: 64>
        %tile = memref.alloc() {stc.partition = [[1 : i32, 8 : i32]], stc.storage = ["ram_s2p", "bram"]} : memref<64x64xf32>
    """

    name = "choose-storage"

    platform: str = "u55c"
    schedule: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        platform, given = load_platform(self.platform), _given(self.schedule)
        everything = list(storables(op))
        _require_known(given, [each.name for each in everything], self.schedule)
        for each in everything:
            each.put(None)
        found = [each for each in everything if each.allowed]
        options = [self._options(each, given, platform) for each in found]
        all_else = reduce(ResourceCount.plus, (each.counted.times(-1) for each in found), design_resources(op, platform.cycle_ns))
        used = _shares(all_else, platform)
        for each, memory in zip(found, choose_memories(options, used), strict=True):
            each.put(memory)

    def _options(self, found: Storable, given: Mapping[str, str], platform: Platform) -> dict[Memory, Mapping[str, float]]:
        """What each memory that `found` may be built of takes of the plan; the one that is given, where one is."""
        asked = given.get(found.name)
        if asked is not None and asked not in found.allowed:
            what = f"'{found.name}' is '{asked}', with {found.text}"
            raise CompileError(what, where=f"{self.schedule} [{OWN_TABLE}.{MEMORIES_TABLE}]", accepted=", ".join(found.allowed))
        return {memory: _shares(found.cost(memory), platform, memory) for memory in found.allowed if asked in (None, memory)}


def _shares(count: ResourceCount, platform: Platform, memory: Memory | None = None) -> Mapping[str, float]:
    """What `count` takes of the plan; as a memory of LUTs also of those that can be memory."""
    shares = count.shares_of(platform.usable)
    of_luts = {"memory lut": shares["lut"] / platform.memory_luts} if memory in ("srl", "lutram") else {}
    return {name: shares[name] for name in ("lut", "bram18", "uram")} | of_luts


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
