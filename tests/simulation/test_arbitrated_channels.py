"""Ports that share a channel as they need it: what the header divides, word by word, and what it is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import compile_program, run_program

pytestmark = pytest.mark.heavy

PROGRAM = """
#include "stc_sim.h"
#include <cstdio>
using namespace stc_sim;

// When the last word begins to pass of `ports` ports that read `words` words of `bytes` in turn, of a channel of 16 bytes a cycle.
static void run(int ports, int words, double bytes, Cycle begin) {
  MemoryChannel channel;
  channel.bytes_per_cycle = 16;
  std::vector<MemoryPort> all(ports);
  for (MemoryPort &port : all) {
    port.channel = &channel;
    port.bytes_per_word = bytes;
    port.cycles_per_word = std::max(1.0, bytes / 16);
    port.begin(begin);
  }
  Cycle last = 0;
  for (int word = 0; word < words; ++word)
    for (MemoryPort &port : all) port.consume(last = port.read());
  std::printf("%llu\\n", (unsigned long long)last);
}

int main() {
  run(1, 160, 16, 0);      // alone: a word a cycle
  run(1, 160, 8, 0);       // no faster than a word a cycle
  run(2, 160, 16, 0);      // together half each
  run(5, 160, 16, 1000);   // from cycle 1000 on
  run(1, 10, 1024, 0);     // a word of four windows
  run(3, 160, 5.5, 0);     // padding: 16.5 bytes a cycle are asked for
}
"""


def test_a_channel_passes_no_more_than_it_brings(tmp_path: Path, headers: Path) -> None:
    program = compile_program(PROGRAM, tmp_path, headers, "-DSTC_SIM_TIMED")
    ends = [int(line) for line in run_program(program).stdout.split()]
    expected = [159, 159, 320, 1000 + 800, 640 - 64, 165]
    window = 16  # cycles; the first and the last need not be whole
    assert all(abs(end - asked) <= 2 * window for end, asked in zip(ends, expected, strict=True)), ends
