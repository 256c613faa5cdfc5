"""The dialects `stc` reads and writes, in a fresh xDSL context."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects import affine, arith, cf, func, linalg, math, memref, scf, vector
from xdsl.ir import Dialect

from stc.diagnostics import CompileError
from stc.extensions import loaded_files
from stc.xdsl_gaps.dense_resources import fresh_builtin
from stc.xdsl_gaps.linalg_named import NAMED_OPS
from stc.xdsl_gaps.rank_zero_reshapes import tensor_dialect

UPSTREAM = (
    affine.Affine,
    arith.Arith,
    cf.Cf,
    func.Func,
    linalg.Linalg,
    math.Math,
    memref.MemRef,
    scf.Scf,
    vector.Vector,
)

OURS = {
    "itensor": ("stc.dialects.itensor", "Itensor"),
    "stream": ("stc.dialects.stream", "Stream"),
    "dataflow": ("stc.dialects.dataflow", "Dataflow"),
}


def make_context() -> Context:
    """A context with every dialect of `stc`, and those of `--load`ed files; nothing of ours in it is shared with another context.

    Our own dialects are loaded on first use.
    """
    context = Context()
    context.load_dialect(fresh_builtin())
    context.load_dialect(tensor_dialect())
    for dialect in UPSTREAM:
        context.load_dialect(dialect)
    for operation in NAMED_OPS:
        context.load_op(operation)
    for name, (module, attribute) in OURS.items():
        context.register_dialect(name, _lazy(module, attribute))
    for loaded in loaded_files():
        for name, dialect in loaded.dialects.items():
            if name in context.registered_dialect_names or name in {known.name for known in context.loaded_dialects}:
                raise CompileError(f"there is another dialect '{name}'", where=str(loaded.path), accepted="another name")
            context.load_dialect(dialect)
    return context


def _lazy(module: str, attribute: str) -> Callable[[], Dialect]:
    def load() -> Dialect:
        return getattr(importlib.import_module(module), attribute)

    return load
