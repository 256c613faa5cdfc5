"""Every module of `definitions.py`: refused with the sentence it should be, or right at every stage that can be executed.

`test_linalg` compares the IR with PyTorch before and after the linalg stage (quick). `test_simulation` compiles, builds and runs the
emitted C++, several modules in one program: a selection in `make test`, all of them, theme by theme, in `make test-full`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp
from xdsl.dialects.builtin import ModuleOp

from batch import simulate
from compiling import export_case, emit
from definitions import CASES, Case
from stc.analysis.support import obstacles
from stc.codegen.expressions import SCALAR_OPERATIONS
from stc.analysis import support
from stc.dialects.context import make_context
from stc.execution.linalg import execute
from stc.frontend.exported import ExportedModel
from stc.pipeline import PipelineOptions, run_stages, stages
