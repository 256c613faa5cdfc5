"""Generation with launches of several steps: the tokens of launches of one, whatever is drawn, to the end of the caches."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stc.diagnostics import CompileError
from stc.manifest.model_schema import (
    DECODE,
    MODEL_VERSION,
    CheckedFile,
    LaunchCycles,
    LayerKind,
    ModelLayer,
    ModelManifest,
    StageProject,
    Table,
)
from stc.manifest.schema import SCHEMA_VERSION, Manifest
from stc.runtime.accelerator import Accelerator
from stc.runtime.language_model import CACHE_FULL, END_OF_TEXT, LENGTH, Generation, LanguageModel
from stc.runtime.sampling import Sampling, margin

MAX_SEQ, VOCABULARY, TOLERANCE = 24, 7, 0.05
FILE = CheckedFile("", 0, "")
POSITIONS = np.arange(MAX_SEQ, dtype=np.float32)[:, None]
"""A row of one entry for each position."""


def logits_behind(text: Collection[int]) -> np.ndarray:
    """Any numbers, which all tokens decide about."""
    return np.random.default_rng([len(text), *text]).normal(size=VOCABULARY).astype(np.float32)


class Kernel(Accelerator):
    """Computes the steps of a launch on a cache with a token in each row; it sees nothing else of the text."""

    def __init__(self, steps: int):
        self._steps = steps
        self.manifest = Manifest(SCHEMA_VERSION, "", "u55c", (), (), (), 0.0, {}, {}, {})
        self.begins: list[int] = []
        self.given: list[list[int]] = []

    def allocated(self, name: str, *, cleared: bool = False) -> Any:
        return {name: np.full(MAX_SEQ, -5)}

    def __call__(
        self, inputs: Mapping[str, np.ndarray], buffers: Mapping[str, Any] | None = None, resident: Collection[str] = ()
    ) -> dict[str, np.ndarray]:
        assert buffers is not None and list(resident) == ["cache"]
        cache, begin = buffers["cache"], int(inputs["pos"])
        assert 0 <= begin <= MAX_SEQ - self._steps, "all rows are in the cache"
        asked = inputs["tokens"].tolist() if self._steps > 1 else [int(inputs["x"][0, 0, 0])]
        self.begins.append(begin)
        self.given.append(asked)
        np.testing.assert_array_equal(inputs["angle"].reshape(-1), begin + np.arange(self._steps))
        token, tokens, logits = 0, list[int](), list[np.ndarray]()
        for at, known in enumerate(asked, begin):
            cache[at] = token if known < 0 else known
            text = cache[: at + 1].tolist()
            assert min(text) >= 0, "what is read was written"
            found = logits_behind(text)
            logits.append(np.append(found, found[0]))  # filled up with the first token, which the kernel may find there
            token = int(VOCABULARY - np.argmax(logits[-1][::-1]))
            tokens.append(token)
            token %= VOCABULARY
        shape = (self._steps, 1, 1) if self._steps > 1 else (1, 1)
        return {"y": np.zeros((1, 1, 1)), "token": np.array(tokens).reshape(shape), "logits": np.stack(logits)[:, None]}


class Model(LanguageModel):
    """One launch of all layers and the head, without anything in a file."""

    def __init__(self, steps: int, end_tokens: tuple[int, ...] = ()):
        cycles = (LaunchCycles(0, 1000), LaunchCycles(MAX_SEQ - 1, 1000 + 10 * (MAX_SEQ - 1)))
        stage = StageProject("model", 1, FILE, cycles, "", steps=steps)
        kind = LayerKind({"cache": None}, (), Table((), FILE), {}, {DECODE: stage})  # pyright: ignore[reportArgumentType]
        self.folder = Path()
        self.manifest = ModelManifest(
            MODEL_VERSION, "stub", {}, MAX_SEQ, 1, VOCABULARY, {"a": kind}, (ModelLayer("a", FILE),), 1, None,
            Table((VOCABULARY, 1), FILE), None, None, end_tokens, TOLERANCE, 200.0, 50.0,
        )
        self.kernel = Kernel(steps)
        self._accelerators = {"model": self.kernel}
        self._parameters = [{DECODE: {}}]
        self._tokens = np.arange(VOCABULARY, dtype=np.float32)[:, None]
        self._positions = None
        self._rows = {"a": {"angle": POSITIONS}}


def ends(prompt: list[int], count: int, sample: Sampling | None, end_tokens: tuple[int, ...]) -> tuple[list[int], str, int]:
    """The tokens, why it ended, and near-ties, of a text that is looked at anew for each token."""
    random = np.random.default_rng(None if sample is None else sample.seed)
    text, made, near = list(prompt), list[int](), 0
    while True:
        logits = logits_behind(text)
        token = int(np.argmax(logits)) if sample is None else sample.token(logits, random)
        made.append(token)
        near += margin(logits) < TOLERANCE
        for is_end, why in ((len(made) == count, LENGTH), (token in end_tokens, END_OF_TEXT), (len(text) == MAX_SEQ, CACHE_FULL)):
            if is_end:
                return made, why, near
        text.append(token)


def generated(steps: int, prompt: list[int], count: int, sample: Sampling | None = None) -> tuple[Generation, list[int], Kernel]:
    model = Model(steps)
    generation = model.generate(prompt, count, sample)
    return generation, list(generation), model.kernel


PROMPTS = [[3], [1, 2, 0, 6], [5] * 9, [6, 1, 4] * 7, [2, 0, 1, 5] * 6]
"""The last one fills the caches."""


@pytest.mark.parametrize("sample", [None, Sampling(0.01, 0.9, 3), Sampling(1.0, 1.0, 1), Sampling(5.0, 1.0, 2)])
@pytest.mark.parametrize("steps", [1, 2, 3, 4, MAX_SEQ])
def test_tokens_do_not_depend_on_the_steps_of_a_launch(steps: int, sample: Sampling | None) -> None:
    for prompt in PROMPTS:
        for count in (1, 2, 5, 2 * MAX_SEQ):
            generation, tokens, _ = generated(steps, prompt, count, sample)
            assert (tokens, generation.finish, generation.near_ties) == ends(prompt, count, sample, ())
            assert generation.logits is not None
            np.testing.assert_array_equal(generation.logits, logits_behind([*prompt, *tokens[:-1]]))


@pytest.mark.parametrize("steps", [1, 4])
def test_a_full_cache_and_the_end_of_a_text(steps: int) -> None:
    reasons = set[str | None]()
    for first in range(VOCABULARY):
        for end_tokens in ((), (2, 5)):
            generation = Model(steps, end_tokens).generate([first], 3 * MAX_SEQ)
            tokens = list(generation)
            assert (tokens, generation.finish, generation.near_ties) == ends([first], 3 * MAX_SEQ, None, end_tokens)
            assert generation.finish != CACHE_FULL or len(tokens) == MAX_SEQ
            assert next(generation, None) is None
            reasons.add(generation.finish)
    assert reasons == {CACHE_FULL, END_OF_TEXT}
    assert Model(steps, (2, 5)).generate([0], 9, ends=False).end_tokens == frozenset()


def test_greedy_launches_go_on_where_the_one_before_ended() -> None:
    generation, tokens, kernel = generated(4, [3], 12)
    assert kernel.begins == [0, 4, 8]
    assert kernel.given == [[3, -1, -1, -1], [tokens[3], -1, -1, -1], [tokens[7], -1, -1, -1]]
    assert generation.launches == {"model": 3} and generated(1, [3], 12)[0].launches == {"model": 12}


def test_a_prompt_is_taken_so_many_tokens_at_a_time() -> None:
    prompt = [1, 2, 3, 4, 5, 6]
    _, tokens, kernel = generated(4, prompt, 3)
    assert kernel.begins == [0, 4] and kernel.given == [[1, 2, 3, 4], [5, 6, -1, -1]]
    assert len(generated(4, prompt, 4)[2].begins) == 3, "the last launch found three"
    assert generated(4, prompt[:4], 1)[2].given == [[1, 2, 3, 4]]
    assert tokens == ends(prompt, 3, None, ())[0]


def test_another_token_than_what_was_found_throws_away_what_is_ahead() -> None:
    """The next launch begins with it, right behind the text; where it is the same nothing is launched."""
    sample, prompt = Sampling(1.5, 1.0, 7), [3]
    _, tokens, kernel = generated(4, prompt, 16, sample)
    text, rows, ahead, begins = list(prompt), 0, 0, list[int]()
    for token in tokens:
        if ahead == 0:
            begins.append(rows)
            rows, ahead = rows + 4, rows + 4 - (len(text) - 1)
        ahead -= 1
        if token != int(np.argmax(logits_behind(text))):
            ahead, rows = 0, len(text)
        text.append(token)
    assert kernel.begins == begins
    assert all(given == [text[begin], -1, -1, -1] for begin, given in zip(begins, kernel.given, strict=True))
    steps = np.diff(begins)
    assert 1 in steps and steps.max() > 1, "some were thrown away, some were not"


@pytest.mark.parametrize("before", range(5))
def test_near_the_end_of_the_caches_a_launch_begins_before(before: int) -> None:
    """It is given again what is there."""
    prompt = [number % VOCABULARY for number in range(MAX_SEQ - before)]
    generation, tokens, kernel = generated(4, prompt, 9)
    assert (tokens, generation.finish) == ends(prompt, 9, None, ())[:2]
    assert kernel.begins[-1] == MAX_SEQ - 4 and generation.finish == CACHE_FULL
    unaligned, _, moved = generated(4, [3], 3 * MAX_SEQ, Sampling(3.0, 1.0, 4))
    assert unaligned.finish == CACHE_FULL and moved.begins[-1] == MAX_SEQ - 4
    assert any(-1 not in given[:2] for given in moved.given), "what was there was given"


def test_launches_that_fail_say_so() -> None:
    for tokens, complaint in (([], "0 tokens"), ([0] * (MAX_SEQ + 1), "25 tokens"), ([VOCABULARY], "token 7")):
        with pytest.raises(CompileError, match=complaint):
            Model(4).generate(tokens, 1)


def test_modelled_time_is_that_of_each_step_at_its_position() -> None:
    for steps in (1, 4):
        generation, _, _ = generated(steps, [3], 8)
        cycles = sum(1000 + 10 * position for position in range(8))
        seconds = (cycles / 200 + 8 / steps * 50) / 1e6
        assert generation.model.modelled_seconds(generation.launched) == pytest.approx(seconds)
