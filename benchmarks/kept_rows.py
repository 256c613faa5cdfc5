"""Benchmarks that keep what they measured: rows by name in a file, each with its commit, and a table in a document."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from measured_at import write_between


class _Row(Protocol):
    """A dataclass with the name of its design."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def design(self) -> str: ...


R = TypeVar("R", bound=_Row)


@dataclass(frozen=True, kw_only=True)
class Rows(Generic[R]):
    """Rows of `kind` for the designs `names`, as `measure` makes them, in the file `data`."""

    kind: Callable[..., R]
    names: Sequence[str]
    measure: Callable[[str], R]
    data: Path

    def known(self) -> dict[str, R]:
        """What was measured before, by design."""
        rows: list[dict[str, Any]] = json.loads(self.data.read_text()) if self.data.is_file() else []
        return {row["design"]: self.kind(**row) for row in rows}

    def measured(self, names: Sequence[str], *, again: bool = False) -> Iterator[R]:
        """Measure those that have no row yet, or all: each is kept before the next begins."""
        rows = self.known()
        for name in names:
            if again or name not in rows:
                rows[name] = self.measure(name)
                self._keep(rows)
                yield rows[name]

    def _keep(self, rows: dict[str, R]) -> None:
        kept = [asdict(rows[name]) for name in self.names if name in rows]
        self.data.write_text(json.dumps(kept, indent=1) + "\n")


@dataclass(frozen=True, kw_only=True)
class KeptRows(Rows[R]):
    """Rows with a table in a document: `cells` is what is printed of one, and `markdown` a table of all, between the lines `begin`
    and `end` of `document`. `further`: what JSON has of a row beside its fields."""

    cells: Callable[[R], Sequence[str]]
    markdown: Callable[[Sequence[R]], str]
    document: Path
    begin: str
    end: str
    further: Callable[[R], Mapping[str, Any]] = lambda _: {}

    def main(self, description: str | None, arguments: Sequence[str]) -> int:
        """Measure what is asked for, row by row, print the table, and write it where that is asked."""
        accepted, document = "; ".join(self.names), f"docs/{self.document.name}"
        parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {accepted}; default: all")
        parser.add_argument("--model", default="", help="only designs of this model")
        parser.add_argument("--json", action="store_true", help="print the rows as JSON")
        parser.add_argument("--again", action="store_true", help="also designs that were measured before")
        parser.add_argument("--write", action="store_true", help=f"write the table into {document}")
        asked = parser.parse_args(arguments)
        if unknown := [name for name in asked.names if name not in self.names]:
            parser.error(f"no design is called '{unknown[0]}'; accepted: {accepted}")
        wanted = [name for name in asked.names or self.names if not asked.model or name.split(" ")[0].rstrip(",") == asked.model]
        if not wanted:
            parser.error(f"no design is of model '{asked.model}'; accepted: {accepted}")
        for row in self.measured(wanted, again=asked.again):
            print(*self.cells(row), sep=" | ", file=sys.stderr if asked.json else sys.stdout, flush=True)
        rows = self.known()
        table = self.markdown([rows[name] for name in self.names if name in rows])
        print(json.dumps([asdict(rows[name]) | {**self.further(rows[name])} for name in wanted], indent=1) if asked.json else table)
        if asked.write:
            write_between(self.document, self.begin, table, self.end)
        return 0
