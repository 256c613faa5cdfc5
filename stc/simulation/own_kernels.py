"""An own kernel's C++ as a program that asks its caller for every token: the executor's side of `dataflow.own_kernel`.

Not the simulation's streams: here a read is a request on a pipe, so that a scheduler in Python decides when a token is there.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from stc.diagnostics import CompileError
from stc.simulation.build import FLAGS, find_compiler, run_compiler
from stc.simulation.instrument import InstrumentError, find_blocks, match_brackets, tokenize
from stc.simulation.package import INCLUDE

HARNESS = INCLUDE.parent / "own_kernel"
"""The `hls_stream.h` that stands in for the simulation's."""


@dataclass(frozen=True)
class TokenPort:
    """A port of the C++ function: vectors of `lanes` of the C++ type `scalar`, `bytes` each, `tokens` of them declared."""

    name: str
    is_read: bool
    tokens: int
    lanes: int
    scalar: str
    bytes: int


@dataclass(frozen=True)
class OwnProgram:
    """`function`, with integer `template` arguments, of a file with the text `source`."""

    source: str
    file: str
    function: str
    template: tuple[int, ...]
    ports: Sequence[TokenPort]

    @contextmanager
    def running(self) -> Generator[OwnRun]:
        """The program, started; ended with the block. CompileError where g++ rejects it."""
        command = [str(_built(self._text(), self.file))]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
            try:
                yield OwnRun(process, self)
            finally:
                process.kill()

    def _text(self) -> str:
        types = [f"hls::vector<{port.scalar}, {port.lanes}>" for port in self.ports]
        streams = [f"  hls::stream<{kind}> p{i}({i});" for i, kind in enumerate(types)]
        checks = [f'  static_assert(sizeof({kind}) == {port.bytes}, "a token as numpy has it");'
                  for kind, port in zip(types, self.ports, strict=True)]
        arguments = ", ".join(f"p{i}" for i in range(len(types)))
        template = f"<{', '.join(map(str, self.template))}>" if self.template else ""
        return "\n".join([
            "#include <cstdint>", "#include <limits>", "#include <hls_half.h>", "#include <hls_math.h>",
            "#include <hls_stream.h>", "#include <hls_vector.h>",
            f'#line 1 "{self.file}"', own_text(self.source, self.file), '#line 1 "the call of the own kernel"',
            "int main() {", *streams, *checks, f"  {self.function}{template}({arguments});", "  stc_own::end();", "}", "",
        ])


INCLUDES = frozenset({"cstdint", "limits", "hls_half.h", "hls_math.h", "hls_stream.h", "hls_vector.h", "ap_int.h"})
"""Headers that an own kernel may include: those of the tool, which emitted code includes where they are used."""


def own_text(source: str, file: str) -> str:
    """The text of an own kernel without its includes; CompileError for another file: a design is complete in itself."""
    lines = source.splitlines()
    for number, line in enumerate(lines, start=1):
        if (found := re.match(r"\s*#\s*include\b\s*[<\"]?([^>\"]*)", line)) is None:
            continue
        if found[1] not in INCLUDES:
            raise CompileError(f"includes '{found[1]}'", where=f"{file}:{number}", accepted=", ".join(sorted(INCLUDES)))
        lines[number - 1] = ""
    return "\n".join(lines)


def pipelined_loops(source: str, file: str) -> dict[str, int]:
    """The labelled loops of an own kernel with a pipeline pragma, and the intervals that these ask for (1 where they do not)."""
    try:
        tokens = tokenize(source)
        blocks = find_blocks(tokens, match_brackets(tokens))
    except InstrumentError as error:
        raise CompileError(error.message, where=f"{file}:{error.line}", accepted=error.accepted) from None
    found = ((block.name, pragma.options) for block in blocks for pragma in block.pragmas if pragma.name == "pipeline")
    return {label: int(options.get("ii") or 1) for label, options in found if label}


class OwnRun:
    """A program that runs."""

    def __init__(self, process: subprocess.Popen[bytes], program: OwnProgram):
        self.process, self.program = process, program

    def asked(self) -> tuple[int, bytes | None] | None:
        """The next access: the port, and the token where it writes one; None where the function has returned."""
        kind, port = struct.unpack("<cB", self._bytes(2))
        if kind == b"E":
            return None
        return port, self._bytes(self.program.ports[port].bytes) if kind == b"W" else None

    def answer(self, token: bytes) -> None:
        """Give the token that was asked for."""
        assert self.process.stdin is not None
        self.process.stdin.write(token)

    def _bytes(self, count: int) -> bytes:
        assert self.process.stdout is not None
        data = b""
        while len(data) < count:
            more = self.process.stdout.read(count - len(data))
            if not more:
                code = self.process.wait()
                raise CompileError(f"its C++ ended with code {code} before it returned", where=self.program.file)
            data += more
        return data


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Of this process's programs; goes with the process."""
    return tempfile.TemporaryDirectory(prefix="stc_own_")


@cache
def _built(text: str, file: str) -> Path:
    folder = Path(_folder().name)
    source = folder / f"own_{len(os.listdir(folder))}.cpp"
    source.write_text(text, encoding="utf-8")
    binary = source.with_suffix("")
    include = ["-I", str(HARNESS), "-I", str(INCLUDE)]
    run_compiler([find_compiler(), *FLAGS, "-O1", *include, str(source), "-o", str(binary)], Path(file))
    return binary
