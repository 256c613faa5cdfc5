"""A schedule that asks for more lanes than a port carries: the weight and the result are striped, the stream between is three."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from projects import Compile

from stc.manifest.files import read_manifest

pytestmark = pytest.mark.heavy

HERE = Path(__file__).parent


def test_48_lanes_are_three_ports(compiled: Compile) -> None:
    project = compiled(str(HERE / "wide.mlir"), schedule=str(HERE / "wide.toml"))
    project.require_agreement()
    manifest = read_manifest(project.folder)
    (kernel,) = manifest.kernels
    assert Counter(port.tensor for port in kernel.ports) == {"x": 1, "fc_weight": 3, "y": 3}
    for stripes in ("fc_weight", "y"):  # x may be read where one stripe of y is written: never two stripes in one channel
        assert len({port.bank for port in kernel.ports if port.tensor == stripes}) == 3
    wide = [port for port in kernel.ports if port.tensor != "x"]
    assert {port.lanes * 32 for port in wide} == {512}
    constants = sorted(port.order.coordinates[1].constant for port in wide if port.order is not None)
    assert constants == [0, 0, 16, 16, 32, 32]
    between = [stream for stream in kernel.streams if stream.producer == "matmul" and stream.consumer == "square"]
    assert [stream.tokens for stream in between] == [6 * 96 // 48] * 3
    assert not any(task.kind in ("split", "merge") for task in kernel.tasks)


def test_host_puts_the_stripes_together(compiled: Compile) -> None:
    project = compiled(str(HERE / "wide.mlir"), schedule=str(HERE / "wide.toml"))
    done = subprocess.run(
        [sys.executable, project.folder / "host.py", "--device", "csim"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "y: largest error" in done.stdout
