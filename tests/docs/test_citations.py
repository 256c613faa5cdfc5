"""What code, messages and documents cite is in the tree: files, sections, emission rules and passes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from stc.transforms import all_passes

ROOT = Path(__file__).parents[2]
DESIGN = ROOT / "docs" / "design"
FOLDERS = ("stc", "stc_testing", "tests", "filecheck_tests", "benchmarks", "docs", "examples")
KINDS = {".py", ".md", ".mlir", ".toml", ".h", ".hpp", ".cpp", ".j2", ".csv", ".txt"}
_FILE = re.compile(r"(?<![\w/.*{}<])((?:[\w.-]+/)*[\w-][\w.-]*\.md)\b")
_SECTION = re.compile(r"design/method\.md\)?,? sections? (\d)(?: and (\d))?")
_PASS = re.compile(r"`([a-z]+(?:-[a-z0-9]+)+)`")


def texts() -> Iterator[tuple[Path, str]]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in KINDS and path != Path(__file__) and "__pycache__" not in path.parts:
                yield path, path.read_text(errors="replace")
    for name in ("README.md", "Makefile", "pyproject.toml"):
        yield ROOT / name, (ROOT / name).read_text()


def missing(path: Path, text: str) -> list[str]:
    """Files of documentation that a text names and that are not there: from the root, beside it, or in docs/."""
    places = (ROOT, path.parent, ROOT / "docs")
    return [name for name in _FILE.findall(text) if not any((place / name).is_file() for place in places)]


WRITTEN_BY_TESTS = {"out.md", "page.md", "result.md"}


def test_every_cited_document_is_there():
    wrong = {str(path.relative_to(ROOT)): found for path, text in texts() if (found := set(missing(path, text)) - WRITTEN_BY_TESTS)}
    assert not wrong


def test_a_missing_document_is_found():
    assert missing(ROOT / "stc" / "x.py", "see notes.md and docs/manual.md, (field-notes.md)") == ["notes.md", "field-notes.md"]


def test_cited_sections_of_the_method_are_there():
    headings = set(re.findall(r"^## (\d)\.", (DESIGN / "method.md").read_text(), re.MULTILINE))
    cited = {number for _, text in texts() for found in _SECTION.findall(text) for number in found if number}
    assert len(cited) > 4
    assert cited <= headings


def rules_of(text: str) -> set[int]:
    """Numbers at the beginning of the lines of a module's docstring."""
    return {int(number) for number in re.findall(r"^    (\d+)\s+\w", text.split('"""')[1], re.MULTILINE)}


def test_every_emission_rule_is_documented_and_none_else():
    documented = {int(number) for number in re.findall(r"\*\*Rule (\d+)\*\*", (DESIGN / "emission_rules.md").read_text())}
    in_code: set[int] = set()
    for name in ("analysis/emission_rules.py", "codegen/vitis_rules.py"):
        text = (ROOT / "stc" / name).read_text()
        raised = {int(number) for number in re.findall(r"Violation\(\s*(\d+),", text)}
        assert raised <= rules_of(text), name
        in_code |= rules_of(text)
    assert documented == in_code


def test_cited_rules_are_documented():
    documented = set(re.findall(r"\*\*Rule (\d+)\*\*", (DESIGN / "emission_rules.md").read_text()))
    cited = {number for _, text in texts() for number in re.findall(r"emission rule (\d+)", text)}
    assert cited and cited <= documented


@pytest.mark.parametrize("page", sorted(path.name for path in DESIGN.glob("*.md")))
def test_passes_in_the_design_documents_exist(page: str):
    options = {"check-semantics", "stc-opt", "xdsl-opt"}
    named = set(_PASS.findall((DESIGN / page).read_text())) - options
    assert named <= set(all_passes())


def test_the_architecture_names_every_room():
    text = (DESIGN / "architecture.md").read_text()
    rooms = {path.stem for path in (ROOT / "stc").iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    leaves = {"__init__", "diagnostics", "names", "running", "user_files"}
    assert not {room for room in rooms - leaves if f"`{room}`" not in text}
