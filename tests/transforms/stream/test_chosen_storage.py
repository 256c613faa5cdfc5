"""`choose-storage` within budgets: what is scarce is spared, and what is given counts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from stc.analysis.resources import design_resources
from stc.analysis.storage import storables
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.transforms.stream.choose_storage import ChooseStorage

FIFOS = 6
DESIGN = "dataflow.kernel @k() {" + "\n".join(
    f"%s{n} = stream.create @s{n} {{tokens = 60 : i64}} : !stream.stream<vector<16xf32>, depth: 60>" for n in range(FIFOS)
) + "}"


def chosen(budget: str, schedule: str = "") -> Counter[str | None]:
    module = parse_module(DESIGN, "d.mlir")
    one_pass = ChooseStorage(budget=budget, schedule=schedule)
    one_pass.apply(make_context(), module)
    first, before = [each.memory for each in storables(module)], design_resources(module, 4.0)
    one_pass.apply(make_context(), module)   # from what it left, as from nothing
    assert ([each.memory for each in storables(module)], design_resources(module, 4.0)) == (first, before)
    return Counter(first)


@pytest.mark.parametrize(
    ("budget", "memory"),
    [("small", "lutram"), ("plan", "lutram"), ("lut=2000", "bram"), ("lut=2000,bram=0", "uram"), ("lut=2000,uram=0", "bram")],
)
def test_what_is_scarce_is_spared(budget: str, memory: str) -> None:
    assert chosen(budget) == {memory: FIFOS}


def test_scarce_memories_are_mixed() -> None:
    """A FIFO takes 15 BRAM18 or 8 URAM: three of each are 75 % of 60 and 80 % of 30; four in block RAM would be all of it."""
    assert chosen("lut=1000,bram=60,uram=30") == {"bram": 3, "uram": 3}


def test_the_choice_is_made_around_what_is_given(tmp_path: Path) -> None:
    path = tmp_path / "schedule.toml"
    path.write_text('[stc.memories]\ns0 = "uram"\ns4 = "bram"\n')
    assert chosen("plan", str(path)) == {"uram": 1, "bram": 1, "lutram": FIFOS - 2}


def test_a_budget_that_is_none() -> None:
    with pytest.raises(CompileError, match="budget has 'luts=3'"):
        chosen("luts=3")
