"""Integer division in C++: as the reference execution has it, also by zero and where the quotient overflows."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects import test as placeholders
from xdsl.dialects.builtin import IntegerType, i8, i32, i64

from stc.codegen.expressions import Expression, expression
from stc.codegen.helpers_h import helper_definitions
from stc.execution import scalars
from stc.execution.dtypes import numpy_type
from stc.execution.elementwise import function_of
from stc.scalars.forms import FLOOR_QUOTIENT, QUOTIENT, REMAINDER
from stc.simulation.ap_types import copy_ap_types

pytestmark = pytest.mark.heavy

VALUES = (0, 1, -1, 7, -7, 3, -3, 100)
OPERATIONS = (arith.DivSIOp, arith.RemSIOp, arith.FloorDivSIOp, arith.DivUIOp, arith.RemUIOp)


def check_quotients(folder: Path, kind: IntegerType, values: Sequence[int], typed: str, header: str, *options: str) -> None:
    """Every operation on every pair of `values`, as C++ on numbers of the type `typed` of `header` and by the executor."""
    assert scalars  # which gives the operations their meaning
    left, right = placeholders.TestOp(result_types=[kind, kind]).results
    operations = [operation(left, right) for operation in OPERATIONS]
    texts = [found.text for operation in operations if (found := expression(operation, [Expression("a"), Expression("b")]))]
    assert len(texts) == len(operations)
    (folder / "main.cpp").write_text(
        f"#include <cstdint>\n#include <cstdio>\n#include <limits>\n{header}\n"
        + "\n".join(helper_definitions(f"{QUOTIENT} {FLOOR_QUOTIENT} {REMAINDER}"))
        + f"\nint main() {{\n{typed} a, b; long long x, y;\nwhile (scanf(\"%lld %lld\", &x, &y) == 2) {{ a = x; b = y;\n"
        + "\n".join(f'printf("%lld ", (long long)({text}));' for text in texts)
        + "\n} }\n"
    )
    subprocess.run(["g++", *options, "main.cpp", "-o", "main"], cwd=folder, check=True)
    pairs = [(a, b) for a in values for b in values]
    text = "\n".join(f"{a} {b}" for a, b in pairs)
    printed = subprocess.run([str(folder / "main")], input=text, capture_output=True, text=True, check=True).stdout
    found = np.array(printed.split(), np.int64).reshape(len(pairs), len(operations))
    host = numpy_type(kind).type
    for column, operation in enumerate(operations):
        function = function_of(operation)
        assert function is not None
        with np.errstate(all="ignore"):
            wanted = [int(function(host(a), host(b))) for a, b in pairs]
        assert list(found[:, column]) == wanted, operation.name


@pytest.mark.parametrize("kind", [i8, i32, i64], ids=str)
def test_every_quotient_has_a_value(tmp_path: Path, kind: IntegerType) -> None:
    half = 1 << (kind.width.data - 1)
    typed = f"int{kind.width.data}_t"
    check_quotients(tmp_path, kind, [*VALUES, -half, half - 1], typed, "", "-fsanitize=undefined", "-fno-sanitize-recover=all")


@pytest.mark.parametrize("width", [2, 3, 4, 12, 33])
def test_every_quotient_of_odd_widths(tmp_path: Path, width: int) -> None:
    """Found by `stc fuzz --integers`: no least value is known of `ap_int`, and what was compared with instead had no value."""
    half = 1 << (width - 1)
    values = [*range(-half, half)] if width <= 4 else [*VALUES, -half, half - 1]
    copy_ap_types(tmp_path)
    options = ("-O2", "-w", "-ftrivial-auto-var-init=pattern", f"-I{tmp_path}")
    check_quotients(tmp_path, IntegerType(width), values, f"ap_int<{width}>", "#include <ap_int.h>", *options)
