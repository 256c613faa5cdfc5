"""Which parameters share a memory port."""

from __future__ import annotations

import pytest

from stc.design_space.shared_ports import Packed, narrow_word, shared_ports
from stc.platforms.adapters import ADAPTER_BRAM18

PORTS = 32
LARGE = 1 << 30
WORD = 512


def groups(sizes: dict[str, int], total: int = LARGE) -> list[list[str]]:
    return shared_ports({name: Packed(size, WORD) for name, size in sizes.items()}, total, PORTS)


def test_small_ones_share_in_the_order_given() -> None:
    assert groups({"c": 3072, "a": 64, "b": 1}) == [["c", "a", "b"]]


def test_nobody_shares_with_nobody() -> None:
    assert groups({}) == []
    assert groups({"a": 64}) == []
    assert groups({"a": 64, "weight": 1 << 24}) == []


def test_an_array_dearer_than_the_adapter_has_a_port_of_its_own() -> None:
    """1,024 words of 512 bits are 29 blocks of 18 kbit, each 18 bits wide; an adapter takes 30."""
    assert ADAPTER_BRAM18[WORD] == 30
    fits = 64 * 1024
    assert groups({"a": fits, "b": fits}) == [["a", "b"]]
    assert groups({"a": fits, "b": fits + 64}) == []


def test_an_adapter_of_narrow_words_is_cheap() -> None:
    """2 blocks for 32 bits, as many as an array of 1,024 entries."""
    assert shared_ports({"a": Packed(2048, 32), "b": Packed(2048, 32)}, LARGE, PORTS) == [["a", "b"]]
    assert shared_ports({"a": Packed(4096, 32), "b": Packed(4096, 32)}, LARGE, PORTS) == []


def test_together_no_more_than_a_port_moves_anyway() -> None:
    share = 1000
    sizes = {"a": 600, "b": 300, "c": 100, "d": 1}
    assert groups(sizes, share * PORTS) == [["b", "c", "d"]]
    assert groups({"a": 600, "b": 400}, share * PORTS) == [["a", "b"]]
    assert groups(sizes, 0) == []


def test_words_of_one_type_share() -> None:
    packed = {"a": Packed(64, 512), "b": Packed(64, 32), "c": Packed(128, 512), "d": Packed(64, 32), "e": Packed(64, 256)}
    assert shared_ports(packed, LARGE, PORTS) == [["a", "c"], ["b", "d"]]
    assert shared_ports({**packed, "f": Packed(64, 256, "i16")}, LARGE, PORTS) == [["a", "c"], ["b", "d"]]


def test_what_a_launch_begins_with_is_waited_for() -> None:
    """It costs a port's latency as well; parameters behind it lose nothing by what does not fit."""
    packed = {"x": Packed(64, WORD, is_awaited=True), "a": Packed(1000, WORD), "b": Packed(2000, WORD)}
    assert shared_ports(packed, 3000 * PORTS, PORTS) == [["a", "b"]]
    assert shared_ports(packed, (3000 + packed["x"].part) * PORTS, PORTS) == [["x", "a", "b"]]


NARROWED = [(1, 0, 512), (64, 256, 128), (64, 255, 256), (64, 128, 256), (64, 127, 512)]


@pytest.mark.parametrize(("size", "available", "bits"), NARROWED)
def test_words_are_as_narrow_as_the_time_of_a_port_lets_them_be(size: int, available: int, bits: int) -> None:
    """A word of 128 bits takes the time of one of 512: 64 bytes take as long as 256."""
    assert narrow_word(size, available) == bits


def test_words_are_no_wider_than_a_port() -> None:
    assert narrow_word(64, 0, widest=64) == 64
