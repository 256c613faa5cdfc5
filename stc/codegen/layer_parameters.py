"""Parameters of a layer that several designs take: those that lie alike on the device are packed once for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stc.codegen.design import Design, PortDesign
from stc.codegen.manifest_builder import buffer_names
from stc.codegen.parameters import Recipe, parameter_files, recipe_of
from stc.manifest.layouts import differing
from stc.manifest.model_schema import BufferLayout


@dataclass(frozen=True)
class PackedParameter:
    """What is computed by `recipe` and lies on the device as `layout` says. `buffers`: what it is called by each stage that takes
    it; it is packed for `port` of `design`, one of them."""

    recipe: Recipe
    layout: BufferLayout
    buffers: dict[str, str]
    design: Design
    port: PortDesign


def packed_words(packed: Sequence[PackedParameter], parameters: Mapping[str, np.ndarray]) -> Iterator[bytes]:
    """Of each of `packed` the `layout.bytes`, from parameters by `stc.name`."""
    files = parameter_files([(each.port, each.design.host) for each in packed], parameters)
    return (file.data for file in files)


def packed_parameters(designs: Mapping[str, Design], layouts: Mapping[str, Mapping[str, BufferLayout]]) -> list[PackedParameter]:
    """All that `designs` take, by stage, whose buffers lie as in `layouts`. A stage takes each at most once."""
    found: list[PackedParameter] = []
    for stage, design in designs.items():
        names = buffer_names(design)
        ports = {names[port.buffer]: port for kernel in design.kernels for port in reversed(kernel.ports)}
        for name, layout in layouts[stage].items():
            port = ports[name]
            assert port.buffer.source is not None
            recipe = recipe_of(port.buffer.source, design.host.function)
            same = (it for it in found if it.recipe == recipe and not differing(it.layout, layout) and stage not in it.buffers)
            if (shared := next(same, None)) is not None:
                shared.buffers[stage] = name
            else:
                found.append(PackedParameter(recipe, layout, {stage: name}, design, port))
    return found
