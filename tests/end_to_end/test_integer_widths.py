"""Integers of any width from a file of linalg to C++: equal to numpy bit for bit, packed in memory, and wrapped to their width."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from projects import parameter_in
from torch import nn

from stc.codegen.project import emit_project
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.frontend.export import export
from stc.manifest.element_types import element_type
from stc.manifest.files import read_manifest
from stc.pipeline import run_stages, stages
from stc.runtime.accelerator import Accelerator
from stc.simulation.csim import csim
from stc.tools.compile import CompileRequest, compile_model
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

TEXT = """
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
#same = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: tensor<{M}x{K}x{X}> {{stc.name = "x"}}, %w: tensor<{N}x{K}x{W}> {{stc.name = "w", stc.parameter}},
                %scale: tensor<{N}xf32> {{stc.name = "scale"}})
    -> (tensor<{M}x{N}xf32> {{stc.name = "y"}}, tensor<{M}x{N}x{W}> {{stc.name = "low"}}) {{
  %zero = arith.constant 0 : {S}
  %empty = tensor.empty() : tensor<{M}x{N}x{S}>
  %init = linalg.fill ins(%zero : {S}) outs(%empty : tensor<{M}x{N}x{S}>) -> tensor<{M}x{N}x{S}>
  %sum = linalg.generic {{indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %w : tensor<{M}x{K}x{X}>, tensor<{N}x{K}x{W}>) outs(%init : tensor<{M}x{N}x{S}>) {{
  ^bb0(%l: {X}, %r: {W}, %acc: {S}):
    %lw = arith.{ext} %l : {X} to {S}
    %rw = arith.extsi %r : {W} to {S}
    %p = arith.muli %lw, %rw : {S}
    %n = arith.addi %acc, %p : {S}
    linalg.yield %n : {S}
  }} -> tensor<{M}x{N}x{S}>
  %yempty = tensor.empty() : tensor<{M}x{N}xf32>
  %y = linalg.generic {{indexing_maps = [#same, #column, #same], iterator_types = ["parallel", "parallel"]}}
      ins(%sum, %scale : tensor<{M}x{N}x{S}>, tensor<{N}xf32>) outs(%yempty : tensor<{M}x{N}xf32>) {{
  ^bb0(%v: {S}, %k: f32, %o: f32):
    %f = arith.sitofp %v : {S} to f32
    %z = arith.mulf %f, %k : f32
    linalg.yield %z : f32
  }} -> tensor<{M}x{N}xf32>
  %lempty = tensor.empty() : tensor<{M}x{N}x{W}>
  %low = linalg.generic {{indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}}
      ins(%sum : tensor<{M}x{N}x{S}>) outs(%lempty : tensor<{M}x{N}x{W}>) {{
  ^bb0(%v: {S}, %o: {W}):
    %t = arith.trunci %v : {S} to {W}
    linalg.yield %t : {W}
  }} -> tensor<{M}x{N}x{W}>
  return %y, %low : tensor<{M}x{N}xf32>, tensor<{M}x{N}x{W}>
}}
"""


@dataclass(frozen=True)
class Case:
    """[m, k] of integers of `x` bits, with or without a sign, by [n, k] of `w` bits, in sums of `s`."""

    x: int
    w: int
    s: int
    m: int
    n: int
    k: int
    is_signed: bool = True

    @property
    def text(self) -> str:
        ext = "extsi" if self.is_signed else "extui"
        return TEXT.format(M=self.m, N=self.n, K=self.k, X=f"i{self.x}", W=f"i{self.w}", S=f"i{self.s}", ext=ext)

    def inputs(self) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(self.x)
        host = np.dtype(element_type(f"i{self.x}").numpy)
        x = rng.integers(-(1 << (self.x - 1)), 1 << (self.x - 1), (self.m, self.k)).astype(host)
        return {"x": x, "scale": rng.standard_normal(self.n, np.float32)}

    def expected(self, x: np.ndarray, w: np.ndarray, scale: np.ndarray) -> dict[str, np.ndarray]:
        left = x.astype(np.int64) if self.is_signed else x.astype(np.int64) & ((1 << self.x) - 1)
        sums = wrapped(left @ w.astype(np.int64).T, self.s)
        return {"y": sums.astype(np.float32) * scale, "low": wrapped(sums, self.w)}


def wrapped(values: np.ndarray, bits: int) -> np.ndarray:
    return np.left_shift(values, 64 - bits) >> (64 - bits)


CASES = {
    "w4a8": Case(8, 4, 32, 7, 13, 24),
    "odd extents": Case(8, 4, 32, 1, 7, 13),
    "i5 x i3 in i12": Case(5, 3, 12, 3, 5, 17),
    "unsigned i12 x i2": Case(12, 2, 32, 5, 3, 11, is_signed=False),
    "i33 x i7 in i64": Case(33, 7, 64, 2, 3, 5),
}


@pytest.fixture(scope="module")
def w4a8(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project of that case, compiled once, without anything built."""
    folder = tmp_path_factory.mktemp("w4a8")
    (folder / "product.mlir").write_text(CASES["w4a8"].text)
    compile_model(CompileRequest(str(folder / "product.mlir"), options=small_options()), folder / "project")
    return folder / "project"


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_values(case: Case, tmp_path: Path) -> None:
    path, out = tmp_path / "product.mlir", tmp_path / "project"
    path.write_text(case.text)
    compile_model(CompileRequest(str(path), options=small_options()), out)
    result = csim(out, optimisation=0)
    assert result.passed and {output.name for output in result.outputs} == {"y", "low"}, result.explanation
    (port,) = [port for kernel in read_manifest(out).kernels for port in kernel.ports if port.kind == "parameter"]
    held, kind = parameter_in(out, port)
    w = held if held.shape == (case.n, case.k) else held.T
    assert kind.bits == max(1 << (case.w - 1).bit_length(), 8 // port.lanes)
    assert w.min() == -(1 << (case.w - 1)) or case.w > 4  # all values are drawn, also the least
    given = case.inputs()
    for name, expected in case.expected(given["x"], w, given["scale"]).items():
        assert np.array_equal(Accelerator(out)(given)[name], expected), name


PRODUCT = """
#same = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<33xi8> {stc.name = "x"}, %w: tensor<33xi4> {stc.name = "w"}) -> (tensor<33xi32> {stc.name = "y"}) {
  %c8 = arith.constant 8 : i32
  %odd = arith.constant 16777619 : i32
  %empty = tensor.empty() : tensor<33xi32>
  %y = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]}
      ins(%x, %w : tensor<33xi8>, tensor<33xi4>) outs(%empty : tensor<33xi32>) {
  ^bb0(%l: i8, %r: i4, %o: i32):
    %lw = arith.extsi %l : i8 to i32
    %rw = arith.extsi %r : i4 to i32
    %lf = arith.extsi %l : i8 to i32
    %p = arith.muli %lf, %rw : i32
    USE
    linalg.yield %u : i32
  } -> tensor<33xi32>
  return %y : tensor<33xi32>
}
"""


@pytest.mark.parametrize(
    "use",
    [
        "%u = arith.shli %p, %c8 : i32",
        "%q = arith.muli %p, %odd : i32\n %u = arith.shrsi %q, %c8 : i32",
        "%k = arith.cmpi slt, %lw, %c8 : i32\n %u = arith.select %k, %p, %c8 : i32",
    ],
    ids=["shifted", "wrapped", "chosen"],
)
def test_a_product_has_the_width_of_its_type(use: str, tmp_path: Path) -> None:
    """`ap_int` makes one of 12 bits of i8 times i4: what takes it must not."""
    path, out = tmp_path / "product.mlir", tmp_path / "project"
    path.write_text(PRODUCT.replace("USE", use))
    compile_model(CompileRequest(str(path), options=small_options()), out)
    result = csim(out, optimisation=0)
    assert result.passed, result.explanation


@pytest.mark.optimised
def test_wide_integers_wrap_around_in_optimised_programs(tmp_path: Path) -> None:
    """C++ leaves the overflow of its signed integers undefined: g++ takes x + 2^31 - 1 < x for false."""
    path, out = tmp_path / "wrapped.mlir", tmp_path / "project"
    use = """%most = arith.constant 2147483647 : i32  %least = arith.constant -2147483648 : i32
    %sum = arith.addi %lw, %most : i32  %difference = arith.subi %least, %lw : i32  %product = arith.muli %lw, %most : i32
    %k0 = arith.cmpi slt, %sum, %lw : i32  %k1 = arith.cmpi slt, %difference, %lw : i32  %k2 = arith.cmpi slt, %product, %lw : i32
    %a = arith.select %k0, %p, %c8 : i32  %b = arith.select %k1, %p, %odd : i32  %c = arith.select %k2, %p, %lw : i32
    %d = arith.xori %a, %b : i32  %u = arith.xori %c, %d : i32"""
    path.write_text(PRODUCT.replace("USE", use))
    compile_model(CompileRequest(str(path), options=small_options()), out)
    result = csim(out, optimisation=3)
    assert result.passed, result.explanation


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("kernel.h", "part >> (Width * lane)", "part >> (Width * lane + 1)"),
        ("kernel.h", "<< (Width * lane)", "<< (Width * lane - lane % 2)"),
        ("layout.h", "(value ^ 8) - 8", "value"),
    ],
    ids=["slice one bit higher", "slice over its neighbour", "no sign on the host"],
)
def test_wrong_slices_are_caught(file: str, right: str, wrong: str, w4a8: Path, tmp_path: Path) -> None:
    out = shutil.copytree(w4a8, tmp_path / "project")
    text = (out / file).read_text()
    assert right in text
    (out / file).write_text(text.replace(right, wrong))
    assert not csim(out, optimisation=0).passed


@pytest.mark.parametrize(("bits", "least"), [(4, 8), (8, 128)])
def test_entries_that_do_not_fit_are_refused(bits: int, least: int, tmp_path: Path) -> None:
    path, out = tmp_path / "product.mlir", tmp_path / "project"
    path.write_text(Case(bits, 4, 32, 2, 2, 4).text)
    compile_model(CompileRequest(str(path), options=small_options()), out)
    given = {"x": np.full((2, 4), least, np.int64), "scale": np.ones(2, np.float32)}
    with pytest.raises(CompileError, match=f"input 'x' has entries from {least} to {least}; accepted: {-least} to {least - 1}"):
        Accelerator(out)(given)
    with pytest.raises(CompileError, match="input 'x' has entries of type float32; accepted: integers"):
        Accelerator(out)({**given, "x": np.full((2, 4), 1.5, np.float32)})


class IntegerLinear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight: torch.Tensor
        self.scale: torch.Tensor
        generator = torch.Generator().manual_seed(1)
        self.register_buffer("weight", torch.randint(-128, 128, (13, 24), generator=generator, dtype=torch.int8))
        self.register_buffer("scale", torch.rand(13, generator=generator))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x.to(torch.int32) @ self.weight.to(torch.int32).t()).to(torch.float32) * self.scale


def test_int8_weights_of_pytorch_stay_bytes(tmp_path: Path) -> None:
    """Widening them was work of the host: they were packed, and sent through the design, as i32."""
    x = torch.randint(-128, 128, (7, 24), generator=torch.Generator().manual_seed(2), dtype=torch.int8)
    model = export(IntegerLinear(), (x,), name="linear")
    run_stages(model.module, make_context(), stages(small_options(kernel_name="linear")))
    emit_project(model.module, model, tmp_path, {}, report={"model": "linear"})
    assert csim(tmp_path, optimisation=0).passed
    (kernel,) = read_manifest(tmp_path).kernels
    (weight,) = [port for port in kernel.ports if port.kind == "parameter" and port.element_type != "f32"]
    assert weight.element_type == "i8" and weight.bytes == 384  # 24 tokens of 13 entries, in 16 each
    assert {stream.element_type for stream in kernel.streams if "matmul" not in stream.name} == {"i8", "f32"}
