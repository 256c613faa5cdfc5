"""Kernels in bitstreams of their own: what the host loads, keeps and restores between their launches.

A device loses its memory where it loads another bitstream, and another card has its own: what one kernel leaves for the next goes
through the host, as the packed words that it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from stc.manifest.schema import Bitstream, Kernel, Manifest, Port, Step

BITSTREAM_EACH, CARDS = SEPARATE = ("bitstream-each", "cards")
"""Words of `--groups` for it: all bitstreams in turn on one device, or each on a card of its own."""


def with_bitstreams(manifest: Manifest, *, cards: bool) -> Manifest:
    """`manifest` with a bitstream for each kernel, each on a card of its own where there are `cards`, else all in turn on one
    device; as it is where there is one kernel. No two kernels share a buffer then."""
    if len(manifest.kernels) < 2:
        return manifest
    names = [kernel.name for kernel in manifest.kernels]
    on_cards = (Bitstream(name, index, f"card{index}") for index, name in enumerate(names))
    bitstreams = tuple(on_cards if cards else (Bitstream(name) for name in names))
    steps = _Plan(manifest, takes_turns=not cards).steps()
    return replace(manifest, kernels=tuple(map(_with_own_buffers, manifest.kernels)), bitstreams=bitstreams, steps=steps)


def _with_own_buffers(kernel: Kernel) -> Kernel:
    """A buffer is called as the first port bound to it, of this kernel."""
    first: dict[str, str] = {}
    ports = tuple(replace(port, buffer=first.setdefault(port.buffer, port.name)) for port in kernel.ports)
    return replace(kernel, ports=ports)


@dataclass
class _Plan:
    """`made`: by buffer, after how many steps its content was made last, and through which port of which kernel; `held`: the
    kernels whose own copies have that content; `keeps`: by such a number and the buffer, what keeps it."""

    manifest: Manifest
    takes_turns: bool
    loaded: str | None = None
    found: list[Step] = field(default_factory=list[Step])
    made: dict[str, tuple[int, Kernel, Port]] = field(default_factory=dict[str, tuple[int, Kernel, Port]])
    held: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    keeps: dict[tuple[int, str], Step] = field(default_factory=dict[tuple[int, str], Step])

    def steps(self) -> tuple[Step, ...]:
        for step in self.manifest.steps:
            if step.kernel:
                self._take(step, self.manifest.kernel(step.kernel))
            else:
                self.found.append(step)
        for (at, _), keep in sorted(self.keeps.items(), key=lambda item: item[0], reverse=True):
            self.found.insert(at, keep)
        return tuple(self.found)

    def _take(self, step: Step, kernel: Kernel) -> None:
        """Append a step, behind what it needs."""
        if self.takes_turns and self.loaded != kernel.name:
            self.loaded = kernel.name
            self.held.clear()
            self.found.append(Step("load", kernel.name))
        used = [kernel.port(step.port)] if step.port is not None else [port for port in kernel.ports if port.kind != "parameter"]
        for port in used:
            if step.action == "unpack" or (step.action == "launch" and port.direction == "read"):
                self._restore(kernel, port)
        self.found.append(step)
        for port in used:
            if step.action == "pack" or (step.action == "launch" and port.direction == "write"):
                self.made[port.buffer] = len(self.found), kernel, port
                self.held[port.buffer] = {kernel.name}

    def _restore(self, kernel: Kernel, port: Port) -> None:
        """Restore what is not in the kernel's own buffer, and was made elsewhere: kept as soon as it is."""
        if port.buffer not in self.made or kernel.name in (held := self.held.setdefault(port.buffer, set())):
            return
        at, owner, source = self.made[port.buffer]
        self.keeps[at, port.buffer] = Step("keep", owner.name, source.name, words=port.buffer)
        self.found.append(Step("restore", kernel.name, port.name, words=port.buffer))
        held.add(kernel.name)
