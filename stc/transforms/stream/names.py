"""Names of generated tasks, streams and loops: readable, and each used once."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import StringAttr

from stc.dialects.dataflow import KernelOp


class UniqueNames:
    """Hands out `stem`, then `stem_2`, `stem_3`, ..., never a name that was handed out or taken before."""

    def __init__(self, taken: Iterable[str] = ()):
        self._taken = set(taken)

    def fresh(self, stem: str) -> str:
        name = stem
        index = 2
        while name in self._taken:
            name = f"{stem}_{index}"
            index += 1
        self._taken.add(name)
        return name


def symbols_of(kernel: KernelOp) -> UniqueNames:
    """Names for new tasks, streams, buffers and memories of `kernel`, none of which is in use there or in a kernel beside it.

    So a FIFO has one name in the whole project: in depth files, in the manifest and in what the simulation reports.
    """
    block = kernel.parent_block()
    kernels = [kernel] if block is None else [op for op in block.ops if isinstance(op, KernelOp)]
    symbols = (op.properties.get("sym_name") for found in kernels for op in found.body.block.ops)
    return UniqueNames(symbol.data for symbol in symbols if isinstance(symbol, StringAttr))
