"""Real weights: from a local folder of safetensors files, or from the hub where the user asks for it."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import safetensors
import torch

from stc.diagnostics import CompileError
from stc.frontend.packed_checkpoint import CONFIGURATIONS, PACKED_TENSORS, unpacked_layers
from stc.quantisation.packed_linear import PackedLinear

HUB = "hub:"
WEIGHTS_ACCEPTED = f"a folder with *.safetensors files, or {HUB}ORGANISATION/MODEL"


def load_weights(module: torch.nn.Module, source: str, *, prefixes: Sequence[str] = ("",), ignored: Sequence[str] = ()) -> None:
    """Replace all parameters of `module` in place by those of a checkpoint.

    `source` is a folder, or `hub:ID`, the only form that uses the network. The checkpoint stores the module under one of
    `prefixes`; names below it that are in `ignored` (buffers of old versions) are skipped. f16 and bf16 are widened to the
    parameter's dtype. Linear layers that the checkpoint has in the format of GPTQ or AWQ are replaced by `PackedLinear`. Raises
    CompileError for a missing folder, a truncated file, a missing or superfluous name, a wrong shape or dtype, an unknown format of
    packed layers; nothing is replaced then.
    """
    folder = _download(source.removeprefix(HUB)) if source.startswith(HUB) else Path(source)
    files = _files(folder)
    names = _names(files)
    prefix = _prefix(names, prefixes, folder)
    found = {name.removeprefix(prefix): file for name, file in names.items() if name.startswith(prefix)}
    packed = unpacked_layers(module, found, lambda name: _tensor(found[name], prefix + name), prefix, folder)
    unpacked = {f"{path}.{name}" for path in packed for name in ("weight", *PACKED_TENSORS)}
    required = {name: parameter for name, parameter in module.named_parameters() if name not in unpacked}
    _compare_names({name: file for name, file in found.items() if name not in unpacked}, required, prefix, ignored, folder)
    values = {name: _read(found[name], prefix + name, parameter) for name, parameter in required.items()}
    with torch.no_grad():
        for name, parameter in required.items():
            parameter.copy_(values[name])
    for path, weight in packed.items():
        bias = module.get_submodule(path).bias
        module.set_submodule(path, PackedLinear(weight, bias.detach() if isinstance(bias, torch.Tensor) else None))


def _download(model: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(model, allow_patterns=["*.safetensors", *CONFIGURATIONS]))
    except (HFValidationError, HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise CompileError(f"cannot fetch weights from the hub: {reason}", where=model, accepted=WEIGHTS_ACCEPTED) from None


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise CompileError("no such folder", where=str(folder), accepted=WEIGHTS_ACCEPTED)
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise CompileError("the folder has no *.safetensors file", where=str(folder), accepted=WEIGHTS_ACCEPTED)
    return files


@contextmanager
def _opened(file: Path) -> Generator[safetensors.safe_open]:
    try:
        with safetensors.safe_open(file, framework="pt") as handle:
            yield handle
    except (safetensors.SafetensorError, OSError) as error:
        raise CompileError(f"the file is truncated or no safetensors file ({error})", where=str(file)) from None


def _names(files: Sequence[Path]) -> dict[str, Path]:
    names: dict[str, Path] = {}
    for file in files:
        with _opened(file) as handle:
            for name in handle.keys():  # noqa: SIM118 (not a dictionary)
                names[name] = file
    return names


def _prefix(names: Mapping[str, Path], prefixes: Sequence[str], folder: Path) -> str:
    for prefix in prefixes:
        if any(name.startswith(prefix) for name in names):
            return prefix
    sample = ", ".join(sorted(names)[:3])
    expected = " or ".join(f"{prefix}..." for prefix in prefixes)
    raise CompileError(f"no tensor of this layer (found {sample}, ...)", where=str(folder), accepted=f"names {expected}")


def _compare_names(
    found: Mapping[str, Path], required: Mapping[str, torch.Tensor], prefix: str, ignored: Sequence[str], folder: Path
) -> None:
    missing = [name for name in required if name not in found]
    if missing:
        shape = tuple(required[missing[0]].shape)
        raise CompileError(f"tensor {prefix}{missing[0]} of shape {shape} is missing", where=str(folder))
    extra = [name for name in found if name not in required and name not in ignored]
    if extra:
        raise CompileError(f"tensor {prefix}{extra[0]} is not a parameter of the model", where=str(folder))


def _tensor(file: Path, name: str) -> torch.Tensor:
    with _opened(file) as handle:
        return handle.get_tensor(name)


def _read(file: Path, name: str, parameter: torch.Tensor) -> torch.Tensor:
    value = _tensor(file, name)
    if value.shape != parameter.shape:
        expected = f"shape {tuple(parameter.shape)}"
        raise CompileError(f"tensor {name} has shape {tuple(value.shape)}", where=str(file), accepted=expected)
    if not value.is_floating_point():
        raise CompileError(f"tensor {name} has dtype {value.dtype}", where=str(file), accepted="floating point")
    return value.to(parameter.dtype)
