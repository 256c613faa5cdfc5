"""What is searched: the choices of a design, what a design is worth, and the problem that puts them together.

A search, ours (`stc.exploration.study`) or a researcher's own, sees nothing of a model but a `Problem`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from stc.diagnostics import CompileError

Value: TypeAlias = int | float | str | bool
Point: TypeAlias = Mapping[str, Value]
"""A value for each choice, by its name."""

Origin: TypeAlias = Literal["estimated", "simulated"]



class CannotEvaluate(CompileError):
    """No point can be evaluated here and now (no compiler, no room): no trial fails of it, the search ends."""


@dataclass(frozen=True)
class Choice:
    """Something that a design chooses among `values`, in order where there is one. `says`: what it is, in a few words.
    `is_estimated`: whether estimates depend on it; else only simulations tell its values apart."""

    name: str
    values: tuple[Value, ...]
    default: Value
    says: str
    is_estimated: bool = True


@dataclass(frozen=True)
class Objectives:
    """What a design costs; less of each is better. `origin`: how all of it is known.

    `cycles`: of a launch of the stage, which is a token's latency in decode and the time to the first token in prefill.
    `on_chip_bytes`: of arrays and converters, when simulated of FIFOs, too, whose depths an estimate does not know. `dsp`: DSPs.
    `bytes_moved`: from and to external memory per launch, a proxy of energy. `beyond`: by resource, how much more than the budget a
    design takes; empty where it fits. `first_token`: of several stages, cycles until the first token of a text; `cycles` and
    `bytes_moved` are then those of each token behind it. `taken`: by resource, what a design takes; empty where that was not kept.
    `layouts`: how what the stages of a layer share lies in memory, by name, as text; empty where that is not known.
    """

    cycles: int
    on_chip_bytes: int
    dsp: int
    bytes_moved: int
    origin: Origin
    beyond: Mapping[str, int] = field(default_factory=dict[str, int])
    first_token: int | None = None
    taken: Mapping[str, int] = field(default_factory=dict[str, int])
    layouts: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def values(self) -> tuple[int, ...]:
        """In the order of the problem's `objectives`."""
        own = self.cycles, self.on_chip_bytes, self.dsp, self.bytes_moved
        return own if self.first_token is None else (*own, self.first_token)

    @staticmethod
    def of(values: Sequence[int], origin: Origin, beyond: Mapping[str, int]) -> Objectives:
        """Those that have these `values`."""
        cycles, on_chip, dsp, moved = values[: len(OBJECTIVES)]
        first_token = values[-1] if len(values) == len(OF_STAGES) else None
        return Objectives(cycles, on_chip, dsp, moved, origin, beyond, first_token)

    def dominates(self, other: Objectives) -> bool:
        """Whether it is at least as good in all, and better in one; CompileError for figures of another origin."""
        if self.origin != other.origin:
            raise CompileError(f"{self.origin} figures are compared with {other.origin} ones", accepted="figures of one origin")
        return self.values != other.values and all(own <= its for own, its in zip(self.values, other.values, strict=True))


OBJECTIVES: Mapping[str, str] = {
    "cycles": "cycles of a launch",
    "on_chip_bytes": "bytes on chip",
    "dsp": "DSPs",
    "bytes_moved": "bytes moved of a launch",
}
"""The figures of one stage that are minimised, in words."""

OF_STAGES: Mapping[str, str] = {
    "cycles": "cycles of a token",
    "on_chip_bytes": "bytes on chip",
    "dsp": "DSPs",
    "bytes_moved": "bytes moved of a token",
    "first_token": "cycles to the first token",
}
"""Those of several stages that write text together."""


class Problem(Protocol):
    """What a search is given."""

    @property
    def name(self) -> str:
        """In words: the model and its stage."""
        ...

    @property
    def objectives(self) -> Mapping[str, str]:
        """The fields of `Objectives` that are minimised, in words: `OBJECTIVES`, or `OF_STAGES`."""
        ...

    @property
    def identity(self) -> Mapping[str, Any]:
        """What makes two problems the same, as plain JSON values: then trials of one are trials of the other."""
        ...

    @property
    def space(self) -> Sequence[Choice]:
        """All that is chosen."""
        ...

    def default(self) -> Point:
        """What `stc compile` decides by itself."""
        ...

    def seeds(self) -> Sequence[Point]:
        """Points worth beginning with, the default first."""
        ...

    def evaluate(self, point: Point, simulate: bool = False) -> Objectives:
        """What the design is worth: estimated, or with its C++ built and run. CompileError for what cannot be made;
        CannotEvaluate where that is not the point's fault."""
        ...

    def schedules(self, point: Point) -> Mapping[str, str]:
        """What makes the design again: `schedule.toml`, or for each of several stages `STAGE/schedule.toml`, by path."""
        ...


def point_of(space: Iterable[Choice], given: Mapping[str, Any]) -> Point:
    """The values of `given`, and the defaults of choices that it leaves out; CompileError for what is no choice, or no value of
    one."""
    choices = {choice.name: choice for choice in space}
    for name, value in given.items():
        if name not in choices:
            raise CompileError(f"there is no choice '{name}'", accepted=", ".join(choices))
        if not any(value == known and type(value) is type(known) for known in choices[name].values):
            raise CompileError(f"{name} is {value!r}", accepted=", ".join(map(str, choices[name].values)))
    return {name: given.get(name, choice.default) for name, choice in choices.items()}


Designs = TypeVar("Designs")


def front(entries: Iterable[tuple[Designs, Objectives]]) -> list[tuple[Designs, Objectives]]:
    """Of the designs that fit, those that none dominates, the fastest first; of those that are worth the same, the first."""
    kept: list[tuple[Designs, Objectives]] = []
    for design, found in entries:
        if found.beyond or any(other.values == found.values or other.dominates(found) for _, other in kept):
            continue
        kept = [*((one, other) for one, other in kept if not found.dominates(other)), (design, found)]
    return sorted(kept, key=lambda entry: entry[1].values)
