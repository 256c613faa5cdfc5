"""Attention on the integers of a cache: against docs/quantisation.md in numpy, in the IR, and with seeded faults."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IntegerType, ModuleOp, f32
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.rewriter import InsertPoint, Rewriter

from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.execution.run import execute
from stc.frontend.draws import Draws
from stc.frontend.export import export
from stc.frontend.families import CausalModel, make_configuration
from stc.frontend.families.cached_layer import CacheRows
from stc.frontend.families.integer_attention import attend
from stc.frontend.presets import PRESETS
from stc.frontend.sources import Part, export_part
from stc.pipeline import run_stages, stages
from stc.quantisation.formats import read_quantisation
from stc.quantisation.rows import INT8_ROWS, attention_in_f32
from stc.transforms.linalg.generics import is_contraction, is_copy
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

HEADS, GROUPS, EARLIER, ROWS, ENTRIES = 2, 3, 5, 3, 7
SCALING = 0.3


class Attention(torch.nn.Module):
    """New rows behind a cache of a few, and attention to all of them."""

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor, *before: torch.Tensor):
        cache = CacheRows(INT8_ROWS, before)
        with cache.used():
            keys, values = cache.update(k, v)
            y, _ = attend(self, q, keys, values, mask, SCALING)
        assert cache.rows is not None
        return y, *cache.rows


def drawn(seed: int = 0) -> list[torch.Tensor]:
    random = torch.Generator().manual_seed(seed)
    q = torch.randn(1, HEADS * GROUPS, ROWS, ENTRIES, generator=random)
    k, v = (torch.randn(1, HEADS, ROWS, ENTRIES, generator=random) for _ in range(2))
    k[0, 0, 0] = torch.tensor([127.0, 0.5, 1.5, 2.5, -0.5, -1.5, -126.5])  # a scale of 1, and ties
    v[0, 1, 1] = 0
    sizes = torch.tensor([1, 0.1, 3, 0.01, 1.0])[:, None]
    before = [torch.randn(1, HEADS, EARLIER, ENTRIES, generator=random) * sizes for _ in range(2)]
    mask = torch.zeros(1, 1, ROWS, EARLIER + ROWS).masked_fill(torch.ones(ROWS, EARLIER + ROWS).triu(EARLIER + 1) == 1, -torch.inf)
    return [q, k, v, mask, *(part for rows in before for part in INT8_ROWS.stored(rows))]


def by_formulas(inputs: list[np.ndarray]) -> np.ndarray:
    """y [rows, heads, entries], one entry after the other."""
    q, k, v, mask, *before = inputs
    result = np.zeros((ROWS, HEADS * GROUPS, ENTRIES))
    for head in range(HEADS * GROUPS):
        rows = [_stored(row) for row in k[0, head // GROUPS]], [_stored(row) for row in v[0, head // GROUPS]]
        integers, scales = zip(*(
            (np.concatenate([old[0, head // GROUPS], [row for row, _ in new]]).astype(int),
             np.concatenate([old_scales[0, head // GROUPS, :, 0], [scale for _, scale in new]]))
            for new, old, old_scales in zip(rows, before[::2], before[1::2], strict=True)
        ), strict=True)  # fmt: skip
        for row in range(ROWS):
            query, scale = _stored(q[0, head, row])
            scores = (query @ integers[0].T).astype(np.float32) * scale * scales[0] * np.float32(SCALING) + mask[0, 0, row]
            powers = np.exp(scores.astype(np.float64) - scores.max())
            weights, scale = _stored(powers.astype(np.float32) * scales[1])
            result[row, head] = (weights @ integers[1]).astype(np.float32) * (scale / powers.sum())
    return result


def _stored(row: np.ndarray) -> tuple[np.ndarray, np.float32]:
    scale = max(np.float32(np.abs(row).max() * np.float32(1 / 127)), np.float32(2.0**-126))
    return np.rint(row * (np.float32(1) / scale)).astype(int), scale


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_entry_is_as_the_formulas_say(seed: int) -> None:
    inputs = drawn(seed)
    found = Attention()(*inputs)[0][0].numpy()
    expected = by_formulas([value.numpy() for value in inputs])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_in_f32_it_is_softmax_of_products() -> None:
    """Of what the cache holds, and of new rows as they are; the integers stay near."""
    q, k, v, mask, *before = inputs = drawn()
    with attention_in_f32():
        found = Attention()(*inputs)[0]
    keys, values = (
        torch.cat([INT8_ROWS.widened((before[at], before[at + 1])), rows], 2).repeat_interleave(GROUPS, 1)
        for at, rows in ((0, k), (2, v))
    )
    expected = (torch.softmax(q @ keys.transpose(2, 3) * SCALING + mask, -1) @ values).transpose(1, 2)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    assert 0 < (Attention()(*inputs)[0] - expected).abs().max() < 0.2 * expected.abs().max()


# In the IR ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def exported() -> tuple[ModuleOp, list[np.ndarray], list[np.ndarray]]:
    """As linalg the way the compiler sees it, inputs, and results."""
    inputs = drawn()
    model = export(Attention(), inputs, name="attention")
    run_stages(model.module, make_context(), stages(small_options(kernel_name="k"))[:1])
    return model.module, [value.numpy() for value in inputs], list(model.golden.values())


def wrong(module: ModuleOp, inputs: list[np.ndarray], expected: list[np.ndarray]) -> list[int]:
    """The results that differ: integers at all, floats by more than other orders of sums make of them."""
    with np.errstate(invalid="ignore"):
        found = execute(module, inputs)
    return [
        index for index, (one, other) in enumerate(zip(found, expected, strict=True))
        if not np.allclose(one, other, rtol=0, atol=1e-6 * np.nanmax(np.abs(other)) if other.dtype.kind == "f" else 0)
    ]


def test_both_products_are_of_bytes(exported: tuple[ModuleOp, list[np.ndarray], list[np.ndarray]]) -> None:
    """Of no wider ones, and their sums i32."""
    module, inputs, expected = exported
    assert wrong(module, inputs, expected) == []
    products = [op for op in module.walk() if isinstance(op, GenericOp) and is_contraction(op)]
    kinds = [[argument.type for argument in op.body.block.args] for op in products]
    assert kinds == [[IntegerType(8), IntegerType(8), IntegerType(32)]] * 2


def test_groups_of_several_heads_leave_products_of_bytes() -> None:
    """Groups of the layer behind attention cut the heads in the products; no reshape comes between those and what widens bytes."""
    said = "bits=8,group=14,activations=group,kv=int8,attention=int8"
    options = {**PRESETS["gpt2-tiny"].options, "n_embd": 4 * ENTRIES, "n_head": 4}
    model = CausalModel(make_configuration("gpt2", options, "gpt2"), max_seq=6, seed=0, where="gpt2")
    module = export_part(model, Part("decode", 1, 6, None), Draws(quantize=said), "gpt2").module
    run_stages(module, make_context(), stages(small_options(kernel_name="k", quantize=said))[:1])
    products = [op for op in module.walk() if isinstance(op, GenericOp) and is_contraction(op)]
    kinds = [tuple(argument.type for argument in op.body.block.args) for op in products]
    assert not any(is_copy(op) for op in module.walk()), "keys as they lie"
    assert len(kinds) > 6 and {kind for kind in kinds if f32 not in kind} == {(IntegerType(8), IntegerType(8), IntegerType(32))}


def _truncates(module: ModuleOp) -> None:
    for op in [op for op in module.walk() if isinstance(op, math.RoundEvenOp)]:
        Rewriter.replace_op(op, math.TruncOp(op.operand))


def _rounds_away(module: ModuleOp) -> None:
    """Ties go away from zero."""
    for op in [op for op in module.walk() if isinstance(op, math.RoundEvenOp)]:
        half, sign = arith.ConstantOp(FloatAttr(0.5, f32)), None
        sign = math.CopySignOp(half.result, op.operand)
        moved = arith.AddfOp(op.operand, sign.result)
        Rewriter.insert_op([half, sign, moved], InsertPoint.before(op))
        Rewriter.replace_op(op, math.TruncOp(moved.result))


def _does_not_saturate(module: ModuleOp) -> None:
    """What is no number has another integer."""
    for op in [op for op in module.walk() if isinstance(op, arith.SelectOp)]:
        constant = op.rhs.owner
        if isinstance(constant, arith.ConstantOp) and constant.value in (FloatAttr(127.0, f32), FloatAttr(-127.0, f32)):
            Rewriter.replace_op(op, [], [op.lhs])


FAULTS: dict[str, Callable[[ModuleOp], None]] = {
    "truncates": _truncates, "rounds ties away": _rounds_away, "does not saturate": _does_not_saturate,
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_another_rounding_is_caught(fault: str, exported: tuple[ModuleOp, list[np.ndarray], list[np.ndarray]]) -> None:
    module, inputs, _ = exported
    inputs = [value.copy() for value in inputs]
    inputs[2][0, 0, 2, 3] = np.nan
    expected = [value.numpy() for value in Attention()(*map(torch.from_numpy, inputs))]
    assert expected[3][0, 0, 2].tolist() == [127] * ENTRIES  # the row of values
    healthy, faulty = module.clone(), module.clone()
    FAULTS[fault](faulty)
    rows = {"does not saturate": 3}.get(fault, 1)
    assert rows not in wrong(healthy, inputs, expected) and rows in wrong(faulty, inputs, expected)


@pytest.mark.parametrize("index", [5, 7])
@pytest.mark.parametrize("axis", [1, 2])
def test_the_scale_of_a_neighbour_is_caught(
    index: int, axis: int, exported: tuple[ModuleOp, list[np.ndarray], list[np.ndarray]]
) -> None:
    """Of another head, or of another token; of keys, or of values."""
    module, inputs, expected = exported
    moved = list(inputs)
    moved[index] = np.roll(inputs[index], 1, axis)
    assert 0 in wrong(module, moved, expected)


# In models ------------------------------------------------------------------------------------------------------------


def test_an_attention_of_another_kind_is_refused() -> None:
    """GPT-2 may divide scores by the layer's number; Gemma 2 squashes them."""
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8, "attn_logit_softcapping": 1.0}
    options = {"hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 1, "vocab_size": 11, **heads}
    model = CausalModel(make_configuration("gemma2", options, "gemma2"), max_seq=8, seed=0, where="gemma2")
    with pytest.raises(CompileError, match="gemma2: attention=int8: the attention of gemma2 is another one; accepted: models"):
        model.cached_layer(0, 1, stored=INT8_ROWS, in_integers=True)
    scaled = {**PRESETS["gpt2-tiny"].options, "n_layer": 2, "scale_attn_by_inverse_layer_idx": True}
    model = CausalModel(make_configuration("gpt2", scaled, "gpt2"), max_seq=8, seed=0, where="gpt2")
    model.cached_layer(1, 1, stored=INT8_ROWS, in_integers=True)


def test_it_is_of_an_integer_cache() -> None:
    assert read_quantisation("kv=int8,attention=int8").attention == "int8"
    with pytest.raises(CompileError, match="--quantize: attention=int8 with kv=f32; accepted: kv=int8 with it"):
        read_quantisation("attention=int8")
