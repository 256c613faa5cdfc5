"""Which loops an access to an itensor stands in: the rule that turns a wrong loop order into a verifier error.

An access names the loops that enumerate its port. Inside the enclosing task, the named loops must be exactly the type's
loops, outermost first, and the access must happen once per iteration of the innermost: every other loop around it is
guarded to one iteration by an `scf.if` that compares its induction variable with a constant (or, of a loop of run-time trips, with
the `itensor.size` of its last iteration), nothing else is conditional.

Where several accesses of one port take its tokens one behind the other, each states its segment, and names any loops that have as
many iterations.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xdsl.dialects import arith, scf
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from stc.dialects.itensor.induction import constant_value, loop_of_induction_variable
from stc.dialects.itensor.size_ops import IndexSymbolOp, SizeOp
from stc.iteration.order import Loop
from stc.iteration.segments import Segment, complaint_about_cover
from stc.iteration.size import (
    Size,
    Symbol,
    are_equal,
    ceildiv,
    is_static,
    maximum,
    minimum,
    product_of,
    substituted,
    sum_of,
    symbols_in,
)

_EQUAL = 0  # arith.cmpi predicate


def trip_size(loop: scf.ForOp) -> Size | None:
    """Iterations of a loop with constant bounds, or of one from 0 to an `itensor.size`; None where bounds or step are others."""
    lower, upper, step = (constant_value(value) for value in (loop.lb, loop.ub, loop.step))
    if lower is None or step is None or step < 1:
        return None
    if upper is not None:
        return max(0, -(-(upper - lower) // step))
    bound = loop.ub.owner
    return ceildiv(bound.size, step) if isinstance(bound, SizeOp) and lower == 0 else None


def verify_access(access: Operation, indices: Sequence[SSAValue], loops: Sequence[Loop]) -> None:
    """Check that `access` stands once in each iteration of the loops `indices`, and that they are `loops`.

    Raises VerifyException with one sentence that names what is wrong and what is expected.
    """
    if len(indices) != len(loops):
        raise VerifyException(f"names {len(indices)} loops but its type has {len(loops)}, expected one index per loop")
    named = [_named_loop(position, index) for position, index in enumerate(indices)]
    for position, (loop, expected) in enumerate(zip(named, loops, strict=True)):
        _verify_loop(position, loop, expected)
    _verify_place(access, named)


def verify_segment(access: Operation, indices: Sequence[SSAValue], segment: Segment) -> None:
    """Check that `access` stands once in each iteration of the loops `indices`, and that these are the tokens of `segment`."""
    named = [_named_loop(position, index) for position, index in enumerate(indices)]
    guarded = _verify_place(access, named)
    at = {symbol: value for loop, value in guarded.items() if isinstance(value, int) and (symbol := symbol_of(loop)) is not None}
    tokens: Size = 1
    for loop, expected in zip(named[::-1], named_loops(indices)[::-1], strict=True):
        symbol, trip = symbol_of(loop), substituted(expected.trip, at)
        if symbol in symbols_in([tokens]):
            tokens = sum_of(*(substituted(tokens, {symbol: value}) for value in range(symbol.maximum + 1)))
        else:
            tokens = product_of(trip, tokens)
    if not are_equal(tokens, segment.tokens):
        raise VerifyException(f"takes {tokens} tokens in the loops it names, expected {segment.tokens}, those of its segment")


def symbol_of(loop: scf.ForOp) -> Symbol | None:
    """The symbol that the induction variable of `loop` is to sizes inside, None where it is none."""
    uses = (use.operation for use in loop.body.block.args[0].uses)
    return next((use.symbol for use in uses if isinstance(use, IndexSymbolOp)), None)


def verify_segments_cover(accesses: Sequence[tuple[Operation, Segment | None]], tokens: Size) -> None:
    """Check that the accesses of one port, in program order, take each of its `tokens` tokens once.

    VerifyException with the end of a sentence about the port that is read or written.
    """
    segments = [segment for _, segment in accesses if segment is not None]
    if len(accesses) == 1 and not segments:
        return
    if len(segments) < len(accesses):
        raise VerifyException(f"by {len(accesses)} operations, expected one, or a segment of it by each")
    for (first, _), (second, _) in pairwise(accesses):
        if (loop := _loop_around(first, second)) is not None:
            both = f"in two segments in one loop ({_loop_name(loop)}), which takes their tokens in turn"
            raise VerifyException(f"{both}, expected nests one behind the other")
    if (complaint := complaint_about_cover(segments, tokens)) is not None:
        raise VerifyException(f"in segments, but {complaint}")


def _loop_around(first: Operation, second: Operation) -> scf.ForOp | None:
    """A loop in which `second` happens before `first` has for the last time, None where there is none."""
    for loop in [loop for loop in _surroundings(first)[0] if loop.is_ancestor(second) and trip_size(loop) != 1]:
        before, after = (_value_in(loop, access) for access in (first, second))
        if before is None or after is None or before > after:
            return loop
        if before < after:
            return None
    return None


def _value_in(loop: scf.ForOp, access: Operation) -> int | None:
    """The constant value of `loop` at which alone `access` happens, None where it does at several."""
    enclosing, guards = _surroundings(access)
    values = [value for guard in guards for other, value in _guarded_loops(guard.cond, enclosing) if other is loop]
    return next((value for value in values if isinstance(value, int)), None)


def named_loops(indices: Sequence[SSAValue]) -> list[Loop]:
    """The loops whose induction variables are `indices`; VerifyException where one is none from 0 by a constant step."""
    loops: list[Loop] = []
    for position, index in enumerate(indices):
        loop = _named_loop(position, index)
        step, trip = constant_value(loop.step), trip_size(loop)
        if constant_value(loop.lb) != 0 or step is None or trip is None:
            raise VerifyException(f"loop of index {position} does not go from 0 to a size by a constant, expected one that does")
        loops.append(Loop(trip, step))
    return loops


def _verify_place(access: Operation, named: list[scf.ForOp]) -> dict[scf.ForOp, Size]:
    """Check what is around `access`; the loops that it is guarded in, with the value at which it happens."""
    enclosing, guards = _surroundings(access)
    _verify_nesting(named, enclosing)
    return _verify_guards(named, enclosing, guards)


def _named_loop(position: int, index: SSAValue) -> scf.ForOp:
    loop = loop_of_induction_variable(index)
    if loop is None:
        raise VerifyException(f"index {position} is not the induction variable of an scf.for, expected an enclosing loop")
    return loop


def _verify_loop(position: int, loop: scf.ForOp, expected: Loop) -> None:
    lower, step, trip = constant_value(loop.lb), constant_value(loop.step), trip_size(loop)
    if lower != 0:
        raise VerifyException(f"loop of index {position} has no constant lower bound 0, expected to start at 0")
    if step != expected.step:
        found = "no constant step" if step is None else f"step {step}"
        raise VerifyException(f"loop of index {position} has {found}, expected step {expected.step} of d{position}")
    if trip is None:
        bound = "constant upper bound" if is_static(expected.trip) else "upper bound that is an itensor.size"
        raise VerifyException(
            f"loop of index {position} has no {bound}, expected {expected.trip} iterations of d{position}"
        )
    if trip != expected.trip:
        raise VerifyException(
            f"loop of index {position} has {trip} iterations, expected {expected.trip} of d{position}"
        )


def _surroundings(access: Operation) -> tuple[list[scf.ForOp], list[scf.IfOp]]:
    """The loops around `access` up to the isolated region, outermost first, and the conditions it depends on."""
    loops: list[scf.ForOp] = []
    guards: list[scf.IfOp] = []
    inner, outer = access, access.parent_op()
    while outer is not None and not outer.has_trait(IsolatedFromAbove) and outer.name != "func.func":
        match outer:
            case scf.ForOp():
                loops.append(outer)
            case scf.IfOp():
                if inner.parent_region() is not outer.true_region:
                    raise VerifyException("stands in the else branch of an scf.if, expected the then branch of a guard")
                guards.append(outer)
            case _:
                raise VerifyException(f"stands inside '{outer.name}', expected only scf.for loops and guarding scf.if")
        inner, outer = outer, outer.parent_op()
    return loops[::-1], guards


def _verify_nesting(named: list[scf.ForOp], enclosing: list[scf.ForOp]) -> None:
    depths: list[int] = []
    for position, loop in enumerate(named):
        if loop not in enclosing:
            raise VerifyException(f"index {position} names a loop that does not enclose the access")
        depths.append(enclosing.index(loop))
    for position in range(1, len(depths)):
        if depths[position] <= depths[position - 1]:
            raise VerifyException(
                f"loop of index {position} is not nested inside the loop of index {position - 1}, "
                "expected the loops outermost first as in the type"
            )


def _verify_guards(named: list[scf.ForOp], enclosing: list[scf.ForOp], guards: list[scf.IfOp]) -> dict[scf.ForOp, Size]:
    guarded: dict[scf.ForOp, Size] = {}
    for guard in guards:
        for loop, value in _guarded_loops(guard.cond, enclosing):
            if (other := guarded.setdefault(loop, value)) != value:
                both = " and ".join(f"{_loop_name(loop)} == {each}" for each in sorted((other, value), key=maximum))
                raise VerifyException(f"is guarded to {both}, which never both hold, expected one value of the loop")
    for loop in guarded:
        if loop in named:
            raise VerifyException(
                f"is guarded to one iteration of the loop of index {named.index(loop)}, which enumerates its type, "
                "expected an access in every iteration"
            )
    for depth, loop in enumerate(enclosing):
        if loop not in named and loop not in guarded and trip_size(loop) != 1:
            raise VerifyException(
                f"stands in enclosing loop {depth} ({_loop_name(loop)}), which it does not name, "
                "expected an scf.if on one iteration of it around the access"
            )
    return guarded


def _loop_name(loop: scf.ForOp) -> str:
    induction = loop.body.block.args[0]
    return "unnamed" if induction.name_hint is None else f"%{induction.name_hint}"


def _guarded_loops(condition: SSAValue, enclosing: list[scf.ForOp]) -> list[tuple[scf.ForOp, Size]]:
    """The loops, with their values, that `condition` restricts: a conjunction of `arith.cmpi eq, %induction, constant or size`."""
    defining = condition.op if isinstance(condition, OpResult) else None
    if isinstance(defining, arith.AndIOp):
        return _guarded_loops(defining.lhs, enclosing) + _guarded_loops(defining.rhs, enclosing)
    if isinstance(defining, arith.CmpiOp) and defining.predicate.value.data == _EQUAL:
        for induction, constant in ((defining.lhs, defining.rhs), (defining.rhs, defining.lhs)):
            loop, value = loop_of_induction_variable(induction), _size_value(constant)
            if loop is not None and value is not None and loop in enclosing:
                _verify_value_is_taken(loop, value)
                return [(loop, value)]
    raise VerifyException(
        "depends on an scf.if whose condition is not a conjunction of 'arith.cmpi eq' comparisons of enclosing "
        "induction variables with constants, expected a guard to one iteration"
    )


def _size_value(value: SSAValue) -> Size | None:
    return value.owner.size if isinstance(value.owner, SizeOp) else constant_value(value)


def _verify_value_is_taken(loop: scf.ForOp, value: Size) -> None:
    lower, step, trip = constant_value(loop.lb), constant_value(loop.step), trip_size(loop)
    if lower is None or step is None or trip is None:
        return
    if not isinstance(value, int):
        if minimum(trip) < 1 or value != product_of(sum_of(trip, -1), step):
            raise VerifyException(
                f"is guarded to {_loop_name(loop)} == {value}, which a loop of {trip} iterations may not reach, "
                "expected its last value, of a loop that always has one"
            )
        return
    if minimum(trip) < maximum(trip) and not (value - lower) % step and minimum(trip) <= (value - lower) // step < maximum(trip):
        raise VerifyException(
            f"is guarded to {_loop_name(loop)} == {value}, which a loop of {trip} iterations does not always reach, "
            "expected a value that it takes for all sizes, or an access behind the loop"
        )
    if (value - lower) % step or not 0 <= (value - lower) // step < minimum(trip):
        raise VerifyException(
            f"is guarded to {_loop_name(loop)} == {value}, a value that this loop never takes, expected one of its values"
        )


def verify_single_use(write: Operation, destination: SSAValue) -> None:
    """Check that `destination` is consumed by `write` alone.

    The branch of an `scf.if` in which `write` does not stand passes the destination on unchanged; that use is exclusive
    with the write.
    """
    for use in destination.uses:
        if use.operation is write or _is_other_branch(use.operation, write):
            continue
        raise VerifyException(
            f"destination is also used by '{use.operation.name}', expected the write to be its only use"
        )


def _is_other_branch(user: Operation, write: Operation) -> bool:
    guard = user.parent_op()
    if not isinstance(user, scf.YieldOp) or not isinstance(guard, scf.IfOp):
        return False
    return user.parent_region() is guard.false_region and guard.true_region.is_ancestor(write)
