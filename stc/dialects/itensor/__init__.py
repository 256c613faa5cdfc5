"""The `itensor` dialect: tensors as sequences of tokens whose order is part of the type (docs/design/method.md section 2)."""

from xdsl.ir import Dialect

from stc.dialects.itensor.access_ops import EmptyOp, InstanceOp, ReadOp, SegmentAttr, WriteOp
from stc.dialects.itensor.layout_ops import CastOp, ConverterOp, ReassociateOp, ReorderOp, complaint_about_reorder
from stc.dialects.itensor.routing_ops import ChunkOp, ConcatOp, ForkOp, MergeOp, SplitOp
from stc.dialects.itensor.size_ops import AdvanceOp, IndexSymbolOp, SizeAttr, SizeOp, SymbolType
from stc.dialects.itensor.type import ItensorType, OrderAttr

__all__ = [
    "AdvanceOp",
    "CastOp",
    "ChunkOp",
    "ConcatOp",
    "ConverterOp",
    "EmptyOp",
    "ForkOp",
    "IndexSymbolOp",
    "InstanceOp",
    "Itensor",
    "ItensorType",
    "MergeOp",
    "OrderAttr",
    "ReadOp",
    "ReassociateOp",
    "ReorderOp",
    "SegmentAttr",
    "SizeAttr",
    "SizeOp",
    "SplitOp",
    "SymbolType",
    "WriteOp",
    "complaint_about_reorder",
]

Itensor = Dialect(
    "itensor",
    [
        EmptyOp,
        InstanceOp,
        ReadOp,
        WriteOp,
        CastOp,
        ReassociateOp,
        ReorderOp,
        ConverterOp,
        ChunkOp,
        ConcatOp,
        ForkOp,
        SplitOp,
        MergeOp,
        AdvanceOp,
        IndexSymbolOp,
        SizeOp,
    ],
    [ItensorType, OrderAttr, SymbolType, SizeAttr, SegmentAttr],
)
