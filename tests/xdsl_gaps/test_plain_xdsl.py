"""Importing `stc` changes nothing of xDSL: no class, no dialect, and what plain `xdsl-opt` prints."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.heavy

IMPORT = """
import importlib, pkgutil, sys
import xdsl
from xdsl.dialects import get_all_dialects
from xdsl.universe import Universe

# Everything that ours may touch, imported before it is looked at.
for module in ("parser", "parser.core", "parser.attribute_parser", "printer", "ir", "irdl", "rewriter", "pattern_rewriter",
               "traits", "passes", "context", "universe", "utils.mlir_lexer", "xdsl_opt_main", "transforms"):
    importlib.import_module(f"xdsl.{module}")
dialects = {name: make() for name, make in get_all_dialects().items()}

def contents():
    found = {}
    for name, module in list(sys.modules.items()):
        if name == "xdsl" or name.startswith("xdsl."):
            for key, value in list(vars(module).items()):
                if isinstance(value, type) and value.__module__.startswith("xdsl"):
                    for member, thing in list(vars(value).items()):
                        found[value.__module__, value.__qualname__, member] = thing
    for name, dialect in dialects.items():
        found[name] = (tuple(dialect.operations), tuple(dialect.attributes), tuple(dialect._interfaces))
    return found

before = contents()
"""
COMPARED = """
after = contents()
# What Python and xDSL themselves remember per class.
own = ("_abc_impl", "__subclasshook__", "__abstractmethods__", "__weakref__", "__dict__", "__orig_bases__", "__parameters__",
       "__doc__", "__annotations__", "_irdl_definition", "__hash__")
changed = [key for key, thing in before.items() if after.get(key) is not thing and after.get(key) != thing and key[-1] not in own]
print(changed)
"""
OURS = "import stc.universe, stc.tools.stc, stc.tools.stc_opt, stc.pipeline, stc.codegen.project, stc.simulation.csim"
RUN = """
from stc.transforms import our_passes
from stc.dialects.context import make_context
make_context()
for load in [*STC.all_dialects.values(), *our_passes().values()]:
    load()
"""


def changed_by(program: str) -> str:
    text = f"{IMPORT}\n{program}\n{COMPARED}"
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=300).stdout.strip()


def test_importing_changes_no_class_and_no_dialect():
    assert changed_by(f"{OURS}\nfrom stc.universe import STC_UNIVERSE as STC\n{RUN}") == "[]"


def test_a_change_would_be_seen():
    patched = "from xdsl.dialects.tensor import ExpandShapeOp\nExpandShapeOp.verify_ = lambda self: None"
    assert changed_by(patched) == "[('xdsl.dialects.tensor', 'ExpandShapeOp', 'verify_')]"


RANK_ZERO = """func.func @main(%x: tensor<f32>) {
  %z = tensor.expand_shape %x [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  return
}
"""
MAIN = "import sys; {}; from xdsl.xdsl_opt_main import xDSLOptMain; sys.argv[1:] = ['-']; xDSLOptMain().run()"


def test_plain_xdsl_opt_refuses_what_it_refused():
    """It finds us through our entry point, and verifies as it does by itself."""
    ended = [
        subprocess.run([sys.executable, "-c", MAIN.format(first)], input=RANK_ZERO, capture_output=True, text=True, timeout=120)
        for first in ("pass", OURS)
    ]
    assert ended[0].returncode == ended[1].returncode != 0
    assert ended[0].stderr.splitlines()[-1] == ended[1].stderr.splitlines()[-1]
