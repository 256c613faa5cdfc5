"""The generated documentation says what the passes and the tested files say now."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import generate
import generate_dialects
import pytest
from typer.testing import CliRunner
from xdsl.ir import Operation

ROOT = Path(__file__).parents[2]


GENERATED = [
    ("passes.md", generate.passes_markdown),
    ("manual.md", generate.manual_markdown),
    ("foreign_designs.md", generate.foreign_designs_markdown),
]


@pytest.mark.parametrize(("name", "page"), GENERATED)
def test_is_up_to_date(name: str, page: Callable[[], str]):
    text = (ROOT / "docs" / name).read_text()
    assert text == page(), "run `python docs/generate.py`"


def test_the_reference_of_the_dialects_is_up_to_date():
    assert (ROOT / "docs" / "dialects.md").read_text() == generate_dialects.page(), "run `python docs/generate_dialects.py`"


def test_every_operation_has_documentation_syntax_and_an_example():
    page = (ROOT / "docs" / "dialects.md").read_text()
    for operation in (operation for dialect in generate_dialects.DIALECTS for operation in dialect.operations):
        section = page.split(f"### `{operation.name}`\n")[1].split("\n### ")[0]
        assert "Syntax:" in section and "Example" in section, operation.name
        assert section.count(operation.name) >= 1, operation.name


def test_every_verifier_of_an_operation_is_tested_by_a_lit_test():
    """What an operation checks beyond the types of its definition appears under "Refused"."""
    found = generate_dialects.refused()
    operations = [operation for dialect in generate_dialects.DIALECTS for operation in dialect.operations]
    own = {operation.name for operation in operations if _own_verifier(operation)}
    assert len(own) > 10
    assert {name for name in own if not found[name]} == set()


def _own_verifier(operation: type[Operation]) -> bool:
    """xDSL keeps the verifier that a class defines in the closure of the one it makes."""
    wrapped = inspect.getclosurevars(operation.verify_).nonlocals["custom_verify"]
    return not wrapped.__module__.startswith("xdsl")


def test_every_pass_documents_itself():
    from stc.transforms import our_passes

    for name, factory in our_passes().items():
        documentation = factory().__doc__ or ""
        assert len(documentation.split()) > 15 and not documentation.startswith(f"{factory().__name__}("), name


_BLOCKS = re.compile(r"^```mlir\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IR = [
    pytest.param(block, id=f"{path.name}-{index}")
    for path in sorted((ROOT / "docs").rglob("*.md"))
    for index, block in enumerate(_BLOCKS.findall(path.read_text()))
]


@pytest.mark.parametrize("block", IR)
def test_embedded_ir_is_read_by_stc_opt(block: str):
    from stc.tools.stc_opt import app

    done = CliRunner().invoke(app, [], input=block)
    assert done.exit_code == 0, done.output


def test_there_is_embedded_ir():
    assert len(IR) >= 7
