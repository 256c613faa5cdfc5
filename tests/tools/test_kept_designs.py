"""Of the designs that a compile makes, the user is told of narrower tokens of that which is kept alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from xdsl.dialects.builtin import ModuleOp

from stc.pipeline import PipelineOptions
from stc.tools import compile as compiles

pytestmark = pytest.mark.heavy

NARROWER = "the cheapest design with tokens of 4 entries is beyond the plan of kv260; instead, of 1"
SEARCHED_CYCLES = 50


@pytest.mark.parametrize(("cheapest_cycles", "warnings"), [(100, ()), (10, (NARROWER,))], ids=["the searched", "the cheapest"])
def test_who_is_told(
    cheapest_cycles: int, warnings: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The cheapest design takes more than the KV260's plan with tokens of 4 entries."""

    def made(_: Any, options: PipelineOptions, *__: Any, is_named: bool) -> Any:
        assert is_named
        lut = 99_999 if not options.is_searched and options.token_lanes == 4 else 100
        total = {"dsp": 9, "lut": lut, "ff": 9, "bram18": 9, "uram": 0}
        cycles = SEARCHED_CYCLES if options.is_searched else cheapest_cycles
        report = {"resources": {"total": total}, "memory_ports": 2, "groups": 1, "throughput": {"cycles": cycles}}
        searched = SimpleNamespace(expected=None, cycles=SEARCHED_CYCLES, is_given=False, least_cycles_without=0)
        return compiles._Made(report, options, cast(Any, SimpleNamespace(searched=searched)))  # pyright: ignore[reportPrivateUsage]

    monkeypatch.setattr(compiles, "_made", made)
    start: Any = SimpleNamespace(model=SimpleNamespace(module=ModuleOp([])), options=PipelineOptions(platform="kv260"))
    kept = compiles._on_platform(start, lambda _: None, is_named=True)  # pyright: ignore[reportPrivateUsage]
    assert kept.cycles == min(SEARCHED_CYCLES, cheapest_cycles) and kept.warnings == warnings
    assert capsys.readouterr().err == "", "who is kept is only known in the end"
