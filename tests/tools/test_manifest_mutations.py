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

from stc.diagnostics import CompileError
from stc.simulation import build as build_module
from stc.tools.stc import main
from stc_testing.drawn import seeds

pytestmark = pytest.mark.heavy

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
    for seed in seeds(30):
        (project / "manifest.json").write_text(mutant(text, seed))
        codes |= {require_sentence(run, command, project, seed) for command in READ_ONLY}
    assert codes >= {0, 2}


def test_mutants_of_what_is_built_and_run(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What estimate refuses, the others refuse as well: without building anything."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is needed")
    monkeypatch.setattr(build_module, "FLAGS", (*build_module.FLAGS, "-O0"))
    text = (project / "manifest.json").read_text()
    for seed in seeds(4, 1000):
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
        (("kernels", 0, "ports", 0, "words"), 7, "'kernels[0].ports[0].words' is 7; accepted: "),
        (("kernels", 0, "ports", 0, "bytes"), 7, "'kernels[0].ports[0].bytes' is 7; accepted: "),
        (("kernels", 0, "ports", 0, "tensor"), "nowhere", "'kernels[0].ports[0].tensor' names no tensor: 'nowhere'"),
        (("kernels", 0, "ports", 0, "element_type"), "f33", "'kernels[0].ports[0].element_type' is 'f33'; accepted: f32, f16, i2"),
        (("kernels", 0, "ports", 0, "lanes"), 3, "'kernels[0].ports[0].lanes' is 3; accepted: "),
        (("kernels", 0, "ports", 0, "shape"), [3], "'kernels[0].ports[0].order' has 2 coordinates; accepted: 1"),
        (("kernels", 0, "ports", 0, "order", "loops", 0, "trip"), 10**6, "'kernels[0].ports[0].order' reaches "),
        (("kernels", 0, "streams", 0, "element_type"), "f33", "'kernels[0].streams[0].element_type' is 'f33'; accepted: f32"),
        (("kernels", 0, "streams", 0, "bits"), 7, "'kernels[0].streams[0].bits' is 7; accepted: "),
        (("kernels", 0, "tasks", 0, "reads"), ["nowhere"], "names no port, FIFO or block: 'nowhere'"),
        (("kernels", 0, "schedule", 0, "trip"), 0, "'kernels[0].schedule[0].trip' is 0; accepted: at least 1"),
        (("tensors", 0, "shape"), [10**12], "'tensors[0].shape' makes 4000000000000 bytes; accepted: at most 1099511627776"),
        (("tensors", 0, "element_type"), "f33", "'tensors[0].element_type' is 'f33'"),
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


READERS = (("simulate",), ("csim",), ("report",), ("size",))
FILES = {"path", "sha256", "file", "kernel_source", "testbench_sources"}   # looked into when they are read
REACHED = "the compiler is reached"


def leaves(value: Any) -> Iterator[tuple[Any, ...]]:
    """The paths of all numbers and strings, files left out; of the entries of a list the first and the last."""
    for path in places(value):
        owner: Any = value
        ends = True
        for key in path:
            ends = ends and (not isinstance(owner, list) or key in (0, len(owner) - 1))
            owner = owner[key]
        if ends and isinstance(owner, (int, float, str)) and not FILES & set(path):
            yield path


def test_all_commands_agree_on_each_number_and_string(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What estimate takes, the others (one of them each time) take as far as the compiler; what it refuses, they refuse with the
    same words."""

    def reached(*_: object) -> None:
        raise CompileError(REACHED)

    monkeypatch.setattr("stc.simulation.build.run_compiler", reached)
    text = (project / "manifest.json").read_text()
    numbers, verdicts = random.Random(5), set()
    for number, path in enumerate(leaves(json.loads(text))):
        content = json.loads(text)
        owner = content
        for key in path[:-1]:
            owner = owner[key]
        before = owner[path[-1]]
        after = "nowhere" if isinstance(before, str) else numbers.choice([0, 1, before + 1, before * 2 + 3, 10**12])
        owner[path[-1]] = after
        (project / "manifest.json").write_text(json.dumps(content))
        code, said = run("estimate", project)
        command = READERS[number % len(READERS)]
        reader_code, reader_said = run(command[0], project, *command[1:])
        same = reader_said == said if code == 2 else REACHED in reader_said
        assert reader_code == 2 and same, (path, before, after, command, code, said, reader_said)
        verdicts.add(code)
    assert verdicts == {0, 2}
