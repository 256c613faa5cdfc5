"""IR of any level is compiled on: what it says of itself, where it begins, what is not known then."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner
from xdsl.dialects.builtin import ModuleOp

from stc import extensions
from stc.dialects.context import make_context
from stc.dialects.dataflow import PROVENANCE
from stc.dialects.parsing import parse_module
from stc.dialects.printing import print_module
from stc.tools import stc_opt
from stc.tools.command_line import run_app
from stc.tools.compile import compile_model
from stc.tools.installed_commands import add_installed_commands
from stc.tools.plan import Edit, Plan
from stc.tools.provenance import provenance_of, taken_provenance
from stc.tools.reproducer import spelled_pass
from stc.tools.request import CompileRequest
from stc.tools.start import Ir, read_ir
from stc.tools.stc import app
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

LINALG = Path(__file__).parents[2] / "examples" / "linear_relu.mlir"
FACTORY = """
import torch


class Odd(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(5, 3))

    def forward(self, x):
        y = torch.softmax(x @ self.weight, -1)
        return y, y.sum(0) * 0.1


def odd():
    return Odd(), (torch.randn(7, 5),)
"""
OF_NO_LEVEL = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    %e = tensor.extract %x[%i] : tensor<4xf32>
    %n = tensor.insert %e into %a[%i] : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
"""
DUMPED = ("manifest.json", "kernel.cpp", "kernel.h", "layout.h")


@pytest.fixture(scope="module")
def designs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Three small designs with their dumps: a file of linalg, a module of PyTorch, one with edits of the pipeline."""
    folder = tmp_path_factory.mktemp("designs")
    (folder / "odd.py").write_text(FACTORY)
    small: dict[str, Any] = {"check_inputs": ("example",), "emit_ir": True}
    options = small_options(tile=4, lanes=2)
    plan = Plan("", (Edit("after", "insert-forks", "cse"), Edit("replace", "collapse-converters", "canonicalize,cse")))
    requests = {
        "linalg": CompileRequest(str(LINALG), options=small_options(tile=4, lanes=4, rows=8), **small),
        "torch": CompileRequest(f"{folder / 'odd.py'}:odd", seed=3, options=options, **small),
        "edited": CompileRequest(str(LINALG), options=options, plan=plan, **small),
    }
    for name, request in requests.items():
        compile_model(request, folder / name)
    return {name: folder / name for name in requests}


def dumps(design: Path) -> list[Path]:
    return sorted((design / "ir").iterdir())


def at(design: Path, name: str) -> Path:
    """The first dump behind a pass."""
    return next(path for path in dumps(design) if path.stem.partition("_")[2] == name)


def compiled(source: Path, out: Path, *options: str) -> int:
    with pytest.raises(SystemExit) as ended:
        run_app(app, "stc", ["compile", str(source), "--out", str(out), *options])
    assert isinstance(ended.value.code, int)
    return ended.value.code


KINDS = ("linalg", "torch", "edited")


@pytest.mark.parametrize(
    ("name", "every"),
    [*((name, 4) for name in KINDS), *(pytest.param(name, 1, marks=pytest.mark.full) for name in KINDS)],
)
def test_every_dump_leads_to_the_same_design(designs: dict[str, Path], name: str, every: int) -> None:
    """By induction: the dump behind each pass is read, and gives, through the next pass, the next dump, byte for byte.

    `make test` takes every fourth dump, `make test-full` all.
    """
    found = dumps(designs[name])
    assert len(found) > 40
    for file, following in [*pairwise(found)][::every]:
        ir = read_ir(CompileRequest(str(file), options=small_options()))
        assert ir is not None and ir.steps[ir.begin].one_pass.name == following.stem.partition("_")[2]
        ir.steps[ir.begin].one_pass.apply(make_context(), ir.module)
        assert _dumped(ir) == following.read_text(), following.name


def _dumped(ir: Ir) -> str:
    """What a dump of the IR would be one pass later."""
    module: ModuleOp = ir.module
    module.attributes[PROVENANCE] = provenance_of(ir.request, ir.options, ir.steps[ir.begin].label)
    return print_module(module)


@pytest.mark.parametrize("name", ["linalg", "torch", "edited"])
@pytest.mark.parametrize("behind", ["merge-kernels", "verify-bounds"])
def test_a_dump_gives_the_same_files(designs: dict[str, Path], name: str, behind: str, tmp_path: Path) -> None:
    compile_model(CompileRequest(str(at(designs[name], behind)), emit_ir=True), tmp_path / "out")
    for file in DUMPED:
        assert (tmp_path / "out" / file).read_bytes() == (designs[name] / file).read_bytes(), file
    for file in (designs[name] / "data").rglob("*.bin"):
        assert (tmp_path / "out" / file.relative_to(designs[name])).read_bytes() == file.read_bytes()
    for file in (tmp_path / "out" / "ir").iterdir() if (tmp_path / "out" / "ir").exists() else ():
        assert file.read_text() == (designs[name] / "ir" / file.name).read_text()


def test_stc_opt_says_what_a_dump_follows_then(designs: dict[str, Path]) -> None:
    """The next passes of its pipeline advance it, others leave it where it was: they edit it."""
    dump = str(at(designs["edited"], "move-converters"))

    def follows(*options: str) -> str:
        result = CliRunner().invoke(stc_opt.app, [dump, *options])
        assert result.exit_code == 0, result.stderr
        return result.stdout.split(' after "')[1].split('"')[0]

    assert follows() == "move-converters" and follows("-p", "dce") == "move-converters"
    assert follows("-p", "canonicalize,cse") == "cse"  # in place of collapse-converters
    assert follows("-p", "canonicalize,cse,share-converters") == "share-converters"


def test_figures_from_before_are_not_known_never_zero(
    designs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compiled(at(designs["linalg"], "verify-bounds"), tmp_path / "out") == 0
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    memory = report["memory_bytes"]
    assert memory["before"] is None and memory["before_unfused"] is None and "streams_over_before" not in memory
    assert report["converter_buffers"]["list"] is None and report["fifo_sizing"]["kernels"] is None
    assert report["proofs"] == {"bounds": None} and report["pass_seconds"] == []
    assert report["source"]["follows"] == "verify-bounds" and report["source"]["reference"] == "MLIR, executed"
    printed = capsys.readouterr().out
    assert "fused linalg        │ not known" in printed and "streams proved: not known" in printed
    whole = json.loads((designs["linalg"] / "report.json").read_text())
    assert whole["memory_bytes"]["before"] > 0 and whole["source"] == {"reference": "MLIR, executed"}


def test_an_edit_reaches_the_emitted_code(designs: dict[str, Path], tmp_path: Path) -> None:
    text = at(designs["linalg"], "size-fifos").read_text()
    assert text.count("depth: 2>") > 1
    (tmp_path / "edited.mlir").write_text(text.replace("depth: 2>", "depth: 37>"))
    assert compiled(tmp_path / "edited.mlir", tmp_path / "out") == 0
    depths = [stream["depth"] for kernel in json.loads((tmp_path / "out" / "manifest.json").read_text())["kernels"]
              for stream in kernel["streams"]]
    assert 37 in depths and "37" in (tmp_path / "out" / "kernel.cpp").read_text()


def test_options_of_later_passes_may_change(
    designs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = at(designs["linalg"], "hls-directives")
    assert compiled(dump, tmp_path / "out", "--fifo-strategy", "published-conservative") == 0
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["options"]["fifo_strategy"] == "published-conservative"
    assert compiled(dump, tmp_path / "no", "--tile", "8") == 2
    assert "would change pass 'propagate-orders', which ran before this IR was written" in capsys.readouterr().err
    assert compiled(dump, tmp_path / "no", "--seed", "1") == 2
    assert "says itself which model it was compiled from; --seed cannot" in capsys.readouterr().err
    assert compiled(dump, tmp_path / "no", "--before", "insert-forks=cse") == 2
    assert "would change pass 'insert-forks'" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()


def _anonymous(dump: Path, to: Path) -> Path:
    module = parse_module(dump.read_text(), str(dump))
    assert taken_provenance(module) is not None
    to.write_text(print_module(module))
    return to


def test_without_the_attribute_the_reference_is_the_ir(
    designs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _anonymous(at(designs["linalg"], "verify-bounds"), tmp_path / "some.mlir")
    assert compiled(file, tmp_path / "out") == 0
    assert "behind 'HLS optimisation'; the reference is this IR, executed" in capsys.readouterr().out
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["source"] == {"reference": "this IR, executed", "ir": str(file), "follows": "HLS optimisation"}
    tiled = _anonymous(at(designs["torch"], "tile-linalg"), tmp_path / "tiled.mlir")
    assert compiled(tiled, tmp_path / "tiled") == 0
    assert "behind 'linalg tiling'; the reference is this IR, executed" in capsys.readouterr().out


def test_a_level_that_is_not_clear_is_refused(
    designs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fused = _anonymous(at(designs["linalg"], "insert-converters"), tmp_path / "fused.mlir")
    assert compiled(fused, tmp_path / "no") == 2
    said = f"{fused}: the IR may follow each of the stages 'kernel-fusion' and 'dataflow-optimisation'; accepted: --from PASS"
    assert said in capsys.readouterr().err
    assert compiled(fused, tmp_path / "out", "--from", "dataflow-optimisation") == 0
    (tmp_path / "none.mlir").write_text(OF_NO_LEVEL)
    assert compiled(tmp_path / "none.mlir", tmp_path / "no") == 2
    said = "none.mlir: the IR follows no stage; of the nearest, 'scf.for' op may not stand at function level"
    assert said in capsys.readouterr().err
    assert compiled(LINALG, tmp_path / "no", "--from", "nowhere") == 2
    assert "the pipeline has no stage or pass 'nowhere'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('after "merge-kernels"', 'after "fuse"', "the IR follows pass 'fuse', which this pipeline does not have"),
        ("seed = 0", "sed = 0", "dataflow.provenance says 'sed'; accepted: stage, seq"),
        ("seed = 0 : i64", 'seed = "a"', 'dataflow.provenance says seed = "a"; accepted: an integer'),
        ("tile=4", "tiles=4", "pipeline 'compile' has no option 'tiles'"),
        ("linear_relu.mlir", "other.mlir", "other.mlir: cannot read the file"),
        ("#dataflow.provenance<", '"text" #', None),
    ],
)
def test_what_a_dump_says_wrongly_is_one_sentence(
    designs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str | None
) -> None:
    text = at(designs["linalg"], "merge-kernels").read_text()
    assert old in text
    (tmp_path / "wrong.mlir").write_text(text.replace(old, new, 1))
    assert compiled(tmp_path / "wrong.mlir", tmp_path / "no") == 2
    error = capsys.readouterr().err
    assert error.startswith("stc: error: ") and len(error.splitlines()) == 1 and "Traceback" not in error
    assert said is None or said in error


def test_another_signature_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compile_model(CompileRequest(str(LINALG), emit_ir=True, options=small_options()), tmp_path / "out")
    (dump,) = (tmp_path / "out" / "ir").glob("*_name-ops.mlir")
    dump.write_text(dump.read_text().replace('stc.name = "x"', 'stc.name = "other"'))
    assert compiled(dump, tmp_path / "no") == 2
    assert "the model has no argument other: tensor<" in capsys.readouterr().err


def test_the_attribute_survives_text(designs: dict[str, Path]) -> None:
    """With everything in it, and strange names."""
    request = CompileRequest('a "b"\\ü.py:f', seq=3, weights="w", layer=2, minimise_depths=0.05, check_inputs=("zeros", "tiny"),
                             plan=Plan("", (Edit("after", "cse", 'own{a="b c" n=1}'),)))
    options = small_options(tile=3, schedule="x y.toml", unsafe_math=True, propagate_orders=False)
    module = ModuleOp([], {PROVENANCE: provenance_of(request, options, "cse#2")})
    again = parse_module(print_module(module), "x")
    assert again.attributes == module.attributes
    said = taken_provenance(again)
    assert said is not None and said.after.data == "cse#2" and PROVENANCE not in again.attributes


# Passes in the pipeline ----------------------------------------------------------------------------------------------


def names(plan: Plan) -> list[str]:
    return [spelled_pass(step.one_pass) for step in plan.steps(small_options())]


def test_edits_of_the_pipeline() -> None:
    whole = names(Plan())
    place = whole.index("insert-forks")
    before, after = whole[:place], whole[place + 1 :]
    assert names(Plan("", (Edit("before", "insert-forks", "cse,canonicalize"),))) == [
        *before, "cse", "canonicalize", "insert-forks", *after,
    ]
    assert names(Plan("", (Edit("after", "insert-forks", "cse"),))) == [*before, "insert-forks", "cse", *after]
    assert names(Plan("", (Edit("replace", "insert-forks", "cse"),))) == [*before, "cse", *after]
    assert names(Plan("", (Edit("replace", "insert-forks", ""),))) == [*before, *after]
    assert names(Plan("cse,canonicalize")) == ["cse", "canonicalize"]
    twice = names(Plan("", (Edit("after", "share-subexpressions#2", "dce"),)))
    assert twice[twice.index("dce") - 1] == "share-subexpressions" and twice.index("dce") > 12
    staged = names(Plan("", (Edit("replace", "resource-allocation", "set-fifo-depths"), Edit("before", "HLS optimisation", "dce"))))
    assert staged[staged.index("set-fifo-depths") :][:3] == ["set-fifo-depths", "dce", "lower-linalg-to-loops"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--before", "=cse"], "--before =cse names no place; accepted: PASS=PASSES, where PASS is a pass or a stage"),
        (["--before", "insert-forks"], "passes are missing in --before insert-forks; accepted: PASS=PASSES, or PASS with -p"),
        (["-p", "cse", "--before", "insert-forks", "--after", "insert-forks"], "missing in --before insert-forks and --after"),
        (["-p", "cse", "--before", "insert-forks=dce"], "-p replaces the pipeline, which --before insert-forks=dce changes"),
        (["--replace", "insert-forks=dce", "--replace", "insert-forks=cse"], "'insert-forks' is replaced twice"),
        (["--after", "insert-fork=cse"], "has no stage or pass 'insert-fork', did you mean 'insert-forks'"),
        (["--after", "insert-forks=no-such"], "unknown pass 'no-such'"),
        (["--from", "insert-forks", "--config", "x.json"], "--from insert-forks concerns IR; accepted: FILE.mlir with --from"),
    ],
)
def test_edits_that_cannot_be_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    model = [] if "--config" in options else [str(LINALG)]
    with pytest.raises(SystemExit) as ended:
        run_app(app, "stc", ["compile", *model, "--out", str(tmp_path / "no"), *options])
    assert ended.value.code == 2 and said in capsys.readouterr().err


def test_bisect_takes_every_option_of_compile() -> None:
    add_installed_commands(app, "bisect")
    commands = typer.main.get_command(app).commands  # pyright: ignore[reportAttributeAccessIssue]
    own, taken = ({spelling for option in commands[name].params for spelling in option.opts} for name in ("compile", "bisect"))
    assert len(own) > 30 and own <= taken


def test_stc_says_its_version() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout.startswith("stc 0.")


def test_passes_of_ones_own_run_in_a_compile_and_are_recorded(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from xdsl.passes import ModulePass\n\n\nclass Nothing(ModulePass):\n    name = 'nothing'\n\n"
        "    def apply(self, ctx, op):\n        pass\n"
    )
    options = ["--load", str(tmp_path / "own.py"), "-p", "nothing", "--after", "insert-forks", "--emit-ir", "--tile", "4"]
    assert compiled(LINALG, tmp_path / "out", *options) == 0
    recorded = json.loads((tmp_path / "out" / "manifest.json").read_text())["options"]
    assert recorded["edits"] == ["after insert-forks=nothing"] and recorded["load"] == [str(tmp_path / "own.py")]
    (dump,) = (tmp_path / "out" / "ir").glob("*_nothing.mlir")
    extensions.forget_files()
    assert compiled(dump, tmp_path / "again") == 0
    for file in DUMPED:
        assert (tmp_path / "again" / file).read_bytes() == (tmp_path / "out" / file).read_bytes()
