"""Loops and branches of a task as C++."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects import memref, scf, vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from stc.analysis.loops import constant_bounds, is_flattened, is_kept_apart, pipeline_ii, pipeline_style, unroll_factor
from stc.codegen.body import BodyPrinter, Handler
from stc.codegen.expressions import Expression, size_text
from stc.codegen.names import Scope
from stc.dialects.facts import COMMENT, DRAINS
from stc.dialects.itensor import AdvanceOp, IndexSymbolOp, SizeOp
from stc.dialects.itensor.accesses import trip_size
from stc.dialects.stream import ReadOp, WriteOp
from stc.iteration.size import Entry, Symbol, entries_in, maximum, minimum, symbols_in
from stc.scalars.forms import SUM

_INDUCTION_NAMES = ("i", "j", "k", "l", "m", "n", "p", "q", "r", "s", "t", "u")


def _print_for(printer: BodyPrinter, operation: Operation) -> None:
    assert isinstance(operation, scf.ForOp)
    bounds = [printer.text(value) for value in (operation.lb, operation.ub, operation.step)]
    carried = [_carried_variable(printer, operation, position) for position in range(len(operation.iter_args))]
    printer.flush()
    _print_comment(printer, operation)
    outer, printer.scope = printer.scope, Scope(printer.scope)
    induction = operation.body.block.args[0]
    name = printer.scope.declare(induction.name_hint or _INDUCTION_NAMES[min(printer.loop_depth, len(_INDUCTION_NAMES) - 1)])
    printer.bind(induction, Expression(name))
    head = f"{printer.labels[operation]}: for (int {name} = {bounds[0]}; {name} < {bounds[1]}; {name} += {bounds[2]})"
    with printer.lines.block(head):
        for pragma in _directives(operation):
            printer.lines.pragma(pragma)
        _print_dependences(printer, operation)
        printer.loop_depth += 1
        printer.statements(operation.body.block)
        _assign_yielded(printer, operation.body.block, carried)
        printer.loop_depth -= 1
    printer.scope = outer


def _directives(loop: scf.ForOp) -> list[str]:
    """The pragmas that belong directly below the loop's head."""
    directives: list[str] = []
    ii, factor = pipeline_ii(loop), unroll_factor(loop)
    if ii is not None:
        directives.append(f"pipeline II={ii} style={pipeline_style(loop)}")
    elif _repeats_a_drain(loop):
        directives.append("pipeline off")  # a loop of one iteration is none to the tool
    stays_apart = is_kept_apart(loop) or (ii is not None and (DRAINS.on(loop) or bool(loop.iter_args)))
    if stays_apart and isinstance(outer := loop.parent_op(), scf.ForOp) and not is_flattened(outer):
        directives.append("loop_flatten off")  # it begins anew, and drains, in each iteration around it: proofs rest on that
    if constant_bounds(loop) is None and (trips := trip_size(loop)) is not None:
        if isinstance(loop.parent_op(), scf.ForOp) and ii is not None and "loop_flatten off" not in directives:
            directives.append("loop_flatten off")
        directives.append(f"loop_tripcount min={minimum(trips)} max={maximum(trips)}")
    if factor is not None:
        directives.append("unroll" if factor == 0 else f"unroll factor={factor}")
    return directives


def _repeats_a_drain(loop: scf.ForOp) -> bool:
    """Whether all loops in a loop drain after one iteration."""
    inner = [op for op in loop.body.block.ops if isinstance(op, scf.ForOp)]
    bounds = [constant_bounds(each) if DRAINS.on(each) else None for each in inner]
    return bool(bounds) and all(each is not None and each.trip == 1 for each in bounds)


def _print_dependences(printer: BodyPrinter, loop: scf.ForOp) -> None:
    """What is proved of the arrays that iterations hand values over in (rule 13), each with its proof."""
    for found in printer.dependences.get(loop, ()):
        name = printer.text(found.buffer, 0)
        printer.lines.comment(f"{name}: {found.proof}")
        printer.lines.pragma(f"dependence variable={name} type=inter direction=RAW distance={found.distance} dependent=true")


def _print_comment(printer: BodyPrinter, operation: Operation) -> None:
    """`stc.comment`, or of a pipelined nest the streams and arrays it moves data between."""
    comment = COMMENT.of(operation)
    if comment is not None:
        printer.lines.comment(comment)
    elif isinstance(operation, scf.ForOp) and _is_outermost_of_nest(operation):
        sources, targets = _moved(printer, operation)
        if sources or targets:
            printer.lines.comment(f"{', '.join(sources) or 'constants'} -> {', '.join(targets) or 'values'}")


def _is_outermost_of_nest(loop: scf.ForOp) -> bool:
    """Whether the loop, alone or with those it is perfectly nested around, is one pipelined loop in hardware."""
    outer = loop.parent_op()
    is_nest = pipeline_ii(loop) is not None or is_flattened(loop)
    return is_nest and not (isinstance(outer, scf.ForOp) and is_flattened(outer))


def _moved(printer: BodyPrinter, loop: scf.ForOp) -> tuple[list[str], list[str]]:
    """Names of what a loop reads and of what it writes, in order of first use: without arrays of its own, and without what it
    goes on writing."""
    sources: dict[SSAValue, None] = {}
    targets: dict[SSAValue, None] = {}
    for operation in loop.body.walk():
        match operation:
            case ReadOp():
                sources[operation.stream] = None
            case memref.LoadOp():
                sources[operation.memref] = None
            case vector.LoadOp():
                sources[operation.base] = None
            case WriteOp():
                targets[operation.stream] = None
            case memref.StoreOp():
                targets[operation.memref] = None
            case vector.StoreOp():
                targets[operation.base] = None
            case _:
                pass
    named = [value for value in (*sources, *targets) if printer.is_bound(value) and not _is_inside(value, loop)]
    read, written = ([printer.text(value) for value in found if value in named] for found in (sources, targets))
    return [name for name in read if name not in written], written


def _is_inside(array: SSAValue, loop: scf.ForOp) -> bool:
    """Whether nothing but `loop` touches an array of the task."""
    return isinstance(array.owner, memref.AllocOp) and all(loop.is_ancestor(use.operation) for use in array.uses)


def _carried_variable(printer: BodyPrinter, loop: scf.ForOp, position: int) -> str:
    """The variable that carries one value through a loop, declared before it; also the name of the loop's result."""
    initial, argument = loop.iter_args[position], loop.body.block.args[position + 1]
    result = loop.results[position]
    if _continues_outer(loop, position):
        name = printer.text(initial)
    else:
        text = printer.vector(initial)
        name = printer.scope.declare(argument.name_hint or result.name_hint or "carried")
        printer.lines.add(f"{printer.typedefs.value_type(argument.type)} {name} = {text};")
    for value in (argument, result):
        printer.bind(value, Expression(name))
        if isinstance(value.type, VectorType):
            printer.mutable.add(value)
    return name


def _continues_outer(loop: scf.ForOp, position: int) -> bool:
    """Whether the loop only passes on what its enclosing loop carries: then both share a variable."""
    initial, result = loop.iter_args[position], loop.results[position]
    outer = loop.parent_op()
    if not isinstance(outer, scf.ForOp) or not isinstance(initial, BlockArgument) or initial.block is not outer.body.block:
        return False
    if initial.index == 0 or not (initial.has_one_use() and result.has_one_use()):
        return False
    terminator = outer.body.block.last_op
    return terminator is not None and terminator.operands[initial.index - 1] is result


def _assign_yielded(printer: BodyPrinter, block: Block, variables: Sequence[str]) -> None:
    """Assign what a block yields to `variables`, as if all at once."""
    terminator = block.last_op
    if terminator is None or not terminator.operands:
        printer.flush()
        return
    texts = [printer.vector(value) for value in terminator.operands]
    printer.flush()
    changed = [(name, text, value) for name, text, value in zip(variables, texts, terminator.operands, strict=True)
               if name != text]
    assigned = [name for name, _, _ in changed]
    needs_saving = [set(re.findall(r"\w+", text)) & set(assigned[:position]) for position, (_, text, _) in enumerate(changed)]
    changed = [_saved(printer, *entry) if early else entry for entry, early in zip(changed, needs_saving, strict=True)]
    for name, text, _ in changed:
        printer.lines.add(f"{name} = {text};")


def _saved(printer: BodyPrinter, name: str, text: str, value: SSAValue) -> tuple[str, str, SSAValue]:
    """Keep a yielded value in a variable: it is computed from one that is assigned before it."""
    saved = printer.scope.declare(f"next_{name}")
    printer.lines.add(f"const {printer.typedefs.value_type(value.type)} {saved} = {text};")
    return name, saved, value


def _print_if(printer: BodyPrinter, operation: Operation) -> None:
    assert isinstance(operation, scf.IfOp)
    condition = printer.text(operation.cond)
    printer.flush()
    names: list[str] = []
    for result in operation.results:
        name = printer.scope.declare(result.name_hint or "chosen")
        printer.lines.add(f"{printer.typedefs.value_type(result.type)} {name};")
        printer.bind(result, Expression(name))
        names.append(name)
    has_else = bool(operation.false_region.blocks) and len(list(operation.false_region.block.ops)) > (0 if names else 1)
    _print_comment(printer, operation)
    with printer.lines.block(f"if ({condition})", "} else {" if has_else else "}"):
        _branch(printer, operation.true_region.block, names)
    if has_else:
        with printer.lines.chained():
            _branch(printer, operation.false_region.block, names)
        printer.lines.add("}")


def _branch(printer: BodyPrinter, block: Block, names: Sequence[str]) -> None:
    outer, printer.scope = printer.scope, Scope(printer.scope)
    printer.statements(block)
    _assign_yielded(printer, block, names)
    printer.scope = outer


def _print_size(printer: BodyPrinter, operation: Operation) -> None:
    """A variable: loops compare with it in every iteration."""
    assert isinstance(operation, SizeOp)
    if not operation.result.uses:
        return
    names: dict[Symbol | Entry, str] = {
        symbol: printer.text(value) for symbol, value in zip(symbols_in([operation.size]), operation.symbols, strict=True)
    }
    for entry in entries_in(operation.size):
        table = printer.scope.declare("trips_table")
        listed = ", ".join(map(str, entry.entries))
        printer.lines.add(f"static const int {table}[{len(entry.entries)}] = {{{listed}}};")
        names[entry] = f"{table}[{names[entry.index]}]"
    printer.declare(operation.result, Expression(size_text(operation.size, names)), "trips")


def _print_index_symbol(printer: BodyPrinter, operation: Operation) -> None:
    assert isinstance(operation, IndexSymbolOp)
    printer.bind(operation.result, printer.value(operation.index))


def _print_advance(printer: BodyPrinter, operation: Operation) -> None:
    assert isinstance(operation, AdvanceOp)
    terms = " + ".join(printer.text(value) for value in (operation.source, operation.step))
    printer.declare(operation.result, Expression(terms, SUM), operation.symbol.name)


CONTROL: dict[type[Operation], Handler] = {
    scf.ForOp: _print_for,
    scf.IfOp: _print_if,
    SizeOp: _print_size,
    IndexSymbolOp: _print_index_symbol,
    AdvanceOp: _print_advance,
}
