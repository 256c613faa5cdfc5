"""Whether a whole language model has room in the memory of its platform."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from stc.manifest.model_schema import ModelManifest
from stc.manifest.schema import Manifest
from stc.platforms.platform import Platform


def lacking_room(model: ModelManifest, projects: Mapping[str, Manifest], platform: Platform) -> str | None:
    """What is said where one channel does not hold what lies in it while the model generates one text; `projects` by folder.

    No reason to refuse: C simulation, which has no channels, runs such a model.
    """
    total: Counter[int | None] = Counter()
    for bank, size in _lying(model, projects):
        total[bank] += size
    bank, most = max(total.items(), key=lambda item: item[1], default=(None, 0))
    if most <= (has := platform.memory.channel_bytes):
        return None
    what = f"{model.name} lays {most:,} bytes of all layers, caches and stages into channel {bank} of {platform.name}"
    helps = "fewer bits (--quantize), fewer positions (--max-seq), or a larger platform"
    return f"{what}, which has {has:,}: C simulation runs it, a card does not; what helps is {helps}"


def _lying(model: ModelManifest, projects: Mapping[str, Manifest]) -> Iterator[tuple[int | None, int]]:
    """Channel and bytes of each buffer that `stc.runtime.language_model` allocates: of each project all but the parameters that
    layers bring with them, and of each launch these and its caches."""
    brought = {
        (kind.stages[stage].folder, buffer)
        for kind in model.kinds.values()
        for parameter in kind.parameters
        for stage, buffer in parameter.buffers.items()
    }
    for folder, project in projects.items():
        ports = {port.buffer: port for kernel in project.kernels for port in kernel.ports}
        yield from ((port.bank, port.bytes) for buffer, port in ports.items() if (folder, buffer) not in brought)
    for kind in (model.kinds[layer.kind] for layer in model.layers):
        layouts = [*(parameter.layout for parameter in kind.parameters), *kind.caches.values()]
        yield from ((layout.bank, layout.bytes) for layout in layouts)
