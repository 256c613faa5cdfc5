"""`repeat-steps`: what one launch computes is what launches of one step compute one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

from stc.analysis.steps import complaints_about_steps, one_step
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.parsing import parse_module
from stc.dialects.stream import ReadOp
from stc.execution.run import execute
from stc.transforms.stream.repeat_steps import RepeatSteps

PROGRAMS = Path(__file__).parents[3] / "filecheck_tests" / "transforms" / "stream"
CACHED = (PROGRAMS / "repeat_steps.mlir").read_text()
POSITIONED = (PROGRAMS / "repeat_steps_positions.mlir").read_text()
ROWS, VOCABULARY = 8, 4


def repeated(text: str, count: int, vocabulary: int = 0, positions: int = 0) -> ModuleOp:
    """The module of `text` after the pass, which still verifies, and is what it prints."""
    module = parse_module(text)
    RepeatSteps(count, vocabulary=vocabulary, positions=positions).apply(make_context(), module)
    module.verify()
    assert str(parse_module(str(module))) == str(module)
    return module


def drawn(seed: int, scale: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A table, a row for each position, and a cache."""
    random = np.random.default_rng(seed)
    sizes = ((VOCABULARY, 4), (ROWS, 4), (ROWS, 4))
    table, gains, cache = ((scale * random.normal(size=size)).astype(np.float32) for size in sizes)
    return table, gains, cache


def one_by_one(tokens: list[int], begin: int, table: np.ndarray, gains: np.ndarray, cache: np.ndarray) -> list[np.ndarray]:
    """Launches of one step, each behind the one before: the tokens, the logits, and the cache of the last."""
    module, found, chosen, logits = parse_module(CACHED), 0, list[np.ndarray](), list[np.ndarray]()
    for step, asked in enumerate(tokens):
        number = min(found if asked < 0 else asked, VOCABULARY - 1)
        token, row, cache = execute(module, [table[number], gains[begin + step], cache, np.asarray(begin + step, np.int32)])
        found = int(token[0])
        chosen.append(token)
        logits.append(row)
    return [np.stack(chosen), np.stack(logits), cache]


def launched(tokens: list[int], begin: int, table: np.ndarray, gains: np.ndarray, cache: np.ndarray) -> list[np.ndarray]:
    """What a launch takes."""
    return [np.array(tokens), table, gains[begin : begin + len(tokens)], cache, np.asarray(begin, np.int32)]


GIVEN = {
    1: [[2], [-1], [9]],
    2: [[1, -1], [-1, -1], [3, 0]],
    3: [[2, -1, -1], [0, 3, -1], [1, -1, 2]],
    4: [[3, -1, -1, -1], [0, 1, 2, 3], [-1, 9, -1, 1]],
}
"""Tokens of launches of so many steps: the first, all, some; one that the table does not have."""


@pytest.mark.parametrize("depths", [False, True])
@pytest.mark.parametrize("scale", [0.0, 1e-30, 1.0, 1e38])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_steps_one_after_the_other(count: int, scale: float, depths: bool) -> None:
    """The caches are handed on from launch to launch, until they are full."""
    module = repeated(CACHED, count=count)
    table, gains, cache = drawn(count, scale)
    for first in (0, 1):
        own = cache
        for number, begin in enumerate(range(first, ROWS - count + 1, count)):
            tokens = GIVEN[count][number % 3]
            expected = one_by_one(tokens, begin, table, gains, own)
            found = execute(module, launched(tokens, begin, table, gains, own), depths=depths)
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)
            own = found[2]
        last = ROWS - count
        for tokens in GIVEN[count]:
            found = execute(module, launched(tokens, last, table, gains, own), depths=depths)
            for one, other in zip(found, one_by_one(tokens, last, table, gains, own), strict=True):
                np.testing.assert_array_equal(one, other)


def test_what_is_compared_differs() -> None:
    """Other tokens, and other launches, are told apart by what the test before compares."""
    table, gains, cache = drawn(3, 1.0)
    found = [one_by_one(tokens, begin, table, gains, cache)[1] for begin in (0, 4) for tokens in GIVEN[4]]
    assert all(not np.array_equal(one, other) for number, one in enumerate(found) for other in found[:number])
    chosen = one_by_one(GIVEN[4][0], 0, table, gains, cache)[0]
    assert len(set(chosen.reshape(-1).tolist())) > 1


def test_one_step_is_as_it_was() -> None:
    assert str(repeated(CACHED, count=1)) == str(parse_module(CACHED))


def test_launches_as_long_as_the_cache() -> None:
    module = repeated(CACHED, count=ROWS)
    table, gains, cache = drawn(0, 1.0)
    tokens = [2, *[-1] * (ROWS - 1)]
    for one, other in zip(execute(module, launched(tokens, 0, table, gains, np.full_like(cache, np.nan)), depths=True),
                          one_by_one(tokens, 0, table, gains, cache), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_row_of_the_position_is_added() -> None:
    random = np.random.default_rng(1)
    table, positions = (random.normal(size=(rows, 8)).astype(np.float32) for rows in (6, 9))
    one, module = parse_module(POSITIONED), repeated(POSITIONED, count=3, vocabulary=6, positions=9)
    for begin in range(7):
        for tokens in ([4, -1, -1], [-1, 2, -1], [5, 0, 3]):
            number, expected = 0, list[np.ndarray]()
            for step, asked in enumerate(tokens):
                number = number if asked < 0 else asked
                (token,) = execute(one, [table[number] + positions[begin + step], np.asarray(begin + step, np.int32)])
                number = int(token[0])
                expected.append(token)
            inputs = [np.array(tokens), table, positions, np.asarray(begin, np.int32)]
            (found,) = execute(module, inputs, depths=True)
            np.testing.assert_array_equal(found, np.stack(expected))


def test_the_first_step_alone() -> None:
    module = repeated(CACHED, count=4)
    table, gains, cache = drawn(5, 1.0)
    alone = one_step(module)
    alone.verify()
    assert [kernel.steps for kernel in alone.walk() if isinstance(kernel, KernelOp)] == [1]
    assert [kernel.steps for kernel in module.walk() if isinstance(kernel, KernelOp)] == [4], "a copy"
    for begin, tokens in ((0, [2, -1, -1, -1]), (4, [-1, 0, 1, 2]), (7, [3, 1, -1, -1])):
        given = np.concatenate([gains, np.zeros((4, 4), np.float32)])
        token, logits, written = execute(alone, launched(tokens, begin, table, given, cache), depths=True)
        expected = one_by_one(tokens[:1], begin, table, gains, cache)
        np.testing.assert_array_equal(token[0], expected[0][0])
        np.testing.assert_array_equal(logits[0], expected[1][0])
        np.testing.assert_array_equal(written, expected[2])


def test_one_step_of_a_launch_of_one_is_itself() -> None:
    module = parse_module(CACHED)
    assert one_step(module) is module


@pytest.mark.parametrize("depths", [False, True])
def test_a_launch_that_begins_too_late(depths: bool) -> None:
    """Its last step would be behind the cache."""
    table, gains, cache = drawn(0, 1.0)
    given = np.concatenate([gains, gains])
    for begin in range(ROWS - 2, ROWS):
        with pytest.raises(CompileError, match=r"symbol 'pos' is [89]; accepted: a value from 0 to 7"):
            execute(repeated(CACHED, count=3), launched([0, -1, -1], begin, table, given, cache), depths=depths)


@pytest.mark.parametrize(("entries", "token"), [(8, 1), (8, 2), (8, 4), (6, 1), (5, 1), (6, 2)])
def test_rows_lie_as_the_input_does(entries: int, token: int) -> None:
    """Tokens of any width; of a row that ends within a word the next would begin there, which is refused."""
    order = f"!row = !itensor.itensor<{token}xf32, iter_space: [{entries // token}] * [{token}]"
    text = POSITIONED.split("// CHECK-LABEL")[0].replace("!row = !itensor.itensor<8xf32, iter_space: [1] * [8]", order)
    text = text.replace("tensor<8xf32>", f"tensor<{entries}xf32>").replace("%b = vector.extract %v[3]", "%b = vector.extract %v[0]")
    table = np.zeros((6, entries), np.float32)
    table[:, :4] = [1, 1, 1, 2]
    if entries % 4:
        with pytest.raises(CompileError, match=r"words of a row of 'x' are not apart .*; accepted: rows of whole words"):
            repeated(text, count=2, vocabulary=6)
        return
    (alone,) = execute(parse_module(text), [table[0], np.asarray(0, np.int32)])
    (found,) = execute(repeated(text, count=2, vocabulary=6), [np.array([0, -1]), table, np.asarray(0, np.int32)])
    assert found.tolist() == [alone.tolist()] * 2


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        (CACHED, {"count": ROWS + 1}, "9 steps, and pos is at most 7; accepted: 1 to 8 steps"),
        (POSITIONED, {"count": 2, "positions": 8, "vocabulary": 6}, "positions is 8, and pos is at most 8; accepted: 9 rows"),
        (CACHED.replace('stc.name = "g"', 'stc.name = "tokens"'), {"count": 2}, "there is an input 'tokens'; accepted: inputs"),
    ],
)
def test_what_has_no_room(text: str, options: dict[str, int], sentence: str) -> None:
    with pytest.raises(CompileError, match=re.escape(sentence)):
        repeated(text, **options)


def test_a_credit_that_nobody_waits_for_is_named() -> None:
    """And a task that computes another number of steps than the launch."""
    module = repeated(CACHED, count=3)
    (kernel,) = [op for op in module.walk() if isinstance(op, KernelOp)]
    tasks = {op.sym_name.data: op for op in kernel.body.block.ops if isinstance(op, TaskOp)}
    assert not list(complaints_about_steps(kernel))
    (read,) = [op for op in tasks["load_c"].walk() if isinstance(op, ReadOp)]
    loop = read.parent_op()
    assert isinstance(loop, scf.ForOp)
    Rewriter.erase_op(loop)
    names = "@load_c reads in a step what @store_c wrote in the one before, and does not wait for it"
    assert list(complaints_about_steps(kernel)) == [names]
    kernel.steps = 4
    assert "@embed computes 3 steps, expected 4 in one loop" in list(complaints_about_steps(kernel))
