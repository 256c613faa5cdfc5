"""The loops, tasks and calls of C++ that `stc` did not write, and its instrumented copy.

What a vendor tool does to such code is followed where it decides about time: everything inside a pipelined body is unrolled
into it, so that pipelines in there do not count; a perfect nest runs as one loop; loops without a label get the vendor's
names, VITIS_LOOP_<line>_<number>.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from stc.simulation.instrument import (
    Block,
    Edit,
    Instrumenter,
    InstrumentError,
    Pragma,
    Region,
    apply_edits,
    joined,
    loop_label,
    parse_pragma,
    quoted,
)

_INLINE_ACCEPTED = "task calls of functions that stay processes of their own; write out the calls of the inlined one"


@dataclass(frozen=True)
class Loop:
    """A loop of a function. Indices are positions in the token list; `body` is the brace or the statement's first token, `end`
    the last token of the body. `label` is the source's, else VITIS_LOOP_<line>_<number>."""

    function: str
    label: str
    line: int
    keyword: int
    body: int
    end: int
    braced: bool

    def contains(self, index: int) -> bool:
        return self.body <= index <= self.end


@dataclass(frozen=True)
class Pipeline:
    """Something with a pipeline: the body of `loop`, or of a whole function where that is None.

    `ii` is the text of the pragma's II; `has_pragma` is false for loops that only the design file describes. `absorbed`: it
    lies in another pipelined body, which the tool unrolls.
    """

    function: str
    label: str
    line: int
    loop: Loop | None
    ii: str | None
    has_pragma: bool
    begin: int
    end: int


@dataclass(frozen=True)
class Function:
    """A function with a body; indices of its braces. `calls`: words followed by a parenthesis or template arguments, and where."""

    name: str
    line: int
    open: int
    close: int
    calls: tuple[tuple[str, int], ...]
    inlined: bool


class ForeignSource(Instrumenter):
    """One file of a foreign design.

    Pipelines are instrumented only where `active` says so (indices of their bodies), and `top` becomes one invocation of the
    design, `main` the testbench.
    """

    def __init__(self, source: str):
        super().__init__(source)
        self.active: dict[int, tuple[Pipeline, str | None]] = {}

    # what is there

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """All loops in functions, in order of their keywords."""
        counts: dict[int, int] = {}
        loops: list[Loop] = []
        for i, token in enumerate(self.tokens):
            if token.kind != "word" or token.text not in ("for", "while", "do") or self._ends_do(i):
                continue
            function = self.function_around(i)
            if function is None:
                continue
            number = counts[function.open] = counts.get(function.open, 0) + 1
            body = self._body_of(i)
            label = loop_label(self.tokens, i) or f"VITIS_LOOP_{token.line}_{number}"
            braced = self.tokens[body].text == "{"
            loops.append(Loop(function.name, label, token.line, i, body, self.statement_end(body), braced))
        return tuple(loops)

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        return tuple(
            Function(
                b.name, self.tokens[b.open].line, b.open, b.close, tuple(self._calls(b)),
                any(p.name == "inline" and "off" not in p.options for p in b.pragmas),
            )
            for b in self.blocks
            if b.kind == "function" and self.function_around(b.open) is None
        )

    @cached_property
    def regions(self) -> tuple[Block, ...]:
        """Bodies with a dataflow pragma."""
        return tuple(b for b in self.blocks if any(p.name == "dataflow" for p in b.pragmas))

    @cached_property
    def pipelines(self) -> tuple[Pipeline, ...]:
        """What has a pipeline pragma."""
        return tuple(self._pipelines())

    def _pipelines(self) -> Iterator[Pipeline]:
        by_body = {loop.body: loop for loop in self.loops}
        for block in self.blocks:
            for pragma in block.pragmas:
                if pragma.name != "pipeline" or "off" in pragma.options:
                    continue
                loop = by_body.get(block.open)
                function = self.function_of(block)
                name = function.name if function is not None else ""
                label, line = (loop.label, loop.line) if loop is not None else ("", self.tokens[block.open].line)
                yield Pipeline(name, label, line, loop, pragma.options.get("ii"), True, block.open, block.close)
                break

    def pipeline_of(self, loop: Loop) -> Pipeline:
        """The pipeline of a loop without a pragma."""
        return Pipeline(loop.function, loop.label, loop.line, loop, None, False, loop.body, loop.end)

    def pipeline_of_function(self, function: Function) -> Pipeline:
        """The pipeline that a whole function is, without a pragma."""
        return Pipeline(function.name, "", function.line, None, None, False, function.open, function.close)

    def is_unrolled(self, loop: Loop) -> bool:
        """Whether its pragma unrolls the loop completely, so that no loop is left."""
        pragmas = self._pragmas_of(loop)
        return any(p.name == "unroll" and not p.options.get("factor") for p in pragmas)

    def nest(self, loop: Loop) -> list[Loop]:
        """The loop and those around it in its function, the innermost first."""
        around = [o for o in self.loops if o.contains(loop.keyword) and o.function == loop.function]
        return [loop, *reversed(around)]

    def runs_once(self, loop: Loop) -> bool:
        """Whether the header says so in numbers: `for (int i = 3; i < 4; i++)`."""
        opening = loop.keyword + 1
        if self.tokens[loop.keyword].text != "for" or self.tokens[opening].text != "(":
            return False
        text = joined(self.tokens[opening + 1 : self.partner[opening]])
        header = re.search(r"=\s*(\d+)\s*;\s*\w+\s*<\s*(\d+)\s*;", text)
        return header is not None and int(header[2]) == int(header[1]) + 1

    def is_in_region(self, loop: Loop) -> bool:
        """Whether the loop is around task calls of a dataflow body, or around that body."""
        inside = [b for b in self.regions if b.open < loop.keyword < b.close]
        around = [b for b in self.regions if loop.contains(b.open)]
        inside = [b for b in inside if not self._is_nested_function(b, loop)]
        return bool(around) or any(Region(self, b).outlined(loop.keyword) is None for b in inside)

    def process_of(self, loop: Loop) -> str | None:
        """What the tool calls the task that a loop of a dataflow body becomes."""
        inside = [b for b in self.regions if b.open < loop.keyword < b.close and not self._is_nested_function(b, loop)]
        return Region(self, inside[-1]).outlined(loop.keyword) if inside else None

    def loop_name(self, keyword: int) -> str:
        return next(loop.label for loop in self.loops if loop.keyword == keyword)

    def _is_nested_function(self, region: Block, loop: Loop) -> bool:
        function = self.function_around(loop.keyword)
        return function is not None and function.open > region.open

    def _pragmas_of(self, loop: Loop) -> list[Pragma]:
        """Those in the braces, or between the header and a body without braces."""
        if loop.braced:
            return next(b.pragmas for b in self.blocks if b.open == loop.body)
        header_end = self.partner[loop.keyword + 1] if self.tokens[loop.keyword].text != "do" else loop.keyword
        found = (self.pragma_at(i) for i in range(header_end + 1, loop.body))
        return [pragma for pragma in found if pragma is not None]

    def pragma_at(self, index: int) -> Pragma | None:
        token = self.tokens[index]
        return parse_pragma(token) if token.kind == "directive" else None

    def function_around(self, index: int) -> Block | None:
        """The innermost function body around a token."""
        inside = [b for b in self.blocks if b.kind == "function" and b.open < index < b.close]
        return inside[-1] if inside else None

    def _body_of(self, keyword: int) -> int:
        if self.tokens[keyword].text == "do":
            return self.skip_directives(keyword + 1)
        return self.skip_directives(self.partner[keyword + 1] + 1)

    def _ends_do(self, i: int) -> bool:
        """Whether this `while` is the end of a do loop."""
        if self.tokens[i].text != "while" or i == 0 or self.tokens[i - 1].text != "}":
            return False
        before = self.partner[i - 1] - 1
        while before >= 0 and self.tokens[before].kind == "directive":
            before -= 1
        return before >= 0 and self.tokens[before].text == "do"

    def _calls(self, block: Block) -> Iterator[tuple[str, int]]:
        for i in range(block.open + 1, block.close):
            token = self.tokens[i]
            if token.kind == "word" and self.tokens[i + 1].text in ("(", "<"):
                yield token.text, i

    # the copy

    def label_of(self, block: Block) -> str:
        return next((loop.label for loop in self.loops if loop.body == block.open), super().label_of(block))

    def copy(self, file_name: str, top: str, active: Mapping[int, tuple[Pipeline, str | None]], header: str) -> str:
        """The instrumented copy. `active`: the pipelines that count and their style (else the pragma's), by index of their body."""
        self.active = dict(active)
        self.edits, self.task_calls, self.site_count = [], [], 0
        wrapped = [f for f in self.functions if f.name in (top, "main")]
        for function in wrapped:
            self._open_wrapper(function, top)
        self.collect()
        for pipeline, style in active.values():
            if not pipeline.has_pragma:
                self._instrument_without_pragma(pipeline, style)
        for function in wrapped:
            self.insert_before(function.close, "}); " if function.name == top else "return 0; }); ")
        return f'#include "{header}"\n#line 1 {quoted(file_name)}\n' + apply_edits(self.source, self.edits)

    def _open_wrapper(self, function: Function, top: str) -> None:
        if function.name == top:
            self.insert_after(function.open, f" return stc_sim::call_top({quoted(function.name)}, [&]() {{")
        else:
            self.insert_after(function.open, " return stc_sim::run_testbench([&]() -> int {")

    def instrument_iteration(self, block: Block, pragma: Pragma) -> None:
        if block.open in self.active:
            style = self.active[block.open][1]
            options = pragma.options if style is None else {**pragma.options, "style": style}
            super().instrument_iteration(block, Pragma(pragma.name, options, pragma.token))
            self._move_condition(block.open)

    def _instrument_without_pragma(self, pipeline: Pipeline, style: str | None) -> None:
        nothing = Pragma("pipeline", {} if style is None else {"style": style}, self.tokens[pipeline.begin])
        block = next((b for b in self.blocks if b.open == pipeline.begin), None)
        if block is not None:
            super().instrument_iteration(block, nothing)
            self._move_condition(block.open)
            return
        assert pipeline.loop is not None, "a function's body has braces"
        self._instrument_bare_body(pipeline.loop, style or "unspecified")

    def _instrument_bare_body(self, loop: Loop, style: str) -> None:
        """A loop without braces gets some, on the lines of its statement."""
        number = self.site_count
        self.site_count += 1
        site = (
            f"static const stc_sim::LoopSite stc_site_{number}{{{quoted(loop.function)}, {quoted(loop.label)}, "
            f"{loop.line}, 0, stc_sim::Style::{style}}};"
        )
        run = f"stc_sim::LoopRun stc_run_{number}(stc_site_{number});"
        self.insert_before(self._outermost_of_nest(loop).keyword, f"if ({site} true) if ({run} true) ")
        self.insert_before(loop.body, f"{{ stc_sim::Iteration stc_iteration_{number}(stc_run_{number}); ")
        self.insert_after(loop.end, " }")

    def _move_condition(self, body: int) -> None:
        """A loop condition that asks a stream is part of the iteration: `while (c) {` becomes `while (true) { if (!(c)) break;`."""
        loop = next((loop for loop in self.loops if loop.body == body), None)
        if loop is None:
            return
        is_do = self.tokens[loop.keyword].text == "do"
        opening = loop.end + 2 if is_do else loop.keyword + 1
        condition = self.tokens[opening + 1 : self.partner[opening]]
        if not any(token.text in (".", "->") and condition[i + 2 : i + 3] and condition[i + 2].text == "("
                   for i, token in enumerate(condition)):
            return
        if self.tokens[loop.keyword].text != "while":
            what = "the condition of a pipelined loop calls a method, maybe of a stream"
            raise InstrumentError(what, condition[0].line, "such a condition in a while loop, or at the top of the body")
        text = self.source[condition[0].begin : condition[-1].end]
        self.edits.append(Edit(condition[0].begin, condition[-1].end, "true" + "\n" * text.count("\n")))
        self.insert_after(body, f" if (!({joined(condition)})) break;")

    def flattened_nest(self, block: Block) -> int:
        loop = next((loop for loop in self.loops if loop.body == block.open), None)
        return super().flattened_nest(block) if loop is None else self._outermost_of_nest(loop).keyword

    def _outermost_of_nest(self, loop: Loop) -> Loop:
        """The outermost `for` that holds nothing but this nest."""
        while True:
            outer = next((o for o in self.loops if self._is_only_statement(o, loop)), None)
            pragmas = self._pragmas_of(loop) if outer is None else [*self._pragmas_of(loop), *self._pragmas_of(outer)]
            kept_apart = any(p.name == "loop_flatten" and "off" in p.options for p in pragmas)
            if outer is None or kept_apart or self.tokens[outer.keyword].text != "for":
                return loop
            loop = outer

    def _is_only_statement(self, outer: Loop, inner: Loop) -> bool:
        if not outer.contains(inner.keyword) or outer.keyword == inner.keyword:
            return False
        first = self.skip_directives(outer.body + 1 if outer.braced else outer.body)
        if self.is_label_at(first):
            first += 2
        last = self.skip_directives(self.statement_end(inner.keyword) + 1) if outer.braced else inner.end
        return first == inner.keyword and last == outer.end

    # tasks

    def refuse_inlined_tasks(self, inlined: Mapping[str, str]) -> None:
        """A function that is inlined into a dataflow body is no process. `inlined`: such functions, and where they are."""
        for call in self.task_calls:
            if call.task in inlined:
                what = f"'{call.task}' is called in a dataflow body and inlined ({inlined[call.task]})"
                raise InstrumentError(what, call.line, _INLINE_ACCEPTED)

