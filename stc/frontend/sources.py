"""One entry point for all that can be compiled: a preset, a transformers configuration, `file.py:factory`, or `file.mlir`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stc.diagnostics import CompileError, Obstacle, UnsupportedError
from stc.frontend.checkpoint import HUB, WEIGHTS_ACCEPTED, load_weights
from stc.frontend.draws import EXAMPLE, Draws
from stc.frontend.export import export
from stc.frontend.exported import ExportedModel, TokenTables
from stc.frontend.factory import build_from_factory
from stc.frontend.host_parts import Factory
from stc.frontend.linalg_file import load_linalg_file
from stc.frontend.signature import end_layers
from stc.quantisation.formats import F32, INT8, format_of_dtype, read_quantisation

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

    from stc.frontend.families import CausalModel

PREFILL, DECODE, HEAD, TOKEN = STAGES = ("prefill", "decode", "head", "token")
LANES = 16
"""The head's vocabulary is filled up to a multiple of it at least, for words and vectors of that width."""
MOST_FILLED = 1 / 50
"""Of a vocabulary: what more may be filled up, so that lanes and copies of the head divide it."""
MAX_SEQ = 128
"""Positions of a cache where nothing is said."""
CONFIGURATION = "config:"


def load_model(
    spec: str,
    *,
    stage: str = "prefill",
    seq: int = 32,
    dtype: str = F32,
    quantize: str = "",
    seed: int = 0,
    weights: str | None = None,
    layer: int | None = None,
    max_seq: int | None = None,
    run_time_sizes: bool | None = None,
    check_inputs: Sequence[str] | None = (EXAMPLE,),
    host: Sequence[str] = (),
) -> ExportedModel:
    """A model with inputs, parameters and reference outputs.

    `spec` is a preset, `config:PATH` (a config.json of transformers, its folder, or a model id on the hub), `file.py:factory`, or
    `file.mlir`. `stage`, `seq`, `max_seq` and `layer` (which decoder layer, by default the first) concern presets and
    configurations; a factory or a file fixes its own shapes. Stages: `prefill`, a layer for `seq` tokens, behind a cache of
    `max_seq` positions if that is given; `decode`, the same for one token, with `MAX_SEQ` positions where nothing is said, or as
    many as the model has; `head`, what follows the last layer; `token`, a layer as in `decode`, and behind it the head.
    `run_time_sizes`: a cached layer reads as many rows of the cache as a scalar `pos` says, instead of all under a mask.
    Equal `seed`s give equal inputs and random parameters. `weights` is a folder of safetensors files, `hub:ID`, or `hub` (the
    preset's or configuration's own model); without it the parameters are random (presets, configurations, files) or the module's
    own (factories). `check_inputs`: the draws of inputs (stc.frontend.draws) that references are made for, None for those that suit
    the size. `quantize`: how the references' linear layers compute, as
    `--quantize` says it, where it is more than `dtype`. `host`: the submodules that PyTorch runs on the host, of a module or a
    layer without a cache, in f32. Raises CompileError for everything unusable.
    """
    meant = format_of_dtype(dtype, spec)
    if stage not in STAGES:
        raise CompileError(f"unknown stage {stage}", where=spec, accepted=", ".join(STAGES))
    part = Part(stage, seq, max_seq, layer, bool(run_time_sizes))
    if host:
        _require_host_parts(spec, part, quantize or meant, host[0])
    draws = Draws(None if check_inputs is None else tuple(check_inputs), seed, quantize or meant)
    if part.is_plain or part.stage == HEAD:
        read_quantisation(draws.quantize).require_no_cache(spec)
    if spec.startswith(CONFIGURATION):
        model = _from_configuration(spec.removeprefix(CONFIGURATION), part, draws, weights, host)
    elif spec.endswith(".mlir"):
        model = _from_linalg(spec, _own(part, spec, draws), weights)
    elif ".py:" in spec or spec.endswith(".py"):
        model = _from_factory(spec, _own(part, spec, draws), weights, host)
    else:
        model = _from_preset(spec, part, draws, weights, host)
    _require_f32(model)
    return model


def _require_host_parts(spec: str, part: Part, quantize: str, first: str) -> None:
    """CompileError where submodules cannot run on the host, of which `first` is one."""
    where = f"--host {first}"
    if spec.endswith(".mlir"):
        raise CompileError("a linalg file has no submodules", where=where, accepted="a PyTorch model")
    if not part.is_plain:
        asked = f"--max-seq {part.max_seq}" if part.stage == PREFILL and part.max_seq else f"--stage {part.stage}"
        accepted = "a module, or a layer's prefill without a cache"
        raise CompileError(f"{asked}: stages of generation have no host program that runs PyTorch", where=where, accepted=accepted)
    if quantize:
        accepted = "f32, or no --host"
        raise CompileError(f"--quantize '{quantize}' with parts on the host, which PyTorch runs as they are", where=where,
                           accepted=accepted)


@dataclass(frozen=True)
class LanguageModelSource:
    """A whole model: taken apart, with its folder where it has one, and the tokens that end a text."""

    name: str
    model: CausalModel
    folder: Path | None
    end_tokens: tuple[int, ...]


def find_language_model(spec: str, *, max_seq: int | None, seed: int, weights: str | None) -> LanguageModelSource:
    """The model of a preset, or of `config:PATH` (as for `load_model`); without `weights` it is random.

    CompileError for what is no language model, or unusable.
    """
    from stc.frontend.families import CausalModel, end_tokens, find_configuration
    from stc.frontend.presets import find_preset

    if spec.endswith((".mlir", ".py")) or ".py:" in spec:
        raise CompileError("no language model", where=spec, accepted="a preset, or config:PATH")
    if spec.startswith(CONFIGURATION):
        where = spec.removeprefix(CONFIGURATION)
        configuration, folder = find_configuration(where), Path(where)
        checkpoint = _checkpoint(weights, None if folder.exists() else where, where)
        folder = folder.parent if folder.is_file() else folder
    else:
        preset = find_preset(spec)
        where, configuration, folder = preset.name, preset.configuration(), None
        checkpoint = _checkpoint(weights, preset.hub_id, preset.name)
    folder = folder if folder is not None and folder.is_dir() else None
    positions = max_seq or min(MAX_SEQ, getattr(configuration, "max_position_embeddings", None) or MAX_SEQ)
    model = CausalModel(configuration, max_seq=positions, seed=seed, weights=checkpoint, where=where)
    return LanguageModelSource(_model_name(where), model, folder, end_tokens(configuration, folder))


@dataclass(frozen=True)
class Part:
    """Which part of a model: a layer of it, for `seq` tokens, with a cache or none, or its head.

    `run_time_sizes`: whether the layer reads as many rows of the cache as there are, else all of them, under a mask.
    """

    stage: str
    seq: int
    max_seq: int | None
    layer: int | None
    run_time_sizes: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it is a layer without a cache."""
        return self.stage == PREFILL and self.max_seq is None and not self.run_time_sizes

    @property
    def rows(self) -> int:
        """Tokens of a launch."""
        return self.seq if self.stage == PREFILL else 1


def _own(part: Part, spec: str, draws: Draws) -> Draws:
    """`draws`; CompileError where a stage is asked of what has none."""
    if not part.is_plain:
        asked = f"--max-seq {part.max_seq}" if part.stage == PREFILL else f"--stage {part.stage}"
        raise CompileError(f"{asked} concerns language models", where=spec, accepted="a preset or config:PATH with it")
    return draws


def _from_linalg(spec: str, draws: Draws, weights: str | None) -> ExportedModel:
    if weights is not None:
        raise CompileError("weights cannot be given for a linalg file", where=spec, accepted="no weights")
    if draws.quantize:
        what = "a linalg file has no modules, whose arithmetic would be the reference of quantised layers"
        raise CompileError(what, where=spec, accepted="a PyTorch model, or the pass quantize-linear (--before propagate-reshapes)")
    return load_linalg_file(Path(spec), draws)


def _from_factory(spec: str, draws: Draws, weights: str | None, host: Sequence[str]) -> ExportedModel:
    module, inputs = build_from_factory(spec, draws.seed)
    if weights is not None:
        load_weights(module, weights)
    file, _, name = spec.rpartition(":")
    return export(module, inputs, name=name, draws=draws, host=host, factory=Factory(Path(file), name, draws.seed))


# transformers takes seconds to import: only where a decoder layer is wanted.


def _from_preset(spec: str, part: Part, draws: Draws, weights: str | None, host: Sequence[str]) -> ExportedModel:
    from stc.frontend.presets import find_preset

    preset = find_preset(spec)
    checkpoint = _checkpoint(weights, preset.hub_id, preset.name)
    return _part(preset.configuration(), replace(part, layer=preset.layer(part.layer)), draws, checkpoint, preset.name, host)


def _from_configuration(source: str, part: Part, draws: Draws, weights: str | None, host: Sequence[str]) -> ExportedModel:
    from stc.frontend.families import find_configuration

    checkpoint = _checkpoint(weights, None if Path(source).exists() else source, source)
    return _part(find_configuration(source), replace(part, layer=part.layer or 0), draws, checkpoint, source, host)


def _part(
    configuration: PreTrainedConfig, part: Part, draws: Draws, checkpoint: str | None, where: str, host: Sequence[str]
) -> ExportedModel:
    from stc.frontend.families import OLD_BUFFERS, CausalModel, build_decoder_layer

    layer = part.layer or 0
    if part.is_plain:
        built = build_decoder_layer(configuration, layer=layer, seq=part.seq, seed=draws.seed, where=where)
        if checkpoint is not None:
            load_weights(built.module, checkpoint, prefixes=built.prefixes, ignored=OLD_BUFFERS)
        return export(built.module, built.inputs, name=_model_name(where), draws=draws, host=host, is_ours=True)
    longest = getattr(configuration, "max_position_embeddings", None) or MAX_SEQ
    model = CausalModel(
        configuration, max_seq=part.max_seq or min(MAX_SEQ, longest), seed=draws.seed, weights=checkpoint, where=where
    )
    return export_part(model, part, draws, _model_name(where))


def export_part(model: CausalModel, part: Part, draws: Draws, name: str) -> ExportedModel:
    """A layer behind its cache, or the head, of a model that has been taken apart."""
    if part.stage == HEAD:
        return export(*model.head(filled_multiple(model.vocabulary)), name=f"{name}_{HEAD}", draws=draws, is_ours=True)
    from stc.quantisation.rows import ROW_FORMATS

    index = part.layer or 0
    chosen = read_quantisation(draws.quantize)
    stored, in_integers = ROW_FORMATS[chosen.kv], chosen.attention == INT8
    built = model.cached_layer(index, part.rows, window=part.run_time_sizes, stored=stored, in_integers=in_integers)
    if part.stage == TOKEN:
        model.add_head(built.module, filled_multiple(model.vocabulary))
    sizes = model.cache_sizes(index, built, sized=part.run_time_sizes, stored=stored)
    exported = export(built.module, built.inputs, name=f"{name}_{part.stage}", draws=draws, sizes=sizes, is_ours=True)
    if part.stage == TOKEN:
        end_layers(exported.module, "y")
        return replace(exported, embedding=cache(partial(token_tables_of, model, index)))
    return exported


def token_tables_of(model: CausalModel, layer: int) -> TokenTables:
    """Of a model whose `layer` computes the next token; the vocabulary filled up as the head's is."""
    rows = model.embedding.tokens
    missing = -len(rows) % filled_multiple(model.vocabulary)
    tokens = np.concatenate([rows, np.repeat(rows[:1], missing, axis=0)])
    return TokenTables(tokens, model.embedding.positions, model.tables(layer).rows)


def layer_stages(stage: str, layers: int) -> list[str]:
    """The stages of so many layers that a launch of `stage` computes one after the other: the head follows the last alone."""
    return [DECODE] * (layers - 1) + [TOKEN] if stage == TOKEN else [stage] * layers


def filled_multiple(vocabulary: int) -> int:
    """What a vocabulary is filled up to a multiple of: the largest power of two that adds at most `MOST_FILLED`, or `LANES`; or the
    largest that is three times a power of two, if that adds no more.

    GPT-2's becomes 50,688 = 33 x 3 x 512: of 50,272 = 32 x 1,571, the next multiple of 16, no more than 32 could be computed at
    once, and 24 tasks do not divide 51,200 = 25 x 2,048.
    """
    two, three = (_largest_multiple(vocabulary, least) for least in (LANES, 3 * LANES))
    return three if -vocabulary % three <= -vocabulary % two else two


def _largest_multiple(vocabulary: int, least: int) -> int:
    """The largest of `least`, twice that, ... of which a multiple is at most `MOST_FILLED` away, or `least`."""
    multiple = least
    while -vocabulary % (2 * multiple) <= MOST_FILLED * vocabulary:
        multiple *= 2
    return multiple


def _model_name(where: str) -> str:
    """The preset's name, or the last part of a path or id; a config.json is called like its folder."""
    path = Path(where)
    return path.absolute().parent.name if path.suffix == ".json" and path.stem == "config" else path.name.removesuffix(".json")


def _checkpoint(weights: str | None, hub_id: str | None, where: str) -> str | None:
    """`hub` alone means the model's own checkpoint."""
    if weights != "hub":
        return weights
    if hub_id is None:
        raise CompileError("the model is not on the hub", where=where, accepted=WEIGHTS_ACCEPTED)
    return f"{HUB}{hub_id}"


def _require_f32(model: ExportedModel) -> None:
    """UnsupportedError for floats of other types; parameters of f16, such as scales, are widened where they are used."""
    arrays = {**model.arguments, **model.golden}
    accepted = {np.dtype(np.float32)}
    unusable = [
        name
        for name, array in arrays.items()
        if np.issubdtype(array.dtype, np.inexact)
        and array.dtype not in (accepted | {np.dtype(np.float16)} if name in model.parameters else accepted)
    ]
    if unusable:
        raise UnsupportedError(
            [Obstacle(model.name, f"{name} has dtype {arrays[name].dtype}", "float32, integers, bool") for name in unusable]
        )
