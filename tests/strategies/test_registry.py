"""Strategies by name: ours, registered ones, those of installed packages; and what is said of one that does not work."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stc.diagnostics import CompileError
from stc.strategies.registry import DECISIONS, Decision, WrongPlan, decision


def check_halves(number: int, halves: tuple[int, int]) -> None:
    if sum(halves) != number:
        raise WrongPlan(f"{halves[0]} and {halves[1]} are not {number}")


@pytest.fixture
def halving() -> Decision[int, tuple[int, int]]:
    decision: Decision[int, tuple[int, int]] = Decision("halving", "even", "two numbers that make up the given one", check_halves)
    decision.strategy("even")(lambda number: (number // 2, number - number // 2))
    return decision


def refusal(halving: Decision[int, tuple[int, int]], name: str) -> str:
    with pytest.raises(CompileError) as refused:
        halving.decide(name, 7)
    return str(refused.value)


def test_a_strategy_decides(halving: Decision[int, tuple[int, int]]) -> None:
    assert halving.decide("even", 7) == (3, 4)
    halving.strategy("left")(lambda number: (number, 0))
    assert halving.decide("left", 7) == (7, 0) and halving.names() == ["even", "left"]


def test_what_is_said_of_one_that_does_not_work(halving: Decision[int, tuple[int, int]]) -> None:
    halving.strategy("lossy")(lambda number: (number // 2, number // 2))
    halving.strategy("crashes")(lambda number: (number // 0, 0))
    halving.strategy("nothing")(lambda number: None)
    halving.strategy("ends")(lambda number: sys.exit(0))
    accepted = "; accepted: two numbers that make up the given one"
    assert refusal(halving, "lossy") == f"halving strategy 'lossy': its plan is wrong: 3 and 3 are not 7{accepted}"
    assert refusal(halving, "crashes").startswith("halving strategy 'crashes': failed with ZeroDivisionError: ")
    assert Path(__file__).name in refusal(halving, "crashes")
    assert refusal(halving, "ends").startswith("halving strategy 'ends': failed with SystemExit: 0 at ")
    assert refusal(halving, "nothing").startswith("halving strategy 'nothing': returned no plan (TypeError: ")
    assert refusal(halving, "odd") == "unknown halving strategy 'odd'; accepted: even, lossy, crashes, nothing, ends"


def test_a_name_belongs_to_one_function(halving: Decision[int, tuple[int, int]]) -> None:
    def registered_by(file: str) -> None:
        code = compile("def all_left(number):\n    return number, 0", file, "exec")
        space: dict[str, object] = {}
        exec(code, space)
        halving.strategy("left")(space["all_left"])  # pyright: ignore[reportArgumentType]

    registered_by("mine.py")
    registered_by("mine.py")  # loaded once more
    with pytest.raises(CompileError, match=r"halving strategy 'left' is registered twice, in mine.py and yours.py"):
        registered_by("yours.py")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed package `halves` whose entry points are written by each test."""
    (tmp_path / "halves-1.0.dist-info").mkdir()
    (tmp_path / "halves-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: halves\nVersion: 1.0\n")
    (tmp_path / "halves.py").write_text("def right(number):\n    return 0, number\n\nnone = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("halves", None)


def offer(installed: Path, *lines: str) -> None:
    text = "\n".join(["[stc.strategies]", *lines, ""])
    (installed / "halves-1.0.dist-info" / "entry_points.txt").write_text(text)


def test_installed_packages_are_imported_only_for_names_we_lack(
    halving: Decision[int, tuple[int, int]], installed: Path
) -> None:
    offer(installed, "halving.right = halves:right", "halving.even = halves:right", "fusion.right = nowhere:x")
    assert halving.names() == ["even", "right"]
    assert halving.decide("even", 7) == (3, 4) and "halves" not in sys.modules
    assert halving.decide("right", 7) == (0, 7) and "halves" in sys.modules


def test_a_package_that_cannot_be_used_is_named(halving: Decision[int, tuple[int, int]], installed: Path) -> None:
    offer(installed, "halving.lost = nowhere:x", "halving.none = halves:none")
    where = "package 'halves', entry point 'halving.lost' of stc.strategies"
    assert refusal(halving, "lost").startswith(f"{where}: cannot be imported (ModuleNotFoundError: No module named 'nowhere')")
    assert "entry point 'halving.none' of stc.strategies: 'halves:none' is no function" in refusal(halving, "none")


@pytest.mark.parametrize("name", DECISIONS)
def test_ours_are_there(name: str) -> None:
    found = decision(name)
    assert found.name == name and found.default in found.registered
    assert all(function.__doc__ for function in found.registered.values())


def test_an_unknown_decision() -> None:
    with pytest.raises(CompileError, match="nothing that is called 'colours' is decided by strategies; accepted: tiling, "):
        decision("colours")
