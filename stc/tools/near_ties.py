"""Whether values that are wrong are those of integers that rounding errors decide.

An activation whose number is within rounding errors of a tie may become either of two integers. Another order of f32 additions
then makes another integer in the design than in the reference, and with it values that differ by far more than rounding errors.
Here the reference runs again with single integers turned the other way, each at a tie as near as an output of a design has to be to
its reference (`stc.codegen.tolerances`), with the integers in front of it as they are: rounding errors are those of its f32 parts
alone. If it then has the design's values, in every entry and within the same tolerance, near-ties explain what is wrong; else it
stays wrong.

A number exactly at a tie is turned only by the design's own number: there a design that rounds ties otherwise would look the same.
So the design runs again with taps (`stc.tools.own_numbers`), and its own number has to be off the tie, as near to it as rounding
errors bring it, and to be rounded to the nearest integer, even ones of ties. Where its number is not known the entry stays wrong;
the other integers that are turned have to be right roundings, too, where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import chain, combinations, zip_longest
from math import floor, isclose, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from stc.codegen.tolerances import allowed_errors, granted
from stc.diagnostics import CompileError
from stc.frontend.draws import NOISY_RUNS
from stc.manifest.files import read_manifest
from stc.manifest.schema import Manifest
from stc.pipeline import PipelineOptions
from stc.simulation.csim import CsimResult, OutputCheck, undecided_outputs
from stc.simulation.design_file import is_foreign
from stc.tools.own_numbers import OwnNumbers, OwnRoundings, cut, own_numbers
from stc.tools.request import CompileRequest, load

if TYPE_CHECKING:
    from stc.frontend.exported import ExportedModel
    from stc.quantisation.rows import Roundings

Arrays: TypeAlias = Mapping[str, np.ndarray]
Run: TypeAlias = Callable[[Arrays, np.random.Generator | None], Arrays]
Turned: TypeAlias = dict[int, dict[int, int]]
"""By call of `integers_of` and entry, by how much its integer is another."""

LOOKING_FOR_NEAR_TIES = "looking for activations at a tie that explain what is wrong"
MOST_RUNS = 400
MOST_ROUNDS = 16


@dataclass(frozen=True)
class NearTie:
    """An activation, at `entry` of each of `calls` (which round the same numbers), whose integer may as well be another by `step`.

    `row`: of the main output that it is for, None where that is not known.
    """

    calls: tuple[int, ...]
    entry: int
    step: int
    row: int | None

    def added_to(self, turned: Turned) -> Turned:
        """`turned` and this one; without it where it was turned before, which is to turn it back."""
        found = {call: dict(entries) for call, entries in turned.items()}
        for entries in (found.setdefault(call, {}) for call in self.calls):
            if self.entry in entries:
                del entries[self.entry]
            else:
                entries[self.entry] = self.step
        return found


Ties: TypeAlias = tuple[NearTie, ...]


@dataclass(frozen=True)
class Found:
    """How many near-ties explain the design's values, of which `exact` lie exactly at a tie in the reference; None where they do
    not, and `why`."""

    count: int | None
    why: str = ""
    exact: int = 0


@dataclass
class Search:
    """For the near-ties with which the reference `run`, on `inputs`, has the values `got`, by name, within `tolerance`.

    Outputs have rows along all dimensions but the last. The first one is the main one: an activation of a linear layer is for one
    of its rows, so that one in each wrong row is tried in a run. `own`: the numbers that the design itself rounds.
    """

    run: Run
    inputs: Arrays
    got: Arrays
    tolerance: float
    seed: int = 0
    runs: int = 0
    own: Callable[[], OwnNumbers] = lambda: OwnNumbers([], "the design's own numbers are not looked at")
    _own: OwnNumbers | None = None
    _known: dict[bytes, OwnRoundings | None] = field(default_factory=dict[bytes, "OwnRoundings | None"])

    @property
    def own_numbers(self) -> OwnNumbers:
        """Asked for once, and only if needed."""
        self._own = self._own or self.own()
        return self._own

    def found(self) -> Found:
        """From the reference as it is, turning in each round those that bring it nearer."""
        turned: Turned = {}
        for count in range(MOST_ROUNDS):
            path = self.with_turned(turned)
            if not any(found.any() for found in path.wrong.values()):
                return self.judged(path)
            left = "none is exactly at a tie"
            if not (nearer := self._nearer(path)) and path.exact:
                ties, left = self._exact(path)
                nearer = self._nearer(replace(path, also=ties)) if ties else []
            if not nearer:
                return Found(None, f"no activations near a tie bring the reference nearer, after {count} rounds; {left}")
            for tie in nearer:
                turned = tie.added_to(turned)
            if self.runs > MOST_RUNS:
                return Found(None, f"not within {MOST_RUNS} runs of the reference")
        return Found(None, f"not within {MOST_ROUNDS} rounds")

    def with_turned(self, turned: Turned) -> ReferenceRun:
        """The reference with some integers turned, and, from runs with random rounding errors, what these move there."""
        outputs, still = self._watched(turned, None, None)
        moves = [np.zeros(numbers.shape) for numbers in _arrays(still.numbers)]
        moved = {name: np.zeros(array.shape) for name, array in outputs.items()}
        random = np.random.default_rng(self.seed)
        for _ in range(NOISY_RUNS):
            noisy, roundings = self._watched({}, still, random)
            for most, numbers, before in zip(moves, _arrays(roundings.numbers), _arrays(still.numbers), strict=True):
                np.maximum(most, np.nan_to_num(np.abs(numbers - before)), out=most)
            for name, array in outputs.items():
                with np.errstate(invalid="ignore"):
                    moved[name] = np.maximum(moved[name], np.nan_to_num(np.abs(_wide(noisy[name]) - _wide(array))))
        numbers, integers = _arrays(still.numbers), _arrays(still.integers)
        return ReferenceRun(self.got, self.tolerance, turned, outputs, moved, numbers, integers, moves)

    def judged(self, path: ReferenceRun) -> Found:
        """Of integers that give the design's values, whether each is the right rounding of its own number, as far as known."""
        exact = 0
        for calls, entry in path.distinct():
            number, own = Number(path, calls, entry), self._own_of(path.integers[calls[0]])
            exact += number.is_exact
            if number.is_exact and (own is None or own.numbers is None):
                return Found(None, f"an activation exactly at a tie is turned, and {self._unknown(own)}")
            if own is not None and (wrong := number.wrong(own)):
                return Found(None, wrong)
        return Found(len(list(path.distinct())), exact=exact)

    def _exact(self, path: ReferenceRun) -> tuple[tuple[NearTie, ...], str]:
        """The activations exactly at a tie of which the design, by its own number, makes the other integer rightly; and what is of
        the others, in words."""
        ties: list[NearTie] = []
        unknown: dict[str, int] = {}
        for number in path.at_ties:
            own = self._own_of(number.integers)
            if own is None or own.numbers is None:
                why = self._unknown(own)
                unknown[why] = unknown.get(why, 0) + 1
            elif own.integers.flat[number.entry] != number.integers.flat[number.entry]:
                if wrong := number.wrong(own):
                    return (), wrong
                ties.append(number.turned)
        left = "; ".join(f"of {count} of them {why}" for why, count in unknown.items())
        return tuple(ties), f"{path.exact} are exactly at a tie" + (f": {left}" if left else ", where the design rounds rightly")

    def _own_of(self, integers: np.ndarray) -> OwnRoundings | None:
        """Those of a call of the reference; asked for once each."""
        if (key := integers.tobytes()) not in self._known:
            self._known[key] = self.own_numbers.of(integers)
        return self._known[key]

    def _unknown(self, own: OwnRoundings | None) -> str:
        """Why the numbers of a call are not known."""
        why = own.why if own is not None else self.own_numbers.why or "no task sends its integers as such"
        return f"the design's own number is not known ({why})"

    def _watched(self, turned: Turned, given: Roundings | None, noise: np.random.Generator | None) -> tuple[Arrays, Roundings]:
        from stc.quantisation.rows import Roundings, roundings_watched

        self.runs += 1
        watched = Roundings(turned, None if given is None else given.integers)
        with roundings_watched(watched):
            return self.run(self.inputs, noise), watched

    def _nearer(self, path: ReferenceRun) -> list[NearTie]:
        """Of the near-ties for each wrong row the one, or else the two, that bring it nearest; none where that is no nearer."""
        wrong, at_first = frozenset(np.flatnonzero(path.wrong_rows).tolist()), path.distances(path.outputs)
        for size in (1, 2):
            nearest: dict[int, tuple[float, Ties]] = {}
            for ties in _in_turns(path.ties, size, wrong, together=not path.others_are_wrong):
                if self.runs > MOST_RUNS:
                    break
                turned = path.turned
                for tie in chain(*ties):
                    turned = tie.added_to(turned)
                distances = path.distances(self._watched(turned, None, None)[0])
                for some in ties:
                    rows = {tie.row for tie in some}
                    for row in wrong if None in rows else wrong & rows:
                        if distances[row] < nearest.get(row, (at_first[row],))[0]:
                            nearest[row] = (float(distances[row]), some)
            if nearest:
                return list(dict.fromkeys(tie for _, some in nearest.values() for tie in some))
        return []


def _in_turns(ties: Sequence[NearTie], size: int, rows: frozenset[int], *, together: bool) -> Iterator[list[Ties]]:
    """All sets of `size` near-ties for one of `rows`; what is tried in one run: where several may be `together`, one of each row,
    those of no known row by themselves."""
    by_row = [list[Ties](combinations([tie for tie in ties if tie.row == row], size)) for row in rows]
    if together:
        yield from ([some for some in of_rows if some] for of_rows in zip_longest(*by_row))
    else:
        yield from ([some] for some in chain(*by_row))
    yield from ([some] for some in combinations([tie for tie in ties if tie.row is None], size))


@dataclass(frozen=True)
class ReferenceRun:
    """A run of the reference with some integers `turned`, beside what the design `got`: its outputs, what rounding errors move them
    by, and by call the numbers that become integers, what they become, and what rounding errors move the numbers by."""

    got: Arrays
    tolerance: float
    turned: Turned
    outputs: Arrays
    moved: Arrays
    numbers: Sequence[np.ndarray]
    integers: Sequence[np.ndarray]
    moves: Sequence[np.ndarray]
    also: Ties = ()
    """To be turned as well as those near a tie."""

    @property
    def leading(self) -> tuple[int, ...]:
        return next(iter(self.outputs.values())).shape[:-1]

    @cached_property
    def wrong(self) -> Mapping[str, np.ndarray]:
        """Whether each entry of each output is."""
        return {name: self._wrong(name, array) for name, array in self.outputs.items()}

    @property
    def wrong_rows(self) -> np.ndarray:
        """Whether each row of the main output is; all are where another output is."""
        main = next(iter(self.wrong.values())).reshape(prod(self.leading), -1)
        return np.array([self.others_are_wrong or row.any() for row in main])

    @property
    def others_are_wrong(self) -> bool:
        """Whether an output other than the main one is."""
        return any(found.any() for found in list(self.wrong.values())[1:])

    def _wrong(self, name: str, array: np.ndarray) -> np.ndarray:
        got, reference = _wide(self.got[name]), _wide(array)
        same = (got == reference) | (np.isnan(got) & np.isnan(reference))
        with np.errstate(invalid="ignore"):
            return ~(same | (np.abs(got - reference) <= self.allowed[name]))

    @cached_property
    def allowed(self) -> Mapping[str, np.ndarray]:
        """Absolute, of each entry of each output; integers agree."""
        return {
            name: np.abs(allowed_errors(array, self.moved[name], self.tolerance)[0])
            if np.issubdtype(array.dtype, np.floating)
            else np.zeros(array.shape)
            for name, array in self.outputs.items()
        }

    def distances(self, outputs: Arrays) -> np.ndarray:
        """How far `outputs` are from what the design got, by row of the main output: the root of the sum of squares, each entry in
        parts of what is allowed of it, or of an integer; of other outputs in each row. What is no number differs by nothing."""
        found = np.zeros(prod(self.leading))
        for index, (name, array) in enumerate(outputs.items()):
            with np.errstate(invalid="ignore"):
                parts = (_wide(self.got[name]) - _wide(array)) / np.where(self.allowed[name] > 0, self.allowed[name], 1)
            squares = np.nan_to_num(parts, posinf=0, neginf=0) ** 2
            found += squares.reshape(len(found), -1).sum(1) if index == 0 else squares.sum()
        return np.sqrt(found)

    @cached_property
    def ties(self) -> list[NearTie]:
        """All there are, in the order of calls."""
        return [*(tie for calls in self._same for tie in self._of(calls)), *self.also]

    @property
    def at_ties(self) -> Iterator[Number]:
        """The activations that are exactly at a tie."""
        for calls in self._same:
            for entry in np.flatnonzero(np.abs(_wide(self.numbers[calls[0]]) % 1) == 0.5).tolist():
                yield Number(self, calls, entry)

    @cached_property
    def _same(self) -> list[tuple[int, ...]]:
        """Calls that round the same numbers: the layers that an activation goes to share its integers."""
        found: list[list[int]] = []
        for call, numbers in enumerate(self.numbers):
            before = next((calls for calls in found if np.array_equal(self.numbers[calls[0]], numbers, equal_nan=True)), None)
            if before is None:
                found.append([call])
            else:
                before.append(call)
        return [tuple(calls) for calls in found]

    @property
    def exact(self) -> int:
        """How many activations are exactly at a tie."""
        return sum(1 for _ in self.at_ties)

    def _of(self, calls: tuple[int, ...]) -> Iterator[NearTie]:
        numbers, integers = self.numbers[calls[0]].astype(np.float64), self.integers[calls[0]]
        below = np.floor(numbers)
        with np.errstate(invalid="ignore"):
            near = np.abs(numbers - below - 0.5) <= granted(self.moves[calls[0]])
            near &= (integers == below) | (integers == below + 1)
            near &= numbers != below + 0.5
        yield from (Number(self, calls, entry).turned for entry in np.flatnonzero(near).tolist())

    def distinct(self) -> Iterator[tuple[tuple[int, ...], int]]:
        """What is turned, once for calls that share their integers: calls and entry."""
        return ((calls, entry) for calls in self._same for entry in self.turned.get(calls[0], {}))


@dataclass(frozen=True)
class Number:
    """The activation at `entry` of each of `calls` of a path."""

    path: ReferenceRun
    calls: tuple[int, ...]
    entry: int

    @property
    def integers(self) -> np.ndarray:
        return self.path.integers[self.calls[0]]

    @property
    def value(self) -> float:
        return float(self.path.numbers[self.calls[0]].flat[self.entry])

    @property
    def tie(self) -> float:
        """The nearest one."""
        return floor(self.value) + 0.5

    @property
    def is_exact(self) -> bool:
        return self.value == self.tie

    @property
    def row(self) -> int | None:
        shape = self.integers.shape
        return self.entry // prod(shape[-2:]) if shape[:-2] == self.path.leading else 0 if prod(self.path.leading) == 1 else None

    @property
    def turned(self) -> NearTie:
        """Its integer as the one on the other side of the tie."""
        step = 1 if self.integers.flat[self.entry] < self.tie else -1
        return NearTie(self.calls, self.entry, step, self.row)

    @property
    def granted(self) -> float:
        """How far rounding errors move it."""
        return float(granted(self.path.moves[self.calls[0]]).flat[self.entry])

    def wrong(self, own: OwnRoundings) -> str:
        """In words why the design's integer is not the right rounding of a number that rounding errors make of this one; empty
        where it is, and where its number is not known."""
        if own.numbers is None:
            return ""
        number, integer = float(own.numbers.flat[self.entry]), int(own.integers.flat[self.entry])
        right = int(cut(np.rint(own.numbers.flat[self.entry])))
        told = f"{own.module}, {self._place}: the design rounds its own number {number:.9g} to {integer}"
        if integer != right:
            return f"{told}, and the nearest integer, even ones of ties, is {right} (the reference's number: {self.value:.9g})"
        if abs(number - self.tie) > self.granted:
            return f"{told}, and rounding errors do not make that number of the reference's {self.value:.9g}"
        return ""

    @property
    def _place(self) -> str:
        size = prod(self.integers.shape[-2:])
        return f"token {self.row}, entry {self.entry % size}" if self.row is not None else f"entry {self.entry}"


def _arrays(tensors: Sequence[object]) -> list[np.ndarray]:
    return [np.asarray(tensor) for tensor in tensors]


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)


# Of a project -----------------------------------------------------------------------------------------------------------


def with_near_ties(folder: Path, result: CsimResult, model: ExportedModel | None = None) -> CsimResult:
    """`result`, where what is wrong on some draws is explained by near-ties passed; else as it is, and `explanation` says why.

    Only of a project that ended, with layers that `--quantize` made integers. `model`: that it was compiled from; None: it is read
    again from where the manifest says it is from.
    """
    if result.outcome != "finished" or not any(check.is_wrong for check in result.outputs) or is_foreign(folder):
        return result
    manifest = read_manifest(folder)
    if not manifest.options.get("quantize"):
        return result
    wrong = {draw.name: draw.outputs for draw in result.draws if draw.failed} or {manifest.draws[0].name: result.outputs}
    found = {name: _found(folder, manifest, model, name, outputs) for name, outputs in wrong.items()}
    if why := next((f"on {name}: {each.why}" for name, each in found.items() if each.count is None), ""):
        return replace(result, explanation=f"near-ties of activations do not explain what is wrong {why}")
    draws = [
        replace(draw, passed=True, outputs=_explained(draw.outputs, found[draw.name])) if draw.name in found else draw
        for draw in result.draws
    ]
    undecided = undecided_outputs([draw.outputs for draw in draws])
    outputs = _explained(result.outputs, found[next(iter(wrong))])
    return replace(result, passed=not undecided, undecided=undecided, draws=draws, outputs=outputs)


def _explained(outputs: Sequence[OutputCheck], found: Found) -> list[OutputCheck]:
    near = {"near_ties": found.count or 0, "by_own_number": found.exact}
    return [replace(check, **near, passed=True) if check.wrong else check for check in outputs]


def _found(
    folder: Path, manifest: Manifest, model: ExportedModel | None, draw: str, checks: Sequence[OutputCheck]
) -> Found:
    """Of one draw of inputs, with what was seen of the outputs; nothing where the model is not there any more, or does not run."""
    if manifest.options.get("layers", 1) > 1:
        return Found(None, "nobody looks for them in several layers")
    try:
        return _searched(folder, manifest, model or load(_request(manifest.options, draw)), draw, checks)
    except (CompileError, ImportError) as error:
        return Found(None, str(error))


def _searched(folder: Path, manifest: Manifest, model: ExportedModel, draw: str, checks: Sequence[OutputCheck]) -> Found:
    from stc.runtime.accelerator import Accelerator

    reference = next(each for each in model.references if each.name == draw)
    if model.again is None or reference.unrounded:
        return Found(None, "the reference cannot run again" if model.again is None else "outputs of bf16 are not looked at")
    inputs_of, golden = reference.inputs, reference.golden
    inputs, outputs = (_named(manifest, draw, role, arrays) for role, arrays in (("input", inputs_of), ("output", golden)))
    if len(inputs) != len(inputs_of) or len(outputs) != len(golden):
        return Found(None, "the model has other inputs, or other outputs, than when the project was compiled")
    got = Accelerator(folder)({own: inputs_of[name] for own, name in inputs.items()})
    errors = {check.name: _largest_error(got[check.name], golden[outputs[check.name]]) for check in checks}
    if not all(isclose(check.max_abs_error, errors[check.name], rel_tol=1e-6) for check in checks):
        return Found(None, "a launch of the design gives other values than the check saw")
    of_design = {name: got[own] for own, name in outputs.items()}
    return Search(model.again, inputs_of, of_design, manifest.tolerance, own=lambda: own_numbers(folder, manifest, draw)).found()


def _named(manifest: Manifest, draw: str, role: str, arrays: Arrays) -> dict[str, str]:
    """By what the project calls a tensor what the model calls it: one of the same bytes."""
    stored = next(each.tensors for each in manifest.draws if each.name == draw)
    left = {name: sha256(array.tobytes()).hexdigest() for name, array in arrays.items()}
    found: dict[str, str] = {}
    for tensor in (tensor for tensor in manifest.tensors if tensor.role == role):
        if (name := next((name for name, digest in left.items() if digest == stored[tensor.name].sha256), None)) is not None:
            found[tensor.name] = name
            del left[name]
    return found


def _largest_error(got: np.ndarray, golden: np.ndarray) -> float:
    """Of what is finite."""
    finite = np.isfinite(_wide(got)) & np.isfinite(_wide(golden))
    return float(np.abs(np.where(finite, _wide(got), 0) - np.where(finite, _wide(golden), 0)).max(initial=0))


_OF_THE_MODEL = ("model", "stage", "seq", "seed", "weights", "layer", "max_seq", "run_time_sizes")


def _request(options: Mapping[str, Any], draw: str) -> CompileRequest:
    """What names the model of a project, to be run on one draw of inputs."""
    said = {name: options[name] for name in _OF_THE_MODEL if name in options}
    return CompileRequest(**said, options=PipelineOptions(quantize=options["quantize"]), check_inputs=(draw,))
