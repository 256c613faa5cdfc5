"""The example strategies: each is loaded as its first lines say, decides, and the design is still compiled."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from stc.extensions import load_file
from stc.strategies.registry import decision
from stc.tools.stc import app

pytestmark = pytest.mark.heavy

EXAMPLES = Path(__file__).parents[2] / "examples"
STRATEGIES = {path.stem: path for path in (EXAMPLES / "strategies").glob("*.py")}


def test_there_is_one_for_each_decision() -> None:
    assert sorted(STRATEGIES) == ["converters", "dies", "fifos", "fusion", "parallelism", "tiling", "units"]


@pytest.mark.parametrize("name", STRATEGIES)
def test_it_compiles_as_its_first_lines_say(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES.parent)
    (command,) = re.findall(r"    stc (compile .*) FOLDER", STRATEGIES[name].read_text())
    words = shlex.split(command)
    load_file(STRATEGIES[name])
    own, asked = words[words.index("--load") + 3], []
    strategy = decision(name).find(own)
    monkeypatch.setitem(decision(name).registered, own, lambda problem: (asked.append(problem), strategy(problem))[1])
    budget = [] if "--budget" in words else ["--small"]  # a search makes two designs
    done: Result = CliRunner().invoke(app, [*words, str(tmp_path / "design"), *budget, "--tile", "4", "--lanes", "4"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "design" / "kernel.cpp").is_file() and len(asked) == 1
