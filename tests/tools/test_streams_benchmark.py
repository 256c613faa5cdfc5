"""benchmarks/streams.py: its sections, on a tiny block and on figures made up to miss what is required."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from stc.diagnostics import CompileError

pytestmark = pytest.mark.heavy

FUZZ = {"programs": 100, "agreed": 99, "refused": 1, "failed": 0, "seconds": 1.5, "failures": [],
        "refusals": [{"reason": "choose-groups: a | b", "count": 1, "seeds": [4]}], "kinds": {"matmul": 3}}  # fmt: skip
FAULTS = {"faults": [{"fault": "swapped map", "caught_by": "verifier"}, {"fault": "dropped reuse loop", "place": "@fc"}]}


@pytest.fixture(scope="module")
def streams(benchmark_module: Callable[[str], ModuleType]) -> ModuleType:
    return benchmark_module("streams")


@pytest.fixture(scope="module")
def block(streams: ModuleType) -> Any:
    return streams.measure("gpt2-tiny", 5)


def test_block_sections(streams: ModuleType, block: Any) -> None:
    """Every section has a row for the block, as wide as its head, and says where it comes from."""
    for make in streams.BLOCK_SECTIONS:
        section = make([block])
        assert section.rows and all(len(row) == len(section.columns) for row in section.rows), section.title
        assert section.rows[0][:2] == ["gpt2-tiny", "5"]
        assert any(word in section.origin for word in ("Counted", "inferred", "Proved")), section.title
        assert section.table().row_count == len(section.rows)
    edges = block.chosen["proofs"]["edges"]
    assert streams.proof_section([block, block]).rows[-1][2] == str(2 * edges)


def test_the_proofs_alone(streams: ModuleType, block: Any) -> None:
    """As in the whole measurement, and z3 confirms what it is asked; only that section is written anew."""
    alone = streams.measure_proofs("gpt2-tiny", 5)
    for figure in ("edges", "by_method"):
        assert alone.chosen["proofs"][figure] == block.chosen["proofs"][figure]
    asked = alone.accesses["z3"]["asked"]
    assert asked == alone.accesses["z3"]["confirmed"] > alone.chosen["proofs"]["z3"]["asked"] > 0
    text = "# Head\n\n## Proofs\n\nold\n\n## Random programs\n\nkept\n"
    section = streams.proof_section([alone])
    assert streams.with_section(text, section) == f"# Head\n\n{section.markdown()}\n## Random programs\n\nkept\n"


def test_figures_are_printed_whole(streams: ModuleType, block: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Every cell of every table, also where the terminal is narrow."""
    sections = [make([block]) for make in streams.BLOCK_SECTIONS]
    streams.print_tables(streams.Console(width=60, file=sys.stdout), sections)
    printed = capsys.readouterr().out
    for section in sections:
        for line in (section.columns, *section.rows):
            assert all(cell in printed for cell in line), section.title
    assert "…" not in printed


def test_propagated_orders_save(streams: ModuleType, block: Any) -> None:
    """The two designs that are compared are two designs."""
    before, after = streams.converters_of(block.uniform), streams.converters_of(block.chosen)
    assert after.all_blocks < before.all_blocks
    assert after.ratio is not None and after.ratio >= 1.0


def test_missed_requirements(streams: ModuleType, block: Any) -> None:
    memory = {**block.chosen["memory_bytes"], "streams_over_before_unfused": 0.2}
    entry = {"least_bytes": 4, "buffer_bytes": 8, "blocks": 2}
    proofs = {**block.chosen["proofs"], "seconds": 11.0, "z3": {**block.chosen["proofs"]["z3"], "gave_up": 2}}
    chosen = {**block.chosen, "memory_bytes": memory, "converter_buffers": {"list": [entry]}, "proofs": proofs}
    worse = streams.Measured("b", 8, chosen, None, "does not fit")
    assert streams.memory_section([worse]).missed == ["b at 8 tokens keeps 20.0 % on chip"]
    assert streams.converter_section([worse]).missed == ["converters take 2.00 of their lower bound"]
    assert streams.converter_section([worse]).rows[-1][2:] == ["1", "1", "0.0", "0.0", "2.00", "2.00"]
    assert streams.proof_section([worse]).missed == ["proofs take 11.0 s", "z3 did not decide 2 edges"]
    assert streams.order_section([worse]).rows[0][2] == "refused"


def test_other_tools(streams: ModuleType, tmp_path: Path) -> None:
    section = streams.fuzz_section(FUZZ)
    assert ["refused, share", "1.0 %"] in section.rows and ["refused: choose-groups: a | b", "1"] in section.rows
    assert not section.missed and "a \\| b" in section.markdown()
    assert len(streams.fuzz_section({**FUZZ, "refused": 2, "failed": 1}).missed) == 2
    faults = streams.faults_section({**FAULTS, "missed": ["one is not caught"]})
    assert faults.columns == ["fault", "caught by", "place"]
    assert faults.rows == [["swapped map", "verifier", ""], ["dropped reuse loop", "", "@fc"]]
    assert faults.missed == ["one is not caught"]
    file = tmp_path / "fuzz.json"
    file.write_text(json.dumps(FUZZ))
    assert streams.result_of((), file) == FUZZ
    assert streams.result_of((sys.executable, "-c", f"print({json.dumps(json.dumps(FAULTS))})"), None) == FAULTS
    for text in ("", "[]", "{"):
        file.write_text(text)
        with pytest.raises(CompileError, match="no JSON object"):
            streams.result_of((), file)
    with pytest.raises(CompileError, match="no JSON object"):
        streams.result_of((sys.executable, "-c", "pass"), None)


def test_unusable_input(streams: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert streams.main(["no-such-model"]) == 2
    assert "no-such-model" in capsys.readouterr().err
