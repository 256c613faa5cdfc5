"""Whatever stands in manifest.json, every command that reads it works, or refuses it in a sentence with exit code 2."""

from __future__ import annotations

import copy
import json
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stc.simulation import build as build_module
from stc.tools.stc import main

NUMBERS = (-1, 0, 1, 2, 10**12, 10**400, 1.5, float("nan"), float("inf"))
VALUES = (*NUMBERS, None, True, "", "nowhere", "../../x", [], [3], {}, {"x": 1})
READ_ONLY = (("estimate",), ("simulate", "--static"))
RUNNING = (("csim", "--timeout", "20"), ("simulate", "--timeout", "20"), ("report", "--timeout", "20"), ("size",))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of everything in `value`, except what only humans read."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        if key not in ("options", "versions", "origins"):
            yield (*path, key)
            yield from places(entry, (*path, key))


def mutant(text: str, seed: int) -> str:
    """Another value, one taken from elsewhere, a field or entry less, or an entry twice."""
    value, numbers = json.loads(text), random.Random(seed)
    known = list(places(value))
    path = numbers.choice(known)
    owner: Any = value
    for key in path[:-1]:
        owner = owner[key]
    kind = numbers.randrange(4)
    if kind == 0:
        owner[path[-1]] = copy.deepcopy(numbers.choice(VALUES))
    elif kind == 1:
        other: Any = value
        for key in numbers.choice(known):
            other = other[key]
        owner[path[-1]] = copy.deepcopy(other)
    elif kind == 2 or not isinstance(owner, list):
        del owner[path[-1]]
    else:
        owner.append(copy.deepcopy(owner[path[-1]]))
    return json.dumps(value)


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process: its exit code and what it said on stderr; whatever else it raises fails the test."""

    def ended(command: str, folder: Path, *arguments: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["stc", command, str(folder), *arguments])
        capfd.readouterr()
        with pytest.raises(SystemExit) as exit_:
            main()
        return int(str(exit_.value.code)), capfd.readouterr().err

    return ended


@pytest.fixture
def project(emitted: Callable[[str], Path], tmp_path: Path) -> Path:
    return shutil.copytree(emitted("matmul"), tmp_path / "project", ignore=shutil.ignore_patterns("build"))


def require_sentence(run: Run, command: tuple[str, ...], project: Path, what: object) -> int:
    code, said = run(command[0], project, *command[1:])
    assert code in (0, 1, 2), (what, command, said)
    if code == 2:
        assert re.fullmatch(r"stc: error: [^\n]+\n", said) and len(said) < 1000, (what, command, said)
    return code


def test_mutants_of_what_is_only_read(project: Path, run: Run) -> None:
    text, codes = (project / "manifest.json").read_text(), set()
    for seed in range(80):
        (project / "manifest.json").write_text(mutant(text, seed))
        codes |= {require_sentence(run, command, project, seed) for command in READ_ONLY}
    assert codes >= {0, 2}


def test_mutants_of_what_is_built_and_run(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What estimate refuses, the others refuse as well: without building anything."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is needed")
    monkeypatch.setattr(build_module, "FLAGS", (*build_module.FLAGS, "-O0"))
    text = (project / "manifest.json").read_text()
    for seed in range(1000, 1012):
        (project / "manifest.json").write_text(mutant(text, seed))
        refused = require_sentence(run, READ_ONLY[0], project, seed) == 2
        with monkeypatch.context() as patch:
            if refused:
                patch.setattr("stc.simulation.build.run_compiler", lambda *_: pytest.fail("it was built"))
            codes = [require_sentence(run, command, project, seed) for command in RUNNING]
        assert not refused or codes == [2] * len(RUNNING), (seed, codes)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("kernels", 0, "schedule", 0, "depth"), 10**12, "is 1000000000000; accepted: at most 1000000000"),
        (("kernels", 0, "streams", 0, "depth"), 10**12, "is 1000000000000; accepted: at most 2147483647"),
        (("kernel_source",), "../kernel.cpp", "is '../kernel.cpp'; accepted: a path inside the project's folder"),
        (("kernels", 0, "streams", 0, "producer"), "nobody", "is written by 'nobody', which is no task"),
        (("kernels", 0, "streams", 0, "tokens"), 10**400, "about 2^1328; accepted: at most"),
        (("kernels", 0, "schedule", 0, "task"), "nobody", "schedule[0].task' names no task: 'nobody'"),
        (("kernels", 0, "schedule", 0, "parent"), "nowhere", "names no loop of task"),
        (("tolerance",), float("inf"), "'tolerance' is inf"),
        (("draws", 0, "name"), "../x", "'draws[0].name' is '../x'; accepted: letters, digits and _"),
    ],
)
def test_every_command_refuses(project: Path, run: Run, path: tuple[Any, ...], value: Any, said: str) -> None:
    content = json.loads((project / "manifest.json").read_text())
    owner = content
    for key in path[:-1]:
        owner = owner[key]
    owner[path[-1]] = value
    (project / "manifest.json").write_text(json.dumps(content))
    for command in (READ_ONLY[0], *RUNNING):
        code, text = run(command[0], project, *command[1:])
        assert code == 2 and said in text, (command, text)
    assert not (project / "build").exists()


def test_a_loop_inside_itself(project: Path, run: Run) -> None:
    content = json.loads((project / "manifest.json").read_text())
    loops = content["kernels"][0]["schedule"]
    inner = next(loop for loop in loops if loop["parent"] is not None)
    outer = next(loop for loop in loops if (loop["task"], loop["label"]) == (inner["task"], inner["parent"]))
    for parent in (inner["label"], outer["label"]):
        outer["parent"] = parent
        (project / "manifest.json").write_text(json.dumps(content))
        for command in (*READ_ONLY, *RUNNING):
            code, text = run(command[0], project, *command[1:])
            assert code == 2 and "a part of itself" in text, (command, text)


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5000, '{"schema_version": ' + "9" * 5000 + "}"])
def test_what_json_itself_refuses(project: Path, run: Run, text: str) -> None:
    (project / "manifest.json").write_text(text)
    code, said = run("estimate", project)
    assert code == 2 and "not valid JSON" in said
