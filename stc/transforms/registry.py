"""Passes by name: how a level lists its own, and all that `-p` accepts, each imported only when it is asked for."""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.passes import ModulePass

from stc.diagnostics import CompileError
from stc.extensions import entries, import_entry, package_of

PassFactory = Callable[[], type[ModulePass]]

UNIVERSES = "xdsl.universe"
"""The entry points where packages offer dialects, passes and targets to xDSL's tools, and to ours."""


def passes_of(package: str, classes: Mapping[str, str]) -> dict[str, PassFactory]:
    """`{pass name: factory}` for a package with one pass per file: `merge-kernels` is in `merge_kernels.py`.

    `classes` gives the class of each pass.
    """
    return {name: _lazy(f"{package}.{name.replace('-', '_')}", class_name) for name, class_name in classes.items()}


def _lazy(module: str, name: str) -> PassFactory:
    def load() -> type[ModulePass]:
        return getattr(importlib.import_module(module), name)

    return load


@dataclass(frozen=True)
class Installed:
    """The passes of installed packages: by name, the packages that offer one; and why others could not be asked."""

    offers: Mapping[str, Mapping[str, PassFactory]]
    failures: tuple[CompileError, ...]


def installed_passes() -> Installed:
    """Import every package with an `xdsl.universe` entry point, other than ours and xDSL."""
    offers: dict[str, dict[str, PassFactory]] = defaultdict(dict)
    failures: list[CompileError] = []
    for entry in entries(UNIVERSES):
        try:
            universe = import_entry(entry)
            for name, factory in universe.all_passes.items():
                offers[name][package_of(entry)] = factory
        except CompileError as error:
            failures.append(error)
        except AttributeError:
            what = f"package '{package_of(entry)}' offers '{entry.value}' to xDSL, which is no Universe"
            failures.append(CompileError(what, where=f"entry point group {entry.group}", accepted="a xdsl.universe.Universe"))
    return Installed(offers, tuple(failures))


@dataclass(frozen=True)
class PassTable(Mapping[str, PassFactory]):
    """`known` passes by name; for any other name installed packages are imported and asked.

    A name that two packages offer, and a name that nobody offers while a package could not be asked, are CompileErrors.
    """

    known: Mapping[str, PassFactory]
    ask: Callable[[], Installed] = field(default=installed_passes)

    @cached_property
    def installed(self) -> Installed:
        return self.ask()

    def __getitem__(self, name: str) -> PassFactory:
        if name in self.known:
            return self.known[name]
        offers = self.installed.offers.get(name, {})
        if len(offers) > 1:
            packages = " and ".join(f"'{package}'" for package in offers)
            raise CompileError(f"pass '{name}' is offered by packages {packages}", accepted="one of them installed")
        if not offers and self.installed.failures:
            raise CompileError(f"unknown pass '{name}', and {self.installed.failures[0]}") from self.installed.failures[0]
        return _checked(name, *offers.items()) if offers else self.known[name]

    def __iter__(self) -> Iterator[str]:
        yield from self.known
        yield from (name for name in sorted(self.installed.offers) if name not in self.known)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _checked(name: str, offer: tuple[str, PassFactory]) -> PassFactory:
    """The factory of a package's pass; what it raises names the package."""
    package, factory = offer

    def load() -> type[ModulePass]:
        try:
            return factory()
        except Exception as error:
            what = f"package '{package}' cannot import its pass '{name}': {type(error).__name__}: {error}"
            raise CompileError(what, accepted="a package that imports, or none") from error

    return load
