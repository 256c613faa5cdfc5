"""The sets of inputs that a design is checked with, and how far rounding alone moves what the model makes of them.

One draw of inputs is not enough: an epsilon that was lost shows with zeros, a value of the example that was baked in shows with
other values, an overflow with large ones. What changes from draw to draw:

| draw | floats | integers and truth values |
| --- | --- | --- |
| example | as they are | as they are |
| draw | permuted within rows, each times a number of [0.5, 1); N(0, 1) where all are 0 | permuted within rows |
| zeros | 0 | as they are; 0 where no input is of floats |
| tiny | times 1e-5 | as they are |
| huge | times 1e3; as they are where a number among them has no thousandfold | as they are |
| nonfinite | a NaN, an infinity and a negative one at random places, as far as there is room | as they are |

The last one is made on request alone: the vendor's tools may optimise as if there were no such values.

Sizes known at run time are the largest in the example and in `nonfinite`, half of that in `draw`, 0 in `zeros`, 1 in `tiny`, one
less than the largest in `huge`. What is not there is NaN (0 of integers): the model gets only what is there.

Permuting (along the last dimension of more than one entry) keeps every entry where the example shows that it may be: an index
within its range, a mask with as many open places in each row. Infinities and NaNs are their own multiples, and 0 in `zeros`.
Parameters never change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import prod
from types import MappingProxyType

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation

from stc.diagnostics import CompileError
from stc.frontend.exported import Arrays, Reference
from stc.iteration.size import Size, Symbol, sum_of, symbols_in, value_at
from stc.scalars.bf16 import bits_of, number_of

EXAMPLE, REDRAWN, ZEROS, TINY, HUGE = DRAWS = ("example", "draw", "zeros", "tiny", "huge")
NONFINITE = "nonfinite"
KNOWN = (*DRAWS, NONFINITE)
SCALES = {ZEROS: 0.0, TINY: 1e-5, HUGE: 1e3}
FOR_LARGE = (EXAMPLE, REDRAWN)
MOST_OPERATIONS = 10**9
"""Iterations of all linalg operations up to which a design is small: its C simulation takes a second or so."""

NOISY_RUNS = 3
NOISY_ENTRIES = 12
"""Samples at least that the uncertainty of a row of an output comes from: a third of them may be moved by nothing."""

Run = Callable[[Arrays, np.random.Generator | None], Mapping[str, np.ndarray]]
"""Outputs for inputs; with a generator, every value on the way that may be rounded is moved at random by up to one unit in the last
place, inputs included. Rows of a cache of bf16 are not rounded to it yet."""


def read_draws(text: str) -> tuple[str, ...] | None:
    """The draws that `text` lists with commas, each once; None (by the size of the design) where it is empty."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in names:
        if name not in KNOWN:
            raise CompileError(f"--check-inputs names '{name}'", accepted=f"some of {','.join(KNOWN)}")
    return names or None


def linalg_iterations(module: ModuleOp) -> int:
    """How often the bodies of all linalg operations run: of a matrix product, its multiply-accumulates."""
    return sum(prod(op.get_static_loop_ranges()) for op in module.walk() if isinstance(op, LinalgStructuredOperation))


def inputs_of(name: str, example: Arrays, random: np.random.Generator) -> dict[str, np.ndarray]:
    """The inputs of a draw, with shapes and types of the example's."""
    if name == EXAMPLE:
        return dict(example)
    if name == REDRAWN:
        return {key: _redrawn(array, random) for key, array in example.items()}
    if name == NONFINITE:
        return {key: _with_nonfinite(array, random) for key, array in example.items()}
    if name == ZEROS and not any(_is_float(array) for array in example.values()):
        return {key: np.zeros_like(array) for key, array in example.items()}
    return {key: _scaled(array, SCALES[name]) for key, array in example.items()}


def retained_inputs(reference: Reference, example: Arrays) -> tuple[str, ...]:
    """The inputs that a draw has as the example has them."""
    return tuple(key for key, array in reference.inputs.items() if array.tobytes() == example[key].tobytes())


def _is_float(array: np.ndarray) -> bool:
    return np.issubdtype(array.dtype, np.floating)


def _scaled(array: np.ndarray, factor: float) -> np.ndarray:
    """Floats times `factor`, where what is finite stays finite. No negative zeros: zeros are what is asked for."""
    if not _is_float(array):
        return array
    if not factor:
        return np.zeros_like(array)
    with np.errstate(over="ignore"):
        scaled = np.asarray(array * array.dtype.type(factor))
    return scaled if np.array_equal(np.isfinite(scaled), np.isfinite(array)) else array


def _with_nonfinite(array: np.ndarray, random: np.random.Generator) -> np.ndarray:
    if not _is_float(array):
        return array
    found = array.copy()
    values = np.array([np.nan, np.inf, -np.inf], array.dtype)[: array.size]
    found.flat[random.choice(array.size, len(values), replace=False)] = values
    return found


def _redrawn(array: np.ndarray, random: np.random.Generator) -> np.ndarray:
    axes = [axis for axis, extent in enumerate(array.shape) if extent > 1]
    permuted = random.permuted(array, axis=axes[-1]) if axes else array
    if not _is_float(array):
        return permuted
    if not array.any():
        return np.asarray(random.standard_normal(array.shape)).astype(array.dtype)
    return np.asarray(permuted * random.uniform(0.5, 1, array.shape)).astype(array.dtype)


@dataclass(frozen=True)
class Append:
    """Rows that replace those of the input `into` from `at` on, along `dimension`; `name`: of the output that is all of it then."""

    name: str
    into: str
    dimension: int
    at: Symbol


@dataclass(frozen=True)
class PartSizes:
    """How much of the inputs is there: `of` those of which that is known at run time, the size of each dimension. `at`: examples of
    all inputs at other values of the symbols, of the whole shapes. `appends`: by the model's outputs that are rows of an input.
    `begins`: of inputs of which that is there begins behind 0, where it does along each dimension."""

    of: Mapping[str, tuple[Size, ...]] = field(default_factory=dict[str, tuple[Size, ...]])
    at: Callable[[Mapping[str, int]], Arrays] = lambda values: {}
    appends: Mapping[str, Append] = field(default_factory=dict[str, Append])
    begins: Mapping[str, tuple[Size, ...]] = field(default_factory=dict[str, tuple[Size, ...]])

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """What the sizes and the places of rows depend on, each an input of its name."""
        return symbols_in([*(size for sizes in self.of.values() for size in sizes), *(rows.at for rows in self.appends.values())])

    def returned(self, outputs: Arrays, inputs: Arrays, *, rounded: bool = True) -> dict[str, np.ndarray]:
        """What the compiled function returns where the model has these outputs on (all of) these inputs. Rows of f32 that replace
        those of an input of bf16 are `rounded`, or all of that input is made f32."""
        found: dict[str, np.ndarray] = {}
        for key, array in outputs.items():
            if (rows := self.appends.get(key)) is None:
                found[key] = array
                continue
            begin, whole = int(inputs[rows.at.name]), inputs[rows.into].copy()
            if _is_float(array) and not _is_float(whole):
                whole, array = (whole, bits_of(array)) if rounded else (number_of(whole), array)
            whole[(slice(None),) * rows.dimension + (slice(begin, begin + array.shape[rows.dimension]),)] = array
            found[rows.name] = whole
        return found

    def values(self, name: str) -> dict[str, int]:
        """The symbols in a draw."""
        chosen = {REDRAWN: lambda most: most // 2, ZEROS: lambda most: 0, TINY: lambda most: 1, HUGE: lambda most: most - 1}
        value = chosen.get(name, lambda most: most)
        return {symbol.name: value(symbol.maximum) for symbol in self.symbols}

    def scalars(self, name: str) -> dict[str, np.ndarray]:
        """The inputs that the symbols are, in a draw."""
        return {symbol: np.asarray(value, np.int32) for symbol, value in self.values(name).items()}

    def there(self, inputs: Arrays, values: Mapping[str, int]) -> dict[str, np.ndarray]:
        """The part of each input that is there, without the symbols."""
        given = {key: array for key, array in inputs.items() if key not in values}
        return {key: array[self._part(key, array, values)] if key in self.of else array for key, array in given.items()}

    def inputs_of(self, name: str, example: Arrays, random: np.random.Generator) -> dict[str, np.ndarray]:
        """The inputs of a draw, of the whole shapes; what is not there is unusable."""
        if not self.symbols:
            return inputs_of(name, example, random)
        values = self.values(name)
        drawn = inputs_of(name, self.there({**example, **self.at(values)}, values), random) | self.scalars(name)
        return {key: self._placed(key, drawn[key], example[key].shape, values) for key in example}

    def _placed(self, key: str, array: np.ndarray, shape: tuple[int, ...], values: Mapping[str, int]) -> np.ndarray:
        if key not in self.of:
            return array
        whole = np.full(shape, np.nan if _is_float(array) else 0, array.dtype)
        whole[self._part(key, whole, values)] = array
        return whole

    def _part(self, key: str, array: np.ndarray, values: Mapping[str, int]) -> tuple[slice, ...]:
        sizes = self.of.get(key, array.shape)
        found = zip(self.begins.get(key, (0,) * len(sizes)), sizes, strict=True)
        return tuple(slice(value_at(begin, values), value_at(sum_of(begin, size), values)) for begin, size in found)


@dataclass(frozen=True)
class Draws:
    """Which draws are wanted: `names`, or None for those that suit the size of the design. Equal seeds give equal draws.

    `quantize`: the arithmetic of the references' linear layers (stc.quantisation.formats), empty for f32.
    """

    names: tuple[str, ...] | None = (EXAMPLE,)
    seed: int = 0
    quantize: str = ""

    def names_for(self, module: ModuleOp) -> tuple[str, ...]:
        """`module` holds linalg."""
        if self.names is not None:
            return self.names
        return DRAWS if linalg_iterations(module) <= MOST_OPERATIONS else FOR_LARGE


ONLY_EXAMPLE = Draws()
ALL_THERE = PartSizes()


@dataclass(frozen=True)
class Drawn:
    """The references of some draws; `left_out`: why there is none of others."""

    references: tuple[Reference, ...]
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])


def draw_references(
    draws: Draws,
    module: ModuleOp,
    example: Arrays,
    run: Run,
    sizes: PartSizes = ALL_THERE,
    maxima: Mapping[str, int] = MappingProxyType({}),
    unquantised: Run | None = None,
    brain: frozenset[str] = frozenset(),
) -> Drawn:
    """Run the model on each of `draws`; `module` is the model as linalg. `run` gets what is there of the inputs. Those in `brain`
    are bits of bf16, and drawn as the numbers that they are.

    `maxima`: of the inputs of one integer which sizes or positions in `module` depend on, of which there is a draw at 0, 1, one
    below the maximum and the maximum each, called after them (`pos_0`), with the example's other inputs. `unquantised`: the model
    in f32, where `run` is in another arithmetic.

    Left out is a draw that changes nothing of an earlier one, and one on which the model itself does not run. CompileError where
    nothing is left, and where the model does not run on its example.
    """
    found: list[Reference] = []
    left_out: dict[str, str] = {}
    wanted: list[tuple[str, dict[str, np.ndarray], np.random.Generator]] = []
    for name in draws.names_for(module):
        random = np.random.default_rng([draws.seed, KNOWN.index(name)])
        numbers = {key: number_of(array) if key in brain else array for key, array in example.items()}
        drawn = sizes.inputs_of(name, numbers, random)
        wanted.append((name, {key: bits_of(array) if key in brain else array for key, array in drawn.items()}, random))
    for scalar, most in maxima.items():
        for value in sorted({0, 1, most - 1, most} & set(range(most + 1)) - {int(example[scalar].reshape(()))}):
            random = np.random.default_rng([draws.seed, len(KNOWN), value])
            inputs = {**example, scalar: np.full_like(example[scalar], value)}
            wanted.append((f"{scalar}_{value}", inputs, random))
    for name, inputs, random in wanted:
        if same := next((other.name for other in found if _equal(inputs, other.inputs)), None):
            left_out[name] = f"its inputs are those of {same}"
            continue
        try:
            there = sizes.there(inputs, sizes.values(name))
            outputs = run(there, None)
            golden, computed = (sizes.returned(outputs, inputs, rounded=rounded) for rounded in (True, False))
            unrounded = {key: array for key, array in computed.items() if array.dtype != golden[key].dtype}
            exact = {} if unquantised is None else sizes.returned(unquantised(there, None), inputs)
            noisy = partial(_noisy, run, sizes, inputs, there, random)
            rounded = frozenset(rows.name for rows in sizes.appends.values())
            moves = partial(uncertainty, computed, noisy, rounded)
            found.append(Reference(name, inputs, golden, moves, rounded, unquantised=exact, unrounded=unrounded))
        except CompileError as error:
            if name == EXAMPLE:
                raise
            left_out[name] = error.what
    if not found:
        why = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise CompileError(f"the model does not run on what it is to be checked with ({why})", accepted="other --check-inputs")
    return Drawn(tuple(found), left_out)


def _noisy(run: Run, sizes: PartSizes, inputs: Arrays, there: Arrays, noise: np.random.Generator) -> Arrays:
    return sizes.returned(run(there, noise), inputs, rounded=False)


def _equal(some: Arrays, others: Arrays) -> bool:
    return all(array.tobytes() == others[name].tobytes() for name, array in some.items())


def uncertainty(golden: Arrays, noisy_run: Callable[[], Arrays], rounded: frozenset[str] = frozenset()) -> dict[str, np.ndarray]:
    """By how much rounding alone moves each entry of every float output, and of the integers that are `rounded` floats: the largest
    movement of some runs with noise, of more of them where rows are short (as scales of rows are).

    Monte Carlo arithmetic (Parker, 1997): what noise of the size of the rounding errors moves, rounding errors move too, in PyTorch
    as in a design that adds up in another order. Other integers are exact.
    """
    floats = {name: array for name, array in golden.items() if _is_float(array)}
    integers = {name: array for name, array in golden.items() if name in rounded and not _is_float(array)}
    moved = {name: np.zeros(array.shape) for name, array in (floats | integers).items()}
    shortest = min((array.shape[-1] if array.ndim else 1 for array in floats.values()), default=0)
    for _ in range(max(NOISY_RUNS, -(-NOISY_ENTRIES // shortest)) if floats else 0):
        noisy = noisy_run()
        for name, array in (floats | integers).items():
            changed = np.asarray(noisy[name] != array)  # of a cache all but a row is as it was
            ends = (each[changed].astype(np.float64) for each in (array, noisy[name]))
            moved[name][changed] = np.maximum(moved[name][changed], _movement(*ends))
    return moved


def _movement(still: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """Absolute; infinite of an entry that is another infinity or NaN, or leaves or joins the finite numbers."""
    with np.errstate(invalid="ignore"):
        same = (still == moved) | (np.isnan(still) & np.isnan(moved))
        return np.where(same, 0.0, np.where(np.isfinite(still) & np.isfinite(moved), np.abs(moved - still), np.inf))


def moved_by_rounding(array: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Floats with up to one unit in the last place less magnitude, other values as they are."""
    if not _is_float(array):
        return array
    step = np.finfo(array.dtype).eps / 2
    return np.asarray(array * (1 - step * random.integers(0, 3, array.shape))).astype(array.dtype)
