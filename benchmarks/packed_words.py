"""How fast the C simulation cuts words of small integers: packed multiply-accumulates per second, of the helpers in kernel.h.

    python benchmarks/packed_words.py [--bits 4] [--words 40000]

Words of `ap_uint<512>` times int8 activations, int32 sums, compiled as C simulation compiles (g++ -O3), one process. Beside it the
same sums by a slice `range(hi, lo)` for each entry. Prints millions per second, the best of five runs of each.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from stc.codegen.helpers_h import helper_definitions
from stc.scalars.forms import UNPACK
from stc.simulation.ap_types import copy_ap_types
from stc.simulation.build import DEFAULT_OPTIMISATION, FLAGS, find_compiler

WORD = 512
PROGRAM = """\
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <ap_int.h>

{helpers}

const int BITS = {bits}, LANES = {word} / BITS, WORDS = {words};

static int64_t by_helper(const ap_uint<BITS * LANES> *words, const int8_t *x) {{
  int32_t sums[8] = {{0}};
  for (int i = 0; i < WORDS; i += 1) {{
    ap_int<BITS> lanes[LANES];
    unpack_lanes(words[i], lanes);
    for (int lane = 0; lane < LANES; lane += 1) sums[lane % 8] += (int32_t)lanes[lane] * (int32_t)x[lane];
  }}
  int64_t total = 0;
  for (int32_t sum : sums) total += sum;
  return total;
}}

static int64_t by_range(const ap_uint<BITS * LANES> *words, const int8_t *x) {{
  int32_t sums[8] = {{0}};
  for (int i = 0; i < WORDS; i += 1)
    for (int lane = 0; lane < LANES; lane += 1)
      sums[lane % 8] += (int32_t)ap_int<BITS>(words[i].range(BITS * lane + BITS - 1, BITS * lane)) * (int32_t)x[lane];
  int64_t total = 0;
  for (int32_t sum : sums) total += sum;
  return total;
}}

template <typename Function>
static int64_t timed(const char *name, Function function, const std::vector<ap_uint<BITS * LANES>> &words, const int8_t *x) {{
  double best = 1e9;
  int64_t total = 0;
  for (int run = 0; run < 5; run += 1) {{
    const auto begin = std::chrono::steady_clock::now();
    total = function(words.data(), x);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }}
  std::printf("%-12s %8.1f M packed MACs/s\\n", name, double(WORDS) * LANES / best / 1e6);
  return total;
}}

int main() {{
  std::vector<ap_uint<BITS * LANES>> words(WORDS);
  uint64_t state = 1;
  for (auto &word : words)
    for (int part = 0; part < {word} / 64; part += 1) {{
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      word = (word << 64) | ap_uint<BITS * LANES>(state ^ state >> 29);
    }}
  int8_t x[LANES];
  for (int lane = 0; lane < LANES; lane += 1) x[lane] = int8_t(lane * 37 + 11);
  const int64_t helper = timed("unpack_lanes", by_helper, words, x), range = timed("range", by_range, words, x);
  return helper == range ? 0 : 1;
}}
"""


def main(bits: Annotated[int, typer.Option(help="Of an entry: 2 or 4.")] = 4, words: int = 40_000) -> None:
    """Measure both."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_ap_types(folder)
        text = PROGRAM.format(helpers="\n".join(helper_definitions(UNPACK)), bits=bits, words=words, word=WORD)
        (folder / "words.cpp").write_text(text)
        command = [find_compiler(), *FLAGS, f"-O{DEFAULT_OPTIMISATION}", f"-I{folder}", "words.cpp", "-o", "words"]
        subprocess.run(command, cwd=folder, check=True)
        done = subprocess.run([folder / "words"], check=False, capture_output=True, text=True)
        print(done.stdout, end="")
        if done.returncode != 0:
            raise SystemExit("the two disagree")


if __name__ == "__main__":
    typer.run(main)
