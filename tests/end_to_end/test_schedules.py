"""`schedule.toml`: complete, so that given back unchanged it gives the same design; and read with care."""

from __future__ import annotations

import tomllib
from dataclasses import fields, replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from stc.diagnostics import CompileError
from stc.manifest.files import read_manifest
from stc.pipeline import PipelineOptions, stages, steps
from stc.quantisation.formats import LinearFormat, read_quantisation
from stc.tools.schedule_file import require_known_formats, with_schedule
from stc.tools.stc import app
from stc.transforms.stream.size_fifos import SizeFifos
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

LINEAR = str(Path(__file__).parents[2] / "examples" / "linear_relu.mlir")
PERCEPTRON = str(Path(__file__).with_name("modules.py")) + ":perceptron"
PRODUCT = str(Path(__file__).with_name("modules.py")) + ":scores"


def compiled(out: Path, *arguments: str) -> dict[str, bytes]:
    """The files of a design, but what says how long things took."""
    done = CliRunner().invoke(app, ["compile", *arguments, "--out", str(out)])
    assert done.exit_code == 0, done.output
    files = {str(path.relative_to(out)): path for path in sorted(out.rglob("*")) if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if name != "report.json"}


@pytest.mark.parametrize(
    "arguments",
    [
        (LINEAR, "--tile", "4", "--lanes", "4", "--small"),
        (LINEAR, "--slack", "0.5", "--fifo-margin", "-1", "--run-ahead", "4096"),
        pytest.param(("gpt2-tiny", "--seq", "6", "--budget", "dsp=300"), marks=pytest.mark.full),
        pytest.param(
            (PRODUCT, "--small", "--uniform-tiles", "--fusion", "separate", "--serial-converters", "always"), marks=pytest.mark.full
        ),
    ],
    ids=["linear", "fifos", "copies", "uniform"],
)
def test_given_back_unchanged_it_gives_the_same_files(arguments: tuple[str, ...], tmp_path: Path) -> None:
    first = compiled(tmp_path / "first", *arguments)
    schedule = tmp_path / "first" / "schedule.toml"
    tables = tomllib.loads(schedule.read_text())
    assert tables["stc"]["options"]["tile"] == (4 if "--tile" in arguments else 16) and tables["stc"]["fifos"]
    model = arguments[:3] if "--seq" in arguments else arguments[:1]
    again = compiled(tmp_path / "again", *model, "--schedule", str(schedule))
    assert again.keys() == first.keys()
    assert [name for name in first if first[name] != again[name]] == []


def test_what_size_fifos_offers_can_be_asked_of_a_compile(tmp_path: Path) -> None:
    """All its options but the files it reads, and what they do."""
    offered = {field.name for field in fields(SizeFifos)} - {"name", "depths", "schedule"}
    asked = {"strategy": "published-normal", "slack": 0.5, "margin": -1, "run_ahead": 4096, "platform": "u55c"}
    asked |= {"budget": "bram=40%"}
    assert offered == asked.keys()
    options = small_options(fifo_strategy="published-normal", slack=0.5, fifo_margin=-1, run_ahead=4096, budget="bram=40%")
    (sizing,) = (step.one_pass for step in steps(stages(options)) if step.named.name == SizeFifos.name)
    assert {name: getattr(sizing, name) for name in offered} == asked
    compiled(tmp_path / "first", LINEAR, "--small")
    compiled(tmp_path / "ahead", LINEAR, "--small", "--run-ahead", "4096")
    first, ahead = (
        {fifo.name: fifo.depth for kernel in read_manifest(tmp_path / name).kernels for fifo in kernel.streams}
        for name in ("first", "ahead")
    )
    assert sum(ahead.values()) > sum(first.values())


def test_an_edited_tile_is_taken(tmp_path: Path) -> None:
    compiled(tmp_path / "first", LINEAR, "--small", "--tile", "4", "--lanes", "4")
    text = (tmp_path / "first" / "schedule.toml").read_text()
    assert "tile = [8, 4, 4]" in text
    edited = tmp_path / "edited.toml"
    edited.write_text(text.replace("tile = [8, 4, 4]", "tile = [8, 4, 6]").split("# Tokens that each FIFO")[0])
    found = compiled(tmp_path / "again", LINEAR, "--schedule", str(edited))
    assert b"tile = [8, 4, 6]" in found["schedule.toml"] and b"[stc.fifos]" in found["schedule.toml"]


def schedule(tmp_path: Path, text: str) -> PipelineOptions:
    path = tmp_path / "schedule.toml"
    path.write_text(text)
    return small_options(schedule=str(path))


def test_the_command_line_counts_more(tmp_path: Path) -> None:
    options = schedule(tmp_path, "[stc.options]\ntile = 8\nlanes = 4\n")
    assert (with_schedule(options, ["tile"]).tile, with_schedule(options, ["tile"]).lanes) == (16, 4)


def test_lanes_that_it_says_are_not_searched_otherwise(tmp_path: Path) -> None:
    options = schedule(tmp_path, "[stc.parallelism]\nfc = { lanes = 2, copies = 1 }\n")
    with pytest.raises(CompileError, match="it says lanes and copies, and --parallelism asks for others; accepted: one of both"):
        with_schedule(options, ["parallelism"])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[stc.options]\ntiles = 8\n", "no option is called 'tiles', did you mean 'tile'"),
        ("[stc.options]\ntile = true\n", "tile is True; accepted: a value of type int"),
        ("[stc.options]\ntile = 0\n", "tile is 0; accepted: at least 1"),
        ("[stc.options]\nschedule = 'other.toml'\n", "no option is called 'schedule'"),
        ("stc.options = [1]\n", "'stc.options' is no table"),
        ("[stc.formats]\nfc = 4\n", "'stc.formats' is no table of texts"),
        ("[stc.formats]\nfc = 'bits=3'\n", "fc: 'bits=3'; accepted: bits=4, bits=8"),
        ("[stc.formats]\nfc = ''\n", "'' is no format of a layer; accepted: f32, or bits=..., group="),
        ("[stc.formats]\nfc = 'bits=4,fc.bits=8'\n", "'bits=4,fc.bits=8' is no format of a layer"),
        ("[stc.formats]\nfc = 'kv=int8'\n", "'kv=int8' is no format of a layer"),
        ("[stc.fifo]\nx = 8\n", "there is no table 'stc.fifo'; accepted: options, parallelism, loops, fifos, memories"),
    ],
)
def test_wrong_tables(text: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=complaint):
        with_schedule(schedule(tmp_path, text), ())


def test_formats_of_layers_can_be_edited(tmp_path: Path) -> None:
    """What a design's schedule lists is what is given back; an edited entry reaches passes, reference and parameters."""
    compiled(tmp_path / "first", PERCEPTRON, "--small", "--quantize", "bits=8,down.bits=4")
    text = (tmp_path / "first" / "schedule.toml").read_text()
    formats = {"up": f"{LinearFormat(8)}", "down": f"{LinearFormat(4)}"}
    assert tomllib.loads(text)["stc"]["formats"] == formats
    edited = tmp_path / "edited.toml"
    options = text[: text.index("\n\n[", text.index("[stc.options]"))]  # other formats make other computations
    edited.write_text(f"{options}\n[stc.formats]\nup = 'f32'\ndown = 'bits=8,group=4'\n")
    found = compiled(tmp_path / "again", PERCEPTRON, "--schedule", str(edited), "--check")
    said = tomllib.loads(found["schedule.toml"].decode())["stc"]
    assert said["formats"] == {"up": "f32", "down": f"{LinearFormat(8, 4)}"}
    manifest = read_manifest(tmp_path / "again")
    assert manifest.options["quantize"] == said["options"]["quantize"] == f"bits=8,except=up,{of_path('down', LinearFormat(8, 4))}"
    again = compiled(tmp_path / "third", PERCEPTRON, "--schedule", str(tmp_path / "again" / "schedule.toml"))
    assert again == {name: found[name] for name in again}


def of_path(path: str, own: LinearFormat) -> str:
    return ",".join(f"{path}.{said}" for said in str(own).split(","))


def test_formats_of_layers_and_those_of_the_command_line(tmp_path: Path) -> None:
    """A table alone quantises what it names; the command line may say the same, and nothing else."""
    options = schedule(tmp_path, "[stc.formats]\nfc = 'bits=4'\n")
    expected = f"bits=f32,{of_path('fc', LinearFormat(4))}"
    assert with_schedule(options, ()).quantize == expected
    chosen = read_quantisation(expected)
    assert (chosen.format_of("fc"), chosen.format_of("fd"), chosen.format_of("lm_head")) == (LinearFormat(4), None, None)
    same = replace(options, quantize="bits=8,fc.bits=4")
    assert with_schedule(same, ["quantize"]).quantize == same.quantize
    with pytest.raises(CompileError, match=r"formats\]: 'fc' is bits=4,.*, and bits=8,.* by --quantize or --dtype; accepted"):
        with_schedule(replace(options, quantize="bits=8"), ["quantize"])


def test_formats_of_layers_that_there_are(tmp_path: Path) -> None:
    path = schedule(tmp_path, "[stc.formats]\n'mlp.c_fc' = 'bits=4'\nattn = 'f32'\n").schedule
    require_known_formats(path, ["mlp.c_fc", "attn.c_attn"])
    with pytest.raises(CompileError, match=r"formats\]: no linear layer is called 'mlp\.c_fc', did you mean 'mlp\.c_fx'\?"):
        require_known_formats(path, ["mlp.c_fx", "attn.c_attn"])


def test_a_schedule_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "schedule.toml"
    path.write_bytes(b"\xa8\x00")
    with pytest.raises(CompileError, match="schedule is not TOML"):
        with_schedule(small_options(schedule=str(path)), ())


FIXED = '[stc.memories]\n"fc.x" = "bram"\n'


def test_a_memory_that_is_given_is_taken_and_the_others_are_chosen(tmp_path: Path) -> None:
    path = tmp_path / "schedule.toml"
    path.write_text(FIXED)
    found = compiled(tmp_path / "first", LINEAR, "--small", "--schedule", str(path))
    again = compiled(tmp_path / "again", LINEAR, "--schedule", str(tmp_path / "first" / "schedule.toml"))
    assert again == found
    memories = tomllib.loads(found["schedule.toml"].decode())["stc"]["memories"]
    assert memories["fc.x"] == "bram" and memories["fc.fc_partial"] == "lutram"
    pragmas = {line for line in found["kernel.cpp"].decode().splitlines() if "bind_storage" in line}
    assert "#pragma HLS bind_storage variable=x type=ram_s2p impl=bram latency=1" in pragmas


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ('"fc.x" = 3', "stc.memories is no table of memories"),
        ('"fc.v" = "bram"', "no array or FIFO is called 'fc.v', did you mean 'fc.x'"),
        ('"fc.x" = "rom"', "'fc.x' is 'rom', with 12 banks of 8 words of 32 bits, ram_s2p"),
        ('"fc.x" = "srl"', "accepted: lutram, bram, uram"),
    ],
)
def test_wrong_memories(table: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "schedule.toml"
    path.write_text(f"[stc.memories]\n{table}\n")
    done = CliRunner().invoke(app, ["compile", "--small", LINEAR, "--schedule", str(path), "--out", str(tmp_path / "out")])
    assert isinstance(done.exception, CompileError) and complaint in str(done.exception)


TOO_DEEP = ("x_stream = 100000000000000", "FIFO 'x_stream' has depth 100000000000000; accepted: from 1 to 2147483647")


@pytest.mark.parametrize(
    ("table", "complaint"),
    [("x_stream = 'deep'", "stc.fifos is no table of depths"), ("y_stream = 4", "no FIFO is called 'y_stream'"), TOO_DEEP],
)
def test_wrong_depths(table: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "schedule.toml"
    path.write_text(f"[stc.fifos]\n{table}\n")
    done = CliRunner().invoke(app, ["compile", "--small", LINEAR, "--schedule", str(path), "--out", str(tmp_path / "out")])
    assert isinstance(done.exception, CompileError) and complaint in str(done.exception)
