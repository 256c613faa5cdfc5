"""`dense_resource` constants: xDSL keeps their data in the builtin dialect, where a second parse finds the keys taken.

They become ordinary dense constants, so that they belong to the IR, and every context has a builtin dialect of its own.
"""

from __future__ import annotations

import math

from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects import builtin
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    DictionaryAttr,
    IndexType,
    IntegerType,
    ModuleOp,
    RankedStructure,
)
from xdsl.ir import Attribute, Dialect
from xdsl.utils.hints import isa

from stc.xdsl_gaps.dense_constants import bytes_of_hexadecimal, cells_of_blob

BLOB_HEADER_BYTES = 4
"""A resource blob starts with its alignment, 32 bit little-endian."""


def fresh_builtin() -> Dialect:
    """xDSL's builtin dialect with a store of its own."""
    upstream = builtin.Builtin
    return Dialect(upstream.name, list(upstream.operations), list(upstream.attributes), [OpAsmDialectInterface()])


def resolve_resources(module: ModuleOp, context: Context) -> None:
    """Make every `dense_resource` constant of a module that was just parsed in `context` an ordinary dense one.

    ValueError where a blob is missing or has the wrong size.
    """
    interface = context.get_dialect("builtin").get_interface(OpAsmDialectInterface)
    for operation in module.walk():
        for table in (operation.attributes, operation.properties):
            for name, value in table.items():
                table[name] = _resolved(value, interface)


def _resolved(value: Attribute, interface: OpAsmDialectInterface | None) -> Attribute:
    if isinstance(value, DenseResourceAttr):
        text = None if interface is None else interface.lookup(value.resource_handle.data)
        return resource_to_dense(value, text)
    if isinstance(value, ArrayAttr):
        return ArrayAttr([_resolved(entry, interface) for entry in value])
    if isinstance(value, DictionaryAttr):
        return DictionaryAttr({name: _resolved(entry, interface) for name, entry in value.data.items()})
    return value


def resource_to_dense(attribute: DenseResourceAttr, text: str | None) -> DenseIntOrFPElementsAttr:
    """The dense constant that a `dense_resource` names; `text` is its hexadecimal blob.

    Raises ValueError if the blob is absent or does not fit the type.
    """
    handle, kind = attribute.resource_handle.data, attribute.type
    if not text:
        raise ValueError(f"dense_resource<{handle}> has no data in this file")
    if not isa(kind, RankedStructure[AnyFloat | IntegerType | IndexType]):
        raise ValueError(f"dense_resource<{handle}> has a type that cannot hold data")
    try:
        blob = bytes_of_hexadecimal(text)[BLOB_HEADER_BYTES:]
        data = cells_of_blob(blob, kind.get_element_type(), math.prod(kind.get_shape()))
    except ValueError as error:
        raise ValueError(f"dense_resource<{handle}>: {error}") from None
    return DenseIntOrFPElementsAttr(kind, BytesAttr(data))
