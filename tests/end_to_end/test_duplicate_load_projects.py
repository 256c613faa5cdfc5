"""Inputs read again by a second DMA, from the model to the emitted C++: values, buffers, banks and the host's work."""

from __future__ import annotations

from pathlib import Path

import pytest
from projects import Compile

from stc.manifest.files import read_manifest

pytestmark = pytest.mark.heavy

HERE = Path(__file__).parent
LEAST = 16


def test_a_residual_shares_the_packed_buffer(compiled: Compile) -> None:
    """Every port of x reads the buffer that the host packs once, in the bank where it lies."""
    project = compiled("gpt2-tiny", 7, duplicate_loads=LEAST)
    project.require_agreement()
    found = [entry for entry in project.report["duplicate_loads"]["list"] if entry["instead_of"] == "fifo"]
    assert found and {entry["tensor"] for entry in found} == {"x"} and not any(entry["packed_bytes"] for entry in found)
    manifest = read_manifest(project.folder)
    (kernel,) = manifest.kernels
    ports = [port for port in kernel.ports if port.buffer == "x"]
    assert len(ports) == 1 + len(found)
    assert len({port.bank for port in ports}) == 1 and len({port.bundle for port in ports}) == len(ports)
    assert [step.tensor for step in manifest.steps].count("x") == 1
    connectivity = (project.folder / "connectivity.cfg").read_text()
    assert all(f"_1.{port.name}:HBM[{ports[0].bank}]" in connectivity for port in ports)
    plain = compiled("gpt2-tiny", 7, duplicate_loads=0)
    assert not plain.report["duplicate_loads"]["list"]
    # The FIFOs that carry x: the others are sized for the cycles of either design, which differ.
    assert input_fifo_bytes(plain.folder) - input_fifo_bytes(project.folder) >= project.report["duplicate_loads"]["saved_bytes"] > 0


def input_fifo_bytes(folder: Path) -> int:
    """Bytes of the FIFOs between the loads of x and the tasks that compute, at emitted depth."""
    (kernel,) = read_manifest(folder).kernels
    sources = {task.name for task in kernel.tasks if task.kind == "load" and any(name.startswith("x") for name in task.reads)}
    forked = {stream.consumer for stream in kernel.streams if stream.producer in sources}
    sources |= {task.name for task in kernel.tasks if task.kind == "fork" and task.name in forked}
    return sum(stream.bits * stream.depth // 8 for stream in kernel.streams if stream.producer in sources)


def test_another_order_is_packed_apart(compiled: Compile) -> None:
    """Two orders of one input are two buffers; the report says what the host packs in addition."""
    project = compiled(f"{HERE / 'modules.py'}:gram", duplicate_loads=LEAST, tile=2)
    project.require_agreement()
    found = [entry for entry in project.report["duplicate_loads"]["list"] if entry["instead_of"] == "converter"]
    assert found
    manifest = read_manifest(project.folder)
    ports = [port for kernel in manifest.kernels for port in kernel.ports if port.tensor == "x"]
    packed = [step for step in manifest.steps if step.tensor == "x" and step.action == "pack"]
    assert len({port.buffer for port in ports}) == len(packed) > 1
    assert sum(entry["packed_bytes"] for entry in found) == 6 * 9 * 4 * (len(packed) - 1)
    plain = compiled(f"{HERE / 'modules.py'}:gram", duplicate_loads=0, tile=2)
    before, after = plain.report["memory_bytes"], project.report["memory_bytes"]
    assert before["converters"] - after["converters"] == sum(entry["saved_bytes"] for entry in found)
