"""The tolerance of a testbench without golden files is the rule by which `stc compile` writes those: the same verdicts."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import Run

from stc.codegen.tolerances import allowed_errors

pytestmark = pytest.mark.heavy

RTOL = 1e-4


def literal(name: str, array: np.ndarray, kind: str) -> str:
    values = ", ".join(str(float(value)).replace("nan", "NAN").replace("inf", "INFINITY") for value in array.flat)
    return f"  const {kind} {name}[{array.size}] = {{{values}}};\n"


@pytest.mark.parametrize("updates", [False, True])
def test_one_rule(design: Run, updates: bool) -> None:
    random = np.random.default_rng(3)
    scales = np.array([1, 1e-30, 1e30, 0, 1e-3])[:, None]
    reference = (random.standard_normal((5, 7)) * scales).astype(np.float32)
    reference[0, 2], reference[1, 3], reference[4, 5] = np.inf, np.nan, -np.inf
    x = (reference + random.standard_normal((5, 7)) * scales * 1e-2).astype(np.float32) if updates else None
    allowed, _ = allowed_errors(reference, None, RTOL, x)
    body = literal("golden", reference, "float") + literal("allowed", allowed, "double")
    body += literal("x", reference if x is None else x, "float")
    errors = [random.choice([-1, 1], (5, 7)) * allowed * share for share in (0.0, 0.5, 0.9, 1.1, 2.0)]
    for index, error in enumerate(errors):
        body += literal(f"got{index}", (reference.astype(np.float64) + error).astype(np.float32), "float")
        for name, tolerance in (("file", "{1e-4, allowed}"), ("rule", "{1e-4, nullptr, 7}")):
            body += f'  report.compare("{name}", got{index}, golden, 35, {tolerance}{", x" if updates else ""});\n'
    outputs = design("", body)["outputs"]
    for file, rule in zip(outputs[::2], outputs[1::2], strict=True):
        assert file["wrong"] == rule["wrong"] and file["worst"]["index"] == rule["worst"]["index"]
        assert rule["worst"]["allowed"] == pytest.approx(file["worst"]["allowed"], rel=1e-12)
    found = [output["wrong"] for output in outputs[::2]]
    assert found[0] == found[1] == 0 < found[-1], found
