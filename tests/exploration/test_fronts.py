"""What is written of a search: of one moment, by names that exist, and not blocked by what a killed writer left."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from toys import Toy

from stc.exploration.problem import Objectives
from stc.exploration.results import Found, Results
from stc.tools import explored_front
from stc.tools.explored_front import PARTIAL, is_of_exploration, write_fronts

JOURNAL = "trials.journal"


def results() -> Results:
    """Another design beats the default in everything."""
    toy = Toy()
    figures = {0: (toy.default(), 9), 1: ({**toy.default(), "lanes": 8}, 5)}
    found = [Found(number, point, Objectives(*4 * (value,), origin="estimated")) for number, (point, value) in figures.items()]
    return Results(toy, {"estimated": found, "simulated": []}, {"estimated": [(2, "no design")], "simulated": []})


def test_files_that_are_named_exist(tmp_path: Path) -> None:
    write_fronts(results(), tmp_path)
    written: dict[str, Any] = json.loads((tmp_path / "front.json").read_text())["estimated"]
    assert [design["schedule"] for design in written["front"]] == ["front/1/schedule.toml"]
    assert (tmp_path / "front/1/schedule.toml").is_file()
    assert written["default"]["trial"] == 0 and "schedule" not in written["default"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["front", "front.json", "index.html", "simulated"]
    write_fronts(results(), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["front", "front.json", "index.html", "simulated"]


def test_a_killed_writer_blocks_nobody(tmp_path: Path) -> None:
    left = tmp_path / f"{PARTIAL}{2**22 + 1}.x"  # a number above all of processes
    (left / "front").mkdir(parents=True)
    assert is_of_exploration(tmp_path, JOURNAL)
    write_fronts(results(), tmp_path)
    assert not left.exists()


@pytest.mark.parametrize("fails", [*range(1, 4)])
def test_wherever_a_writer_is_killed_the_folder_is_known(fails: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 0

    def counted(real: Any) -> Any:
        def step(*given: Any) -> None:
            nonlocal steps
            steps += 1
            if steps == fails:
                raise KeyboardInterrupt
            real(*given)

        return step

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(explored_front.shutil, "rmtree", lambda *_, **__: None)
        patched.setattr(explored_front.os, "replace", counted(os.replace))
        patched.setattr(explored_front, "_replace", counted(explored_front._replace))  # pyright: ignore[reportPrivateUsage]
        write_fronts(results(), tmp_path)
    assert is_of_exploration(tmp_path, JOURNAL)


def test_a_page_of_somebody_else_is_no_exploration(tmp_path: Path) -> None:
    assert is_of_exploration(tmp_path, JOURNAL)
    (tmp_path / "index.html").write_text("mine")
    assert not is_of_exploration(tmp_path, JOURNAL)
