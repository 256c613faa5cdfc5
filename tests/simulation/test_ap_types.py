"""AMD's arbitrary precision types are found where they are installed, and copied to where they are used, with their licence."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

import stc.simulation.ap_types as ap_types
from stc.codegen.project import write_at_once
from stc.diagnostics import CompileError
from stc.simulation.csim import csim
from stc.simulation.vendor_interface import check_interface

pytestmark = pytest.mark.heavy

KERNEL = '#include "ap_int.h"\nap_uint<5> add(ap_uint<5> a) { return a + 30; }\n'


def test_the_installed_files_are_found():
    files = ap_types.ap_type_files()
    assert {*ap_types.HEADERS, "LICENSE"} == set(files)
    assert "Apache License" in files["LICENSE"].read_text()
    for name in ap_types.HEADERS:
        text = files[name].read_text()
        assert "Xilinx, Inc." in text and "Apache License, Version 2.0" in text, name


def test_they_compile_alone(tmp_path: Path):
    ap_types.copy_ap_types(tmp_path)
    (tmp_path / "hls_half.h").write_text("class half;\n")
    source = tmp_path / "kernel.cpp"
    source.write_text(KERNEL.replace("ap_int.h", "ap_fixed.h") + '#include "ap_int.h"\n')
    assert "hls4ml" in (tmp_path / "NOTICE").read_text()
    subprocess.run(["g++", "-std=c++14", "-fsyntax-only", "-w", "-I", tmp_path, source], check=True)


@pytest.mark.parametrize(
    ("text", "used"),
    [
        (KERNEL, True),
        ("  #  include <ap_fixed.h>\n", True),
        ('#include "ap_axi_sdata.h"\n', True),
        ('#include "hls_stream.h"\n// #include "ap_int.h"\n', False),
        ('#include "map_reduce.h"\n', False),
    ],
)
def test_who_uses_them(text: str, used: bool):
    assert ap_types.uses_ap_types(["", text]) == used


def test_only_designs_that_use_them_get_a_copy(emitted: Callable[[str], Path], tmp_path: Path):
    project = emitted("converter")
    assert not (project / "sim" / "ap_types").exists()
    texts = {name: (project / name).read_text() for name in ("kernel.h", "kernel.cpp")}
    write_at_once(tmp_path / "plain", texts, [])
    assert not (tmp_path / "plain" / "sim" / "ap_types").exists()
    write_at_once(tmp_path / "out", {**texts, "kernel.h": KERNEL}, [])
    names = {path.relative_to(tmp_path / "out/sim/ap_types").as_posix() for path in (tmp_path / "out/sim/ap_types").rglob("*.*")}
    assert set(ap_types.HEADERS) <= names
    assert (tmp_path / "out" / "sim" / "ap_types" / "LICENSE").is_file()


def test_a_design_that_uses_them_is_simulated(emitted: Callable[[str], Path], tmp_path: Path):
    project = tmp_path / "project"
    shutil.copytree(emitted("converter"), project)
    ap_types.copy_ap_types(project / "sim" / "ap_types")
    header = project / "kernel.h"
    use = '#include "ap_int.h"\nstatic_assert(sizeof(ap_int<65>) == 16, "");\n'
    header.write_text(header.read_text().replace("#include", f"{use}#include", 1))
    assert csim(project).passed
    subprocess.run(["make", "-s", "-C", project, "csim"], check=True, capture_output=True)


def test_the_check_of_the_interface_knows_them():
    check_interface({"kernel.cpp": KERNEL})
    with pytest.raises(CompileError, match="ap_uint"):
        check_interface({"kernel.cpp": KERNEL.replace("a + 30", "a.no_such_member()")})


def test_a_missing_package_is_a_sentence(monkeypatch: pytest.MonkeyPatch):
    def missing(name: str):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(ap_types, "distribution", missing)
    with pytest.raises(CompileError, match=r"ap_int\.h is used, but not installed; accepted: the Python package hls4ml"):
        ap_types.ap_type_files()
