"""Whether IR is well-formed, as a value rather than an exception: which operation is wrong, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr, UnregisteredOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from stc.dialects.locations import source_location
from stc.xdsl_gaps.dominance import uses_before_definition
from stc.xdsl_gaps.verifier_rules import complaints


@dataclass(frozen=True)
class Violation:
    """`operation` breaks a rule of the IR; `sentence` says which operation and which rule."""

    operation: Operation
    sentence: str

    def __str__(self) -> str:
        return self.sentence if source_location(self.operation) else f"{self.sentence}{_surroundings(self.operation)}"


def first_violation(module: Operation) -> Violation | None:
    """The first rule that a module (or any operation) breaks, nested operations first; None where it is sound.

    Then uses before their definition, and what xDSL's verifier leaves out of MLIR's.
    """
    try:
        module.verify()
    except Exception as error:  # a verifier that meets IR it did not expect may raise anything
        return _innermost(module) or _broken(module, error)
    for use in uses_before_definition(module):
        return Violation(use.operation, str(use))
    for operation in module.walk():
        for complaint in complaints(operation):
            return Violation(operation, f"'{name_of(operation)}' op {complaint}")
    return None


def _innermost(module: Operation) -> Violation | None:
    """The operation that does not verify; xDSL's error does not say which it is."""
    for operation in _innermost_first(module):
        try:
            operation.verify()
        except Exception as error:
            return _broken(operation, error)
    return None


def _broken(operation: Operation, error: Exception) -> Violation:
    return Violation(operation, f"'{name_of(operation)}' op {_one_line(error)}")


def _innermost_first(operation: Operation) -> Iterator[Operation]:
    for region in operation.regions:
        for block in region.blocks:
            for nested in block.ops:
                yield from _innermost_first(nested)
    yield operation


def _surroundings(operation: Operation) -> str:
    """Where an operation stands that some pass made: it has no line of a file, but a task and a kernel around it."""
    symbols: list[str] = []
    current = operation.parent_op()
    while current is not None:
        name = current.properties.get("sym_name") or current.attributes.get("sym_name")
        if isinstance(name, StringAttr):
            symbols.append(f"@{name.data}")
        current = current.parent_op()
    hints = [value.name_hint for value in (*operation.results, *operation.operands) if value.name_hint]
    value = f", at %{hints[0]}" if hints else ""
    return value + (f" in {' of '.join(symbols)}" if symbols else "")


def name_of(operation: Operation) -> str:
    """`dialect.operation`, of an unregistered operation too."""
    return operation.op_name.data if isinstance(operation, UnregisteredOp) else operation.name


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, VerifyException | ValueError) else f"{type(error).__name__}: {text}"
