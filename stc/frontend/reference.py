"""Runs linalg on tensors through MLIR's own compiler and execution engine (torch-mlir's wheel): a reference not made by us."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from torch_mlir import _mlir_libs, execution_engine, ir, passmanager  # pyright: ignore[reportAttributeAccessIssue]
from torch_mlir.runtime import np_to_memref
from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.ir import Attribute

from stc.diagnostics import CompileError
from stc.frontend.isolation import IsolatedFunction

# Upstream passes run in the bindings, torch-mlir's own only in its binary; they alternate.
DECOMPOSE = ("func.func(refback-generalize-tensor-pad)", "func.func(refback-generalize-tensor-concat)")
BUFFERIZE = (
    "func.func(linalg-generalize-named-ops)",
    "one-shot-bufferize{copy-before-write bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map}",
    # Results become trailing arguments, which is possible because all shapes are static.
    "buffer-results-to-out-params{hoist-static-allocs modify-public-functions}",
)
MUNGE_COPIES = ("func.func(refback-munge-memref-copy)",)
TO_LLVM = (
    "func.func(convert-linalg-to-loops)",
    "func.func(arith-expand)",
    "func.func(math-expand-ops)",
    "convert-scf-to-cf",
    "expand-strided-metadata",
    "lower-affine",
    "func.func(convert-math-to-llvm)",
    "convert-math-to-libm",
    "finalize-memref-to-llvm",
    "func.func(convert-arith-to-llvm)",
    "convert-func-to-llvm",
    "convert-cf-to-llvm",
    "reconcile-unrealized-casts",
)
LOWERING_SECONDS = 300

_Arrays = tuple[Sequence[np.ndarray], Sequence[np.ndarray]]
"""Inputs and results."""

ACCURATE = frozenset(f"math.{name}" for name in ("tanh", "expm1", "log1p", "sinh", "asinh", "acosh", "atanh", "exp2"))
"""What becomes a call of the C library: MLIR writes these as differences with 1 and the like, which lose small results, or through
other functions. (Its own pass to that library takes the whole dialect or nothing.)"""


def execute_linalg(text: str, function: str, inputs: Sequence[np.ndarray], results: Sequence[np.ndarray], where: str) -> None:
    """Run `function` of the MLIR module `text`; its results are written into the arrays `results`.

    All arrays must be C-contiguous, with shapes and dtypes as in the IR; `where` names the file in errors. Raises CompileError if
    MLIR rejects the text or cannot lower it.
    """
    lower_linalg(text, function, where).run(inputs, results)


def without_sign(array: np.ndarray, kind: Attribute) -> np.ndarray:
    """Entries as MLIR's execution has them in memory: bits above the width of the type are 0."""
    unused = _unused_bits(array, kind)
    return array if not unused else array & ((1 << (8 * array.itemsize - unused)) - 1)


def with_sign(array: np.ndarray, kind: Attribute) -> np.ndarray:
    """The inverse of `without_sign`."""
    unused = _unused_bits(array, kind)
    return array if not unused else np.left_shift(array, unused) >> unused


def _unused_bits(array: np.ndarray, kind: Attribute) -> int:
    element = kind.element_type if isinstance(kind, TensorType) else kind
    return 8 * array.itemsize - element.bitwidth if isinstance(element, IntegerType) and array.dtype != np.bool_ else 0


@dataclass(frozen=True)
class LoweredLinalg:
    """A module in MLIR's LLVM dialect, ready to be run any number of times."""

    text: str
    function: str
    where: str

    def run(self, inputs: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> None:
        """As `execute_linalg`."""
        for array, value in zip(results, self._invoke((inputs, results)), strict=True):
            array[...] = value

    @cached_property
    def _invoke(self) -> IsolatedFunction[_Arrays, Sequence[np.ndarray]]:
        return IsolatedFunction(
            lambda: _compiled(self.text, self.function),
            "MLIR's execution of this module",
            where=self.where,
            accepted="a module without divisions by zero or accesses out of bounds on random inputs",
        )


def lower_linalg(text: str, function: str, where: str) -> LoweredLinalg:
    """The module `text` lowered, with `function` to be called. CompileError as `execute_linalg`."""
    decomposed = _run_binary(_with_c_interface(text, function, where), DECOMPOSE, where)
    buffers = _run_bindings(_with_results_of_their_own(_with_library_calls(decomposed, where), function, where), BUFFERIZE, where)
    return LoweredLinalg(_run_bindings(_run_binary(buffers, MUNGE_COPIES, where), TO_LLVM, where), function, where)


def _compiled(lowered: str, function: str) -> Callable[[_Arrays], Sequence[np.ndarray]]:
    """What writes its results into the second arrays, and returns these."""
    with _mlir_context():
        engine = execution_engine.ExecutionEngine(ir.Module.parse(lowered), opt_level=2)

    def invoke(arrays: _Arrays) -> Sequence[np.ndarray]:
        inputs, results = arrays
        try:
            engine.invoke(function, *(_argument(array) for array in (*inputs, *results)))
        except RuntimeError:  # what was lowered calls functions that are nowhere; the engine has printed which
            raise CompileError("MLIR cannot execute this module: it calls functions that its libraries lack") from None
        return results

    return invoke


@contextmanager
def _mlir_context() -> Generator[None]:
    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        yield


def optimiser_path() -> Path:
    """The `torch-mlir-opt` of the installed wheel."""
    return Path(next(iter(_mlir_libs.__path__))) / "torch-mlir-opt"


def _with_c_interface(text: str, function: str, where: str) -> str:
    with _mlir_context():
        module = _parse(text, where)
        for operation in module.body.operations:
            if "sym_name" in operation.attributes and ir.StringAttr(operation.attributes["sym_name"]).value == function:
                operation.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
        # refback-munge-memref-copy builds linalg operations, and crashes where the text it reads has not loaded that dialect.
        module.operation.attributes["stc.load_linalg"] = ir.Attribute.parse("#linalg.iterator_type<parallel>")
        return str(module)


def _with_library_calls(text: str, where: str) -> str:
    """`ACCURATE` functions of f32 and f64 as calls of the C library's."""
    with _mlir_context():
        module = _parse(text, where)
        declared: set[str] = set()
        for operation in list(nested_operations(module.operation)):
            suffix = {"f32": "f", "f64": ""}.get(str(operation.results[0].type)) if operation.name in ACCURATE else None
            if suffix is None:
                continue
            kind, name = operation.results[0].type, operation.name.removeprefix("math.") + suffix
            if name not in declared:
                module.body.append(ir.Operation.parse(f"func.func private @{name}({kind}) -> {kind}"))
                declared.add(name)
            callee = {"callee": ir.FlatSymbolRefAttr.get(name)}
            operands, place = [operation.operands[0]], ir.InsertionPoint(operation)
            call = ir.Operation.create("func.call", results=[kind], operands=operands, attributes=callee, ip=place)
            operation.results[0].replace_all_uses_with(call.results[0])
            operation.erase()
        return str(module)


def nested_operations(operation: ir.Operation) -> Iterator[ir.Operation]:
    """The operation, then all inside it, in the order of the text."""
    yield operation
    for region in operation.regions:
        for block in region:
            for child in block:
                yield from nested_operations(child.operation)


def _with_results_of_their_own(text: str, function: str, where: str) -> str:
    with _mlir_context():
        module = _parse(text, where)
        for operation in module.body.operations:
            if "sym_name" in operation.attributes and ir.StringAttr(operation.attributes["sym_name"]).value == function:
                _copy_shared_results(operation)
        return str(module)


def _copy_shared_results(function: ir.Operation) -> None:
    """Return copies of what is returned twice: buffer-results-to-out-params dies of such functions."""
    block = function.regions[0].blocks[0]
    terminator = block.operations[len(block.operations) - 1].operation
    seen: list[ir.Value] = []
    for index, value in enumerate(terminator.operands):
        if any(value == other for other in seen):
            copy = ir.Operation.create(
                "bufferization.alloc_tensor",
                results=[value.type],
                operands=[value],
                attributes={"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 1, 0])},
                ip=ir.InsertionPoint(terminator),
            )
            terminator.operands[index] = copy.result
        seen.append(value)


def _parse(text: str, where: str) -> ir.Module:
    try:
        return ir.Module.parse(text)
    except ir.MLIRError as error:
        raise CompileError(f"MLIR rejects this module: {_one_line(str(error))}", where=where) from None


def _pipeline(passes: Sequence[str]) -> str:
    return f"builtin.module({','.join(passes)})"


def _run_bindings(text: str, passes: Sequence[str], where: str) -> str:
    with _mlir_context():
        module = _parse(text, where)
        try:
            passmanager.PassManager.parse(_pipeline(passes)).run(module.operation)
        except ir.MLIRError as error:
            raise CompileError(f"MLIR cannot execute this module: {_one_line(str(error))}", where=where) from None
        return str(module)


def _run_binary(text: str, passes: Sequence[str], where: str) -> str:
    command = [str(optimiser_path()), "-allow-unregistered-dialect", f"--pass-pipeline={_pipeline(passes)}", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=LOWERING_SECONDS, check=False)
    if done.returncode != 0:
        raise CompileError(f"MLIR cannot execute this module: {_one_line(done.stderr)}", where=where)
    return done.stdout


def _argument(array: np.ndarray | np.generic) -> object:
    """A pointer to an array's descriptor, or to a scalar."""
    if isinstance(array, np.generic):
        return ctypes.pointer(np.ctypeslib.as_ctypes_type(array.dtype.str)(array.item()))
    return ctypes.pointer(ctypes.pointer(np_to_memref.get_ranked_memref_descriptor(array)))


def _one_line(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if "error:" in line]
    return (lines[0] if lines else " ".join(message.split()))[:200]
