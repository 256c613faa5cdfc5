"""A decoder block of every family, from PyTorch to emitted C++ that computes what PyTorch computes."""

from __future__ import annotations

import pytest
from projects import Compile

from stc.frontend.presets import PRESETS

pytestmark = pytest.mark.heavy

TINY = [name for name in PRESETS if name.endswith("-tiny") and not name.startswith("gpt2")]
QUICK = ("gemma3-1b-tiny",)
"""It has what the others have, but biases: windows, norms of queries and keys, shared key heads."""
FULL = [name for name in PRESETS if not name.endswith("-tiny") and not name.startswith("gpt2")]


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.full) for name in TINY])
def test_tiny_twins(compiled: Compile, name: str) -> None:
    """Seven tokens: more than the sliding window of Gemma's twin, and no power of two."""
    project = compiled(name, 7)
    project.require_agreement()
    assert project.report["groups"] == 1
    assert project.report["memory_bytes"]["external"] == 0


@pytest.mark.full
@pytest.mark.optimised
@pytest.mark.parametrize("seq", [32, 100])
@pytest.mark.parametrize("name", FULL)
def test_full_size(compiled: Compile, name: str, seq: int) -> None:
    project = compiled(name, seq, optimisation=3)
    project.require_agreement()
    assert project.report["groups"] == 1
    assert project.report["memory_bytes"]["external"] == 0
    (output,) = project.result.outputs
    assert output.max_abs_error <= 1e-4 * output.max_abs_reference
