"""`quantize-linear`, executed: integers as the PyTorch reference has them bit for bit, f32 exactly where there is one order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from xdsl.dialects import arith, func, math
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, i32
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.rewriter import Rewriter

from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.quantisation.formats import read_quantisation
from stc.quantisation.reference import QuantisedLinear, quantise_weight
from stc.transforms.linalg.quantize_linear import QuantizeLinear

pytestmark = pytest.mark.heavy

LINEAR = """
func.func @main(%x: tensor<{m}x{k}xf32>, %w: tensor<{shape}xf32> {{stc.parameter}}) -> tensor<{m}x{n}xf32> {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> ({along})>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %w : tensor<{m}x{k}xf32>, tensor<{shape}xf32>) outs(%f : tensor<{m}x{n}xf32>) attrs = {{stc.module = "fc"}} {{
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %b, %a : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }} -> tensor<{m}x{n}xf32>
  return %y : tensor<{m}x{n}xf32>
}}
"""
FORMATS = (
    "bits=8", "bits=4", "bits=8,group=32", "bits=4,scale=bf16", "bits=4,group=32,scale=bf16", "bits=4,group=8,activations=group",
    "bits=8,activations=group",
)  # fmt: skip
SPECIAL = [0.0, 1e-44, 1e-38, 1e-5, 1.0, 1e3, 1e36, np.inf, np.nan]


def quantised(m: int, n: int, k: int, text: str, *, transposed: bool = False) -> ModuleOp:
    shape, along = (f"{k}x{n}", "k, n") if transposed else (f"{n}x{k}", "n, k")
    module = parse_module(LINEAR.format(m=m, n=n, k=k, shape=shape, along=along))
    assert QuantizeLinear(text).find(make_context(), module) == {"fc": read_quantisation(text).default}
    module.verify()
    return module


def arrays(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Tokens from 0 to infinity, with a group of zeros in one; weights of rows with scales from the least one on."""
    random = np.random.default_rng(k)
    x = random.standard_normal((len(SPECIAL), k)).astype(np.float32)
    x[5, : k // 2] = 0
    for row, factor in enumerate(SPECIAL):
        x[row] = x[row] * np.float32(factor) if np.isfinite(factor) else x[row]
        if not np.isfinite(factor):
            x[row, k // 2] = factor
    return x, (random.standard_normal((n, k)) * 10.0 ** -np.arange(n)[:, None]).astype(np.float32)


def reference(weight: np.ndarray, text: str) -> QuantisedLinear:
    chosen = read_quantisation(text).default
    assert chosen is not None
    return QuantisedLinear(quantise_weight(torch.from_numpy(weight), chosen, "fc"), None, chosen.activations)


def sums_of(module: ModuleOp, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The integers: what the module computes up to the sums of products, by token, output and group (where there are several)."""
    clone = module.clone()
    function = next(op for op in clone.ops if isinstance(op, func.FuncOp))
    sums = next(op for op in function.body.block.ops if isinstance(op, GenericOp) and _element(op) == i32)
    Rewriter.replace_op(function.body.block.last_op, func.ReturnOp(sums.results[0]))  # pyright: ignore[reportArgumentType]
    function.properties["function_type"] = FunctionType.from_lists(list(function.function_type.inputs), [sums.results[0].type])
    function.properties.pop("res_attrs", None)
    found = execute(clone, [x, weight])[0]
    return np.swapaxes(found, 1, 2) if found.ndim == 3 else found


def _element(op: GenericOp) -> object:
    kind = op.results[0].type
    return kind.element_type if isinstance(kind, TensorType) else None


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("k", [1, 16, 37, 64])
@pytest.mark.parametrize("text", FORMATS)
def test_it_computes_what_the_reference_does(text: str, k: int, transposed: bool) -> None:
    n = 7
    x, weight = arrays(n, k)
    layer = reference(weight, text)
    module = quantised(len(x), n, k, text, transposed=transposed)
    given = np.ascontiguousarray(weight.T) if transposed else weight
    with np.errstate(all="ignore"):
        integers, _ = layer.quantised(torch.from_numpy(x))
        expected = layer.sums(integers).numpy()
        np.testing.assert_array_equal(sums_of(module, x, given).reshape(expected.shape), expected)
        (found,) = execute(module, [x, given])
    result = layer(torch.from_numpy(x)).numpy()
    if layer.scales.shape[1] == 1:
        np.testing.assert_array_equal(found, result)
    else:  # the executor adds groups up in its own order
        scale = np.abs(np.where(np.isfinite(result), result, 0)).max(axis=1, keepdims=True)
        np.testing.assert_array_equal(np.isfinite(found), np.isfinite(result))
        with np.errstate(invalid="ignore"):
            assert (np.abs(np.where(np.isfinite(found), found - result, 0)) <= 1e-6 * scale).all()


def test_groups_are_filled_up_for_tasks_that_take_them_in_turn() -> None:
    """Of seven groups each of two tasks of a word of rows would have all; of eight four. The eighth adds nothing. Products of
    several rows share no multipliers, and stay."""
    text = "bits=8,group=5,activations=group"
    x, weight = arrays(16, 35)
    for row in range(len(x)):
        module = quantised(1, 16, 35, text)
        filled = parse_module(LINEAR.format(m=1, n=16, k=35, shape="16x35", along="n, k"))
        QuantizeLinear(text, tasks=4, port_bits=64).apply(make_context(), filled)
        filled.verify()
        given = [x[row : row + 1], weight]
        with np.errstate(all="ignore"):
            sums, more = sums_of(module, *given), sums_of(filled, *given)
            assert sums.shape[2] == 7 and more.shape[2] == 8
            np.testing.assert_array_equal(more[:, :, :7], sums)
            assert not more[:, :, 7].any()
            expected, found = execute(module, given)[0], execute(filled, given)[0]
        np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
        scale = np.abs(np.where(np.isfinite(expected), expected, 0)).max()  # groups are added up in another order
        with np.errstate(invalid="ignore"):
            assert (np.abs(np.where(np.isfinite(found), found - expected, 0)) <= 1e-6 * scale).all()
    several = parse_module(LINEAR.format(m=2, n=16, k=35, shape="16x35", along="n, k"))
    QuantizeLinear(text, tasks=4, port_bits=64).apply(make_context(), several)
    assert sums_of(several, x[:2], weight).shape[2] == 7


TWO = """
#x = affine_map<(n, k) -> (k)>
#w = affine_map<(n, k) -> (n, k)>
#y = affine_map<(n, k) -> (n)>
func.func @main(%x: tensor<35xf32>, %w: tensor<16x35xf32> {stc.parameter}, %v: tensor<4x35xf32> {stc.parameter})
    -> (tensor<16xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %d = tensor.empty() : tensor<4xf32>
  %g = linalg.fill ins(%zero : f32) outs(%d : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<35xf32>, tensor<16x35xf32>) outs(%f : tensor<16xf32>) attrs = {stc.module = "fc"} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %b, %a : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<16xf32>
  %z = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]}
      ins(%x, %v : tensor<35xf32>, tensor<4x35xf32>) outs(%g : tensor<4xf32>) attrs = {stc.module = "fd"} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %b, %a : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<4xf32>
  return %y, %z : tensor<16xf32>, tensor<4xf32>
}
"""


def test_those_that_multiply_one_activation_have_as_many_groups() -> None:
    """Alone, the one with rows of one word had a task for each of seven groups; both have three words, and share integers."""
    module = parse_module(TWO)
    QuantizeLinear("bits=8,group=5", tasks=8, port_bits=64).apply(make_context(), module)
    sums = [op.results[0].type for op in module.walk() if isinstance(op, GenericOp) and _element(op) == i32]
    assert [kind.get_shape() for kind in sums if isinstance(kind, TensorType)] == [(8, 16), (8, 4)]
    module = parse_module(TWO)
    QuantizeLinear("bits=8,group=5,fd.group=7", tasks=4, port_bits=64).apply(make_context(), module)  # groups of their own
    sums = [op.results[0].type for op in module.walk() if isinstance(op, GenericOp) and _element(op) == i32]
    assert [kind.get_shape() for kind in sums if isinstance(kind, TensorType)] == [(8, 16), (5, 4)]


# Seeded faults --------------------------------------------------------------------------------------------------------


def _round_half_away(module: ModuleOp) -> None:
    for op in list(module.walk()):
        if isinstance(op, math.RoundEvenOp):
            Rewriter.replace_op(op, math.RoundOp(op.operand))


def _without_saturation(module: ModuleOp) -> None:
    for op in list(module.walk()):
        if isinstance(op, arith.MinnumfOp | arith.MaxnumfOp):
            Rewriter.replace_op(op, [], [op.lhs])


def _truncated(module: ModuleOp) -> None:
    for op in list(module.walk()):
        if isinstance(op, math.RoundEvenOp):
            Rewriter.replace_op(op, [], [op.operand])


@pytest.mark.parametrize("fault", [_round_half_away, _without_saturation, _truncated])
def test_a_fault_of_rounding_shows_in_integers(fault: Callable[[ModuleOp], None]) -> None:
    x = np.array([[127, 0.5, 1.5, 2.5], [np.inf, 1, 2, 3]], np.float32)  # the first scale is 1
    weight = np.array([[1, 0.5, 0.25, 0.125], [-1, 1, 1, 1]], np.float32)
    module, layer = quantised(2, 2, 4, "bits=8"), reference(weight, "bits=8")
    expected = layer.sums(layer.quantised(torch.from_numpy(x))[0]).numpy()[..., 0]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(sums_of(module, x, weight), expected)
        fault(module)
        assert (sums_of(module, x, weight) != expected).any()


def test_the_scale_of_the_neighbouring_group_shows() -> None:
    x, weight = arrays(3, 37)
    x, module, layer = x[3:6], quantised(3, 3, 37, "bits=8,group=8"), reference(weight, "bits=8,group=8")
    (found,) = execute(module, [x, weight])
    np.testing.assert_allclose(found, layer(torch.from_numpy(x)).numpy(), rtol=1e-5, atol=1e-9)
    layer.scales = layer.scales.roll(1, dims=1)
    assert not np.allclose(found, layer(torch.from_numpy(x)).numpy(), rtol=1e-3, atol=1e-6)


# What is refused or left alone ----------------------------------------------------------------------------------------


def test_an_unknown_module_is_named() -> None:
    module = parse_module(LINEAR.format(m=2, n=3, k=4, shape="3x4", along="n, k"))
    with pytest.raises(CompileError, match=r"no linear layer is called .fd.*accepted: fc"):
        QuantizeLinear("except=fd").apply(make_context(), module)


@pytest.mark.parametrize(
    "text",
    [
        LINEAR.replace(" {{stc.parameter}}", ""),
        LINEAR.replace("constant 0.0", "constant 1.0"),
        LINEAR.replace("%b, %a", "%b, %b"),
        LINEAR.replace("addf", "maximumf"),
        LINEAR.replace("-> (m, k)>", "-> (k)>").replace("tensor<{m}x{k}xf32>", "tensor<{k}xf32>"),  # m is the result's alone
    ],
)
def test_what_is_no_linear_layer_stays(text: str) -> None:
    module = parse_module(text.format(m=2, n=3, k=4, shape="3x4", along="n, k"))
    before = str(module)
    assert QuantizeLinear().find(make_context(), module) == {}
    assert str(module) == before
