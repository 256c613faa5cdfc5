"""The syntax of the pragmas that emitted code has, as the vendor's manual states it: UG1399 2023.2, "HLS Pragmas", a page for each.

What the manual allows and nothing here prints (`interface mode=ap_none`, `array_partition off=true`) is left out: it is a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from stc.iteration.storage import ARRAY_MEMORIES, FIFO_MEMORIES

_COUNT, _NUMBER, _NAME = r"[1-9]\d*", r"\d+", r"[A-Za-z_]\w*"


@dataclass(frozen=True)
class Syntax:
    """One pragma. `flags`: words without a value, one at most. `options`: what their values may be. `required`: of these."""

    flags: frozenset[str] = frozenset()
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    required: frozenset[str] = frozenset()

    def complaints(self, given: Mapping[str, str]) -> Iterator[str]:
        """What is wrong with the options of a pragma; a flag has the value ''."""
        for option, value in given.items():
            if option not in self.options and option not in self.flags:
                yield f"has no option {option}"
            elif option in self.flags and value:
                yield f"has {option}={value}, expected {option}"
            elif option in self.options and not re.fullmatch(self.options[option], value):
                yield f"has {option}={value}, expected {self.options[option]}"
        if len(words := sorted(self.flags & given.keys())) > 1:
            yield f"has both {' and '.join(words)}, expected one"
        for option in sorted(self.required - given.keys()):
            yield f"has no {option}="


def _syntax(flags: str = "", required: str = "", **options: str) -> Syntax:
    return Syntax(frozenset(flags.split()), options, frozenset(required.split()))


_PORT = {"port": _NAME, "bundle": _NAME}

PRAGMAS: Mapping[str, Syntax] = {
    "pipeline": _syntax(required="ii style", ii=_COUNT, style="stp|frp|flp"),
    "unroll": _syntax(flags="skip_exit_check", factor=_COUNT),
    "loop_flatten": _syntax(flags="off"),
    "loop_tripcount": _syntax(required="min max", min=_NUMBER, max=_COUNT, avg=_NUMBER),
    "dataflow": _syntax(flags="disable_start_propagation"),
    "inline": _syntax(flags="off recursive"),
    "array_partition": _syntax(required="variable type dim", variable=_NAME, type="cyclic|block|complete", factor=_COUNT,
                               dim=_NUMBER),
    "bind_storage": _syntax(required="variable type impl", variable=_NAME, type="|".join(("fifo", *ARRAY_MEMORIES)),
                            impl="|".join(FIFO_MEMORIES)),
    "bind_op": _syntax(required="variable op impl", variable=_NAME, op="mul|add|fadd"),
    # `class` and `variable` exclude each other; `distance` is of dependences that are true.
    "dependence": _syntax(required="variable type direction dependent", variable=_NAME, type="inter|intra", direction="RAW|WAR|WAW",
                          distance=_COUNT, dependent="true|false"),
    "stable": _syntax(required="variable", variable=_NAME),
    "interface": _syntax(required="mode port", mode="m_axi|s_axilite|ap_ctrl_none|axis", **_PORT, offset="slave|direct|off",
                         depth=_COUNT, latency=_NUMBER, max_read_burst_length=_COUNT, max_write_burst_length=_COUNT,
                         num_read_outstanding=_COUNT, num_write_outstanding=_COUNT),
}
_NOT_PIPELINED = _syntax(flags="off")
_INTERFACES: Mapping[str, Syntax] = {
    "m_axi": PRAGMAS["interface"],
    "s_axilite": _syntax(required="mode port bundle", mode="s_axilite", **_PORT),
    "ap_ctrl_none": _syntax(required="mode port", mode="ap_ctrl_none", port="return"),
    "axis": _syntax(required="mode port", mode="axis", port=_NAME, depth=_COUNT),
}
_ARRAY_STORAGE: Mapping[str, Syntax] = {
    ports: _syntax(required="variable type impl latency", variable=_NAME, type=ports, impl="|".join(memories), latency="[1-3]")
    for ports, memories in ARRAY_MEMORIES.items()
}
"""By type: distributed RAM has no second port that writes."""
_OPERATORS: Mapping[str, Syntax] = {
    "mul": _syntax(required="variable op impl", variable=_NAME, op="mul", impl="fabric|dsp", latency="[0-4]"),
    "add": _syntax(required="variable op impl", variable=_NAME, op="add", impl="fabric|dsp", latency="[0-4]"),
    "fadd": _syntax(required="variable op impl", variable=_NAME, op="fadd", impl="fabric|fulldsp", latency="[0-9]|1[0-3]"),
}
"""By operator (UG1399, bind_op)."""


def complaints(name: str, options: Mapping[str, str]) -> Iterator[str]:
    """What the manual does not allow of `#pragma HLS name options`; each is a sentence without its subject."""
    syntax = _NOT_PIPELINED if name == "pipeline" and "off" in options else PRAGMAS.get(name)
    if syntax is None:
        yield f"is not known, expected one of {', '.join(PRAGMAS)}"
        return
    by_kind = {"interface": (_INTERFACES, "mode"), "bind_storage": (_ARRAY_STORAGE, "type"), "bind_op": (_OPERATORS, "op")}
    kinds, option = by_kind.get(name, ({}, ""))
    yield from kinds.get(options.get(option, ""), syntax).complaints(options)
    if name == "array_partition" and ("factor" in options) is (options.get("type") == "complete"):
        yield "has a factor, of type complete" if "factor" in options else "has no factor="
    if name == "dependence" and "distance" in options and options.get("dependent") != "true":
        yield "has a distance, which only a true dependence has"
