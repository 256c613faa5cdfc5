"""Faults seeded into the proofs in closed form: z3, asked from the types as they are spelled, contradicts them."""

from __future__ import annotations
import __future__

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from stc.analysis.proof_cross_check import NotProved, Open, Proof, Wrong, judged
from stc.analysis.stream_proofs import Solver, prove_streams
from stc.diagnostics import PassCrashed
from stc.dialects.context import make_context
from stc.dialects.itensor import accesses, sequences
from stc.dialects.parsing import parse_module
from stc.iteration import converter as converters
from stc.iteration import converter_proofs, flattening, line_buffer, normal_form, proofs, restriction, round_robin
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.proof_obligations import NoForm, Obligation, same_tokens
from stc.pipeline import Stage
from stc.tools.reproducer import run_or_reproduce
from stc.transforms.dataflow.verify_streams import VerifyStreams

Seed = Callable[[ModuleType, str, str, str], None]
CACHES = (
    normal_form.normal_form, proofs.compare_sequences, sequences.slice_mismatch, sequences.split_mismatch,
    converters.infer_converter, sequences.converter_plan,
)  # fmt: skip


@pytest.fixture
def seed(monkeypatch: pytest.MonkeyPatch):
    """Write a function anew, with `old` replaced by `new` in its text, in its module and wherever it was imported."""

    def seeded(module: ModuleType, name: str, old: str, new: str) -> None:
        original = getattr(module, name)
        text = inspect.getsource(original)
        assert text.count(old) == 1, f"{name} has not one '{old}' to replace"
        users = [user for key, user in sys.modules.items() if key.startswith("stc.") and vars(user).get(name) is original]
        for user in users:
            monkeypatch.setattr(user, name, original)  # so that the fixture puts it back
        exec(compile(text.replace(old, new), "seeded", "exec", __future__.annotations.compiler_flag), vars(module))
        for user in users:
            setattr(user, name, getattr(module, name))
        for cached in CACHES:
            cached.cache_clear()

    yield seeded
    for cached in CACHES:
        cached.cache_clear()


def failure(text: str, solver: Solver = "both") -> str:
    [found] = prove_streams(parse_module(text, verify=False), solver).failures
    return found.reason


def proved(text: str, solver: Solver = "both") -> list[tuple[str, str]]:
    proofs = prove_streams(parse_module(text, verify=False), solver)
    assert not proofs.failures, proofs.failures
    return [(edge.method, edge.z3) for edge in proofs.edges]


def one_op(op: str, *types: str) -> str:
    """A function with one operation from %s of the first type to %t of the last."""
    aliases = "".join(f"!{name} = !itensor.itensor<{text}>\n" for name, text in zip("STU", types, strict=False))
    return f"{aliases}func.func @f(%s: !S) -> !T {{\n  %t = {op}\n  func.return %t : !T\n}}\n"


CONTRADICTION = "two proofs contradict each other, a bug of stc"
CAST = "itensor.cast %s : !S to !T"
ROWS = "1xf32, iter_space: [4, 3] * [4, 1], iter_map: (d0, d1) -> (d0 + d1)"
FLAT = "1xf32, iter_space: [12] * [1], iter_map: (d0) -> (d0)"
AT_FOUR = "1xf32, iter_space: [1, 3] * [1, 1], iter_map: (d0, d1) -> (d0 + d1 + 4)"
AT_ZERO = "1xf32, iter_space: [3] * [1], iter_map: (d0) -> (d0)"
TWICE = "1xf32, iter_space: [2, 3] * [1, 1], iter_map: (d0, d1) -> (d1)"
THRICE = "1xf32, iter_space: [3, 3] * [1, 1], iter_map: (d0, d1) -> (d1)"
INWARDS = "1xf32, iter_space: [3, 2] * [1, 1], iter_map: (d0, d1) -> (d0)"
SWAPPED = "1xf32, iter_space: [2, 3] * [1, 1], iter_map: (d0, d1) -> (d0)"

EQUATES_TOO_MUCH = {
    "loops merge whatever their steps": ("_continues", "first.step == static(second.trip) * second.step", "True", ROWS, FLAT),
    "loops merge at a step too wide": ("_continues", "second.trip) * second.step", "second.trip) * second.step + 1", ROWS, FLAT),
    "a merged loop keeps the outer step": ("_merge", "static(second.trip), second.step)", "static(second.trip), first.step)",
                                           ROWS.replace("[4, 1]", "[3, 1]"), FLAT.replace("* [1]", "* [3]")),
    "an offset is lost": ("_one_spelling", "simplified(c.constant)", "0", AT_FOUR, AT_ZERO),
    "reuse loops are lost": ("_one_spelling", "return StreamOrder(order.element, loops, coordinates)",
                          "return StreamOrder(order.element, loops, coordinates).without_reuse()", TWICE, THRICE),
    "a loop and a reuse loop change trips": ("_reuse_out_of_order",
                                 "order.dimension_of_loop[outer] is not None or order.dimension_of_loop[outer + 1] is not None",
                                 "False", INWARDS, SWAPPED),
}  # fmt: skip


@pytest.mark.parametrize("fault", EQUATES_TOO_MUCH)
def test_a_normal_form_that_equates_too_much(seed: Seed, fault: str):
    name, old, new, *types = EQUATES_TOO_MUCH[fault]
    assert failure(one_op(CAST, *types)).startswith("token ")
    seed(normal_form, name, old, new)
    assert proved(one_op(CAST, *types), "normal-form") == [("normal form", "not asked")], "alone it is believed"
    found = failure(one_op(CAST, *types))
    assert found.startswith("two proofs contradict each other, a bug of stc: right by normal form, but z3 finds: token ")
    assert "(both sides counted out: token " in found


def test_a_normal_form_that_tells_too_much_apart(seed: Seed):
    split = one_op(CAST, "1xf32, iter_space: [4, 3] * [3, 1], iter_map: (d0, d1) -> (d0 + d1)", FLAT)
    assert proved(split) == [("normal form", "confirmed")]
    seed(normal_form, "_continues", "first.step == static", "first.step == 1 + static")
    assert failure(split) == (
        "two proofs contradict each other, a bug of stc: wrong by its own proof: token 3 is at [3] in the source but at [3] in the "
        "target, but z3 finds no such token (both sides counted out are the same)"
    )


ACROSS = "1xf32, iter_space: [3, 2, 2] * [4, 1, 2], iter_map: (d0, d1, d2) -> (d0 + d1 + d2)"
ONE_TILE = "1xf32, iter_space: [2, 2] * [1, 2], iter_map: (d0, d1) -> (d0 + d1)"
PAIRS = "1x4xf32, iter_space: [2, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)"
EVEN = "1x4xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)"
AFTER = "1x4xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1 + 1)"
MATRIX = "1x4xf32, iter_space: [2, 3] * [1, 4], iter_map: (d0, d1) -> (d0, d1)"
TURNED = "1x4xf32, iter_space: [3, 2] * [4, 1], iter_map: (d0, d1) -> (d1, d0)"
ACROSS_ROWS = "1x1xf32, iter_space: [2, 2] * [1, 1], iter_map: (d0, d1) -> (d0, d1)"
DOWN_COLUMNS = "1x1x1xf32, iter_space: [2, 2] * [1, 1], iter_map: (d0, d1) -> (d1, d0, 0)"
LINES = "2x4xf32, iter_space: [3, 2] * [2, 4], iter_map: (d0, d1) -> (d0, d1)"
WINDOWS = "1x8xf32, iter_space: [5, 2] * [1, 1], iter_map: (d0, d1) -> (d0 + d1, 0)"


OVERLAPPING = "1xf32, iter_space: [3, 3, 2] * [2, 3, 1], iter_map: (d0, d1, d2) -> (d0 + d1 + d2)"


def converter(attributes: str) -> str:
    return f"itensor.converter %s {{{attributes}}} : !S to !T"


CLOSED_FORMS = {
    "a slice across tiles is taken for a tile": (
        [(restriction, "_trips", "elif start % step == 0 and stop % step == 0:", "elif start % 2 == 0:")],
        one_op("itensor.chunk %s at [2] : !S to !T", ACROSS, ONE_TILE), "the slice has another order than the whole"),
    "the part of a split begins a step off": (
        [(round_robin, "round_robin_parts", "number * loop.step)", "number)")],
        one_op("itensor.split %s : !S to !U, !T", PAIRS, AFTER, EVEN).replace("%t =", "%r, %t ="), "token "),
    "rows have no stride": (
        [(flattening, "flattened", "stride * extent", "stride")],
        one_op("itensor.reassociate %s : !S to !T", ACROSS_ROWS, DOWN_COLUMNS), "token "),
    "a block may end one entry early": (
        [(converter_proofs, "_prove_dimension", "dimension) < extent", "dimension) <= extent")],
        one_op(converter("shared_loops = 0, buffer_shape = [2, 11], blocks = 1"), MATRIX, TURNED), "token "),
    "two entries may have one address": (
        [(converter_proofs, "_are_distinct", "if digit.address <= covered", "if digit.address < 0")],
        one_op(converter("shared_loops = 1, buffer_shape = [8], blocks = 2"), OVERLAPPING, OVERLAPPING), "token "),
    "a line is taken for live once it is overwritten": (
        [(line_buffer, "least_lines", "there - sent * target.step", "there - sent * target.step - 1"),
         (converter_proofs, "_line_fault", "if there - first > extent:", "if there - first > extent + 1:")],
        one_op(converter("shared_loops = 0, buffer_shape = [2, 8], blocks = 1, window = 0"), LINES, WINDOWS), "token "),
}  # fmt: skip


@pytest.mark.parametrize("fault", CLOSED_FORMS)
def test_an_argument_about_loops_that_proves_too_much(seed: Seed, fault: str):
    seeds, text, witness = CLOSED_FORMS[fault]
    before = [found.reason for found in prove_streams(parse_module(text, verify=False)).failures]
    assert before and not any("contradict" in reason for reason in before)
    for each in seeds:
        seed(*each)
    after = [found.reason for found in prove_streams(parse_module(text, verify=False)).failures]
    told = [reason for reason in after if reason.startswith("two proofs contradict each other, a bug of stc: right by ")]
    assert any(f"but z3 finds: {witness}" in reason for reason in told), after


ACCESS = """
!S = !itensor.itensor<1xf32, iter_space: [3, 3] * [3, 1], iter_map: (d0, d1) -> (d0 + d1)>
func.func @f(%s: !S) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  scf.for %r = %c0 to %c3 step %c1 {
    scf.for %i = %c0 to %c9 step %c3 {
      scf.for %j = %c0 to %c3 step %c1 {
        %g = arith.cmpi eq, %r, %c0 : index
        scf.if %g {
          %v = itensor.read %s[%i, %j] : !S -> tensor<1xf32>
        }
      }
    }
  }
  func.return
}
"""


@pytest.mark.parametrize(
    ("rule", "old", "new", "change"),
    [
        ("_verify_loop", "if step != expected.step:", "if False:", ("%c0 to %c9 step %c3", "%c0 to %c3 step %c1")),
        ("_verify_value_is_taken", "if (value - lower) % step or", "if False and", ("eq, %r, %c0", "eq, %r, %c9")),
        ("_verify_nesting", "if depths[position] <= depths[position - 1]:", "if False:", (
            "%i = %c0 to %c9 step %c3", "%q = %c0 to %c3 step %c1", "%j = %c0 to %c3 step %c1", "%i = %c0 to %c9 step %c3",
            "%q =", "%j =")),
        ("_verify_guards", "loop not in guarded and", "False and", (
            "%r, %c0", "%i, %c0", "%s[%i, %j]", "%s[%r, %j]", "%r = %c0 to %c3 step %c1", "%r = %c0 to %c9 step %c3",
            "        scf.if %g {\n", "", "        }\n      }", "      }")),
    ],
)  # fmt: skip
def test_a_rule_for_accesses_that_lets_too_much_pass(seed: Seed, rule: str, old: str, new: str, change: tuple[str, ...]):
    assert proved(ACCESS, "z3") == [("verifier", "confirmed")]
    wrong = ACCESS
    for before, after in zip(change[::2], change[1::2], strict=True):
        wrong = wrong.replace(before, after, 1)
    assert "; z3 finds: " in failure(wrong, "z3")
    seed(accesses, rule, old, new)
    assert proved(wrong) == [("verifier", "not asked")]
    assert failure(wrong, "z3").startswith(f"{CONTRADICTION}: right by verifier, but z3 finds: ")


def test_a_contradiction_is_a_crash_with_a_reproducer(seed: Seed, tmp_path: Path):
    """Not a refusal of the input, whose fault it is not."""
    module = parse_module(one_op(CAST, ROWS, FLAT), verify=False)
    seed(normal_form, "_continues", "first.step == static(second.trip) * second.step", "True")
    with pytest.raises(PassCrashed) as error:
        run_or_reproduce(module, make_context(), [Stage("proofs", ("verify-streams",))], path=tmp_path / "found.mlir")
    place = "pass 'verify-streams' crashes: ContradictingProofs: <input>:4:3: cast %s to %t in no kernel: "
    assert str(error.value).startswith(place + CONTRADICTION)
    assert "-p 'verify-streams'" in (tmp_path / "found.mlir").read_text()


# Two answers ---------------------------------------------------------------------------------------------------------------

SOURCE = StreamOrder((1,), (Loop(4, 3), Loop(3, 1)), (Coordinate((0, 1)),))
EQUAL, OTHER = (same_tokens(SOURCE, StreamOrder((1,), (Loop(trip, 1),), (Coordinate((0,)),))) for trip in (12, 11))
SILENT = NoForm("too hard")


@pytest.mark.parametrize(
    ("first", "obligation", "proof"),
    [
        ("type", None, Proof("type", "not asked")),
        ("closed form", EQUAL, Proof("closed form", "confirmed")),
        ("closed form", SILENT, Proof("closed form", "gave up")),
        (Open("not proved"), EQUAL, Proof("z3", "alone")),
    ],
)
def test_what_is_proved(first: str | Open, obligation: Obligation | None, proof: Proof):
    assert judged(first, obligation) == proof


@pytest.mark.parametrize(
    ("first", "obligation", "reason"),
    [
        (Wrong("token 1 is wrong"), OTHER, "token 1 is wrong"),
        (Wrong("token 1 is wrong"), SILENT, "token 1 is wrong"),
        (Wrong("token 1 is wrong"), EQUAL, f"{CONTRADICTION}: wrong by its own proof: token 1 is wrong, but z3 finds no such"),
        ("closed form", OTHER, f"{CONTRADICTION}: right by closed form, but z3 finds: token 11 is at [11] in the source"),
        (Open("not proved: too long"), OTHER, "not proved: too long; z3 finds: token 11 is at [11] in the source but at no"),
        (Open("not proved: too long"), SILENT, "not proved: too long; z3 does not decide it either: too hard"),
        (Open("not proved: too long"), None, "not proved: too long"),
        (Open("not proved: too hard", "too hard"), SILENT, "not proved: too hard"),
    ],
)
def test_what_is_not_proved(first: str | Wrong | Open, obligation: Obligation | None, reason: str):
    with pytest.raises(NotProved) as error:
        judged(first, obligation)
    assert str(error.value).startswith(reason) and str(error.value).count("too hard") <= 1


def test_a_proof_that_gives_up_is_counted_and_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """A cross-check that is not given is a warning; without another proof it is an error."""
    monkeypatch.setattr("stc.iteration.proof_obligations.CROSS_CHECK_RESOURCES", 10)
    module = parse_module(one_op(CAST, "1xf32, iter_space: [4, 3] * [3, 1], iter_map: (d0, d1) -> (d0 + d1)", FLAT))
    assert prove_streams(module).gave_up == 1
    VerifyStreams().apply(make_context(), module)
    assert capsys.readouterr().err == "warning: verify-streams: z3 gave up on 1 of 1 edges, which are proved otherwise\n"
