"""`recognize-quantization`, executed: integers as the user's PyTorch module has them, whoever wrote it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, ModuleOp, TensorType, i32
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.rewriter import Rewriter

from stc.dialects.context import make_context
from stc.execution.run import execute
from stc.frontend.export import export
from stc.frontend.exported import ExportedModel
from stc.pipeline import part, run_stages, stages, steps
from stc.transforms.finding_pass import run_pass
from stc.transforms.linalg.recognize_quantization import Recognised, RecognizeQuantization
from stc_testing.quantised_modules import MODULES, Made, Weights, by_token, layer
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy


def recognised(made: Made) -> tuple[ExportedModel, Recognised]:
    """A module behind the pass, as the pipeline runs it."""
    model = export(*made)
    found = None
    for step in part(steps(stages(small_options())), last=RecognizeQuantization.name):
        found = run_pass(step.one_pass, make_context(), model.module)
    model.module.verify()
    assert isinstance(found, Recognised)
    return model, found


def results(model: ExportedModel) -> np.ndarray:
    (found,) = execute(model.module, list(model.arguments.values()))
    return found


def contractions(module: ModuleOp) -> list[tuple[int, ...]]:
    """The bits of the integers of each sum of products of two tensors; 0 for floats."""
    found: list[tuple[int, ...]] = []
    for op in module.walk():
        if isinstance(op, GenericOp) and len(op.inputs) == 2 and "reduction" in str(op.iterator_types):
            kinds = [value.type.element_type for value in op.inputs if isinstance(value.type, TensorType)]
            if any(isinstance(inner, arith.MuliOp | arith.MulfOp) for inner in op.body.block.ops):
                found.append(tuple(kind.width.data if isinstance(kind, IntegerType) else 0 for kind in kinds))
    return found


@pytest.mark.parametrize("name", MODULES)
def test_it_is_recognised_and_computes_the_same(name: str) -> None:
    model, found = recognised(MODULES[name]())
    assert not found.left and len(found.integers) == {"attention": 2, "two_layers": 2}.get(name, 1)
    assert all(0 not in bits for bits in contractions(model.module) if bits != (32, 0))
    golden = model.golden["out"]
    np.testing.assert_allclose(results(model), golden, rtol=0, atol=1e-6 * np.abs(golden).max())


def _in_groups_of_8(x: torch.Tensor) -> torch.Tensor:
    """The largest of each group is 7 steps."""
    halves = torch.randint(-14, 15, x.shape).to(torch.float32) / 2
    halves[..., ::8] = 7.0
    return halves / 32


GRIDS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "groups_of_both": _in_groups_of_8,
    "groups_of_activations": _in_groups_of_8,
    "one_scale": lambda x: torch.randint(-400, 400, x.shape) / 64,
    "one_scale_by_groups_with_zeros": lambda x: torch.randint(-400, 400, x.shape) / 64,
    "decomposed_one_scale": lambda x: torch.randint(-400, 400, x.shape) / 128,
    **dict.fromkeys(
        ("tokens", "tokens_by_groups_of_4_bits", "tokens_by_groups_with_zeros"),
        lambda x: torch.cat([torch.full((x.shape[0], 1), 127.0), torch.randint(-254, 255, x[:, 1:].shape) / 2], 1) / 32,
    ),
    **dict.fromkeys(
        ("asymmetric_tokens", "asymmetric_tokens_by_bytes_with_zeros"),
        lambda x: torch.cat([torch.tensor([[-80.0, 175.0]] * x.shape[0]), torch.randint(-160, 351, x[:, 2:].shape) / 2], 1) / 32,
    ),
}
"""Inputs whose scales are powers of two, half of them ties. With such weights, too, every f32 operation is exact, in any order:
results are equal where all integers are."""


@pytest.mark.parametrize("name", GRIDS)
def test_integers_are_those_of_the_module(name: str) -> None:
    torch.manual_seed(0)
    module, inputs = MODULES[name]()
    for part_ in module.modules():
        if isinstance(part_, Weights):
            part_.scales.copy_(2.0 ** torch.randint(-7, -3, part_.scales.shape))
    module.get_parameter("bias").fill_(0.25)
    model, found = recognised((module, tuple(GRIDS[name](x) for x in inputs)))
    assert found.integers
    np.testing.assert_array_equal(results(model), model.golden["out"])


# Seeded faults --------------------------------------------------------------------------------------------------------


def _without_zero_points(module: ModuleOp) -> None:
    for op in list(module.walk()):
        if isinstance(op, arith.SubiOp) and op.result.type == i32:
            Rewriter.replace_op(op, [], [op.lhs])


def _of_the_neighbouring_weights(module: ModuleOp) -> None:
    for op in list(module.walk()):
        if isinstance(op, arith.MuliOp) and op.result.type == i32:
            Rewriter.replace_op(op, arith.AddiOp(op.lhs, op.rhs))


@pytest.mark.parametrize("fault", [_without_zero_points, _of_the_neighbouring_weights])
def test_a_fault_shows(fault: Callable[[ModuleOp], None]) -> None:
    model, _ = recognised(MODULES["asymmetric_tokens_by_bytes_with_zeros"]())
    fault(model.module)
    golden = model.golden["out"]
    assert np.abs(results(model) - golden).max() > 0.01 * np.abs(golden).max()


# What stays -----------------------------------------------------------------------------------------------------------


class Halves(torch.nn.Module):
    """Weights of 4 bits, and what is done with them; `x` as it is or quantised."""

    def __init__(self, change: Callable[[torch.Tensor], torch.Tensor], quantise: Callable[[torch.Tensor], torch.Tensor]):
        super().__init__()
        self.weights = Weights(6, 24, 8, -8, 7, symmetric=True)
        self._change, self._quantise = change, quantise

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(self._quantise(x), self._change(self.weights()))


def _by_3_rows(x: torch.Tensor) -> torch.Tensor:
    """Groups of 12 terms, where the weights have 8."""
    grouped = x.unflatten(-1, (-1, 12))
    scale = (grouped.abs().amax(-1, keepdim=True) / 127).clamp(min=1e-8)
    return ((grouped / scale).round().clamp(-128, 127) * scale).flatten(-2)


def _in_many_bits(x: torch.Tensor) -> torch.Tensor:
    return (x * 64).round().clamp(-512, 511) / 64


LEFT: Sequence[tuple[Callable[[torch.Tensor], torch.Tensor], Callable[[torch.Tensor], torch.Tensor], str]] = [
    (torch.sin, by_token, "only one factor is quantised"),
    (lambda w: w + 0.125, by_token, r"not \(integers - zero points\) \* scale"),
    (lambda w: w, _by_3_rows, "of groups of 8 and 12 terms"),
    (lambda w: w, _in_many_bits, "more than 8 bits"),
]


@pytest.mark.parametrize(("change", "quantise", "why"), LEFT)
def test_what_stays_f32_says_why(
    change: Callable[[torch.Tensor], torch.Tensor], quantise: Callable[[torch.Tensor], torch.Tensor], why: str
) -> None:
    torch.manual_seed(0)
    model, found = recognised((Halves(change, quantise).eval(), (torch.randn(3, 24),)))
    assert not found.integers and len(found.left) == 1
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(found.left[0][1])
    np.testing.assert_allclose(results(model), model.golden["out"], rtol=1e-5, atol=1e-5)


class Repeated(torch.nn.Module):
    """Integers of one shape times scales of another, of weights [5, 3 groups, 8 terms]."""

    def __init__(self, integers: Sequence[int], scales: Sequence[int]):
        super().__init__()
        self.integers = torch.nn.Buffer(torch.randint(-8, 8, tuple(integers), dtype=torch.int8))
        self.scales = torch.nn.Buffer(torch.rand(*scales) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weights = self.integers.expand(5, 3, 8).to(torch.float32) * self.scales
        return torch.nn.functional.linear(by_token(x), weights.flatten(1))


@pytest.mark.parametrize(
    ("integers", "scales", "why"),
    [
        ((5, 1, 8), (5, 3, 1), "cut otherwise"),
        ((1, 1, 8), (5, 3, 1), "cut otherwise"),
        ((1, 3, 8), (5, 3, 1), "are repeated"),
        ((1, 3, 8), (5, 1, 1), "cut otherwise"),
        ((5, 3, 1), (5, 3, 1), "are repeated"),
    ],
)
def test_repeated_integers_stay_f32(integers: Sequence[int], scales: Sequence[int], why: str) -> None:
    torch.manual_seed(0)
    model, found = recognised((Repeated(integers, scales), (torch.randn(3, 24),)))
    assert not found.integers and [why in said for _, said in found.left] == [True]
    golden = model.golden["out"]
    np.testing.assert_allclose(results(model), golden, rtol=0, atol=1e-6 * np.abs(golden).max())


@pytest.mark.parametrize("least", [-8, 0])
@pytest.mark.parametrize("symmetric", [True, False])
def test_weights_alone_are_read_as_integers(least: int, symmetric: bool) -> None:
    torch.manual_seed(0)
    module = Halves(lambda w: w, lambda x: x)
    module.weights = Weights(6, 24, 8, least, least + 15, symmetric=symmetric)
    model, found = recognised((module.eval(), (torch.randn(3, 24),)))
    assert found.weights == ("",) and not found.integers and not found.left
    assert [bits for bits in contractions(model.module) if 4 in bits] == ([(0, 4)] if symmetric else [])
    golden = model.golden["out"]
    np.testing.assert_allclose(results(model), golden, rtol=0, atol=1e-6 * np.abs(golden).max())


def test_plain_models_are_left_alone() -> None:
    model, found = recognised((torch.nn.Sequential(torch.nn.Linear(7, 5), torch.nn.ReLU()).eval(), (torch.randn(3, 7),)))
    assert found == Recognised() and contractions(model.module) == [(0, 0)]


def test_values_that_are_not_as_said_are_refused() -> None:
    model, _ = recognised(layer(by_token, bits=4))
    arguments = model.arguments
    arguments["weights.integers"] = arguments["weights.integers"] * 2
    with pytest.raises(Exception, match="has entries from -16 to 14; accepted: -8 to 7"):
        execute(model.module, list(arguments.values()))


def test_the_whole_pipeline_takes_it() -> None:
    """Levels behind: packed products, tiles, streams; each agrees with PyTorch."""
    model = export(*MODULES["tokens_by_groups_with_zeros"]())
    golden, arguments = model.golden["out"], list(model.arguments.values())
    checked, ends = set[str](), {"name-ops", "pack-products", "tile-linalg", "insert-converters", "verify-streams", "lower-tasks"}

    def check(stage: object, name: str, module: ModuleOp) -> None:
        if name in ends:
            checked.add(name)
            np.testing.assert_allclose(execute(module, arguments)[0], golden, rtol=0, atol=1e-6 * np.abs(golden).max())

    run_stages(model.module, make_context(), stages(small_options()), [check])
    assert checked == ends
