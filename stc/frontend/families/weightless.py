"""Transformers models without memory for their matrices: only one layer of a model is ever needed."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager

import torch
from torch.nn.modules.module import register_module_parameter_registration_hook


@contextmanager
def weightless_matrices() -> Generator[None]:
    """Modules made meanwhile keep their matrices on the meta device; vectors and buffers are real, and as their class initialises
    them: whether a norm's gain is 0 or 1 at rest says whether it multiplies by w or by 1 + w.
    """

    def without_memory(_module: torch.nn.Module, _name: str, parameter: torch.nn.Parameter | None) -> torch.nn.Parameter | None:
        if parameter is None or parameter.dim() < 2:
            return None
        return torch.nn.Parameter(parameter.to("meta"), requires_grad=False)

    # Its annotation leaves out what its documentation says: the hook may return another parameter.
    handle = register_module_parameter_registration_hook(without_memory)  # pyright: ignore[reportArgumentType]
    try:
        yield
    finally:
        handle.remove()


def allocate(module: torch.nn.Module) -> None:
    """Give the module's matrices memory, with unspecified values, in place."""
    for owner, name, parameter in _meta_parameters(module):
        owner._parameters[name] = torch.nn.Parameter(torch.empty(parameter.shape, dtype=torch.float32), requires_grad=False)  # pyright: ignore[reportPrivateUsage]


def fill_with_zeros(module: torch.nn.Module) -> None:
    """Let the module's matrices read as zero, in place, without memory for them."""
    for owner, name, parameter in _meta_parameters(module):
        zeros = torch.zeros((1,) * parameter.dim(), dtype=torch.float32).expand(parameter.shape)
        owner._parameters[name] = torch.nn.Parameter(zeros, requires_grad=False)  # pyright: ignore[reportPrivateUsage]


def _meta_parameters(module: torch.nn.Module) -> Iterator[tuple[torch.nn.Module, str, torch.nn.Parameter]]:
    for owner in module.modules():
        for name, parameter in list(owner.named_parameters(recurse=False)):
            if parameter.is_meta:
                yield owner, name, parameter
