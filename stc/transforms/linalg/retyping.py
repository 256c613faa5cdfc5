"""Values of one scalar type, and tensors of it, that take another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import Rewriter


@dataclass(frozen=True)
class Retyping:
    """Scalars of type `before` become `after`."""

    before: type[Attribute]
    after: Attribute

    def of(self, kind: Attribute) -> Attribute:
        """What a scalar or tensor type becomes; any other stays."""
        if isinstance(kind, self.before):
            return self.after
        if isinstance(kind, TensorType) and isinstance(kind.element_type, self.before):
            return TensorType(self.after, kind.shape, kind.encoding)
        return kind

    def retype(self, values: Iterable[SSAValue]) -> None:
        """Give `values` the types that theirs become."""
        for value in tuple(values):
            if (kind := self.of(value.type)) != value.type:
                Rewriter.replace_value_with_new_type(value, kind)
