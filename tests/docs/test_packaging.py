"""What pyproject.toml and requirements.lock promise: ranges that contain the pins, pins that are installed, typed packages."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WANTED = [Requirement(text) for text in (*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["dev"])]
LOCK = (ROOT / "requirements.lock").read_text()
PINS = {canonicalize_name(name): pin for name, pin in re.findall(r"^([\w.-]+)==(\S+)$", LOCK, re.MULTILINE)}


@pytest.mark.parametrize("wanted", WANTED, ids=lambda wanted: wanted.name)
def test_each_range_contains_its_pin(wanted: Requirement):
    assert wanted.specifier.contains(PINS[canonicalize_name(wanted.name)])
    assert any(part.operator in ("<", "==") for part in wanted.specifier), "a range without an end"


@pytest.mark.parametrize("wanted", WANTED, ids=lambda wanted: wanted.name)
def test_the_tests_run_with_the_pins(wanted: Requirement):
    assert version(wanted.name).partition("+")[0] == PINS[canonicalize_name(wanted.name)]


@pytest.mark.parametrize("package", ["stc", "stc_testing"])
def test_packages_are_typed(package: str):
    assert (ROOT / package / "py.typed").is_file()
    assert "py.typed" in PROJECT["tool"]["setuptools"]["package-data"][package]


def test_the_changelog_begins_with_what_is_not_released_and_knows_this_version():
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased" and headings[1].startswith(PROJECT["project"]["version"])
