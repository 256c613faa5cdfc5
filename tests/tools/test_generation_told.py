"""What `stc generate` says of a generation, on lines of their own."""

from __future__ import annotations

from stc.tools.generate_command import LAUNCHES, told_of


def test_what_modelled_time_rests_on_has_a_line_each():
    origin = f"cycles estimated by FIFO sizing, without synthesis; {LAUNCHES}"
    seconds = {"seconds": {"origin": "executed on the C simulation"}, "modelled_seconds": {"origin": origin}}
    told = {"finish": "length", "near_ties": 0, "tokens_per_second": 12.34, "modelled_tokens_per_second": 5678.9, **seconds}
    assert [*told_of(told)] == [
        "ended: length; near-ties: 0",
        "12.3 tokens per second (executed on the C simulation, prompt included)",
        "on the card: 5679 tokens per second, modelled:",
        "  cycles estimated by FIFO sizing, without synthesis",
        "  interpolated between positions of the cache",
        "  launching as the platform says",
        "  without transfers between host and card",
    ]
    assert "on the card: not known, modelled:" in [*told_of({**told, "modelled_tokens_per_second": None})]
