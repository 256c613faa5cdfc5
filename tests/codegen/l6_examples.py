"""Hand-written modules at level L6 with the model each computes, for the tests of emission and runtime."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from stc.dialects.context import make_context
from stc.frontend.exported import ExportedModel

L6 = Path(__file__).parent / "l6"


def parse(text: str) -> ModuleOp:
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


def source_of(name: str) -> str:
    return (L6 / f"{name}.mlir").read_text()


def two_kernels(layout: str) -> str:
    """scaled_sum twice in a row: between the kernels the result is unpacked, and packed again as `layout`; !X is its own."""
    text = source_of("scaled_sum")
    begin, end = text.index("  %out = dataflow.kernel"), text.index("  %u = dataflow.unpack")
    second = text[begin:end].replace("%out =", "%out2 =").replace("@scaled_sum", "@second").replace("= %xp :", "= %again :")
    between = (
        "  %t = dataflow.unpack %out : tensor<6xvector<8xf32>> as !X -> tensor<3x16xf32>\n"
        f"  %again = dataflow.pack %t : tensor<3x16xf32> as {layout} -> tensor<6xvector<8xf32>>\n"
    )
    return text[:end] + between + second + text[end:].replace("%out :", "%out2 :")


Arrays = tuple[dict[str, np.ndarray], dict[str, np.ndarray], dict[str, np.ndarray]]
"""Inputs, parameters and results, by name."""


@dataclass(frozen=True)
class Example:
    name: str
    arrays: Callable[[np.random.Generator], Arrays]

    def model(self) -> ExportedModel:
        inputs, parameters, golden = self.arrays(np.random.default_rng(7))
        return ExportedModel(self.name.replace("_", "-"), parse(source_of(self.name)), inputs, parameters, golden)


def _scaled_sum(rng: np.random.Generator) -> Arrays:
    x = rng.standard_normal((1, 3, 16), dtype=np.float32)
    gain = rng.standard_normal(16, dtype=np.float32)
    return {"x": x}, {"norm.gain": gain}, {"out": x * gain + np.float32(0.5)}


def _matmul(rng: np.random.Generator) -> Arrays:
    x = rng.standard_normal((4, 6), dtype=np.float32)
    weight = rng.standard_normal((8, 6), dtype=np.float32)
    return {"x": x}, {"fc.weight": weight}, {"y": x @ weight.T}


def _converter(rng: np.random.Generator) -> Arrays:
    x = rng.integers(-1000, 1000, (4, 6), dtype=np.int32)
    turned = np.concatenate([x[:2].T.reshape(-1), x[2:].T.reshape(-1)])
    doubled = (turned.astype(np.int8) * np.int8(2)).astype(np.int32)
    sums = np.cumsum(np.where(np.arange(24) % 6 % 2, doubled, -doubled), dtype=np.int32)
    halves = [half.reshape(6, 2).T for half in np.split(sums, 2)]
    return {"x": x}, {}, {"out.0": np.concatenate(halves)}


EXAMPLES = {example.name: example for example in (
    Example("scaled_sum", _scaled_sum), Example("matmul", _matmul), Example("converter", _converter)
)}
