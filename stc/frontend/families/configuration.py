"""Transformers configurations: from keyword arguments, from a config.json, or from the hub."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from huggingface_hub.errors import StrictDataclassError
from transformers import PreTrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from stc.diagnostics import CompileError
from stc.user_files import json_of, reason_of

ACCEPTED = "config.json of a transformers model, a folder with one, or a model id on the hub"
FILE = "config.json"
GENERATION = "generation_config.json"
CONFIGURATION_ERRORS = (StrictDataclassError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def find_configuration(source: str) -> PreTrainedConfig:
    """The configuration at `source`: a file, a folder, or a hub id (from the local cache or the network).

    Raises CompileError where it is missing, unreadable, or of an architecture that transformers does not have.
    """
    path = Path(source)
    if path.is_dir():
        path = path / FILE
    elif not path.exists() and not source.endswith(".json"):
        path = _download(source)
    return read_configuration(path)


def read_configuration(path: Path) -> PreTrainedConfig:
    """The text model's configuration in the file `path`; CompileError unless transformers accepts it."""
    try:
        content = json_of(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise CompileError(f"cannot read the file: {reason_of(error)}", where=str(path), accepted=ACCEPTED) from None
    except ValueError as error:
        raise CompileError(f"no JSON ({error})", where=str(path), accepted=ACCEPTED) from None
    if not isinstance(content, dict) or not isinstance(content.get("model_type"), str):
        raise CompileError("no model_type, which names the architecture", where=str(path), accepted=ACCEPTED)
    options = {key: value for key, value in content.items() if key != "model_type"}
    return make_configuration(content["model_type"], options, str(path))


def make_configuration(model_type: str, options: Mapping[str, Any], where: str) -> PreTrainedConfig:
    """The configuration class of an architecture with these options; for models that also see or hear, that of their text model.

    Raises CompileError naming `where` for an unknown architecture, options it refuses, and encoder-decoder models.
    """
    if model_type not in CONFIG_MAPPING:
        accepted = "an architecture of the installed transformers, such as llama, qwen3 or gemma3_text"
        raise CompileError(f"unknown architecture {model_type}", where=where, accepted=accepted)
    try:
        configuration = CONFIG_MAPPING[model_type].from_dict(dict(options)).get_text_config()
    except CONFIGURATION_ERRORS as error:
        reason = " ".join(str(error).split())[:200]
        raise CompileError(f"transformers refuses this configuration: {reason}", where=where) from None
    if configuration.is_encoder_decoder:
        raise CompileError(f"{model_type} is an encoder-decoder model", where=where, accepted="a model with one stack of layers")
    return configuration


def end_tokens(configuration: PreTrainedConfig, folder: Path | None) -> tuple[int, ...]:
    """The tokens that end a text: as generation_config.json in the model's folder says, else as its configuration does."""
    found = getattr(configuration, "eos_token_id", None)
    if folder is not None and (path := folder / GENERATION).is_file():
        try:
            found = json_of(path.read_text(encoding="utf-8")).get("eos_token_id", found)
        except (OSError, ValueError, AttributeError) as error:
            accepted = "transformers' generation_config.json"
            raise CompileError(f"cannot read the file ({error})", where=str(path), accepted=accepted) from None
    tokens = found if isinstance(found, list) else [] if found is None else [found]
    return tuple(int(token) for token in tokens)


def _download(model: str) -> Path:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        return Path(hf_hub_download(model, FILE))
    except (HFValidationError, HfHubHTTPError, OSError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise CompileError(f"no such file, and not on the hub: {reason}", where=model, accepted=ACCEPTED) from None
