#!/usr/bin/env python3
"""Make the instrumented copy of a Vitis HLS C++ file that the C simulation compiles.

    python3 instrument.py kernel.cpp build/kernel.sim.cpp

The copy differs from the original in six kinds of places, all found by tokenising, and keeps every line where it was:

* a body with `#pragma HLS dataflow` (of a function, or of a `for` loop in one) gets a `stc_sim::Region`, joined at its end;
* each task call `f(a, b);` in such a body becomes the start of a fiber of that name;
* channels declared in such a body get the names of their variables;
* a body with `#pragma HLS pipeline` gets an iteration guard with the loop's label, II and style;
* `#pragma HLS stream variable=s depth=n` sets the depth of `s`;
* a task that a memory port is passed to gets a checked pointer of as many words as manifest.json, beside the file, says; a compute
  unit that is called as a task (by the function that runs all units of a kernel) is none: its own tasks are.

What it cannot handle it refuses, naming file and line: exit code 2. Needs nothing but Python's standard library.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

REPEATED = "_steps"
"""Ends the names of functions that run a compute unit once for each step of a launch."""


class InstrumentError(Exception):
    """The source is not something that can be instrumented. `line` is 1-based; `accepted` says what would be."""

    def __init__(self, message: str, line: int, accepted: str | None = None):
        super().__init__(message)
        self.message = message
        self.line = line
        self.accepted = accepted


# --- tokens -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Token:
    """`kind` is word, number, literal (string or character), directive (a whole preprocessor line), or punctuation."""

    kind: str
    text: str
    begin: int
    end: int
    line: int


_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\r\f\v]+ | \\\n)
    | (?P<newline>\n)
    | (?P<comment>//(?:\\\n|[^\n])* | /\*.*?\*/)
    | (?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)")
    | (?P<literal>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*" | (?:u8|[uUL])?'(?:\\.|[^'\\\n])*')
    | (?P<number>\.?[0-9](?:[eEpP][+-]|'[0-9a-fA-F]|[0-9A-Za-z_.])*)
    | (?P<word>[A-Za-z_$][A-Za-z0-9_$]*)
    | (?P<punctuation>::|->|<<=|>>=|<<|&&|\|\||[-+*/%&|^=!<>]=|\+\+|--|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = re.compile(r"#(?:\\\r?\n|/\*.*?\*/|//(?:\\\n|[^\n])*|[^\n/]|/)*", re.DOTALL)


def tokenize(source: str) -> list[Token]:
    """Tokens without white space and comments. `>>` stays two tokens, so that template brackets can be matched."""
    tokens: list[Token] = []
    position, line, at_line_start = 0, 1, True
    while position < len(source):
        if at_line_start and source[position] == "#":
            match = _DIRECTIVE.match(source, position)
            kind = "directive"
        else:
            match = _TOKEN.match(source, position)
            kind = match.lastgroup if match is not None else None
        if match is None or kind is None:
            raise InstrumentError("unexpected character", line)
        text = match.group()
        if text == '"' or (source.startswith("/*", position) and kind == "punctuation"):
            raise InstrumentError("a string or comment is never closed", line)
        if kind in ("raw", "delimiter"):
            kind = "literal"
        if kind == "newline":
            at_line_start = True
        elif kind not in ("space", "comment"):
            at_line_start = False
            tokens.append(Token(kind, text, match.start(), match.end(), line))
        line += text.count("\n")
        position = match.end()
    return tokens


# --- pragmas ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pragma:
    """`#pragma HLS name key=value flag ...`; a flag has the value "". Names and keys are in lower case."""

    name: str
    options: dict[str, str]
    token: Token


_PRAGMA = re.compile(r"#\s*pragma\s+hls\s+(\w+)\b(.*)", re.IGNORECASE | re.DOTALL)
_COMMENT = re.compile(r"/\*.*?\*/|//.*", re.DOTALL)
_OPTION = re.compile(r"(\w+)\s*=\s*([^\s=]+(?:\s*,\s*[^\s=,]+(?!\s*=))*)|(\w+)")


def parse_pragma(token: Token) -> Pragma | None:
    """The HLS pragma of a directive, or None."""
    match = _PRAGMA.match(_COMMENT.sub(" ", token.text.replace("\\\n", " ")))
    if match is None:
        return None
    options: dict[str, str] = {}
    for key, value, flag in _OPTION.findall(match.group(2)):
        options[(key or flag).lower()] = value
    return Pragma(match.group(1).lower(), options, token)


# --- blocks -----------------------------------------------------------------------------------------------------------


@dataclass
class Block:
    """A pair of braces: what it is the body of, and the pragmas directly in it. Indices are positions in the token list."""

    kind: str  # "function", "for", "loop" (while, do), "if", "type", "lambda" or "other"
    name: str
    open: int
    close: int = -1
    parameters: tuple[int, int] | None = None  # the tokens between the parentheses of a function
    outer: Block | None = None
    pragmas: list[Pragma] = field(default_factory=list)


_CLOSERS = {")": "(", "]": "[", "}": "{"}


def match_brackets(tokens: list[Token]) -> dict[int, int]:
    """Partner of each bracket, both ways. Template brackets are not included."""
    partner: dict[int, int] = {}
    stack: list[int] = []
    for i, token in enumerate(tokens):
        if token.kind != "punctuation":
            continue
        if token.text in "([{":
            stack.append(i)
        elif token.text in ")]}":
            if not stack or tokens[stack[-1]].text != _CLOSERS[token.text]:
                raise InstrumentError(
                    f"'{token.text}' closes nothing", token.line, "brackets that match without preprocessing"
                )
            j = stack.pop()
            partner[i], partner[j] = j, i
    if stack:
        token = tokens[stack[-1]]
        raise InstrumentError(
            f"'{token.text}' is never closed", token.line, "brackets that match without preprocessing"
        )
    return partner


def classify_block(tokens: list[Token], partner: dict[int, int], brace: int) -> Block:
    """What the brace at index `brace` opens, judged from the tokens before it."""
    i = brace - 1
    while i >= 0 and (
        tokens[i].text in ("const", "noexcept", "override", "final") or tokens[i].kind == "directive"
    ):
        i -= 1
    if i < 0:
        return Block("other", "", brace)
    if tokens[i].text == "else":
        return Block("if", "", brace)
    if tokens[i].text == "do":
        return Block("loop", loop_label(tokens, i), brace)
    if tokens[i].text != ")":
        return Block("type" if begins_type(tokens, i) else "other", "", brace)
    opening = partner[i]
    before = opening - 1
    if before >= 0 and tokens[before].text == "constexpr":
        before -= 1
    if before < 0:
        return Block("other", "", brace)
    word = tokens[before].text
    if word == "for":
        return Block("for", loop_label(tokens, before), brace)
    if word == "while":
        return Block("loop", loop_label(tokens, before), brace)
    if word in ("if", "switch", "catch"):
        return Block("if", "", brace)
    if word == "]":
        return Block("lambda", "", brace)
    if tokens[before].kind == "word":
        return Block("function", word, brace, parameters=(opening + 1, i))
    return Block("other", "", brace)


def loop_label(tokens: list[Token], keyword: int) -> str:
    if keyword >= 2 and tokens[keyword - 1].text == ":" and tokens[keyword - 2].kind == "word":
        is_case = keyword >= 3 and tokens[keyword - 3].text in ("case", "?")
        return "" if is_case or tokens[keyword - 2].text == "default" else tokens[keyword - 2].text
    return ""


def begins_type(tokens: list[Token], last: int) -> bool:
    i = last
    while i >= 0 and tokens[i].text not in (";", "{", "}") and tokens[i].kind != "directive":
        if tokens[i].text in ("struct", "class", "union", "enum", "namespace"):
            return True
        i -= 1
    return False


def find_blocks(tokens: list[Token], partner: dict[int, int]) -> list[Block]:
    """All brace pairs in order of their opening, with their pragmas."""
    blocks: list[Block] = []
    open_blocks: list[Block] = []
    for i, token in enumerate(tokens):
        if token.kind == "directive":
            pragma = parse_pragma(token)
            if pragma is not None and open_blocks:
                open_blocks[-1].pragmas.append(pragma)
        elif token.text == "{" and token.kind == "punctuation":
            block = classify_block(tokens, partner, i)
            block.close = partner[i]
            block.outer = open_blocks[-1] if open_blocks else None
            blocks.append(block)
            open_blocks.append(block)
        elif token.text == "}" and token.kind == "punctuation":
            open_blocks.pop()
    return blocks


# --- edits ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Edit:
    """Replace source[begin:end]. `text` has as many line breaks as what it replaces."""

    begin: int
    end: int
    text: str


def apply_edits(source: str, edits: list[Edit]) -> str:
    parts: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda e: (e.begin, e.end)):
        parts += [source[position : edit.begin], edit.text]
        position = edit.end
    return "".join([*parts, source[position:]])


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def joined(tokens: list[Token]) -> str:
    """The tokens on one line."""
    return re.sub(r"\s+([,;)\]])", r"\1", " ".join(t.text for t in tokens)).replace(" :: ", "::")


@dataclass(frozen=True)
class TaskCall:
    """A call in a dataflow body: of which function, by its name without namespaces and template arguments, and where."""

    task: str
    line: int


Extents: TypeAlias = dict[str, dict[str, int]]
"""Top functions, and for each the memory ports among its parameters with their number of words."""

_ARRAY_AS_FIFO = "an array between tasks that is a FIFO has no known time; accepted: hls::stream, or type=pipo"


class Instrumenter:
    """Collects the edits of one file."""

    def __init__(self, source: str, extents: Extents | None = None):
        self.source = source
        self.extents = extents or {}
        self.tokens = tokenize(source)
        for token in self.tokens:
            if token.text in ("_Pragma", "__pragma") or (
                token.kind == "directive" and "_Pragma" in token.text
            ):
                raise InstrumentError(
                    "a pragma made by a macro cannot be seen", token.line, "#pragma HLS lines"
                )
        self.partner = match_brackets(self.tokens)
        self.refuse_pragmas_before_bodies()
        self.blocks = find_blocks(self.tokens, self.partner)
        self.edits: list[Edit] = []
        self.task_calls: list[TaskCall] = []
        self.port_parameters: set[tuple[str, int]] = set()
        """Functions, and the positions of their parameters, that a memory port is passed to."""
        self.site_count = 0

    def refuse_pragmas_before_bodies(self) -> None:
        """A pragma of a loop stands in the braces of its body; before a body without braces it would belong to the block around."""
        loop_headers = {
            self.partner[i + 1]
            for i, token in enumerate(self.tokens)
            if token.kind == "word" and token.text in ("for", "while") and self.tokens[i + 1].text == "("
        }
        after_header = False
        for i, token in enumerate(self.tokens):
            pragma = parse_pragma(token) if token.kind == "directive" and after_header else None
            if pragma is not None and pragma.name in ("pipeline", "dataflow"):
                what = f"a {pragma.name} pragma between a loop and its body"
                raise InstrumentError(what, token.line, "the pragma inside the braces of the loop's body")
            after_header = i in loop_headers or (after_header and token.kind == "directive")

    def run(self, file_name: str) -> str:
        self.collect()
        head = f'#include "stc_sim/engine.h"\n#line 1 {quoted(file_name)}\n'
        return head + apply_edits(self.source, self.edits)

    def collect(self) -> None:
        """All edits of this file."""
        for block in self.blocks:
            names = {p.name for p in block.pragmas}
            pipelined = [p for p in block.pragmas if p.name == "pipeline" and "off" not in p.options]
            if "dataflow" in names and pipelined:
                raise InstrumentError(
                    "one body is both dataflow and pipelined", pipelined[0].token.line, "one of them"
                )
            if "dataflow" in names:
                self.instrument_region(block)
            elif pipelined:
                self.instrument_iteration(block, pipelined[0])
            for pragma in block.pragmas:
                if pragma.name == "stream":
                    self.instrument_depth(pragma, "dataflow" in names)
        for block in self.blocks:
            if block.kind == "function" and block.name not in self.extents:
                self.instrument_ports(block)

    def instrument_ports(self, function: Block) -> None:
        """`T *x` becomes `stc_sim::Words<T> x` where the function gets a memory port for it."""
        required = {position for name, position in self.port_parameters if name == function.name}
        for position, (begin, end) in enumerate(self.parameters_of(function) if required else ()):
            stars = [i for i in range(begin, end) if self.tokens[i].text == "*"]
            if position in required and stars == [end - 2]:
                self.insert_before(begin, "stc_sim::Words<")
                self.edits.append(Edit(self.tokens[end - 2].begin, self.tokens[end - 2].end, "> "))

    def parameters_of(self, function: Block) -> list[tuple[int, int]]:
        """The tokens of each parameter, from (included) and to (excluded)."""
        begin, end = function.parameters or (0, 0)
        found: list[tuple[int, int]] = []
        depth = 0
        for i in range(begin, end):
            depth += {"<": 1, "(": 1, "[": 1, ">": -1, ")": -1, "]": -1}.get(self.tokens[i].text, 0)
            if self.tokens[i].text == "," and depth == 0:
                found.append((begin, i))
                begin = i + 1
        return [*found, (begin, end)]

    def insert_after(self, index: int, text: str) -> None:
        end = self.tokens[index].end
        self.edits.append(Edit(end, end, text))

    def insert_before(self, index: int, text: str) -> None:
        begin = self.tokens[index].begin
        self.edits.append(Edit(begin, begin, text))

    def statement_end(self, i: int) -> int:
        """Index of the last token of the statement that begins at i."""
        i = self.skip_directives(i)
        if self.is_label_at(i):
            return self.statement_end(i + 2)
        token = self.tokens[i]
        if token.text == "{":
            return self.partner[i]
        if token.text in ("for", "while", "if", "switch"):
            end = self.statement_end(self.partner[self.parenthesis_after(i)] + 1)
            follows = end + 1
            if token.text == "if" and follows < len(self.tokens) and self.tokens[follows].text == "else":
                return self.statement_end(follows + 1)
            return end
        if token.text == "do":
            i = self.statement_end(i + 1)
        while self.tokens[i].text != ";":
            i = self.partner[i] + 1 if self.tokens[i].text in ("(", "[", "{") else i + 1
            if i >= len(self.tokens) or self.tokens[i].text == "}":
                raise InstrumentError("a statement without ';'", token.line, "C++ that compiles")
        return i

    def parenthesis_after(self, i: int) -> int:
        return i + 2 if self.tokens[i + 1].text == "constexpr" else i + 1

    def skip_directives(self, i: int) -> int:
        while self.tokens[i].kind == "directive":
            i += 1
        return i

    def is_label_at(self, i: int) -> bool:
        return self.tokens[i].kind == "word" and i + 1 < len(self.tokens) and self.tokens[i + 1].text == ":"

    def loop_name(self, keyword: int) -> str:
        """The label of a loop, or a name for it."""
        return loop_label(self.tokens, keyword) or f"VITIS_LOOP_{self.tokens[keyword].line}"

    def function_of(self, block: Block) -> Block | None:
        outer: Block | None = block
        while outer is not None and outer.kind != "function":
            outer = outer.outer
        return outer

    # pipelined iterations

    def instrument_iteration(self, block: Block, pragma: Pragma) -> None:
        line = pragma.token.line
        if block.kind not in ("for", "loop", "function", "lambda"):
            raise InstrumentError(
                "a pipeline pragma outside a loop or function body", line, "the body of a loop"
            )
        style = (pragma.options.get("style") or "unspecified").lower()
        if style not in ("unspecified", "stp", "flp", "frp"):
            raise InstrumentError(f"unknown pipeline style '{style}'", line, "stp, flp, frp")
        function = self.function_of(block)
        ii = pragma.options.get("ii") or "0"
        label = self.label_of(block)
        number = self.site_count
        self.site_count += 1
        named = function.name if function is not None and not self.is_own_kernel(function) else ""
        site = (
            f"static const stc_sim::LoopSite stc_site_{number}{{{quoted(named)}, "
            f"{quoted(label)}, {self.tokens[block.open].line}, int({ii}), stc_sim::Style::{style}}};"
        )
        run = f"stc_sim::LoopRun stc_run_{number}(stc_site_{number});"
        guard = f" stc_sim::Iteration stc_iteration_{number}(stc_run_{number});"
        if block.kind in ("function", "lambda"):
            self.insert_after(block.open, f" {site} {run}{guard}")
            return
        # Around the loop, or around the perfect nest of it: HLS flattens that into one loop.
        self.insert_before(self.flattened_nest(block), f"if ({site} true) if ({run} true) ")
        self.insert_after(block.open, guard)

    def is_own_kernel(self, function: Block) -> bool:
        """Whether a function of an emitted kernel.cpp stands in a namespace: then its loops are those of the tasks that call it."""
        return bool(self.extents) and function.outer is not None

    def label_of(self, block: Block) -> str:
        """The label of the loop with this body, "" where it has none."""
        return block.name if block.kind in ("for", "loop") else ""

    def flattened_nest(self, block: Block) -> int:
        """The keyword of the outermost loop that is perfectly nested around `block`, and merged with it.

        Not merged is what runs a number of times known at run time only, which it says (`loop_tripcount`), with what is around it.
        """
        keyword = self.keyword_of(block)
        outer = block.outer
        while outer is not None and outer.kind == "for" and self.holds_only(outer, keyword, block):
            kept_apart = any(p.name == "loop_flatten" and "off" in p.options for p in (*outer.pragmas, *block.pragmas))
            if kept_apart or any(p.name == "loop_tripcount" for p in block.pragmas):
                break
            block, outer = outer, outer.outer
            keyword = self.keyword_of(block)
        return keyword

    def keyword_of(self, block: Block) -> int:
        """Where the loop with this body begins, its label left out."""
        before = block.open - 1
        while self.tokens[before].kind == "directive":
            before -= 1
        return before if self.tokens[before].text == "do" else self.partner[before] - 1

    def holds_only(self, outer: Block, keyword: int, inner: Block) -> bool:
        """Whether the body of `outer` is the loop at `keyword` and nothing else."""
        first = outer.open + 1
        while self.tokens[first].kind == "directive":
            first += 1
        if first != keyword and not (first == keyword - 2 and self.tokens[first + 1].text == ":"):
            return False
        last = inner.close + 1
        while self.tokens[last].kind == "directive":
            last += 1
        return last == outer.close

    # depths

    def instrument_depth(self, pragma: Pragma, in_region: bool) -> None:
        variables, depth = pragma.options.get("variable"), pragma.options.get("depth") or "0"
        if not variables or "off" in pragma.options:
            return
        kind = (pragma.options.get("type") or "fifo").lower()
        if kind in ("unsync", "shared"):
            accepted = "type=pipo or type=fifo"
            raise InstrumentError(f"a stream pragma with type={kind} is not simulated", pragma.token.line, accepted)
        names = [v.strip() for v in variables.split(",")]
        if kind == "pipo" and not in_region:
            return
        if kind == "pipo":
            calls = " ".join(f"stc_region.set_blocks({quoted(v)}, {depth} > 0 ? {depth} : 2);" for v in names)
        else:
            checks = " ".join(f"static_assert(stc_sim::has_depth<decltype({v})>, {quoted(_ARRAY_AS_FIFO)});" for v in names)
            calls = checks + " " + " ".join(f"stc_sim::set_depth({v}, {depth});" for v in names)
        self.edits.append(
            Edit(pragma.token.begin, pragma.token.end, calls + "\n" * pragma.token.text.count("\n"))
        )

    # dataflow regions

    def instrument_region(self, block: Block) -> None:
        line = self.tokens[block.open].line
        if block.kind not in ("function", "for"):
            raise InstrumentError(
                "a dataflow pragma outside a function or for body",
                line,
                "the body of a function or of a for loop",
            )
        function = self.function_of(block)
        name = function.name if function is not None else ""
        if block.kind == "for":
            self.insert_before(self.keyword_of(block), "if (stc_sim::RegionLoop stc_loop; true) ")
        loop = ", &stc_loop" if block.kind == "for" else ""
        self.insert_after(block.open, f" stc_sim::Region stc_region({quoted(name)}{loop});")
        Region(self, block).instrument(block.open + 1, block.close, in_loop=False)
        self.insert_before(block.close, "stc_region.join(); ")


# --- statements of a dataflow body ------------------------------------------------------------------------------------

_SKIPPED = ("using", "typedef", "static_assert", "struct", "class", "enum", "union", "extern", "assert")
_REFUSED = (
    "if",
    "switch",
    "goto",
    "try",
    "else",
    "throw",
    "break",
    "continue",
    "delete",
    "new",
)
_BODY_ACCEPTED = "declarations, task calls 'f(a, b);', loops around calls, and loops that compute"


class Region:
    """Rewrites the statements of one dataflow body."""

    def __init__(self, instrumenter: Instrumenter, block: Block):
        self.out = instrumenter
        self.tokens = instrumenter.tokens
        self.partner = instrumenter.partner
        self.block = block
        self.locals: set[str] = set()
        function = instrumenter.function_of(block)
        self.ports = instrumenter.extents.get(function.name, {}) if function is not None else {}

    def instrument(self, begin: int, end: int, in_loop: bool) -> None:
        i = begin
        while i < end:
            i = self.statement(i, end, in_loop)

    def statement(self, i: int, end: int, in_loop: bool) -> int:
        """Rewrites the statement that begins at token i; returns where the next begins."""
        token = self.tokens[i]
        if token.kind == "directive" or token.text == ";":
            return i + 1
        if self.is_label(i, end):
            return i + 2
        if token.text in ("for", "while", "do"):
            if not self.calls_tasks(i):
                return self.outline(i)
            if token.text != "for":
                raise self.refuse(token, f"'{token.text}' around task calls in a dataflow body")
            return self.loop(i, end)
        if token.text == "{":
            raise self.refuse(token, "a nested block in a dataflow body")
        if token.text in _REFUSED:
            raise self.refuse(token, f"'{token.text}' in a dataflow body")
        stop = self.end_of_statement(i, end)
        if token.text == "return":
            self.out.insert_before(i, "{ stc_region.join(); ")
            self.out.insert_after(stop, " }")
        elif token.text in _SKIPPED or joined(self.tokens[i : i + 3]).replace(" ", "") == "(void)":
            pass
        elif self.tokens[stop].text != ";":
            raise self.refuse(token, "a statement that is not understood in a dataflow body")
        else:
            call = self.call_parenthesis(i, stop)
            if call is not None:
                self.call(i, call, stop)
            else:
                self.declaration(i, stop, in_loop)
        return stop + 1

    def is_label(self, i: int, end: int) -> bool:
        return i + 1 < end and self.tokens[i].kind == "word" and self.tokens[i + 1].text == ":"

    def refuse(self, token: Token, what: str) -> InstrumentError:
        return InstrumentError(what, token.line, _BODY_ACCEPTED)

    def end_of_statement(self, i: int, end: int) -> int:
        """Index of the `;` that ends the statement, or of the brace that closes a function-like definition."""
        while i < end:
            text = self.tokens[i].text
            if text == ";":
                return i
            if text in ("(", "[", "{") and self.tokens[i].kind == "punctuation":
                i = self.partner[i]
            i += 1
        raise self.refuse(self.tokens[end - 1], "a statement without ';'")

    # loops that are tasks

    def calls_tasks(self, i: int) -> bool:
        """Whether the loop at i calls functions in statements of their own, or has a dataflow body: else it computes."""
        is_do = self.tokens[i].text == "do"
        body = self.out.skip_directives(i + 1 if is_do else self.partner[self.out.parenthesis_after(i)] + 1)
        if any(b.open == body and any(p.name == "dataflow" for p in b.pragmas) for b in self.out.blocks):
            return True
        if self.tokens[body].text == "{":
            return self.has_calls(body + 1, self.partner[body])
        return self.has_calls(body, self.out.statement_end(body) + 1)

    def has_calls(self, i: int, end: int) -> bool:
        while i < end:
            token = self.tokens[i]
            if self.is_label(i, end):
                i += 2
                continue
            stop = i if token.kind == "directive" or token.text == ";" else self.out.statement_end(i)
            if token.text in ("for", "while", "do"):
                if self.calls_tasks(i):
                    return True
            elif stop > i and token.text not in ("if", "switch", "{"):
                call = self.call_parenthesis(i, stop)
                if call is not None and not any(t.text in (".", "->") for t in self.tokens[i:call]):
                    return True
            i = stop + 1
        return False

    def outlined(self, index: int) -> str | None:
        """The task that the loop around a token becomes; None where the body has none around it that computes."""
        i, count = self.block.open + 1, 0
        while i < self.block.close:
            token = self.tokens[i]
            if token.kind == "directive" or token.text == ";" or self.is_label(i, self.block.close):
                i += 2 if token.kind == "word" else 1
                continue
            stop = self.out.statement_end(i)
            if token.text in ("for", "while", "do") and not self.calls_tasks(i):
                if i <= index <= stop:
                    return self.process_name(i, count)
                count += 1
            i = stop + 1
        return None

    def process_name(self, keyword: int, number: int) -> str:
        """As the tool calls it."""
        return f"Loop_{self.out.loop_name(keyword)}_proc{number or ''}"

    def outline(self, i: int) -> int:
        """A loop that stands in the body becomes a task, to which the variables of the body that it uses are released."""
        stop = self.out.statement_end(i)
        if (found := next((t for t in self.tokens[i : stop + 1] if t.text in ("return", "goto")), None)) is not None:
            raise self.refuse(found, f"'{found.text}' in a loop of a dataflow body")
        name = self.outlined(i)
        assert name is not None
        self.out.task_calls.append(TaskCall(name, self.tokens[i].line))
        used = list(dict.fromkeys(t.text for t in self.tokens[i : stop + 1] if t.text in self.locals))
        written = {t.text for k, t in enumerate(self.tokens[i : stop + 1], i) if t.text in self.locals and self.may_write(k)}
        kinds = {n: "" if n in written else "const " for n in used}
        parameters = ", ".join(f"{kind}std::remove_reference_t<decltype({n})> &{n}" for n, kind in kinds.items())
        arguments = "".join(f", stc_sim::local({quoted(n)}, {n})" for n in used)
        self.out.insert_before(i, f"stc_region.spawn({quoted(name)}, [&]({parameters}) -> void {{ ")
        self.out.insert_before(stop + 1, f" }}{arguments}); ")
        return stop + 1

    def may_write(self, i: int) -> bool:
        """Whether the variable at i, or an element or member of it, may change there."""
        after = i + 1
        while self.tokens[after].text == "[":
            after = self.partner[after] + 1
        following, before = self.tokens[after].text, self.tokens[i - 1].text
        assigned = following.endswith("=") and following not in ("==", "!=", "<=", ">=")
        stepped = following in ("++", "--") or before in ("++", "--", "&")
        passed = after == i + 1 and following in (",", ")")
        compound = following in ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>") and self.tokens[after + 1].text == "="
        doubled = following in ("+", "-") and self.tokens[after + 1].text == following
        used = following in (".", "->") or before in ("+", "-", "<<", ">>")   # of a stream, or signs that are read one by one
        return assigned or stepped or passed or compound or doubled or used

    def loop(self, i: int, end: int) -> int:
        """A for loop around calls: its header is kept, its variable is passed to tasks by value."""
        close = self.partner[i + 1]
        body = close + 1
        while body < end and self.tokens[body].kind == "directive":
            body += 1
        if self.tokens[body].text != "{":
            return self.statement(body, end, in_loop=True)
        if any(b.open == body and any(p.name == "dataflow" for p in b.pragmas) for b in self.out.blocks):
            return self.partner[body] + 1
        self.instrument(body + 1, self.partner[body], in_loop=True)
        return self.partner[body] + 1

    # declarations

    def declaration(self, i: int, stop: int, in_loop: bool) -> None:
        """Notes the names a declaration introduces; channels among them get their names at run time."""
        first = self.tokens[i]
        words = [t.text for t in self.tokens[i:stop]]
        if "task" in words and "hls" in words:
            raise InstrumentError(
                "hls::task is not simulated", first.line, "#pragma HLS dataflow with task calls"
            )
        names = self.declared_names(i, stop)
        if not names:
            raise self.refuse(
                first, f"'{joined(self.tokens[i : stop + 1])}' is neither a declaration nor a task call"
            )
        constant = "const" in words or "constexpr" in words
        if in_loop and (not constant or "[" in words):
            raise InstrumentError(
                "a variable declared in a loop of a dataflow body ends before the tasks that use it",
                first.line,
                "declarations at the top of the dataflow body",
            )
        if not constant:
            self.locals.update(names)
        self.out.insert_after(
            stop, "".join(f" stc_sim::name_channel({n}, {quoted(n)});" for n in names if not constant)
        )

    def declared_names(self, i: int, stop: int) -> list[str]:
        """Declarators of `type a, b[4], c("c"), d = 1;`: words that follow a type and precede one of `; , [ ( { =`."""
        names: list[str] = []
        start = i
        expected = True  # a declarator may begin
        while i < stop:
            token = self.tokens[i]
            if token.text == "<" and i > start and self.tokens[i - 1].kind == "word":
                i = self.close_template(i, stop) + 1
                continue
            if token.kind == "punctuation" and token.text in ("(", "[", "{"):
                i = self.partner[i] + 1
                continue
            if token.text == ",":
                expected = True
            elif token.text == "=":
                if not names:
                    return []
                expected = False
            elif expected and token.kind == "word" and i > start:
                follows = self.tokens[i + 1].text
                after_type = self.tokens[i - 1].kind == "word" or self.tokens[i - 1].text in (
                    ">",
                    "*",
                    "&",
                    "&&",
                    ",",
                )
                if after_type and follows in (";", ",", "[", "(", "{", "="):
                    names.append(token.text)
                    expected = False
            i += 1
        return names

    def close_template(self, i: int, stop: int) -> int:
        """Index of the `>` that closes the `<` at i."""
        depth = 0
        for k in range(i, stop):
            text = self.tokens[k].text
            if text == "<":
                depth += 1
            elif text == ">":
                depth -= 1
                if depth == 0:
                    return k
        raise self.refuse(self.tokens[i], "a '<' without '>'")

    # calls

    def call_parenthesis(self, i: int, stop: int) -> int | None:
        """Index of the `(` if tokens i..stop are `name<...>::member(...)`, else None."""
        expect_name = True
        while i < stop:
            token = self.tokens[i]
            if expect_name:
                if token.text == "::":
                    i += 1
                    continue
                if token.kind != "word":
                    return None
                expect_name = False
            elif token.text in ("::", ".", "->"):
                expect_name = True
            elif token.text == "[":
                i = self.partner[i]
            elif token.text == "<":
                i = self.close_template(i, stop)
            elif token.text == "(":
                return i if self.partner[i] + 1 == stop else None
            else:
                return None
            i += 1
        return None

    def call(self, i: int, parenthesis: int, stop: int) -> None:
        """`f(a, b);` is kept, unreachable, for the compiler's messages; the fiber is started after it, on its last line."""
        callee = joined(self.tokens[i:parenthesis]).replace(" ", "")
        name = callee.split("<")[0].split("::")[-1].split(".")[-1]
        self.out.task_calls.append(TaskCall(name, self.tokens[i].line))
        forward = f"{joined(self.tokens[i:parenthesis])}(static_cast<decltype(stc_a)>(stc_a)...)"
        is_unit = name in self.out.extents
        split = list(self.split_arguments(parenthesis))
        passed = [joined(argument) for argument in split] if is_unit else [self.argument(a, name, k) for k, a in enumerate(split)]
        arguments = "".join(f", {argument}" for argument in passed)
        repeats = "stc_sim::several_steps = true; " if is_unit and name.endswith(REPEATED) else ""
        self.out.insert_before(i, f"{repeats}if (false) {{ ")
        self.out.insert_after(
            stop,
            f" }} stc_region.{'spawn_unit' if is_unit else 'spawn'}({quoted(callee)}, [&](auto &&...stc_a) -> decltype({forward}) "
            f"{{ return {forward}; }}{arguments});",
        )

    def split_arguments(self, parenthesis: int) -> Iterator[list[Token]]:
        close = self.partner[parenthesis]
        current: list[Token] = []
        depth_end = -1
        for k in range(parenthesis + 1, close):
            token = self.tokens[k]
            if token.kind == "directive":
                raise self.refuse(token, "a preprocessor line inside a task call")
            if token.kind == "punctuation" and k > depth_end:
                if token.text in ("(", "[", "{"):
                    depth_end = self.partner[k]
                elif token.text in ("<", ">", "?"):
                    raise InstrumentError(
                        f"'{token.text}' in an argument of a task call",
                        token.line,
                        "names, elements and literals",
                    )
                elif token.text == ",":
                    yield current
                    current = []
                    continue
            current.append(token)
        if current:
            yield current

    def argument(self, tokens: list[Token], callee: str, position: int) -> str:
        """The argument as the fiber gets it: variables of this body are marked, because they are released; memory ports know
        their extents."""
        text = joined(tokens)
        if (words := self.ports.get(text)) is not None and text not in self.locals:
            self.out.port_parameters.add((callee, position))
            return f"stc_sim::words({quoted(text)}, {text}, {words})"
        path = tokens[1:] if tokens[0].text == "&" else tokens
        if path and path[0].text in self.locals and self.is_path(path):
            return f"stc_sim::local({quoted(path[0].text)}, {text})"
        depth = 0
        for token in tokens:
            depth += {"[": 1, "]": -1}.get(token.text, 0)
            if depth == 0 and token.text in self.locals:
                raise InstrumentError(
                    f"argument '{text}' computes with '{token.text}' of the dataflow body",
                    token.line,
                    "names, elements and literals",
                )
        return text

    def is_path(self, tokens: list[Token]) -> bool:
        """`name`, `name[i]`, `name.member` and combinations."""
        depth = 0
        for token in tokens:
            depth += {"[": 1, "]": -1}.get(token.text, 0)
            if depth == 0 and token.kind != "word" and token.text not in (".", "]", "->"):
                return False
        return True


def instrument(source: str, file_name: str, extents: Extents | None = None) -> str:
    """The instrumented copy of `source`; `file_name` is what compiler messages shall name. Raises InstrumentError."""
    return Instrumenter(source.replace("\r\n", "\n"), extents).run(file_name)


def port_extents(manifest: Path) -> Extents:
    """The extents that a manifest.json gives; none where there is no such file."""
    if not manifest.is_file():
        return {}
    extents: Extents = {}
    for kernel in json.loads(manifest.read_text(encoding="utf-8"))["kernels"]:
        words = extents[kernel["name"]] = {port["name"]: port["words"] for port in kernel["ports"]}
        extents.update((unit["name"], {port: words[port] for port in unit["ports"]}) for unit in kernel.get("units", ()))
        extents.update((f"{unit['name']}{REPEATED}", {}) for unit in kernel.get("units", ()) if not unit["starts"])
    return extents


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("usage: instrument.py KERNEL.cpp OUT.cpp", file=sys.stderr)
        return 2
    source, target = Path(arguments[0]), Path(arguments[1])
    try:
        extents = port_extents(source.with_name("manifest.json"))
        text = instrument(source.read_text(encoding="utf-8"), str(source), extents)
        target.write_text(text, encoding="utf-8")
    except InstrumentError as error:
        accepted = f"; accepted: {error.accepted}" if error.accepted else ""
        print(f"{source}:{error.line}: {error.message}{accepted}", file=sys.stderr)
        return 2
    except (KeyError, TypeError, json.JSONDecodeError):
        print(f"{source.with_name('manifest.json')}: not a manifest; accepted: one that 'stc compile' wrote", file=sys.stderr)
        return 2
    except (OSError, UnicodeDecodeError) as error:
        print(f"{source}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
