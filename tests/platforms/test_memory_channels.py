"""Channels of external memory: which buffer lies where, who shares one, and how fast words then come."""

from __future__ import annotations

import pytest

from stc.platforms.memory_channels import channels_in_turn, cycles_per_word, padded_bytes, shared_channels


def test_buffers_lie_in_channels_in_turn() -> None:
    """A buffer that is named again stays where it is, and takes no turn."""
    assert channels_in_turn("abacbd", 3) == {"a": 0, "b": 1, "c": 2, "d": 0}
    assert channels_in_turn("ab", 1) == {"a": 0, "b": 0}
    assert channels_in_turn((), 3) == {}


def test_buffers_of_one_port_lie_in_one_channel() -> None:
    """Also where they meet over a port of another kernel."""
    assert channels_in_turn("abcd", 8, of_ports=["bd"]) == {"a": 0, "b": 1, "c": 2, "d": 1}
    assert channels_in_turn("abcde", 2, of_ports=["ac", "ec", "b"]) == {"a": 0, "b": 1, "c": 0, "d": 0, "e": 0}
    assert channels_in_turn("abc", 8, updated="c", of_ports=["ac"]) == {"c": 0, "a": 0, "b": 1}
    assert channels_in_turn("abcd", 8, updated="c", last="ab") == {"c": 0, "d": 1, "a": 2, "b": 3}
    assert channels_in_turn("abcd", 8, of_ports=["ad"], last="a") == {"b": 0, "c": 1, "d": 2, "a": 2}


def test_ports_of_one_channel_share_it() -> None:
    assert shared_channels([(0, "a"), (1, "b"), (0, "c"), (2, "d"), (0, "e")]) == {0}
    assert shared_channels([]) == frozenset()


def test_pointers_of_one_port_and_direction_share_nothing() -> None:
    assert shared_channels([(0, "a"), (0, "a"), (1, "b")]) == frozenset()
    assert shared_channels([(0, ("a", "read")), (0, ("a", "write")), (1, "b")]) == {0}


@pytest.mark.parametrize(("size", "padded"), [(1, 64), (63, 64), (64, 64), (65, 128), (130, 192)])
def test_buffers_are_padded(size: int, padded: int) -> None:
    assert padded_bytes(size) == padded


@pytest.mark.parametrize(
    ("word_bytes", "cycles"), [(64, 1.6), (4, 1.0), (40, 1.0), (128 / 3, 1.066667)]
)
def test_words_of_a_channel_of_40_bytes_per_cycle(word_bytes: float, cycles: float) -> None:
    assert cycles_per_word(word_bytes, 40.0) == cycles
