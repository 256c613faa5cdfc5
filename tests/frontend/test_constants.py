"""Constants survive reading and printing bit for bit, with MLIR's own parser and printer as the judge."""

from __future__ import annotations

import random
import re
import subprocess

import pytest
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr

from stc.diagnostics import CompileError
from stc.dialects.parsing import parse_module
from stc.dialects.printing import print_module
from stc.frontend.reference import optimiser_path

pytestmark = pytest.mark.heavy

HEXADECIMAL = "--mlir-print-elementsattrs-with-hex-if-larger=1"


def through_mlir(text: str, *options: str) -> str:
    command = [str(optimiser_path()), "-allow-unregistered-dialect", *options, "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def function_of(constants: list[str], resources: str = "") -> str:
    body = "\n".join(f"  %c{i} = arith.constant {constant}" for i, constant in enumerate(constants))
    return f"func.func @main() {{\n{body}\n  return\n}}\n{resources}"


def dense_constants(text: str) -> list[DenseIntOrFPElementsAttr]:
    values = [op.value for op in parse_module(text).walk() if isinstance(op, ConstantOp)]
    return [value for value in values if isinstance(value, DenseIntOrFPElementsAttr)]


def bit_patterns(width: int) -> list[int]:
    generator = random.Random(width)
    exponent = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}[width]
    sign = 1 << (width - 1)
    special = [
        0,
        sign,
        exponent,
        exponent | sign,
        exponent | 1,
        exponent | (exponent >> 1),
        sign | exponent | 5,
        1,
        exponent - 1,
    ]
    return special + [generator.getrandbits(width) for _ in range(23)]


WIDTHS = {"f16": 16, "f32": 32, "f64": 64}


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64"])
def test_hexadecimal_floats_in_dense_constants(kind: str) -> None:
    width = WIDTHS.get(kind, 16)
    patterns = bit_patterns(width)
    elements = ", ".join(f"0x{pattern:0{width // 4}X}" for pattern in patterns)
    text = function_of(
        [f"dense<[{elements}]> : tensor<{len(patterns)}x{kind}>", f"dense<0x{patterns[2]:X}> : tensor<3x{kind}>"]
    )
    expected = b"".join(pattern.to_bytes(width // 8, "little") for pattern in patterns)
    found = dense_constants(text)
    assert found[0].data.data == expected
    assert found[1].data.data == patterns[2].to_bytes(width // 8, "little") * 3
    printed = print_module(parse_module(text))
    assert dense_constants(printed) == found
    # MLIR prints the raw bytes of both texts.
    assert through_mlir(printed, HEXADECIMAL) == through_mlir(text, HEXADECIMAL)
    assert expected.hex().upper() in through_mlir(printed, HEXADECIMAL)


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64"])
def test_decimal_floats(kind: str) -> None:
    generator = random.Random(7)
    decimals = [f"{generator.uniform(-9, 9):.{digits}e}" for digits in range(1, 18)] + [
        "1.0e-4",
        "-0.0",
        "6.0e-8",
        "12345.678",
        "1.0e4",
    ]
    scalars = [f"{decimal} : {kind}" for decimal in decimals]
    text = function_of([f"dense<[{', '.join(decimals)}]> : tensor<{len(decimals)}x{kind}>", *scalars])
    printed = print_module(parse_module(text))
    assert through_mlir(printed, HEXADECIMAL) == through_mlir(text, HEXADECIMAL)
    assert print_module(parse_module(printed)) == printed


def test_scalars_in_hexadecimal() -> None:
    constants = [
        "0xFF800000 : f32",
        "0x7FC00001 : f32",
        "0x7FF0000000000000 : f64",
        "0x7C00 : f16",
        "0xFF80 : bf16",
        "0xFF : i32",
    ]
    text = function_of(constants)
    assert through_mlir(print_module(parse_module(text))) == through_mlir(text)


def test_a_scalar_whose_payload_would_be_lost_is_refused() -> None:
    with pytest.raises(CompileError, match=r"a\.mlir:2:24: the NaN payload of 0x7f800001 cannot be kept in a scalar f32"):
        parse_module(function_of(["0x7F800001 : f32"]), "a.mlir")


def test_integers_and_booleans() -> None:
    text = function_of(
        [
            "dense<[true, false, true, true, false, false, false, false, true, true]> : tensor<10xi1>",
            "dense<[[1, -2], [0x7, -8]]> : tensor<2x2xi4>",
            'dense<"0x010E0708"> : tensor<4xi4>',
            "dense<[-128, 127]> : tensor<2xi8>",
            "dense<[9223372036854775807, -9223372036854775808]> : tensor<2xi64>",
            "dense<-3> : tensor<2x3xindex>",
            "dense<> : tensor<0xf32>",
            f"dense<[{', '.join(str(i % 2 == 0).lower() for i in range(300))}]> : tensor<300xi1>",
        ]
    )
    printed = print_module(parse_module(text))
    assert through_mlir(printed, HEXADECIMAL) == through_mlir(text, HEXADECIMAL)
    assert dense_constants(text)[2].get_values() == (1, -2, 7, -8)


def test_zeros_of_both_signs_are_no_splat() -> None:
    text = function_of(["dense<[0.0, -0.0]> : tensor<2xf32>", "dense<[0x7FC00000, 0x7FC00000]> : tensor<2xf32>"])
    printed = print_module(parse_module(text))
    assert "[0.000000e+00, -0.000000e+00]" in printed
    assert "dense<0x7FC00000>" in printed
    assert dense_constants(printed) == dense_constants(text)


RESOURCES = '{-# dialect_resources: { builtin: { blob: "0x0400000000000080000080FF0100C07F" } } #-}'
RESOURCE_CONSTANT = "dense_resource<blob> : tensor<3xf32>"


def test_resources_survive_two_parses_in_one_process() -> None:
    text = function_of([RESOURCE_CONSTANT], RESOURCES)
    for _ in range(2):
        (constant,) = dense_constants(text)
        assert constant.data.data.hex() == "00000080000080ff0100c07f"
        printed = print_module(parse_module(text))
        assert re.search(r"dense<\[-0.000000e\+00, 0xFF800000, 0x7FC00001\]>", printed)
        through_mlir(printed)


@pytest.mark.parametrize(
    ("constant", "resources", "message"),
    [
        (RESOURCE_CONSTANT, "", "dense_resource<blob> has no data in this file"),
        (
            "dense_resource<blob> : tensor<4xf32>",
            RESOURCES,
            "dense_resource<blob>: 12 bytes of data, where 4 elements of f32 take 16",
        ),
        ("dense<0x1FF800000> : tensor<f32>", "", "hexadecimal float constant 0x1ff800000 is out of range for f32"),
        ("dense<[1.0, 2.0]> : tensor<3xf32>", "", r"dense literal of shape \[2\], where the type has shape \[3\]"),
        ("dense<1> : tensor<3xf32>", "", "expected a floating point literal, or its bits in hexadecimal"),
        ('dense<"0x00"> : tensor<3xf32>', "", "1 bytes of data, where 3 elements of f32 take 12"),
        ('dense<"12"> : tensor<3xf32>', "", "not a hexadecimal string: '12'"),
    ],
)
def test_malformed_constants(constant: str, resources: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        parse_module(function_of([constant], resources))


def test_scalar_attributes_keep_their_type() -> None:
    (module,) = [parse_module(function_of(["0.1 : f32"]))]
    (constant,) = [op.value for op in module.walk() if isinstance(op, ConstantOp)]
    assert isinstance(constant, FloatAttr) and constant.value.data == 0.10000000149011612
