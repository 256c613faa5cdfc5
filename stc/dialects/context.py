"""The dialects `stc` reads and writes, in a fresh xDSL context."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects import affine, arith, builtin, cf, func, linalg, math, memref, scf, tensor, vector
from xdsl.ir import Dialect

from stc.dialects.upstream.linalg_named import NAMED_OPS
from stc.dialects.upstream.rank_zero import accept_rank_zero

UPSTREAM = (
    affine.Affine,
    arith.Arith,
    cf.Cf,
    func.Func,
    linalg.Linalg,
    math.Math,
    memref.MemRef,
    scf.Scf,
    tensor.Tensor,
    vector.Vector,
)

accept_rank_zero()

OURS = {
    "itensor": ("stc.dialects.itensor", "Itensor"),
    "stream": ("stc.dialects.stream", "Stream"),
    "dataflow": ("stc.dialects.dataflow", "Dataflow"),
}


def make_context() -> Context:
    """A context with every dialect of `stc`; nothing in it is shared with another context.

    The builtin dialect is rebuilt each time because xDSL keeps `dense_resource` blobs in the dialect object, where a second parse
    in one process would find the keys taken. Our own dialects are loaded on first use.
    """
    context = Context()
    context.load_dialect(_fresh_builtin())
    for dialect in UPSTREAM:
        context.load_dialect(dialect)
    for operation in NAMED_OPS:
        context.load_op(operation)
    for name, (module, attribute) in OURS.items():
        context.register_dialect(name, _lazy(module, attribute))
    return context


def _fresh_builtin() -> Dialect:
    upstream = builtin.Builtin
    return Dialect(upstream.name, list(upstream.operations), list(upstream.attributes), [OpAsmDialectInterface()])


def _lazy(module: str, attribute: str) -> Callable[[], Dialect]:
    def load() -> Dialect:
        return getattr(importlib.import_module(module), attribute)

    return load
