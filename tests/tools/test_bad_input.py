"""Unusable input: one line on stderr that says what, where and what would be accepted; exit code 2; nothing left behind."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

import stc.platforms as stc_platforms
from stc.tools.command_line import run_app
from stc_testing.commands import Stc, refused

pytestmark = pytest.mark.heavy

FACTORIES = """
import torch
from stc_testing import quantised_modules

class Applied(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
    def forward(self, x):
        return self.function(x)

def of(function, *shape, dtype=torch.float32):
    return Applied(function), (torch.ones(*shape, dtype=dtype),)

def svd(): return of(lambda x: torch.linalg.svd(x)[1], 3, 5)
def scan(): return of(lambda x: torch.cumsum(x, 1), 3, 5)
def nonzero(): return of(torch.nonzero, 3, 5)
def half(): return of(torch.relu, 3, dtype=torch.float16)
def double(): return of(torch.relu, 3, dtype=torch.float64)
def gather(): return of(lambda x: x[torch.tensor([2, 0])], 3, 5)
def raises(): return {}["key"]
def wrapped(): return quantised_modules.wrapped_weights()
def scaled(scale):
    module, inputs = quantised_modules.tokens()
    module.weights.scales[1] = scale
    return module, inputs
def zero_scale(): return scaled(0)
def nan_scale(): return scaled(float("nan"))
def layers(): return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)), (torch.ones(2, 4),)
def product(): return of(lambda x: torch.relu(x) @ x.transpose(0, 1), 6, 4)
"""

LINALG = {
    "dynamic": "func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {\n  return %x : tensor<?x4xf32>\n}\n",
    "syntax": "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n",
    "undefined": "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %y : tensor<4xf32>\n}\n",
    "types": "func.func @f(%x: tensor<4xf32>) -> tensor<5xf32> {\n  return %x : tensor<4xf32>\n}\n",
    "brain": "func.func @f(%x: tensor<4xbf16>) -> tensor<4xbf16> {\n  return %x : tensor<4xbf16>\n}\n",
    "operation": 'func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = "foo.bar"(%x) : (tensor<4xf32>) -> tensor<4xf32>\n'
    "  return %y : tensor<4xf32>\n}\n",
    "scalar": "func.func @f(%x: f32) -> f32 {\n  return %x : f32\n}\n",
    "two": "func.func @f() {\n  return\n}\nfunc.func @g() {\n  return\n}\n",
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests run in a folder with the files above."""
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "models.py").write_text(FACTORIES)
    for name, text in LINALG.items():
        (folder / f"{name}.mlir").write_text(text)
    monkeypatch.chdir(folder)


def files_here() -> set[str]:
    return {path.name for path in Path.cwd().iterdir()} - {"__pycache__"}


CASES = {
    "models.py:svd": ("torch.aten._linalg_svd is not supported", "accepted:"),
    "models.py:scan": ("a running sum or product (torch.cumsum, cumprod) is not supported", "accepted:"),
    "models.py:nonzero": ("aten.nonzero.default gives a dynamic shape", "accepted: static shapes"),
    "models.py:zero_scale": ("weights.scales: a scale is 0.0", "accepted: finite scales other than 0"),
    "models.py:nan_scale": ("weights.scales: a scale is nan", "accepted: finite scales other than 0"),
    "models.py:half": ("x has dtype float16", "accepted: float32"),
    "models.py:double": ("x has dtype float64", "accepted: float32"),
    "models.py:gather": ("computed positions", "accepted:"),
    "models.py:raises": ("models.py:", "KeyError"),
    "models.py:nobody": ("no function nobody", "accepted:"),
    "none.py:factory": ("none.py: no such file", "accepted: file.py:factory"),
    "dynamic.mlir": ("dynamic.mlir:1:1", "dynamic shape tensor<?x4xf32>", "accepted: static shapes"),
    "syntax.mlir": ("syntax.mlir:3:1",),
    "undefined.mlir": ("undefined.mlir:2:10", "%y is used but not defined"),
    "types.mlir": ("types.mlir:2:3", "tensor<5xf32>"),
    "brain.mlir": ("brain.mlir:1:1", "bf16", "accepted: f64, f32"),
    "operation.mlir": ("operation.mlir:2:", "foo.bar is not registered"),
    "scalar.mlir": ("scalar.mlir:1:1", "type f32", "accepted: tensors"),
    "two.mlir": ("functions @f, @g", "accepted: one function"),
    "none.mlir": ("none.mlir: cannot read the file", "accepted:"),
    "gpt7": ("unknown model gpt7", "gpt2-medium", "file.py:factory"),
}


@pytest.mark.parametrize("model", CASES)
def test_unusable_models(stc: Stc, model: str) -> None:
    before = files_here()
    refused(stc("compile", model, "--out", "out"), *CASES[model])
    assert files_here() == before


def test_layers_are_not_quantised_twice(stc: Stc) -> None:
    asked = ("compile", "models.py:wrapped", "--dtype", "w8a8", "--out", "out")
    refused(stc(*asked), "0: the layer is quantised already: its weight is a Scaled", "neither --quantize nor --dtype", "except=0")


OPTIONS = {
    "--platform u9": ("unknown platform 'u9'", "accepted: kv260, u280, u55c, v80, or the path of a platform file"),
    "--stage fly": ("fly", "accepted:"),
    "--dtype f8": ("unknown dtype f8", "accepted: f32, w8a8, w4a8"),
    "--dtype w4a8 --quantize bits=8": ("--dtype w4a8 and --quantize bits=8", "one of both"),
    "--stage model --dtype f8": ("unknown dtype f8", "accepted: f32, w8a8, w4a8"),
    "--stage model --quantize except=lm_hed": ("no linear layer is called 'lm_hed', did you mean 'lm_head'", "attn.c_attn"),
    "--stage model --quantize except=attn,except=mlp,head=f32": ("no linear layer to quantise", "that are not excepted"),
    "--quantize head=16": ("--quantize: 'head=16'", "accepted: head=4, head=8, head=f32"),
    "--quantize mlp.head=8": ("--quantize: 'mlp.head=8'", "accepted:"),
    "--quantize bits=3": ("--quantize: 'bits=3'", "accepted: bits=4, bits=8"),
    "--quantize scale=f8": ("'scale=f8'", "accepted: scale=f16, scale=bf16"),
    "--quantize except=mlp.c_fx": ("no linear layer is called 'mlp.c_fx', did you mean 'mlp.c_fc'", "accepted: attn.c_attn"),
    "--quantize except=mlp,mlp.c_fc.bits=4": ("layer 'mlp.c_fc' is excepted ('mlp') and has a format of its own", "one of both"),
    "--seq 0": ("sequence length 0", "accepted: 1 to 64"),
    "--seq 65": ("sequence length 65", "accepted: 1 to 64"),
    "--seq many": ("--seq",),
    "--layer 1": ("layer 1", "accepted: 0 to 0"),
    "--tile 0": ("--tile", "greater than or equal to 1"),
    "--lanes -1": ("--lanes", "greater than or equal to 0"),
    "--on-chip -1": ("--on-chip", "greater than or equal to 0"),
    "--on-chip 100": ("bytes of on-chip memory, on-chip allows 100", "accepted: --on-chip of at least"),
    "--budget dsp=60%,dsp=5": ("budget says dsp twice", "accepted: each name once"),
    "--budget lut=200%": ("budget says lut=200%", "accepted: a number from 0, or a share from 0% to 100%"),
    "--budget ports=33": ("u55c: budget says ports=33, over 100 %", "accepted: at most 32"),
    "--budget 4000": ("budget has '4000'", "accepted: small, plan, or dsp, lut"),
    "--small --budget dsp=500": ("--small and --budget dsp=500", "accepted: one of both"),
    "--weights nowhere": ("nowhere: no such folder", "accepted: a folder with *.safetensors"),
    "--schedule none.toml": ("none.toml: schedule cannot be read", "accepted: a TOML file"),
    "--fast": ("No such option: --fast",),
}


@pytest.mark.parametrize("options", OPTIONS)
def test_unusable_options(stc: Stc, options: str) -> None:
    before, seq = files_here(), () if "--stage model" in options else ("--seq", "8")
    refused(stc("compile", "gpt2-tiny", *seq, "--out", "out", *options.split()), *OPTIONS[options])
    assert files_here() == before


SCHEDULES = {
    "[product]\ntile = [4, 2, 2]": ("product: tile 4 of loop 0 does not divide its extent 6", "accepted: one of 1, 2, 3, 6"),
    "[product]\ntile = [2, 2]": ("tile is [2, 2]", "accepted: a list of 3 integers, one per loop"),
    "[product]\ntile = [2, 2, 2]\norder = [0, 0, 1]": ("order [0, 0, 1]", "each of the loops 0 to 2 once"),
    "[product]\ntile = [2, 2, 2]\nunroll = [1, 4, 1]": ("unroll 4 of loop 1 does not divide its tile 2", "accepted: one of 1, 2"),
    "[product]\ntiles = [2, 2, 2]": ("unknown field 'tiles'", "accepted: tile, order, unroll, vector"),
    "[nobody]\ntile = [2]": ("no op is called 'nobody'", "accepted: "),
    "product = 3": ("'product' is no table", "accepted:"),
    "[product": ("schedule.toml: schedule is not TOML", "accepted: one table per op"),
}


@pytest.mark.parametrize("text", SCHEDULES)
def test_unusable_schedules(stc: Stc, text: str) -> None:
    Path("schedule.toml").write_text(text.replace("product", "matmul"))
    before = files_here()
    ended = stc("compile", "--small", "models.py:product", "--out", "out", "--schedule", "schedule.toml")
    refused(ended, *(part.replace("product", "matmul") for part in SCHEDULES[text]))
    assert files_here() == before


def test_an_excepted_layer_has_no_sums_of_integers_to_schedule(stc: Stc) -> None:
    Path("schedule.toml").write_text("[layer1_matmul0]\ntile = [2, 4, 2, 2]")
    before = files_here()
    options = ("--quantize", "bits=8,group=2,except=1", "--schedule", "schedule.toml")
    ended = stc("compile", "--small", "models.py:layers", "--out", "out", *options)
    refused(ended, "schedule.toml: no op is called 'layer1_matmul0'", "layer1,")
    assert files_here() == before


DOUBLED = """#id = affine_map<(i, j) -> (i, j)>
func.func @f(%x: tensor<6x640xf32> {stc.name = "x"}) -> (tensor<6x640xf32> {stc.name = "y"}) {
  %e = tensor.empty() : tensor<6x640xf32>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<6x640xf32>) outs(%e : tensor<6x640xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<6x640xf32>
  return %z : tensor<6x640xf32>
}
"""


def test_more_bytes_than_a_channel_holds(stc: Stc) -> None:
    """On a card whose channels are small, not to compute with half a gigabyte."""
    card = (Path(stc_platforms.__file__).parent / "data" / "u55c.toml").read_text()
    card = card.replace('name = "u55c"', 'name = "narrow"', 1)
    Path("card.toml").write_text(re.sub(r"^channel_bytes = \d+", "channel_bytes = 4096", card, flags=re.MULTILINE))
    Path("doubled.mlir").write_text(DOUBLED)
    before = files_here()
    ended = stc("compile", "doubled.mlir", "--small", "--platform", "card.toml", "--out", "out")
    refused(ended, "rule 22: %x takes 15360 bytes, a channel has 4096, expected it in more ports (lanes, copies), in fewer bits")
    assert files_here() == before


def test_more_ports_than_the_platform_has(stc: Stc) -> None:
    Path("doubled.mlir").write_text(DOUBLED)
    Path("schedule.toml").write_text("[add]\ntile = [1, 640]\nunroll = [1, 640]")
    before = files_here()
    ended = stc("compile", "doubled.mlir", "--small", "--schedule", "schedule.toml", "--out", "out")
    refused(ended, "kernel has 80 memory ports", "accepted: at most 32 on u55c")
    assert files_here() == before


def test_links_that_are_too_wide(stc: Stc) -> None:
    text = (Path(__file__).parents[2] / "examples" / "layer_loop.mlir").read_text()
    for old, new in (("5x32xf32", "5x640xf32"), ("tensor<32xf32>", "tensor<640xf32>"), ("4xf32", "80xf32"), ("[1, 4]", "[1, 80]"),
                     ("* [4]", "* [80]"), ("tile = [4]", "tile = [80]")):  # fmt: skip
        text = text.replace(old, new)
    Path("links.mlir").write_text(text)
    said = "rule 8: 'down' has tokens of 2560 bits, expected whole bytes up to 2048 bits, between units mover and body"
    refused(stc("compile", "links.mlir", "--from", "resource-allocation", "--small", "--out", "out"), said)


@pytest.mark.parametrize("arguments", ["nope", "compile", "compile gpt2-tiny", "csim", "csim a b", "compile --nope"])
def test_wrong_usage(stc: Stc, arguments: str) -> None:
    first = arguments.split()[0]
    refused(stc(*arguments.split()), "(see stc --help)" if first == "nope" else f"(see stc {first} --help)")


def test_no_arguments_show_the_help(stc: Stc) -> None:
    ended = stc()
    assert ended.code == 0 and "compile" in ended.stdout and "csim" in ended.stdout


def test_output_is_never_overwritten(stc: Stc) -> None:
    Path("full").mkdir()
    Path("full/precious").write_text("mine")
    Path("file").write_text("mine too")
    for out, complaint in (("full", "full: output folder is not empty"), ("file", "file: not a"), ("file/out", "file: not a")):
        refused(stc("compile", "models.py:product", "--out", out), complaint, "accepted: a new or empty folder")
    assert Path("full/precious").read_text() == "mine" and Path("file").read_text() == "mine too"
    assert [path.name for path in Path("full").iterdir()] == ["precious"]


def test_links_and_unusable_folders_are_refused_before_any_work(stc: Stc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stc.tools.start.load", lambda request: pytest.fail("the model was loaded"))
    Path("empty").mkdir()
    Path("file").write_text("mine")
    for name, target in (("to_folder", "empty"), ("to_file", "file"), ("dangling", "nowhere")):
        Path(name).symlink_to(target)
        refused(stc("compile", "models.py:product", "--out", name), f"{name}: the output folder is a symbolic link")
    refused(stc("compile", "models.py:product", "--out", "dangling/out"), "dangling: not a folder")
    refused(stc("compile", "models.py:product", "--out", "n" * 300), "cannot write here (File name too long)")
    assert sorted(path.name for path in Path(".").iterdir() if path.is_symlink()) == ["dangling", "to_file", "to_folder"]


def test_without_a_compiler(stc: Stc, monkeypatch: pytest.MonkeyPatch, emitted: Callable[[str], Path], tmp_path: Path) -> None:
    """It is missed before the compile, not after it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    before = files_here()
    refused(stc("compile", "models.py:product", "--out", "out", "--check"), "C++ compiler 'g++' not found", "accepted: g++")
    assert files_here() == before
    refused(stc("csim", emitted("matmul")), "C++ compiler 'g++' not found", "accepted: g++")


# Emitted projects that were damaged ------------------------------------------------------------------------------------


@pytest.fixture
def project(emitted: Callable[[str], Path], tmp_path: Path) -> Path:
    if shutil.which("g++") is None:
        pytest.skip("g++ is needed")
    return shutil.copytree(emitted("matmul"), tmp_path / "project", ignore=shutil.ignore_patterns("build"))


def test_no_project(stc: Stc, tmp_path: Path) -> None:
    refused(stc("csim", tmp_path), "not an emitted project", "accepted: a folder with manifest.json")
    refused(stc("csim", tmp_path / "nowhere"), "not an emitted project", "accepted: a folder with manifest.json")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "not valid JSON"),
        ("[]", "the manifest is not an object"),
        ('{"schema_version": 1}', "'schema_version' is 1; accepted: 3"),
        ('{"schema_version": 3}', "field 'name' is missing"),
    ],
)
def test_corrupt_manifest(stc: Stc, project: Path, text: str, expected: str) -> None:
    (project / "manifest.json").write_text(text)
    refused(stc("csim", project), expected)
    assert not (project / "build").exists()


def test_truncated_data(stc: Stc, project: Path) -> None:
    parameter = project / "parameters" / "fc_weight.bin"
    whole = parameter.read_bytes()
    parameter.write_bytes(whole[:-4])
    refused(stc("csim", project), "fc_weight.bin", "188 bytes", "192")
    parameter.unlink()
    refused(stc("csim", project), "fc_weight.bin")
    parameter.write_bytes(whole)
    assert stc("csim", project).code == 0


def test_broken_sources(stc: Stc, project: Path) -> None:
    kernel = project / "kernel.cpp"
    text = kernel.read_text()
    kernel.write_text(text.replace("for (int i", "for (int_ i", 1))
    refused(stc("csim", project), "kernel.cpp", "g++ rejects it")
    kernel.write_text(text[: len(text) // 2])
    refused(stc("csim", project), "kernel.cpp")


def test_an_undersized_fifo_is_a_failed_check(stc: Stc, tmp_path: Path) -> None:
    """Both halves of a fork meet again, one of them late: with one place less than needed nothing can go on."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is needed")
    Path("norm.py").write_text(
        "import torch\n"
        "class Centre(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        return x - x.sum(-1, keepdim=True)\n"
        "def centre(): return Centre(), (torch.randn(4, 64),)\n"
    )
    assert stc("compile", "--small", "norm.py:centre", "--out", "out", "--lanes", "4").code == 0
    kernel = Path("out/kernel.cpp")
    text = kernel.read_text()
    deepest = max(re.findall(r'hls::stream<(\w+), (\d+)> (\w+)\(', text), key=lambda stream: int(stream[1]))
    element, depth, name = deepest
    assert int(depth) > 2
    kernel.write_text(text.replace(f"hls::stream<{element}, {depth}> {name}(", f"hls::stream<{element}, 1> {name}("))
    ended = stc("csim", "out")
    assert ended.code == 1 and ended.stderr == ""
    assert "deadlock" in ended.stdout and name in ended.stdout
    report = json.loads(stc("csim", "out", "--json").stdout)
    assert report["outcome"] == "deadlock" and not report["passed"]
    assert name in {blocked["channel"] for blocked in report["blocked"]}
    assert all(blocked["task"] for blocked in report["blocked"])


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    app = typer.Typer()
    (tmp_path / "build").write_text("in the way")

    @app.command()
    def write() -> None:
        (tmp_path / "build").mkdir()

    with pytest.raises(SystemExit) as stopped:
        run_app(app, "stc", [])
    assert stopped.value.code == 2 and capsys.readouterr().err == f"stc: error: {tmp_path / 'build'}: File exists\n"
