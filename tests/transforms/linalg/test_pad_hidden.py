"""`pad-hidden`, executed: what comes out is the same, by f32 and by integers, and only what may be longer is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.tensor import ConcatOp

from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.transforms.linalg import pad_hidden
from stc.transforms.linalg.pad_hidden import PadHidden
from stc.transforms.linalg.quantize_linear import QuantizeLinear

FORMAT = "bits=8,group=4"
TASKS = 24
PASS = PadHidden(FORMAT, TASKS, port_bits=32)
"""Words of four rows, groups of four: 64 words of 2 groups, of two contractions, leave 16 tasks eight each, 66 leave 22 six."""

PRODUCT = """
  %{name}_e = tensor.empty() : tensor<{rows}{n}xf32>
  %{name}_f = linalg.fill ins(%zero : f32) outs(%{name}_e : tensor<{rows}{n}xf32>) -> tensor<{rows}{n}xf32>
  %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}"parallel", "reduction"]}}
      ins(%{x}, %{name}_w : tensor<{rows}{k}xf32>, tensor<{k}x{n}xf32>) outs(%{name}_f : tensor<{rows}{n}xf32>)
      attrs = {{stc.module = "{name}"}} {{
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  }} -> tensor<{rows}{n}xf32>"""
ENTRYWISE = """
  %{name}_e = tensor.empty() : tensor<{rows}{n}xf32>
  %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}"parallel"]}}
      ins({ins}) outs(%{name}_e : tensor<{rows}{n}xf32>) {{
  ^bb0({arguments}, %o: f32):
    {body}
  }} -> tensor<{rows}{n}xf32>"""
SILU = "%1 = arith.constant 1.0 : f32  %2 = arith.negf %a : f32  %3 = math.exp %2 : f32  %4 = arith.addf %1, %3 : f32 " \
       "%5 = arith.divf %a, %4 : f32  linalg.yield %5 : f32"  # fmt: skip
COSINE = "%1 = math.cos %a : f32  linalg.yield %1 : f32"
SINE_OF_ALL = "%1 = math.sin %a : f32  %2 = arith.mulf %1, %b : f32  linalg.yield %2 : f32"
TIMES = "%1 = arith.mulf %a, %b : f32  linalg.yield %1 : f32"
PLUS = "%1 = arith.addf %a, %b : f32  linalg.yield %1 : f32"


def product(name: str, x: str, k: int, n: int, rows: int = 0) -> str:
    maps = ("(m, n, k) -> (m, k)", "(m, n, k) -> (k, n)", "(m, n, k) -> (m, n)") if rows else (
        "(n, k) -> (k)", "(n, k) -> (k, n)", "(n, k) -> (n)")  # fmt: skip
    return PRODUCT.format(
        name=name, x=x, k=k, n=n, rows=f"{rows}x" if rows else "", maps=", ".join(f"affine_map<{each}>" for each in maps),
        kinds='"parallel", ' if rows else "",
    )  # fmt: skip


def entrywise(name: str, ins: Sequence[str], n: int, body: str, rows: int = 0, scalar: str = "") -> str:
    own, row = ("(m, n) -> (m, n)", f"{rows}x") if rows else ("(n) -> (n)", "")
    maps = [*[own] * len(ins), *([own.split("->")[0] + "-> ()"] if scalar else []), own]
    operands = [*(f"%{each}" for each in ins), *([f"%{scalar}"] if scalar else [])]
    types = [*[f"tensor<{row}{n}xf32>"] * len(ins), *(["tensor<f32>"] if scalar else [])]
    return ENTRYWISE.format(
        name=name, n=n, rows=row, maps=", ".join(f"affine_map<{each}>" for each in maps), kinds='"parallel", ' if rows else "",
        ins=f"{', '.join(operands)} : {', '.join(types)}",
        arguments=", ".join(f"%{letter}: f32" for letter, _ in zip("abc", operands, strict=False)), body=body,
    )  # fmt: skip


def program(parts: Sequence[str], *, k: int, hidden: int, n: int, rows: int, results: str) -> str:
    row = f"{rows}x" if rows else ""
    parameters = {"up_w": f"{k}x{hidden}", "gate_w": f"{k}x{hidden}", "down_w": f"{hidden}x{n}", "bias": f"{hidden}"}
    arguments = ", ".join(f"%{name}: tensor<{shape}xf32> {{stc.parameter}}" for name, shape in parameters.items())
    kinds = {"y": f"tensor<{row}{n}xf32>", "h": f"tensor<{row}{hidden}xf32>"}
    kind = ", ".join(kinds[each[0] if each[0] == "y" else "h"] for each in results.split())
    return f"""
func.func @main(%x: tensor<{row}{k}xf32>, {arguments}, %number: tensor<f32>) -> ({kind}) {{
  %zero = arith.constant 0.0 : f32{"".join(parts)}
  return {", ".join(f"%{each}" for each in results.split())} : {kind}
}}"""


def mlp(
    act: str = SILU,
    both: str = TIMES,
    *,
    k: int = 8,
    hidden: int = 128,
    n: int = 5,
    rows: int = 0,
    scalar: str = "",
    results: str = "y",
) -> str:
    """A gated one with a bias."""
    own = [
        product("up", "x", k, hidden, rows), product("gate", "x", k, hidden, rows),
        *([] if rows else [entrywise("with_bias", ["up", "bias"], hidden, PLUS)]),
        entrywise("act", ["gate"], hidden, act, rows, scalar),
        entrywise("h", ["up" if rows else "with_bias", "act"], hidden, both, rows),
        product("y", "h", hidden, n, rows).replace("%y_w", "%down_w"),
    ]  # fmt: skip
    return program(own, k=k, hidden=hidden, n=n, rows=rows, results=results)


def arrays(k: int, hidden: int, n: int, rows: int = 0, scale: float = 1.0) -> list[np.ndarray]:
    random = np.random.default_rng(hidden)
    shapes = [(rows, k) if rows else (k,), (k, hidden), (k, hidden), (hidden, n), (hidden,), ()]
    return [(random.standard_normal(shape) * scale).astype(np.float32) for shape in shapes]


def padded(text: str, one: PadHidden = PASS) -> ModuleOp:
    module = parse_module(text)
    one.apply(make_context(), module)
    module.verify()
    return module


def is_longer(module: ModuleOp) -> bool:
    return any(isinstance(op, ConcatOp) for op in module.walk())


@pytest.mark.parametrize("sizes", [(8, 128, 5), (16, 128, 1), (16, 128, 7), (16, 128, 3)])
@pytest.mark.parametrize("scale", [0.0, 1e-30, 1.0, 30.0])
def test_the_same_comes_out(sizes: tuple[int, int, int], scale: float) -> None:
    text = mlp(k=sizes[0], hidden=sizes[1], n=sizes[2])
    module = padded(text)
    assert is_longer(module)
    given = arrays(*sizes, scale=scale)
    before, after = (execute(each, given)[0] for each in (parse_module(text), module))
    np.testing.assert_allclose(after, before, rtol=1e-5)  # of f32 the executor adds pairs, other ones
    assert scale < 1 or len(np.unique(before)) == sizes[2]


@pytest.mark.parametrize("activations", ["token", "group"])
def test_integers_are_the_same(activations: str) -> None:
    text, found = mlp(), list[np.ndarray]()
    for module in (parse_module(text), padded(text)):
        QuantizeLinear(f"{FORMAT},activations={activations}").find(make_context(), module)
        found.append(execute(module, arrays(8, 128, 5))[0])
    assert np.array_equal(found[0], found[1]) and len(np.unique(found[0])) == 5


def test_how_long() -> None:
    text = str(padded(mlp()))
    assert "tensor<8x132xf32>" in text and "tensor<132x5xf32>" in text and "tensor<8x128xf32> {stc.parameter}" in text
    assert str(padded(text, PASS)) == text  # once is enough


def test_weights_that_are_read_twice() -> None:
    """Each use has its own zeros: rows where they are made, columns where they are reduced."""
    last = product("y", "act", 128, 128).replace("%y_w", "%up_w")
    own = [product("up", "x", 128, 128), entrywise("act", ["up"], 128, SILU), last]
    text = program(own, k=128, hidden=128, n=128, rows=0, results="y")
    module = padded(text, PadHidden(FORMAT, 12, 32))
    assert "tensor<128x132xf32>" in str(module) and "tensor<132x128xf32>" in str(module)
    given = arrays(128, 128, 128)
    np.testing.assert_allclose(*(execute(each, given)[0] for each in (module, parse_module(text))), rtol=1e-4)


def test_one_hidden_dimension_behind_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pad_hidden, "filled_hidden", lambda units, *_: units + 1)
    own = [
        product("up", "x", 8, 128), entrywise("act", ["up"], 128, SILU), product("gate", "act", 128, 128),
        entrywise("h", ["gate"], 128, SILU), product("y", "h", 128, 1).replace("%y_w", "%down_w"),
    ]  # fmt: skip
    text = program(own, k=8, hidden=128, n=1, rows=0, results="y")
    text = text.replace("%gate_w: tensor<8x128xf32>", "%gate_w: tensor<128x128xf32>")
    module = padded(text)
    assert "tensor<8x132xf32>" in str(module) and "tensor<132x132xf32>" in str(module) and "tensor<132x1xf32>" in str(module)
    given = arrays(8, 128, 1)
    given[2] = np.random.default_rng(3).standard_normal((128, 128)).astype(np.float32)
    np.testing.assert_allclose(*(execute(each, given)[0] for each in (module, parse_module(text))), rtol=1e-4)


STAYS = {
    "one makes no 0 of 0": mlp(COSINE, PLUS),
    "an input may be infinite": mlp(SINE_OF_ALL, scalar="number"),
    "several rows": mlp(rows=2),
    "what is between is a result": mlp(results="y h"),
    "one of them is f32": mlp(),
    "no whole words": mlp(hidden=126),
    "a group is a row": mlp(),
    "nothing is known of tasks": mlp(),
    "what another reads is a result": mlp(results="y act"),
}


@pytest.mark.parametrize("why", STAYS)
def test_stays_as_it_is(why: str) -> None:
    formats = {"one of them is f32": f"{FORMAT},except=gate", "a group is a row": "bits=8,group=row"}
    chosen = formats.get(why, FORMAT)
    one = PadHidden(chosen, 0 if why == "nothing is known of tasks" else TASKS, 32)
    assert str(padded(STAYS[why], one)) == str(parse_module(STAYS[why]))
