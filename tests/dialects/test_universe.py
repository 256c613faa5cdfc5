"""Plain `xdsl-opt` loads our dialects through the entry point, and no name clashes with xDSL's own."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

from xdsl.universe import Universe

from stc.universe import STC_UNIVERSE

TEXT = """
!S = !itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>
func.func @f(%x : !S) {
  %a, %b = itensor.fork %x : !S to !S, !S
  dataflow.kernel @k() {
    %s = stream.create @s : !stream.stream<f32, depth: 2>
  }
  func.return
}
"""


def test_multiverse_has_our_dialects_and_passes():
    multiverse = Universe.get_multiverse()
    assert {"itensor", "stream", "dataflow"} <= set(multiverse.all_dialects)
    assert set(STC_UNIVERSE.all_passes) <= set(multiverse.all_passes)


def test_xdsl_opt_reads_our_dialects():
    xdsl_opt = Path(sysconfig.get_path("scripts")) / "xdsl-opt"
    result = subprocess.run([xdsl_opt], input=TEXT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "itensor.fork %x" in result.stdout
