"""Frozen dataclasses to JSON values and back, validated against their type annotations.

Supported annotations: int, float, str, bool, Literal, X | None, tuple[X, ...], dict[str, X], JsonValue, nested dataclasses.
Every complaint is a CompileError that names the path of the field (`kernels[0].ports[2].lanes`).
"""

from __future__ import annotations

import types
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from stc.diagnostics import CompileError

T = TypeVar("T")
# A JSON value that the schema does not look into (options).
JsonValue = Any
_MOST_FLOAT = 2**1023
_LONGEST = 60


def encode(value: object) -> JsonValue:
    """`value` (dataclasses, tuples, dicts, scalars) as plain JSON values."""
    if is_dataclass(value) and not isinstance(value, type):
        entries = {field: getattr(value, field.name) for field in fields(value)}
        return {
            field.name: encode(entry)
            for field, entry in entries.items()
            if not ("left_out" in field.metadata and entry == field.default)
        }
    if isinstance(value, dict):
        return {str(key): encode(entry) for key, entry in value.items()}
    if isinstance(value, (tuple, list)):
        return [encode(entry) for entry in value]
    return value


def decode(kind: type[T], value: JsonValue, path: str, source: str) -> T:
    """`value` as an instance of the dataclass `kind`; `source` names the file in complaints."""
    return _decode(kind, value, path, source)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _decode(annotation: Any, value: JsonValue, path: str, source: str) -> Any:
    if annotation is Any:
        return value
    if is_dataclass(annotation):
        return _decode_dataclass(annotation, value, path, source)
    origin = get_origin(annotation)
    if origin is Literal:
        return _decode_literal(annotation, value, path, source)
    if origin in (Union, types.UnionType):
        return _decode_union(annotation, value, path, source)
    if origin is tuple:
        _require(isinstance(value, list), "a list", value, path, source)
        return tuple(_decode(get_args(annotation)[0], entry, f"{path}[{i}]", source) for i, entry in enumerate(value))
    if origin is dict:
        _require(isinstance(value, dict), "an object", value, path, source)
        return {key: _decode(get_args(annotation)[1], entry, f"{path}.{key}", source) for key, entry in value.items()}
    return _decode_scalar(annotation, value, path, source)


def _decode_dataclass(kind: Any, value: JsonValue, path: str, source: str) -> Any:
    _require(isinstance(value, dict), "an object", value, path, source)
    known = {field.name: field for field in fields(kind)}
    for name in value:
        if name not in known:
            raise CompileError(f"unknown field '{_join(path, name)}'", where=source, accepted=", ".join(known))
    arguments: dict[str, Any] = {}
    for name, field in known.items():
        if name in value:
            arguments[name] = _decode(_hints(kind)[name], value[name], _join(path, name), source)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise CompileError(f"field '{_join(path, name)}' is missing", where=source)
    return kind(**arguments)


def _decode_literal(annotation: Any, value: JsonValue, path: str, source: str) -> Any:
    accepted = get_args(annotation)
    _require(value in accepted, " or ".join(str(entry) for entry in accepted), value, path, source)
    return value


def _decode_union(annotation: Any, value: JsonValue, path: str, source: str) -> Any:
    options = [option for option in get_args(annotation) if option is not type(None)]
    if value is None and len(options) < len(get_args(annotation)):
        return None
    if len(options) > 1:
        is_right = isinstance(value, tuple(options)) and not isinstance(value, bool)
        _require(is_right, " or ".join(o.__name__ for o in options), value, path, source)
        return value
    return _decode(options[0], value, path, source)


def _decode_scalar(annotation: Any, value: JsonValue, path: str, source: str) -> Any:
    if annotation is float and isinstance(value, int) and not isinstance(value, bool):
        _require(abs(value) < _MOST_FLOAT, "a number of f64", value, path, source)
        return float(value)
    is_right = isinstance(value, annotation) and (annotation is bool or not isinstance(value, bool))
    _require(is_right, annotation.__name__, value, path, source)
    return value


def _require(condition: bool, expected: str, value: JsonValue, path: str, source: str) -> None:
    if not condition:
        shown = _shown(value) if not isinstance(value, (dict, list)) else type(value).__name__
        raise CompileError(f"field '{path or 'manifest'}' is {shown}", where=source, accepted=expected)


def _shown(value: JsonValue) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
