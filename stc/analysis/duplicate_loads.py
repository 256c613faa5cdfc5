"""Which outside tensors a kernel reads more than once, and what that saves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, i64

from stc.dialects.dataflow import KernelOp
from stc.dialects.facts import DUPLICATE_LOADS


@dataclass(frozen=True)
class DuplicateLoad:
    """`reader` has a port of its own for `tensor`.

    `instead_of`: "fifo" or "converter". `saved_bytes`: what that would take on chip. `traffic_bytes`: read in addition, per run.
    `packed_bytes`: what the host packs in addition, per run. It is 0 where both ports share a packed buffer, for a parameter
    (packed once for all runs), and for what another kernel makes (`stc.analysis.host_trips`). It is negative where a packing
    becomes superfluous that an entry before this one has added.
    """

    tensor: str
    reader: str
    instead_of: str
    saved_bytes: int
    traffic_bytes: int
    packed_bytes: int = 0

    def attribute(self) -> DictionaryAttr:
        return DictionaryAttr(
            {key: StringAttr(value) if isinstance(value, str) else IntegerAttr(value, i64) for key, value in asdict(self).items()}
        )


def duplicate_loads_of(kernel: KernelOp) -> list[DuplicateLoad]:
    """What passes have decided for `kernel`, in order."""
    return [DuplicateLoad(**_plain(entry)) for entry in DUPLICATE_LOADS.of(kernel) or ()]


def _plain(entry: DictionaryAttr) -> dict[str, Any]:
    return {key: value.data if isinstance(value, StringAttr) else value.value.data for key, value in entry.data.items()}  # pyright: ignore[reportAttributeAccessIssue]


def record_duplicate_loads(kernel: KernelOp, duplicate_loads: Iterable[DuplicateLoad]) -> None:
    """Add to what `kernel` has."""
    entries = [*duplicate_loads_of(kernel), *duplicate_loads]
    if entries:
        DUPLICATE_LOADS.put(kernel, tuple(entry.attribute() for entry in entries))


def duplicate_load_report(module: ModuleOp) -> dict[str, Any]:
    """All of a module's, with the total traffic they add per run."""
    found = [entry for op in module.walk() if isinstance(op, KernelOp) for entry in duplicate_loads_of(op)]
    return {
        "origin": "FIFO depths from the bounded run, converters and traffic counted in the IR",
        "list": [asdict(entry) for entry in found],
        "saved_bytes": sum(entry.saved_bytes for entry in found),
        "traffic_bytes": sum(entry.traffic_bytes for entry in found),
    }
