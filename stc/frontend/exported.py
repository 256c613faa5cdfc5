"""What the front end hands to the compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from stc.frontend.signature import argument_names

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class AskedFor(Arrays):
    """Arrays that are `made` each time one is asked for: those of all layers of a model are gigabytes, of which one at a time is
    looked at."""

    made: Mapping[str, Callable[[], np.ndarray]]

    @staticmethod
    def of(*places: Arrays) -> AskedFor:
        """The arrays of all `places`, by name: of the last that has it."""
        return AskedFor({name: partial(place.__getitem__, name) for place in places for name in place})

    def __getitem__(self, name: str) -> np.ndarray:
        return self.made[name]()

    def __contains__(self, name: object) -> bool:
        return name in self.made

    def __iter__(self) -> Iterator[str]:
        return iter(self.made)

    def __len__(self) -> int:
        return len(self.made)


@dataclass(frozen=True)
class Reference:
    """One draw of inputs and the model's outputs for it, by `stc.name`.

    `moves` finds `uncertainty`, which takes many runs of the model. `rounded`: the integer outputs that are rounded floats.
    `unspecified`: the entries, True, that the model leaves undefined; none of an output that is missing. `unquantised`: where the
    outputs are of quantised layers, those of the f32 model. `unrounded`: of outputs of bf16, which are their bits in int16, the f32
    that they are rounded from: their uncertainty is of it.
    """

    name: str
    inputs: Arrays
    golden: Arrays
    moves: Callable[[], Arrays] = dict[str, np.ndarray]
    rounded: frozenset[str] = frozenset()
    unspecified: Arrays = field(default_factory=dict[str, np.ndarray])
    unquantised: Arrays = field(default_factory=dict[str, np.ndarray])
    unrounded: Arrays = field(default_factory=dict[str, np.ndarray])

    @property
    def uncertainty(self) -> Arrays:
        """For outputs of floats, and those that are `rounded`, by how much rounding errors alone move each entry (absolute, f64): 0
        where it is missing, infinite where they make a number of an infinity or NaN, or the reverse."""
        return self._moved

    @cached_property
    def _moved(self) -> Arrays:
        return self.moves()


@dataclass(frozen=True)
class HostSource:
    """How host.py makes a submodule again: the factory (`FILE.py:NAME`, of `files`), called with PyTorch's random numbers from
    `seed`, and the submodule's `state`, as torch.save stores it. The last tensors that it takes are given by `keywords`."""

    factory: str
    seed: int
    keywords: tuple[str, ...]
    state: bytes
    files: Mapping[str, bytes]


@dataclass(frozen=True)
class HostPart:
    """A call of the submodule `module` that PyTorch runs on the host: it takes results of the function, and gives arguments of it,
    by `stc.name`. `program`: of torch.export, where it can be traced; else there are a `source` and the `reason`."""

    name: str
    module: str
    takes: tuple[str, ...]
    gives: tuple[str, ...]
    program: bytes | None
    source: HostSource | None
    reason: str


@dataclass(frozen=True)
class TokenTables:
    """What a token and its position give a layer: the embedding's rows `tokens` [vocabulary, hidden], as many as there are logits;
    the rows `positions` [positions, hidden] that are added, if any; `rows` by input name, [positions, width]."""

    tokens: np.ndarray
    positions: np.ndarray | None
    rows: Arrays


@dataclass(frozen=True)
class ExportedModel:
    """A model as linalg on tensors, with everything needed to run and to check it.

    `module` holds one function, `main`; its arguments carry `stc.name` (and `stc.parameter`).
    All dictionaries are keyed by `stc.name`, in the order of the signature; `golden` holds the reference outputs for `inputs`.
    `draws`: what the design is checked with (stc.frontend.draws); `draws_left_out`: why there is none of some name.
    """

    name: str
    module: ModuleOp
    inputs: Arrays
    parameters: Arrays
    golden: Arrays
    timings: Mapping[str, float] = field(default_factory=dict[str, float])
    draws: tuple[Reference, ...] = ()
    draws_left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    reference: str = "PyTorch"
    """What computed the reference outputs."""
    quantised: frozenset[str] = frozenset()
    """The modules whose linear layers the reference computes on integers, and which have weights in floats."""
    packed: frozenset[str] = frozenset()
    """The modules whose linear layers the reference computes on integers that they come with."""
    host_parts: tuple[HostPart, ...] = ()
    """What PyTorch runs between kernels."""
    again: Callable[[Arrays, np.random.Generator | None], Arrays] | None = field(default=None, compare=False, repr=False)
    """The outputs of the reference for the inputs of a draw; with a generator, moved by rounding errors (stc.frontend.draws)."""

    embedding: Callable[[], TokenTables] | None = field(default=None, compare=False, repr=False)
    """Of a layer that the head follows: what another token begins with."""

    @property
    def references(self) -> tuple[Reference, ...]:
        """What the design is checked with: the example alone where nothing was drawn."""
        return self.draws or (Reference("example", self.inputs, self.golden),)

    @property
    def input_names(self) -> tuple[str, ...]:
        return tuple(self.inputs)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(self.parameters)

    @property
    def output_names(self) -> tuple[str, ...]:
        return tuple(self.golden)

    @property
    def arguments(self) -> dict[str, np.ndarray]:
        """Inputs and parameters in the order of the function's signature."""
        values = {**self.inputs, **self.parameters}
        return {name: values[name] for name in argument_names(self.module)}
