"""Emission rules that are facts of the text, checked on kernel.cpp and connectivity.cfg; those of the IR: `emission_rules.py`.

    4   a dataflow body holds only declarations and void calls of names
    6   every stream has an explicit depth, and above 2 entries an explicit bind_storage; a stream of blocks takes no name
    7   a scalar of a dataflow function is stable
    8   a token has at most 4096 bit, whole bytes up to 2048 bit between units; ap_int and ap_uint have at most 1024
    9   m_axi words are powers of two of bytes up to the platform's, of 8 to 64-bit elements
    10  no vector of ap_int or ap_uint, which takes whole bytes for an entry; a slice range(hi, lo) is cast to what it is
    11  each innermost loop that touches a stream carries pipeline with II and style
    12  a loop whose bound depends on a scalar says its trip counts, and in another loop that it is not flattened
    13  a dependence is stated in a pipelined loop, with the proof in a comment above it
    15  a fully partitioned dimension is indexed by unrolled loop variables and literals only, or is a multiplexer of at most
        MAX_MULTIPLEXER inputs
    16  no integer / or % by a non-power-of-two in a pipelined loop
    17  no double, no unsuffixed float literal, mathematics of hls:: only
    19  at most as many bundles as the platform has ports; pointers of one bundle have words of one type; those that are read go to
        one task, those that are written to one, and each is moved in loops of its own
    21  memory ports are indexed by loop variables and scalars, not volatile, and not accessed under a condition
    25  every pointer argument has one sp= with a memory of the platform, every stream argument is an end of one stream_connect=,
        every unit has at most one slr=
    26  top functions are extern "C" with s_axilite bundle=control on return and every argument, but axis on streams, and a depth on
        memory ports; one of streams alone has ap_ctrl_none on return, and disable_start_propagation
    27  pragmas are as the manual writes them (`pragmas.py`), their variables in scope, and they stand in the body they govern;
        a stream of blocks is not partitioned; `fifo` is for streams, other memories for arrays, and ultra RAM has no contents at
        power-up
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from stc.analysis.emission_rules import RULES
from stc.codegen.cpp_source import Function, Node, Pragma, Statement, functions
from stc.codegen.pragmas import complaints as pragma_complaints
from stc.diagnostics import CompileError
from stc.platforms.platform import DEFAULT_PLATFORM, ExternalMemory, load_platform

MAX_TOKEN_BITS = 4096
MAX_LINK_BITS = 2048
MAX_AP_BITS = 1024

_WIDTHS = {"float": 32, "half": 16, "int": 32, "unsigned": 32, "bool": 1}
_LOOP_PRAGMAS = ("pipeline", "unroll", "loop_flatten", "loop_tripcount")
_MATHS = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "recip", "pow", "tanh", "sinh", "cosh", "sin",
          "cos", "tan", "erf", "fabs", "floor", "ceil", "fmax", "fmin", "fma", "round", "trunc", "cbrt", "atan", "atan2", "rint")
_STREAM_ACCESS = re.compile(r"\.(read|write)\(|<<|>>")
_DECLARATION = re.compile(r'^(hls::stream<.*>\s+\w+(\(\s*"\w*"\)|\[\d+\])?|hls::stream_of_blocks<.*>\s+\w+);$')
_BLOCKS = re.compile(r"^hls::(?:stream_of_blocks|read_lock|write_lock)<.*?>\s+(\w+)")
_DIVISION = re.compile(r"([/%])=?\s*\(*\s*(?:\((?:unsigned|int|u?int\d+_t)\))?\s*([\w.]+)")
_CALL = re.compile(r"^\w+(<\w+>)?\(((\w+(\[\w+\])?)(,\s*\w+(\[\w+\])?)*)?\);$")

MAX_MULTIPLEXER = 64
"""Inputs of the largest multiplexer that is accepted: some 2.6 LUT per input for 32 bit (vitis_operators.csv, mux_441_to_1_32b),
so about 170 LUT, one level or two of logic."""


@dataclass(frozen=True)
class Violation:
    """A broken rule: its number above, the line (0: the whole file) and what is wrong."""

    rule: int
    line: int
    message: str

    def __str__(self) -> str:
        return f"rule {self.rule}, line {self.line}: {self.message}"


@dataclass(frozen=True)
class _Source:
    """What a rule sees: the header (typedefs), the source text and its functions."""

    header: str
    text: str
    functions: list[Function]
    memory: ExternalMemory

    @cached_property
    def typedefs(self) -> Mapping[str, str]:
        """What names stand for; of an array, its entries."""
        found = re.findall(r"typedef\s+([^;\n]+?)\s+(\w+)(?:\[\d+\])*;", self.header + self.text)
        return {name: kind for kind, name in reversed(found)}  # of several the first

    def bits(self, kind: str) -> int | None:
        """Width of a C++ type, typedefs resolved; None where it is not known."""
        kind = kind.strip()
        if kind in self.typedefs:
            return self.bits(self.typedefs[kind])
        vector = re.fullmatch(r"hls::vector<(.+),\s*(\d+)>", kind)
        if vector:
            element = self.bits(vector[1])
            return None if element is None else element * int(vector[2])
        sized = re.fullmatch(r"u?int(\d+)_t", kind) or re.fullmatch(r"ap_u?int<(\d+)>", kind)
        return int(sized[1]) if sized else _WIDTHS.get(kind)

    def element_bits(self, kind: str) -> int | None:
        """Width of one element of a vector type, or of the type itself."""
        vector = re.fullmatch(r"hls::vector<(.+),\s*\d+>", self.typedefs.get(kind.strip(), ""))
        return self.bits(vector[1] if vector else kind)


def check_project_text(header: str, source: str, connectivity: str, memory: ExternalMemory | None = None) -> None:
    """CompileError that lists every violation in the emitted texts. `memory`: the platform's; None: that of the default."""
    violations = [*kernel_violations(source, header, memory), *connectivity_violations(source, connectivity, memory)]
    if violations:
        raise CompileError("; ".join(str(violation) for violation in violations), where=f"emitted code, {RULES}")


def kernel_violations(source: str, header: str = "", memory: ExternalMemory | None = None) -> list[Violation]:
    """Violations in kernel.cpp; `header` supplies typedefs. `memory`: as in `check_project_text`."""
    parsed = _Source(header, source, functions(source), _known(memory))
    return [violation for rule in _RULES for violation in rule(parsed)]


def _known(memory: ExternalMemory | None) -> ExternalMemory:
    return load_platform(DEFAULT_PLATFORM).memory if memory is None else memory


def _is_dataflow(function: Function) -> bool:
    return function.body.pragma("dataflow") is not None


def _statements(node: Node) -> Iterator[tuple[Node, Statement]]:
    """All statements below a block, with the block they stand in."""
    for block in node.walk():
        for statement in block.statements:
            yield block, statement


def _is_pipelined(loop: Node) -> bool:
    """Whether a loop is one pipeline: by its pragma, or, unless that says no, as the tool makes one of each innermost loop."""
    if loop.pragma("pipeline") is not None:
        return _pipeline(loop) is not None
    return not any(block.loop_variable and not block.is_unrolled for block in loop.walk()[1:])


def _pipeline(block: Node) -> Pragma | None:
    """What makes a loop one pipeline."""
    pragma = block.pragma("pipeline")
    return None if pragma is None or "off" in pragma.options else pragma


# Dataflow ---------------------------------------------------------------------------------------------------------------


def _rule_4(source: _Source) -> Iterator[Violation]:
    for function in filter(_is_dataflow, source.functions):
        for block in function.body.blocks:
            yield Violation(4, block.line, f"'{block.head}' in the dataflow body of {function.name}, expected calls only")
        for statement in function.body.statements:
            if not _DECLARATION.match(statement.text) and not _CALL.match(statement.text):
                yield Violation(4, statement.line, f"'{statement.text}' is neither a stream nor a call of names")
    for function in source.functions:
        for _, statement in _statements(function.body):
            if re.match(r"static (?!const\b)", statement.text):
                yield Violation(4, statement.line, f"static variable '{statement.text}', expected const")


def _rule_6(source: _Source) -> Iterator[Violation]:
    for function in source.functions:
        bound = {p.options.get("variable") for p in function.body.pragmas if p.name == "bind_storage"}
        for _, statement in _statements(function.body):
            if named := re.match(r"hls::stream_of_blocks<.*>\s+(\w+)\s*[({]", statement.text):
                yield Violation(6, statement.line, f"stream of blocks {named[1]} is given arguments, expected none")
            match = re.match(r"hls::stream<(?P<type>.*)>\s+(?P<name>\w+)", statement.text)
            if not match:
                continue
            depth = re.search(r",\s*(\d+)$", match["type"])
            kind = match["type"]
            if depth is None or kind.count("<") > kind[: depth.start()].count(">"):
                yield Violation(6, statement.line, f"stream {match['name']} has no explicit depth")
            elif int(depth[1]) > 2 and match["name"] not in bound:
                yield Violation(6, statement.line, f"stream {match['name']} of depth {depth[1]} has no bind_storage")


def _rule_7(source: _Source) -> Iterator[Violation]:
    for function in filter(_is_dataflow, source.functions):
        stable = {p.options.get("variable") for p in function.body.pragmas if p.name == "stable"}
        for name in _scalars(function) - stable:
            yield Violation(7, function.body.line, f"scalar {name} of {function.name} is not stable")


def _scalars(function: Function) -> set[str]:
    return {name for kind, name in function.parameters if kind.strip() == "int"}


# Types ------------------------------------------------------------------------------------------------------------------


def _rule_8(source: _Source) -> Iterator[Violation]:
    for number, line in enumerate(source.text.splitlines(), start=1):
        for width in re.findall(r"\bap_u?int<(\d+)>", line):
            if int(width) > MAX_AP_BITS:
                yield Violation(8, number, f"integer of {width} bit, expected at most {MAX_AP_BITS}")
    for function in source.functions:
        for _, statement in _statements(function.body):
            match = re.match(r"hls::stream<(.*),\s*\d+>\s+(\w+)", statement.text)
            bits = source.bits(match[1]) if match else None
            if match and bits is not None and bits > MAX_TOKEN_BITS:
                yield Violation(8, statement.line, f"{match[2]}: tokens of {bits} bit, expected at most {MAX_TOKEN_BITS}")
        for kind, name in _links(function) if function.is_top else ():
            bits = source.bits(kind)
            if bits is None or bits % 8 or bits > MAX_LINK_BITS:
                what = f"{name}: tokens of {'unknown' if bits is None else bits} bit between units"
                yield Violation(8, function.body.line, f"{what}, expected whole bytes, at most {MAX_LINK_BITS} bit")


def _links(function: Function) -> list[tuple[str, str]]:
    """(token type, name) of the stream parameters."""
    found = ((re.fullmatch(r"hls::stream<(.*)>\s*&", kind.strip()), name) for kind, name in function.parameters)
    return [(match[1], name) for match, name in found if match]


def _pointers(function: Function) -> list[tuple[str, str]]:
    """(element type, name) of the pointer parameters."""
    return [(kind.replace("const", "").replace("*", "").strip(), name) for kind, name in function.parameters if "*" in kind]


def _rule_9(source: _Source) -> Iterator[Violation]:
    for function in (function for function in source.functions if function.is_top):
        for kind, name in _pointers(function):
            bits, element = source.bits(kind.replace("volatile", "")), source.element_bits(kind.replace("volatile", ""))
            if bits is None or element is None:
                yield Violation(9, function.body.line, f"port {name} has words of unknown type {kind}")
                continue
            size = bits // 8
            most = source.memory.word_bits // 8
            if bits % 8 or size & (size - 1) or not 1 <= size <= most or element not in (8, 16, 32, 64, bits):
                yield Violation(9, function.body.line,
                                f"port {name} has words of {bits} bit, expected a power of two of bytes up to {most}")


def _rule_10(source: _Source) -> Iterator[Violation]:
    vectors = set(re.findall(r"typedef\s+hls::vector<ap_u?int<\d+>,\s*\d+>\s+(\w+)", source.header))
    for number, line in enumerate(source.text.splitlines(), start=1):
        if re.search(r"hls::vector<\s*ap_u?int\b", line) or vectors & set(re.findall(r"\w+", line)):
            yield Violation(10, number, "a vector of ap_int takes whole bytes for an entry, expected one ap_uint of all its bits")
        if len(re.findall(r"\.range\(", line)) > len(re.findall(r"\bap_u?int<\d+>\([\w\[\]]+\.range\(", line)):
            yield Violation(10, number, "a slice has no sign of its own, expected ap_int<N>(word.range(hi, lo)) or ap_uint<N>(...)")


# Loops ------------------------------------------------------------------------------------------------------------------


def _loops(function: Function) -> list[Node]:
    return [node for node in function.body.walk() if node.loop_variable is not None]


def _in_loop(loop: Node) -> Iterator[Statement]:
    """Statements of a loop, those of nested blocks that are no loops in hardware included."""
    yield from loop.statements
    for block in loop.blocks:
        if block.loop_variable is None or block.is_unrolled:
            yield from _in_loop(block)


def _rule_11(source: _Source) -> Iterator[Violation]:
    for function in source.functions:
        for loop in _loops(function):
            if loop.is_unrolled or any(inner.loop_variable and not inner.is_unrolled for inner in loop.walk()[1:]):
                continue
            if not any(_STREAM_ACCESS.search(statement.text) for statement in _in_loop(loop)):
                continue
            pipeline = _pipeline(loop)
            if pipeline is None or not {"ii", "style"} <= set(pipeline.options):
                yield Violation(11, loop.line, f"loop {loop.label or loop.loop_variable} of {function.name} touches a stream "
                                "without pipeline II= style=")


def _rule_12(source: _Source) -> Iterator[Violation]:
    for function in source.functions:
        known = _run_time_values(function)
        for loop in _loops(function):
            bound = re.search(r";\s*\w+\s*<\s*([^;]+);", loop.head)
            if not bound or not known & set(re.findall(r"[A-Za-z_]\w*", bound[1])):
                continue
            what = f"loop {loop.label or loop.loop_variable} of {function.name} runs to {bound[1].strip()}"
            if loop.is_unrolled or loop.pragma("loop_tripcount") is None:
                yield Violation(12, loop.line, f"{what}, unrolled or without loop_tripcount")
            is_inside = any(node.loop_variable is not None and node is not loop for node in loop.ancestors())
            apart = loop.pragma("loop_flatten")
            if is_inside and _pipeline(loop) is not None and (apart is None or "off" not in apart.options):
                yield Violation(12, loop.line, f"{what} inside another loop without loop_flatten off")


def _run_time_values(function: Function) -> set[str]:
    """The scalars of a function, numbers that it receives, and the constants that are computed from either."""
    known = _scalars(function)
    for statement in function.body.statements:
        known |= set(re.findall(r"^const int (\w+) = \w+\.read\(\);$", statement.text))
    for _, statement in _statements(function.body):
        found = re.match(r"const int (\w+) = (.*);$", statement.text)
        if found and known & set(re.findall(r"[A-Za-z_]\w*", found[2])):
            known.add(found[1])
    return known


def _index_of(text: str, array: str) -> Iterator[list[str]]:
    """The index expressions of every access to an array in a statement."""
    for match in re.finditer(rf"\b{re.escape(array)}(?=\[)", text):
        position, indices = match.end(), []
        while position < len(text) and text[position] == "[":
            depth, end = 0, position
            for end in range(position, len(text)):
                depth += (text[end] == "[") - (text[end] == "]")
                if depth == 0:
                    break
            indices.append(text[position + 1 : end])
            position = end + 1
        yield indices


def _rule_13(source: _Source) -> Iterator[Violation]:
    lines = source.text.splitlines()
    for function in source.functions:
        for block in function.body.walk():
            for pragma in (p for p in block.pragmas if p.name == "dependence"):
                variable = pragma.options.get("variable")
                if not any(line.startswith(f"// {variable}:") for line in _comment_above(lines, pragma.line)):
                    yield Violation(13, pragma.line, f"dependence of {variable} without its proof in a comment above it")
                if {"type", "dependent"} - set(pragma.options) or _pipeline(block) is None:
                    yield Violation(13, pragma.line, "dependence without type and dependent, or outside a pipelined loop")


def _comment_above(lines: Sequence[str], line: int) -> Iterator[str]:
    """The lines of the comment right above line number `line`, counted from 1; the last first."""
    for text in reversed(lines[: line - 1]):
        if not text.strip().startswith("//"):
            return
        yield text.strip()


def _rule_15(source: _Source) -> Iterator[Violation]:
    for function in source.functions:
        for block in function.body.walk():
            for pragma in (p for p in block.pragmas if p.name == "array_partition"):
                if pragma.options.get("type", "complete") == "complete":
                    yield from _check_complete(block, pragma)


def _check_complete(scope: Node, pragma: Pragma) -> Iterator[Violation]:
    array, dimension = pragma.options.get("variable", ""), int(pragma.options.get("dim") or 1)
    extent = _extent(scope, array, dimension)
    if extent is not None and extent <= MAX_MULTIPLEXER:
        return
    for block, statement in _statements(scope):
        constants = {node.loop_variable for node in block.ancestors() if node.loop_variable and node.is_unrolled}
        for indices in _index_of(statement.text, array):
            checked = indices if dimension == 0 else indices[dimension - 1 : dimension]
            names = {name for index in checked for name in re.findall(r"[A-Za-z_]\w*", index)}
            if names - constants:
                indexed = ', '.join(sorted(names - constants))
                yield Violation(15, statement.line, f"{array} is fully partitioned but indexed by {indexed}")


def _extent(scope: Node, array: str, dimension: int) -> int | None:
    """The extent of one dimension (counted from 1; 0: all entries) of an array declared in `scope`."""
    for _, statement in _statements(scope):
        declared = re.search(rf"\b{re.escape(array)}((?:\[\d+\])+)\s*;?$", statement.text.strip())
        if declared is not None and not re.search(r"[=(]", statement.text):
            extents = [int(extent) for extent in re.findall(r"\d+", declared.group(1))]
            return prod(extents) if dimension == 0 else extents[dimension - 1]
    return None


def _integer_names(function: Function) -> set[str]:
    """Names declared with an integer type."""
    kinds = r"(?:int|unsigned|u?int\d+_t|ap_u?int<\d+>|long)"
    texts = [statement.text for _, statement in _statements(function.body)]
    texts += [node.head for node in function.body.walk()]
    return {name for text in texts for name in re.findall(rf"\b{kinds}\s+(\w+)\s*=", text)}


def _rule_16(source: _Source) -> Iterator[Violation]:
    for function in source.functions:
        integers = _integer_names(function)
        for block, statement in _statements(function.body):
            divisions = _DIVISION.findall(statement.text)
            if not divisions or not any(_pipeline(node) for node in block.ancestors()):
                continue
            for operator, divisor in divisions:
                is_integer = operator == "%" or divisor in integers or re.fullmatch(r"\d+[uUlL]*", divisor)
                value = re.fullmatch(r"(\d+)[uUlL]*", divisor)
                if is_integer and not (value and int(value[1]) > 0 and int(value[1]) & (int(value[1]) - 1) == 0):
                    yield Violation(16, statement.line, f"'{operator} {divisor}' in a pipelined loop, expected a counter")


def _rule_17(source: _Source) -> Iterator[Violation]:
    maths = re.compile(rf"(?<![\w:.])(?:std::)?({'|'.join(_MATHS)})f?\s*\(")
    for number, raw in enumerate(source.text.splitlines(), start=1):
        line = re.sub(r'"[^"]*"', '""', raw.split("//")[0])
        if line.startswith("#"):
            continue
        if re.search(r"\bdouble\b", line):
            yield Violation(17, number, "double, expected float")
        for text in re.findall(r"(?<![\w.])(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])", line):
            yield Violation(17, number, f"float literal {text} without suffix, expected {text}f")
        for name in maths.findall(line):
            yield Violation(17, number, f"function {name}, expected hls::{name}")


# Memory -----------------------------------------------------------------------------------------------------------------


def _m_axi(function: Function) -> list[Pragma]:
    return _interfaces(function, "m_axi")


def _interfaces(function: Function, mode: str) -> list[Pragma]:
    return [p for p in function.body.pragmas if p.name == "interface" and p.options.get("mode") == mode]


def _rule_19(source: _Source) -> Iterator[Violation]:
    for function in (function for function in source.functions if function.is_top):
        pragmas = _m_axi(function)
        bundles: dict[str, list[Pragma]] = {}
        for pragma in pragmas:
            bundles.setdefault(pragma.options.get("bundle", ""), []).append(pragma)
        for pragma in bundles.pop("", []):
            yield Violation(19, pragma.line, f"port {pragma.options.get('port')} has no bundle")
        for shared in (found for found in bundles.values() if len(found) > 1):
            yield from (Violation(19, shared[0].line, what) for what in _complaints_of_bundle(shared, function, source))
        if len(bundles) > source.memory.max_ports:
            count = f"{len(bundles)} memory ports, expected at most {source.memory.max_ports}"
            yield Violation(19, function.body.line, f"{function.name} has {count}")
        declared = {pragma.options.get("port") for pragma in pragmas}
        for _, name in _pointers(function):
            if name not in declared:
                yield Violation(19, function.body.line, f"port {name} has no m_axi interface")


def _complaints_of_bundle(pragmas: Sequence[Pragma], top: Function, source: _Source) -> Iterator[str]:
    """What is wrong with pointers that share a bundle: several readers, or writers, at a time would take turns at one port."""
    ports = [pragma.options.get("port", "") for pragma in pragmas]
    called = f"ports {', '.join(ports)} share bundle '{pragmas[0].options['bundle']}'"
    kinds = {name: kind for kind, name in top.parameters if name in ports}
    if len({kind for kind, name in _pointers(top) if name in ports}) > 1:
        yield f"{called}, expected words of one type"
    for verb in ("reads", "writes"):
        moved = {name for name, kind in kinds.items() if ("const" in kind) == (verb == "reads")}
        if len(moved) > 1:
            yield from (f"{called}, {what}" for what in _complaints_of_direction(moved, verb, top, source))


def _complaints_of_direction(ports: set[str], verb: str, top: Function, source: _Source) -> Iterator[str]:
    statements = [re.findall(r"\w+", statement.text) for _, statement in _statements(top.body)]
    calls = [words for words in statements if ports & set(words)]
    task = next((found for found in source.functions if len(calls) == 1 and found.name == calls[0][0]), None)
    if task is None or not ports <= set(calls[0]):
        yield f"expected one task that {verb} them"
        return
    if len(task.parameters) != len(calls[0]) - 1:
        yield f"expected a call of {task.name} with names alone"
        return
    own = [name for (_, name), given in zip(task.parameters, calls[0][1:], strict=True) if given in ports]
    for loop in (block for block in task.body.walk() if block.loop_variable and _is_pipelined(block)):
        touched = [name for name in own if any(any(_index_of(statement.text, name)) for _, statement in _statements(loop))]
        if len(touched) > 1:
            yield f"and a loop of {task.name} {verb} {' and '.join(touched)}, expected a loop for each"


def _rule_21(source: _Source) -> Iterator[Violation]:
    for number, line in enumerate(source.text.splitlines(), start=1):
        if re.search(r"\bvolatile\b", line.split("//")[0]):
            yield Violation(21, number, "volatile")
    for function in (function for function in source.functions if not function.is_top):
        known = _run_time_values(function)
        for _, port in _pointers(function):
            for block, statement in _statements(function.body):
                yield from _check_port_access(port, block, statement, known)


_CONSTANT = re.compile(r"const int (\w+) = .*;$")
"""Where a burst begins, where that is found outside the loop that moves it."""


def _check_port_access(port: str, block: Node, statement: Statement, known: set[str]) -> Iterator[Violation]:
    """`known`: what is one value during a launch."""
    for indices in _index_of(statement.text, port):
        around = block.ancestors()
        if any(node.head.startswith(("if", "else")) for node in around):
            yield Violation(21, statement.line, f"port {port} is accessed under a condition")
        variables = {node.loop_variable for node in around if node.loop_variable}
        before = {found[1] for node in around[1:] for line in node.statements if (found := _CONSTANT.match(line.text))}
        names = set(re.findall(r"[A-Za-z_]\w*", indices[0])) - variables - known - before
        if names or re.search(r"[/%?&|<>-]", indices[0]):
            what = f"port {port} is indexed by '{indices[0]}', expected sums of loop variables and scalars"
            yield Violation(21, statement.line, what)


# Link -------------------------------------------------------------------------------------------------------------------


def _rule_26(source: _Source) -> Iterator[Violation]:
    for function in source.functions:
        if _is_dataflow(function) and not function.is_top:
            yield Violation(26, function.body.line, f"top function {function.name} is not extern \"C\"")
        if not function.is_top:
            continue
        lite = _interfaces(function, "s_axilite")
        ports = {pragma.options.get("port") for pragma in lite if pragma.options.get("bundle") == "control"}
        for pragma in _m_axi(function):
            if "depth" not in pragma.options:
                yield Violation(26, pragma.line, f"port {pragma.options.get('port')} has no depth=, which co-simulation needs")
        links = {name for _, name in _links(function)}
        for name in sorted(links - {pragma.options.get("port") for pragma in _interfaces(function, "axis")}):
            yield Violation(26, function.body.line, f"{function.name} has no axis port={name}")
        started = [name for _, name in function.parameters if name not in links]
        if links and not started:
            yield from _complaints_of_free_running(function)
            continue
        for name in [*started, "return"]:
            if name not in ports:
                yield Violation(26, function.body.line, f"{function.name} has no s_axilite port={name} bundle=control")


def _complaints_of_free_running(function: Function) -> Iterator[Violation]:
    """Nobody starts it: its tasks may not wait for that."""
    if not any(pragma.options.get("port") == "return" for pragma in _interfaces(function, "ap_ctrl_none")):
        yield Violation(26, function.body.line, f"{function.name} has no ap_ctrl_none port=return, and nothing starts it")
    dataflow = function.body.pragma("dataflow")
    if dataflow is not None and "disable_start_propagation" not in dataflow.options:
        yield Violation(26, dataflow.line, f"{function.name} runs by itself without disable_start_propagation")


def _rule_27(source: _Source) -> Iterator[Violation]:
    for function in source.functions:
        visible, blocks = {name for _, name in function.parameters}, _streams_of_blocks(function)
        for block in function.body.walk():
            yield from _check_pragmas(function, block, visible, blocks)


def _check_pragmas(function: Function, block: Node, parameters: set[str], blocks: set[str]) -> Iterator[Violation]:
    declared = set(parameters)
    by_name = _declarations(block) if block.pragma("bind_storage") else {}
    for item in block.items:
        if isinstance(item, Statement):
            declared |= set(re.findall(r"(\w+)(?:\[\w+\])*\s*(?:=|\(\"|;|\()", item.text))
            continue
        if isinstance(item, Node):
            continue
        for complaint in pragma_complaints(item.name, item.options):
            yield Violation(27, item.line, f"pragma {item.name} {complaint}")
        variable = item.options.get("variable")
        if item.name == "bind_storage":
            yield from (Violation(27, item.line, what) for what in _complaints_of_storage(item, by_name))
        if item.name == "array_partition" and variable in blocks:
            yield Violation(27, item.line, f"{variable} is a stream of blocks, or a block of one: it cannot be partitioned")
        outside = _declared_around(block) if item.name == "dependence" else set()
        if variable is not None and variable not in declared | outside:
            yield Violation(27, item.line, f"variable {variable} of pragma {item.name} is not declared before it")
        port = item.options.get("port")
        if port is not None and port != "return" and port not in parameters:
            yield Violation(27, item.line, f"port {port} is no parameter of {function.name}")
        if item.name in _LOOP_PRAGMAS and (block.loop_variable is None or not _is_first(block, item)):
            yield Violation(27, item.line, f"pragma {item.name} does not stand directly below the loop it governs")


def _declarations(block: Node) -> Mapping[str, Sequence[str]]:
    """The statements of a block that declare a variable, or look as if they did, by its name."""
    found: dict[str, list[str]] = {}
    for statement in block.statements:
        for name in re.findall(r"[>\w]\s+(\w+)(?=[\[(;=])", statement.text):
            found.setdefault(name, []).append(statement.text)
    return found


def _complaints_of_storage(pragma: Pragma, declarations: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """What does not go together: a type of memory and what the variable is, ultra RAM and a value at power-up."""
    variable, kind = pragma.options.get("variable", ""), pragma.options.get("type", "")
    declared = declarations.get(variable, ())
    is_stream = any(text.startswith("hls::stream<") for text in declared)
    if declared and is_stream != (kind == "fifo"):
        yield f"{variable} is {'a stream' if is_stream else 'an array'}, and bind_storage has type={kind}"
    if pragma.options.get("impl") == "uram" and any("=" in text or text.startswith("static ") for text in declared):
        yield f"{variable} has contents at power-up, which ultra RAM cannot have"


def _declared_around(block: Node) -> set[str]:
    """Names of the arrays that the blocks around a loop declare."""
    texts = [statement.text for node in block.ancestors()[1:] for statement in node.statements]
    return {found[1] for text in texts if (found := re.match(r"[\w:<>, ]+\s(\w+)(?:\[\d+\])*;$", text))}


def _streams_of_blocks(function: Function) -> set[str]:
    """Names in a function of streams of blocks, and of the locks through which their blocks are accessed."""
    declared = (_BLOCKS.match(statement.text) for _, statement in _statements(function.body))
    passed = {name for kind, name in function.parameters if kind.startswith("hls::stream_of_blocks<")}
    return passed | {found[1] for found in declared if found}


def _is_first(block: Node, pragma: Pragma) -> bool:
    """Whether only pragmas stand before `pragma` in its block."""
    return all(isinstance(item, Pragma) for item in block.items[: block.items.index(pragma)])


_RULES: tuple[Callable[[_Source], Iterator[Violation]], ...] = (
    _rule_4, _rule_6, _rule_7, _rule_8, _rule_9, _rule_10, _rule_11, _rule_12,
    _rule_13, _rule_15, _rule_16, _rule_17, _rule_19, _rule_21, _rule_26, _rule_27,
)


def connectivity_violations(source: str, connectivity: str, memory: ExternalMemory | None = None) -> list[Violation]:
    """Violations of rule 25: the link configuration against the top functions of kernel.cpp. `memory`: as above."""
    memory = _known(memory)
    lines = [(number, line.split("#")[0].strip()) for number, line in enumerate(connectivity.splitlines(), start=1)]
    units = {unit: kernel for _, line in lines for kernel, unit in re.findall(r"^nk=(\w+):1:(\w+)$", line)}
    links = [(found[1], found[2]) for _, line in lines if (found := re.match(r"^sp=([\w.]+):(.*)$", line))]
    placed = Counter(port for port, _ in links)
    violations: list[Violation] = []
    for number, line in lines:
        found = re.match(r"^sp=\w+\.\w+:(.*)$", line)
        if line.startswith("sp=") and (found is None or found[1] not in memory.all_tags):
            tags = memory.tag.format(n=f"0-{memory.tags - 1}")
            violations.append(Violation(25, number, f"'{line}', expected sp=unit.port:{tags}"))
        if line.startswith("stream_connect=") and not _LINK.match(line):
            violations.append(Violation(25, number, f"'{line}', expected stream_connect=unit.stream:unit.stream:depth"))
    slrs = Counter(found[1] for _, line in lines if (found := re.match(r"^slr=(\w+):SLR\d$", line)))
    violations += [Violation(25, 0, f"unit {unit} has {count} slr=, expected one") for unit, count in slrs.items() if count > 1]
    for function in (function for function in functions(source) if function.is_top):
        own = [unit for unit, kernel in units.items() if kernel == function.name]
        if len(own) != 1:
            violations.append(Violation(25, 0, f"kernel {function.name} has {len(own)} units, expected one nk="))
            continue
        for _, name in _pointers(function):
            count = placed[f"{own[0]}.{name}"]
            if count != 1:
                violations.append(Violation(25, 0, f"port {name} of {own[0]} has {count} sp=, expected one"))
        violations += _complaints_of_links(function, own[0], lines)
        channels: dict[str, set[str]] = {}
        for pragma in _m_axi(function):
            of_port = {channel for port, channel in links if port == f"{own[0]}.{pragma.options.get('port')}"}
            channels.setdefault(pragma.options.get("bundle", ""), set()).update(of_port)
        apart = (bundle for bundle, linked in channels.items() if len(linked) > 1)
        violations += [Violation(25, 0, f"bundle {bundle} of {own[0]} is linked to {', '.join(sorted(channels[bundle]))}, "
                                 "expected one channel") for bundle in apart]
    return violations


_LINK = re.compile(r"^stream_connect=(\w+)\.(\w+):(\w+)\.(\w+):(\d+)$")


def _complaints_of_links(function: Function, unit: str, lines: Sequence[tuple[int, str]]) -> Iterator[Violation]:
    """Each stream of a unit is one end of one link: the first where it is written. Ends have tokens of one type, as C++ has it."""
    ends = [(found[1], found[2], found[3], found[4]) for _, line in lines if (found := _LINK.match(line))]
    for _, name in _links(function):
        count = sum((unit, name) in ((a, b), (c, d)) for a, b, c, d in ends)
        if count != 1:
            yield Violation(25, 0, f"stream {name} of {unit} is an end of {count} stream_connect=, expected one")
