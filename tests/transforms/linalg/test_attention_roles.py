"""Q, K, V, scores and context are found around a softmax, and nowhere else."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.functional import softmax
from xdsl.dialects import tensor
from xdsl.dialects.linalg.ops import GenericOp

from stc.dialects.context import make_context
from stc.frontend.export import export
from stc.transforms import all_passes
from stc.transforms.linalg import LINALG_STAGE
from stc.transforms.pass_pipeline import read_pipeline

pytestmark = pytest.mark.heavy


class Attention(nn.Module):
    """One head on rows of 6; `order`: which of Q, K, V each third of the projection is."""

    def __init__(self, order: str, is_attention: bool = True):
        super().__init__()
        self.qkv, self.order, self.is_attention = nn.Linear(5, 18), order, is_attention

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        part = dict(zip(self.order, self.qkv(x).split(6, dim=-1), strict=True))
        scores = part["q"] @ part["k"].transpose(0, 1)
        return (softmax(scores, dim=-1) if self.is_attention else scores.relu()) @ part["v"]


def names(module: nn.Module) -> list[str]:
    found = export(module.eval(), [torch.randn(7, 5)]).module
    for one in read_pipeline(",".join(LINALG_STAGE), all_passes()):
        one.apply(make_context(), found)
    named = [op for op in found.walk() if isinstance(op, GenericOp | tensor.ExtractSliceOp)]
    return [op.attributes["stc.name"].data for op in named]  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("order", ["qkv", "vkq", "kqv"])
def test_slices_are_called_by_what_they_are_for(order: str) -> None:
    found = names(Attention(order))
    assert [name for name in found if len(name) == 1] == list(order)
    assert found.index("scores") < found.index("exp") < found.index("context")


def test_two_products_alone_are_no_attention() -> None:
    found = names(Attention("qkv", is_attention=False))
    assert {"qkv_slice0", "qkv_slice1", "qkv_slice2", "matmul0", "matmul1"} <= set(found)
