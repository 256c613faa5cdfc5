"""Integer weights as GPTQ and AWQ checkpoints hold them: int32 words of `bits` wide fields, a scale and a zero point per group.

A layer of K inputs and N outputs, in groups of g inputs (G = ceil(K / g), the last may be shorter), computes with
`weight[n][k] = (field(n, k) - zero(n, k // g)) * scale(n, k // g)`, fields and zero points from 0 to 2^bits - 1. With F = 32 / bits
fields in a word, the lowest bits first:

    GPTQ  qweight [K / F, N]   field i of a word is input F * row + i
          qzeros  [G, N / F]   field i of a word is output F * column + i; `gptq` files have one less than the zero point there,
                               `gptq_v2` files the zero point itself
          scales  [G, N]       f16
          g_idx   [K]          int32: the group of each input
    AWQ   qweight [K, N / 8]   field i of a word is output 8 * column + (0, 2, 4, 6, 1, 3, 5, 7)[i]
          qzeros  [G, N / 8]   outputs in the same order; the zero point itself
          scales  [G, N]       f16

The formats are those that AutoGPTQ (`auto_gptq/nn_modules/qlinear`), GPTQModel (`gptqmodel/nn_modules/qlinear`, `FORMAT.GPTQ` and
`FORMAT.GPTQ_V2`) and AutoAWQ (`awq/modules/linear/gemm.py`, version `gemm`) write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stc.diagnostics import CompileError
from stc.quantisation.formats import SCALES

GPTQ, AWQ = "gptq", "awq"
QWEIGHT, QZEROS, SCALE, G_IDX = "qweight", "qzeros", "scales", "g_idx"
TENSORS: Mapping[str, tuple[str, ...]] = {GPTQ: (QWEIGHT, QZEROS, SCALE, G_IDX), AWQ: (QWEIGHT, QZEROS, SCALE)}
"""What a layer consists of, by method; a bias may be beside it."""

AWQ_OUTPUTS = np.array([0, 2, 4, 6, 1, 3, 5, 7])
"""The output of each field of a word."""

_WORD = 32
_GPTQ_FILES, _AWQ_FILES = ("gptq", "gptq_v2"), ("gemm",)
_ABSENT = object()


@dataclass(frozen=True)
class PackedFormat:
    """What `quantization_config` says of all layers. `group`: inputs that share a scale, 0 for all of them; `symmetric`: whether
    all zero points are 2^(bits - 1); `less_one`: whether they are stored as one less."""

    method: str
    bits: int
    group: int
    symmetric: bool
    less_one: bool

    @property
    def half(self) -> int:
        """What is subtracted of fields and zero points, so that they are signed integers of `bits`."""
        return 2 ** (self.bits - 1)

    @property
    def fields(self) -> int:
        """How many a word has."""
        return _WORD // self.bits

    def groups(self, inputs: int) -> int:
        """Of a layer."""
        return -(-inputs // (self.group or inputs))

    def shapes(self, outputs: int, inputs: int) -> dict[str, tuple[int, ...]]:
        """Of a layer's tensors. Sizes that words do not divide are rounded down: `unpack` refuses those layers."""
        groups, columns = self.groups(inputs), outputs // self.fields
        shapes = {QZEROS: (groups, columns), SCALE: (groups, outputs)}
        if self.method == AWQ:
            return {QWEIGHT: (inputs, columns), **shapes}
        return {QWEIGHT: (inputs // self.fields, outputs), **shapes, G_IDX: (inputs,)}


@dataclass(frozen=True)
class GroupedIntegers:
    """`weight[n][k] = (integers[n][k] - zeros[n][k // group]) * scales[n][k // group]`: `integers` [outputs, inputs] int8 from
    -2^(bits - 1) to 2^(bits - 1) - 1; `scales` [outputs, groups] f16, normal numbers; `zeros` [outputs, groups] int8 in the same
    range, None where the format says that all are 0."""

    bits: int
    group: int
    integers: np.ndarray
    scales: np.ndarray
    zeros: np.ndarray | None


def read_packed_format(said: Mapping[str, Any], where: str) -> PackedFormat:
    """What a `quantization_config` says; CompileError for methods, versions, widths and options that are not supported."""
    method = _one_of(said, "quant_method", (GPTQ, AWQ), where)
    bits = _one_of(said, "bits", (4, 8) if method == GPTQ else (4,), where, old="w_bit")
    group = _value(said, "group_size", _ABSENT, old="q_group_size")
    if not isinstance(group, int) or isinstance(group, bool) or (group < 1 and group != -1):
        raise CompileError(_shown("group_size", group), where=where, accepted="a length of groups, or -1 for all inputs")
    if said.get("dynamic"):
        raise CompileError("layers have formats of their own ('dynamic')", where=where, accepted="one format for all layers")
    if method == AWQ:
        _one_of(said, "version", _AWQ_FILES, where, missing=_AWQ_FILES[0])
        return PackedFormat(method, bits, max(group, 0), not _flag(said, "zero_point", True, where), False)
    if _flag(said, "is_marlin_format", False, where):
        raise CompileError("'is_marlin_format'", where=where, accepted=f"checkpoint_format {' or '.join(_GPTQ_FILES)}")
    _one_of(said, "pack_dtype", ("int32",), where, missing="int32")
    files = _one_of(said, "checkpoint_format", _GPTQ_FILES, where, missing=said.get("format", _GPTQ_FILES[0]))
    return PackedFormat(method, bits, max(group, 0), _flag(said, "sym", True, where), files == _GPTQ_FILES[0])


def _value(said: Mapping[str, Any], key: str, missing: Any, old: str = "") -> Any:
    return said.get(key, said.get(old, missing))


def _shown(key: str, value: Any) -> str:
    return f"no {key}" if value is _ABSENT else f"{key} {value!r}"


def _one_of(
    said: Mapping[str, Any], key: str, accepted: tuple[Any, ...], where: str, *, missing: Any = _ABSENT, old: str = ""
) -> Any:
    value = _value(said, key, missing, old)
    lowered = value.lower() if isinstance(value, str) else value
    if isinstance(value, bool) or lowered not in accepted:
        raise CompileError(_shown(key, value), where=where, accepted=", ".join(map(str, accepted)))
    return lowered


def _flag(said: Mapping[str, Any], key: str, missing: bool, where: str) -> bool:
    value = said.get(key, missing)
    if not isinstance(value, bool):
        raise CompileError(_shown(key, value), where=where, accepted="true, false")
    return value


def unpack(chosen: PackedFormat, tensors: Mapping[str, np.ndarray], outputs: int, inputs: int, where: str) -> GroupedIntegers:
    """A layer of `chosen` from its tensors, which are all there. CompileError, naming `where` and the tensor, for wrong shapes and
    types, inputs that are not in the order of their groups, scales that are no normal numbers, and zero points that
    `chosen` or the format does not have."""
    _require_shapes(chosen, tensors, outputs, inputs, where)
    _require_order(chosen, tensors, inputs, where)
    scales = tensors[SCALE].T
    if not (np.isfinite(scales) & (np.abs(scales) >= SCALES["f16"])).all():
        what = f"a scale is zero, NaN, infinite or below 2^-14 ({SCALE})"
        raise CompileError(what, where=where, accepted="finite scales that are normal numbers of f16")
    if chosen.method == AWQ:
        integers, zeros = (_awq_fields(tensors[name]).T for name in (QWEIGHT, QZEROS))
    else:
        integers, zeros = _fields(tensors[QWEIGHT].T, chosen.bits), _fields(tensors[QZEROS], chosen.bits).T
    zeros = _signed(_zero_points(chosen, zeros, where), chosen)
    if chosen.symmetric and zeros.any():
        what = f"zero points other than {chosen.half} in a symmetric format ({QZEROS})"
        key = "zero_point true" if chosen.method == AWQ else "sym false"
        raise CompileError(what, where=where, accepted=f"{key}, or zero points of {chosen.half}")
    group = min(chosen.group or inputs, inputs)
    kept = None if chosen.symmetric else np.ascontiguousarray(zeros)
    return GroupedIntegers(chosen.bits, group, np.ascontiguousarray(_signed(integers, chosen)), np.ascontiguousarray(scales), kept)


def _require_shapes(chosen: PackedFormat, tensors: Mapping[str, np.ndarray], outputs: int, inputs: int, where: str) -> None:
    packed = {"inputs": inputs, "outputs": outputs} if chosen.method == GPTQ else {"outputs": outputs}
    for name, size in packed.items():
        if size % chosen.fields:
            what = f"{size} {name} of {chosen.bits} bits do not fill words of int32"
            raise CompileError(what, where=where, accepted=f"multiples of {chosen.fields}")
    for name, shape in chosen.shapes(outputs, inputs).items():
        kind = "float16" if name == SCALE else "int32"
        if tensors[name].shape != shape or str(tensors[name].dtype) != kind:
            what = f"{name} is {tensors[name].dtype} of shape {tuple(tensors[name].shape)}"
            raise CompileError(what, where=where, accepted=f"{kind} of shape {shape}")


def _require_order(chosen: PackedFormat, tensors: Mapping[str, np.ndarray], inputs: int, where: str) -> None:
    """Activations come as a stream, in order: in the order of groups only a buffer of all of them could bring them."""
    if chosen.method == GPTQ and not np.array_equal(tensors[G_IDX], np.arange(inputs) // (chosen.group or inputs)):
        what = f"inputs are not in the order of their groups ({G_IDX}; desc_act): activations would have to be permuted"
        raise CompileError(what, where=where, accepted=f"a model quantised with desc_act false ({G_IDX}[k] = k // group_size)")


def _zero_points(chosen: PackedFormat, stored: np.ndarray, where: str) -> np.ndarray:
    if not chosen.less_one:
        return stored
    if (stored == 2 * chosen.half - 1).any():
        what = f"a zero point is stored as {2 * chosen.half - 1}, which stands for {2 * chosen.half} or for 0 ({QZEROS})"
        raise CompileError(what, where=where, accepted="checkpoint_format gptq_v2, which stores zero points as they are")
    return stored + 1


def _signed(fields: np.ndarray, chosen: PackedFormat) -> np.ndarray:
    return (fields.astype(np.int16) - chosen.half).astype(np.int8)


def _fields(words: np.ndarray, bits: int) -> np.ndarray:
    """[rows, columns] int32 as [rows, columns * 32 / bits] uint8, the lowest bits of a word first."""
    shifts = np.arange(0, _WORD, bits, dtype=np.uint32)
    cut = (words.astype(np.int32).view(np.uint32)[..., None] >> shifts) & np.uint32(2**bits - 1)
    return cut.astype(np.uint8).reshape(len(words), -1)


def _awq_fields(words: np.ndarray) -> np.ndarray:
    """The same with outputs in their order."""
    fields = _fields(words, 4).reshape(len(words), -1, len(AWQ_OUTPUTS))
    ordered = np.empty_like(fields)
    ordered[..., AWQ_OUTPUTS] = fields
    return ordered.reshape(len(words), -1)
