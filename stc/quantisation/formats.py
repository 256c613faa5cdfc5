"""Which linear layers are quantised, and how: read from the text of `--quantize`."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

from stc.diagnostics import CompileError

SCALES: Mapping[str, float] = MappingProxyType({"f16": 2.0**-14, "bf16": 2.0**-126})
"""Types of the weights' scales, and the least normal number of each: no scale is smaller."""

LEAST_ACTIVATION_SCALE = 2.0**-126
"""The least normal f32: what is flushed to zero below it in hardware is no scale."""

DTYPES: Mapping[str, str] = MappingProxyType({"w8a8": "bits=8", "w4a8": "bits=4,group=128,head=8"})
"""What `--dtype` stands for, but f32."""

HEAD = "lm_head"
"""The path of the layer behind the last norm of a language model, as transformers calls it."""

LONGEST_GROUP = 2**17
"""Terms of a sum of int8 by int8 that i32 has room for: 2^17 * 127 * 127 < 2^31."""

TOKEN, GROUP = "token", "group"
F32, BF16, INT8 = "f32", "bf16", "int8"
_EXCEPT = "except"
_OPTION = "--quantize"
_OF_CACHES: Mapping[str, tuple[Any, ...]] = MappingProxyType({"kv": (F32, BF16, INT8), "attention": (F32, INT8)})
_OF_MODEL: Mapping[str, tuple[Any, ...]] = MappingProxyType({**_OF_CACHES, "head": (4, 8, F32)})
"""What is said once, of the whole model."""


@dataclass(frozen=True)
class LinearFormat:
    """How one linear layer is quantised: weights to `bits` in groups of `group` along the reduction (0: the whole row) with a
    scale of type `scale` for each group and output; activations to int8 with a scale for each `activations`, token or group."""

    bits: int = 8
    group: int = 0
    scale: str = "f16"
    activations: str = TOKEN

    def __str__(self) -> str:
        """All of it as a format says it, which `LinearFormat.read` reads."""
        said = {"bits": self.bits, "group": self.group or _ROW, "scale": self.scale, "activations": self.activations}
        return ",".join(f"{name}={value}" for name, value in said.items())

    @classmethod
    def read(cls, text: str, where: str) -> LinearFormat | None:
        """The format of one layer: `f32` (None), or what `bits=4,group=32` says; CompileError, about `where`, for all else."""
        if text == F32:
            return None
        entries = list(_entries(text))
        names = [entry.name for entry in entries if not entry.path]
        if not entries or len({*names} & {*_NAMES}) < len(entries):
            accepted = f"{F32}, or {', '.join(f'{name}=...' for name in _NAMES)}, each at most once"
            raise CompileError(f"'{text}' is no format of a layer", where=where, accepted=accepted)
        said: dict[str, Any] = {entry.name: _value(entry, _ACCEPTED, where) for entry in entries}
        return cls(**said)

    @property
    def largest(self) -> int:
        """The largest magnitude of an integer weight; both signs have it."""
        return 2 ** (self.bits - 1) - 1

    def groups(self, length: int) -> tuple[int, int]:
        """How many groups a reduction of `length` has, and the length of each; the last may be longer than what is left.
        CompileError for groups that i32 has no room for."""
        size = min(self.group or length, length)
        if size > LONGEST_GROUP:
            accepted = f"group=1 to {LONGEST_GROUP}: sums of i32"
            raise CompileError(f"group=row of a reduction of {length} terms", where=_OPTION, accepted=accepted)
        return -(-length // size), size


_NAMES = tuple(part.name for part in fields(LinearFormat))
_ROW = "row"
ACTIVATION_LARGEST = 127
ACTIVATION_STEP = 0.007874015718698502
"""1 / `ACTIVATION_LARGEST`, as f32: what the largest magnitude is multiplied by. A device computes many scales side by side, and
a divider takes 994 LUTs (assumed), where a multiplier takes 78 and 3 DSPs (published)."""
_ACCEPTED: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {"bits": (4, 8), "scale": tuple(SCALES), "activations": (TOKEN, GROUP)}
)


@dataclass(frozen=True)
class Quantisation:
    """The format of all linear layers but `excepted`, None: f32; `own` formats of single ones. Both by path of modules; a path
    names what is below it too. `head`: the format of the layer `HEAD` where neither speaks of it, None: f32. `kv`: how caches store
    rows of keys and values (`stc.quantisation.rows`). `attention`: of what its products are."""

    default: LinearFormat | None = LinearFormat()
    excepted: tuple[str, ...] = ()
    own: Mapping[str, LinearFormat] = field(default_factory=dict[str, LinearFormat])
    head: LinearFormat | None = LinearFormat()
    kv: str = F32
    attention: str = F32

    def format_of(self, layer: str) -> LinearFormat | None:
        """How a layer is quantised, None for one that stays f32."""
        if any(_holds(path, layer) for path in self.excepted):
            return None
        named = [path for path in self.own if _holds(path, layer)]
        if named:
            return self.own[max(named, key=len)]
        return self.head if layer == HEAD else self.default

    def require_no_cache(self, where: str) -> None:
        """CompileError where something is said of caches: there is none."""
        if self.kv != F32:
            accepted = "a decoder layer behind a cache: --stage decode, or prefill with --max-seq"
            raise CompileError(f"kv={self.kv}, and there is no cache", where=where, accepted=accepted)

    def require_known(self, layers: Iterable[str]) -> None:
        """CompileError where a path names none of `layers`."""
        require_layers((*self.excepted, *self.own), layers, _OPTION)


def require_layers(paths: Iterable[str], layers: Iterable[str], where: str) -> None:
    """CompileError, about `where`, for the first of `paths` that names none of `layers`."""
    known = list(layers)
    for path in paths:
        if not any(_holds(path, layer) for layer in known):
            near = difflib.get_close_matches(path, known, n=3)
            meant = f", did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise CompileError(f"no linear layer is called '{path}'{meant}", where=where, accepted=", ".join(known))


def _holds(path: str, layer: str) -> bool:
    return layer == path or layer.startswith(f"{path}.")


def format_of_dtype(dtype: str, where: str) -> str:
    """What `--dtype` stands for; CompileError where it is none."""
    if dtype != F32 and dtype not in DTYPES:
        raise CompileError(f"unknown dtype {dtype}", where=where, accepted=", ".join((F32, *DTYPES)))
    return DTYPES.get(dtype, "")


def require_some(chosen: Quantisation, layers: Collection[str], where: str) -> None:
    """CompileError where a path names a layer that is none of `layers`, and where nothing is quantised."""
    chosen.require_known(layers)
    if chosen.kv == F32 and all(chosen.format_of(layer) is None for layer in layers):
        accepted = "models with layers of torch.nn.Linear that are not excepted"
        raise CompileError("there is no linear layer to quantise", where=where, accepted=accepted)


@dataclass(frozen=True)
class _Entry:
    """A part `text` of a format: the layers that `path` holds are excepted, or have `name`=`value`; an empty path holds all."""

    text: str
    path: str
    name: str = ""
    value: str = ""
    is_exception: bool = False


def _entries(text: str) -> Iterator[_Entry]:
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, _, value = part.partition("=")
        path, dot, name = key.rpartition(".")  # a dot without a path in front names no layer
        yield _Entry(part, value, is_exception=True) if key == _EXCEPT and value else _Entry(part, path or dot, name, value)


def _is_of_layers(text: str) -> bool:
    """Whether a format says anything of linear layers: else they stay f32."""
    return any(entry.name not in _OF_CACHES for entry in _entries(text))


def of_part(text: str, layers: Collection[str], *, has_cache: bool) -> str:
    """What `text` (`read_quantisation`) says of a part of a model with these linear layers; empty where it all stays f32."""
    said = [entry for entry in _entries(text) if not entry.path or any(_holds(entry.path, layer) for layer in layers)]
    of_this = ",".join(entry.text for entry in said if has_cache or entry.name not in _OF_CACHES)
    if all(entry.name in _OF_CACHES for entry in said) and _is_of_layers(text):
        of_this = ",".join(filter(None, (f"bits={LinearFormat.bits}", of_this)))
    chosen = read_quantisation(of_this)
    changes = chosen.kv != F32 or any(chosen.format_of(layer) is not None for layer in layers)
    return of_this if text and changes else ""


def with_formats(text: str, formats: Mapping[str, LinearFormat | None]) -> str:
    """`text` (`read_quantisation`), changed where a layer of `formats` has another format in it; None: f32.

    What `text` says of such a layer itself is replaced. A format for a layer below an excepted path stays one that
    `read_quantisation` refuses.
    """
    before = read_quantisation(text)
    others = {path: own for path, own in formats.items() if before.format_of(path) != own}
    retained = [entry.text for entry in _entries(text) if entry.path not in others and (entry.name != "head" or HEAD not in others)]
    layers_stay = [] if _is_of_layers(text) or not others else [f"bits={F32}"]
    changed = [f"{_EXCEPT}={path}" if own is None else ",".join(f"{path}.{said}" for said in str(own).split(","))
               for path, own in others.items()]
    return ",".join((*layers_stay, *retained, *changed)) if others else text


def read_quantisation(text: str) -> Quantisation:
    """What `bits=4,group=32,scale=f16,activations=group,head=8,kv=int8,attention=int8,except=attn,mlp.c_proj.bits=8` says.

    `bits=f32`: layers that nothing else is said of stay f32. `except` may be repeated. `PATH.bits` (`.group`, ...) is of the layers
    below that path alone; what is not said of them is as for all others. `head`: bits of the layer `HEAD`, or f32; what is not said
    of it is as for all others, too. Where only caches and attention are spoken of, all layers stay f32. CompileError for unknown
    words and values, and where a layer is excepted and has a format of its own.
    """
    said: dict[str, dict[str, Any]] = {"": {}}
    excepted: list[str] = []
    for entry in _entries(text):
        if entry.is_exception:
            excepted.append(entry.path)
            continue
        target = said.setdefault(entry.path, {})
        if entry.name in target:
            raise CompileError(f"'{entry.text.partition('=')[0]}' is said twice", where=_OPTION, accepted="each once")
        target[entry.name] = _read(entry)
    default = said.pop("")
    of_model = {name: default.pop(name) for name in _OF_MODEL if name in default}
    bits = default.get("bits", LinearFormat.bits)
    linear = LinearFormat(**{name: value for name, value in default.items() if value != F32})
    is_head_said, of_head = "head" in of_model, of_model.pop("head", bits)
    head = None if of_head == F32 else replace(linear, bits=of_head)
    if is_head_said and HEAD in said and (head is None or "bits" in said[HEAD]):
        raise CompileError(f"both head={of_head} and {HEAD}.{next(iter(said[HEAD]))}", where=_OPTION, accepted="one of both")
    formats = {path: replace((head if path == HEAD else None) or linear, **own) for path, own in said.items()}
    for path in (*formats, *([HEAD] if is_head_said else [])):
        if other := next((other for other in excepted if _holds(other, path)), None):
            what = f"layer '{path}' is excepted ('{other}') and has a format of its own"
            raise CompileError(what, where=_OPTION, accepted="one of both")
    if (kv := of_model.get("kv", F32)) != INT8 and of_model.get("attention") == INT8:
        accepted = "kv=int8 with it, whose rows are the factors"
        raise CompileError(f"attention=int8 with kv={kv}", where=_OPTION, accepted=accepted)
    if not _is_of_layers(text):
        return Quantisation(None, head=None, **of_model)
    return Quantisation(None if bits == F32 else linear, tuple(excepted), formats, head, **of_model)


def _read(entry: _Entry) -> int | str:
    """The value of an entry of `--quantize`; CompileError where it has a name or value that does not exist there."""
    names = _NAMES if entry.path else (*_NAMES, *_OF_MODEL)
    if entry.name not in names or not entry.value:
        accepted = f"{', '.join(f'{name}=...' for name in names)}, {_EXCEPT}=PATH, PATH.{names[0]}=..."
        raise CompileError(f"'{entry.text}'", where=_OPTION, accepted=accepted)
    values = {**_ACCEPTED, **_OF_MODEL}
    return _value(entry, values if entry.path else {**values, "bits": (*_ACCEPTED["bits"], F32)}, _OPTION)


def _value(entry: _Entry, accepted: Mapping[str, tuple[Any, ...]], where: str) -> int | str:
    name, text = entry.name, entry.value
    if name == "group":
        if text == _ROW:
            return 0
        if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= LONGEST_GROUP:
            raise CompileError(f"'{entry.text}'", where=where, accepted=f"group=1 to {LONGEST_GROUP}, or group={_ROW}")
        return int(text)
    for value in accepted[name]:
        if text == str(value):
            return value
    raise CompileError(f"'{entry.text}'", where=where, accepted=", ".join(f"{name}={value}" for value in accepted[name]))
