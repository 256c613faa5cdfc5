"""`stc size` of a design that stc did not write: its FIFOs and their depths are those of the C++."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from stc.tools.size import size_project, write_sizing
from stc.tools.size_command import print_sizing

pytestmark = pytest.mark.heavy

EXAMPLE = Path(__file__).parents[2] / "examples" / "foreign"


def test_fifos_of_the_cpp_are_minimised_to_what_loses_no_cycle(tmp_path: Path) -> None:
    """The mean of 64 numbers is known when all of them were read: `direct` holds them by then. The testbench calls three times."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is needed")
    design = shutil.copytree(EXAMPLE, tmp_path / "design", ignore=shutil.ignore_patterns("build"))
    sizing = size_project(design, with_optimum=False, optimisation=0)
    assert {fifo.name: (fifo.bits, fifo.tokens, fifo.emitted) for fifo in sizing.fifos} == {
        "direct": (32, 192, 64), "summed": (32, 192, 2), "mean": (32, 3, 2),
    }
    assert sizing.emitted.cycles is not None and sizing.worst.cycles is not None
    assert "given C++, with the loop depths of design.toml" in sizing.origin
    write_sizing(sizing, design)
    written = json.loads((design / "build" / "depths.json").read_text())
    depths = written["depths"]
    assert written["proof"].startswith("executed with loop depths as they are")
    assert depths == sizing.depths and 64 <= depths["direct"] <= 66
    assert sizing.stated == "given" and not sizing.is_confirmed
    slower = f"{sizing.emitted.cycles} cycles at the given depths, {sizing.worst.cycles} with unlimited FIFOs"
    assert sizing.failures == (slower,)
    console = Console(width=200, record=True, file=io.StringIO())
    print_sizing(sizing, design, console)
    text = console.export_text()
    assert f"not confirmed: {slower}" in text and "given" in text and "emitted" not in text
