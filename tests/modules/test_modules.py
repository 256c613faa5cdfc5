"""Every module of `definitions.py`: refused with the sentence it should be, or right wherever it can be executed.

`test_linalg` compares the IR with PyTorch before and after the linalg stage, in `make test` where no other test does.
`test_selection` and `test_theme` compile, build and run the emitted C++, several modules in one program: a selection in
`make test`, all of them in `make test-full`.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from definitions import CASES, Case
from xdsl.dialects.func import FuncOp

from stc.analysis import support
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.execution.run import execute
from stc.frontend.exported import ExportedModel
from stc.pipeline import run_stages, stages
from stc.simulation.batch import simulate
from stc.tools.check import check_model
from stc.tools.compile import compile_model
from stc.tools.request import CompileRequest, load
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

FILE = Path(__file__).with_name("definitions.py")
SUPPORTED = [case for case in CASES.values() if not case.refused]
REFUSED = [case for case in CASES.values() if case.refused]
QUICK = [case for case in SUPPORTED if case.quick]
THEMES = sorted({case.theme for case in SUPPORTED})
TOLERANCE = 1e-4
"""Of the largest magnitude of an output (docs/design/architecture.md, Correctness)."""


def request(case: Case) -> CompileRequest:
    return CompileRequest(f"{FILE}:{case.name}", options=small_options())


def require_golden(model: ExportedModel) -> None:
    """The module's function gives PyTorch's outputs."""
    function = next(op for op in model.module.ops if isinstance(op, FuncOp))
    results = execute(function, list(model.arguments.values()))
    for (name, wanted), got in zip(model.golden.items(), results, strict=True):
        assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype), name
        scale = np.abs(wanted, where=np.isfinite(wanted), out=np.zeros(wanted.shape)).max(initial=0)
        np.testing.assert_allclose(got.astype(np.float64), wanted.astype(np.float64), rtol=0, atol=TOLERANCE * scale, err_msg=name)


def elsewhere(case: Case) -> bool:
    """Whether its C++ is compared with PyTorch anyway, or other modules have what it has: attentions are products and softmaxes."""
    return case.quick or case.theme == "attention"


LINALG = [pytest.param(case, id=case.name, marks=[pytest.mark.full] if elsewhere(case) else []) for case in SUPPORTED]


@pytest.mark.parametrize("case", LINALG)
def test_linalg(case: Case) -> None:
    model = load(replace(request(case), check_inputs=("example",)))
    assert not support.obstacles(model.module)
    require_golden(model)
    run_stages(model.module, make_context(), stages(small_options())[:1])
    require_golden(model)


def require_right(cases: Sequence[Case], folder: Path) -> None:
    """The emitted C++ of every case gives PyTorch's outputs."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is needed")
    for case in cases:
        compile_model(request(case), folder / case.name)
    results = simulate([folder / case.name for case in cases], folder)
    wrong = {name: result.explanation or result.outputs for name, result in results.items() if not result.passed}
    assert not wrong


@pytest.mark.parametrize("part", range(2))
def test_selection(part: int, tmp_path: Path) -> None:
    """In two parts, for two workers."""
    require_right(QUICK[part::2], tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("theme", THEMES)
def test_theme(theme: str, tmp_path: Path) -> None:
    require_right([case for case in SUPPORTED if case.theme == theme and not case.quick], tmp_path)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_refusals(case: Case, tmp_path: Path) -> None:
    """One sentence that says what, where and what would be accepted, and nothing written."""
    with pytest.raises(CompileError) as raised:
        compile_model(request(case), tmp_path / "out")
    assert case.refused in str(raised.value)
    assert raised.value.accepted
    assert not (tmp_path / "out").exists()


def test_all_obstacles_are_listed() -> None:
    found = check_model(request(CASES["several_obstacles"]))
    assert [entry.where.split(" ")[0] for entry in found] == ["total", "words", "linalg.generic"]
    assert all(entry.accepted for entry in found)


def test_a_refused_compile_counts_the_others(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"and 2 more: `stc check` lists them"):
        compile_model(request(CASES["several_obstacles"]), tmp_path / "out")
