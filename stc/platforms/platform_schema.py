"""The schema of platform files, those of this package and users' own: what is wrong with one, in one sentence.

A file has the fields of `stc.platforms.platform.Platform`, its tables those of the classes there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from stc.diagnostics import CompileError
from stc.platforms.adapters import WIDEST

LEAST_WORD_BITS = 32
OF_NO_PLATFORM = "none"
MOST = 1 << 53
"""Numbers up to here are exact in JSON, too."""
RETIRED = {"": ("multiplier",), "memory": ("read_latency_cycles", "sharing")}
"""Keys of older files, by table: nothing reads them, and projects keep files that have them."""


@dataclass(frozen=True)
class _Rule:
    """What a value has to be, in words, and the types that it may have."""

    accepted: str
    types: tuple[type, ...]
    least: float = 0
    above_least: bool = False
    most: float = MOST
    pattern: str = r".*\S.*"

    def holds(self, value: object) -> bool:
        if type(value) not in self.types:
            return False
        if isinstance(value, str):
            return re.fullmatch(self.pattern, value) is not None
        if not isinstance(value, int | float):
            return True
        above = value > self.least if self.above_least else value >= self.least
        return isfinite(value) and above and value <= self.most


_TEXT = _Rule("a line of text that is not empty", (str,))
_WORD = _Rule("letters, digits, '_', '.' and '-'", (str,), pattern=r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_COUNT = _Rule("an integer from 1", (int,), 1)
_BURST = _Rule("an integer from 2 to 256, as an AXI4 burst may be long", (int,), 2, most=256)
_INDEX = _Rule("an integer from 0", (int,))
_AMOUNT = _Rule("a number above 0", (int, float), above_least=True)
_SHARE = _Rule("a share above 0, at most 1", (int, float), above_least=True, most=1)
_WATTS = _Rule("a number from 0", (int, float))
_TABLE = _Rule("a table", (dict,))
_LIST = _Rule("a list that is not empty", (list,))

_RESOURCES = ("lut", "ff", "bram36", "uram", "dsp")
_PLATFORM: Mapping[str, _Rule] = {
    "name": _WORD, "part": _WORD, "shell": _WORD, "clocks_mhz": _LIST, "launch_us": _AMOUNT, "tool_version": _WORD,
    "memory_luts": _SHARE, "plan": _TABLE, "slr": _LIST, "memory": _TABLE, "crossing": _TABLE,
}  # fmt: skip
_OPTIONAL = frozenset({"crossing"})
"""Tables that a file may do without: files of older versions have none, and devices of one die need none."""
_CROSSING: Mapping[str, _Rule] = {"cycles": _COUNT, "wires": _COUNT}
_DIE: Mapping[str, _Rule] = {**dict.fromkeys(_RESOURCES, _AMOUNT), "uram": _Rule("a number from 0", (int, float))}
_PLAN: Mapping[str, _Rule] = dict.fromkeys(_RESOURCES, _SHARE)
_POWER: Mapping[str, _Rule] = {
    "most_watts": _AMOUNT, "static_watts": _AMOUNT, "memory_picojoules_per_byte": _AMOUNT, "dynamic_watts": _TABLE,
}  # fmt: skip
_DYNAMIC: Mapping[str, _Rule] = dict.fromkeys(_RESOURCES, _WATTS)
_MEMORY: Mapping[str, _Rule] = {
    "kind": _TEXT, "channels": _COUNT, "channel_bytes": _COUNT, "channel_gigabytes_per_second": _AMOUNT, "word_bits": _COUNT,
    "max_ports": _COUNT, "tag": _TEXT, "tags": _COUNT, "slr": _INDEX,
    "read_latency_ns": _AMOUNT, "sustained_gigabytes_per_second": _AMOUNT, "burst_words": _BURST, "outstanding_bursts": _COUNT,
}  # fmt: skip


def without_retired(data: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The tables of a file without keys that are read no more, and which those were."""
    left, found = dict(data), list[str]()
    for name, keys in RETIRED.items():
        table = left.get(name) if name else left
        if isinstance(table, dict):
            values: dict[str, Any] = table  # pyright: ignore[reportUnknownVariableType]  # keys of TOML are texts
            found += [f"{name}.{key}".lstrip(".") for key in keys if key in values]
            kept = {key: value for key, value in values.items() if key not in keys}
            left = left | {name: kept} if name else kept
    return left, found


def check_platform(data: Mapping[str, Any], where: str) -> None:
    """CompileError where the tables of the file `where` are no platform: names the key, and what would be accepted."""
    power = data.get("power")  # files without the table are whole: nothing but estimates of energy reads it
    _check({key: value for key, value in data.items() if key != "power"}, _PLATFORM, "", where)
    if power is not None:
        _check(power, _POWER, "power.", where)
        _check(power["dynamic_watts"], _DYNAMIC, "power.dynamic_watts.", where)
    tables = [(data["plan"], _PLAN, "plan."), (data["memory"], _MEMORY, "memory.")]
    tables += [(die, _DIE, f"slr[{number}].") for number, die in enumerate(data["slr"])]
    tables += [(data["crossing"], _CROSSING, "crossing.")] if "crossing" in data else []
    for table, rules, prefix in tables:
        _check(table, rules, prefix, where)
    for what, accepted in _complaints(data):
        raise CompileError(what, where=where, accepted=accepted)


def _check(table: object, rules: Mapping[str, _Rule], prefix: str, where: str) -> None:
    """CompileError for keys that are unknown or missing, and for values that break their rule."""
    if not isinstance(table, dict):
        raise CompileError(f"{prefix.rstrip('.')} is {table!r}", where=where, accepted="a table")
    values: dict[str, Any] = table  # pyright: ignore[reportUnknownVariableType]  # keys of TOML are texts
    if unknown := [key for key in values if key not in rules]:
        known = [*rules, *([] if prefix else ["power"])]
        raise CompileError(f"unknown key {prefix}{unknown[0]}", where=where, accepted=", ".join(known))
    for key, rule in rules.items():
        if key not in values and key in _OPTIONAL:
            continue
        if key not in values:
            raise CompileError(f"{prefix}{key} is missing", where=where, accepted=rule.accepted)
        if not rule.holds(values[key]) or values[key] == []:
            raise CompileError(f"{prefix}{key} is {values[key]!r}", where=where, accepted=rule.accepted)


def _complaints(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with values that are right alone, and what would be accepted."""
    memory = data["memory"]
    if data["name"] == OF_NO_PLATFORM:
        yield f"name is '{OF_NO_PLATFORM}', which designs have that stc did not write", "another name"
    for clock in data["clocks_mhz"]:
        if not _COUNT.holds(clock):
            yield f"clocks_mhz has {clock!r}", "integers from 1"
    if memory["slr"] >= len(data["slr"]):
        yield f"memory.slr is {memory['slr']}", f"a die: 0 to {len(data['slr']) - 1}"
    bits = memory["word_bits"]
    if bits & (bits - 1) or not LEAST_WORD_BITS <= bits <= WIDEST:
        yield f"memory.word_bits is {bits}", f"a power of two from {LEAST_WORD_BITS} to {WIDEST}"
    peak = memory["channel_gigabytes_per_second"]
    if memory["sustained_gigabytes_per_second"] > peak:
        sustained = memory["sustained_gigabytes_per_second"]
        yield f"memory.sustained_gigabytes_per_second is {sustained:g}", f"at most memory.channel_gigabytes_per_second, {peak:g}"
    power: Mapping[str, Any] = data.get("power", {"static_watts": 0, "most_watts": 0})
    if power["static_watts"] > power["most_watts"]:
        yield f"power.static_watts is {power['static_watts']:g}", f"at most power.most_watts, {power['most_watts']:g}"
    if memory["tags"] % memory["channels"]:
        yield f"memory.tags is {memory['tags']}", f"a multiple of memory.channels, {memory['channels']}"
    if not re.fullmatch(r"[A-Za-z_]\w*(\[\{n\}\]|\{n\})?", memory["tag"]) or ("{n}" not in memory["tag"] and memory["tags"] > 1):
        yield f"memory.tag is {memory['tag']!r}", "a name with {n} for the number, such as HBM[{n}] or HP{n}"
