"""Shared by all tests: golden files, and the hand-written L6 modules as emitted projects."""

from __future__ import annotations

import functools
import gc
import importlib.util
import os
import runpy
import shutil
import sys
import time
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from stc.tools.entry import RARELY
from stc_testing.commands import Ended, Stc

sys.path.insert(0, str(Path(__file__).parent / "codegen"))

from l6_examples import EXAMPLES

COMPILER = Path(__file__).parent / "compiler"
PRECOMPILED = Path(__file__).parents[1] / "build" / "precompiled"
GUARD = Path(__file__).parent / "guard"
HEAVY = "pytest.mark.heavy"
HEAVY_FIXTURES = {"compiled", "design", "emitted", "headers"}
DAY = 24 * 3600

# Tests and the processes that they start compile C++ with it.
os.environ["PATH"] = os.pathsep.join([str(COMPILER), os.environ["PATH"]])
os.environ["STC_TEST_PRECOMPILED"] = str(PRECOMPILED)
# PyTorch's threads wait for each other in loops: with tensors as small as these that is a quarter of a test's CPU time.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_configure(config: pytest.Config) -> None:
    gc.set_threshold(RARELY, 1, 1)
    if config.getoption("--fast"):
        os.environ["STC_TEST_FAST"] = "1"
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(GUARD), os.environ.get("PYTHONPATH")]))
        runpy.run_path(str(GUARD / "sitecustomize.py"))  # for this process, as for those that it starts


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Under --fast, files of heavy tests are not even imported: they say so in a line of their own."""
    if config.getoption("--fast") and collection_path.suffix == ".py":
        lines = collection_path.read_text(encoding="utf-8").splitlines()
        return any(line.startswith("pytestmark") and HEAVY in line for line in lines) or None
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Heavy files come first, whole models before all, so that no worker is left with one alone at the end."""
    for item in items:
        if HEAVY_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.heavy)
    heavy = [item for item in items if item.get_closest_marker("heavy")]
    heavy.sort(key=lambda item: "end_to_end" not in item.path.parts)
    light = [item for item in items if not item.get_closest_marker("heavy")]
    items[:] = light if config.getoption("--fast") else [*heavy, *light]


def pytest_collection_finish() -> None:
    """What is imported stays: nobody looks for garbage in it. At each export PyTorch asks its dispatcher for all operations,
    and makes the types of annotations for each of them, a third of what a small one takes: in tests once."""
    if "torch" in sys.modules:
        import torch._ops
        from torch._export import utils

        utils._materialize_cpp_cia_ops = functools.cache(utils._materialize_cpp_cia_ops)  # pyright: ignore[reportPrivateUsage]
        torch._ops.Callable = typing.Callable  # which remembers types  # pyright: ignore[reportPrivateImportUsage]
    gc.collect()
    gc.freeze()


def pytest_fixture_setup() -> None:
    _seed()


def pytest_runtest_call() -> None:
    _seed()


def _seed() -> None:
    """PyTorch draws the same numbers in each run of a test, in whichever order workers take them: new seeds are for fuzzing."""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Forget the precompiled headers of yesterday: each takes 90 MB."""
    if not hasattr(session.config, "workerinput"):
        for folder in PRECOMPILED.glob("*"):
            if folder.stat().st_mtime < time.time() - DAY:
                shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def loaded_parts() -> Iterator[None]:
    """Files that a test loads, and the strategies that it registers, are gone after it: workers run tests in any order."""
    yield
    if "stc.extensions" in sys.modules:
        sys.modules["stc.extensions"].forget_files()
    if "stc.strategies.registry" in sys.modules:
        registry = sys.modules["stc.strategies.registry"]
        for name, defined in registry.DECISIONS.items():
            if defined.partition(":")[0] in sys.modules:
                registered = registry.decision(name).registered
                for own in [own for own, function in registered.items() if not function.__module__.startswith("stc.")]:
                    del registered[own]


@pytest.fixture(autouse=True)
def optimised(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """C++ that is run for longer than it is compiled is optimised as asked for, where the test has the marker `optimised`."""
    if request.node.get_closest_marker("optimised"):
        monkeypatch.setenv("STC_TEST_OPTIMISED", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="no heavy tests, and an error where another builds C++ or imports torch")
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


@pytest.fixture
def stc(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Stc:
    """The command line, in this process."""
    from stc.tools.stc import main

    return _in_this_process("stc", main, monkeypatch, capfd)


@pytest.fixture
def stc_opt(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Stc:
    """`stc-opt`, in this process."""
    from stc.tools.stc_opt import main

    return _in_this_process("stc-opt", main, monkeypatch, capfd)


def _in_this_process(
    name: str, main: Callable[[], None], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Stc:
    def run(*arguments: str | Path) -> Ended:
        monkeypatch.setattr("sys.argv", [name, *map(str, arguments)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capfd.readouterr()
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, printed.out, printed.err)

    return run


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
