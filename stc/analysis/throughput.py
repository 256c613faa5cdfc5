"""How fast a design is, as far as the sizing of its FIFOs says, and which part of the device it takes for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def throughput_report(
    makespans: Sequence[int | None] | None, resources: Mapping[str, Any], budget: str
) -> dict[str, Any]:
    """What of report.json says how fast the design is for its size; `budget`: as the user wrote it.

    `cycles`: of one run, kernels one after the other; None where the time of one is not modelled. `plan_dsp`: DSPs of the platform
    that a plan may use. `makespans` is None where nobody sized.
    """
    known = [cycles for cycles in makespans or () if cycles is not None]
    cycles = sum(known) if makespans is not None and len(known) == len(makespans) else None
    used, share = resources["total"]["dsp"], resources["share"]["dsp"]
    return {
        "origin": "cycles estimated by FIFO sizing, resources without synthesis",
        "cycles": cycles,
        "dsp": used,
        "plan_dsp": round(used / share) if share else None,
        "budget": budget,
    }
