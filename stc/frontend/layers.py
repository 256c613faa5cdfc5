"""Several layers as one model: arrays of a kernel that computes them in one launch (`repeat-layers`), and what it has to return."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, TensorType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from stc.diagnostics import CompileError
from stc.dialects.facts import STEPS
from stc.dialects.printing import print_module
from stc.frontend.draws import EXAMPLE, KNOWN, uncertainty
from stc.frontend.exported import Arrays, AskedFor, ExportedModel, Reference
from stc.frontend.signature import attribute_name, main_function


def layers_as_one(layers: Sequence[ExportedModel], module: ModuleOp, *, of_one_model: bool) -> ExportedModel:
    """`module`, which computes all `layers`, with their arrays, and the outputs of one reference after the other.

    What has a leading dimension in its signature is each layer's own. The one output of all layers that has none goes into the next
    layer as the one input of its shape; what the last layer alone takes and returns is of what follows it. `of_one_model`: whether
    all other inputs are to be equal, as they are with one seed. CompileError where that is not so, there is not one of each, or no
    reference can be run again.
    """
    first, last = layers[0], layers[-1]
    stacked = _Signature.of(module, first, last)
    if of_one_model:
        stacked.require_shared(layers)
    runs = [layer.again for layer in layers]
    if any(draw.unrounded for draw in last.references):
        raise CompileError("several layers with caches of bf16", where=first.name, accepted="kv=f32 or kv=int8")
    if any(run is None for run in runs):
        raise CompileError("layers without a reference that runs again", where=first.name, accepted="layers that PyTorch computes")
    chain = _Chain(stacked, [run for run in runs if run is not None])
    draws = tuple(chain.reference(draw.name, layers) for draw in last.references)
    example = next((draw for draw in draws if draw.name == EXAMPLE), None)
    inputs = dict(stacked.joined([layer.inputs for layer in layers]))
    return replace(
        last,
        module=module,
        inputs=inputs,
        parameters=stacked.joined([layer.parameters for layer in layers]),
        golden=chain.run(inputs, None) if example is None else example.golden,
        draws=draws,
        again=chain.run,
    )


def require_one_kind(layers: Sequence[ExportedModel]) -> None:
    """CompileError unless all layers that return the same are the same computation, whatever their parameters are."""
    texts: dict[tuple[str, ...], str] = {}
    for number, layer in enumerate(layers):
        text = print_module(layer.module)
        if texts.setdefault(layer.output_names, text) != text:
            what = f"layer {number} behind the first is compiled to something else"
            raise CompileError(what, where=layer.name, accepted="layers of one kind, whose integers have values of one range")


def joined(own: Container[str], of_layers: Sequence[Arrays]) -> AskedFor:
    """What each layer has its `own` of, one behind the other, and all else of the first that has it."""
    return AskedFor({name: partial(_stacked if name in own else _first, name, of_layers) for name in of_layers[-1]})


def _stacked(name: str, of_layers: Sequence[Arrays]) -> np.ndarray:
    return np.stack([each[name] for each in of_layers])


def _first(name: str, of_layers: Sequence[Arrays]) -> np.ndarray:
    return next(each[name] for each in of_layers if name in each)


@dataclass(frozen=True)
class _Signature:
    """`own`: the names of which each layer has its own; `takes` and `returns`: what goes from layer to layer."""

    own: frozenset[str]
    takes: str
    returns: str

    @staticmethod
    def of(module: ModuleOp, first: ExportedModel, last: ExportedModel) -> _Signature:
        function = main_function(module)
        types, arrays = function.function_type, {**last.inputs, **last.parameters, **last.golden}
        ranks = _ranks(function.arg_attrs, types.inputs) | _ranks(function.res_attrs, types.outputs)
        ranks = {name: rank for name, rank in ranks.items() if name in arrays}  # others are for the steps of a launch
        own = frozenset(name for name, rank in ranks.items() if rank > arrays[name].ndim)
        pairs = [
            (takes, returns)
            for returns in first.golden
            for takes, array in first.inputs.items()
            if not {takes, returns} & own
            and (array.shape, array.dtype) == (first.golden[returns].shape, first.golden[returns].dtype)
        ]
        if len(pairs) != 1:
            what = f"{len(pairs)} pairs of an input and an output that go from layer to layer"
            raise CompileError(what, where=first.name, accepted="one")
        ((takes, returns),) = pairs
        if lost := sorted(first.golden.keys() - own - {returns}):
            what = f"output {lost[0]} of each layer"
            raise CompileError(what, where=first.name, accepted="what goes round, and updates in place")
        return _Signature(own, takes, returns)

    def require_shared(self, layers: Sequence[ExportedModel]) -> None:
        """CompileError where layers that get one array of an input have others of their own, as tables of rotation may be."""
        first = layers[0]
        for number, layer in enumerate(layers[1:], start=1):
            for name in first.inputs.keys() - self.own - {self.takes}:
                if not np.array_equal(first.inputs[name], layer.inputs[name], equal_nan=True):
                    what = f"layer {number} behind the first has another {name}"
                    raise CompileError(what, where=first.name, accepted="inputs that are the same for all layers")

    def joined(self, of_layers: Sequence[Arrays]) -> AskedFor:
        """`joined`, of what each layer has its own of."""
        return joined(self.own, of_layers)

    def of_layer(self, arrays: Arrays, layer: int) -> dict[str, np.ndarray]:
        return {name: array[layer] if name in self.own else array for name, array in arrays.items()}


@dataclass(frozen=True)
class _Chain:
    """The references of all layers, one after the other."""

    signature: _Signature
    runs: Sequence[Callable[[Arrays, np.random.Generator | None], Arrays]]

    def run(self, arrays: Arrays, noise: np.random.Generator | None) -> dict[str, np.ndarray]:
        given, outputs = dict(arrays), list[Arrays]()
        for layer, run in enumerate(self.runs):
            outputs.append(run(self.signature.of_layer(given, layer), noise))
            given[self.signature.takes] = outputs[-1][self.signature.returns]
        return {**self.signature.joined(outputs), self.signature.returns: outputs[-1][self.signature.returns]}

    def reference(self, draw: str, layers: Sequence[ExportedModel]) -> Reference:
        """One draw: inputs of their own for each layer, as far as it has the draw, outputs of the whole chain."""
        drawn = [{each.name: each.inputs for each in layer.references} for layer in layers]
        inputs = dict(self.signature.joined([inputs.get(draw, layer.inputs) for inputs, layer in zip(drawn, layers, strict=True)]))
        golden = self.run(inputs, None)
        noise = np.random.default_rng(KNOWN.index(draw) if draw in KNOWN else len(KNOWN))
        rounded = frozenset(name for each in layers[-1].references if each.name == draw for name in each.rounded)
        moves = partial(uncertainty, golden, lambda: self.run(inputs, noise), rounded)
        return Reference(draw, inputs, golden, moves, rounded)


def _ranks(entries: Iterable[DictionaryAttr] | None, types: Iterable[Attribute]) -> dict[str, int]:
    """Of arguments or results, by name, but for the dimension of what each step of a launch has its own of."""
    return {
        attribute_name(entry): len(kind.get_shape()) - STEPS.on(entry) if isa(kind, TensorType) else 0
        for entry, kind in zip(entries or (), types, strict=True)
    }
