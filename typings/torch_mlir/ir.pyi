"""What `stc.frontend` uses of MLIR's bindings, which torch-mlir's wheel holds without types."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Self, overload

class MLIRError(Exception): ...

class DiagnosticSeverity(Enum):
    ERROR = ...
    WARNING = ...
    NOTE = ...
    REMARK = ...

class DiagnosticInfo:
    severity: DiagnosticSeverity
    location: Location
    message: str

class Context:
    allow_unregistered_dialects: bool
    emit_error_diagnostics: bool
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def attach_diagnostic_handler(self, handler: Callable[[DiagnosticInfo], bool]) -> object: ...

class Location:
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    @staticmethod
    def unknown(context: Context | None = None) -> Location: ...
    @staticmethod
    def name(name: str, childLoc: Location | None = None, context: Context | None = None) -> Location: ...

class NameLoc(Location):
    name_str: str

class FusedLoc(Location):
    locations: list[Location]

class Attribute:
    def __init__(self, cast_from: Attribute) -> None: ...
    @staticmethod
    def parse(text: str, context: Context | None = None) -> Attribute: ...

class StringAttr(Attribute):
    value: str
    @staticmethod
    def get(value: str, context: Context | None = None) -> StringAttr: ...

class IntegerAttr(Attribute):
    value: int

class UnitAttr(Attribute):
    @staticmethod
    def get(context: Context | None = None) -> UnitAttr: ...

class TypeAttr(Attribute):
    value: Type
    @staticmethod
    def get(value: Type, context: Context | None = None) -> TypeAttr: ...

class FlatSymbolRefAttr(Attribute):
    @staticmethod
    def get(value: str, context: Context | None = None) -> FlatSymbolRefAttr: ...

class DenseI32ArrayAttr(Attribute):
    @staticmethod
    def get(values: Sequence[int], context: Context | None = None) -> DenseI32ArrayAttr: ...

class Type:
    def __init__(self, cast_from: Type) -> None: ...

class RankedTensorType(Type):
    element_type: Type

class FunctionType(Type):
    inputs: list[Type]
    results: list[Type]
    @staticmethod
    def get(inputs: Sequence[Type], results: Sequence[Type], context: Context | None = None) -> FunctionType: ...

class Value:
    type: Type
    @property
    def uses(self) -> Iterator[OpOperand]: ...
    def replace_all_uses_with(self, value: Value) -> None: ...

class OpOperand:
    owner: Operation
    operand_number: int

class Attributes:
    def __contains__(self, name: str) -> bool: ...
    def __getitem__(self, name: str) -> Attribute: ...
    def __setitem__(self, name: str, value: Attribute) -> None: ...

class Operands(Sequence[Value]):
    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> Operands: ...
    def __len__(self) -> int: ...
    def __setitem__(self, index: int, value: Value) -> None: ...

class Operation:
    """`Operation` and `OpView`, which have these alike; `operation` leads to the former."""

    name: str
    location: Location
    context: Context
    attributes: Attributes
    operands: Operands
    results: Sequence[Value]
    result: Value
    regions: Sequence[Region]
    operation: Operation
    @staticmethod
    def parse(text: str, context: Context | None = None) -> Operation: ...
    @staticmethod
    def create(
        name: str,
        results: Sequence[Type] | None = None,
        operands: Sequence[Value] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        ip: InsertionPoint | None = None,
    ) -> Operation: ...
    def erase(self) -> None: ...
    def get_asm(self, enable_debug_info: bool = False) -> str: ...

class InsertionPoint:
    def __init__(self, before: Operation) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...

class Region(Sequence[Block]):
    blocks: Sequence[Block]

class Block:
    arguments: Sequence[Value]
    operations: Sequence[Operation]
    def __iter__(self) -> Iterator[Operation]: ...
    def append(self, operation: Operation) -> None: ...
    def add_argument(self, type: Type, loc: Location) -> Value: ...

class Module:
    body: Block
    context: Context
    operation: Operation
    @staticmethod
    def parse(text: str, context: Context | None = None) -> Module: ...
