"""From an exported torch program to linalg text, with PyTorch's module names on the operations.

torch-mlir gives every node a location; ours is the module path, which survives lowering and is then copied to the attribute
`stc.module`, because xDSL cannot read MLIR's location aliases.
"""

# torch-mlir's bindings come without usable type stubs.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import re
from collections.abc import Iterator

import torch
from torch_mlir import fx, ir
from torch_mlir.compiler_utils import OutputType, TorchMlirCompilerError
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_importer import ContextCache, FxImporter

from stc.diagnostics import CompileError

MODULE_ATTRIBUTE = "stc.module"
IMPORTER_ERRORS = (TorchMlirCompilerError, RuntimeError, NotImplementedError, AssertionError, TypeError, ValueError, KeyError)


class ModulePathLocations(ContextCache):
    """Locations that name the `torch.nn.Module` a node came from, relative to `root`."""

    def __init__(self, context: ir.Context, root: str):
        super().__init__(context)
        self._root = root

    def get_node_location(self, node: torch.fx.Node) -> ir.Location:
        path = module_path(node, self._root)
        if not path:
            return ir.Location.unknown(context=self._c)
        return ir.Location.name(path, context=self._c)


def module_path(node: torch.fx.Node, root: str) -> str:
    """The path of the innermost module of a node, without the wrapper's own name; empty for the root itself."""
    stack = node.meta.get("nn_module_stack") or {}
    path = ""
    for entry in stack.values():
        path = entry[0] if isinstance(entry, tuple) else str(entry)
    return "" if path == root else path.removeprefix(f"{root}.")


def lower_to_linalg(program: torch.export.ExportedProgram, root: str) -> str:
    """MLIR text of linalg on tensors, one function `main`.

    Raises CompileError naming the operation, and the module path where torch-mlir tells it.
    """
    context = ir.Context()
    torch_dialect.register_dialect(context)
    context.allow_unregistered_dialects = True
    importer = FxImporter(context=context)
    importer._cc = ModulePathLocations(context, root)
    try:
        module = fx.export_and_import(
            program, output_type=OutputType.LINALG_ON_TENSORS, func_name="main", fx_importer=importer
        )
    except IMPORTER_ERRORS as error:
        raise _refusal(str(error)) from None
    for operation in _body_operations(module):
        _keep_module_path(operation)
    return module.operation.get_asm(enable_debug_info=False)


def _body_operations(module: ir.Module) -> Iterator[ir.Operation]:
    """Operations directly in the functions; bodies of linalg operations belong to their operation."""
    for function in module.body.operations:
        for region in function.regions:
            for block in region:
                for operation in block:
                    yield operation.operation


def _keep_module_path(operation: ir.Operation) -> None:
    # Constants are shared between modules, and the terminator belongs to none.
    if operation.name in ("arith.constant", "func.return"):
        return
    path = _name_of(operation.location)
    if path:
        operation.attributes[MODULE_ATTRIBUTE] = ir.StringAttr.get(path, operation.context)


def _name_of(location: ir.Location) -> str:
    if isinstance(location, ir.NameLoc):
        return location.name_str
    if isinstance(location, ir.FusedLoc):
        return next((name for part in location.locations if (name := _name_of(part))), "")
    return ""


def _refusal(message: str) -> CompileError:
    """One sentence from torch-mlir's report."""
    operation = re.search(r"torch\.(?:aten|prims|operator|prim|torchvision|quantized)[\w.]*", message)
    named = re.search(r'"((?:torch\.)?(?:aten|prims)\.[\w.]+)"', message)
    where = re.search(r'loc\("([^"]+)"\)|error: "?([\w.]+)"?: ', message)
    path = next((group for group in (where.groups() if where else ()) if group), None)
    if named or operation:
        found = named.group(1) if named else operation.group(0) if operation else ""
        return CompileError(
            f"the operation {found} is not supported", where=path, accepted="operations that torch-mlir lowers to linalg on tensors"
        )
    return CompileError(f"torch-mlir cannot import this module: {_summary(message)}", where=path)


def _summary(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    picked = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "no reason given")
    return picked[:200]
