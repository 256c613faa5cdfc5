"""Models from Python files and from linalg files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from stc.diagnostics import CompileError
from stc.dialects.printing import print_module
from stc.frontend.export import export
from stc.frontend.exported import ExportedModel
from stc.frontend.reference import execute_linalg
from stc.frontend.sources import load_model

pytestmark = pytest.mark.heavy

FACTORIES = """
import torch

class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(5, 7)
        self.register_buffer("scale", torch.arange(7.0), persistent=False)

    def forward(self, x):
        return torch.relu(self.fc(x)) * self.scale

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x, ids, keep):
        return {"y": torch.where(keep, self.inner(x), 0.0), "next": ids + 1}

class Wrapped(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.inner = Applied(function)

    def forward(self, x):
        return self.inner(x)

class Applied(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)

def good():
    return Net(), (torch.randn(3, 5), torch.arange(4), torch.rand(3, 7) > 0.5)

def keywords():
    return Net(), {"keep": torch.ones(3, 7, dtype=torch.bool), "x": torch.randn(3, 5), "ids": torch.arange(4)}

def constants():
    return Wrapped(lambda x: x * torch.tensor([1.0, float("-inf"), 0.1])), torch.randn(2, 3)

def of(function, *shape, dtype=torch.float32):
    return Wrapped(function), (torch.ones(*shape, dtype=dtype),)

def dynamic(): return of(torch.nonzero, 3, 5)
def unsupported(): return of(lambda x: torch.linalg.svd(x)[1], 3, 5)
def scan(): return of(lambda x: torch.cumsum(x, 1), 3, 5)
def half(): return of(torch.relu, 3, dtype=torch.float16)
def brain(): return of(torch.relu, 3, dtype=torch.bfloat16)
def branch(): return of(lambda x: x + 1 if x.sum() > 0 else x - 1, 3)
def length(): return of(lambda x: x[: int(x.sum())], 3)
def conditional(): return of(lambda x: torch.cond(x.sum() > 0, lambda a: a + 1, lambda a: a - 1, (x,)), 3)
def random(): return of(lambda x: x + torch.randn(3), 3)
def dropout(): return of(lambda x: torch.nn.functional.dropout(x, 0.5, True), 3)
def complex_numbers(): return of(lambda x: torch.fft.fft(x).real, 3)
def in_place(): return of(lambda x: x.add_(1), 3)
def empty(): return of(lambda x: x[:0], 3)
def through_numpy(): return of(lambda x: torch.from_numpy(x.numpy() * 2), 3)

class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        self.count += 1
        return x + self.count

def counter(): return Counter(), torch.ones(3)

class Replacing(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        self.count = self.count + 1
        return x + self.count

def replacing(): return Replacing(), torch.ones(3)

class Odd(Exception): pass

def custom():
    raise Odd("first line\\nsecond line")

def leaving(): raise SystemExit(3)
def ending(): __import__("os")._exit(0)

class Base(BaseException): pass
def based(): raise Base("why")

def fails(x):
    raise Odd("inside")

def failing(): return of(fails, 3)
def nothing(): return of(lambda x: None, 3)
def shapes(): return of(lambda x: x @ x, 3, 5)
def raising(): return {}["key"]
def number(): return 3
def no_module(): return 3, (torch.ones(2),)
def no_inputs(): return Net(), 3
not_callable = 3
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("factories") / "nets.py"
    path.write_text(FACTORIES)
    return path


def test_a_factory_with_integers_booleans_buffers_and_several_results(file: Path) -> None:
    model = load_model(f"{file}:good", seed=1)
    assert model.input_names == ("x", "ids", "keep") and model.output_names == ("y", "next")
    assert model.parameter_names == ("inner.fc.weight", "inner.fc.bias", "inner.scale")
    x, keep = model.inputs["x"], model.inputs["keep"]
    linear = x @ model.parameters["inner.fc.weight"].T + model.parameters["inner.fc.bias"]
    expected = np.where(keep, np.maximum(linear, 0) * model.parameters["inner.scale"], 0)
    assert np.allclose(model.golden["y"], expected, atol=1e-6)
    assert 'stc.module = "inner.fc"' in print_module(model.module)
    assert np.array_equal(load_model(f"{file}:good", seed=1).inputs["x"], x)
    assert not np.array_equal(load_model(f"{file}:good", seed=2).inputs["x"], x)


def test_inputs_by_keyword(file: Path) -> None:
    model = load_model(f"{file}:keywords")
    assert model.input_names == ("keep", "x", "ids")


def test_constants_of_a_module_are_exact(file: Path) -> None:
    assert "dense<[1.000000e+00, 0xFF800000, 1.000000e-01]> : tensor<3xf32>" in print_module(
        load_model(f"{file}:constants").module
    )


DATA_DEPENDENT = "data-dependent control flow or shape: Python asks for the value of a tensor"


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        ("dynamic", r"^inner: aten\.nonzero\.default gives a dynamic shape u0x2; accepted: static shapes$"),
        ("unsupported", r"^inner: torch\.aten\._linalg_svd is not supported; accepted: operations that torch-mlir lowers"),
        ("scan", r"^inner: a running sum or product .* is not supported.*; accepted: "),
        ("half", r"half: x has dtype float16; accepted: float32, integers, bool"),
        ("brain", r"x has dtype torch\.bfloat16; accepted: float32, integers, bool"),
        ("branch", rf"^inner: {DATA_DEPENDENT} \(at .*nets\.py:\d+\); accepted: torch\.where, branches on shapes and c"),
        ("length", rf"^inner: {DATA_DEPENDENT} "),
        ("conditional", r"^inner: cond is control flow; accepted: torch\.where"),
        ("random", r"^inner: aten\.randn\.default gives random numbers; accepted: modules that always compute the same"),
        ("dropout", r"^inner: aten\.\w+dropout\S* gives random numbers; accepted: "),
        ("complex_numbers", r"^inner: aten\.\S+ gives a tensor of torch\.complex64 \S+ accepted: dense tensors of floats"),
        ("in_place", r"^in_place: the module changes x; accepted: a module that leaves its inputs"),
        ("counter", r"^counter: the module changes count; accepted: a module that leaves its inputs"),
        ("replacing", r"^replacing: the module changes count; accepted: a module that leaves its inputs"),
        ("empty", r"^empty: out has shape \(0,\); accepted: tensors with at least one element$"),
        ("through_numpy", r"^inner: torch\.export cannot trace this module: RuntimeError: .* \(at .*nets\.py:\d+\); accepted: "),
        ("custom", r"nets\.py:\d+: Odd: first line; accepted: a factory that returns \(torch"),
        ("leaving", r"nets\.py:\d+: SystemExit: 3; accepted: "),
        ("ending", r"nets\.py:\d+: SystemExit: os\._exit ends the process; accepted: a factory that returns"),
        ("based", r"nets\.py:\d+: Base: why; accepted: "),
        ("failing", r"^inner: the module does not run on its inputs: Odd: inside \(at .*nets\.py:\d+\); accepted: "),
        ("nothing", r"nothing: the module returns no tensor; accepted: a tensor, or a tuple or dictionary of tensors"),
        ("shapes", r"^inner: the module does not run on its inputs: RuntimeError: mat1 and mat2 shapes"),
        ("raising", r"nets\.py:\d+: KeyError: 'key'"),
        ("number", r"number: the factory returned int; accepted: \(torch\.nn\.Module, example inputs"),
        ("no_module", r"the factory returned int as module"),
        ("no_inputs", r"the factory returned int as inputs"),
        ("not_callable", r"nets\.py: no function not_callable"),
        ("", r"the factory is not named; accepted: file\.py:factory"),
    ],
)
def test_refused_factories(file: Path, factory: str, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CompileError, match=message) as refusal:
        load_model(f"{file}:{factory}")
    assert "\n" not in str(refusal.value)
    assert capfd.readouterr() == ("", ""), "the refusal is the one thing the user sees"


@pytest.mark.parametrize("approximate", ["tanh", "none"])
def test_gelu_is_pytorchs(tmp_path: Path, approximate: str) -> None:
    path = tmp_path / "gelu.py"
    path.write_text(f"import torch\ndef f(): return torch.nn.GELU({approximate!r}), torch.linspace(-6, 6, 1001)\n")
    model = load_model(f"{path}:f")
    out = np.zeros_like(model.golden["out"])
    execute_linalg(print_module(model.module), "main", list(model.inputs.values()), [out], "gelu")
    assert np.abs(out - model.golden["out"]).max() < 1e-6


def test_a_factory_may_import_what_lies_beside_it(tmp_path: Path) -> None:
    """At its head and when it runs."""
    layers = "from torch import nn\nclass Twice(nn.Module):\n  def forward(self, x): return x + x\n"
    (tmp_path / "layers_beside.py").write_text(layers)
    (tmp_path / "sizes_beside.py").write_text("SIZE = 3\n")
    (tmp_path / "main.py").write_text("""import torch
from layers_beside import Twice
def f():
    from sizes_beside import SIZE
    return Twice(), (torch.ones(SIZE),)
""")
    assert load_model(f"{tmp_path}/main.py:f").golden["out"].tolist() == [2, 2, 2]


def test_refused_files(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"none\.py: no such file; accepted: file\.py:factory"):
        load_model(str(tmp_path / "none.py:f"))
    (tmp_path / "broken.py").write_text("def f(:\n")
    with pytest.raises(CompileError, match=r"broken\.py:1: SyntaxError"):
        load_model(str(tmp_path / "broken.py:f"))


def test_the_users_module_is_left_as_it_was() -> None:
    module = torch.nn.Module()
    module.register_buffer("scale", torch.ones(3), persistent=False)
    module.forward = lambda x: x * module.scale  # type: ignore[method-assign]
    assert isinstance(export(module, (torch.ones(3),), input_names=["x"]), ExportedModel)
    assert module._non_persistent_buffers_set == {"scale"}  # pyright: ignore[reportPrivateUsage]


LINALG = """
func.func @any_name(%x: tensor<3x5xf32>, %w: tensor<5x4xf32> {{stc.name = "w", stc.parameter}}, %i: tensor<4xi32>, %b: tensor<f32>)
    -> (tensor<3x4xf32>, tensor<4xi32>{extra}) {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %m = linalg.matmul ins(%x, %w : tensor<3x5xf32>, tensor<5x4xf32>) outs(%f : tensor<3x4xf32>) -> tensor<3x4xf32>
  %s = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]}} ins(%m, %b : tensor<3x4xf32>, tensor<f32>) outs(%e : tensor<3x4xf32>) {{
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = math.tanh %p : f32
    %u = arith.addf %t, %q : f32
    linalg.yield %u : f32
  }} -> tensor<3x4xf32>
  %ie = tensor.empty() : tensor<4xi32>
  %k = linalg.add ins(%i, %i : tensor<4xi32>, tensor<4xi32>) outs(%ie : tensor<4xi32>) -> tensor<4xi32>
  return %s, %k{value} : tensor<3x4xf32>, tensor<4xi32>{extra}
}}
"""


def test_a_linalg_file_is_executed_by_mlir(tmp_path: Path) -> None:
    path = tmp_path / "small.mlir"
    path.write_text(LINALG.format(extra="", value=""))
    model = load_model(str(path), seed=2)
    assert tuple(model.arguments) == ("arg0", "w", "arg2", "arg3") and model.parameter_names == ("w",)
    x, w, i, b = model.arguments.values()
    assert np.allclose(model.golden["out0"], np.tanh(x @ w) + b, atol=1e-6)
    assert i.dtype == np.int32 and np.array_equal(model.golden["out1"], 2 * i)
    assert np.array_equal(load_model(str(path), seed=2).inputs["arg0"], x)


def test_an_argument_may_be_returned_and_tensors_concatenated(tmp_path: Path) -> None:
    path = tmp_path / "c.mlir"
    path.write_text(
        "func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x1xf32>) -> (tensor<2x4xf32>, tensor<2x3xf32>) {\n"
        "  %c = tensor.concat dim(1) %a, %b : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>\n"
        "  return %c, %a : tensor<2x4xf32>, tensor<2x3xf32>\n}"
    )
    model = load_model(str(path))
    a, b = model.inputs.values()
    assert np.array_equal(model.golden["out0"], np.concatenate([a, b], 1)) and np.array_equal(model.golden["out1"], a)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "func.func @f(%a: tensor<?xf32>) -> tensor<?xf32> {\n  return %a : tensor<?xf32>\n}",
            r"bad\.mlir:1:1 \(func\.func\): dynamic shape",
        ),
        (
            "func.func @f(%a: f32) -> f32 {\n  return %a : f32\n}",
            r"bad\.mlir:1:1: the function has an argument or result of type f32",
        ),
        ("func.func @f(%a: tensor<2xf32>) {\n  return\n}", r"the function returns nothing; accepted: at least one tensor"),
        (
            "func.func @f(%a: tensor<2xf64>) -> tensor<2xf64> {\n  return %a : tensor<2xf64>\n}",
            r"arg0 has dtype float64; accepted: float32",
        ),
        (
            "func.func @f(%a: tensor<2xi65>) -> tensor<2xi65> {\n  return %a : tensor<2xi65>\n}",
            r"tensors of i65; accepted: f64, f32, f16, index, signless i1 to i64",
        ),
        (
            "func.func @f(%a: tensor<2xui4>) -> tensor<2xui4> {\n  return %a : tensor<2xui4>\n}",
            r"tensors of ui4; accepted: f64, f32, f16, index, signless i1 to i64",
        ),
        (
            'func.func @f(%a: tensor<3xf32> {stc.name = "a\\FFb"}) -> tensor<3xf32> {\n  return %a : tensor<3xf32>\n}',
            r"bad\.mlir:1:1: 'func\.func' op has stc\.name = .*, expected UTF-8 text",
        ),
        ("module {}", "the module has no function; accepted: one function with a body and without calls"),
        (
            "func.func @f() {\n  func.call @g() : () -> ()\n  return\n}\n"
            "func.func @g() {\n  func.call @f() : () -> ()\n  return\n}",
            r"bad\.mlir:2:3: recursion: @f calls @g; accepted: one function",
        ),
        (
            "func.func @f() {\n  func.call @g() : () -> ()\n  return\n}\nfunc.func @g() {\n  return\n}",
            r"bad\.mlir:2:3: a call: @f calls @g; accepted: one function",
        ),
        ("func.func @f() {\n  return\n}\nfunc.func @g() {\n  return\n}", "the module has functions @f, @g; accepted: one"),
        ("func.func private @f(tensor<2xf32>) -> tensor<2xf32>", r"bad\.mlir:1:1: @f is declared but has no body; accepted: one"),
        (
            "func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
            "  %b = func.call @f(%a) : (tensor<2xf32>) -> tensor<2xf32>\n  return %b : tensor<2xf32>\n}",
            r"bad\.mlir:2:3: recursion: @f calls @f; accepted: one function with a body and without calls",
        ),
        (
            "func.func @f(%x: tensor<4xf32> {stc.sizes = [#itensor.size<n<=4>]}) -> tensor<4xf32> {\n"
            "  func.return %x : tensor<4xf32>\n}",
            r".*stc\.sizes of an argument: references would be made of all of it; accepted: IR behind size-streams, or .*",
        ),
        ("func.func @f() {\n  oops\n}", r"bad\.mlir:2:3: operation oops is not registered"),
    ],
)
def test_refused_linalg_files(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.mlir").write_text(text)
    with pytest.raises(CompileError, match=message):
        load_model(str(tmp_path / "bad.mlir"))


def test_no_file_and_no_weights(tmp_path: Path) -> None:
    message = r"none\.mlir: cannot read the file: No such file or directory; accepted: a file of MLIR text"
    with pytest.raises(CompileError, match=message):
        load_model(str(tmp_path / "none.mlir"))
    with pytest.raises(CompileError, match=r"weights cannot be given for a linalg file"):
        load_model(str(tmp_path / "none.mlir"), weights=str(tmp_path))
