"""The reference: PyTorch's eager results, of a module that computes them from its inputs and parameters alone."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import numpy as np
import torch
from torch.utils import _pytree as pytree

from stc.diagnostics import CompileError
from stc.frontend.arrays import to_numpy, to_tensor
from stc.frontend.draws import REDRAWN, inputs_of
from stc.frontend.python_state import changed_state, python_state
from stc.frontend.user_code import UserCode

NO_MUTATION = (
    "a module that leaves its inputs, buffers and attributes as they are, and returns what is new; what it only caches, "
    "made by a run before it is compiled"
)
ALWAYS_THE_SAME = "modules that always compute the same, with state and random numbers as inputs"
REPEATED = 1e-5
"""By how much floats may differ when a run is repeated, relative to the tensor's largest: sums may be split by memory alignment."""

Tensors = Mapping[str, torch.Tensor]


def reference_results(module: torch.nn.Module, inputs: Tensors, positional: int, name: str) -> dict[str, torch.Tensor]:
    """`run_eagerly`, of a module that keeps nothing from call to call.

    CompileError where it changes any state that can be found, or gives other results when it is run again after a run on other
    inputs.
    """
    state = python_state(module.eval())
    golden = run_eagerly(module, inputs, positional, name)
    _refuse_change(state, module, name)
    with suppress(CompileError):  # other values need not be valid inputs
        run_eagerly(module, _redrawn(inputs), positional, name)
    _refuse_change(state, module, name)
    again = run_eagerly(module, inputs, positional, name)
    for key, value in golden.items():
        if key not in again or not _equal(value, again[key]):
            what = f"the module gives another {key} when it is run again on the same inputs"
            raise CompileError(what, where=name, accepted=ALWAYS_THE_SAME)
    return golden


def run_eagerly(
    module: torch.nn.Module, inputs: Tensors, positional: int, name: str, part: frozenset[str] = frozenset()
) -> dict[str, torch.Tensor]:
    """The named results of `module`, the first `positional` inputs given by position. Of those in `part` nothing may be there.

    CompileError where it raises, returns no tensor or an empty one, or changes an input.
    """
    values = {key: value.clone() for key, value in inputs.items()}
    before = _identities(values)
    positions = tuple(values)[:positional]
    purpose = "the module does not run on its inputs"
    with (
        UserCode(name, "inputs on which the module runs", purpose=purpose, module=module.eval()),
        torch.random.fork_rng(devices=[]),
    ):
        torch.manual_seed(0)  # PyTorch's random numbers are refused where they are drawn, with the operation's name
        result = module(*(values[key] for key in positions), **{key: values[key] for key in values if key not in positions})
    for key, identity in _identities(values).items():
        if identity != before[key]:
            raise CompileError(f"the module changes {key}", where=name, accepted=NO_MUTATION)
    return _checked_results(result, {key: value for key, value in inputs.items() if key not in part}, name)


def _refuse_change(before: Mapping[str, object], module: torch.nn.Module, name: str) -> None:
    if (changed := changed_state(dict(before), python_state(module))) is not None:
        raise CompileError(f"the module changes {changed}", where=name, accepted=NO_MUTATION)


def _redrawn(inputs: Tensors) -> dict[str, torch.Tensor]:
    """Other inputs of the same kind: those that the design is checked with besides the example."""
    example = {key: to_numpy(value, key) for key, value in inputs.items()}
    drawn = inputs_of(REDRAWN, example, np.random.default_rng(0))
    return {key: to_tensor(array, inputs[key]) for key, array in drawn.items()}


def _equal(left: torch.Tensor, right: torch.Tensor) -> bool:
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    if not (left.is_floating_point() or left.is_complex()):
        return torch.equal(left, right)
    magnitude = left.abs().nan_to_num(0.0, 0.0, 0.0).amax().item()
    return torch.allclose(left, right, rtol=REPEATED, atol=REPEATED * magnitude, equal_nan=True)


def module_state(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters, then buffers (persistent or not), by name; tied parameters appear once."""
    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    return {name: value if torch.nn.parameter.is_lazy(value) else value.detach() for name, value in state.items()}


def named_tensors(result: object) -> list[tuple[str, torch.Tensor]]:
    """The tensors of a module's result with names: `out` for one, `out0`, `out1`, ... or the keys of a dictionary for several."""
    leaves = [(path, leaf) for path, leaf in pytree.tree_flatten_with_path(result)[0] if isinstance(leaf, torch.Tensor)]
    if len(leaves) == 1:
        return [("out", leaves[0][1])]
    return [(_output_name(path, index), leaf) for index, (path, leaf) in enumerate(leaves)]


def _output_name(path: pytree.KeyPath, index: int) -> str:
    first = path[0] if len(path) == 1 else None
    return str(first.key) if isinstance(first, pytree.MappingKey) else f"out{index}"


def _identities(tensors: Tensors) -> dict[str, tuple[int, int]]:
    """Changes when a tensor is overwritten."""
    return {key: (value.data_ptr(), value._version) for key, value in tensors.items()}


def _checked_results(result: object, inputs: Tensors, name: str) -> dict[str, torch.Tensor]:
    named = named_tensors(result)
    golden = dict(named)
    if len(golden) != len(named):
        names = [key for key, _ in named]
        twice = next(key for key in names if names.count(key) > 1)
        accepted = "keys that differ as text, or a tuple of tensors"
        raise CompileError(f"two outputs are called '{twice}'", where=name, accepted=accepted)
    if not golden:
        raise CompileError("the module returns no tensor", where=name, accepted="a tensor, or a tuple or dictionary of tensors")
    for key, value in {**inputs, **golden}.items():
        if value.numel() == 0:
            raise CompileError(f"{key} has shape {tuple(value.shape)}", where=name, accepted="tensors with at least one element")
    return golden
