"""Caches lie alike for all stages of a layer, whatever the kernels that append to them and read them."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import TensorType, VectorType

from stc.analysis.integer_products import is_of_a_pair
from stc.dialects.context import make_context
from stc.dialects.dataflow import PackOp
from stc.dialects.updates import through_prefixes
from stc.frontend.families.cached_layer import cache_names
from stc.frontend.sources import load_model
from stc.iteration.layout_orders import row_major
from stc.iteration.order import StreamOrder
from stc.manifest.layouts import differing, order_of
from stc.manifest.model_schema import LAYOUT_VERSION, BufferLayout
from stc.pipeline import part, run_stages, stages, steps
from stc.quantisation.rows import ROW_FORMATS
from stc.tools.plan import as_stages
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy
QWEN = "qwen2.5-0.5b-tiny"
ROWS = {"decode": 1, "prefill": 4}


def caches(stage: str, quantize: str, model: str = QWEN, **chosen: str) -> tuple[dict[str, tuple[Any, Any]], int]:
    """By cache, the order in which it lies in memory, and its words; how many contractions are packed in pairs."""
    rows = ROWS[stage]
    made = load_model(
        model, stage=stage, seq=rows, max_seq=16, run_time_sizes=True, check_inputs=("example",), quantize=quantize
    )
    options = small_options(**{"kernel_name": "k", "rows": rows, "quantize": quantize, **chosen})
    to_memory = part(steps(stages(options)), last="pack-interfaces")
    run_stages(made.module, make_context(), as_stages(to_memory))
    packs = [op for op in made.module.walk() if isinstance(op, PackOp)]
    found = {through_prefixes(op.source).name_hint or "": (op.layout.order.without_reuse(), op.result.type) for op in packs}
    packed = sum(isinstance(op, arith.MuliOp) and is_of_a_pair(op) for op in made.module.walk())
    return {name: layout for name, layout in found.items() if "cache" in name}, packed


def test_groups_shorter_than_a_head_move_no_cache():
    """Prefill makes the heads of new rows one by one, decode several at once, where groups of weights cut the rows."""
    quantize = "bits=4,group=8,kv=int8"
    (of_decode, _), (of_prefill, _) = caches("decode", quantize), caches("prefill", quantize)
    assert of_decode.keys() == set(cache_names(ROW_FORMATS["int8"]))
    assert of_decode == of_prefill
    assert of_decode["k_cache"][0] == row_major([2, 16, 6], [1, 1, 6])


@pytest.mark.parametrize("quantize", ["bits=4,group=row", "bits=4,group=row,kv=int8,attention=int8"])
def test_pairs_move_no_cache(quantize: str):
    """All seven linear layers of both stages are packed in pairs, those too whose rows a cache takes."""
    of_decode, of_prefill = caches("decode", quantize), caches("prefill", quantize)
    assert of_decode == of_prefill and of_decode[1] == 7


@pytest.mark.parametrize("quantize", ["", "bits=8,kv=int8,attention=int8"])
def test_lanes_that_a_search_chose_move_no_cache(quantize: str):
    """Attention has other lanes in each stage, and within each budget; a word of a cache is a row of it."""
    found = [caches(stage, quantize, budget=budget)[0] for stage in ROWS for budget in ("plan", "dsp=700", "small")]
    assert found[0] and all(other == found[0] for other in found)


def test_words_that_a_search_chose_move_no_cache():
    """A head of 16: a search that has the multipliers splits its sums, and reads keys 4 at once, where others read 16."""
    chosen = [("decode", "plan/3"), ("decode", "small"), ("prefill", "small")]
    found = [caches(stage, "", "gpt2-tiny", budget=budget)[0]["k_cache"] for stage, budget in chosen]
    assert len({str(words) for _, words in found}) > 1, "there is nothing to see here"
    first, *others = [_layout(order, words) for order, words in found]
    assert all(not differing(first, other) for other in others)


def _layout(order: StreamOrder, words: TensorType[VectorType[Any]]) -> BufferLayout:
    vector, (count,) = words.get_element_type(), words.get_shape()
    (lanes,) = vector.get_shape()
    return BufferLayout(LAYOUT_VERSION, (), str(vector.get_element_type()), lanes, count * lanes, None, order_of(order))
