"""Rewrite the CHECK lines of lit tests from what the tool prints now: `python filecheck_tests/update_checks.py FILE...`.

For files with one `// RUN: stc-opt %s ... --split-input-file | filecheck %s`. Look at the difference before you keep it. A
piece may say which lines matter, and how much of each:

    // SHOW: scf.if|itensor.read .*\\] ...|linalg.generic ... ins\\(.*? : ...

Each alternative is a regular expression that lines are searched for; ` ...` in it, or behind it, leaves something of them out.
Without SHOW all lines of the function are checked, except those of `INSIGNIFICANT`. Names that would change with the IR around
them (`%7`, `%x_1`) are captured where they are shown again, and left open where they are not. Definitions of the aliases that
are shown are checked first. CHECK-NOT lines are kept, behind the others. A piece with `CHECK-LABEL: @name(` is checked by hand, and
stays as it is; files with CHECK lines between the lines of the IR are not for this script.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections import Counter
from pathlib import Path

from typer.testing import CliRunner

from stc.tools.stc_opt import app

SPLIT = "\n// -----\n"
RUN = re.compile(r"// RUN: (stc-opt %s .*?) \| filecheck %s")
SHOW = re.compile(r"^// SHOW: (.*)$", re.MULTILINE)
BY_HAND = re.compile(r"^// CHECK-LABEL: @", re.MULTILINE)
DEFINITION = re.compile(r"([#!]\w+) = ")
INSIGNIFICANT = re.compile(r"dataflow.yield|\}( else \{| -> .*)?|%c\d+(_\d+)? = arith\.constant \d+ : index")
"""The end of a region; a constant whose name says it."""
LEFT_OUT = " ... "
ALTERNATIVES = re.compile(r"(?:\\.|\((?:\\.|[^\\()])*\)|[^|])+")
VALUE = re.compile(r"%(\w+)")
VOLATILE = re.compile(r"(?P<hint>.*?_)?\d+")
"""Names that others in front of them decide about."""
RESULTS = re.compile(r"(%\w+(?:, %\w+)*) = ([\w.]+)")


def output_of(path: Path, command: str) -> list[str]:
    """What the RUN line prints, piece by piece."""
    words = shlex.split(command.replace("%S", str(path.parent)).replace("%s", str(path)))
    done = CliRunner().invoke(app, words[1:])
    if done.exit_code:
        raise SystemExit(f"{path}: {done.output or done.exception}")
    return done.stdout.split("// -----\n")


def escaped(text: str) -> str:
    """`text` as a pattern: only `[[` and `{{` mean something to filecheck, and spaces are as wide as they are."""
    return text.replace("[[", "{{\\[\\[}}").replace("attrs =  {", "attrs ={{ +}}{")


def shown_part(line: str, shown: str | None) -> str | None:
    """What is to be checked of a line, None for nothing, with `LEFT_OUT` for each thing left out."""
    if shown is None:
        return None if INSIGNIFICANT.fullmatch(line) else line
    for alternative in ALTERNATIVES.findall(shown):
        pieces = [f"(?P<part{index}>{piece})" for index, piece in enumerate(alternative.removesuffix(" ...").split(LEFT_OUT))]
        if found := re.search(".*?".join(pieces), line):
            ends = [found.end(f"part{index}") for index in range(len(pieces))]
            if not alternative.endswith(" ..."):
                ends[-1] = len(line)
            starts = [0, *(found.start(f"part{index}") for index in range(1, len(pieces)))]
            return LEFT_OUT.join(line[start:end] for start, end in zip(starts, ends, strict=True))
    return None


def checks(text: str, shown: str | None) -> list[str]:
    """CHECK lines for one printed module: CHECK-NEXT where the line before is checked too."""
    lines = text.splitlines()
    wanted: list[tuple[str, str]] = []
    previous = None
    for number, line in enumerate(lines):
        if line.strip() in ("builtin.module {", "") or number >= len(lines) - 1 or DEFINITION.match(line):
            continue
        if function := re.match(r"\s*(func.func @\w+\()", line):
            wanted.append(("CHECK-LABEL", function.group(1)))
        elif (part := shown_part(line.strip(), shown)) is not None:
            wanted.append(("CHECK-NEXT" if previous == number - 1 else "CHECK", part))
        else:
            continue
        previous = number
    patterns = captured([part for _, part in wanted], shortened=shown is not None)
    found = [f"// {kind}: {pattern}" for (kind, _), pattern in zip(wanted, patterns, strict=True)]
    return alias_checks(lines, found) + found


def captured(parts: list[str], *, shortened: bool) -> list[str]:
    """Patterns for the shown parts of lines: captures in place of names that may change, no names for results nobody mentions."""
    mentions = Counter(name for part in parts for name in VALUE.findall(part))
    if shortened:
        parts = [_without_unused_results(part, mentions) for part in parts]
    captures: dict[str, str] = {}
    return [_with_captures(part, mentions, captures) for part in parts]


def _without_unused_results(part: str, mentions: Counter[str]) -> str:
    results = RESULTS.match(part)
    if results is None or any(mentions[name] > 1 for name in VALUE.findall(results[1])):
        return part
    return part[results.start(2) :]


def _with_captures(part: str, mentions: Counter[str], captures: dict[str, str]) -> str:
    part = escaped(part)
    results = RESULTS.match(part)
    operation = results[2].rpartition(".")[2] if results else ""

    def pattern(found: re.Match[str]) -> str:
        name = found[1]
        volatile = VOLATILE.fullmatch(name)
        if volatile is None:
            return found[0]
        is_result = results is not None and found.end() <= results.end(1)
        is_argument = part[found.end() :].startswith((" = %", ":"))
        if name in captures and not (is_result or is_argument):
            return f"%[[{captures[name]}]]"
        if mentions[name] == 1 or not (is_result or is_argument):
            return f"%{volatile['hint'] or ''}{{{{.*}}}}"
        captures[name] = _fresh((volatile["hint"] or "").strip("_") or operation or "value", captures)
        return f"%[[{captures[name]}:.*]]"

    return VALUE.sub(pattern, part).replace(LEFT_OUT, "{{.*}}")


def _fresh(word: str, captures: dict[str, str]) -> str:
    word = word.upper()
    taken = set(captures.values())  # a name that another region defines again is captured again
    return next(name for name in (word, *(f"{word}{count}" for count in range(1, len(taken) + 2))) if name not in taken)


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
        if BY_HAND.search(piece):
            updated.append(piece.strip("\n"))
            continue
        kept = "\n".join(line for line in piece.splitlines() if not re.match(r"\s*// CHECK", line)).strip("\n")
        absent = [line for line in piece.splitlines() if line.startswith("// CHECK-NOT")]
        shown = SHOW.findall(kept)
        updated.append(kept + "\n\n" + "\n".join(checks(result, "|".join(shown) if shown else None) + absent))
    path.write_text("\n\n// -----\n\n".join(updated) + "\n")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        update(Path(argument))
