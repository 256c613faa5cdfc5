"""An xclbin of an emitted project for the C-simulation device: what XRT reads of one, and shared libraries for a bitstream.

The format is XRT's (`xclbin.h`, version 2): a header, a table of sections, and the sections, each at a multiple of 8 bytes.
XRT reads which compute units there are (IP_LAYOUT), their arguments (EMBEDDED_METADATA, XML), the memory banks (MEM_TOPOLOGY), and
which argument is linked to which bank (CONNECTIVITY). Banks and links are those of the project's connectivity.cfg, which the
vendor's linker takes, too. KEYVALUE_METADATA says which project it is of.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from xml.sax.saxutils import quoteattr

from stc.diagnostics import CompileError
from stc.manifest.schema import Kernel, Manifest, Unit
from stc.platforms.platform import ExternalMemory

CONNECTIVITY_FILE = "connectivity.cfg"


class Section(IntEnum):
    """`axlf_section_kind`: those that are written here."""

    BITSTREAM = 0
    EMBEDDED_METADATA = 2
    MEM_TOPOLOGY = 6
    CONNECTIVITY = 7
    IP_LAYOUT = 8
    KEYVALUE_METADATA = 15


MAGIC = b"xclbin2\0"
HEADER_BYTES = 8 + 4 + 28 + 256 + 8 + 152
"""Up to the table of sections: magic, length of a signature, 28 reserved bytes, key block, unique number, `axlf_header`."""
SECTION_HEADER = struct.Struct("<I16s4xQQ")
FLAT = 0
MEM_TYPES = {"HBM": 6}
DDR = 1
"""The type of all other memory."""
MOST_TAG_BYTES = 15
"""Of a bank's name, behind which there is a zero."""
IP_KERNEL, AP_CTRL_CHAIN = 1, 1
CONTROL_BYTES = 0x10000
"""Of the control bus, for each unit."""
FIRST_ARGUMENT = 0x10
POINTER_STRIDE, SCALAR_STRIDE = 12, 8
"""Bytes of registers that Vitis HLS gives a 64-bit pointer and an int: behind each argument is a reserved word."""


@dataclass(frozen=True)
class Bank:
    """A bank of memory, a channel of the platform: its place in the device's address space, in bytes."""

    kind: str
    index: int
    bytes: int

    @property
    def tag(self) -> str:
        return f"{self.kind}[{self.index}]"

    @property
    def base(self) -> int:
        return self.index * self.bytes


def banks_of(memory: ExternalMemory) -> list[Bank]:
    return [Bank(memory.kind, index, memory.channel_bytes) for index in range(memory.channels)]


def write_xclbin(
    path: Path, projects: Mapping[Path, Manifest], memory: ExternalMemory, libraries: Sequence[Path], bitstream: str | None = None
) -> None:
    """An xclbin with the kernels of all projects, by their folders, or of one `bitstream` of a project; written whole or not at
    all.

    `libraries`: what stc.runtime.shared_kernel builds of each. CompileError where a connectivity.cfg is unusable.
    """
    name = "_".join(manifest.name for manifest in projects.values())
    files = [folder / file for folder, manifest in projects.items() for file in _files(manifest, bitstream)]
    links = [link for file in files for link in _links(file)]
    kernels = [kernel for manifest in projects.values() for kernel in manifest.kernels if bitstream in (None, kernel.name)]
    units = [(kernel, unit) for kernel in kernels for unit in kernel.built if unit.starts]
    names = [unit.name for _, unit in units]
    if twice := [name for name in names if names.count(name) > 1]:
        folders = ", ".join(str(folder) for folder in projects)
        what = f"kernels of two projects are called '{twice[0]}'"
        raise CompileError(what, where=folders, accepted="kernels with names of their own")
    sections = {
        Section.BITSTREAM: _bitstream(libraries),
        Section.EMBEDDED_METADATA: _metadata(name, units).encode(),
        Section.MEM_TOPOLOGY: _topology(banks_of(memory)),
        Section.CONNECTIVITY: _connectivity(units, links, memory.channel_of),
        Section.IP_LAYOUT: _ip_layout(units),
        Section.KEYVALUE_METADATA: _marks([mark for manifest in projects.values() for mark in manifest.marks]),
    }
    with tempfile.TemporaryDirectory(prefix=f".{path.name}_", dir=path.parent) as folder:  # others may write it at the same time
        aside = Path(folder) / path.name
        aside.write_bytes(_axlf(name, sections))
        aside.replace(path)


def argument_offsets(unit: Unit) -> dict[str, int]:
    """Where the registers of each argument begin, in bytes: those of ports, then those of scalars."""
    ports = {name: FIRST_ARGUMENT + POINTER_STRIDE * index for index, name in enumerate(unit.ports)}
    behind = FIRST_ARGUMENT + POINTER_STRIDE * len(unit.ports)
    return ports | {name: behind + SCALAR_STRIDE * index for index, name in enumerate(unit.scalars)}


def _axlf(name: str, sections: Mapping[Section, bytes]) -> bytes:
    table, data = b"", b""
    begin = HEADER_BYTES + SECTION_HEADER.size * len(sections)
    begin += -begin % 8
    for kind, content in sections.items():
        table += SECTION_HEADER.pack(kind, name.encode()[:15], begin + len(data), len(content))
        data += content + bytes(-len(content) % 8)
    body = (table.ljust(begin - HEADER_BYTES, b"\0")) + data
    uuid = hashlib.sha256(body).digest()[:16]
    header = struct.pack("<QQQHBBHH16s64s16s16sI4x", HEADER_BYTES + len(body), 0, 0, 0, 2, 1, FLAT, 0, bytes(16),
                         b"stc_csim", uuid, b"", len(sections))
    return MAGIC + struct.pack("<i", -1) + b"\xff" * 28 + bytes(256) + uuid[:8] + header + body


def _bitstream(libraries: Sequence[Path]) -> bytes:
    """The number of libraries, and each behind its length."""
    contents = [library.read_bytes() for library in libraries]
    return struct.pack("<Q", len(contents)) + b"".join(struct.pack("<Q", len(content)) + content for content in contents)


def _metadata(name: str, units: Iterable[tuple[Kernel, Unit]]) -> str:
    kernels = "\n".join(_kernel_metadata(kernel, unit, index) for index, (kernel, unit) in enumerate(units))
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<project name={quoteattr(name)}>
<platform vendor="stc" boardid="csim" name="csim" featureRomTime="0">
<version major="1" minor="0"/>
<device name="fpga0">
<core name="OCL_REGION_0" target="bitstream" type="clc_region" clockFreq="0MHz" numComputeUnits="60">
{kernels}
</core>
</device>
</platform>
</project>
"""


def _kernel_metadata(kernel: Kernel, unit: Unit, index: int) -> str:
    offsets = argument_offsets(unit)
    pointers = [
        f'<arg name="{name}" addressQualifier="1" id="{number}" port="M_AXI_{(kernel.port(name).bundle or name).upper()}" '
        f'size="0x8" offset="{offsets[name]:#x}" hostOffset="0x0" hostSize="0x8" type="void*"/>'
        for number, name in enumerate(unit.ports)
    ]
    scalars = [
        f'<arg name="{name}" addressQualifier="0" id="{number}" port="S_AXI_CONTROL" size="0x4" '
        f'offset="{offsets[name]:#x}" hostOffset="0x0" hostSize="0x4" type="int"/>'
        for number, name in enumerate(unit.scalars, start=len(unit.ports))
    ]
    arguments = "\n".join([*pointers, *scalars])
    return f"""<kernel name="{unit.name}" language="c" vlnv="stc:csim:{unit.name}:1.0" attributes="" \
preferredWorkGroupSizeMultiple="0" workGroupSize="1" interrupt="true" hwControlProtocol="ap_ctrl_chain">
<port name="S_AXI_CONTROL" mode="slave" range="{CONTROL_BYTES:#x}" dataWidth="32" portType="addressable" base="0x0"/>
{arguments}
<instance name="{unit.name}_1"><addrRemap base="{CONTROL_BYTES * (index + 1):#x}" port="S_AXI_CONTROL"/></instance>
</kernel>"""


def _ip_layout(units: Sequence[tuple[Kernel, Unit]]) -> bytes:
    entries = [
        struct.pack("<IIQ64s", IP_KERNEL, 1 | AP_CTRL_CHAIN << 8, CONTROL_BYTES * (index + 1), _instance(unit))
        for index, (_, unit) in enumerate(units)
    ]
    return struct.pack("<i4x", len(entries)) + b"".join(entries)


def _instance(unit: Unit) -> bytes:
    name = f"{unit.name}:{unit.name}_1".encode()
    if len(name) > 63:
        what = f"the unit '{unit.name}' has a name of {len(unit.name)} characters"
        raise CompileError(what, accepted="30, as xclbin files have room for")
    return name


def _topology(banks: Sequence[Bank]) -> bytes:
    """All of them are used: of one that no port is linked to, XRT says nothing that helps where a host allocates in it."""
    entries = [
        struct.pack("<BB6xQQ16s", MEM_TYPES.get(bank.kind, DDR), 1, bank.bytes // 1024, bank.base, _name_of(bank))
        for bank in banks
    ]
    return struct.pack("<i4x", len(entries)) + b"".join(entries)


def _name_of(bank: Bank) -> bytes:
    return bank.tag.encode()[:MOST_TAG_BYTES]


_LINK = re.compile(r"sp=(\w+)_1\.(\w+):(\w+(?:\[\d+\])?)$")


def _files(manifest: Manifest, bitstream: str | None) -> list[str]:
    """The link configurations of a project, or that of one of its bitstreams."""
    several = [f"connectivity.{it.kernel}.cfg" for it in manifest.bitstreams if bitstream in (None, it.kernel)]
    return several or [CONNECTIVITY_FILE]


def _links(path: Path) -> list[tuple[str, str, str]]:
    """Unit, port and end of the memory of each `sp=` line of a link configuration."""
    if not path.is_file():
        raise CompileError("no such file", where=str(path), accepted="what `stc compile` wrote")
    lines = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
    found = [_LINK.match(line) for line in lines if line.startswith("sp=")]
    if None in found:
        line = next(line for line in lines if line.startswith("sp=") and not _LINK.match(line))
        raise CompileError(f"the line '{line}'", where=str(path), accepted="sp=UNIT_1.PORT:END, such as HBM[3] or HP0")
    return [(match[1], match[2], match[3]) for match in found if match is not None]


def _connectivity(
    units: Sequence[tuple[Kernel, Unit]], links: Sequence[tuple[str, str, str]], channels: Mapping[str, int]
) -> bytes:
    """`channels`: of each end of the memory, by its name."""
    linked = {(unit, port): tag for unit, port, tag in links}
    entries: list[bytes] = []
    for number, (_, unit) in enumerate(units):
        for argument, port in enumerate(unit.ports):
            tag = linked.get((unit.name, port), "no bank")
            if tag not in channels:
                first, *_, last = [*channels, *channels]
                what = f"port '{port}' of '{unit.name}' is linked to {tag}"
                raise CompileError(what, where=CONNECTIVITY_FILE, accepted=first if first == last else f"{first} to {last}")
            entries.append(struct.pack("<iii", argument, number, channels[tag]))
    return struct.pack("<i", len(entries)) + b"".join(entries)


def _marks(marks: Sequence[str]) -> bytes:
    """As `xclbinutil --key-value USER:MARK:1` of the vendor's writes them."""
    return json.dumps({"key_values": [{"key": mark, "value": "1"} for mark in marks]}).encode()
