"""Models from a user's Python file: `file.py:factory`, where `factory()` returns `(module, example_inputs)`."""

from __future__ import annotations

import importlib.util
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

import torch

from stc.diagnostics import CompileError

USER_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)
"""What a user's file may raise; refusals made with `CompileError` pass unchanged."""

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
        try:
            factory = getattr(_import(path), name, None)
            result = factory() if callable(factory) else None
        except USER_ERRORS as error:
            raise CompileError(f"{type(error).__name__}: {_one_line(error)}", where=_place(error, path)) from None
    if not callable(factory):
        raise CompileError(f"no function {name}", where=path_text, accepted="a function that returns (module, example_inputs)")
    return _checked(result, spec)


def _import(path: Path) -> ModuleType:
    description = importlib.util.spec_from_file_location(f"stc_user_{path.stem}", path)
    assert description is not None and description.loader is not None
    module = importlib.util.module_from_spec(description)
    description.loader.exec_module(module)
    return module


def _checked(result: object, spec: str) -> tuple[torch.nn.Module, Inputs]:
    accepted = "(torch.nn.Module, example inputs: a sequence or mapping of tensors)"
    if not isinstance(result, tuple) or len(result) != 2:
        raise CompileError(f"the factory returned {type(result).__name__}", where=spec, accepted=accepted)
    module, inputs = result
    if not isinstance(module, torch.nn.Module):
        raise CompileError(f"the factory returned {type(module).__name__} as module", where=spec, accepted=accepted)
    if isinstance(inputs, torch.Tensor):
        inputs = (inputs,)
    values = list(inputs.values()) if isinstance(inputs, Mapping) else inputs
    if not isinstance(values, Sequence) or not all(isinstance(value, torch.Tensor) for value in values):
        raise CompileError(f"the factory returned {type(inputs).__name__} as inputs", where=spec, accepted=accepted)
    return module, inputs


def _place(error: BaseException, path: Path) -> str:
    """`file:line` of the last line of the user's file that was running."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f"{path}:{error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == path.absolute()]
    frames += [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"{path}:{frames[-1].lineno}" if frames else str(path)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
