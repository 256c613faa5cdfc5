"""A researcher's own parts: Python files given with `--load`, and installed packages found by their entry points.

    load_file("my_pass.py")                       # its passes are then in stc.transforms.all_passes()
    for entry in entries("xdsl.universe"): ...    # of other packages than ours and xDSL
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xdsl.ir import Dialect
from xdsl.passes import ModulePass

from stc.diagnostics import CompileError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

OWN_PACKAGES = ("stc", "xdsl")
"""Packages whose entry points are not extensions: what they offer is known without asking."""


@dataclass(frozen=True)
class LoadedFile:
    """A file of `--load`. `passes`: the `ModulePass`es that it defines (not those it imports), by name; `dialects`: those whose
    operations, types or attributes it defines, by name."""

    path: Path
    module: ModuleType
    passes: Mapping[str, type[ModulePass]]
    dialects: Mapping[str, Dialect]


_LOADED: dict[Path, LoadedFile] = {}
"""By absolute path, in the order in which they were loaded: importing a file concerns the whole process."""


def load_file(path: str | Path) -> LoadedFile:
    """Import a Python file, once; what it defines. CompileError where it cannot be imported, which names the line."""
    absolute = Path(path).absolute()
    if absolute in _LOADED:
        return _LOADED[absolute]
    if absolute.suffix != ".py" or not absolute.is_file():
        raise CompileError("no such Python file", where=str(path), accepted="--load FILE.py")
    module = _imported(absolute, str(path))
    loaded = LoadedFile(absolute, module, _passes_of(module, str(path)), _dialects_of(module))
    _LOADED[absolute] = loaded
    return loaded


def loaded_files() -> tuple[LoadedFile, ...]:
    """The files loaded so far, in order."""
    return tuple(_LOADED.values())


def load_options() -> list[str]:
    """The words of a command line that load the same files: `--load`, path, ...."""
    return [word for path in _LOADED for word in ("--load", str(path))]


def forget_files() -> None:
    """Forget what was loaded: for tests and long-lived processes."""
    for loaded in _LOADED.values():
        sys.modules.pop(loaded.module.__name__, None)
    _LOADED.clear()


def _imported(path: Path, shown: str) -> ModuleType:
    description = importlib.util.spec_from_file_location(f"stc_loaded_{len(_LOADED)}_{path.stem}", path)
    assert description is not None and description.loader is not None
    module = importlib.util.module_from_spec(description)
    sys.modules[description.name] = module  # dataclasses and pickles look their module up by name
    try:
        description.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a file may also call sys.exit
        sys.modules.pop(description.name, None)
        where = f"{shown}{_line_in(path, error)}"
        raise CompileError(f"cannot be imported: {said(error)}", where=where, accepted="a Python file that imports") from error
    return module


def _passes_of(module: ModuleType, shown: str) -> dict[str, type[ModulePass]]:
    passes: dict[str, type[ModulePass]] = {}
    for kind in vars(module).values():
        is_pass = isinstance(kind, type) and issubclass(kind, ModulePass) and kind.__module__ == module.__name__
        if not is_pass or not isinstance(name := getattr(kind, "name", None), str):
            continue  # without a name it is a base class
        if _lacks_decorator(kind):
            raise CompileError(
                f"pass '{name}' has options or a constructor and is no dataclass",
                where=shown,
                accepted="a class with @dataclass(frozen=True), whose fields are the options",
            )
        if passes.setdefault(name, kind) is not kind:
            raise CompileError(f"two passes are called '{name}'", where=shown, accepted="one pass of each name")
    return passes


def _dialects_of(module: ModuleType) -> dict[str, Dialect]:
    def is_own(dialect: Dialect) -> bool:
        return any(of.__module__ == module.__name__ for of in (*dialect.operations, *dialect.attributes))

    return {value.name: value for value in vars(module).values() if isinstance(value, Dialect) and is_own(value)}


def _lacks_decorator(kind: type[ModulePass]) -> bool:
    """Whether options or a constructor are written in a class that is no dataclass: a pipeline could not give them."""
    annotated = {name for name, of in vars(kind).get("__annotations__", {}).items() if "ClassVar" not in str(of)}
    return "__dataclass_fields__" not in vars(kind) and ("__init__" in vars(kind) or bool(annotated - {"name"}))


def _line_in(path: Path, error: BaseException) -> str:
    """`:line` of the last line of the file that was running, empty where there is none."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f":{error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f":{lines[-1]}" if lines else ""


def said(error: BaseException) -> str:
    """An exception in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


# Installed packages ---------------------------------------------------------------------------------------------------


def entries(group: str) -> list[EntryPoint]:
    """The entry points of a group that packages other than ours and xDSL have, by package; nothing is imported."""
    from importlib.metadata import entry_points  # with all that it needs, a good part of what reading a small file takes

    others = [entry for entry in entry_points(group=group) if entry.module.partition(".")[0] not in OWN_PACKAGES]
    return sorted(others, key=lambda entry: (package_of(entry), entry.name))


def package_of(entry: EntryPoint) -> str:
    """What the package of an entry point is called."""
    return entry.dist.name if entry.dist is not None else entry.module.partition(".")[0]


def import_entry(entry: EntryPoint) -> Any:
    """What an entry point stands for; CompileError, which names the package, where it cannot be imported."""
    try:
        return entry.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise CompileError(
            f"package '{package_of(entry)}' cannot be imported: {said(error)}",
            where=f"entry point '{entry.value}' of group {entry.group}",
            accepted="a package that imports, or none",
        ) from error
