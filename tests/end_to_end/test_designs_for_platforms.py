"""What a platform's file says is what a project has: words, ends of the memory, the part; and right values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from projects import Compile

from stc.manifest.element_types import element_type
from stc.manifest.files import read_manifest
from stc.platforms.platform import load_platform
from stc_testing.commands import Stc, refused

pytestmark = pytest.mark.heavy
PERCEPTRON = f"{Path(__file__).parent / 'modules.py'}:perceptron"
DEEP = str(Path(__file__).parent / "deep.mlir")
PRODUCT = str(Path(__file__).parent / "product.mlir")


@pytest.mark.parametrize(("name", "widest"), [("kv260", 128), ("v80", 256)])
def test_a_quantised_module(name: str, widest: int, compiled: Compile) -> None:
    """Narrower words than those of the cards that all other tests are for."""
    project, platform = compiled(PERCEPTRON, quantize="bits=4", platform=name), load_platform(name)
    project.require_agreement()
    manifest = read_manifest(project.folder)
    assert manifest.platform == name and manifest.options["platform"] == name
    ports = [port for kernel in manifest.kernels for port in kernel.ports]
    words = [port.lanes * element_type(port.element_type).bits for port in ports]
    assert max(words) <= platform.memory.word_bits == widest
    linked = re.findall(r"^sp=\w+\.\w+:(.*)$", (project.folder / "connectivity.cfg").read_text(), re.MULTILINE)
    assert len(linked) == len(ports) and set(linked) <= platform.memory.all_tags
    assert f"set_part {{{platform.part}}}" in (project.folder / "vitis_hls.tcl").read_text()
    assert load_platform(str(project.folder / "platform.toml")) == platform


def test_a_platform_of_a_user(tmp_path: Path, stc: Stc) -> None:
    """The project keeps the file, and what breaks the schema is one sentence."""
    mine, out = tmp_path / "mine.toml", tmp_path / "out"
    mine.write_text(load_platform("kv260").text.replace('"kv260"', '"mine"').replace("word_bits = 128", "word_bits = 64"))
    assert stc("compile", PRODUCT, "--small", "--platform", str(mine), "--out", str(out)).code == 0
    manifest = read_manifest(out)
    assert manifest.platform == "mine" and manifest.memory is not None
    assert load_platform(str(out / "platform.toml")) == load_platform(str(mine))
    mine.write_text(mine.read_text().replace("dsp = 1248", "dsp = -1248"))
    ended = stc("compile", PRODUCT, "--platform", str(mine), "--out", str(tmp_path / "none"))
    refused(ended, f"{mine}: slr[0].dsp is -1248; accepted: a number above 0")
    assert not (tmp_path / "none").exists()


def test_a_platform_without_ultra_ram(tmp_path: Path, stc: Stc) -> None:
    """Deep FIFOs and arrays are of block RAM there."""
    text = load_platform("u55c").text.replace('"u55c"', '"dry"')
    (mine := tmp_path / "dry.toml").write_text(re.sub(r"^uram = \d+$", "uram = 0", text, flags=re.MULTILINE))
    for platform in ("u55c", str(mine)):
        out = tmp_path / Path(platform).stem
        assert stc("compile", DEEP, "--small", "--platform", platform, "--out", str(out)).code == 0
    kernels = [(tmp_path / name / "kernel.cpp").read_text() for name in ("u55c", "dry")]
    assert [len(re.findall("impl=uram", kernel, re.IGNORECASE)) > 0 for kernel in kernels] == [True, False]


def test_what_runs_of_the_best_designs_are_made_for_has_room_on_the_platform(tmp_path: Path, stc: Stc) -> None:
    """--confirm runs no design that takes more than the whole platform has."""
    (mine := tmp_path / "little.toml").write_text(
        load_platform("kv260").text.replace('"kv260"', '"little"').replace("lut = 114000", "lut = 3000")
    )
    ended = stc("compile", PRODUCT, "--platform", str(mine), "--confirm", 2, "--out", str(tmp_path / "out"))
    assert ended.code == 2 and re.search(r"takes [\d,]+ LUT of 3,000 that the platform has; accepted: ", ended.stderr), ended.stderr
    assert not (tmp_path / "out").exists()
