"""One room per concern, and imports point one way: the table of the architecture, checked over every import statement of `stc`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "stc"

LEAVES = frozenset({"diagnostics", "names", "running", "simulation.package", "user_files"})
"""Modules that import nothing of ours: the one exception a user sees, names, what of the user's is running, how their files
are read, and the files of the simulator in a project."""

_FACTS = frozenset({"iteration", "network", "scalars", "platforms", "xdsl_gaps", "dialects", "analysis"})
_DECISIONS = _FACTS | {"manifest", "design_space", "fifo"}
_ROOMS_BELOW_TOOLS = _DECISIONS | {
    "extensions", "strategies", "exploration", "quantisation", "transforms", "execution", "frontend", "codegen", "simulation",
    "runtime", "calibration",
}

MAY_IMPORT: dict[str, frozenset[str]] = {
    "iteration": frozenset(),
    "network": frozenset(),
    "extensions": frozenset(),
    "platforms": frozenset(),
    "manifest": frozenset({"iteration"}),
    "xdsl_gaps": frozenset(),
    "scalars": frozenset(),
    "quantisation": frozenset(),
    "dialects": frozenset({"iteration", "xdsl_gaps", "extensions"}),
    "analysis": _FACTS - {"analysis"},
    "design_space": frozenset({"iteration", "platforms"}),
    "fifo": frozenset({"iteration", "network", "platforms"}),
    "strategies": frozenset({"iteration", "network", "platforms", "design_space", "fifo"}),
    "exploration": frozenset({"iteration", "platforms", "design_space"}),
    "transforms": _DECISIONS | {"extensions", "strategies", "quantisation"},
    "execution": frozenset({"scalars", "dialects", "iteration", "network", "analysis.index_ranges", "simulation.own_kernels"}),
    "frontend": frozenset({"dialects", "iteration", "quantisation", "scalars.bf16"}),
    "codegen": _FACTS | {
        "manifest", "execution", "simulation.package", "simulation.ap_types", "simulation.vendor_interface",
        "simulation.own_kernels",
    },
    "simulation": frozenset({"manifest", "network", "iteration.order", "platforms.memory_channels", "fifo.depth_search"}),
    "calibration": frozenset({"manifest", "simulation"}),
    "runtime": frozenset({"manifest", "platforms.platform"}),
    "universe": frozenset({"dialects", "transforms", "codegen"}),
    "pipeline": _ROOMS_BELOW_TOOLS,
    "tools": _ROOMS_BELOW_TOOLS | {"pipeline", "universe"},
    "api": _ROOMS_BELOW_TOOLS | {"pipeline", "tools"},
}
"""What each room (a folder or file below `stc/`) may import besides itself and `LEAVES`."""


def modules(package: Path) -> Iterator[tuple[str, str]]:
    """Name (`dialects.itensor.type`) and text of every module."""
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path.read_text()


def imports(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Line and target (without `stc.`) of every import of ours, wherever it stands, those for type checking included."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import"
            module = node.module or ""
            targets = [f"stc.{alias.name}" for alias in node.names] if module == "stc" else [module]
        else:
            continue
        yield from ((node.lineno, target.removeprefix("stc.")) for target in targets if target.startswith("stc."))


def violations(name: str, text: str) -> list[str]:
    """The imports of a module that its room does not allow."""
    room = name.partition(".")[0]
    allowed = frozenset() if name in LEAVES else MAY_IMPORT[room] | LEAVES | {room}
    return [
        f"stc.{name}:{line} imports stc.{target}"
        for line, target in imports(name, text)
        if target not in allowed and target.partition(".")[0] not in allowed
    ]


def test_every_import_is_allowed():
    checked = [violations(name, text) for name, text in modules(PACKAGE) if name]
    assert len(checked) > 150
    assert not [wrong for each in checked for wrong in each]


def test_every_room_is_in_the_table():
    rooms = {name.partition(".")[0] for name, _ in modules(PACKAGE) if name}
    assert rooms == set(MAY_IMPORT) | {leaf for leaf in LEAVES if "." not in leaf}


def test_the_table_has_no_cycle():
    left = {room: {entry for entry in allowed if entry in MAY_IMPORT} for room, allowed in MAY_IMPORT.items()}
    while left:
        free = [room for room, allowed in left.items() if not allowed & set(left)]
        assert free, f"rooms in a cycle: {sorted(left)}"
        for room in free:
            del left[room]


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("iteration.order", "from stc.dialects.itensor import ItensorType", "stc.dialects.itensor"),
        ("dialects.itensor", "def f():\n    from stc.transforms.linalg import fold", "stc.transforms.linalg"),
        ("analysis.loops", "if TYPE_CHECKING:\n    import stc.design_space.fusion", "stc.design_space.fusion"),
        ("codegen.project", "from stc.simulation.build import FLAGS", "stc.simulation.build"),
        ("simulation.profile", "from stc.platforms.platform import Platform", "stc.platforms.platform"),
        ("pipeline", "from stc import tools", "stc.tools"),
        ("simulation.package", "from stc.manifest.files import MANIFEST", "stc.manifest.files"),
        ("diagnostics", "import stc.iteration.size", "stc.iteration.size"),
    ],
)
def test_a_wrong_import_is_found(name: str, text: str, found: str):
    (wrong,) = violations(name, text)
    assert wrong.endswith(f"imports {found}")


def test_the_developers_tools_are_beside_the_compiler():
    """`stc` works without `stc_testing`, which is installed with it: it must not even name the package."""
    assert not [name for name, text in modules(PACKAGE) if "stc_testing." in text and name != "tools.installed_commands"]


def test_tools_do_not_derive_from_passes():
    """What a pass finds is what it returns (`stc.transforms.finding_pass`): nobody overrides a method of it to overhear that."""
    derived: list[str] = []
    for name, text in modules(PACKAGE):
        if not name.startswith("tools."):
            continue
        nodes = list(ast.walk(ast.parse(text)))
        imported = [node for node in nodes if isinstance(node, ast.ImportFrom) and str(node.module).startswith("stc.transforms")]
        passes = {alias.asname or alias.name for node in imported for alias in node.names}
        bases = [base for node in nodes if isinstance(node, ast.ClassDef) for base in node.bases]
        derived += [f"{name}: {base.id}" for base in bases if isinstance(base, ast.Name) and base.id in passes]
    assert not derived


def test_allowed_imports_are_not_found():
    assert not violations("codegen.project", "from stc.simulation.package import copy_headers")
    assert not violations("iteration.size", "from stc.diagnostics import CompileError")
    assert not violations("tools.stc", "import stc.simulation.build, numpy\nfrom stc.pipeline import stages")
