"""Pass pipelines as text, `pass{option=value other=1,2},pass`, and what to say about a wrong one."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from xdsl.passes import get_pass_option_infos
from xdsl.utils.arg_spec import ArgSpec, ArgSpecConvertible, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError

from stc.diagnostics import CompileError

LISTS = {"pass": "--list-passes", "pipeline": "--list-pipelines", "target": "--help"}
"""What lists all there are, by what they are called in messages."""

T = TypeVar("T", bound=ArgSpecConvertible)
"""A pass, or anything else that is written like one: `name{option=value ...}`."""
Made = TypeVar("Made", covariant=True)


def read_pipeline(text: str, passes: Mapping[str, Callable[[], type[T]]], what: str = "pass") -> list[T]:
    """The passes that `text` names, in order; CompileError names the pass or option that is unknown and what is accepted.

    `what`: what the passes are called in messages.
    """
    return [named.make() for named in name_pipeline(text, passes, what)]


@dataclass(frozen=True)
class NamedPass(Generic[Made]):
    """A pass of a pipeline before it is imported: `make` imports it, and raises CompileError for an option that it has not."""

    name: str
    make: Callable[[], Made]


def ready(made: T) -> NamedPass[T]:
    """A pass that there is already."""
    return NamedPass(made.name, lambda: made)


def name_pipeline(text: str, passes: Mapping[str, Callable[[], type[T]]], what: str = "pass") -> list[NamedPass[T]]:
    """As `read_pipeline`, where nothing is imported yet but packages that are asked for a name; CompileError for an unknown one."""
    try:
        specifications = list(parse_pipeline(text))
    except ArgSpecParseError as error:
        raise CompileError(
            f"pipeline '{text}': {' '.join(str(error).split())}", accepted="'pass{option=value ...},...'"
        ) from None
    for specification in specifications:
        _factory(specification.name, passes, what)
    return [NamedPass(one.name, partial(_instantiate, one, passes, what)) for one in specifications]


def find_pass(name: str, passes: Mapping[str, Callable[[], type[T]]], what: str = "pass") -> type[T]:
    """The pass of that name; CompileError with near names where there is none."""
    factory = _factory(name, passes, what)
    try:
        return factory()
    except ImportError as error:  # upstream's may need packages that we do not
        raise CompileError(f"{what} '{name}' cannot be imported: {error}", accepted="the packages that it needs") from error


def _factory(name: str, passes: Mapping[str, Callable[[], type[T]]], what: str) -> Callable[[], type[T]]:
    if (factory := passes.get(name)) is None:
        raise CompileError(f"unknown {what} '{name}'{did_you_mean(name, passes)}", accepted=f"one of `stc-opt {LISTS[what]}`")
    return factory


def _instantiate(specification: ArgSpec, passes: Mapping[str, Callable[[], type[T]]], what: str) -> T:
    name = specification.name
    kind = find_pass(name, passes, what)
    options = [spelled_option(field.name) for field in dataclasses.fields(kind)]
    for option in specification.parameters:
        if spelled_option(option) not in options:
            raise CompileError(
                f"{what} '{name}' has no option '{option}'{did_you_mean(option, options)}",
                accepted=", ".join(options) or "no option",
            )
    try:
        return kind.from_spec(specification)
    except ValueError as error:
        complaint = _ill_typed(specification, kind) or str(error)
        raise CompileError(f"{what} '{name}': {complaint}", accepted=_signature(kind) or "no option") from None


def _ill_typed(specification: ArgSpec, kind: type[ArgSpecConvertible]) -> str | None:
    """Which option has a value of another type than it takes, by trying each alone."""
    for option, value in specification.parameters.items():
        try:
            kind.from_spec(ArgSpec(specification.name, {option: value}))
        except ValueError:
            return f"option '{spelled_option(option)}' cannot be '{','.join(map(str, value))}'"
    return None


def spelled_option(name: str) -> str:
    """An option as it is written on the command line."""
    return name.replace("_", "-")


def did_you_mean(name: str, accepted: Iterable[str]) -> str:
    """`, did you mean 'x'?` with the accepted names that are nearest, or nothing."""
    close = difflib.get_close_matches(name, list(accepted), n=3)
    return f", did you mean {' or '.join(repr(other) for other in close)}?" if close else ""


def _signature(kind: type[ArgSpecConvertible]) -> str:
    parts: list[str] = []
    for option in get_pass_option_infos(kind):  # pyright: ignore[reportArgumentType]  # it asks for no more than fields
        kind_of_value = option.expected_type.strip("'")
        default = "" if option.default_value is None else f" = {option.default_value or repr('')}"
        parts.append(f"{spelled_option(option.name)}: {kind_of_value}{default}")
    return ", ".join(parts)


def describe(kind: type[ArgSpecConvertible]) -> str:
    """Name, options with types and defaults, and documentation of a pass (or pipeline), as text."""
    signature = _signature(kind)
    head = f"{kind.name}{{{signature}}}" if signature else kind.name
    return "\n".join([head, *(f"    {line}".rstrip() for line in documentation(kind).splitlines())])


def documentation(kind: type[ArgSpecConvertible]) -> str:
    """What somebody wrote about a pass or pipeline, perhaps nothing."""
    text = inspect.cleandoc(kind.__dict__.get("__doc__") or "")
    return "" if text.startswith(f"{kind.__name__}(") else text  # that is made up by dataclass
