"""Named linalg operations of MLIR that xDSL does not have.

Each carries what a generalisation pass needs: `get_indexing_maps()`, `get_iterator_types()` and a body region with one argument
per operand. Contractions accept MLIR's `indexing_maps = [...]` override, which is how transposed operands are written.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AffineMapAttr, AnyFloat, ArrayAttr, FloatAttr, IntegerType
from xdsl.dialects.linalg.abstract_ops import ElementwiseOperation, NamedOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import irdl_op_definition, opt_prop_def

Maps = tuple[AffineMap, ...]


class ContractionOperation(NamedOperation, ABC):
    """`out[...] += left[...] * right[...]` with fixed default indexing maps and iterator types."""

    DEFAULT_MAPS: ClassVar[Maps]
    PARALLEL_LOOPS: ClassVar[int]

    indexing_maps = opt_prop_def(ArrayAttr[AffineMapAttr])

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        res: Sequence[Attribute] | None = None,
        attributes: dict[str, Attribute] | None = None,
        indexing_maps: ArrayAttr[AffineMapAttr] | None = None,
    ):
        super().__init__(
            ins=inputs,
            outs=outputs,
            result_types=[tuple(output.type for output in outputs) if res is None else tuple(res)],
            properties={"indexing_maps": indexing_maps},
            attributes=attributes,
            hidden_region=self.get_hidden_region(inputs, outputs),
        )

    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        types = cls.body_arg_types((*inputs, *outputs))
        accumulator = types[-1]

        @Builder.implicit_region(types)
        def region(args: tuple[BlockArgument, ...]) -> None:
            left, right = (_extended(value, accumulator) for value in args[:2])
            if isinstance(accumulator, AnyFloat):
                YieldOp(arith.AddfOp(args[2], arith.MulfOp(left, right)))
            else:
                YieldOp(arith.AddiOp(args[2], arith.MuliOp(left, right)))

        return region

    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        if self.indexing_maps is not None:
            return tuple(attribute.data for attribute in self.indexing_maps)
        return self.DEFAULT_MAPS

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        loops = self.get_num_loops()
        parallel = (IteratorTypeAttr.parallel(),) * self.PARALLEL_LOOPS
        return ArrayAttr((*parallel, *(IteratorTypeAttr.reduction(),) * (loops - self.PARALLEL_LOOPS)))


def _extended(value: SSAValue, target: AnyFloat | IntegerType) -> SSAValue:
    """`value` widened (signed) to the accumulator's type, as MLIR's `cast_signed` does."""
    if value.type == target:
        return value
    if isinstance(target, IntegerType):
        return arith.ExtSIOp(value, target).result
    if isinstance(value.type, IntegerType):
        return arith.SIToFPOp(value, target).result
    return arith.ExtFOp(value, target).result


def _contraction(
    mnemonic: str, shapes: str, parallel_loops: int, *maps: Callable[..., tuple[object, ...]]
) -> type[ContractionOperation]:
    fields = {
        "__doc__": f"`linalg.{mnemonic}`: {shapes}.",
        "__module__": __name__,
        "name": f"linalg.{mnemonic}",
        "PARALLEL_LOOPS": parallel_loops,
        "DEFAULT_MAPS": tuple(AffineMap.from_callable(entry) for entry in maps),  # pyright: ignore[reportArgumentType]
        "__annotations__": {"PARALLEL_LOOPS": ClassVar[int], "DEFAULT_MAPS": ClassVar[Maps]},
    }
    return irdl_op_definition(type(f"{mnemonic.title().replace('_', '')}Op", (ContractionOperation,), fields))


CONTRACTION_OPS: tuple[type[ContractionOperation], ...] = (
    _contraction(
        "batch_matmul", "[b, i, k] x [b, k, j] -> [b, i, j]", 3,
        lambda b, i, j, k: (b, i, k), lambda b, i, j, k: (b, k, j), lambda b, i, j, k: (b, i, j),
    ),
    _contraction("matvec", "[i, k] x [k] -> [i]", 1, lambda i, k: (i, k), lambda i, k: (k,), lambda i, k: (i,)),
    _contraction("vecmat", "[k] x [k, j] -> [j]", 1, lambda j, k: (k,), lambda j, k: (k, j), lambda j, k: (j,)),
    _contraction(
        "batch_matvec", "[b, i, k] x [b, k] -> [b, i]", 2,
        lambda b, i, k: (b, i, k), lambda b, i, k: (b, k), lambda b, i, k: (b, i),
    ),
    _contraction(
        "batch_vecmat", "[b, k] x [b, k, j] -> [b, j]", 2,
        lambda b, j, k: (b, k), lambda b, j, k: (b, k, j), lambda b, j, k: (b, j),
    ),
    _contraction("dot", "[k] x [k] -> []", 0, lambda k: (k,), lambda k: (k,), lambda k: ()),
)


Scalar = Callable[[Sequence[SSAValue]], Operation]
Maker = Callable[..., Operation]


class PointwiseOperation(ElementwiseOperation, ABC):
    """`out[...] = scalar(in[...], ...)` over identity maps."""

    SCALAR: ClassVar[Scalar]

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        res: Sequence[Attribute] | None = None,
        attributes: dict[str, Attribute] | None = None,
    ):
        super().__init__(
            ins=inputs,
            outs=outputs,
            result_types=[tuple(output.type for output in outputs) if res is None else tuple(res)],
            attributes=attributes,
            hidden_region=self.get_hidden_region(inputs, outputs),
        )

    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        @Builder.implicit_region(cls.body_arg_types((*inputs, *outputs)))
        def region(args: tuple[BlockArgument, ...]) -> None:
            YieldOp(cls.SCALAR(args))

        return region


def _float_or_int(on_float: Maker, on_int: Maker) -> Scalar:
    def scalar(args: Sequence[SSAValue]) -> Operation:
        operation = on_float if isinstance(args[0].type, AnyFloat) else on_int
        return operation(*args[:-1])

    return scalar


def _reciprocal(args: Sequence[SSAValue]) -> Operation:
    kind = args[0].type
    assert isinstance(kind, AnyFloat)
    return arith.DivfOp(arith.ConstantOp(FloatAttr(1.0, kind)).result, args[0])


def _square(args: Sequence[SSAValue]) -> Operation:
    multiply = arith.MulfOp if isinstance(args[0].type, AnyFloat) else arith.MuliOp
    return multiply(args[0], args[0])


def _pointwise(mnemonic: str, meaning: str, scalar: Scalar) -> type[PointwiseOperation]:
    fields = {
        "__doc__": f"`linalg.{mnemonic}`: {meaning}, element by element.",
        "__module__": __name__,
        "name": f"linalg.{mnemonic}",
        "SCALAR": staticmethod(scalar),
        "__annotations__": {"SCALAR": ClassVar[Scalar]},
    }
    return irdl_op_definition(type(f"{mnemonic.capitalize()}Op", (PointwiseOperation,), fields))


def _unary(operation: Maker) -> Scalar:
    return lambda args: operation(args[0])


def _binary(operation: Maker) -> Scalar:
    return lambda args: operation(args[0], args[1])


POINTWISE_OPS: tuple[type[PointwiseOperation], ...] = (
    _pointwise("abs", "|x|", _float_or_int(math.AbsFOp, math.AbsIOp)),
    _pointwise("ceil", "x rounded up", _unary(math.CeilOp)),
    _pointwise("floor", "x rounded down", _unary(math.FloorOp)),
    _pointwise("round", "x rounded to nearest, ties away from zero", _unary(math.RoundOp)),
    _pointwise("negf", "-x", _unary(arith.NegfOp)),
    _pointwise("erf", "the error function", _unary(math.ErfOp)),
    _pointwise("tanh", "tanh x", _unary(math.TanhOp)),
    _pointwise("rsqrt", "1 / sqrt x", _unary(math.RsqrtOp)),
    _pointwise("reciprocal", "1 / x", _reciprocal),
    _pointwise("square", "x * x", _square),
    _pointwise("div", "x / y (signed)", _float_or_int(arith.DivfOp, arith.DivSIOp)),
    _pointwise("div_unsigned", "x / y (unsigned)", _binary(arith.DivUIOp)),
    _pointwise("powf", "x ** y", _binary(math.PowFOp)),
)

NAMED_OPS: tuple[type[NamedOperation], ...] = (*CONTRACTION_OPS, *POINTWISE_OPS)
