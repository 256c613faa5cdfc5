"""Which dimensions of which values must have the same extent, in a module of linalg on tensors.

A *place* is dimension d of a value, or loop d of a structured operation. Places that must agree form a class; a class that an
operation we know nothing about touches is frozen. Reshapes relate classes by products.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseIntOrFPElementsAttr, ModuleOp, TensorType
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from stc.xdsl_gaps.dense_constants import is_splat

Place = tuple[SSAValue | Operation, int]


@dataclass(frozen=True)
class Product:
    """The extent of `whole` is the product of those of `parts`."""

    whole: Place
    parts: tuple[Place, ...]


@dataclass
class Extents:
    """The classes of a module, numbered in the order of the text."""

    module: ModuleOp
    products: list[Product] = field(default_factory=list[Product])
    _parent: dict[Place, Place] = field(default_factory=dict[Place, Place])
    _frozen: set[Place] = field(default_factory=set[Place])
    _fixed_rank: set[Place] = field(default_factory=set[Place])

    def __post_init__(self) -> None:
        for op in self.module.walk():
            if not isinstance(op, ModuleOp | func.FuncOp):
                _constrain(self, op)

    # Building ---------------------------------------------------------------------------------------------------------

    def find(self, place: Place) -> Place:
        """The representative of a place's class."""
        root = place
        while (parent := self._parent.get(root, root)) != root:
            root = parent
        self._parent[place] = root
        return root

    def unite(self, first: Place, second: Place) -> None:
        """Both have the same extent."""
        self._parent[self.find(second)] = self.find(first)
        self._parent.setdefault(self.find(first), self.find(first))

    def freeze(self, places: Iterable[Place]) -> None:
        """These extents may not change."""
        self._frozen.update(places)

    def keep_rank(self, places: Iterable[Place]) -> None:
        """These dimensions may shrink, but not vanish."""
        self._fixed_rank.update(places)

    # Asking -----------------------------------------------------------------------------------------------------------

    def extent(self, place: Place) -> int:
        """The extent of any place's class."""
        return next(_shape(value)[dim] for value, dim in self.members(place) if isinstance(value, SSAValue))

    def members(self, place: Place) -> list[Place]:
        return self._classes()[self.find(place)]

    def classes(self) -> list[Place]:
        """Representatives of the classes that may shrink."""
        frozen = {self.find(place) for place in self._frozen}
        return [root for root, members in self._classes().items() if root not in frozen and _has_value(members)]

    def removable(self) -> list[Place]:
        """Representatives of the classes of extent 1 whose dimensions may vanish."""
        retained = {self.find(place) for place in self._fixed_rank}
        return [root for root in self.classes() if root not in retained and self.extent(root) == 1]

    def is_frozen(self, place: Place) -> bool:
        return self.find(place) in {self.find(entry) for entry in self._frozen}

    def _classes(self) -> dict[Place, list[Place]]:
        found: dict[Place, list[Place]] = defaultdict(list)
        for place in _value_places(self.module):
            found[self.find(place)].append(place)
        for place in self._parent:
            if isinstance(place[0], Operation):
                found[self.find(place)].append(place)
        return found

    # Changing ---------------------------------------------------------------------------------------------------------

    def consequences(self, place: Place, extent: int) -> dict[Place, int] | None:
        """New extents by class if the class of `place` gets `extent`; None where a product or a frozen class forbids it."""
        new = {self.find(place): extent}
        for _ in range(len(self.products) + 1):
            changed = [_propagate(self, product, new) for product in self.products]
            if None in changed:
                return None
            if not any(changed):
                return new
        return None


def _propagate(extents: Extents, product: Product, new: dict[Place, int]) -> bool | None:
    """Make `new` agree with one product: True where it had to grow, None where it cannot."""

    def current(place: Place) -> int:
        root = extents.find(place)
        return new.get(root, extents.extent(root))

    whole, value = extents.find(product.whole), math.prod(current(part) for part in product.parts)
    if current(whole) == value:
        return False
    if whole not in new:
        return _assign(extents, whole, value, new)
    free = [part for part in product.parts if extents.find(part) not in new and not extents.is_frozen(part)]
    for part in free:
        rest = value // current(part)
        if current(whole) % rest == 0:
            return _assign(extents, extents.find(part), current(whole) // rest, new)
    return None


def _assign(extents: Extents, root: Place, value: int, new: dict[Place, int]) -> bool | None:
    if extents.is_frozen(root) or value < 1:
        return None
    new[root] = value
    return True


# Rules ----------------------------------------------------------------------------------------------------------------


def _constrain(extents: Extents, op: Operation) -> None:
    """What one operation demands of the extents of its operands and results."""
    match op:
        case LinalgStructuredOperation() if op.res:
            _constrain_structured(extents, op)
        case tensor.EmptyOp() | func.ReturnOp() | arith.ConstantOp() if _is_free(op):
            return
        case tensor.CollapseShapeOp():
            _constrain_reshape(extents, op.result, op.src, op.reassociation)
        case tensor.ExpandShapeOp():
            _constrain_reshape(extents, op.src, op.result, op.reassociation)
        case tensor.ExtractSliceOp():
            _constrain_slice(extents, op, op.result, op.source)
        case tensor.InsertSliceOp():
            _constrain_slice(extents, op, op.source, op.dest)
            _unite_all(extents, op.result, op.dest)
        case _ if _is_inside_structured(op):
            return
        case _:
            arguments = [argument for region in op.regions for block in region.blocks for argument in block.args]
            extents.freeze(place for value in (*op.operands, *op.results, *arguments) for place in _places(value))


def _constrain_structured(extents: Extents, op: LinalgStructuredOperation) -> None:
    for value, attribute in zip(op.operands, op.get_indexing_maps(), strict=True):
        for (_, dim), expression in zip(_places(value), attribute.data.results, strict=True):
            if isinstance(expression, AffineDimExpr):
                extents.unite((value, dim), (op, expression.position))
            else:
                extents.freeze([(value, dim), *((op, loop) for loop in _loops_in(expression))])
    for output, result in zip(op.outputs, op.res, strict=True):
        _unite_all(extents, output, result)
    if op.name not in ("linalg.generic", "linalg.fill"):
        extents.keep_rank((op, loop) for loop in range(op.get_num_loops()))


def _loops_in(expression: AffineExpr) -> set[int]:
    return {part.position for part in expression.dfs() if isinstance(part, AffineDimExpr)}


def _constrain_reshape(extents: Extents, small: SSAValue, large: SSAValue, groups: Iterable[Iterable[object]]) -> None:
    first = 0
    for dim, group in enumerate(groups):
        parts = tuple((large, first + offset) for offset in range(len(tuple(group))))
        first += len(parts)
        extents.products.append(Product((small, dim), parts))
    extents.keep_rank([*_places(small), *_places(large)])


def _constrain_slice(
    extents: Extents, op: tensor.ExtractSliceOp | tensor.InsertSliceOp, piece: SSAValue, whole: SSAValue
) -> None:
    """A dimension that the slice covers is the same on both sides; every other is frozen."""
    extents.keep_rank([*_places(piece), *_places(whole)])
    sizes = op.static_sizes.get_values()
    if len(_shape(piece)) != len(_shape(whole)) or DYNAMIC_INDEX in sizes:
        extents.freeze([*_places(piece), *_places(whole)])
        return
    for dim, (size, extent) in enumerate(zip(sizes, _shape(whole), strict=True)):
        if size == extent:
            extents.unite((piece, dim), (whole, dim))
        else:
            extents.freeze([(piece, dim), (whole, dim)])


def _is_free(op: Operation) -> bool:
    """Whether an operation's results may have any shape: not a dense constant of different entries."""
    if isinstance(op, tensor.EmptyOp):
        return not op.dynamic_sizes
    value = op.value if isinstance(op, arith.ConstantOp) else None
    return not isinstance(value, DenseIntOrFPElementsAttr) or is_splat(value)


def _is_inside_structured(op: Operation) -> bool:
    return isinstance(op.parent_op(), LinalgStructuredOperation)


def _unite_all(extents: Extents, first: SSAValue, second: SSAValue) -> None:
    for one, other in zip(_places(first), _places(second), strict=True):
        extents.unite(one, other)


def _shape(value: SSAValue) -> tuple[int, ...]:
    return value.type.get_shape() if isinstance(value.type, TensorType) else ()


def _places(value: SSAValue) -> list[Place]:
    return [(value, dim) for dim in range(len(_shape(value)))]


def _value_places(module: ModuleOp) -> list[Place]:
    values: list[SSAValue] = []
    for op in module.walk():
        values += op.results
        values += [argument for region in op.regions for block in region.blocks for argument in block.args]
    return [place for value in values for place in _places(value)]


def _has_value(members: Sequence[Place]) -> bool:
    return any(isinstance(value, SSAValue) for value, _ in members)
