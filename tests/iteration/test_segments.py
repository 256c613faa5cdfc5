"""Segments: the parts of a stream that accesses of one port take one after the other."""

import pytest

from stc.iteration.segments import Segment, complaint_about_cover
from stc.iteration.size import Size, Symbol, sum_of

POS = Symbol("pos", 7)


def test_segments_in_turn_cover_a_stream():
    assert complaint_about_cover([Segment(0, 4), Segment(4, 0), Segment(4, 3)], 7) is None
    assert complaint_about_cover([Segment(0, POS), Segment(POS, 1)], sum_of(POS, 1)) is None


@pytest.mark.parametrize(
    ("segments", "tokens", "complaint"),
    [
        ([(0, 4), (5, 2)], 7, "segment 1 begins at token 5, expected 4, where segment 0 ends"),
        ([(1, 6)], 7, "segment 0 begins at token 1, expected 0, where the stream begins"),
        ([(0, 4), (4, 2)], 7, "the last ends at token 6, expected 7, all tokens of the stream"),
        ([(0, POS), (POS, 1)], 8, "the last ends at token sum(pos<=7, 1), expected 8, all tokens of the stream"),
        ([(0, POS), (7, 1)], 8, "segment 1 begins at token 7, expected pos<=7, where segment 0 ends"),
    ],
)
def test_others_are_told_where_they_do_not_meet(segments: list[tuple[Size, Size]], tokens: Size, complaint: str):
    assert complaint_about_cover([Segment(*each) for each in segments], tokens) == complaint


def test_a_segment_of_tokens_cut_in_pieces():
    assert Segment(3, 2).scaled(4) == Segment(12, 8)


def test_a_segment_begins_in_the_stream():
    with pytest.raises(ValueError, match="first token -1, which may be -1, expected at least 0"):
        Segment(-1, 2)
