"""benchmarks/published.py: the page is what it writes, and a choice that is refused is a row with its sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.heavy

DOCUMENT = Path(__file__).parents[2] / "docs" / "published.md"


@pytest.fixture
def published(benchmark_module: Callable[[str], ModuleType]) -> ModuleType:
    return benchmark_module("published")


def test_the_page_is_what_it_writes(published: ModuleType) -> None:
    page = DOCUMENT.read_text()
    assert page.startswith(published.TEXT.format(unroll=published.UNROLL, dsp=published.DSP))
    for name in published.DESIGNS:
        (section,) = [part for part in page.split("\n## ") if part.startswith(f"{name}, input")]
        assert [line.split(" | ")[0].removeprefix("| ") for line in section.splitlines() if line.startswith("| ")][2:] == list(
            published.CHOICES
        )


def test_a_refusal_is_a_row_with_its_sentence(published: ModuleType) -> None:
    text = published.table_of("mlp", [published.Row("ours", (1, 2000, 3, 0, 5, 6)), published.Row("theirs", refusal="no")])
    assert "| ours | 1 | 2,000 | 3 | 0 | 5 | 6 |" in text and "| theirs | refused |" in text and "* theirs: `no`" in text
