"""How much of its multipliers a design uses: multiply-accumulates per cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType

from stc.analysis.generic_loops import generics_in
from stc.analysis.host_work import functions_of, host_values


def multiply_accumulates(module: ModuleOp) -> int:
    """Products that reductions of `module` sum up in one run: those of its linalg generics, work on parameters left out."""
    return sum(
        _products(generic)
        for function in functions_of(module)
        for known in [host_values(function)]
        for generic in generics_in(function)
        if not set(generic.results) <= known
    )


def _products(generic: linalg.GenericOp) -> int:
    if all(kind.data == IteratorType.PARALLEL for kind in generic.get_iterator_types()):
        return 0
    products = sum(isinstance(op, arith.MulfOp | arith.MuliOp) for op in generic.body.block.ops)
    return products * prod(generic.get_static_loop_ranges())


def throughput_report(
    multiplies: int | None, makespans: Sequence[int | None] | None, resources: Mapping[str, Any], budget: str
) -> dict[str, Any]:
    """What of report.json says how fast the design is for its size; `budget`: as the user wrote it.

    `cycles`: of one run, kernels one after the other; None, like `per_cycle`, where the time of one is not modelled. `plan_dsp`:
    DSPs of the platform that a plan may use. `multiplies` or `makespans` is None where nobody counted or sized.
    """
    known = [cycles for cycles in makespans or () if cycles is not None]
    cycles = sum(known) if makespans is not None and len(known) == len(makespans) else None
    used, share = resources["total"]["dsp"], resources["share"]["dsp"]
    return {
        "origin": "products counted in linalg; cycles estimated by FIFO sizing, resources without synthesis",
        "multiply_accumulates": multiplies,
        "cycles": cycles,
        "per_cycle": multiplies / cycles if multiplies is not None and cycles else None,
        "dsp": used,
        "plan_dsp": round(used / share) if share else None,
        "budget": budget,
    }
