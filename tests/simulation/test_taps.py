"""What taps write of streams of any token, and how tokens become tensors."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from conftest import HEADERS, compile_program
from foreign_runs import copy_design
from typer.testing import CliRunner

from stc.diagnostics import CompileError
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.manifest.layouts import order_at
from stc.manifest.schema import Manifest, Order, OrderCoordinate, OrderLoop
from stc.manifest.schema import Stream as StreamEntry
from stc.simulation.ap_types import copy_ap_types
from stc.simulation.taps import Taps, chosen_streams, in_layout, in_layout_of
from stc.tools.stc import app

PROGRAM = """
#include "stc_sim.h"
#include "ap_int.h"
#include "hls_half.h"
int main() {
  hls::stream<float> plain("plain"), untapped("untapped");
  hls::stream<hls::vector<half, 3>> halves("halves");
  hls::stream<hls::vector<bool, 1>> truths("truths");
  hls::stream<ap_int<5>> narrow("narrow");
  hls::stream<ap_uint<12>> packed("packed");
  hls::stream<ap_uint<130>> wide("wide");
  struct Pair { int a, b; };
  hls::stream<Pair> pairs("pairs");
  hls::stream_of_blocks<short[2][3], 2> blocks;
  stc_sim::channel_of(blocks).set_name("blocks");
  for (int i = 0; i < 3; i++) {
    plain.write(i / 4.0f);
    untapped.write(0);
    hls::vector<half, 3> three;
    for (int lane = 0; lane < 3; lane++) three[lane] = half(lane + 0.5f * i);
    halves.write(three);
    truths.write(hls::vector<bool, 1>(i == 1));
    narrow.write(ap_int<5>(i - 3));
    packed.write(ap_uint<12>(0x8f1 + i));
    wide.write(ap_uint<130>(i) << 128);
    pairs.write_nb(Pair{i, -i});
  }
  hls::write_lock<short[2][3]> block(blocks);
  for (int i = 0; i < 6; i++) block[i / 3][i % 3] = short(i - 2);
}
"""
NAMES = ("plain", "halves", "truths", "narrow", "packed", "wide", "pairs", "blocks", "unused")


def manifest(streams: Sequence[StreamEntry]) -> Manifest:
    from handmade import manifest as made

    return made(streams)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, np.ndarray]:
    """What a program writes of each of `NAMES`; `packed` holds three i4."""
    folder = tmp_path_factory.mktemp("taps")
    headers = folder / "headers.h"
    headers.write_text(HEADERS + '#include "stc_sim.h"\n')
    copy_ap_types(folder / "ap_types")
    binary = compile_program(PROGRAM, folder, headers, "-DSTC_SIM_TAPPED", "-isystem", str(folder / "ap_types"))
    taps = Taps(folder, NAMES)
    (table,) = taps.tables("").values()
    (folder / "table").write_text(table)
    subprocess.run([binary], env={"STC_SIM_TAPS": str(folder / "table")}, check=True)
    known = manifest([StreamEntry("packed", "i4", 3, 12, 2, "srl", "a", "b", 3)])
    return {tap.name: tap.tokens for tap in taps.read(folder, known, "")}


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "dtype", "expected"),
    [
        ("plain", "f4", [[0], [0.25], [0.5]]),
        ("halves", "f2", [[0, 1, 2], [0.5, 1.5, 2.5], [1, 2, 3]]),
        ("truths", "?", [[False], [True], [False]]),
        ("narrow", "i1", [[-3], [-2], [-1]]),
        ("packed", "i1", [[1, -1, -8], [2, -1, -8], [3, -1, -8]]),
        ("wide", "u1", [[0] * 16 + [i] for i in range(3)]),
        ("blocks", "i2", [[-2, -1, 0, 1, 2, 3]]),
    ],
)
def test_tokens_of_every_kind(written: Mapping[str, np.ndarray], name: str, dtype: str, expected: object) -> None:
    assert written[name].dtype == np.dtype(dtype)
    np.testing.assert_array_equal(written[name], np.array(expected, dtype))


@pytest.mark.heavy
def test_other_tokens_are_bytes_and_what_nobody_writes_is_empty(written: Mapping[str, np.ndarray]) -> None:
    assert written["pairs"].view("i4").reshape(3, 2).tolist() == [[0, 0], [1, -1], [2, -2]]
    assert written["unused"].shape == (0, 0)


ORDER = StreamOrder((1, 2), (Loop(2, 2), Loop(2, 1), Loop(3, 1)), (Coordinate((2,)), Coordinate((0,))))
"""The columns of a 3x4 tensor in pairs, each pair twice."""


def test_tokens_become_the_tensor_that_they_are() -> None:
    tensor = np.arange(12, dtype=np.float32).reshape(3, 4)
    tensor[1, 2] = np.nan
    tokens = np.array([tensor[row, column : column + 2] for row, column in ORDER.enumerate()])
    found, note = in_layout(tokens, ORDER)
    np.testing.assert_array_equal(found, tensor)
    assert note == ""
    layers, _ = in_layout(np.concatenate([tokens, tokens + 1]), ORDER)
    np.testing.assert_array_equal(layers, [tensor, tensor + 1])


def test_what_is_no_whole_tensor_or_not_the_same_again_is_said() -> None:
    assert in_layout(np.zeros((11, 2)), ORDER) == (None, "11 tokens of 2 are no whole tensor, which is 12 of 2")
    tokens = np.zeros((12, 2), np.int8)
    tokens[3] = 1
    found, note = in_layout(tokens, ORDER)
    assert found is not None and found.max() == 1 and note == "entries that crossed again were others"
    strided = StreamOrder((1,), (Loop(2, 3),), (Coordinate((0,)),))
    found, note = in_layout(np.ones((2, 1), np.float32), strided)
    assert found is not None and found[[0, 3]].tolist() == [1, 1] and np.isnan(found[1:3]).all()
    assert note == "2 entries never crossed"


def test_a_scalar_and_sizes_of_run_time() -> None:
    found, _ = in_layout(np.array([[7]]), StreamOrder((), (), ()))
    assert found is not None and found.shape == () and found == 7
    order = Order((1,), (OrderLoop("sum(pos<=9, 1)", 1),), (OrderCoordinate((0,)),))
    assert order_at(order, {"pos": 3}).token_count == 4
    stream = StreamEntry("s", "f32", 1, 32, 2, "srl", "a", "b", 10, order=order)
    found, _ = in_layout_of(stream, np.arange(4.0).reshape(4, 1), {"pos": 3})
    assert found is not None and found.tolist() == [0, 1, 2, 3]


def test_a_task_stands_for_its_streams_and_unknown_names_are_a_sentence() -> None:
    known = {"add_stream": ("add_stream",), "add": ("a_stream", "add_stream")}
    assert chosen_streams(["add_stream", "add"], known, Path("out")) == ("add_stream", "a_stream")
    with pytest.raises(CompileError, match=r"out: no stream and no task is called 'ad_stream'; accepted: add_stream.*manifest"):
        chosen_streams(["ad_stream"], known, Path("out"))


@pytest.mark.heavy
def test_the_command_on_an_emitted_project(emitted: Callable[[str], Path], tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(emitted("matmul"), project)
    entry = json.loads((project / "manifest.json").read_text())
    stream = entry["kernels"][0]["streams"][0]

    def run(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["csim", str(project), *arguments])
        return done.exit_code, " ".join(done.output.split()) or str(done.exception)

    code, told = run("--tap", f"{stream['name']},{stream['producer']}", "--json")
    assert code == 0, told
    (file,) = [each for each in json.loads(told)["taps"] if each["stream"] == stream["name"]]
    tokens = np.load(file["file"])
    assert tokens.shape == (stream["tokens"], stream["lanes"]) and Path(file["file"]).is_relative_to(project / "build" / "taps")
    assert (file["least"], file["largest"]) == (tokens.min(), tokens.max())
    out = tmp_path / "out"
    code, told = run("--tap", stream["name"], "--out", str(out))
    assert code == 0 and f"written to {out}" in told and "what crossed (executed)" in told
    assert {path.suffix for path in out.rglob("*") if path.is_file()} == {".npy"}
    for arguments, words in (
        (("--tap", "nobody"), "no stream and no task is called 'nobody'"),
        (("--tap", stream["name"], "--out", str(out)), "output folder is not empty"),
        (("--tap", stream["name"], "--sanitize"), "both --tap and --sanitize"),
        (("--out", str(out)), "--out without --tap"),
    ):
        code, told = run(*arguments)
        assert code != 0 and words in told
    (project / "sim/include/stc_sim/tap.h").unlink()
    assert "has no taps: it is of an earlier version" in run("--tap", stream["name"])[1]


@pytest.mark.heavy
def test_a_design_that_stc_did_not_write(tmp_path: Path) -> None:
    """Tokens of all calls of the top function, in order; its streams are known when it has run."""
    folder = copy_design("nested", tmp_path)
    done = CliRunner().invoke(app, ["csim", str(folder), "--tap", "nobody"])
    assert done.exit_code != 0 and "no stream and no task is called 'nobody'" in str(done.exception)
    channel = next(each for each in json.loads((folder / "build/csim.json").read_text())["channels"] if not each["external"])
    done = CliRunner().invoke(app, ["csim", str(folder), "--tap", channel["name"], "--json"])
    (file,) = json.loads(done.output)["taps"]
    assert (file["tokens"], file["tensor"]) == (channel["tokens"], None)
