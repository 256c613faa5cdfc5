"""Facts that passes leave for each other are spelled in one place."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import stc
import stc_testing
from stc.dialects.facts import FACTS
from stc.dialects.parsing import parse_module
from stc.dialects.preconditions import unfit_for_passes

HOME = "facts.py"


def test_each_is_spelled_where_it_is_defined_alone() -> None:
    found: list[str] = []
    for package in (stc, stc_testing):
        for path in Path(str(package.__file__)).parent.rglob("*.py"):
            if path.name == HOME:
                continue
            constants = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
            found += [f"{path.name}:{node.lineno} {node.value}" for node in constants if node.value in FACTS]
    assert not found


@pytest.mark.parametrize(
    ("attributes", "complaint"),
    [
        ("stc.name = 3 : i32", "has stc.name = 3 : i32, expected string"),
        ("stc.unroll = 2 : i32", "has stc.unroll = 2 : i32, expected it on an 'scf.for'"),
        ("stc.drains", "has stc.drains = unit, expected it on an 'scf.for'"),
        ("stc.lanes = -1 : i32", "has stc.lanes = -1 : i32, expected one from 0 to 2147483647"),
        ("stc.copies = array<i64: 2, 0>", "has stc.copies = array<i64: 2, 0>, expected parts from 1 to 2147483647"),
        ("stc.dealt = array<i64: 0, 1>", "has stc.dealt = array<i64: 0, 1>, expected parts from 1 to 2147483647"),
        ("stc.partition = [[0 : i32]]", "expected pairs of a dimension of memref<4x8xf32> and a factor, from 0 to its extent"),
        ("stc.partition = [[2 : i32, 1 : i32]]", "expected pairs of a dimension of memref<4x8xf32>"),
        ("stc.partition = [[1 : i32, 9 : i32]]", "expected pairs of a dimension of memref<4x8xf32>"),
        ("stc.partition = [1 : i32]", "expected array"),
        ("stc.duplicate_loads = [1 : i32]", "expected array"),
        ('stc.storage = ["ram_t2p", "lutram"]', "expected ram_t2p in bram, uram"),
        ('stc.storage = ["ram_s2p", "srl"]', "expected ram_s2p in lutram, bram, uram"),
        ('stc.storage = ["fifo", "bram"]', "expected ports ram_s2p, ram_2p, ram_t2p and a memory"),
        ('stc.storage = ["ram_s2p", "bram", "bram"]', "expected ports ram_s2p, ram_2p, ram_t2p and a memory"),
        ('stc.storage = "bram"', "expected array"),
        ('stc.adders = "fast"', "expected dsp, lut"),
        ('stc.adders = "lut"', "expected it on an addition of floats"),
        ("stc.registered", "has stc.registered = unit, expected it on an addition of integers"),
        ("stc.shedule", "has stc.shedule, which says nothing, expected one of stc.name, stc.module"),
        ("stc.tokens = 4 : i64", "has stc.tokens, which says nothing"),
    ],
)
def test_what_no_pass_gets(attributes: str, complaint: str) -> None:
    module = parse_module(f"%m = memref.alloc() {{{attributes}}} : memref<4x8xf32>")
    assert complaint in str(unfit_for_passes(module))


def test_what_is_none_of_ours_may_be_anything() -> None:
    module = parse_module("%m = memref.alloc() {mine.name = 3 : i32, stc.partition = [[1 : i32, 0 : i32]]} : memref<4x8xf32>")
    assert unfit_for_passes(module) is None
