"""Models from a user's Python file: `file.py:factory`, where `factory()` returns `(module, example_inputs)`."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

import torch

from stc.diagnostics import CompileError
from stc.frontend.user_code import UserCode

ACCEPTED = "(torch.nn.Module, example inputs: a sequence or mapping of tensors)"

Inputs = Sequence[torch.Tensor] | Mapping[str, torch.Tensor]


def build_from_factory(spec: str, seed: int) -> tuple[torch.nn.Module, Inputs]:
    """Run `file.py:factory` with torch's generator seeded, and check what it returns.

    Raises CompileError if the file or the factory is missing, raises, or does not return `(torch.nn.Module, inputs)` with inputs a
    sequence or a mapping of tensors.
    """
    path_text, _, name = spec.rpartition(":")
    if not path_text or not name:
        raise CompileError("the factory is not named", where=spec, accepted="file.py:factory")
    path = Path(path_text)
    if not path.is_file():
        raise CompileError("no such file", where=path_text, accepted="file.py:factory")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        with UserCode(spec, f"a factory that returns {ACCEPTED}"):
            factory = getattr(_import(path), name, None)
            result = factory() if callable(factory) else None
    if not callable(factory):
        raise CompileError(f"no function {name}", where=path_text, accepted=f"a function that returns {ACCEPTED}")
    return _checked(result, spec)


def _import(path: Path) -> ModuleType:
    description = importlib.util.spec_from_file_location(f"stc_user_{path.stem}", path)
    assert description is not None and description.loader is not None
    module = importlib.util.module_from_spec(description)
    # Dataclasses and pickles look their module up by name.
    sys.modules[description.name] = module
    if (folder := str(path.parent.absolute())) not in sys.path:
        sys.path.insert(0, folder)  # modules beside the file, also those that are imported while it runs
    description.loader.exec_module(module)
    return module


def _checked(result: object, spec: str) -> tuple[torch.nn.Module, Inputs]:
    if not isinstance(result, tuple) or len(result) != 2:
        raise CompileError(f"the factory returned {type(result).__name__}", where=spec, accepted=ACCEPTED)
    module, inputs = result
    if not isinstance(module, torch.nn.Module):
        raise CompileError(f"the factory returned {type(module).__name__} as module", where=spec, accepted=ACCEPTED)
    if isinstance(inputs, torch.Tensor):
        inputs = (inputs,)
    values = list(inputs.values()) if isinstance(inputs, Mapping) else inputs
    if not isinstance(values, Sequence) or not all(isinstance(value, torch.Tensor) for value in values):
        raise CompileError(f"the factory returned {type(inputs).__name__} as inputs", where=spec, accepted=ACCEPTED)
    return module, inputs
