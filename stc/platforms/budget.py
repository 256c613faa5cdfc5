"""What a design may take of a platform, as users write it: `dsp=60%,lut=70%,ports=29`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from math import ceil, floor, sqrt
from operator import le
from typing import NamedTuple

from stc.diagnostics import CompileError
from stc.platforms.platform import Platform, Resources, load_platform

SMALL = "small"
"""In place of a budget: nothing is searched, the cheapest design."""

PLAN = "plan"
"""A budget that names nothing: what the platform's plan says."""

ACCEPTED = "small, plan, or dsp, lut, ff, bram, uram, ports with a number or a share each, as in 'dsp=60%,ports=29', perhaps /3"


@dataclass(frozen=True)
class Amount:
    """A number, or a share in per cent of what the platform has."""

    number: float
    is_share: bool

    def __str__(self) -> str:
        return f"{self.number:g}%" if self.is_share else f"{self.number:.0f}"

    def of(self, total: float) -> int:
        """As a number, where there are `total`."""
        return floor(total * self.number / 100 + 1e-9) if self.is_share else int(self.number)


class Counts(NamedTuple):
    """What a design takes, or may take: `bram` are blocks of 18 kbit, `uram` of 288 kbit, `ports` those of external memory."""

    dsp: int = 0
    lut: int = 0
    ff: int = 0
    bram: int = 0
    uram: int = 0
    ports: int = 0

    def plus(self, other: Counts) -> Counts:
        bram, uram, ports = self.bram + other.bram, self.uram + other.uram, self.ports + other.ports
        return Counts(self.dsp + other.dsp, self.lut + other.lut, self.ff + other.ff, bram, uram, ports)

    def times(self, count: int) -> Counts:
        bram, uram, ports = self.bram * count, self.uram * count, self.ports * count
        return Counts(self.dsp * count, self.lut * count, self.ff * count, bram, uram, ports)

    def beyond(self, limits: Counts) -> dict[str, int]:
        """By name what is more than `limits` have, and by how much."""
        triples = zip(self._fields, self, limits, strict=True)
        return {name: amount - limit for name, amount, limit in triples if amount > limit}

    def fits(self, limits: Counts) -> bool:
        """Whether nothing is more than `limits` have."""
        return all(map(le, self, limits))


NOTHING = Counts()


def in_one_binary(designs: Iterable[Counts]) -> Counts:
    """What designs take together; of memory ports as many as the one with most, since each may have all (`Budget.limits`)."""
    counts = list(designs)
    return reduce(Counts.plus, counts, NOTHING)._replace(ports=max((count.ports for count in counts), default=0))


@dataclass(frozen=True)
class Budget:
    """Amounts of what `Counts` counts; None: the share of it that a plan of the platform may use, and all ports.

    `parts`: how often what a design may have is in all of it but the ports, which each design of a binary may have.
    """

    dsp: Amount | None = None
    lut: Amount | None = None
    ff: Amount | None = None
    bram: Amount | None = None
    uram: Amount | None = None
    ports: Amount | None = None
    parts: float = 1

    @staticmethod
    def parse(text: str) -> Budget:
        """What `text` says; CompileError for unknown and repeated names, and for what is no amount up to 100 %."""
        found: dict[str, Amount] = {}
        known = Counts._fields
        whole, slash, parts = text.partition("/")
        if slash and not re.fullmatch(r"[1-9][0-9]*(\.[0-9]+)?", parts):
            raise CompileError(f"budget has '/{parts}'", accepted="/ and a number from 1")
        for entry in () if whole == PLAN else whole.split(","):
            name, equals, amount = (part.strip() for part in entry.partition("="))
            if not equals or name not in known:
                raise CompileError(f"budget has '{entry.strip()}'", accepted=ACCEPTED)
            if name in found:
                raise CompileError(f"budget says {name} twice", accepted="each name once")
            found[name] = _amount(name, amount)
        return Budget(**found, parts=float(parts or 1))

    def __str__(self) -> str:
        said = ",".join(f"{name}={amount}" for name, amount in self._said.items()) or PLAN
        return said if self.parts == 1 else f"{said}/{self.parts:.12g}"

    @property
    def _said(self) -> dict[str, Amount]:
        amounts: dict[str, Amount | None] = {name: getattr(self, name) for name in Counts._fields}
        return {name: amount for name, amount in amounts.items() if amount is not None}

    @property
    def names_nothing(self) -> bool:
        """Whether it is an aim: no amount that a user named as a limit."""
        return not self._said

    def limits(self, platform: Platform) -> Counts:
        """The numbers on `platform`; CompileError for more than it has."""
        limits, whole = _counts(platform, platform.usable), _counts(platform, platform.whole)
        for name, amount in self._said.items():
            limits[name] = amount.of(whole[name])
            if limits[name] > whole[name]:
                what = f"budget says {name}={amount}, over 100 % of the platform's"
                raise CompileError(what, where=platform.name, accepted=f"at most {whole[name]}")
        return Counts(**{name: limit if name == "ports" else floor(limit / self.parts) for name, limit in limits.items()})


def _counts(platform: Platform, dies: Resources) -> dict[str, int]:
    counts = {"dsp": dies.dsp, "lut": dies.lut, "ff": dies.ff, "bram": 2 * dies.bram36, "uram": dies.uram}
    return {name: floor(count + 1e-6) for name, count in counts.items()} | {"ports": platform.memory.max_ports}


def _amount(name: str, text: str) -> Amount:
    if re.fullmatch(r"\d+(\.\d+)?%", text) and (share := float(text[:-1])) <= 100:
        return Amount(share, is_share=True)
    if re.fullmatch(r"\d+", text):
        return Amount(int(text), is_share=False)
    raise CompileError(f"budget says {name}={text}", accepted="a number from 0, or a share from 0% to 100%")


def part_of(budget: str, parts: float) -> str:
    """The budget of a design for which so many parts as its own are in `budget`, to two digits, rounded so that all parts together
    take no more; CompileError for what is none."""
    if budget == SMALL:
        return budget
    whole = Budget.parse(budget)
    return str(replace(whole, parts=ceil(100 * parts * whole.parts - 1e-6) / 100))


def parts_by_work(work: Mapping[str, int]) -> Mapping[str, float]:
    """How often what each design of a binary may have is in the budget of all (`part_of`): of designs that run one after the other.

    Each has a share that grows with the square root of its work: if its time is its work divided by its share, the sum of their
    times is least so (by Lagrange: all have the same work over share squared).
    """
    roots = {name: sqrt(max(1, amount)) for name, amount in work.items()}
    return {name: sum(roots.values()) / root for name, root in roots.items()}


def rest_of(taken: Counts, limits: Counts) -> float:
    """The part of `limits` that a design leaves to others in its binary, which may have all ports, too."""
    pairs = zip(taken._replace(ports=0), limits, strict=True)
    return max(0.0, 1 - max(amount / limit for amount, limit in pairs if limit))


def limits_or_plan(budget: str, platform: str) -> Counts:
    """The limits of what a design is built of: those of `budget`, or of the plan for `SMALL`."""
    return Budget.parse(PLAN if budget == SMALL else budget).limits(load_platform(platform))


def most_ports(budget: str, platform: str) -> int:
    """Memory ports that a design may have: of `budget`, or of the platform for `SMALL`."""
    limits = searched_limits(budget, platform)
    return load_platform(platform).memory.max_ports if limits is None else limits.ports


def searched_limits(budget: str, platform: str) -> Counts | None:
    """The limits within which a pass searches, None for `SMALL`; CompileError for what is no budget, or none on `platform`."""
    return None if budget == SMALL else Budget.parse(budget).limits(load_platform(platform))
