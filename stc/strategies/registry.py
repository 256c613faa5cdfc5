"""Strategies by name: ours, those of installed packages, and those that a loaded file registers.

A `Decision` is something a compile has to decide: which kernels are fused, how deep FIFOs are, ... A strategy for it is a function
from the decision's problem (plain dataclasses, no IR) to its plan, registered when its module is imported:

    from stc.strategies.fusion import FUSION, FusionProblem

    @FUSION.strategy("pairs")
    def pairs(problem: FusionProblem) -> list[list[str]]:
        ...

It is then chosen by name: `--fusion pairs` of `stc compile`, `choose-...{strategy=pairs}` in a pipeline. An installed package
offers it without being loaded first, by an entry point named after decision and strategy, in the group `stc.strategies`:

    [project.entry-points."stc.strategies"]
    "fusion.pairs" = "my_package.fusion:pairs"

Whatever a strategy returns is checked before it is applied: a wrong plan is a sentence naming the strategy.
"""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from stc.diagnostics import CompileError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "stc.strategies"
"""Of entry points."""

DECISIONS: Mapping[str, str] = {
    "tiling": "stc.strategies.tiling:TILING",
    "fusion": "stc.strategies.fusion:FUSION",
    "converters": "stc.strategies.converters:CONVERTERS",
    "parallelism": "stc.strategies.parallelism:PARALLELISM",
    "fifos": "stc.strategies.fifos:FIFOS",
    "units": "stc.strategies.units:UNITS",
    "dies": "stc.strategies.dies:DIES",
}
"""Every decision, and where it is defined."""

Problem = TypeVar("Problem")
Plan = TypeVar("Plan")
Found = TypeVar("Found", bound=Callable[..., Any])


class WrongPlan(Exception):
    """What a strategy returned is no plan for its problem; one clause: what is wrong with it."""


@dataclass(frozen=True)
class Decision(Generic[Problem, Plan]):
    """Something to decide, by strategies from `Problem` to `Plan`.

    `check` raises WrongPlan for a plan that does not fit its problem. `accepted` says in a few words what a plan is.
    """

    name: str
    default: str
    accepted: str
    check: Callable[[Problem, Plan], None]
    registered: dict[str, Callable[[Problem], Plan]] = field(default_factory=dict[str, Callable[[Problem], Plan]])

    def strategy(self, name: str) -> Callable[[Found], Found]:
        """Decorator: the function is the strategy `name`. CompileError where another function has that name."""

        def register(function: Found) -> Found:
            known = self.registered.get(name)
            if known is not None and _origin(known) != _origin(function):
                raise CompileError(
                    f"{self.name} strategy '{name}' is registered twice, in {_origin(known)[0]} and {_origin(function)[0]}",
                    accepted="another name",
                )
            self.registered[name] = function
            _REGISTERED[_origin(function)] = f"{self.name} strategy '{name}'"
            return function

        return register

    def decide(self, name: str, problem: Problem) -> Plan:
        """The plan of strategy `name`; CompileError where there is no such strategy, where it fails, or where its plan is wrong."""
        function = self.find(name)
        where = f"{self.name} strategy '{name}'"
        try:
            plan = function(problem)
        except CompileError as error:
            if error.where is None and type(error) is CompileError:
                raise CompileError(error.what, where=where, accepted=error.accepted) from None
            raise
        except (Exception, SystemExit) as error:  # one may also call sys.exit: nothing would be written, and nothing said
            raise CompileError(f"failed with {_failure(error)}", where=where, accepted=self.accepted) from error
        try:
            self.check(problem, plan)
        except WrongPlan as error:
            raise CompileError(f"its plan is wrong: {error}", where=where, accepted=self.accepted) from None
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            raise CompileError(f"returned no plan ({_one_line(error)})", where=where, accepted=self.accepted) from None
        return plan

    def find(self, name: str) -> Callable[[Problem], Plan]:
        """The strategy: registered, or of an installed package, which is imported now. CompileError where there is none."""
        if name not in self.registered and (offered := self._offered().get(name)) is not None:
            self._load(name, offered)
        if name not in self.registered:
            raise CompileError(f"unknown {self.name} strategy '{name}'", accepted=", ".join(self.names()))
        return self.registered[name]

    def names(self) -> list[str]:
        """All strategies there are, those of installed packages included, which are not imported for that."""
        return list(dict.fromkeys([*self.registered, *self._offered()]))

    def _offered(self) -> dict[str, EntryPoint]:
        prefix = f"{self.name}."
        from importlib.metadata import entry_points

        found = entry_points(group=GROUP)
        return {entry.name.removeprefix(prefix): entry for entry in found if entry.name.startswith(prefix)}

    def _load(self, name: str, offered: EntryPoint) -> None:
        package = offered.dist.name if offered.dist is not None else offered.value
        where = f"package '{package}', entry point '{offered.name}' of {GROUP}"
        try:
            function = offered.load()
        except (Exception, SystemExit) as error:
            raise CompileError(f"cannot be imported ({_one_line(error)})", where=where, accepted="a module that loads") from error
        if not callable(function):
            raise CompileError(f"'{offered.value}' is no function", where=where, accepted="a function of the problem")
        self.registered.setdefault(name, cast(Callable[[Problem], Plan], function))


_REGISTERED: dict[tuple[str, str], str] = {}
"""By file and name of a function: the strategy that it is, in words."""


def registered_by(path: Path) -> list[str]:
    """The strategies that a file has registered, in words: `fusion strategy 'pairs'`."""
    return [words for (file, _), words in _REGISTERED.items() if Path(file) == path]


def decision(name: str) -> Decision[Any, Any]:
    """The decision of that name, with our strategies; CompileError for an unknown one."""
    if name not in DECISIONS:
        raise CompileError(f"nothing that is called '{name}' is decided by strategies", accepted=", ".join(DECISIONS))
    module, _, attribute = DECISIONS[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def _origin(function: Callable[..., Any]) -> tuple[str, str]:
    """File and name of a function: the same after its module has been executed once more."""
    code = getattr(function, "__code__", None)
    return (code.co_filename if code is not None else function.__module__, getattr(function, "__qualname__", repr(function)))


def _failure(error: BaseException) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{_one_line(error)} at {Path(frame.filename).name}:{frame.lineno}"


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")
