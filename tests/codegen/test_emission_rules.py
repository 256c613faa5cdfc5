"""Each IR rule accepts the hand-written modules and has a case it refuses."""

from __future__ import annotations

import dataclasses

import pytest
from l6_examples import EXAMPLES, parse, source_of

from stc.analysis.emission_rules import check_emission_rules, emission_violations
from stc.analysis.executions import executions
from stc.analysis.task_graph import task_graph, tasks_of
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp
from stc.dialects.stream import WriteOp
from stc.platforms.platform import load_platform

PLATFORM = load_platform("u55c")

KERNEL = """
!S = !stream.stream<f32, depth: 2>
func.func @main() {{
  dataflow.kernel @k(){results} {{
{body}
    dataflow.yield{yielded}
  }}
  func.return
}}
"""

LOOP = """
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c4 step %c1 {{
        {0}
      }} {{stc.label = "l", stc.pipeline = 1 : i32}}
"""


def task(name: str, ports: str, body: str) -> str:
    return f"dataflow.task @{name} {ports} {{ {body} dataflow.yield }}\n"


def violations(body: str) -> list[str]:
    module = parse(KERNEL.format(body=body, results="", yielded=""))
    return [str(violation) for violation in emission_violations(module, PLATFORM)]


STREAM = "%s = stream.create @s : !S\n"
ZERO = "%z = arith.constant 0.0 : f32\n"
WRITER = task("w", "outs(%o = %s : !S)", ZERO + LOOP.format("stream.write %z into %o : !S"))
READER = task("r", "ins(%i0 = %s : !S)", LOOP.format("%v = stream.read %i0 : !S"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_keep_all_rules(name: str) -> None:
    check_emission_rules(parse(source_of(name)), PLATFORM)


def test_rule_1_ends_of_a_stream() -> None:
    assert violations(STREAM + WRITER + READER) == []
    assert violations(STREAM + WRITER) == ["rule 1: @s has 0 reader tasks, expected one"]
    assert violations(STREAM + WRITER + WRITER.replace("@w", "@w2") + READER) == ["rule 1: @s has 2 writer tasks, expected one"]


def test_rule_1_token_counts() -> None:
    assert violations(STREAM + WRITER + READER.replace("constant 4", "constant 3")) == [
        "rule 1: @s: @w writes 4 tokens but @r reads 3"
    ]


PASS_ON = LOOP.format("%v = stream.read %i0 : !S stream.write %v into %o : !S")
LOOPED = STREAM + "%t = stream.create @t : !S\n"


def test_rule_2_and_3_cycles() -> None:
    there = task("a", "ins(%i0 = %t : !S) outs(%o = %s : !S)", PASS_ON)
    back = task("b", "ins(%i0 = %s : !S) outs(%o = %t : !S)", PASS_ON)
    found = violations(LOOPED + there + back)
    assert "rule 2: tasks form a cycle: @a, @b" in found
    assert "rule 3: @a: an iteration writes a stream and reads one that depends on it" in found


def test_rule_3_two_loops_are_only_a_cycle() -> None:
    body = ZERO + LOOP.format("stream.write %z into %o : !S") + LOOP.format("%v = stream.read %i0 : !S").replace(
        "%c", "%d").replace('"l"', '"l2"')
    apart = task("a", "ins(%i0 = %t : !S) outs(%o = %s : !S)", body)
    back = task("b", "ins(%i0 = %s : !S) outs(%o = %t : !S)", PASS_ON)
    found = violations(LOOPED + apart + back)
    assert any(text.startswith("rule 2") for text in found)
    assert not any("rule 3: @a" in text for text in found)


def test_rule_5_blocks() -> None:
    block = "!stream.block<memref<4xf32>, count: 2>"
    ring = f"%b = stream.buffer @ring : {block}\n"
    fill = task("f", f"outs(%o = %b : {block})", f"%m = stream.acquire %o : {block} -> memref<4xf32>")
    drain = task("d", f"ins(%i0 = %b : {block})", f"%m = stream.acquire %i0 : {block} -> memref<4xf32>")
    assert violations(ring + fill + drain) == []
    assert violations(ring + fill + drain + drain.replace("@d", "@d2")) == ["rule 5: @ring has 2 reader tasks, expected one"]


MEMORY = "%y = dataflow.memory @y : memref<4xvector<8xf32>>\n"
STORE = task("st", "outs(%m = %y : memref<4xvector<8xf32>>)", "%v = arith.constant dense<0.0> : vector<8xf32>\n" + LOOP.format(
    "memref.store %v, %m[%i] : memref<4xvector<8xf32>>"))
LOAD = task("ld", "ins(%m = %y : memref<4xvector<8xf32>>)", LOOP.format("%v = memref.load %m[%i] : memref<4xvector<8xf32>>"))


def test_rule_5_external_memory() -> None:
    assert violations(MEMORY + STORE) == []
    assert violations(MEMORY + STORE + LOAD) == [
        "rule 5: @y is written and read in one kernel, expected a stream between the tasks"
    ]


def test_rule_12_loops() -> None:
    inner = LOOP.format("%v = stream.read %i0 : !S").replace("%c", "%d").replace('"l"', '"inner"').replace(
        ", stc.pipeline = 1 : i32", "").replace("%i =", "%j =")
    reader = task("r", "ins(%i0 = %s : !S)", LOOP.format(inner))
    writer = WRITER.replace("constant 4", "constant 16")
    assert violations(STREAM + writer + reader) == ["rule 12: @r: pipelined loop l contains loop inner, expected it unrolled"]
    unrolled = reader.replace('"inner"', '"inner", stc.unroll = 0 : i32')
    assert violations(STREAM + writer + unrolled) == []
    unbounded = READER.replace("%c4 = arith.constant 4 : index", "%n = arith.addi %c1, %c1 : index").replace("%c4", "%n")
    assert violations(STREAM + WRITER + unbounded) == ["rule 12: @r: loop l has no constant bounds"]


def test_rule_18_partitions() -> None:
    array = "%a = memref.alloc() {stc.partition = [[0, 0], [1, 64]]} : memref<32x128xf32>\n"
    assert violations(task("t", "", array)) == ["rule 18: @t: a has 2048 partitions, expected at most 1024"]
    assert violations(task("t", "", array.replace("[1, 64]", "[1, 32]"))) == []


def test_rule_20_one_writer_per_port() -> None:
    found = violations(MEMORY + STORE + STORE.replace("@st", "@st2"))
    assert found == ["rule 20: @y has 2 writing tasks (@st, @st2), expected one"]


def test_rule_22_channel_size() -> None:
    small = dataclasses.replace(PLATFORM, memory=dataclasses.replace(PLATFORM.memory, channel_bytes=64))
    module = parse(KERNEL.format(body=MEMORY + STORE, results="", yielded=""))
    assert [violation.rule for violation in emission_violations(module, small)] == [22]


def test_violations_are_one_error() -> None:
    with pytest.raises(CompileError, match=r"emission rules \(docs/design/emission_rules.md\): rule 1"):
        check_emission_rules(parse(KERNEL.format(body=STREAM + WRITER, results="", yielded="")), PLATFORM)


def test_guarded_accesses_are_counted() -> None:
    module = parse(source_of("matmul"))
    kernel = next(operation for operation in module.walk() if isinstance(operation, KernelOp))
    fc = next(task for task in tasks_of(kernel) if task.sym_name.data == "fc")
    (write,) = [operation for operation in fc.walk() if isinstance(operation, WriteOp)]
    assert executions(write, fc) == 8
    assert {channel.tokens for channel in task_graph(kernel).channels} == {12, 6, 8}


def _messages(text: str, rule: int) -> list[str]:
    return [violation.message for violation in emission_violations(parse(text), PLATFORM) if violation.rule == rule]


def test_rule_13_sums_that_are_not_ready():
    text = source_of("matmul")
    hasty = text.replace('stc.label = "mac", stc.pipeline = 3', 'stc.label = "mac", stc.pipeline = 1')
    assert hasty != text
    assert _messages(text, 13) == []
    assert _messages(hasty, 13) == ["@fc: loop mac has II 1, its float sum needs 3"]


def test_rule_14_accesses_per_bank():
    text = source_of("converter")
    crowded = text.replace('stc.label = "fill_b", stc.pipeline = 2', 'stc.label = "fill_b", stc.pipeline = 1')
    assert crowded != text
    assert _messages(text, 14) == []
    what = ["@turn_fill: loop fill_b accesses a bank of m 3 times in 1 cycles"]
    assert _messages(crowded, 14) == what
    cut = crowded.replace("stream.buffer @halves", "stream.buffer @halves {stc.partition = [[1, 0]]}")
    assert _messages(cut, 14) == what, "nothing partitions a block"
    assert _messages(cut, 27) == [
        "@halves is partitioned, which a stream of blocks cannot be; expected blocks whose entries are whole tokens"
    ]


@pytest.mark.parametrize(("array", "is_memory"), [
    ("memref.alloc() : memref<1xf32>", False),
    ("memref.alloc() : memref<4xf32>", True),
    ("memref.alloc() {stc.partition = [[0, 0]]} : memref<4xf32>", False),
    ('memref.alloc() {stc.storage = ["ram_2p", "lutram"]} : memref<1xf32>', True),
])
def test_rule_14_registers_have_no_ports(array: str, is_memory: bool) -> None:
    kind = array.rpartition(" ")[2]
    body = f"""%zero = arith.constant dense<0.0> : vector<1xf32>
      vector.store %zero, %a[%c0] : {kind}, vector<1xf32>
      %x = memref.load %a[%c0] : {kind} %y = arith.negf %x : f32
      memref.store %y, %a[%c0] : {kind}"""
    found = violations(task("t", "", f"%a = {array}\n" + LOOP.format(body)))
    assert found == (["rule 14: @t: loop l accesses a bank of a 3 times in 1 cycles"] if is_memory else [])


def test_rule_18_multiply_accumulates(monkeypatch: pytest.MonkeyPatch):
    text = source_of("matmul")
    assert _messages(text, 18) == []
    monkeypatch.setattr("stc.analysis.emission_rules.MAX_MULTIPLY_ACCUMULATES", 4)
    assert _messages(text, 18) == ["@fc does 8 multiply-accumulates at once, at most 4"]
