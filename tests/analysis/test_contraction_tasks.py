"""Which tasks do nothing but compute sums of products, and what is said of them; each reason why a task is none."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.parser import Parser

from stc.analysis.contraction_tasks import ContractionTask, contraction_task
from stc.dialects.context import make_context
from stc.dialects.dataflow import TaskOp

FACTORS = """
        scf.for %term = %c0 to %ck step %taken {
          %t = stream.read %x : !factors
          vector.store %t, %a[%term] : memref<6xi8>, vector<2xi8>
        }"""
WEIGHTS = """
          scf.for %term = %c0 to %ck step %c1 {
            %t = stream.read %w : !words
            vector.store %t, %b[%term, %c0] : memref<6x4xi8>, vector<4xi8>
          }"""
FILL = """
          linalg.fill ins(%zero : i32) outs(%s : memref<4xi32>)"""
SUM = """
          linalg.generic {indexing_maps = [#term, #both, #lane], iterator_types = ["parallel", "reduction"]}
              ins(%a, %b : memref<6xi8>, memref<6x4xi8>) outs(%s : memref<4xi32>) attrs = {stc.shared} {
          ^bb0(%p: i8, %q: i8, %r: i32):
            %0 = arith.extsi %p : i8 to i32
            %1 = arith.extsi %q : i8 to i32
            %2 = arith.muli %0, %1 : i32
            %3 = arith.addi %r, %2 : i32
            linalg.yield %3 : i32
          }"""
DRAIN = """
          scf.for %lane = %c0 to %c4 step %taken {
            %t = vector.load %s[%lane] : memref<4xi32>, vector<2xi32>
            stream.write %t into %o : !sums
          }"""
TASK = f"""
    dataflow.task @t ins(%x = %xs : !factors, %w = %ws : !words) outs(%o = %os : !sums) {{
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %taken = arith.constant 2 : index
      %c4 = arith.constant 4 : index  %ck = arith.constant 6 : index
      %rows = arith.constant 3 : index  %columns = arith.constant 5 : index
      %zero = arith.constant 0 : i32
      %a = memref.alloc() : memref<6xi8>
      %b = memref.alloc() : memref<6x4xi8>
      %s = memref.alloc() : memref<4xi32>
      scf.for %row = %c0 to %rows step %c1 {{{FACTORS}
        scf.for %column = %c0 to %columns step %c1 {{{WEIGHTS}{FILL}{SUM}{DRAIN}
        }}
      }}
      dataflow.yield
    }}"""


PROGRAM = f"""
#term = affine_map<(d0, d1) -> (d1)>
#both = affine_map<(d0, d1) -> (d1, d0)>
#lane = affine_map<(d0, d1) -> (d0)>
!factors = !stream.stream<vector<2xi8>, depth: 2>
!words = !stream.stream<vector<4xi8>, depth: 2>
!sums = !stream.stream<vector<2xi32>, depth: 2>
%xs = stream.create @xs : !factors
%ws = stream.create @ws : !words
%os = stream.create @os : !sums
%more = stream.create @more : !words
{TASK}"""


def found(program: str = PROGRAM) -> ContractionTask | None:
    context = make_context()
    context.allow_unregistered = True
    (task,) = (op for op in Parser(context, program).parse_module().walk() if isinstance(op, TaskOp))
    return contraction_task(task)


def changed(*changes: tuple[str, str], text: str = PROGRAM) -> str:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def of(program: str = PROGRAM) -> ContractionTask:
    one = found(program)
    assert one is not None
    return one


def test_what_is_said_of_one() -> None:
    one = of()
    assert (one.terms, one.lanes, one.taken, one.sent) == (6, 4, 2, 2)
    assert (one.trips, one.count, one.fresh) == ([3, 5], 15, 1)
    assert [value.name_hint for value in (one.factors, one.weights, *one.sums)] == ["xs", "ws", "os"]
    assert one.zero == IntegerAttr(0, i32) and [str(kind) for kind in one.kinds] == ["i8", "i8", "i32"]


@pytest.mark.parametrize(("loops", "fresh"), [("outside", 0), ("inside", 2)])
def test_factors_are_read_outside_of_all_loops_or_inside(loops: str, fresh: int) -> None:
    without = changed((FACTORS, ""))
    before = "scf.for %row =" if loops == "outside" else WEIGHTS
    assert of(changed((before, FACTORS + before), text=without)).fresh == fresh


def test_a_token_of_all_sums_needs_no_loop() -> None:
    """Nor one of all factors."""
    drain = "\n          %all = vector.load %s[%c0] : memref<4xi32>, vector<4xi32>\n          stream.write %all into %o : !sums"
    fill = "\n        %six = stream.read %x : !factors\n        vector.store %six, %a[%c0] : memref<6xi8>, vector<6xi8>"
    whole = changed((DRAIN, drain), ("vector<2xi32>", "vector<4xi32>"), (FACTORS, fill), ("vector<2xi8>", "vector<6xi8>"))
    one = of(whole)
    assert (one.taken, one.sent, one.fresh, one.trips) == (6, 4, 1, [3, 5]) and one.is_like(of())
    assert found(changed(("vector.load %s[%c0]", "vector.load %s[%c1]"), text=whole)) is None


ALIKE = [(("3 : index", "7 : index"),), (("to %c4 step %taken", "to %c4 step %c1"), ("vector<2xi32>", "vector<1xi32>"))]


@pytest.mark.parametrize("changes", ALIKE)
def test_how_many_sums_there_are_and_how_they_are_sent_is_nothing_to_the_hardware(changes: tuple[tuple[str, str], ...]) -> None:
    assert of().is_like(of(changed(*changes))) and of(changed(*changes)).is_like(of())


UNLIKE = {
    "terms": [("6 : index", "8 : index"), ("<6x", "<8x")],
    "lanes": [("%c4 = arith.constant 4", "%c4 = arith.constant 8"), ("6x4xi8", "6x8xi8"), ("vector<4xi8>", "vector<8xi8>"),
              ("memref<4xi32>", "memref<8xi32>")],
    "zero": [("constant 0 : i32", "constant 1 : i32")],
    "body": [("%1 = arith.extsi", "%1 = arith.extui")],
    "order of operands": [("muli %0, %1", "muli %1, %0")],
    "kind of multipliers": [("muli %0, %1 :", 'muli %0, %1 {stc.multipliers = "lut"} :')],
}  # fmt: skip


@pytest.mark.parametrize("what", UNLIKE)
def test_other_hardware(what: str) -> None:
    assert not of().is_like(other := of(changed(*UNLIKE[what]))) and not other.is_like(of())


HALVES = """
          scf.for %term = %c0 to %ck step %c1 {
            scf.for %half = %c0 to %c4 step %taken {
              %t = stream.read %w : !words
              vector.store %t, %b[%term, %half] : memref<6x4xi8>, vector<2xi8>
            }
          }"""
ELSE = {
    "nobody says that it shares": [(" attrs = {stc.shared}", "")],
    "two sums": [(SUM, SUM + SUM)],
    "no zero": [(FILL, "")],
    "two zeros": [(FILL, FILL + FILL)],
    "the zero is computed": [("%zero = arith.constant 0 : i32", '%zero = "test.op"() : () -> i32')],
    "a loop hands a value on": [
        ("to %columns step %c1 {", "to %columns step %c1 iter_args(%carried = %c0) -> (index) {"),
        (DRAIN, DRAIN + "\n          scf.yield %carried : index"),
        ("scf.for %column", "%last = scf.for %column"),
    ],
    "a loop ends when data says so": [("%columns = arith.constant 5 : index", '%columns = "test.op"() : () -> index')],
    "a condition is around it": [
        ("%zero =", '%yes = "test.op"() : () -> i1  %zero ='), (WEIGHTS, f"\n scf.if %yes {{{WEIGHTS}"), (DRAIN, f"{DRAIN}\n }}")
    ],
    "a stream that is nothing to the sum": [(FILL, "\n %more_t = stream.read %w : !words" + FILL)],
    "weights of two streams": [
        ("%w = %ws : !words", "%w = %ws : !words, %v = %more : !words"),
        (WEIGHTS, WEIGHTS + changed(("%w", "%v"), text=WEIGHTS)),
    ],
    "the zero is another buffer's": [
        ("%s = memref.alloc() : memref<4xi32>", "%s = memref.alloc() : memref<4xi32>  %z = memref.alloc() : memref<4xi32>"),
        (FILL, FILL.replace("outs(%s", "outs(%z")),
    ],
    "sums go on from row to row": [(FILL, ""), (FACTORS, FACTORS + FILL)],
    "weights are kept": [(WEIGHTS, ""), (FACTORS, FACTORS + WEIGHTS)],
    "sums are sent once for all": [(DRAIN + "\n        }", "\n        }" + DRAIN)],
    "factors are those of the round before": [(FACTORS, ""), ("\n        }\n", f"\n        }}{FACTORS}\n")],
    "weights are those of the round before": [(WEIGHTS, ""), (SUM, SUM + WEIGHTS)],
    "the zero comes behind": [(FILL, ""), (SUM, SUM + FILL)],
    "sums are those of the round before": [(DRAIN, ""), (WEIGHTS, WEIGHTS + DRAIN)],
    "something is added": [(DRAIN, "\n          memref.store %zero, %s[%c0] : memref<4xi32>" + DRAIN)],
    "a token is changed": [
        (DRAIN, "\n          %u = vector.broadcast %zero : i32 to vector<2xi32>\n"
         "          vector.store %u, %s[%c0] : memref<4xi32>, vector<2xi32>" + DRAIN)
    ],
    "an operation that nobody knows": [(DRAIN, f'\n          "test.op"() : () -> (){DRAIN}')],
    "a word is not all lanes": [(WEIGHTS, HALVES), ("!words = !stream.stream<vector<4", "!words = !stream.stream<vector<2")],
    "lanes come before terms": [
        ("[#term, #both, #lane]", "[#term, affine_map<(d0, d1) -> (d0, d1)>, #lane]"),
        (WEIGHTS, changed(("%ck step", "%c4 step"), ("vector<4xi8>", "vector<6xi8>"), text=WEIGHTS)), ("6x4xi8", "4x6xi8"),
        ("!words = !stream.stream<vector<4", "!words = !stream.stream<vector<6"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("why", ELSE)
def test_something_else(why: str) -> None:
    assert found(changed(*ELSE[why])) is None


SQUARE = [
    ("!factors = !stream.stream<vector<2", "!factors = !stream.stream<vector<1"),
    ("memref<6xi8>", "memref<2x3xi8>"),
    ("memref<6x4xi8>", "memref<2x3x4xi8>"),
    ("[#term, #both, #lane]", "[affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d2, d0)>, "
     "affine_map<(d0, d1, d2) -> (d0)>]"),
    ('["parallel", "reduction"]', '["parallel", "reduction", "reduction"]'),
]  # fmt: skip


@pytest.mark.parametrize(("of_factors", "of_weights"), [("rc", "rc"), ("cr", "rc"), ("rc", "cr")])
def test_terms_in_the_same_order(of_factors: str, of_weights: str) -> None:
    """2 by 3 terms, row by row, or column by column."""

    def nest(order: str, inside: str) -> str:
        extents = {"r": "%taken", "c": "%rows"}
        heads = [f"scf.for %{loop} = %c0 to {extents[loop]} step %c1 {{" for loop in order]
        return "\n" + " ".join(heads) + inside + "} }"

    factors = nest(of_factors, "%t = stream.read %x : !factors\n vector.store %t, %a[%r, %c] : memref<2x3xi8>, vector<1xi8>")
    weights = nest(of_weights, "%t = stream.read %w : !words\n vector.store %t, %b[%r, %c, %c0] : memref<2x3x4xi8>, vector<4xi8>")
    one = found(changed(*SQUARE, text=changed((FACTORS, factors), (WEIGHTS, weights))))
    assert (one is not None) == (of_factors == of_weights == "rc")
    assert one is None or (one.terms, one.lanes, one.taken) == (6, 4, 1)
