"""What random tests draw: in `make test` few programs, always the same; in `make fuzz` many times as many, anew for each seed.

`STC_FUZZ_SEED` says that it is fuzzing, and with which seed; the examples of hypothesis follow `--hypothesis-seed`.
"""

from __future__ import annotations

import os

from hypothesis import settings

SEED = os.environ.get("STC_FUZZ_SEED")
MORE = 20
"""How many times as much is drawn when fuzzing."""
_APART = 1_000_000


def seeds(count: int, first: int = 0) -> range:
    """`count` seeds from `first` on, or, when fuzzing, MORE times as many of other ones."""
    if SEED is None:
        return range(first, first + count)
    begin = (int(SEED) + 1) * _APART + first * MORE
    return range(begin, begin + MORE * count)


def examples(count: int) -> settings:
    """For a test of hypothesis: `count` examples, or, when fuzzing, MORE times as many of other ones."""
    is_fuzzing = SEED is not None
    return settings(max_examples=count * (MORE if is_fuzzing else 1), deadline=None, derandomize=not is_fuzzing)
