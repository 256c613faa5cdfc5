"""What torch-mlir would lose of PyTorch's numbers: defaults of operators, small values, narrow integers, exact products."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from stc.diagnostics import CompileError
from stc.execution.run import execute
from stc.frontend.arrays import to_numpy
from stc.frontend.eager_run import named_tensors
from stc.frontend.export import export
from stc.frontend.reference import lower_linalg

pytestmark = pytest.mark.heavy

Table = dict[str, Callable[..., Tensor]]


class Each(nn.Module):
    """Every function of a table, of the same inputs."""

    def __init__(self, table: Table):
        super().__init__()
        self.table = table

    def forward(self, *inputs: Tensor) -> dict[str, Tensor]:
        return {name: function(*inputs) for name, function in self.table.items()}


def require_agreement(table: Table, draws: Sequence[Sequence[Tensor]]) -> None:
    """PyTorch's results on all draws, of one export on the first: integers exactly, floats within 1e-5 of entry and rms."""
    module = Each(table)
    exported = export(module, draws[0]).module
    for inputs in draws:
        with torch.no_grad():
            expected = named_tensors(module(*(value.clone() for value in inputs)))
        found = execute(exported, [to_numpy(value, "x") for value in inputs])
        for (name, value), array in zip(expected, found, strict=True):
            wanted = to_numpy(value, name)
            if not value.is_floating_point():
                np.testing.assert_array_equal(array, wanted, err_msg=name)
                continue
            finite = np.isfinite(wanted)
            np.testing.assert_array_equal(array[~finite], wanted[~finite], err_msg=name)
            if not finite.any():
                continue
            scale = np.abs(wanted[finite]) + np.sqrt(np.mean(np.square(wanted[finite], dtype=np.float64)))
            assert np.all(np.abs(array[finite] - wanted[finite]) <= 1e-5 * scale), (name, inputs, array, wanted)


NORMS: Table = {
    "rms_norm": lambda x: F.rms_norm(x, (5,)),
    "rms_norm_of_two": lambda x: F.rms_norm(x, (3, 5)),
    "rms_norm_eps": lambda x: F.rms_norm(x, (5,), eps=0.1),
    "rms_norm_gain": lambda x: F.rms_norm(x, (5,), torch.arange(5.0)),
    "layer_norm": lambda x: F.layer_norm(x, (5,)),
    "layer_norm_eps": lambda x: F.layer_norm(x, (3, 5), eps=0.1),
    "group_norm": lambda x: F.group_norm(x.reshape(1, 3, 5), 3),
    "batch_norm": lambda x: F.batch_norm(x, torch.arange(5.0), torch.arange(1.0, 6.0)),
    "batch_norm_eps": lambda x: F.batch_norm(x, torch.zeros(5), torch.zeros(5), eps=0.1),
    "instance_norm": lambda x: F.instance_norm(x.reshape(1, 3, 5)),
    "normalize": lambda x: F.normalize(x),
    "cosine_similarity": lambda x: F.cosine_similarity(x, x.roll(1, 0), dim=1),
    "pairwise_distance": lambda x: F.pairwise_distance(x, x.roll(1, 0)),
    "local_response_norm": lambda x: F.local_response_norm(x.reshape(1, 3, 5), 2),
    **{f"vector_norm_{n}": lambda x, n=n: torch.linalg.vector_norm(x, n, dim=1) for n in (1, 2, 3, float("inf"))},
    "norm": lambda x: x.norm(),
}
ACTIVATIONS: Table = {
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "leaky_relu": F.leaky_relu,
    "leaky_relu_slope": lambda x: F.leaky_relu(x, 0.3),
    "elu": F.elu,
    "elu_alpha": lambda x: F.elu(x, 0.5),
    "selu": F.selu,
    "celu": lambda x: F.celu(x, 0.5),
    "softplus": F.softplus,
    "softplus_beta": lambda x: F.softplus(x, 3.0, 1.0),
    "hardtanh": F.hardtanh,
    "hardtanh_bounds": lambda x: F.hardtanh(x, -0.5, 0.25),
    "softshrink": F.softshrink,
    "hardshrink": lambda x: F.hardshrink(x, 0.2),
    "threshold": lambda x: F.threshold(x, 0.1, -3.0),
    "logsigmoid": F.logsigmoid,
    "mish": F.mish,
    "silu": F.silu,
    "softmax_f32": lambda x: F.softmax(x, -1, dtype=torch.float32),
    "log_softmax": lambda x: F.log_softmax(x, 0),
    "clamp_low": lambda x: x.clamp(min=-0.5),
    "clamp_high": lambda x: x.clamp(max=0.5),
    "clamp_crossed": lambda x: x.clamp(0.5, -0.5),
    "expm1": torch.expm1,
    "log1p": lambda x: torch.log1p(x.abs()),
}
REDUCTIONS: Table = {
    **{f"var_{c}": lambda x, c=c: x.var(1, correction=c) for c in (0, 1, 2)},
    "std": lambda x: x.std(),
    "std_unbiased": lambda x: x.std(1, unbiased=False),
    "logsumexp": lambda x: x.logsumexp(1),
    "avg_pool": lambda x: F.avg_pool1d(x[None], 3, padding=1),
    "avg_pool_ceil": lambda x: F.avg_pool1d(x[None], 2, ceil_mode=True),
    "avg_pool_unpadded": lambda x: F.avg_pool1d(x[None], 3, padding=1, count_include_pad=False),
    "max_pool": lambda x: F.max_pool1d(x[None], 3, padding=1),
    "mean_of_truth": lambda x: (x > 0).float().mean(1),
    "sum_of_truth": lambda x: (x > 0).sum(1),
    "sum_in_i32": lambda x: (x > 0).sum(1, dtype=torch.int32),
    "interpolate": lambda x: F.interpolate(x[None], 7, mode="linear"),
    "interpolate_aligned": lambda x: F.interpolate(x[None], 7, mode="linear", align_corners=True),
    "pad_value": lambda x: F.pad(x, (1, 2), value=3.0),
    "pad_less": lambda x: F.pad(x, (-1, 2, 1, -1), value=2.0),
    "pad_replicate": lambda x: F.pad(x[None], (1, 2), mode="replicate"),
    "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None]),
    "attention_causal": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True, scale=0.3),
    "add_alpha": lambda x: torch.add(x, x, alpha=2.5),
    "addmm": lambda x: torch.addmm(torch.ones(3, 3), x, x.t(), beta=0.5, alpha=2.0),
    "cross_entropy": lambda x: F.cross_entropy(x, x.softmax(1), label_smoothing=0.1),
    "huber": lambda x: F.huber_loss(x, torch.ones(3, 5), delta=0.5),
}


@pytest.mark.parametrize("table", [NORMS, ACTIVATIONS, REDUCTIONS], ids=["norms", "activations", "reductions"])
def test_defaults_and_options_are_pytorchs(table: Table) -> None:
    x = torch.randn(3, 5, generator=torch.Generator().manual_seed(1))
    require_agreement(table, [[x], [torch.zeros(3, 5)], [-3 * x.flip(0)], [x * 1e-5], [x * 1e3]])


SMALL: Table = {
    **{name: getattr(torch, name) for name in ("sin", "tan", "sinh", "tanh", "asinh", "atan", "expm1", "erf", "sigmoid")},
    **{name: getattr(F, name) for name in ("elu", "selu", "celu", "softplus", "logsigmoid", "silu", "mish", "gelu", "softsign")},
    "celu_alpha": lambda x: F.celu(x, 0.5),
    "softplus_beta": lambda x: F.softplus(x, 3.0, 1.0),
    "atanh": lambda x: torch.atanh(x / 64),
    "asin": lambda x: torch.asin(x / 64),
    "logit": lambda x: torch.logit(x.abs() / 64),
    "log1p": lambda x: torch.log1p(x.abs()),
    "entr": lambda x: torch.special.entr(x.abs()),
    "log1p_times": lambda x: torch.special.xlog1py(x, x.abs()),
    "log_of_sum": lambda x: torch.logaddexp(x, x - 40),
    "cross_entropy": lambda x: F.binary_cross_entropy_with_logits(x, torch.ones(3, 5), reduction="none"),
    "margin": lambda x: F.soft_margin_loss(x, torch.ones(3, 5), reduction="none"),
}


@pytest.mark.parametrize("scale", [1e-20, 1e-5, 1e-2, 1.0, 30.0])
def test_small_results_are_not_lost(scale: float) -> None:
    """Each entry, however small, against double precision: as near as PyTorch's own, or 1e-5 of the entry."""
    x = scale * torch.randn(3, 5, generator=torch.Generator().manual_seed(1)).clamp(-2, 2)
    with torch.no_grad():
        found = execute(export(Each(SMALL), (x,)).module, [x.numpy()])
        for (name, rule), array in zip(SMALL.items(), found, strict=True):
            exact = rule(x.double()).numpy()
            own = np.abs(rule(x).numpy() - exact)
            assert np.all(np.abs(array - exact) <= np.maximum(1e-5 * np.abs(exact), 4 * own)), (name, array, exact)


@pytest.mark.parametrize("scale", [1e-20, 1e-5, 0.9])
def test_small_results_of_the_reference_of_a_file(scale: float) -> None:
    functions = {"tanh": np.tanh, "expm1": np.expm1, "log1p": np.log1p, "sinh": np.sinh, "asinh": np.arcsinh, "atanh": np.arctanh}
    row = "tensor<7xf32>"
    lines = [
        f"""%{name} = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]}} ins(%x : {row}) outs(%e : {row}) {{
        ^bb0(%a: f32, %b: f32):
          %c = math.{name} %a : f32
          linalg.yield %c : f32
        }} -> {row}"""
        for name in functions
    ]
    names, rows = ", ".join(f"%{name}" for name in functions), ", ".join([row] * len(functions))
    text = f"func.func @main(%x: {row}) -> ({rows}) {{ %e = tensor.empty() : {row}\n" + "\n".join(lines)
    x = np.linspace(-scale, scale, 7).astype(np.float32)
    results = [np.zeros_like(x) for _ in functions]
    lower_linalg(f"{text} return {names} : {rows} }}", "main", "file").run([x], results)
    for rule, array in zip(functions.values(), results, strict=True):
        np.testing.assert_allclose(array, rule(x.astype(np.float64)), rtol=1e-6)


def _written(x: Tensor) -> Tensor:
    """In place, through views and slices."""
    z = x.clone()
    z[:, 1] = 0
    z[0] += 1
    z.view(15)[3:7] *= 2
    z[:, ::3].fill_(3)
    return z


ODD: Table = {
    "integer_and_float": lambda x, i, b: x + i,
    "truth_and_float": lambda x, i, b: x + b,
    "truth_times_integer": lambda x, i, b: i * b * -1,
    "narrow_and_wide": lambda x, i, b: i.to(torch.int8) + i.int(),
    "quotient": lambda x, i, b: i / 3,
    "broadcast": lambda x, i, b: x[None] * x[:, None, :1],
    "flipped_steps": lambda x, i, b: x.flip(1)[:, ::2],
    "from_the_end": lambda x, i, b: x[-1, :-1] * x[-2, ..., 1:],
    "in_place": lambda x, i, b: _written(x),
    "masked_softmax": lambda x, i, b: torch.softmax(x.masked_fill(b, float("-inf")), -1),
    "where_infinite": lambda x, i, b: torch.where(b, x, float("inf")),
    "where_nan": lambda x, i, b: torch.where(b, x, float("nan")),
    "where_of_mixed": lambda x, i, b: torch.where(b, x, i),
    "clamp_by_tensors": lambda x, i, b: torch.clamp(x, min=x[0], max=x[1].abs() + 1),
    "clamp_crossed": lambda x, i, b: torch.clamp(x, min=torch.ones(5), max=-torch.ones(5)),
    "clamp_of_integers": lambda x, i, b: i.clamp(-2, 3),
    "clamp_of_integers_by_floats": lambda x, i, b: i.clamp(-2.5, 3.5),
    "first_of_ties": lambda x, i, b: (i // 4).argmax(1) + (i * 0).min(1).indices,
    "largest_of_nan": lambda x, i, b: x.sqrt().max(1).values + x.sqrt().amin(1),
    "overflow_64": lambda x, i, b: i * 2**62,
    "overflow_32": lambda x, i, b: (i.int() * 2**28).sum(1, dtype=torch.int32),
    "product_32": lambda x, i, b: (i.int() + 20).prod(1),
    "truncated": lambda x, i, b: x.clamp(-100, 100).int(),
    "to_truth": lambda x, i, b: (x * (x > 0)).bool() ^ i.bool(),
    "truth_compared": lambda x, i, b: (b == (x > 1)) | (b < (x > 0)),
    "remainders": lambda x, i, b: i % 3 + i % -3 + i // -2,
    "floor_of_floats": lambda x, i, b: torch.div(i.float(), 4, rounding_mode="floor"),
    "half_to_even": lambda x, i, b: (i / 2).round(),
    "negative_zero": lambda x, i, b: 1 / (-(x * 0)),
    "not_numbers": lambda x, i, b: x.sqrt().isnan() | (1 / (x * 0)).isinf() | (x.sqrt() < 1),
    "empty_part": lambda x, i, b: torch.cat([x, x[:, :0]], 1) + x[3:].sum(0) + x[:, :0].prod(1, keepdim=True),
    "one_of_one": lambda x, i, b: x[:, :1].var(1),
    "empty_softmax": lambda x, i, b: (x - float("inf")).softmax(1),
    "log_of_nothing": lambda x, i, b: (x - float("inf")).logsumexp(1),
    "rolled": lambda x, i, b: x.roll((1, 2), (0, 1)).rot90(),
    "strided": lambda x, i, b: x.flip(0).unfold(1, 3, 1)[:2, :2, 1] + x.t()[1:3, 1:],
    "kronecker": lambda x, i, b: torch.kron(x[:2, :2], x[1:, 1:3]),
    "looked_up": lambda x, i, b: x[:, [4, 0, 0]] + x.gather(1, torch.zeros(3, 3, dtype=torch.long)),
    "signed_bytes": lambda x, i, b: (i * 40).to(torch.int8) * 3,
    "unsigned_bytes": lambda x, i, b: -i.to(torch.uint8),
    "least_of_bytes": lambda x, i, b: (i * 0 - 128).to(torch.int8).abs(),
}


def test_odd_modules_are_pytorchs() -> None:
    """Mixed types, views, writes in place, empty parts, overflow, and what is not a number."""
    random = torch.Generator().manual_seed(4)
    x, i = torch.randn(3, 5, generator=random), torch.arange(15).reshape(3, 5) - 7
    draws = [[x, i, x > 0], [-2 * x, i.flip(0), x < 0], [torch.zeros(3, 5), 0 * i, x == 0], [x * 1e3, i * 3, x == x]]
    require_agreement(ODD, draws)


NOT_A_NUMBER: Table = {
    "relu": F.relu,
    "relu6": F.relu6,
    "hardtanh": lambda x: F.hardtanh(x, -0.5, 2),
    "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
    "leaky_relu": F.leaky_relu,
    "softplus": F.softplus,
    "clamp": lambda x: x.clamp(-1, 1),
    "clamp_by_tensors": lambda x: torch.clamp(x, torch.full((7,), -0.5), torch.arange(7.0)),
    "maximum": lambda x: torch.maximum(x, x.flip(-1)),
    "argmax": lambda x: x.argmax(-1),
    "argmin": lambda x: x.argmin(0),
    "argmax_of_all": lambda x: x.argmax(),
    "max": lambda x: x.max(-1).values,
    "max_position": lambda x: x.max(-1).indices,
    "min_position": lambda x: x.min(-1, keepdim=True).indices,
    "amin": lambda x: x.amin(0),
    "softmax": lambda x: x.softmax(-1),
    "norm": lambda x: x.norm(dim=-1),
    "sign": lambda x: (x > 0) | (x != x),
}


def test_nan_propagates_and_has_the_first_position() -> None:
    """Rows with one NaN at each place, with several, with nothing else, beside infinities, and with none."""
    x = torch.randn(13, 7, generator=torch.Generator().manual_seed(1))
    nan, inf = torch.nan, torch.inf
    x[range(7), range(7)] = nan
    x[7, [2, 5]], x[8], x[9, [1, 3, 4]] = nan, nan, torch.tensor([inf, nan, -inf])
    x[10], x[11, 3] = torch.tensor([-inf, -inf, nan, -inf, inf, inf, nan]), -inf
    require_agreement(NOT_A_NUMBER, [[torch.randn(13, 7)], [x], [x[:, :1].expand(13, 7).clone()]])


INTEGERS: Table = {
    "sum": lambda x, y: x.sum(1),
    "sum_in_its_type": lambda x, y: x.sum(1, dtype=x.dtype),
    "sum_and_product": lambda x, y: x + y * 3,
    "product": lambda x, y: x * y,
    "max": lambda x, y: x.max(),
    "max_and_place": lambda x, y: x.max(1).values + x.max(1).indices,
    "amin": lambda x, y: x.amin(0),
    "argmax": lambda x, y: x.argmax(1),
    "floor": lambda x, y: x // y,
    "floor_by_constant": lambda x, y: x // 3,
    "floor_of_quotient": lambda x, y: torch.div(x, 5, rounding_mode="floor"),
    "truncated_quotient": lambda x, y: torch.div(x, 3, rounding_mode="trunc"),
    "remainder": lambda x, y: x % y,
    "rest_by_constant": lambda x, y: torch.fmod(x, 3),
    "shifts_by_tensors": lambda x, y: (x << (y & 3)) + (x >> (y & 3)),
    "shifts_as_functions": lambda x, y: torch.bitwise_left_shift(x, 2) + torch.bitwise_right_shift(x, 1),
    "quotient": lambda x, y: x / 3,
    "matmul": lambda x, y: x @ y.t(),
    "compare": lambda x, y: (x > y) & (x < 100),
    "shifts": lambda x, y: (x >> 1) ^ (x << 3),
    "logic": lambda x, y: (x & y) | ~x,
    "minus": lambda x, y: x[:, ::2] - y[:, 1:4],
    "where": lambda x, y: torch.where(x > y, x, -y),
    "any": lambda x, y: x.any(1),
    "float": lambda x, y: x.float() * y,
    "wider": lambda x, y: x.int() + y.long(),
    "powers": lambda x, y: x**2 + x**3 - y**5 + x**0,
    "shifted_out": lambda x, y: (x << 70) + (x >> 70) + (y >> 32) + (y << 33) + (x >> 8),
    "shifted_by_less_than_none": lambda x, y: (x << -1) + (y >> -2),
}


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
def test_integers_are_exact_in_their_type(dtype: torch.dtype) -> None:
    bounds, random = torch.iinfo(dtype), torch.Generator().manual_seed(2)
    draws = [torch.randint(bounds.min, bounds.max, (2, 3, 5), generator=random).to(dtype) for _ in range(3)]
    require_agreement(INTEGERS, [[x, torch.where(y == 0, 1, y).to(dtype)] for x, y in draws])


def test_constants_of_narrow_integers() -> None:
    """PyTorch wraps them to the type: right where that makes no difference, else refused; a tensor of rank 0 is no constant."""
    x = torch.tensor([0, 3, 200, 255], dtype=torch.uint8)
    table: Table = {"add": lambda x: x + 1000, "mul": lambda x: x * -7, "rank_0": lambda x: x // torch.full((), -3)}
    require_agreement(table, [[x]])
    message = r"aten\.gt\.Scalar of torch\.uint8 with a constant outside its range; accepted: constants from 0 to 255"
    with pytest.raises(CompileError, match=message):
        export(Each({"x": lambda x: x > 300}), [x])


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64])
def test_wide_unsigned_integers_are_refused_by_name(dtype: torch.dtype) -> None:
    accepted = "accepted: bool, uint8, int8, int16, int32, int64"
    with pytest.raises(CompileError, match=f"model: input input0 has dtype {dtype}; {accepted}"):
        export(Each({"x": lambda x: x}), [torch.ones(3).to(dtype)])
    with pytest.raises(CompileError, match=f"gives a tensor of {dtype}; {accepted}"):
        export(Each({"x": lambda x: x.to(dtype)}), [torch.ones(3)])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x % 0.7, "the remainder of floats (torch.remainder, %) is not supported; accepted: x - torch.floor(x / y) * y"),
        (lambda x: torch.copysign(x, -x), "torch.copysign is not supported; accepted: torch.where(y < 0, -x.abs(), x.abs())"),
        (lambda x: x.cumsum(-1), "a running sum or product (torch.cumsum, cumprod) is not supported; accepted: reductions over"),
    ],
)
def test_refusals_are_in_the_words_of_the_user(function: Callable[..., Tensor], message: str) -> None:
    with pytest.raises(CompileError) as refusal:
        export(Each({"x": function}), [torch.randn(3, 5)])
    assert message in str(refusal.value)
