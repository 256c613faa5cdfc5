"""What near-ties explain, and what they must not: integers that are no tie, values that no integer makes."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import stc
from stc.frontend.rounding_noise import RoundingNoise
from stc.quantisation.formats import LinearFormat
from stc.quantisation.reference import QuantisedLinear, quantise_weight
from stc.quantisation.rows import Roundings, integers_of, roundings_watched, scales_of
from stc.simulation.csim import csim
from stc.tools.compile import compile_model
from stc.tools.near_ties import Found, Search, with_near_ties
from stc.tools.own_numbers import OwnNumbers, OwnRoundings
from stc.tools.request import CompileRequest
from stc.tools.stc import app
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

TOKENS, TERMS = 5, 11
BELOW = float(np.nextafter(np.float32(7.5), np.float32(0)))
AT_A_TIE = {(1, 3): BELOW, (3, 8): BELOW, (3, 9): -BELOW, (4, 2): 7.5}
"""The last one exactly."""


def layer(outputs: int, seed: int) -> QuantisedLinear:
    weight = torch.randn(outputs, TERMS, generator=torch.Generator().manual_seed(seed))
    return QuantisedLinear(quantise_weight(weight, LinearFormat(bits=4, group=4), "fc"), None, "token")


FIRST, SECOND, LAST = layer(TERMS, 0), layer(TERMS, 1), layer(6, 2)


def reference(inputs: Mapping[str, np.ndarray], noise: np.random.Generator | None) -> dict[str, np.ndarray]:
    """Two layers of the same activations, and one behind them."""
    with torch.no_grad(), nullcontext() if noise is None else RoundingNoise(noise):
        x = torch.from_numpy(inputs["x"]) * 1.0
        return {"y": LAST(torch.tanh(FIRST(x) * 0.003) * SECOND(x)).numpy()}


def inputs() -> dict[str, np.ndarray]:
    """Tokens with a scale of 1, so that activations are their own numbers; those of `AT_A_TIE` are."""
    x = np.random.default_rng(0).uniform(-100, 100, (TOKENS, TERMS)).astype(np.float32)
    x = np.round(x) + np.float32(0.2)
    x[:, 0] = 127
    for place, number in AT_A_TIE.items():
        x[place] = number
    return {"x": x}


def turned(*places: tuple[int, int], step: int = 1, calls: tuple[int, ...] = (0, 1)) -> dict[str, np.ndarray]:
    """What a design has whose integers at `places` are others, moved by rounding errors."""
    entries = {token * 12 + term: step for token, term in places}  # three groups of four
    with roundings_watched(Roundings(dict.fromkeys(calls, entries))):
        found = reference(inputs(), None)
    return {name: array * (1 + 1e-7) for name, array in found.items()}


def search(got: Mapping[str, np.ndarray]) -> Found:
    return Search(reference, inputs(), got, 1e-4).found()


def test_nothing_is_to_be_explained_where_values_agree() -> None:
    assert search(turned()) == Found(0)


@pytest.mark.parametrize("places", [[(1, 3)], [(1, 3), (3, 8)], [(3, 8)]])
def test_integers_at_a_tie_explain_what_they_change(places: list[tuple[int, int]]) -> None:
    """In one token and in several; layers that share an activation share its integer, which counts once."""
    assert search(turned(*places)) == Found(len(places))


def test_two_in_one_token() -> None:
    got = Roundings({call: {3 * 12 + 8: 1, 3 * 12 + 9: -1} for call in (0, 1)})
    with roundings_watched(got):
        values = reference(inputs(), None)
    assert search(values) == Found(2)


@pytest.mark.parametrize(
    "got",
    [
        turned((1, 5)),  # no tie
        turned((4, 2)),  # exactly a tie: a design that rounds these otherwise is wrong
        turned((1, 3), step=2),
        turned((1, 3), step=-1),  # not the other integer
        turned((1, 3), calls=(0,)),  # both layers get the same integers
        turned((1, 3), (2, 5)),  # one of them is none
    ],
    ids=["no tie", "exact", "two", "other side", "one layer", "one of two"],
)
def test_other_integers_stay_wrong(got: dict[str, np.ndarray]) -> None:
    assert search(got).count is None


EXACT = (4, 2)
OFF = float(np.nextafter(np.float32(7.5), np.float32(0)))


def found_by_own(number: float | None, integer: int, place: tuple[int, int] = EXACT) -> Found:
    """For a design that rounds `number` (None: not known) at `place` to `integer`, and has the values that go with it."""
    entry = place[0] * 12 + place[1]
    step = integer - int(np.rint(np.float32(AT_A_TIE[place])))
    watched = Roundings({call: {entry: step} for call in (0, 1)})
    with roundings_watched(watched):
        got = reference(inputs(), None)
    numbers, integers = (np.array(tensors[0]).reshape(TOKENS, 12)[:, :TERMS] for tensors in (watched.numbers, watched.integers))
    if number is not None:
        numbers[place] = number
    known, why = (None, "it is fused") if number is None else (numbers.T.copy(), "")
    mine = OwnRoundings("task", "fc", integers.T.copy(), known, why)
    other = OwnRoundings("other_task", "other", np.zeros_like(integers), numbers)
    return Search(reference, inputs(), got, 1e-4, own=lambda: OwnNumbers([other, mine])).found()


def test_an_exact_tie_is_decided_by_the_number_of_the_design() -> None:
    """Also where the design keeps the tensor with its axes in another order."""
    assert found_by_own(OFF, 7) == Found(1, exact=1)
    assert found_by_own(OFF, 8).count == 0, "nothing is wrong"


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (7.5, "fc, token 4, entry 2: the design rounds its own number 7.5 to 7, and the nearest integer, even ones of ties, is 8"),
        (7.6, "fc, token 4, entry 2: the design rounds its own number 7.5999999 to 7, and the nearest"),
        (7.4, "fc, token 4, entry 2: the design rounds its own number 7.4000001 to 7, and rounding errors do not make that number"),
        (None, "1 are exactly at a tie: of 1 of them the design's own number is not known (it is fused)"),
    ],
)
def test_a_wrong_rounding_at_an_exact_tie_stays_wrong(number: float | None, why: str) -> None:
    found = found_by_own(number, 7)
    assert found.count is None and why in found.why


def test_a_number_near_a_tie_has_to_be_rounded_rightly_too() -> None:
    assert found_by_own(7.5, 8, (1, 3)) == Found(1)
    assert found_by_own(BELOW, 8, (1, 3)).why.startswith("fc, token 1, entry 3: the design rounds its own number 7.49999952 to 8")


def test_what_is_exactly_at_a_tie_is_said() -> None:
    assert "1 are exactly at a tie: of 1 of them the design's own number is not known (" in search(turned(EXACT, step=-1)).why


def test_an_exact_tie_that_is_turned_without_the_number_of_the_design_explains_nothing() -> None:
    """However it came to be turned: near a tie before others in front of it were, exactly at one since."""
    got = turned(EXACT, step=-1)
    looked = Search(reference, inputs(), got, 1e-4)
    path = looked.with_turned({call: {EXACT[0] * 12 + EXACT[1]: -1} for call in (0, 1)})
    assert not any(found.any() for found in path.wrong.values()), "the design's values"
    assert looked.judged(path).count is None and "exactly at a tie is turned" in looked.judged(path).why


@pytest.mark.parametrize("row", range(TOKENS))
def test_a_wrong_value_beside_near_ties_stays_wrong(row: int) -> None:
    got = turned((1, 3))
    got["y"][row, 2] += 1e-3 * np.abs(got["y"][row]).max()
    assert search(got).count is None


def test_activations_of_no_known_row_are_tried_alone() -> None:
    """As queries of several heads are; and outputs of integers agree exactly."""
    x = np.full((2, 3, 4), 0.2, np.float32)
    x[:, :, 0], x[1, 2, 1] = 127, BELOW

    def run(inputs: Mapping[str, np.ndarray], noise: np.random.Generator | None) -> dict[str, np.ndarray]:
        with nullcontext() if noise is None else RoundingNoise(noise):
            rows = torch.from_numpy(inputs["x"]) * 1.0
            integers = integers_of(rows, scales_of(rows.abs().amax(dim=-1, keepdim=True)))
            return {"y": (integers.to(torch.float32) * 0.1).sum(0).numpy(), "integers": integers.numpy()}

    values = run({"x": x}, None)
    values["y"][2, 1] += np.float32(0.1)
    assert Search(run, {"x": x}, values, 1e-4).found().count is None
    values["integers"][1, 2, 1] += 1
    assert Search(run, {"x": x}, values, 1e-4).found() == Found(1)


# Of a project -----------------------------------------------------------------------------------------------------------

MODEL = """
import torch

def linear():
    x = torch.full((3, 8), 0.2)
    x[:, 0] = 127
    x[1, 3] = {below}
    x[2, 4] = 6.5
    return torch.nn.Linear(8, 5), (x,)
"""


NEARLY = "1.0000002f"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("near_ties")
    (folder / "model.py").write_text(MODEL.format(below=BELOW))
    request = CompileRequest(f"{folder / 'model.py'}:linear", options=small_options(quantize="bits=8"), check_inputs=("example",))
    compile_model(request, folder / "out")
    return folder / "out"


EXPLAINED = "near-ties: 2 (integers of activations that rounding errors decide, 1 by the design's own number"
LEFT = "do not explain what is wrong on example: "


@pytest.mark.parametrize(
    ("rounding", "command", "told"),
    [
        (f"hls::rint({NEARLY} * ", "csim", EXPLAINED),
        (f"hls::rint({NEARLY} * ", "simulate", EXPLAINED),
        ("hls::rint(3.0f * ", "csim", LEFT),
        ("hls::round(", "csim", "token 2, entry 4: the design rounds its own number 6.5 to 7, and the nearest integer, even"),
        ("hls::floor(0.5f + ", "csim", "rounds by no function of hls_math.h"),
    ],
    ids=["explained", "simulated", "wrong", "ties away", "unseen"],
)
def test_a_design_with_other_rounding_errors(project: Path, tmp_path: Path, rounding: str, command: str, told: str) -> None:
    """It passes, and says of how many near-ties; with numbers that are wrong, or ties rounded otherwise, it does not."""
    folder = tmp_path / "edited"  # of each its own: a library is loaded once from one path
    shutil.copytree(project, folder)
    emitted = (folder / "kernel.cpp").read_text()
    edited = emitted.replace("hls::rint(", rounding)
    assert edited != emitted
    (folder / "kernel.cpp").write_text(edited)
    done = CliRunner().invoke(app, [command, str(folder)])
    printed = re.sub(r"\s+", " ", done.output)
    assert told in printed, done.output
    assert done.exit_code == (0 if told == EXPLAINED else 1) and (LEFT in printed) == (told != EXPLAINED), done.output


def test_a_module_that_is_at_hand(tmp_path: Path) -> None:
    """It is not read again from anywhere."""
    x = torch.full((3, 8), 0.2)
    x[:, 0] = 127
    x[1, 3] = BELOW
    design = stc.compile(torch.nn.Linear(8, 5), (x,), out=tmp_path / "out", quantize="bits=8", check_inputs=("example",))
    kernel = tmp_path / "out" / "kernel.cpp"
    kernel.write_text(kernel.read_text().replace("hls::rint(", f"hls::rint({NEARLY} * "))
    for values in (design.check(), design.simulate().values):
        assert values.passed and [check.near_ties for check in values.outputs] == [1]


def test_values_of_another_launch_explain_nothing(project: Path) -> None:
    """What is explained is what the check saw."""
    result = csim(project)
    (seen,) = result.outputs
    (draw,) = result.draws
    wrong = replace(seen, wrong=3, max_abs_error=0.5, passed=False)
    draws = [replace(draw, passed=False, outputs=[wrong])]
    told = with_near_ties(project, replace(result, passed=False, outputs=[wrong], draws=draws))
    assert not told.passed and told.explanation is not None and "a launch of the design gives other values" in told.explanation
