"""Small parameters through one memory port, from the model to the emitted C++."""

from __future__ import annotations

from collections import defaultdict

import pytest
from projects import Compile

from stc.manifest.files import read_manifest
from stc.manifest.schema import Port

pytestmark = pytest.mark.heavy


def test_gains_and_biases_of_a_block(compiled: Compile) -> None:
    """One task reads them, through one adapter, from one bank; each word once per launch, though rows are many."""
    project = compiled("gpt2-tiny", 7)
    project.require_agreement()
    (kernel,) = read_manifest(project.folder).kernels
    by_bundle: dict[str | None, list[Port]] = defaultdict(list)
    for port in kernel.ports:
        by_bundle[port.bundle].append(port)
    shared = {bundle: ports for bundle, ports in by_bundle.items() if len(ports) > 1}
    assert shared and None not in shared
    for ports in shared.values():
        assert {port.kind for port in ports} == {"parameter"} and len({port.bank for port in ports}) == 1
        readers = {task.name for task in kernel.tasks for port in ports if port.name in task.reads}
        (reader,) = readers
        counts = [stream.tokens for stream in kernel.streams if stream.producer == reader]
        assert sorted(counts) == sorted(port.words for port in ports)
    total = sum(port.bytes for port in kernel.ports)
    assert sum(port.bytes for ports in shared.values() for port in ports) <= total / 32
