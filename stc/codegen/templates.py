"""The files of a project, or of a model of several, that follow from manifests alone, rendered from `templates/`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import groupby
from math import prod
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from stc.codegen.cpp_types import word_typedef
from stc.codegen.source_lines import broken_lines
from stc.manifest.element_types import element_type
from stc.manifest.schema import Bitstream, HostTensor, Kernel, Manifest, Port, Step, Stream, Unit
from stc.names import comment_text
from stc.platforms.platform import Platform

TEMPLATES = ("testbench.cpp", "vitis_testbench.cpp", "vitis_hls.tcl", "host.cpp", "host.py", "Makefile")
CONNECTIVITY = "connectivity"
"""What the names of link configurations begin with: `connectivity.cfg`, or `connectivity.KERNEL.cfg` for each bitstream."""


def render(manifest: Manifest, platform: Platform) -> dict[str, str]:
    """Texts by file name."""
    environment = _environment()
    context = _functions(manifest) | {
        "m": manifest,
        "platform": platform,
        "tag": _tag_of(platform),
        "buffers": _buffers(manifest),
        "kernel_names": " ".join(unit.name for kernel in manifest.kernels for unit in kernel.built),
        "binaries": _binaries(manifest),
        "kept_words": {it.words: manifest.kernel(it.kernel).port(it.port or "") for it in manifest.steps if it.action == "keep"},
        "phases": _by_bitstream(manifest),
        "moved": {port.buffer for port in _moved(manifest)},
        "steps": _phases(manifest),
        "started": [unit for kernel in manifest.kernels for unit in kernel.built if unit.starts],
        "has_links": any(kernel.units for kernel in manifest.kernels),
        "uses_bf16": any(draw.bf16 for draw in manifest.draws),
        "note": _quoted(manifest.host_note or "").replace("%", "%%"),
        "host_names": [_quoted(part.name) for part in manifest.host_parts],
        "uses_half": any(tensor.element_type == "f16" for tensor in manifest.tensors),
    }
    texts = {name: environment.get_template(f"{name}.j2").render(context) for name in TEMPLATES}
    links = environment.get_template(f"{CONNECTIVITY}.cfg.j2")
    for name, kernels in _linked(manifest).items():
        texts[name] = links.render(context, m={"name": manifest.name, "kernels": kernels})
    return {name: broken_lines(text) if name.endswith(".cpp") else text for name, text in texts.items()}


def _binaries(manifest: Manifest) -> list[tuple[str, list[str]]]:
    """The name of each binary, and the compute units in it."""
    units = {kernel.name: [unit.name for unit in kernel.built] for kernel in manifest.kernels}
    return list(units.items()) if manifest.bitstreams else [(manifest.name, [name for names in units.values() for name in names])]


def _by_bitstream(manifest: Manifest) -> list[tuple[Bitstream, list[Step]]]:
    """What is done with each bitstream in turn, but for what PyTorch runs."""
    own = {bitstream.kernel: bitstream for bitstream in manifest.bitstreams}
    steps = [step for step in manifest.steps if step.action not in ("host-torch", "load") and step.kernel in own]
    return [(own[kernel], list(those)) for kernel, those in groupby(steps, key=lambda step: step.kernel)]


def _linked(manifest: Manifest) -> dict[str, Sequence[Kernel]]:
    """The kernels of each link configuration, by the name of its file."""
    if not manifest.bitstreams:
        return {f"{CONNECTIVITY}.cfg": manifest.kernels}
    return {f"{CONNECTIVITY}.{kernel.name}.cfg": [kernel] for kernel in manifest.kernels}


def _quoted(text: str) -> str:
    """A text within quotation marks of Python or C++."""
    return comment_text(text).replace('"', "'")


def render_model(name: str, stages: Mapping[str, Manifest], platform: Platform) -> dict[str, str]:
    """Texts by file name that make one of all `stages`, projects by their folder: C simulation, binary and host program of a model
    called `name`."""
    context = {"platform": platform, "tag": _tag_of(platform)}
    kernels = {folder: [unit.name for kernel in it.kernels for unit in kernel.built] for folder, it in stages.items()}
    every = [kernel for manifest in stages.values() for kernel in manifest.kernels]
    marks = [mark for manifest in stages.values() for mark in manifest.marks]
    environment = _environment()
    return {
        "Makefile": environment.get_template("model.Makefile.j2").render(context, name=name, kernels=kernels, marks=marks),
        "host.py": environment.get_template("model.host.py.j2").render(name=name),
        "connectivity.cfg": environment.get_template("connectivity.cfg.j2").render(
            context, m={"name": name, "kernels": every}, receiver=_receiver
        ),
    }


@cache
def _environment() -> Environment:
    """One for all projects, which compiles each template once."""
    return Environment(
        loader=PackageLoader("stc.codegen", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _buffers(manifest: Manifest) -> list[Port]:
    """The first port of every buffer: it names and places the buffer."""
    return [port for kernel in manifest.kernels for port in kernel.ports if port.name == port.buffer]


def _moved(manifest: Manifest) -> list[Port]:
    """The ports whose words the host packs or unpacks."""
    return [manifest.kernel(step.kernel).port(step.port) for step in manifest.steps if step.port is not None]


def _phases(manifest: Manifest) -> dict[str, tuple[Step, ...]]:
    """The steps before the first launch, from it to the last one, and behind that; without what PyTorch runs."""
    steps = tuple(step for step in manifest.steps if step.action != "host-torch")
    launches = [index for index, step in enumerate(steps) if step.action == "launch"]
    first, behind = (launches[0], launches[-1] + 1) if launches else (0, 0)
    return {"before": steps[:first], "between": steps[first:behind], "after": steps[behind:]}


def _tag_of(platform: Platform) -> Callable[[Kernel, Port], str]:
    """What the link configuration calls the end of the memory that a port of a kernel is linked to.

    Ports of a bundle have one end; the bundles of a kernel in one channel, which run at a time, take its ends in turn.
    """

    def tag(kernel: Kernel, port: Port) -> str:
        assert port.bank is not None
        beside = dict.fromkeys(_bundle(it) for it in kernel.ports if it.bank == port.bank)
        return platform.memory.tag_of(port.bank, [*beside].index(_bundle(port)))

    return tag


def _bundle(port: Port) -> str:
    return port.bundle or port.name


def _receiver(kernel: Kernel, link: Stream) -> Unit:
    """The unit that a link leads to."""
    return next(unit for unit in kernel.units if link.name in unit.receives)


def _kept_before(manifest: Manifest, restore: Step) -> Step:
    """The last step before `restore` that keeps what it restores."""
    at = next(index for index, step in enumerate(manifest.steps) if step is restore)
    return next(step for step in reversed(manifest.steps[:at]) if step.action == "keep" and step.words == restore.words)


def _functions(manifest: Manifest) -> dict[str, Any]:
    """What templates may call."""

    def owner(port: Port) -> Kernel:
        return next(kernel for kernel in manifest.kernels if port in kernel.ports)

    def like(tensor: HostTensor) -> HostTensor | None:
        """The input an output is the update of: the first of its shape and type."""
        same = (
            other
            for other in manifest.tensors
            if other.role == "input" and (other.shape, other.element_type) == (tensor.shape, tensor.element_type)
        )
        return next(same, None)

    def port_of(step: Step) -> Port:
        assert step.port is not None
        return manifest.kernel(step.kernel).port(step.port)

    return {
        "like": like,
        "port": port_of,
        "kept": lambda step: port_of(_kept_before(manifest, step)),
        "unit": lambda port: owner(port).unit_of(port.name),
        "position": lambda port: owner(port).unit_of(port.name).ports.index(port.name),
        "receiver": _receiver,
        "may_differ": lambda tensor: tensor.element_type.startswith("f") or any(tensor.name in it.allowed for it in manifest.draws),
        "is_bf16": lambda tensor: any(tensor.name in draw.bf16 for draw in manifest.draws),
        "elements": lambda tensor: prod(tensor.shape),
        "bytes": lambda tensor: prod(tensor.shape) * element_type(tensor.element_type).host_bytes,
        "c_type": lambda entry: element_type(entry.element_type).c_type,
        "host_type": lambda entry: element_type(entry.element_type).host_type,
        "word_type": lambda port: word_typedef(element_type(port.element_type), port.lanes),
        "buffer_words": lambda port: port.bytes * 8 // (element_type(port.element_type).bits * port.lanes),
    }
