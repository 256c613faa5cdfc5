"""The table of scalar operations: each in one row, and what hangs on it agrees."""

from __future__ import annotations

import math as exact
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects import arith, math
from xdsl.irdl import IRDLOperation

import stc
from stc.codegen.expressions import TYPED_FORMS
from stc.scalars.table import EMITTED, ROWS, Scalar, Sign


def test_every_operation_of_the_dialects_has_a_row_or_is_named_here():
    without = {arith.ConstantOp, arith.AddUIExtendedOp, arith.MulSIExtendedOp, arith.MulUIExtendedOp}
    known = {*arith.Arith.operations, *math.Math.operations}
    missing = {kind.name for kind in known - set(ROWS) - without}
    assert missing <= {"arith.remf", "arith.scaling_extf", "arith.scaling_truncf", "math.ctlz", "math.cttz", "math.ctpop",
                       "math.erfc", "math.clampf", "math.isfinite", "math.isinf", "math.isnan", "math.isnormal", "math.sincos"}


def test_what_depends_on_types_is_printed_by_its_own_function():
    assert {row.operation for row in ROWS.values() if row.typed_cpp} == set(TYPED_FORMS)
    assert not [row.operation.name for row in ROWS.values() if row.typed_cpp and row.cpp is not None]


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.operation.name)
def test_what_is_emitted_is_executed_and_has_a_cost_on_some_type(row: Scalar):
    if row.operation not in EMITTED:
        return
    assert row.numpy is not None or row.typed_cpp
    narrowing = (arith.TruncFOp, arith.ExtFOp)   # to and from types that the cost model refuses
    assert row.floats or row.unit is not None or row.operation in narrowing


VALUES = [-7.5, -2.0, -0.5, 0.0, 0.25, 1.0, 3.5]


@pytest.mark.parametrize("row", [row for row in ROWS.values() if row.bound is not None], ids=lambda row: row.operation.name)
def test_no_result_is_larger_than_its_bound(row: Scalar):
    assert row.numpy is not None and row.bound is not None and issubclass(row.operation, IRDLOperation)
    arity = len(row.operation.get_irdl_definition().operands)
    numbers = VALUES if row.sign is Sign.FLOAT else [-7, -2, -1, 1, 2, 5]
    for seed in range(60):
        picked = [numbers[(seed * (7 + 4 * index) + index) % len(numbers)] for index in range(arity)]
        if row.operation in (math.SqrtOp,):
            picked = [abs(value) for value in picked]
        if row.operation is arith.ShRSIOp:
            picked[1] = 1
        kind = np.float64 if row.sign is Sign.FLOAT else np.int64
        result = float(row.numpy(*(kind(value) for value in picked)))
        assert abs(result) <= row.bound(*(abs(value) for value in picked)) + 1e-12, picked


def test_erf_stands_in_one_file_of_the_compiler():
    """But for the named operation of linalg, whose body it is."""
    folder = Path(stc.__file__).parent
    naming = {path.relative_to(folder).as_posix() for path in folder.rglob("*.py") if "ErfOp" in path.read_text()}
    assert naming == {"scalars/table.py", "xdsl_gaps/linalg_named.py"}


def test_erf_is_that_of_the_library():
    function = ROWS[math.ErfOp].numpy
    assert function is not None and function(np.float64(0.3)) == exact.erf(0.3)
