"""What users write is refused in a sentence where no reader can take it: brackets nested as deep as no one means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stc.diagnostics import CompileError
from stc.fifo.depths_file import read_depths
from stc.manifest.files import read_manifest
from stc.manifest.model_files import read_model
from stc.simulation.design_file import read_design
from stc.simulation.profile import read_figures
from stc.tools.report.command import read_object
from stc.transforms.linalg.apply_schedule import read_tables

DEEP = "[" * 100_000
READERS: dict[str, Callable[[Path], object]] = {
    "manifest.json": lambda file: read_manifest(file.parent),
    "model.json": lambda file: read_model(file.parent),
    "depths.json": read_depths,
    "profile.json": lambda file: read_figures(file, []),
    "report.json": read_object,
    "schedule.toml": lambda file: read_tables(str(file)),
    "design.toml": lambda file: read_design(file.parent),
}


@pytest.mark.parametrize("name", READERS)
def test_brackets_nested_too_deep_are_refused(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(f"top = {DEEP}" if file.suffix == ".toml" else DEEP, encoding="utf-8")
    with pytest.raises(CompileError, match="nested too deep"):
        READERS[name](file)
