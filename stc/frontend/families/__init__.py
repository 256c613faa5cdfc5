"""Decoder layers of transformers models: how one is found, built, called, and named in checkpoints, whatever its architecture."""

import stc.frontend.families.transformers_import  # noqa: F401  # pyright: ignore[reportUnusedImport]  before others import transformers
from stc.frontend.families.causal_model import CausalModel, Embedding, PositionTables
from stc.frontend.families.configuration import end_tokens, find_configuration, make_configuration, read_configuration
from stc.frontend.families.decoder_layer import OLD_BUFFERS, DecoderLayer, build_decoder_layer

__all__ = [
    "OLD_BUFFERS",
    "CausalModel",
    "DecoderLayer",
    "Embedding",
    "PositionTables",
    "build_decoder_layer",
    "end_tokens",
    "find_configuration",
    "make_configuration",
    "read_configuration",
]
