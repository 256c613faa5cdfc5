"""Which memories come through one port."""

from __future__ import annotations

from xdsl.parser import Parser

from stc.analysis.memory_ports import memory_ports
from stc.dialects.context import make_context
from stc.dialects.dataflow import KernelOp

TASKS = """
    %sx = stream.create @sx : !S
    dataflow.task @load_x ins(%m = %px : memref<{read}xvector<4xf32>>) outs(%o = %sx : !S) kind load {{
      dataflow.yield
    }}
    dataflow.task @work ins(%i = %sx : !S, %v = %pw : memref<64xvector<4xf32>>)
        outs(%o = %my : {result}) {{
      dataflow.yield
    }}"""


def ports(read: int, written: str, place: str = "") -> list[list[str]]:
    """Of a kernel that loads `read` words of x, reads 64 words of w, and returns `written`."""
    result, tensor = f"memref<{written}>", f"tensor<{written}>"
    body = TASKS.format(read=read, result=result)
    text = f"""
!S = !stream.stream<vector<4xf32>, depth: 2>
func.func @main(%x: tensor<{read}xvector<4xf32>>, %w: tensor<64xvector<4xf32>>) -> {tensor} {{
  %y = dataflow.kernel @k(%px = %x : tensor<{read}xvector<4xf32>> as memref<{read}xvector<4xf32>>,
                          %pw = %w : tensor<64xvector<4xf32>> as memref<64xvector<4xf32>>) -> ({tensor} as {result}{place}) {{
    %my = dataflow.memory @my : {result}
    {body}
    dataflow.yield %my : {result}
  }}
  func.return %y : {tensor}
}}"""
    module = Parser(make_context(), text).parse_module()
    (kernel,) = (op for op in module.walk() if isinstance(op, KernelOp))
    return [[value.name_hint or "" for value in port] for port in memory_ports(kernel)]


def test_little_is_written_through_the_port_that_reads_the_least() -> None:
    assert ports(2, "2xvector<4xf32>") == [["px", "my"], ["pw"]]


def test_much_has_a_port_of_its_own() -> None:
    """Both together would move more than any other port does."""
    assert ports(2, "62xvector<4xf32>") == [["px", "my"], ["pw"]]
    assert ports(2, "63xvector<4xf32>") == [["px"], ["pw"], ["my"]]
    assert ports(33, "32xvector<4xf32>") == [["px"], ["pw"], ["my"]]


def test_words_of_another_type_do_not_join() -> None:
    assert ports(2, "2xvector<2xf32>") == [["px"], ["pw"], ["my"]]


def test_an_update_goes_through_the_port_of_its_own_buffer() -> None:
    """However much that reads."""
    assert ports(2, "64xvector<4xf32>", " into %pw at [0]") == [["px"], ["pw", "my"]]
