"""State that a module keeps in Python: attributes, containers, class attributes, globals and closures of its own code.

An exported program holds what `forward` read there as constants. A module that writes there computes something else at its next
call than the compiled design does; comparing the state before and after a run finds it, and names it.
"""

from __future__ import annotations

import functools
import inspect
import sys
import sysconfig
import zlib
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType, MethodType, ModuleType, SimpleNamespace

import numpy as np
import torch

Leaves = dict[str, object]
_SCALARS = (type(None), bool, int, float, complex, str, bytes, bytearray)
_CONTAINERS = (list, tuple, deque)
_LIBRARIES = (sysconfig.get_path("stdlib"), str(Path(torch.__file__).parents[1]), str(Path(__file__).parents[1]))
_OPAQUE_ROOTS = sys.stdlib_module_names | {"torch", "numpy"}
_OF_EVERY_MODULE = vars(torch.nn.Module()).keys() - {"training"}


def python_state(module: torch.nn.Module) -> Leaves:
    """All state that is reachable from `module`, by value, under names such as `inner.cache[0]` or `Net.calls`.

    Walks parameters, buffers, attributes, containers, objects of other classes than PyTorch's and the standard library's, and the
    class attributes, closures and globals that the user's own code names. An object is listed under the first name that leads
    to it.
    """
    leaves: Leaves = {}
    seen: set[int] = set()
    waiting: deque[tuple[str, object]] = deque([("", module)])
    while waiting:
        name, value = waiting.popleft()
        if not isinstance(value, _SCALARS):
            if id(value) in seen:
                continue
            seen.add(id(value))
        while name in leaves:  # two closures of one function
            name += "'"
        leaves[name] = _leaf(value)
        waiting.extend(_children(name, value))
    return leaves


def changed_state(before: Leaves, after: Leaves) -> str | None:
    """The name of the first difference, None if there is none."""
    return next((name for name in before | after if not _same(before.get(name, before), after.get(name, after))), None)


def _same(left: object, right: object) -> bool:
    try:
        return bool(left == right)
    except Exception:  # a user's class may compare as it likes
        return left is right


def _leaf(value: object) -> object:
    """What is compared: by value where that can be told, else the object itself."""
    if isinstance(value, torch.Tensor):
        return _tensor_leaf(value)
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, zlib.crc32(value.tobytes())
    if isinstance(value, _SCALARS):
        return type(value), repr(value)
    if isinstance(value, Mapping):
        return type(value), len(value), [_key(key) for key in value]
    if isinstance(value, set | frozenset):
        return type(value), sorted(map(_key, value))
    if isinstance(value, _CONTAINERS):
        return type(value), len(value)
    if isinstance(value, torch.Generator):
        return _tensor_leaf(value.get_state())
    return type(value) if _attributes(value) is not None or isinstance(value, MethodType | functools.partial) else value


def _tensor_leaf(tensor: torch.Tensor) -> object:
    kind = (tensor.dtype, tuple(tensor.shape), tensor.device)
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_meta or torch.nn.parameter.is_lazy(tensor):
        return (*kind, id(tensor))
    plain = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous().reshape(-1)
    return (*kind, zlib.crc32(plain.view(torch.uint8).numpy().tobytes()))


def _children(name: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        yield from ((f"{name}[{_key(key)}]", child) for key, child in value.items())
    elif isinstance(value, _CONTAINERS):
        yield from ((f"{name}[{index}]", child) for index, child in enumerate(value))
    elif isinstance(value, FunctionType):
        yield from _named_by_code(value)
    elif isinstance(value, MethodType):
        yield from ((name, value.__self__), (name, value.__func__))
    elif isinstance(value, functools.partial):
        yield from ((name, value.func), (name, value.args), (name, value.keywords))
    elif isinstance(value, type) and _is_users(value):
        yield from ((f"{value.__qualname__}.{key}", child) for key, child in vars(value).items() if not key.startswith("__"))
    if (attributes := _attributes(value)) is not None:
        prefix = f"{name}." if name else ""
        yield from ((f"{prefix}{key}", child) for key, child in attributes.items())
        yield from ((kind.__qualname__, kind) for kind in inspect.getmro(type(value)))


def _attributes(value: object) -> Mapping[str, object] | None:
    """The attributes of an object that is looked into, else None."""
    if isinstance(value, torch.nn.Module):
        own = {key: child for key, child in vars(value).items() if key not in _OF_EVERY_MODULE}
        return own | value._parameters | value._buffers | value._modules
    if isinstance(value, (type, FunctionType, ModuleType, torch.Tensor)):
        return None
    if not isinstance(value, SimpleNamespace) and type(value).__module__.split(".")[0] in _OPAQUE_ROOTS:
        return None
    return getattr(value, "__dict__", None)


def _named_by_code(function: FunctionType) -> Iterator[tuple[str, object]]:
    """What a function of the user's reads besides its arguments: its closure, and the globals it names."""
    if function.__code__.co_filename.startswith(_LIBRARIES):
        return
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield f"{function.__qualname__}.{name}", cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    names = function.__code__.co_names
    yield from ((f"global {name}", function.__globals__[name]) for name in names if name in function.__globals__)


def _is_users(kind: type) -> bool:
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    return file is not None and not file.startswith(_LIBRARIES)


def _key(key: object) -> str:
    return repr(key) if isinstance(key, _SCALARS) else f"{type(key).__name__} {id(key)}"
