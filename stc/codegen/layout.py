"""layout.h: how the host lays tensors out in the buffers of memory ports, as plain loops from the stream orders."""

from __future__ import annotations

from stc.codegen.design import Design, PortDesign
from stc.codegen.host_plan import Buffer
from stc.codegen.source_lines import SourceLines
from stc.iteration.bus_words import slot
from stc.iteration.order import StreamOrder
from stc.iteration.size import static


def print_layout(design: Design) -> str:
    """`pack_NAME` for every port read by the kernel, `unpack_NAME` for every port it writes, where the host has a tensor."""
    lines = SourceLines()
    lines.comment("Layout of tensors in the buffers of the memory ports, used by host.cpp and testbench.cpp.")
    lines.comment("`tensor` is row-major; `words` are a port's words, lane after lane.")
    lines.add("#ifndef STC_LAYOUT_H")
    lines.add("#define STC_LAYOUT_H")
    lines.add("")
    lines.add("#include <cstdint>")
    for bits in sorted({port.element.bits for port in _first_ports(design) if port.element.is_packed}):
        _print_packed(lines, bits)
    for port in _first_ports(design):
        if port.buffer.layout is not None:
            lines.add("")
            _print_port(lines, port, port.buffer.layout.order.without_reuse(), port.buffer.shape)
    lines.add("")
    lines.add("#endif")
    return lines.text()


def _first_ports(design: Design) -> list[PortDesign]:
    """Of the ports of a kernel that share a buffer in one direction, the first: the host names the buffer after it."""
    ports: dict[tuple[str, Buffer, bool], PortDesign] = {}
    for kernel in design.kernels:
        for port in kernel.ports:
            ports.setdefault((kernel.name, port.buffer, port.is_written), port)
    return list(ports.values())


def _print_packed(lines: SourceLines, bits: int) -> None:
    """How entries of less than a byte lie: `put_N` and `get_N` of an entry by its number."""
    count, mask = 8 // bits, (1 << bits) - 1
    lines.add("")
    lines.comment(f"Entries of {bits} bits in words of memory, the first in the lowest bits of a byte.")
    with lines.block(f"inline void put_{bits}(int8_t *words, long entry, int value)"):
        lines.add(f"const int shift = int(entry % {count}) * {bits};")
        lines.add(f"int8_t &byte = words[entry / {count}];")
        lines.add(f"byte = int8_t((shift ? byte : 0) | (value & {mask}) << shift);")
    lines.add("")
    with lines.block(f"inline int8_t get_{bits}(const int8_t *words, long entry)"):
        lines.add(f"const int value = words[entry / {count}] >> int(entry % {count}) * {bits} & {mask};")
        lines.add(f"return int8_t((value ^ {1 << (bits - 1)}) - {1 << (bits - 1)});")


def _print_port(lines: SourceLines, port: PortDesign, order: StreamOrder, shape: tuple[int, ...]) -> None:
    """One function. `word` runs over the lanes of the buffer in order, a pointer or a count where they are less than a byte.

    `shape` is the tensor's, of which it may be a stripe.
    """
    host_type = port.element.host_type
    spelled = "x".join(str(extent) for extent in shape) or "scalar"
    lines.comment(f"{port.name}: tensor {spelled} of {port.element.name}, tokens <{order}>, {port.packing}.")
    if port.is_written:
        head = f"inline void unpack_{port.name}(const {host_type} *words, {host_type} *tensor)"
    else:
        head = f"inline void pack_{port.name}(const {host_type} *tensor, {host_type} *words)"
    with lines.block(head):
        first = "long word = 0" if port.element.is_packed else f"{'const ' if port.is_written else ''}{host_type} *word = words"
        lines.add(f"{first};")
        _print_loops(lines, port, order, shape, 0)
        unused = port.words * port.lanes - order.token_count * _slot(order, port.lanes)
        if unused and not port.is_written:
            lines.add(f"for (int pad = 0; pad < {unused}; pad += 1) {_put(port, '0')}")


def _slot(order: StreamOrder, lanes: int) -> int:
    """Entries one token takes in the words of a verified port."""
    entries = slot(order.element_count, lanes)
    assert entries is not None
    return entries


def _print_loops(lines: SourceLines, port: PortDesign, order: StreamOrder, shape: tuple[int, ...], depth: int) -> None:
    """The loops of the order, then those of the element, then one entry."""
    if depth < len(order.loops):
        loop = order.loops[depth]
        extent = static(loop.trip) * loop.step
        with lines.block(f"for (long d{depth} = 0; d{depth} < {extent}; d{depth} += {loop.step})"):
            _print_loops(lines, port, order, shape, depth + 1)
        return
    entry = _entry(order, shape)
    statement = f"tensor[{entry}] = {_next(port)};" if port.is_written else _put(port, f"tensor[{entry}]")
    heads = [f"for (long e{dim} = 0; e{dim} < {extent}; e{dim} += 1)" for dim, extent in enumerate(order.element) if extent > 1]
    lines.add(" ".join([*heads, statement]))
    if gap := _slot(order, port.lanes) - order.element_count:
        lines.add(f"word += {gap};" if port.is_written else f"for (int pad = 0; pad < {gap}; pad += 1) {_put(port, '0')}")


def _put(port: PortDesign, value: str) -> str:
    """Make `value` the next entry of the words."""
    return f"put_{port.element.bits}(words, word++, {value});" if port.element.is_packed else f"*word++ = {value};"


def _next(port: PortDesign) -> str:
    """The next entry of the words."""
    return f"get_{port.element.bits}(words, word++)" if port.element.is_packed else "*word++"


def _entry(order: StreamOrder, shape: tuple[int, ...]) -> str:
    """Row-major position of an entry in the tensor of `shape`."""
    position = ""
    for dimension, coordinate in enumerate(order.coordinates):
        terms = [f"d{loop}" for loop in coordinate.loops]
        if order.element[dimension] > 1:
            terms.append(f"e{dimension}")
        if static(coordinate.constant):
            terms.append(str(static(coordinate.constant)))
        term = " + ".join(terms)
        if not position:
            position = term
            continue
        product = f"{position} * {shape[dimension]}" if "+" not in position else f"({position}) * {shape[dimension]}"
        position = f"{product} + {term}" if term else product
    return position or "0"
