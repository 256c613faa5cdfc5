"""The converters that report.json lists are those of the design, wherever in the pipeline they were made."""

from __future__ import annotations

import pytest
from notation import ADD_UP, MULTIPLY_ADD, SUBTRACT, Program

from stc.dialects.parsing import parse_module
from stc.tools.compile import Recorder, design_report
from stc_testing.small import small_options


@pytest.mark.parametrize("on_chip", [1700, 2600, 0])
def test_list_and_total_agree(on_chip: int) -> None:
    """At 2600 bytes `cancel-packs` puts a converter into the kernel that makes the product, after all other passes."""
    program = Program({"x": (8, 12), "w": (12, 16)})
    program.op("n", "ik kj -> ij", "x w", MULTIPLY_ADD, initial="0.0", schedule="tile = [8, 16, 12], order = [0, 1, 2]")
    program.op("a", "ij -> i", "n", ADD_UP, initial="0.0", schedule="tile = [8, 2], order = [0, 1]")
    program.op("c", "ij i -> ij", "n a", SUBTRACT, schedule="tile = [1, 16], order = [0, 1]")
    module = parse_module(program.returning("c"))
    report = design_report(module, small_options(on_chip=on_chip, duplicate_loads=0, propagate_orders=False), Recorder())
    listed = report["converter_buffers"]["list"]
    assert len(listed) == report["converters"] > 0
    assert sum(entry["buffer_bytes"] * entry["blocks"] for entry in listed) == report["memory_bytes"]["converters"]
