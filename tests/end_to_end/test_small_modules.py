"""Users' own models, `file.py:factory` and `file.mlir`, from source to agreeing C++."""

from __future__ import annotations

from pathlib import Path

import pytest
from projects import Compile

pytestmark = pytest.mark.heavy

HERE = Path(__file__).parent
RESULTS = {
    "branching": ("out0", "out1"),
    "outer": ("out",),
    "mean_square": ("out",),
    "gram": ("out0", "out1"),
    "scores": ("p", "x2"),
}


QUICK = ("branching", "scores")
"""Between them: several results, of other types, products, softmaxes and branches; `make test-full` has the others."""


@pytest.mark.parametrize("factory", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.full]) for name in RESULTS])
def test_factories(compiled: Compile, factory: str) -> None:
    project = compiled(f"{HERE / 'modules.py'}:{factory}")
    project.require_agreement()
    assert tuple(output.name for output in project.result.outputs) == RESULTS[factory]


def test_a_linalg_file(compiled: Compile) -> None:
    """Named and unnamed results, a parameter, a reduction of a result; the reference is MLIR's execution engine."""
    project = compiled(str(HERE / "product.mlir"))
    project.require_agreement()
    assert [output.name for output in project.result.outputs] == ["y", "out1"]
    assert (project.folder / "parameters" / "fc_weight.bin").is_file()


def test_bits_of_bf16_in_cpp(compiled: Compile) -> None:
    """Of every border, with no allowance for ties."""
    project = compiled(f"{HERE.parent / 'modules' / 'definitions.py'}:rounded_to_bf16")
    project.require_agreement()
    assert all(output.max_abs_error == 0 for output in project.result.outputs)
