"""Submodules that PyTorch runs between kernels (`--host`): compiled, run, checked, refused, proposed."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import stc as api
from stc.diagnostics import CompileError
from stc.frontend.factory import build_from_factory
from stc.frontend.host_parts import user_files
from stc.manifest.files import read_manifest
from stc.runtime.accelerator import Accelerator
from stc_testing.commands import Stc, refused

pytestmark = pytest.mark.heavy

MODULES = Path(__file__).with_name("host_part_modules.py")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from stc.pipeline import PipelineOptions
    from stc.tools.compile import compile_model
    from stc.tools.request import CompileRequest

    folder = tmp_path_factory.mktemp("host") / "block"
    options = PipelineOptions(budget="small")
    compile_model(CompileRequest(f"{MODULES}:block", options=options, check_inputs=("example",), host=("0.odd",)), folder)
    return folder


def test_kernels_with_pytorch_between_them_compute_what_pytorch_does(out: Path) -> None:
    model, _ = build_from_factory(f"{MODULES}:block", 0)
    accelerator, taken = Accelerator(out), set[bool]()
    for seed in range(4):
        x = torch.randn(3, 5, generator=torch.Generator().manual_seed(seed)) + seed - 1
        with torch.no_grad():
            taken |= {bool(torch.relu(block.up(x)).sub(0.25).sum() > 0) for block in model.children()}  # pyright: ignore[reportCallIssue]
            wanted = model(x).numpy()
        np.testing.assert_allclose(accelerator({"input": x.numpy()})["out"], wanted, atol=1e-5)
    assert len(taken) == 2  # both ways of the branch


def test_the_manifest_and_the_report_say_what_runs_where(out: Path) -> None:
    manifest, report = read_manifest(out), json.loads((out / "report.json").read_text())
    steps = [step.part or step.action for step in manifest.steps]
    assert steps == ["pack", "launch", "unpack", "0.odd", "pack", "launch", "unpack"]
    assert [part.source and part.source.factory for part in manifest.host_parts] == ["host_part_modules.py:block"]
    assert (out / "host/source/host_part_helpers.py").is_file()
    assert [part["module"] for part in report["host_parts"]["list"]] == ["0.odd"]
    assert not [path for path in (out / "parameters").iterdir() if "gain" in path.name]


def test_c_simulation_runs_the_parts_on_pytorchs_values(out: Path, stc: Stc) -> None:
    ended = stc("csim", out)
    assert ended.code == 0 and "0.odd: run by PyTorch in host.py, not counted or timed here" in ended.stdout


def test_another_file_than_the_one_that_was_compiled_is_refused(out: Path) -> None:
    source = out / "host/source/host_part_helpers.py"
    text = source.read_text()
    try:
        source.write_text(text + "\n")
        with pytest.raises(CompileError, match=r"host_part_helpers\.py: checksum differs from the manifest's"):
            Accelerator(out)({"input": np.zeros((3, 5), np.float32)})
    finally:
        source.write_text(text)


def test_parts_at_both_ends_called_twice_and_read_in_several_places() -> None:
    from host_part_modules import Branches

    torch.manual_seed(1)
    module = Branches().eval()
    design = api.compile(module, (torch.randn(5, 7),), host=["first", "twice", "last"], budget="small", check_inputs=("example",))
    x = torch.randn(5, 7)
    with torch.no_grad():
        for got, wanted in zip(design(x), module(x), strict=True):
            torch.testing.assert_close(got, wanted, atol=1e-5, rtol=1e-5)
    parts = read_manifest(design.folder).host_parts
    assert [part.name for part in parts] == ["first", "twice", "twice#2", "last"] and all(part.program for part in parts)
    with pytest.raises(CompileError, match="the executor of the IR runs no parts on the host"):
        design.run(x, by="executor")
    _puts_a_pickle_into(design.folder)
    with pytest.raises(CompileError, match=r"first\.pt2: PyTorch does not load it"):
        Accelerator(design.folder)({"x": x.numpy()})
    assert not (design.folder / "ran").exists()


def _puts_a_pickle_into(folder: Path) -> None:
    """Where tensors are expected, something that makes `folder/ran` when it is unpickled, with a manifest that agrees."""

    class Making:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(folder / "ran"),)

    manifest = json.loads((folder / "manifest.json").read_text())
    program = manifest["host_parts"][0]["program"]
    path, pickled = folder / program["path"], io.BytesIO()
    torch.save(Making(), pickled)
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = next(name for name in files if "sample_inputs" in name)
    with zipfile.ZipFile(path, "w") as archive:
        for other, content in files.items():
            archive.writestr(other, pickled.getvalue() if other == name else content)
    program["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("host", ["odd", None, [3]])
def test_paths_come_as_a_sequence_of_texts(host: Any) -> None:
    with pytest.raises(CompileError, match="accepted: a sequence of paths of submodules"):
        api.compile(torch.nn.Linear(5, 5), (torch.randn(3, 5),), host=host)


def test_only_a_submodule_is_said_to_be_able_to_run_on_the_host(stc: Stc) -> None:
    ended = stc("check", f"{MODULES}:outside")
    refused(ended, "outside: data-dependent control flow")
    assert "--host" not in ended.stderr


def test_files_that_are_no_python_import_nothing(tmp_path: Path) -> None:
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "old.py").write_text("print 'of another time'\n")
    file = tmp_path / "model.py"
    file.write_text("import beside\n")
    assert user_files(file).keys() == {"model.py", "beside/old.py"}


@pytest.mark.parametrize(
    ("factory", "options", "complaint"),
    [
        ("blocks", ["--host", "0.od"], "there is no submodule '0.od', did you mean '0.odd'"),
        ("blocks", ["--host", ""], "--host names the whole model"),
        ("blocks", ["--host", "0", "--host", "0.odd"], "--host 0.odd lies within --host 0"),
        ("blocks", ["--host", "0.odd", "--dtype", "w8a8"], "with parts on the host, which PyTorch runs as they are"),
        ("blocks", ["--host", "0.odd", "--layers", "2", "--units", "memory"], "--host 0.odd with --layers 2"),
        ("blocks", ["--host", "0.odd", "--stage", "decode"], "stages of generation have no host program that runs PyTorch"),
        ("between", ["--host", "spare"], "the submodule is never called"),
        ("changing", ["--host", "part"], "the submodule changes its input in place"),
        ("drawing", ["--host", "part"], "the submodule draws random numbers"),
        ("counting", ["--host", "counting"], "the submodule returns the number"),
        ("alone", ["--host", "odd"], "nothing is left to compile"),
        ("between", [], "part.0: data-dependent control flow or shape"),
    ],
)
def test_what_cannot_run_on_the_host(factory: str, options: list[str], complaint: str, stc: Stc, tmp_path: Path) -> None:
    ended = stc("compile", f"{MODULES}:{factory}", "--out", tmp_path / "out", *options)
    refused(ended, complaint)
    assert not (tmp_path / "out").exists()


def test_whole_language_models_have_no_parts_on_the_host(stc: Stc, tmp_path: Path) -> None:
    ended = stc("compile", "gpt2-tiny", "--stage", "model", "--host", "mlp", "--out", tmp_path / "out")
    refused(ended, "stages of generation have no host program that runs PyTorch")


def test_check_proposes_the_innermost_submodules(stc: Stc) -> None:
    ended = stc("check", f"{MODULES}:blocks", "--seed", "3")
    command = f"stc compile {MODULES}:blocks --seed 3 --host 0.odd --host 1.odd --out DIR"
    assert ended.code == 1 and command in ended.stdout
    assert json.loads(stc("check", f"{MODULES}:between", "--json").stdout)["host"] == ["part.0"]


def test_check_proposes_nothing_where_nothing_would_be_left(stc: Stc) -> None:
    ended = stc("check", f"{MODULES}:alone")
    refused(ended, "odd: data-dependent control flow")
