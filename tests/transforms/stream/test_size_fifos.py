"""`size-fifos` on a small design: what it reads, writes, reports and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stc.diagnostics import CompileError, UntimedError
from stc.dialects import stream
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.fifo.depths_file import depths_text
from stc.strategies.fifos import FIFOS, FifoPlan
from stc.transforms import all_passes
from stc.transforms.pass_pipeline import read_pipeline
from stc.transforms.stream.size_fifos import KernelSizing, SizeFifos

HERE = Path(__file__).parent
CHAIN, MEETING, WHOLE = (HERE / "to_be_sized.mlir").read_text().split("// -----\n")
"""Level after hls-directives: a chain, branches that meet again, and a branch that sums everything up."""


def sized(text: str, **options: object) -> tuple[KernelSizing, dict[str, int]]:
    """What the pass reports, and the depths it wrote."""
    module = parse_module(text)
    found = SizeFifos(**options).find(make_context(), module)  # pyright: ignore[reportArgumentType]
    module.verify()
    depths = {op.sym_name.data: op.result.type.depth for op in module.walk() if isinstance(op, stream.CreateOp)}
    return found[0], depths


def depth_file(folder: Path, content: object) -> str:
    path = folder / "depths.json"
    path.write_text(json.dumps(content))
    return str(path)


def test_the_report_adds_up() -> None:
    found, depths = sized(WHOLE)
    report = found.report()
    assert {fifo.name: fifo.emitted for fifo in found.fifos} == depths
    assert report["bits"]["emitted"] == sum(fifo.bits * depths[fifo.name] for fifo in found.fifos)
    assert report["bits"]["lp"] <= report["bits"]["required"] <= report["bits"]["emitted"] <= report["bits"]["worst_case"] + 128
    assert [fifo.name for fifo in found.fifos if fifo.memory_fed] == ["x_stream"]
    assert found.makespan is not None and found.seconds > 0


def test_a_shift_register_that_becomes_a_memory_costs_its_cycle(tmp_path: Path) -> None:
    """It answers a cycle later than the schedule took it to: the cycles reported are those of what is emitted."""
    found, depths = sized(CHAIN)
    assert found.makespan is not None and depths["n_out"] == 2
    deeper, _ = sized(CHAIN, depths=depth_file(tmp_path, {"n_out": 3}))
    assert deeper.makespan == found.makespan + 1


def test_depths_from_a_file_replace_the_schedule(tmp_path: Path) -> None:
    found, depths = sized(CHAIN, depths=depth_file(tmp_path, {"n_out": 5, "m_out": 7}), margin=-1)
    assert (depths["n_out"], depths["m_out"]) == (5, 7)
    assert found.strategy == "given" and found.makespan is None
    partly, _ = sized(CHAIN, depths=depth_file(tmp_path, {"n_out": 5}))
    assert partly.strategy == "no-stall"
    assert {fifo.name: fifo.required for fifo in partly.fifos}["n_out"] == 5


def test_a_file_may_say_what_is_known_of_its_depths(tmp_path: Path) -> None:
    (tmp_path / "depths.json").write_text(depths_text({"n_out": 5, "m_out": 7}, "nothing"))
    _, depths = sized(CHAIN, depths=str(tmp_path / "depths.json"), margin=-1)
    assert (depths["n_out"], depths["m_out"]) == (5, 7)


def test_depths_at_which_it_would_block_grow_and_say_so(tmp_path: Path) -> None:
    found, depths = sized(WHOLE, depths=depth_file(tmp_path, {"fork_x_1": 3}), margin=-1)
    grown = {fifo.name: fifo.grown for fifo in found.fifos if fifo.grown}
    assert grown["fork_x_1"] == 5 and depths["fork_x_1"] == 8


def test_one_slot_is_enough_where_nothing_meets_again(tmp_path: Path) -> None:
    """As `stc size` minimises a FIFO off all cycles of tasks: it is not deepened behind the user's back."""
    found, depths = sized(CHAIN, depths=depth_file(tmp_path, {"n_out": 1}), margin=-1)
    assert depths["n_out"] == 1 and {fifo.name: fifo.grown for fifo in found.fifos}["n_out"] == 0


def test_a_budget_lets_loads_run_ahead() -> None:
    _, depths = sized(CHAIN, run_ahead=6 * 16)
    assert depths["x_stream"] == 6
    _, most = sized(CHAIN, run_ahead=10**6)
    assert most["x_stream"] == 8  # all tokens


BURSTS = """
!S = !stream.stream<vector<16xf32>, depth: 2>
!T = !itensor.itensor<16xf32, iter_space: [24] * [16], iter_map: (d0) -> (d0)>
func.func @bursts(%x: tensor<384xf32>) -> tensor<384xf32> {{
  %p = dataflow.pack %x : tensor<384xf32> as !T -> tensor<24xvector<16xf32>>
  %q = dataflow.kernel @main(%in = %p : tensor<24xvector<16xf32>> as memref<24xvector<16xf32>>)
      -> (tensor<24xvector<16xf32>> as memref<24xvector<16xf32>>) {{
    %x_stream = stream.create @x_stream {{tokens = 24 : i64, distinct_tokens = 24 : i64}} : !S
    dataflow.task @load_x ins(%m = %in : memref<24xvector<16xf32>>) outs(%o = %x_stream : !S) kind load {{
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index  %c24 = arith.constant 24 : index
      {bursts}
    }}
    %late = stream.create @late {{tokens = 1 : i64, distinct_tokens = 1 : i64}} : !S
    dataflow.task @wait ins() outs(%o = %late : !S) {{
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %cycles = arith.constant {cycles} : index
      %zero = arith.constant 0.0 : f32  %token = vector.broadcast %zero : f32 to vector<16xf32>
      %a = memref.alloc() : memref<1024xf32>
      scf.for %i = %c0 to %cycles step %c1 {{
        memref.store %zero, %a[%i] : memref<1024xf32>
      }} {{stc.label = "a", stc.pipeline = 1 : i32}}
      stream.write %token into %o : !S
    }}
    %out_stream = stream.create @out_stream {{tokens = 24 : i64, distinct_tokens = 24 : i64}} : !S
    dataflow.task @pass ins(%l = %late : !S, %i = %x_stream : !S) outs(%o = %out_stream : !S) {{
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c24 = arith.constant 24 : index
      %first = stream.read %l : !S
      scf.for %k = %c0 to %c24 step %c1 {{
        %v = stream.read %i : !S
        stream.write %v into %o : !S
      }} {{stc.label = "k", stc.pipeline = 1 : i32}}
    }}
    %y = dataflow.memory @y : memref<24xvector<16xf32>>
    dataflow.task @store_y ins(%i = %out_stream : !S) outs(%m = %y : memref<24xvector<16xf32>>) kind store {{
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c24 = arith.constant 24 : index
      scf.for %k = %c0 to %c24 step %c1 {{
        %v = stream.read %i : !S
        memref.store %v, %m[%k] : memref<24xvector<16xf32>>
      }} {{stc.label = "k", stc.pipeline = 1 : i32}}
    }}
    dataflow.yield %y : memref<24xvector<16xf32>>
  }}
  %r = dataflow.unpack %q : tensor<24xvector<16xf32>> as !T -> tensor<384xf32>
  func.return %r : tensor<384xf32>
}}
"""


def bursts(number: int, cycles: int) -> str:
    """Words that are loaded in so many bursts, each after memory's latency, and needed after so many cycles."""
    loop = """scf.for %i{0} = %c{1} to %c{2} step %c1 {{
        %v{0} = memref.load %m[%i{0}] : memref<24xvector<16xf32>>
        stream.write %v{0} into %o : !S
      }} {{stc.label = "burst{0}", stc.pipeline = 1 : i32}}"""
    words = 24 // number
    text = "\n".join(loop.format(burst, burst * words, (burst + 1) * words) for burst in range(number))
    return BURSTS.format(bursts=text, cycles=cycles)


def test_loads_run_ahead_of_gaps_that_would_cost_cycles() -> None:
    found, depths = sized(bursts(3, 900))
    whole, _ = sized(bursts(1, 900))
    assert depths["x_stream"] == 16, "two bursts; the first word of the third waits in its task"
    assert found.makespan is not None and whole.makespan is not None
    assert found.makespan <= whole.makespan + 1, "a memory answers a cycle later"


@pytest.mark.parametrize(("number", "cycles"), [(1, 900), (3, 1)])
def test_loads_without_gaps_or_hurry_need_no_room(number: int, cycles: int) -> None:
    _, depths = sized(bursts(number, cycles))
    assert depths["x_stream"] == 2


def test_slack_gives_depths_at_which_it_ends() -> None:
    for text in (CHAIN, MEETING, WHOLE):
        found, _ = sized(text, slack=0.5)
        assert all(fifo.required >= 2 for fifo in found.fifos)


def test_published_depths_are_those_of_the_plan() -> None:
    for strategy, slots in (("published-normal", [8, 8, 5, 1]), ("published-conservative", [3, 3, 1, 1])):
        found, _ = sized(MEETING, strategy=strategy)
        planned = [fifo for fifo in found.fifos if fifo.occupancy is not None]
        assert [fifo.occupancy for fifo in planned] == slots and not any(fifo.grown for fifo in planned)


def test_a_plan_that_blocks_is_refused_by_the_name_of_its_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FIFOS.registered, "two", lambda problem: FifoPlan({f.name: 2 for f in problem.fifos}, may_grow=False))
    monkeypatch.setitem(FIFOS.registered, "two-or-more", lambda problem: FifoPlan({f.name: 2 for f in problem.fifos}))
    complaint = r"fifos strategy 'two': the design does not end with 2 slots of FIFO 'fork_x_1' \(fork_x to m\), but with 8"
    with pytest.raises(CompileError, match=complaint):
        sized(WHOLE, strategy="two")
    grown, _ = sized(WHOLE, strategy="two-or-more")
    assert {fifo.name: fifo.grown for fifo in grown.fifos}["fork_x_1"] == 6


def test_a_plan_without_a_slot_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FIFOS.registered, "none", lambda problem: FifoPlan({f.name: 0 for f in problem.fifos}))
    complaint = "fifos strategy 'none': its plan is wrong: FIFO 'n_out' has 0 slots; accepted: .* at least 1"
    with pytest.raises(CompileError, match=complaint):
        sized(CHAIN, strategy="none")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ('strategy="best"', "unknown fifos strategy 'best'; accepted: no-stall, published-normal, published-conservative"),
        ("slack=-1", "slack is -1; accepted: at least 0"),
        ("margin=-2", "margin is -2; accepted: at least -1"),
        ("run-ahead=-8", "run-ahead is -8; accepted: at least 0"),
        ('depths="/nowhere.json"', "cannot read depths"),
        ('platform="u200"', "unknown platform 'u200'"),
    ],
)
def test_refused_options(options: str, complaint: str) -> None:
    (one_pass,) = read_pipeline(f"size-fifos{{{options}}}", all_passes())
    with pytest.raises(CompileError, match=complaint):
        one_pass.apply(make_context(), parse_module(CHAIN))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ({"nobody": 3}, "no FIFO is called 'nobody'; accepted: x_stream, n_out, m_out"),
        ({"n_out": 0}, "FIFO 'n_out' has depth 0; accepted: from 1 to 2147483647"),
        ({"n_out": -4}, "FIFO 'n_out' has depth -4"),
        ({"n_out": "deep"}, "FIFO 'n_out' has depth \"deep\"; accepted: an integer"),
        ({"n_out": True}, "FIFO 'n_out' has depth true; accepted: an integer"),
        ([3], "not a JSON object"),
    ],
)
def test_refused_files(content: object, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=complaint):
        sized(CHAIN, depths=depth_file(tmp_path, content))


def test_earlier_levels_are_refused() -> None:
    unpipelined = CHAIN.replace("stc.pipeline", "mine.other")
    with pytest.raises(CompileError, match="loop write_out_i: is not pipelined; accepted: the IR after hls-directives"):
        sized(unpipelined)
    linalg = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { %e = math.exp %x : tensor<4xf32> func.return %e : tensor<4xf32> }"
    with pytest.raises(CompileError, match=r"'math.exp' op is of an earlier level; accepted: the IR after hls-directives"):
        sized(linalg)
    kernel = "func.func @f() { dataflow.kernel @k() { dataflow.yield } func.return }"
    with pytest.raises(CompileError, match=r"kernel @k: has no streams"):
        sized(kernel)


def side_by_side() -> str:
    """A converter with room for one block, whose two tasks share a FIFO too: neither can be followed to its end first."""
    text = (HERE.parents[1] / "codegen" / "l6" / "converter.mlir").read_text()
    for name, tokens in (("x_stream", 8), ("turned", 24), ("y_stream", 24)):
        text = text.replace(f"stream.create @{name} :", f"stream.create @{name} {{tokens = {tokens} : i64}} :")
    one = "%one = arith.constant dense<1> : vector<1xi32>"
    for old, new in (
        ("count: 2", "count: 1"),
        ("    %conv = ", "    %side = stream.create @side {tokens = 2 : i64} : !T\n    %conv = "),
        ("outs(%o = %conv : !B) {", f"outs(%o = %conv : !B, %q = %side : !T) {{\n      {one}"),
        ("ins(%i = %conv : !B)", "ins(%i = %conv : !B, %q = %side : !T)"),
        ("%m = stream.acquire %o", "stream.write %one into %q : !T\n        %m = stream.acquire %o"),
        ("%m = stream.acquire %i", "%unused = stream.read %q : !T\n        %m = stream.acquire %i"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def test_tasks_with_a_ring_and_a_fifo_between_them_are_timed() -> None:
    """With room for one block the next half is filled when the one before has been emptied; there are two halves."""
    found = [sized(side_by_side().replace("count: 1", f"count: {count}"))[0] for count in (1, 2, 3)]
    assert [(each.strategy, each.untimed) for each in found] == [("no-stall", None)] * 3
    one, two, three = (each.makespan for each in found)
    assert one is not None and two is not None and three == two < one < 2 * two


def test_a_ring_whose_consumer_moves_words_of_memory() -> None:
    """It goes as memory does, and is not walked again backwards: who fills the ring waits for it, and neither is timed. It was a
    KeyError."""
    found, depths = sized((Path(__file__).parent / "ring_to_memory.mlir").read_text())
    assert found.strategy == "token run" and found.untimed is not None and "wait for each other" in found.untimed
    assert depths == {"x_stream": 2}


def test_a_kernel_that_cannot_be_timed_keeps_the_depths_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    def untimed(*_: object) -> object:
        raise UntimedError("a block under a condition")

    monkeypatch.setattr(SizeFifos, "_plans", untimed)
    found, depths = sized(side_by_side().replace("depth: 2", "depth: 3"), margin=-1)
    assert found.strategy == "token run" and found.makespan is None
    assert found.untimed is not None and "a block under a condition" in found.untimed
    assert found.origin.startswith("kept from set-fifo-depths")
    assert set(depths.values()) == {3}
    assert all(fifo.occupancy is None and fifo.required == 3 for fifo in found.fifos)
    json.dumps(found.report())
