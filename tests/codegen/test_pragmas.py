"""Pragmas as UG1399 writes them: what is printed is accepted (rule 27, at every emission), what the tool would ignore is not."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from l6_examples import EXAMPLES

from stc.codegen.cpp_source import functions
from stc.codegen.pragmas import complaints

PRINTED = [
    "pipeline II=2 style=flp",
    "unroll",
    "unroll factor=4",
    "loop_flatten off",
    "dataflow",
    "inline off",
    "array_partition variable=x type=complete dim=1",
    "array_partition variable=x type=cyclic factor=16 dim=2",
    "bind_storage variable=s type=fifo impl=lutram",
    "bind_storage variable=a type=ram_s2p impl=lutram latency=1",
    "bind_storage variable=a type=ram_t2p impl=uram latency=1",
    "bind_op variable=x op=mul impl=fabric",
    "bind_op variable=x op=mul impl=dsp latency=2",
    "bind_op variable=x op=add impl=fabric latency=1",
    "bind_op variable=x op=fadd impl=fabric",
    "bind_op variable=x op=fadd impl=fulldsp latency=7",
    "dependence variable=x type=inter direction=RAW distance=16 dependent=true",
    "dependence variable=x type=inter direction=RAW dependent=false",
    "interface mode=m_axi port=x bundle=gmem0 offset=slave depth=16 max_read_burst_length=16 num_read_outstanding=16",
    "interface mode=s_axilite port=return bundle=control",
]
IGNORED = {
    "pipelined II=1": "is not known, expected one of pipeline, unroll",
    "pipeline II=0 style=flp": "has ii=0",
    "pipeline II=1": "has no style=",
    "pipeline II=1 style=flush": "has style=flush, expected stp|frp|flp",
    "unroll complete": "has no option complete",
    "unroll factor=x": "has factor=x",
    "loop_flatten off=true": "has off=true, expected off",
    "inline off recursive": "has both off and recursive, expected one",
    "array_partition variable=x type=complete": "has no dim=",
    "array_partition variable=x complete dim=1": "has no option complete",
    "array_partition variable=x type=cyclic dim=1": "has no factor=",
    "array_partition variable=x type=complete factor=2 dim=1": "has a factor, of type complete",
    "bind_storage variable=s type=fifo": "has no impl=",
    "bind_storage variable=s type=fifo impl=lutram latency=1": "has no option latency",
    "bind_storage variable=s type=ram impl=bram": "has type=ram, expected fifo|ram_s2p|ram_2p|ram_t2p",
    "bind_storage variable=s type=ram_2p impl=bram": "has no latency=",
    "bind_storage variable=s type=ram_2p impl=bram latency=0": "has latency=0, expected [1-3]",
    "bind_storage variable=s type=ram_2p impl=srl latency=1": "has impl=srl, expected lutram|bram|uram",
    "bind_storage variable=s type=ram_t2p impl=lutram latency=1": "has impl=lutram, expected bram|uram",
    "bind_op variable=x op=mul impl=lut": "has impl=lut, expected fabric|dsp",
    "bind_op variable=x op=mul": "has no impl=",
    "bind_op variable=x op=fadd impl=dsp": "has impl=dsp, expected fabric|fulldsp",
    "bind_op variable=x op=fdiv impl=fabric": "has op=fdiv, expected mul|add|fadd",
    "bind_op op=mul impl=dsp": "has no variable=",
    "bind_op variable=x op=add impl=fabric latency=5": "has latency=5",
    "bind_op variable=x op=mul impl=fabric latency=5": "has latency=5",
    "dependence variable=x type=inter direction=RAW": "has no dependent=",
    "dependence variable=x type=inter direction=RAW distance=2 dependent=false": "has a distance, which only a true dependence has",
    "interface m_axi port=x bundle=gmem0": "has no option m_axi",
    "interface mode=m_axi bundle=gmem0": "has no port=",
    "interface mode=s_axilite port=x bundle=control depth=4": "has no option depth",
    "interface mode=fifo port=x": "has mode=fifo",
}


def complaints_of(pragma: str) -> list[str]:
    (found,) = functions(f"static void f(int x) {{\n#pragma HLS {pragma}\n}}")
    (parsed,) = found.body.pragmas
    return list(complaints(parsed.name, parsed.options))


@pytest.mark.parametrize("pragma", PRINTED)
def test_accepted(pragma: str) -> None:
    assert complaints_of(pragma) == []


@pytest.mark.parametrize(("pragma", "complaint"), IGNORED.items(), ids=list(IGNORED))
def test_refused(pragma: str, complaint: str) -> None:
    assert any(complaint in found for found in complaints_of(pragma))


@pytest.mark.parametrize("name", EXAMPLES)
def test_emitted_pragmas(name: str, emitted: Callable[[str], Path]) -> None:
    pragmas = re.findall(r"^#pragma (\w+) (.*)$", (emitted(name) / "kernel.cpp").read_text(), re.MULTILINE)
    assert len(pragmas) > 5
    assert [(tool, text) for tool, text in pragmas if tool != "HLS" or complaints_of(text)] == []
