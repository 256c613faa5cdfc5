"""A command whose values are taken as they are where they already have the type that is asked for.

typer 0.29 reads pydantic to check any value, also a default, which is a quarter of what `stc-opt` takes on a small file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args, get_origin

from typer._coercion import RuntimeParam, TypeDescriptor, build_runtime_param
from typer.core import TyperCommand


@dataclass(frozen=True)
class _AsItIs(RuntimeParam):
    """Leaves to typer what is of another type, or has bounds."""

    descriptor: TypeDescriptor

    def _coerce_value(self, value: Any, param: Any, ctx: Any) -> Any:
        if not self.descriptor.is_ranged and _is_one(value, self.annotation):
            return value
        return build_runtime_param(self.descriptor).coerce(value, param, ctx)


def _is_one(value: object, kind: Any) -> bool:
    if get_origin(kind) is list:
        (inner,) = get_args(kind)
        return isinstance(value, (list, tuple)) and all(_is_one(item, inner) for item in value)
    return kind in (str, int, bool) and type(value) is kind


class QuickCommand(TyperCommand):
    """`typer.Typer().command(cls=QuickCommand)`."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)
        for parameter in parameters:
            descriptor: TypeDescriptor = parameter.type_descriptor
            parameter._runtime_param = _AsItIs(descriptor.parameter_info, descriptor.annotation, descriptor)
        return parameters
