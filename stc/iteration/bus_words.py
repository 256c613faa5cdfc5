"""How the distinct tokens of a stream order lie in bus words of external memory."""

from __future__ import annotations

from math import gcd

from stc.iteration.normal_form import same_sequence
from stc.iteration.order import StreamOrder
from stc.iteration.size import is_static, static
from stc.iteration.vectorize import vectorized


def power_of_two(entries: int) -> int:
    """The least power of two that is at least `entries`."""
    return 1 << (entries - 1).bit_length()


def slot(entries: int, lanes: int) -> int | None:
    """Entries that one token of `entries` takes in words of `lanes`, padding included; None where they do not fit together.

    Without padding where one divides the other: a token is several whole words, or a word several whole tokens. Else the next
    power of two (7 lanes are stored as 8), if a word is one or several of those.
    """
    if entries % lanes == 0 or lanes % entries == 0:
        return entries
    padded = power_of_two(entries)
    return padded if lanes % padded == 0 else None


def packed_words(order: StreamOrder, lanes: int) -> int | None:
    """Words of `lanes` scalars that hold the distinct tokens of `order`, None where tokens and words do not fit together.

    What is missing of the last word is padding.
    """
    entries = slot(order.element_count, lanes)
    return None if entries is None else -(-order.distinct_token_count * entries // lanes)


def word_lanes(order: StreamOrder, most: int) -> int:
    """Lanes of the widest word, a power of two of at most `most` lanes, that holds one token of `order` or several.

    Words hold consecutive tokens of the innermost loops that are no reuse loops, however many loops those are; a word never
    straddles a reuse loop, since its tokens are sent again in another company then. A token wider than `most` is one word.
    """
    lanes, run = power_of_two(order.element_count), innermost_run(order)
    while lanes * 2 <= most and run % 2 == 0:
        lanes, run = lanes * 2, run // 2
    return lanes


def innermost_run(order: StreamOrder) -> int:
    """Tokens that the innermost loops make before a reuse loop, or one of a run-time size, begins or all is over."""
    run = 1
    for loop, dimension in zip(reversed(order.loops), reversed(order.dimension_of_loop), strict=True):
        if (dimension is None and loop.trip != 1) or not is_static(loop.trip):
            break
        run *= static(loop.trip)
    return run


def filled(order: StreamOrder, lanes: int) -> float:
    """The part of the words' lanes that carries entries of the tensor, the rest being padding; ValueError as no word fits."""
    words = packed_words(order, lanes)
    if words is None:
        raise ValueError(f"tokens of {order.element_count} entries do not fit words of {lanes} lanes")
    return order.distinct_token_count * order.element_count / (words * lanes)


# Two orders over one buffer -----------------------------------------------------------------------------------------------


def in_one_width(first: StreamOrder, second: StreamOrder) -> tuple[StreamOrder, StreamOrder]:
    """The distinct tokens of both orders, cut into vectors of one width that both last extents are multiples of."""
    first, second = first.without_reuse(), second.without_reuse()
    if first.element == second.element or first.rank != second.rank or not first.rank:
        return first, second
    width = gcd(first.element[-1], second.element[-1])
    return vectorized(first, width), vectorized(second, width)


def same_entries(first: StreamOrder, second: StreamOrder) -> bool:
    """Whether the distinct tokens of both, one after the other, are the same entries in the same order."""
    first, second = in_one_width(first, second)
    return first.element == second.element and same_sequence(first, second)


def fits(order: StreamOrder, lanes: int) -> bool:
    """Whether a DMA can move the tokens of `order` in words of `lanes`: whole tokens, and none across a reuse loop."""
    entries = slot(order.element_count, lanes)
    return entries is not None and entries <= lanes and innermost_run(order) % (lanes // entries) == 0


def common_word(first: StreamOrder, second: StreamOrder, most: int) -> int | None:
    """Lanes, at most `most`, of the widest words in which both orders lay the same entries at the same places; None if in none."""
    if not same_entries(first, second):
        return None
    lanes = most
    while lanes:
        slots = [slot(order.element_count, lanes) for order in (first, second)]
        is_padded = slots != [first.element_count, second.element_count]
        alike = not is_padded or (first.element_count == second.element_count and slots[0] == slots[1])
        if alike and fits(first, lanes) and fits(second, lanes):
            return lanes
        lanes //= 2
    return None
