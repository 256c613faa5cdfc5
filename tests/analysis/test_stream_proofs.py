"""Edges of a module: which there are, how each is proved, what a wrong one says, and what report.json keeps of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from stc.analysis.stream_proofs import prove_streams
from stc.dialects.itensor import ForkOp, SizeAttr, SizeOp
from stc.dialects.parsing import parse_module
from stc.dialects.printing import print_module
from stc.iteration.size import sum_of
from stc.tools.compile import Recorder, design_report
from stc_testing.small import small_options

FILECHECK = Path(__file__).parents[2] / "filecheck_tests"


def level(name: str) -> ModuleOp:
    """The running example at a level."""
    return parse_module((FILECHECK / "levels" / name).read_text())


def test_the_running_example():
    module = level("5_vectorised.mlir")
    before = print_module(module)
    proofs = prove_streams(module)
    assert not proofs.failures
    assert {(edge.kind, edge.method) for edge in proofs.edges} >= {
        ("boundary", "type"),
        ("port", "type"),
        ("read", "verifier"),
        ("write", "verifier"),
        ("converter", "closed form"),
    }
    assert sum(proofs.by_method.values()) == len(proofs.edges)
    assert all(edge.z3 == ("not asked" if edge.method in ("type", "verifier", "counted") else "confirmed") for edge in proofs.edges)
    assert print_module(module) == before


def test_each_proof_starts_afresh():
    """Seconds in a report are those of the proofs, not of looking up earlier ones."""
    texts = (FILECHECK / "transforms" / "dataflow" / "verify_streams.mlir").read_text().split("// -----")
    methods = [[edge.method for text in texts for edge in prove_streams(parse_module(text)).edges] for _ in range(2)]
    assert methods[0] == methods[1]
    assert {"type", "normal form", "closed form", "z3"} <= set(methods[0])


SLICES = """
!S = !itensor.itensor<1xf32, iter_space: [2, 3, 4] * [1, 8, 2], iter_map: (d0, d1, d2) -> (d0 + d1 + d2)>
!A = !itensor.itensor<1xf32, iter_space: [2, 4] * [1, 2], iter_map: (d0, d1) -> (d0 + d1)>
!B = !itensor.itensor<1xf32, iter_space: [2, 6] * [1, 2], iter_map: (d0, d1) -> (d0 + d1)>
func.func @f(%s: !S) -> (!A, !B) {
  %a = itensor.chunk %s at [8] : !S to !A
  %b = itensor.chunk %s at [0] : !S to !B
  func.return %a, %b : !A, !B
}
"""


def test_a_slice_across_tiles_is_counted():
    assert [edge.method for edge in prove_streams(parse_module(SLICES)).edges] == ["closed form", "counted"]


ROUTED = """
!S = !itensor.itensor<1x4xf32, iter_space: [2, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!A = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1 + 4)>
func.func @f(%s: !S) -> !S {
  %a, %b = itensor.split %s : !S to !A, !B
  %t = itensor.merge %a, %b : !A, !B to !S
  %u, %v = itensor.fork %t : !S to !S, !S
  %c, %d = itensor.chunk %u at [0, 0], [1, 0] : !S to !itensor.itensor<1x4xf32, iter_space: [4] * [4], iter_map: (d0) -> (0, d0)>,
    !itensor.itensor<1x4xf32, iter_space: [4] * [4], iter_map: (d0) -> (0, d0)>
  %w = itensor.concat %c, %d at [0, 0], [1, 0] : !itensor.itensor<1x4xf32, iter_space: [4] * [4], iter_map: (d0) -> (0, d0)>,
    !itensor.itensor<1x4xf32, iter_space: [4] * [4], iter_map: (d0) -> (0, d0)> to !S
  func.return %w : !S
}
"""


def test_operations_that_route_tokens():
    proofs = prove_streams(parse_module(ROUTED))
    assert not proofs.failures
    assert [edge.kind for edge in proofs.edges] == [
        *["split"] * 2, *["merge"] * 2, *["fork"] * 2, *["chunk"] * 2, *["concat"] * 3
    ]  # fmt: skip


def test_a_failure_names_edge_token_and_place():
    wrong = ROUTED.replace("%c, %d at [0, 0], [1, 0]", "%d, %c at [0, 0], [1, 0]").replace("merge %a, %b", "merge %b, %a")
    module = parse_module(wrong.replace("merge %b, %a : !A, !B", "merge %b, %a : !B, !A"), verify=False)
    [first, second] = prove_streams(module).failures
    assert (first.kind, first.name) == ("merge", "part 0 of %t")
    assert first.reason == "token 0 is at [0, 0] in the source but at [0, 4] in the target"
    assert second.reason == "token 0 is at [0, 4] in the source but at [0, 0] in the target"
    assert first.where is not None and first.where.split(":")[-2:] == ["7", "3"]


STRIPED = """
!S = !itensor.itensor<1x4xf32, iter_space: [2, 4] * [1, 4], iter_map: (d0, d1) -> (d0, d1)>
!A = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
!B = !itensor.itensor<1x4xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1 + 4)>
func.func @f(%x: tensor<2x16xf32>) -> tensor<2x16xf32> {
  %p, %q = dataflow.pack %x : tensor<2x16xf32> as !S -> tensor<4xvector<4xf32>>, tensor<4xvector<4xf32>>
  %r, %t = dataflow.kernel @k(%a = %p : tensor<4xvector<4xf32>> as !A, %b = %q : tensor<4xvector<4xf32>> as !B) ->
      (tensor<4xvector<4xf32>> as !A, tensor<4xvector<4xf32>> as !B) {
    dataflow.yield %a, %b : !A, !B
  }
  %y = dataflow.unpack %r, %t : tensor<4xvector<4xf32>>, tensor<4xvector<4xf32>> as !S -> tensor<2x16xf32>
  func.return %y : tensor<2x16xf32>
}
"""


def test_stripes_of_a_packed_tensor():
    assert [edge.kind for edge in prove_streams(parse_module(STRIPED)).edges] == ["boundary"] * 4 + ["readers"] + ["boundary"] * 2
    [first, second] = prove_streams(parse_module(STRIPED.replace("unpack %r, %t", "unpack %t, %r"))).failures
    assert first.name == "%t unpacked to %y"
    assert first.reason == "token 0 is at [0, 4] in the source but at [0, 0] in the target"
    assert second.name == "%r unpacked to %y"


COPIED = """
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = dataflow.kernel @k(%s = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) {
    %e = itensor.empty : !S
    %g = itensor.empty : !S
    %r = dataflow.task @first ins(%a = %s : !S) outs(%o = %e : !S) -> !S {
      BODY
    }
    %t = dataflow.task @second ins(%a = %r : !S) outs(%o = %g : !S) -> !S {
      BODY
    }
    dataflow.yield %t : !S
  }
  func.return %y : tensor<4xf32>
}""".replace(
    "BODY",
    """%c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %q = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %o) -> (!S) {
        %v = itensor.read %a[%i] : !S -> tensor<1xf32>
        %w = itensor.write %v into %p[%i] : tensor<1xf32> -> !S
        scf.yield %w : !S
      }
      dataflow.yield %q : !S""",
)
NOTHING_WRITTEN = ("%w = itensor.write %v into %p[%i] : tensor<1xf32> -> !S", "", "yield %w", "yield %p")
NOTHING_READ = ("itensor.read %a[%i] : !S ->", "tensor.empty() :")


@pytest.mark.parametrize(
    ("changes", "failure"),
    [
        (NOTHING_WRITTEN, ("port", "%e at %o of @first", "%o is never written, expected a task that sends every token")),
        (NOTHING_READ, ("port", "%s at %a of @first", "%a is never read, expected a task that takes every token")),
        (("%a = %r", "%a = %g"), ("source", "%g in @k", "taken by @second but written by nobody")),
        (("yield %t", "yield %e"), ("source", "%e in @k", "taken by 'dataflow.yield' but written by nobody")),
        (("%o = %g", "%o = %r"), ("port", "%r at %o of @second", "%r has been written by 'dataflow.task', expected an empty")),
    ],
)
def test_every_stream_is_written_and_read(changes: tuple[str, ...], failure: tuple[str, str, str]):
    """Types may agree on every edge of a design in which a consumer waits for ever."""
    assert not prove_streams(parse_module(COPIED)).failures
    text = COPIED
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        text = text.replace(old, new, 1)
    found = prove_streams(parse_module(text)).failures[0]
    assert (found.kind, found.name) == failure[:2]
    assert found.reason.startswith(failure[2])


def test_a_branch_between_tasks_is_not_proved():
    """Inside a task the accesses say under which guards they stand; between tasks nobody does."""
    chosen = """%b = arith.constant 0 : i1
    %z = scf.if %b -> (!S) { scf.yield %r : !S } else { scf.yield %t : !S }
    dataflow.yield %z : !S
  }
  func"""
    module = parse_module(COPIED.replace("dataflow.yield %t : !S\n  }\n  func", chosen))
    assert "not proved: there is no rule for 'scf.if'" in [failure.reason for failure in prove_streams(module).failures]


def test_a_merge_of_one_part_twice():
    """Both inputs say that they are the even tokens: as many as the result has, but not those."""
    module = parse_module(ROUTED.replace("merge %a, %b : !A, !B", "merge %a, %a : !A, !A"))
    [failure] = prove_streams(module).failures
    assert (failure.kind, failure.name) == ("merge", "part 1 of %t")
    assert failure.reason == "token 0 is at [0, 4] in the source but at [0, 0] in the target"


def test_an_operation_without_a_rule_is_not_proved():
    module = parse_module("""
    !S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = dataflow.kernel @k(%s = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) {
        %t = "builtin.unrealized_conversion_cast"(%s) : (!S) -> !S
        dataflow.yield %t : !S
      }
      func.return %y : tensor<4xf32>
    }""")
    [failure] = prove_streams(module).failures
    assert failure.kind == "unknown"
    assert failure.reason == "not proved: there is no rule for 'builtin.unrealized_conversion_cast'"


CONVERTED = """
!S = !itensor.itensor<1x4xf32, iter_space: [2, 2, 3] * [2, 1, 4], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
!T = !itensor.itensor<1x4xf32, iter_space: [2, 3, 2] * [2, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
func.func @f(%s: !S) -> !T {
  %t = itensor.converter %s {shared_loops = 1, buffer_shape = [2, 12], blocks = 2} : !S to !T
  func.return %t : !T
}
"""


@pytest.mark.parametrize(
    "old, new, reason",
    [
        ("[2, 12]", "[2, 11]", "token 2 of the source, at [0, 8], is stored at 8 to 11 of dimension 1, outside of the buffer's"),
        ("[2, 12]", "[1, 12]", "token 3 of the source, at [1, 0], is stored at 1 to 1 of dimension 0, outside of the buffer's"),
        ("_loops = 1", "_loops = 2", "token 1 of the target, at [1, 0], needs coordinate 1 of dimension 0 at address 1 of it"),
        ("_loops = 1", "_loops = 9", "not proved: there are no 9 loops to share"),
        ("blocks = 2", "blocks = 0", "not proved: there are 0 blocks to acquire"),
        ("3, 2] * [2, 4, 1]", "3, 2] * [1, 4, 2]", "token 1 of the target, at [2, 0], needs coordinate 2 of dimension 0 at"),
        ("2, 3] * [2, 1, 4]", "2, 3] * [3, 1, 4]", "token 6 of the target, at [2, 0], leaves in shared iteration 1, whose block"),
    ],
)
def test_a_converter_that_a_pass_broke(old: str, new: str, reason: str):
    """A converter is proved from its own types and attributes: its verifier did not see these."""
    assert [edge.method for edge in prove_streams(parse_module(CONVERTED)).edges] == ["closed form"]
    [failure] = prove_streams(parse_module(CONVERTED.replace(old, new), verify=False)).failures
    assert (failure.kind, failure.name) == ("converter", "%s to %t in no kernel")
    assert failure.reason.startswith(reason)


def test_every_copy_of_a_fork_is_an_edge():
    module = level("5_vectorised.mlir")
    forks = sum(len(op.copies) for op in module.walk() if isinstance(op, ForkOp))
    assert sum(edge.kind == "fork" for edge in prove_streams(module).edges) == forks


def test_the_report_of_a_compile():
    recorder = Recorder()
    report = design_report(level("1_linalg.mlir"), small_options(tile=4, kernel_name="k"), recorder)["proofs"]
    assert report["origin"] == "proved"
    assert report["edges"] == len(report["list"]) == sum(report["by_method"].values()) > 0
    assert report["seconds"] == pytest.approx(sum(edge["seconds"] for edge in report["list"]))
    assert {"name", "kind", "method", "z3", "seconds", "z3_seconds", "has_run_time_size"} == set(report["list"][0])
    assert report["z3"]["asked"] == report["z3"]["confirmed"]
    assert report["z3"]["alone"] == report["z3"]["gave_up"] == 0
    assert report["z3"]["seconds"] == pytest.approx(sum(edge["z3_seconds"] for edge in report["list"]))


PACKED_BEFORE = """
!X = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>
func.func @main(%x: tensor<2xvector<4xf32>>) -> tensor<8xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<2xvector<4xf32>> as !X) -> (tensor<8xf32> as !X) {
    dataflow.yield %a : !X
  }
  func.return %y : tensor<8xf32>
}
"""


def test_words_that_somebody_else_packed_are_an_assumption() -> None:
    methods = prove_streams(parse_module(PACKED_BEFORE, "packed.mlir")).by_method
    assert methods["assumed"] == 1


def test_accesses_of_run_time_size_are_put_to_z3():
    """Whatever the position: that is what z3 is for. One that runs over another size is found."""
    text = (Path(__file__).parents[2] / "examples" / "run_time_sizes.mlir").read_text()
    report = prove_streams(parse_module(text)).report()["z3"]
    assert report["asked"] == report["confirmed"] == report["for_all_run_time_sizes"] == 3
    assert report["gave_up"] == report["alone"] == 0
    wrong = parse_module(text)
    bound = next(op for op in wrong.walk() if isinstance(op, SizeOp))
    bound.size_attr = SizeAttr(sum_of(bound.size, 1))
    failures = prove_streams(wrong).failures
    assert [failure.kind for failure in failures] == ["read"] and "which the type's loops do not take" in failures[0].reason
