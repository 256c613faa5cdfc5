"""Shared by all tests: golden files, and the hand-written L6 modules as emitted projects."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

sys.path.insert(0, str(Path(__file__).parent / "codegen"))

from l6_examples import EXAMPLES


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files of tests/codegen/golden")


@pytest.fixture
def check_golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare a text with a golden file, or rewrite the file under --update-golden."""

    def check(path: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        assert path.is_file(), f"{path} is missing: run pytest --update-golden"
        assert text == path.read_text(), f"{path.name} changed: look at the difference, then run pytest --update-golden"

    return check


@pytest.fixture(scope="session")
def emitted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of an emitted example, emitted once per session."""
    from stc.codegen.project import emit_project

    folder = tmp_path_factory.mktemp("projects")

    def emit(name: str) -> Path:
        out = folder / name
        if not out.exists():
            model = EXAMPLES[name].model()
            emit_project(model.module, model, out, {"platform": "u55c"}, {"name": name})
        return out

    return emit


@pytest.fixture(scope="session")
def benchmark_module() -> Callable[[str], ModuleType]:
    """A script of benchmarks/, which is no package, as `python benchmarks/NAME.py` finds it: it may import its neighbours."""

    def load(name: str) -> ModuleType:
        path = Path(__file__).parents[1] / "benchmarks" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"{path.stem}_benchmark", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        sys.path.insert(0, str(path.parent))
        try:
            spec.loader.exec_module(module)
        finally:
            sys.path.remove(str(path.parent))
        return module

    return load
