"""When the first word of an output is there: kernels one after the other, words outside loops, intermediate results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from handmade import manifest

from stc.manifest.schema import Kernel, Manifest, Port, PortKind, Task
from stc.simulation.simulate import first_output

KINDS: dict[str, PortKind] = {"middle": "intermediate", "y": "output", "s": "output"}


def kernel(name: str, **stores: str) -> Kernel:
    """`stores`: tasks and the port that each writes."""
    ports = tuple(Port(port, KINDS[port], "write", "f32", 1, 3, 64, port, port, (3,), None) for port in stores.values())
    return Kernel(name, ports, tuple(Task(task, "store", None, (), (port,)) for task, port in stores.items()), (), (), ())


def design(*kernels: Kernel) -> Manifest:
    return replace(manifest([]), kernels=kernels)


def timing(written: Mapping[str, int | None], **returned: int) -> dict[str, Any]:
    return {
        "ports": [{"port": port, "first_write": at} for port, at in written.items()],
        "tasks": [{"task": task, "calls": [[0, at]]} for task, at in returned.items()],
    }


def test_a_later_kernel_writes_after_the_earlier_ones_have_ended() -> None:
    two = design(kernel("first", store_middle="middle"), kernel("second", store_y="y"))
    told = timing({"middle": 40, "y": 30}, store_middle=95, store_y=60)
    assert first_output(two, told, {"first": (100, 200), "second": (70, 140)}) == 130
    assert first_output(two, told, {"first": (100, 200)}) == 130      # the second hangs
    assert first_output(two, told, {}) is None                         # the first does


def test_kernels_count_in_the_order_in_which_they_ran() -> None:
    two = design(kernel("second", store_y="y"), kernel("first", store_s="s"))
    assert first_output(two, timing({"y": 3, "s": 50}), {"first": (60,), "second": (9,)}) == 50
    assert first_output(two, timing({"y": 3, "s": None}), {"first": (60,), "second": (9,)}) == 63


def test_a_word_outside_loops_is_there_when_its_task_returns() -> None:
    one = design(kernel("top", store_s="s", store_y="y"))
    told = timing({"y": 888, "s": None}, store_s=839, store_y=1829)
    assert first_output(one, told, {"top": (1829,)}) == 839
    assert first_output(one, told, {}) == 888                          # of a run that did not end, calls may not have either
    assert first_output(one, timing({}, store_s=839), {"top": (839,)}) == 839


def test_all_ports_of_a_foreign_design_count() -> None:
    foreign = replace(design(kernel("top")), platform="none")
    assert first_output(foreign, timing({"out": 12, "in": None}), {"top": (20,)}) == 12
    assert first_output(foreign, timing({"in": None}), {"top": (20,)}) is None
