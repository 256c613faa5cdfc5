"""State that a module keeps in Python: attributes, containers, class attributes, and what its own code keeps outside of objects.

An exported program holds what `forward` read there as constants. A module that writes there computes something else at its next
call than the compiled design does; comparing the state before and after a run finds it, and names it.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import sysconfig
import zlib
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import (
    BuiltinMethodType,
    CodeType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
)

import numpy as np
import torch

from stc.frontend.wrapped_tensors import inner_tensors

Leaves = dict[str, object]
_SCALARS = (type(None), bool, int, float, complex, str, bytes, bytearray)
_CONTAINERS = (list, tuple, deque)
_LIBRARIES = tuple(
    str(folder) + os.sep for folder in (sysconfig.get_path("stdlib"), Path(torch.__file__).parents[1], Path(__file__).parents[1])
)
_OPAQUE_ROOTS = sys.stdlib_module_names | {"torch", "numpy"}
_OF_EVERY_MODULE = vars(torch.nn.Module()).keys() - {"training", "_forward_hooks", "_forward_pre_hooks"}
_CACHED = functools._lru_cache_wrapper  # pyright: ignore[reportPrivateUsage]
_PARTS: dict[type, tuple[str, ...]] = {
    MethodType: ("__self__", "__func__"),
    BuiltinMethodType: ("__self__",),
    MethodWrapperType: ("__self__",),
    functools.partial: ("func", "args", "keywords", "__dict__"),
    functools.partialmethod: ("func", "args", "keywords"),
    functools.cached_property: ("func",),
    _CACHED: ("__wrapped__", "__dict__"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    property: ("fget", "fset", "fdel"),
}
"""What calls something else when it is called, or read as an attribute, and where it keeps that."""
_CALLED = (FunctionType, *_PARTS)


def python_state(module: torch.nn.Module) -> Leaves:
    """All state that is reachable from `module`, by value, under names such as `inner.cache[0]` or `Net.calls`.

    Walks parameters, buffers, attributes and slots, hooks, containers, objects of other classes than PyTorch's and the standard
    library's, their class attributes, and what the user's own functions reach, also those that a library's decorator wraps: their
    closures, defaults and attributes, and the globals that they name, in the user's other modules too. Of an `lru_cache`, counts
    what it computed. An object is listed under the first name that leads to it.
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
    if isinstance(value, _CACHED) and _is_users(value):
        return value.cache_info().misses, value.cache_info().currsize  # hits give what was there before
    return type(value) if _attributes(value) is not None or isinstance(value, MethodType | functools.partial) else value


def _tensor_leaf(tensor: torch.Tensor) -> object:
    kind = (tensor.dtype, tuple(tensor.shape), tensor.device)
    if inner := inner_tensors(tensor):
        return (*kind, tuple((name, _tensor_leaf(value)) for name, value in inner.items()))
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
        yield from _of_function(name, value)
    elif isinstance(value, type):
        yield from _of_class(value)
    for kind, parts in _PARTS.items():
        if isinstance(value, kind):
            yield from ((f"{name}.{part}", getattr(value, part)) for part in parts)
    if (attributes := _attributes(value)) is not None:
        prefix = f"{name}." if name else ""
        yield from ((f"{prefix}{key}", child) for key, child in attributes.items())
        yield from ((kind.__qualname__, kind) for kind in inspect.getmro(type(value)))


def _attributes(value: object) -> Mapping[str, object] | None:
    """The attributes of an object that is looked into, else None."""
    if isinstance(value, torch.nn.Module):
        own = {key: child for key, child in vars(value).items() if key not in _OF_EVERY_MODULE}
        return own | value._parameters | value._buffers | value._modules  # pyright: ignore[reportPrivateUsage]
    if isinstance(value, (type, FunctionType, ModuleType, torch.Tensor)):
        return None
    kind = type(value)
    if not isinstance(value, SimpleNamespace) and kind.__module__.split(".")[0] in _OPAQUE_ROOTS and not _is_users(kind):
        return None
    slots = _slots(value)
    return slots | getattr(value, "__dict__", {}) if slots or hasattr(value, "__dict__") or _is_users(kind) else None


def _slots(value: object) -> dict[str, object]:
    """What is assigned in the `__slots__` of all classes of an object."""
    slots: dict[str, object] = {}
    for kind in reversed(inspect.getmro(type(value))):
        for key, slot in vars(kind).items():
            if isinstance(slot, MemberDescriptorType):
                with suppress(AttributeError):  # not assigned yet
                    slots[key] = slot.__get__(value)
    return slots


def _of_class(kind: type) -> Iterator[tuple[str, object]]:
    """The attributes and methods of a class of the user's, and its bases; names such as `__doc__` are no state."""
    if not _is_users(kind):
        return
    for key, child in vars(kind).items():
        if not key.startswith("__") or isinstance(child, _CALLED):
            yield f"{kind.__qualname__}.{key}", child
    yield from ((base.__qualname__, base) for base in inspect.getmro(kind)[1:])


def _of_function(name: str, function: FunctionType) -> Iterator[tuple[str, object]]:
    """What a function of the user's reads besides its arguments; of a library's, the functions that it wraps."""
    retained = [*_closure(function), *_defaults(function), *vars(function).items()]
    if function.__code__.co_filename.startswith(_LIBRARIES):
        yield from ((name, child) for _, child in retained if isinstance(child, _CALLED))
        return
    yield from ((f"{function.__qualname__}.{key}", child) for key, child in retained)
    yield from _globals(function)


def _closure(function: FunctionType) -> Iterator[tuple[str, object]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # not assigned yet
            yield name, cell.cell_contents


def _defaults(function: FunctionType) -> Iterator[tuple[str, object]]:
    positional = function.__code__.co_varnames[: function.__code__.co_argcount]
    yield from zip(reversed(positional), reversed(function.__defaults__ or ()), strict=False)
    yield from (function.__kwdefaults__ or {}).items()


def _globals(function: FunctionType) -> Iterator[tuple[str, object]]:
    """The globals that a function names, and what it names of the user's modules among them or of those that it imports."""
    names = dict.fromkeys(_names(function.__code__))
    imported = {name: sys.modules[name] for name in names if name in sys.modules and _is_users_file(sys.modules[name])}
    spaces: list[tuple[str, Mapping[str, object]]] = [("global ", function.__globals__), ("global ", imported)]
    opened: set[int] = set()
    for prefix, space in spaces:
        for name in names:
            child = space.get(name, space)
            if isinstance(child, ModuleType) and _is_users_file(child) and id(child) not in opened:
                opened.add(id(child))
                spaces.append((f"{prefix}{name}.", vars(child)))
            elif child is not space:
                yield f"{prefix}{name}", child


def _names(code: CodeType) -> Iterator[str]:
    """The names that code mentions, also in the functions within it, and as strings, as in `getattr(settings, "scale")`."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
        elif isinstance(constant, str):
            yield constant


def _is_users(defined: object) -> bool:
    """Whether a class or function is defined in a file of the user's, or in none, as in a notebook."""
    module = sys.modules.get(defined.__module__)
    return _is_users_file(module) if hasattr(module, "__file__") else defined.__module__.split(".")[0] not in _OPAQUE_ROOTS


def _is_users_file(module: ModuleType | None) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and not file.startswith(_LIBRARIES)


def _key(key: object) -> str:
    return repr(key) if isinstance(key, _SCALARS) else f"{type(key).__name__} {id(key)}"
