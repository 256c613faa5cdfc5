"""From an exported torch program to linalg text, with PyTorch's module names on the operations.

torch-mlir gives every node a location; ours is the module path, which survives lowering and is then copied to the attribute
`stc.module`, because xDSL cannot read MLIR's location aliases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast

import torch
from torch._decomp import get_decompositions
from torch._export.utils import _get_decomp_for_cia  # pyright: ignore[reportPrivateUsage]
from torch_mlir import ir, passmanager
from torch_mlir.dialects import arith
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_decomp_util import get_decomposition_table
from torch_mlir.extras.fx_importer import ContextCache, FxImporter

from stc.diagnostics import Obstacle, UnsupportedError
from stc.dialects.context import make_context
from stc.dialects.facts import MODULE
from stc.frontend.appends import canonicalise_appends
from stc.frontend.fake_quantization import quantisation_decompositions
from stc.frontend.isolation import isolated
from stc.frontend.narrow_integers import widen_narrow_integers
from stc.frontend.reference import nested_operations

UNSUPPORTED_INTEGERS = (torch.uint16, torch.uint32, torch.uint64)
INTEGERS_ACCEPTED = "bool, uint8, int8, int16, int32, int64"

ACCEPTED = (
    "operations that torch-mlir lowers to linalg on tensors: element-wise ones, reductions, matrix products, reshapes, slices, "
    "concatenations"
)

# What `torch_mlir.fx.export_and_import` runs for linalg on tensors, without its report files in the temporary folder.
PIPELINES = (
    "func.func(torch-match-quantized-custom-ops), torchdynamo-export-to-torch-backend-pipeline{extra-library=}",
    "torch-backend-to-linalg-on-tensors-backend-pipeline{allow-non-finites=true}",
)

# Run where xDSL does not know a named linalg operation, or knows it wrongly: all its pooling operations have the body of a product,
# its products none for operands narrower than the result.
GENERALISE = "func.func(linalg-generalize-named-ops)"


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


def decompositions() -> dict[Any, Callable[..., Any]]:
    """torch-mlir's table, without what torch-mlir itself does better, and with what it gets wrong.

    Decomposed by PyTorch, a group norm gathers its gains with index tensors; torch-mlir reshapes.
    torch-mlir computes gelu(approximate="tanh") with sqrt(2/pi) = 0.797724, where 0.797885 is right: 6e-5 off around |x| = 2. Its
    maximum and minimum of two tensors lose a NaN of the first, its clamp, relu6 and hardtanh one of the input. Its elu takes 1 from
    an exponential: nothing is left of a small number. Its rms_norm without epsilon takes 0; it pads by negative amounts instead of
    cutting off.
    """
    retained = {op: rule for op, rule in get_decomposition_table().items() if "group_norm" not in str(op)}
    extrema = {
        torch.ops.aten.maximum.default: _maximum,
        torch.ops.aten.minimum.default: _minimum,
        torch.ops.aten.clamp.default: _clamp,
        torch.ops.aten.clamp_min.default: _clamp,
        torch.ops.aten.clamp_max.default: lambda x, high: _clamp(x, None, high),
        torch.ops.aten.clamp.Tensor: _clamp_by_tensors,
        torch.ops.aten.hardtanh.default: lambda x, low=-1, high=1: _clamp(x, low, high),
        torch.ops.aten.relu6.default: lambda x: _clamp(x, 0, 6),
    }
    own = {
        torch.ops.aten.rms_norm.default: _rms_norm,
        torch.ops.aten.selu.default: _selu,
        torch.ops.aten.constant_pad_nd.default: _pad,
        torch.ops.aten.neg.default: _negative,
        torch.ops.aten.floor_divide.default: _floor_quotient,
        torch.ops.aten.div.Tensor_mode: _floor_quotient,
        torch.ops.aten.div.Scalar_mode: _floor_quotient,
        torch.ops.aten.pow.Tensor_Scalar: _power,
        torch.ops.aten.fmod.Scalar: _rest,
        torch.ops.aten.__lshift__.Scalar: _shifted_up,
        torch.ops.aten.__rshift__.Scalar: _shifted_down,
        torch.ops.aten.__lshift__.Tensor: torch.ops.aten.bitwise_left_shift.Tensor,
        torch.ops.aten.__rshift__.Tensor: torch.ops.aten.bitwise_right_shift.Tensor,
        torch.ops.aten.bitwise_left_shift.Tensor_Scalar: lambda x, bits: x << bits,
        torch.ops.aten.bitwise_right_shift.Tensor_Scalar: lambda x, bits: x >> bits,
        torch.ops.aten._int_mm.default: lambda x, y: x.to(torch.int32) @ y.to(torch.int32),
    }
    pytorchs = get_decompositions([torch.ops.aten.gelu.default, torch.ops.aten.elu.default])
    return {**retained, **pytorchs, **extrema, **own, **quantisation_decompositions()}


def _negative(x: torch.Tensor) -> torch.Tensor:
    """Of integers by a difference: torch-mlir takes them through floats."""
    return NotImplemented if x.is_floating_point() or x.is_complex() else 0 - x


def _floor_quotient(x: torch.Tensor, divisor: torch.Tensor | float, *, rounding_mode: str | None = "floor") -> torch.Tensor:
    """Of integers by the truncated quotient: torch-mlir takes the floor through floats."""
    if rounding_mode != "floor" or any(_is_float(value) for value in (x, divisor)):
        return NotImplemented
    if isinstance(divisor, torch.Tensor):
        divisor = divisor.to(torch.result_type(x, divisor))  # of rank 0: in the type of the others
    quotient = torch.div(x, divisor, rounding_mode="trunc")
    rest = x - quotient * divisor
    return quotient - ((rest != 0) & ((rest < 0) != (divisor < 0))).to(quotient.dtype)


def _rest(x: torch.Tensor, divisor: float) -> torch.Tensor:
    """What torch-mlir makes of a divisor that is a tensor: it has no lowering for one that is a number."""
    return x - torch.div(x, divisor, rounding_mode="trunc") * divisor


def _is_float(value: torch.Tensor | float) -> bool:
    return value.is_floating_point() if isinstance(value, torch.Tensor) else isinstance(value, float)


def _power(x: torch.Tensor, exponent: float) -> torch.Tensor:
    """Of integers by products: torch-mlir knows those of floats alone."""
    if x.is_floating_point() or x.is_complex() or not isinstance(exponent, int) or exponent < 0:
        return NotImplemented
    square, result = x.to(torch.result_type(x, exponent)), None
    for digit in reversed(f"{exponent:b}"):
        if digit == "1":
            result = square if result is None else result * square
        square = square * square
    return (square & 0) + 1 if result is None else result


def _shifted_up(x: torch.Tensor, bits: int) -> torch.Tensor:
    """0 where every bit is shifted out, or less than none: MLIR and C++ have no value there."""
    return NotImplemented if 0 <= bits < torch.iinfo(x.dtype).bits else x & 0


def _shifted_down(x: torch.Tensor, bits: int) -> torch.Tensor:
    """The sign where every bit is shifted out, or less than none: MLIR and C++ have no value there."""
    width = torch.iinfo(x.dtype).bits
    if 0 <= bits < width:
        return NotImplemented
    return x >> (width - 1) if x.dtype.is_signed else x & 0


def _selu(x: torch.Tensor) -> torch.Tensor:
    """With the constants of `torch.nn.SELU`."""
    return torch.ops.aten.elu(x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946)


def _pad(x: torch.Tensor, amounts: Sequence[int], value: float = 0.0) -> torch.Tensor:
    """Entries cut off where amounts are negative (pairs of them, the last axis first), then padding as torch-mlir knows it."""
    if min(amounts, default=0) >= 0:
        return NotImplemented
    for axis, (low, high) in enumerate(zip(amounts[::2], amounts[1::2], strict=True)):
        size = x.size(-1 - axis)
        x = x.narrow(-1 - axis, max(-low, 0), size + min(low, 0) + min(high, 0))
    return torch.ops.aten.constant_pad_nd(x, [max(amount, 0) for amount in amounts], value)


def _rms_norm(x: torch.Tensor, shape: Sequence[int], gain: torch.Tensor | None = None, eps: float | None = None) -> torch.Tensor:
    """Division by the root of the mean square over the last axes, which have `shape`."""
    axes = list(range(x.dim() - len(shape), x.dim()))
    normed = x * torch.rsqrt(x.square().mean(axes, keepdim=True) + (torch.finfo(x.dtype).eps if eps is None else eps))
    return normed if gain is None else normed * gain


def _maximum(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The larger entries; NaN where either is NaN."""
    return torch.where((a > b) | (a != a), a, b)


def _clamp(x: torch.Tensor, low: float | None = None, high: float | None = None) -> torch.Tensor:
    """Entries brought within bounds; NaN stays."""
    raised = x if low is None else torch.where(x < low, low, x)
    return raised if high is None else torch.where(raised > high, high, raised)


def _clamp_by_tensors(x: torch.Tensor, low: torch.Tensor | None = None, high: torch.Tensor | None = None) -> torch.Tensor:
    """Entries brought within bounds; NaN where any of the three is."""
    raised = x if low is None else _maximum(x, low)
    return raised if high is None else _minimum(raised, high)


def _minimum(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The smaller entries; NaN where either is NaN."""
    return torch.where((a < b) | (a != a), a, b)


def lower_to_linalg(program: torch.export.ExportedProgram, root: str) -> str:
    """MLIR text of linalg on tensors, one function `main`.

    Raises CompileError naming the operation and the module path for dynamic shapes and for operations that torch-mlir, or `stc`,
    cannot express.
    """
    program = _decomposed(program)
    canonicalise_appends(program)
    _refuse_nodes(program, root)
    _refuse(Obstacle(module_path(node, root), *complaint) for node, *complaint in widen_narrow_integers(program))
    return isolated(
        lambda: _imported(program, root),
        "torch-mlir's import",
        where=root,
        accepted="operations that torch-mlir lowers; `stc compile file.py:factory` on parts of the module finds the one at fault",
    )


def _imported(program: torch.export.ExportedProgram, root: str) -> str:
    """The text of a program all of whose nodes look fine."""
    context = ir.Context()
    torch_dialect.register_dialect(context)
    context.allow_unregistered_dialects = True
    # torch-mlir's passes may report an error and go on: all reports are collected, and the process does not print them.
    context.emit_error_diagnostics = True
    reports: list[tuple[str, str]] = []
    context.attach_diagnostic_handler(lambda report: _collect(report, reports))
    importer = FxImporter(context=context)
    importer._cc = ModulePathLocations(context, root)  # pyright: ignore[reportPrivateUsage]
    try:
        importer.import_frozen_program(program, func_name="main")
        with context:
            for pipeline in PIPELINES:
                passmanager.PassManager.parse(f"builtin.module({pipeline})").run(importer.module.operation)
    except Exception as error:  # torch-mlir raises whatever its Python runs into
        raise _refusal(_described(error), reports) from None
    module = importer.module
    _normalise(module)
    _refuse_foreign_operations(module)
    for operation in _body_operations(module):
        _keep_module_path(operation)
    return module.operation.get_asm(enable_debug_info=False)


def _decomposed(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    try:
        return program.run_decompositions(_composites(program) | decompositions())
    except Exception as error:  # PyTorch generates Python for the program, and runs it
        raise _refusal(_described(error), []) from None


def _composites(program: torch.export.ExportedProgram) -> dict[Any, Callable[..., Any]]:
    """What other libraries' operations are composed of: PyTorch retains those that it has seen in a program before."""
    called = {node.target for node in program.graph.nodes if isinstance(node.target, torch._ops.OpOverload)}  # pyright: ignore[reportPrivateUsage]
    own = [op for op in called if op.namespace not in ("aten", "prims") and op.has_kernel_for_dispatch_key(_COMPOSITE)]
    return {op: _get_decomp_for_cia(op) for op in own}


_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd  # pyright: ignore[reportPrivateUsage]


def _described(error: Exception) -> str:
    """What an exception says, with its class unless the message is MLIR's own."""
    return str(error) if isinstance(error, ir.MLIRError) else f"{type(error).__name__}: {error}"


def _collect(report: ir.DiagnosticInfo, reports: list[tuple[str, str]]) -> bool:
    if report.severity == ir.DiagnosticSeverity.ERROR:
        reports.append((_name_of(report.location), report.message))
    return True


def _refuse_nodes(program: torch.export.ExportedProgram, root: str) -> None:
    """UnsupportedError for all nodes that could only fail later, less clearly."""
    complaints = [(module_path(node, root), _node_complaint(node)) for node in program.graph.nodes]
    _refuse(Obstacle(path, *complaint) for path, complaint in complaints if complaint is not None)


def _refuse(obstacles: Iterable[Obstacle]) -> None:
    if found := list(dict.fromkeys(obstacles)):
        raise UnsupportedError(found)


_UNLOWERED = {torch.ops.aten.copysign: ("torch.copysign", "torch.where(y < 0, -x.abs(), x.abs())")}
"""What torch-mlir has no lowering for, and complains of something else, in the user's words: what works in its place."""


def _node_complaint(node: torch.fx.Node) -> tuple[str, str] | None:
    """What is wrong with a node, and what would be accepted; None if nothing is."""
    if isinstance(node.target, torch._ops.HigherOrderOperator):  # pyright: ignore[reportPrivateUsage]
        return f"{node.target} is control flow", "torch.where, and Python's branches and loops on shapes and constants"
    if isinstance(node.target, torch._ops.OpOverload) and torch.Tag.nondeterministic_seeded in node.target.tags:  # pyright: ignore[reportPrivateUsage]
        return f"{node.target} gives random numbers", "modules that always compute the same, with random numbers as an input"
    if isinstance(node.target, torch._ops.OpOverload) and (unlowered := _UNLOWERED.get(node.target.overloadpacket)):  # pyright: ignore[reportPrivateUsage]
        return f"{unlowered[0]} is not supported", unlowered[1]
    value = node.meta.get("val")
    for tensor in value if isinstance(value, list | tuple) else [value]:
        if not isinstance(tensor, torch.Tensor):
            continue
        if any(not isinstance(size, int) for size in tensor.shape):  # pyright: ignore[reportUnnecessaryIsInstance]  # SymInt
            shape = "x".join(str(size) for size in tensor.shape)
            return f"{node.target} gives a dynamic shape {shape}", "static shapes"
        if tensor.dtype in UNSUPPORTED_INTEGERS:
            return f"{node.target} gives a tensor of {tensor.dtype}", INTEGERS_ACCEPTED
        if tensor.is_complex() or tensor.is_quantized or tensor.is_sparse:
            return f"{node.target} gives a tensor of {tensor.dtype} ({tensor.layout})", "dense tensors of floats, integers or bool"
    return None


def _normalise(module: ir.Module) -> None:
    """Bring what xDSL cannot read, and what is static but does not look it, into another form."""
    known = make_context()
    operations = [operation for function in module.body.operations for operation in nested_operations(function.operation)]
    names = {operation.name for operation in operations if operation.name.startswith("linalg.")}
    widens = any(_widens(operation) for operation in operations)
    for operation in operations:
        if operation.name == "tensor.cast":
            _fold_cast(operation)
        elif operation.name == "tensor.insert_slice":
            _fold_offsets(operation)
        elif operation.name == "arith.cmpf" and _finds_position(operation):
            _take_first_nan(operation)
    foreign = any(known.get_optional_op(name) is None or name.startswith("linalg.pooling") for name in names)
    if foreign or widens:
        with module.context:
            passmanager.PassManager.parse(f"builtin.module({GENERALISE})").run(module.operation)


def _widens(operation: ir.Operation) -> bool:
    """Whether a named operation has tensor operands of several element types (a product of i32 is summed in i64)."""
    if not operation.name.startswith("linalg.") or operation.name == "linalg.generic":
        return False
    tensors = [operand.type for operand in operation.operands if isinstance(operand.type, ir.RankedTensorType)]
    return len({str(kind.element_type) for kind in tensors}) > 1


def _fold_cast(cast: ir.Operation) -> None:
    """Let concatenations read the static source of a cast to a dynamic shape (`torch.roll`)."""
    if all(use.owner.name == "tensor.concat" for use in cast.result.uses):
        cast.result.replace_all_uses_with(cast.operands[0])
        cast.erase()


def _fold_offsets(insert: ir.Operation) -> None:
    """Let a slice begin at a number of a tensor itself, where torch-mlir's limits of it change nothing at which the slice fits."""
    view, index_type = _view(insert), cast(Any, ir).IndexType.get(insert.context)
    offsets, sizes = list(view.static_offsets), list(view.static_sizes)
    places = [dim for dim, offset in enumerate(offsets) if offset == _DYNAMIC]
    for value, dim in zip(list(view.offsets), places, strict=True):
        last = cast(Any, ir.RankedTensorType(view.dest.type)).shape[dim] - sizes[dim]
        number = _number_behind(value)
        if number is None or any(_at(value, number, position) != position for position in range(last + 1)):
            continue
        with ir.InsertionPoint(insert), insert.location:
            plain = arith.IndexCastOp(index_type, number).result
        index = 2 + places.index(dim)
        insert.operands[index] = plain
        _erase_unused(value)


def _view(operation: Any) -> Any:
    """An operation with its named operands and attributes."""
    return operation.opview


_DYNAMIC = -(2**63)
"""What stands among static offsets for one known at run time."""


def _erase_unused(value: ir.Value) -> None:
    """Erase what only `value` was computed for, which has no user left."""
    pending: list[Any] = [value]
    while pending:
        operation = pending.pop().owner
        if operation.name in _LIMITS and not list(operation.results[0].uses):
            pending += list(operation.operands)
            operation.erase()


_AT_LEAST = 5
"""Of the predicates of `arith.cmpi`, in MLIR's numbering: at least as much, with signs."""

_LIMITS: dict[str, Callable[..., int]] = {
    "arith.index_cast": lambda x: x,
    "arith.extsi": lambda x: x,
    "arith.addi": lambda x, y: x + y,
    "arith.maxsi": max,
    "arith.minsi": min,
    "arith.select": lambda condition, x, y: x if condition else y,
    "arith.cmpi": lambda x, y: int(x >= y),
}
"""What torch-mlir brings an offset within bounds with. Of the comparisons it is the one that asks for at least as much."""


def _number_behind(value: ir.Value) -> ir.Value | None:
    """The one number of a tensor that an offset is computed from."""
    found: list[ir.Value] = []
    pending: list[Any] = [value]
    while pending:
        operation = pending.pop().owner
        if isinstance(operation, ir.Block):
            return None
        if operation.name == "tensor.extract" and operation.results[0] not in found:
            found.append(operation.results[0])
        elif operation.name in _LIMITS:
            if operation.name == "arith.cmpi" and ir.IntegerAttr(operation.attributes["predicate"]).value != _AT_LEAST:
                return None
            pending += list(operation.operands)
        elif operation.name not in ("arith.constant", "tensor.extract"):
            return None
    return found[0] if len(found) == 1 else None


def _at(value: Any, number: ir.Value, position: int) -> int:
    """An offset where `number` is `position`."""
    if value == number:
        return position
    operation = value.owner
    if operation.name == "arith.constant":
        return ir.IntegerAttr(operation.attributes["value"]).value
    return _LIMITS[operation.name](*(_at(operand, number, position) for operand in operation.operands))


def _finds_position(comparison: ir.Operation) -> bool:
    """Whether it is that of torch-mlir's argmax or argmin: a new entry against the best so far, strictly."""
    if ir.IntegerAttr(comparison.attributes["predicate"]).value not in (_GREATER, _LESS):
        return False
    extrema = [use.owner.name for use in comparison.operands[0].uses if list(use.owner.operands) == list(comparison.operands)]
    positions = [use.owner for use in comparison.result.uses if use.owner.name == "arith.select"]
    return bool(positions) and any(name in ("arith.maximumf", "arith.minimumf") for name in extrema)


_GREATER, _LESS, _ORDERED, _UNORDERED = 2, 4, 7, 7
"""Predicates of `arith.cmpf` in MLIR's numbering; `_UNORDERED` makes one that is true of NaNs as well of an ordered one."""


def _take_first_nan(comparison: ir.Operation) -> None:
    """Let a new entry be the best also where it is NaN and the best is none yet, as PyTorch has it."""
    new, best = comparison.operands
    predicate = ir.IntegerAttr(comparison.attributes["predicate"])
    with ir.InsertionPoint(comparison), comparison.location:
        better = arith.CmpFOp(predicate.value + _UNORDERED, new, best).result
        number = arith.CmpFOp(_ORDERED, best, best).result
        both = arith.AndIOp(better, number).result
    comparison.result.replace_all_uses_with(both)
    comparison.erase()


def _refuse_foreign_operations(module: ir.Module) -> None:
    """UnsupportedError for all operations that are in none of our dialects, such as tm_tensor's scan (a cumulative sum)."""
    known = make_context()
    operations = [operation for function in module.body.operations for operation in nested_operations(function.operation)]
    foreign = [operation for operation in operations if known.get_optional_op(operation.name) is None]
    # The terminator of a foreign operation's body is a part of it.
    named = [operation for operation in foreign if not operation.name.endswith(".yield")]
    found = [Obstacle(_name_of(operation.location), *_foreign_complaint(operation.name)) for operation in named]
    if found:
        raise UnsupportedError(list(dict.fromkeys(found)), _without(module, foreign))


def _without(module: ir.Module, foreign: Sequence[ir.Operation]) -> str | None:
    """The text of the module with arguments in place of the results of everything that holds foreign operations.

    None where something foreign is no part of a function's body.
    """
    for function in module.body.operations:
        if function.operation.name != "func.func":
            return None
        block = function.regions[0].blocks[0]
        for operation in [child.operation for child in block]:
            if any(nested in foreign for nested in nested_operations(operation)):
                for result in operation.results:
                    result.replace_all_uses_with(block.add_argument(result.type, operation.location))
                operation.erase()
        kind = ir.TypeAttr(function.attributes["function_type"]).value
        inputs = [argument.type for argument in block.arguments]
        with module.context:
            function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, ir.FunctionType(kind).results))
    for operation in _body_operations(module):
        _keep_module_path(operation)
    return module.operation.get_asm(enable_debug_info=False)


_FOREIGN = {
    "tm_tensor.scan": (
        "a running sum or product (torch.cumsum, cumprod)",
        "reductions over whole axes, or a product with a triangular matrix",
    ),
    "tm_tensor.sort": ("sorting (torch.sort, argsort)", "maxima, minima and their positions over whole axes"),
    "tm_tensor.topk": ("sorting (torch.topk)", "maxima, minima and their positions over whole axes"),
    "tm_tensor.scatter": (
        "writing at computed positions (scatter, index_put)",
        "rows one behind the other in place of those of an input, from a position on that is an input of one integer; torch.where "
        "with a comparison of positions",
    ),
    "tm_tensor.attention": ("fused attention", "attention written as matrix products and softmax"),
    "arith.remf": ("the remainder of floats (torch.remainder, %)", "x - torch.floor(x / y) * y"),
    "ml_program.global": ("state that outlives a call, or random numbers", "state and random numbers as inputs and results"),
}


def _foreign_complaint(operation: str) -> tuple[str, str]:
    meaning, accepted = _FOREIGN.get(operation, (operation, ACCEPTED))
    return f"{meaning} is not supported", accepted


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
        operation.attributes[MODULE.name] = ir.StringAttr.get(path, operation.context)


def _name_of(location: ir.Location) -> str:
    if isinstance(location, ir.NameLoc):
        return location.name_str
    if isinstance(location, ir.FusedLoc):
        return next((name for part in location.locations if (name := _name_of(part))), "")
    return ""


def _refusal(message: str, reports: list[tuple[str, str]]) -> UnsupportedError:
    """One sentence for each of torch-mlir's reports, or for the exception where there are none."""
    return UnsupportedError(list(dict.fromkeys(_complaint(where, report) for where, report in reports or [("", message)])))


def _complaint(where: str, report: str) -> Obstacle:
    operation = re.search(r'name = "(torch\.[\w.]+)"', report) or re.search(
        r"(torch\.(?!operator|constant)\w+\.[\w.]+)", report
    )
    if operation is not None:
        return Obstacle(where, f"{operation.group(1)} is not supported", ACCEPTED)
    lines = [line.strip() for line in report.splitlines() if line.strip()] or ["no reason given"]
    return Obstacle(where, f"torch-mlir cannot import this module: {lines[0][:200]}", ACCEPTED)
