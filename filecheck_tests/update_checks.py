"""Rewrite the CHECK lines of lit tests from what the tool prints now: `python filecheck_tests/update_checks.py FILE...`.

For files with one `// RUN: stc-opt %s ... --split-input-file | filecheck %s`. Look at the difference before you keep it. A
piece may say which lines matter, `// SHOW: regular expression`; without it all lines of the function are checked. Definitions of
the aliases that those lines mention are checked before them. CHECK lines written by hand, between the lines of the IR, spell types
out: their RUN line has `--no-aliases`.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

SPLIT = "\n// -----\n"
RUN = re.compile(r"// RUN: (stc-opt %s .*?) \| filecheck %s")
SHOW = re.compile(r"// SHOW: (.*)")
DEFINITION = re.compile(r"([#!]\w+) = ")


def output_of(path: Path, command: str) -> list[str]:
    """What the RUN line prints, piece by piece."""
    tool = Path(sys.executable).parent / "stc-opt"
    words = shlex.split(command.replace("%S", str(path.parent)).replace("%s", str(path)))
    done = subprocess.run([tool, *words[1:]], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{path}: {done.stderr}")
    return done.stdout.split("// -----\n")


def escaped(line: str) -> str:
    """`line` as a pattern: only `[[` and `{{` mean something to filecheck, and spaces are as wide as they are."""
    return line.strip().replace("[[", "{{\\[\\[}}").replace("attrs =  {", "attrs ={{ +}}{")


def checks(text: str, shown: str | None) -> list[str]:
    """CHECK lines for one printed module: CHECK-NEXT where the line before is checked too."""
    lines = text.splitlines()
    wanted: list[str] = []
    previous = None
    for number, line in enumerate(lines):
        if line.strip() in ("builtin.module {", "") or number >= len(lines) - 1 or DEFINITION.match(line):
            continue
        if function := re.match(r"\s*func.func (@\w+)", line):
            wanted.append(f"// CHECK-LABEL: func.func {function.group(1)}(")
        elif shown is None or re.search(shown, line):
            wanted.append(f"// CHECK{'-NEXT' if previous == number - 1 else ''}: {escaped(line)}")
        else:
            continue
        previous = number
    while wanted and wanted[-1].endswith(": }"):
        wanted.pop()
    return alias_checks(lines, wanted) + wanted


def alias_checks(lines: list[str], wanted: list[str]) -> list[str]:
    """CHECK lines for the definitions of aliases that `wanted` mentions."""
    mentioned = set(re.findall(r"[#!]\w+\b(?!\.)", "\n".join(wanted)))
    definitions = [line for line in lines if (name := DEFINITION.match(line)) and name.group(1) in mentioned]
    return [f"// CHECK: {escaped(line)}" for line in definitions]


def update(path: Path) -> None:
    """Rewrite one file in place."""
    text = path.read_text()
    run = RUN.search(text)
    if run is None:
        raise SystemExit(f"{path}: has no RUN line of the form '{RUN.pattern}'")
    pieces = text.rstrip("\n").split(SPLIT)
    printed = output_of(path, run.group(1))
    if len(pieces) != len(printed):
        raise SystemExit(f"{path}: has {len(pieces)} pieces, {len(printed)} were printed")
    updated: list[str] = []
    for piece, result in zip(pieces, printed, strict=True):
        kept = "\n".join(line for line in piece.splitlines() if not re.match(r"\s*// CHECK", line)).strip("\n")
        shown = SHOW.search(kept)
        updated.append(kept + "\n\n" + "\n".join(checks(result, shown.group(1) if shown else None)))
    path.write_text("\n\n// -----\n\n".join(updated) + "\n")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        update(Path(argument))
