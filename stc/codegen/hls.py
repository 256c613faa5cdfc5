"""kernel.h and kernel.cpp of a design: one function per task, one top function per compute unit.

Of a kernel that is several units, a function of its name runs them together, joined by its links: for C simulation alone, since
on a card the linker joins them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import BlockArgument, Operation, SSAValue

from stc.analysis.dependences import task_dependences
from stc.analysis.loops import loop_labels
from stc.codegen.body import BodyPrinter, Handler
from stc.codegen.body_control import CONTROL
from stc.codegen.body_memory import MEMORY
from stc.codegen.body_vectors import VECTORS
from stc.codegen.cpp_source import NOT_SYNTHESISED
from stc.codegen.cpp_types import Typedefs
from stc.codegen.design import BlockDesign, Design, KernelDesign, PortDesign, StreamDesign, TaskDesign, UnitDesign
from stc.codegen.helpers_h import helper_definitions
from stc.codegen.own_kernels import OWN_KERNELS, print_own_kernels
from stc.codegen.source_lines import SourceLines
from stc.dialects.itensor import SymbolType
from stc.dialects.stream import BlockType, StreamType
from stc.manifest.schema import repeated_name
from stc.platforms.fifo_storage import SRL_MAX_DEPTH
from stc.platforms.platform import ExternalMemory

HANDLERS: dict[type[Operation], Handler] = {**VECTORS, **MEMORY, **CONTROL, **OWN_KERNELS}


VENDOR_HEADERS = {
    "ap_int.h": r"\bap_u?int\b",
    "hls_half.h": r"\bhalf\b",
    "hls_math.h": r"\bhls::(?!stream|vector|read_lock|write_lock)\w+\(",
    "hls_stream.h": r"\bhls::stream<",
    "hls_streamofblocks.h": r"\bhls::stream_of_blocks<",
    "hls_vector.h": r"\bhls::vector<",
}
"""Headers that come with Vitis HLS, each with what makes it necessary: ap_int.h alone takes g++ over a second."""


@dataclass(frozen=True)
class HlsSource:
    """Texts of the two files."""

    header: str
    source: str


def print_hls(design: Design) -> HlsSource:
    """The HLS C++ of a design; CompileError names an operation or type that has no form."""
    typedefs = Typedefs()
    lines = SourceLines()
    lines.add('#include "kernel.h"')
    print_own_kernels(lines, design)
    for kernel in design.kernels:
        block_types = {block.value: typedefs.block_type(block.typedef, block.type.buffer_type) for block in kernel.blocks}
        ports = {port.name: port for port in kernel.ports}
        for task in kernel.tasks:
            lines.add("")
            for comment in _task_comments(task, ports):
                lines.comment(comment)
            _print_task(lines, task, typedefs, block_types)
        for unit in kernel.units:
            lines.add("")
            _print_top(lines, unit, typedefs, block_types, design.memory)
        if len(kernel.units) > 1:
            lines.add("")
            _print_launch(lines, kernel, typedefs)
    source = lines.text()
    return HlsSource(_header(design, typedefs, source), source)


# Tasks ------------------------------------------------------------------------------------------------------------------


def _print_task(lines: SourceLines, task: TaskDesign, typedefs: Typedefs, block_types: dict[SSAValue, str]) -> None:
    names = _parameter_names(task)
    outside = (*task.op.ins, *task.op.outs)
    arguments = task.op.body.block.args
    outputs = task.op.output_ports
    inner_types: dict[SSAValue, str] = {
        arg: block_types[value] for arg, value in zip(arguments, outside, strict=True) if value in block_types
    }
    parameters = [_parameter(arg, names[arg], typedefs, inner_types, arg in outputs) for arg in arguments]
    lines.call(f"static void {task.name}", parameters, " {")
    lines.pragma("inline off")
    body = BodyPrinter(
        lines,
        typedefs,
        HANDLERS,
        names,
        loop_labels(task.op),
        task_dependences(task.op),
        frozenset(outputs),
        inner_types,
        f"task @{task.op.sym_name.data}",
    )
    with lines.indented():
        body.statements(task.op.body.block)
    lines.add("}")


def _parameter_names(task: TaskDesign) -> dict[SSAValue, str]:
    """A task calls its ports as the kernel does."""
    return dict(zip(task.op.body.block.args, task.arguments, strict=True))


def _task_comments(task: TaskDesign, ports: dict[str, PortDesign]) -> list[str]:
    """What a task does, for which module of the model, and the tensor behind each memory port."""
    of = f" of {task.module}" if task.module else ""
    comments = [f"{task.kind.capitalize()}{of}: {', '.join(task.reads) or 'nothing'} -> {', '.join(task.writes) or 'nothing'}."]
    for name in task.arguments:
        if name in ports and ports[name].buffer.layout is not None:
            comments.append(f"{name}: {_tensor_comment(ports[name])}.")
    return comments


def _tensor_comment(port: PortDesign) -> str:
    layout = port.buffer.layout
    assert layout is not None
    shape = "x".join(str(extent) for extent in layout.order.static_shape) or "scalar"
    return f"tensor {shape} of {port.element.name} ({port.buffer.name}), {port.packing}"


def _parameter(
    argument: BlockArgument, name: str, typedefs: Typedefs, block_types: dict[SSAValue, str], is_output: bool
) -> str:
    kind = argument.type
    match kind:
        case StreamType():
            return f"hls::stream<{typedefs.value_type(kind.element_type)}> &{name}"
        case BlockType():
            return f"hls::stream_of_blocks<{block_types[argument]}, {kind.count}> &{name}"
        case SymbolType():
            return f"int {name}"
        case MemRefType():
            constness = "" if is_output else "const "
            return f"{constness}{typedefs.value_type(kind.element_type)} *{name}"
        case _:
            return f"{typedefs.value_type(kind)} {name}"


# Top function -----------------------------------------------------------------------------------------------------------


def _print_top(
    lines: SourceLines, unit: UnitDesign, typedefs: Typedefs, block_types: dict[SSAValue, str], memory: ExternalMemory
) -> None:
    lines.comment(f"Compute unit {unit.name}: {len(unit.tasks)} tasks, {len(unit.streams)} streams.")
    lines.call(f'extern "C" void {unit.name}', _parameters(unit, typedefs), " {")
    for port in unit.ports:
        side = "write" if port.is_written else "read"
        bursts = f"max_{side}_burst_length={memory.burst_words} num_{side}_outstanding={memory.outstanding_bursts}"
        # Co-simulation needs to know how many words there are: those of the buffer, as the testbench has it.
        depth = port.bytes // port.word_bytes
        lines.pragma(f"interface mode=m_axi port={port.name} bundle={port.bundle} offset=slave depth={depth} {bursts}")
    for link in (*unit.receives, *unit.sends):
        lines.pragma(f"interface mode=axis port={link.name}")
    for port in (*unit.ports, *unit.scalars):
        lines.pragma(f"interface mode=s_axilite port={port.name} bundle=control")
    lines.pragma(f"interface mode={'s_axilite port=return bundle=control' if unit.starts else 'ap_ctrl_none port=return'}")
    for scalar in unit.scalars:
        lines.pragma(f"stable variable={scalar.name}")  # from begin to end: tasks need not be told (rule 7)
    lines.pragma("dataflow" if unit.starts else "dataflow disable_start_propagation")
    with lines.indented():
        _print_streams(lines, unit.streams, typedefs)
        _print_blocks(lines, unit.blocks, block_types)
        for task in unit.tasks:
            lines.call(task.name, task.arguments, ";")
    lines.add("}")


def _print_launch(lines: SourceLines, kernel: KernelDesign, typedefs: Typedefs) -> None:
    lines.comment(f"A launch of {kernel.name}, for C simulation: on a card connectivity.cfg links its {len(kernel.units)} units.")
    lines.directive(NOT_SYNTHESISED)
    repeated = {unit.name: repeated_name(unit.name) for unit in kernel.units if kernel.steps > 1 and not unit.starts}
    for unit in [unit for unit in kernel.units if unit.name in repeated]:
        _print_repeated(lines, unit, repeated[unit.name], kernel.steps, typedefs)
    lines.call(f'extern "C" void {kernel.name}', _launch_parameters(kernel, typedefs), " {")
    lines.pragma("dataflow")
    with lines.indented():
        _print_streams(lines, kernel.links, typedefs)
        for unit in kernel.units:
            lines.call(repeated.get(unit.name, unit.name), unit.arguments, ";")
    lines.add("}")
    lines.directive("#endif")


def _print_repeated(lines: SourceLines, unit: UnitDesign, name: str, steps: int, typedefs: Typedefs) -> None:
    lines.comment(f"Nobody starts {unit.name}: it runs whenever there are tokens for it, {steps} times in a launch.")
    lines.call(f'extern "C" void {name}', _parameters(unit, typedefs), " {")
    with lines.indented(), lines.block(f"for (int step = 0; step < {steps}; step += 1)"):
        lines.pragma("dataflow")
        lines.call(unit.name, unit.arguments, ";")
    lines.add("}")


def _parameters(unit: UnitDesign, typedefs: Typedefs) -> list[str]:
    """Of the top function: pointers, then scalars, then links."""
    links = (f"hls::stream<{typedefs.value_type(link.type.element_type)}> &{link.name}" for link in (*unit.receives, *unit.sends))
    return [*_launch_parameters(unit, typedefs), *links]


def _launch_parameters(kernel: KernelDesign | UnitDesign, typedefs: Typedefs) -> list[str]:
    return [*(port_parameter(port, typedefs) for port in kernel.ports), *(f"int {scalar.name}" for scalar in kernel.scalars)]


def port_parameter(port: PortDesign, typedefs: Typedefs) -> str:
    """A port as a parameter of the top function."""
    kind = port.value.type
    assert isinstance(kind, MemRefType)
    return f"{'' if port.is_written else 'const '}{typedefs.value_type(kind.element_type)} *{port.name}"


def _print_streams(lines: SourceLines, streams: tuple[StreamDesign, ...], typedefs: Typedefs) -> None:
    for stream in streams:
        depth = stream.type.depth
        lines.add(f'hls::stream<{typedefs.value_type(stream.type.element_type)}, {depth}> {stream.name}("{stream.name}");')
        if depth > SRL_MAX_DEPTH:
            lines.pragma(f"bind_storage variable={stream.name} type=fifo impl={stream.memory}")


def _print_blocks(lines: SourceLines, blocks: tuple[BlockDesign, ...], block_types: dict[SSAValue, str]) -> None:
    # The vendor's class takes no name (hls_streamofblocks.h).
    for block in blocks:
        lines.add(f"hls::stream_of_blocks<{block_types[block.value]}, {block.type.count}> {block.name};")


# Header -----------------------------------------------------------------------------------------------------------------


def _header(design: Design, typedefs: Typedefs, source: str) -> str:
    content = _header_content(design, typedefs, source)
    lines = SourceLines()
    lines.comment("Types and top functions of kernel.cpp. Plain Vitis HLS C++.")
    lines.add("#ifndef STC_KERNEL_H")
    lines.add("#define STC_KERNEL_H")
    lines.add("")
    lines.add("#include <cstdint>")
    if "std::numeric_limits" in content:
        lines.add("#include <limits>")
    lines.add("")
    for include, use in VENDOR_HEADERS.items():
        if re.search(use, content + source):
            lines.add(f"#include <{include}>")
    lines.add("")
    return f"{lines.text()}{content}\n#endif\n"


def _header_content(design: Design, typedefs: Typedefs, source: str) -> str:
    lines = SourceLines()
    # Blocks may be of vectors: vectors first.
    for typedef in sorted(typedefs.lines.values(), key=lambda line: "[" in line):
        lines.add(typedef)
    for definition in helper_definitions(source):
        lines.add("")
        for line in definition.splitlines():
            lines.add(line)
    for kernel in design.kernels:
        for unit in kernel.units:
            lines.add("")
            lines.call(f'extern "C" void {unit.name}', _parameters(unit, typedefs), ";")
        if len(kernel.units) > 1:
            lines.add("")
            lines.directive(NOT_SYNTHESISED)
            lines.call(f'extern "C" void {kernel.name}', _launch_parameters(kernel, typedefs), ";")
            lines.directive("#endif")
    return lines.text()
