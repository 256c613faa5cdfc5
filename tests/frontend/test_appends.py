"""However a module of PyTorch appends a row to a cache, it is one update in place; what is no append is refused by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from append_modules import FORMS, HEADS, POSITIONS, RUNS, WIDTH, Form, appended, attention, beginnings, index_copy, two_readers
from typer.testing import CliRunner
from xdsl.dialects import tensor
from xdsl.ir import BlockArgument

from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.dataflow import KernelOp
from stc.dialects.updates import is_update, last_offsets
from stc.execution.run import execute
from stc.frontend.draws import Draws
from stc.frontend.export import export
from stc.frontend.exported import ExportedModel
from stc.pipeline import stages, steps
from stc.runtime.accelerator import Accelerator
from stc.tools.check_semantics import compare
from stc.tools.stc import app
from stc.transforms.finding_pass import run_pass
from stc_testing.levels import levels
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

MODULES = Path(__file__).with_name("append_modules.py")
NAMES = [form.__name__ for form in FORMS]


def updates(model: ExportedModel) -> list[tensor.InsertSliceOp]:
    return [op for op in model.module.walk() if isinstance(op, tensor.InsertSliceOp)]


@pytest.mark.parametrize(("form", "rows"), [*((form, 1) for form in FORMS), *((form, 3) for form in RUNS)])
def test_each_form_is_one_insertion_at_the_position(form: Form, rows: int):
    module, inputs = appended(form, rows)
    model = export(module, inputs)
    (update,) = updates(model)
    assert is_update(update) and isinstance(update.dest, BlockArgument) and update.dest.name_hint == "cache"
    assert list(update.static_sizes.get_values()) == [HEADS, rows, WIDTH]
    assert [last for _, last in last_offsets(update)] == [POSITIONS - rows]


@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_positions_of_the_draws(form: Form):
    module, inputs = appended(form)
    model = export(module, inputs, draws=Draws(None))
    places = {draw.name: int(draw.inputs["pos"]) for draw in model.draws if draw.name.startswith("pos_")}
    assert places == {f"pos_{pos}": pos for pos in (0, 1, POSITIONS - 2, POSITIONS - 1)}
    for draw in model.draws:
        found = execute(model.module, list(draw.inputs.values()))
        assert compare(list(draw.golden.values()), found, list(draw.golden)) is None, draw.name


@pytest.mark.parametrize("build", [lambda: appended(FORMS[0]), lambda: appended(RUNS[-1], 3), two_readers, beginnings, attention])
def test_every_level_at_every_position(build: Callable[[], tuple[torch.nn.Module, object]]):
    """Also where what has been appended is read: by whoever reads the cache, one kernel, with an update of each cache."""
    torch.manual_seed(0)
    module, inputs = build()
    model = export(module, inputs)  # pyright: ignore[reportArgumentType]
    ir = model.module
    arrays = [*model.inputs.values(), *model.parameters.values()]
    at = list(model.inputs).index("pos")
    last = max(most for update in updates(model) for _, most in last_offsets(update))
    tensors = [torch.from_numpy(array) for array in model.inputs.values()]
    expected: dict[int, list[np.ndarray]] = {}
    for pos in range(last + 1):
        arrays[at] = np.full_like(arrays[at], pos)
        tensors[at] = torch.from_numpy(arrays[at])
        with torch.no_grad():
            expected[pos] = [result.numpy() for result in module(*tensors)]
    for label, depths in levels(ir, steps(stages(small_options()))):
        for pos, golden in expected.items():
            arrays[at] = np.full_like(arrays[at], pos)
            for array, wanted in zip(execute(ir, arrays, depths=depths), golden, strict=True):
                np.testing.assert_allclose(array, wanted, rtol=1e-4, atol=1e-5, err_msg=f"{label} at {pos}")
    (kernel,) = (op for op in ir.walk() if isinstance(op, KernelOp))
    assert len([place for place in kernel.places if place is not None]) == len([name for name in model.inputs if name in CACHES])


CACHES = ("cache", "keys", "values")


@pytest.mark.parametrize("name", ["attention", "two_readers", "three_rows"])
def test_emitted(name: str, tmp_path: Path):
    out = tmp_path / name
    done = CliRunner().invoke(app, ["compile", "--small", f"{MODULES}:{name}", "--check", "--out", str(out)])
    assert done.exit_code == 0, done.output
    manifest = json.loads((out / "manifest.json").read_text())
    (kernel,) = manifest["kernels"]
    assert [port["updates"] for port in kernel["ports"] if port.get("updates")] == [
        port["name"] for port in kernel["ports"] if port["tensor"] in CACHES and not port.get("updates")
    ]
    assert {"pos_0", "pos_1"} <= {draw["name"] for draw in manifest["draws"]}
    if name == "two_readers":
        _until_the_end_of_the_cache(Accelerator(out))


def _until_the_end_of_the_cache(accelerator: Accelerator) -> None:
    """The cache stays on the device; behind its last row nothing is launched."""
    rows = np.random.default_rng(0).normal(size=(POSITIONS, HEADS, 1, WIDTH)).astype(np.float32)
    accelerator.send("cache", np.zeros((HEADS, POSITIONS, WIDTH), np.float32))
    for pos in range(POSITIONS):
        outputs = accelerator({"x": rows[pos], "pos": np.asarray(pos)}, resident=["cache"])
        np.testing.assert_allclose(outputs["out0"], 2 * rows[:pos, :, 0].sum(0), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(accelerator.fetch("cache"), 2 * rows[:, :, 0].transpose(1, 0, 2))
    for pos in (POSITIONS, -1):
        with pytest.raises(CompileError, match=f"input 'pos' is {pos}; accepted: 0 to {POSITIONS - 1}"):
            accelerator({"x": rows[0], "pos": np.asarray(pos)}, resident=["cache"])
    np.testing.assert_array_equal(accelerator.fetch("cache"), 2 * rows[:, :, 0].transpose(1, 0, 2))


def _ring(cache: torch.Tensor, rows: torch.Tensor, pos: torch.Tensor) -> torch.Tensor:
    return cache.index_copy(1, (pos % POSITIONS).reshape(1), rows)


def _added(cache: torch.Tensor, rows: torch.Tensor, pos: torch.Tensor) -> torch.Tensor:
    return cache.index_put((torch.zeros(1, dtype=torch.int64), pos.reshape(1)), rows[0], accumulate=True)


def _backwards(cache: torch.Tensor, rows: torch.Tensor, pos: torch.Tensor) -> torch.Tensor:
    return cache.index_copy(1, pos + torch.arange(3).flip(0), rows)


def _into_what_is_computed(cache: torch.Tensor, rows: torch.Tensor, pos: torch.Tensor) -> torch.Tensor:
    return (cache + 1).index_copy(1, pos.reshape(1), rows)


@pytest.mark.parametrize(
    ("form", "rows", "complaint"),
    [
        (_ring, 1, "writing at computed positions"),
        (_added, 1, "writing at computed positions"),
        (_backwards, 3, "writing at computed positions"),
        (_into_what_is_computed, 1, "writing at computed positions"),
    ],
)
def test_what_is_no_append(form: Form, rows: int, complaint: str):
    module, inputs = appended(form, rows)
    with pytest.raises(CompileError, match=complaint) as error:
        export(module, inputs)
    assert "from a position on that is an input of one integer" in str(error.value)


def test_an_input_that_the_module_changes():
    class Changing(torch.nn.Module):
        def forward(self, x: torch.Tensor, cache: torch.Tensor, pos: torch.Tensor) -> torch.Tensor:
            return cache.index_copy_(1, pos.reshape(1), x).sum(1)

    with pytest.raises(CompileError, match=r"the module changes cache; accepted: a module that .* returns what is new"):
        export(Changing(), appended(FORMS[0])[1])


def test_a_position_without_bounds():
    class Unbounded(torch.nn.Module):
        def forward(self, x: torch.Tensor, cache: torch.Tensor, pos: torch.Tensor) -> torch.Tensor:
            updated = cache.clone()
            updated[:, pos] = x[:, 0]
            return updated

    with pytest.raises(CompileError, match=r"Python asks for the value of a tensor.*torch\._check of what a number"):
        export(Unbounded(), appended(FORMS[0])[1])


def test_a_cache_of_one_word():
    """Its reading has no last word of several whose loop could send the token that the writing waits for."""
    example = {"x": torch.randn(1, 1, WIDTH), "cache": torch.randn(1, 1, WIDTH), "pos": torch.tensor(0)}
    model = export(appended(index_copy)[0], example)
    with pytest.raises(CompileError, match=r"%cache is one word, and is updated after it is read; accepted: several words"):
        for step in steps(stages(small_options())):
            run_pass(step.one_pass, make_context(), model.module)
