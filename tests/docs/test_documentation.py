"""The generated documentation says what the passes and the tested files say now."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _generator():
    specification = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


GENERATED = [
    ("passes.md", "passes_markdown"),
    ("manual.md", "manual_markdown"),
    ("foreign_designs.md", "foreign_designs_markdown"),
]


@pytest.mark.parametrize(("name", "generate"), GENERATED)
def test_is_up_to_date(name: str, generate: str):
    text = (ROOT / "docs" / name).read_text()
    assert text == getattr(_generator(), generate)(), "run `python docs/generate.py`"


def test_every_pass_documents_itself():
    from stc.transforms import our_passes

    for name, factory in our_passes().items():
        documentation = factory().__doc__ or ""
        assert len(documentation.split()) > 15 and not documentation.startswith(f"{factory().__name__}("), name
