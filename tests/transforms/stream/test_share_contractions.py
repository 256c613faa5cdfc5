"""`share-contractions` keeps values, whatever the sizes of tokens, sums and rows; and what it leaves alone."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp

from stc.analysis.loops import constant_bounds
from stc.dialects.context import make_context
from stc.dialects.dataflow import TaskOp
from stc.dialects.facts import PIPELINE, STYLE
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.transforms.stream.hls_directives import HlsDirectives
from stc.transforms.stream.load_in_turn import LoadInTurn
from stc.transforms.stream.relax_intervals import RelaxIntervals
from stc.transforms.stream.share_contractions import ARRAY, ShareContractions


@dataclass(frozen=True)
class Sizes:
    """Of two contractions of `terms`, in so many `lanes`, the second one of the first one's sums. Either has `columns` sums of each
    lane, reads tokens of `taken` factors, anew for each column where it is `fresh`, and sends tokens of `sent` sums."""

    terms: int = 6
    lanes: int = 2
    columns: tuple[int, int] = (3, 4)
    taken: tuple[int, int] = (1, 1)
    fresh: tuple[bool, bool] = (False, False)
    sent: tuple[int, int] = (1, 1)
    zeros: tuple[int, int] = (0, 0)

    def times(self, at: int) -> int:
        """How often the factors of a contraction come."""
        return self.columns[at] if self.fresh[at] else 1

    def words(self, at: int) -> int:
        return self.columns[at] * self.terms


CONSTANTS = "%c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index"


def contraction(name: str, at: int, sizes: Sizes, ports: tuple[str, str, str]) -> str:
    factors, weights, sums = ports
    taken, sent = sizes.taken[at], sizes.sent[at]
    read = f"""
        scf.for %term = %c0 to %terms step %taken {{
          %t = stream.read %x : !stream.stream<vector<{taken}xi8>, depth: 64>
          vector.store %t, %a[%term] : memref<{sizes.terms}xi8>, vector<{taken}xi8>
        }}"""
    return f"""
    dataflow.task @{name} ins(%x = %{factors} : !stream.stream<vector<{taken}xi8>, depth: 64>, %w = %{weights} : !words)
        outs(%o = %{sums} : !stream.stream<vector<{sent}xi32>, depth: 64>) {{
      {CONSTANTS}  %terms = arith.constant {sizes.terms} : index  %lanes = arith.constant {sizes.lanes} : index
      %taken = arith.constant {taken} : index  %sent = arith.constant {sent} : index
      %columns = arith.constant {sizes.columns[at]} : index  %zero = arith.constant {sizes.zeros[at]} : i32
      %a = memref.alloc() : memref<{sizes.terms}xi8>  %b = memref.alloc() : memref<{sizes.terms}x{sizes.lanes}xi8>
      %s = memref.alloc() : memref<{sizes.lanes}xi32>{"" if sizes.fresh[at] else read}
      scf.for %column = %c0 to %columns step %c1 {{{read if sizes.fresh[at] else ""}
        scf.for %term = %c0 to %terms step %c1 {{
          %t = stream.read %w : !words
          vector.store %t, %b[%term, %c0] : memref<{sizes.terms}x{sizes.lanes}xi8>, vector<{sizes.lanes}xi8>
        }}
        linalg.fill ins(%zero : i32) outs(%s : memref<{sizes.lanes}xi32>)
        linalg.generic {{indexing_maps = [affine_map<(l, k) -> (k)>, affine_map<(l, k) -> (k, l)>, affine_map<(l, k) -> (l)>],
            iterator_types = ["parallel", "reduction"]}}
            ins(%a, %b : memref<{sizes.terms}xi8>, memref<{sizes.terms}x{sizes.lanes}xi8>)
            outs(%s : memref<{sizes.lanes}xi32>) attrs = {{stc.name = "{name}", stc.shared}} {{
        ^bb0(%p: i8, %q: i8, %r: i32):
          %0 = arith.extsi %p : i8 to i32
          %1 = arith.extui %q : i8 to i32
          %2 = arith.muli %0, %1 : i32
          %3 = arith.addi %r, %2 : i32
          linalg.yield %3 : i32
        }}
        scf.for %lane = %c0 to %lanes step %sent {{
          %t = vector.load %s[%lane] : memref<{sizes.lanes}xi32>, vector<{sent}xi32>
          stream.write %t into %o : !stream.stream<vector<{sent}xi32>, depth: 64>
        }}
      }}
      dataflow.yield
    }}"""


def flat(tokens: int, lanes: int, kind: str) -> str:
    return f"!itensor.itensor<{lanes}x{kind}, iter_space: [{tokens}] * [{lanes}], iter_map: (d0) -> (d0)>"


def program(sizes: Sizes) -> str:
    (taken, next_taken), (sent, next_sent) = sizes.taken, sizes.sent
    made, results = sizes.columns[0] * sizes.lanes, sizes.columns[1] * sizes.lanes // next_sent
    assert made >= sizes.terms, "sums enough for the second"
    factors, words = [sizes.terms // each for each in sizes.taken], [sizes.words(at) for at in (0, 1)]
    x, u, d = f"{factors[0]}xvector<{taken}xi8>", f"{words[0]}x!word", f"{words[1]}x!word"
    y, whole = f"{results}xvector<{next_sent}xi32>", [f"{count}x{sizes.lanes}xi8" for count in words]
    in_rows = "!itensor.itensor<1x{}xi8, iter_space: [{}] * [1], iter_map: (d0) -> (d0, 0)>"
    rows = [in_rows.format(sizes.lanes, count) for count in words]
    return f"""
!word = vector<{sizes.lanes}xi8>
!words = !stream.stream<!word, depth: 64>
func.func @main(%x: tensor<{sizes.terms}xi8> {{stc.name = "x"}}, %u: tensor<{whole[0]}> {{stc.name = "u", stc.parameter}},
    %d: tensor<{whole[1]}> {{stc.name = "d", stc.parameter}}) -> (tensor<{results * next_sent}xi32> {{stc.name = "y"}}) {{
  %xp = dataflow.pack %x : tensor<{sizes.terms}xi8> as {flat(factors[0], taken, "i8")} -> tensor<{x}>
  %up = dataflow.pack %u : tensor<{whole[0]}> as {rows[0]} -> tensor<{u}>
  %dp = dataflow.pack %d : tensor<{whole[1]}> as {rows[1]} -> tensor<{d}>
  %yp = dataflow.kernel @k(%px = %xp : tensor<{x}> as memref<{x}>, %pu = %up : tensor<{u}> as memref<{u}>,
      %pd = %dp : tensor<{d}> as memref<{d}>) -> (tensor<{y}> as memref<{y}>) {{
    %xs = stream.create @xs : !stream.stream<vector<{taken}xi8>, depth: 64>
    %wu = stream.create @wu : !words
    %wd = stream.create @wd : !words
    %h = stream.create @h : !stream.stream<vector<{sent}xi32>, depth: 64>
    %q = stream.create @q : !stream.stream<vector<{next_taken}xi8>, depth: 64>
    %t = stream.create @t : !stream.stream<vector<{next_sent}xi32>, depth: 64>
    %ym = dataflow.memory @ym : memref<{y}>
    dataflow.task @load_x ins(%m = %px : memref<{x}>) outs(%a = %xs : !stream.stream<vector<{taken}xi8>, depth: 64>) kind load {{
      {CONSTANTS}  %n = arith.constant {factors[0]} : index  %times = arith.constant {sizes.times(0)} : index
      scf.for %time = %c0 to %times step %c1 {{ scf.for %word = %c0 to %n step %c1 {{
        %0 = memref.load %m[%word] : memref<{x}>
        stream.write %0 into %a : !stream.stream<vector<{taken}xi8>, depth: 64>
      }} }}
      dataflow.yield
    }}
    dataflow.task @load ins(%m0 = %pu : memref<{u}>, %m1 = %pd : memref<{d}>)
        outs(%o0 = %wu : !words, %o1 = %wd : !words) kind load {{
      {CONSTANTS}  %n0 = arith.constant {words[0]} : index  %n1 = arith.constant {words[1]} : index{load(0, sizes)}{load(1, sizes)}
      dataflow.yield
    }}{contraction("up", 0, sizes, ("xs", "wu", "h"))}
    dataflow.task @narrow ins(%i = %h : !stream.stream<vector<{sent}xi32>, depth: 64>)
        outs(%o = %q : !stream.stream<vector<{next_taken}xi8>, depth: 64>) {{
      {CONSTANTS}  %made = arith.constant {made} : index  %sent = arith.constant {sent} : index
      %terms = arith.constant {sizes.terms} : index  %taken = arith.constant {next_taken} : index
      %times = arith.constant {sizes.times(1)} : index
      %wide = memref.alloc() : memref<{made}xi32>  %narrow = memref.alloc() : memref<{made}xi8>
      scf.for %n = %c0 to %made step %sent {{
        %0 = stream.read %i : !stream.stream<vector<{sent}xi32>, depth: 64>
        vector.store %0, %wide[%n] : memref<{made}xi32>, vector<{sent}xi32>
      }}
      scf.for %n = %c0 to %made step %c1 {{
        %1 = memref.load %wide[%n] : memref<{made}xi32>
        %2 = arith.trunci %1 : i32 to i8
        memref.store %2, %narrow[%n] : memref<{made}xi8>
      }}
      scf.for %time = %c0 to %times step %c1 {{ scf.for %n = %c0 to %terms step %taken {{
        %3 = vector.load %narrow[%n] : memref<{made}xi8>, vector<{next_taken}xi8>
        stream.write %3 into %o : !stream.stream<vector<{next_taken}xi8>, depth: 64>
      }} }}
      dataflow.yield
    }}{contraction("down", 1, sizes, ("q", "wd", "t"))}
    dataflow.task @store_ym ins(%i = %t : !stream.stream<vector<{next_sent}xi32>, depth: 64>)
        outs(%o = %ym : memref<{y}>) kind store {{
      {CONSTANTS}  %n = arith.constant {results} : index
      scf.for %word = %c0 to %n step %c1 {{
        %0 = stream.read %i : !stream.stream<vector<{next_sent}xi32>, depth: 64>
        memref.store %0, %o[%word] : memref<{y}>
      }}
      dataflow.yield
    }}
    dataflow.yield %ym : memref<{y}>
  }}
  %y = dataflow.unpack %yp : tensor<{y}> as {flat(results, next_sent, "i32")} -> tensor<{results * next_sent}xi32>
  func.return %y : tensor<{results * next_sent}xi32>
}}"""



def load(at: int, sizes: Sizes) -> str:
    """The words of one of both."""
    return f"""
      scf.for %word{at} = %c0 to %n{at} step %c1 {{
        %w{at} = memref.load %m{at}[%word{at}] : memref<{sizes.words(at)}x!word>
        stream.write %w{at} into %o{at} : !words
      }}"""


def shared(text: str) -> ModuleOp:
    module = parse_module(text)
    ShareContractions().apply(make_context(), module)
    module.verify()
    return module


def units(module: ModuleOp) -> dict[str, str | None]:
    return {task.sym_name.data: task.unit for task in module.walk() if isinstance(task, TaskOp)}


OWN = dict.fromkeys(("load_x", "load", "up", "narrow", "down", "store_ym"))

SIZES = [
    Sizes(),
    Sizes(fresh=(True, False)),
    Sizes(fresh=(False, True), taken=(2, 3)),
    Sizes(fresh=(True, True), taken=(6, 2), zeros=(-7, -7)),
    Sizes(taken=(3, 6), sent=(2, 1)),
    Sizes(terms=12, lanes=3, columns=(4, 1), taken=(12, 12), sent=(3, 3)),
    Sizes(terms=12, lanes=6, columns=(2, 5), taken=(6, 4), sent=(2, 3)),
    Sizes(terms=5, lanes=32, columns=(1, 2), taken=(5, 1), sent=(32, 16), zeros=(3, 3)),
    Sizes(terms=2, lanes=24, columns=(1, 1), taken=(2, 2), sent=(8, 12)),
    Sizes(lanes=64, sent=(4, 2)),
    Sizes(lanes=36, sent=(9, 12)),
]


@pytest.mark.parametrize("sizes", SIZES)
def test_values_are_kept(sizes: Sizes) -> None:
    text = program(sizes)
    random = np.random.default_rng(sizes.terms)
    x = random.integers(-128, 128, sizes.terms, np.int8)
    u, d = (random.integers(-128, 128, (sizes.words(at), sizes.lanes), np.int8) for at in (0, 1))
    made = shared(text)
    before, after = (execute(module, [x, u, d])[0] for module in (parse_module(text), made))
    assert np.array_equal(before, after) and len(np.unique(before)) > 1
    assert {name for name, unit in units(made).items() if unit == ARRAY} == {"array", "array_send", "array_hand_out"}
    assert {"up", "down"}.isdisjoint(units(made))
    flushing = [op for op in made.walk() if isinstance(op, scf.ForOp) and STYLE.of(op) == "frp"]
    assert len(flushing) == 1
    assert 1 not in [bounds.trip for loop in flushing if (bounds := constant_bounds(loop))], "the tool drops it with its pragmas"


@pytest.mark.parametrize("sizes", SIZES)
def test_sums_are_handed_out_each_cycle(sizes: Sizes) -> None:
    """Of several parts of a sum, too."""
    made = shared(program(sizes))
    for one_pass in (HlsDirectives(), RelaxIntervals()):
        one_pass.apply(make_context(), made)
    named = {task.sym_name.data: task for task in made.walk() if isinstance(task, TaskOp)}
    for name in ("array", "array_hand_out"):
        intervals = [PIPELINE.of(op) for op in named[name].walk() if isinstance(op, scf.ForOp)]
        assert set(intervals) <= {None, 1} and 1 in intervals


def on_two_streams(sizes: Sizes) -> str:
    """The program, where the second contraction sends every other token on a stream of its own, as of tokens wider than a word."""
    sent = sizes.sent[1]
    kind, token = f"!stream.stream<vector<{sent}xi32>, depth: 64>", f"memref<{sizes.lanes}xi32>, vector<{sent}xi32>"
    before, after = program(sizes).split("dataflow.task @down")
    created = f"%t = stream.create @t : {kind}"
    changes = [
        (f"outs(%o = %t : {kind})", f"outs(%o = %t : {kind}, %o2 = %t2 : {kind})"),
        (f"%sent = arith.constant {sent} :", f"%half = arith.constant {sent} : index  %sent = arith.constant {2 * sent} :"),
        (f"stream.write %t into %o : {kind}", f"""stream.write %t into %o : {kind}
          %behind = arith.addi %lane, %half : index
          %t2 = vector.load %s[%behind] : {token}
          stream.write %t2 into %o2 : {kind}"""),
        (f"@store_ym ins(%i = %t : {kind})", f"@store_ym ins(%i = %t : {kind}, %i2 = %t2 : {kind})"),
        ("scf.for %word = %c0 to %n step %c1 {", "%c2 = arith.constant 2 : index\n      scf.for %word = %c0 to %n step %c2 {"),
        ("memref.store %0, %o[%word] : ", f"""%next = arith.addi %word, %c1 : index
        %1 = stream.read %i2 : {kind}
        memref.store %1, %o[%next] : memref<{sizes.columns[1] * sizes.lanes // sent}xvector<{sent}xi32>>
        memref.store %0, %o[%word] : """),
    ]  # fmt: skip
    for old, changed in changes:
        assert after.count(old) == 1, old
        after = after.replace(old, changed)
    return before.replace(created, f"{created}\n    %t2 = stream.create @t2 : {kind}") + "dataflow.task @down" + after


@pytest.mark.parametrize(
    "sizes",
    [
        Sizes(lanes=4), Sizes(lanes=8, sent=(8, 2)), Sizes(lanes=36, sent=(9, 9)), Sizes(lanes=64, sent=(32, 16)),
        Sizes(lanes=24, sent=(8, 12)), Sizes(terms=12, lanes=24, sent=(3, 2)), Sizes(lanes=48, sent=(16, 24)),
        Sizes(lanes=40, sent=(1, 20)),
    ],
)
def test_sums_on_several_streams(sizes: Sizes) -> None:
    """Tokens are parts of what leaves the array, or as wide, or several of that; each cycle one of them is sent."""
    text = on_two_streams(sizes)
    random = np.random.default_rng(2)
    x = random.integers(-128, 128, sizes.terms, np.int8)
    u, d = (random.integers(-128, 128, (sizes.words(at), sizes.lanes), np.int8) for at in (0, 1))
    made = shared(text)
    assert {"up", "down"}.isdisjoint(units(made))
    before, after = (execute(module, [x, u, d])[0] for module in (parse_module(text), made))
    assert np.array_equal(before, after) and len(np.unique(before)) > 1
    for one_pass in (HlsDirectives(), RelaxIntervals()):
        one_pass.apply(make_context(), made)
    named = {task.sym_name.data: task for task in made.walk() if isinstance(task, TaskOp)}
    intervals = {PIPELINE.of(op) for op in named["array_hand_out"].walk() if isinstance(op, scf.ForOp)}
    assert intervals <= {None, 1} and 1 in intervals


def test_sums_that_would_leave_too_late() -> None:
    """Twelve tokens of each of two streams, one after the other, while six terms are added up."""
    made = shared(on_two_streams(Sizes(terms=6, lanes=24, sent=(3, 1))))
    assert units(made) == OWN


def test_tokens_without_a_loop() -> None:
    """Of all factors, or all sums."""
    sizes = Sizes(taken=(6, 6), sent=(2, 2))
    text = program(sizes)
    for loop in ("scf.for %term = %c0 to %terms step %taken {", "scf.for %lane = %c0 to %lanes step %sent {"):
        assert text.count(loop) == 2
    plain = re.sub(r"scf\.for %(term|lane) = %c0 to %\w+ step %(?:taken|sent) \{([^}]*)\}", _at_once, text)
    assert plain.count("scf.for") == text.count("scf.for") - 4
    made = shared(plain)
    random = np.random.default_rng(1)
    x = random.integers(-128, 128, sizes.terms, np.int8)
    u, d = (random.integers(-128, 128, (sizes.words(at), sizes.lanes), np.int8) for at in (0, 1))
    assert ARRAY in units(made).values()
    assert np.array_equal(execute(parse_module(plain), [x, u, d])[0], execute(made, [x, u, d])[0])


def _at_once(loop: re.Match[str]) -> str:
    return loop[2].replace(f"[%{loop[1]}]", "[%c0]").replace("%t ", f"%{loop[1]}_t ").replace("%t,", f"%{loop[1]}_t,")


def test_a_token_of_factors_is_a_power_of_two() -> None:
    """Else which of them is next would be a remainder, by a divider: 4 of 12, 1 of 3, 2 of 6 and 4."""
    for taken, lanes in (((12, 12), 4), ((3, 12), 1), ((6, 4), 2)):
        text = str(shared(program(Sizes(terms=12, lanes=6, columns=(2, 5), taken=taken))))
        assert f"%array_factors = stream.create @array_factors {{tokens = {84 // lanes} : i64" in text


def test_names_are_not_those_of_others() -> None:
    text = program(Sizes()).replace("@load_x", "@array")
    text = text.replace("@narrow", "@array_2_send").replace("@store_ym", "@array_2_hand_out")
    names = [task.sym_name.data for task in shared(text).walk() if isinstance(task, TaskOp)]
    assert len(set(names)) == len(names) == 7


def test_once_is_enough() -> None:
    """Behind it tasks form a cycle of units, which neither this pass nor the one before it minds."""
    module = shared(program(Sizes()))
    before = str(module)
    LoadInTurn().apply(make_context(), module)
    ShareContractions().apply(make_context(), module)
    assert str(module) == before


# What it leaves alone -------------------------------------------------------------------------------------------------


def test_weights_in_the_order_of_nobody() -> None:
    """Those of the second first: it would wait for the first, whose weights are behind its own."""
    up, down = load(0, Sizes()), load(1, Sizes())
    assert up + down in (text := program(Sizes()))
    assert units(shared(text.replace(up + down, down + up))) == OWN


def test_weights_beside_one_another() -> None:
    both = load(0, even := Sizes(columns=(3, 3))) + load(1, even)
    body = load(0, even).replace("into %o0 : !words", "into %o0 : !words\n %w1 = memref.load %m1[%word0] : memref<18x!word>\n"
                                 " stream.write %w1 into %o1 : !words")  # fmt: skip
    assert both in (text := program(even))
    assert units(shared(text.replace(both, body))) == OWN


def test_weights_in_parts() -> None:
    """The first ones of both, then the others: a stream that is filled in two places."""
    up, down = load(0, Sizes()), load(1, Sizes())
    first = up.replace("to %n0", "to %c1")
    rest = up.replace("= %c0 to", "= %c1 to").replace("%word0", "%more").replace("%w0", "%v")
    assert units(shared(program(Sizes()).replace(up + down, first + down + rest))) == OWN


def test_those_that_do_not_wait_for_one_another() -> None:
    """The second one takes x, too: which of both has to be first, their weights do not say."""
    text = program(sizes := Sizes(columns=(3, 3)))
    x, copy = "outs(%a = %xs : !stream.stream<vector<1xi8>, depth: 64>)", "%b = %q : !stream.stream<vector<1xi8>, depth: 64>)"
    text = text.replace(x, f"{x[:-1]}, {copy}")
    text = text.replace("into %a : !", "into %a : !stream.stream<vector<1xi8>, depth: 64>\n stream.write %0 into %b : !", 1)
    begin, end = text.index("dataflow.task @narrow"), text.index("dataflow.task @down")
    text = text[:begin] + SECOND_STORE.format(results=sizes.columns[0] * sizes.lanes) + text[end:]
    text = text.replace("%ym = dataflow.memory", "%zm = dataflow.memory @zm : memref<6xvector<1xi32>>\n %ym = dataflow.memory")
    assert ARRAY not in units(shared(text)).values()


SECOND_STORE = """dataflow.task @store_zm ins(%i = %h : !stream.stream<vector<1xi32>, depth: 64>)
        outs(%o = %zm : memref<{results}xvector<1xi32>>) kind store {{
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %n = arith.constant {results} : index
      scf.for %word = %c0 to %n step %c1 {{
        %0 = stream.read %i : !stream.stream<vector<1xi32>, depth: 64>
        memref.store %0, %o[%word] : memref<{results}xvector<1xi32>>
      }}
      dataflow.yield
    }}
    """


@pytest.mark.parametrize("change", [("constant 0 : i32", "constant 1 : i32"), (" attrs = {stc.name = \"down\", stc.shared}", "")])
def test_those_that_are_not_alike(change: tuple[str, str]) -> None:
    text = program(Sizes())
    begin = text.index("dataflow.task @down")
    assert change[0] in text[begin:]
    assert units(shared(text[:begin] + text[begin:].replace(*change))) == OWN
