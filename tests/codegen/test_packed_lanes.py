"""Words of lanes in C++ and on the host: what is packed comes out again with its sign, at every width."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from stc.codegen.helpers_h import helper_definitions
from stc.execution.layout import entries_of_bytes, word_bytes
from stc.scalars.forms import PACK, UNPACK
from stc.simulation.ap_types import copy_ap_types

SIZES = [(2, 1), (2, 256), (3, 7), (3, 23), (4, 13), (4, 128), (5, 12), (7, 10), (12, 16), (21, 3), (33, 5), (48, 2), (63, 8)]

PROGRAM = """
template <int Width, int Lanes> static bool agrees() {
  ap_int<Width> lanes[Lanes], again[Lanes];
  for (int lane = 0; lane < Lanes; lane += 1) lanes[lane] = lane == 0 ? -1ll << (Width - 1) : lane == 1 ? -1 : lane * 2654435761ll;
  const ap_uint<Width * Lanes> word = pack_lanes(lanes);
  unpack_lanes(word, again);
  for (int lane = 0; lane < Lanes; lane += 1) {
    const ap_int<Width> slice = word.range(Width * lane + Width - 1, Width * lane);
    if (again[lane] != lanes[lane] || slice != lanes[lane]) return false;
  }
  return true;
}
"""


@pytest.mark.heavy
def test_lanes_of_words_in_cpp(tmp_path: Path) -> None:
    """The vendor's own slice is what `unpack_lanes` and `pack_lanes` are compared with."""
    copy_ap_types(tmp_path)
    calls = "".join(f"  if (!agrees<{width}, {lanes}>()) return {index + 1};\n" for index, (width, lanes) in enumerate(SIZES))
    helpers = "\n".join(helper_definitions(f"{UNPACK} {PACK}"))
    text = f"#include <cstdint>\n#include <ap_int.h>\n{helpers}\n{PROGRAM}\nint main() {{\n{calls}  return 0;\n}}\n"
    (tmp_path / "main.cpp").write_text(text)
    subprocess.run(["g++", "-std=c++14", "-w", f"-I{tmp_path}", "main.cpp", "-o", "main"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "main"], check=False).returncode == 0


@pytest.mark.parametrize(("bits", "kind"), [(2, "i1"), (4, "i1"), (8, "i1"), (16, "<i2"), (64, "<i8")])
def test_words_of_memory_hold_their_entries(bits: int, kind: str) -> None:
    entries = np.random.default_rng(bits).integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1, (5, 16), endpoint=True).astype(kind)
    data = word_bytes(entries, bits)
    assert len(data) == 5 * 16 * bits // 8
    assert np.array_equal(entries_of_bytes(data, bits, np.dtype(kind)), entries.reshape(-1))


def test_the_first_entry_has_the_lowest_bits() -> None:
    assert word_bytes(np.array([[1, -1, -8, 7]], np.int8), 4) == bytes([0xF1, 0x78])
