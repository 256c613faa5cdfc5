"""A task reads what another one wrote in the same launch: once the write is acknowledged, which the writer's next loop shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import HEADERS, compile_program, run_program

from stc.simulation.instrument import instrument

pytestmark = pytest.mark.heavy

EXTENTS = {"top": {"cache": 8, "cache_update": 8, "y": 8}}
EXCHANGE = "written.write(1); heard.read();"
"""The writer gives the credit, and goes on once the words are read."""
LOOP = """exchange_loop: for (int k = 0; k < 2; k++) {
#pragma HLS pipeline II=1 style=flp
      if (k == 0) written.write(1); else heard.read();
    }"""
"""In another loop of the writer, behind that which writes."""
WITHIN = "if (i == 1) written.write(1); else if (i == 3) heard.read();"
"""In the loop that writes."""


def kernel(inside: str = "", behind: str = "", first: str = "0") -> str:
    """Each of two steps stores four words, and behind the credit loads four, beginning with `first`."""
    return f"""
static void store(int *cache_update, hls::stream<char> &written, hls::stream<char> &heard) {{
  for (int step = 0; step < 2; step++) {{
    store_loop: for (int i = 0; i < 4; i++) {{
#pragma HLS pipeline II=1 style=flp
      cache_update[4 * step + i] = 10 * step + i;
      {inside}
    }}
    {behind}
  }}
}}
static void load(const int *cache, hls::stream<char> &written, hls::stream<char> &heard, int *y) {{
  for (int step = 0; step < 2; step++) {{
    wait_loop: for (int once = 0; once < 1; once++) {{
#pragma HLS pipeline II=1 style=flp
      written.read();
    }}
    load_loop: for (int i = 0; i < 4; i++) {{
#pragma HLS pipeline II=1 style=flp
      y[4 * step + i] = cache[{first} + i];
    }}
    heard.write(1);
  }}
}}
extern "C" void top(const int *cache, int *cache_update, int *y) {{
#pragma HLS dataflow
  hls::stream<char, 2> written("written"), heard("heard");
  store(cache_update, written, heard);
  load(cache, written, heard, y);
}}
"""


@pytest.fixture(params=["", "-DSTC_SIM_TIMED"], ids=["values", "timed"])
def flags(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return (request.param,) if request.param else ()


def run(text: str, folder: Path, headers: Path, flags: tuple[str, ...], launches: int = 1,
        *, of_steps: bool = True) -> dict[str, Any]:
    """What the simulator reports of launches on one cache, and what the last one loads. `of_steps`: whether a launch computes
    several, as the instrumented function says that runs all units."""
    source = instrument(HEADERS + text, "kernel.cpp", EXTENTS)
    source += f"""
#include "stc_sim.h"
#include <cstdio>
int main() {{
  stc_sim::several_steps = {"true" if of_steps else "false"};
  stc_sim::Report report("{folder}/csim.json");
  std::vector<int> cache(8, 99), y(8);
  for (int launch = 0; launch < {launches}; launch++) report.run("top", [&] {{ top(cache.data(), cache.data(), y.data()); }});
  for (int value : y) std::printf("%d ", value);
  std::printf("\\n");
  return report.finish();
}}
"""
    done = run_program(compile_program(source, folder, headers, *flags))
    result: dict[str, Any] = json.loads((folder / "csim.json").read_text())
    assert done.returncode == (0 if result["passed"] else 1), done.stderr
    return result | {"loaded": [int(word) for word in done.stdout.split("\n", 1)[0].split()] if result["passed"] else None}


def test_launches_of_one_step_read_nothing_that_they_wrote(tmp_path: Path, headers: Path, flags: tuple[str, ...]) -> None:
    result = run(kernel(behind=LOOP, first="4 * step"), tmp_path, headers, flags, of_steps=False)
    assert "the write may not be acknowledged" in json.dumps(result)


@pytest.mark.parametrize(("first", "loaded"), [("4 * step", [0, 1, 2, 3, 10, 11, 12, 13]), ("0", [0, 1, 2, 3] * 2),
                                               ("2 * step", [0, 1, 2, 3, 2, 3, 10, 11])])
def test_words_of_an_earlier_loop(tmp_path: Path, headers: Path, flags: tuple[str, ...], first: str, loaded: list[int]) -> None:
    """Those of this step, of the one before, of both."""
    result = run(kernel(behind=LOOP, first=first), tmp_path, headers, flags)
    assert result["passed"], result
    assert result["loaded"] == loaded


@pytest.mark.parametrize(
    ("inside", "behind", "first", "word"),
    [
        (WITHIN, "", "0", 0),
        ("", EXCHANGE, "3", 3),
        (f"if (step == 1) {{ {WITHIN} }}", f"if (step == 0) {LOOP}", "3 * step", 4),
    ],
    ids=["within it", "behind it, in no loop", "in the second step"],
)
def test_words_of_the_loop_under_way(
    tmp_path: Path, headers: Path, flags: tuple[str, ...], inside: str, behind: str, first: str, word: int
) -> None:
    """Even where the order of the tasks makes them be there."""
    result = run(kernel(inside, behind, first), tmp_path, headers, flags)
    assert not result["passed"]
    sentence = f"word {word} of memory port cache is read, which port cache_update wrote in this launch"
    assert f"{sentence}: the write may not be acknowledged" in str(result), result


def test_words_of_an_earlier_launch(tmp_path: Path, headers: Path, flags: tuple[str, ...]) -> None:
    """Within the loop that writes others, those are read that only the launch before wrote."""
    text = kernel(f"if (step == 0) {{ {WITHIN} }}", f"if (step == 1) {LOOP}", "4 - 4 * step")
    assert run(text, tmp_path, headers, flags)["loaded"] == [99] * 4 + [0, 1, 2, 3]
    assert run(text, tmp_path, headers, flags, launches=2)["loaded"] == [10, 11, 12, 13, 0, 1, 2, 3]
