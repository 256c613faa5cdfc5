"""Attention whose two products are of int8: what transformers calls in place of a model's own, and the arithmetic."""

from __future__ import annotations

from typing import Any

import torch
from transformers import PreTrainedConfig
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from stc.frontend.families.cached_layer import CacheRows
from stc.quantisation.rows import INT8_ROWS, Parts, is_in_f32

NAME = "stc_int8"
CLOSE = 1e-4
"""By how much of its largest entry a layer may differ from the model's own, both in f32: other orders of sums stay well below."""


def scores(query: torch.Tensor, keys: Parts) -> torch.Tensor:
    """[.., rows, positions]: products of query [.., rows, entries], f32, quantised row by row, and keys as they are stored."""
    integers, scales = INT8_ROWS.stored(query)
    return _products(integers, keys[0].transpose(2, 3)) * scales * keys[1].transpose(2, 3)


def weighted(found: torch.Tensor, values: Parts) -> torch.Tensor:
    """[.., rows, entries]: values as they are stored, each times its probability, by a softmax of `found` [.., rows, positions].

    Of the softmax only the exponentials are quantised, row by row; the scale of a value is a part of what it is multiplied with.
    Their sum divides the scale of a row last, not each position, and may be computed meanwhile.
    """
    exponentials = torch.exp(found - found.amax(dim=-1, keepdim=True))
    integers, scales = INT8_ROWS.stored(exponentials * values[1].transpose(2, 3))
    return _products(integers, values[0]) * (scales / exponentials.sum(dim=-1, keepdim=True))


def _products(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Exact in i32 (stc.quantisation.formats.LONGEST_GROUP)."""
    return torch.matmul(left.to(torch.int32), right.to(torch.int32)).to(torch.float32)


def attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """softmax(query key scaling + mask) value, [1, rows, heads, entries], by the integers of the cache that is in use; while
    `attention_in_f32` is active by `key` and `value` [1, heads, positions, entries] themselves."""
    groups = query.shape[1] // key.shape[1]
    factor = query.shape[-1] ** -0.5 if scaling is None else scaling

    def masked(products: torch.Tensor) -> torch.Tensor:
        scaled = products * factor
        return scaled if attention_mask is None else scaled + attention_mask

    if is_in_f32():
        found = masked(torch.matmul(query, _repeated(key, groups).transpose(2, 3)))
        result = torch.matmul(torch.nn.functional.softmax(found, dim=-1), _repeated(value, groups))
    else:
        keys, values = (tuple(_repeated(part, groups) for part in parts) for parts in CacheRows.in_use().all_rows)
        result = weighted(masked(scores(query, keys)), values)
    return result.transpose(1, 2).contiguous(), None


def _repeated(rows: torch.Tensor, groups: int) -> torch.Tensor:
    """[1, heads, ..] for `groups` heads of queries each."""
    if groups == 1:
        return rows
    heads, *rest = rows.shape[1:]
    return rows[:, :, None].expand(1, heads, groups, *rest).reshape(1, heads * groups, *rest)


def let_attend(module: torch.nn.Module) -> bool:
    """Let the attention of a layer, which has a configuration of its own, be `attend`; whether there is any that may be."""
    ALL_ATTENTION_FUNCTIONS.register(NAME, attend)
    configurations = {
        id(found): found for part in module.modules() if isinstance(found := getattr(part, "config", None), PreTrainedConfig)
    }
    for configuration in configurations.values():
        configuration._attn_implementation = NAME  # pyright: ignore[reportPrivateUsage]
    return bool(configurations)
