"""`stc-opt` imports only what a run needs: its start is most of what a lit test takes. Imports are silent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LINALG = Path(__file__).parents[2] / "examples" / "linear_relu.mlir"
HEAVY = ("torch", "z3", "numpy", "networkx", "pulp", "highspy", "plotly", "jinja2", "pydantic", "stc.execution", "stc.fifo.depths",
         "stc.fifo.network_run", "stc.codegen", "stc.scalars")
"""Of stc.fifo, options know a constant."""
RUN = f"""
import sys
from stc.tools.stc_opt import app
app(["{LINALG}", *sys.argv[2:]], standalone_mode=False)
print([name for name in sys.argv[1].split(",") if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        ([], ()),
        (["-p", "cse,canonicalize,generalize-named-ops"], ()),
        (["-p", "cse", "--print-ir-after-all", "--timing", "--stats"], ()),
        (["--until", "generalize-named-ops"], ()),
        (["-p", "default-tile-size,tile-linalg"], ("numpy", "stc.scalars")),  # which operations have lanes in a tile
    ],
)
def test_a_run_imports_what_it_needs(arguments: list[str], allowed: tuple[str, ...]) -> None:
    heavy = ",".join(name for name in HEAVY if name not in allowed)
    done = subprocess.run([sys.executable, "-c", RUN, heavy, *arguments], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == "[]", done.stderr[-500:]


@pytest.mark.heavy
def test_an_optional_package_does_not_warn_the_user() -> None:
    """transformers imports torchao, where that is installed, which PyTorch warns of."""
    command = [sys.executable, "-c", "import stc.frontend.families, sys; print('torchao' in sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("True\n", "")
