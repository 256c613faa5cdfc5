"""GPT-2 blocks from PyTorch to emitted C++ that computes what PyTorch computes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from projects import Compile

from stc.simulation.csim import csim
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

Variation = tuple[str, int, dict[str, Any]]
ODD: Variation = ("gpt2-medium-tiny", 7, {"tile": 5, "lanes": 3})
VARIATIONS: tuple[Variation, ...] = (("gpt2-tiny", 1, {}), ODD)
MORE: tuple[Variation, ...] = (("gpt2-tiny", 8, {"tile": 4, "lanes": 1}), ("gpt2-medium-tiny", 13, {"tile": 16, "lanes": 8}))
SEVERAL_KERNELS: Variation = ("gpt2-tiny", 8, {"on_chip": 30_000})


def full(variation: Variation) -> Any:
    """Left to `make test-full`."""
    return pytest.param(*variation, marks=pytest.mark.full)


@pytest.mark.parametrize(("model", "seq", "options"), [*VARIATIONS, *map(full, MORE)], ids=str)
def test_tiny_blocks(compiled: Compile, model: str, seq: int, options: dict[str, Any]) -> None:
    project = compiled(model, seq, **options)
    project.require_agreement()
    assert project.report["groups"] == 1
    assert project.report["memory_bytes"]["external"] == 0


@pytest.mark.parametrize(("model", "seq", "options"), [VARIATIONS[0], full(ODD), full(SEVERAL_KERNELS)], ids=str)
def test_under_sanitizers(compiled: Compile, model: str, seq: int, options: dict[str, Any]) -> None:
    """AddressSanitizer and UndefinedBehaviorSanitizer have nothing to say, in one kernel or in several."""
    result = csim(compiled(model, seq, **options).folder, optimisation=0, sanitized=True)
    assert result.passed, result.explanation


@pytest.mark.full
def test_a_reduction_loop_may_be_outermost(compiled: Compile, tmp_path: Path) -> None:
    schedule = tmp_path / "schedule.toml"
    schedule.write_text(
        "[attn_c_proj]\ntile = [4, 16, 1, 8]\norder = [2, 3, 0, 1]\n\n[mlp_c_proj]\ntile = [8, 8, 16]\norder = [2, 1, 0]\n"
    )
    project = compiled("gpt2-tiny", 8, schedule=str(schedule))
    project.require_agreement()
    loops = outer_loops(project.folder, "mlp_c_proj")
    # 128 features in tiles of 16 are the outermost loop, 32 results in tiles of 8 follow, then 8 tokens in one tile.
    assert loops[:2] == [8, 4]


def outer_loops(folder: Path, task: str) -> list[int]:
    """Trip counts of the nest that a task begins with, outermost first."""
    manifest = json.loads((folder / "manifest.json").read_text())
    (kernel,) = manifest["kernels"]
    loops = [loop for loop in kernel["schedule"] if loop["task"] == task]
    parent, trips = None, []
    while nested := [loop for loop in loops if loop["parent"] == parent]:
        deepest = max(nested, key=lambda loop: sum(other["parent"] == loop["label"] for other in loops))
        trips.append(deepest["trip"])
        parent = deepest["label"]
    return trips


def test_little_memory_on_chip_gives_several_kernels(compiled: Compile) -> None:
    project = compiled("gpt2-tiny", 8, on_chip=30_000)
    project.require_agreement()
    manifest = json.loads((project.folder / "manifest.json").read_text())
    assert project.report["groups"] == len(manifest["kernels"]) > 1
    assert project.report["memory_bytes"]["external"] > 0
    launches = [step["kernel"] for step in manifest["steps"] if step["action"] == "launch"]
    assert sorted(launches) == sorted(kernel["name"] for kernel in manifest["kernels"])
    for kind in ("streams", "blocks", "tasks"):   # depths and times are given by name, whatever the kernel
        names = [entry["name"] for kernel in manifest["kernels"] for entry in kernel[kind]]
        assert len(names) == len(set(names)), kind


def test_names_are_the_models(compiled: Compile) -> None:
    text = (compiled("gpt2-tiny").folder / "kernel.cpp").read_text()
    functions = set(re.findall(r"^static void (\w+)\(", text, re.MULTILINE))
    tasks = {task for function in functions for task in function.split("_and_")}  # folded tasks carry both names
    assert {"attn_c_attn", "attn_c_proj", "mlp_c_fc", "mlp_c_proj", "mlp_act"} <= tasks


@pytest.mark.full
def test_equal_requests_give_equal_designs(compiled: Compile, tmp_path: Path) -> None:
    from stc.tools.compile import CompileRequest, compile_model

    compile_model(CompileRequest("gpt2-tiny", seq=8, options=small_options()), tmp_path / "again")
    for name in ("kernel.cpp", "kernel.h", "layout.h", "host.cpp", "manifest.json", "golden/huge/out.allowed.bin"):
        assert (tmp_path / "again" / name).read_bytes() == (compiled("gpt2-tiny").folder / name).read_bytes(), name


@pytest.mark.full
@pytest.mark.optimised
@pytest.mark.parametrize("model", ["gpt2", "gpt2-medium"])
def test_full_size(compiled: Compile, model: str) -> None:
    project = compiled(model, 32, optimisation=3)
    project.require_agreement()
    (output,) = project.result.outputs
    assert output.max_abs_error <= 1e-4 * output.max_abs_reference
    assert output.max_abs_reference_minus_input is not None
    assert output.max_abs_error <= 1e-4 * output.max_abs_reference_minus_input
    assert project.report["groups"] == 1
    memory = project.report["memory_bytes"]
    assert memory["external"] == 0
    assert all(memory[name] > 0 for name in ("before", "before_unfused", "converters", "fifos", "local"))
