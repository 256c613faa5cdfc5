"""A rewrite pattern is one step: it is short enough to be read at once."""

from __future__ import annotations

import ast
from pathlib import Path

import stc

MOST_LINES = 60


def test_patterns_are_short() -> None:
    classes = [
        (path.name, node)
        for path in (Path(str(stc.__file__)).parent / "transforms").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef) and any(isinstance(base, ast.Name) and base.id == "RewritePattern" for base in node.bases)
    ]
    assert len(classes) > 20
    long = [f"{name}: {node.name}" for name, node in classes if (node.end_lineno or 0) - node.lineno >= MOST_LINES]
    assert not long
