"""bf16 as its bits: rounding at every border, by the executor and by what `carry-bf16` makes of it, against PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import bf16

from stc.analysis.support import obstacles
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.scalars.bf16 import NAN, bits_of, number_of
from stc.transforms.linalg.carry_bf16 import CarryBf16

pytestmark = pytest.mark.heavy

NUMBERS = """
#maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]
func.func @main(%x: tensor<{n}xf32>) -> (tensor<{n}xbf16>, tensor<{n}xf32>) {{
  %e = tensor.empty() : tensor<{n}xbf16>
  %b = linalg.generic {{indexing_maps = #maps, iterator_types = ["parallel"]}}
      ins(%x : tensor<{n}xf32>) outs(%e : tensor<{n}xbf16>) {{
  ^bb0(%in: f32, %out: bf16):
    %t = arith.truncf %in : f32 to bf16
    linalg.yield %t : bf16
  }} -> tensor<{n}xbf16>
  %f = tensor.empty() : tensor<{n}xf32>
  %y = linalg.generic {{indexing_maps = #maps, iterator_types = ["parallel"]}}
      ins(%b : tensor<{n}xbf16>) outs(%f : tensor<{n}xf32>) {{
  ^bb0(%in: bf16, %out: f32):
    %w = arith.extf %in : bf16 to f32
    linalg.yield %w : f32
  }} -> tensor<{n}xf32>
  return %b, %y : tensor<{n}xbf16>, tensor<{n}xf32>
}}
"""
SUM = "func.func @main(%x: bf16) -> bf16 {\n  %y = arith.addf %x, %x : bf16\n  return %y : bf16\n}\n"


def borders() -> np.ndarray:
    """Of every upper half with both signs (subnormals, the largest, infinities and NaNs among them) the numbers at and next to the
    tie, and those at both ends."""
    uppers = [0, 1, 2, 0x7F, 0x80, 0x81, 0x3F7F, 0x3F80, 0x3F81, 0x7F7E, 0x7F7F, 0x7F80, 0x7F81, 0x7FBF, 0x7FC0, 0x7FFE, 0x7FFF]
    uppers += np.random.default_rng(0).integers(0, 1 << 15, 50).tolist()
    lowers = [0, 1, 0x7FFE, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF]
    bits = [sign << 31 | upper << 16 | lower for sign in (0, 1) for upper in uppers for lower in lowers]
    return np.array(bits, np.uint32).view(np.float32)


def in_torch(numbers: np.ndarray) -> np.ndarray:
    """The bits as PyTorch rounds numbers, which has several NaNs."""
    rounded = torch.from_numpy(numbers).to(torch.bfloat16)
    return np.where(np.isnan(numbers), NAN, rounded.view(torch.int16).numpy())


def test_every_level_rounds_as_pytorch_does() -> None:
    numbers = borders()
    module = parse_module(NUMBERS.format(n=len(numbers)))
    assert not obstacles(module)
    before = execute(module, [numbers])
    CarryBf16().apply(make_context(), module)
    module.verify()
    assert not any(str(bf16) in str(value.type) for op in module.walk() for value in op.results)
    expected = in_torch(numbers)
    for bits, widened in (before, execute(module, [numbers])):
        assert bits.dtype == np.int16
        np.testing.assert_array_equal(bits, expected)
        wide = torch.from_numpy(expected.astype(np.int16)).view(torch.bfloat16).to(torch.float32).numpy()
        assert widened.tobytes() == wide.tobytes()


def test_a_single_number_is_rounded_alike() -> None:
    """PyTorch's other NaN, and numpy's numbers that are no arrays."""
    assert torch.tensor(float("nan")).to(torch.bfloat16).view(torch.int16).item() == NAN
    assert bits_of(np.float32(1 + 3 * 2.0**-8)) == 0x3F82 and bits_of(np.float32("nan")) == NAN
    assert number_of(np.int16(-0x8000)) == 0 and np.signbit(number_of(np.int16(-0x8000)))


def test_nothing_is_computed_in_bf16() -> None:
    module = parse_module(SUM)
    for refuse in (lambda: CarryBf16().apply(make_context(), module), lambda: execute(module, [np.zeros((), np.int16)])):
        with pytest.raises(CompileError, match="arithmetic in bf16; accepted: bf16 made of f32, moved, chosen, and made f32 again"):
            refuse()
