"""Which linear layers are quantised, and how: read from the text of `--quantize`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

from stc.diagnostics import CompileError

SCALES: Mapping[str, float] = MappingProxyType({"f16": 2.0**-14, "bf16": 2.0**-126})
"""Types of the weights' scales, and the least normal number of each: no scale is smaller."""

LEAST_ACTIVATION_SCALE = 2.0**-126
"""The least normal f32: what is flushed to zero below it in hardware is no scale."""

DTYPES: Mapping[str, str] = MappingProxyType({"w8a8": "bits=8", "w4a8": "bits=4,group=128"})
"""What `--dtype` stands for."""

LONGEST_GROUP = 2**17
"""Terms of a sum of int8 by int8 that i32 has room for: 2^17 * 127 * 127 < 2^31."""

TOKEN, GROUP = "token", "group"
F32, INT8 = "f32", "int8"
_EXCEPT = "except"
_EVERYWHERE: Mapping[str, tuple[str, ...]] = MappingProxyType({"kv": (F32, INT8)})
"""What is said once, of the whole model."""


@dataclass(frozen=True)
class LinearFormat:
    """How one linear layer is quantised: weights to `bits` in groups of `group` along the reduction (0: the whole row) with a
    scale of type `scale` for each group and output; activations to int8 with a scale for each `activations`, token or group."""

    bits: int = 8
    group: int = 0
    scale: str = "f16"
    activations: str = TOKEN

    @property
    def largest(self) -> int:
        """The largest magnitude of an integer weight; both signs have it."""
        return 2 ** (self.bits - 1) - 1

    def groups(self, length: int) -> tuple[int, int]:
        """How many groups a reduction of `length` has, and the length of each; the last may be longer than what is left."""
        size = min(self.group or length, length)
        return -(-length // size), size


ACTIVATION_LARGEST = 127
_ACCEPTED: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {"bits": (4, 8), "scale": tuple(SCALES), "activations": (TOKEN, GROUP)}
)


@dataclass(frozen=True)
class Quantisation:
    """The format of all linear layers but `excepted`; `own` formats of single ones. Both by path of modules; a path names what is
    below it too. `kv`: how caches store rows of keys and values (`stc.quantisation.rows`)."""

    default: LinearFormat = LinearFormat()
    excepted: tuple[str, ...] = ()
    own: Mapping[str, LinearFormat] = field(default_factory=dict[str, LinearFormat])
    kv: str = F32

    def format_of(self, layer: str) -> LinearFormat | None:
        """How a layer is quantised, None for one that stays f32."""
        if any(_holds(path, layer) for path in self.excepted):
            return None
        named = [path for path in self.own if _holds(path, layer)]
        return self.own[max(named, key=len)] if named else self.default

    def require_no_cache(self, where: str) -> None:
        """CompileError where something is said of caches: there is none."""
        if self.kv != F32:
            accepted = "a decoder layer behind a cache: --stage decode, or prefill with --max-seq"
            raise CompileError(f"kv={self.kv}, and there is no cache", where=where, accepted=accepted)

    def require_known(self, layers: Iterable[str]) -> None:
        """CompileError where a path names none of `layers`."""
        known = list(layers)
        for path in (*self.excepted, *self.own):
            if not any(_holds(path, layer) for layer in known):
                near = difflib.get_close_matches(path, known, n=3)
                meant = f", did you mean {' or '.join(map(repr, near))}?" if near else ""
                raise CompileError(f"no linear layer is called '{path}'{meant}", where="--quantize", accepted=", ".join(known))


def _holds(path: str, layer: str) -> bool:
    return layer == path or layer.startswith(f"{path}.")


def read_quantisation(text: str) -> Quantisation:
    """What `bits=4,group=32,scale=f16,activations=group,except=lm_head,mlp.c_proj.bits=8,kv=int8` says.

    `except` may be repeated. `PATH.bits` (`.group`, ...) is of the layers below that path alone; what is not said of them is as for
    all others. CompileError for unknown words and values, and where a layer is excepted and has a format of its own.
    """
    default: dict[str, Any] = {}
    everywhere: dict[str, Any] = {}
    own: dict[str, dict[str, Any]] = {}
    excepted: list[str] = []
    for entry in filter(None, (part.strip() for part in text.split(","))):
        key, _, value = entry.partition("=")
        if key == _EXCEPT and value:
            excepted.append(value)
            continue
        path, _, name = key.rpartition(".")
        target = own.setdefault(path, {}) if path else everywhere if name in _EVERYWHERE else default
        if name in target:
            raise CompileError(f"'{key}' is said twice", where="--quantize", accepted="each once")
        target[name] = _value(name, value, entry, of_one=bool(path))
    linear = LinearFormat(**default)
    formats = {path: replace(linear, **said) for path, said in own.items()}
    for path in formats:
        if other := next((other for other in excepted if _holds(other, path)), None):
            what = f"layer '{path}' is excepted ('{other}') and has a format of its own"
            raise CompileError(what, where="--quantize", accepted="one of both")
    return Quantisation(linear, tuple(excepted), formats, **everywhere)


def _value(name: str, text: str, entry: str, *, of_one: bool) -> int | str:
    names = [part.name for part in fields(LinearFormat)]
    if not of_one:
        names += _EVERYWHERE
    if name not in names or not text:
        accepted = f"{', '.join(f'{known}=...' for known in names)}, {_EXCEPT}=PATH, PATH.{names[0]}=..."
        raise CompileError(f"'{entry}'", where="--quantize", accepted=accepted)
    if name == "group":
        if text == "row":
            return 0
        if not text.isdigit() or not 1 <= int(text) <= LONGEST_GROUP:
            raise CompileError(f"'{entry}'", where="--quantize", accepted=f"group=1 to {LONGEST_GROUP}, or group=row")
        return int(text)
    values = {**_ACCEPTED, **_EVERYWHERE}[name]
    for value in values:
        if text == str(value):
            return value
    accepted = ", ".join(f"{name}={value}" for value in values)
    raise CompileError(f"'{entry}'", where="--quantize", accepted=accepted)
