"""The manifest round-trips, and whatever is wrong with one is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stc.diagnostics import CompileError
from stc.manifest.files import from_json, read_manifest, to_json


@pytest.fixture
def value(emitted: Callable[[str], Path]) -> Any:
    return json.loads((emitted("matmul") / "manifest.json").read_text())


def test_round_trip(emitted: Callable[[str], Path]) -> None:
    text = (emitted("matmul") / "manifest.json").read_text()
    assert to_json(from_json(text)) == text


def refused(value: Any) -> str:
    with pytest.raises(CompileError) as error:
        from_json(json.dumps(value))
    return str(error.value)


def test_missing_field(value: Any) -> None:
    del value["kernels"][0]["ports"][1]["lanes"]
    assert "field 'kernels[0].ports[1].lanes' is missing" in refused(value)


def test_wrong_type(value: Any) -> None:
    value["kernels"][0]["streams"][0]["depth"] = "two"
    assert "field 'kernels[0].streams[0].depth' is 'two'; accepted: int" in refused(value)


def test_boolean_is_no_integer(value: Any) -> None:
    value["kernels"][0]["schedule"][0]["trip"] = True
    assert "schedule[0].trip" in refused(value)


IMPOSSIBLE = [("ports", "words", 0), ("streams", "depth", -2), ("streams", "required", 0), ("streams", "tokens", -1),
              ("schedule", "depth", -3), ("schedule", "unroll", 0)]


@pytest.mark.parametrize(("part", "field", "number"), IMPOSSIBLE)
def test_impossible_size(value: Any, part: str, field: str, number: int) -> None:
    value["kernels"][0][part][0][field] = number
    assert f"field 'kernels[0].{part}[0].{field}' is {number}; accepted: at least" in refused(value)


@pytest.mark.parametrize(("field", "number"), [("clock_mhz", 0), ("channel_bytes_per_cycle", float("nan")), ("read_latency", -5),
                                               ("burst_words", 0), ("launch_us", float("inf"))])
def test_impossible_memory(value: Any, field: str, number: float) -> None:
    value["memory"][field] = number
    assert f"field 'memory.{field}' is {number}" in refused(value)


def test_a_field_that_nothing_reads_any_more(value: Any) -> None:
    """A project of before says how ports share a channel."""
    expected = from_json(json.dumps(value))
    value["memory"]["sharing"] = "arbitrated"
    assert from_json(json.dumps(value)) == expected


def test_unknown_choice(value: Any) -> None:
    value["kernels"][0]["ports"][0]["kind"] = "magic"
    assert "'kernels[0].ports[0].kind' is 'magic'; accepted: input or parameter" in refused(value)


def test_unknown_field(value: Any) -> None:
    value["kernels"][0]["colour"] = 1
    assert "unknown field 'kernels[0].colour'" in refused(value)


def test_other_version(value: Any) -> None:
    for version in (1, 99):
        value["schema_version"] = version
        assert f"'schema_version' is {version}; accepted: 3" in refused(value)


def test_dangling_reference(value: Any) -> None:
    value["steps"][0]["port"] = "nowhere"
    assert "steps[0].port" in refused(value)


def test_draws_have_every_input_and_output(value: Any) -> None:
    del value["draws"][0]["tensors"]["x"]
    assert "'draws[0].tensors' has not the inputs and outputs: 'x'" in refused(value)


def test_not_json() -> None:
    with pytest.raises(CompileError, match="not valid JSON"):
        from_json("{")
    with pytest.raises(CompileError, match="not an object"):
        from_json("[]")


def test_no_manifest(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"no manifest\.json"):
        read_manifest(tmp_path)
