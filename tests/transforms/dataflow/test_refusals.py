"""Options that no pass can work with; what is wrong with the IR itself is refused in filecheck_tests/transforms."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.transforms import all_passes
from stc.transforms.pass_pipeline import read_pipeline


@pytest.mark.parametrize(
    ("passes", "message"),
    [
        ("default-tile-size{size=0}", "default-tile-size: size is 0; accepted: a tile size of at least 1"),
        ("propagate-orders{columns=0}", "propagate-orders: columns is 0; accepted: at least 1"),
        ("propagate-orders{rows=0}", "propagate-orders: rows is 0; accepted: at least 1"),
        ("propagate-orders{lanes=0}", "propagate-orders: lanes is 0; accepted: at least 1"),
        ("vectorize-streams{lanes=0}", "vectorize-streams: lanes is 0; accepted: at least 1 lane"),
        ("pack-interfaces{port-bits=4}", "pack-interfaces: port_bits is 4; accepted: a power of two of at least 8"),
        ("cancel-packs{on-chip=-1}", "cancel-packs: on-chip is -1; accepted: 0, or a number of bytes"),
        ('set-fifo-depths{rule="guess"}', "set-fifo-depths: rule is 'guess'; accepted: run, tokens"),
        ("pack-interfaces{port-bits=24}", "pack-interfaces: port_bits is 24; accepted: a power of two of at least 8"),
    ],
)
def test_option_is_refused(passes: str, message: str) -> None:
    (one,) = read_pipeline(passes, all_passes())
    with pytest.raises(CompileError) as refusal:
        one.apply(make_context(), ModuleOp([]))
    assert str(refusal.value) == message
