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
from stc.frontend.eager_run import named_tensors
from stc.frontend.export import export, to_numpy

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
