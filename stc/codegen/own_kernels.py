"""Own kernels in kernel.cpp: each file once, in a namespace of its own, and a call in the task whose body it is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import PurePath

from xdsl.dialects import scf
from xdsl.ir import Operation

from stc.analysis.loops import pipeline_ii
from stc.codegen.body import BodyPrinter, Handler
from stc.codegen.design import Design
from stc.codegen.source_lines import SourceLines
from stc.diagnostics import CompileError
from stc.dialects.dataflow import OwnKernelOp, own_kernel_of
from stc.dialects.facts import LABEL
from stc.names import identifier
from stc.simulation.own_kernels import own_text, pipelined_loops


def print_own_kernels(lines: SourceLines, design: Design) -> None:
    """The files of all own kernels; CompileError where one does not have the loops that a kernel declares."""
    printed: set[str] = set()
    for op in _own_kernels(design):
        _require_declared_loops(op)
        if (name := namespace_of(op)) in printed:
            continue
        printed.add(name)
        lines.add("")
        lines.comment(f"{op.file.data}, as it was given.")
        lines.lines += [f"namespace {name} {{", own_text(op.source.data, op.file.data).strip("\n"), f"}}  // namespace {name}"]


def namespace_of(op: OwnKernelOp) -> str:
    """Where the functions of an own kernel stand: another for each text."""
    digest = hashlib.sha256(op.source.data.encode()).hexdigest()[:6]
    return f"own_{identifier(PurePath(op.file.data).stem)}_{digest}"


def _own_kernels(design: Design) -> Iterator[OwnKernelOp]:
    for kernel in design.kernels:
        for task in kernel.tasks:
            if (op := own_kernel_of(task.op)) is not None:
                yield op


def _require_declared_loops(op: OwnKernelOp) -> None:
    found = pipelined_loops(op.source.data, op.file.data)
    has = ", ".join(f"{label} (II {ii})" for label, ii in found.items()) or "none"
    for loop in op.walk():
        interval = pipeline_ii(loop) if isinstance(loop, scf.ForOp) else None
        if interval is not None and found.get(label := LABEL.of(loop) or "") != interval:
            what = f"declares a pipelined loop {label} with II {interval}, which its file does not have"
            raise CompileError(what, where=f"own kernel {op.function.data} of {op.file.data}", accepted=f"the file's: {has}")


def _print_call(printer: BodyPrinter, operation: Operation) -> None:
    assert isinstance(operation, OwnKernelOp)
    ports = [printer.text(value, 0) for value in operation.operands]
    template = f"<{', '.join(map(str, operation.template_arguments))}>" if operation.template_arguments else ""
    printer.flush()
    printer.lines.call(f"{namespace_of(operation)}::{operation.function.data}{template}", ports, ";")


OWN_KERNELS: dict[type[Operation], Handler] = {OwnKernelOp: _print_call}
