"""Facts about `scf.for` loops: bounds, nesting, and the directives they carry.

Directives are attributes: `stc.label` (string), `stc.pipeline` (initiation interval), `stc.style` (string, `stp` where it is
missing), `stc.drains`, `stc.unroll` (factor, 0: completely).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.traits import Pure

from stc.analysis.generic_loops import name_of
from stc.diagnostics import CompileError
from stc.dialects.facts import DEPTH, DRAINS, LABEL, PIPELINE, STYLE, UNROLL
from stc.dialects.itensor import IndexSymbolOp, SizeOp
from stc.dialects.itensor.accesses import trip_size
from stc.iteration.pipeline_style import Style
from stc.iteration.size import maximum
from stc.names import cpp_identifier


@dataclass(frozen=True)
class Bounds:
    """A loop from `lower` (included) to `upper` (excluded) by `step`."""

    lower: int
    upper: int
    step: int

    @property
    def trip(self) -> int:
        """Number of iterations."""
        return max(0, -(-(self.upper - self.lower) // self.step))

    @property
    def last(self) -> int:
        """The variable's value in the last of them."""
        return self.lower + (self.trip - 1) * self.step


def integer_constant(value: SSAValue) -> int | None:
    """The integer behind an `arith.constant`, None where `value` is anything else."""
    constant = value.owner
    if type(constant) is arith.ConstantOp and isinstance(constant.value, IntegerAttr):  # the class is slow to ask about others
        return constant.value.value.data
    return None


def constant_of(value: SSAValue) -> int:
    """The integer behind an index constant; CompileError where it is none."""
    constant = integer_constant(value)
    if constant is None:
        raise CompileError("loop bound is not a constant", where=name_of(value.owner), accepted="arith.constant bounds")
    return constant


def constant_bounds(loop: scf.ForOp) -> Bounds | None:
    """The bounds of `loop` where all three are constants, else None."""
    lower, upper, step = (integer_constant(value) for value in (loop.lb, loop.ub, loop.step))
    if lower is None or upper is None or step is None:
        return None
    return Bounds(lower, upper, step)


def trip_count(loop: scf.ForOp) -> int:
    """Iterations of a loop with constant bounds; CompileError where they are not."""
    return Bounds(constant_of(loop.lb), constant_of(loop.ub), constant_of(loop.step)).trip


def largest_bounds(loop: scf.ForOp) -> Bounds | None:
    """The bounds of `loop` where its symbols are at their maxima, None where they are no sizes."""
    trips = trip_size(loop)
    if trips is None:
        return None
    lower, step = constant_of(loop.lb), constant_of(loop.step)
    return constant_bounds(loop) or Bounds(lower, lower + maximum(trips) * step, step)


def is_tabulated(loop: scf.ForOp) -> bool:
    """Whether its trip count depends on a loop around it."""
    bound = loop.ub.owner
    return isinstance(bound, SizeOp) and any(isinstance(symbol.owner, IndexSymbolOp) for symbol in bound.symbols)


def most_trips(loop: scf.ForOp) -> int:
    """The most iterations of a loop whose trip count is a size; CompileError where it is none."""
    bounds = largest_bounds(loop)
    return trip_count(loop) if bounds is None else bounds.trip


def enclosing_loops(operation: Operation, root: Operation | None = None) -> list[scf.ForOp]:
    """The loops around `operation` inside `root` (of all, if not given), outermost first; `root` itself is left out."""
    loops: list[scf.ForOp] = []
    current = operation.parent_op()
    while current is not None and current is not root:
        if isinstance(current, scf.ForOp):
            loops.append(current)
        current = current.parent_op()
    return loops[::-1]


def loops_between(op: Operation, root: Operation) -> list[scf.ForOp]:
    """The loops around `op`, outermost first, from `root` (included where it is a loop) inwards."""
    outermost = [root] if isinstance(root, scf.ForOp) else []
    return [*outermost, *enclosing_loops(op, root)]


# Directives -----------------------------------------------------------------------------------------------------------


def is_before(op: Operation, other: Operation) -> bool:
    """Whether `op` comes before what of its block is `other`, or has it inside."""
    around = op.parent.find_ancestor_op_in_block(other) if op.parent is not None else None
    return around is not None and op.is_before_in_block(around)


def pipeline_ii(loop: scf.ForOp) -> int | None:
    """The initiation interval of a pipelined loop, None for any other."""
    return PIPELINE.of(loop)


def pipeline_style(loop: scf.ForOp) -> Style:
    """How a pipelined loop waits: the only style without constraints where nothing else is said."""
    return STYLE.of(loop) or "stp"


def declared_depth(loop: scf.ForOp) -> int | None:
    """The stages that an own kernel declares of a loop of its C++, or that were measured; None where they are estimated."""
    return DEPTH.of(loop)


def unroll_factor(loop: scf.ForOp) -> int | None:
    """The unroll factor (0: completely), None where the loop is not unrolled."""
    return UNROLL.of(loop)


def is_unrolled(loop: scf.ForOp) -> bool:
    """Whether every iteration of `loop` becomes hardware of its own."""
    return unroll_factor(loop) == 0


def loop_labels(root: Operation) -> dict[scf.ForOp, str]:
    """A label, unique in `root`, for each of its loops in source order: `stc.label`, else one after the induction variable."""
    labels: dict[scf.ForOp, str] = {}
    taken: set[str] = set()
    for loop in (op for op in root.walk() if isinstance(op, scf.ForOp)):
        given = LABEL.of(loop)
        stem = cpp_identifier(given) if given is not None else f"loop_{loop.body.block.args[0].name_hint or 'i'}"
        label, index = stem, 2
        while label in taken:
            label, index = f"{stem}_{index}", index + 1
        taken.add(label)
        labels[loop] = label
    return labels


def is_flattened(loop: scf.ForOp) -> bool:
    """Whether the loop and what is in it are a perfect nest down to a pipelined loop, so that HLS merges them into one.

    The trips of all but the outermost of them are constant: HLS merges no loop that it makes a run-time number of times with
    those around it, nor one that is told to drain.
    """
    if pipeline_ii(loop) is not None or is_kept_apart(loop):
        return False
    inner = _only_loop(loop)
    if inner is None or constant_bounds(inner) is None or DRAINS.on(inner):
        return False
    return pipeline_ii(inner) is not None or is_flattened(inner)


def is_kept_apart(loop: scf.ForOp) -> bool:
    """Whether a loop would be merged with the one around it, but drains: C++ says so in its body, by what may also be read as
    "not merged with the loop in it", so that it is taken for neither."""
    outer = loop.parent_op()
    return DRAINS.on(loop) and isinstance(outer, scf.ForOp) and _only_loop(outer) is loop


def _only_loop(loop: scf.ForOp) -> scf.ForOp | None:
    """The loop in `loop` that, with what has no effect, is all of it."""
    last = loop.body.block.last_op
    inner = [operation for operation in loop.body.block.ops if operation is not last and not operation.has_trait(Pure)]
    return inner[0] if len(inner) == 1 and isinstance(inner[0], scf.ForOp) and passes_on(loop, inner[0]) else None


def passes_on(loop: scf.ForOp, inner: scf.ForOp) -> bool:
    """Whether `inner`, a loop in `loop`, carries on what `loop` carries, and nothing else: both begin with it before `loop`."""
    last = loop.body.block.last_op
    begins_with, ends_with = tuple(loop.body.block.args[1:]), tuple(last.operands) if last is not None else ()
    return tuple(inner.iter_args) == begins_with and tuple(inner.results) == ends_with
