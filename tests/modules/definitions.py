"""Ordinary PyTorch modules, grouped by theme: what users bring that is none of the presets.

Each case is small enough to compile and simulate in seconds. `refused` is a piece of the sentence with which a module is refused;
everything else must compile and agree with PyTorch. The compiler knows none of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Built = tuple[nn.Module, tuple[Tensor, ...]]


@dataclass(frozen=True)
class Case:
    """One module. `build` makes it and its inputs; `quick` cases are simulated in `make test`, all in `make test-full`."""

    name: str
    theme: str
    build: Callable[[], Built]
    refused: str = ""
    quick: bool = False


CASES: dict[str, Case] = {}


def case(theme: str, *, refused: str = "", quick: bool = False) -> Callable[[Callable[[], Built]], Callable[[], Built]]:
    """Registers a function that builds a module, under its own name; it is also a factory for `stc compile FILE:NAME`."""

    def register(build: Callable[[], Built]) -> Callable[[], Built]:
        name = build.__name__
        assert name not in CASES
        CASES[name] = Case(name, theme, build, refused, quick)
        return build

    return register


class Formula(nn.Module):
    """A module without state."""

    def __init__(self, function: Callable[..., object]):
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> object:
        return self.function(*inputs)


def formula(function: Callable[..., object], *inputs: Tensor) -> Built:
    return Formula(function), inputs


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape)


def positive(*shape: int) -> Tensor:
    return torch.rand(*shape) + 0.5


def bools(*shape: int) -> Tensor:
    return torch.rand(*shape) > 0.5


def integers(low: int, high: int, *shape: int, dtype: torch.dtype = torch.int64) -> Tensor:
    return torch.randint(low, high, shape, dtype=dtype)


def spread(module: nn.Module) -> nn.Module:
    """Biases and gains that matter: no bias is 0, no gain 1."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if parameter.ndim == 1:
                parameter.copy_(torch.randn_like(parameter) * 0.3 + (0.0 if "bias" in name else 1.0))
    return module


# Perceptrons ----------------------------------------------------------------------------------------------------------


@case("perceptrons")
def mlp() -> Built:
    return spread(nn.Sequential(nn.Linear(24, 48), nn.GELU(), nn.Linear(48, 24))), (normal(8, 24),)


@case("perceptrons")
def deep_mlp() -> Built:
    layers = [nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 8), nn.Sigmoid()]
    return spread(nn.Sequential(*layers)), (normal(2, 6, 16),)


class Mixer(nn.Module):
    """One MLP-mixer block."""

    def __init__(self, tokens: int, channels: int):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.across = nn.Sequential(nn.Linear(tokens, 2 * tokens), nn.GELU(), nn.Linear(2 * tokens, tokens))
        self.within = nn.Sequential(nn.Linear(channels, 2 * channels), nn.GELU(), nn.Linear(2 * channels, channels))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.across(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.within(self.norm2(x))


@case("perceptrons", quick=True)
def mlp_mixer() -> Built:
    return spread(Mixer(12, 16)), (normal(1, 12, 16),)


class Gated(nn.Module):
    def __init__(self, width: int, gate: Callable[[Tensor], Tensor]):
        super().__init__()
        self.up, self.gate, self.down = nn.Linear(width, 2 * width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.activation = gate

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.activation(self.gate(x)) * self.up(x))


@case("perceptrons")
def swiglu() -> Built:
    return spread(Gated(16, F.silu)), (normal(8, 16),)


@case("perceptrons")
def glu() -> Built:
    return spread(nn.Sequential(nn.Linear(16, 48), nn.GLU(), nn.Linear(24, 16))), (normal(8, 16),)


class Residual(nn.Module):
    def __init__(self, inner: nn.Module):
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return x + self.inner(x)


@case("perceptrons")
def mlp_of_primes() -> Built:
    return spread(Residual(nn.Sequential(nn.Linear(13, 29), nn.SiLU(), nn.Linear(29, 13)))), (normal(7, 13),)


# Attention ------------------------------------------------------------------------------------------------------------


class Attention(nn.Module):
    """Queries of `x` over keys and values of `context`, with fewer key heads than query heads where `groups` > 1."""

    def __init__(self, width: int, heads: int, groups: int = 1):
        super().__init__()
        self.heads, self.kv, self.size = heads, heads // groups, width // heads
        self.q = nn.Linear(width, width)
        self.k, self.v = nn.Linear(width, self.kv * self.size), nn.Linear(width, self.kv * self.size)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, context: Tensor, bias: Tensor | None = None) -> Tensor:
        q = self.split(self.q(x), self.heads)
        k = self.repeat(self.split(self.k(context), self.kv))
        v = self.repeat(self.split(self.v(context), self.kv))
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.size)
        scores = scores if bias is None else scores + bias
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))

    def split(self, x: Tensor, heads: int) -> Tensor:
        return x.unflatten(-1, (heads, self.size)).transpose(1, 2)

    def repeat(self, x: Tensor) -> Tensor:
        return x.repeat_interleave(self.heads // self.kv, 1) if self.kv < self.heads else x


class WithBias(nn.Module):
    """Self attention with a constant bias on the scores."""

    def __init__(self, attention: Attention, bias: Tensor):
        super().__init__()
        self.attention = attention
        self.register_buffer("bias", bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, x, self.bias)


class SelfAttention(nn.Module):
    def __init__(self, attention: Attention):
        super().__init__()
        self.attention = attention

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, x)


@case("attention", quick=True)
def encoder_post_norm() -> Built:
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    return spread(layer), (normal(1, 8, 16),)


@case("attention")
def encoder_pre_norm() -> Built:
    layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
    return spread(layer), (normal(2, 6, 16),)


@case("attention")
def cross_attention() -> Built:
    return spread(Attention(16, 2)), (normal(1, 6, 16), normal(1, 10, 16))


@case("attention")
def multi_query_attention() -> Built:
    return spread(SelfAttention(Attention(16, 4, groups=4))), (normal(1, 8, 16),)


@case("attention")
def grouped_query_attention() -> Built:
    return spread(SelfAttention(Attention(32, 4, groups=2))), (normal(1, 8, 32),)


@case("attention")
def sliding_window_attention() -> Built:
    distance = torch.arange(12)[:, None] - torch.arange(12)[None, :]
    outside = (distance < 0) | (distance >= 4)
    return spread(WithBias(Attention(16, 2), torch.zeros(12, 12).masked_fill(outside, -torch.inf))), (normal(1, 12, 16),)


@case("attention")
def alibi_attention() -> Built:
    distance = (torch.arange(8)[None, :] - torch.arange(8)[:, None]).abs().float()
    slopes = torch.tensor([0.5, 0.25])
    return spread(WithBias(Attention(16, 2), -slopes[:, None, None] * distance)), (normal(1, 8, 16),)


@case("attention")
def causal_mask_of_positions() -> Built:
    def attend(q: Tensor, k: Tensor, v: Tensor, positions: Tensor) -> Tensor:
        mask = positions[:, None] >= positions[None, :]
        return (q @ k.T).masked_fill(~mask, -torch.inf).softmax(-1) @ v

    return formula(attend, normal(8, 16), normal(8, 16), normal(8, 16), torch.arange(8))


@case("attention")
def masked_attention() -> Built:
    def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        return torch.where(mask, q @ k.transpose(-1, -2), -1e9).softmax(-1) @ v

    return formula(attend, normal(2, 6, 8), normal(2, 6, 8), normal(2, 6, 8), torch.ones(6, 6).tril().bool())


@case("attention")
def scaled_dot_product() -> Built:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    return formula(attend, normal(1, 2, 8, 8), normal(1, 2, 8, 8), normal(1, 2, 8, 8))


@case("attention")
def linear_attention() -> Built:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        q, k = F.elu(q) + 1, F.elu(k) + 1
        state = torch.einsum("bhnd,bhne->bhde", k, v)
        scale = torch.einsum("bhnd,bhd->bhn", q, k.sum(2))
        return torch.einsum("bhnd,bhde->bhne", q, state) / scale[..., None]

    return formula(attend, normal(1, 2, 8, 8), normal(1, 2, 8, 8), normal(1, 2, 8, 8))


@case("attention", quick=True)
def rotary_embedding() -> Built:
    def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        first, second = x.chunk(2, -1)
        return x * cos + torch.cat((-second, first), -1) * sin

    return formula(rotate, normal(1, 2, 8, 16), normal(8, 16), normal(8, 16))


@case("attention")
def rotary_of_positions() -> Built:
    class Rotary(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.frequency = nn.Buffer(10000.0 ** -(torch.arange(0, 8) / 8))

        def forward(self, x: Tensor, positions: Tensor) -> Tensor:
            angle = positions[:, None].float() * self.frequency
            first, second = x.chunk(2, -1)
            cos, sin = angle.cos(), angle.sin()
            return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)

    return Rotary(), (normal(2, 8, 16), torch.arange(3, 11))


@case("attention")
def interleaved_rotary() -> Built:
    def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)

    return formula(rotate, normal(6, 16), normal(6, 8), normal(6, 8))


# Norms ----------------------------------------------------------------------------------------------------------------


@case("norms")
def layer_norm() -> Built:
    return spread(nn.LayerNorm(24)), (normal(2, 6, 24),)


@case("norms", quick=True)
def rms_norm() -> Built:
    return spread(nn.RMSNorm(24, eps=1e-6)), (normal(6, 24),)


@case("norms")
def group_norm() -> Built:
    return spread(nn.GroupNorm(2, 8)), (normal(2, 8, 6),)


@case("norms")
def batch_norm_inference() -> Built:
    module = nn.BatchNorm1d(8)
    module.running_mean = torch.randn(8)
    module.running_var = torch.rand(8) + 0.5
    return spread(module), (normal(4, 8, 6),)


@case("norms")
def unit_vectors() -> Built:
    return formula(lambda x: F.normalize(x, dim=-1), normal(6, 16))


# Reductions -----------------------------------------------------------------------------------------------------------


@case("reductions", quick=True)
def sum_over_first() -> Built:
    return formula(lambda x: x.sum(0), normal(6, 8, 4))


@case("reductions")
def mean_over_middle() -> Built:
    return formula(lambda x: x.mean(1, keepdim=True) - x, normal(6, 8, 4))


@case("reductions")
def maximum_over_last() -> Built:
    return formula(lambda x: x.amax(-1), normal(6, 24))


@case("reductions")
def maximum_of_two_axes() -> Built:
    return formula(lambda x: x.amax((0, 2)), normal(6, 8, 4))


@case("reductions")
def minimum_with_values() -> Built:
    return formula(lambda x: x.min(1).values, normal(6, 24))


@case("reductions")
def product_over_last() -> Built:
    return formula(lambda x: x.prod(-1), positive(6, 8))


@case("reductions")
def total() -> Built:
    return formula(lambda x: x.sum(), normal(6, 8))


@case("reductions")
def softmax_over_first() -> Built:
    return formula(lambda x: x.softmax(0), normal(6, 8))


@case("reductions")
def log_softmax() -> Built:
    return formula(lambda x: x.log_softmax(-1), normal(6, 24))


@case("reductions")
def log_sum_exp() -> Built:
    return formula(lambda x: x.logsumexp(1), normal(6, 24))


@case("reductions")
def euclidean_norm() -> Built:
    return formula(lambda x: x.norm(dim=-1), normal(6, 24))


@case("reductions")
def variance() -> Built:
    return formula(lambda x: x.var(-1), normal(6, 24))


@case("reductions")
def standard_deviation_of_all() -> Built:
    return formula(lambda x: x.std(), normal(6, 8))


@case("reductions")
def any_and_all() -> Built:
    return formula(lambda x: (x.any(-1), x.all(0)), bools(6, 8))


@case("reductions")
def integer_sum() -> Built:
    return formula(lambda x: x.sum(-1), integers(-50, 50, 6, 8))


@case("reductions")
def argmax() -> Built:
    return formula(lambda x: x.argmax(-1), normal(6, 8))


@case("reductions")
def maximum_and_position() -> Built:
    return formula(lambda x: tuple(x.max(-1)), normal(6, 8))


@case("reductions", refused="a running sum or product")
def cumulative_sum() -> Built:
    return formula(lambda x: x.cumsum(-1), normal(6, 8))


@case("reductions", refused="sorting")
def sort() -> Built:
    return formula(lambda x: x.sort(-1).values, normal(6, 8))


@case("reductions", refused="sorting")
def top_k() -> Built:
    return formula(lambda x: x.topk(2, -1).values, normal(6, 8))


# Products of activations ----------------------------------------------------------------------------------------------


@case("products")
def gram_matrix() -> Built:
    return formula(lambda x: x @ x.T, normal(12, 16))


@case("products")
def covariance() -> Built:
    def function(x: Tensor) -> Tensor:
        centred = x - x.mean(0)
        return centred.T @ centred / 7

    return formula(function, normal(8, 16))


@case("products")
def batched_matmul() -> Built:
    return formula(torch.bmm, normal(3, 6, 8), normal(3, 8, 4))


@case("products")
def outer_product() -> Built:
    return formula(torch.outer, normal(12), normal(7))


@case("products")
def dot_product() -> Built:
    return formula(torch.dot, normal(24), normal(24))


@case("products")
def matrix_times_vector() -> Built:
    return formula(torch.mv, normal(12, 16), normal(16))


@case("products", quick=True)
def einsum_of_five_letters() -> Built:
    return formula(lambda a, b: torch.einsum("bixc,bjxc->bxij", a, b), normal(2, 4, 3, 8), normal(2, 6, 3, 8))


@case("products")
def einsum_of_three_factors() -> Built:
    return formula(lambda a, b, c: torch.einsum("ij,jk,kl->il", a, b, c), normal(4, 8), normal(8, 6), normal(6, 10))


@case("products")
def bilinear() -> Built:
    return spread(nn.Bilinear(6, 8, 4)), (normal(5, 6), normal(5, 8))


@case("products")
def integer_matmul() -> Built:
    return formula(torch.matmul, integers(-9, 9, 6, 8), integers(-9, 9, 8, 4))


@case("products")
def chain_of_products() -> Built:
    return formula(lambda a, b: (a @ b) @ (b.T @ a.T), normal(4, 8), normal(8, 6))


# Several inputs and results -------------------------------------------------------------------------------------------


@case("inputs and results", quick=True)
def several_results() -> Built:
    return formula(lambda a, b: (a + b, a * b, (a - b).sum(-1)), normal(6, 8), normal(6, 8))


@case("inputs and results")
def result_that_is_an_intermediate() -> Built:
    def function(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
        hidden = x @ w
        return hidden, hidden.softmax(-1)

    return formula(function, normal(6, 8), normal(8, 12))


@case("inputs and results")
def input_used_many_times() -> Built:
    return formula(lambda x: x * x.sigmoid() + x.mean(-1, keepdim=True) * x.amax(0) - (x @ x.T) @ x, normal(8, 8))


@case("inputs and results")
def reconvergence() -> Built:
    def function(x: Tensor) -> Tensor:
        a, b, c = x.exp(), x.sin(), x.cos()
        d = a.sum(-1, keepdim=True) + b
        return d * c + a.amax(0)

    return formula(function, normal(8, 12))


@case("inputs and results")
def result_is_an_input() -> Built:
    return formula(lambda x, y: (x, x + y), normal(6, 8), normal(6, 8))


@case("inputs and results", quick=True)
def result_is_a_view_of_an_input() -> Built:
    return formula(lambda x, y: (x.reshape(4, 12), x * y), normal(6, 8), normal(6, 8))


@case("inputs and results")
def result_is_a_transposed_input() -> Built:
    return formula(lambda x: x.T, normal(6, 8))


@case("inputs and results")
def same_result_twice() -> Built:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        y = x.exp()
        return y, y.reshape(-1)

    return formula(function, normal(6, 8))


@case("inputs and results")
def result_is_a_parameter() -> Built:
    class Module(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.randn(8))

        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            return x * self.scale, self.scale

    return Module(), (normal(6, 8),)


@case("inputs and results")
def unused_input() -> Built:
    return formula(lambda x, y: x.exp(), normal(6, 8), normal(3))


@case("inputs and results")
def work_on_parameters_alone() -> Built:
    class Module(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Parameter(torch.randn(6, 8)), nn.Parameter(torch.randn(8, 6))

        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            return x + 1, self.a @ self.b

    return Module(), (normal(6, 8),)


@case("inputs and results", refused="nothing is left to compute")
def nothing_but_parameters() -> Built:
    class Module(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Parameter(torch.randn(6, 8)), nn.Parameter(torch.randn(8, 6))

        def forward(self, x: Tensor) -> Tensor:
            return self.a @ self.b

    return Module(), (normal(6, 8),)


@case("inputs and results", refused="nothing is left to compute")
def identity() -> Built:
    return formula(lambda x: x, normal(6, 8))


@case("inputs and results")
def result_in_a_dictionary() -> Built:
    return formula(lambda x: {"double": 2 * x, "half": x / 2}, normal(6, 8))


# Constants ------------------------------------------------------------------------------------------------------------


@case("constants", quick=True)
def constant_tensor() -> Built:
    table = torch.arange(8.0) * 0.3 - 1
    return formula(lambda x: x * torch.tensor([0.5, -1.0, 2.0, 0.25, 3.0, 1.5, -2.0, 4.0]) + table, normal(6, 8))


@case("constants")
def constant_matrix() -> Built:
    def function(x: Tensor) -> Tensor:
        return x @ torch.arange(24.0).reshape(8, 3)

    return formula(function, normal(6, 8))


@case("constants")
def constant_result() -> Built:
    return formula(lambda x: (x + 1, torch.zeros(4, 4)), normal(6, 8))


@case("constants")
def filled_operand() -> Built:
    return formula(lambda x: torch.cat((x, torch.full((6, 4), 0.5)), -1), normal(6, 8))


@case("constants")
def positions_made_inside() -> Built:
    return formula(lambda x: x * torch.arange(8) + torch.arange(6)[:, None], normal(6, 8))


@case("constants")
def scalar_input() -> Built:
    return formula(lambda x, s: x * s, normal(6, 8), torch.tensor(0.7))


# Broadcasts and odd shapes --------------------------------------------------------------------------------------------


@case("shapes")
def broadcast_on_the_left() -> Built:
    return formula(lambda a, b: a + b, normal(8), normal(4, 6, 8))


@case("shapes")
def broadcast_on_both_sides() -> Built:
    return formula(lambda a, b: a * b, normal(6, 1, 8), normal(1, 5, 8))


@case("shapes")
def broadcast_of_a_result() -> Built:
    return formula(lambda x: x.amax(-1, keepdim=True).expand(6, 8), normal(6, 8))


@case("shapes")
def ones_everywhere() -> Built:
    return formula(lambda a, b: (a * b).softmax(-1), normal(1, 6, 1, 8), normal(1, 1, 1, 8))


@case("shapes")
def a_single_entry() -> Built:
    return formula(lambda x: x.exp() + 1, normal(1, 1))


@case("shapes")
def primes() -> Built:
    return formula(lambda a, b: (a @ b).softmax(-1), normal(7, 13), normal(13, 11))


@case("shapes")
def large_prime() -> Built:
    return formula(F.gelu, normal(3, 101))


@case("shapes")
def odd_factors() -> Built:
    return formula(lambda a, b: F.relu(a @ b), normal(15, 21), normal(21, 45))


@case("shapes")
def one_dimension() -> Built:
    return formula(lambda x: x.softmax(0) * x, normal(40))


@case("shapes")
def five_dimensions() -> Built:
    return formula(lambda x: x.sum((1, 3)).exp(), normal(2, 3, 4, 2, 5))


# Integers and booleans ------------------------------------------------------------------------------------------------


@case("integers and booleans")
def where_of_a_mask() -> Built:
    return formula(lambda m, a, b: torch.where(m, a, b), bools(6, 8), normal(6, 8), normal(6, 8))


@case("integers and booleans")
def masked_fill() -> Built:
    return formula(lambda x, m: x.masked_fill(m, -1e9).softmax(-1), normal(6, 8), bools(6, 8))


@case("integers and booleans")
def mask_of_one_row() -> Built:
    return formula(lambda x, m: x.masked_fill(m, 0.0), normal(6, 8), bools(8))


@case("integers and booleans")
def comparison_results() -> Built:
    return formula(lambda a, b: (a > b, a == b, a.abs() <= 0.5), normal(6, 8), normal(6, 8))


@case("integers and booleans")
def logic() -> Built:
    return formula(lambda a, b: (a & b, a | ~b, a ^ b), bools(6, 8), bools(6, 8))


@case("integers and booleans", quick=True)
def integer_arithmetic() -> Built:
    def function(a: Tensor, b: Tensor) -> Tensor:
        return a * b + 3 * a - b

    return formula(function, integers(-99, 99, 6, 8), integers(1, 9, 6, 8))


@case("integers and booleans")
def integer_division() -> Built:
    return formula(lambda a, b: (a // b, a % b), integers(-99, 99, 6, 8), integers(1, 9, 6, 8))


@case("integers and booleans")
def small_integers() -> Built:
    return formula(
        lambda a, b: (a + b).to(torch.float32) * 0.5,
        integers(-99, 99, 6, 8, dtype=torch.int32),
        integers(-99, 99, 6, 8, dtype=torch.int32),
    )


@case("integers and booleans")
def bytes_to_floats() -> Built:
    return formula(lambda a, s: a.float() * s, integers(-128, 127, 6, 8, dtype=torch.int8), normal(8))


@case("integers and booleans")
def count_of_true() -> Built:
    return formula(lambda x: (x > 0).sum(-1), normal(6, 8))


@case("integers and booleans", refused="looked up at computed positions")
def embedding() -> Built:
    return nn.Embedding(11, 8), (integers(0, 11, 6),)


@case("integers and booleans", refused="looked up at computed positions")
def gather() -> Built:
    return formula(lambda x, i: torch.gather(x, 1, i), normal(6, 8), integers(0, 8, 6, 3))


# Layout ---------------------------------------------------------------------------------------------------------------


@case("layout", quick=True)
def flatten_after_permute() -> Built:
    return formula(lambda x: x.permute(2, 0, 1).flatten(1) * 2, normal(4, 6, 8))


@case("layout")
def permute_of_four() -> Built:
    return formula(lambda x: x.permute(3, 1, 0, 2).exp(), normal(2, 3, 4, 5))


@case("layout")
def reshape_that_reorders() -> Built:
    return formula(lambda x: x.exp().reshape(9, 4).softmax(-1), normal(4, 9))


@case("layout")
def reshape_without_common_factors() -> Built:
    return formula(lambda x: x.exp().T.reshape(6, 10).sum(0), normal(4, 15))


@case("layout", quick=True)
def slices_with_offsets() -> Built:
    return formula(lambda x: x[1:5, 2:8] * x[2:6, 0:6], normal(6, 8))


@case("layout")
def strided_slice() -> Built:
    return formula(lambda x: x[::2, 1::3] + 1, normal(6, 9))


@case("layout")
def strided_slice_of_a_result() -> Built:
    return formula(lambda x: x.exp()[:, ::2] * x[:, 1::2], normal(6, 8))


@case("layout")
def concatenation() -> Built:
    return formula(lambda a, b: torch.cat((a.exp(), b), 1).softmax(-1), normal(6, 8), normal(6, 4))


@case("layout")
def concatenation_with_itself() -> Built:
    return formula(lambda a: torch.cat((a, a, a * 2), 0), normal(6, 8))


@case("layout")
def stack() -> Built:
    return formula(lambda a, b: torch.stack((a, b.exp()), 1), normal(6, 8), normal(6, 8))


@case("layout")
def chunks() -> Built:
    def function(x: Tensor) -> Tensor:
        a, b, c = x.chunk(3, -1)
        return a * b.sigmoid() + c

    return formula(function, normal(6, 24))


@case("layout")
def uneven_split() -> Built:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        a, b = x.exp().split((5, 3), -1)
        return a * 2, b.sum(-1)

    return formula(function, normal(6, 8))


@case("layout", quick=True)
def padding() -> Built:
    return formula(lambda x: F.pad(x.exp(), (1, 2, 0, 1), value=0.5), normal(6, 8))


@case("layout")
def padding_of_an_input() -> Built:
    return formula(lambda x: F.pad(x, (2, 2)) * 3, normal(6, 8))


@case("layout")
def shift_by_one() -> Built:
    return formula(lambda x: x - F.pad(x[:-1], (0, 0, 1, 0)), normal(6, 8))


@case("layout")
def roll() -> Built:
    return formula(lambda x: x.roll(3, 0) + x, normal(6, 8))


@case("layout", refused="looked up at computed positions")
def flip() -> Built:
    return formula(lambda x: x.flip(0) * 2, normal(6, 8))


@case("layout")
def triangle() -> Built:
    return formula(lambda x: x.tril() + x.triu(1) * 2, normal(8, 8))


@case("layout")
def repetition() -> Built:
    return formula(lambda x: x.repeat(2, 3) + 1, normal(4, 5))


@case("layout")
def pixel_shuffle() -> Built:
    return formula(lambda x: F.pixel_shuffle(x, 2) * 2, normal(1, 8, 3, 3))


@case("layout", refused="looked up at computed positions")
def diagonal() -> Built:
    return formula(lambda x: x.diagonal() + 1, normal(8, 8))


@case("layout")
def slice_assignment() -> Built:
    def function(x: Tensor, y: Tensor) -> Tensor:
        z = x.clone()
        z[1:3] = y
        return z * 2

    return formula(function, normal(6, 8), normal(2, 8))


# Windows --------------------------------------------------------------------------------------------------------------


@case("windows")
def conv1d() -> Built:
    return spread(nn.Conv1d(4, 6, 3, padding=1)), (normal(1, 4, 10),)


@case("windows")
def conv2d() -> Built:
    return spread(nn.Conv2d(3, 4, 3, stride=2)), (normal(1, 3, 9, 9),)


@case("windows")
def depthwise_conv() -> Built:
    return spread(nn.Conv1d(4, 4, 3, groups=4)), (normal(1, 4, 10),)


@case("windows")
def pointwise_conv() -> Built:
    return spread(nn.Conv2d(4, 6, 1)), (normal(1, 4, 5, 5),)


@case("windows")
def max_pool() -> Built:
    return nn.MaxPool2d(2), (normal(1, 3, 8, 8),)


@case("windows")
def average_pool() -> Built:
    return nn.AvgPool1d(2), (normal(1, 3, 8),)


@case("windows")
def patches() -> Built:
    """A vision transformer's patch embedding, written as reshapes."""

    class Patches(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.project = nn.Linear(3 * 4 * 4, 16)

        def forward(self, x: Tensor) -> Tensor:
            x = x.reshape(1, 3, 2, 4, 2, 4).permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)
            return self.project(x)

    return spread(Patches()), (normal(1, 3, 8, 8),)


# Functions ------------------------------------------------------------------------------------------------------------


@case("functions")
def smooth_functions() -> Built:
    def function(x: Tensor) -> tuple[Tensor, ...]:
        return x.exp() + x.sin() * x.cos(), x.tanh() - x.erf(), x.sigmoid() * F.silu(x), F.gelu(x, approximate="tanh")

    return formula(function, normal(6, 8))


@case("functions")
def roots_and_logarithms() -> Built:
    return formula(lambda x: (x.sqrt() + x.log(), x.rsqrt() * x.log2(), x.log1p() + x.reciprocal()), positive(6, 8))


@case("functions")
def powers() -> Built:
    return formula(lambda x: (x**2 + x**3, x**0.5, x**-1, x**1.7), positive(6, 8))


@case("functions")
def power_of_two_tensors() -> Built:
    return formula(torch.pow, positive(6, 8), normal(6, 8))


@case("functions")
def rectifiers() -> Built:
    def function(x: Tensor) -> tuple[Tensor, ...]:
        return F.relu(x), F.leaky_relu(x, 0.1), F.elu(x), F.hardswish(x), F.relu6(x)

    return formula(function, normal(6, 8))


@case("functions")
def clamps() -> Built:
    return formula(lambda x: (x.clamp(-0.5, 0.5), x.clamp(min=0.1), x.abs(), x.sign(), -x), normal(6, 8))


@case("functions")
def rounding() -> Built:
    return formula(lambda x: (x.floor(), x.ceil(), x.round(), x.trunc()), normal(6, 8) * 4)


@case("functions")
def extremes_of_two() -> Built:
    return formula(lambda a, b: (torch.maximum(a, b), torch.minimum(a, b), torch.fmod(a, b)), normal(6, 8), positive(6, 8))


@case("functions")
def softplus_and_mish() -> Built:
    return formula(lambda x: (F.softplus(x), F.mish(x)), normal(6, 8))


# Control and bad input ------------------------------------------------------------------------------------------------


@case("control", refused="data-dependent")
def data_dependent_branch() -> Built:
    return formula(lambda x: x * 2 if x.sum() > 0 else x, normal(6, 8))


@case("control", refused="dynamic shape")
def data_dependent_shape() -> Built:
    return formula(lambda x: x[x > 0], normal(6, 8))


@case("control", refused="float64")
def doubles() -> Built:
    return formula(lambda x: x * 2, normal(6, 8).double())


@case("inputs and results")
def rounded_to_bf16() -> Built:
    """Numbers at and next to ties, of both signs: the largest, subnormal ones, infinities, NaNs. Each is a row of its own."""
    uppers = [0, 1, 2, 0x7F, 0x80, 0x3F7F, 0x3F80, 0x3F81, 0x7F7E, 0x7F7F, 0x7FFF]
    lowers = [0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF]
    bits = [(sign << 31 | upper << 16 | lower) - (sign << 32) for sign in (0, 1) for upper in uppers for lower in lowers]
    numbers = torch.cat([torch.tensor(bits, dtype=torch.int32).view(torch.float32), torch.tensor([torch.inf, -torch.inf])])
    return formula(lambda x: x.to(torch.bfloat16).to(torch.float32), numbers[:, None])


@case("inputs and results", refused="arith.addf in bf16")
def added_in_bf16() -> Built:
    return formula(lambda x: (x.to(torch.bfloat16) + 1).to(torch.float32), normal(6, 8))


@case("control", refused="float16")
def halves() -> Built:
    return formula(lambda x: x * 2, normal(6, 8).half())


@case("control", refused="complex64")
def fourier_transform() -> Built:
    return formula(lambda x: torch.fft.rfft(x).abs(), normal(8))


@case("control", refused="gives random numbers")
def random_numbers() -> Built:
    return formula(lambda x: x + torch.rand_like(x), normal(6, 8))


@case("control", refused="has shape (0, 8)")
def empty_tensor() -> Built:
    return formula(lambda x: x * 2, normal(0, 8))


class Several(nn.Module):
    """Obstacles of two kinds in two submodules and in the module itself."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(11, 8)
        self.total = Formula(lambda x: x.cumsum(0))

    def forward(self, tokens: Tensor) -> Tensor:
        return self.total(self.words(tokens)).flip(0)


@case("control", refused="total: a running sum")
def several_obstacles() -> Built:
    return Several(), (integers(0, 11, 6),)


# Further ordinary modules ---------------------------------------------------------------------------------------------


@case("attention")
def multi_head_attention() -> Built:
    return spread(nn.MultiheadAttention(16, 4, batch_first=True)), (normal(1, 6, 16), normal(1, 9, 16), normal(1, 9, 16))


@case("attention")
def scaled_dot_product_with_mask() -> Built:
    def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    return formula(attend, normal(1, 2, 5, 8), normal(1, 2, 7, 8), normal(1, 2, 7, 8), bools(5, 7) | torch.eye(5, 7).bool())


@case("perceptrons")
def lstm_cell() -> Built:
    return spread(nn.LSTMCell(8, 12)), (normal(3, 8),)


@case("perceptrons")
def gru_cell() -> Built:
    return spread(nn.GRUCell(8, 12)), (normal(3, 8), normal(3, 12))


@case("integers and booleans")
def wide_integers() -> Built:
    return formula(lambda a, b: (a + b * 2, (a > b).sum(0)), integers(-9, 9, 5, 48), integers(-9, 9, 5, 48))


@case("integers and booleans")
def unsigned_bytes() -> Built:
    return formula(lambda a: a.float() / 255, integers(0, 255, 6, 40, dtype=torch.uint8))


@case("integers and booleans")
def one_hot_lookup() -> Built:
    """What to write instead of an embedding."""
    return formula(lambda i, w: (i[:, None] == torch.arange(11)).float() @ w, integers(0, 11, 6), normal(11, 8))


@case("integers and booleans", refused="looked up at computed positions")
def selection_of_columns() -> Built:
    return formula(lambda x: x[:, [2, 0, 1]] * 2, normal(4, 3))


@case("integers and booleans", refused="writing at computed positions")
def scatter() -> Built:
    return formula(lambda x, i: torch.zeros(4, 5).scatter_add(0, i, x), normal(4, 5), integers(0, 4, 4, 5))


@case("layout")
def windows_of_a_view() -> Built:
    return formula(lambda x: x.unfold(0, 3, 2).sum(-1), normal(11, 4))


@case("layout", refused="looked up at computed positions")
def reflecting_padding() -> Built:
    return formula(lambda x: F.pad(x, (2, 2), mode="reflect") * 2, normal(1, 3, 8))


@case("windows")
def transposed_conv() -> Built:
    return spread(nn.ConvTranspose1d(4, 3, 4, stride=2)), (normal(1, 4, 6),)


@case("windows")
def grouped_and_dilated_conv() -> Built:
    layers = [nn.Conv2d(4, 8, 3, groups=2), nn.Conv2d(8, 4, 3, dilation=2, padding=2)]
    return spread(nn.Sequential(*layers)), (normal(1, 4, 6, 6),)


@case("windows")
def small_image_classifier() -> Built:
    layers = [nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 4 * 4, 5)]
    return spread(nn.Sequential(*layers)), (normal(2, 3, 8, 8),)


@case("functions")
def not_a_number() -> Built:
    def function(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        known = torch.where(torch.isnan(x), 0.0, x)
        return torch.maximum(x, y), torch.minimum(y, x), x.amax(-1), F.relu(x), x.clamp(-1.0, 1.0), known

    nan, infinity = float("nan"), float("inf")
    return formula(function, torch.tensor([[1.0, nan, 2.0], [infinity, 3.0, -infinity]]), normal(2, 3))


@case("functions", refused="math.asin")
def inverse_sine() -> Built:
    return formula(lambda x: x.asin(), torch.rand(5, 7))


@case("functions", refused="the remainder of floats")
def remainder_of_floats() -> Built:
    return formula(lambda x, y: torch.remainder(x, y), normal(5, 7), positive(5, 7))
