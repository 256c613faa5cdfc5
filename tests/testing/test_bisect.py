"""`stc bisect` names the pass that breaks a compile, and leaves a small module that fails in the same way under `stc-opt`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner
from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, FloatAttr, ModuleOp, f32
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

import stc.transforms as transforms
from stc.diagnostics import CompileError
from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.parsing import parse_module
from stc.dialects.printing import print_module
from stc.pipeline import Stage, Step, stages, steps
from stc.tools.installed_commands import add_installed_commands
from stc.tools.stc import app
from stc.tools.stc_opt import app as stc_opt
from stc_testing.bisect import Finding, Reduced, find, reduce_finding
from stc_testing.breaks import BreakKind
from stc_testing.reduction.level import Level, level_of
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

add_installed_commands(app, "bisect")

LINALG = Stage("linalg", ("generalize-named-ops", "name-ops"))


def program(count: int = 10, extent: int = 7) -> str:
    """A chain of sums and exponentials of square matrices, with one product of two; `count` structured operations."""
    kind = f"tensor<{extent}x{extent}xf32>"
    same = "affine_map<(i, j) -> (i, j)>"
    lines, last = [], "%x"
    for index in range(count):
        ops, body = (f"{last}, %w", "%s = arith.addf %a, %b : f32") if index % 2 else (last, "%s = math.tanh %a : f32")
        inputs = len(ops.split(","))
        arguments = ", ".join(f"{name}: f32" for name in ("%a", "%b", "%c")[:inputs]) + ", %o: f32"
        if index == count // 2:
            arguments, body = "%a: f32, %o: f32", "%s = math.exp %a : f32"
            ops, inputs = last, 1
        lines += [
            f"%e{index} = tensor.empty() : {kind}",
            f"%r{index} = linalg.generic {{indexing_maps = [{', '.join([same] * (inputs + 1))}], "
            f'iterator_types = ["parallel", "parallel"]}} ins({ops} : {", ".join([kind] * inputs)}) outs(%e{index} : {kind}) {{',
            f"^bb0({arguments}):",
            body,
            "linalg.yield %s : f32",
            f"}} -> {kind}",
        ]
        last = f"%r{index}"
    body = "\n".join(lines)
    return f"func.func @main(%x: {kind}, %w: {kind}) -> {kind} {{\n{body}\nfunc.return {last} : {kind}\n}}\n"


# Broken passes --------------------------------------------------------------------------------------------------------


class WrongMap(ModulePass):
    """Reads the second operand of the last sum transposed."""

    name = "wrong-map"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sums = [found for found in op.walk() if isinstance(found, GenericOp) and len(found.inputs) == 2]
        if sums and len(sums[-1].iterator_types) == 2:
            maps = sums[-1].indexing_maps.data
            swapped = AffineMapAttr(AffineMap.from_callable(lambda i, j: (j, i)))
            sums[-1].indexing_maps = ArrayAttr([maps[0], swapped, *maps[2:]])


class DropExp(ModulePass):
    """Forgets exponentials, at any level."""

    name = "drop-exp"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for found in [found for found in op.walk() if isinstance(found, math.ExpOp)]:
            found.result.replace_all_uses_with(found.operand)


class CrashOnExp(ModulePass):
    """Cannot bear exponentials."""

    name = "crash-on-exp"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for found in op.walk():
            if isinstance(found, math.ExpOp):
                raise KeyError(found.name)


class LoseMap(ModulePass):
    """Leaves an operation with a map too few."""

    name = "lose-map"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for found in op.walk():
            if isinstance(found, GenericOp) and len(found.inputs) == 2:
                found.indexing_maps = ArrayAttr(found.indexing_maps.data[1:])
                return


class RefuseExp(ModulePass):
    """Does not support exponentials, and says so."""

    name = "refuse-exp"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if any(isinstance(found, math.ExpOp) for found in op.walk()):
            raise CompileError("exponentials are not supported", accepted="anything else")


class MixUpStreams(ModulePass):
    """Connects the last task that it can with another stream of the same type."""

    name = "mix-up-streams"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        seen: list[SSAValue] = []
        wrong: list[tuple[TaskOp, int, SSAValue]] = []
        for task in [found for found in op.walk() if isinstance(found, TaskOp)]:
            for index, value in enumerate(task.ins):
                wrong += [(task, index, other) for other in seen if other.type == value.type and other is not value]
            seen += task.results
        if wrong:
            task, index, other = wrong[-1]
            task.operands[index] = other


class LoseToken(ModulePass):
    """Drops the first write of a loop into a stream that is not a DMA's: somebody waits for ever."""

    name = "lose-token"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for found in op.walk():
            if isinstance(found, stream.WriteOp) and any(isinstance(other, GenericOp) for other in _task(found).walk()):
                found.detach()
                found.erase()
                return


def _task(op: Operation) -> TaskOp:
    while not isinstance(op, TaskOp):
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


# Finding and reducing -------------------------------------------------------------------------------------------------


def found(text: str, sequence: list[Step]) -> Finding:
    finding = find(parse_module(text), sequence).finding
    assert finding is not None
    return finding


def compile_with(broken: ModulePass, stage: str) -> list[Step]:
    """The whole pipeline with `broken` as the last pass of `stage`."""
    whole = stages(small_options(kernel_name="k"))
    assert stage in {entry.name for entry in whole}
    return steps([Stage(entry.name, (*entry.passes, broken)) if entry.name == stage else entry for entry in whole])


@pytest.mark.parametrize(
    ("broken", "kind", "most"),
    [
        (WrongMap(), BreakKind.VALUE, 3),
        (DropExp(), BreakKind.VALUE, 3),
        (CrashOnExp(), BreakKind.CRASH, 3),
        (LoseMap(), BreakKind.INVALID, 3),
    ],
)
def test_linalg(broken: ModulePass, kind: BreakKind, most: int) -> None:
    finding = found(program(), steps([LINALG, Stage("more", (broken, "canonicalize"))]))
    assert finding.culprits[0].one_pass is broken and finding.broken.kind == kind and len(finding.culprits) == 1
    reduced = reduce_finding(finding, 400)
    assert reduced.before.operations >= 30 and reduced.after.operations <= most and reduced.reproduces
    assert reduced.calls < 200
    assert_fails_again(finding, reduced)


def assert_fails_again(finding: Finding, reduced: Reduced) -> None:
    """The printed module fails in the same way, and the same passes without the broken one do it no harm."""
    culprits = list(finding.culprits)
    again = found(reduced.text, culprits)
    assert finding.broken.is_like(again.broken)
    assert find(parse_module(reduced.text), culprits[:-1]).finding is None


@pytest.mark.parametrize("extent", [1, 2, 13])
def test_extents_shrink_as_far_as_the_failure_lasts(extent: int) -> None:
    """A transposed read shows from 2 x 2 on: that is what remains."""
    sequence = steps([LINALG, Stage("more", (WrongMap(),))])
    if extent == 1:
        assert find(parse_module(program(extent=extent)), sequence).finding is None
        return
    reduced = reduce_finding(found(program(extent=extent), sequence), 400)
    assert "tensor<2x2xf32>" in reduced.text and "3x" not in reduced.text


@pytest.mark.parametrize(
    ("stage", "level", "most"),
    [
        ("linalg tiling", Level.LINALG, 3),
        ("kernel fusion", Level.DATAFLOW, 9),
        ("dataflow optimisation", Level.DATAFLOW, 9),
        ("bufferization", Level.STREAM, 25),
        ("HLS optimisation", Level.STREAM, 25),
    ],
)
def test_a_fault_at_any_level_is_found_there(stage: str, level: Level, most: int) -> None:
    sequence = compile_with(DropExp(), stage)
    finding = found(program(), sequence)
    assert finding.culprits[0].one_pass.name == "drop-exp" and finding.culprits[0].stage.name == stage
    reduced = reduce_finding(finding, 400)
    assert reduced.after.operations <= most and reduced.reproduces and level_of(parse_module(reduced.text)) == level
    assert_fails_again(finding, reduced)


def test_a_wrong_connection_is_found_between_the_tasks() -> None:
    finding = found(residual(), compile_with(MixUpStreams(), "kernel fusion"))
    assert finding.culprits[0].one_pass.name == "mix-up-streams" and finding.broken.kind == BreakKind.VALUE
    reduced = reduce_finding(finding, 400)
    tasks = [text.count("dataflow.task") for text in (print_module(finding.before), reduced.text)]
    assert reduced.reproduces and tasks[1] < tasks[0]
    assert_fails_again(finding, reduced)


def residual() -> str:
    """t + t w after a few other operations, where t = exp(...): a fork and a reconvergence around a product."""
    head, _, _ = program(6).rpartition("func.return")
    kind, same = "tensor<7x7xf32>", "affine_map<(i, j) -> (i, j)>"
    return f"""{head}
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {kind}
  %f = linalg.fill ins(%zero : f32) outs(%e : {kind}) -> {kind}
  %m = linalg.matmul ins(%r5, %w : {kind}, {kind}) outs(%f : {kind}) -> {kind}
  %r = linalg.generic {{indexing_maps = [{same}, {same}, {same}], iterator_types = ["parallel", "parallel"]}}
      ins(%r5, %m : {kind}, {kind}) outs(%e : {kind}) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }} -> {kind}
  func.return %r : {kind}
}}
"""


def test_a_lost_token_is_found_in_the_streams() -> None:
    finding = found(program(4, 6), compile_with(LoseToken(), "resource allocation"))
    assert finding.culprits[0].one_pass.name == "lose-token" and finding.broken.kind == BreakKind.STUCK
    reduced = reduce_finding(finding, 300)
    assert reduced.reproduces and reduced.after.operations <= 25
    assert_fails_again(finding, reduced)


def test_dataflow_of_a_file_is_reduced_without_the_linalg() -> None:
    """The input is fused kernels already: tasks are cut out, and what they gave comes from outside."""
    module = parse_module(program(8))
    whole = steps(stages(small_options(kernel_name="k")))
    for step in whole[: [step.label for step in whole].index("insert-forks")]:
        step.one_pass.apply(Context(), module)
    assert [type(op) for op in module.walk()].count(KernelOp) == 1
    finding = find(module, steps([Stage("-p", (DropExp(),))])).finding
    assert finding is not None
    reduced = reduce_finding(finding, 400)
    assert reduced.reproduces and reduced.text.count("dataflow.task") == 1
    assert_fails_again(finding, reduced)


def test_streams_of_a_file_are_reduced_without_the_linalg() -> None:
    """The input is tasks over streams already: a task that goes is replaced by what fills and what empties its streams."""
    module = parse_module(residual())
    whole = steps(stages(small_options(kernel_name="k")))
    for step in whole[: [step.label for step in whole].index("set-fifo-depths")]:
        step.one_pass.apply(Context(), module)
    assert level_of(module) == Level.STREAM
    finding = find(module, steps([Stage("-p", (DropExp(),))])).finding
    assert finding is not None
    reduced = reduce_finding(finding, 300)
    tasks = [text.count("dataflow.task") for text in (print_module(finding.before), reduced.text)]
    assert reduced.reproduces and tasks[1] <= 3 < tasks[0]
    assert_fails_again(finding, reduced)


class VerifyStreams(ModulePass):
    """Refuses tanh of a sum; under the name of the pass that proves streams."""

    name = "verify-streams"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if any(isinstance(found, math.TanhOp) and isinstance(found.operand.owner, arith.AddfOp) for found in op.walk()):
            raise CompileError("tanh of a sum", where="%x")


def test_a_refusal_of_a_check_blames_the_pass_before_which_it_agreed() -> None:
    sequence = steps([LINALG, Stage("more", (Harmless(), OneForTanh(), Harmless(), VerifyStreams()))])
    finding = found(program(6), sequence)
    assert [step.one_pass.name for step in finding.culprits] == ["one-for-tanh", "harmless", "verify-streams"]
    assert finding.broken.kind == BreakKind.CHECK
    reduced = reduce_finding(finding, 300)
    assert reduced.reproduces and reduced.after.operations <= 3


class Harmless(ModulePass):
    """Does nothing."""

    name = "harmless"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        return


class OneForTanh(ModulePass):
    """tanh(x) becomes tanh(x + 0), which is the same value in a form that a check dislikes."""

    name = "one-for-tanh"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for found in [found for found in op.walk() if isinstance(found, math.TanhOp)]:
            block = found.parent_block()
            assert block is not None
            zero = arith.ConstantOp(FloatAttr(0.0, f32))
            more = arith.AddfOp(found.operand, zero.result)
            block.insert_ops_before([zero, more], found)
            found.operands[0] = more.result


def test_a_check_that_never_agreed_refuses_the_input() -> None:
    module = parse_module(program(6))
    OneForTanh().apply(Context(), module)
    finding = find(module, steps([Stage("more", (Harmless(), VerifyStreams()))])).finding
    assert finding is not None and finding.broken.kind == BreakKind.REFUSAL


# Command line ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for broken in (WrongMap, DropExp, CrashOnExp, LoseMap, RefuseExp):
        monkeypatch.setitem(transforms.UPSTREAM_PASSES, broken.name, lambda broken=broken: broken)


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "program.mlir"
    path.write_text(program())
    return str(path)


def run(*arguments: str):
    return CliRunner().invoke(app, ["bisect", "--small", *arguments])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("wrong-map", "changes what the module computes: result 0"),
        ("drop-exp", "changes what the module computes: result 0"),
        ("crash-on-exp", "crashes: KeyError: 'math.exp'"),
        ("lose-map", "leaves IR that does not verify: 'linalg.generic' op expected the number of indexing_map"),
    ],
)
def test_the_printed_command_shows_the_failure_again(registered: None, file: str, tmp_path: Path, name: str, said: str) -> None:
    out = tmp_path / "out"
    result = run(file, "-p", f"generalize-named-ops,{name},canonicalize", "--out", str(out), "--seed", "3")
    assert result.exit_code == 1, result.output
    assert f"pass '{name}' {said}" in result.stdout
    assert (out / "before.mlir").read_text().count("= linalg.generic") == 10
    assert (out / "reduced.mlir").read_text().count("= linalg.generic") == 1
    command = next(line for line in result.stdout.splitlines() if line.startswith("again: "))
    words = shlex.split(command.removeprefix("again: "))
    assert words[0] == "stc-opt"
    again = CliRunner().invoke(stc_opt, words[1:])
    assert again.exit_code in (1, 2) and f"'{name}'" in again.stderr


def test_json(registered: None, file: str, tmp_path: Path) -> None:
    result = run(file, "-p", "drop-exp", "--json", "--out", str(tmp_path / "out"))
    report = json.loads(result.stdout)
    assert report["broken"]["passes"] == ["drop-exp"] and report["broken"]["kind"] == "value" and report["reproduces"]
    assert report["reduced"]["operations"] <= 3 < 30 <= report["before"]["operations"]


def test_nothing_breaks(registered: None, file: str) -> None:
    result = run(file, "-p", "generalize-named-ops,canonicalize,cse")
    assert result.exit_code == 0
    assert "nothing breaks: 3 passes, IR verified and results compared after each" in result.stdout


def test_a_healthy_compile() -> None:
    """The whole pipeline over a file, as `stc compile` runs it."""
    whole = steps(stages(small_options(kernel_name="k")))
    outcome = find(parse_module(residual()), whole)
    assert outcome.finding is None and not outcome.notes


def test_a_refusal_is_unusable_input_unless_asked_for(registered: None, file: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="pass 'refuse-exp' refuses the input: exponentials are not supported"):
        CliRunner().invoke(app, ["bisect", "--small", file, "-p", "cse,refuse-exp"], catch_exceptions=False)
    result = run(file, "-p", "cse,refuse-exp", "--refusals", "--out", str(tmp_path / "out"))
    assert result.exit_code == 1
    text = (tmp_path / "out" / "reduced.mlir").read_text()
    assert text.count("= linalg.generic") == 1 and "math.exp" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.mlir", "-p", "cse"], "cannot read the file: No such file or directory"),
        (["{file}", "--serial-converters", "maybe"], "serial-converters is 'maybe'"),
        (["{file}", "-p", "csee"], "did you mean 'cse'"),
        (["{file}", "-p", "cse", "--out", "{folder}"], "not empty"),
    ],
)
def test_unusable_input(file: str, arguments: list[str], said: str) -> None:
    names = {"file": file, "folder": str(Path(file).parent)}
    with pytest.raises(CompileError, match=said):
        CliRunner().invoke(app, ["bisect", "--small", *(word.format(**names) for word in arguments)], catch_exceptions=False)
