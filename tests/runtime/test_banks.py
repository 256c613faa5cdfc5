"""The xclbin of C simulation behind XRT has the banks of the project's own platform, and ports linked to them."""

from __future__ import annotations

import re
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from stc.diagnostics import CompileError
from stc.manifest.files import read_manifest
from stc.platforms.platform import PLATFORM_FILE, load_platform
from stc.runtime.xrt.device import memory_of
from stc.runtime.xrt.xclbin import HEADER_BYTES, SECTION_HEADER, Section, write_xclbin

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The project of a converter, with words of 128 bits, for a platform."""
    from l6_examples import EXAMPLES

    from stc.codegen.project import emit_project

    def emit(platform: str) -> Path:
        model, out = EXAMPLES["converter"].model(), tmp_path_factory.mktemp("banks") / "project"
        emit_project(model.module, model, out, {"platform": platform}, {"name": "converter"})
        return out

    return emit


def sections_of(path: Path) -> dict[Section, bytes]:
    data = path.read_bytes()
    count = struct.unpack_from("<I", data, HEADER_BYTES - 8)[0]
    headers = [SECTION_HEADER.unpack_from(data, HEADER_BYTES + SECTION_HEADER.size * index) for index in range(count)]
    return {Section(kind): data[offset : offset + size] for kind, _, offset, size in headers}


@pytest.mark.parametrize(
    ("name", "changes", "kind", "first", "banks"),
    [
        ("v80", {}, "HBM", "HBM[0]", 32),
        ("kv260", {}, "DDR", "DDR4[0]", 1),
        ("kv260", {'"kv260"': '"mine"', '"HP{n}"': '"DDR[{n}]"', '"DDR4"': '"LPDDR4 of a board"'}, "DDR", "LPDDR4 of a boa", 1),
    ],
    ids=["v80", "kv260", "mine"],
)
def test_banks_and_links(
    made: Callable[[str], Path], tmp_path: Path, name: str, changes: dict[str, str], kind: str, first: str, banks: int
) -> None:
    text = load_platform(name).text
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    mine = tmp_path / "mine.toml"
    mine.write_text(text)
    project = made(str(mine) if changes else name)
    mine.unlink()
    manifest, memory = read_manifest(project), memory_of([project])
    write_xclbin(tmp_path / "a.xclbin", {project: manifest}, memory, [])
    sections = sections_of(tmp_path / "a.xclbin")
    (kernel,) = manifest.kernels
    links = [entry[1:] for entry in struct.iter_unpack("<iii", sections[Section.CONNECTIVITY][4:])]
    assert links == [(0, port.bank) for port in kernel.ports]
    count, *_ = struct.unpack_from("<i", sections[Section.MEM_TOPOLOGY])
    kinds, used, kilobytes, base, tag = struct.unpack_from("<BB6xQQ16s", sections[Section.MEM_TOPOLOGY], 8)
    assert (count, used, kilobytes, base) == (banks, 1, memory.channel_bytes // 1024, 0)
    assert kinds == {"HBM": 6, "DDR": 1}[kind] and tag.split(b"\0")[0].decode() == first


def test_ends_that_the_platform_does_not_have(made: Callable[[str], Path], tmp_path: Path) -> None:
    project = made("kv260")
    cfg = project / "connectivity.cfg"
    cfg.write_text(re.sub(r":HP\d$", ":HP4", cfg.read_text(), flags=re.MULTILINE))
    with pytest.raises(CompileError, match=r"port 'x' of 'turn' is linked to HP4; accepted: HP0 to HP3"):
        write_xclbin(tmp_path / "a.xclbin", {project: read_manifest(project)}, memory_of([project]), [])


def test_stages_for_different_memories(made: Callable[[str], Path], tmp_path: Path) -> None:
    projects = [tmp_path / name for name in ("decode", "head")]
    for project, platform in zip(projects, ("u55c", "u280"), strict=True):
        project.mkdir()
        shutil.copy(made(platform) / PLATFORM_FILE, project)
    with pytest.raises(CompileError, match=r"head/platform.toml: its memory is not that of decode/platform.toml; accepted: "):
        memory_of(projects)
