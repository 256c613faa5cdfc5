"""The figures of benchmarks/data/streamtensor.toml, checked, and what follows from them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from math import exp, fsum, isfinite, log
from pathlib import Path
from typing import Any, TypeVar

from stc.diagnostics import CompileError

DATA = Path(__file__).parent / "data" / "streamtensor.toml"
ORIGINS = ("printed", "text", "quoted", "range")
SEEN = ("text", "second hand")
QUANTITIES = ("decode", "ttft", "latency", "energy", "memory", "compile")
STREAMTENSOR = "StreamTensor (W4A8, U55C, 250 MHz)"


@dataclass(frozen=True)
class Model:
    """A model as the publication configures it."""

    called: str
    layers: int
    hidden: int
    ffn: int
    heads: int
    kv_heads: int


@dataclass(frozen=True)
class Series:
    """A figure of one system for each of some designs: tokens per second (decode), milliseconds (ttft, latency)."""

    quantity: str
    system: str
    designs: Sequence[str]
    values: Sequence[float]
    origin: str
    source: str
    seen: str

    def of(self, design: str) -> float | None:
        return dict(zip(self.designs, self.values, strict=True)).get(design)


@dataclass(frozen=True)
class Summary:
    """StreamTensor's figure over that of another system: of `design`, or the geometric mean of all of GPT-2's."""

    quantity: str
    over: str
    value: float
    source: str
    seen: str
    design: str = ""


@dataclass(frozen=True)
class Range:
    """What the figures of all models lie between: a share (memory), seconds (compile)."""

    quantity: str
    least: float
    most: float
    source: str
    seen: str


@dataclass(frozen=True)
class Published:
    """All figures, with those that are derived behind those that stand somewhere."""

    models: Mapping[str, Model]
    series: Sequence[Series]
    summaries: Sequence[Summary]
    ranges: Mapping[str, Range]

    def of(self, quantity: str) -> list[Series]:
        return [series for series in self.series if series.quantity == quantity]


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive numbers, at least one."""
    return exp(fsum(map(log, values)) / len(values))


def tokens_of(design: str) -> int:
    """How many tokens `MODEL [prompt:tokens]` writes."""
    return int(design.rpartition(":")[2].split("]")[0])


def latency_ms(ttft: float, tokens_per_second: float, tokens: int) -> float:
    """From the prompt to the last token, as the publications count: all tokens at decode's speed, behind the time to the first."""
    return ttft + 1e3 * tokens / tokens_per_second


def read(path: Path = DATA) -> Published:
    """CompileError for a file that is not as benchmarks/data/streamtensor.toml says of itself."""
    try:
        data = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise CompileError(f"cannot be read: {error}", where=path.name, accepted="the figures of a publication in TOML") from None
    accepted = ("models", "series", "summary", "range")
    if unknown := [key for key in data if key not in accepted]:
        raise CompileError(f"unknown table {unknown[0]}", where=path.name, accepted=", ".join(accepted))

    def rows(name: str, kind: Callable[..., R]) -> list[R]:
        return [_row(kind, row, f"{path.name}: {name}[{number}]") for number, row in enumerate(data.get(name, []))]

    models = {name: _row(Model, row, f"{path.name}: models.{name}") for name, row in data.get("models", {}).items()}
    series = rows("series", Series)
    ranges = {each.quantity: each for each in rows("range", Range)}
    return Published(models, [*series, *_latencies(series)], rows("summary", Summary), ranges)


R = TypeVar("R")


def _row(kind: Callable[..., R], row: Mapping[str, Any], where: str) -> R:
    """One row, its keys, words and numbers checked."""
    known = {each.name: each for each in fields(kind)}  # pyright: ignore[reportArgumentType]  # all kinds are dataclasses
    if unknown := [key for key in row if key not in known]:
        raise CompileError(f"unknown key {unknown[0]}", where=where, accepted=", ".join(known))
    if missing := [key for key, each in known.items() if each.default is MISSING and key not in row]:
        raise CompileError(f"{missing[0]} is missing", where=where, accepted=", ".join(known))
    for key, accepted in (("quantity", QUANTITIES), ("origin", ORIGINS), ("seen", SEEN)):
        if key in row and row[key] not in accepted:
            raise CompileError(f"{key} is {row[key]!r}", where=where, accepted=", ".join(accepted))
    for key, value in row.items():
        if bad := [each for each in (value if isinstance(value, list) else [value]) if not _is_figure(each)]:
            raise CompileError(f"{key} has {bad[0]!r}", where=where, accepted="text that is not empty, or numbers above 0")
    if "values" in row and len(row["values"]) != len(row["designs"]):
        raise CompileError(f"{len(row['values'])} values", where=where, accepted=f"{len(row['designs'])}, one for each design")
    return kind(**row)


def _is_figure(value: object) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, int | float) and type(value) is not bool and isfinite(value) and value > 0


def _latencies(series: Sequence[Series]) -> list[Series]:
    """Of each system that says how fast it decodes and when its first token comes, and not when its last does."""
    by_kind = {(each.quantity, each.system): each for each in series}
    found: list[Series] = []
    for (quantity, system), decode in by_kind.items():
        ttft = by_kind.get(("ttft", system))
        if quantity != "decode" or ttft is None or ("latency", system) in by_kind:
            continue
        designs = [design for design in decode.designs if ttft.of(design) is not None]
        pairs = [(design, ttft.of(design), decode.of(design)) for design in designs]
        values = [latency_ms(first, speed, tokens_of(design)) for design, first, speed in pairs if first and speed]
        source = f"{decode.source}: ttft, and all tokens at its speed"
        found.append(Series("latency", system, designs, values, "derived", source, decode.seen))
    return found
