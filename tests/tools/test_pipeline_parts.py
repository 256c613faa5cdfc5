"""`stc-opt --pipeline --from --until --check-stage --timing`: parts of the named pipeline, in process."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import stc.tools.stc_opt as tool
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.dialects.stream import CreateOp
from stc.pipeline import PipelineOptions, Step, hyphenated, part, read_options, run_stages, stages, steps
from stc.platforms.budget import SMALL
from stc.tools.listings import complete_part, complete_passes, complete_pipeline, complete_stage, list_of_pipelines
from stc.tools.request import CompileRequest
from stc.tools.stopwatch import Stopwatch
from stc_testing.small import small_options

LINALG = (Path(__file__).parents[2] / "filecheck_tests" / "levels" / "1_linalg.mlir").read_text()
WHOLE = steps(stages(small_options()))


def run(*arguments: str, text: str = LINALG):
    return CliRunner().invoke(tool.app, [*arguments], input=text)


def labels(chosen: list[Step]) -> list[str]:
    return [step.label for step in chosen]


# The part that is run ------------------------------------------------------------------------------------------------


def test_a_stage_stands_for_all_its_passes():
    for stage in stages(small_options()):
        chosen = part(WHOLE, stage.name, hyphenated(stage.name))
        assert {step.stage.name for step in chosen} == {stage.name}
        assert [step.ends_stage for step in chosen] == [False] * (len(stage.passes) - 1) + [True]


def test_a_stage_may_be_written_small():
    assert part(WHOLE, "hls-optimisation") == part(WHOLE, "HLS optimisation")


def test_every_pass_can_be_the_first_and_the_last():
    assert len(set(labels(WHOLE))) == len(WHOLE)
    for index, step in enumerate(WHOLE):
        assert part(WHOLE, first=step.label) == WHOLE[index:]
        assert part(WHOLE, last=step.label) == WHOLE[: index + 1]


def test_what_passes_find_is_returned_by_label():
    module = parse_module(LINALG)
    run = run_stages(module, make_context(), stages(small_options(tile=4, kernel_name="k")))
    assert set(run.found) == {"recognize-quantization", "verify-streams", "size-fifos", "verify-bounds"}
    assert run.found["verify-streams"].edges and run.found["verify-bounds"].report()["indices"]
    depths = {op.sym_name.data: op.result.type.depth for op in module.walk() if isinstance(op, CreateOp)}
    assert {fifo.name: fifo.emitted for sizing in run.found["size-fifos"] for fifo in sizing.fifos} == depths


def test_a_pass_that_runs_twice_has_two_labels():
    first, second = (labels(WHOLE).index(label) for label in ("share-subexpressions", "share-subexpressions#2"))
    assert first < second
    assert WHOLE[first].one_pass == WHOLE[second].one_pass


@pytest.mark.parametrize(
    ("first", "last", "message"),
    [
        ("insert-fork", "", "has no stage or pass 'insert-fork', did you mean 'insert-forks'"),
        ("", "kernel_fusion", "did you mean 'kernel-fusion'"),
        ("bufferization", "kernel fusion", "'kernel fusion' comes before 'bufferization' in the pipeline"),
        ("share-subexpressions#3", "", "no stage or pass 'share-subexpressions#3'"),
    ],
)
def test_what_the_pipeline_does_not_have_is_refused(first: str, last: str, message: str):
    with pytest.raises(CompileError, match=re.escape(message)):
        part(WHOLE, first, last)


def test_options_of_the_pipeline():
    assert read_options("compile") == PipelineOptions()
    text = 'compile{tile=8 propagate-orders=false platform="u280" schedule="a b.toml" on-chip=7}'
    assert read_options(text) == PipelineOptions(platform="u280", tile=8, propagate_orders=False, schedule="a b.toml", on_chip=7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("compile{tiel=8}", "pipeline 'compile' has no option 'tiel', did you mean 'tile'"),
        ("compile{tile=a}", "pipeline 'compile': option 'tile' cannot be 'a'; accepted: platform: str = u55c, tile: int = 16"),
        ("compile{tile=4 lanes=-1}", "lanes is -1; accepted: at least 0"),
        ("compile{tile=-4}", "tile is -4; accepted: at least 1"),
        ("compile{on-chip=-1}", "on_chip is -1; accepted: at least 0"),
        ("compile{duplicate_loads=-2}", "duplicate_loads is -2; accepted: at least -1"),
        ("compile{serial-converters=maybe}", "serial-converters is 'maybe'; accepted: never or free or always"),
        ("build", "unknown pipeline 'build'"),
        ("compile,compile", "names 2 pipelines"),
        ("compile{", "accepted: 'pass{option=value ...},...'"),
    ],
)
def test_wrong_options_are_refused(text: str, message: str):
    with pytest.raises(CompileError, match=re.escape(message)):
        read_options(text)


# The command ---------------------------------------------------------------------------------------------------------


def test_two_parts_are_the_whole():
    options = "compile{tile=4 lanes=4}"
    whole = run("--pipeline", options)
    half = run("--pipeline", options, "--until", "kernel-fusion")
    rest = run("--pipeline", options, "--from", "dataflow-optimisation", text=half.stdout)
    assert whole.exit_code == half.exit_code == rest.exit_code == 0
    assert "itensor.read" in half.stdout and "stream.create" in whole.stdout
    assert rest.stdout == whole.stdout


def test_options_reach_the_passes():
    given = {tile: f"compile{{tile={tile} budget={SMALL}}}" for tile in (2, 4)}
    tiles = {tile: run("--until", "propagate-orders", "--pipeline", text).stdout for tile, text in given.items()}
    assert "tile = [2, 2, 2]" in tiles[2] or "tile = [8, 2, 2]" in tiles[2]
    assert tiles[2] != tiles[4]


def test_passes_of_p_run_after_the_pipeline():
    result = run("--until", "linalg-optimisation", "-p", "default-tile-size{size=2}", "--print-ir-after-all")
    assert result.exit_code == 0
    dumps = re.findall(r"IR Dump After (\S+)", result.stderr)
    assert dumps[-2:] == ["name-ops", "default-tile-size"]
    assert "tile = [2, 2, 2]" in result.stdout


def test_a_stage_that_is_not_over_is_not_checked():
    assert run("--until", "linalg-to-dataflow", "--check-semantics=1").exit_code == 0


def test_check_stage_is_located():
    result = run("--check-stage", "kernel fusion", text="func.func @f(%x: tensor<4xf32>, %s: f32) -> tensor<4xf32> {\n"
                 "  %y = linalg.fill ins(%s : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>\n"
                 "  func.return %y : tensor<4xf32>\n}\n")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "<stdin>:2:8: error: 'linalg.fill' op may not stand at function level after stage 'kernel fusion': "
        "'linalg-to-dataflow' should have removed it",
        "  %y = linalg.fill ins(%s : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>",
        "       ^",
    ]


def test_stages_of_a_pipeline_are_checked_without_asking():
    """The input is of a later level: the first stage that is over says so."""
    fused = run("--until", "kernel-fusion").stdout
    result = run("--until", "linalg-optimisation", text=fused)
    assert result.exit_code == 1
    assert "'dataflow.kernel' op may not stand at function level after stage 'linalg optimisation'" in result.stderr


def test_unknown_stage():
    result = CliRunner().invoke(tool.app, ["--check-stage", "fusion"], input=LINALG)
    assert result.exit_code == 2
    assert "unknown stage 'fusion'; accepted: linalg-optimisation, " in result.stderr


# Time ----------------------------------------------------------------------------------------------------------------


def test_timing_names_every_pass_and_adds_up():
    result = run("--until", "linalg-optimisation", "-p", "canonicalize", "--timing", "--check-semantics=1")
    assert result.exit_code == 0
    rows = [re.fullmatch(r" *([\d.]+) +([\d.]+) %  (.+)", line) for line in result.stderr.splitlines()[1:]]
    seconds = {row[3]: float(row[1]) for row in rows if row}
    assert len(seconds) == len(rows)
    ran = labels(part(WHOLE, last="linalg-optimisation"))
    between = ["(read)", "(verify)", "(print)", "(check semantics)", "(other)"]
    assert list(seconds)[: len(ran) + 1] == [*ran, "canonicalize"]
    assert set(list(seconds)[len(ran) + 1 :]) == {*between, "(check stage)", "total"}
    total = seconds.pop("total")
    assert sum(seconds.values()) == pytest.approx(total, abs=1e-4 * len(seconds))
    assert all(value > 0 for name, value in seconds.items() if name in ("(read)", "(verify)", "(check semantics)"))


def test_timing_is_printed_after_an_error():
    result = run("-p", "tile-linalg", "--timing", text="func.func @f() {\n  %s = arith.addi %c, %c : i32\n}")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].endswith("total")


def test_stopwatch_counts_what_ends_in_an_error():
    watch = Stopwatch()
    with pytest.raises(ValueError), watch.measure("a"):
        raise ValueError
    assert watch.seconds["a"] >= 0


# Listing and completion ----------------------------------------------------------------------------------------------


def test_list_of_pipelines():
    text = run("--list-pipelines").stdout
    assert text == list_of_pipelines() + "\n"
    assert "compile{platform: str" in text
    lines = [line.strip().partition("{")[0] for line in text.splitlines()]
    for stage in stages(small_options()):
        assert hyphenated(stage.name) in lines
    positions = [lines.index(step.label) for step in WHOLE]
    assert positions == sorted(positions)


def test_completion():
    assert complete_part("kernel") == ["kernel-fusion"]
    assert complete_part("share-subexpressions") == ["share-subexpressions", "share-subexpressions#2"]
    assert complete_stage("b") == ["bufferization"]
    assert complete_pipeline("") == ["compile"]
    assert complete_passes("cse,canon") == ["cse,canonicalize", "cse,canonicalize-dmp"]


def test_a_request_says_its_format_to_the_passes() -> None:
    """Else the reference would be quantised and the design f32."""
    assert CompileRequest("gpt2-tiny", dtype="w8a8").options.quantize == "bits=8"
    with pytest.raises(CompileError, match="one of both"):
        CompileRequest("gpt2-tiny", dtype="w8a8", options=small_options(quantize="bits=4"))
