"""A causal language model of transformers, taken apart: embedding, layers behind a cache, head, tables by position."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from transformers import AutoModelForCausalLM, PreTrainedConfig, PreTrainedModel

from stc.diagnostics import CompileError
from stc.frontend.arrays import to_numpy
from stc.frontend.checkpoint import load_weights
from stc.frontend.draws import Append, PartSizes
from stc.frontend.eager_run import module_state
from stc.frontend.families.cached_layer import (
    POSITION,
    CacheRows,
    append_rows,
    cache_names,
    rows_of_one_token,
    take_cache_by_name,
    updates,
)
from stc.frontend.families.decoder_layer import (
    MODEL_ERRORS,
    OLD_BUFFERS,
    TRANSPOSED,
    DecoderLayer,
    build_model,
    call_first,
    layer_count,
    layer_list,
    layer_prefixes,
    prefixes_of,
    without_unused,
)
from stc.frontend.families.integer_attention import CLOSE, let_attend
from stc.frontend.families.layer_call import CACHE, HIDDEN, MASK, LayerCall, observe_call
from stc.frontend.families.model_rest import Head, ModelRest, follow_with_head
from stc.frontend.families.weightless import allocate, fill_with_zeros
from stc.frontend.parameters import randomise
from stc.frontend.signature import held_range
from stc.frontend.wrapped_tensors import unwrapped
from stc.iteration.size import Size, Symbol, largest_of, least_of, sum_of, value_at
from stc.quantisation.formats import F32, HEAD, INT8, LONGEST_GROUP, of_part, read_quantisation, require_some
from stc.quantisation.reference import linear_layers, quantised_model
from stc.quantisation.rows import F32_ROWS, ROW_FORMATS, RowFormat, attention_in_f32

ACCEPTED = "decoder-only models whose layers take a mask, rotary tables of one row for each position, and a cache"


@dataclass(frozen=True)
class PositionTables:
    """What a layer gets that depends on positions only: `mask` [positions, positions], additive, with -inf where a row (first) may
    not see a position; `rows` by input name, [positions, width]: rotary tables."""

    mask: np.ndarray
    rows: Mapping[str, np.ndarray]

    @cached_property
    def reach(self) -> int:
        """How many positions before its own a row may see at most: those of its window, or all; 1 at least."""
        firsts = np.argmax(np.isfinite(self.mask), 1)
        return max(1, int((np.arange(len(firsts)) - firsts).max()))

    def opens(self, reach: int) -> bool:
        """Whether a row may see itself and `reach` positions before it, or all that there are, and nothing is added to scores."""
        return all(not row[max(place - reach, 0) : place + 1].any() for place, row in enumerate(self.mask))

    def inputs_at(self, position: int, rows: int, own: int, reach: int | None = None) -> dict[str, np.ndarray]:
        """The inputs of a cached layer for `rows` tokens from `position` on, which are all inside: `mask` [1, 1, rows, columns],
        first for rows of the cache, open before the position only, from column `own` on for the rows themselves; others
        [1, rows, width]. Of the cache there are `reach` rows that end before the position, or as many as there are, else all."""
        places = np.arange(position, position + rows)
        begin = 0 if reach is None else max(position - reach, 0)
        mask = np.full((rows, len(self.mask) if reach is None else reach + rows), -np.inf, np.float32)
        mask[:, : position - begin] = self.mask[places, begin:position]
        mask[:, own : own + rows] = self.mask[np.ix_(places, places)]
        return {MASK: mask[None, None], **{name: table[places][None] for name, table in self.rows.items()}}


@dataclass(frozen=True)
class Embedding:
    """Hidden states of token t at position p: `tokens[t] + positions[p]`; without `positions`, `tokens[t]`."""

    tokens: np.ndarray
    positions: np.ndarray | None


class CausalModel:
    """A model of `max_seq` positions at most. `layer_kinds`: layers of one kind differ in their parameters only.

    Matrices are in memory only while they are asked for. CompileError, naming `where`, for a model that cannot be taken apart.
    """

    def __init__(self, configuration: PreTrainedConfig, *, max_seq: int, seed: int, weights: str | None = None, where: str):
        longest = getattr(configuration, "max_position_embeddings", None) or max_seq
        if not 1 <= max_seq <= longest:
            raise CompileError(f"--max-seq {max_seq}", where=where, accepted=f"1 to {longest}")
        self.configuration, self.max_seq = configuration, max_seq
        self._seed, self._weights, self._where = seed, weights, where
        count = layer_count(configuration, where)
        with self._understood():
            self._model = build_model(configuration, AutoModelForCausalLM)
            self._path, self._layers = layer_list(self._model, count, where)
        kinds = list(getattr(configuration, "layer_types", None) or [""] * count)
        self.layer_kinds: tuple[str, ...] = tuple(kinds if len(set(kinds)) > 1 else [""] * count)
        self._calls: dict[str, LayerCall] = {}

    @property
    def vocabulary(self) -> int:
        """The number of tokens."""
        return self.configuration.vocab_size

    # Layers -------------------------------------------------------------------------------------------------------------

    def layer(self, index: int) -> torch.nn.Module:
        """A copy of a layer, with its parameters."""
        if not 0 <= index < len(self._layers):
            raise CompileError(f"layer {index}", where=self._where, accepted=f"0 to {len(self._layers) - 1}")
        module = copy.deepcopy(self._layers[index])
        allocate(module)
        if self._weights is None:
            randomise(module, self._seed + 1 + index, transposed=TRANSPOSED)
        else:
            prefixes = layer_prefixes(self._model.base_model_prefix, self._inner_path, index)
            load_weights(module, self._weights, prefixes=prefixes, ignored=OLD_BUFFERS)
        return module

    def cached_layer(
        self,
        index: int,
        rows: int,
        position: int | None = None,
        *,
        window: bool = False,
        stored: RowFormat = F32_ROWS,
        in_integers: bool = False,
    ) -> DecoderLayer:
        """A layer for `rows` tokens behind a cache of `max_seq` positions, and inputs for it: at `position`, by default the last at
        which there is room for them.

        `x` [1, rows, hidden], `cached_layer.cache_names` [1, heads, max_seq, entries] and what `tables` gives; it returns
        `cached_layer.outputs`. The cache's rows from the position on are zero. `window`: it reads no more rows of the cache than
        may be seen, from the first on: whoever calls it moves those of a position there; of one row it then takes no `mask`, where
        that would add nothing. `stored`: how the caches store rows.
        `in_integers`: attention computes its products by these rows, which are int8.
        """
        if not 1 <= rows <= self.max_seq - 2:  # of one earlier row there would be no loop that runs less often
            what = f"a launch of {rows} row{'s' * (rows != 1)} behind a cache of {self.max_seq} positions"
            raise CompileError(what, where=self._where, accepted=f"--max-seq of {rows + 2} at least")
        last = self.max_seq - rows
        reach = min(last, self.tables(index).reach) if window else last
        position = last if position is None else position
        generator = torch.Generator().manual_seed(self._seed)
        module, call = self.layer(index), self._call(index)
        x = torch.randn(1, rows, self.configuration.hidden_size, generator=generator)
        with self._understood():
            new = rows_of_one_token(module, call, x, stored)
        caches = [torch.zeros(*part.shape[:2], self.max_seq, part.shape[3]) for part in new[:: len(stored.parts)]]
        for cache in caches:
            cache[:, :, :position] = torch.randn(cache[:, :, :position].shape, generator=generator)
        inputs = dict(zip(cache_names(stored), (part for cache in caches for part in stored.stored(cache)), strict=True))
        take_cache_by_name(module, call, reach, stored)
        tables = self.tables(index).inputs_at(position, rows, reach, reach)
        rest = {name: torch.from_numpy(array) for name, array in tables.items()}
        path = layer_prefixes(self._model.base_model_prefix, self._inner_path, index)
        layer = DecoderLayer(module, {HIDDEN: x, **inputs, **rest}, path)
        if in_integers:
            self._attend_in_integers(layer)
        if window and rows == 1 and self.tables(index).opens(reach):
            layer = _unmasked(layer)
        return layer

    def _attend_in_integers(self, layer: DecoderLayer) -> None:
        """CompileError where that would be another attention than the model's, but for the integers."""
        if self.max_seq > LONGEST_GROUP:
            what = f"attention=int8 behind a cache of {self.max_seq} positions"
            raise CompileError(what, where=self._where, accepted=f"--max-seq of at most {LONGEST_GROUP}: sums of i32")
        with self._understood(), attention_in_f32():
            expected = layer.module(**layer.inputs)["y"]
            found = layer.module(**layer.inputs)["y"] if let_attend(layer.module) else torch.full_like(expected, torch.nan)
        if not (found - expected).abs().max() <= CLOSE * expected.abs().max():
            accepted = "models whose layers call transformers' attention interface for a softmax of scaled, masked products"
            raise CompileError(f"attention=int8: the attention of {self.configuration.model_type} is another one",
                               where=self._where, accepted=accepted)

    def cache_sizes(self, index: int, layer: DecoderLayer, *, sized: bool, stored: RowFormat = F32_ROWS) -> PartSizes:
        """Where the rows of a cached layer go: behind the `pos` rows that its caches have.

        `sized`: of a layer with its window (`cached_layer`), which gets as many rows of the caches as there are and may be seen,
        and of `mask` as many columns, which those of its own rows follow; else it gets all, of which the mask opens these.
        """
        rows = layer.inputs[HIDDEN].shape[1]
        pos = Symbol(POSITION, self.max_seq - rows)
        caches = cache_names(stored)
        shapes = {name: tuple(value.shape) for name, value in layer.inputs.items()}
        tables = self.tables(index)
        reach = min(pos.maximum, tables.reach) if sized else pos.maximum
        seen, begin = least_of(pos, reach), largest_of(sum_of(pos, -reach), 0)
        sizes: dict[str, tuple[Size, ...]] = {name: (*shapes[name][:2], seen, shapes[name][3]) for name in caches}
        if MASK in shapes:
            sizes[MASK] = (*shapes[MASK][:3], sum_of(seen, rows))

        def at(values: Mapping[str, int]) -> dict[str, np.ndarray]:
            position = values[POSITION]
            found = tables.inputs_at(position, rows, value_at(seen, values) if sized else reach, reach)
            return {name: array for name, array in found.items() if name in shapes}

        appends = {key: Append(name, into, 2, pos) for key, (into, name) in updates(stored).items()}
        begins: dict[str, tuple[Size, ...]] = {} if begin == 0 else dict.fromkeys(caches, (0, 0, begin, 0))
        return PartSizes(sizes, at, appends, begins) if sized else PartSizes({}, at, appends)

    def tables(self, index: int) -> PositionTables:
        """Of the layer's kind."""
        inputs = {name: value for name, value in self._call(index).inputs.items() if name != HIDDEN}
        return PositionTables(
            inputs[MASK][0, 0].numpy(), {name: value[0].numpy() for name, value in inputs.items() if name != MASK}
        )

    def require_equal_kinds(self) -> None:
        """CompileError where layers of one kind differ in more than their parameters: with equal ones they compute the same."""
        firsts: dict[str, int] = {}
        for index, kind in enumerate(self.layer_kinds):
            first = firsts.setdefault(kind, index)
            if first != index and (difference := self._difference(first, index)):
                what = f"layers {first} and {index} {difference}"
                raise CompileError(what, where=self._where, accepted="layers that differ in their parameters, or in layer_types")

    def _difference(self, one: int, other: int) -> str:
        shapes = [{name: value.shape for name, value in self._layers[index].named_parameters()} for index in (one, other)]
        if shapes[0] != shapes[1]:
            return "have parameters of different shapes"
        built = self.cached_layer(one, 1)
        same = self.cached_layer(other, 1)
        if len({_structure(layer.module) for layer in (built, same)}) > 1:
            return "have weights of different formats"
        if name := _beyond(*(unwrapped(module_state(layer.module)) for layer in (built, same))):
            return f"have integers of different ranges in {name}, which the kernel of both is made for"
        same.module.load_state_dict(built.module.state_dict())
        with torch.no_grad():
            found, expected = (layer.module(**built.inputs) for layer in (same, built))
        return "" if all(torch.equal(found[name], expected[name]) for name in found) else "compute different functions"

    @property
    def _inner_path(self) -> str:
        return self._path.removeprefix(f"{self._model.base_model_prefix}.")

    def _call(self, index: int) -> LayerCall:
        """How the model calls layers of that kind, for all positions."""
        kind = self.layer_kinds[index]
        if kind not in self._calls:
            with self._understood():
                self._calls[kind] = self._observed(index)
        return self._calls[kind]

    def _observed(self, index: int) -> LayerCall:
        count, hidden = self.max_seq, self.configuration.hidden_size
        model = build_model(copy.deepcopy(self.configuration), AutoModelForCausalLM)  # `call_first` changes it
        layers = layer_list(model, len(self._layers), self._where)[1]
        module = layers[index]
        allocate(module)
        randomise(module, self._seed, transposed=TRANSPOSED)
        fill_with_zeros(model)
        call_first(model, layers, index)
        x = torch.randn(1, count, hidden, generator=torch.Generator().manual_seed(self._seed))
        call = without_unused(module, observe_call(model, module, x, with_cache=True))
        expected = {HIDDEN: (1, count, hidden), MASK: (1, 1, count, count)}
        for name, value in call.inputs.items():
            if tuple(value.shape) != expected.get(name, (1, count, value.shape[-1])):
                raise ValueError(f"layers take {name} of shape {tuple(value.shape)}")
        if not call.is_cached or MASK not in call.inputs:
            raise ValueError(f"layers take no {MASK if call.is_cached else 'cache'}")
        for fewer in {min(2, count), max(1, count // 2)}:  # at the first position nothing is turned
            shorter = observe_call(model, module, x[:, :fewer], with_cache=True)
            for name in call.inputs.keys() - {HIDDEN, MASK}:
                if not torch.equal(call.inputs[name][:, :fewer], shorter.inputs[name]):
                    raise ValueError(f"{name} of a position depends on the number of positions")
        return call

    # What is around the layers ------------------------------------------------------------------------------------------

    @cached_property
    def embedding(self) -> Embedding:
        """The host's part: rows of the first layer's input."""
        with self._understood():
            rest = self._rest
            positions = rest.first_input(inputs_embeds=torch.zeros(1, self.max_seq, self.configuration.hidden_size))[0]
            tokens = rest.token_rows()
            sample = torch.arange(min(self.max_seq, len(tokens)))
            if not torch.equal(rest.first_input(input_ids=sample[None])[0], tokens[sample] + positions[sample]):
                raise ValueError("the first layer's input is no sum of a token's row and a position's")
        return Embedding(tokens.numpy(), positions.numpy() if positions.any() else None)

    def head(self, multiple: int = 1) -> tuple[Head, dict[str, torch.Tensor]]:
        """What follows the last layer, for one token, and an input: `x` [1, 1, hidden] to `token` [1, 1], the arg-max, and `logits`
        [1, 1, vocabulary], filled up to a multiple of `multiple` (`Head`)."""
        x = torch.randn(1, 1, self.configuration.hidden_size, generator=torch.Generator().manual_seed(self._seed))
        with self._understood():
            norm, output = self._rest.norm_and_output(x)
            if not isinstance(output, torch.nn.Linear) or not torch.equal(Head(norm, output)(x)["logits"], self._rest.logits(x)):
                raise ValueError("what follows the last layer is more than a norm and a matrix product")
        return Head(norm, output, multiple), {HIDDEN: x}

    def add_head(self, layer: torch.nn.Module, multiple: int = 1) -> None:
        """Change a cached layer (`cached_layer`): what it returns is followed by what the `head` makes of it, `token` and `logits`.

        The head's modules become the layer's, under names of `model_rest.Head`; CompileError where the layer has others of these.
        """
        head, _ = self.head(multiple)
        taken = dict(layer.named_children())
        if clash := next((name for name, _ in head.named_children() if name in taken), None):
            accepted = "--stage decode and --stage head"
            raise CompileError(f"layers have a module {clash}, as the head has", where=self._where, accepted=accepted)
        follow_with_head(layer, head)

    def whole(self, quantize: str = "") -> torch.nn.Module:
        """The model itself, with all its parameters: for comparison. Its linear layers, caches and attention compute as `quantize`
        says, if it does; of caches, where it is run with one (`use_cache`)."""
        layers = [self.layer(index) for index in range(len(self._layers))]
        model = self._rest.with_layers(layers)
        for index, part in ((None, _head_of(model)), *enumerate(layers)):
            if own := self.quantisation_of(index, quantize):
                chosen = read_quantisation(own)
                quantised_model(part, chosen, self._where).replace()
                if index is not None and chosen.kv != F32:
                    append_rows(part, index, ROW_FORMATS[chosen.kv])
                if chosen.attention == INT8:
                    let_attend(part)
        return model

    # Linear layers that compute on integers -------------------------------------------------------------------------------

    def require_quantisation(self, quantize: str) -> None:
        """CompileError where a format (stc.quantisation.formats) names a linear layer that is not there, or leaves all in f32."""
        known = dict.fromkeys(path for index in (*range(len(self._layers)), None) for path in self._linear_layers(index))
        require_some(read_quantisation(quantize), known, self._where)

    def quantisation_of(self, index: int | None, quantize: str, *, has_head: bool = False) -> str:
        """What a format says of a decoder layer, with what is behind the last where `has_head`, or, of None, of that alone; empty
        where it stays f32."""
        paths = (*self._linear_layers(index), *(self._linear_layers(None) if has_head and index is not None else ()))
        return of_part(quantize, paths, has_cache=index is not None)

    def products(self, index: int | None) -> int:
        """How many products of a token with weights a decoder layer computes, or, of None, what is behind the last."""
        held = ([*layer.parameters(), *layer.buffers()] for layer in self._linear_layers(index).values())
        return sum(max(tensor.numel() for tensor in tensors) for tensors in held)  # the largest is the matrix

    def _linear_layers(self, index: int | None) -> Mapping[str, torch.nn.Module]:
        return linear_layers(_head_of(self._model) if index is None else self._layers[index])

    @cached_property
    def _rest(self) -> ModelRest:
        module = self.layer(0)
        call = self._call(0)
        args, kwargs = call.arguments({**call.inputs, CACHE: CacheRows(F32_ROWS)})
        returns_tensor = isinstance(module(*args, **kwargs), torch.Tensor)
        rest = ModelRest(build_model(self.configuration, AutoModelForCausalLM), self._path, module, returns_tensor)
        allocate(rest.model)
        if self._weights is None:
            randomise(rest.model, self._seed, transposed=TRANSPOSED)
        else:
            for path, owner in rest.owners():
                inner = path.removeprefix(f"{self._model.base_model_prefix}.")
                names = (f"{path}.",) if inner == path else prefixes_of(self._model.base_model_prefix, inner)
                load_weights(owner, self._weights, prefixes=names)
        rest.tie()
        return rest

    @contextmanager
    def _understood(self) -> Generator[None]:
        """What goes wrong in a model's own code, or in ours about it, is a CompileError."""
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            try:
                yield
            except MODEL_ERRORS as error:
                what = f"{self.configuration.model_type} cannot be taken apart: {' '.join(str(error).split())[:200]}"
                raise CompileError(what, where=self._where, accepted=ACCEPTED) from None


def _head_of(model: PreTrainedModel) -> torch.nn.Module:
    """What is behind the last layer, with the linear layer of all models under its name."""
    output = model.get_output_embeddings()
    return torch.nn.ModuleDict({} if output is None else {HEAD: output})


def _unmasked(layer: DecoderLayer) -> DecoderLayer:
    """The layer without its mask, which adds nothing; as it is where a mask is needed, or does more than that."""
    inputs = {name: value for name, value in layer.inputs.items() if name != MASK}
    try:
        with torch.no_grad():
            found, expected = layer.module(**inputs), layer.module(**layer.inputs)
    except MODEL_ERRORS:
        return layer
    return replace(layer, inputs=inputs) if all(torch.equal(found[name], expected[name]) for name in expected) else layer


def _structure(module: torch.nn.Module) -> frozenset[tuple[str, torch.Size]]:
    """The names and shapes of what a module holds."""
    return frozenset((name, value.shape) for name, value in module.state_dict().items())


def _beyond(first: Mapping[str, torch.Tensor], other: Mapping[str, torch.Tensor]) -> str:
    """The name of a tensor of `other` that is not what a design for `first` is told of its integers; empty where there is none."""
    for name, value in first.items():
        if value.is_floating_point():
            continue
        held, array = held_range(to_numpy(value, name)), to_numpy(other[name], name)
        if held is not None and not held[0] <= int(array.min()) <= int(array.max()) <= held[1]:
            return name
    return ""
