"""Submodules that PyTorch runs on the host, between kernels: the exported function returns what they take, and takes what they
give.

While the model is exported, `forward` of such a submodule is replaced: nothing of it is traced, whatever it does. For host.py each
is kept as a program of torch.export; where that cannot trace it (control flow that depends on data), as the user's file with the
factory that makes it, and its state.
"""

from __future__ import annotations

import ast
import io
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils import _pytree as pytree

from stc.diagnostics import CompileError
from stc.frontend.arrays import to_numpy
from stc.frontend.exported import HostPart, HostSource, Reference
from stc.frontend.silent_torch import silent_torch
from stc.names import identifier

Forward = Callable[..., Any]
Structure = tuple[list[Any], pytree.TreeSpec]
"""Leaves, with a mark in place of each tensor, and what holds them."""
_CONSTANTS = (type(None), bool, int, float, str)


@dataclass(frozen=True)
class Call:
    """One call of a submodule: the tensors among its arguments and results, and the structures that hold them."""

    path: str
    takes: tuple[torch.Tensor, ...]
    gives: tuple[torch.Tensor, ...]
    arguments: Structure = field(repr=False)
    result: Structure = field(repr=False)

    def result_of(self, gives: Sequence[torch.Tensor]) -> Any:
        """What the submodule would return with these tensors."""
        return _filled(self.result, gives)

    def called(self, forward: Forward, takes: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """The tensors that `forward` returns for these."""
        positional, keywords = _filled(self.arguments, takes)
        return tuple(_tensors(forward(*positional, **keywords)))


@dataclass(frozen=True)
class Factory:
    """Where a module comes from: `factory` of a user's file, with PyTorch's random numbers from `seed`."""

    file: Path
    name: str
    seed: int


class HostCut:
    """The submodules of `module` at `paths`, which stay with PyTorch; `name` stands for the module in messages.

    CompileError for a path that is none, and for one within another.
    """

    def __init__(self, module: torch.nn.Module, paths: Sequence[str], name: str):
        self._module, self._name = module, name
        self._parts = {path: _submodule(module, path, name) for path in dict.fromkeys(paths)}
        for path in self._parts:
            if outer := next((other for other in self._parts if path.startswith(f"{other}.")), None):
                raise CompileError(f"--host {path} lies within --host {outer}", where=name, accepted="one of both")
        for path, part in self._parts.items():
            if (first := next(other for other, known in self._parts.items() if known is part)) != path:
                raise CompileError(f"--host {path} is the same submodule as --host {first}", where=name, accepted="one of both")
        self._calls: list[Call] = []
        self._names: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = []

    def examine(self, run: Callable[[], object], taken: Sequence[str]) -> None:
        """Find out what the submodules take and give in a run on the example. `taken`: names that are in use.

        CompileError for one that is never called, or takes or gives something else than tensors and constants.
        """
        with self.recorded() as calls:
            run()
        if missing := [path for path in self._parts if path not in {call.path for call in calls}]:
            raise CompileError("the submodule is never called", where=f"--host {missing[0]}", accepted="submodules that run")
        self._calls, used, counts = calls, set(taken), dict.fromkeys(self._parts, 0)
        for call in calls:
            counts[call.path] += 1
            name = call.path if counts[call.path] == 1 else f"{call.path}#{counts[call.path]}"
            takes, gives = (_names(identifier(name), *side, used) for side in (("in", len(call.takes)), ("out", len(call.gives))))
            self._names.append((name, takes, gives))

    @property
    def takes(self) -> dict[str, torch.Tensor]:
        """What all of them take on the example, by name."""
        return {name: value for call, (_, names, _) in zip(self._calls, self._names, strict=True)
                for name, value in zip(names, call.takes, strict=True)}

    @property
    def gives(self) -> dict[str, torch.Tensor]:
        """What all of them give on the example, by name."""
        return {name: value for call, (_, _, names) in zip(self._calls, self._names, strict=True)
                for name, value in zip(names, call.gives, strict=True)}

    @property
    def sides(self) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
        """Of each call its name, and the names of what it takes and gives."""
        return list(self._names)

    def without_own(self, state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """The parameters and buffers that not only these submodules have."""
        every = [*self._module.named_parameters(remove_duplicate=False), *self._module.named_buffers(remove_duplicate=False)]
        inside = tuple(f"{path}." for path in self._parts)
        others = {id(tensor) for name, tensor in every if not name.startswith(inside)}
        canonical = dict([*self._module.named_parameters(), *self._module.named_buffers()])
        return {name: value for name, value in state.items() if not self._parts or id(canonical[name]) in others}

    @contextmanager
    def recorded(self) -> Generator[list[Call]]:
        """Every call of the submodules meanwhile. CompileError for one that changes what it takes."""
        calls: list[Call] = []

        def recording(path: str, forward: Forward) -> Forward:
            def run(*positional: Any, **keywords: Any) -> Any:
                taken, arguments = _split((positional, keywords), path, "is called with")
                takes = tuple(tensor.clone() for tensor in taken)
                versions, random = [tensor._version for tensor in taken], torch.get_rng_state()
                result = forward(*positional, **keywords)
                if not torch.equal(random, torch.get_rng_state()):
                    accepted = "submodules that always compute the same"
                    raise CompileError("the submodule draws random numbers", where=f"--host {path}", accepted=accepted)
                if versions != [tensor._version for tensor in taken]:
                    accepted = "submodules that leave their inputs as they are"
                    raise CompileError("the submodule changes its input in place", where=f"--host {path}", accepted=accepted)
                given, structure = _split(result, path, "returns")
                if numbers := [leaf for leaf in structure[0] if isinstance(leaf, bool | int | float)]:
                    what = f"the submodule returns the number {numbers[0]}, which may depend on data"
                    raise CompileError(what, where=f"--host {path}", accepted="tensors as its results, or no --host")
                if not taken or not given:
                    what = f"the submodule {'returns' if taken else 'takes'} no tensor"
                    raise CompileError(what, where=f"--host {path}", accepted="submodules from tensors to tensors")
                calls.append(Call(path, takes, tuple(tensor.clone() for tensor in given), arguments, structure))
                return result

            return run

        with self._replaced(recording):
            yield calls

    @contextmanager
    def given(self, gives: Sequence[torch.Tensor]) -> Generator[list[torch.Tensor]]:
        """Meanwhile calls give these tensors, one call after the other; the list gets what they take."""
        takes: list[torch.Tensor] = []
        left, calls = iter(gives), iter(self._calls)

        def standing_in(path: str, _: Forward) -> Forward:
            def run(*positional: Any, **keywords: Any) -> Any:
                call = next(calls, None)
                if call is None or call.path != path:
                    what = "the submodule is called otherwise when the model is exported"
                    accepted = "submodules that are called as often on all inputs, in one order"
                    raise CompileError(what, where=f"--host {path}", accepted=accepted)
                # Clones: either side may write to its own in place.
                taken, arguments = _split((positional, keywords), path, "is called with")
                if arguments != call.arguments:
                    what = "the submodule is called with other constants when the model is exported"
                    raise CompileError(what, where=f"--host {path}", accepted="numbers and texts that do not depend on data")
                takes.extend(tensor.clone() for tensor in taken)
                return call.result_of([next(left).clone() for _ in call.gives])

            return run

        with self._replaced(standing_in):
            yield takes

    def arrays(self, calls: Sequence[Call]) -> dict[str, np.ndarray]:
        """What was taken and given in a run, by name; CompileError where that is not like on the example."""
        if [_form(call) for call in calls] != [_form(call) for call in self._calls]:
            accepted = "submodules whose calls, constants and shapes do not depend on values"
            raise CompileError(f"{', '.join(self._parts)} run otherwise on other inputs", where=self._name, accepted=accepted)
        found: dict[str, np.ndarray] = {}
        for call, (_, takes, gives) in zip(calls, self._names, strict=True):
            named = zip((*takes, *gives), (*call.takes, *call.gives), strict=True)
            found |= {name: to_numpy(value, name) for name, value in named}
        return found

    def moved(self, reference: Reference) -> Reference:
        """What submodules give is an input of the compiled function."""
        gives = self.gives
        given = {name: reference.golden[name] for name in gives}
        rest = {name: array for name, array in reference.golden.items() if name not in gives}

        def moves() -> dict[str, np.ndarray]:
            return {name: array for name, array in reference.uncertainty.items() if name not in gives}

        return replace(reference, inputs={**reference.inputs, **given}, golden=rest, moves=moves)

    def parts(self, factory: Factory | None) -> tuple[HostPart, ...]:
        """One for each call, with what host.py runs; CompileError where that can be neither exported nor made again."""
        sources: dict[str, HostSource] = {}
        found: list[HostPart] = []
        for call, (name, takes, gives) in zip(self._calls, self._names, strict=True):
            program, reason = _program(self._parts[call.path], call)
            if program is None and call.path not in sources:
                sources[call.path] = self._source(call, factory, reason)
            found.append(HostPart(name, call.path, takes, gives, program, None if program else sources[call.path], reason))
        return tuple(found)

    def _source(self, call: Call, factory: Factory | None, reason: str) -> HostSource:
        where, why = f"--host {call.path}", f"torch.export cannot trace the submodule ({reason})"
        if factory is None:
            raise CompileError(f"{why}, and no file says how to make it", where=where, accepted="a model from file.py:factory")
        positional, keywords = _filled(call.arguments, call.takes)
        values = (*positional, *keywords.values())
        if not all(isinstance(value, torch.Tensor) for value in values):
            raise CompileError(f"{why}, and is called with more than tensors", where=where, accepted="tensors as its arguments")
        part, stored = self._parts[call.path], io.BytesIO()
        torch.save({name: tensor.detach() for name, tensor in (*part.named_parameters(), *part.named_buffers())}, stored)
        files = user_files(factory.file)
        return HostSource(f"{factory.file.name}:{factory.name}", factory.seed, tuple(keywords), stored.getvalue(), files)

    @contextmanager
    def _replaced(self, by: Callable[[str, Forward], Forward]) -> Generator[None]:
        own = {path: part.__dict__.get("forward") for path, part in self._parts.items()}
        for path, part in self._parts.items():
            part.__dict__["forward"] = by(path, part.forward)
        try:
            yield
        finally:
            for path, part in self._parts.items():
                del part.__dict__["forward"]
                if own[path] is not None:
                    part.__dict__["forward"] = own[path]


def _submodule(module: torch.nn.Module, path: str, name: str) -> torch.nn.Module:
    known = dict(module.named_modules(remove_duplicate=False))
    if not path:
        raise CompileError("--host names the whole model, of which nothing would be left to compile", where=name,
                           accepted="a submodule's path")
    if path not in known:
        near = get_close_matches(path, [other for other in known if other], n=3)
        hint = f", did you mean {' or '.join(repr(other) for other in near)}?" if near else ""
        names = [other for other in known if other]
        accepted = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "") or "no --host: the model has no submodules"
        raise CompileError(f"there is no submodule '{path}'{hint}", where=f"--host {path}", accepted=accepted)
    return known[path]


def _names(stem: str, kind: str, count: int, used: set[str]) -> tuple[str, ...]:
    """Names of `count` tensors, which are none of `used` and join them."""
    found: list[str] = []
    for index in range(count):
        name = f"{stem}_{kind}{index if count > 1 else ''}"
        while name in used:
            name += "_"
        used.add(name)
        found.append(name)
    return tuple(found)


def _tensors(value: object) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _split(value: object, path: str, verb: str) -> tuple[list[torch.Tensor], Structure]:
    """The tensors in a value, and the rest of it; CompileError where tensors may hide in a leaf."""
    leaves, structure = pytree.tree_flatten(value)
    for leaf in leaves:
        if not isinstance(leaf, (torch.Tensor, *_CONSTANTS)):
            what = f"the submodule {verb} a {type(leaf).__name__}"
            accepted = "tensors, numbers and texts, in tuples, lists and dictionaries"
            raise CompileError(what, where=f"--host {path}", accepted=accepted)
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)], ([_place(leaf) for leaf in leaves], structure)


_TENSOR = object()
"""The mark of a tensor."""


def _place(leaf: object) -> object:
    return _TENSOR if isinstance(leaf, torch.Tensor) else leaf


def _filled(structure: Structure, tensors: Sequence[torch.Tensor]) -> Any:
    left, (leaves, holder) = iter(tensors), structure
    return pytree.tree_unflatten([next(left) if leaf is _TENSOR else leaf for leaf in leaves], holder)


def _form(call: Call) -> object:
    """What of a call is the same on all inputs."""
    return call.path, call.arguments, call.result, [(tensor.shape, tensor.dtype) for tensor in (*call.takes, *call.gives)]


def _alike(found: Sequence[torch.Tensor], wanted: Sequence[torch.Tensor]) -> bool:
    """Whether these are the same tensors but for the order of sums."""
    forms = [[(tensor.shape, tensor.dtype) for tensor in side] for side in (found, wanted)]
    return forms[0] == forms[1] and all(torch.allclose(*pair, equal_nan=True) for pair in zip(found, wanted, strict=True))


class _OnTensors(torch.nn.Module):
    """A submodule as a function of the tensors of a call."""

    def __init__(self, part: torch.nn.Module, call: Call):
        super().__init__()
        self.part = part
        self._call = call

    def forward(self, *takes: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return self._call.called(self.part, takes)


def _program(part: torch.nn.Module, call: Call) -> tuple[bytes | None, str]:
    """The submodule as torch.export stores it; None with the reason where it cannot be traced, or gives something else then."""
    stored = io.BytesIO()
    try:
        with warnings.catch_warnings(), torch.no_grad(), silent_torch():
            warnings.simplefilter("ignore")
            program = torch.export.export(_OnTensors(part, call).eval(), call.takes, strict=False)
            torch.export.save(program, stored)
            loaded = torch.export.load(io.BytesIO(stored.getvalue())).module()
            alike = _alike(_tensors(loaded(*(tensor.clone() for tensor in call.takes))), call.gives)
    except Exception as error:  # whatever a user's module makes torch.export raise
        return None, _first_line(error)
    return (stored.getvalue(), "") if alike else (None, "its program gives other values")


def _first_line(error: Exception) -> str:
    if isinstance(error, GuardOnDataDependentSymNode):
        return "control flow or a shape depends on data"
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0].strip()[:120]}" if lines else type(error).__name__


def user_files(file: Path) -> dict[str, bytes]:
    """A user's file, and what it imports from its folder, by the path from that folder."""
    folder = file.absolute().parent
    found: dict[str, bytes] = {}
    pending = [file.absolute()]
    while pending:
        path = pending.pop()
        if (name := path.relative_to(folder).as_posix()) not in found:
            found[name] = path.read_bytes()
            pending += [beside for module in _imported(found[name]) for beside in _beside(folder, module)]
    return found


def _imported(text: bytes) -> set[str]:
    """The first part of the name of each module that a text of Python imports; nothing for what is no Python."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):  # a file of a package that this model does not import
        return set()
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return {name.partition(".")[0] for name in names}


def _beside(folder: Path, module: str) -> list[Path]:
    """The files of a module or package in `folder`; none where it is not there."""
    file = folder / f"{module}.py"
    return [file] if file.is_file() else sorted((folder / module).rglob("*.py"))
