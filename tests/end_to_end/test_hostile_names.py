"""No name from outside can break a file of a project, be run, hide another name or leave the folder."""

from __future__ import annotations

import configparser
import json
import py_compile
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import hostile_modules
import pytest
import torch
from hostile_names import COMPILED, HOSTILE, LIBRARY, MEETING, PAYLOAD
from torch import nn
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg.ops import GenericOp

from stc.diagnostics import CompileError
from stc.dialects.parsing import parse_module
from stc.dialects.printing import print_module
from stc.frontend.export import export
from stc.manifest.files import read_manifest
from stc.names import LONGEST, comment_text, cpp_identifier, file_name, identifier
from stc.simulation.csim import csim
from stc.tools.compile import CompileRequest, compile_model
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

UNIQUE = tuple(dict.fromkeys(HOSTILE))
PER_DESIGN = 15
GROUPS = [COMPILED[start : start + PER_DESIGN] for start in range(0, len(COMPILED), PER_DESIGN)]
STUB = Path(__file__).parents[1] / "runtime" / "xrt_stub"
NATIVE = Path("/usr/include/xrt")


def program(names: tuple[str, ...]) -> str:
    """A module in which every name is that of an argument, of an operation, of its module and of a result."""
    count = len(names)
    arguments = ", ".join(f"%x{i}: tensor<4xf32>" for i in range(count))
    types = ", ".join(["tensor<4xf32>"] * count)
    body = "\n".join(f"""
      %e{i} = tensor.empty() : tensor<4xf32>
      %y{i} = linalg.generic {{indexing_maps = [#m, #m], iterator_types = ["parallel"]}}
          ins(%x{i} : tensor<4xf32>) outs(%e{i} : tensor<4xf32>) {{
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %a : f32
        linalg.yield %s : f32
      }} -> tensor<4xf32>""" for i in range(count))
    results = ", ".join(f"%y{i}" for i in range(count))
    text = f"""#m = affine_map<(i) -> (i)>
    func.func @main({arguments}) -> ({types}) {{ {body}
      func.return {results} : {types}
    }}"""
    module = parse_module(text, "hostile")
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    function.arg_attrs = ArrayAttr([DictionaryAttr({"stc.name": StringAttr(name)}) for name in names])
    function.res_attrs = ArrayAttr([DictionaryAttr({"stc.name": StringAttr(f"{name}'")}) for name in names])
    for op, name in zip([op for op in module.walk() if isinstance(op, GenericOp)], names, strict=True):
        op.attributes["stc.module"] = StringAttr(name)
    return print_module(module)


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*command], capture_output=True, text=True, check=False, cwd=cwd)


@pytest.mark.parametrize("names", GROUPS, ids=[str(index) for index in range(len(GROUPS))])
def test_every_emitted_file_takes_them(names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "model.mlir"
    source.write_text(program(names))
    out = tmp_path / "out"
    compile_model(CompileRequest(str(source), options=small_options()), out)
    manifest = read_manifest(out)
    tensors = [tensor.name for tensor in manifest.tensors]
    assert len({name.lower() for name in tensors}) == 2 * len(names) == len(tensors)
    result = csim(out)
    assert result.passed and len({output.name for output in result.outputs}) == len(names), result.explanation
    files(out)
    assert not list(tmp_path.rglob(PAYLOAD)) and not (tmp_path.parent / "evil").exists()
    assert all(path.resolve().is_relative_to(out.resolve()) and len(path.name) <= 255 for path in out.rglob("*"))


def files(out: Path) -> None:
    """Everything that is not built by C simulation is well-formed too."""
    include = NATIVE if NATIVE.is_dir() else STUB
    native = run("g++", "-std=c++17", "-Wall", "-Werror", "-fsyntax-only", f"-I{include}", f"-I{out}", out / "host.cpp", cwd=out)
    assert native.returncode == 0, native.stderr
    includes = (f"-I{out / 'sim' / 'include'}", f"-I{out}")
    bench = run("g++", "-std=c++17", "-w", "-fsyntax-only", *includes, out / "vitis_testbench.cpp", cwd=out)
    assert bench.returncode == 0, bench.stderr
    py_compile.compile(str(out / "host.py"), doraise=True)
    configuration = configparser.ConfigParser(strict=False)
    configuration.read(out / "connectivity.cfg")
    assert configuration.sections() == ["connectivity"]
    make = run("make", "-n", "xclbin", cwd=out)
    assert make.returncode == 0, make.stderr
    json.loads((out / "manifest.json").read_text())
    for path in [*out.glob("*.cpp"), *out.glob("*.h"), *out.glob("*.cfg"), out / "host.py", out / "Makefile"]:
        text = path.read_bytes().decode("ascii")
        assert "\r" not in text and "\x1b" not in text, path.name
        for line in text.splitlines():
            code = re.sub(r'"[^"]*"', "", line.split("//")[0])
            assert not re.search(rf"#error|\b{PAYLOAD}\b", code), (path.name, line)


@pytest.mark.parametrize("name", ["select", "x_tensor", 'a"b $(touch pwned)\n#'])
def test_a_file_may_be_called_anything(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file's name is the design's, and that of its kernel."""
    monkeypatch.chdir(tmp_path)
    source = tmp_path / f"{name}.mlir"
    source.write_text(program(("x",)))
    out = tmp_path / "out"
    compile_model(CompileRequest(str(source), options=small_options()), out)
    assert csim(out).passed
    files(out)
    assert not list(tmp_path.rglob(PAYLOAD))


@pytest.mark.full
def test_modules_and_dictionaries_of_pytorch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of a ModuleDict, of keyword arguments and of returned dictionaries; the page of the report shows them."""
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out"
    compile_model(CompileRequest(f"{Path(hostile_modules.__file__)}:hostile", options=small_options()), out)
    tensors = [tensor.name for tensor in read_manifest(out).tensors]
    assert len({name.lower() for name in tensors}) == len(tensors) == 3 + len(hostile_modules.KEYS) + 1
    result = csim(out)
    assert result.passed and len({output.name for output in result.outputs}) == len(hostile_modules.KEYS) + 1, result.explanation
    files(out)
    assert not list(tmp_path.rglob(PAYLOAD))


def test_a_keyword_of_python_is_refused_by_name() -> None:
    """PyTorch writes `self.for.weight` into the program it exports."""
    module = nn.ModuleDict({"for": nn.Linear(4, 4)})
    module.forward = lambda x: module["for"](x)  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(CompileError, match=r"for\.weight has the Python keyword 'for' in its name"):
        export(module, [torch.zeros(2, 4)])


def kept(name: str) -> Iterator[str]:
    yield identifier(name)
    yield cpp_identifier(name)


@pytest.mark.parametrize("name", UNIQUE)
def test_identifiers(name: str) -> None:
    for found in kept(name):
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", found) and "__" not in found and len(found) <= LONGEST + len("layer__")
    assert cpp_identifier(cpp_identifier(name)) == cpp_identifier(name)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", file_name(name))
    assert re.fullmatch(r"[ -\[\]-~]*", comment_text(name)) and "*/" not in comment_text(name) and "??" not in comment_text(name)


def test_what_readers_know_stays() -> None:
    assert identifier("attn.c_attn.weight") == "attn_c_attn_weight" and identifier("0.weight") == "layer0_weight"
    assert all(cpp_identifier(name) != name for name in LIBRARY)
    assert len({identifier(name) for name in MEETING}) < len(MEETING)
