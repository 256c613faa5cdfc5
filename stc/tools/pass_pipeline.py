"""Pass pipelines as text, `pass{option=value other=1,2},pass`, and what to say about a wrong one."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
from collections.abc import Iterable, Mapping

from xdsl.passes import ModulePass, get_pass_option_infos
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError

from stc.diagnostics import CompileError
from stc.transforms import PassFactory


def read_pipeline(text: str, passes: Mapping[str, PassFactory]) -> list[ModulePass]:
    """The passes that `text` names, in order; CompileError names the pass or option that is unknown and what is accepted."""
    try:
        specifications = list(parse_pipeline(text))
    except ArgSpecParseError as error:
        raise CompileError(
            f"pipeline '{text}': {' '.join(str(error).split())}", accepted="'pass{option=value ...},...'"
        ) from None
    return [_instantiate(specification, passes) for specification in specifications]


def find_pass(name: str, passes: Mapping[str, PassFactory]) -> type[ModulePass]:
    """The pass of that name; CompileError with near names and all names where there is none."""
    if name not in passes:
        raise CompileError(f"unknown pass '{name}'{_did_you_mean(name, passes)}", accepted=", ".join(passes))
    return passes[name]()


def _instantiate(specification: ArgSpec, passes: Mapping[str, PassFactory]) -> ModulePass:
    name = specification.name
    kind = find_pass(name, passes)
    options = [spelled_option(field.name) for field in dataclasses.fields(kind)]
    for option in specification.parameters:
        if spelled_option(option) not in options:
            raise CompileError(
                f"pass '{name}' has no option '{option}'{_did_you_mean(option, options)}",
                accepted=", ".join(options) or "no option",
            )
    try:
        return kind.from_spec(specification)
    except ValueError as error:
        raise CompileError(f"pass '{name}': {error}", accepted=_signature(kind) or "no option") from None


def spelled_option(name: str) -> str:
    """An option as it is written on the command line."""
    return name.replace("_", "-")


def _did_you_mean(name: str, accepted: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(accepted), n=3)
    return f", did you mean {' or '.join(repr(other) for other in close)}?" if close else ""


def _signature(kind: type[ModulePass]) -> str:
    parts: list[str] = []
    for option in get_pass_option_infos(kind):
        kind_of_value = option.expected_type.strip("'")
        default = "" if option.default_value is None else f" = {option.default_value or repr('')}"
        parts.append(f"{spelled_option(option.name)}: {kind_of_value}{default}")
    return ", ".join(parts)


def describe(kind: type[ModulePass]) -> str:
    """Name, options with types and defaults, and documentation of a pass, as text."""
    signature = _signature(kind)
    head = f"{kind.name}{{{signature}}}" if signature else kind.name
    documentation = inspect.cleandoc(kind.__doc__ or "")
    if documentation.startswith(f"{kind.__name__}("):
        documentation = ""  # made up by dataclass, not written by anybody
    return "\n".join([head, *(f"    {line}".rstrip() for line in documentation.splitlines())])
