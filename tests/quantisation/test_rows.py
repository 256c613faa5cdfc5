"""Rows of keys and values as caches store them, against the formulas of docs/quantisation.md in numpy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from stc.diagnostics import CompileError
from stc.frontend.families import CausalModel, make_configuration
from stc.frontend.families.cached_layer import CacheRows
from stc.frontend.presets import PRESETS
from stc.frontend.rounding_noise import RoundingNoise
from stc.frontend.sources import load_model
from stc.quantisation.formats import ACTIVATION_LARGEST, ACTIVATION_STEP, read_quantisation
from stc.quantisation.rows import BF16_ROWS, INT8_ROWS, RowFormat, attention_in_f32, rows_unrounded, saturated

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("factor", [0.0, 1e-44, 1e-39, 1e-5, 1.0, 1e3, 1e37])
def test_every_row_has_a_scale_of_its_own(factor: float) -> None:
    """For each head and token; rows of very different sizes stand side by side."""
    random = np.random.default_rng(1)
    rows = (random.standard_normal((1, 3, 5, 7)) * factor * np.array([1, 1e-3, 0, 1, 10.0])[:, None]).astype(np.float32)
    integers, scales = INT8_ROWS.stored(torch.from_numpy(rows))
    for head, token in np.ndindex(3, 5):
        row = rows[0, head, token]
        scale = max(np.float32(np.abs(row).max() * np.float32(1 / 127)), np.float32(2.0**-126))
        assert scales[0, head, token].numpy() == scale
        expected = np.rint(row * (np.float32(1) / scale)).astype(int)
        assert np.array_equal(integers[0, head, token].numpy(), expected)
        widened = INT8_ROWS.widened((integers, scales))[0, head, token].numpy()
        assert np.array_equal(widened, expected.astype(np.float32) * scale)


def test_what_the_largest_magnitude_is_multiplied_by() -> None:
    """The f32 next to 1 / 127; and the largest magnitude is 127 of its scale, of all f32 between two powers of two."""
    assert float(np.float32(1 / ACTIVATION_LARGEST)) == ACTIVATION_STEP
    largest = torch.arange(0x3F800000, 0x40000000, dtype=torch.int32).view(torch.float32)
    integers, _ = INT8_ROWS.stored(largest.unsqueeze(-1))
    assert bool((integers == ACTIVATION_LARGEST).all())


def test_ties_go_to_even_and_nothing_wraps_around() -> None:
    """A scale of 1; what is no finite number has an integer, too, and a scale that says so."""
    integers, scales = INT8_ROWS.stored(torch.tensor([127.0, 0.5, 1.5, 2.5, -0.5, -1.5, -126.5]))
    assert scales.item() == 1 and integers.tolist() == [127, 0, 2, 2, 0, -2, -126]
    assert saturated(torch.tensor([200.0, -200.0, torch.inf, -torch.inf, torch.nan]), 127).tolist() == [127, -127, 127, -127, 127]
    integers, scales = INT8_ROWS.stored(torch.tensor([[1.0, torch.nan], [1.0, 2.0]]))
    assert scales[0].isnan().all() and integers[1].tolist() == [64, 127]


def test_rounding_noise_moves_no_integer_but_at_a_tie() -> None:
    """The largest entry of each row is 127, from which a unit in the last place is lost to 126."""
    rows = torch.randn(40, 16, generator=torch.Generator().manual_seed(0))
    with RoundingNoise(np.random.default_rng(0)):
        noisy, _ = INT8_ROWS.stored(rows)
    assert torch.equal(noisy, INT8_ROWS.stored(rows)[0])


@pytest.mark.parametrize("form", [BF16_ROWS, INT8_ROWS])
def test_attention_sees_what_is_stored(form: RowFormat) -> None:
    """Also of new rows; in f32 these as they are, behind the same cache."""
    before, keys, values = (torch.randn(1, 2, count, 4, generator=torch.Generator().manual_seed(count)) for count in (3, 2, 2))
    stored = (*form.stored(before), *form.stored(before))
    cache = CacheRows(form, stored)
    seen, _ = cache.update(keys, values)
    expected = torch.cat([form.widened(form.stored(rows)) for rows in (before, keys)], 2)
    assert torch.equal(seen, expected) and not torch.equal(seen[:, :, 3:], keys)
    with attention_in_f32():
        exact, _ = CacheRows(form, stored).update(keys, values)
    assert torch.equal(exact[:, :, :3], expected[:, :, :3]) and torch.equal(exact[:, :, 3:], keys)
    assert cache.rows is not None and torch.equal(cache.rows[0], form.stored(keys)[0])


def test_rows_of_bf16_are_those_of_pytorch() -> None:
    """What noise is measured on is not rounded yet, and attention sees the same then."""
    rows = torch.randn(1, 2, 3, 5, generator=torch.Generator().manual_seed(0))
    (stored,) = BF16_ROWS.stored(rows)
    assert torch.equal(stored, rows.to(torch.bfloat16)) and torch.equal(BF16_ROWS.widened((stored,)), stored.to(torch.float32))
    with rows_unrounded():
        cache = CacheRows(BF16_ROWS)
        seen, _ = cache.update(rows, rows)
    assert cache.rows is not None and torch.equal(cache.rows[1], rows) and torch.equal(seen, stored.to(torch.float32))


@pytest.mark.parametrize("name", [name for name in PRESETS if name.endswith("-tiny")])
def test_rows_do_not_depend_on_the_launch_that_appends_them(name: str) -> None:
    """Seven tokens in launches of 7, of 3 and of 1, one behind the other: the same cache, and the same hidden states."""
    preset = PRESETS[name]
    model = CausalModel(make_configuration(preset.model_type, preset.options, name), max_seq=9, seed=3, where=name)
    x = torch.randn(1, 7, model.configuration.hidden_size, generator=torch.Generator().manual_seed(4))
    found = [_behind_each_other(model, x, rows) for rows in (7, 3, 1)]
    for other in found[1:]:
        torch.testing.assert_close(other["y"], found[0]["y"], rtol=1e-5, atol=1e-5)
        for key in ("k_rows", "v_rows"):
            assert found[0][key].dtype == torch.int8 and torch.equal(other[key], found[0][key])
            torch.testing.assert_close(other[f"{key}_scales"], found[0][f"{key}_scales"], rtol=1e-5, atol=0)
    assert not torch.equal(found[0]["k_rows_scales"][:, :, 1:], found[0]["k_rows_scales"][:, :, :-1])


def _behind_each_other(model: CausalModel, x: torch.Tensor, rows: int) -> dict[str, torch.Tensor]:
    """All results of the layer, one launch of at most `rows` tokens behind the other."""
    results: list[dict[str, torch.Tensor]] = []
    caches: dict[str, torch.Tensor] = {}
    for position in range(0, x.shape[1], rows):
        count = min(rows, x.shape[1] - position)
        layer = model.cached_layer(0, count, 0, stored=INT8_ROWS)
        tables = model.tables(0).inputs_at(position, count, model.max_seq - count)
        inputs = layer.inputs | caches | {key: torch.from_numpy(value) for key, value in tables.items()}
        with torch.no_grad():
            found = layer.module(**(inputs | {"x": x[:, position : position + count]}))
        results.append(found)
        for key, part in ((f"{kind}_{part}", part) for kind in "kv" for part in ("cache", "cache_scales")):
            caches[key] = inputs[key].clone()
            caches[key][:, :, position : position + count] = found[key[:2] + part.replace("cache", "rows")]
    return {key: torch.cat([found[key] for found in results], 1 if key == "y" else 2) for key in results[0]}


def test_what_is_said_of_caches_is_said_once() -> None:
    assert read_quantisation("bits=4,kv=int8").kv == "int8" and read_quantisation("").kv == "f32"
    assert read_quantisation("bits=8,kv=bf16").kv == "bf16"
    for text in ("kv=int4", "mlp.kv=int8", "kv=int8,kv=f32"):
        with pytest.raises(CompileError, match="--quantize: '"):
            read_quantisation(text)


def test_formats_of_caches_are_named() -> None:
    with pytest.raises(CompileError, match=r"--quantize: 'kv=bf17'; accepted: kv=f32, kv=bf16, kv=int8$"):
        read_quantisation("kv=bf17")
    for kv in ("f32", "bf16"):
        with pytest.raises(CompileError, match=f"attention=int8 with kv={kv}; accepted: kv=int8 with it"):
            read_quantisation(f"kv={kv},attention=int8")


@pytest.mark.parametrize("options", [{}, {"stage": "head"}])
def test_without_a_cache_it_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(CompileError, match=r"gpt2-tiny: kv=int8, and there is no cache; accepted: a decoder layer behind a cache"):
        load_model("gpt2-tiny", quantize="bits=8,kv=int8", **options)  # pyright: ignore[reportArgumentType]
